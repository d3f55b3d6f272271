"""A way to a log that a test can step into: it passes everything on, and its kinds do more."""

from __future__ import annotations

from collections.abc import Sequence

from app.coordinator.ports import EventLog, Idempotency
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.state import MeetingState


class LogRelay:
    """The port ``EventLog`` over another one."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    async def append(
        self,
        meeting_id: str,
        expected: int,
        entries: Sequence[Entry],
        idempotency: Idempotency | None = None,
    ) -> Sequence[Event]:
        return await self._log.append(meeting_id, expected, entries, idempotency)

    async def read(self, meeting_id: str, after: int = 0) -> Sequence[Event]:
        return await self._log.read(meeting_id, after)

    async def state(self, meeting_id: str) -> MeetingState:
        return await self._log.state(meeting_id)

    async def unfinished(self) -> Sequence[str]:
        return await self._log.unfinished()
