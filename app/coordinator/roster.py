"""Who sits at the table: the participants as asked for, and what the format fills in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from app.coordinator.commands import OpenMeeting, SeatWanted
from app.coordinator.ports import AgentProfile
from app.domain.errors import Fault, InvalidRequest
from app.domain.meeting.meeting import Language, Seat
from app.domain.replies.text import folded
from app.formats.shared.format import Format

ONE = Fraction(1)

Perspective = Callable[[str, Language, str], tuple[str, str]]
"""The (name, role) that a format's prompts hold for a perspective's key, in a language."""


def seat_participants(
    wish: OpenMeeting,
    format_: Format,
    perspective: Perspective,
    agents: Mapping[str, AgentProfile],
) -> tuple[Seat, ...]:
    """The seats of the meeting. Raises ``InvalidRequest`` for too few, too many or equal names."""
    wanted = wish.seats or tuple(SeatWanted() for _ in range(_count(wish, format_)))
    _check_number(wish, format_, len(wanted))
    keys = format_.perspectives(wish.topic, wish.rules, len(wanted))
    open_ = not wish.seats
    texts = [perspective(format_.templates, wish.language, key) for key in keys]
    taken: set[str] = set()
    seats: list[Seat] = []
    for seat, (name, role) in zip(wanted, texts, strict=True):
        own = seat.name if seat.name is not None else _free(name, taken)
        if folded(own) in taken:
            pointer = f"#/participants/{len(seats)}/name"
            raise InvalidRequest(Fault(pointer, f"Two participants are named {own!r}."))
        taken.add(folded(own))
        fill = open_ or format_.fills_roles
        own_role = seat.role if seat.role is not None else (role if fill else "")
        weight = _weight(seat, wish.domains, agents)
        seats.append(Seat(own, own_role, seat.agent, weight, seat.expert))
    return tuple(seats)


def _weight(
    seat: SeatWanted, domains: Sequence[str], agents: Mapping[str, AgentProfile]
) -> Fraction:
    """The weight asked for, else the agent's highest expertise in the meeting's domains
    (PROTOCOLS 7)."""
    if seat.weight is not None:
        return seat.weight
    profile = agents.get(seat.agent)
    known: Mapping[str, Decimal] = {} if profile is None else profile.expertise
    return max((Fraction(known[domain]) for domain in domains if domain in known), default=ONE)


def _count(wish: OpenMeeting, format_: Format) -> int:
    return format_.usual_seats(wish.rules) if wish.count is None else wish.count


def _check_number(wish: OpenMeeting, format_: Format, number: int) -> None:
    pointer = "#/participants" if wish.seats else "#/count"
    if number < format_.fewest_seats:
        detail = f"A {format_.name} needs at least {format_.fewest_seats} participants."
        raise InvalidRequest(Fault(pointer, detail))
    if number > format_.most_seats:
        detail = f"A {format_.name} seats at most {format_.most_seats} participants."
        raise InvalidRequest(Fault(pointer, detail))


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number behind it where perspectives come round again."""
    number = 1
    free = name
    while folded(free) in taken:
        number += 1
        free = f"{name} {number}"
    return free
