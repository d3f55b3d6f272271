"""From kill -9 to the first new event of a meeting that was under way."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from dataclasses import dataclass
from datetime import datetime

from benchmarks.figures import Figure
from benchmarks.meetings import SEATS, events_path, keep_agent, open_meeting, round_table
from benchmarks.service import Service, ServiceFailed, running_service
from benchmarks.wire import events

_UNTIL_KILLED_SECONDS = 0.3
"""Into the second of six waves: replies lie in the log and more are being waited for."""


@dataclass(frozen=True, slots=True)
class Sizes:
    kills: int = 5
    meetings: int = 50
    delay_seconds: float = 0.2


async def measure(sizes: Sizes) -> list[Figure]:
    found = [await _killed_once(sizes) for _ in range(sizes.kills)]
    to_event = statistics.median(first for _, first in found)
    to_ready = statistics.median(ready for ready, _ in found)
    how = (
        f"median of {sizes.kills}, {sizes.meetings} unfinished meetings, started again at once; "
        f"includes the {sizes.delay_seconds * 1000:.0f} ms that the asked agent takes"
    )
    return [
        Figure("kill -9 to first new event", to_event, "s", how, "< 1.5"),
        Figure("kill -9 to readyz", to_ready, "s", "of which until the service answers"),
    ]


async def _killed_once(sizes: Sizes) -> tuple[float, float]:
    """Seconds from the kill until the service answers, and until its first new event."""
    async with running_service() as service:
        async with service.connected() as connection:
            delay = sizes.delay_seconds
            await keep_agent(connection, "slow", kind="rehearsal", delay_seconds=delay)
            wish = round_table(("slow",) * len(SEATS), "slow")
            opened = [await open_meeting(connection, wish) for _ in range(sizes.meetings)]
        await asyncio.sleep(_UNTIL_KILLED_SECONDS)
        killed_at, killed = time.time(), time.perf_counter()
        service.kill()
        service.launch()
        await service.answering()
        ready = time.perf_counter() - killed
        first = await _first_new_event(service, opened, killed_at)
        await _all_end(service, opened)
        return ready, first - killed


async def _first_new_event(service: Service, opened: list[str], killed_at: float) -> float:
    """When any follower sees an event that was made after the kill."""
    following = [asyncio.create_task(_new_event(service, id_, killed_at)) for id_ in opened]
    await asyncio.wait(following, return_when=asyncio.FIRST_COMPLETED)
    seen = min(task.result() for task in following if task.done())
    for task in following:
        task.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    return seen


async def _new_event(service: Service, meeting_id: str, killed_at: float) -> float:
    async with service.connected() as connection:
        async for event in events(connection, events_path(meeting_id)):
            if datetime.fromisoformat(event["at"]).timestamp() > killed_at:
                return time.perf_counter()
    raise ServiceFailed(f"{meeting_id} had ended before the kill; give it slower agents.")


async def _all_end(service: Service, opened: list[str]) -> None:
    """Every meeting goes on to its end; the figure would be worth nothing otherwise."""

    async def end(meeting_id: str) -> None:
        async with service.connected() as connection:
            numbers = [event["id"] async for event in events(connection, events_path(meeting_id))]
            state = json.loads(await connection.get(f"/v1/meetings/{meeting_id}"))
        if numbers != list(range(1, len(numbers) + 1)) or state["status"] != "ended":
            raise ServiceFailed(f"{meeting_id} did not come to its end without gap or repeat.")

    await asyncio.gather(*(end(meeting_id) for meeting_id in opened))
