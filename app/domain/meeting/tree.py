"""A tree of meetings: one envelope, one deadline, one cancel (PROTOCOLS 12, trees).

These rules are applied where an append is made durable, with every meeting above held still, so
that two meetings on two machines can never take the same money.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from msgspec import structs

from app.domain.errors import Conflict, Fault, InvalidRequest
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.envelope import Drawn, closing_seconds
from app.domain.meeting.events import (
    ChildEnded,
    ChildOpened,
    MeetingCreated,
    MeetingEnded,
    MeetingResumed,
    RequestReserved,
)
from app.domain.meeting.meeting import Limits
from app.domain.meeting.state import MeetingState

DEEPEST = 5
"""Levels of a tree, its root included."""


class ParentClosed(Conflict):
    """No meeting is opened below one that has ended or is being cancelled."""

    code = "parent-closed"


# --- opening below another meeting --------------------------------------------------------------


def check_open(parent: MeetingState, above: Sequence[MeetingState]) -> None:
    """Raises ``ParentClosed`` if nothing can be opened below this meeting any more."""
    if parent.decided:
        detail = f"{parent.meeting.id} has ended; no meeting below it can be opened or resumed."
        raise ParentClosed(detail)
    for meeting in (parent, *above):
        if meeting.cancellation is not None:
            detail = f"{meeting.meeting.id} was cancelled; nothing new is started below it."
            raise ParentClosed(detail)


@dataclass(frozen=True, slots=True)
class Place:
    """A meeting's place in its tree: the limits it gets, the meetings above it from the root down,
    and when they need it to have ended."""

    limits: Limits
    ancestors: tuple[str, ...] = ()
    ends_by: datetime | None = None


def place_below(
    parent: MeetingState, above: Sequence[MeetingState], wanted: Limits, now: datetime
) -> Place:
    """The place of a meeting that is opened from ``parent``; ``above`` are those above that.

    Raises ``ParentClosed``, or ``InvalidRequest`` where nothing is left to hold a meeting with,
    or where the tree would become too deep.
    """
    check_open(parent, above)
    if len(parent.meeting.ancestors) + 2 > DEEPEST:
        id_ = parent.meeting.id
        detail = f"A tree of meetings has at most {DEEPEST} levels, and {id_} is on the last."
        raise InvalidRequest(Fault("#/parent_id", detail))
    limits = _limits_below(parent, wanted, now)
    ancestors = (*parent.meeting.ancestors, parent.meeting.id)
    return Place(limits, ancestors, ends_by(parent, now))


def _limits_below(parent: MeetingState, wanted: Limits, now: datetime) -> Limits:
    """The smaller of what is wanted and what the parent has left."""
    above = parent.meeting
    usd, tokens = parent.envelope.left
    seconds = (ends_by(parent, now) - now).total_seconds()
    # The parent's present round is not over yet, so it counts as left.
    rounds = above.limits.rounds - max(parent.round - 1, 0)
    left = {"money": usd, "tokens": tokens, "time": seconds, "rounds": rounds}
    used_up = [name for name, amount in left.items() if amount is not None and amount <= 0]
    if used_up:
        detail = f"{above.id} has no {' and no '.join(used_up)} left for a meeting below it."
        raise InvalidRequest(Fault("#/parent_id", detail))
    return replace(
        wanted,
        rounds=min(wanted.rounds, rounds),
        seconds=min(wanted.seconds, seconds),
        usd=_smaller(wanted.usd, usd),
        tokens=_smaller(wanted.tokens, tokens),
    )


def ends_by(parent: MeetingState, now: datetime) -> datetime:
    """When a meeting below must have ended: at the parent's deadline less its closing reserve."""
    seconds = parent.meeting.limits.seconds
    reserve = timedelta(seconds=closing_seconds(seconds))
    if parent.deadline is not None:
        return parent.deadline - reserve
    # One that has not begun yet has no deadline, but those above it may have set it an end.
    ends = now + timedelta(seconds=seconds) - reserve
    return min(ends, parent.meeting.ends_by or ends)


def _smaller(wanted: Any, left: Any) -> Any:
    return min((each for each in (wanted, left) if each is not None), default=None)


# --- drawing on the envelope --------------------------------------------------------------------


def reserves(new: Sequence[Entry]) -> bool:
    return any(isinstance(entry.content, RequestReserved) for entry in new)


def cancelled(state: MeetingState, above: Sequence[MeetingState]) -> str | None:
    """The meeting, this or one above, whose cancel forbids that anything more is sent.

    That it has ended meanwhile changes nothing: what it left open below is cancelled with it.
    """
    for each in (state, *above):
        if each.cancellation is not None:
            return each.meeting.id
    return None


def without_room(
    state: MeetingState, new: Sequence[Event], above: Sequence[MeetingState]
) -> frozenset[str]:
    """The steps among ``new`` whose requests do not fit into every envelope they draw on.

    Each is weighed after those before it; one that is refused takes nothing from the others.
    """
    if not any(each.meeting.limits.bounded for each in (state, *above)):
        return frozenset()
    refused: set[str] = set()
    now = state
    for event in new:
        request = event.content
        if isinstance(request, RequestReserved) and not _fits(request, now, state, above):
            refused.add(request.step)
        else:
            now = now.after(event)
    return frozenset(refused)


def _fits(
    request: RequestReserved, now: MeetingState, before: MeetingState, above: Sequence[MeetingState]
) -> bool:
    """Whether the request has room, in its own meeting and in all above it.

    One of the same question that got no answer has been booked by then, or still holds its room:
    asking again costs again (PROTOCOLS 11).
    """
    cost = request.reserved
    if not now.envelope.has_room(cost, closing=request.closing):
        return False
    change = now.own - before.own
    return all(
        structs.replace(each, below=each.below + change).envelope.has_room(cost) for each in above
    )


def drawn_since(before: MeetingState | None, after: MeetingState) -> Drawn:
    """What a meeting has drawn between two states, for the meetings above it to count."""
    return after.own if before is None else after.own - before.own


# --- what those above are told ------------------------------------------------------------------


def told_above(
    made: MeetingState, new: Sequence[Event], above: Sequence[MeetingState]
) -> Iterator[tuple[str, Entry]]:
    """What the logs of the meetings above learn of a meeting's entries, each with its meeting.

    The parent, first of ``above``, learns of the beginning; the end is told to all that look after
    the meeting, and what it leaves open below itself is theirs to look after from then on.
    """
    id_ = made.meeting.id
    for event in new:
        if isinstance(event.content, MeetingCreated | MeetingResumed):
            yield above[0].meeting.id, Entry(ChildOpened(meeting_id=id_), event.at)
        if isinstance(event.content, MeetingEnded):
            for each in above:
                if id_ in each.open_below:
                    yield from _told_of_end(each.meeting.id, made, event)


def _told_of_end(to: str, made: MeetingState, event: Event) -> Iterator[tuple[str, Entry]]:
    # First what is taken over, so that a list of those to stop never looks closed in between.
    for id_ in made.open_below:
        yield to, Entry(ChildOpened(meeting_id=id_, adopted=True), event.at)
    yield to, Entry(ChildEnded(meeting_id=made.meeting.id), event.at)
