"""A provider that is down costs its waiting once a round, and not once a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from app.coordinator.ports import Request
from app.coordinator.retrying import MOST_ATTEMPTS
from app.domain.errors import AgentUnavailable
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Limits
from tests.coordinator.conftest import MakeTable
from tests.coordinator.pacing import to_the_end
from tests.coordinator.table import Table, ended, of_type, secretary, stances

WAITED = 15.5
"""Seconds between the first attempt and the last."""


def down(_: Request) -> Exception:
    return AgentUnavailable("The provider is down.")


async def opened(held: Table, **fields: object) -> str:
    """Two seats on one agent, which is the secretary too."""
    seats = ("a", "b")
    return (await held.open(seats, **{"secretary": "a", **fields})).meeting.id


def attempts(held: Table, name: str, pick: Callable[[Request], bool]) -> int:
    return len([r for r in held.agents[name].requests if pick(r)])


def seconds(log: Sequence[Event]) -> float:
    return (log[-1].at - log[0].at).total_seconds()


async def test_after_all_attempts_in_vain_there_is_one_for_the_rest_of_the_round(
    table: MakeTable,
) -> None:
    held = table(a=down, b=stances("DISAGREE"))
    id_ = await opened(held, limits=Limits(rounds=3))
    await to_the_end(held, id_)
    for round_ in (1, 2):
        of_round = [r for r in held.agents["a"].requests if r.round == round_]
        offices = [r for r in of_round if r.office == "secretary"]
        assert len(of_round) - len(offices) == MOST_ATTEMPTS, f"patient again in round {round_}"
        assert len(offices) == len({r.request_id for r in offices}), "asked once each"
    log = await held.events(id_)
    assert len(of_type(log, "round.closed")) == 3
    assert seconds(log) == 3 * WAITED


async def test_seats_that_share_an_agent_wait_together_and_no_longer(table: MakeTable) -> None:
    """They are asked at once, so each is still patient then; whoever comes later is not."""
    held = table(a=down, b=down)
    seats = ("a", "b")
    state = await held.open(seats, limits=Limits(rounds=1))
    await to_the_end(held, state.meeting.id)
    for name in seats:
        assert attempts(held, name, lambda _: True) == MOST_ATTEMPTS
    assert seconds(await held.events(state.meeting.id)) == WAITED


async def test_others_are_waited_for_as_ever(table: MakeTable) -> None:
    """One agent's ruin is not another one's."""
    held = table(a=down, b=stances("DISAGREE"))
    late = iter([AgentUnavailable("busy")] * 3)
    held.agents["secretary"].behave = lambda request: next(late, None) or secretary(request)
    state = await held.open(limits=Limits(rounds=1))
    await to_the_end(held, state.meeting.id)
    outcome = ended(await held.events(state.meeting.id))
    assert outcome["synthesis"]["decision"] == "Try one repository."
    assert len(held.agents["secretary"].requests) == 4


@pytest.mark.parametrize(
    ("asked", "limit"), [(None, 5.0), (2.0, 7.0)], ids=["its own pauses", "the pauses asked for"]
)
async def test_giving_up_for_want_of_time_counts_too(
    table: MakeTable, asked: float | None, limit: float
) -> None:
    held = table(a=lambda _: AgentUnavailable("busy", asked), b=stances("DISAGREE"))
    id_ = await opened(held, limits=Limits(rounds=1, reply_seconds=limit))
    await to_the_end(held, id_)
    offices = [r for r in held.agents["a"].requests if r.office == "secretary"]
    assert attempts(held, "a", lambda r: r.office == "participant") > 1
    assert len(offices) == len({r.request_id for r in offices})
    assert seconds(await held.events(id_)) < limit


async def test_a_pause_that_could_not_be_waited_for_ends_no_patience(table: MakeTable) -> None:
    """Nothing has been waited for yet, so the next question may wait."""
    pauses = iter([1_000.0])
    answer = stances("DISAGREE")

    def behave(request: Request) -> str | Exception:
        if request.office == "participant":
            return AgentUnavailable("busy", next(pauses))
        if len([r for r in held.agents["a"].requests if r.office == "secretary"]) == 1:
            return AgentUnavailable("busy", 1.0)
        return secretary(request)

    held = table(a=behave, b=answer)
    id_ = await opened(held, limits=Limits(rounds=1))
    await to_the_end(held, id_)
    assert ended(await held.events(id_))["synthesis"]["decision"] == "Try one repository."


async def test_a_process_that_takes_the_meeting_up_is_patient_again(table: MakeTable) -> None:
    held = table(a=down, b=stances("DISAGREE"))
    id_ = await opened(held, limits=Limits(rounds=1))
    await to_the_end(held, id_)
    whole = await held.events(id_)
    replies = of_type(whole, "reply.received")
    assert [e.data["status"] for e in replies if e.data["participant"] == "a"] == ["error"]
    again = table(a=down, b=stances("DISAGREE"))
    id_ = await opened(again, limits=Limits(rounds=1))
    log = list(await held.log.read(id_))
    upto = next(i for i, e in enumerate(log) if e.step == "round-1/ask/a")
    await again.log.append(id_, 1, log[1 : upto + 1])
    again.clock.advance(20)
    await to_the_end(again, id_)
    # The seat's reply stands in the log; its first question to the office waits anew.
    assert attempts(again, "a", lambda r: r.office == "participant") == 0
    assert attempts(again, "a", lambda r: r.office == "secretary") == MOST_ATTEMPTS
