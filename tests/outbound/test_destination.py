"""One request at a time: what a destination's answers are taken for (PROTOCOLS 13)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import httpx2
import pytest

from app.domain.operation.terms import (
    Check,
    Fate,
    Finding,
    Look,
    Operation,
    Write,
    WriteAnswer,
    sha256_of,
)
from app.outbound.connections import OutboundConnections
from app.outbound.destination import MOST_BODY_BYTES, HttpDestination
from app.outbound.guard import Guard
from tests.destination import PLACE, Destination, Get, Put, digest_header, etag_of
from tests.outbound.names import Names, open_door
from tests.provider import Gate

CONTENT = "# Decision\n\nOne repository. 一つにまとめる。\n".encode()
OTHER = b"# Something else\n"
WRITE = Write(only_if_absent=False, patience_seconds=10)
CHECK = Check(patience_seconds=10)
SHORT = 0.05  # seconds, where waiting in vain is the point


def operation(url: str, content: bytes = CONTENT) -> Operation:
    at = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
    return Operation("op_1", url, sha256_of(content), "ann", at)


@pytest.fixture
def adapter(connections: OutboundConnections) -> HttpDestination:
    return HttpDestination(connections.client)


async def test_what_is_sent(destination: Destination, adapter: HttpDestination) -> None:
    answer = await adapter.write(operation(destination.url), CONTENT, WRITE)
    assert answer == WriteAnswer(Fate.STORED)
    (asked,) = destination.requests
    assert (asked.method, asked.path, asked.body) == ("PUT", PLACE, CONTENT)
    assert asked.headers["Idempotency-Key"] == "op_1"
    assert asked.headers["Content-Digest"] == digest_header(CONTENT)
    assert asked.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert "If-None-Match" not in asked.headers


async def test_a_later_write_goes_only_where_nothing_is(
    destination: Destination, adapter: HttpDestination
) -> None:
    destination.holds(OTHER)
    careful = Write(only_if_absent=True, patience_seconds=10)
    answer = await adapter.write(operation(destination.url), CONTENT, careful)
    assert answer.fate is Fate.EXISTS
    assert destination.stored() == OTHER


async def test_the_first_write_replaces_what_is_there(
    destination: Destination, adapter: HttpDestination
) -> None:
    destination.holds(OTHER)
    answer = await adapter.write(operation(destination.url), CONTENT, WRITE)
    assert answer.fate is Fate.STORED
    assert destination.stored() == CONTENT


@pytest.mark.parametrize(
    ("status", "fate"),
    [
        (200, Fate.STORED),
        (201, Fate.STORED),
        (204, Fate.STORED),
        (202, Fate.ACCEPTED),
        (301, Fate.REFUSED),
        (303, Fate.EXISTS),
        (307, Fate.REFUSED),
        (400, Fate.REFUSED),
        (401, Fate.REFUSED),
        (403, Fate.REFUSED),
        (404, Fate.REFUSED),
        (405, Fate.REFUSED),
        (408, Fate.UNCLEAR),
        (409, Fate.EXISTS),
        (412, Fate.EXISTS),
        (413, Fate.REFUSED),
        (425, Fate.DEFERRED),
        (429, Fate.DEFERRED),
        (451, Fate.REFUSED),
        (500, Fate.UNCLEAR),
        (501, Fate.UNCLEAR),
        (503, Fate.UNCLEAR),
        (507, Fate.UNCLEAR),
        (599, Fate.UNCLEAR),
        (999, Fate.UNCLEAR),
    ],
)
async def test_what_a_status_says_of_a_write(
    destination: Destination, adapter: HttpDestination, status: int, fate: Fate
) -> None:
    destination.on_put(Put.status(status, location="http://127.0.0.1:1/"))
    answer = await adapter.write(operation(destination.url), CONTENT, WRITE)
    assert answer.fate is fate
    assert (str(status) in answer.reason) is (fate is not Fate.STORED)
    assert destination.methods == ["PUT"]


async def test_a_redirect_says_why_it_failed(
    destination: Destination, adapter: HttpDestination
) -> None:
    destination.on_put(Put.status(307, location="http://169.254.169.254/"))
    answer = await adapter.write(operation(destination.url), CONTENT, WRITE)
    assert "a redirect; redirects are not followed" in answer.reason


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0"}, 0.0),
        ({"retry_after": "999999999"}, 86_400.0),
        ({"retry_after": "9" * 200}, None),
        ({"retry_after": "-5"}, None),
        ({"retry_after": "1e9"}, None),
        ({"retry_after": "soon"}, None),
        (
            {
                "date": "Mon, 30 Nov 2026 09:00:00 GMT",
                "retry_after": "Mon, 30 Nov 2026 09:00:30 GMT",
            },
            30.0,
        ),
        (
            {
                "date": "Mon, 30 Nov 2026 09:00:00 GMT",
                "retry_after": "Mon, 30 Nov 2026 08:00:00 GMT",
            },
            0.0,
        ),
        ({"date": "nonsense", "retry_after": "Mon, 30 Nov 2026 09:00:30 GMT"}, None),
        ({}, None),
    ],
)
async def test_the_pause_that_is_asked_for(
    destination: Destination,
    adapter: HttpDestination,
    headers: dict[str, str],
    seconds: float | None,
) -> None:
    destination.on_put(Put.status(429, **headers))
    destination.on_get(Get.status(503, **headers))
    asked = operation(destination.url)
    assert (await adapter.write(asked, CONTENT, WRITE)).retry_after == seconds
    assert (await adapter.look(asked, CHECK)).retry_after == seconds


@pytest.mark.parametrize("stores", [True, False])
async def test_a_connection_cut_after_the_write_is_unclear(
    destination: Destination, adapter: HttpDestination, stores: bool
) -> None:
    destination.on_put(Put.lost(stores=stores))
    answer = await adapter.write(operation(destination.url), CONTENT, WRITE)
    assert answer.fate is Fate.UNCLEAR
    assert "connection broke" in answer.reason
    assert destination.methods == ["PUT"]
    assert (destination.stored() == CONTENT) is stores


async def test_no_answer_in_time_is_unclear(
    destination: Destination, adapter: HttpDestination
) -> None:
    destination.on_put(Put(gate=Gate()))
    destination.on_get(Get(gate=Gate()))
    asked = operation(destination.url)
    answer = await adapter.write(asked, CONTENT, Write(False, patience_seconds=0.5))
    assert answer.fate is Fate.UNCLEAR
    assert "no answer in time" in answer.reason
    finding = await adapter.look(asked, Check(patience_seconds=SHORT))
    assert finding.look is Look.NO_ANSWER


async def test_a_refused_connection_never_left(adapter: HttpDestination) -> None:
    async with open_door() as door:
        port = door.port
    asked = operation(f"http://127.0.0.1:{port}/")
    answer = await adapter.write(asked, CONTENT, WRITE)
    assert answer == WriteAnswer(Fate.UNSENT, "The destination takes no connections.", left=False)
    assert (await adapter.look(asked, CHECK)).look is Look.NO_ANSWER


async def test_a_failed_handshake_never_left(adapter: HttpDestination) -> None:
    async with open_door() as door:
        asked = operation(f"https://localhost:{door.port}/")
        answer = await adapter.write(asked, CONTENT, WRITE)
    assert answer.fate is Fate.UNSENT


async def test_a_handshake_that_is_never_answered_never_left(adapter: HttpDestination) -> None:
    silent = asyncio.Event()

    async def visited(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent.wait()
        writer.close()

    server = await asyncio.start_server(visited, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        asked = operation(f"https://127.0.0.1:{port}/")
        answer = await adapter.write(asked, CONTENT, Write(False, patience_seconds=0.6))
        silent.set()
    assert answer == WriteAnswer(
        Fate.UNSENT, "The destination could not be reached in time.", left=False
    )


async def test_a_name_without_an_address_never_left() -> None:
    connections = OutboundConnections(Guard(), Names())
    try:
        adapter = HttpDestination(connections.client)
        answer = await adapter.write(operation("https://wiki.example/a"), CONTENT, WRITE)
    finally:
        await connections.close()
    assert answer == WriteAnswer(Fate.UNSENT, "The destination's name has no address.", left=False)


async def test_what_the_guard_forbids_is_refused_for_good(destination: Destination) -> None:
    connections = OutboundConnections(Guard(allow_http=True), Names(["127.0.0.1"]))
    try:
        adapter = HttpDestination(connections.client)
        for host in ("wiki.example", "127.0.0.1", "[::ffff:127.0.0.1]"):
            asked = operation(f"http://{host}:{destination.port}{PLACE}")
            answer = await adapter.write(asked, CONTENT, WRITE)
            assert answer.fate is Fate.REFUSED
            assert "which is not called" in answer.reason
            finding = await adapter.look(asked, CHECK)
            assert finding.look is Look.NO_ANSWER
            assert "which is not called" in finding.reason
    finally:
        await connections.close()
    assert destination.requests == []


@pytest.mark.parametrize("url", ["https://xn--.example/", "nonsense", "https://[::1", "http://"])
async def test_a_url_that_cannot_be_called_is_refused(adapter: HttpDestination, url: str) -> None:
    assert (await adapter.write(operation(url), CONTENT, WRITE)).fate in (
        Fate.REFUSED,
        Fate.UNSENT,
    )
    assert (await adapter.look(operation(url), CHECK)).look is Look.NO_ANSWER


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 201\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n",
        b"HTTP/1.1 201 Created\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"",
    ],
)
async def test_no_answer_is_too_strange(adapter: HttpDestination, answer: bytes) -> None:
    async def visited(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(visited, "127.0.0.1", 0)
    async with server:
        asked = operation(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        written = await adapter.write(asked, CONTENT, WRITE)
        assert written.fate in (Fate.UNCLEAR, Fate.STORED)
        assert (await adapter.look(asked, CHECK)).look is Look.NO_ANSWER


async def test_a_caller_that_gives_up_is_not_answered_for(
    destination: Destination, adapter: HttpDestination
) -> None:
    destination.on_put(Put(gate=Gate()))
    writing = asyncio.create_task(adapter.write(operation(destination.url), CONTENT, WRITE))
    await destination.requests_arrived(1)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing


async def test_content_that_is_not_the_operations_is_our_own_mistake(
    destination: Destination, adapter: HttpDestination
) -> None:
    with pytest.raises(ValueError, match="op_1"):
        await adapter.write(operation(destination.url), OTHER, WRITE)
    assert destination.requests == []


async def test_what_could_not_be_read_back_is_not_sent(
    destination: Destination, adapter: HttpDestination
) -> None:
    large = b"x" * (MOST_BODY_BYTES + 1)
    answer = await adapter.write(operation(destination.url, large), large, WRITE)
    assert answer.fate is Fate.REFUSED
    assert destination.requests == []


# --- reading back ---------------------------------------------------------------------------------


async def test_the_same_bytes_are_the_same_and_the_etag_is_the_version(
    destination: Destination, adapter: HttpDestination
) -> None:
    destination.holds(CONTENT)
    finding = await adapter.look(operation(destination.url), CHECK)
    assert finding == Finding(Look.SAME, version=etag_of(CONTENT))
    (asked,) = destination.requests
    assert (asked.method, asked.path) == ("GET", PLACE)
    assert asked.headers["Cache-Control"] == "no-cache"
    assert asked.headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("etag", "version"),
    [
        ('"v1"', '"v1"'),
        ('W/"v1"', 'W/"v1"'),
        ('""', '""'),
        ("v1", None),
        ('"a"b"', None),
        ('"' + "x" * 300 + '"', None),
        ("", None),
    ],
)
async def test_an_etag_is_kept_if_it_is_one(
    destination: Destination, adapter: HttpDestination, etag: str, version: str | None
) -> None:
    destination.holds(CONTENT)
    destination.on_get(Get(tagged=False, headers={"ETag": etag}))
    assert (await adapter.look(operation(destination.url), CHECK)).version == version


@pytest.mark.parametrize("digest", ["", digest_header(OTHER), "sha-256=:nonsense:", "x" * 5_000])
async def test_the_same_bytes_are_the_same_whatever_is_claimed(
    destination: Destination, adapter: HttpDestination, digest: str
) -> None:
    destination.holds(CONTENT)
    destination.on_get(Get(digest=digest))
    assert (await adapter.look(operation(destination.url), CHECK)).look is Look.SAME


async def test_other_bytes_are_different(
    destination: Destination, adapter: HttpDestination
) -> None:
    for other in (OTHER, b"", CONTENT[:-1], CONTENT + b"\n"):
        destination.holds(other)
        finding = await adapter.look(operation(destination.url), CHECK)
        assert (finding.look, finding.version) == (Look.DIFFERENT, etag_of(other))


async def test_a_digest_that_lies_is_named(
    destination: Destination, adapter: HttpDestination
) -> None:
    destination.holds(OTHER)
    destination.on_get(Get(digest=digest_header(CONTENT)))
    finding = await adapter.look(operation(destination.url), CHECK)
    assert finding.look is Look.DIFFERENT
    assert "Content-Digest" in finding.reason


@pytest.mark.parametrize(
    ("digest", "look"),
    [
        (digest_header(CONTENT), Look.SAME),
        (f"sha-512=:AAAA:, {digest_header(CONTENT)}", Look.SAME),
        (digest_header(OTHER), Look.DIFFERENT),
        (f"{digest_header(OTHER)}, {digest_header(CONTENT)}", Look.NO_ANSWER),
        ("", Look.NO_ANSWER),
    ],
)
async def test_bytes_that_cannot_be_read_are_judged_by_their_digest(
    destination: Destination, adapter: HttpDestination, digest: str, look: Look
) -> None:
    destination.holds(CONTENT)
    destination.on_get(Get(digest=digest, compressed=True))
    assert (await adapter.look(operation(destination.url), CHECK)).look is look


async def test_a_body_that_breaks_off_shows_nothing(
    destination: Destination, adapter: HttpDestination
) -> None:
    destination.holds(CONTENT)
    destination.on_get(Get(cut=True))
    assert (await adapter.look(operation(destination.url), CHECK)).look is Look.NO_ANSWER


async def test_an_endless_body_is_read_to_its_bound(adapter: HttpDestination) -> None:
    sent = 0

    async def visited(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 65_536)
                await writer.drain()
                sent += 65_536
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(visited, "127.0.0.1", 0)
    async with server:
        asked = operation(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        assert (await adapter.look(asked, CHECK)).look is Look.DIFFERENT
    assert sent < 4 * MOST_BODY_BYTES


@pytest.mark.parametrize(
    ("status", "look"),
    [
        (404, Look.ABSENT),
        (410, Look.ABSENT),
        (204, Look.NO_ANSWER),
        (302, Look.NO_ANSWER),
        (401, Look.NO_ANSWER),
        (403, Look.NO_ANSWER),
        (405, Look.NO_ANSWER),
        (429, Look.NO_ANSWER),
        (500, Look.NO_ANSWER),
        (503, Look.NO_ANSWER),
    ],
)
async def test_what_a_status_says_of_what_is_there(
    destination: Destination, adapter: HttpDestination, status: int, look: Look
) -> None:
    destination.holds(CONTENT)
    destination.on_get(Get.status(status))
    finding = await adapter.look(operation(destination.url), CHECK)
    assert finding.look is look
    assert look is Look.ABSENT or str(status) in finding.reason


async def test_an_error_of_ours_is_not_taken_for_the_far_sides() -> None:
    def broken() -> httpx2.AsyncClient:
        raise LookupError("ours")

    adapter = HttpDestination(broken)
    with pytest.raises(LookupError):
        await adapter.write(operation("https://wiki.example/"), CONTENT, WRITE)
