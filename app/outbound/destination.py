"""A place where deliverables are saved, over HTTP: PUT, then GET of the same URL (PROTOCOLS 13).

One call is one request. What comes back is a value of the domain, whatever the far side does; when
to write, to look and to give up is decided there (``app.domain.operation``).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable

import aiohttp
import httpx2

from app.domain.operation.terms import (
    Check,
    Fate,
    Finding,
    Look,
    Operation,
    Write,
    WriteAnswer,
    compare,
    sha256_of,
)
from app.outbound import answers
from app.outbound.digests import claimed_sha256, content_digest
from app.outbound.guard import TargetRefused

MOST_BODY_BYTES = 4 * 1024 * 1024
_CONTENT_TYPE = "text/markdown; charset=utf-8"
_CONNECT_SECONDS = 5.0
_PLAIN = frozenset({"", "identity"})
_OK = 200
_FAR_SIDE = (httpx2.HTTPError, httpx2.InvalidURL, aiohttp.ClientError, TargetRefused, OSError)
"""What a request can end in. The bridge to aiohttp lets some of aiohttp's own errors through, and
both a time limit and a broken connection are an ``OSError``."""

Client = Callable[[], httpx2.AsyncClient]


class HttpDestination:
    """Saves and looks with a client that passes the guard (``OutboundConnections.client``)."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def write(self, operation: Operation, content: bytes, write: Write) -> WriteAnswer:
        """One PUT, and what its answer says of it; cancelling the call aborts the request.

        The key is the operation's id, so a far side that keeps keys stores it once however often
        it is sent. Raises ``ValueError`` if the content is not the operation's.
        """
        if sha256_of(content) != operation.sha256:
            raise ValueError(f"{operation.id}: the content is not what was to be saved")
        if len(content) > MOST_BODY_BYTES:
            too_large = "The deliverable is too large to be read back."
            return WriteAnswer(Fate.REFUSED, too_large, left=False)
        headers = {
            "Content-Type": _CONTENT_TYPE,
            "Content-Digest": content_digest(operation.sha256),
            "Idempotency-Key": operation.id,
        }
        if write.only_if_absent:
            headers["If-None-Match"] = "*"
        client = self._client()
        try:
            async with (
                asyncio.timeout(write.patience_seconds),
                client.stream(
                    "PUT",
                    operation.url,
                    content=content,
                    headers=headers,
                    timeout=_connecting_within(write.patience_seconds),
                ) as response,
            ):
                return answers.write_answer(response.status_code, response.headers)
        except _FAR_SIDE as error:
            return answers.failed_write(error)

    async def look(self, operation: Operation, check: Check) -> Finding:
        """One GET, and what it shows; cancelling the call aborts the request."""
        headers = {
            "Accept": "text/markdown, */*;q=0.1",
            "Cache-Control": "no-cache",
            "Want-Content-Digest": "sha-256=1",
        }
        client = self._client()
        try:
            async with (
                asyncio.timeout(check.patience_seconds),
                client.stream(
                    "GET",
                    operation.url,
                    headers=headers,
                    timeout=_connecting_within(check.patience_seconds),
                ) as response,
            ):
                if response.status_code != _OK:
                    return answers.no_finding(response.status_code, response.headers)
                return await _found(operation, response)
        except _FAR_SIDE as error:
            return answers.failed_look(error)


async def _found(operation: Operation, response: httpx2.Response) -> Finding:
    """What is there: by its bytes, or by what is claimed of them where they cannot be read."""
    claimed = claimed_sha256(response.headers.get("Content-Digest"))
    if response.headers.get("Content-Encoding", "").strip().lower() not in _PLAIN:
        seen, why = None, "The content came in a compressed form that was not asked for."
    else:
        seen, why = await _sha256_of_body(response), ""
    look = compare(operation.sha256, seen, claimed)
    if look is Look.DIFFERENT and claimed == operation.sha256:
        why = "Something else is there, though its Content-Digest says it is the same."
    other = seen or claimed if look is Look.DIFFERENT else None
    return Finding(look, why, answers.version(response.headers), sha256=other)


async def _sha256_of_body(response: httpx2.Response) -> str:
    """The digest in hexadecimal; of a body over the bound, one that fits nothing we have sent."""
    digest, left = hashlib.sha256(), MOST_BODY_BYTES
    async for chunk in response.aiter_raw():
        digest.update(chunk)
        left -= len(chunk)
        if left < 0:
            break
    return digest.hexdigest()


def _connecting_within(patience_seconds: float) -> httpx2.Timeout:
    """The limit for making a connection, name and handshake included; it is over before the whole
    request's, since a request that never left is known not to have been stored."""
    seconds = min(_CONNECT_SECONDS, patience_seconds / 2)
    # "pool" is what the bridge hands to aiohttp as the limit for getting a connection at all.
    return httpx2.Timeout(None, pool=seconds)
