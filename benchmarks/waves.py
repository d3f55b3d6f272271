"""How near a meeting with slow agents comes to the time that the agents alone need."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from benchmarks.figures import Figure
from benchmarks.meetings import hold, keep_agent, round_table
from benchmarks.service import running_service

_ROUNDS = 3
_OF_THE_SECRETARY = _ROUNDS
"""A summary between any two rounds, and the synthesis."""


@dataclass(frozen=True, slots=True)
class Sizes:
    meetings: int = 10
    delay_seconds: float = 0.2


async def measure(sizes: Sizes) -> list[Figure]:
    figures: list[Figure] = []
    async with running_service() as service, service.connected() as connection:
        delay = sizes.delay_seconds
        await keep_agent(connection, "slow", kind="rehearsal", delay_seconds=delay)
        await hold(connection, round_table())
        for secretary, waves in (("default", _ROUNDS), ("slow", _ROUNDS + _OF_THE_SECRETARY)):
            wish = round_table(("slow",) * 3, secretary)
            took = [await hold(connection, wish) for _ in range(sizes.meetings)]
            floor = waves * delay
            median = statistics.median(took)
            kind = "a secretary that answers at once" if waves == _ROUNDS else "a slow secretary"
            how = (
                f"median of {sizes.meetings}: {median * 1000:.1f} ms against {floor * 1000:.0f} "
                f"({waves} waves of {delay * 1000:.0f} ms, {kind})"
            )
            over = (median / floor - 1) * 100
            figures.append(Figure(f"over the floor, {waves} waves", over, "%", how, "< 5"))
    return figures
