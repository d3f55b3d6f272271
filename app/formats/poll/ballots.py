"""Reading the answers to a poll (PROTOCOLS 6 and 16) that are no rankings.

They give the same event fields as every ballot (``app.domain.ballot``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from app.domain.replies.ballot import (
    BallotReading,
    ballot_values,
    canonical,
    confidence_of,
    entries_of,
    number_between,
    read_ballot,
)
from app.domain.replies.messages import Code, Message, Unfit
from app.domain.replies.numbers import json_number
from app.domain.replies.quoting import bounded_text, listed, shown
from app.domain.replies.reading import Read
from app.domain.replies.text import one_line
from app.domain.values import Json

MOST_RECOMMENDATIONS = 3
MOST_REASONS = 3
MOST_TITLE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class RecommendationReading(BallotReading):
    """Reads up to three recommendations, each with a confidence from 1 to 10."""

    def read(self, text: str) -> Read:
        return read_ballot(text, (), self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        given = answer.get("recommendations")
        if not isinstance(given, list) or not given:
            raise Unfit(Code.RECOMMENDATIONS_NOT_A_LIST, most=MOST_RECOMMENDATIONS)
        entries = entries_of(cast("Any", given))
        if len(entries) > MOST_RECOMMENDATIONS:
            most = MOST_RECOMMENDATIONS
            raise Unfit(Code.RECOMMENDATIONS_TOO_MANY, count=len(entries), most=most)
        every = [self._recommendation(entry, index) for index, entry in enumerate(entries, 1)]
        return Read(ballot_values({"recommendations": every}, answer))

    def _recommendation(self, entry: object, index: int) -> dict[str, Json]:
        fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        title = one_line(bounded_text(fields.get("title")), MOST_TITLE_CHARACTERS)
        if not title:
            raise Unfit(Code.RECOMMENDATION_UNTITLED, number=index)
        what = Message.of(Code.THE_CONFIDENCE_OF, number=index)
        confidence = json_number(number_between(fields.get("confidence"), what, 1, 10))
        return {"title": title, "confidence": confidence, "why": bounded_text(fields.get("why"))}


@dataclass(frozen=True, slots=True)
class BinaryReading(BallotReading):
    """Reads YES or NO with up to three reasons (more are left out) and a confidence of 1 to 10."""

    def read(self, text: str) -> Read:
        return read_ballot(text, ("YES", "NO"), self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        said = canonical(answer.get("answer"), ("YES", "NO"))
        if said is None:
            raise Unfit(Code.ANSWER_UNKNOWN, value=shown(answer.get("answer")))
        entries = entries_of(answer.get("reasons"))
        reasons = [reason for entry in entries if (reason := bounded_text(entry))]
        confidence = confidence_of(answer, 1, 10, required=False)
        ballot = {"answer": said, "reasons": reasons[:MOST_REASONS]}
        return Read(ballot_values(ballot, answer, confidence))


@dataclass(frozen=True, slots=True)
class ScoringReading(BallotReading):
    """Reads a score from 1 to 10 for each option, on each criterion where there are criteria."""

    options: tuple[str, ...]
    criteria: tuple[str, ...] = ()

    def read(self, text: str) -> Read:
        return read_ballot(text, self.options, self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        rows = _named_fields(
            answer.get("scores"), self.options, Message.of(Code.THE_KEY, key="scores")
        )
        scores = {option: self._row(option, rows[option]) for option in self.options}
        return Read(ballot_values({"scores": scores}, answer))

    def _row(self, option: str, value: object) -> Json:
        what = Message.of(Code.THE_SCORE_OF, option=shown(option))
        if not self.criteria:
            return json_number(number_between(value, what, 1, 10))
        cells = _named_fields(value, self.criteria, what)
        return {
            name: json_number(number_between(cells[name], _the_score_on(name, option), 1, 10))
            for name in self.criteria
        }


def _the_score_on(criterion: str, option: str) -> Message:
    return Message.of(Code.THE_SCORE_ON, option=shown(option), criterion=shown(criterion))


def _named_fields(value: object, names: Sequence[str], what: Message) -> dict[str, Json]:
    """A JSON object's fields under the meeting's own names: each name once, and no others."""
    if not isinstance(value, dict):
        raise Unfit(Code.FIELDS_NO_OBJECT, what=what, names=listed(names))
    fields = cast("dict[str, Any]", value)
    known = [(name, field) for key, field in fields.items() if (name := canonical(key, names))]
    unknown = [key for key in fields if canonical(key, names) is None]
    if unknown:
        given = listed(unknown)
        raise Unfit(Code.FIELDS_UNKNOWN, what=what, unknown=given, names=listed(names))
    read = dict(known)
    if len(read) < len(known):
        raise Unfit(Code.FIELDS_REPEATED, what=what, names=listed(read))
    missing = [name for name in names if name not in read]
    if missing:
        raise Unfit(Code.FIELDS_MISSING, what=what, missing=listed(missing))
    return read
