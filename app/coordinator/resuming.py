"""Resuming a meeting that has ended without a decision (PROTOCOLS 12): what it takes, and what is
refused.

Something must have changed, and the caller says what. Limits stay as they are unless they are what
has changed; then they are raised by name, and never to less than what is spent already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from app.coordinator.ports import Clock, EventLog
from app.domain.errors import (
    Fault,
    InvalidRequest,
    LogConflict,
    MeetingDecided,
    MeetingNotEnded,
    OperationUnknown,
)
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.events import MeetingResumed, RoundClosed
from app.domain.meeting.meeting import Changed, Limits, Material, Meeting
from app.domain.meeting.outcome import Result
from app.domain.meeting.resumption import updated, versions_given
from app.domain.meeting.state import MeetingState
from app.domain.meeting.tree import check_open, ends_by
from app.domain.replies.text import clean
from app.domain.values import Json
from app.formats import format_of

MOST_NOTE_CHARACTERS = 2_000
_MOST_MATERIALS = 50


@dataclass(frozen=True, slots=True)
class ResumeMeeting:
    """What a caller says of a resuming. ``limits`` holds only those that were named."""

    changed: Changed
    note: str
    limits: Mapping[str, Json] = field(default_factory=dict[str, Json])
    materials: tuple[Material, ...] = ()
    acknowledge_unknown: bool = False


async def resume(log: EventLog, clock: Clock, meeting_id: str, wish: ResumeMeeting) -> MeetingState:
    """Where the meeting stands once its resuming is durable; of several at once one comes through.

    Raises ``NotFound``, ``MeetingNotEnded``, ``MeetingDecided``, ``OperationUnknown``,
    ``ParentClosed``, or ``InvalidRequest`` naming the fields.
    """
    while True:
        state = await log.state(meeting_id)
        check_state(state, acknowledged=wish.acknowledge_unknown)
        above = [await log.state(id_) for id_ in reversed(state.meeting.ancestors)]
        closed = last_closed_round(await log.read(meeting_id))
        entry = resuming_entry(state, above, wish, closed, clock.now())
        try:
            (event,) = await log.append(meeting_id, state.last_seq, [entry])
        except LogConflict:
            continue
        return state.after(event)


# --- whether it can be resumed ------------------------------------------------------------------


def check_state(state: MeetingState, *, acknowledged: bool) -> None:
    """Raises what stands against resuming the meeting as it is now."""
    meeting_id = state.meeting.id
    if not state.ended or state.outcome is None:
        raise MeetingNotEnded(
            f"Meeting {meeting_id} has not ended (it is {state.status.value}), "
            "and only one that has ended can be resumed."
        )
    if state.outcome.result is Result.DECIDED:
        raise MeetingDecided(
            f"Meeting {meeting_id} has decided, so there is nothing to go on with; "
            "open a new meeting for a new question."
        )
    unsettled = unsettled_operations(state)
    if unsettled and not acknowledged:
        raise OperationUnknown(
            f"Nobody knows yet what became of {', '.join(unsettled)}. Have it reconciled, or "
            "resume all the same with acknowledge_unknown: true."
        )


def unsettled_operations(state: MeetingState) -> list[str]:
    """The operations whose effect outside nobody could confirm or rule out, by id."""
    return [id_ for id_, each in state.operations.items() if each.open]


def last_closed_round(entries: Sequence[Event]) -> int:
    closed = (e.content.round for e in entries if isinstance(e.content, RoundClosed))
    return max(closed, default=0)


# --- what it goes on with -----------------------------------------------------------------------


def resuming_entry(
    state: MeetingState,
    above: Sequence[MeetingState],
    wish: ResumeMeeting,
    after_round: int,
    now: datetime,
) -> Entry:
    """The ``meeting.resumed`` that was asked for; ``above`` are its parent and those above that.

    Raises ``InvalidRequest`` naming the fields, or ``ParentClosed``.
    """
    if above:
        check_open(above[0], above[1:])
    limits = replace(state.meeting.limits, **wish.limits)
    faults = [
        *_limit_faults(state, wish, limits, now),
        *(_faults_below(state, above[0], limits, now) if above else ()),
        *_material_faults(state.meeting, wish),
    ]
    if not faults:
        materials = updated(state.meeting.materials, wish.materials)
        meeting = replace(state.meeting, limits=limits, materials=materials)
        faults += format_of(meeting).faults(meeting)
    if faults:
        raise InvalidRequest(*faults)
    number = len(state.resumptions) + 1
    told = MeetingResumed(
        changed=wish.changed,
        note=clean(wish.note.strip(), MOST_NOTE_CHARACTERS),
        after_round=after_round,
        limits=limits,
        materials=wish.materials,
        acknowledged=tuple(unsettled_operations(state)),
        deadline=_deadline(state, above, limits, now),
        resumption=number,
    )
    return Entry(told, now, f"resume/{number}")


def _deadline(
    state: MeetingState, above: Sequence[MeetingState], limits: Limits, now: datetime
) -> datetime:
    """The time that is left of the limit runs on from now; a parent's own end stays in force."""
    deadline = now + timedelta(seconds=limits.seconds - state.seconds(now))
    return min(deadline, ends_by(above[0], now)) if above else deadline


