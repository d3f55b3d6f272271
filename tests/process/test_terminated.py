"""SIGTERM: streams end as streams should, the process ends, and meetings wait for the next."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest

from tests.process.service import Reader, Service
from tests.process.slow_reader import SlowReader, big_meeting

# Only a guard: several starts of a process take their time on a busy machine.
pytestmark = pytest.mark.timeout(240)

WISH = {
    "topic": "Should the four services share one repository?",
    "participants": [{"name": name, "agent": "slow"} for name in ("ann", "ben", "cid")],
}


async def test_streams_end_cleanly_and_meetings_go_on_at_the_next_start(
    service: Service,
) -> None:
    await service.agent("slow", delay_seconds=0.5)
    big = await big_meeting(service)
    id_ = await service.open(**WISH)
    reader = Reader(id_)
    reading = asyncio.create_task(reader.read(service))
    everything = asyncio.create_task(_whole_response(service.port, "/v1/events"))
    await Reader(id_).read(service, until={"type": "reply.received"})
    with SlowReader(service.port, f"/v1/meetings/{big}/events") as stopped:
        await stopped.begin()
        # When this one has had it all, the other has long had what fits into its pipe.
        await Reader(big).read(service)
        began = time.monotonic()
        code = await service.terminate()
        print(f"ended {time.monotonic() - began:.2f} s after SIGTERM")  # noqa: T201
        assert code == 0, service.errors.decode()
    # No exception: the end of the stream was marked as one.
    await reading
    assert reader.sent[-1].event != "meeting.ended"
    assert (await everything).endswith(b"\r\n0\r\n\r\n")
    assert b"Traceback" not in service.errors

    await service.start()
    await reader.read(service)
    assert reader.sent[-1].event == "meeting.ended"
    assert [int(one.id) for one in reader.sent] == list(range(1, len(reader.sent) + 1))


async def _whole_response(port: int, path: str) -> bytes:
    reading, writing = await asyncio.open_connection("127.0.0.1", port)
    writing.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    content = await reading.read()
    writing.close()
    await writing.wait_closed()
    return content


async def test_a_caller_that_waits_for_a_meeting_is_answered(service: Service) -> None:
    await service.agent("slow", delay_seconds=60)
    waiting = asyncio.create_task(
        service.client.post("/v1/meetings", json=WISH, headers={"Prefer": "wait=600"})
    )
    while not (items := (await service.get("/v1/meetings")).json()["items"]):
        pass
    await Reader(items[0]["id"]).read(service, until={"type": "round.started"})
    code = await service.terminate()
    answer = await waiting
    assert (answer.status_code, answer.json()["status"]) == (201, "running")
    assert code == 0


async def test_idle_connections_hold_nothing_up(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as silent:
        assert await service.terminate() == 0
        assert silent.recv(1) == b""
