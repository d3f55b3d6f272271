"""Runs meetings as tasks of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog

from app.coordinator.ports import Clock, Timer
from app.domain.errors import LogUnavailable, Superseded, Unreplayable

_RETRY_SECONDS = 5.0

_log = structlog.get_logger(__name__)


class EmbeddedDispatch:
    """Implements the port ``Dispatch``.

    ``advance`` takes a meeting as far as it goes and says when to go on, if ever; ``hear``
    passes a hint to one that is at work.
    """

    def __init__(
        self,
        clock: Clock,
        advance: Callable[[str], Awaitable[datetime | None]],
        hear: Callable[[str], None],
    ) -> None:
        self._clock = clock
        self._advance = advance
        self._hear = hear
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._timers: dict[str, Timer] = {}
        self._called: set[str] = set()
        self._closed = False

    def wake(self, meeting_id: str, at: datetime | None = None) -> None:
        self._forget_timer(meeting_id)
        if self._closed:
            return
        if at is not None:
            self._timers[meeting_id] = self._clock.call_at(at, lambda: self.wake(meeting_id))
        elif meeting_id in self._tasks:
            # It may be reading its log just now, or about to pause: then it is looked at again.
            self._called.add(meeting_id)
            self._hear(meeting_id)
        else:
            task = asyncio.get_running_loop().create_task(self._work(meeting_id))
            self._tasks[meeting_id] = task

    async def close(self) -> None:
        """Put the meetings down where they are; the next start takes them up again."""
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _work(self, meeting_id: str) -> None:
        later: datetime | None = None
        try:
            later = await self._advance(meeting_id)
        except Superseded as fence:
            _log.warning("meeting.superseded", meeting_id=meeting_id, reason=fence.message)
        except Unreplayable as stuck:
            _log.error(
                "meeting.parked", meeting_id=meeting_id, reason=stuck.reason, detail=stuck.message
            )
        except LogUnavailable as outage:
            _log.error("meeting.interrupted", meeting_id=meeting_id, reason=outage.message)
            later = self._clock.now() + timedelta(seconds=_RETRY_SECONDS)
        except Exception:
            # The runner has brought the meeting to an end; here the fault reaches the operator.
            _log.exception("meeting.fault", meeting_id=meeting_id)
        finally:
            del self._tasks[meeting_id]
            called = meeting_id in self._called
            self._called.discard(meeting_id)
        if called:
            # Also after an end: it may have been resumed while its last words were written.
            self.wake(meeting_id)
        elif later is not None:
            self.wake(meeting_id, later)

    def _forget_timer(self, meeting_id: str) -> None:
        timer = self._timers.pop(meeting_id, None)
        if timer is not None:
            timer.cancel()
