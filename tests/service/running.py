"""The whole service under a real uvicorn, in a thread of its own, with a real database file."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

import httpx
import uvicorn

from app.main import create_app
from app.settings import Settings


class RunningService:
    """``client`` speaks to it; ``hold`` opens a meeting and waits for its end."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self._settings = Settings(
            database_url=f"sqlite+aiosqlite:///{folder / 'yoriai.db'}",
            minutes_dir=folder / "minutes",
            **settings,
        )

    def __enter__(self) -> Self:
        listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        started: Future[uvicorn.Server] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(listening, started)), name="service"
        )
        self._thread.start()
        self._server = started.result(20)
        self.client = httpx.Client(base_url=self.url, timeout=60, trust_env=False)
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()
        self._loop.call_soon_threadsafe(self._app.state.services.shutdown.set)
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive(), "the service did not end"

    async def _serve(self, listening: socket.socket, started: Future[uvicorn.Server]) -> None:
        self._loop = asyncio.get_running_loop()
        self._app = create_app(self._settings)
        config = uvicorn.Config(self._app, log_config=None, timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        server.config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=[listening])
        started.set_result(server)
        # Not serve(): that would take over this process' signals.
        await server.main_loop()
        await server.shutdown(sockets=[listening])

    def agent(self, name: str, **settings: Any) -> None:
        """Store an agent; a rehearsal unless another kind is given."""
        body = {"name": name, "kind": "rehearsal", **settings}
        self.client.put(f"/v1/agents/{name}", json=body).raise_for_status()

    def scripted(self, **scripts: list[str]) -> list[dict[str, str]]:
        """Store a scripted agent for each and give their seats."""
        for name, script in scripts.items():
            self.agent(name, script=script)
        return [{"name": name, "agent": name} for name in scripts]

    def open(self, headers: Mapping[str, str] | None = None, **wish: Any) -> dict[str, Any]:
        answer = self.client.post("/v1/meetings", json=wish, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def hold(self, **wish: Any) -> dict[str, Any]:
        """The resource of a meeting that has ended."""
        meeting = self.open({"Prefer": "wait=60"}, **wish)
        assert meeting["status"] == "ended", meeting
        return meeting

    def events(self, meeting_id: str, after: int = 0) -> list[dict[str, Any]]:
        """The events as they are streamed, to the end of the stream."""
        path = f"/v1/meetings/{meeting_id}/events"
        with self.client.stream("GET", path, params={"after": after}) as stream:
            lines = [line for line in stream.iter_lines() if line.startswith("data: ")]
        return [json.loads(line.removeprefix("data: ")) for line in lines]

    def text(self, path: str, accept: str) -> str:
        answer = self.client.get(path, headers={"Accept": accept})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith(accept)
        return answer.text
