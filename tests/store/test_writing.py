"""In which order a transaction writes, and that it reads no state twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from app.coordinator.ports import Idempotency
from app.store.database import Database
from app.store.log import SqlEventLog
from tests.store.conftest import Store
from tests.store.meetings import created, decided, ended, put, round_, started


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
