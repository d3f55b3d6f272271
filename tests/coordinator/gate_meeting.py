"""Councils whose members answer as they are told, advanced as a dispatcher would do it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from app.coordinator.ports import Answer, EventLog, Request, Usage
from app.coordinator.runner import Runner
from app.coordinator.timing import sleep_until
from app.dispatch.embedded import EmbeddedDispatch
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import CompletionGate
from tests.clock import START
from tests.coordinator.table import SYNTHESIS, ActingAgent, Behaviour, Table, of_type

COMPLETE = '{"completion": "complete", "reason": ""}'
COSTS = '{"completion": "needs_revision", "reason": "It leaves out the costs."}'
REVISED = SYNTHESIS.replace("Try one repository.", "Try one repository, at 3,000 a year.")

Said = str | tuple[float, str] | None
"""An answer to the closing question: at once, after so many seconds, or never."""


def member(*said: Said) -> Behaviour:
    """Answers and ranks; the closing question is answered by these in turn, the last for ever."""
    asked: dict[str, int] = {}

    def behave(request: Request) -> Any:
        if request.template == "council/answer":
            return f"{request.who} would try it for a quarter."
        if request.template == "council/rank":
            letters = [f'"{answer["letter"]}"' for answer in request.variables["answers"]]
            return f'{{"ranking": [{", ".join(letters)}], "rationale": "as they come"}}'
        # The same request gets the same answer, however often it is sent.
        number = asked.setdefault(request.request_id, len(asked))
        return said[min(number, len(said) - 1)]

    return behave


def chair(request: Request) -> str:
    return REVISED if request.variables["reasons"] else SYNTHESIS


class _TimedAgent(ActingAgent):
    """One that can take its time, by the test's clock."""

    def __init__(self, held: Table, name: str, behave: Behaviour) -> None:
        super().__init__(name, behave)
        self._held = held

    async def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        self.asked.set()
        said: Any = self.behave(request)
        if said is None:
            await asyncio.Event().wait()
        if isinstance(said, tuple):
            seconds, said = said
            await sleep_until(self._held.clock, self._held.clock.now() + timedelta(seconds=seconds))
        return Answer(str(said), Usage(100, 20, self.price.of(100, 20)))


class GateMeeting:
    """One council over a real log. Moments are seconds from the start of the clock."""

    def __init__(self, held: Table, id_: str) -> None:
        self.held = held
        self.id = id_
        self.pauses: list[datetime | None] = []
        self.dispatch = self._dispatch(held.runner)
        self.dispatch.wake(id_)

    @classmethod
    async def open(
        cls, held: Table, members: Mapping[str, Behaviour], **fields: Any
    ) -> GateMeeting:
        for name, behave in members.items():
            held.agents[name] = held.directory.agents[name] = _TimedAgent(held, name, behave)
        held.agents["secretary"].behave = chair
        wish = {"format": "council", "completion_gate": CompletionGate(), **fields}
        state = await held.open(**wish)
        return cls(held, state.meeting.id)

    def _dispatch(self, runner: Runner) -> EmbeddedDispatch:
        async def advance(meeting_id: str) -> datetime | None:
            self.pauses.append(await runner.advance(meeting_id))
            return self.pauses[-1]

        return EmbeddedDispatch(self.held.clock, advance, runner.hear)

    async def restart(self, down: float = 0, log: EventLog | None = None) -> None:
        """The process is killed, so many seconds pass, and another one takes the meeting up."""
        await self.dispatch.close()
        self.held.clock.advance(down)
        self.dispatch = self._dispatch(self.held.new_runner(log or self.held.log))
        self.dispatch.wake(self.id)

    async def at(self, seconds: float) -> None:
        """Move the clock on to this moment."""
        past = (self.held.clock.now() - START).total_seconds()
        self.held.clock.advance(seconds - past)

    async def log(self) -> list[Event]:
        return list(await self.held.log.read(self.id))

    async def told(self, type_: str) -> list[Event]:
        return of_type(await self.log(), type_)

    async def moments(self, type_: str) -> list[float]:
        return [(event.at - START).total_seconds() for event in await self.told(type_)]

    async def until(self, type_: str, count: int = 1) -> list[Event]:
        """Wait until so many events of this type are in the log."""

        async def there() -> bool:
            return len(await self.told(type_)) >= count

        await _until(there)
        return await self.told(type_)

    async def paused(self, times: int = 1) -> datetime | None:
        """Wait until the run has stopped so often, and say when it wants to go on."""

        async def there() -> bool:
            return len(self.pauses) >= times

        await _until(there)
        return self.pauses[-1]

    async def waits_until(self, seconds: float) -> None:
        """Wait until nothing more can happen before this moment."""

        async def there() -> bool:
            return self.held.clock.due == moment(seconds)

        await _until(there)

    async def asked(self, name: str, times: int) -> Request:
        """Wait until a member has got so many closing questions; the last of them."""
        agent = self.held.agents[name]

        def closing() -> list[Request]:
            return [r for r in agent.requests if r.template == "gate/confirm"]

        async def there() -> bool:
            return len(closing()) >= times

        await _until(there)
        return closing()[-1]

    async def ended(self) -> Mapping[str, Any]:
        (event,) = await self.until("meeting.ended")
        return event.data["outcome"]


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await condition():  # noqa: ASYNC110 (the log is read, and tells nobody)
            await asyncio.sleep(0.002)


def moment(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)
