"""Durable 3x3 meetings a second, each with its own subscriber."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from benchmarks.figures import Figure
from benchmarks.meetings import hold, round_table
from benchmarks.service import Service, running_service

_TARGETS = {100: ">= 200"}


@dataclass(frozen=True, slots=True)
class Sizes:
    at_once: tuple[int, ...] = (1, 20, 100)
    seconds: float = 10.0
    warm_up_seconds: float = 2.0


async def measure(sizes: Sizes) -> list[Figure]:
    figures: list[Figure] = []
    for at_once in sizes.at_once:
        async with running_service() as service:
            await _load(service, at_once, sizes.warm_up_seconds)
            figures += await _measured(service, at_once, sizes.seconds)
    return figures


async def _measured(service: Service, at_once: int, seconds: float) -> list[Figure]:
    spent_before, own_before = service.cpu_seconds(), time.process_time()
    begun = time.perf_counter()
    held = await _load(service, at_once, seconds)
    took = time.perf_counter() - begun
    spent, own = service.cpu_seconds() - spent_before, time.process_time() - own_before
    how = (
        f"{held} meetings in {took:.1f} s; the service used {spent / took:.2f} cores, "
        f"{spent / held * 1000:.1f} ms a meeting, the load {own / took:.2f}"
    )
    target = _TARGETS.get(at_once)
    return [Figure(f"meetings, {at_once} at once", held / took, "/s", how, target)]


async def _load(service: Service, at_once: int, seconds: float) -> int:
    """Hold so many at once until the time is over, let the last ones end, and count them."""
    over = time.perf_counter() + seconds

    async def caller() -> int:
        held = 0
        async with service.connected() as connection:
            while time.perf_counter() < over:
                await hold(connection, round_table())
                held += 1
        return held

    return sum(await asyncio.gather(*(caller() for _ in range(at_once))))
