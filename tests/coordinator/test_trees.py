"""Meetings that open meetings: one envelope, one deadline, one cancel (PROTOCOLS 12, trees)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from app.coordinator.cancellation import request_cancellation
from app.coordinator.ports import Request
from app.coordinator.resuming import ResumeMeeting
from app.domain.errors import InvalidRequest
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Limits
from app.domain.meeting.tree import DEEPEST, ParentClosed
from app.records.decision import decision_markdown
from tests.coordinator.conftest import MakeLiveTable
from tests.coordinator.live_table import ConveningAgent
from tests.coordinator.table import ended, of_type, stances

LIMIT = 4_800
"""Tokens that are enough for one meeting of three rounds between two."""


async def test_an_agent_that_holds_a_meeting_within_its_reply_stays_inside(
    live: MakeLiveTable,
) -> None:
    held = live(a=stances("AGREE"), b=stances("AGREE"))
    below: list[str] = []

    async def convene(request: Request) -> str:
        child = await held.opened(seated=["a", "b"], parent_id=request.meeting_id)
        below.append(child)
        await held.service.ended(child)
        return "We talked it over. [STANCE: AGREE]"

    held.agents["chief"] = held.directory.agents["chief"] = ConveningAgent("chief", convene)
    limits = Limits(tokens=200_000, seconds=100, rounds=2)
    parent = await held.opened(seated=["chief", "a"], limits=limits)
    events = await held.end(parent)
    assert ended(events)["consensus"] == "FULL_CONSENSUS"
    (child,) = below

    opened = (await held.log.state(child)).meeting
    above = await held.log.state(parent)
    assert (opened.parent_id, opened.ancestors) == (parent, (parent,))
    assert above.children == {child: True}
    # 200,000 less what the parent had drawn and keeps back for its own closing.
    assert opened.limits.tokens is not None
    assert opened.limits.tokens < 200_000
    assert opened.limits.rounds == 2
    assert opened.limits.seconds == 90
    started = of_type(await held.events(child), "meeting.started")[0]
    assert started.data["deadline"] == "2026-11-30T09:01:30Z"

    own = (await held.log.state(child)).spent
    assert own.tokens == 3 * 120, "two replies and a synthesis"
    assert above.drawn.spent == above.spent + own
    decision = of_type(events, "decision.recorded")[0].data["spent"]
    assert decision["tokens"] == {"input": 600, "output": 120}
    assert decision["replies"] == 4


async def test_limits_are_the_smaller_of_the_two(live: MakeLiveTable) -> None:
    held = live(a=lambda _: None, b=lambda _: None)
    parent = await held.opened(limits=Limits(usd=Decimal(1), rounds=2, reply_seconds=500))
    await held.agents["b"].asked.wait()
    held.clock.advance(100)
    small = Limits(usd=Decimal("0.5"), tokens=9_000, seconds=50, rounds=2)
    large = Limits(usd=Decimal(5), seconds=5_000, rounds=20)
    for wanted, got in [
        (small, small),
        (large, Limits(usd=Decimal(1), seconds=470, rounds=2)),
        (Limits(), Limits(usd=Decimal(1), seconds=470, rounds=2)),
    ]:
        child = (await held.log.state(await held.opened(parent_id=parent, limits=wanted))).meeting
        assert child.limits == got
        assert child.ends_by == held.clock.now() + timedelta(seconds=470)
    await held.service.cancel(parent, None)
    await held.end(parent)


async def test_the_deadline_of_a_child_is_never_past_its_parents(live: MakeLiveTable) -> None:
    """However late the child begins: its deadline counts from its parent's."""
    held = live(a=lambda _: None, b=lambda _: None)
    held.dispatch.wake = lambda *_: None  # type: ignore[method-assign]  # nobody begins yet
    parent = await held.opened(limits=Limits(seconds=100))
    child = await held.opened(parent_id=parent)
    held.clock.advance(60)
    task = asyncio.create_task(held.runner.advance(child))
    await held.until(child, "meeting.started")
    (started,) = of_type(await held.events(child), "meeting.started")
    assert started.data["deadline"] == "2026-11-30T09:01:30Z"
    await held.agents["b"].asked.wait()
    held.clock.advance(30)
    await task
    assert ended(await held.events(child))["stopped_by"] == "deadline"


