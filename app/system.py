"""What comes from the machine: the time and new ids."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 80


class SystemClock:
    """The port ``Clock``, on the running event loop."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def call_at(self, at: datetime, callback: Callable[[], object]) -> asyncio.TimerHandle:
        delay = max(0.0, (at - self.now()).total_seconds())
        return asyncio.get_running_loop().call_later(delay, callback)


class SortableIds:
    """Ids that sort by the time at which they were made, in the manner of ULID.

    Within one millisecond the random part only counts up, so that order holds there too.
    """

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def __call__(self) -> str:
        stamp = time.time_ns() // 1_000_000
        fresh = (stamp << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
        with self._lock:
            if fresh >> _RANDOM_BITS <= self._last >> _RANDOM_BITS:
                fresh = self._last + 1
            self._last = fresh
        return _base32(fresh)


def _base32(number: int) -> str:
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))
