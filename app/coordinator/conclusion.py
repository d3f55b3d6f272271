"""How a meeting ends in the log: the decision, the minutes, and last of all the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from msgspec.structs import replace

from app.coordinator.journal import Journal
from app.coordinator.ports import Clock, EventLog, MinutesFile, Outlets
from app.coordinator.reserving import book_unanswered
from app.coordinator.saving import Saving
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.events import DecisionRecorded, MeetingEnded, MinutesWritten
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import (
    Outcome,
    StopReason,
    overtaken_by_cancellation,
)
from app.domain.meeting.state import MeetingState, settled, spent_record
from app.domain.operation.log import content_of, entries_of, operation_id
from app.domain.steps import Save
from app.formats import FORMATS

_DECISION = "end/decision"
_RECORD = "end/record"
_MINUTES = "end/minutes"
_END = "end"


def recorded_decision(journal: Journal) -> Event | None:
    """The decision, once it stands in the log and only its telling is left."""
    return journal.find(_DECISION)


async def conclude(
    journal: Journal,
    log: EventLog,
    clock: Clock,
    outcome: Outcome,
    close_cancellation: Callable[[], Awaitable[None]],
) -> Event:
    """Record the decision; one that a cancel has overtaken is none any more."""
    while True:
        await journal.flush()
        if journal.state.cancellation is not None:
            outcome = overtaken_by_cancellation(outcome)
            await close_cancellation()
        if book_unanswered(journal, clock):
            await journal.flush()
        state = settled(await _with_those_below(journal.state, log))
        now = clock.now()
        decision = DecisionRecorded(
            outcome=outcome,
            format=state.meeting.format,
            spent=spent_record(state, now),
            open_below=tuple(state.open_below),
        )
        if await journal.append_if_unchanged(Entry(decision, now, _DECISION)):
            break
    return journal.get(_DECISION)


async def deliver(journal: Journal, clock: Clock, outlets: Outlets, decision: Event) -> None:
    """Save the decision record at the meeting's destination (PROTOCOLS 13).

    Nothing is sent after a cancel or a fault of ours, nor where the format has saved what it made.
    Whatever becomes of it changes nothing in the outcome. Raises ``Paused`` while only time must
    pass.
    """
    state = journal.state
    destination, deadline = state.meeting.destination, state.deadline
    if destination is None or deadline is None or _delivers(state.meeting):
        return
    if _decided(decision).outcome.stopped_by in (StopReason.CANCELLATION, StopReason.ERROR):
        return
    noted = entries_of(journal.entries, operation_id(state.meeting, _RECORD))
    if noted:
        content = content_of(noted)
    else:
        up_to_it = [entry for entry in journal.entries if entry.seq <= decision.seq]
        content = await outlets.write_decision(up_to_it)
    step, to = Save(_RECORD, content), outlets.destinations
    await Saving(step, "record", destination, journal, clock, to, deadline).hold()


async def finish(
    journal: Journal, clock: Clock, write_minutes: MinutesFile, decision: Event
) -> None:
    """What follows a recorded decision: minutes on disk, then ``meeting.ended``.

    Raises ``OSError`` when the minutes could not be written; the meeting has ended all the same,
    its end says so, and they can be had from the log at any time.
    """
    unwritten: OSError | None = None
    if not journal.state.meeting.ephemeral and journal.find(_MINUTES) is None:
        try:
            path = await write_minutes(journal.entries)
        except OSError as failure:
            unwritten = failure
        else:
            journal.add(Entry(MinutesWritten(path=path), clock.now(), _MINUTES))
    ended = MeetingEnded(
        outcome=_decided(decision).outcome,
        ended_at=decision.at,
        minutes_error=None if unwritten is None else str(unwritten.strerror or unwritten),
    )
    journal.add(Entry(ended, clock.now(), _END))
    await journal.flush()
    if unwritten is not None:
        raise unwritten


def _delivers(meeting: Meeting) -> bool:
    """Whether the format itself saves what it makes; one that is not at hand saves nothing."""
    format_ = FORMATS.version(meeting.format, meeting.format_version)
    return format_ is None or format_.delivers


def _decided(decision: Event) -> DecisionRecorded:
    return cast("DecisionRecorded", decision.content)


async def _with_those_below(state: MeetingState, log: EventLog) -> MeetingState:
    """The state with what the meetings below it have drawn, which their own logs hold."""
    if not state.children:
        return state
    return replace(state, below=(await log.state(state.meeting.id)).below)
