"""The real service as a process of its own, and callers that see only what it sends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from tests.store.meetings import Sent, read_stream

ROOT = Path(__file__).parents[2]
_END_OF_EVENT = b"\n\n"


def command(*arguments: str, module: str = "app") -> list[str]:
    return [sys.executable, "-m", module, *arguments]


def environment(**settings: str) -> dict[str, str]:
    """This process' environment without any setting or key of the service's, and with these."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("YORIAI_", "ANTHROPIC_", "OPENAI_"))
    }
    named = {f"YORIAI_{name.upper()}": value for name, value in settings.items()}
    return {**kept, "PYTHONPATH": str(ROOT), **named}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Service:
    """``yoriai serve`` on a folder; it can be ended and started again on the same files.

    ``module`` is what is run: another one may bring formats along, and ``beside`` are variables of
    its own.
    """

    def __init__(
        self,
        folder: Path,
        module: str = "app",
        beside: Mapping[str, str] | None = None,
        **settings: str,
    ) -> None:
        self.module = module
        self.beside = dict(beside or {})
        self.folder = folder
        self.database = folder / "data" / "yoriai.db"
        self.minutes = folder / "data" / "minutes"
        self.port = 0
        self.errors = b""
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._client: httpx.AsyncClient | None = None
        self._reading: asyncio.Task[None] | None = None
        self._said = asyncio.Condition()

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process

    @property
    def client(self) -> httpx.AsyncClient:
        assert self._client is not None
        return self._client

    async def start(self) -> None:
        self.port = free_port()
        self.errors = b""
        self._process = await asyncio.create_subprocess_exec(
            *command("serve", "--port", str(self.port), module=self.module),
            cwd=self.folder,
            env=environment(**self._settings) | self.beside,
            stderr=asyncio.subprocess.PIPE,
        )
        self._reading = asyncio.create_task(self._read_errors())
        base = f"http://127.0.0.1:{self.port}"
        self._client = httpx.AsyncClient(base_url=base, timeout=None, trust_env=False)  # noqa: S113
        while True:
            assert self.process.returncode is None, self.errors.decode()
            try:
                if (await self.client.get("/readyz")).is_success:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.01)

    async def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        assert await self._gone() == -signal.SIGKILL

    async def terminate(self) -> int:
        """Ask it to end, as an operator would, and give its exit code."""
        self.process.terminate()
        return await self._gone()

    async def close(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._gone()

    async def until_said(self, words: bytes, times: int) -> None:
        """Wait until this stands so many times on its standard error."""
        async with self._said:
            await self._said.wait_for(lambda: self.errors.count(words) >= times)

    async def _gone(self) -> int:
        code = await self.process.wait()
        if self._reading is not None:
            await self._reading
        await self.client.aclose()
        return code

    async def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            async with self._said:
                self.errors += line
                self._said.notify_all()

    # --- what callers do ----------------------------------------------------------------

    async def agent(self, name: str, **settings: Any) -> None:
        wish = {"name": name, "kind": "rehearsal", **settings}
        (await self.client.post("/v1/agents", json=wish)).raise_for_status()

    async def open(self, **wish: Any) -> str:
        answer = await self.client.post("/v1/meetings", json=wish)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return (await self.client.get(path, headers=headers)).raise_for_status()

    # --- what lies on disk --------------------------------------------------------------

    def log(self, meeting_id: str) -> list[tuple[int, str, str | None]]:
        """The meeting's whole log, internal entries included: seq, type, step."""
        with closing(sqlite3.connect(self.database)) as database:
            query = "SELECT seq, type, step FROM event WHERE meeting_id = ? ORDER BY seq"
            return database.execute(query, (meeting_id,)).fetchall()

    def files(self) -> list[Path]:
        return sorted(self.minutes.rglob("*")) if self.minutes.is_dir() else []


class Reader:
    """Collects a meeting's events over any number of connections, as a browser would."""

    def __init__(self, meeting_id: str) -> None:
        self.sent: list[Sent] = []
        self._path = f"/v1/meetings/{meeting_id}/events"

    @property
    def last(self) -> str:
        return self.sent[-1].id if self.sent else ""

    async def read(self, service: Service, until: Mapping[str, Any] | None = None) -> None:
        """Read on from the last event: to one that looks so, or to the stream's end.

        A connection that breaks off raises ``httpx.TransportError``.
        """
        headers = {"Last-Event-ID": self.last}
        rest = b""
        async with service.client.stream("GET", self._path, headers=headers) as response:
            assert response.status_code == 200
            async for content in response.aiter_raw():
                *whole, rest = (rest + content).split(_END_OF_EVENT)
                for frame in whole:
                    for one in read_stream(frame + _END_OF_EVENT):
                        self.sent.append(one)
                        if until is not None and _fits(one, until):
                            return
        assert until is None, f"the stream ended without {until}"


def _fits(sent: Sent, wanted: Mapping[str, Any]) -> bool:
    found = {"type": sent.event, **sent.data["data"]}
    return all(found.get(key) == value for key, value in wanted.items())
