"""Which turn of an agent a request is, across crashes and resumings."""

from __future__ import annotations

from app.coordinator.request_counter import RequestCounter
from app.coordinator.resuming import ResumeMeeting
from app.domain.meeting.entries import Event
from app.domain.meeting.events import MeetingResumed, RequestReserved
from app.domain.meeting.meeting import Limits
from app.domain.money import NOTHING
from tests.clock import START
from tests.coordinator.conftest import MakeTable
from tests.coordinator.table import stances


def reserved(step: str, turn: int, agent: str = "ann") -> Event:
    request = RequestReserved(
        step=step, request_id=f"req_{turn}", who=agent, agent=agent, turn=turn, reserved=NOTHING
    )
    return Event(request, START)


def resumed() -> Event:
    told = MeetingResumed(
        changed="limits",
        note="One round more.",
        after_round=1,
        limits=Limits(rounds=2),
        deadline=START,
        resumption=1,
    )
    return Event(told, START)


def test_a_request_that_a_crash_left_open_keeps_its_turn() -> None:
    turns = RequestCounter([reserved("round-1/ask/ann", 0), reserved("round-2/ask/ann", 1)])
    assert turns.of("round-2/ask/ann", "ann") == 1
    assert turns.of("round-3/ask/ann", "ann") == 2
    assert turns.of("round-1/ask/ben", "ben") == 0


def test_after_a_resuming_a_step_that_comes_again_is_another_request() -> None:
    before = [reserved("round-1/ask/ann", 0), reserved("closing/synthesis", 1)]
    turns = RequestCounter([*before, resumed()])
    assert turns.of("closing/synthesis", "ann") == 2
    assert turns.of("closing/synthesis", "ann") == 2


async def test_a_script_goes_on_where_it_stood_when_a_meeting_is_resumed(table: MakeTable) -> None:
    held = table(a=stances("AGREE"), b=stances("DISAGREE"))
    state = await held.open(limits=Limits(rounds=1))
    await held.runner.advance(state.meeting.id)
    more = ResumeMeeting("limits", "One round more.", {"rounds": 2})
    await held.service.resume(state.meeting.id, more)
    await held.runner.advance(state.meeting.id)
    asked = [(r.template, r.turn) for r in held.agents["secretary"].requests]
    assert [turn for _, turn in asked] == [0, 1, 2]
    assert [template for template, _ in asked].count("roundtable/synthesis") == 2
