"""The port ``Tail`` over both databases: every event once, in order, wherever a reader begins."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from datetime import timedelta
from typing import Any

import pytest

from app.domain.errors import InvalidRequest, NotFound
from app.store import feeds
from app.store.feeds import Feed
from app.store.frames import meeting_frame
from app.store.log import SqlEventLog
from tests.clock import START
from tests.store.conftest import Store
from tests.store.meetings import (
    PUBLIC_IN_WHOLE,
    Follower,
    created,
    ended,
    followed,
    numbers,
    put,
    read_stream,
    round_,
    started,
    unknown,
    whole,
)

HARD = '会議 🎭 "quoted" \\ \r\n\n\u2028\u2029\u0085 data: id: 1'


async def test_frames_are_the_envelope_of_the_contract(store: Store) -> None:
    made = await store.log.append("mtg_1", 0, whole("mtg_1", topic=HARD))
    content = (await _bytes(store, "mtg_1", 0)).decode()
    assert content.count("\n\n") == PUBLIC_IN_WHOLE
    assert "\r" not in content
    sent = read_stream(content.encode())
    public = [event for event in made if event.number is not None]
    for one, event in zip(sent, public, strict=True):
        assert (one.id, one.event) == (str(event.number), event.type)
        assert one.data == {
            "id": event.number,
            "type": event.type,
            "meeting_id": "mtg_1",
            "at": event.at.isoformat().replace("+00:00", "Z"),
            "data": json.loads(json.dumps(event.data)),
        }
    assert sent[0].data["data"]["topic"] == HARD


async def _bytes(store: Store, meeting_id: str, after: int) -> bytes:
    follower = Follower(store.log.follow(meeting_id, after))
    await follower.end()
    return follower.content


@pytest.mark.parametrize("after", [*range(PUBLIC_IN_WHOLE + 2), 10**6, 2**31, 10**15 - 1])
async def test_a_meeting_that_has_ended(store: Store, after: int) -> None:
    await store.log.append("mtg_1", 0, whole("mtg_1"))
    sent = await followed(store.log.follow("mtg_1", after))
    assert numbers(sent) == list(range(after + 1, PUBLIC_IN_WHOLE + 1))


async def test_every_cut_point_at_every_moment(store: Store) -> None:
    """Readers that have come to each number, from before each append."""
    entries = [started(), *round_(), ended()]
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    readers: list[tuple[int, Follower]] = []
    for each in entries:
        number = (await store.archive.state("mtg_1")).last_number
        readers += [
            (after, Follower(store.log.follow("mtg_1", after))) for after in range(number + 1)
        ]
        await put(store.log, "mtg_1", each)
    for after, reader in readers:
        assert numbers(await reader.end()) == list(range(after + 1, PUBLIC_IN_WHOLE + 1))
    assert len(readers) > 30


async def test_readers_that_come_while_a_meeting_is_written(store: Store) -> None:
    """Readers start with no regard to the appends, and some come back after a while."""
    dice = random.Random(7)  # noqa: S311 - which moment, not which secret
    await store.log.append("mtg_1", 0, [created("mtg_1")])

    async def write() -> None:
        for number in range(150):
            count = dice.randint(1, 4)
            await put(store.log, "mtg_1", *[unknown(said=number)] * count)
        await put(store.log, "mtg_1", ended())

    writing = asyncio.create_task(write())
    reading = [asyncio.create_task(_coming_and_going(store, dice))]
    while not writing.done():
        if len(reading) < 40:
            reading.append(asyncio.create_task(_coming_and_going(store, dice)))
        await asyncio.sleep(0)
    last = (await store.archive.state("mtg_1")).last_number
    for got in await asyncio.gather(*reading):
        assert got == list(range(1, last + 1))


async def _coming_and_going(store: Store, dice: random.Random) -> list[int]:
    """The numbers that a reader gets which breaks off now and then, and comes back."""
    got: list[int] = []
    while True:
        frames: Any = store.log.follow("mtg_1", got[-1] if got else 0)
        async with contextlib.aclosing(frames):
            async for chunk in frames:
                sent = read_stream(chunk)
                got += numbers(sent)
                if sent[-1].event == "meeting.ended":
                    return got
                if dice.random() < 0.2:
                    break
        await asyncio.sleep(0)


async def test_a_meeting_under_way_at_the_start_of_a_process(store: Store) -> None:
    """Nothing of it is in memory: readers are shown what is stored, and then what comes."""
    await store.log.append("mtg_1", 0, [created("mtg_1"), started(), *round_()])
    await store.log.close()
    log = SqlEventLog(store.database)
    readers = [Follower(log.follow("mtg_1", after)) for after in range(PUBLIC_IN_WHOLE)]
    for after, reader in enumerate(readers):
        assert len(await reader.until(PUBLIC_IN_WHOLE - 1 - after)) == PUBLIC_IN_WHOLE - 1 - after
    await put(log, "mtg_1", ended())
    for after, reader in enumerate(readers):
        assert numbers(await reader.end()) == list(range(after + 1, PUBLIC_IN_WHOLE + 1))
    await log.close()


async def test_only_a_meeting_that_there_is_can_be_followed(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.log.check("mtg_1")
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    await store.log.check("mtg_1")
    restarted = SqlEventLog(store.database)
    await restarted.check("mtg_1")
    await restarted.close()


async def test_early_events_that_memory_does_not_hold_any_more(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    slow = store.log.follow("mtg_1", 0)
    got = read_stream(await anext(slow))
    many = [unknown(said=number) for number in range(600)]
    await put(store.log, "mtg_1", *many)
    fresh = Follower(store.log.follow("mtg_1", 0))
    await fresh.until(601)
    await put(store.log, "mtg_1", ended())
    got += await followed(slow)
    assert numbers(got) == numbers(await fresh.end()) == list(range(1, 603))


async def test_a_meeting_that_memory_has_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "_MOST_FEEDS", 2)
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    readers = [Follower(store.log.follow("mtg_1", after)) for after in (0, 1)]
    await readers[0].until(1)
    for number in range(4):
        # Each takes a place in memory, and then the first one has none.
        await store.log.append(f"mtg_9{number}", 0, [created(f"mtg_9{number}")])
        await put(store.log, "mtg_1", unknown(said=number))
        await readers[0].until(2 + number)
    await put(store.log, "mtg_1", ended())
    assert numbers(await readers[0].end()) == [1, 2, 3, 4, 5, 6]
    assert numbers(await readers[1].end()) == [2, 3, 4, 5, 6]


async def test_a_meeting_that_ends_between_the_look_and_the_wait(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader sees it running, it ends, and only then the reader begins to wait."""
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    monkeypatch.setattr(store.log, "_feeds", feeds.Feeds())  # as after a restart
    look = store.log._is_over

    async def look_and_end(meeting_id: str) -> bool:
        monkeypatch.setattr(store.log, "_is_over", look)
        over = await look(meeting_id)
        await put(store.log, "mtg_1", started(), ended())
        return over

    monkeypatch.setattr(store.log, "_is_over", look_and_end)
    assert numbers(await followed(store.log.follow("mtg_1", 0))) == [1, 2, 3]
    # Whoever comes back with the last number is told at once that nothing follows.
    assert await followed(store.log.follow("mtg_1", 3)) == []
    assert await followed(store.log.follow("mtg_1", 99)) == []


