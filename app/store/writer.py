"""The log writer: one thread, one connection, and many appends in each transaction.

Every append names the entry it follows. Those that queue up while a transaction commits go into
the next one together; an append whose meeting has moved on fails alone. What was committed is
handed to ``on_commit`` before its waiters are told.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.exc import IntegrityError

from app.coordinator.ports import Idempotency
from app.domain.errors import LogConflict, LogUnavailable, NotFound, RequestInProgress
from app.domain.events import MEETING_CREATED, Entry, Event
from app.domain.state import MeetingState, fold
from app.store.database import Database, unavailable
from app.store.projections import Projections
from app.store.state_rows import encode, state_of
from app.store.statements import run_many
from app.store.tables import EventRow, IdempotencyRow, LogHeadRow, MeetingRow, table

_MOST_APPENDS = 256
_MOST_CACHED_STATES = 2_000

_event = table(EventRow)
_head = table(LogHeadRow)
_meeting = table(MeetingRow)
_idempotency = table(IdempotencyRow)

_ADVANCE_HEAD = (
    _head.update()
    .values(position=_head.c.position + bindparam("count"))
    .returning(_head.c.position)
)
_INSERT_EVENT = _event.insert()
_INSERT_IDEMPOTENCY = _idempotency.insert()


@dataclass(frozen=True, slots=True)
class Written:
    """A committed entry with its encoded data and its place among all entries."""

    event: Event
    data: str
    position: int


@dataclass(frozen=True, slots=True)
class _Append:
    meeting_id: str
    expected: int
    entries: Sequence[Entry]
    idempotency: Idempotency | None
    done: asyncio.Future[Sequence[Event]]


@dataclass(slots=True)
class _Made:
    """What one append comes to, before the commit."""

    append: _Append
    state: MeetingState
    events: list[Event]
    encoded: list[str]


class LogWriter:
    """``on_commit`` is called on the writer's thread, with all entries of a transaction."""

    def __init__(self, database: Database, on_commit: Callable[[Sequence[Written]], None]) -> None:
        self._database = database
        self._on_commit = on_commit
        self._queue: queue.SimpleQueue[_Append | None] = queue.SimpleQueue()
        self._states: OrderedDict[str, MeetingState] = OrderedDict()
        self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._thread.start()

    def submit(
        self,
        meeting_id: str,
        expected: int,
        entries: Sequence[Entry],
        idempotency: Idempotency | None,
    ) -> asyncio.Future[Sequence[Event]]:
        if self._closed:
            raise LogUnavailable("The log is closed.")
        done: asyncio.Future[Sequence[Event]] = self._loop.create_future()
        self._queue.put(_Append(meeting_id, expected, entries, idempotency, done))
        return done

    @property
    def alive(self) -> bool:
        """Whether the writer's thread is there to take appends."""
        return self._thread.is_alive()

    async def close(self) -> None:
        """Write what is queued, then stop; what comes later is refused."""
        self._closed = True
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    # --- on the writer's thread ---------------------------------------------------------

    def _run(self) -> None:
        open_ = True
        while open_:
            batch, open_ = self._next_batch()
            if batch:
                self._commit(batch)

    def _next_batch(self) -> tuple[list[_Append], bool]:
        batch: list[_Append] = []
        append = self._queue.get()
        while append is not None:
            batch.append(append)
            if len(batch) == _MOST_APPENDS or self._queue.empty():
                return batch, True
            append = self._queue.get()
        return batch, False

    def _commit(self, batch: Sequence[_Append]) -> None:
        try:
            made, refused = self._write(batch)
        except Exception as failure:
            if len(batch) > 1:
                # One append broke the transaction; let the others through without it.
                for append in batch:
                    self._commit([append])
            else:
                self._resolve([], [(batch[0], self._reason(batch[0], failure))])
        else:
            self._resolve([(one.append.done, one.events) for one in made], refused)

    def _reason(self, append: _Append, failure: Exception) -> Exception:
        self._states.pop(append.meeting_id, None)
        if not isinstance(failure, IntegrityError):
            return unavailable("written", failure)
        if append.idempotency is not None:
            message = "Another request with this idempotency key was faster; send it again."
            return RequestInProgress(message)
        return LogConflict(append.meeting_id, append.expected, -1)

    def _write(
        self, batch: Sequence[_Append]
    ) -> tuple[list[_Made], list[tuple[_Append, Exception]]]:
        refused: list[tuple[_Append, Exception]] = []
        made: list[_Made] = []
        with self._database.writer.begin() as connection:
            states = self._current(connection, [append.meeting_id for append in batch])
            for append in batch:
                state = states.get(append.meeting_id)
                found = 0 if state is None else state.last_seq
                if found != append.expected:
                    conflict = LogConflict(append.meeting_id, append.expected, found)
                    refused.append((append, conflict))
                    continue
                if state is None and append.entries[0].type != MEETING_CREATED:
                    refused.append((append, NotFound(f"There is no meeting {append.meeting_id}.")))
                    continue
                one = _make(append, state)
                states[append.meeting_id] = one.state
                made.append(one)
            written = self._insert(connection, made)
        for one in made:
            self._cache(one.state)
        self._on_commit(written)
        return made, refused

    def _current(self, connection: Connection, ids: Sequence[str]) -> dict[str, MeetingState]:
        """The states of these meetings; on Postgres their rows are locked until the commit."""
        if self._database.embedded:
            known = {id_: self._states[id_] for id_ in ids if id_ in self._states}
        else:
            known = self._still_current(connection, ids)
        missing = sorted(set(ids) - set(known))
        if missing:
            rows = connection.execute(select(_meeting).where(_meeting.c.id.in_(missing)))
            known |= {row["id"]: state_of(row) for row in rows.mappings()}
        return known

    def _still_current(self, connection: Connection, ids: Sequence[str]) -> dict[str, MeetingState]:
        # In the order of ids, so that two processes never wait for each other's rows.
        locked = connection.execute(
            select(_meeting.c.id, _meeting.c.last_seq)
            .where(_meeting.c.id.in_(sorted(set(ids))))
            .order_by(_meeting.c.id)
            .with_for_update()
        )
        heads = {row.id: row.last_seq for row in locked}
        return {
            id_: self._states[id_]
            for id_, seq in heads.items()
            if id_ in self._states and self._states[id_].last_seq == seq
        }

    def _insert(self, connection: Connection, made: Sequence[_Made]) -> list[Written]:
        count = sum(len(one.events) for one in made)
        if not count:
            return []
        last = connection.execute(_ADVANCE_HEAD, {"count": count}).scalar_one()
        position = last - count
        written: list[Written] = []
        projections = Projections()
        for one in made:
            for event, data in zip(one.events, one.encoded, strict=True):
                position += 1
                written.append(Written(event, data, position))
            projections.take(one.state, one.events, one.encoded)
        run_many(connection, _INSERT_EVENT, [_event_row(entry) for entry in written])
        projections.write(connection)
        kept = [
            _idempotency_row(one, one.append.idempotency)
            for one in made
            if one.append.idempotency is not None
        ]
        if kept:
            run_many(connection, _INSERT_IDEMPOTENCY, kept)
        return written

    def _cache(self, state: MeetingState) -> None:
        self._states[state.meeting.id] = state
        self._states.move_to_end(state.meeting.id)
        if state.ended:
            del self._states[state.meeting.id]
        elif len(self._states) > _MOST_CACHED_STATES:
            self._states.popitem(last=False)

    def _resolve(
        self,
        made: Sequence[tuple[asyncio.Future[Sequence[Event]], Sequence[Event]]],
        refused: Sequence[tuple[_Append, Exception]],
    ) -> None:
        def tell() -> None:
            for done, result in made:
                if not done.done():
                    done.set_result(result)
            for append, error in refused:
                if not append.done.done():
                    append.done.set_exception(error)

        self._loop.call_soon_threadsafe(tell)


