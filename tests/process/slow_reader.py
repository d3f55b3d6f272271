"""A reader of a stream that stops reading, and a meeting with enough to say to fill its pipe."""

from __future__ import annotations

import asyncio
import socket
from types import TracebackType

from tests.process.service import Reader, Service

_SEATS = 20
_ROUNDS = 20
_TEXTS = [f"{'会議' * 9_900} [STANCE: {stance}]" for stance in ("AGREE", "DISAGREE", "NEUTRAL")]
SENT_BYTES = _SEATS * _ROUNDS * len(_TEXTS[0].encode())
"""What the stream of the big meeting has at least: some 24 MB, far more than sockets hold."""


async def big_meeting(service: Service) -> str:
    """A meeting, ended, whose replies are as long as they may be."""
    for turn in range(len(_TEXTS)):
        await service.agent(f"big{turn}", script=_TEXTS[turn:] + _TEXTS[:turn])
    id_ = await service.open(
        topic="How much can be said?",
        participants=[{"name": f"p{n}", "agent": f"big{n % len(_TEXTS)}"} for n in range(_SEATS)],
        limits={"rounds": _ROUNDS, "no_progress_rounds": 1000},
    )
    await Reader(id_).read(service)
    return id_


class SlowReader:
    """Takes the beginning of a stream, and then nothing until it is told to go on."""

    def __init__(self, port: int, path: str) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.setblocking(False)
        self._port = port
        self._path = path

    def __enter__(self) -> SlowReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._socket.close()

    async def begin(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.sock_connect(self._socket, ("127.0.0.1", self._port))
        await loop.sock_sendall(
            self._socket, f"GET {self._path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        )
        assert (await loop.sock_recv(self._socket, 1024)).startswith(b"HTTP/1.1 200 OK\r\n")

    async def rest(self) -> bytes:
        """Everything that still comes."""
        loop = asyncio.get_running_loop()
        pieces: list[bytes] = []
        while True:
            try:
                piece = await loop.sock_recv(self._socket, 1 << 20)
            except ConnectionResetError:
                break
            if not piece:
                break
            pieces.append(piece)
        return b"".join(pieces)
