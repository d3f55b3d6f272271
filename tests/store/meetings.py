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
from app.domain.meeting.entries import Content, Entry, Event, of_record
from app.domain.meeting.meeting import Meeting, Seat
from app.domain.meeting.outcome import Completeness, Dissent, Outcome, Result, StopReason
from app.domain.money import NOTHING, Cost
from app.domain.replies.reading import ReplyStatus
from app.domain.values import JsonObject
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
    plan: JsonObject = {"prompts": 9, "closing_reserve": NOTHING.record()}
    return Entry(events.MeetingCreated(meeting=meeting, plan=plan), START, "create")


def entry(content: Content, seconds: float = 0, step: str | None = None) -> Entry:
    return Entry(content, START + timedelta(seconds=seconds), step)


def unknown(seconds: float = 0, **fields: Any) -> Entry:
    """An entry of a type that only a later version knows."""
    return entry(of_record("x.said", fields), seconds)


def started() -> Entry:
    return entry(events.MeetingStarted(deadline=START + timedelta(seconds=600)), 1, "start")


def reserved(who: str, round_: int = 1) -> Entry:
    """An internal entry."""
    asked = f"round-{round_}/ask/{who}"
    request = events.RequestReserved(
        step=asked,
        request_id=f"req_{asked}",
        who=who,
        agent="default",
        reserved=Cost(200, 800, Decimal("0.002")),
    )
    return entry(request, 2, f"{asked}/request")


def unanswered(who: str, round_: int = 1) -> Entry:
    """What a later run writes of a request that was reserved so."""
    request = reserved(who, round_).content
    assert isinstance(request, events.RequestReserved)
    booked = events.RequestUnanswered(
        step=request.step,
        request_id=request.request_id,
        who=who,
        agent=request.agent,
        booked=request.reserved,
    )
    return entry(booked, 2)


def reply(who: str, round_: int = 1, text: str = "So be it. [STANCE: AGREE]") -> Entry:
    given = events.ReplyReceived(
        participant=who,
        round=round_,
        status=ReplyStatus.OK,
        text=text,
        read={"stance": "AGREE"},
        usage=Cost(100, 20, Decimal("0.0011")),
    )
    return entry(given, 3, f"round-{round_}/ask/{who}")


def round_(number: int = 1) -> list[Entry]:
    """A whole round: five public entries among eight."""
    begun = events.RoundStarted(round=number, motion="One repository.")
    closed = events.RoundClosed(round=number, consensus="FULL_CONSENSUS")
    return [
        entry(begun, 2, f"round-{number}/start"),
        *(reserved(name, number) for name in NAMES),
        *(reply(name, number) for name in NAMES),
        entry(closed, 4, f"round-{number}/close"),
    ]


def ended(decision: str | None = "One repository.", result: str = "decided") -> Entry:
    outcome = outcome_of(decision, result)
    at = START + timedelta(seconds=9)
    return Entry(events.MeetingEnded(outcome=outcome, ended_at=at), at, "end")


def outcome_of(decision: str | None = "One repository.", result: str = "decided") -> Outcome:
    return Outcome(
        Result(result),
        StopReason.CANCELLATION if result == "cancelled" else StopReason.ROUNDS,
        Completeness.PARTIAL,
        decision=decision,
        dissents=(Dissent("cid", "Several.", "Teams differ.", None, 1),),
        synthesis={"recommendation": "Begin in January.", "agreed": ["a trial"]},
    )


def decided(
    decision: str | None = "One repository.", result: str = "decided", **fields: Any
) -> Entry:
    """The decision as recorded, a second before the end; ``fields`` are others of its outcome."""
    outcome = replace(outcome_of(decision, result), **fields)
    return entry(events.DecisionRecorded(outcome=outcome, format="roundtable", spent={}), 8)


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
