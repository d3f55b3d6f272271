"""Streams, against a real server."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from app.api.sse import EventStream
from app.domain.meeting.entries import Entry
from app.domain.meeting.events import SummaryUpdated
from tests.api.parts import MEETING, Parts
from tests.api.served import Served
from tests.clock import START

AT = "/v1/meetings/mtg_0001/events"


@pytest.fixture
def served(folder: Path) -> Iterator[Served]:
    server = Served(folder)
    yield server
    server.stop()


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, timeout=10) as opened:
        yield opened


@pytest.fixture
def meeting(served: Served, client: httpx.Client) -> Parts:
    """The parts, with a meeting that waits for the last reply of its first round."""
    response = client.post("/v1/meetings", json=MEETING)
    assert response.status_code == 201
    served.do(served.parts.begin)
    return served.parts


PUBLIC = 11
"""So many public events the meeting has at its end; before it, ``BEGUN``."""
BEGUN = 6


def ids(text: str) -> list[int]:
    return [int(line[4:]) for line in text.splitlines() if line.startswith("id: ")]


def test_a_whole_stream(served: Served, client: httpx.Client, meeting: Parts) -> None:
    with client.stream("GET", AT) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-accel-buffering"] == "no"
        text = ""
        for piece in response.iter_text():
            text += piece
            if ids(text)[-1:] == [BEGUN] and text.endswith("\n\n"):
                served.do(meeting.finish)
    assert text.startswith("retry: 2000\n\nid: 1\nevent: meeting.created\ndata: {")
    assert text.endswith("\n\n")
    assert ids(text) == list(range(1, PUBLIC + 1))


@pytest.mark.parametrize("cut", range(PUBLIC + 1))
def test_resuming_anywhere(served: Served, client: httpx.Client, meeting: Parts, cut: int) -> None:
    served.do(meeting.finish)
    expected = list(range(cut + 1, PUBLIC + 1))
    headers = {"Last-Event-ID": str(cut)}
    assert ids(client.get(AT, headers=headers).text) == expected
    assert ids(client.get(f"{AT}?after={cut}").text) == expected
    assert ids(client.get(f"{AT}?after=1", headers=headers).text) == expected


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/meetings/mtg_nowhere/events", {}, 404),
        (AT, {"Last-Event-ID": "soon"}, 422),
        (AT, {"Accept": "text/html"}, 406),
        (f"{AT}?after=-1", {}, 422),
        ("/v1/events", {"Accept": "application/json"}, 406),
        ("/v1/events", {"Last-Event-ID": "x" * 300}, 422),
    ],
)
def test_what_is_wrong_is_said_before_the_stream(
    client: httpx.Client, meeting: Parts, path: str, headers: dict[str, str], status: int
) -> None:
    response = client.get(path, headers=headers)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"


def test_all_meetings(client: httpx.Client, meeting: Parts) -> None:
    def first(count: int, last_id: str | None = None) -> list[str]:
        headers = {} if last_id is None else {"Last-Event-ID": last_id}
        with client.stream("GET", "/v1/events", headers=headers) as response:
            lines = response.iter_lines()
            assert next(lines) == "retry: 2000"
            given = (line.removeprefix("id: ") for line in lines if line.startswith("id:"))
            return [next(given) for _ in range(count)]

    whole = first(BEGUN)
    assert len(set(whole)) == BEGUN
    assert first(BEGUN - 2, whole[1]) == whole[2:]


def test_a_shutdown_ends_streams_cleanly_and_at_once(served: Served, client: httpx.Client) -> None:
    with client.stream("GET", "/v1/events") as response:
        lines = response.iter_lines()
        assert next(lines) == "retry: 2000"
        stopping = threading.Thread(target=served.stop)
        stopping.start()
        # A stream that was cut instead would raise here.
        list(lines)
        stopping.join(10)
        assert not stopping.is_alive()


async def quiet() -> AsyncIterator[bytes]:
    yield b"id: 1\n\n"
    await asyncio.Event().wait()


class Reader:
    """The far side of a response: what it got, and when it stops or goes."""

    def __init__(self, takes: int = 10**9) -> None:
        self.got: list[bytes] = []
        self.complete = False
        self.gone = asyncio.Event()
        self.stopped = asyncio.Event()
        self._takes = takes

    async def receive(self) -> dict[str, str]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, object]) -> None:
        if message["type"] != "http.response.body":
            return
        if len(self.got) >= self._takes:
            self.stopped.set()
            await asyncio.Event().wait()
        self.got.append(message["body"])  # type: ignore[arg-type]  # bytes, in a body's message
        self.complete = not message["more_body"]


async def stream_to(
    reader: Reader,
    frames: AsyncIterator[bytes],
    shutdown: asyncio.Event | None = None,
    **times: float,
) -> None:
    stream = EventStream(frames, shutdown or asyncio.Event(), **times)
    sent = stream({"type": "http"}, reader.receive, reader.send)  # type: ignore[arg-type]  # in part
    await asyncio.wait_for(sent, 5)


async def test_a_quiet_stream_pings() -> None:
    reader = Reader()
    asyncio.get_running_loop().call_later(0.2, reader.gone.set)
    await stream_to(reader, quiet(), ping_seconds=0.03)
    assert reader.got[:2] == [b"retry: 2000\n\n", b"id: 1\n\n"]
    assert reader.got[2:5] == [b": ping\n\n"] * 3


async def test_a_reader_that_stops_is_cut_off() -> None:
    closed = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x"
        finally:
            closed.set()

    reader = Reader(takes=5)
    await stream_to(reader, endless(), ping_seconds=0.03, send_seconds=0.05)
    assert len(reader.got) == 5
    assert not reader.complete
    await asyncio.wait_for(closed.wait(), 1)


async def test_a_reader_that_stops_on_a_quiet_stream_is_cut_off_too() -> None:
    reader = Reader(takes=2)
    await stream_to(reader, quiet(), ping_seconds=0.03, send_seconds=0.05)
    assert len(reader.got) == 2


async def test_a_reader_that_stops_before_the_end_is_cut_off_too() -> None:
    async def short() -> AsyncIterator[bytes]:
        yield b"id: 1\n\n"

    reader = Reader(takes=2)
    await stream_to(reader, short(), ping_seconds=0.03, send_seconds=0.05)
    assert reader.stopped.is_set()
    assert not reader.complete


async def test_a_reader_that_stopped_at_a_ping_holds_no_shutdown_up() -> None:
    reader = Reader(takes=2)
    # The shutdown comes the moment it stops.
    await stream_to(reader, quiet(), reader.stopped, ping_seconds=0.03)
    assert not reader.complete


async def test_a_reader_that_goes_frees_everything() -> None:
    before = len(asyncio.all_tasks())
    reader = Reader()
    reader.gone.set()
    await stream_to(reader, quiet())
    assert len(asyncio.all_tasks()) == before


async def test_a_stream_that_fails_is_not_ended_as_if_complete() -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"id: 1\n\n"
        raise OSError

    reader = Reader()
    with pytest.raises(OSError):  # noqa: PT011 - the very one
        await stream_to(reader, broken())
    assert not reader.complete


def test_a_slow_reader_costs_bounded_memory_and_can_come_back(
    served: Served, client: httpx.Client
) -> None:
    client.post("/v1/meetings", json=MEETING)
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(f"GET {AT} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        begun = b""
        while b"retry: 2000" not in begun:
            begun += connection.recv(4096)
        big = SummaryUpdated(round=1, summary="x" * 100_000)
        many = [Entry(big, START + timedelta(seconds=i)) for i in range(100)]
        served.do(served.parts.append, "mtg_0001", *many)
        # The other reader is not held up by the one that does not read.
        served.do(served.parts.hold)
        assert ids(client.get(f"{AT}?after=1").text) == list(range(2, PUBLIC + 101))


def test_hanging_up_while_waiting_frees_the_handler_and_cancels_nothing(
    served: Served, client: httpx.Client
) -> None:
    body = b'{"topic": "x"}'
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(
            b"POST /v1/meetings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Prefer: wait=600\r\nIdempotency-Key: k\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        while not served.parts.log.followed.is_set():
            time.sleep(0.01)
        assert served.parts.services.handling == {"k"}
    deadline = time.monotonic() + 5
    while served.parts.services.handling and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not served.parts.services.handling
    meeting = client.get("/v1/meetings/mtg_0001").json()
    assert (meeting["status"], meeting["cancellation"]) == ("scheduled", None)
    again = client.post(
        "/v1/meetings",
        content=body,
        headers={"Idempotency-Key": "k", "content-type": "application/json"},
    )
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["id"] == "mtg_0001"


def test_a_large_body_is_refused_with_an_answer_that_arrives(
    served: Served, client: httpx.Client
) -> None:
    headers = {"content-type": "application/json"}
    for content in (b" " * (3 << 20), iter([b" " * 65_536] * 48)):
        response = client.post("/v1/meetings", content=content, headers=headers)
        assert response.status_code == 413
        assert response.json()["type"] == "body-too-large"
    assert served.do(served.parts.meetings) == []
    assert client.get("/healthz").status_code == 200


def test_a_body_that_is_announced_too_large_is_not_read(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.settimeout(10)
        connection.sendall(
            b"POST /v1/meetings HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n"
        )
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")
        while connection.recv(4096):
            pass
