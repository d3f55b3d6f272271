"""How much of a hostile body is ever held."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from app.agents.connections import Connections
from app.domain.errors import AgentNonsense
from tests.provider import Gate, Provider, Reply

MEBIBYTE = 1024 * 1024


async def test_an_announced_length_over_the_bound_is_not_waited_for(
    provider: Provider, connections: Connections
) -> None:
    provider.will(Reply(body=b"x" * 6 * MEBIBYTE, dribble=Gate()))
    with pytest.raises(AgentNonsense, match="larger than 4 MiB"):
        await connections.client().post(f"{provider.url}/x", json={})


async def test_a_length_that_is_made_up(provider: Provider, connections: Connections) -> None:
    provider.will(Reply(body=b"{}", headers={"Content-Length": "9" * 18}, chunked=True))
    with pytest.raises(AgentNonsense, match="larger than 4 MiB"):
        await connections.client().post(f"{provider.url}/x", json={})


async def test_a_bomb_is_never_unpacked_beyond_the_bound(
    provider: Provider, connections: Connections
) -> None:
    """One chunk off the wire, 16 KiB, would be as many MiB by itself."""
    bomb = gzip.compress(bytes(64 * MEBIBYTE))
    provider.will(Reply(body=bomb, headers={"Content-Encoding": "gzip"}))
    client = connections.client()
    tracemalloc.start()
    try:
        with pytest.raises(AgentNonsense, match="larger than 4 MiB"):
            await client.post(f"{provider.url}/x", json={})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 * MEBIBYTE


async def test_a_connection_is_used_again_after_a_bomb(
    provider: Provider, connections: Connections
) -> None:
    provider.will(Reply.gzip_bomb(64 * MEBIBYTE), Reply(body=b"{}"))
    with pytest.raises(AgentNonsense):
        await connections.client().post(f"{provider.url}/x", json={})
    answer = await connections.client().post(f"{provider.url}/x", json={})
    assert answer.content == b"{}"


async def test_a_small_bound_counts_bytes(provider: Provider) -> None:
    opened = Connections(most_body_bytes=10)
    try:
        for size, fits in ((10, True), (11, False)):
            for reply in (
                Reply(body=b"x" * size),
                Reply(body=b"x" * size, chunked=True),
                Reply(body=b"x" * size, compressed=True, chunked=True),
            ):
                provider.will(reply)
                if fits:
                    answer = await opened.client().post(f"{provider.url}/x", json={})
                    assert answer.content == b"x" * size
                else:
                    with pytest.raises(AgentNonsense):
                        await opened.client().post(f"{provider.url}/x", json={})
    finally:
        await opened.close()
