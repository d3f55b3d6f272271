"""Server-sent events, from frames that are encoded already.

sse-starlette's response is made for a generator of events: for each chunk it opens a cancel
scope, and each connection costs it a task group. With a thousand readers of one meeting that
is too much of the cost, so this is a small response of our own. Keeping a slow reader's time and
pinging are left to one pulse per connection, and a chunk costs no more than its ``send``. The
figures of both are in ``docs/decisions/0005-streams.md``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from fastapi import Response
from starlette.types import Receive, Scope, Send

EVENT_STREAM = "text/event-stream"
RETRY = b"retry: 2000\n\n"
PING = b": ping\n\n"
_END = {"type": "http.response.body", "body": b"", "more_body": False}

_PULSES_PER_PING = 3


_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Vary": "Accept"}


class EventStream(Response):
    """Passes frames on until they end, the reader goes or stops reading, or the process ends.

    A reader that takes nothing for ``send_seconds`` is cut off: its end of the stream is never
    marked as complete, so it comes back with its last id.
    """

    media_type = EVENT_STREAM

    def __init__(
        self,
        frames: AsyncIterator[bytes],
        shutdown: asyncio.Event,
        *,
        ping_seconds: float = 15.0,
        send_seconds: float = 20.0,
    ) -> None:
        # The base class' own would announce a content length.
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers(_HEADERS)
        self._frames = frames
        self._shutdown = shutdown
        self._ping_seconds = ping_seconds
        self._send_seconds = send_seconds
        self._sending_since: float | None = None
        self._pinging = False

    def init_headers(self, headers: Any = None) -> None:
        super().init_headers(headers)
        self.raw_headers = [header for header in self.raw_headers if header[0] != b"content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        delivery = _task(self._deliver(send))
        pulse = _task(self._beat(send))
        others = (pulse, _task(_gone(receive)), _task(self._shutdown.wait()))
        try:
            await asyncio.wait((delivery, *others), return_when=asyncio.FIRST_COMPLETED)
            # A reader that takes nothing would hold the end of the process up.
            cut_off = pulse.done() or self._pinging or self._sending_since is not None
        finally:
            await _cancelled(delivery, *others)
        if delivery.done() and not delivery.cancelled():
            delivery.result()
        if not cut_off:
            await send(_END)

    async def _deliver(self, send: Send) -> None:
        loop = asyncio.get_running_loop()
        await send({"type": "http.response.body", "body": RETRY, "more_body": True})
        async for frames in self._frames:
            self._sending_since = loop.time()
            await send({"type": "http.response.body", "body": frames, "more_body": True})
            self._sending_since = None
        # The end is watched like the rest, for a reader may have stopped just before it; the time
        # stays noted, so that it is not sent twice.
        self._sending_since = loop.time()
        await send(_END)

    async def _beat(self, send: Send) -> None:
        """Send the regular comment; come back when the reader has stopped reading."""
        loop = asyncio.get_running_loop()
        next_ping = loop.time() + self._ping_seconds
        while True:
            await asyncio.sleep(self._ping_seconds / _PULSES_PER_PING)
            now = loop.time()
            since = self._sending_since
            if since is not None and now - since >= self._send_seconds:
                return
            if since is None and now >= next_ping:
                next_ping = now + self._ping_seconds
                if not await self._pinged_in_time(send):
                    return

    async def _pinged_in_time(self, send: Send) -> bool:
        self._pinging = True
        try:
            async with asyncio.timeout(self._send_seconds):
                await send({"type": "http.response.body", "body": PING, "more_body": True})
        except TimeoutError:
            return False
        self._pinging = False
        return True


def _task(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    return asyncio.get_running_loop().create_task(work)


async def _gone(receive: Receive) -> None:
    """Come back when the reader has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cancelled(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
