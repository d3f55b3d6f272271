"""A stand-in for a place where deliverables are saved: a real HTTP server on loopback, in a thread.

It stores what is PUT and gives it back, honours ``If-None-Match: *``, and misbehaves on request.
Each request takes the next ``Put`` or ``Get`` that was scripted for its method; the last one stays,
and without a script it behaves.

    with Destination() as destination:
        destination.on_put(Put.lost(stores=True), Put())
        destination.on_get(Get(digest="sha-256=:…:"))
        ... save to destination.url ...
        assert [asked.method for asked in destination.requests] == ["PUT", "GET"]

Everything public may be used from any thread.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self, TypeVar

from aiohttp import web

from tests.provider import Gate

_PATIENCE_SECONDS = 20.0  # for what must happen, before the test fails
_Scripted = TypeVar("_Scripted")
PLACE = "/decisions/monorepo.md"


def digest_header(content: bytes) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(content).digest()).decode()}:"


@dataclass(frozen=True)
class Put:
    """What becomes of one PUT. By default it is stored and answered with 201.

    ``gate`` is waited for before anything is done, ``late`` after the answer and before storing.
    """

    status_: int = 201
    stores: bool = True
    instead: bytes | None = None  # this is stored in place of what was sent
    answers: bool = True  # else the connection is cut
    headers: Mapping[str, str] = field(default_factory=dict)
    gate: Gate | None = None
    late: Gate | None = None

    @classmethod
    def status(cls, status: int, **headers: str) -> Put:
        """Not stored; headers by name with underscores (``retry_after="2"``)."""
        return cls(status, stores=False, headers=_named(headers))

    @classmethod
    def lost(cls, *, stores: bool, late: Gate | None = None) -> Put:
        """The connection is cut in place of an answer."""
        return cls(stores=stores, answers=False, late=late)


@dataclass(frozen=True)
class Get:
    """What becomes of one GET. By default what is stored comes back, with its digest and ETag."""

    status_: int = 200
    digest: str | None = None  # in place of the true one; empty: none at all
    instead: bytes | None = None  # in place of what is stored
    headers: Mapping[str, str] = field(default_factory=dict)
    gate: Gate | None = None  # waited for before anything is sent
    cut: bool = False  # the connection is cut after half of the body
    compressed: bool = False  # sent as gzip, though nobody asked for it
    tagged: bool = True  # with an ETag

    @classmethod
    def status(cls, status: int, **headers: str) -> Get:
        return cls(status, headers=_named(headers))


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Destination:
    """The running stand-in; a context manager."""

    def __init__(self) -> None:
        self._puts: deque[Put] = deque()
        self._gets: deque[Get] = deque()
        self._stored: dict[str, bytes] = {}
        self._asked: list[Asked] = []
        self._storing_later: set[asyncio.Task[None]] = set()
        self._changed = threading.Condition()
        self._started = threading.Event()
        self._stopping: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        """Where to save; its host is an address of loopback."""
        return f"http://127.0.0.1:{self.port}{PLACE}"

    def on_put(self, *puts: Put) -> None:
        """From now on let this become of PUTs, in turn, and the last one of all after it."""
        with self._changed:
            self._puts = deque(puts)

    def on_get(self, *gets: Get) -> None:
        with self._changed:
            self._gets = deque(gets)

    def holds(self, content: bytes | None, path: str = PLACE) -> None:
        """Put this there behind everybody's back; None: take away what is there."""
        with self._changed:
            self._stored.pop(path, None)
            if content is not None:
                self._stored[path] = content

    def stored(self, path: str = PLACE) -> bytes | None:
        with self._changed:
            return self._stored.get(path)

    async def requests_arrived(self, count: int) -> None:
        """Returns once so many requests have come in."""
        await asyncio.to_thread(self._wait_for, lambda: len(self._asked) >= count)

    async def comes_to_hold(self, content: bytes, path: str = PLACE) -> None:
        """Returns once this is stored."""
        await asyncio.to_thread(self._wait_for, lambda: self._stored.get(path) == content)

    def _wait_for(self, happened: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(happened, timeout=_PATIENCE_SECONDS), "it never happened"

    @property
    def requests(self) -> list[Asked]:
        with self._changed:
            return list(self._asked)

    @property
    def methods(self) -> list[str]:
        return [asked.method for asked in self.requests]

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(_PATIENCE_SECONDS), "the destination did not start"
        return self

    def __exit__(self, *error: object) -> None:
        assert self._loop is not None
        assert self._stopping is not None
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(_PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "the destination did not stop"

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        application = web.Application(client_max_size=64 * 1024 * 1024)
        application.router.add_route("PUT", "/{path:.*}", self._put)
        application.router.add_get("/{path:.*}", self._get, allow_head=False)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        self._started.set()
        await self._stopping.wait()
        for task in self._storing_later:
            task.cancel()
        await runner.cleanup()

    async def _noted(self, request: web.Request) -> Asked:
        asked = Asked(request.method, request.path, request.headers.copy(), await request.read())
        with self._changed:
            self._asked.append(asked)
            self._changed.notify_all()
        return asked

    async def _put(self, request: web.Request) -> web.StreamResponse:
        asked = await self._noted(request)
        with self._changed:
            put = _next(self._puts, Put())
        if put.gate is not None:
            await put.gate.passed()
        content = asked.body if put.instead is None else put.instead
        status = put.status_
        if asked.headers.get("If-None-Match") == "*" and self.stored(asked.path) is not None:
            status = 412
        elif put.stores and put.late is None:
            self._store(asked.path, content)
        elif put.stores and put.late is not None:
            task = asyncio.create_task(self._store_later(put.late, asked.path, content))
            self._storing_later.add(task)
            task.add_done_callback(self._storing_later.discard)
        if not put.answers and request.transport is not None:
            request.transport.abort()
        return web.Response(status=status, headers=put.headers)

    def _store(self, path: str, content: bytes) -> None:
        with self._changed:
            self._stored[path] = content
            self._changed.notify_all()

    async def _store_later(self, gate: Gate, path: str, content: bytes) -> None:
        await gate.passed()
        self._store(path, content)

    async def _get(self, request: web.Request) -> web.StreamResponse:
        asked = await self._noted(request)
        with self._changed:
            get = _next(self._gets, Get())
        if get.gate is not None:
            await get.gate.passed()
        content = self.stored(asked.path) if get.instead is None else get.instead
        if get.status_ != 200 or content is None:
            status = 404 if get.status_ == 200 else get.status_
            return web.Response(status=status, headers=get.headers)
        return await self._send(request, get, content)

    async def _send(self, request: web.Request, get: Get, content: bytes) -> web.StreamResponse:
        headers = {"Content-Type": "text/markdown; charset=utf-8", **get.headers}
        digest = digest_header(content) if get.digest is None else get.digest
        if digest:
            headers["Content-Digest"] = digest
        if get.tagged:
            headers["ETag"] = etag_of(content)
        if get.compressed:
            content = gzip.compress(content)
            headers["Content-Encoding"] = "gzip"
        response = web.StreamResponse(status=get.status_, headers=headers)
        response.content_length = len(content)
        await response.prepare(request)
        half = len(content) // 2
        await response.write(content[:half])
        if get.cut and request.transport is not None:
            request.transport.abort()
            return response
        await response.write(content[half:])
        return response


def etag_of(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:16]}"'


def _next(scripted: deque[_Scripted], otherwise: _Scripted) -> _Scripted:
    if not scripted:
        return otherwise
    return scripted.popleft() if len(scripted) > 1 else scripted[0]
