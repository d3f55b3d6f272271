"""When entries go to disk, and what that tells those who wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from app.coordinator.journal import Journal
from app.coordinator.ports import EventLog, Idempotency
from app.domain.errors import LogUnavailable, Superseded
from app.domain.events import OFFICE_REPLIED, Entry, Event
from tests.clock import START
from tests.coordinator.conftest import MakeTable

USAGE: dict[str, Any] = {"usage": None, "booked": None}


def entry(step: str) -> Entry:
    return Entry(OFFICE_REPLIED, USAGE, START, step)


class WatchedLog:
    """Keeps the steps of each append, and holds appends up until ``open`` is set.

    ``begun`` and ``written`` are set by the first append.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.appends: list[list[str | None]] = []
        self.begun, self.written, self.open = (asyncio.Event() for _ in range(3))
        self.open.set()
        self.broken = False

    async def append(
        self,
        meeting_id: str,
        expected: int,
        entries: Sequence[Entry],
        idempotency: Idempotency | None = None,
    ) -> Sequence[Event]:
        self.appends.append([each.step for each in entries])
        self.begun.set()
        await self.open.wait()
        if self.broken:
            raise LogUnavailable("the disk is full")
        made = await self._log.append(meeting_id, expected, entries, idempotency)
        self.written.set()
        return made

    async def read(self, meeting_id: str, after: int = 0) -> Sequence[Event]:
        return await self._log.read(meeting_id, after)

    async def unfinished(self) -> Sequence[str]:
        return await self._log.unfinished()


async def opened(table: MakeTable) -> tuple[Journal, WatchedLog]:
    held = table(a=lambda _: None, b=lambda _: None)
    state = await held.open()
    log = WatchedLog(held.log)
    return Journal(log, await held.log.read(state.meeting.id)), log


async def test_what_was_added_is_written_in_one_append_at_the_next_durable(
    table: MakeTable,
) -> None:
    journal, log = await opened(table)
    journal.add(entry("one"), entry("two"))
    journal.add(entry("three"))
    assert journal.find("one") is None
    await journal.durable()
    assert log.appends == [["one", "two", "three"]]
    assert journal.get("three").seq == journal.state.last_seq == 4


async def test_durable_without_anything_added_writes_nothing(table: MakeTable) -> None:
    journal, log = await opened(table)
    await journal.durable()
    assert log.appends == []


async def test_soon_needs_nobody_who_waits(table: MakeTable) -> None:
    journal, log = await opened(table)
    journal.add(entry("one"))
    journal.soon()
    await log.written.wait()
    await journal.durable()
    assert log.appends == [["one"]]


async def test_what_soon_would_have_written_goes_with_the_next_durable(
    table: MakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.coordinator.journal._GATHERING_SECONDS", 0)
    journal, log = await opened(table)
    journal.add(entry("reply"))
    journal.soon()
    journal.not_yet()
    for _ in range(5):
        await asyncio.sleep(0)
    journal.add(entry("next"))
    await journal.durable()
    assert log.appends == [["reply", "next"]]


async def test_each_waits_for_its_own_entries_only(table: MakeTable) -> None:
    journal, log = await opened(table)
    log.open.clear()
    journal.add(entry("one"))
    first = asyncio.create_task(journal.durable())
    await log.begun.wait()
    journal.add(entry("two"))
    second = asyncio.create_task(journal.durable())
    await asyncio.sleep(0)
    assert not first.done()
    log.open.set()
    await first
    assert journal.find("one") is not None
    await second
    assert log.appends == [["one"], ["two"]]


async def test_one_who_stops_waiting_stops_no_writing(table: MakeTable) -> None:
    journal, log = await opened(table)
    log.open.clear()
    journal.add(entry("one"))
    waiting = [asyncio.create_task(journal.durable()) for _ in range(2)]
    await log.begun.wait()
    waiting[0].cancel()
    log.open.set()
    await waiting[1]
    assert journal.find("one") is not None


async def test_all_who_wait_are_told_that_it_failed_and_so_is_whoever_comes_later(
    table: MakeTable,
) -> None:
    journal, log = await opened(table)
    log.broken = True
    journal.add(entry("one"))
    told = await asyncio.gather(journal.durable(), journal.durable(), return_exceptions=True)
    assert [type(error) for error in told] == [LogUnavailable, LogUnavailable]
    journal.add(entry("two"))
    with pytest.raises(LogUnavailable):
        await journal.durable()
    assert log.appends == [["one"]]


async def test_a_second_runner_is_noticed_at_the_next_durable(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=lambda _: None)
    state = await held.open()
    entries = await held.log.read(state.meeting.id)
    ours, theirs = Journal(held.log, entries), Journal(held.log, entries)
    theirs.add(entry("theirs"))
    await theirs.durable()
    ours.add(entry("ours"))
    with pytest.raises(Superseded):
        await ours.durable()
