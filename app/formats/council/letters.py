"""Reading a council's rankings of answers under letters (PROTOCOLS 8 and 16)."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.replies.ballot import BallotReading, ballot_values, ranking_of, read_ballot
from app.domain.replies.reading import Read
from app.domain.values import Json


@dataclass(frozen=True, slots=True)
class LetterRankingReading(BallotReading):
    """Reads a council's ranking of answers under letters; left-out ones share the last places."""

    letters: tuple[str, ...]

    def read(self, text: str) -> Read:
        # Letters occur in any text, so a ranking of letters is never called off topic.
        return read_ballot(text, (), self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        ranking = ranking_of(answer.get("ranking"), self.letters, complete=False)
        return Read(ballot_values({"ranking": ranking}, answer))
