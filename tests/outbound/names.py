"""A resolver that answers as it was told, and a server that only counts who comes."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp.abc import AbstractResolver, ResolveResult


class Names(AbstractResolver):
    """Gives the addresses in turn, whatever the name, and the last ones ever after."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = deque(answers)
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        self.asked.append(host)
        if not self._answers:
            raise OSError(None, "no such name")
        found = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in found
        ]

    async def close(self) -> None:
        pass


@dataclass
class Door:
    """``said`` is the first that each visitor sent, up to the moment the door was shut on it."""

    port: int = 0
    said: list[bytes] = field(default_factory=list)


@asynccontextmanager
async def open_door() -> AsyncIterator[Door]:
    """A server on loopback that reads a little and hangs up."""
    door = Door()

    async def visited(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        door.said.append(await reader.read(4096))
        writer.close()

    server = await asyncio.start_server(visited, "127.0.0.1", 0)
    door.port = server.sockets[0].getsockname()[1]
    async with server:
        yield door
