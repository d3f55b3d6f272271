"""What the service itself costs: a lone 3x3 meeting whose agents answer at once."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from benchmarks.figures import Figure
from benchmarks.meetings import hold, round_table
from benchmarks.service import running_service


@dataclass(frozen=True, slots=True)
class Sizes:
    meetings: int = 200
    warm_up: int = 20


async def measure(sizes: Sizes) -> list[Figure]:
    async with running_service() as service, service.connected() as connection:
        for _ in range(sizes.warm_up):
            await hold(connection, round_table())
        spent_before = service.cpu_seconds()
        took = [await hold(connection, round_table()) for _ in range(sizes.meetings)]
        spent = service.cpu_seconds() - spent_before
    how = f"{sizes.meetings} one after another, POST to meeting.ended over SSE; median"
    return [
        Figure("coordination, wall", statistics.median(took) * 1000, "ms", how, "< 20"),
        Figure(
            "coordination, CPU",
            spent / sizes.meetings * 1000,
            "ms",
            "user and kernel time of the service's process a meeting, from /proc",
        ),
    ]
