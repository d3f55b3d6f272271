"""A meeting's log while somebody works on it.

What is added is made durable in the order in which it was added; replies that arrive together
are written together. Nobody is asked anything before ``durable`` has returned.

Every commit is a wait for the disk, so entries are written when somebody needs them to be: at the
next ``durable``, or ``soon`` after a reply that others are still waited for. The end of a round
and the questions of the next one then go to the disk together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from app.coordinator.ports import EventLog
from app.domain import events
from app.domain.errors import LogConflict, LogUnavailable, Superseded
from app.domain.events import Entry, Event
from app.domain.state import MeetingState, fold

_GATHERING_SECONDS = 0.003
"""How long a reply may wait for others to be written with it."""


class Journal:
    """``entries`` and ``state`` hold what is durable; what was added lately follows them."""

    def __init__(self, log: EventLog, entries: Sequence[Event]) -> None:
        self._log = log
        self.meeting_id = entries[0].meeting_id
        self.entries = list(entries)
        self.state: MeetingState = fold(entries)
        self._by_step = {entry.step: entry for entry in entries if entry.step is not None}
        self._pending: list[Entry] = []
        self._added = 0
        self._written = 0
        # For each who waits: how many of the entries must have been written.
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._failure: BaseException | None = None
        # Reading on while an append is under way would take its own entries for news.
        self._access = asyncio.Lock()
        self.on_news: Callable[[], None] = lambda: None
        """Called when a caller's entry (a cancel) has come in."""

    def find(self, step: str) -> Event | None:
        """The durable entry recorded under this step's key."""
        return self._by_step.get(step)

    def get(self, step: str) -> Event:
        """The same for a step that is known to be durable."""
        return self._by_step[step]

    def add(self, *entries: Entry) -> None:
        """Have these written with the next ``durable`` or ``soon``, where a failure shows."""
        self._pending.extend(entries)
        self._added += len(entries)

    def soon(self) -> None:
        """Have what was added written without anybody waiting for it."""
        if self._writing is None and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_GATHERING_SECONDS, self._start)

    def not_yet(self) -> None:
        """Take ``soon`` back, since ``durable`` is about to be called."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def durable(self) -> None:
        """Return once everything added so far is on disk.

        Raises ``Superseded`` when another runner has appended to this log meanwhile.
        """
        if self._written < self._added and self._failure is None:
            self._start()
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((self._added, written))
            await written
        if self._failure is not None:
            raise self._failure

    async def propose(self, entry: Entry) -> bool:
        """Have this written unless a caller's entry came before it; then False, and it is known.

        Nothing else may be under way in this run. Raises as ``durable`` does.
        """
        await self.durable()
        async with self._access:
            try:
                self._take(await self._log.append(self.meeting_id, self.state.last_seq, [entry]))
            except LogConflict:
                await self._read_on()
                return False
        return True

    async def release(self) -> None:
        """Write what is still pending, for a run that is over; it has its own reason already."""
        with suppress(Superseded, LogUnavailable):
            await self.durable()

    async def catch_up(self) -> None:
        """Learn what callers have appended since."""
        async with self._access:
            await self._read_on()

    def _start(self) -> None:
        self.not_yet()
        if self._writing is None and self._pending:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        try:
            while self._pending and self._failure is None:
                batch = tuple(self._pending)
                async with self._access:
                    self._take(await self._append(batch))
                del self._pending[: len(batch)]
                self._written += len(batch)
                self._wake(self._written)
        except (Exception, asyncio.CancelledError) as failure:
            self._failure = failure
        finally:
            self._writing = None
            # Nothing is left, or it never will be written: then ``durable`` says why.
            self._wake(self._added)

    def _wake(self, written: int) -> None:
        while self._waiting and self._waiting[0][0] <= written:
            _, waiter = self._waiting.pop(0)
            if not waiter.done():
                waiter.set_result(None)

    async def _append(self, batch: Sequence[Entry]) -> Sequence[Event]:
        while True:
            try:
                return await self._log.append(self.meeting_id, self.state.last_seq, batch)
            except LogConflict:
                await self._read_on()

    async def _read_on(self) -> None:
        news = await self._log.read(self.meeting_id, after=self.state.last_seq)
        if any(entry.type not in events.FROM_CALLERS for entry in news):
            raise Superseded(f"{self.meeting_id} is being advanced by another runner.")
        self._take(news)
        if news:
            self.on_news()

    def _take(self, entries: Sequence[Event]) -> None:
        self.entries.extend(entries)
        self.state = self.state.after(*entries)
        for entry in entries:
            if entry.step is not None:
                self._by_step[entry.step] = entry
