"""The event log and its tail, over the database."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from sqlalchemy import select

from app.coordinator.ports import Idempotency
from app.domain.errors import Fault, InvalidRequest, NotFound
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.state import MeetingState
from app.domain.meeting.status import Status
from app.domain.operation.record import OPEN
from app.domain.operation.terms import OperationStatus
from app.store.database import LARGEST_INTEGER, Database, outages
from app.store.event_rows import Written, event_of
from app.store.feeds import Feed, Feeds
from app.store.frames import Frame, encode_frame, meeting_frame
from app.store.ledger import Append
from app.store.state_rows import state_of
from app.store.tables import EventRow, MeetingRow, OperationRow, table
from app.store.writer import LogWriter

_event = table(EventRow)
_meeting = table(MeetingRow)
_operation = table(OperationRow)

_FIRST_PAGE = 16
_LARGEST_PAGE = 500
_PAGE_BYTES = 256 * 1024
_CHUNK_BYTES = 64 * 1024
"""What a reader is given at once, unless a single event is larger."""

_MOST_CURSOR_DIGITS = 18
_MOST_FRESH = 2_000


class SqlEventLog:
    """Implements the ports ``EventLog`` and ``Tail``. Made on the event loop that uses it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._loop = asyncio.get_running_loop()
        self._feeds = Feeds()
        self._anything = asyncio.Event()
        # A meeting that was just created is read back at once by its runner; spare that.
        self._fresh: OrderedDict[str, Sequence[Event]] = OrderedDict()
        self._writer = LogWriter(database, self._committed)

    async def close(self) -> None:
        await self._writer.close()

    @property
    def writing(self) -> bool:
        """Whether appends are still taken; without that no meeting goes on."""
        return self._writer.alive

    async def append(
        self,
        meeting_id: str,
        expected: int,
        entries: Sequence[Entry],
        idempotency: Idempotency | None = None,
    ) -> Sequence[Event]:
        append = Append(meeting_id, expected, entries, idempotency)
        # A parent's log grows by a child's beginning.
        for id_ in (meeting_id, *append.ancestors):
            self._fresh.pop(id_, None)
        made = await self._writer.submit(append)
        if expected == 0 and self._database.embedded:
            self._fresh[meeting_id] = made
            if len(self._fresh) > _MOST_FRESH:
                self._fresh.popitem(last=False)
        return made

    async def read(self, meeting_id: str, after: int = 0) -> Sequence[Event]:
        fresh = self._fresh.pop(meeting_id, None)
        if fresh is not None and after == 0:
            return fresh
        query = (
            select(_event)
            .where(_event.c.meeting_id == meeting_id, _event.c.seq > after)
            .order_by(_event.c.seq)
        )
        return [event_of(row) for row in await self._rows(query)]

    async def state(self, meeting_id: str) -> MeetingState:
        rows = await self._rows(select(_meeting).where(_meeting.c.id == meeting_id))
        if not rows:
            raise NotFound(f"There is no meeting {meeting_id}.")
        return state_of(rows[0])

    async def unfinished(self) -> Sequence[str]:
        going_on = select(_meeting.c.id).where(_meeting.c.status != Status.ENDED.value)
        looked_after = select(_operation.c.meeting_id).where(
            _operation.c.state.in_([state.value for state in OPEN]),
            (_operation.c.state != OperationStatus.HANDED_OVER.value)
            | _operation.c.next_check_at.is_not(None),
        )
        query = going_on.union(looked_after).order_by("id")
        return [row["id"] for row in await self._rows(query)]

    # --- following ----------------------------------------------------------------------

    async def check(self, meeting_id: str) -> None:
        """Raises ``NotFound``. Of a meeting at work the feed knows without asking the database."""
        feed = self._feeds.get(meeting_id)
        if (feed is None or not feed.frames) and await self._status(meeting_id) is None:
            raise NotFound(f"There is no meeting {meeting_id}.")

    async def follow(self, meeting_id: str, after: int) -> AsyncIterator[bytes]:
        """Frames of the public events after ``after``, until an end that nothing follows.

        An earlier end of a meeting that was resumed is just an event on the way.
        """
        reached, page = after, _PageSize()
        feed = await self._feed(meeting_id)
        at_end = feed is None
        while True:
            # Taken before the look, so that what comes during the look is not missed.
            changed = None if feed is None else feed.changed
            frames = await self._next_frames(feed, meeting_id, reached, page)
            if frames:
                reached, at_end = frames[-1].number, frames[-1].last
                for chunk in chunks([frame.content for frame in frames]):
                    yield chunk
            elif at_end:
                return
            elif feed is not None and changed is not None and feed.goes_on:
                await changed.wait()
            else:
                # This feed gets no more frames, and yet the meeting goes on, or has since ended.
                feed = await self._feed(meeting_id)
                at_end = feed is None

    async def _feed(self, meeting_id: str) -> Feed | None:
        """Where the frames to come will be; None of a meeting that is over."""
        feed = self._feeds.open(meeting_id)
        if not feed.frames and await self._is_over(meeting_id) and not feed.frames:
            self._feeds.forget(meeting_id, feed)
            return None
        return feed

    async def _next_frames(
        self, feed: Feed | None, meeting_id: str, reached: int, page: _PageSize
    ) -> Sequence[Frame]:
        """The frames that follow ``reached``, from the feed as far as that holds them."""
        if feed is not None and feed.frames:
            held = feed.after(reached)
            if held is not None:
                return held
        return await self._stored_frames(meeting_id, reached, page)

    def follow_all(self, cursor: str | None) -> AsyncIterator[bytes]:
        """The public events of all meetings after an opaque cursor, or from the beginning.

        Raises ``InvalidRequest`` for a cursor that no stream gave.
        """
        return self._follow_all(0 if cursor is None else _position_in(cursor))

    async def _follow_all(self, reached: int) -> AsyncIterator[bytes]:
        page = _PageSize()
        while True:
            changed = self._anything
            query = (
                select(_event)
                .where(_event.c.position > reached, _event.c.number.is_not(None))
                .order_by(_event.c.position)
                .limit(page.rows)
            )
            rows = await self._rows(query)
            if rows:
                reached = rows[-1]["position"]
                frames = [_common_frame(row) for row in rows]
                page.adapt(frames)
                for chunk in chunks(frames):
                    yield chunk
            else:
                await changed.wait()

    async def _is_over(self, meeting_id: str) -> bool:
        return await self._status(meeting_id) == Status.ENDED.value

    async def _status(self, meeting_id: str) -> str | None:
        query = select(_meeting.c.status).where(_meeting.c.id == meeting_id)
        rows = await self._rows(query)
        return rows[0]["status"] if rows else None

    async def _stored_frames(self, meeting_id: str, after: int, page: _PageSize) -> list[Frame]:
        after = min(after, LARGEST_INTEGER)
        query = (
            select(_event)
            .where(_event.c.meeting_id == meeting_id, _event.c.number > after)
            .order_by(_event.c.number)
            .limit(page.rows)
        )
        frames = [_frame_of(row) for row in await self._rows(query)]
        page.adapt([frame.content for frame in frames])
        return frames

    async def _rows(self, query: Any) -> Sequence[Any]:
        with outages("read"):
            async with self._database.reader.connect() as connection:
                return (await connection.execute(query)).mappings().all()

    # --- on the writer's thread ---------------------------------------------------------

    def _committed(self, written: Sequence[Written]) -> None:
        frames: dict[str, list[Frame]] = {}
        for entry in written:
            event = entry.event
            if event.number is not None:
                frame = meeting_frame(
                    event.number,
                    entry.position,
                    event.type,
                    event.meeting_id,
                    event.at,
                    entry.data,
                )
                frames.setdefault(event.meeting_id, []).append(frame)
        if frames:
            self._loop.call_soon_threadsafe(self._publish, frames)

    def _publish(self, frames: dict[str, list[Frame]]) -> None:
        for meeting_id, new in frames.items():
            self._feeds.publish(meeting_id, new)
        self._anything.set()
        self._anything = asyncio.Event()


