"""How near a poll and a council with slow agents come to the time that the agents alone need."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.figures import Figure
from benchmarks.meetings import hold, keep_agent
from benchmarks.service import running_service

_POLL_WAVES = 1
"""Everybody at once; a ranking is counted by code, so nobody else is asked."""

_COUNCIL_WAVES = 3
"""The answers, the rankings, and the chair's synthesis."""

_GATE_WAVES = 1
"""The closing question, which is put to all members at once."""


@dataclass(frozen=True, slots=True)
class Sizes:
    meetings: int = 10
    delay_seconds: float = 0.2
    respondents: int = 10
    members: int = 5


async def measure(sizes: Sizes) -> list[Figure]:
    poll, council = _poll(sizes.respondents), _council(sizes.members)
    gated = {**council, "completion_gate": {"min_completions": sizes.members}}
    cases = (
        (f"poll of {sizes.respondents}", poll, 1, _POLL_WAVES),
        (f"council of {sizes.members}", {**council, "completion_gate": False}, 2, _COUNCIL_WAVES),
        (f"council of {sizes.members}, gated", gated, 2, _COUNCIL_WAVES + _GATE_WAVES),
    )
    figures: list[Figure] = []
    async with running_service() as service, service.connected() as connection:
        await keep_agent(connection, "slow", kind="rehearsal", delay_seconds=sizes.delay_seconds)
        for name, wish, rounds, waves in cases:
            await hold(connection, wish, rounds)
            took = [await hold(connection, wish, rounds) for _ in range(sizes.meetings)]
            figures.append(_over(name, statistics.median(took), waves, sizes))
    return figures


def _over(name: str, median: float, waves: int, sizes: Sizes) -> Figure:
    floor = waves * sizes.delay_seconds
    how = (
        f"median of {sizes.meetings}: {median * 1000:.1f} ms against {floor * 1000:.0f} "
        f"({waves} x {sizes.delay_seconds * 1000:.0f} ms)"
    )
    return Figure(f"{name}, over the floor", (median / floor - 1) * 100, "%", how, "< 15")


def _poll(respondents: int) -> dict[str, Any]:
    return {
        "topic": "Which language should the new service be written in?",
        "format": "poll",
        "options": ["Go", "Python", "Rust"],
        "rules": {"output": "ranking"},
        **_seated(respondents),
    }


def _council(members: int) -> dict[str, Any]:
    return {
        "topic": "How do we keep the build under ten minutes?",
        "format": "council",
        "secretary": "slow",
        **_seated(members),
    }


def _seated(count: int) -> Mapping[str, Any]:
    return {"participants": [{"name": f"seat-{n}", "agent": "slow"} for n in range(count)]}