def _make(append: _Append, state: MeetingState | None) -> _Made:
    seq = append.expected
    number = 0 if state is None else state.last_number
    made: list[Event] = []
    encoded: list[str] = []
    for entry in append.entries:
        seq += 1
        if not entry.internal:
            number += 1
        event = Event(
            type=entry.type,
            data=entry.data,
            at=entry.at,
            step=entry.step,
            fingerprint=entry.fingerprint,
            meeting_id=append.meeting_id,
            seq=seq,
            number=None if entry.internal else number,
        )
        made.append(event)
        encoded.append(encode(entry.data))
    state = fold(made) if state is None else state.after(*made)
    return _Made(append, state, made, encoded)


def _event_row(written: Written) -> dict[str, object]:
    event = written.event
    return {
        "meeting_id": event.meeting_id,
        "seq": event.seq,
        "number": event.number,
        "position": written.position,
        "type": event.type,
        "step": event.step,
        "fingerprint": event.fingerprint,
        "data": written.data,
        "at": event.at,
    }


def _idempotency_row(made: _Made, kept: Idempotency) -> dict[str, object]:
    return {
        "key": kept.key,
        "digest": kept.digest,
        "meeting_id": made.append.meeting_id,
        "answer": kept.answer,
        "created_at": made.events[0].at,
    }
