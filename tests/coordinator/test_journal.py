"""When entries go to disk, and what that tells those who wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from app.coordinator.journal import Journal, Overtaken, cancel_entry
from app.coordinator.ports import EventLog, Idempotency
from app.domain.errors import LogUnavailable, Superseded
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.events import OfficeReplied, RequestReserved, RoundClosed
from app.domain.meeting.meeting import Limits
from app.domain.money import Cost
from app.domain.replies.reading import ReplyStatus
from tests.clock import START
from tests.coordinator.conftest import MakeTable
from tests.coordinator.log_relay import LogRelay

REPLY = OfficeReplied(
    participant="secretary",
    round=1,
    status=ReplyStatus.OK,
    text="So be it.",
    read={},
    request_id="req_1",
)


def entry(step: str) -> Entry:
    return Entry(REPLY, START, step)


class WatchedLog(LogRelay):
    """Keeps the steps of each append, and holds appends up until ``open`` is set.

    ``begun`` and ``written`` are set by the first append.
    """

    def __init__(self, log: EventLog) -> None:
        super().__init__(log)
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


async def opened(table: MakeTable, **fields: Any) -> tuple[Journal, WatchedLog]:
    held = table(a=lambda _: None, b=lambda _: None)
    state = await held.open(**fields)
    log = WatchedLog(held.log)
    return Journal(log, await held.log.read(state.meeting.id)), log


async def test_what_was_added_is_written_in_one_append_at_the_next_durable(
    table: MakeTable,
) -> None:
    journal, log = await opened(table)
    journal.add(entry("one"), entry("two"))
    journal.add(entry("three"))
    assert journal.find("one") is None
    await journal.flush()
    assert log.appends == [["one", "two", "three"]]
    assert journal.get("three").seq == journal.state.last_seq == 4


async def test_durable_without_anything_added_writes_nothing(table: MakeTable) -> None:
    journal, log = await opened(table)
    await journal.flush()
    assert log.appends == []


async def test_soon_needs_nobody_who_waits(table: MakeTable) -> None:
    journal, log = await opened(table)
    journal.add(entry("one"))
    journal.flush_soon()
    await log.written.wait()
    await journal.flush()
    assert log.appends == [["one"]]


async def test_what_soon_would_have_written_goes_with_the_next_durable(
    table: MakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.coordinator.journal._GATHERING_SECONDS", 0)
    journal, log = await opened(table)
    journal.add(entry("reply"))
    journal.flush_soon()
    journal.cancel_flush()
    for _ in range(5):
        await asyncio.sleep(0)
    journal.add(entry("next"))
    await journal.flush()
    assert log.appends == [["reply", "next"]]


async def test_each_waits_for_its_own_entries_only(table: MakeTable) -> None:
    journal, log = await opened(table)
    log.open.clear()
    journal.add(entry("one"))
    first = asyncio.create_task(journal.flush())
    await log.begun.wait()
    journal.add(entry("two"))
    second = asyncio.create_task(journal.flush())
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
    waiting = [asyncio.create_task(journal.flush()) for _ in range(2)]
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
    told = await asyncio.gather(journal.flush(), journal.flush(), return_exceptions=True)
    assert [type(error) for error in told] == [LogUnavailable, LogUnavailable]
    journal.add(entry("two"))
    with pytest.raises(LogUnavailable):
        await journal.flush()
    assert log.appends == [["one"]]


async def test_a_second_runner_is_noticed_at_the_next_durable(table: MakeTable) -> None:
    held = table(a=lambda _: None, b=lambda _: None)
    state = await held.open()
    entries = await held.log.read(state.meeting.id)
    ours, theirs = Journal(held.log, entries), Journal(held.log, entries)
    theirs.add(entry("theirs"))
    await theirs.flush()
    ours.add(entry("ours"))
    with pytest.raises(Superseded):
        await ours.flush()


# --- reserving ----------------------------------------------------------------------------------


def request(step: str, tokens: int = 1_000) -> Entry:
    reserved = RequestReserved(
        step=step, request_id=f"req_{step}", who="a", agent="a", reserved=Cost(tokens)
    )
    return Entry(reserved, START, f"{step}/request")


async def reserve(journal: Journal, step: str, tokens: int = 1_000) -> bool:
    return await journal.reserve(step, request(step, tokens))


async def test_of_several_at_once_only_those_with_room_are_reserved(table: MakeTable) -> None:
    """What is written with them is written all the same, and nobody waits for ever."""
    journal, log = await opened(table, limits=Limits(tokens=10_000))
    log.open.clear()
    asked = [asyncio.create_task(reserve(journal, f"r{n}", 3_000)) for n in range(4)]
    await log.begun.wait()
    journal.add(entry("beside"))
    log.open.set()
    got = await asyncio.gather(*asked)
    await journal.flush()
    assert got.count(True) in (2, 3), "the closing reserve takes its part"
    assert got == sorted(got, reverse=True), "first come, first served"
    assert len(journal.state.reserved) == got.count(True)
    assert journal.find("beside") is not None
    assert not await reserve(journal, "later", 3_000)
    assert await reserve(journal, "small", 10)


# --- a cancel that comes between ----------------------------------------------------------------


async def cancel(log: EventLog, journal: Journal) -> None:
    last = (await log.read(journal.meeting_id))[-1].seq
    await log.append(journal.meeting_id, last, [cancel_entry("enough", START)])


def closed(step: str) -> Entry:
    return Entry(RoundClosed(round=1), START, step)


@pytest.mark.parametrize("noticed", [False, True])
async def test_what_was_in_hand_when_a_cancel_came_is_void_but_for_what_was_paid(
    table: MakeTable, noticed: bool
) -> None:
    journal, log = await opened(table)
    journal.add(entry("reply"), closed("round-1/close"), request("next"))
    await cancel(log, journal)
    if noticed:
        await journal.catch_up()
    with pytest.raises(Overtaken):
        await journal.flush()
    entries = (await log.read(journal.meeting_id))[1:]
    assert [each.type for each in entries] == ["cancellation.requested", "office.replied"]
    assert entries[1].step == "reply/late"
    assert entries[1].data["late"] is True
    with pytest.raises(Overtaken):
        await journal.flush()
    await journal.release()


async def test_a_cancel_between_two_writes_overtakes_nothing(table: MakeTable) -> None:
    journal, log = await opened(table)
    journal.add(entry("one"))
    await journal.flush()
    heard: list[bool] = []
    journal.on_news = lambda: heard.append(True)
    await cancel(log, journal)
    await journal.catch_up()
    assert heard
    journal.add(closed("end"))
    await journal.flush()
    assert journal.find("end") is not None


async def test_nothing_is_reserved_once_the_cancel_is_known(table: MakeTable) -> None:
    journal, log = await opened(table)
    await cancel(log, journal)
    await journal.catch_up()
    with pytest.raises(Overtaken):
        await reserve(journal, "next")
    assert len(await log.read(journal.meeting_id)) == 2, "and no second cancel is written"
