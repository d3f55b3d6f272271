"""A vote's part of minutes, decision record and handoff (PROTOCOLS 7, 11 and 15)."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.values import Json
from app.formats.shared.ballot_record import BallotRecord
from app.formats.shared.compared import View, compared
from app.formats.shared.page import Cell, Page, Theirs, joined, said
from app.formats.shared.round_told import counts, progress
from app.formats.vote.tables import came_to, ladder_page, options_argued, tally_page


class VoteRecord(BallotRecord):
    """Beside the ballots it tells the talk between two of them, which is counted nowhere."""

    def ballot_cell(self, ballot: Mapping[str, Json]) -> Cell:
        if "ranking" in ballot:
            return joined((Theirs(option) for option in ballot["ranking"]), between=" > ")
        return Theirs(ballot["vote"])

    def answer_of(self, ballot: Mapping[str, Json]) -> str | None:
        return ballot.get("vote")

    # --- a round in the minutes -----------------------------------------------------------------

    def in_table(self, reply: ReplyGiven) -> bool:
        return not _talks(reply)

    def is_wanted(self, reply: ReplyGiven) -> bool:
        """An abstention that is not accepted is told of apart, and so is who did not talk."""
        return super().is_wanted(reply) and reply.read.get("ballot") is None

    def reply_heading(self, reply: ReplyGiven) -> Cell:
        if _talks(reply):
            return said("vote.reply_talk", name=Theirs(reply.participant))
        return super().reply_heading(reply)

    def counted_in_round(self, past: History, round_: RoundHeld) -> Page:
        yield from counts((round_.closed or {}).get("counts") or {}, len(past.meeting.seats))
        yield from progress(past, round_)
        for tally in round_.tallies:
            yield from tally_page(tally)

    # --- what came of it ------------------------------------------------------------------------

    def numbers(self, past: History) -> Page:
        if "protocol" in past.numbers:
            yield from tally_page(past.numbers)
            yield from ladder_page(past.numbers["resolution"])

    def comparison(self, past: History, level: int) -> Page:
        """Each with what it came to, which is known from the decision's record on."""
        heading = said("label.result" if past.ended else "label.consensus")
        return compared(past, level, heading, _came_to)

    # --- for whoever decides --------------------------------------------------------------------

    def candidates_page(self, past: History) -> Page:
        """Every option with its pros and cons, where they were laid out (PROTOCOLS 7, escalate)."""
        handed_on = past.findings.get("handoff")
        if handed_on is None:
            return super().candidates_page(past)
        return options_argued(handed_on["options"])


def _talks(reply: ReplyGiven) -> bool:
    return bool(reply.read.get("deliberation"))


def _came_to(view: View) -> Cell:
    return came_to(view) if "protocol" in view else said("measure.missing")