@pytest.mark.parametrize("with_child", [False, True])
async def test_a_parent_pays_for_its_child(live: MakeLiveTable, with_child: bool) -> None:
    """What is enough for the parent alone is not enough for it and its child."""
    held = live(a=stances("AGREE", "DISAGREE"), b=stances("DISAGREE", "AGREE"))
    held.dispatch.wake = lambda *_: None  # type: ignore[method-assign]  # nothing goes on
    parent = await held.opened(limits=Limits(tokens=LIMIT))
    if with_child:
        await held.runner.advance(await held.opened(parent_id=parent))
    await held.runner.advance(parent)
    outcome = ended(await held.events(parent))
    assert outcome["stopped_by"] == ("budget" if with_child else "rounds")
    assert outcome["completeness"] == "partial"
    state = await held.log.state(parent)
    assert state.drawn.spent.tokens <= LIMIT
    assert state.drawn.reserved.tokens == 0


async def test_five_levels_and_no_more(live: MakeLiveTable) -> None:
    held = live(a=lambda _: None, b=lambda _: None)
    id_ = None
    for _ in range(DEEPEST):
        id_ = await held.opened(parent_id=id_)
    with pytest.raises(InvalidRequest) as refusal:
        await held.open(parent_id=id_)
    assert refusal.value.faults[0].pointer == "#/parent_id"


async def test_below_nothing_below_an_end_and_below_a_spent_envelope(live: MakeLiveTable) -> None:
    held = live(a=stances("AGREE"), b=stances("AGREE"))
    with pytest.raises(InvalidRequest, match="parent_id"):
        await held.open(parent_id="mtg_none")
    done = await held.opened()
    await held.end(done)
    with pytest.raises(ParentClosed):
        await held.open(parent_id=done)
    held.agents["a"].behave = lambda _: None
    late = await held.opened(limits=Limits(seconds=100, reply_seconds=99))
    await held.until(late, "request.reserved")
    held.clock.advance(90)
    with pytest.raises((InvalidRequest, ParentClosed)):
        await held.open(parent_id=late)
    await held.end(late)


async def test_cancelling_a_parent_cancels_its_children(live: MakeLiveTable) -> None:
    held = live(a=lambda _: None, b=stances("AGREE"))
    held.agents["a"].stop_state = "stopped"
    parent = await held.opened()
    child = await held.opened(parent_id=parent)
    grandchild = await held.opened(parent_id=child)
    for id_ in (parent, child, grandchild):
        await held.until(id_, "reply.received")
    state, first = await held.service.cancel(parent, "enough")
    assert first
    assert state.cancellation is not None
    kinds = {(item.kind, item.state) for item in state.cancellation.items}
    assert kinds == {("request", "requested"), ("child", "requested")}
    for id_ in (parent, child, grandchild):
        events = await held.end(id_)
        assert ended(events)["result"] == "cancelled"
        closed = of_type(events, "cancellation.closed")[0].data
        assert closed["state"] == "stopped"
        assert {item["state"] for item in closed["items"]} == {"stopped"}
    told = of_type(await held.events(parent), "cancellation.acknowledged")
    assert [each.data["ref"] for each in told] == [child]
    asked = of_type(await held.events(grandchild), "cancellation.requested")[0]
    assert child in asked.data["reason"]


