"""What becomes of requests that were told to stop, and of replies that come all the same
(PROTOCOLS 12, cancelling)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from app.coordinator.cancellation import request_cancellation
from app.coordinator.ports import Request, StopState
from app.domain.errors import AgentRejected, AgentUnavailable
from app.domain.meeting.entries import Event
from tests.coordinator.conftest import MakeLiveTable
from tests.coordinator.live_table import ConveningAgent, LiveTable
from tests.coordinator.table import ended, of_type, stances


async def begun(held: LiveTable, replies: int = 1) -> str:
    """A meeting in which ``a`` has been asked and so many others have replied, durably."""
    id_ = await held.opened()
    await held.agents["a"].asked.wait()
    if replies:
        await held.until(id_, "reply.received", replies)
    return id_


def items(events: list[Event]) -> Mapping[str, str]:
    """The final state of each request, by its participant."""
    (closed,) = of_type(events, "cancellation.closed")
    return {item["participant"]: item["state"] for item in closed.data["items"]}


async def test_one_that_acknowledges_is_asked_again_until_it_has_stopped(
    live: MakeLiveTable,
) -> None:
    held = live(a=lambda _: None, b=stances("AGREE"))
    held.agents["a"].stop_state = "acknowledged"
    id_ = await begun(held)
    await held.service.cancel(id_, None)
    told = await held.until(id_, "cancellation.acknowledged")
    assert (told.data["participant"], told.data["kind"]) == ("a", "request")
    state = await held.log.state(id_)
    assert state.status == "cancelling"
    assert state.cancellation is not None
    assert [item.state for item in state.cancellation.items] == ["acknowledged"]
    held.agents["a"].stop_state = "stopped"
    held.clock.advance(1)
    events = await held.end(id_)
    assert items(events) == {"a": "stopped"}
    assert of_type(events, "cancellation.closed")[0].data["state"] == "stopped"
    assert len(held.agents["a"].stopped) == 2


async def test_one_that_only_acknowledges_is_unconfirmed_when_the_window_ends(
    live: MakeLiveTable,
) -> None:
    held = live(a=lambda _: None, b=stances("AGREE"))
    held.agents["a"].stop_state = "acknowledged"
    id_ = await begun(held)
    await held.service.cancel(id_, None)
    await held.until(id_, "cancellation.acknowledged")
    while not (await held.log.state(id_)).ended:
        held.clock.advance(1)
        await asyncio.sleep(0)
    events = await held.end(id_)
    assert items(events) == {"a": "unconfirmed"}
    closed = of_type(events, "cancellation.closed")[0]
    requested = of_type(events, "cancellation.requested")[0]
    assert (closed.at - requested.at).total_seconds() >= 10
    assert len(of_type(events, "cancellation.acknowledged")) == 1, "told once"


@pytest.mark.parametrize("fault", ["raises", "hangs"])
async def test_one_that_cannot_be_told_is_unconfirmed(live: MakeLiveTable, fault: str) -> None:
    held = live(a=lambda _: None, b=stances("AGREE"))
    asked = asyncio.Event()

    async def stop(request_id: str) -> StopState:
        asked.set()
        if fault == "hangs":
            await asyncio.Event().wait()
        raise RuntimeError(request_id)

    held.agents["a"].stop = stop
    id_ = await begun(held)
    await held.service.cancel(id_, None)
    await asked.wait()
    if fault == "hangs":
        assert (await held.log.state(id_)).status == "cancelling"
        held.clock.advance(10)
    events = await held.end(id_)
    assert items(events) == {"a": "unconfirmed"}
    assert ended(events)["result"] == "cancelled"


async def test_a_process_killed_in_the_window_goes_on_with_the_same_list(
    live: MakeLiveTable,
) -> None:
    """Neither told anew nor forgotten, and the window is the same one."""
    held = live(a=lambda _: None, b=lambda _: None)
    held.agents["a"].stop_state = "acknowledged"
    id_ = await begun(held, replies=0)
    await held.agents["b"].asked.wait()
    await held.service.cancel(id_, None)
    await held.until(id_, "cancellation.acknowledged")
    await held.until(id_, "cancellation.told")
    await held.dispatch.close()
    held.clock.advance(10)
    held.runner = held.new_runner(held.log)
    await held.runner.advance(id_)
    events = await held.end(id_)
    assert items(events) == {"a": "unconfirmed", "b": "unconfirmed"}
    assert len(held.agents["b"].stopped) == 1, "what had answered is not told to stop again"
    assert len(of_type(events, "cancellation.acknowledged")) == 1


async def test_a_reply_that_comes_after_the_cancel_is_kept_and_not_counted(
    live: MakeLiveTable,
) -> None:
    """The cancel is in the log before the reply, though the runner did not know of it yet."""
    held = live(a=stances("AGREE"), c=stances("AGREE"))

    async def convene(request: Request) -> str:
        # Everything else of the round is on disk, and nobody gives the runner a hint.
        await held.until(request.meeting_id, "reply.received", 2)
        await request_cancellation(held.log, held.clock, request.meeting_id, "enough")
        return "I agree. [STANCE: AGREE]"

    held.agents["b"] = held.directory.agents["b"] = ConveningAgent("b", convene)
    id_ = await held.opened()
    events = await held.end(id_)
    replies = {e.data["participant"]: e.data for e in of_type(events, "reply.received")}
    assert replies["b"]["late"]
    assert "late" not in replies["a"]
    assert not of_type(events, "round.closed"), "its round is not counted with it"
    outcome = ended(events)
    assert (outcome["result"], outcome["decision"]) == ("cancelled", None)
    assert items(events) == {"b": "stopped"}, "what has answered is known to have ended"
    state = await held.log.state(id_)
    assert state.replies == 2
    assert state.spent.tokens == 3 * 120, "it was paid for all the same"
    assert state.own.reserved.tokens == 0


async def test_nothing_is_sent_after_the_cancel(live: MakeLiveTable) -> None:
    """Neither the rest of the round, nor a second asking, nor the secretary's summary."""
    sent: list[Any] = []
    held = live(a=lambda r: sent.append(r) or "[STANCE: DISAGREE]", c=stances("AGREE"))

    async def convene(request: Request) -> str:
        await request_cancellation(held.log, held.clock, request.meeting_id, None)
        return "[STANCE: DISAGREE]"

    held.agents["b"] = held.directory.agents["b"] = ConveningAgent("b", convene)
    id_ = await held.opened()
    events = await held.end(id_)
    log = await held.log.read(id_)
    cancelled_at = next(e.seq for e in log if e.type == "cancellation.requested")
    assert not [e for e in log if e.type == "request.reserved" and e.seq > cancelled_at]
    assert not held.agents["secretary"].requests
    assert ended(events)["stopped_by"] == "cancellation"


