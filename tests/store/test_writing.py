"""In which order a transaction writes, and that it reads no state twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from app.coordinator.ports import Idempotency
from app.domain.errors import LogConflict, LogUnavailable
from app.store.database import Database
from app.store.log import SqlEventLog
from tests.store.conftest import Store
from tests.store.meetings import created, decided, ended, put, round_, started
from tests.store.test_closed import SEATS, ballot


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """What the writer has the database do, each by its first words."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: Any) -> None:
        seen.append(" ".join(statement.split()))

    event.listen(database.writer, "before_cursor_execute", note)
    yield seen
    event.remove(database.writer, "before_cursor_execute", note)


def of_states(seen: list[str]) -> list[str]:
    return [each for each in seen if each.startswith("SELECT") and "meeting.state" in each]


async def test_what_every_process_waits_for_is_written_last(store: Store) -> None:
    key = Idempotency("key", "digest", "{}")
    entries = [created("mtg_1", metadata={"k": "v"}), started(), *round_(), decided(), ended()]
    with statements(store.database) as seen:
        await store.log.append("mtg_1", 0, entries, key)
    written = [each.split("(")[0].split(" SET")[0].strip() for each in seen]
    written = [each for each in written if each.startswith(("INSERT", "UPDATE"))]
    assert written[-2:] == ["UPDATE log_head", "INSERT INTO event"]
    assert written[0] == "INSERT INTO meeting"
    assert "INSERT INTO idempotency" in written[:-2]


async def test_a_state_is_read_once_and_then_known(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1"), started()])
    await store.log.append("mtg_2", 0, [created("mtg_2", ancestors=("mtg_1",)), started()])
    # Another process, which knows of none of them.
    database = Database(store.url)
    other = SqlEventLog(database)
    with statements(database) as seen:
        await put(other, "mtg_2", *round_())
    assert len(of_states(seen)) == 2, "the meeting's, and then that of the one above it"
    with statements(database) as seen:
        await put(other, "mtg_2", *round_(2))
    assert of_states(seen) == []
    await other.close()
    await database.close()


async def test_a_row_in_the_way_is_an_outage_and_no_news_in_the_log(store: Store) -> None:
    """Whoever is told of a conflict reads on and tries again, and would find no news for ever."""
    for id_ in ("mtg_1", "mtg_2"):
        await store.log.append(id_, 0, [created(id_, seats=SEATS), started()])
    closing = [ballot("ann", "A"), decided(), ended()]
    await put(store.log, "mtg_2", *closing)
    with store.database.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE vote SET meeting_id = 'mtg_1'")
    with pytest.raises(LogUnavailable):
        await put(store.log, "mtg_1", *closing)
    assert len(await store.log.read("mtg_1")) == 2
    with pytest.raises(LogConflict) as conflict:
        await store.log.append("mtg_1", 1, closing)
    assert conflict.value.found == 2
    with store.database.writer.begin() as connection:
        connection.exec_driver_sql("DELETE FROM vote")
    await put(store.log, "mtg_1", *closing)
    assert len(await store.log.read("mtg_1")) == 5
