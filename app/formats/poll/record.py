"""A poll's part of minutes, decision record and handoff (PROTOCOLS 6, 11 and 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from app.domain.ending.arbitration import Choice
from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import RoundHeld
from app.domain.values import Json
from app.formats.poll.rules import output_of
from app.formats.poll.tables import count_page
from app.formats.shared.ballot_record import BallotRecord
from app.formats.shared.candidates_shown import named
from app.formats.shared.page import Cell, Page, Theirs, joined, said


class PollRecord(BallotRecord):
    """Everybody answers once and alone, so nobody moves, and no two rounds are compared."""

    takes_positions = False
    unseen = True

    def ballot_cell(self, ballot: Mapping[str, Json]) -> Cell:
        match ballot:
            case {"answer": answer}:
                return Theirs(answer)
            case {"ranking": ranking}:
                return joined((Theirs(option) for option in ranking), between=" > ")
            case {"recommendations": every}:
                return joined((_recommended(each) for each in every), between="; ")
            case _:
                scores = ballot["scores"].items()
                return joined((_scored(*entry) for entry in scores), between="; ")

    def answer_of(self, ballot: Mapping[str, Json]) -> str | None:
        return ballot.get("answer")

    def counted_in_round(self, past: History, round_: RoundHeld) -> Page:
        for tally in round_.tallies:
            yield from count_page(tally, len(past.meeting.seats))

    def numbers(self, past: History) -> Page:
        if "output" in past.numbers:
            yield from count_page(past.numbers, len(past.meeting.seats))

    def comparison(self, past: History, level: int) -> Page:
        yield from ()

    def candidates(self, past: History) -> Sequence[Choice]:
        """YES and NO, or the options, or else the groups of recommendations, largest first."""
        if output_of(past.meeting.rules) == "binary":
            return [Choice(answer, answer) for answer in ("YES", "NO")]
        if past.meeting.options:
            return [Choice(option, option) for option in past.meeting.options]
        groups: Sequence[Mapping[str, Json]] = past.numbers.get("groups") or ()
        return [Choice(str(number), group["title"]) for number, group in enumerate(groups, 1)]

    def candidates_in_full(self, past: History) -> Page:
        return named(self.candidates(past))


def _recommended(each: Mapping[str, Json]) -> Cell:
    return said("poll.recommended", title=Theirs(each["title"]), confidence=each["confidence"])


def _scored(option: str, given: Json) -> Cell:
    return said("poll.scored", option=Theirs(option), scores=_scores(given))


def _scores(given: Json) -> Cell:
    if not isinstance(given, Mapping):
        return str(given)
    return joined(_score(*entry) for entry in cast("Mapping[str, Json]", given).items())


def _score(criterion: str, score: Json) -> Cell:
    return joined([Theirs(criterion), str(score)], between=" ")
