"""Whole debates, held over a real log (PROTOCOLS 2, 5 and 11)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from app.coordinator.commands import SeatWanted
from app.coordinator.ports import Request
from app.domain.errors import AgentRejected, InvalidRequest
from app.domain.meeting.meeting import CompletionGate, Limits
from tests.coordinator.conftest import MakeTable
from tests.coordinator.table import Behaviour, Table, ended, of_type
from tests.coordinator.test_crash import lived, told


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[MakeTable]:
    made: list[Table] = []

    def make(**behaviours: Behaviour) -> Table:
        made.append(Table(tmp_path / str(len(made)), **behaviours))
        return made[-1]

    yield make
    for one in made:
        await one.close()


def debater(*backed: str) -> Behaviour:
    """Opens, and then backs one label a round: ``A9`` is Participant A with confidence 9."""

    def behave(request: Request) -> str:
        if request.round == 1:
            return f"POSITION: Yes.\nPROPOSAL: first of {request.who}\nCONCERNS: cost"
        word = backed[request.round - 2]
        return (
            f"DISAGREEMENTS: on the price\nREFINED PROPOSAL: {request.who} {request.round}\n"
            f"BACKS: Participant {word[0]}\nCONFIDENCE: {word[1:]}"
        )

    return behave


def _three(table: MakeTable) -> Table:
    return table(a=debater("A9", "B8"), b=debater("B9", "B9"), c=debater("C6", "B8"))


def _step(request: Request) -> str:
    """The step of a participant's first asking; of an office's nothing that a log holds."""
    if request.office != "participant":
        return ""
    asked_in = f"round-{request.round}"
    if request.template == "gate/confirm":
        asked_in = f"gate-{request.variables['attempt']}"
    return f"{asked_in}/ask/{request.who}"


async def test_convergence_from_the_first_event_to_the_last(table: MakeTable) -> None:
    events = await _three(table).hold(format="debate")
    kinds = [event.type for event in events if event.type != "reply.received"]
    assert kinds == [
        *("meeting.created", "meeting.started"),
        *(["round.started", "round.closed"] * 3),
        *("decision.recorded", "minutes.written", "meeting.ended"),
    ]
    outcome = ended(events)
    assert (outcome["result"], outcome["stopped_by"]) == ("decided", "consensus")
    assert (outcome["decision"], outcome["decision_source"]) == ("b 3", "proposal")
    assert outcome["decided_by"]["kind"] == "consensus"
    assert outcome["debate"]["changed_minds"] == ["a", "c"]
    reply = next(e.data for e in of_type(events, "reply.received") if e.data["round"] == 3)
    assert reply["backs"] == "Participant B"
    assert reply["sections"]["disagreements"] == "on the price"


async def test_named_seats_get_the_roles_that_they_lack(table: MakeTable) -> None:
    seats = (SeatWanted("x", agent="a"), SeatWanted("y", role="own", agent="a"))
    held = table(a=debater("A9"))
    for rules, roles in (
        ({}, ["the architect", "own"]),
        ({"diversity": "constraints"}, ["the smallest_surface", "own"]),
    ):
        state = await held.open(format="debate", topic="Which database?", seats=seats, rules=rules)
        assert [seat.role for seat in state.meeting.seats] == roles


async def test_one_participant_is_no_debate(table: MakeTable) -> None:
    held = table(a=debater("A9"))
    with pytest.raises(InvalidRequest, match="at least 2 participants"):
        await held.open(format="debate")


async def test_a_reply_that_does_not_fit_is_asked_for_once_more(table: MakeTable) -> None:
    held = table(a=debater("A9"), b=debater("A9"))
    odd = held.agents["b"]
    odd.behave = lambda request: (
        debater("A9")(request) if request.round == 1 or "must name" in request.prompt else "Hm."
    )
    outcome = ended(await held.hold(format="debate", limits=Limits(rounds=2)))
    assert outcome["result"] == "decided"
    assert "BACKS is" in odd.requests[2].prompt


async def test_a_seat_that_is_down_prevents_convergence(table: MakeTable) -> None:
    held = table(a=debater("A9"), b=debater("A9"), c=lambda _: AgentRejected("no model"))
    events = await held.hold(format="debate", limits=Limits(rounds=2))
    outcome = ended(events)
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "rounds")
    assert outcome["debate"]["deadlock"]["leading"] == "Participant A"
    decision = of_type(events, "decision.recorded")[0].data
    assert decision["degradation"][0]["names"] == ["c"]


def confirming(talk: Behaviour, *completions: str) -> Behaviour:
    def behave(request: Request) -> Any:
        if request.template != "gate/confirm":
            return talk(request)
        said = completions[request.variables["attempt"] - 1]
        return f'{{"completion": "{said}", "reason": "It omits the cost."}}'

    return behave


def _gated(table: MakeTable) -> Table:
    return table(
        a=confirming(debater("A9"), "complete", "complete"),
        b=confirming(debater("A8"), "complete", "complete"),
        c=confirming(debater("A8"), "needs_revision", "complete"),
    )


GATE = CompletionGate(min_completions=3)


async def test_a_refused_synthesis_is_redrafted_once_for_the_reasons_given(
    table: MakeTable,
) -> None:
    held = _gated(table)
    events = await held.hold(format="debate", completion_gate=GATE)
    outcome = ended(events)
    assert (outcome["result"], outcome["completeness"]) == ("decided", "complete")
    assert of_type(events, "completion.closed")[0].data["status"] == "consensus_complete"
    first, second = held.agents["secretary"].requests
    assert first.variables["reasons"] == []
    assert second.variables["reasons"] == [{"label": "Participant C", "text": "It omits the cost."}]


async def test_the_envelope_is_kept(table: MakeTable) -> None:
    held = table(a=debater(*["A9"] * 9), b=debater(*["B9", "A7"] * 9))
    limits = Limits(rounds=9, tokens=9_000, no_progress_rounds=20)
    events = await held.hold(format="debate", limits=limits)
    outcome = ended(events)
    assert 1 < outcome["debate"]["rounds"] < 9
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "budget")
    spent = of_type(events, "decision.recorded")[0].data["spent"]["tokens"]
    assert spent["input"] + spent["output"] <= 9_000


@pytest.mark.parametrize(
    ("seated", "fields"),
    [
        (_three, {}),
        (_three, {"rules": {"history": "rolling"}}),
        (_gated, {"completion_gate": GATE}),
    ],
    ids=["full", "rolling", "gated"],
)
async def test_dying_after_every_append_ends_the_same(
    table: MakeTable, seated: Callable[[MakeTable], Table], fields: Mapping[str, Any]
) -> None:
    expected = await seated(table).hold(format="debate", **fields)
    assert ended(expected)["synthesis"] is not None
    deaths = 0
    survived = False
    while not survived:
        deaths += 1
        held = seated(table)
        state = await held.open(format="debate", **fields)
        survived = await lived(held, state.meeting.id, deaths)
        answered = {event.step for event in await held.log.read(state.meeting.id)}
        before = {name: len(agent.requests) for name, agent in held.agents.items()}
        await held.runner.advance(state.meeting.id)
        events = await held.events(state.meeting.id)
        assert told(events) == told(expected)
        assert [event.number for event in events] == list(range(1, len(expected) + 1))
        for name, agent in held.agents.items():
            for request in agent.requests[before[name] :]:
                assert _step(request) not in answered
    assert deaths > 5
