"""The guarded client against real servers on loopback: who is connected to, and who is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import httpx2
import pytest

from app.outbound.connections import AnswerLost, OutboundConnections, checked_socket
from app.outbound.guard import Guard, TargetRefused
from tests.destination import PLACE, Destination, Get, Put
from tests.outbound.names import Names, open_door

STRICT = Guard(allow_http=True)
LOOSE = Guard(allow_http=True, allow_private=True)
PUBLIC = "8.8.8.8"
LOOPBACK = "127.0.0.1"
METADATA = "169.254.169.254"


@asynccontextmanager
async def client(guard: Guard, names: Names | None = None) -> AsyncIterator[httpx2.AsyncClient]:
    connections = OutboundConnections(guard, names)
    try:
        yield connections.client()
    finally:
        await connections.close()


async def test_an_allowed_target_is_called_by_its_name(destination: Destination) -> None:
    names = Names([LOOPBACK])
    async with client(LOOSE, names) as http:
        answer = await http.put(f"http://wiki.example:{destination.port}{PLACE}", content=b"x")
    assert answer.status_code == 201
    assert destination.requests[0].headers["Host"] == f"wiki.example:{destination.port}"
    assert names.asked == ["wiki.example"]


async def test_a_name_that_leads_inside_is_refused(destination: Destination) -> None:
    async with client(STRICT, Names([LOOPBACK])) as http:
        with pytest.raises(TargetRefused, match="loopback"):
            await http.get(f"http://wiki.example:{destination.port}{PLACE}")
    assert destination.requests == []


@pytest.mark.parametrize(
    "addresses",
    [
        [PUBLIC, LOOPBACK],
        [LOOPBACK, PUBLIC],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["fe80::1%1"],
        [METADATA],
        ["not an address"],
        [],
    ],
)
async def test_one_bad_address_refuses_the_name(addresses: list[str]) -> None:
    async with open_door() as door, client(STRICT, Names(addresses)) as http:
        with pytest.raises(TargetRefused):
            await http.get(f"http://wiki.example:{door.port}/")
        assert door.said == []


async def test_dns_that_turns_inside_after_the_check_leads_to_nobody() -> None:
    """Rebinding: the name is public when the request is taken in, and loopback when it is used."""
    names = Names([PUBLIC], [LOOPBACK])
    seen = [each["host"] for each in await names.resolve("wiki.example")]
    assert STRICT.checked(seen) == [PUBLIC]
    async with open_door() as door, client(STRICT, names) as http:
        with pytest.raises(TargetRefused):
            await http.get(f"http://wiki.example:{door.port}/")
        assert door.said == []


async def test_the_address_that_was_checked_is_the_one_connected_to(
    destination: Destination,
) -> None:
    """One look-up for a connection, and a new one, checked again, for the next."""
    names = Names([LOOPBACK], [METADATA])
    async with client(LOOSE, names) as http:
        url = f"http://wiki.example:{destination.port}{PLACE}"
        assert (await http.put(url, content=b"x")).status_code == 201
        assert len(names.asked) == 1
        with pytest.raises(TargetRefused, match="metadata"):
            await http.get(url)
    assert destination.methods == ["PUT"]


@pytest.mark.parametrize("host", [LOOPBACK, "localhost", "2130706433", "0x7f.1", "[::1]"])
async def test_a_host_that_no_resolver_sees_is_refused(host: str) -> None:
    names = Names([PUBLIC])
    async with open_door() as door, client(STRICT, names) as http:
        with pytest.raises(TargetRefused):
            await http.get(f"http://{host}:{door.port}/")
        assert door.said == []
    assert names.asked == []


async def test_the_last_look_needs_none_of_the_others() -> None:
    async with open_door() as door:
        connector = aiohttp.TCPConnector(socket_factory=checked_socket(STRICT))
        async with aiohttp.ClientSession(connector=connector) as session:
            for host in (LOOPBACK, "localhost"):
                with pytest.raises((TargetRefused, aiohttp.ClientError)):
                    await session.get(f"http://{host}:{door.port}/")
        assert door.said == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(destination: Destination, status: int) -> None:
    async with open_door() as door, client(LOOSE) as http:
        destination.on_get(Get.status(status, location=f"http://{LOOPBACK}:{door.port}/inside"))
        answer = await http.get(destination.url)
        assert answer.status_code == status
        assert door.said == []


async def test_proxies_of_the_environment_are_passed_by(
    destination: Destination, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_door() as door:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://{LOOPBACK}:{door.port}")
        async with client(LOOSE) as http:
            assert (await http.put(destination.url, content=b"x")).status_code == 201
        assert door.said == []


async def test_tls_asks_for_the_name_not_the_address() -> None:
    async with open_door() as door, client(LOOSE, Names([LOOPBACK])) as http:
        with pytest.raises(httpx2.HTTPError):
            await http.get(f"https://wiki.example:{door.port}/")
        assert len(door.said) == 1
        assert b"wiki.example" in door.said[0]


@pytest.mark.parametrize("method", ["PUT", "GET"])
async def test_a_request_whose_connection_breaks_is_not_sent_again(
    destination: Destination, method: str
) -> None:
    """aiohttp repeats both by itself; for a PUT that would be a second write (PROTOCOLS 13)."""
    async with open_door() as door, client(LOOSE) as http:
        with pytest.raises(httpx2.HTTPError) as caught:
            await http.request(method, f"http://{LOOPBACK}:{door.port}/", content=b"x")
        assert isinstance(caught.value.__cause__, AnswerLost)
        assert len(door.said) == 1
        destination.on_put(Put.lost(stores=False))
        with pytest.raises(httpx2.HTTPError):
            await http.put(destination.url, content=b"x")
        assert destination.methods == ["PUT"]


async def test_a_name_without_an_address_is_no_connection() -> None:
    async with client(LOOSE, Names()) as http:
        with pytest.raises(httpx2.HTTPError) as caught:
            await http.get("https://wiki.example/")
    # The bridge calls this a timeout; what happened is in the cause (``answers`` reads it there).
    assert isinstance(caught.value.__cause__, aiohttp.ClientConnectorDNSError)


async def test_cookies_are_not_kept(destination: Destination) -> None:
    destination.holds(b"x")
    destination.on_get(Get(headers={"Set-Cookie": "a=1"}))
    async with client(LOOSE) as http:
        for _ in range(2):
            await http.get(destination.url)
    assert all("Cookie" not in asked.headers for asked in destination.requests)


async def test_everybody_gets_the_same_client(connections: OutboundConnections) -> None:
    assert connections.client() is connections.client()