async def test_a_child_that_does_not_end_in_the_window_is_unconfirmed(live: MakeLiveTable) -> None:
    """Told to stop, acknowledged, and never seen to stop: it is not called stopped."""
    held = live(a=lambda _: None, b=lambda _: None)
    parent = await held.opened()
    await held.until(parent, "request.reserved")
    wake = held.dispatch.wake

    def wake_parent(id_: str, at: datetime | None = None) -> None:
        if id_ == parent:
            wake(id_, at)

    held.dispatch.wake = wake_parent  # type: ignore[method-assign]  # the child does not go on
    child = await held.opened(parent_id=parent)
    await held.service.cancel(parent, None)
    await held.until(parent, "cancellation.acknowledged")
    held.clock.advance(9.9)
    assert (await held.log.state(parent)).status == "cancelling"
    while not (await held.log.state(parent)).ended:
        held.clock.advance(0.1)
        await held.until(parent, "meeting.created")
    closed = of_type(await held.events(parent), "cancellation.closed")[0].data
    states = {item["ref"]: item["state"] for item in closed["items"]}
    assert states[child] == "unconfirmed"
    assert closed["state"] == "unconfirmed"
    assert (await held.log.state(child)).cancellation is not None
    await held.runner.advance(child)
    assert ended(await held.events(child))["result"] == "cancelled"
    after = await held.log.state(parent)
    assert after.cancellation is not None
    assert {i.state for i in after.cancellation.items if i.ref == child} == {"unconfirmed"}


async def test_a_child_learns_of_the_cancel_when_it_wants_to_ask(live: MakeLiveTable) -> None:
    """Even where nobody tells it, nothing is sent below a meeting that is being cancelled."""
    held = live(a=stances("AGREE"), b=stances("AGREE"))
    held.dispatch.wake = lambda *_: None  # type: ignore[method-assign]  # nothing goes on
    parent = await held.opened()
    child = await held.opened(parent_id=parent)
    await held.service.cancel(parent, None)
    await held.runner.advance(child)
    events = await held.events(child)
    assert ended(events)["result"] == "cancelled"
    assert not held.agents["a"].requests
    assert not of_type(events, "reply.received")


async def test_a_child_that_learns_of_the_cancel_in_mid_round_waits_for_nobody(
    live: MakeLiveTable,
) -> None:
    """One participant hangs while another's second asking is refused: no clock need move."""
    held = live(a=lambda _: None)
    held.dispatch.wake = lambda *_: None  # type: ignore[method-assign]  # nothing goes on
    parent = await held.opened(seated=["a", "secretary"])

    async def convene(request: Request) -> str:
        await held.agents["a"].asked.wait()
        await request_cancellation(held.log, held.clock, parent, None)
        return "This is no ballot."

    held.agents["b"] = held.directory.agents["b"] = ConveningAgent("b", convene)
    child = await held.opened(
        seated=["a", "b"], parent_id=parent, format="vote", options=("X", "Y")
    )
    await held.runner.advance(child)
    events = await held.events(child)
    assert ended(events)["result"] == "cancelled"
    (closed,) = of_type(events, "cancellation.closed")
    assert {item["participant"]: item["state"] for item in closed.data["items"]} == {
        "a": "unconfirmed",
        "b": "stopped",
    }
    assert len(held.agents["b"].requests) == 1


async def test_a_cancel_reaches_a_grandchild_whose_own_parent_has_ended(
    live: MakeLiveTable,
) -> None:
    held = live(a=lambda _: None, b=stances("AGREE"), c=stances("AGREE"))
    root = await held.opened(seated=["a", "b"])

    async def convene(request: Request) -> str:
        below.append(await held.opened(seated=["a", "c"], parent_id=request.meeting_id))
        return "I leave it to them. [STANCE: AGREE]"

    below: list[str] = []
    held.agents["d"] = held.directory.agents["d"] = ConveningAgent("d", convene)
    child = await held.opened(seated=["d", "c"], parent_id=root)
    assert ended(await held.end(child))["result"] == "decided"
    record = of_type(await held.events(child), "decision.recorded")[0].data
    assert record["open_below"] == below
    assert below[0] in decision_markdown(await held.log.read(child))
    await held.until(below[0], "reply.received")
    await held.service.cancel(root, None)
    for id_ in (root, *below):
        assert ended(await held.end(id_))["result"] == "cancelled"
    (closed,) = of_type(await held.events(root), "cancellation.closed")
    states = {item["ref"]: item["state"] for item in closed.data["items"]}
    assert states[below[0]] == "stopped"
    assert child not in states
    shown = await held.log.state(root)
    assert list(shown.children) == [child], "a grandchild is no child"


