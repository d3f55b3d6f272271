"""Resuming a meeting that has ended without a decision (PROTOCOLS 12), over a real log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.coordinator.resuming import ResumeMeeting
from app.dispatch.embedded import EmbeddedDispatch
from app.domain.errors import (
    AgentRejected,
    InvalidRequest,
    MeetingDecided,
    MeetingNotEnded,
    NotFound,
    OperationUnknown,
)
from app.domain.meeting.entries import Entry
from app.domain.meeting.meeting import Limits, Material
from app.domain.meeting.state import MeetingState, fold
from app.domain.meeting.tree import ParentClosed
from app.domain.operation.log import begun
from app.domain.operation.state import OperationState
from app.domain.operation.terms import Operation, OperationStatus
from tests.clock import VirtualClock
from tests.coordinator.conftest import MakeTable
from tests.coordinator.live_table import LiveTable
from tests.coordinator.table import Behaviour, Table, ended, of_type, stances
from tests.coordinator.test_crash import lived, told

NOTE = "One more round is worth it."
NEVER: Behaviour = stances("DISAGREE")
AT_LAST: Behaviour = stances("DISAGREE", "DISAGREE", "AGREE")


def wish(**fields: Any) -> ResumeMeeting:
    asked: dict[str, Any] = {"changed": "permission", "note": NOTE}
    return ResumeMeeting(**(asked | fields))


def raising(**limits: Any) -> ResumeMeeting:
    return wish(changed="limits", limits=limits)


async def undecided(held: Table, **fields: Any) -> str:
    """A meeting that two rounds left without a decision."""
    limits = Limits(rounds=2, no_progress_rounds=9)
    state = await held.open(("a", "b"), **({"limits": limits} | fields))
    await held.runner.advance(state.meeting.id)
    assert (await held.log.state(state.meeting.id)).ended
    return state.meeting.id


async def refused(held: Table, meeting_id: str, asked: ResumeMeeting) -> list[str]:
    with pytest.raises(InvalidRequest) as caught:
        await held.service.resume(meeting_id, asked)
    return [fault.pointer for fault in caught.value.faults]


# --- going on ----------------------------------------------------------------------------------


async def test_it_goes_on_where_it_stood(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=AT_LAST)
    meeting_id = await undecided(held)
    before = await held.log.state(meeting_id)
    held.clock.advance(3_600)
    now = held.clock.now()
    state = await held.service.resume(meeting_id, raising(rounds=3))
    assert held.woken[-1] == meeting_id
    assert state.deadline == now + timedelta(seconds=600 - before.seconds(now))
    assert state == await held.log.state(meeting_id)
    await held.runner.advance(meeting_id)
    public = await held.events(meeting_id)
    assert ended(public)["result"] == "decided"
    assert [event.number for event in public] == list(range(1, len(public) + 1))
    assert [e.data["round"] for e in of_type(public, "round.closed")] == [1, 2, 3]
    spent = of_type(public, "decision.recorded")[-1].data["spent"]
    assert spent["replies"] == 6
    # The hour in between is no part of it.
    assert spent["seconds"] < 5
    after = await held.log.state(meeting_id)
    assert after.spent.tokens > before.spent.tokens
    assert after == fold(await held.log.read(meeting_id))
    assert len(held.minutes) == 2


async def test_dying_after_every_append_of_the_second_leg_ends_the_same(
    table: MakeTable,
) -> None:
    async def resumed() -> tuple[Table, str]:
        held = table(a=stances("AGREE"), b=AT_LAST)
        meeting_id = await undecided(held)
        await held.service.resume(meeting_id, raising(rounds=3))
        return held, meeting_id

    whole, meeting_id = await resumed()
    await whole.runner.advance(meeting_id)
    expected = await whole.events(meeting_id)
    deaths = survived = 0
    while not survived:
        deaths += 1
        held, meeting_id = await resumed()
        survived = await lived(held, meeting_id, deaths)
        await held.new_runner(held.log).advance(meeting_id)
        assert told(await held.events(meeting_id)) == told(expected)
    assert deaths > 4


async def test_limits_that_stay_end_it_again_as_they_did(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=NEVER)
    meeting_id = await undecided(held)
    asked = len(held.agents["a"].requests)
    for number in (1, 2):
        await held.service.resume(meeting_id, wish())
        await held.runner.advance(meeting_id)
        public = await held.events(meeting_id)
        assert ended(public)["stopped_by"] == "rounds"
        assert len(of_type(public, "meeting.ended")) == number + 1
    assert len(held.agents["a"].requests) == asked


async def test_a_budget_that_was_raised_has_room_again(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("DISAGREE", "AGREE"))
    meeting_id = await undecided(held, limits=Limits(rounds=5, tokens=2_500))
    first = await held.log.state(meeting_id)
    assert first.outcome is not None
    assert first.outcome.stopped_by == "budget"
    assert await refused(held, meeting_id, raising(tokens=first.spent.tokens - 1)) == [
        "#/limits",
        "#/limits/tokens",
    ]
    await held.service.resume(meeting_id, raising(tokens=400_000))
    await held.runner.advance(meeting_id)
    public = await held.events(meeting_id)
    assert ended(public)["result"] == "decided"
    assert len(of_type(public, "budget.exhausted")) == 1


async def test_a_time_that_was_used_up_ends_it_at_once(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=lambda _: None)
    state = await held.open(("a", "b"), limits=Limits(seconds=60, reply_seconds=600))
    meeting_id = state.meeting.id
    running = asyncio.create_task(held.runner.advance(meeting_id))
    await held.agents["b"].asked.wait()
    held.clock.advance(60)
    await running
    assert ended(await held.events(meeting_id))["stopped_by"] == "deadline"
    await held.service.resume(meeting_id, wish())
    await held.runner.advance(meeting_id)
    assert ended(await held.events(meeting_id))["stopped_by"] == "deadline"
    left = await held.service.resume(meeting_id, raising(seconds=300))
    spent = left.seconds(held.clock.now())
    assert spent < 61
    assert left.deadline == held.clock.now() + timedelta(seconds=300 - spent)


async def test_agents_that_are_there_again(table: MakeTable) -> None:
    held = table(a=lambda _: AgentRejected("away"), b=lambda _: AgentRejected("away"))
    meeting_id = await undecided(held, limits=Limits(rounds=5))
    assert ended(await held.events(meeting_id))["stopped_by"] == "agents_unavailable"
    for name in ("a", "b"):
        held.agents[name].behave = stances("AGREE")
    await held.service.resume(meeting_id, wish(note="They are back."))
    await held.runner.advance(meeting_id)
    public = await held.events(meeting_id)
    assert ended(public)["result"] == "decided"
    assert [e.data["round"] for e in of_type(public, "round.closed")] == [1, 2, 3]


async def test_one_that_was_cancelled_before_it_began(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    meeting_id = (await held.open(("a", "b"))).meeting.id
    await held.service.cancel(meeting_id, "lunch")
    await held.runner.advance(meeting_id)
    state = await held.service.resume(meeting_id, wish())
    assert (state.cancellation, state.status) == (None, "running")
    await held.runner.advance(meeting_id)
    public = await held.events(meeting_id)
    assert ended(public)["result"] == "decided"


async def test_one_that_is_woken_while_its_last_words_are_written() -> None:
    """Resumed between its end and the end of the task that brought it there."""
    runs: list[str] = []

    async def advance(meeting_id: str) -> None:
        runs.append(meeting_id)
        if len(runs) == 1:
            dispatch.wake(meeting_id)
        await asyncio.sleep(0)

    dispatch = EmbeddedDispatch(VirtualClock(), advance, lambda _: None)
    dispatch.wake("mtg_1")
    for _ in range(10):
        await asyncio.sleep(0)
    assert runs == ["mtg_1", "mtg_1"]
    await dispatch.close()


# --- what is refused ---------------------------------------------------------------------------


async def test_only_one_that_has_ended_without_a_decision(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    with pytest.raises(NotFound):
        await held.service.resume("mtg_nowhere", wish())
    meeting_id = (await held.open(("a", "b"))).meeting.id
    with pytest.raises(MeetingNotEnded):
        await held.service.resume(meeting_id, wish())
    await held.runner.advance(meeting_id)
    with pytest.raises(MeetingDecided):
        await held.service.resume(meeting_id, wish())


async def test_of_many_at_once_one_comes_through(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=NEVER)
    meeting_id = await undecided(held)
    calls = [held.service.resume(meeting_id, raising(rounds=9)) for _ in range(8)]
    came = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(each, MeetingState) for each in came) == 1
    assert sum(isinstance(each, MeetingNotEnded) for each in came) == 7


@pytest.mark.parametrize(
    ("asked", "pointers"),
    [
        (raising(), ["#/limits"]),
        (raising(rounds=2), ["#/limits"]),
        (raising(seconds=599), ["#/limits", "#/limits/seconds"]),
        (raising(usd=Decimal(1)), ["#/limits", "#/limits/usd"]),
        (raising(rounds=1, seconds=900), ["#/limits/rounds"]),
        (raising(rounds=3, tokens=10), ["#/limits/tokens"]),
        (wish(limits={"rounds": 3}), ["#/limits"]),
        (wish(materials=(Material("m", "1", "x"),)), ["#/materials"]),
        (
            wish(changed="materials", materials=(Material("m", "1", "x"), Material("m", "2", "y"))),
            ["#/materials/1/id"],
        ),
    ],
)
async def test_what_it_may_not_go_on_with(
    table: MakeTable, asked: ResumeMeeting, pointers: list[str]
) -> None:
    held = table(a=stances("AGREE"), b=NEVER)
    meeting_id = await undecided(held)
    assert await refused(held, meeting_id, asked) == pointers
    assert not (await held.log.state(meeting_id)).resumptions


async def test_a_limit_taken_away_is_a_limit_raised(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=NEVER)
    meeting_id = await undecided(held, limits=Limits(rounds=2, tokens=90_000))
    state = await held.service.resume(meeting_id, raising(tokens=None))
    assert state.meeting.limits == Limits(rounds=2)


async def test_no_limit_is_set_where_there_was_none(table: MakeTable) -> None:
    """Meetings below it may have drawn, or hold, more than any number that is named now."""
    held = table(a=stances("AGREE"), b=NEVER)
    meeting_id = await undecided(held)
    assert await refused(held, meeting_id, raising(rounds=3, usd=Decimal(5))) == ["#/limits/usd"]


@pytest.mark.parametrize("state", ["unknown", "handed_over", "confirmed", "failed"])
async def test_an_operation_that_nobody_knows_of_must_be_acknowledged(
    table: MakeTable, state: str
) -> None:
    held = table(a=stances("AGREE"), b=NEVER)
    meeting_id = await undecided(held)
    last = (await held.log.state(meeting_id)).last_seq
    now = held.clock.now()
    operation = Operation("op_1", "https://example.org/x", "0" * 64, "Ann", now)
    noted = begun(meeting_id, OperationState(operation, OperationStatus(state)), "The text.")
    await held.log.append(meeting_id, last, [Entry(noted, now)])
    if state in ("unknown", "handed_over"):
        with pytest.raises(OperationUnknown, match="op_1"):
            await held.service.resume(meeting_id, wish())
        resumed = await held.service.resume(meeting_id, wish(acknowledge_unknown=True))
        assert resumed.resumptions[0].told.acknowledged == ("op_1",)
    else:
        resumed = await held.service.resume(meeting_id, wish())
        assert resumed.resumptions[0].told.acknowledged == ()


# --- below another meeting ---------------------------------------------------------------------


@pytest.fixture
async def tree(tmp_path: Path) -> AsyncIterator[LiveTable]:
    held = LiveTable(tmp_path, a=stances("AGREE"), b=NEVER, c=lambda _: None)
    yield held
    await held.close()


async def _child(held: LiveTable) -> tuple[str, str]:
    """A parent at work, and a meeting below it that has ended undecided."""
    limits = Limits(tokens=100_000, seconds=600, rounds=3)
    parent = await held.opened(seated=["c", "a"], limits=limits)
    await held.agents["c"].asked.wait()
    small = Limits(tokens=20_000, seconds=100, rounds=2)
    child = await held.opened(seated=["a", "b"], parent_id=parent, limits=small)
    await held.end(child)
    assert (await held.log.state(parent)).children == {child: True}
    return parent, child


async def test_a_child_stays_within_what_its_parent_has_left(tree: LiveTable) -> None:
    parent, child = await _child(tree)
    asked = raising(rounds=9, tokens=400_000, seconds=601)
    assert await refused(tree, child, asked) == [
        "#/limits/rounds",
        "#/limits/seconds",
        "#/limits/tokens",
    ]
    assert await refused(tree, child, raising(tokens=None)) == ["#/limits/tokens"]
    tree.clock.advance(550)
    above = await tree.log.state(parent)
    state = await tree.service.resume(child, raising(tokens=30_000))
    assert above.deadline is not None
    # Its own time would have lasted longer than the parent's less the closing reserve.
    assert state.deadline == above.deadline - timedelta(seconds=30)
    assert (await tree.log.state(parent)).children == {child: False}
    await tree.end(child)
    assert (await tree.log.state(parent)).children == {child: True}
    await tree.service.cancel(parent, None)
    await tree.end(parent)


async def test_no_child_goes_on_below_a_parent_that_has_ended(tree: LiveTable) -> None:
    parent, child = await _child(tree)
    await tree.service.cancel(parent, None)
    with pytest.raises(ParentClosed):
        await tree.service.resume(child, raising(rounds=3))
    await tree.end(parent)
    with pytest.raises(ParentClosed):
        await tree.service.resume(child, raising(rounds=3))


async def test_cancelling_the_parent_reaches_a_child_that_was_resumed(tree: LiveTable) -> None:
    parent, child = await _child(tree)
    tree.agents["b"].behave = lambda _: None
    await tree.service.resume(child, raising(rounds=3))
    tree.agents["b"].asked.clear()
    await tree.agents["b"].asked.wait()
    await tree.service.cancel(parent, "enough")
    assert ended(await tree.end(child))["result"] == "cancelled"
    await tree.end(parent)
