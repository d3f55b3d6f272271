"""How a meeting ends in the log: the decision, the minutes, and last of all the end."""

from __future__ import annotations

from collections.abc import Mapping

from app.coordinator.cancellation import closing_state, items_in_flight
from app.coordinator.journal import Journal
from app.coordinator.ports import Agent, Clock, MinutesFile
from app.domain import events
from app.domain.events import Entry, Event
from app.domain.outcome import Outcome, outcome_record, overtaken_by_cancellation
from app.domain.state import spent_record

_DECISION = "end/decision"
_MINUTES = "end/minutes"
_END = "end"
_CANCELLATION = "end/cancellation"


def recorded_decision(journal: Journal) -> Event | None:
    """The decision, once it stands in the log and only its telling is left."""
    return journal.find(_DECISION)


async def conclude(
    journal: Journal, clock: Clock, agents: Mapping[str, Agent], outcome: Outcome
) -> Event:
    """Record the decision; one that a cancel has overtaken is none any more."""
    while True:
        await journal.durable()
        if journal.state.cancellation is not None:
            outcome = overtaken_by_cancellation(outcome)
            await _close_cancellation(journal, clock, agents)
            await journal.durable()
        now = clock.now()
        decision = {
            **outcome.record(),
            **outcome.findings,
            "numbers_name": outcome.numbers_name,
            "degradation": [part.record() for part in outcome.degradation],
            "spent": spent_record(journal.state, now),
        }
        if await journal.propose(Entry(events.DECISION_RECORDED, decision, now, _DECISION)):
            break
    return journal.get(_DECISION)


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
        "ended_at": events.rfc3339(decision.at),
        "minutes_error": None if unwritten is None else str(unwritten.strerror or unwritten),
    }
    journal.add(Entry(events.MEETING_ENDED, ended, clock.now(), _END))
    await journal.durable()
    if unwritten is not None:
        raise unwritten


async def _close_cancellation(journal: Journal, clock: Clock, agents: Mapping[str, Agent]) -> None:
    if journal.find(_CANCELLATION) is not None:
        return
    items = await items_in_flight(journal.entries, agents)
    content = {"state": closing_state(items), "items": items}
    journal.add(Entry(events.CANCELLATION_CLOSED, content, clock.now(), _CANCELLATION))
