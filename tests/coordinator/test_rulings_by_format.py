"""Arbitration of whole meetings over a real log: every format, limits, a process that dies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from app.coordinator.commands import SeatWanted
from app.coordinator.ports import Request
from app.domain.ending.arbitration import NoQuestionOpen, OutOfScope, Ruling
from app.domain.errors import InvalidRequest, LogUnavailable
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Arbiter, CompletionGate, Limits
from app.domain.meeting.status import Status
from app.domain.money import Price
from tests.clock import START
from tests.coordinator.conftest import MakeTable
from tests.coordinator.gate_meeting import member
from tests.coordinator.table import Behaviour, Table, ended, of_type, stances
from tests.coordinator.test_crash import DyingLog, told
from tests.coordinator.test_vote_and_poll_run import AB, A, B, votes
from tests.formats.review.by_hand import CRITERIA, MATERIALS, judged, objection, written

PERSON = Arbiter("human", name="Ann")
JUDGE = Arbiter("agent", "judge")
INCOMPLETE = '{"completion": "needs_revision", "reason": "the cost is missing"}'


def judge(choice: str) -> Behaviour:
    return lambda _: f'{{"choice": "{choice}", "conditions": "", "reason": "It can be undone."}}'


def backs(request: Request) -> str:
    if request.round == 1:
        return f"POSITION: {request.who}\nPROPOSAL: Do as {request.who} says.\nCONCERNS: none"
    own = request.variables["label"]
    return f"REFINED PROPOSAL: Do as {request.who} says.\nBACKS: {own}\nCONFIDENCE: 9"


# By format: behaviours, what is wished for, the choice of a ruling, and the decision by it.
Case = tuple[Callable[[], dict[str, Behaviour]], dict[str, Any], str, str]
SEATS = (SeatWanted("ann", "author", "ann"), SeatWanted("ben", "critic", "ben"))
CASES: dict[str, Case] = {
    "roundtable": (
        lambda: {"a": stances("AGREE"), "b": stances("DISAGREE")},
        {"motion": "We do it.", "limits": Limits(rounds=1)},
        "adopt",
        "We do it.",
    ),
    "debate": (
        lambda: {"a": backs, "b": backs},
        {"limits": Limits(rounds=2)},
        "Participant B",
        "Do as b says.",
    ),
    "vote": (
        lambda: {"a": votes(A), "b": votes(B)},
        {"options": AB, "limits": Limits(rounds=2)},
        "B",
        "B",
    ),
    "council": (
        lambda: {"a": member(INCOMPLETE), "b": member(INCOMPLETE)},
        {"completion_gate": CompletionGate()},
        "accept",
        "Try one repository.",
    ),
    "review": (
        lambda: {
            "ann": lambda _: written("The owner is Dee."),
            "ben": lambda _: judged(objection()),
        },
        {
            "materials": MATERIALS,
            "criteria": CRITERIA,
            "limits": Limits(rounds=1),
            "seats": SEATS,
        },
        "accept",
        "The owner is Dee.",
    ),
}


def _table(table: MakeTable, format_: str, choice: str = "") -> tuple[Table, dict[str, Any]]:
    behaviours, wish, _, _ = CASES[format_]
    named = behaviours()
    fields: dict[str, Any] = {"format": format_, "seated": tuple(named), **wish}
    if choice:
        named["judge"] = judge(choice)
    return table(**named), fields


async def _opened(table: MakeTable, format_: str, arbiter: Arbiter) -> tuple[Table, str]:
    held, fields = _table(table, format_, CASES[format_][2] if arbiter is JUDGE else "")
    state = await held.open(arbiter=arbiter, **fields)
    return held, state.meeting.id


@pytest.mark.parametrize("format_", CASES)
async def test_a_persons_ruling_decides(table: MakeTable, format_: str) -> None:
    *_, choice, decision = CASES[format_]
    held, meeting_id = await _opened(table, format_, PERSON)
    until = await held.runner.advance(meeting_id)
    assert until == START + timedelta(seconds=60)
    state = await held.archive.state(meeting_id)
    assert state.status is Status.AWAITING_RULING
    await held.service.rule(meeting_id, Ruling(choice, "It can be undone.", "Ann"))
    assert await held.runner.advance(meeting_id) is None
    outcome = ended(await held.events(meeting_id))
    assert (outcome["result"], outcome["stopped_by"]) == ("decided", "ruling")
    assert (outcome["decision"], outcome["decision_source"]) == (decision, "ruling")
    assert (outcome["decided_by"]["kind"], outcome["decided_by"]["name"]) == ("ruling", "Ann")


@pytest.mark.parametrize("format_", CASES)
async def test_an_expired_question_ends_undecided(table: MakeTable, format_: str) -> None:
    held, meeting_id = await _opened(table, format_, PERSON)
    await held.runner.advance(meeting_id)
    held.clock.advance(60)
    await held.runner.advance(meeting_id)
    outcome = ended(await held.events(meeting_id))
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "ruling_expired")
    assert outcome["decision"] is None
    assert (await held.archive.state(meeting_id)).pending_question is None


@pytest.mark.parametrize("format_", CASES)
async def test_a_cancel_while_a_ruling_is_awaited(table: MakeTable, format_: str) -> None:
    held, meeting_id = await _opened(table, format_, PERSON)
    await held.runner.advance(meeting_id)
    await held.service.cancel(meeting_id, None)
    await held.runner.advance(meeting_id)
    events = await held.events(meeting_id)
    assert ended(events)["result"] == "cancelled"
    assert not of_type(events, "arbitration.expired")


async def _to_the_end(held: Table, meeting_id: str, choice: str) -> list[Event]:
    """Advance until it has ended, and rule when a ruling is waited for."""
    while await held.runner.advance(meeting_id) is not None:
        state = await held.archive.state(meeting_id)
        if state.pending_question is not None:
            await held.service.rule(meeting_id, Ruling(choice, "It can be undone.", "Ann"))
    return await held.events(meeting_id)


@pytest.mark.parametrize("arbiter", [PERSON, JUDGE], ids=["person", "agent"])
@pytest.mark.parametrize("format_", CASES)
async def test_dying_after_every_append_ends_the_same(
    table: MakeTable, format_: str, arbiter: Arbiter
) -> None:
    choice = CASES[format_][2]
    whole, whole_id = await _opened(table, format_, arbiter)
    expected = await _to_the_end(whole, whole_id, choice)
    assert ended(expected)["stopped_by"] == "ruling"
    deaths, survived = 0, False
    while not survived:
        deaths += 1
        held, meeting_id = await _opened(table, format_, arbiter)
        dying = held.new_runner(DyingLog(held.log, deaths))
        try:
            survived = await dying.advance(meeting_id) is None
            if not survived:
                await held.service.rule(meeting_id, Ruling(choice, "It can be undone.", "Ann"))
                survived = await dying.advance(meeting_id) is None
        except LogUnavailable:
            pass
        events = await _to_the_end(held, meeting_id, choice)
        assert told(events) == told(expected)
        if arbiter is JUDGE:
            asked = {request.request_id for request in held.agents["judge"].requests}
            assert len(asked) == 1
    assert deaths > 5


async def test_a_required_criterion_cannot_be_ruled_away(table: MakeTable) -> None:
    held, fields = _table(table, "review")
    held.agents["ann"].behave = lambda _: written("Nobody is named.")
    state = await held.open(arbiter=PERSON, **fields)
    await held.runner.advance(state.meeting.id)
    with pytest.raises(OutOfScope, match="c1") as refused:
        await held.service.rule(state.meeting.id, Ruling("accept", "I like it.", "Ann"))
    assert refused.value.faults[0].pointer == "#/choice"
    asked = (await held.archive.state(state.meeting.id)).pending_question
    assert asked is not None
    assert asked.asked.choices[0].barred_by == ("c1",)
    await held.service.rule(state.meeting.id, Ruling("reject", "Nobody owns it.", "Ann"))


async def test_an_agent_that_would_drop_a_criterion_is_asked_once_more(table: MakeTable) -> None:
    held, fields = _table(table, "review", "accept")
    held.agents["ann"].behave = lambda _: written("Nobody is named.")
    events = await held.hold(arbiter=JUDGE, **fields)
    assert ended(events)["stopped_by"] == "ruling_expired"
    assert of_type(events, "arbitration.expired")[0].data["reason"] == "invalid"
    assert "c1" in held.agents["judge"].requests[1].prompt


async def test_an_agent_that_does_not_answer_in_time_lets_the_question_expire(
    table: MakeTable,
) -> None:
    held, fields = _table(table, "roundtable", "adopt")
    held.agents["judge"].behave = lambda _: None
    fields["limits"] = Limits(rounds=1, arbitration_seconds=5)
    state = await held.open(arbiter=JUDGE, **fields)
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.agents["judge"].asked.wait()
    held.clock.advance(5)
    await run
    events = await held.events(state.meeting.id)
    assert ended(events)["stopped_by"] == "ruling_expired"
    assert of_type(events, "arbitration.expired")[0].data["reason"] == "timeout"


async def test_a_judge_that_the_budget_has_no_room_for_is_not_asked(table: MakeTable) -> None:
    held, fields = _table(table, "vote", "B")
    price = Price(Decimal(1), Decimal(1_000_000))  # a dollar a token of an answer
    held.agents["judge"].price = price
    held.agents["judge"].profile = replace(held.agents["judge"].profile, price=price)
    fields["limits"] = Limits(rounds=2, usd=Decimal(100))
    events = await held.hold(arbiter=JUDGE, **fields)
    outcome = ended(events)
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "budget")
    assert not held.agents["judge"].requests
    assert len(of_type(events, "budget.exhausted")) == 1
    assert of_type(events, "arbitration.expired")[0].data["reason"] == "budget"


async def test_a_judge_without_a_known_price_cannot_stand_under_a_money_limit(
    table: MakeTable,
) -> None:
    held, fields = _table(table, "vote", "B")
    fields["limits"] = Limits(rounds=2, usd=Decimal(100))
    held.agents["judge"].profile = replace(held.agents["judge"].profile, price=None)
    with pytest.raises(InvalidRequest, match="judge"):
        await held.open(arbiter=JUDGE, **fields)


async def test_an_agents_ruling_is_in_the_plan(table: MakeTable) -> None:
    held, fields = _table(table, "vote", "B")
    without: Mapping[str, Any] = (await held.open(**fields)).plan
    with_judge: Mapping[str, Any] = (await held.open(arbiter=JUDGE, **fields)).plan
    assert with_judge["prompts"] == without["prompts"] + 1
    assert with_judge["tokens"]["worst_case"] > without["tokens"]["worst_case"]
    assert with_judge["tokens"]["typical"] == without["tokens"]["typical"]


async def test_no_question_opens_when_the_time_is_over(table: MakeTable) -> None:
    held, meeting_id = await _opened(table, "council", PERSON)
    times = iter((1, 2, 3))

    def late(request: Request) -> Any:
        if request.template == "gate/confirm" and next(times) == 2:
            held.clock.advance(585)  # into the closing reserve, which the gate may use
        return member(INCOMPLETE)(request)

    held.agents["a"].behave = late
    await held.runner.advance(meeting_id)
    events = await held.events(meeting_id)
    assert not of_type(events, "arbitration.opened")


async def test_after_the_end_no_question_is_open(table: MakeTable) -> None:
    held, meeting_id = await _opened(table, "vote", PERSON)
    await _to_the_end(held, meeting_id, "B")
    with pytest.raises(NoQuestionOpen):
        await held.service.rule(meeting_id, Ruling("A", "Again.", "Ann"))


async def test_a_person_cannot_rule_in_an_agents_place(table: MakeTable) -> None:
    held, fields = _table(table, "roundtable", "adopt")
    held.agents["judge"].behave = lambda _: None
    state = await held.open(arbiter=JUDGE, **fields)
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.agents["judge"].asked.wait()
    with pytest.raises(NoQuestionOpen):
        await held.service.rule(state.meeting.id, Ruling("adopt", "Mine.", "Ann"))
    held.clock.advance(60)
    await run
