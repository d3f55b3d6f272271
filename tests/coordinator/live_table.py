"""A table whose meetings are advanced by themselves, as in the service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from app.coordinator.ports import Answer, Request, Usage
from app.dispatch.embedded import EmbeddedDispatch
from app.domain.meeting.entries import Event
from tests.coordinator.table import ActingAgent, Behaviour, Table

Opens = Callable[[Request], Awaitable[str]]


class LiveTable(Table):
    """Whoever is woken is taken as far as it goes; only the clock is moved by hand."""

    def __init__(self, folder: Path, **behaviours: Behaviour) -> None:
        super().__init__(folder, **behaviours)
        self.dispatch = EmbeddedDispatch(self.clock, self._advance, self._hear)

    # Looked up at the time, so that a test can have another runner take over.
    async def _advance(self, meeting_id: str) -> datetime | None:
        return await self.runner.advance(meeting_id)

    def _hear(self, meeting_id: str) -> None:
        self.runner.hear(meeting_id)

    def wake(self, meeting_id: str, at: datetime | None = None) -> None:
        self.woken.append(meeting_id)
        self.dispatch.wake(meeting_id, at)

    async def close(self) -> None:
        await self.dispatch.close()
        await super().close()

    async def end(self, meeting_id: str) -> list[Event]:
        """The meeting's public events, once it has ended by itself."""
        await self.service.ended(meeting_id)
        return await self.events(meeting_id)

    async def opened(self, **fields: Any) -> str:
        return (await self.open(**fields)).meeting.id


class ConveningAgent(ActingAgent):
    """An agent that does something asynchronous, such as holding a meeting, before it replies."""

    def __init__(self, name: str, convene: Opens) -> None:
        super().__init__(name, lambda request: None)
        self._convene = convene

    async def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        self.asked.set()
        return Answer(await self._convene(request), Usage(100, 20, self.price.of(100, 20)))
