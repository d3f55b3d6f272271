"""The edge over its real parts, served by a real uvicorn in a thread of its own.

In-process transports wait for the end of a response, and a stream has none.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from app.api.application import create_api
from tests.api.parts import Parts

_T = TypeVar("_T")


class Served:
    """A running server; ``do`` runs something on its loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready: Future[Parts] = Future()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._thread.start()
        self.parts = self._ready.result(10)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        parts = Parts(self._folder)
        config = uvicorn.Config(
            create_api(parts.services),
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=2,
            lifespan="off",
        )
        self._server = uvicorn.Server(config)
        self._ready.set_result(parts)
        # Not serve(): that would take over this process' signals.
        await self._server._serve([self._socket])
        await parts.close()

    def do(self, work: Callable[..., Awaitable[_T]], *arguments: Any) -> _T:
        async def on_loop() -> _T:
            return await work(*arguments)

        return asyncio.run_coroutine_threadsafe(on_loop(), self._loop).result(10)

    def stop(self) -> None:
        """As SIGTERM would: streams are told first, then the server waits for what is open."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self.parts.shutdown.set)
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()