@pytest.mark.parametrize("children", [3, 60])
async def test_what_has_stopped_stays_stopped_however_late_it_is_told(
    live: MakeLiveTable, children: int
) -> None:
    """Many children that end while others are still being told; no clock need move."""
    held = live(a=lambda _: None, b=lambda _: None)
    held.agents["a"].stop_state = held.agents["b"].stop_state = "stopped"
    root = await held.opened()
    for _ in range(children):
        await held.opened(parent_id=root)
    await held.service.cancel(root, None)
    events = await held.end(root)
    (closed,) = of_type(events, "cancellation.closed")
    of_children = [item["state"] for item in closed.data["items"] if item["kind"] == "child"]
    assert of_children == ["stopped"] * children


async def test_a_child_that_has_decided_is_not_said_to_stop(live: MakeLiveTable) -> None:
    """It comes to its own end: it acknowledges nothing."""
    held = live(a=lambda _: None, b=stances("AGREE"), c=stances("AGREE"))
    root = await held.opened(seated=["a", "b"])
    child = await held.opened(seated=["b", "c"], parent_id=root)
    written = held.write_minutes

    async def cancelled_meanwhile(entries: Sequence[Event]) -> str:
        if entries[0].meeting_id == child:
            await held.service.cancel(root, None)
            await held.until(root, "cancellation.told")
        return await written(entries)

    held.write_minutes = cancelled_meanwhile
    held.agents["a"].stop_state = "unconfirmed"
    assert ended(await held.end(child))["result"] == "decided"
    events = await held.end(root)
    assert not of_type(events, "cancellation.acknowledged")
    (closed,) = of_type(events, "cancellation.closed")
    assert {i["ref"]: i["state"] for i in closed.data["items"]}[child] == "stopped"


async def test_a_tree_that_was_resumed_has_its_new_deadlines(live: MakeLiveTable) -> None:
    """What its first end had left no longer bounds what is opened or resumed below."""
    held = live(a=lambda _: None, b=lambda _: None)
    limits = Limits(seconds=100)
    root = await held.opened(limits=limits)
    parent = await held.opened(parent_id=root, limits=limits)
    await held.until(parent, "request.reserved")
    await held.service.cancel(root, None)
    for id_ in (root, parent):
        await held.end(id_)
    held.clock.advance(3_600)
    more = ResumeMeeting("limits", "There is time again.", {"seconds": 5_000})
    await held.service.resume(root, more)
    more = ResumeMeeting("limits", "There is time again.", {"seconds": 4_000})
    await held.service.resume(parent, more)
    child = (await held.log.state(await held.opened(parent_id=parent))).meeting
    assert child.limits.seconds == Limits().seconds
    await held.service.cancel(root, None)
    await held.end(root)


async def test_a_grandchild_that_comes_to_light_during_a_cancel_is_stopped(
    live: MakeLiveTable,
) -> None:
    all_open = asyncio.Event()

    async def agree(_: Request) -> str:
        await all_open.wait()  # or the child might end before one was opened below it
        return "So be it. [STANCE: AGREE]"

    held = live(a=lambda _: None, b=lambda _: None, c=stances("AGREE"))
    held.agents["a"].stop_state = "stopped"
    held.agents["b"] = held.directory.agents["b"] = ConveningAgent("b", agree)
    root = await held.opened(seated=["a", "b"])
    child = await held.opened(seated=["b", "c"], parent_id=root)
    below = await held.opened(seated=["a", "c"], parent_id=child)
    written = held.write_minutes

    async def cancelled_meanwhile(entries: Sequence[Event]) -> str:
        if entries[0].meeting_id == child:
            await held.service.cancel(root, None)
            await held.until(root, "cancellation.told")
        return await written(entries)

    held.write_minutes = cancelled_meanwhile
    all_open.set()
    for id_ in (child, root, below):
        await held.end(id_)
    (closed,) = of_type(await held.events(root), "cancellation.closed")
    states = {item["ref"]: item["state"] for item in closed.data["items"]}
    assert (states[child], states[below]) == ("stopped", "stopped")
    assert ended(await held.events(below))["result"] == "cancelled"
