"""What a request that gave no usable reply costs: nobody works for nothing (PROTOCOLS 11)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest

from app.coordinator.ports import Answer, Request
from app.domain.errors import (
    AgentFailure,
    AgentNonsense,
    AgentRefused,
    AgentRejected,
    AgentUnavailable,
)
from app.domain.meeting.envelope import ALL_CONFIRMED, Unconfirmed
from app.domain.meeting.meeting import Limits
from app.domain.meeting.state import MeetingState
from app.domain.money import NOTHING, Cost
from tests.coordinator.conftest import MakeTable
from tests.coordinator.table import Behaviour, Table, of_type, secretary, stances

PAID = Cost(5_000, 100, Decimal("0.0051"))
LIMITED = Limits(rounds=1, tokens=100_000)


async def held_with(held: Table, limits: Limits) -> MeetingState:
    state = await held.open(limits=limits)
    await held.runner.advance(state.meeting.id)
    return await held.log.state(state.meeting.id)


def by(failure: AgentFailure) -> Behaviour:
    return lambda _: failure


@pytest.mark.parametrize(
    "failure",
    [AgentNonsense("no", usage=PAID), AgentRefused("no", answered=True, usage=PAID)],
    ids=["empty", "filtered"],
)
async def test_what_the_provider_counted_is_spent_whatever_it_was_worth(
    table: MakeTable, failure: AgentFailure
) -> None:
    """An answer that a filter kept back, or thoughts that used up the cap before any word."""
    free = await held_with(table(a=stances("AGREE"), b=by(AgentRejected("no"))), LIMITED)
    paid = await held_with(table(a=stances("AGREE"), b=by(failure)), LIMITED)
    assert paid.spent == free.spent + PAID


async def test_an_empty_answer_that_nobody_counted_is_booked_at_the_worst_case(
    table: MakeTable,
) -> None:
    held = table(a=stances("AGREE"), b=by(AgentNonsense("empty")))
    state = await held_with(held, LIMITED)
    reply = next(
        e.data
        for e in of_type(await held.events(state.meeting.id), "reply.received")
        if e.data["participant"] == "b"
    )
    assert reply["usage"] is None
    assert reply["booked"]["output_tokens"] == 800


async def test_a_request_that_was_refused_at_the_door_costs_nothing(table: MakeTable) -> None:
    held = table(a=by(AgentRejected("no such key")), b=by(AgentRejected("no such key")))
    assert (await held_with(held, LIMITED)).spent == NOTHING


@pytest.mark.parametrize("limits", [LIMITED, Limits(rounds=1)], ids=["limited", "without limit"])
@pytest.mark.parametrize(
    "begun",
    [
        AgentNonsense("thoughts, and no word"),
        AgentRefused("filtered", answered=True),
        AgentUnavailable("hung up", retry_after=1_000.0, answered=True),
        RuntimeError("a bug of the adapter"),
        Answer("[STANCE: AGREE]"),
        Answer("[STANCE: AGREE] and then", finish="length"),
        Answer(""),
        Answer("a" * 70_000),
    ],
    ids=["empty", "filtered", "hung up", "bug", "uncounted", "cut off", "blank", "too long"],
)
async def test_whatever_was_begun_and_not_counted_is_booked_at_its_most(
    table: MakeTable, begun: Answer | Exception, limits: Limits
) -> None:
    """Also where there is no limit: the record is no bill of what was counted alone."""
    held = table(a=stances("AGREE"), b=lambda _: begun)
    state = await held_with(held, limits)
    first = await held.until(state.meeting.id, "request.reserved", 2)
    assert first.data["who"] == "b"
    (reply,) = [
        e.data
        for e in of_type(await held.events(state.meeting.id), "reply.received")
        if e.data["participant"] == "b"
    ]
    assert (reply["usage"], reply["booked"]) == (None, first.data["reserved"])
    counted = [
        Cost.read(each.data["usage"])
        for each in await held.log.read(state.meeting.id)
        if each.data.get("usage")
    ]
    assert state.spent == sum(counted, Cost.read(first.data["reserved"]))
    assert state.unconfirmed == ALL_CONFIRMED, "it has an answer in the log"


async def test_one_that_is_asked_for_again_costs_twice(table: MakeTable) -> None:
    """Nobody counted the first reply, which did not fit; the second one was counted."""

    def clerk(request: Request) -> str | Answer:
        fits = "'fault'" in request.prompt or not request.template.endswith("synthesis")
        return secretary(request) if fits else Answer("Of course.")

    held = table(secretary=clerk, a=stances("AGREE"), b=stances("AGREE"))
    state = await held_with(held, Limits(rounds=1))
    log = await held.log.read(state.meeting.id)
    first, second = [e.data for e in log if "synthesis" in (e.step or "") and "status" in e.data]
    (sent,) = [
        e.data
        for e in log
        if e.type == "request.reserved"
        and e.data["for"] + "/request" == e.step
        and e.data["for"].endswith("synthesis")
    ]
    assert (first["usage"], first["booked"]) == (None, sent["reserved"])
    assert (second["usage"]["output_tokens"], second["booked"]) == (20, None)


@pytest.mark.parametrize("limits", [LIMITED, Limits(rounds=1)], ids=["limited", "without limit"])
async def test_one_that_was_not_answered_in_time_may_be_worked_for(
    table: MakeTable, limits: Limits
) -> None:
    held = table(a=stances("AGREE"), b=lambda _: None)
    state = await held.open(limits=limits)
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.agents["b"].asked.wait()
    held.clock.advance(60)
    await run
    spent = (await held.log.state(state.meeting.id)).spent
    assert spent.output_tokens == 800 + 20 + 20, "the secretary's and a's were counted"


async def test_cancelling_and_resuming_does_not_make_money_of_nothing(table: MakeTable) -> None:
    """Requests that were told to stop count against the limit, those too that are known to have:
    that one has stopped does not say what it cost until then."""
    held = table(a=lambda _: None, b=lambda _: None)
    state = await held.open(limits=LIMITED)
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.agents["b"].asked.wait()
    reserved = (await held.log.state(state.meeting.id)).own.reserved
    held.agents["a"].stop_state = "stopped"
    await held.service.cancel(state.meeting.id, None)
    await run
    after = await held.log.state(state.meeting.id)
    assert after.spent.tokens == reserved.tokens
    assert after.unconfirmed == Unconfirmed(2, reserved)
    (decision,) = of_type(await held.events(state.meeting.id), "decision.recorded")
    assert decision.data["spent"]["tokens"]["output"] == after.spent.output_tokens == 1_600


async def test_a_crash_in_mid_request_does_not_make_it_free(table: MakeTable) -> None:
    """Taken up again past the deadline it is not sent once more, and was perhaps worked for."""
    held = table(a=lambda _: None, b=stances("AGREE"))
    state = await held.open(limits=replace(LIMITED, seconds=100))
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.until(state.meeting.id, "reply.received")
    await held.agents["a"].asked.wait()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    held.clock.advance(100)
    await held.new_runner(held.log).advance(state.meeting.id)
    after = await held.log.state(state.meeting.id)
    assert after.spent.output_tokens == 800 + 20
    assert (after.unconfirmed.requests, after.unconfirmed.cost.output_tokens) == (1, 800)
    assert len(held.agents["a"].requests) == 1
