"""A process may die at any moment: the meeting's end is the same (PROTOCOLS 2, rule 6)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from app.coordinator.ports import EventLog, Idempotency, Request
from app.domain.errors import LogUnavailable, ReplayDiverged, Superseded
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.events import MeetingParked
from app.domain.meeting.meeting import Limits
from app.domain.meeting.state import fold
from tests.coordinator.conftest import MakeTable
from tests.coordinator.log_relay import LogRelay
from tests.coordinator.table import Table, ended, of_type, secretary, stances


class DyingLog(LogRelay):
    """Writes ``appends`` appends; the last one is on disk, but nobody hears of it any more."""

    def __init__(self, log: EventLog, appends: int) -> None:
        super().__init__(log)
        self._left = appends

    async def append(
        self,
        meeting_id: str,
        expected: int,
        entries: Sequence[Entry],
        idempotency: Idempotency | None = None,
    ) -> Sequence[Event]:
        if self._left > 0:
            made = await self._log.append(meeting_id, expected, entries, idempotency)
            self._left -= 1
            if self._left > 0:
                return made
        raise LogUnavailable("the process has been killed")


async def lived(held: Table, meeting_id: str, appends: int) -> bool:
    """Whether the meeting ended before its process was killed after so many appends."""
    try:
        await held.new_runner(DyingLog(held.log, appends)).advance(meeting_id)
    except LogUnavailable:
        return False
    return True


def told(events: Sequence[Event]) -> list[tuple[Any, ...]]:
    """What the events say, in the order of their steps: replies of a round come in any order."""
    return sorted((event.step or "", event.type, repr(_said(event))) for event in events)


def _said(event: Event) -> Mapping[str, Any]:
    """A death costs what was under way then, and changes nothing else."""
    spent = event.data.get("spent")
    return event.data if spent is None else {**event.data, "spent": confirmed(spent)}


def confirmed(spent: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was spent, less what nobody confirmed."""
    tokens = sum(spent["tokens"].values()) - spent["unconfirmed"]["tokens"]
    return {"replies": spent["replies"], "seconds": spent["seconds"], "tokens": tokens}


def _three(table: MakeTable) -> Table:
    return table(
        a=stances("AGREE"),
        b=stances("DISAGREE", "NEUTRAL", "AGREE"),
        c=stances("NEUTRAL", "DISAGREE", "AGREE"),
    )


async def test_dying_after_every_append_ends_the_same(table: MakeTable) -> None:
    whole = _three(table)
    expected = await whole.hold()
    deaths = 0
    while True:
        deaths += 1
        held = _three(table)
        state = await held.open()
        survived = await lived(held, state.meeting.id, deaths)
        answered = {event.step for event in await held.log.read(state.meeting.id)}
        before = {name: len(agent.requests) for name, agent in held.agents.items()}
        await held.runner.advance(state.meeting.id)
        events = await held.events(state.meeting.id)
        assert told(events) == told(expected)
        assert [event.number for event in events] == list(range(1, len(expected) + 1))
        for name, agent in held.agents.items():
            for request in agent.requests[before[name] :]:
                asked = f"round-{request.round}/ask/{request.who}"
                assert request.office != "participant" or asked not in answered
        if survived:
            break
    assert deaths > 8


async def test_a_second_asking_tells_the_same_after_a_crash(table: MakeTable) -> None:
    def clerk(request: Request) -> str:
        first = request.template.endswith("synthesis") and "'fault'" not in request.prompt
        return "もちろん。" if first else secretary(request)

    deaths = survived = 0
    while not survived:
        deaths += 1
        held = table(secretary=clerk, a=stances("AGREE"), b=stances("AGREE"))
        seats = ("a", "b")
        state = await held.open(seats, language="ja", limits=Limits(rounds=1))
        survived = await lived(held, state.meeting.id, deaths)
        await held.runner.advance(state.meeting.id)
        outcome = ended(await held.events(state.meeting.id))
        assert outcome["synthesis"]["decision"] == "Try one repository."
        asked = [request.prompt for request in held.agents["secretary"].requests]
        again = [prompt for prompt in asked if "'fault'" in prompt]
        assert again
        assert all("'回答の中に JSON オブジェクトがない。'" in prompt for prompt in again)
    assert deaths > 4


async def test_a_request_that_was_in_flight_goes_out_again_under_the_same_id(
    table: MakeTable,
) -> None:
    held = table(a=lambda _: None, b=stances("AGREE"))
    state = await held.open()
    first = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.agents["a"].asked.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    held.agents["a"].behave = stances("AGREE")
    await held.runner.advance(state.meeting.id)
    one, two = held.agents["a"].requests
    assert one.request_id == two.request_id
    assert one.turn == two.turn
    assert ended(await held.events(state.meeting.id))["result"] == "decided"


async def test_of_two_runners_one_stands_down(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=stances("AGREE"))
    state = await held.open()
    first = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.agents["a"].asked.wait()
    async for frames in held.log.follow(state.meeting.id, 0):
        if b"reply.received" in frames:
            break  # b's reply is on disk, and a's is awaited
    held.agents["a"].behave = stances("AGREE")
    await held.new_runner(held.log).advance(state.meeting.id)
    held.clock.advance(60)  # the first runner's own request times out, and it wants to say so
    with pytest.raises(Superseded):
        await first
    events = await held.events(state.meeting.id)
    assert ended(events)["result"] == "decided"
    assert len(of_type(events, "reply.received")) == 2


async def test_a_log_of_other_code_parks_the_meeting_loudly(table: MakeTable) -> None:
    held = _three(table)
    state = await held.open()
    assert not await lived(held, state.meeting.id, 4)
    with held.database.writer.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE event SET fingerprint = 'other' WHERE step = 'round-1/ask/b'"
        )
    kept = await held.log.read(state.meeting.id)
    for _ in range(2):
        with pytest.raises(ReplayDiverged, match="round-1/ask/b"):
            await held.runner.advance(state.meeting.id)
        *before, parked = await held.log.read(state.meeting.id)
        assert before == kept, "nothing is lost, and nothing is said twice"
        assert isinstance(parked.content, MeetingParked)
        assert parked.content.reason == "replay_diverged"
        assert "round-1/ask/b" in parked.content.detail
    now = await held.log.state(state.meeting.id)
    assert now == fold(await held.log.read(state.meeting.id))
    assert not now.ended
    assert now.parked is not None
    assert now.parked.reason == "replay_diverged"


async def test_an_outage_of_the_log_does_not_end_the_meeting(table: MakeTable) -> None:
    held = _three(table)
    state = await held.open()

    class Failing(DyingLog):
        async def append(self, *_: Any, **__: Any) -> Sequence[Event]:
            raise LogUnavailable("disk full")

    with pytest.raises(LogUnavailable):
        await held.new_runner(Failing(held.log, 1)).advance(state.meeting.id)
    assert len(await held.events(state.meeting.id)) == 1
    await held.runner.advance(state.meeting.id)
    assert ended(await held.events(state.meeting.id))["result"] == "decided"