# --- limits -------------------------------------------------------------------------------------

_UNITS = {
    "rounds": "{} rounds have begun",
    "seconds": "{} seconds are used up",
    "usd": "{} US dollars are spent",
    "tokens": "{} tokens are spent",
}


def _limit_faults(
    state: MeetingState, wish: ResumeMeeting, limits: Limits, now: datetime
) -> Iterator[Fault]:
    if wish.changed != "limits":
        if wish.limits:
            detail = 'Limits are raised only with changed: "limits"; leave them out to keep them.'
            yield Fault("#/limits", detail)
        return
    before = state.meeting.limits
    if not any(_exceeds(getattr(limits, name), getattr(before, name)) for name in wish.limits):
        yield Fault("#/limits", "Name the limits that are raised; none of them is higher here.")
    spent = _spent(state, now)
    for name in wish.limits:
        was, limit = getattr(before, name), getattr(limits, name)
        if _exceeds(was, limit):
            # Meetings below may hold what is not spent yet, so a limit can only grow.
            detail = f"This is lower than before ({_shown(was)}); a resuming only raises limits."
            yield Fault(f"#/limits/{name}", detail)
        elif name in _UNITS and limit != was and _exceeds(spent[name], limit):
            detail = f"{_UNITS[name].format(_shown(spent[name]))} already; give more than that."
            yield Fault(f"#/limits/{name}", detail)


def _faults_below(
    state: MeetingState, parent: MeetingState, limits: Limits, now: datetime
) -> Iterator[Fault]:
    """Nothing may be raised past what the parent has left."""
    usd, tokens = parent.envelope.left
    rounds = parent.meeting.limits.rounds - max(parent.round - 1, 0)
    seconds = (ends_by(parent, now) - now).total_seconds()
    left: Mapping[str, Any] = {"rounds": rounds, "seconds": seconds, "usd": usd, "tokens": tokens}
    spent = _spent(state, now)
    for name in _UNITS:
        limit = getattr(limits, name)
        if left[name] is None or not _exceeds(limit, getattr(state.meeting.limits, name)):
            continue
        most = left[name] + (spent[name] or 0)
        if _exceeds(limit, most):
            detail = f"With what {parent.meeting.id} has left, this can be {_shown(most)} at most."
            yield Fault(f"#/limits/{name}", detail)


def _spent(state: MeetingState, now: datetime) -> Mapping[str, Any]:
    spent = state.drawn.spent
    return {
        "rounds": state.round,
        "seconds": state.seconds(now),
        # An unknown price is refused beside any money limit.
        "usd": spent.usd or Decimal(0),
        "tokens": spent.tokens,
    }


def _exceeds(one: Any, other: Any) -> bool:
    """Whether the first limit is higher; None is no limit at all."""
    if one is None or other is None:
        return one is None and other is not None
    return one > other


def _shown(amount: Any) -> str:
    if amount is None:
        return "no limit"
    return format(amount.normalize(), "f") if isinstance(amount, Decimal) else f"{amount:.15g}"


# --- materials ----------------------------------------------------------------------------------


def _material_faults(meeting: Meeting, wish: ResumeMeeting) -> Iterator[Fault]:
    given = wish.materials
    if wish.changed != "materials":
        if given:
            yield Fault("#/materials", 'Materials are given only with changed: "materials".')
        return
    ids = [material.id for material in given]
    for index, id_ in enumerate(ids):
        if id_ in ids[:index]:
            yield Fault(f"#/materials/{index}/id", f"Another of these materials is {id_!r} too.")
    yield from _version_faults(meeting, given)
    now = updated(meeting.materials, given)
    if len(now) > _MOST_MATERIALS:
        yield Fault("#/materials", f"A meeting has at most {_MOST_MATERIALS} materials.")
    if "materials" not in format_of(meeting).uses:
        return  # Nobody reads them there, so what the note says is all that can have changed.
    if not given:
        yield Fault("#/materials", "Give the materials that have changed.")
    elif _texts(now) == _texts(meeting.materials):
        yield Fault("#/materials", "These are the texts as they were; nothing has changed.")


def _version_faults(meeting: Meeting, given: Sequence[Material]) -> Iterator[Fault]:
    """Records tell texts apart by id and version, so one version is one text (PROTOCOLS 9)."""
    known = versions_given(meeting)
    for index, material in enumerate(given):
        if known.get((material.id, material.version), material.text) != material.text:
            detail = f"Version {material.version!r} has another text already; name a new version."
            yield Fault(f"#/materials/{index}/version", detail)


def _texts(materials: Sequence[Material]) -> dict[str, str]:
    return {material.id: material.text for material in materials}
