"""Whole votes and polls over a real log: second askings, the gate, and a process that dies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from app.coordinator.commands import SeatWanted
from app.coordinator.ports import Request
from app.domain.errors import InvalidRequest
from app.domain.meeting.meeting import CompletionGate, Limits
from tests.coordinator.conftest import MakeTable
from tests.coordinator.table import Behaviour, Table, ended, of_type, says
from tests.coordinator.test_crash import lived, told
from tests.formats.ballots import ranking, vote

A, B = vote("A"), vote("B")
COMPLETE = '{"completion": "complete", "reason": "it is"}'
AB = ("A", "B")


def votes(*ballots: str) -> Behaviour:
    """One ballot a round; whoever is asked to answer does, and the gate is passed."""

    def behave(request: Request) -> str:
        if request.template == "gate/confirm":
            return COMPLETE
        if request.template == "vote/deliberate":
            return "The load is known."
        return ballots[min(request.round, len(ballots)) - 1]

    return behave


def recommends(title: str) -> Behaviour:
    return says(json.dumps({"recommendations": [{"title": title, "confidence": 7, "why": "so"}]}))


async def test_a_vote_from_its_opening_to_its_end(table: MakeTable) -> None:
    held = table(a=votes(A), b=votes(A), c=votes(B))
    events = await held.hold(format="vote", options=AB)
    assert [event.type for event in events] == [
        "meeting.created",
        "meeting.started",
        "round.started",
        "reply.received",
        "reply.received",
        "reply.received",
        "tally.computed",
        "round.closed",
        "decision.recorded",
        "minutes.written",
        "meeting.ended",
    ]
    outcome = ended(events)
    assert (outcome["result"], outcome["decision"], outcome["stopped_by"]) == (
        "decided",
        "A",
        "completed",
    )
    assert outcome["tally"]["votes"] == {"A": 2, "B": 1}
    assert outcome["dissents"][0]["mitigation"] == "a way back to B"


async def test_a_ballot_that_does_not_fit_is_asked_for_once_more(table: MakeTable) -> None:
    held = table(a=votes(A), b=votes(A), c=says(vote("B", "quite sure"), vote("B", "70%")))
    events = await held.hold(format="vote", options=AB)
    asked = [request.prompt for request in held.agents["c"].requests]
    assert "quite sure" in asked[1]
    (first, second) = [
        e.data for e in of_type(events, "reply.received") if e.data["participant"] == "c"
    ]
    assert (first["final"], first["status"], second["status"]) == (False, "invalid", "ok")
    assert second["confidence"] == 0.7


async def test_an_abstention_that_is_not_accepted_is_asked_for_once_more(table: MakeTable) -> None:
    abstains = vote("ABSTAIN")
    held = table(a=votes(A), b=votes(A), c=says(abstains, abstains))
    outcome = ended(await held.hold(format="vote", options=AB, rules={"protocol": "unanimous"}))
    assert len(held.agents["c"].requests) == 2
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "quorum")
    assert outcome["tally"]["reason"] == "abstention"
    moved = table(a=votes(A), b=votes(A), c=says(abstains, A))
    outcome = ended(await moved.hold(format="vote", options=AB, rules={"protocol": "unanimous"}))
    assert outcome["decision"] == "A"


async def test_weights_come_from_the_seats_and_an_expert_settles_it(table: MakeTable) -> None:
    held = table(a=votes(vote("A", 0.9)), b=votes(vote("A", 0.8)), c=votes(vote("B", 0.7)))
    wanted = (
        SeatWanted("a", agent="a", weight=Fraction(2), expert=True),
        SeatWanted("b", agent="b"),
        SeatWanted("c", agent="c", weight=Fraction(3, 2)),
    )
    rules = {"protocol": "weighted", "threshold": 0.6}
    outcome = ended(await held.hold(format="vote", options=AB, seats=wanted, rules=rules))
    assert outcome["tally"]["shares"]["A"]["percent"] == 57.8
    assert outcome["decided_by"]["kind"] == "expert"


async def test_a_run_off_over_the_log(table: MakeTable) -> None:
    held = table(a=says(ranking("ABC")), b=says(ranking("BCA")), c=says(ranking("ACB")))
    outcome = ended(
        await held.hold(format="vote", options=tuple("ABC"), rules={"protocol": "ranked"})
    )
    assert (outcome["decision"], outcome["tally"]["condorcet"]) == ("A", "A")


async def test_a_poll_leaves_out_what_it_cannot_read(table: MakeTable) -> None:
    yes = '{"answer": "YES", "reasons": ["cheap"], "confidence": 8}'
    held = table(a=says(yes), b=says(yes), c=says("The weather is fine."), d=says("{}"))
    events = await held.hold(format="poll", rules={"output": "binary"})
    outcome = ended(events)
    assert (outcome["decision"], outcome["effective_participants"]) == ("YES", 2)
    assert [e["status"] for e in outcome["poll"]["excluded"]] == ["off_topic", "invalid"]
    assert len(of_type(events, "reply.received")) == 6


async def test_the_secretary_groups_and_fails_over_to_the_wording(table: MakeTable) -> None:
    seats = {"a": recommends("Wait"), "b": recommends("Hold still"), "c": recommends("wait")}
    held = table(**seats)
    held.agents["secretary"].behave = says('{"groups": [[0, 1, 2]]}')
    outcome = ended(await held.hold(format="poll"))
    assert (outcome["decision"], outcome["poll"]["method"]) == ("Wait", "secretary")
    failing = table(**seats)
    failing.agents["secretary"].behave = says("They are all alike.")
    events = await failing.hold(format="poll")
    assert len(failing.agents["secretary"].requests) == 2
    assert ended(events)["poll"]["method"] == "similarity"
    assert ended(events)["result"] == "undecided"
    weak = of_type(events, "decision.recorded")[0].data["degradation"]
    assert [part["kind"] for part in weak] == ["grouped_by_wording"]


async def test_everybody_hangs_until_the_meetings_deadline(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=lambda _: None, c=lambda _: None)
    state = await held.open(format="poll", rules={"output": "binary"}, limits=Limits(seconds=60))
    running = asyncio.create_task(held.runner.advance(state.meeting.id))
    for agent in ("a", "b", "c"):
        await held.agents[agent].asked.wait()
    held.clock.advance(54)
    await running
    outcome = ended(await held.events(state.meeting.id))
    assert (outcome["result"], outcome["completeness"], outcome["stopped_by"]) == (
        "undecided",
        "partial",
        "deadline",
    )


async def test_a_cancel_keeps_what_came_in(table: MakeTable) -> None:
    held = table(a=votes(A, A), b=votes(B, B), c=votes(vote("ABSTAIN"), A))
    held.agents["c"].behave = lambda r: None if r.round > 1 else vote("ABSTAIN")
    state = await held.open(format="vote", options=AB)
    running = asyncio.create_task(held.runner.advance(state.meeting.id))
    while len(held.agents["c"].requests) < 2:
        held.agents["c"].asked.clear()
        await held.agents["c"].asked.wait()
    await held.service.cancel(state.meeting.id, "moot")
    await running
    outcome = ended(await held.events(state.meeting.id))
    assert (outcome["result"], outcome["decision"]) == ("cancelled", None)
    assert outcome["tally"]["votes"] == {"A": 1, "B": 1}


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"format": "vote", "options": ("A",)}, "#/options"),
        ({"format": "vote", "options": AB, "rules": {"quorum": 9}}, "#/rules/quorum"),
        ({"format": "poll", "rules": {"output": "ranking"}}, "#/options"),
        ({"format": "poll", "seats": (SeatWanted("a", agent="a"),) * 2}, "#/participants"),
    ],
)
async def test_what_cannot_be_held_is_refused_before_anybody_is_asked(
    table: MakeTable, fields: dict[str, Any], pointer: str
) -> None:
    held = table(a=votes(A), b=votes(A), c=votes(B))
    with pytest.raises(InvalidRequest) as refused:
        await held.open(**fields)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


# --- a process that dies ------------------------------------------------------------------------


def _split_vote(table: MakeTable) -> tuple[Table, dict[str, Any]]:
    changed = vote("A", changed_because="the load is known")
    held = table(a=votes(A), b=votes(B), c=votes(vote("ABSTAIN"), changed))
    gate = CompletionGate(min_completions=3)  # all: who completes first is a matter of chance
    return held, {"format": "vote", "options": AB, "completion_gate": gate}


def _recommending_poll(table: MakeTable) -> tuple[Table, dict[str, Any]]:
    held = table(a=recommends("Wait"), b=recommends("Hold still"), c=recommends("Go on"))
    held.agents["secretary"].behave = says('{"groups": [[0, 1], [2]]}')
    return held, {"format": "poll"}


@pytest.mark.parametrize("setting", [_split_vote, _recommending_poll])
async def test_dying_after_every_append_ends_the_same(
    table: MakeTable, setting: Callable[[MakeTable], tuple[Table, dict[str, Any]]]
) -> None:
    whole, fields = setting(table)
    expected = await whole.hold(**fields)
    deaths, survived = 0, False
    while not survived:
        deaths += 1
        held, fields = setting(table)
        state = await held.open(**fields)
        survived = await lived(held, state.meeting.id, deaths)
        asked = {event.step for event in await held.log.read(state.meeting.id)}
        before = {name: len(agent.requests) for name, agent in held.agents.items()}
        await held.runner.advance(state.meeting.id)
        events = await held.events(state.meeting.id)
        assert told(events) == told(expected)
        for name, agent in held.agents.items():
            for request in agent.requests[before[name] :]:
                assert f"round-{request.round}/ask/{request.who}" not in asked or (
                    request.template in ("vote/deliberate", "gate/confirm", "secretary/group")
                )
    assert deaths > 5
