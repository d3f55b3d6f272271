"""The load's own HTTP client: as little work as possible, so that it is the service that is timed.

It knows only what this service answers: a body with a length, or an event stream in chunks.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

_CHUNK = 1 << 16
_LAST_CHUNK = b"0\r\n\r\n"


class RequestFailed(Exception):
    """The service answered with an error; a figure would mean nothing."""


class Connection:
    """One kept-alive connection; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, host: str, port: int) -> Connection:
        return cls(*await asyncio.open_connection(host, port))

    def close(self) -> None:
        self._writer.close()

    async def get(self, path: str) -> bytes:
        self._writer.write(request_head("GET", path) + b"\r\n")
        return await self._body()

    async def post(self, path: str, content: Any) -> bytes:
        body = json.dumps(content).encode()
        head = request_head("POST", path)
        length = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        self._writer.write(head + length + body)
        return await self._body()

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """An event stream as it comes over the wire, marks of chunks and all, to its end."""
        self._writer.write(request_head("GET", path) + b"\r\n")
        await self._head()
        while True:
            piece = await self._reader.read(_CHUNK)
            if not piece:
                raise RequestFailed(f"GET {path}: the stream broke off.")
            yield piece
            if piece.endswith(_LAST_CHUNK):
                return

    async def _body(self) -> bytes:
        head = await self._head()
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        return await self._reader.readexactly(int(length))

    async def _head(self) -> bytes:
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError("The connection was closed before an answer.") from error
        status = int(head.split(b" ", 2)[1])
        if status >= 400:
            raise RequestFailed(head.decode() + (await self._reader.read(_CHUNK)).decode())
        return head


def request_head(method: str, path: str) -> bytes:
    """A request's first lines, the empty one that ends them not included."""
    return f"{method} {path} HTTP/1.1\r\nHost: benchmarks\r\n".encode()


def event_in(line: bytes) -> dict[str, Any] | None:
    """The event that a line of a stream holds, if it is one with data."""
    return json.loads(line[6:]) if line.startswith(b"data: ") else None


async def events(connection: Connection, path: str) -> AsyncIterator[dict[str, Any]]:
    """The events of a stream, decoded; only for where decoding is no part of what is timed."""
    rest = b""
    async for piece in connection.stream(path):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            event = event_in(line)
            if event is not None:
                yield event
