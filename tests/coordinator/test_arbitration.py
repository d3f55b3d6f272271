"""What participants could not settle goes to an arbiter (PROTOCOLS 11, arbitration)."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from app.domain.ending.arbitration import NoQuestionOpen, OutOfScope, Ruling
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Arbiter, Limits
from app.domain.meeting.status import Status
from tests.clock import START
from tests.coordinator.conftest import MakeTable
from tests.coordinator.table import Table, ended, of_type, stances

PERSON = Arbiter("human", name="Ann")
LIMITS = Limits(rounds=1)
ADOPT = Ruling("adopt", "The trial has an end.", "Ann")


def _split(table: MakeTable) -> Table:
    return table(a=stances("AGREE"), b=stances("DISAGREE"))


async def _until_question(held: Table, limits: Limits = LIMITS) -> str:
    """Open a meeting and take it to its question; the run is put down there."""
    state = await held.open(motion="We do it.", arbiter=PERSON, limits=limits)
    until = await held.runner.advance(state.meeting.id)
    assert until == START + timedelta(seconds=60)
    return state.meeting.id


async def _end(held: Table, meeting_id: str) -> list[Event]:
    assert await held.runner.advance(meeting_id) is None
    return await held.events(meeting_id)


async def test_a_question_opens_and_the_meeting_waits_for_its_ruling(table: MakeTable) -> None:
    held = _split(table)
    meeting_id = await _until_question(held)
    (opened,) = of_type(await held.events(meeting_id), "arbitration.opened")
    assert [choice["id"] for choice in opened.data["choices"]] == ["adopt", "reject"]
    state = await held.archive.state(meeting_id)
    assert state.status is Status.AWAITING_RULING
    assert state.pending_question is not None
    assert state.pending_question.asked.scope == "We do it."
    await held.service.rule(meeting_id, ADOPT)
    assert (await held.archive.state(meeting_id)).pending_question is None
    outcome = ended(await _end(held, meeting_id))
    assert (outcome["result"], outcome["stopped_by"]) == ("decided", "ruling")
    assert (outcome["decision"], outcome["decision_source"]) == ("We do it.", "ruling")
    assert outcome["decided_by"] == {"kind": "ruling", "name": "Ann", "scope": "We do it."}
    assert outcome["consensus"] == "NO_CONSENSUS"  # a ruling is no agreement
    assert [dissent["participant"] for dissent in outcome["dissents"]] == ["b"]


async def test_a_rejection_is_a_decision_too(table: MakeTable) -> None:
    held = _split(table)
    meeting_id = await _until_question(held)
    await held.service.rule(meeting_id, Ruling("REJECT", "Too dear.", "Ann", "until spring"))
    events = await _end(held, meeting_id)
    assert ended(events)["decision"] == "reject: We do it."
    assert of_type(events, "decision.recorded")[0].data["ruling"]["conditions"] == "until spring"


async def test_no_ruling_in_time_ends_undecided(table: MakeTable) -> None:
    held = _split(table)
    meeting_id = await _until_question(held)
    held.clock.advance(60)
    with pytest.raises(NoQuestionOpen, match="time for this ruling is over"):
        await held.service.rule(meeting_id, ADOPT)
    events = await _end(held, meeting_id)
    assert len(of_type(events, "arbitration.expired")) == 1
    assert (ended(events)["result"], ended(events)["stopped_by"]) == (
        "undecided",
        "ruling_expired",
    )


async def test_the_question_never_outlives_the_meeting(table: MakeTable) -> None:
    held = _split(table)
    limits = Limits(rounds=1, seconds=50)
    state = await held.open(arbiter=PERSON, limits=limits)
    until = await held.runner.advance(state.meeting.id)
    assert until == START + timedelta(seconds=45)  # less the closing reserve


async def test_what_was_not_offered_is_out_of_scope(table: MakeTable) -> None:
    held = _split(table)
    meeting_id = await _until_question(held)
    with pytest.raises(OutOfScope, match="adopt, reject"):
        await held.service.rule(meeting_id, Ruling("postpone", "", "Ann"))
    assert (await held.archive.state(meeting_id)).status is Status.AWAITING_RULING


async def test_a_second_ruling_finds_no_question(table: MakeTable) -> None:
    held = _split(table)
    meeting_id = await _until_question(held)
    both = await asyncio.gather(
        held.service.rule(meeting_id, ADOPT),
        held.service.rule(meeting_id, ADOPT),
        return_exceptions=True,
    )
    assert sorted(isinstance(one, NoQuestionOpen) for one in both) == [False, True]
    assert len(of_type(await _end(held, meeting_id), "arbitration.ruled")) == 1


async def test_a_cancel_while_the_question_is_open(table: MakeTable) -> None:
    held = _split(table)
    meeting_id = await _until_question(held)
    await held.service.cancel(meeting_id, None)
    with pytest.raises(NoQuestionOpen):
        await held.service.rule(meeting_id, ADOPT)
    assert ended(await _end(held, meeting_id))["result"] == "cancelled"


async def test_a_process_killed_while_waiting_keeps_the_question_and_its_clock(
    table: MakeTable,
) -> None:
    held = _split(table)
    meeting_id = await _until_question(held)
    held.clock.advance(30)
    again = await held.new_runner(held.log).advance(meeting_id)
    assert again == START + timedelta(seconds=60)
    assert len(of_type(await held.events(meeting_id), "arbitration.opened")) == 1
    await held.service.rule(meeting_id, ADOPT)
    assert ended(await _end(held, meeting_id))["stopped_by"] == "ruling"


async def test_an_agent_rules_among_the_same_choices(table: MakeTable) -> None:
    held = table(
        a=stances("AGREE"),
        b=stances("DISAGREE"),
        judge=lambda _: '{"choice": "reject", "conditions": "", "reason": "Too dear."}',
    )
    seats = ("a", "b")
    outcome = ended(await held.hold(arbiter=Arbiter("agent", "judge"), limits=LIMITS, seated=seats))
    assert outcome["decided_by"]["name"] == "judge"
    assert outcome["decision"].startswith("reject: ")


async def test_an_agent_outside_the_choices_is_asked_once_more_and_then_expires(
    table: MakeTable,
) -> None:
    held = table(
        a=stances("AGREE"), b=stances("DISAGREE"), judge=lambda _: '{"choice": "postpone"}'
    )
    seats = ("a", "b")
    events = await held.hold(arbiter=Arbiter("agent", "judge"), limits=LIMITS, seated=seats)
    assert ended(events)["stopped_by"] == "ruling_expired"
    assert len(held.agents["judge"].requests) == 2
    again = held.agents["judge"].requests[1].prompt
    assert 'not one of those offered: "adopt", "reject".' in again


async def test_nobody_is_asked_to_rule_on_a_consensus(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    events = await held.hold(arbiter=PERSON)
    assert not of_type(events, "arbitration.opened")
    assert ended(events)["stopped_by"] == "consensus"