async def test_twenty_cancels_at_once_are_one(live: MakeLiveTable) -> None:
    held = live(a=lambda _: None, b=lambda _: None)
    id_ = await begun(held, replies=0)
    answers = await asyncio.gather(*(held.service.cancel(id_, str(n)) for n in range(20)))
    assert sum(first for _, first in answers) == 1
    events = await held.end(id_)
    assert len(of_type(events, "cancellation.requested")) == 1
    assert len(of_type(events, "cancellation.closed")) == 1


async def test_a_failed_request_is_not_sent_again_after_a_cancel_that_nobody_told(
    live: MakeLiveTable,
) -> None:
    """The cancel came through another process: it is looked for before the request goes again."""
    held = live(a=lambda _: AgentUnavailable("Come back later."), b=stances("AGREE"))
    id_ = await held.opened()
    await held.until(id_, "reply.received")
    await request_cancellation(held.log, held.clock, id_, None)
    held.clock.advance(10)
    events = await held.end(id_)
    assert ended(events)["result"] == "cancelled"
    assert len(held.agents["a"].requests) == 1


async def test_a_late_failure_says_nothing_of_the_far_side(live: MakeLiveTable) -> None:
    """A connection that broke after the cancel: the request may still be worked for."""
    held = live(a=stances("AGREE"), c=stances("AGREE"))

    async def convene(request: Request) -> str:
        await request_cancellation(held.log, held.clock, request.meeting_id, None)
        raise AgentRejected("The connection broke.")

    held.agents["b"] = held.directory.agents["b"] = ConveningAgent("b", convene)
    events = await held.end(await held.opened())
    assert items(events)["b"] == "unconfirmed"
