"""How a meeting ends in the log: the decision, the minutes, and last of all the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from app.coordinator.journal import Journal
from app.coordinator.ports import Clock, EventLog, MinutesFile, Outlets
from app.coordinator.saving import Saving
from app.domain.meeting import events
from app.domain.meeting.events import Entry, Event
from app.domain.meeting.outcome import (
    Outcome,
    StopReason,
    outcome_record,
    overtaken_by_cancellation,
)
from app.domain.meeting.state import MeetingState, settled, spent_record
from app.domain.operation.log import content_of, entries_of, operation_id
from app.domain.steps import Save
from app.domain.values import rfc3339
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
        state = settled(await _with_those_below(journal.state, log))
        now = clock.now()
        decision = {
            **outcome.record(),
            **outcome.findings,
            "numbers_name": outcome.numbers_name,
            "degradation": [part.record() for part in outcome.degradation],
            "spent": spent_record(state, now),
            "open_below": state.open_below,
        }
        if await journal.append_if_unchanged(
            Entry(events.DECISION_RECORDED, decision, now, _DECISION)
        ):
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
    if destination is None or deadline is None or FORMATS[state.meeting.format].delivers:
        return
    if decision.data["stopped_by"] in (StopReason.CANCELLATION, StopReason.ERROR):
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
            journal.add(Entry(events.MINUTES_WRITTEN, {"path": path}, clock.now(), _MINUTES))
    outcome = outcome_record(decision.data)
    ended = {
        "result": outcome["result"],
        "stopped_by": outcome["stopped_by"],
        "completeness": outcome["completeness"],
        "decision": outcome["decision"],
        "outcome": outcome,
        "ended_at": rfc3339(decision.at),
        "minutes_error": None if unwritten is None else str(unwritten.strerror or unwritten),
    }
    journal.add(Entry(events.MEETING_ENDED, ended, clock.now(), _END))
    await journal.flush()
    if unwritten is not None:
        raise unwritten


async def _with_those_below(state: MeetingState, log: EventLog) -> MeetingState:
    """The state with what the meetings below it have drawn, which their own logs hold."""
    if not state.children:
        return state
    return replace(state, below=(await log.state(state.meeting.id)).below)
