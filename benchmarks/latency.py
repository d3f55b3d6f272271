"""From a model's answer to the subscriber's eye."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from itertools import count

from benchmarks.figures import Figure, percentile
from benchmarks.meetings import SEATS, events_path, open_meeting
from benchmarks.provider import Asked, running_provider
from benchmarks.script import SECRETARY, debate, keep_debaters, reply
from benchmarks.service import Service, ServiceFailed, running_service

_MARK = re.compile(rb"reply-mark-(\d+)-")


@dataclass(frozen=True, slots=True)
class Sizes:
    at_once: tuple[int, ...] = (1, 20)
    rounds: int = 6
    meetings: int = 40
    thinking_seconds: float = 0.05


class _Watch:
    """Marks every reply, so that the frame that holds it is known again.

    Both ends are in this process, so both times come from one clock.
    """

    def __init__(self, thinking_seconds: float) -> None:
        self._thinking = thinking_seconds
        self._marks = count()
        self._answered: dict[int, float] = {}
        self.delays: list[float] = []

    async def answer(self, asked: Asked) -> str:
        text = reply(asked)
        await asyncio.sleep(self._thinking)
        if asked.model == SECRETARY:
            return text
        mark = next(self._marks)
        self._answered[mark] = time.perf_counter()
        return f"reply-mark-{mark}- {text}"

    def saw(self, piece: bytes) -> None:
        now = time.perf_counter()
        for found in _MARK.findall(piece):
            answered = self._answered.pop(int(found), None)
            # A mark comes again where the meeting's end quotes those who dissent.
            if answered is not None:
                self.delays.append(now - answered)


async def measure(sizes: Sizes) -> list[Figure]:
    return [figure for at_once in sizes.at_once for figure in await _measured(at_once, sizes)]


async def _measured(at_once: int, sizes: Sizes) -> list[Figure]:
    watch = _Watch(sizes.thinking_seconds)
    async with running_provider(watch.answer) as base_url, running_service() as service:
        async with service.connected() as connection:
            await keep_debaters(connection, base_url)
        await _follow(service, watch, 1)
        watch.delays.clear()
        meetings = [_follow(service, watch, sizes.rounds) for _ in range(sizes.meetings)]
        while meetings:
            batch, meetings = meetings[:at_once], meetings[at_once:]
            await asyncio.gather(*batch)
    expected = sizes.meetings * sizes.rounds * len(SEATS)
    if len(watch.delays) != expected:
        raise ServiceFailed(f"{len(watch.delays)} replies were seen, not {expected}.")
    where = "lone meetings" if at_once == 1 else f"meetings, {at_once} at once"
    how = (
        f"{len(watch.delays)} replies in {where}; from the provider's answer to the frame's "
        "arrival, both ends in one process"
    )
    return [
        Figure(f"reply to subscriber p{share}, {at_once} at once", delay * 1000, "ms", how)
        for share in (50, 99)
        for delay in (percentile(watch.delays, share / 100),)
    ]


async def _follow(service: Service, watch: _Watch, rounds: int) -> None:
    async with service.connected() as connection:
        meeting_id = await open_meeting(connection, debate(rounds))
        async for piece in connection.stream(events_path(meeting_id)):
            watch.saw(piece)
