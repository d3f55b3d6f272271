"""The one HTTP client for addresses that callers give; it connects to nothing unchecked.

It is httpx over aiohttp, like the client of the agents, with the guard in three places: before a
request, after a name was resolved, and before a socket connects. The last one holds whatever the
libraries do, since no connection is made without it.

- **A request leaves at most once.** aiohttp by itself repeats a PUT whose connection breaks, which
  would be a second write while the fate of the first is open (PROTOCOLS 13).
- A connection serves one request: names are resolved and checked for each, and an idle connection
  that the far side has dropped does not turn into a lost answer.
- No redirects, no proxies or certificates out of the environment, no cookies.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy

import aiohttp
import httpx2
from aiohttp.abc import AbstractResolver, ResolveResult
from httpx_aiohttp.httpx2 import AiohttpTransport

from app.outbound.guard import Guard

_MOST_CONNECTIONS = 200


class AnswerLost(aiohttp.ClientPayloadError):
    """The connection broke after the request may have left."""


class OutboundConnections:
    """Opens the client when it is first needed; from then on everybody gets the same one.

    ``resolver`` looks names up; by default the operating system's.
    """

    def __init__(self, guard: Guard, resolver: AbstractResolver | None = None) -> None:
        self._guard = guard
        self._resolver = resolver
        self._opening = threading.Lock()
        self._client: httpx2.AsyncClient | None = None

    def client(self) -> httpx2.AsyncClient:
        """The shared client. A request raises ``TargetRefused`` where the guard forbids it."""
        with self._opening:
            if self._client is None:
                self._client = _open_client(self._guard, self._resolver)
            return self._client

    async def close(self) -> None:
        """Close every connection; requests under way fail."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


class CheckingResolver(AbstractResolver):
    """Answers with the addresses of a name only if all of them may be called."""

    def __init__(self, guard: Guard, resolver: AbstractResolver) -> None:
        self._guard = guard
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        self._guard.checked([each["host"] for each in found])
        return found

    async def close(self) -> None:
        await self._resolver.close()


class _CheckingTransport(httpx2.AsyncBaseTransport):
    """Reads every URL before anything is done with it: a literal address meets no resolver."""

    def __init__(self, guard: Guard, wire: httpx2.AsyncBaseTransport) -> None:
        self._guard = guard
        self._wire = wire

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._guard.refuse_url(str(request.url))
        return await self._wire.handle_async_request(request)

    async def aclose(self) -> None:
        await self._wire.aclose()


def checked_socket(guard: Guard) -> Callable[[aiohttp.AddrInfoType], socket.socket]:
    """What makes a connector's sockets; none is made for an address that may not be called."""

    def make(address: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, target = address
        guard.refuse_address(str(target[0]))
        return socket.socket(family, kind, protocol)

    return make


def _open_client(guard: Guard, resolver: AbstractResolver | None) -> httpx2.AsyncClient:
    certificates = httpx2.create_ssl_context(trust_env=False)

    def open_session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=CheckingResolver(guard, resolver or aiohttp.ThreadedResolver()),
            socket_factory=checked_socket(guard),
            use_dns_cache=False,
            force_close=True,
            limit=_MOST_CONNECTIONS,
            ssl=certificates,
        )
        return aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), middlewares=(_once,)
        )

    wire = AiohttpTransport(verify=certificates, trust_env=False, client=open_session)
    return httpx2.AsyncClient(
        transport=_CheckingTransport(guard, wire),
        headers={"Accept-Encoding": "identity", "User-Agent": "Yoriai"},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=None,
        follow_redirects=False,
        trust_env=False,
    )


async def _once(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Sends the request, and turns what aiohttp would answer with a second sending into a loss."""
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:
        raise  # not connected, so nothing has left
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise AnswerLost(type(error).__name__) from error
