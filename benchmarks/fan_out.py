"""One meeting with a thousand subscribers."""

from __future__ import annotations

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import cast

from benchmarks.descriptors import allow_descriptors
from benchmarks.figures import Figure, percentile
from benchmarks.meetings import events_path, keep_agent, open_meeting, round_table
from benchmarks.provider import Asked, running_provider
from benchmarks.service import HOST, Service, running_service
from benchmarks.wire import event_in, request_head

_ID = re.compile(rb"\nid: (\d+)")
_STARTER = "starter"


@dataclass(frozen=True, slots=True)
class Sizes:
    subscribers: int = 1_000
    seats: int = 20
    apart_seconds: float = 0.25
    """Between two replies while single deliveries are timed: each is through before the next."""
    crowded_seconds: float = 0.01
    """The same while deliveries are counted: more than the service can pass on at once."""


class _Subscriber(asyncio.Protocol):
    """Notes when each event arrives, and does nothing else."""

    def __init__(self, path: str, arrivals: defaultdict[int, list[float]], keep: bool) -> None:
        self._path = path
        self._arrivals = arrivals
        self._rest = b""
        self._keep = keep
        self.kept: list[bytes] = []
        self.first = asyncio.Event()
        self.over = asyncio.Event()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports can write, and are of no class that says so.
        self._transport = cast("asyncio.WriteTransport", transport)
        self._transport.write(request_head("GET", self._path) + b"\r\n")

    def data_received(self, data: bytes) -> None:
        now = time.time()
        # Up to the last empty line, so that no id is cut in two.
        frames, _, self._rest = (self._rest + data).rpartition(b"\n\n")
        for id_ in _ID.findall(frames):
            self._arrivals[int(id_)].append(now)
        if self._keep:
            self.kept.append(frames)
        self.first.set()
        if data.endswith(b"0\r\n\r\n") and self._transport is not None:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.over.set()


@dataclass(frozen=True, slots=True)
class _Crowd:
    """What the subscribers of one meeting saw of the events made after they were all there."""

    made_at: Mapping[int, float]
    arrivals: Mapping[int, Sequence[float]]
    bytes_each: float

    @property
    def deliveries(self) -> int:
        return sum(map(len, self.arrivals.values()))

    def only(self, numbers: Sequence[int]) -> _Crowd:
        return _Crowd(
            {number: self.made_at[number] for number in numbers},
            {number: self.arrivals[number] for number in numbers},
            self.bytes_each,
        )

    def delays(self) -> list[float]:
        return [
            arrived - self.made_at[number]
            for number, times in self.arrivals.items()
            for arrived in times
        ]


async def measure(sizes: Sizes) -> list[Figure]:
    allow_descriptors(sizes.subscribers + 1_000)
    apart = await _attended(sizes, sizes.apart_seconds)
    crowded = await _attended(sizes, sizes.crowded_seconds)
    alone = apart.only(_alone(apart.made_at, sizes.apart_seconds / 2))
    spans = [max(times) - alone.made_at[number] for number, times in alone.arrivals.items()]
    whole = max(map(max, crowded.arrivals.values())) - min(crowded.made_at.values())
    who = f"{sizes.subscribers:,} subscribers"
    return [
        Figure(
            "fan-out, events apart",
            alone.deliveries / sum(spans),
            "deliveries/s",
            f"{who}, {len(spans)} events apart; from an event's making to its last arrival",
            ">= 15000",
        ),
        Figure(
            "fan-out, events crowded",
            crowded.deliveries / whole,
            "deliveries/s",
            f"{len(crowded.arrivals)} events as fast as they come, several to a packet; all of it",
            ">= 15000",
        ),
        Figure(
            "fan-out, delivery p99",
            percentile(alone.delays(), 0.99) * 1000,
            "ms",
            "the same events; from the event's own time, which lies just before its commit",
            "< 80",
        ),
        Figure(
            "fan-out, memory each",
            apart.bytes_each / 1024,
            "KiB",
            f"growth of VmRSS while {who} connect and catch up, a subscriber",
            "< 60",
        ),
    ]


async def _attended(sizes: Sizes, between: float) -> _Crowd:
    """Hold a meeting in which nothing goes on before all subscribers are there."""
    asked, begin = asyncio.Event(), asyncio.Event()

    async def starter(_: Asked) -> str:
        asked.set()
        await begin.wait()
        return "Let us hear the others first.\n\n[STANCE: DISAGREE]"

    async with running_provider(starter) as base_url, running_service() as service:
        async with service.connected() as connection:
            await keep_agent(
                connection, _STARTER, kind="llm", model="openai:m", base_url=base_url, api_key="x"
            )
            names = [f"after-{place}" for place in range(1, sizes.seats)]
            for place, name in enumerate(names, 1):
                await keep_agent(connection, name, kind="rehearsal", delay_seconds=place * between)
            meeting_id = await open_meeting(connection, round_table((_STARTER, *names), rounds=2))
        await asyncio.wait_for(asked.wait(), timeout=30)
        await asyncio.sleep(sizes.seats * between)
        return await _watched(service, meeting_id, sizes.subscribers, begin)


async def _watched(
    service: Service, meeting_id: str, subscribers: int, begin: asyncio.Event
) -> _Crowd:
    arrivals: defaultdict[int, list[float]] = defaultdict(list)
    before = service.resident_bytes()
    path = events_path(meeting_id)
    crowd = [_Subscriber(path, arrivals, keep=number == 0) for number in range(subscribers)]
    for subscriber in crowd:
        await _join(service, subscriber)
    await asyncio.gather(*(subscriber.first.wait() for subscriber in crowd))
    bytes_each = (service.resident_bytes() - before) / subscribers
    begun = time.time()
    begin.set()
    await asyncio.gather(*(subscriber.over.wait() for subscriber in crowd))
    made_at = {id_: at for id_, at in _times(crowd[0].kept).items() if at > begun}
    return _Crowd(made_at, {id_: arrivals[id_] for id_ in made_at}, bytes_each)


async def _join(service: Service, subscriber: _Subscriber) -> None:
    loop = asyncio.get_running_loop()
    await loop.create_connection(lambda: subscriber, HOST, service.port)


def _alone(made_at: Mapping[int, float], seconds: float) -> list[int]:
    """The events that nothing came before or after by less than so much."""
    times = sorted(made_at.values())
    pauses = [later - earlier for earlier, later in pairwise(times)]
    # The first is left out: what came before it is not known here.
    quiet = {
        time
        for time, before, after in zip(times[1:], pauses, [*pauses[1:], seconds], strict=True)
        if min(before, after) >= seconds
    }
    return [number for number, time in made_at.items() if time in quiet]


def _times(pieces: Sequence[bytes]) -> dict[int, float]:
    found = (event_in(line) for piece in pieces for line in piece.split(b"\n"))
    return {
        event["id"]: datetime.fromisoformat(event["at"]).timestamp()
        for event in found
        if event is not None
    }
