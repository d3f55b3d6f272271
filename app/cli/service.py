"""A service of our own for one command: started on a free port, asked over HTTP, ended."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from app.domain.errors import YoriaiError

_START_SECONDS = 30.0
_POLL_SECONDS = 0.05


class ServiceNotStarted(YoriaiError):
    code = "service-not-started"


@contextmanager
def own_service(environment: Mapping[str, str]) -> Iterator[httpx.Client]:
    """A client of a fresh ``yoriai serve``, which ends with the block.

    Raises ``ServiceNotStarted`` if it does not come up; it has then said why itself.
    """
    port = _free_port()
    command = [sys.executable, "-m", "app", "serve", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(  # noqa: S603 - this very interpreter, and nothing a caller gave
        command, env={**os.environ, **environment}
    )
    try:
        base = f"http://127.0.0.1:{port}"
        # A stream may well be silent for as long as its meeting lasts.
        patience = httpx.Timeout(_START_SECONDS, read=None)
        with httpx.Client(base_url=base, trust_env=False, timeout=patience) as client:
            _wait_until_ready(client, process)
            yield client
    finally:
        process.terminate()
        process.wait()


def follow(client: httpx.Client, meeting_id: str) -> Iterator[dict[str, Any]]:
    """The meeting's events as they come, to its end."""
    with client.stream("GET", f"/v1/meetings/{meeting_id}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_ready(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < give_up:
        try:
            if client.get("/readyz").is_success:
                return
        except httpx.TransportError:
            time.sleep(_POLL_SECONDS)
    raise ServiceNotStarted("The service did not come up; what it said stands above.")