async def test_a_slow_reader_is_given_no_more_than_it_takes(store: Store) -> None:
    """However much lies ready, a chunk stays small: a reader may stop at any time."""
    big = [unknown(said="x" * 60_000) for _ in range(100)]
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    live = Follower(store.log.follow("mtg_1", 0))
    await live.until(1)
    await put(store.log, "mtg_1", *big)
    late = Follower(store.log.follow("mtg_1", 0))
    everyone = Follower(store.log.follow_all(None))
    for reader in (live, late, everyone):
        assert len(await reader.until(101)) == 101
        assert max(len(chunk) for chunk in reader.chunks) < 200_000
        await reader.stop()


def test_memory_holds_few_large_frames_and_many_small_ones() -> None:
    def frame(number: int, size: int) -> feeds.Frame:
        return meeting_frame(number, number, "x.said", "mtg_1", START, '"' + "x" * size + '"')

    small = Feed()
    large = Feed()
    for number in range(1, 1001):
        small.extend([frame(number, 100)])
        large.extend([frame(number, 100_000)])
    for feed in (small, large):
        assert sum(len(one.content) for one in feed.frames) < 1_500_000
        assert feed.after(0) is None
        assert [one.number for one in feed.after(998) or ()] == [999, 1000]
    assert len(small.frames) > 200
    huge = Feed()
    huge.extend([frame(1, 10_000_000)])
    assert [one.number for one in huge.after(0) or ()] == [1]


