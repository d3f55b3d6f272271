"""What records show of a round table: stances, how they are counted, and what they came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.formats.roundtable.stance import Stance
from app.formats.shared.ballots_shown import ballot_columns
from app.formats.shared.figures import figure
from app.formats.shared.page import Cell, Heading, Page, Paragraph, bullets, said
from app.formats.shared.record import Record


class RoundtableRecord(Record):
    """Positions are stances (PROTOCOLS 3), and the motion is what there is to decide."""

    def how_to_count(self, past: History) -> Page:
        seats = len(past.meeting.seats)
        yield Heading(said("roundtable.counting"))
        yield Paragraph(said("roundtable.rule", seats=seats))
        yield bullets(
            (
                said("roundtable.full", seats=seats),
                said("roundtable.majority", least=(2 * seats + 2) // 3, seats=seats),
                said("roundtable.none"),
            )
        )

    def columns(self, reply: ReplyGiven) -> Mapping[str, Cell]:
        stance: str | None = reply.read.get("stance")
        read = {} if stance is None else {"roundtable.stance": figure(stance)}
        return read | ballot_columns(reply)

    def how_read(self, reply: ReplyGiven) -> Cell:
        markers: int | None = reply.read.get("markers")
        if markers is None:
            return super().how_read(reply)
        if not markers:
            return said("roundtable.no_marker")
        if reply.read.get("differing"):
            return said("roundtable.differing", markers=markers)
        return said("roundtable.marker" if markers == 1 else "roundtable.markers", markers=markers)

    def counts_as(self, reply: ReplyGiven) -> str | None:
        return reply.read.get("stance")

    def stands_for(self, reply: ReplyGiven) -> str | None:
        return reply.read.get("stance") or super().stands_for(reply)

    def counted_in_round(self, past: History, round_: RoundHeld) -> Page:
        return super().counted_in_round(past, _counted(round_))

    def numbers(self, past: History) -> Page:
        numbers, share = past.numbers, past.numbers.get("agree_share")
        if share is None:
            yield from super().numbers(past)
            return
        part, whole = share["numerator"], share["denominator"]
        yield Paragraph(
            said("roundtable.agree_share", part=part, whole=whole, round=numbers["rounds"])
        )
        usable = 0 if past.outcome is None else past.outcome.effective_participants
        seats = len(past.meeting.seats)
        yield Paragraph(said("roundtable.effective", usable=usable, seats=seats))


def _counted(round_: RoundHeld) -> RoundHeld:
    """Where nobody has counted yet, what is there is counted by the same rule."""
    if round_.closed is not None or not round_.stances:
        return round_
    found = Counter(round_.stances.values())
    return replace(round_, closed={"counts": {each.value: found[each.value] for each in Stance}})
