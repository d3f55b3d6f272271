"""The port ``EventLog`` over both databases: what is appended stands, once, in its place."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from app.coordinator.ports import Idempotency
from app.domain.errors import LogConflict, LogUnavailable, NotFound, RequestInProgress
from app.domain.meeting import events
from app.domain.meeting.entries import Event
from app.domain.meeting.state import fold
from app.domain.money import Cost
from app.store.database import Database
from app.store.log import SqlEventLog
from tests.store.conftest import Store
from tests.store.meetings import (
    created,
    decided,
    ended,
    entry,
    followed,
    numbers,
    put,
    reply,
    reserved,
    round_,
    started,
    unknown,
    whole,
)

HARD = 'π — 会議は踊る 🎭 "quoted" \\ \n\u2028\u0085 \x7f {}%s :name'


async def test_what_is_appended_is_read_back(store: Store) -> None:
    entries = whole("mtg_1", topic=HARD, metadata={"ticket": HARD})
    made = await store.log.append("mtg_1", 0, entries)
    assert await store.log.read("mtg_1") == made
    assert [(event.type, event.data, event.at, event.step) for event in made] == [
        (one.type, one.data, one.at, one.step) for one in entries
    ]
    assert await store.log.read("mtg_1", after=4) == made[4:]
    assert await store.log.read("mtg_2") == []
    assert await store.archive.state("mtg_1") == fold(made)


@pytest.mark.parametrize("at_once", [1, 4, 11])
async def test_numbers_have_no_gaps_and_internal_entries_none(store: Store, at_once: int) -> None:
    entries = whole("mtg_1")
    for first in range(0, len(entries), at_once):
        await put(store.log, "mtg_1", *entries[first : first + at_once])
    log = await store.log.read("mtg_1")
    assert [event.seq for event in log] == list(range(1, 12))
    assert [event.number for event in log] == [1, 2, 3, None, None, None, 4, 5, 6, 7, 8]


async def test_an_append_that_names_another_entry_writes_nothing(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1"), started()])
    for wrong in (0, 1, 3):
        with pytest.raises(LogConflict) as conflict:
            await store.log.append("mtg_1", wrong, [reply("ann")])
        assert conflict.value.found == 2
    assert len(await store.log.read("mtg_1")) == 2
    assert store.rows("SELECT position FROM log_head") == [(2,)]


async def test_a_log_begins_with_its_creation(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.log.append("mtg_1", 0, [started()])
    with pytest.raises(LogConflict):
        await store.log.append("mtg_1", 1, [started()])
    assert store.rows("SELECT * FROM event") == []


async def test_many_meetings_at_once_share_transactions(store: Store) -> None:
    ids = [f"mtg_{number:03}" for number in range(100)]
    with store.commits() as commits:
        with store.held_up():
            appends = [
                asyncio.ensure_future(store.log.append(id_, 0, whole(id_, topic=f"About {id_}")))
                for id_ in ids
            ]
            await asyncio.sleep(0)
        made = await asyncio.gather(*appends)
    # One was on its way when the others came; all of those went together.
    assert len(commits) <= 2
    for id_, written in zip(ids, made, strict=True):
        assert await store.log.read(id_) == written
        assert (await store.archive.state(id_)).meeting.topic == f"About {id_}"
    positions = [row[0] for row in store.rows("SELECT position FROM event ORDER BY position")]
    assert positions == list(range(1, 1101))


async def _piled_up(
    store: Store, *appends: tuple[str, int, list[str]]
) -> list[Sequence[Event] | BaseException]:
    """Submit these together, so that all but the first few share a transaction."""
    with store.held_up():
        waiting = [
            asyncio.ensure_future(
                store.log.append(id_, expected, [unknown(said=said) for said in texts])
            )
            for id_, expected, texts in appends
        ]
        await asyncio.sleep(0)
    return await asyncio.gather(*waiting, return_exceptions=True)


async def test_of_a_batch_only_the_one_in_conflict_fails(store: Store) -> None:
    for id_ in ("mtg_a", "mtg_b", "mtg_c"):
        await store.log.append(id_, 0, [created(id_)])
    first, second, wrong, third, again = await _piled_up(
        store,
        ("mtg_a", 1, ["first"]),
        ("mtg_a", 2, ["second"]),
        ("mtg_b", 7, ["never"]),
        ("mtg_c", 1, ["third"]),
        ("mtg_c", 1, ["too late"]),
    )
    assert isinstance(wrong, LogConflict)
    assert isinstance(again, LogConflict)
    assert [*await store.log.read("mtg_a")][1:] == [*_made(first), *_made(second)]
    assert [*await store.log.read("mtg_c")][1:] == [*_made(third)]
    assert len(await store.log.read("mtg_b")) == 1
    assert (await store.archive.state("mtg_a")).last_seq == 3


async def test_of_a_batch_only_the_one_that_cannot_be_written_fails(store: Store) -> None:
    for id_ in ("mtg_a", "mtg_b", "mtg_c"):
        await store.log.append(id_, 0, [created(id_)])
    before, half, behind = await _piled_up(
        store,
        ("mtg_a", 1, ["whole"]),
        ("mtg_b", 1, ["whole", "half a character: \ud83c"]),
        ("mtg_c", 1, ["whole"]),
    )
    assert isinstance(half, LogUnavailable)
    assert _made(before)[0].number == _made(behind)[0].number == 2
    assert len(await store.log.read("mtg_b")) == 1
    await put(store.log, "mtg_b", unknown(said="again"))
    assert store.rows("SELECT position FROM log_head") == [(6,)]


def _made(result: Sequence[Event] | BaseException) -> Sequence[Event]:
    assert not isinstance(result, BaseException), result
    return result


async def test_of_two_appends_after_the_same_entry_one_wins(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    both = [store.log.append("mtg_1", 1, [reply(name)]) for name in ("ann", "ben")]
    results = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["LogConflict", "list"]
    assert len(await store.log.read("mtg_1")) == 2


async def test_the_rows_beside_the_log_come_in_the_same_transaction(store: Store) -> None:
    *before, end = whole("mtg_1", metadata={"team": "platform"})
    await store.log.append("mtg_1", 0, [*before, decided(), end])
    assert store.rows("SELECT key, value FROM meeting_metadata") == [("team", "platform")]
    assert store.rows("SELECT participant, position FROM dissent") == [("cid", "Several.")]
    assert store.rows("SELECT status, result FROM meeting") == [("ended", "decided")]


async def test_numbers_that_no_provider_should_report(store: Store) -> None:
    """More tokens than 32 bits hold: nonsense, but no reason to lose the meeting."""
    huge = reply("ann")
    usage = Cost(2**40, 2**40, None)
    await store.log.append("mtg_1", 0, [created("mtg_1"), started()])
    told = structs.replace(huge.content, usage=usage)
    await put(store.log, "mtg_1", structs.replace(huge, content=told))
    assert (await store.archive.state("mtg_1")).spent.input_tokens == 2**40


async def test_unfinished_are_those_that_have_not_ended_oldest_first(store: Store) -> None:
    for id_ in ("mtg_c", "mtg_a", "mtg_b"):
        await store.log.append(id_, 0, [created(id_)])
    await store.log.append("mtg_d", 0, whole("mtg_d"))
    await put(store.log, "mtg_b", started(), *round_(), ended())
    await put(store.log, "mtg_c", entry(events.CancellationRequested(), 2, "cancel"))
    assert await store.log.unfinished() == ["mtg_a", "mtg_c"]


# --- the idempotency row -----------------------------------------------------------------------


async def test_the_first_answer_is_kept_with_the_meeting(store: Store) -> None:
    kept = Idempotency("key-1", "digest", '{"id":"mtg_1"}')
    await store.log.append("mtg_1", 0, [created("mtg_1")], kept)
    assert await store.archive.first_answer("key-1") == kept
    assert await store.archive.first_answer("key-2") is None
    await store.archive.keep_answer("key-1", '{"id":"mtg_1","status":"ended"}')
    assert await store.archive.first_answer("key-1") == Idempotency(
        "key-1", "digest", '{"id":"mtg_1","status":"ended"}'
    )


async def test_a_meeting_that_is_refused_leaves_no_key(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    kept = Idempotency("key-1", "digest", "{}")
    with pytest.raises(LogConflict):
        await store.log.append("mtg_1", 0, [created("mtg_1")], kept)
    assert await store.archive.first_answer("key-1") is None


async def test_of_first_requests_with_one_key_that_come_together_one_makes_a_meeting(
    store: Store,
) -> None:
    with store.held_up():
        requests = [
            asyncio.ensure_future(
                store.log.append(id_, 0, [created(id_)], Idempotency("key-1", "d", id_))
            )
            for id_ in ("mtg_1", "mtg_2", "mtg_3")
        ]
        other = asyncio.ensure_future(store.log.append("mtg_9", 0, [created("mtg_9")]))
        await asyncio.sleep(0)
    await other
    results = await asyncio.gather(*requests, return_exceptions=True)
    won = [_made(one)[0].meeting_id for one in results if not isinstance(one, BaseException)]
    assert len(won) == 1
    assert sum(isinstance(one, RequestInProgress) for one in results) == 2
    first = await store.archive.first_answer("key-1")
    assert first is not None
    assert first.answer == won[0]
    assert store.rows("SELECT id FROM meeting ORDER BY id") == [(won[0],), ("mtg_9",)]
    assert store.rows("SELECT count(*) FROM event") == [(2,)]


async def test_a_key_that_is_taken_makes_no_meeting(store: Store) -> None:
    kept = Idempotency("key-1", "d", "first")
    await store.log.append("mtg_1", 0, [created("mtg_1")], kept)
    with pytest.raises(RequestInProgress):
        await store.log.append("mtg_2", 0, [created("mtg_2")], replace(kept, answer="late"))
    assert await store.archive.first_answer("key-1") == kept
    assert await store.log.read("mtg_2") == []
    assert store.rows("SELECT id FROM meeting") == [("mtg_1",)]


# --- a database that is gone -------------------------------------------------------------------


async def test_a_dead_database_is_said_to_be_one(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    await store.log.read("mtg_1")
    await store.kill()
    with pytest.raises(LogUnavailable):
        await store.log.append("mtg_1", 1, [started()])
    with pytest.raises(LogUnavailable):
        await store.log.read("mtg_1")
    with pytest.raises(LogUnavailable):
        await store.log.unfinished()
    with pytest.raises(LogUnavailable):
        await followed(store.log.follow("mtg_2", 0))
    with pytest.raises(LogUnavailable):
        await followed(store.log.follow_all(None))


async def test_an_append_to_a_closed_log_is_refused(store: Store) -> None:
    await store.log.close()
    with pytest.raises(LogUnavailable):
        await store.log.append("mtg_1", 0, [created("mtg_1")])


async def test_what_is_queued_at_the_close_is_written(store: Store) -> None:
    with store.held_up():
        waiting = [
            asyncio.ensure_future(store.log.append(f"mtg_{n}", 0, [created(f"mtg_{n}")]))
            for n in range(5)
        ]
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(store.log.close())
        await asyncio.sleep(0)
    await closing
    await asyncio.gather(*waiting)
    assert store.rows("SELECT count(*) FROM meeting") == [(5,)]


async def test_a_reserved_request_is_never_streamed(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1"), started(), reserved("ann"), ended()])
    sent = await followed(store.log.follow("mtg_1", 0))
    assert numbers(sent) == [1, 2, 3]
    assert "request.reserved" not in {one.event for one in sent}


async def test_a_closed_log_says_that_it_takes_nothing_more(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'yoriai.db'}")
    log = SqlEventLog(database)
    assert log.writing
    await log.close()
    assert not log.writing
    await database.close()
