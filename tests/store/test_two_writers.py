"""Two processes on one Postgres: for each place in a log, one of them gets it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.coordinator.ports import Idempotency
from app.domain.errors import LogConflict, RequestInProgress
from app.store.database import Database
from app.store.log import SqlEventLog
from tests.postgres import Postgres
from tests.store.conftest import Store
from tests.store.meetings import (
    Follower,
    created,
    ended,
    followed,
    numbers,
    put,
    unknown,
    whole,
)

pytestmark = pytest.mark.postgres


@pytest.fixture
async def pair(postgres: Postgres) -> AsyncIterator[tuple[Store, SqlEventLog]]:
    """A store, and the log of another process on the same database."""
    url = postgres.migrated()
    store = Store(url, lambda: None)
    other = Database(url)
    log = SqlEventLog(other)
    yield store, log
    await log.close()
    await other.close()
    await store.close()
    postgres.give_back(url)


async def test_racing_for_one_meeting(pair: tuple[Store, SqlEventLog]) -> None:
    store, other = pair
    logs = {"one": store.log, "two": other}
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    won: list[str] = []
    for place in range(1, 60):
        results = await asyncio.gather(
            *(log.append("mtg_1", place, [unknown(said=name)]) for name, log in logs.items()),
            return_exceptions=True,
        )
        lost = [one for one in results if isinstance(one, LogConflict)]
        assert len(lost) == 1, results
        won.append("two" if isinstance(results[0], LogConflict) else "one")
    log = await other.read("mtg_1")
    assert [event.data["said"] for event in log[1:]] == won
    assert [event.number for event in log] == list(range(1, 61))
    assert (await store.archive.state("mtg_1")).last_seq == 60
    assert store.rows("SELECT position FROM event ORDER BY position") == [
        (n,) for n in range(1, 61)
    ]


async def test_racing_over_many_meetings_in_every_order(pair: tuple[Store, SqlEventLog]) -> None:
    """Both write to all of them at once, one from the front and one from the back."""
    store, other = pair
    ids = [f"mtg_{number:02}" for number in range(40)]
    for id_ in ids:
        await store.log.append(id_, 0, [created(id_)])

    async def write(log: SqlEventLog, id_: str, who: str) -> None:
        while True:
            last = (await log.read(id_))[-1].seq
            try:
                await log.append(id_, last, [unknown(said=who)])
            except LogConflict:
                continue
            return

    rounds = 3
    for _ in range(rounds):
        await asyncio.gather(
            *(write(store.log, id_, "one") for id_ in ids),
            *(write(other, id_, "two") for id_ in reversed(ids)),
        )
    for id_ in ids:
        log = await store.log.read(id_)
        assert [event.seq for event in log] == list(range(1, 2 * rounds + 2))
        said = [event.data["said"] for event in log[1:]]
        assert (said.count("one"), said.count("two")) == (rounds, rounds)
    count = len(ids) * (2 * rounds + 1)
    assert store.rows("SELECT position FROM log_head") == [(count,)]


async def test_racing_to_create(pair: tuple[Store, SqlEventLog]) -> None:
    store, other = pair
    for number in range(10):
        id_ = f"mtg_{number}"
        both = (log.append(id_, 0, [created(id_)]) for log in (store.log, other))
        results = await asyncio.gather(*both, return_exceptions=True)
        assert sorted(type(one).__name__ for one in results) == ["LogConflict", "list"]
    assert store.rows("SELECT count(*), max(position) FROM event") == [(10, 10)]


async def test_racing_with_one_key(pair: tuple[Store, SqlEventLog]) -> None:
    store, other = pair
    for number in range(10):
        results = await asyncio.gather(
            *(
                log.append(id_, 0, [created(id_)], Idempotency(f"key-{number}", "d", id_))
                for log, id_ in ((store.log, f"mtg_{number}_a"), (other, f"mtg_{number}_b"))
            ),
            return_exceptions=True,
        )
        assert sum(isinstance(one, RequestInProgress) for one in results) == 1, results
    assert store.rows("SELECT count(*) FROM meeting") == [(10,)]


async def test_what_another_process_appended_is_not_overlooked(
    pair: tuple[Store, SqlEventLog],
) -> None:
    """One process knows the meeting by heart; the other writes; the first must notice."""
    store, other = pair
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    await put(other, "mtg_1", unknown(said="other"))
    with pytest.raises(LogConflict) as conflict:
        await store.log.append("mtg_1", 1, [unknown(said="late")])
    assert conflict.value.found == 2
    (made,) = await store.log.append("mtg_1", 2, [unknown(said="then")])
    assert (made.seq, made.number) == (3, 3)


async def test_a_reader_is_shown_what_another_process_wrote_in_between(
    pair: tuple[Store, SqlEventLog],
) -> None:
    store, other = pair
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    reader = Follower(store.log.follow("mtg_1", 0))
    await reader.until(1)
    for number in range(3):
        await put(other, "mtg_1", unknown(said=number))
        await put(store.log, "mtg_1", unknown(said=number))
    await put(other, "mtg_1", unknown(said="last"))
    await put(store.log, "mtg_1", ended())
    assert numbers(await reader.end()) == list(range(1, 10))
    assert numbers(await followed(other.follow("mtg_1", 4))) == list(range(5, 10))


async def test_one_order_of_all_meetings_for_every_process(
    pair: tuple[Store, SqlEventLog],
) -> None:
    """A reader never passes over an event whose transaction was still open when it read on."""
    store, other = pair
    readers = [Follower(log.follow_all(None)) for log in (store.log, other)]
    await asyncio.gather(
        *(store.log.append(f"mtg_a{n}", 0, whole(f"mtg_a{n}")) for n in range(30)),
        *(other.append(f"mtg_b{n}", 0, whole(f"mtg_b{n}")) for n in range(30)),
    )
    # Each reader is woken by its own process only, so both say something more.
    await store.log.append("mtg_z1", 0, [created("mtg_z1")])
    await other.append("mtg_z2", 0, [created("mtg_z2")])
    await store.log.append("mtg_z3", 0, [created("mtg_z3")])
    one, two = [(await reader.until(60 * 8 + 2))[: 60 * 8 + 2] for reader in readers]
    assert one == two
    assert len({sent.id for sent in one}) == len(one)
    for reader in readers:
        await reader.stop()
