"""The service under test: a real ``yoriai serve`` with a database and minutes of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.wire import Connection

HOST = "127.0.0.1"

_START_SECONDS = 30.0
_POLL_SECONDS = 0.005
_TICKS = os.sysconf("SC_CLK_TCK")


class ServiceFailed(Exception):
    """The service did not do what every figure rests on."""


class Service:
    """One process; started again on the same port and files after it was killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int:
        if self._process is None:
            raise ServiceFailed("The service is not running.")
        return self._process.pid

    def launch(self) -> None:
        """Start the process, without waiting until it answers."""
        ours = {
            "YORIAI_DATABASE_URL": f"sqlite+aiosqlite:///{self._folder / 'yoriai.db'}",
            "YORIAI_MINUTES_DIR": str(self._folder / "minutes"),
            "YORIAI_LOG_LEVEL": "warning",
        }
        # Settings and keys of whoever runs the benchmarks must not change what is measured.
        foreign = ("YORIAI_", "OPENAI_", "ANTHROPIC_")
        plain = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        command = [sys.executable, "-m", "app", "serve", "--host", HOST, "--port", str(self.port)]
        self._process = subprocess.Popen(command, env=plain | ours)

    async def answering(self) -> None:
        """Come back as soon as the service takes connections and says that it is ready."""
        give_up = time.monotonic() + _START_SECONDS
        while time.monotonic() < give_up:
            if self._process is not None and self._process.poll() is not None:
                break
            try:
                async with self.connected() as connection:
                    await connection.get("/readyz")
                return
            except OSError:
                await asyncio.sleep(_POLL_SECONDS)
        raise ServiceFailed("The service did not come up; what it said stands above.")

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Connection]:
        connection = await Connection.open(HOST, self.port)
        try:
            yield connection
        finally:
            connection.close()

    def kill(self) -> None:
        """As ``kill -9`` does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, by: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(by)
            self._process.wait()
            self._process = None

    def cpu_seconds(self) -> float:
        """The time that all threads of the process have spent so far, in user and kernel."""
        stat = Path(f"/proc/{self.process_id}/stat").read_text(encoding="ascii")
        # The second field is the command in parentheses and may hold spaces.
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self.process_id}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024


@asynccontextmanager
async def running_service() -> AsyncIterator[Service]:
    """A fresh service, ready to answer; it and its files go with the block."""
    with TemporaryDirectory(prefix="yoriai-bench-") as folder:
        service = Service(Path(folder))
        service.launch()
        try:
            await service.answering()
            print(f"the service is process {service.process_id}", file=sys.stderr)
            yield service
        finally:
            service.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]
