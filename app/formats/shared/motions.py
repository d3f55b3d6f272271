"""The motions of a meeting, as its records tell of them."""

from __future__ import annotations

from app.domain.meeting.history import History
from app.formats.shared.page import Cell, Page, Paragraph, Theirs, bullets, said


def last_motion(past: History) -> str | None:
    return next((r.motion for r in reversed(past.rounds) if r.motion), past.meeting.motion)


def motions_judged(past: History) -> dict[str, tuple[int, int]]:
    """The motions that were judged, each with the first and the last round it stood in."""
    found: dict[str, tuple[int, int]] = {}
    for round_ in past.rounds:
        if round_.motion and round_.closed is not None:
            first, _ = found.get(round_.motion, (round_.number, 0))
            found[round_.motion] = (first, round_.number)
    return found


def motions_page(past: History) -> Page:
    """What was considered where no options were given."""
    judged = motions_judged(past)
    if not judged:
        yield Paragraph(said("decision.none_named"))
        return
    yield Paragraph(said("decision.no_options"))
    yield bullets(_motion(motion, *stood) for motion, stood in judged.items())


def _motion(motion: str, first: int, last: int) -> Cell:
    if first == last:
        return said("decision.motion_of_round", motion=Theirs(motion), round=first)
    return said("decision.motion_of_rounds", motion=Theirs(motion), first=first, last=last)
