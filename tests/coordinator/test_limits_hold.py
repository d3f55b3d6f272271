"""Any sequence of kills, stops, takeovers, cut-off answers, retries, late answers, cancels and
resumings keeps what was sent, each at its worst, within the limit; and what is shown as spent is
what was really used, or more (PROTOCOLS 11)."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.coordinator import journal
from app.coordinator.ports import Answer, Request, Usage
from app.coordinator.request_counter import most_cost
from app.coordinator.resuming import ResumeMeeting
from app.coordinator.timing import sleep_until
from app.domain.errors import (
    AgentNonsense,
    AgentRejected,
    AgentUnavailable,
    LogUnavailable,
    Superseded,
    YoriaiError,
)
from app.domain.meeting.meeting import Limits
from app.domain.meeting.state import MeetingState, fold
from app.domain.money import NOTHING, Cost, Price
from tests.coordinator.table import SYNTHESIS, ActingAgent, Table
from tests.invariants.traffic import Line, Traffic

Manner = Literal[
    "counts", "counts all", "counts nothing", "is slow", "hangs", "hangs up", "breaks",
    "says nothing", "is busy", "refuses",
]  # fmt: skip
MANNERS = st.lists(st.sampled_from(get_args(Manner)), min_size=1, max_size=5)
FREE: Sequence[Manner] = ("is busy", "refuses")
"""Turned away at the door: nothing was begun."""

Act = Literal["go on", "rest", "kill", "stop", "take over", "pass", "cancel", "resume"]
ACTS = st.lists(st.tuples(st.sampled_from(get_args(Act)), st.integers(1, 12)), max_size=24)


@dataclass
class Used:
    """What agents really used, whoever heard of it, and how often they worked for each request."""

    cost: Cost = NOTHING
    worked: Counter[str] = field(default_factory=Counter[str])


class Player(ActingAgent):
    """Meets its requests in these manners in turn, however often it is asked the same."""

    def __init__(self, name: str, manners: Sequence[Manner], table: Table, used: Used) -> None:
        super().__init__(name, lambda _: None, Price(Decimal(1_000), Decimal(1_000)))
        self._manners = manners
        self._clock = table.clock
        self._used = used

    async def answer(self, request: Request) -> Answer:
        manner = self._manners[len(self.requests) % len(self._manners)]
        self.requests.append(request)
        text = _split(request) if request.office == "participant" else SYNTHESIS
        most = most_cost(self.profile, request.system, request.prompt)
        small = Cost(100, 20, self.price.of(100, 20))
        if manner not in FREE:
            self._used.cost += small if manner in ("counts", "is slow") else most
            self._used.worked[request.request_id] += 1
        match manner:
            case "is busy":
                raise AgentUnavailable("busy")
            case "refuses":
                raise AgentRejected("no")
            case "hangs up":
                raise AgentUnavailable("hung up", answered=True)
            case "breaks":
                raise RuntimeError("a bug")
            case "says nothing":
                raise AgentNonsense("nothing")
            case "hangs":
                await asyncio.Event().wait()
            case "is slow":
                await sleep_until(self._clock, self._clock.now() + timedelta(seconds=7))
            case _:
                pass
        if manner == "counts nothing":
            return Answer(text[:30], finish="length")
        cost = most if manner == "counts all" else small
        return Answer(text, Usage(cost.input_tokens, cost.output_tokens, cost.usd))


def _split(request: Request) -> str:
    return f"[STANCE: {('DISAGREE', 'AGREE', 'NEUTRAL')[request.round % 3]}]"


@dataclass
class Stage:
    """One meeting, and the processes that hold it one after the other, or at once."""

    table: Table
    id: str
    traffic: Traffic = field(default_factory=Traffic)
    lines: list[Line] = field(default_factory=list[Line])
    runs: list[asyncio.Task[Any]] = field(default_factory=list[asyncio.Task[Any]])

    def start(self) -> None:
        self.lines.append(Line(self.table.log, self.traffic))
        self.table.runner = self.table.new_runner(self.lines[-1])
        self.runs.append(asyncio.create_task(self.table.runner.advance(self.id)))

    async def state(self) -> MeetingState:
        return await self.table.log.state(self.id)

    async def do(self, act: Act, amount: int) -> None:
        match act:
            case "go on":
                await self.traffic.rest(amount)
            case "rest":
                await self.traffic.rest()
            case "kill":
                self.lines[-1].cut = True
                await self._put_down()
            case "stop":
                await self._put_down()
            case "take over":
                self.start()
            case "pass":
                self.table.clock.advance(amount)
            case "cancel":
                with suppress(YoriaiError):
                    await self.table.service.cancel(self.id, None)
            case "resume":
                with suppress(YoriaiError):
                    wish = ResumeMeeting("order", "It is different now.", {}, (), True)
                    await self.table.service.resume(self.id, wish)
        if all(run.done() for run in self.runs):
            self.start()

    async def _put_down(self) -> None:
        self.runs[-1].cancel()
        await asyncio.gather(self.runs[-1], return_exceptions=True)

    async def end(self) -> None:
        for _ in range(500):
            await self.traffic.rest()
            if (await self.state()).ended:
                break
            if all(run.done() for run in self.runs):
                self.start()
            elif self.table.clock.due is not None:
                due = self.table.clock.due - self.table.clock.now()
                self.table.clock.advance(max(0.0, due / timedelta(seconds=1)))
        for run in self.runs:
            if not run.done():
                run.cancel()
            with suppress(Superseded, LogUnavailable, asyncio.CancelledError):
                await run


LIMITS = st.sampled_from(
    (
        Limits(tokens=4_000),
        Limits(tokens=9_000),
        Limits(tokens=30_000),
        Limits(usd=Decimal(4)),
        Limits(usd=Decimal(15), tokens=12_000),
        Limits(),
    )
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that is migrated and empty."""
    folder = tmp_path_factory.mktemp("model")

    async def make() -> None:
        await Table(folder).close()

    asyncio.run(make())
    return folder / "yoriai.db"


