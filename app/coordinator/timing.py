"""Limits of time that come from the clock port, so that a test's clock rules them too."""

from __future__ import annotations

import asyncio
from datetime import datetime
from types import TracebackType

from app.coordinator.ports import Clock, Timer


class TimeLimit:
    """Cancels the block it guards at a given moment; ``expired`` tells that from any other cancel.

    Leaving the block through its own cancellation raises ``TimeoutError``, as
    ``asyncio.timeout_at`` does.
    """

    def __init__(self, clock: Clock, at: datetime) -> None:
        self._clock = clock
        self._at = at
        self._timer: Timer | None = None
        self.expired = False

    async def __aenter__(self) -> TimeLimit:
        task = asyncio.current_task()
        self._timer = self._clock.call_at(self._at, lambda: self._expire(task))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        task = asyncio.current_task()
        if not self.expired or task is None:
            return
        # Somebody else may have cancelled the task as well; then that cancel goes on.
        if task.uncancel() == 0 and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _expire(self, task: asyncio.Task[object] | None) -> None:
        self.expired = True
        if task is not None:
            task.cancel()


async def sleep_until(clock: Clock, at: datetime) -> None:
    woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    timer = clock.call_at(at, lambda: woken.done() or woken.set_result(None))
    try:
        await woken
    finally:
        timer.cancel()
