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
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.exc import IntegrityError

from app.coordinator.ports import Idempotency
from app.domain.errors import LogConflict, LogUnavailable, RequestInProgress, YoriaiError
from app.domain.meeting.events import Event
from app.domain.meeting.state import MeetingState
from app.store.database import Database, unavailable
from app.store.ledger import Append, Ledger, Made, States
from app.store.projections import Projections
from app.store.state_rows import below_of, state_of
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
class _Queued:
    append: Append
    done: asyncio.Future[Sequence[Event]]


_Results = list[tuple[_Queued, Sequence[Event] | Exception]]


class LogWriter:
    """``on_commit`` is called on the writer's thread, with all entries of a transaction."""

    def __init__(self, database: Database, on_commit: Callable[[Sequence[Written]], None]) -> None:
        self._database = database
        self._on_commit = on_commit
        self._queue: queue.SimpleQueue[_Queued | None] = queue.SimpleQueue()
        self._states: OrderedDict[str, MeetingState] = OrderedDict()
        self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._thread.start()

    def submit(self, append: Append) -> asyncio.Future[Sequence[Event]]:
        if self._closed:
            raise LogUnavailable("The log is closed.")
        done: asyncio.Future[Sequence[Event]] = self._loop.create_future()
        self._queue.put(_Queued(append, done))
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

    def _next_batch(self) -> tuple[list[_Queued], bool]:
        batch: list[_Queued] = []
        queued = self._queue.get()
        while queued is not None:
            batch.append(queued)
            if len(batch) == _MOST_APPENDS or self._queue.empty():
                return batch, True
            queued = self._queue.get()
        return batch, False

    def _commit(self, batch: Sequence[_Queued]) -> None:
        try:
            results = self._write(batch)
        except Exception as failure:
            if len(batch) > 1:
                # One append broke the transaction; let the others through without it.
                for queued in batch:
                    self._commit([queued])
            else:
                self._resolve([(batch[0], self._reason(batch[0].append, failure))])
        else:
            self._resolve(results)

    def _reason(self, append: Append, failure: Exception) -> Exception:
        self._states.pop(append.meeting_id, None)
        if not isinstance(failure, IntegrityError):
            return unavailable("written", failure)
        if append.idempotency is not None:
            message = "Another request with this idempotency key was faster; send it again."
            return RequestInProgress(message)
        return LogConflict(append.meeting_id, append.expected, -1)

    def _write(self, batch: Sequence[_Queued]) -> _Results:
        results: _Results = []
        with self._database.writer.begin() as connection:
            ledger = Ledger(self._current(connection, [queued.append for queued in batch]))
            for queued in batch:
                try:
                    results.append((queued, ledger.take(queued.append)))
                except YoriaiError as refusal:
                    results.append((queued, refusal))
            written = self._insert(connection, ledger)
        for state in ledger.changed.values():
            self._cache(state)
        self._on_commit(written)
        return results

    def _current(self, connection: Connection, batch: Sequence[Append]) -> States:
        """The states of the batch's meetings and of all above them; on Postgres their rows are
        locked until the commit."""
        ids = {append.meeting_id for append in batch}
        new = {append.meeting_id for append in batch if append.creates}
        known = self._cached(ids)
        known |= _states_of(connection, ids - new - known.keys())
        for append in batch:
            ids.update(append.ancestors)
        for state in known.values():
            ids.update(state.meeting.ancestors)
        if self._database.embedded:
            known |= self._cached(ids)
        else:
            known = self._locked(connection, ids)
        return known | _states_of(connection, ids - known.keys())

    def _cached(self, ids: Set[str]) -> States:
        return {id_: self._states[id_] for id_ in ids if id_ in self._states}

    def _locked(self, connection: Connection, ids: Set[str]) -> States:
        """Those of the cached states that still hold, with all rows of these ids locked."""
        # In the order of ids, so that two processes never wait for each other's rows.
        locked = connection.execute(
            select(_meeting.c.id, _meeting.c.last_seq, _meeting.c.below)
            .where(_meeting.c.id.in_(sorted(ids)))
            .order_by(_meeting.c.id)
            .with_for_update()
        )
        known: States = {}
        for row in locked:
            state = self._states.get(row.id)
            if state is not None and state.last_seq == row.last_seq:
                # Meetings below it may have drawn on it from another process meanwhile.
                known[row.id] = replace(state, below=below_of(row.below))
        return known

    def _insert(self, connection: Connection, ledger: Ledger) -> list[Written]:
        made = ledger.made
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
        for state in ledger.changed.values():
            projections.change(state)
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

    def _resolve(self, results: _Results) -> None:
        def tell() -> None:
            for queued, result in results:
                if queued.done.done():
                    continue
                if isinstance(result, Exception):
                    queued.done.set_exception(result)
                else:
                    queued.done.set_result(result)

        self._loop.call_soon_threadsafe(tell)


def _states_of(connection: Connection, ids: Set[str]) -> States:
    if not ids:
        return {}
    rows = connection.execute(select(_meeting).where(_meeting.c.id.in_(sorted(ids))))
    return {row["id"]: state_of(row) for row in rows.mappings()}


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


def _idempotency_row(made: Made, kept: Idempotency) -> dict[str, object]:
    return {
        "key": kept.key,
        "digest": kept.digest,
        "meeting_id": made.append.meeting_id,
        "answer": kept.answer,
        "created_at": made.events[0].at,
    }
