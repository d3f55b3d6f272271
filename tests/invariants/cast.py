"""Who sits at the tables: agents that play the rehearsal's part, or fail to in one of many ways.

Each remembers when it was really called and what it said of being told to stop; the checks hold
that against the log.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from app.agent_kinds import AgentPrice, RehearsalSettings
from app.agents.rehearsal import RehearsalAgent
from app.coordinator.ports import AgentProfile, Answer, Request, StopState, Usage
from app.coordinator.timing import sleep_until
from app.domain.errors import AgentRefused, AgentRejected, AgentUnavailable
from app.domain.meeting.envelope import most_input_tokens
from app.domain.money import NOTHING, Cost
from tests.clock import VirtualClock

Manner = Literal[
    "plays",
    "stubborn",
    "greedy",
    "uncounted",
    "babbles",
    "slow",
    "hangs",
    "fails",
    "refuses",
    "unavailable",
    "cut off",
    "breaks",
]
"""How an agent meets a request: ``plays`` is the rehearsal's own reply, ``greedy`` the same at all
that may be spent on it, ``uncounted`` the same with nobody counting. ``cut off`` hangs up for now
in the middle of an answer, and has worked for it."""

Stopping = Literal["stopped", "unconfirmed", "acknowledged", "in a while", "breaks", "hangs"]
"""What it says when it is told to stop; ``in a while``: first acknowledged, then stopped."""

_PER_MILLION = Decimal(1_000)
"""US dollars. A token in or out costs a tenth of a cent, so that a reply is a matter of dollars."""
_SLOW_SECONDS = 4
_FIRM = "I stay against it.\n[STANCE: DISAGREE]"


@dataclass(frozen=True)
class Part:
    """The manners are taken in turn, by the count of the meeting's requests to this agent."""

    manners: tuple[Manner, ...]
    stopping: Stopping


@dataclass(frozen=True)
class Call:
    """``settled`` is the place in the log up to which everybody had heard by then, ``used`` what it
    cost in truth, whatever anybody heard of it."""

    request_id: str
    meeting_id: str
    at: datetime
    settled: int
    used: Cost


@dataclass
class Witness:
    """What the agents saw of the meetings."""

    calls: list[Call] = field(default_factory=list[Call])
    said: defaultdict[str, set[StopState]] = field(default_factory=lambda: defaultdict(set))
    """What was said of each request that was told to stop."""
    settled: int = 0


class Player:
    """Implements the port ``Agent``."""

    def __init__(self, name: str, part: Part, clock: VirtualClock, witness: Witness) -> None:
        price = AgentPrice(input_per_million=_PER_MILLION, output_per_million=_PER_MILLION)
        settings = RehearsalSettings(name=name, kind="rehearsal", price=price)
        self._rehearsal = RehearsalAgent(settings)
        self._part = part
        self._clock = clock
        self._witness = witness

    @property
    def profile(self) -> AgentProfile:
        return self._rehearsal.profile

    async def answer(self, request: Request) -> Answer:
        manner = self._part.manners[request.turn % len(self._part.manners)]
        played = await self._rehearsal.answer(request)
        now = self._note(request, self._used(request, manner, played))
        failure = _FAILURES.get(manner)
        if failure is not None:
            raise failure()
        if manner == "hangs":
            await asyncio.Event().wait()
        if manner == "slow":
            await sleep_until(self._clock, now + timedelta(seconds=_SLOW_SECONDS))
        return self._changed(request, manner, played)

    def _note(self, request: Request, used: Cost) -> datetime:
        seen, now = self._witness, self._clock.now()
        seen.calls.append(Call(request.request_id, request.meeting_id, now, seen.settled, used))
        return now

    def _used(self, request: Request, manner: Manner, played: Answer) -> Cost:
        if manner in ("fails", "refuses", "unavailable"):
            return NOTHING
        whole = manner in ("greedy", "hangs", "cut off", "breaks") or played.usage is None
        usage = self._most(request) if whole else played.usage
        assert usage is not None
        return Cost(usage.input_tokens, usage.output_tokens, usage.usd)

    def _changed(self, request: Request, manner: Manner, played: Answer) -> Answer:
        match manner:
            case "stubborn" if request.template.startswith("roundtable"):
                return replace(played, text=_FIRM)
            case "babbles":
                return replace(played, text="Well, well.")
            case "uncounted":
                return replace(played, usage=None)
            case "greedy":
                return replace(played, usage=self._most(request))
            case _:
                return played

    def _most(self, request: Request) -> Usage:
        into = most_input_tokens(request.system, request.prompt)
        out = self.profile.max_output_tokens
        price = self.profile.price
        return Usage(into, out, None if price is None else price.of(into, out))

    async def stop(self, request_id: str) -> StopState:
        says = self._part.stopping
        if says == "breaks":
            raise RuntimeError(request_id)
        if says == "hangs":
            await asyncio.Event().wait()
        said = self._witness.said[request_id]
        state = _STOPPING.get(says)
        if state is None:
            state = "stopped" if said else "acknowledged"
        said.add(state)
        return state


_FAILURES: Mapping[Manner, Callable[[], Exception]] = {
    "fails": lambda: AgentRejected("no such model"),
    "refuses": lambda: AgentRefused("I would rather not."),
    "unavailable": lambda: AgentUnavailable("too busy"),
    "cut off": lambda: AgentUnavailable("hung up", answered=True),
    "breaks": lambda: RuntimeError("a bug of the adapter"),
}
_STOPPING: Mapping[Stopping, StopState] = {
    "stopped": "stopped",
    "unconfirmed": "unconfirmed",
    "acknowledged": "acknowledged",
}
