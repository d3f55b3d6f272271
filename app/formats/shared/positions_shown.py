"""Where each participant stood in each round, in one table."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import RoundHeld
from app.formats.shared.page import Cell, Heading, Page, Theirs, said, table
from app.formats.shared.sides import Stands


def positions_by_round(past: History, stands: Stands) -> Page:
    """Nothing before there are two rounds to set side by side."""
    stood = {round_.number: positions_in(round_, stands) for round_ in past.rounds}
    rounds = {number: positions for number, positions in stood.items() if positions}
    if len(rounds) <= 1:
        return
    yield Heading(said("heading.stances"))
    yield table(
        (said("label.participant"), *(said("heading.round", round=number) for number in rounds)),
        (
            (Theirs(seat.name), *(_cell(each.get(seat.name)) for each in rounds.values()))
            for seat in past.meeting.seats
        ),
    )


def positions_in(round_: RoundHeld, stands: Stands) -> Mapping[str, str]:
    """As they were counted; of a round that nobody has counted yet, as they were read."""
    closed = round_.closed or {}
    if "stances" in closed:
        return closed["stances"]
    read = {reply.participant: stands(reply) for reply in round_.final_replies}
    return {name: position for name, position in read.items() if position is not None}


def _cell(position: str | None) -> Cell:
    return said("measure.missing") if position is None else Theirs(position)