class _PageSize:
    """How many rows to read at once: few where they are large, for a reader may stop there."""

    def __init__(self) -> None:
        self.rows = _FIRST_PAGE

    def adapt(self, frames: Sequence[bytes]) -> None:
        if frames:
            average = sum(len(frame) for frame in frames) // len(frames)
            self.rows = min(max(_PAGE_BYTES // average, 1), _LARGEST_PAGE)


def chunks(frames: Sequence[bytes]) -> Iterator[bytes]:
    """The frames joined into pieces, so that a reader which stops has little in hand."""
    piece: list[bytes] = []
    size = 0
    for frame in frames:
        if piece and size + len(frame) > _CHUNK_BYTES:
            yield b"".join(piece)
            piece, size = [], 0
        piece.append(frame)
        size += len(frame)
    if piece:
        yield b"".join(piece)


def _position_in(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= _MOST_CURSOR_DIGITS):
        raise InvalidRequest(Fault("/Last-Event-ID", "This id was not given by this stream."))
    return int(cursor)


def _frame_of(row: Any) -> Frame:
    return meeting_frame(
        row["number"], row["position"], row["type"], row["meeting_id"], row["at"], row["data"]
    )


def _common_frame(row: Any) -> bytes:
    cursor = f'"{row["position"]}"'
    extra = f'"number":{row["number"]},'
    return encode_frame(cursor, row["type"], row["meeting_id"], row["at"], row["data"], extra)
