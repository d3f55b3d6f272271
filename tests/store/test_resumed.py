"""A meeting that was resumed, over both databases: rows, lists and streams of its latest end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.coordinator.ports import MeetingFilter
from app.domain.errors import LogConflict
from app.domain.meeting import events
from app.domain.meeting.entries import Entry
from app.domain.meeting.meeting import Limits
from app.domain.meeting.state import fold
from app.store import feeds
from app.store.log import SqlEventLog
from tests.clock import START
from tests.store.conftest import Store
from tests.store.meetings import (
    PUBLIC_IN_WHOLE,
    Follower,
    created,
    decided,
    ended,
    entry,
    followed,
    numbers,
    put,
    round_,
    started,
    unknown,
    whole,
)


def resumed(number: int = 1, after_round: int = 1) -> Entry:
    told = events.MeetingResumed(
        changed="limits",
        note="two more rounds",
        after_round=after_round,
        limits=Limits(rounds=5),
        deadline=START + timedelta(seconds=900),
        resumption=number,
    )
    return entry(told, 20, f"resume/{number}")


def undecided() -> list[Entry]:
    return [*whole("mtg_1")[:-1], ended(None, "undecided")]


def cancelled(decision: str | None = None) -> list[Entry]:
    """A cancel, and the end that it brings."""
    return [*cancel(), decided(decision, "cancelled"), ended(decision, "cancelled")]


def cancel() -> list[Entry]:
    return [
        entry(events.CancellationRequested(reason="lunch"), 5, "cancel"),
        entry(events.CancellationClosed(state="stopped"), 6, "end/cancellation"),
    ]


# --- where it stands ---------------------------------------------------------------------------


async def test_it_is_running_again_in_every_row(store: Store) -> None:
    await store.log.append("mtg_1", 0, undecided())
    await put(store.log, "mtg_1", resumed())
    state = await store.archive.state("mtg_1")
    assert state == fold(await store.log.read("mtg_1"))
    assert (state.status, state.outcome, state.ended_at) == ("running", None, None)
    assert state.meeting.limits.rounds == 5
    assert state.resumptions[0].at == state.resumed_at == START + timedelta(seconds=20)
    assert store.rows("SELECT count(*) FROM dissent") == [(0,)]
    assert await store.log.unfinished() == ["mtg_1"]
    assert not (await store.archive.decided(MeetingFilter())).items


async def test_a_second_end_takes_the_place_of_the_first(store: Store) -> None:
    await store.log.append("mtg_1", 0, [*undecided()[:-1], *cancelled()])
    assert store.rows("SELECT number, decision FROM dissent") == [(0, None)]
    await put(store.log, "mtg_1", resumed(), *round_(2))
    assert store.rows("SELECT number FROM dissent") == []
    assert store.rows("SELECT state FROM cancellation") == []
    await put(store.log, "mtg_1", *cancelled("Several."))
    assert store.rows("SELECT number, decision FROM dissent") == [(0, "Several.")]
    assert store.rows("SELECT state, reason FROM cancellation") == [("stopped", "lunch")]
    state = await store.archive.state("mtg_1")
    assert state == fold(await store.log.read("mtg_1"))
    assert [log[0].meeting_id for log in (await store.archive.decided(MeetingFilter())).items] == [
        "mtg_1"
    ]


async def test_search_finds_the_latest_outcome(store: Store) -> None:
    await store.log.append("mtg_1", 0, [*undecided()[:-1], ended("Postpone it.", "undecided")])
    await put(store.log, "mtg_1", resumed(), *round_(2), ended("Ship the walrus."))

    async def found(text: str) -> int:
        return len((await store.archive.meetings(MeetingFilter(text=text))).items)

    assert (await found("walrus"), await found("postpone")) == (1, 0)


async def test_of_two_resumings_at_once_one_is_written(store: Store) -> None:
    made = await store.log.append("mtg_1", 0, undecided())
    await store.log.append("mtg_1", made[-1].seq, [resumed()])
    with pytest.raises(LogConflict):
        await store.log.append("mtg_1", made[-1].seq, [resumed()])


async def test_numbers_go_on_without_a_gap(store: Store) -> None:
    await store.log.append("mtg_1", 0, undecided())
    await put(store.log, "mtg_1", resumed(), *round_(2), ended(None, "undecided"))
    await put(store.log, "mtg_1", resumed(2, 2), *round_(3), ended())
    log = await store.log.read("mtg_1")
    public = [event.number for event in log if event.number is not None]
    assert public == list(range(1, len(public) + 1))
    assert len((await store.archive.state("mtg_1")).resumptions) == 2


# --- its stream --------------------------------------------------------------------------------

LEG = 7
"""The public entries of another leg: the resuming, a round, and the end."""


@pytest.mark.parametrize("after", range(PUBLIC_IN_WHOLE + 1))
async def test_a_reader_passes_the_earlier_end_and_goes_on_live(store: Store, after: int) -> None:
    await store.log.append("mtg_1", 0, undecided())
    await put(store.log, "mtg_1", resumed())
    reader = Follower(store.log.follow("mtg_1", after))
    await reader.until(PUBLIC_IN_WHOLE + 1 - after)
    for each in (*round_(2), ended()):
        await put(store.log, "mtg_1", each)
    assert numbers(await reader.end()) == list(range(after + 1, PUBLIC_IN_WHOLE + LEG + 1))


async def test_a_page_that_ends_with_an_earlier_end_is_not_the_last(store: Store) -> None:
    said = [unknown(said=number) for number in range(14)]
    first = [created("mtg_1"), *said, ended(None, "undecided")]
    await store.log.append("mtg_1", 0, first)
    assert len(first) == 16  # as many as the first page holds
    await put(store.log, "mtg_1", resumed())
    reader = Follower(store.log.follow("mtg_1", 0))
    await reader.until(17)
    await put(store.log, "mtg_1", ended())
    assert numbers(await reader.end()) == list(range(1, 19))
    assert len(await followed(store.log.follow("mtg_1", 0))) == 18
    assert await followed(store.log.follow("mtg_1", 18)) == []


async def test_a_reader_of_the_earlier_end_comes_back(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1"), started()])
    reader = Follower(store.log.follow("mtg_1", 0))
    await put(store.log, "mtg_1", *round_(), ended(None, "undecided"))
    assert len(await reader.end()) == PUBLIC_IN_WHOLE
    await put(store.log, "mtg_1", resumed())
    again = Follower(store.log.follow("mtg_1", PUBLIC_IN_WHOLE))
    await again.until(1)
    await put(store.log, "mtg_1", *round_(2), ended())
    assert numbers(await again.end()) == list(range(9, PUBLIC_IN_WHOLE + LEG + 1))


async def test_a_slow_reader_of_the_first_leg_is_taken_into_the_second(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory has dropped what it needs next, so it reads on in the store, past the end."""
    monkeypatch.setattr(feeds, "_MOST_FRAMES", 2)
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    slow = store.log.follow("mtg_1", 0)
    await anext(slow)
    said = [unknown(said=number) for number in range(5)]
    await put(store.log, "mtg_1", *said, ended(None, "undecided"))
    await put(store.log, "mtg_1", resumed(), *round_(2))
    rest = Follower(slow)
    await rest.until(12)
    await put(store.log, "mtg_1", ended())
    assert numbers(await rest.end()) == list(range(2, 15))


async def test_a_meeting_resumed_while_a_late_reader_reads_its_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.log.append("mtg_1", 0, undecided())
    look = store.log._is_over

    async def look_and_resume(meeting_id: str) -> bool:
        monkeypatch.setattr(store.log, "_is_over", look)
        over = await look(meeting_id)
        await put(store.log, "mtg_1", resumed())
        return over

    monkeypatch.setattr(store.log, "_is_over", look_and_resume)
    reader = Follower(store.log.follow("mtg_1", 0))
    await reader.until(PUBLIC_IN_WHOLE + 1)
    await put(store.log, "mtg_1", ended())
    assert numbers(await reader.end()) == list(range(1, PUBLIC_IN_WHOLE + 3))


async def test_another_process_goes_on_with_a_meeting_that_was_resumed(store: Store) -> None:
    await store.log.append("mtg_1", 0, undecided())
    await put(store.log, "mtg_1", resumed())
    other = SqlEventLog(store.database)
    reader = Follower(other.follow("mtg_1", 0))
    await put(other, "mtg_1", *round_(2), ended())
    assert numbers(await reader.end()) == list(range(1, PUBLIC_IN_WHOLE + LEG + 1))
    await other.close()