def test_memory_never_shows_numbers_with_a_gap() -> None:
    """Another process may have written what lies between."""
    feed = Feed()
    for number in (1, 2, 3, 7):
        feed.extend([meeting_frame(number, number, "x.said", "mtg_1", START, "{}")])
    assert feed.after(3) is None
    assert [one.number for one in feed.after(6) or ()] == [7]


# --- all meetings ------------------------------------------------------------------------------


async def test_all_meetings_from_the_beginning_and_live(store: Store) -> None:
    await store.log.append("mtg_1", 0, whole("mtg_1"))
    reader = Follower(store.log.follow_all(None))
    await reader.until(PUBLIC_IN_WHOLE)
    await store.log.append("mtg_2", 0, [created("mtg_2"), started(), *round_()])
    await store.log.append("mtg_3", 0, [created("mtg_3")])
    await put(store.log, "mtg_2", ended())
    sent = await reader.until(2 * PUBLIC_IN_WHOLE + 1)
    await reader.stop()
    of = [(one.data["meeting_id"], one.data["number"]) for one in sent]
    assert of == [
        *(("mtg_1", number) for number in range(1, 9)),
        *(("mtg_2", number) for number in range(1, 8)),
        ("mtg_3", 1),
        ("mtg_2", 8),
    ]
    assert all(one.data["id"] == one.id for one in sent)
    assert sent[0].data["at"] == "2026-11-30T09:00:00Z"


async def test_all_meetings_resume_at_every_cut_point(store: Store) -> None:
    await store.log.append("mtg_1", 0, whole("mtg_1"))
    await store.log.append("mtg_2", 0, whole("mtg_2"))
    reader = Follower(store.log.follow_all(None))
    whole_stream = await reader.until(2 * PUBLIC_IN_WHOLE)
    await reader.stop()
    for position, one in enumerate(whole_stream[:-1]):
        again = Follower(store.log.follow_all(one.id))
        assert await again.until(len(whole_stream) - position - 1) == whole_stream[position + 1 :]
        await again.stop()
    end = Follower(store.log.follow_all(whole_stream[-1].id))
    await store.log.append("mtg_3", 0, [created("mtg_3")])
    assert [(one.data["meeting_id"]) for one in await end.until(1)] == ["mtg_3"]
    await end.stop()


@pytest.mark.parametrize("cursor", ["soon", "", "-1", "1.5", "²", "9" * 30, "9" * 5000])
async def test_a_cursor_that_no_stream_gave_is_refused_before_the_stream(
    store: Store, cursor: str
) -> None:
    with pytest.raises(InvalidRequest):
        store.log.follow_all(cursor)


async def test_times_are_told_in_utc_to_the_microsecond(store: Store) -> None:
    late = unknown(0.000001)
    await store.log.append("mtg_1", 0, [created("mtg_1"), late, ended()])
    sent = await followed(store.log.follow("mtg_1", 0))
    assert sent[1].data["at"] == "2026-11-30T09:00:00.000001Z"
    assert (await store.log.read("mtg_1"))[1].at == START + timedelta(microseconds=1)
