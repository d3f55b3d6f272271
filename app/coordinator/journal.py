"""A meeting's log while somebody works on it.

What is added is made durable in the order in which it was added; replies that arrive together
are written together. Nobody is asked anything before ``flush`` has returned.

Every commit is a wait for the disk, so entries are written when somebody needs them to be: at the
next ``flush``, or ``flush_soon`` after a reply that others are still waited for. The end of a round
and the questions of the next one then go to the disk together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NoReturn

from msgspec.structs import replace

from app.coordinator.ports import EventLog
from app.domain.errors import CancelledAbove, LogConflict, LogUnavailable, NoRoom, Superseded
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.events import (
    CancellationRequested,
    MeetingResumed,
    OperationHappened,
    OperationRequested,
    OperationTold,
    Replied,
    ReplyReceived,
    RequestReserved,
)
from app.domain.meeting.folding import LATE
from app.domain.meeting.meeting import CANCELLED_ABOVE_WORDS
from app.domain.meeting.state import MeetingState, fold
from app.domain.operation.log import BEGUN
from app.domain.replies.reading import ReplyStatus

_GATHERING_SECONDS = 0.003
"""How long a reply may wait for others to be written with it."""

_CONVERSATION = "round-"
"""Begins the keys of what is said in rounds, which stays said when a meeting is resumed; every
other key belongs to an end, and a resumed meeting comes to another one."""


class Overtaken(Exception):
    """A cancel stands in the log before what this run was about to write.

    What was thought out on the way to it is void; the meeting is gone through anew from its log.
    """


class Journal:
    """``entries`` and ``state`` hold what is durable; what was added lately follows them.

    ``leg`` are the durable entries since the meeting was last resumed, or all of them.
    """

    def __init__(self, log: EventLog, entries: Sequence[Event]) -> None:
        self._log = log
        self.meeting_id = entries[0].meeting_id
        self.entries: list[Event] = []
        self.leg: list[Event] = []
        self.state: MeetingState = fold(entries)
        self._by_step: dict[str, Event] = {}
        self._keep(entries)
        self._refused: set[str] = set()
        self._overtaken = False
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
        """Called when somebody else's entry has come in, or nothing can be written any more."""

    def find(self, step: str) -> Event | None:
        """The durable entry recorded under this step's key, in this leg or in an earlier round."""
        return self._by_step.get(step)

    def of_this_leg(self, event: Event) -> bool:
        """Whether it was recorded since the meeting was last resumed."""
        return event.seq >= self.leg[0].seq

    def get(self, step: str) -> Event:
        """The same for a step that is known to be durable."""
        return self._by_step[step]

    def add(self, *entries: Entry) -> None:
        """Have these written with the next ``flush`` or ``flush_soon``, where a failure shows."""
        self._pending.extend(entries)
        self._added += len(entries)

    def flush_soon(self) -> None:
        """Have what was added written without anybody waiting for it."""
        if self._writing is None and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_GATHERING_SECONDS, self._start)

    def cancel_flush(self) -> None:
        """Take ``flush_soon`` back, since ``flush`` is about to be called."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def flush(self) -> None:
        """Return once everything added so far is on disk.

        Raises ``Superseded`` when another runner has appended to this log meanwhile, and
        ``Overtaken`` when a cancel came before.
        """
        if self._written < self._added and self._failure is None:
            self._start()
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((self._added, written))
            await written
        self.check()

    def check(self) -> None:
        """Raises what keeps this journal from being written any more, if anything does."""
        if self._failure is not None:
            raise self._failure

    @property
    def failed(self) -> bool:
        return self._failure is not None

    async def reserve(self, step: str, request: Entry) -> bool:
        """Make a question's reservation durable; False if there is no room, and it is not made.

        Raises as ``flush`` does.
        """
        self.add(request)
        await self.flush()
        refused = step in self._refused
        self._refused.discard(step)
        return not refused

    async def append_if_unchanged(self, entry: Entry) -> bool:
        """Have this written unless a caller's entry came before it; then False, and it is known.

        Nothing else may be under way in this run. Raises as ``flush`` does.
        """
        await self.flush()
        async with self._access:
            try:
                self._take(await self._log.append(self.meeting_id, self.state.last_seq, [entry]))
            except LogConflict:
                await self._read_on()
                return False
        return True

    def void(self) -> None:
        """Give up what was added and is not written: it was thought out on a false way."""
        del self._pending[:]
        self._added = self._written

    async def release(self) -> None:
        """Write what is still pending, for a run that is over; it has its own reason already."""
        with suppress(Superseded, Overtaken, LogUnavailable):
            await self.flush()

    async def catch_up(self) -> None:
        """Learn what callers have appended since."""
        async with self._access:
            await self._read_on()

    def _start(self) -> None:
        self.cancel_flush()
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
            self.on_news()
        finally:
            self._writing = None
            # Nothing is left, or it never will be written: then ``flush`` says why.
            self._wake(self._added)

    def _wake(self, written: int) -> None:
        while self._waiting and self._waiting[0][0] <= written:
            _, waiter = self._waiting.pop(0)
            if not waiter.done():
                waiter.set_result(None)

    async def _append(self, batch: Sequence[Entry]) -> Sequence[Event]:
        """Write the batch, less the requests that there is no room for.

        Raises ``Overtaken`` when a cancel stands before it, ``Superseded`` for another runner.
        """
        while batch:
            if self._overtaken:
                await self._give_way(batch)
            try:
                return await self._log.append(self.meeting_id, self.state.last_seq, batch)
            except LogConflict:
                await self._read_on()
            except NoRoom as refusal:
                self._refused |= refusal.steps
                batch = [entry for entry in batch if not _asks_for(entry, refusal.steps)]
            except CancelledAbove as above:
                await self._give_way(batch, above.meeting_id)
        return ()

    async def _give_way(
        self, batch: Sequence[Entry], cancelled_above: str | None = None
    ) -> NoReturn:
        """Keep what was paid for, as late, and what has happened outside; all else that this run
        had in hand is void. Raises ``Overtaken``."""
        kept = [belated(entry) for entry in batch if _is_reply(entry)]
        kept += [entry for entry in batch if _happened_outside(entry)]
        while entries := [*self._cancel_from(cancelled_above, batch[-1].at), *kept]:
            try:
                await self._log.append(self.meeting_id, self.state.last_seq, entries)
                break
            except LogConflict:
                await self._read_on()
        raise Overtaken(f"{self.meeting_id} has been cancelled.")

    def _cancel_from(self, above: str | None, at: datetime) -> Iterator[Entry]:
        """The cancel of a tree reaches a meeting through whoever notices it first."""
        if above is not None and self.state.cancellation is None:
            words = CANCELLED_ABOVE_WORDS[self.state.meeting.language]
            yield cancel_entry(words.format(above=above), at)

    async def _read_on(self) -> None:
        """Learn what others have appended; a cancel voids what is still to be written."""
        news = await self._log.read(self.meeting_id, after=self.state.last_seq)
        if not all(entry.content.from_outside for entry in news):
            raise Superseded(f"{self.meeting_id} is being advanced by another runner.")
        cancelled_before = self.state.cancellation is not None
        self._take(news)
        cancelled_now = self.state.cancellation is not None
        self._overtaken |= cancelled_now and not cancelled_before and bool(self._pending)
        if news:
            self.on_news()

    def _take(self, entries: Sequence[Event]) -> None:
        self.state = self.state.after(*entries)
        self._keep(entries)

    def _keep(self, entries: Sequence[Event]) -> None:
        for entry in entries:
            if isinstance(entry.content, MeetingResumed):
                self._begin_leg(entry.content.after_round)
            self.entries.append(entry)
            self.leg.append(entry)
            if entry.step is not None:
                self._by_step[entry.step] = entry

    def _begin_leg(self, after_round: int) -> None:
        self.leg = []
        self._by_step = {
            step: entry
            for step, entry in self._by_step.items()
            if step.startswith(_CONVERSATION) and not _kept_out(entry, after_round)
        }


def cancel_entry(reason: str | None, at: datetime) -> Entry:
    return Entry(CancellationRequested(reason=reason), at, "cancel")


def belated(reply: Entry) -> Entry:
    """The reply as one that came after the cancel: kept, and never counted (PROTOCOLS 12)."""
    content = replace(reply.content, late=True)
    return replace(reply, content=content, step=f"{reply.step}{LATE}")


def _kept_out(entry: Event, after_round: int) -> bool:
    """Whether a limit of the earlier leg kept this reply out of a round that goes on now."""
    reply = entry.content
    if not isinstance(reply, ReplyReceived) or reply.round <= after_round:
        return False
    return reply.status is ReplyStatus.BUDGET or reply.out_of_time


def _is_reply(entry: Entry) -> bool:
    return isinstance(entry.content, Replied)


def _happened_outside(entry: Entry) -> bool:
    """Whether a save that had begun is known better by this (PROTOCOLS 13)."""
    content = entry.content
    if isinstance(content, OperationHappened):
        return content.happened != BEGUN
    return isinstance(content, OperationTold) and not isinstance(content, OperationRequested)


def _asks_for(entry: Entry, steps: frozenset[str]) -> bool:
    return isinstance(entry.content, RequestReserved) and entry.content.step in steps
