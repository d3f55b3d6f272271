"""Limits of time and the cancel, on a clock that the test moves (PROTOCOLS 11, 12)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from app.coordinator.ports import Request
from app.domain.errors import AgentUnavailable, MeetingEnded, NotFound
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Limits
from tests.coordinator.conftest import MakeTable
from tests.coordinator.table import SYNTHESIS, Behaviour, Table, ended, of_type, stances


class _Meeting:
    """A meeting being advanced in the background."""

    def __init__(self, held: Table, id_: str) -> None:
        self.held = held
        self.id = id_
        self.task = asyncio.create_task(held.runner.advance(id_))

    async def end(self) -> list[Event]:
        await self.task
        return await self.held.events(self.id)


async def _begin(held: Table, limits: Limits | None = None) -> _Meeting:
    state = await held.open(limits=limits or Limits())
    return _Meeting(held, state.meeting.id)


async def test_a_silent_participant_is_neutral_with_a_timeout(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"), c=lambda _: None)
    meeting = await _begin(held)
    await held.agents["c"].asked.wait()
    held.clock.advance(59.9)
    assert not meeting.task.done()
    held.clock.advance(0.1)
    events = await meeting.end()
    late = next(e.data for e in of_type(events, "reply.received") if e.data["participant"] == "c")
    assert (late["stance"], late["status"]) == ("NEUTRAL", "timeout")
    assert late["reason"] == "No reply within 60 s."
    assert ended(events)["consensus"] == "MAJORITY_CONSENSUS"


async def test_the_deadline_fires_while_everybody_hangs(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=lambda _: None)
    meeting = await _begin(held, Limits(seconds=100, reply_seconds=500))
    await held.agents["b"].asked.wait()
    held.clock.advance(90)  # ten seconds are kept back for the closing
    events = await meeting.end()
    outcome = ended(events)
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "deadline")
    assert outcome["completeness"] == "partial"
    assert {e.data["status"] for e in of_type(events, "reply.received")} == {"timeout"}


async def test_the_closing_reserve_pays_for_the_synthesis(table: MakeTable) -> None:
    held = table(a=stances("DISAGREE"), b=stances("AGREE", "NEUTRAL"))
    held.agents["b"].behave = lambda r: "[STANCE: AGREE]" if r.round == 1 else None
    meeting = await _begin(held, Limits(seconds=100, reply_seconds=500))
    await held.agents["b"].asked.wait()
    held.agents["b"].asked.clear()
    await held.agents["b"].asked.wait()
    held.clock.advance(90)
    events = await meeting.end()
    assert ended(events)["stopped_by"] == "deadline"
    assert ended(events)["synthesis"]["decision"] == "Try one repository."


async def test_a_hanging_secretary_cannot_hold_the_meeting_past_its_deadline(
    table: MakeTable,
) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    held.agents["secretary"].behave = lambda _: None
    meeting = await _begin(held, Limits(seconds=50))
    await held.agents["secretary"].asked.wait()
    held.clock.advance(50)
    outcome = ended(await meeting.end())
    assert (outcome["result"], outcome["stopped_by"]) == ("decided", "consensus")
    assert outcome["synthesis"] is None


async def test_a_deadline_that_passed_while_the_process_was_down_is_honoured(
    table: MakeTable,
) -> None:
    held = table(a=stances("AGREE"), b=lambda _: None)
    meeting = await _begin(held)
    await held.agents["b"].asked.wait()
    meeting.task.cancel()
    await asyncio.gather(meeting.task, return_exceptions=True)
    held.clock.advance(1_000)
    asked = sum(len(agent.requests) for agent in held.agents.values())
    events = await _Meeting(held, meeting.id).end()
    assert ended(events)["stopped_by"] == "deadline"
    assert sum(len(agent.requests) for agent in held.agents.values()) == asked


async def test_a_busy_provider_is_asked_again_when_it_said(table: MakeTable) -> None:
    busy: list[Exception] = [AgentUnavailable("busy", retry_after=20)]
    held = table(a=lambda _: busy.pop() if busy else "[STANCE: AGREE]", b=stances("AGREE"))
    meeting = await _begin(held)
    await held.agents["a"].asked.wait()
    held.clock.advance(19)
    assert len(held.agents["a"].requests) == 1
    held.clock.advance(1)
    assert ended(await meeting.end())["consensus"] == "FULL_CONSENSUS"
    assert len(held.agents["a"].requests) == 2


async def test_a_pause_longer_than_the_reply_limit_is_not_waited_for(table: MakeTable) -> None:
    held = table(a=lambda _: AgentUnavailable("busy", retry_after=61), b=stances("AGREE"))
    events = await (await _begin(held, Limits(rounds=1))).end()
    reply = next(e.data for e in of_type(events, "reply.received") if e.data["participant"] == "a")
    assert (reply["status"], reply["reason"]) == ("error", "busy")
    assert len(held.agents["a"].requests) == 1


async def _cancelled(held: Table, meeting: _Meeting) -> Sequence[Event]:
    state, newly = await held.service.cancel(meeting.id, "plans changed")
    assert newly
    assert state.status.value == "cancelling"
    return await meeting.end()


async def test_a_cancel_aborts_what_is_in_flight_and_asks_nobody_more(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=lambda _: None, c=lambda _: None)
    held.agents["c"].stop_state = "stopped"
    meeting = await _begin(held)
    await held.agents["c"].asked.wait()
    # A reply that is not on disk yet when the cancel comes is a late one.
    await held.until(meeting.id, "reply.received")
    events = await _cancelled(held, meeting)
    outcome = ended(events)
    assert (outcome["result"], outcome["stopped_by"]) == ("cancelled", "cancellation")
    assert outcome["completeness"] == "partial"
    closed = of_type(events, "cancellation.closed")[0].data
    assert closed["state"] == "unconfirmed"
    assert {item["participant"]: item["state"] for item in closed["items"]} == {
        "b": "unconfirmed",
        "c": "stopped",
    }
    assert held.agents["b"].stopped == [held.agents["b"].requests[0].request_id]
    kept = of_type(events, "reply.received")
    assert [event.data["participant"] for event in kept] == ["a"]
    assert not held.agents["secretary"].requests
    assert [event.type for event in events[-3:]] == [
        "decision.recorded",
        "minutes.written",
        "meeting.ended",
    ]


async def test_a_cancel_during_the_synthesis_overtakes_the_decision(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    held.agents["secretary"].behave = lambda _: None
    meeting = await _begin(held)
    await held.agents["secretary"].asked.wait()
    outcome = ended(await _cancelled(held, meeting))
    assert (outcome["result"], outcome["decision"]) == ("cancelled", None)
    assert outcome["consensus"] == "FULL_CONSENSUS"  # a fact about the meeting, not a decision


async def test_a_cancel_before_the_first_step(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    state = await held.open()
    await held.service.cancel(state.meeting.id, None)
    events = await _Meeting(held, state.meeting.id).end()
    assert ended(events)["result"] == "cancelled"
    assert not held.agents["a"].requests


async def test_cancelling_twice_is_the_same_and_after_the_end_a_conflict(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=lambda _: None)
    meeting = await _begin(held)
    await held.agents["b"].asked.wait()
    first = await asyncio.gather(
        held.service.cancel(meeting.id, "one"), held.service.cancel(meeting.id, "two")
    )
    assert sorted(newly for _, newly in first) == [False, True]
    events = await meeting.end()
    assert len(of_type(events, "cancellation.requested")) == 1
    with pytest.raises(MeetingEnded):
        await held.service.cancel(meeting.id, None)
    with pytest.raises(NotFound):
        await held.service.cancel("mtg_none", None)


async def test_a_process_killed_while_cancelling_lists_the_same_items(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=lambda _: None)
    meeting = await _begin(held)
    await held.agents["b"].asked.wait()
    meeting.task.cancel()
    await asyncio.gather(meeting.task, return_exceptions=True)
    await held.service.cancel(meeting.id, None)
    events = await _Meeting(held, meeting.id).end()
    items = of_type(events, "cancellation.closed")[0].data["items"]
    assert [item["participant"] for item in items] == ["b"]
    assert ended(events)["result"] == "cancelled"


async def test_a_late_synthesis_is_not_sent_after_the_deadline(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=lambda _: None)
    held.agents["secretary"].behave = lambda _: SYNTHESIS
    meeting = await _begin(held, Limits(seconds=10, rounds=1))
    await held.agents["b"].asked.wait()
    held.clock.advance(10)
    events = await meeting.end()
    assert not held.agents["secretary"].requests
    assert ended(events)["synthesis"] is None


async def test_hints_without_news_disturb_nobody(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("DISAGREE", "NEUTRAL", "AGREE"))
    state = await held.open()

    def hinting(stance: Behaviour) -> Behaviour:
        def behave(request: Request) -> object:
            for _ in range(3):
                held.runner.hear(state.meeting.id)
            return stance(request)

        return cast("Behaviour", behave)

    for agent in held.agents.values():
        agent.behave = hinting(agent.behave)
    await held.runner.advance(state.meeting.id)
    assert ended(await held.events(state.meeting.id))["result"] == "decided"


@pytest.mark.parametrize("asked_before", range(1, 9))
async def test_a_cancel_at_any_request_counts_wholly_or_comes_too_late(
    table: MakeTable, asked_before: int
) -> None:
    held = table(
        a=stances("AGREE"), b=stances("DISAGREE", "NEUTRAL", "AGREE"), c=stances("NEUTRAL")
    )
    state = await held.open()
    cancels: list[asyncio.Task[object]] = []
    count = 0

    def cancelling(stance: Behaviour) -> Behaviour:
        def behave(request: Request) -> object:
            nonlocal count
            count += 1
            if count == asked_before:
                cancels.append(asyncio.create_task(held.service.cancel(state.meeting.id, "stop")))
            return stance(request)

        return cast("Behaviour", behave)

    for agent in held.agents.values():
        agent.behave = cancelling(agent.behave)
    await held.runner.advance(state.meeting.id)
    (answer,) = await asyncio.gather(*cancels, return_exceptions=True)
    in_time = not isinstance(answer, MeetingEnded)
    events = await held.events(state.meeting.id)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert (ended(events)["result"] == "cancelled") is in_time
    assert len(of_type(events, "cancellation.requested")) == in_time
    assert len(of_type(events, "cancellation.closed")) == in_time
