"""The way to the database, watched: so that a test can tell when everything has come to rest, and
take the database away from one process in the middle of its work."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from app.coordinator.ports import Idempotency
from app.domain.errors import LogUnavailable
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.state import MeetingState
from app.store.log import SqlEventLog

_T = TypeVar("_T")

_QUIET_PASSES = 40
"""Turns of the event loop without any call: more than any chain of our tasks takes to make one."""

_RESTLESS_CALLS = 5_000
"""More than any meeting here makes without the clock."""


class Traffic:
    """The calls that are under way, of all processes."""

    def __init__(self) -> None:
        self.returned = 0
        self._under_way = 0
        self._back = asyncio.Event()

    def start(self, call: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        self._under_way += 1
        task = asyncio.get_running_loop().create_task(call)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled():
            # Whoever wanted to know may be dead by now.
            task.exception()
        self._under_way -= 1
        self.returned += 1
        self._back.set()
        self._back = asyncio.Event()

    async def rest(self, most_calls: int | None = None) -> None:
        """Return once nothing is under way and nothing will be by itself, or after so many."""
        until = self.returned + (_RESTLESS_CALLS if most_calls is None else most_calls)
        quiet = 0
        while quiet < _QUIET_PASSES and self.returned < until:
            if self._under_way:
                quiet = 0
                await self._back.wait()
            else:
                quiet += 1
                await asyncio.sleep(0)
        if most_calls is None and quiet < _QUIET_PASSES:
            raise AssertionError(f"no rest after {_RESTLESS_CALLS} calls: somebody goes in circles")


class Line:
    """One process's way to the log. After ``cut`` nothing goes out, and nobody hears what comes
    back of what had gone out before."""

    def __init__(self, log: SqlEventLog, traffic: Traffic) -> None:
        self._log = log
        self._traffic = traffic
        self.cut = False

    async def append(
        self,
        meeting_id: str,
        expected: int,
        entries: Sequence[Entry],
        idempotency: Idempotency | None = None,
    ) -> Sequence[Event]:
        return await self._through(self._log.append(meeting_id, expected, entries, idempotency))

    async def read(self, meeting_id: str, after: int = 0) -> Sequence[Event]:
        return await self._through(self._log.read(meeting_id, after))

    async def state(self, meeting_id: str) -> MeetingState:
        return await self._through(self._log.state(meeting_id))

    async def unfinished(self) -> Sequence[str]:
        return await self._through(self._log.unfinished())

    async def _through(self, call: Coroutine[Any, Any, _T]) -> _T:
        if self.cut:
            call.close()
            raise LogUnavailable("the process has been killed")
        result = await asyncio.shield(self._traffic.start(call))
        if self.cut:
            raise LogUnavailable("the process has been killed")
        return result
