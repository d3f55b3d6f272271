"""A restart is no way past a limit: what was under way when a run ended is booked by the next one,
and only then is anybody asked again (PROTOCOLS 11)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from app.coordinator.ports import Request
from app.domain.errors import AgentRejected, AgentUnavailable, ReplayDiverged, Superseded
from app.domain.meeting.envelope import ALL_CONFIRMED, Unconfirmed
from app.domain.meeting.meeting import Arbiter, Limits
from app.domain.meeting.state import fold
from app.domain.money import NOTHING, Cost, Price
from tests.coordinator.conftest import MakeTable
from tests.coordinator.pacing import to_the_end
from tests.coordinator.table import Table, ended, of_type, stances

OPEN = Limits(rounds=1)
ROOMY = Limits(rounds=1, tokens=100_000)


async def stopped_in_mid_request(held: Table, id_: str, who: str = "a") -> None:
    """A run is put down, as at a plain stop, while this agent is asked."""
    held.agents[who].asked.clear()
    run = asyncio.create_task(held.runner.advance(id_))
    asked = asyncio.create_task(held.agents[who].asked.wait())
    await asyncio.wait([run, asked], return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)


async def reserved(held: Table, id_: str, who: str) -> list[Cost]:
    """The most that each sending to this seat could cost."""
    log = await held.log.read(id_)
    sent = [e.data for e in log if e.type == "request.reserved" and e.data["who"] == who]
    return [Cost.read(each["reserved"]) for each in sent]


async def spent_in_decision(held: Table, id_: str) -> Mapping[str, Any]:
    (decision,) = of_type(await held.events(id_), "decision.recorded")
    return decision.data["spent"]


@pytest.mark.parametrize("limits", [ROOMY, OPEN], ids=["limited", "without limit"])
async def test_it_is_booked_once_and_asked_for_again_under_the_same_id(
    table: MakeTable, limits: Limits
) -> None:
    held = table(a=lambda _: None, b=stances("AGREE"))
    state = await held.open(limits=limits)
    id_ = state.meeting.id
    await stopped_in_mid_request(held, id_)
    held.agents["a"].behave = stances("AGREE")
    await held.runner.advance(id_)
    log = await held.log.read(id_)
    types = [e.type for e in log if (e.step or "").startswith("round-1/ask/a") or "for" in e.data]
    mine = [e for e in log if "for" in e.data and e.data["who"] == "a"]
    assert [e.type for e in mine] == ["request.reserved", "request.unanswered", "request.reserved"]
    assert len({e.data["request_id"] for e in mine}) == 1, types
    one, two = held.agents["a"].requests
    assert (one.request_id, one.turn) == (two.request_id, two.turn)
    first, second = await reserved(held, id_, "a")
    assert first == second
    after = await held.log.state(id_)
    assert after.unconfirmed == Unconfirmed(1, first)
    counted = [Cost.read(e.data["usage"]) for e in log if e.data.get("usage")]
    assert after.spent == sum(counted, first)
    assert after == fold(log)
    assert (await spent_in_decision(held, id_))["unconfirmed"] == {
        "requests": 1,
        "usd": "0",
        "tokens": first.tokens,
    }
    assert ended(await held.events(id_))["result"] == "decided"


async def test_without_room_it_is_not_sent_again(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=lambda _: None)
    probe = await held.open(limits=OPEN)
    await stopped_in_mid_request(held, probe.meeting.id)
    (most,) = await reserved(held, probe.meeting.id, "a")
    held.agents["a"].requests.clear()
    # Four fifths are for the talk: room for both at once, and for nothing more.
    state = await held.open(limits=Limits(rounds=1, tokens=(2 * most.tokens * 5 + 3) // 4))
    id_ = state.meeting.id
    await stopped_in_mid_request(held, id_)
    for agent in held.agents.values():
        agent.behave = stances("AGREE")
    for _ in range(3):
        await held.runner.advance(id_)
    assert len(held.agents["a"].requests) == 1
    log = await held.events(id_)
    replies = [e.data for e in of_type(log, "reply.received")]
    assert [(each["status"], each["booked"]) for each in replies] == [("budget", None)] * 2
    assert of_type(log, "budget.exhausted")
    assert (await held.log.state(id_)).unconfirmed == Unconfirmed(2, most + most)


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_eight_restarts_send_no_more_than_the_limit(table: MakeTable, kill: bool) -> None:
    """4,000 tokens, of which a request takes most: eight starts once sent eight of them."""
    held = table(a=lambda _: None, b=lambda _: None)
    for agent in held.agents.values():
        agent.profile = replace(agent.profile, max_output_tokens=2_400)
    state = await held.open(limits=Limits(rounds=3, tokens=4_000))
    id_ = state.meeting.id
    for _ in range(8):
        runner = held.new_runner(held.log) if kill else held.runner
        run = asyncio.create_task(runner.advance(id_))
        await asyncio.wait([run], timeout=0.05)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
    sent = [r for agent in held.agents.values() for r in agent.requests]
    assert len(sent) == 1
    after = await held.log.state(id_)
    assert after.ended
    assert after.outcome is not None
    assert (after.outcome.result, after.outcome.stopped_by) == ("undecided", "budget")
    assert 2_400 < after.spent.tokens <= 4_000
    assert after.unconfirmed == Unconfirmed(1, after.spent)
    shown = await spent_in_decision(held, id_)
    assert shown["unconfirmed"]["tokens"] == sum(shown["tokens"].values())


async def test_what_has_no_known_price_is_unknown_and_never_nothing(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=stances("AGREE"))
    held.agents["a"].profile = replace(held.agents["a"].profile, price=None)
    state = await held.open(limits=OPEN)
    await stopped_in_mid_request(held, state.meeting.id)
    held.agents["a"].behave = stances("AGREE")
    await held.runner.advance(state.meeting.id)
    shown = await spent_in_decision(held, state.meeting.id)
    assert (shown["usd"], shown["unconfirmed"]["usd"]) == (None, None)
    assert shown["unconfirmed"]["tokens"] > 800


async def test_what_has_a_price_is_booked_at_it(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=stances("AGREE"))
    price = Price(Decimal(1), Decimal(10))
    held.agents["a"].profile = replace(held.agents["a"].profile, price=price)
    state = await held.open(limits=OPEN)
    await stopped_in_mid_request(held, state.meeting.id)
    held.agents["a"].behave = lambda _: AgentRejected("gone by now")
    await held.runner.advance(state.meeting.id)
    (most,) = set(await reserved(held, state.meeting.id, "a"))
    assert most.usd == price.of(most.input_tokens, 800)
    shown = await spent_in_decision(held, state.meeting.id)
    assert Decimal(shown["unconfirmed"]["usd"]) == Decimal(shown["usd"]) == most.usd


async def test_nothing_left_open_costs_no_entry_and_no_append(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    events = await held.hold(limits=OPEN)
    log = await held.log.read(events[0].meeting_id)
    assert not [e for e in log if e.type == "request.unanswered"]
    assert (await held.log.state(events[0].meeting_id)).unconfirmed == ALL_CONFIRMED


async def test_a_takeover_books_it_and_the_one_before_stands_down(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=stances("AGREE"))
    state = await held.open(limits=ROOMY)
    first = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.agents["a"].asked.wait()
    await held.until(state.meeting.id, "reply.received")
    held.agents["a"].behave = stances("AGREE")
    await held.new_runner(held.log).advance(state.meeting.id)
    held.clock.advance(60)
    with pytest.raises(Superseded):
        await first
    assert (await held.log.state(state.meeting.id)).unconfirmed.requests == 1


async def test_a_parked_meeting_asks_nobody_and_books_nothing_yet(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=stances("AGREE"))
    state = await held.open(limits=ROOMY)
    id_ = state.meeting.id
    run = asyncio.create_task(held.runner.advance(id_))
    await held.until(id_, "reply.received")
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    other = "UPDATE event SET fingerprint = '{}' WHERE step = 'round-1/ask/b'"
    with held.database.writer.begin() as connection:
        kept = connection.exec_driver_sql(
            "SELECT fingerprint FROM event WHERE step = 'round-1/ask/b'"
        ).scalar_one()
        connection.exec_driver_sql(other.format("other"))
    for _ in range(2):
        with pytest.raises(ReplayDiverged):
            await held.runner.advance(id_)
    assert (await held.log.state(id_)).unconfirmed == ALL_CONFIRMED
    with held.database.writer.begin() as connection:
        connection.exec_driver_sql(other.format(kept))
    held.agents["a"].behave = stances("AGREE")
    await held.runner.advance(id_)
    assert (await held.log.state(id_)).unconfirmed.requests == 1


async def test_one_that_was_cancelled_meanwhile_is_told_to_stop_and_booked_once(
    table: MakeTable,
) -> None:
    held = table(a=lambda _: None, b=stances("AGREE"))
    state = await held.open(limits=OPEN)
    id_ = state.meeting.id
    await stopped_in_mid_request(held, id_)
    await held.service.cancel(id_, None)
    run = asyncio.create_task(held.runner.advance(id_))
    await held.until(id_, "cancellation.told")
    assert held.agents["a"].stopped
    held.clock.advance(10)
    await run
    after = await held.log.state(id_)
    assert after.cancellation is not None
    assert "a" in {item.participant for item in after.cancellation.items}
    assert after.unconfirmed.requests == len(await reserved(held, id_, "a")) == 1


async def test_a_ruling_that_was_not_waited_for_is_booked(table: MakeTable) -> None:
    """Its question expired while the arbiting agent was at work."""
    held = table(a=stances("DISAGREE"), b=stances("AGREE"), judge=lambda _: None)
    state = await held.open(("a", "b"), limits=OPEN, arbiter=Arbiter("agent", "judge"))
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.agents["judge"].asked.wait()
    held.clock.advance(61)
    await run
    (most,) = [
        Cost.read(e.data["reserved"])
        for e in await held.log.read(state.meeting.id)
        if e.type == "request.reserved" and e.data["agent"] == "judge"
    ]
    after = await held.log.state(state.meeting.id)
    assert after.own.reserved == NOTHING
    assert after.spent.tokens >= most.tokens
    assert (await spent_in_decision(held, state.meeting.id))["tokens"]["output"] >= 800


# --- within one run: sent again after an answer that was begun ------------------------------------


def hangs_up(times: int, **counted: Any) -> Any:
    """Breaks off in the middle of so many answers, and then gives one."""
    left = iter(range(times))
    agree = stances("AGREE")

    def behave(request: Request) -> Any:
        if next(left, None) is None:
            return agree(request)
        return AgentUnavailable("hung up", answered=True, **counted)

    return behave


async def test_each_answer_that_was_begun_is_booked_before_the_next_is_asked_for(
    table: MakeTable,
) -> None:
    held = table(a=hangs_up(2), b=stances("AGREE"))
    state = await held.open(limits=ROOMY)
    await to_the_end(held, state.meeting.id)
    first, *others = await reserved(held, state.meeting.id, "a")
    assert others == [first, first]
    after = await held.log.state(state.meeting.id)
    assert after.unconfirmed == Unconfirmed(2, first + first)
    assert len({r.request_id for r in held.agents["a"].requests}) == 1
    assert ended(await held.events(state.meeting.id))["result"] == "decided"


async def test_what_the_far_side_counted_of_it_is_confirmed(table: MakeTable) -> None:
    paid = Cost(5_000, 100, Decimal("0.0051"))
    held = table(a=hangs_up(1, usage=paid), b=stances("AGREE"))
    free = table(a=hangs_up(0), b=stances("AGREE"))
    spent: list[Cost] = []
    for each in (held, free):
        state = await each.open(limits=ROOMY)
        await to_the_end(each, state.meeting.id)
        after = await each.log.state(state.meeting.id)
        spent.append(after.spent)
        assert after.unconfirmed == ALL_CONFIRMED
    assert spent[0] == spent[1] + paid


async def test_without_room_for_another_it_is_not_sent_again(table: MakeTable) -> None:
    held = table(a=hangs_up(9), b=lambda _: AgentRejected("no"))
    probe = await held.open(limits=OPEN)
    await to_the_end(held, probe.meeting.id)
    most, *_ = await reserved(held, probe.meeting.id, "a")
    held.agents["a"].requests.clear()
    held.agents["a"].behave = hangs_up(9)
    state = await held.open(limits=Limits(rounds=1, tokens=4 * most.tokens))
    await to_the_end(held, state.meeting.id)
    begun = len(held.agents["a"].requests)
    assert 1 < begun < 4
    after = await held.log.state(state.meeting.id)
    assert after.unconfirmed == Unconfirmed(begun, sum([most] * begun, NOTHING))
    assert after.spent.tokens <= 4 * most.tokens
    (reply,) = [
        e.data
        for e in of_type(await held.events(state.meeting.id), "reply.received")
        if e.data["participant"] == "a"
    ]
    assert (reply["status"], reply["booked"]) == ("budget", None)


async def test_what_was_refused_at_the_door_is_sent_again_in_the_same_room(
    table: MakeTable,
) -> None:
    """A 429 costs nothing, so it takes no more room."""
    answers = iter([AgentUnavailable("429"), AgentUnavailable("429")])
    agree = stances("AGREE")
    held = table(a=lambda request: next(answers, None) or agree(request), b=stances("AGREE"))
    state = await held.open(limits=ROOMY)
    await to_the_end(held, state.meeting.id)
    assert len(held.agents["a"].requests) == 3
    assert len(await reserved(held, state.meeting.id, "a")) == 1
