"""What is wrong with a review before it starts (PROTOCOLS 9): seats, materials, criteria."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.domain.errors import Fault
from app.domain.meeting.meeting import Meeting
from app.domain.replies.text import folded
from app.formats.review.criteria import check_fault
from app.formats.review.reviewing import AUTHOR, CRITIC


def review_faults(meeting: Meeting) -> tuple[Fault, ...]:
    return (
        *_seat_faults(meeting),
        *_repeated("materials", [material.id for material in meeting.materials]),
        *_repeated("criteria", [criterion.id for criterion in meeting.criteria]),
        *_check_faults(meeting),
    )


def _seat_faults(meeting: Meeting) -> Iterator[Fault]:
    """Exactly one author, and critics."""
    authors = 0
    for index, seat in enumerate(meeting.seats):
        pointer = f"#/participants/{index}/role"
        if seat.role not in (AUTHOR, CRITIC):
            yield Fault(pointer, f"In a review the role is {AUTHOR} or {CRITIC}.")
        authors += seat.role == AUTHOR
        if seat.role == AUTHOR and authors > 1:
            yield Fault(pointer, "A review has exactly one author.")
    roles = {seat.role for seat in meeting.seats}
    if roles == {CRITIC}:
        yield Fault("#/participants/0/role", "A review needs an author.")
    if roles == {AUTHOR}:
        yield Fault(f"#/participants/{len(meeting.seats) - 1}/role", "A review needs a critic.")


def _repeated(field: str, ids: Sequence[str]) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, id_ in enumerate(map(folded, ids)):
        if id_ in seen:
            yield Fault(f"#/{field}/{index}/id", "This id is there already.")
        seen.add(id_)


def _check_faults(meeting: Meeting) -> Iterator[Fault]:
    for index, criterion in enumerate(meeting.criteria):
        fault = None if criterion.check is None else check_fault(criterion.check)
        if fault is not None:
            yield Fault(f"#/criteria/{index}/check", fault)
