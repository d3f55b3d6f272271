"""A clock that stands still until a test moves it."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


class _Timer:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class VirtualClock:
    """The port ``Clock``; ``advance`` fires what falls due, in order, each at its own time."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._timers: list[tuple[datetime, int, _Timer]] = []
        self._order = itertools.count()

    def now(self) -> datetime:
        return self._now

    def call_at(self, at: datetime, callback: Callable[[], object]) -> _Timer:
        timer = _Timer(callback)
        heapq.heappush(self._timers, (at, next(self._order), timer))
        return timer

    @property
    def due(self) -> datetime | None:
        """When the next thing falls due; before that, moving the clock moves nothing."""
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def advance(self, seconds: float) -> None:
        until = self._now + timedelta(seconds=seconds)
        while self._timers and self._timers[0][0] <= until:
            at, _, timer = heapq.heappop(self._timers)
            self._now = max(self._now, at)
            if timer.callback is not None:
                timer.callback()
        self._now = until
