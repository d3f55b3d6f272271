"""The completion gate over a real log and a clock that the test moves (PROTOCOLS 10)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from app.coordinator.ports import EventLog, Idempotency, Request
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.meeting import CompletionGate, Limits
from tests.coordinator.conftest import MakeTable
from tests.coordinator.gate_meeting import (
    COMPLETE,
    COSTS,
    GateMeeting,
    Said,
    chair,
    member,
    moment,
)
from tests.coordinator.live_table import ConveningAgent
from tests.coordinator.log_relay import LogRelay
from tests.coordinator.table import SYNTHESIS, Table, ended, of_type, stances
from tests.coordinator.test_crash import lived, told

PATIENT = Limits(reply_seconds=300)
ALL_THREE = CompletionGate(min_completions=3)
"""Closes on the same signals whichever of those under way comes in first."""


async def council(table: MakeTable, *said: tuple[Said, ...], **fields: Any) -> GateMeeting:
    members = {name: member(*each) for name, each in zip("abc", said, strict=False)}
    return await GateMeeting.open(table(), members, **fields)


async def closed(meeting: GateMeeting) -> Mapping[str, Any]:
    (event,) = await meeting.until("completion.closed")
    return event.data


async def test_enough_completions_in_the_window_close_it(table: MakeTable) -> None:
    meeting = await council(table, (COMPLETE,), (COMPLETE,), (None,))
    outcome = await meeting.ended()
    assert (outcome["result"], outcome["stopped_by"]) == ("decided", "completed")
    assert outcome["completeness"] == "complete"
    done = await closed(meeting)
    assert (done["status"], done["completed_by"]) == ("consensus_complete", ["a", "b"])
    assert (done["warning"], done["reasons"]) == (None, {})
    assert len(await meeting.told("completion.signalled")) == 2
    assert await meeting.told("completion.nudged") == []


async def test_signals_too_far_apart_are_too_few(table: MakeTable) -> None:
    late = (61.0, COMPLETE)
    meeting = await council(table, (COMPLETE, None), (late, None), limits=PATIENT)
    await meeting.until("completion.signalled")
    await meeting.asked("b", 1)
    for seconds, nudges in ((30, 1), (60, 2)):
        await meeting.at(seconds)
        await meeting.until("completion.nudged", nudges)
    await meeting.asked("a", 2)
    await meeting.at(61)
    await meeting.until("completion.signalled", 2)
    await meeting.at(120)
    done = await closed(meeting)
    assert (done["status"], done["completed_by"]) == ("single_agent_complete", ["a", "b"])


async def test_a_completion_that_expires_is_asked_for_again_and_counts_afresh(
    table: MakeTable,
) -> None:
    meeting = await council(table, (COMPLETE,), ((61.0, COMPLETE), None), limits=PATIENT)
    await meeting.until("completion.signalled")
    await meeting.at(30)
    await meeting.asked("b", 2)
    await meeting.at(60)
    await meeting.until("completion.signalled", 2)  # a, once more
    assert [e.data["participants"] for e in await meeting.told("completion.nudged")] == [
        ["b"],
        ["a"],
    ]
    await meeting.at(61)
    assert (await closed(meeting))["status"] == "consensus_complete"
    assert await meeting.moments("completion.signalled") == [0, 60, 61]


async def test_those_who_hang_are_nudged_thirty_seconds_after_the_first_completion(
    table: MakeTable,
) -> None:
    meeting = await council(table, ((5.0, COMPLETE),), (None, COMPLETE), (None,), limits=PATIENT)
    await meeting.asked("c", 1)
    await meeting.at(5)
    await meeting.until("completion.signalled")
    await meeting.at(34.9)
    await meeting.waits_until(35)
    assert await meeting.told("completion.nudged") == []
    await meeting.at(35)
    again = await meeting.asked("b", 2)
    assert (again.variables["nudged"], again.request_id != "") == (True, True)
    assert (await closed(meeting))["completed_by"] == ["a", "b"]
    (nudged,) = await meeting.told("completion.nudged")
    assert (nudged.data["participants"], nudged.at) == (["b", "c"], moment(35))
    assert (await meeting.ended())["result"] == "decided"


async def test_signals_of_one_participant_count_once(table: MakeTable) -> None:
    meeting = await council(table, (COMPLETE,), (None,), limits=PATIENT)
    await meeting.until("completion.signalled")
    await meeting.at(60)
    await meeting.until("completion.signalled", 2)
    await meeting.at(120)
    outcome = await meeting.ended()
    assert (await closed(meeting))["completed_by"] == ["a"]
    assert outcome["council"]["completion"]["status"] == "single_agent_complete"


async def test_the_fallback_closes_on_a_single_completion_with_the_warning(
    table: MakeTable,
) -> None:
    meeting = await council(table, ((10.0, COMPLETE), None), (None,), limits=PATIENT)
    await meeting.asked("b", 1)
    await meeting.at(10)
    await meeting.until("completion.signalled")
    await meeting.at(129.9)
    await meeting.waits_until(130)
    assert await meeting.told("completion.closed") == []
    await meeting.at(130)
    outcome = await meeting.ended()
    assert (outcome["result"], outcome["decided_by"]["kind"]) == ("decided", "chair")
    assert (outcome["completeness"], outcome["decision_source"]) == ("complete", "synthesis")
    assert outcome["council"]["completion"]["warning"] == "single_agent_completion"
    (recorded,) = await meeting.told("decision.recorded")
    assert recorded.data["degradation"][0]["kind"] == "single_agent_completion"


async def test_no_completion_at_all_closes_it_incomplete(table: MakeTable) -> None:
    meeting = await council(table, (None,), (None,))
    await meeting.asked("b", 1)
    await meeting.at(60)  # both requests time out, and then only time can pass
    assert await meeting.paused() == moment(120)
    await meeting.at(120)
    outcome = await meeting.ended()
    assert (await closed(meeting))["status"] == "closed_incomplete"
    assert (outcome["result"], outcome["completeness"]) == ("undecided", "partial")
    assert (outcome["stopped_by"], outcome["decision"]) == ("completed", None)
    assert outcome["synthesis"]["decision"] == "Try one repository."


async def test_it_is_revised_once_for_the_reasons_and_asked_again(table: MakeTable) -> None:
    meeting = await council(table, (COMPLETE,), (COSTS, COMPLETE), (COSTS, COMPLETE))
    outcome = await meeting.ended()
    assert outcome["decision"] == "Try one repository, at 3,000 a year."
    completion = outcome["council"]["completion"]
    assert (completion["status"], completion["attempt"]) == ("consensus_complete", 2)
    revision = meeting.held.agents["secretary"].requests[-1]
    assert [r["text"] for r in revision.variables["reasons"]] == ["It leaves out the costs."] * 2
    assert "Try one repository." in revision.variables["draft"]
    second = await meeting.asked("b", 2)
    assert "3,000 a year" in second.variables["draft"]
    assert (second.variables["attempt"], second.variables["reason"]) == (
        2,
        "It leaves out the costs.",
    )
    attempts = [e.data["attempt"] for e in await meeting.told("completion.signalled")]
    assert sorted(attempts) == [1, 1, 1, 2, 2, 2]


async def test_after_the_second_asking_it_closes_with_the_reasons_in_the_record(
    table: MakeTable,
) -> None:
    meeting = await council(table, (COMPLETE,), (COSTS,), (COSTS,))
    outcome = await meeting.ended()
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "completed")
    assert (outcome["completeness"], outcome["decision"]) == ("partial", None)
    completion = outcome["council"]["completion"]
    assert completion["status"] == "closed_incomplete"
    assert completion["completed_by"] == ["a"]
    assert completion["reasons"] == dict.fromkeys("bc", "It leaves out the costs.")
    assert [d["participant"] for d in outcome["dissents"]] == ["b", "c"]
    assert len(await meeting.told("completion.closed")) == 1


async def test_a_revision_that_fails_is_not_put_a_second_time(table: MakeTable) -> None:
    meeting = await council(table, (COMPLETE,), (COSTS,), (COSTS,))
    agent = meeting.held.agents["secretary"]
    agent.behave = lambda r: "no" if r.variables["reasons"] else SYNTHESIS
    completion = (await meeting.ended())["council"]["completion"]
    assert (completion["status"], completion["attempt"]) == ("closed_incomplete", 1)
    assert completion["completed_by"] == ["a"]


async def test_while_only_time_must_pass_the_run_holds_nothing(table: MakeTable) -> None:
    limits = Limits(reply_seconds=5)
    meeting = await council(table, (COMPLETE, None), (None,), limits=limits)
    await meeting.asked("b", 1)
    await meeting.at(5)
    assert await meeting.paused() == moment(30)  # the nudge
    assert not meeting.held.runner.hear(meeting.id)  # it is not at work
    await meeting.at(30)
    await meeting.asked("b", 2)
    await meeting.at(35)
    assert await meeting.paused(2) == moment(60)  # a's completion leaves the window
    await meeting.at(60)
    await meeting.asked("a", 2)
    await meeting.at(65)
    assert await meeting.paused(3) == moment(120)  # the fallback
    await meeting.at(120)
    await meeting.ended()
    assert await meeting.moments("completion.nudged") == [30, 60]
    assert await meeting.moments("completion.closed") == [120]


async def test_a_restart_in_the_middle_keeps_the_clock(table: MakeTable) -> None:
    meeting = await council(table, (COMPLETE, None), (None,), limits=PATIENT)
    await meeting.until("completion.signalled")
    await meeting.restart(down=20)
    await meeting.asked("b", 2)  # it was in flight, so it goes out again
    requests = meeting.held.agents["b"].requests
    assert requests[-1].request_id == requests[-2].request_id
    await meeting.at(30)
    await meeting.until("completion.nudged")
    await meeting.restart(down=20)
    await meeting.at(60)
    await meeting.until("completion.nudged", 2)
    await meeting.at(120)
    assert (await meeting.ended())["result"] == "decided"
    assert await meeting.moments("completion.nudged") == [30, 60]
    assert await meeting.moments("completion.closed") == [120]
    assert len([r for r in meeting.held.agents["a"].requests if r.round == 1]) == 1


async def test_what_fell_due_while_the_process_was_down_is_settled_as_of_then(
    table: MakeTable,
) -> None:
    meeting = await council(table, (COMPLETE, None), (None, COMPLETE), limits=PATIENT)
    await meeting.until("completion.signalled")
    await meeting.restart(down=300)
    outcome = await meeting.ended()
    assert outcome["council"]["completion"]["status"] == "single_agent_complete"
    assert await meeting.told("completion.nudged") == []
    assert await meeting.moments("completion.closed") == [300]


async def test_a_closed_gate_asks_nobody_again_after_a_crash(table: MakeTable) -> None:
    held = table()
    members = {"a": member(COMPLETE), "b": member(COMPLETE), "c": member(None)}
    meeting = await GateMeeting.open(held, members)
    await meeting.ended()
    asked = len(held.agents["c"].requests)
    with held.database.writer.begin() as connection:
        connection.exec_driver_sql(
            "DELETE FROM event WHERE seq >= "
            "(SELECT seq FROM event WHERE type = 'completion.closed')"
        )
        connection.exec_driver_sql("DELETE FROM vote")  # which came with the decision
        connection.exec_driver_sql("UPDATE meeting SET last_seq = (SELECT MAX(seq) FROM event)")
    await meeting.restart(down=500)
    assert (await meeting.ended())["council"]["completion"]["status"] == "consensus_complete"
    assert len(held.agents["c"].requests) == asked


async def test_a_cancel_during_a_nudge_ends_it_at_once(table: MakeTable) -> None:
    meeting = await council(table, (COMPLETE, None), (None,), limits=PATIENT)
    await meeting.until("completion.signalled")
    await meeting.at(30)
    await meeting.asked("b", 2)
    await meeting.held.service.cancel(meeting.id, "moot")
    outcome = await meeting.ended()
    assert (outcome["result"], outcome["stopped_by"]) == ("cancelled", "cancellation")
    assert outcome["decision"] is None
    assert await meeting.told("completion.closed") == []
    (cancelled,) = await meeting.told("cancellation.closed")
    assert {item["participant"] for item in cancelled.data["items"]} == {"b"}


async def test_a_cancel_while_it_pauses_is_acted_on_by_whoever_is_woken(table: MakeTable) -> None:
    meeting = await council(table, (COMPLETE,), (None,), limits=Limits(reply_seconds=5))
    await meeting.asked("b", 1)
    await meeting.at(5)
    await meeting.paused()
    await meeting.held.service.cancel(meeting.id, "moot")
    # Nobody looks at it before the fallback has fallen due; the cancel came first all the same.
    await meeting.restart(down=200)
    assert (await meeting.ended())["result"] == "cancelled"
    assert await meeting.told("completion.closed") == []
    assert await meeting.told("completion.nudged") == []


async def test_the_meeting_s_deadline_ends_an_open_gate_honestly(table: MakeTable) -> None:
    limits = Limits(seconds=100, reply_seconds=300)
    meeting = await council(table, (COMPLETE, None), (None,), limits=limits)
    await meeting.until("completion.signalled")
    await meeting.at(100)
    outcome = await meeting.ended()
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "deadline")
    assert (outcome["completeness"], outcome["decision"]) == ("partial", None)
    assert outcome["synthesis"]["decision"] == "Try one repository."
    assert await meeting.told("completion.closed") == []


async def test_a_deadline_that_passed_while_the_process_was_down_counts_before_the_fallback(
    table: MakeTable,
) -> None:
    limits = Limits(seconds=100, reply_seconds=300)
    meeting = await council(table, (COMPLETE, None), (None,), limits=limits)
    await meeting.until("completion.signalled")
    await meeting.restart(down=500)
    assert (await meeting.ended())["stopped_by"] == "deadline"


async def test_a_budget_that_ran_out_is_no_single_completion(table: MakeTable) -> None:
    """Two answers, two rankings and a synthesis leave room for one closing question."""
    members = {"a": member(COMPLETE), "b": member(COMPLETE)}
    free = await GateMeeting.open(table(), members)
    await free.ended()
    costs = [e for e in await free.log() if e.type == "request.reserved"]
    spent = 5 * 120
    most = max(_tokens(e) for e in costs if e.data["for"].startswith("gate-1/"))
    broke = await GateMeeting.open(table(), members, limits=Limits(tokens=spent + most))
    outcome = await broke.ended()
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "budget")
    assert (outcome["completeness"], outcome["decision"]) == ("partial", None)
    assert await broke.moments("meeting.ended") == [0]


def _tokens(event: Event) -> int:
    reserved = event.data["reserved"]
    return reserved["input_tokens"] + reserved["output_tokens"]


async def test_answers_that_cannot_be_read_are_no_signals(table: MakeTable) -> None:
    meeting = await council(table, ("yes",), ("fine",))
    await meeting.paused()
    assert await meeting.told("completion.signalled") == []
    replies = [e for e in await meeting.told("reply.received") if e.data["status"] == "invalid"]
    assert sorted(e.data["attempt"] for e in replies) == [1, 1, 2, 2]
    await meeting.at(120)
    assert (await closed(meeting))["status"] == "closed_incomplete"


async def test_any_format_can_ask_for_it(table: MakeTable) -> None:
    def talker(request: Request) -> Any:
        return COMPLETE if request.template == "gate/confirm" else stances("AGREE")(request)

    held = table(a=talker, b=talker)
    events = await held.hold(completion_gate=CompletionGate())
    outcome = ended(events)
    assert (outcome["result"], outcome["completeness"]) == ("decided", "complete")
    (done,) = of_type(events, "completion.closed")
    assert (done.data["status"], done.data["round"]) == ("consensus_complete", 1)


async def test_dying_after_every_append_ends_the_same(table: MakeTable) -> None:
    """A whole council with a revision: every event is there once, whenever the process dies."""
    said = {"a": (COMPLETE,), "b": (COSTS, COMPLETE), "c": (COSTS, COMPLETE)}
    expected = await _whole(table, said)
    deaths, survived = 0, False
    while not survived:
        deaths += 1
        held = _held(table, said)
        state = await held.open(format="council", completion_gate=ALL_THREE)
        survived = await lived(held, state.meeting.id, deaths)
        known = _replied(await held.log.read(state.meeting.id))
        before = {name: len(agent.requests) for name, agent in held.agents.items()}
        await held.runner.advance(state.meeting.id)
        events = await held.events(state.meeting.id)
        assert told(events) == told(expected)
        assert [event.number for event in events] == list(range(1, len(expected) + 1))
        again = [r for name, agent in held.agents.items() for r in agent.requests[before[name] :]]
        assert not known & {request.request_id for request in again}
    assert deaths > 15


def _replied(log: Sequence[Event]) -> set[str]:
    """The requests whose replies the log holds."""
    types = ("reply.received", "office.replied")
    return {event.data["request_id"] for event in log if event.type in types}


def _held(table: MakeTable, said: Mapping[str, tuple[Said, ...]]) -> Table:
    held = table(**{name: member(*each) for name, each in said.items()})
    held.agents["secretary"].behave = chair
    return held


async def _whole(table: MakeTable, said: Mapping[str, tuple[Said, ...]]) -> list[Event]:
    held = _held(table, said)
    return await held.hold(format="council", completion_gate=ALL_THREE)


async def test_a_wish_in_the_same_breath_as_the_last_completion_is_kept(table: MakeTable) -> None:
    meeting = await council(table, (COMPLETE,), (COMPLETE,), (COSTS,))
    outcome = await meeting.ended()
    assert (outcome["result"], outcome["completeness"]) == ("decided", "complete")
    done = await closed(meeting)
    assert (done["status"], done["completed_by"]) == ("consensus_complete", ["a", "b"])
    assert done["reasons"] == {"c": "It leaves out the costs."}
    assert [(d["participant"], d["rationale"]) for d in outcome["dissents"]] == [
        ("c", "It leaves out the costs.")
    ]


class _Relay(LogRelay):
    """A way to the log that holds the first signal up until the second answer is in."""

    def __init__(self, log: EventLog, second: asyncio.Event) -> None:
        super().__init__(log)
        self._second = second

    async def append(
        self,
        meeting_id: str,
        expected: int,
        entries: Sequence[Entry],
        idempotency: Idempotency | None = None,
    ) -> Sequence[Event]:
        if any(entry.type == "completion.signalled" for entry in entries):
            self._second.set()
            for _ in range(20):
                await asyncio.sleep(0)
        return await self._log.append(meeting_id, expected, entries, idempotency)


async def test_an_answer_that_comes_while_another_is_told_is_not_slept_over(
    table: MakeTable,
) -> None:
    """Once all have answered the gate closes; no clock need move."""
    second = asyncio.Event()
    held = table(a=stances("AGREE"), b=stances("AGREE"))
    talk = held.agents["b"].behave

    async def in_turn(request: Request) -> str:
        if request.template == "gate/confirm":
            await second.wait()
            return COMPLETE
        return str(talk(request))

    held.agents["b"] = held.directory.agents["b"] = ConveningAgent("b", in_turn)
    held.agents["a"].behave = lambda r: COMPLETE if r.template == "gate/confirm" else str(talk(r))
    state = await held.open(completion_gate=CompletionGate())
    ended_at = await held.new_runner(_Relay(held.log, second)).advance(state.meeting.id)
    assert ended_at is None
    closed = of_type(await held.events(state.meeting.id), "completion.closed")
    assert [each.data["status"] for each in closed] == ["consensus_complete"]
