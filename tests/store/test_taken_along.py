"""A database of the version before is taken along: every meeting, list and search reads the same.

``before_0002.sql`` is what that version's code had written, ``before_0002.json`` what it answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import create_engine, text
from sqlalchemy.engine import Connection

from app.coordinator.ports import DissentFilter, MeetingFilter, OperationFilter
from app.domain.meeting.events import DecisionRecorded
from app.domain.meeting.state import fold
from app.store.database import Database
from app.store.log import SqlEventLog
from app.store.migrating import downgrade, upgrade
from tests.store.conftest import Store
from tests.store.meetings import ended, put, started

FOLDER = Path(__file__).parent
BEFORE = "0001"
SAID: dict[str, Any] = json.loads((FOLDER / "before_0002.json").read_text("utf-8"))
MEETINGS: dict[str, str] = SAID["meetings"]


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    engine = create_engine(Database(url).sync_url)
    with engine.connect() as connection:
        yield connection
        connection.commit()
    engine.dispose()


@pytest.fixture
def filled_url(empty_url: str) -> str:
    """A database as the version before left it."""
    database = Database(empty_url)
    upgrade(database.writer, BEFORE)
    database.writer.dispose()
    script = (FOLDER / "before_0002.sql").read_text("utf-8")
    with _connected(empty_url) as connection:
        driver: Any = connection.connection.driver_connection
        if database.embedded:
            driver.executescript(script)
        else:
            # The dump's moments are in UTC and do not say so.
            driver.execute("SET TIME ZONE 'UTC'")
            driver.execute(script)
            # Rows that bring their number along leave the next number where it was.
            row_id = "pg_get_serial_sequence('meeting', 'row_id')"
            driver.execute(f"SELECT setval({row_id}, (SELECT max(row_id) FROM meeting))")  # noqa: S608
        driver.commit()
    return empty_url


@pytest.fixture
async def store(filled_url: str) -> Any:
    database = Database(filled_url)
    upgrade(database.writer)
    database.writer.dispose()
    opened = Store(filled_url, lambda: None)
    yield opened
    await opened.close()


async def test_every_meeting_stands_where_its_log_says(store: Store) -> None:
    assert {(await store.archive.state(id_)).status.value for id_ in MEETINGS.values()} == {
        "scheduled",
        "running",
        "awaiting_ruling",
        "cancelling",
        "ended",
    }
    for id_ in MEETINGS.values():
        state = await store.archive.state(id_)
        told = fold(await store.archive.log(id_))
        assert state == replace(told, below=state.below)
    parent = await store.archive.state(MEETINGS["parent"])
    child = await store.archive.state(MEETINGS["child_ended"])
    assert parent.below.replies > child.replies
    assert parent.below.reserved.tokens > 0


async def test_votes_dissents_and_cancels_read_the_same(store: Store) -> None:
    for id_ in MEETINGS.values():
        assert list(await store.archive.ballots(id_)) == SAID["votes"][id_]
        assert list(await store.archive.dissents(id_)) == SAID["dissents"][id_]
        cancel = (await store.archive.state(id_)).cancellation
        told = None if cancel is None else cancel.record()
        assert told == SAID["cancellation"][id_]
        closed = await store.archive.closed_cancellation(id_)
        assert closed == (told if cancel is not None and not cancel.open else None)
    assert sum(len(each) for each in SAID["votes"].values()) > 20


async def test_lists_and_searches_read_the_same(store: Store) -> None:
    for filter_, ids in SAID["lists"]:
        page = await store.archive.meetings(MeetingFilter(**filter_, limit=200))
        assert [state.meeting.id for state in page.items] == ids, filter_
    for state, records in SAID["operations"].items():
        operations = await store.archive.operations(OperationFilter(frozenset({state})))
        assert list(operations.items) == records
    assert list(await store.log.unfinished()) == SAID["log_unfinished"]


async def test_dissents_are_found_over_all_meetings(store: Store) -> None:
    async def found(**filter_: Any) -> list[str]:
        page = await store.archive.all_dissents(DissentFilter(**filter_))
        return [str(item["meeting_id"]) for item in page.items]

    everything = await found()
    assert sorted(everything) == sorted(id_ for id_, told in SAID["dissents"].items() for _ in told)
    assert await found(text="どこで動かす") == [MEETINGS["ranked"]]
    assert await found(participant="凛") == [MEETINGS["ranked"]]
    assert MEETINGS["vote_decided"] in await found(format="vote")
    ends = [str((await store.archive.state(id_)).ended_at) for id_ in everything]
    assert ends == sorted(ends, reverse=True)


async def test_rows_are_those_that_would_be_written_today(store: Store) -> None:
    """Each decided meeting is written anew from its log beside the one that was taken along."""
    columns = {
        "vote": "number, seq, participant, round, attempt, status, counted, ballot, confidence, "
        "weight, record",
        "dissent": "number, participant, position, rationale, mitigation, round, topic, decision, "
        "decided_at, search_text",
        "cancellation": "requested_at, reason, state, items",
        "meeting": "status, result, below, last_seq, state, search_text",
    }
    for name in (
        "vote",
        "vote_decided",
        "ranked",
        "resumed_ended",
        "cancelled",
        "poll",
        "deciding",
    ):
        id_ = MEETINGS[name]
        log = await store.archive.log(id_)
        with _connected(store.url) as connection:
            before = _of_meeting(connection, columns, id_)
            _forget(connection, id_)
        fresh = SqlEventLog(store.database)
        for event in log:
            await fresh.append(id_, event.seq - 1, [event])
        await fresh.close()
        with _connected(store.url) as connection:
            after = _of_meeting(connection, columns, id_)
        assert any(isinstance(event.content, DecisionRecorded) for event in log)
        assert after == before, name


def _forget(connection: Connection, id_: str) -> None:
    tables = ("vote", "dissent", "cancellation", "operation", "meeting_metadata", "event")
    for table in tables:
        connection.execute(text(f"DELETE FROM {table} WHERE meeting_id = '{id_}'"))  # noqa: S608
    connection.execute(text("DELETE FROM meeting WHERE id = :id"), {"id": id_})


def _of_meeting(connection: Connection, columns: dict[str, str], id_: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for table, names in columns.items():
        key = "id" if table == "meeting" else "meeting_id"
        query = f"SELECT {names} FROM {table} WHERE {key} = '{id_}' ORDER BY 1"  # noqa: S608
        found[table] = [_plain(dict(row)) for row in connection.execute(text(query)).mappings()]
    return found


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """JSON by what it says: the order of its keys, and how money is written, may differ."""
    for name in ("state", "record", "below", "items"):
        if isinstance(row.get(name), str) and row[name].startswith(("{", "[")):
            row[name] = json.loads(row[name])
    return row


async def test_meetings_go_on_from_where_they_stood(store: Store) -> None:
    id_ = MEETINGS["scheduled"]
    await put(store.log, id_, started(), ended("会議録を公開する"))
    page = await store.archive.meetings(MeetingFilter(text="公開する"))
    assert [state.meeting.id for state in page.items] == [id_]
    page = await store.archive.meetings(MeetingFilter(text="議事録"))
    assert id_ in [state.meeting.id for state in page.items]
    positions = store.rows("SELECT max(position) FROM event")
    assert positions == store.rows("SELECT position FROM log_head")


def test_down_again_everything_is_as_it_was(filled_url: str) -> None:
    database = Database(filled_url)
    tables = ("meeting", "dissent", "cancellation", "operation", "meeting_metadata", "event")

    def rows() -> dict[str, list[Any]]:
        with _connected(filled_url) as connection:
            return {
                table: sorted(
                    (
                        sorted(row.items())
                        for row in connection.execute(text(f"SELECT * FROM {table}")).mappings()  # noqa: S608
                    ),
                    key=repr,
                )
                for table in tables
            }

    before = rows()
    upgrade(database.writer)
    downgrade(database.writer, BEFORE)
    assert rows() == before
    upgrade(database.writer)
    database.writer.dispose()
