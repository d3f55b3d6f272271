"""HTTP toward model providers: bounded while it streams in, and nothing taken on trust.

- A body is read to its bound and no further, decompressed size included: a small compressed
  body can hold gigabytes. We ask for none; a server that compresses all the same is read.
- No redirects: the SDKs send a key in a header of their own, which would follow to any host.
- No cookies: agents of different owners share this client.
- No proxies or certificates out of the environment (``trust_env``), and no timeouts: the
  deadline is the coordinator's, which cancels the call.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import cast

import aiohttp
import httpx2
from httpx_aiohttp.httpx2 import AiohttpTransport

from app.domain.errors import AgentNonsense

_MOST_CONNECTIONS = 2_000
_IDLE_SECONDS = 30.0
_DNS_SECONDS = 60
_GZIP_OR_ZLIB = 47
"""zlib's window bits for "find out from the header which of the two it is"."""

_PLAIN = frozenset({"", "identity"})
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})


def open_client(most_body_bytes: int) -> httpx2.AsyncClient:
    """A client whose answers hold at most so many bytes, decompressed.

    A larger one, or one in an encoding that was not asked for, raises ``AgentNonsense``.
    """
    certificates = httpx2.create_ssl_context(trust_env=False)

    def open_session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=_MOST_CONNECTIONS,
            keepalive_timeout=_IDLE_SECONDS,
            ttl_dns_cache=_DNS_SECONDS,
            ssl=certificates,
        )
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    wire = AiohttpTransport(verify=certificates, trust_env=False, client=open_session)
    return httpx2.AsyncClient(
        transport=_BoundedTransport(wire, most_body_bytes),
        headers={"Accept-Encoding": "identity"},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=None,
        follow_redirects=False,
        trust_env=False,
    )


class _BoundedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, wire: httpx2.AsyncBaseTransport, most_bytes: int) -> None:
        self._wire = wire
        self._most_bytes = most_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._wire.handle_async_request(request)
        except aiohttp.ClientError as error:
            # The bridge maps most of aiohttp's errors; the rest would pass as nobody's.
            raise httpx2.RemoteProtocolError(type(error).__name__, request=request) from error
        try:
            return self._bounded(response)
        except AgentNonsense:
            await response.aclose()
            raise

    def _bounded(self, response: httpx2.Response) -> httpx2.Response:
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        if encoding not in _PLAIN | _COMPRESSED:
            raise AgentNonsense("The answer came in a compressed form that was not asked for.")
        announced = response.headers.get("Content-Length", "")
        if announced.isdecimal() and _is_over(announced, self._most_bytes):
            raise _too_large(self._most_bytes)
        wire = cast("httpx2.AsyncByteStream", response.stream)
        body = _BoundedBody(wire, self._most_bytes, encoding in _COMPRESSED)
        # What leaves here is plain, so the headers of the compressed form would be wrong.
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in ("content-encoding", "content-length")
        ]
        return httpx2.Response(
            response.status_code, headers=headers, stream=body, extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._wire.aclose()


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, wire: httpx2.AsyncByteStream, most_bytes: int, compressed: bool) -> None:
        self._wire = wire
        self._most_bytes = most_bytes
        self._inflating = zlib.decompressobj(_GZIP_OR_ZLIB) if compressed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most_bytes
        try:
            async for chunk in self._wire:
                plain = self._plain(chunk, left)
                left -= len(plain)
                if left < 0:
                    raise _too_large(self._most_bytes)
                yield plain
        except aiohttp.ClientError as error:
            raise httpx2.ReadError(type(error).__name__) from error

    def _plain(self, chunk: bytes, left: int) -> bytes:
        """The chunk decompressed, to one byte over the bound at the most."""
        if self._inflating is None:
            return chunk
        try:
            return self._inflating.decompress(chunk, left + 1)
        except zlib.error as error:
            raise AgentNonsense("The answer's compression is broken.") from error

    async def aclose(self) -> None:
        await self._wire.aclose()


def _is_over(announced: str, most_bytes: int) -> bool:
    # By length first: int() refuses the number of thousands of digits that a header can hold.
    digits = announced.lstrip("0")
    return len(digits) > len(str(most_bytes)) or int(digits or "0") > most_bytes


def _too_large(most_bytes: int) -> AgentNonsense:
    mebibytes = most_bytes / (1024 * 1024)
    return AgentNonsense(f"The answer is larger than {mebibytes:g} MiB; it was not read further.")
