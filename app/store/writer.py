"""The log writer: one thread, one connection, and many appends in each transaction.

Every append names the entry it follows. Those that queue up while a transaction commits go into
the next one together; an append whose meeting has moved on fails alone. What was committed is
handed to ``on_commit`` before its waiters are told.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from sqlalchemy import Connection, bindparam
from sqlalchemy.exc import IntegrityError

from app.coordinator.ports import Idempotency
from app.domain.errors import LogConflict, LogUnavailable, RequestInProgress, YoriaiError
from app.domain.meeting.entries import Event
from app.store.database import Database, unavailable
from app.store.event_rows import Written, event_row
from app.store.ledger import Append, Ledger, Made
from app.store.projections import Projections
from app.store.statements import run_many, run_one
from app.store.states import KeptStates
from app.store.tables import EventRow, IdempotencyRow, LogHeadRow, table

_MOST_APPENDS = 256

_event = table(EventRow)
_head = table(LogHeadRow)
_idempotency = table(IdempotencyRow)

_ADVANCE_HEAD = (
    _head.update()
    .values(position=_head.c.position + bindparam("count"))
    .returning(_head.c.position)
)
_INSERT_EVENT = _event.insert()
_INSERT_IDEMPOTENCY = _idempotency.insert()


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
        self._states = KeptStates(shared=not database.embedded)
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
        self._states.forget(append.meeting_id)
        if not isinstance(failure, IntegrityError):
            return unavailable("written", failure)
        if append.idempotency is not None:
            message = "Another request with this idempotency key was faster; send it again."
            return RequestInProgress(message)
        return self._clash(append, failure)

    def _clash(self, append: Append, failure: IntegrityError) -> Exception:
        """Only the log tells whether another process was faster. Where it was not, a row beside the
        log is in the way, and whoever reads on and tries again would do so for ever."""
        try:
            with self._database.writer.begin() as connection:
                stands = self._states.of(connection, [append]).get(append.meeting_id)
        except Exception as outage:
            return unavailable("read", outage)
        found = 0 if stands is None else stands.last_seq
        if found == append.expected:
            return unavailable("written", failure)
        return LogConflict(append.meeting_id, append.expected, found)

    def _write(self, batch: Sequence[_Queued]) -> _Results:
        results: _Results = []
        with self._database.writer.begin() as connection:
            ledger = Ledger(self._states.of(connection, [queued.append for queued in batch]))
            for queued in batch:
                try:
                    results.append((queued, ledger.take(queued.append)))
                except YoriaiError as refusal:
                    results.append((queued, refusal))
            written = self._insert(connection, ledger)
        for state in ledger.changed.values():
            self._states.keep(state)
        self._on_commit(written)
        return results

    def _insert(self, connection: Connection, ledger: Ledger) -> list[Written]:
        """What follows from the events goes first and the log's head last: its row is the one that
        every process waits for."""
        made = ledger.made
        if not made:
            return []
        projections = Projections()
        for one in made:
            projections.take(one.state, one.events, one.encoded)
        for state in ledger.changed.values():
            projections.change(state)
        projections.write(connection)
        kept = [
            _idempotency_row(one, one.append.idempotency)
            for one in made
            if one.append.idempotency is not None
        ]
        if kept:
            # In the order of keys, so that two processes never wait for each other's.
            kept.sort(key=itemgetter("key"))
            run_many(connection, _INSERT_IDEMPOTENCY, kept)
        return _append(connection, made)

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


def _append(connection: Connection, made: Sequence[Made]) -> list[Written]:
    """Give the events their places among all events, and write them."""
    new = [each for one in made for each in zip(one.events, one.encoded, strict=True)]
    last = run_one(connection, _ADVANCE_HEAD, {"count": len(new)}).scalar_one()
    first = last - len(new) + 1
    written = [Written(event, data, first + place) for place, (event, data) in enumerate(new)]
    run_many(connection, _INSERT_EVENT, [event_row(entry) for entry in written])
    return written


def _idempotency_row(made: Made, kept: Idempotency) -> dict[str, object]:
    return {
        "key": kept.key,
        "digest": kept.digest,
        "meeting_id": made.append.meeting_id,
        "answer": kept.answer,
        "created_at": made.events[0].at,
    }
