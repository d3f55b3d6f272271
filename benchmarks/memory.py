"""Resident memory, idle and with many meetings open."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from benchmarks.descriptors import allow_descriptors
from benchmarks.figures import Figure
from benchmarks.meetings import SEATS, keep_agent, open_meeting, round_table
from benchmarks.provider import Asked, running_provider
from benchmarks.script import debate, keep_debaters
from benchmarks.service import Service, running_service

_MB = 1e6
_CALLERS = 20


@dataclass(frozen=True, slots=True)
class Sizes:
    meetings: int = 1_000
    settle_seconds: float = 2.0


async def measure(sizes: Sizes) -> list[Figure]:
    allow_descriptors(4 * sizes.meetings + 1_000)
    return [*await _rehearsed(sizes), await _asking(sizes)]


async def _rehearsed(sizes: Sizes) -> list[Figure]:
    """With agents that take longer than the benchmark does."""
    async with running_service() as service:
        async with service.connected() as connection:
            await keep_agent(connection, "silent", kind="rehearsal", delay_seconds=60)
        idle = service.resident_bytes() / _MB
        await _open_all(service, round_table(("silent",) * len(SEATS)), sizes.meetings)
        await asyncio.sleep(sizes.settle_seconds)
        busy = service.resident_bytes() / _MB
    how = "VmRSS of the service's process, just started"
    with_many = f"the same with {sizes.meetings:,} meetings whose rehearsing agents never answer"
    return [
        Figure("memory, no meeting", idle, "MB", how, "< 150"),
        Figure(f"memory, {sizes.meetings:,} open meetings", busy, "MB", with_many, "< 150"),
    ]


async def _asking(sizes: Sizes) -> Figure:
    """With models behind HTTP that never answer: a provider's SDK and a connection for each."""
    asked = 0
    all_wait = asyncio.Event()

    async def never(_: Asked) -> str:
        nonlocal asked
        asked += 1
        if asked >= sizes.meetings:
            all_wait.set()
        await asyncio.Event().wait()
        return ""

    async with running_provider(never) as base_url, running_service() as service:
        async with service.connected() as connection:
            await keep_debaters(connection, base_url)
        await _open_all(service, debate(rounds=3), sizes.meetings)
        # The first question loads the provider's SDK, which takes what it takes.
        await all_wait.wait()
        await asyncio.sleep(sizes.settle_seconds)
        busy = service.resident_bytes() / _MB
    how = f"the same with models over HTTP; a stand-in provider holds {asked:,} requests open"
    return Figure(f"memory, {sizes.meetings:,} asking models", busy, "MB", how)


async def _open_all(service: Service, wish: dict[str, object], meetings: int) -> None:
    async def caller(share: int) -> None:
        async with service.connected() as connection:
            for _ in range(share):
                await open_meeting(connection, wish)

    shares = [len(range(first, meetings, _CALLERS)) for first in range(_CALLERS)]
    await asyncio.gather(*(caller(share) for share in shares))
