"""Logs of meetings, written by hand, and the bytes of a stream, read as a browser reads them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from app.coordinator.ports import EventLog, Idempotency
from app.domain.meeting import events
from app.domain.meeting.events import Entry, Event
from app.domain.meeting.meeting import Meeting, Seat
from app.domain.money import NOTHING, Cost
from app.domain.values import rfc3339
from tests.clock import START

NAMES = ("ann", "ben", "cid")


def created(id_: str, topic: str = "One repository or several?", **fields: Any) -> Entry:
    seats = tuple(Seat(name, f"the role of {name}", "default") for name in NAMES)
    settings: dict[str, Any] = {
        "id": id_,
        "format": "roundtable",
        "format_version": 1,
        "topic": topic,
        "seats": seats,
        "secretary": "default",
    }
    meeting = Meeting(**(settings | fields))
    plan = {"prompts": 9, "closing_reserve": NOTHING.record()}
    record = {**meeting.record(), "plan": plan, "warnings": [], "agents": {}}
    return Entry(events.MEETING_CREATED, record, START, "create")


def entry(type_: str, seconds: float = 0, step: str | None = None, **data: Any) -> Entry:
    return Entry(type_, data, START + timedelta(seconds=seconds), step)


def started() -> Entry:
    deadline = (START + timedelta(seconds=600)).isoformat()
    return entry(events.MEETING_STARTED, 1, "start", deadline=deadline)


def reserved(who: str, round_: int = 1) -> Entry:
    """An internal entry."""
    asked = f"round-{round_}/ask/{who}"
    request = {
        "for": asked,
        "request_id": f"req_{asked}",
        "reserved": Cost(200, 800, Decimal("0.002")).record(),
        "closing": False,
    }
    return entry(
        events.REQUEST_RESERVED, 2, f"{asked}/request", who=who, agent="default", turn=0, **request
    )


def reply(who: str, round_: int = 1, text: str = "So be it. [STANCE: AGREE]") -> Entry:
    return entry(
        events.REPLY_RECEIVED,
        3,
        f"round-{round_}/ask/{who}",
        participant=who,
        round=round_,
        status="ok",
        stance="AGREE",
        text=text,
        attempt=1,
        final=True,
        reason=None,
        usage={"input_tokens": 100, "output_tokens": 20, "usd": "0.0011"},
    )


def round_(number: int = 1) -> list[Entry]:
    """A whole round: five public entries among eight."""
    return [
        entry(
            events.ROUND_STARTED, 2, f"round-{number}/start", round=number, motion="One repository."
        ),
        *(reserved(name, number) for name in NAMES),
        *(reply(name, number) for name in NAMES),
        entry(
            events.ROUND_CLOSED,
            4,
            f"round-{number}/close",
            round=number,
            consensus="FULL_CONSENSUS",
        ),
    ]


def ended(decision: str | None = "One repository.", result: str = "decided") -> Entry:
    dissent = {
        "participant": "cid",
        "position": "Several.",
        "rationale": "Teams differ.",
        "mitigation": None,
        "round": 1,
    }
    outcome = {
        "result": result,
        "decision": decision,
        "dissents": [dissent],
        "synthesis": {"recommendation": "Begin in January.", "agreed": ["a trial"]},
    }
    data = {"result": result, "decision": decision, "outcome": outcome}
    made = entry(events.MEETING_ENDED, 9, "end", **data)
    return replace(made, data={**made.data, "ended_at": rfc3339(made.at)})


def whole(id_: str, **fields: Any) -> list[Entry]:
    """A meeting of one round, from its creation to its end: eight public entries of eleven."""
    return [created(id_, **fields), started(), *round_(), ended()]


PUBLIC_IN_WHOLE = 8


async def put(
    log: EventLog, id_: str, *entries: Entry, idempotency: Idempotency | None = None
) -> Sequence[Event]:
    """Append after whatever the meeting's log holds."""
    last = len(await log.read(id_))
    return await log.append(id_, last, entries, idempotency)


@dataclass(frozen=True, slots=True)
class Sent:
    """An event as an SSE client dispatches it."""

    id: str
    event: str
    data: dict[str, Any]


def read_stream(content: bytes) -> list[Sent]:
    """The events in a stream, by the rules of the HTML standard, 9.2.6."""
    found: list[Sent] = []
    fields: dict[str, str] = {}
    data: list[str] = []
    for line in re.split("\r\n|\n|\r", content.decode()):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            if data:
                found.append(Sent(fields["id"], fields["event"], json.loads("\n".join(data))))
            fields, data = {}, []
        elif name == "data":
            data.append(value)
        else:
            fields[name] = value
    assert not data, "the stream ends within an event"
    return found


def numbers(sent: Sequence[Sent]) -> list[int]:
    return [int(one.id) for one in sent]


class Follower:
    """Reads a stream in the background; ``until`` waits for one of its events."""

    def __init__(self, frames: AsyncIterator[bytes]) -> None:
        self.content = b""
        self.chunks: list[bytes] = []
        self._more = asyncio.Condition()
        self._task = asyncio.create_task(self._read(frames))

    @property
    def sent(self) -> list[Sent]:
        return read_stream(self.content)

    async def end(self) -> list[Sent]:
        """Everything, once the stream has ended by itself."""
        await self._task
        return self.sent

    async def until(self, count: int) -> list[Sent]:
        """So many events at least."""
        async with self._more:
            await self._more.wait_for(lambda: len(self.sent) >= count or self._task.done())
        assert len(self.sent) >= count
        return self.sent

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self, frames: Any) -> None:
        async with aclosing(frames) as chunks:
            async for chunk in chunks:
                self.chunks.append(chunk)
                self.content += chunk
                async with self._more:
                    self._more.notify_all()
        async with self._more:
            self._more.notify_all()


async def followed(frames: AsyncIterator[bytes]) -> list[Sent]:
    return await Follower(frames).end()