@pytest.fixture(scope="module", autouse=True)
def _no_real_time_passes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "_GATHERING_SECONDS", 0)
        yield


@settings(
    max_examples=120,
    derandomize=True,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
@given(manners=st.tuples(MANNERS, MANNERS, MANNERS), acts=ACTS, limits=LIMITS)
def test_whatever_befalls_a_meeting_its_limit_holds(
    model: Path,
    manners: Sequence[Sequence[Manner]],
    acts: Sequence[tuple[Act, int]],
    limits: Limits,
) -> None:
    folder = model.parent / "play"
    folder.mkdir()
    shutil.copy(model, folder)
    try:
        asyncio.run(_play(folder, manners, acts, replace(limits, rounds=4)))
    finally:
        shutil.rmtree(folder)


async def _play(
    folder: Path,
    manners: Sequence[Sequence[Manner]],
    acts: Sequence[tuple[Act, int]],
    limits: Limits,
) -> None:
    table, used = Table(folder, a=_split, b=_split), Used()
    for name, each in zip(("a", "b", "secretary"), manners, strict=True):
        table.directory.agents[name] = Player(name, each, table, used)
    stage = Stage(table, (await table.open(("a", "b"), limits=limits)).meeting.id)
    stage.start()
    for act, amount in acts:
        await stage.do(act, amount)
    await stage.end()
    try:
        await _check(stage, used, limits)
    finally:
        await table.close()


async def _check(stage: Stage, used: Used, limits: Limits) -> None:
    state, log = await stage.state(), await stage.table.log.read(stage.id)
    assert state.ended
    assert state == fold(log)
    assert state.own.reserved == NOTHING
    assert state.spent.usd is not None
    assert used.cost.usd is not None
    assert state.spent.tokens >= used.cost.tokens
    assert state.spent.usd >= used.cost.usd
    # Each sending that was worked for had been weighed at its worst, beside all that went before.
    rooms = Counter(e.data["request_id"] for e in log if e.type == "request.reserved")
    assert used.worked <= rooms
    at = fold(log[:1])
    for event in log[1:]:
        at = at.after(event)
        held = at.own.spent + at.own.reserved
        assert held.usd is not None
        assert limits.tokens is None or held.tokens <= limits.tokens, event
        assert limits.usd is None or held.usd <= limits.usd, event
    booked = [Cost.read(e.data["booked"]) for e in log if e.type == "request.unanswered"]
    assert state.unconfirmed.requests == len(booked)
    assert state.unconfirmed.cost == sum(booked, NOTHING)
