"""Migrations, on both databases: up, down, halfway, and what they come to."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import op
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text
from sqlmodel import SQLModel

from app.store import migrating, tables
from app.store.archive import SqlArchive
from app.store.database import Database, DatabaseUnusable
from app.store.log import SqlEventLog
from app.store.migrating import NEWEST, SchemaTooNew, downgrade, ensure_newest, revision, upgrade
from tests.store.conftest import Store
from tests.store.meetings import whole

ROOT = Path(__file__).parents[2]

NOT_IN_THE_MODELS = tuple(
    name.format(table)
    for table in ("meeting", "dissent")
    for name in ("{}_search", "ix_{}_search_text")
)
"""Full text: SQLite keeps it in a virtual table (with four of its own behind it), Postgres in an
index over trigrams; no model can say either."""


@pytest.fixture
def database(empty_url: str) -> Iterator[Database]:
    made = Database(empty_url)
    yield made
    made.writer.dispose()


def _tables(database: Database) -> set[str]:
    # An engine of its own: one that has looked before remembers.
    engine = create_engine(database.sync_url)
    names = set(inspect(engine).get_table_names())
    engine.dispose()
    return names


def _script() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations"))
    return ScriptDirectory.from_config(config)


def test_the_code_needs_the_newest_revision_there_is() -> None:
    assert _script().get_heads() == [NEWEST]


def test_up_down_and_up_again(database: Database) -> None:
    assert revision(database.writer) is None
    upgrade(database.writer)
    assert revision(database.writer) == NEWEST
    upgrade(database.writer)
    downgrade(database.writer, "base")
    assert revision(database.writer) is None
    assert _tables(database) == {"alembic_version"}
    upgrade(database.writer)
    assert revision(database.writer) == NEWEST


def test_every_step_goes_down_and_up(database: Database) -> None:
    upgrade(database.writer)
    for script in _script().walk_revisions():
        down = script.down_revision
        assert down is None or isinstance(down, str)
        downgrade(database.writer, down or "base")
        upgrade(database.writer, script.revision)
        downgrade(database.writer, down or "base")
    assert revision(database.writer) is None


def test_the_schema_is_the_one_that_the_models_say(database: Database) -> None:
    upgrade(database.writer)

    def counts(thing: Any, name: str | None, kind: str, *_: object) -> bool:
        del thing, kind
        return not (name or "").startswith(NOT_IN_THE_MODELS)

    with database.writer.connect() as connection:
        options = {"compare_type": True, "include_object": counts}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, SQLModel.metadata) == []
    assert {"event", "meeting", "vote"} <= _tables(database)


def test_a_difference_would_be_found(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade(database.writer)
    column = tables.table(tables.VoteRow).c.status
    monkeypatch.setattr(column, "nullable", True)
    with database.writer.connect() as connection:
        context = MigrationContext.configure(connection)
        found = compare_metadata(context, SQLModel.metadata)
    assert any("modify_nullable" in str(each) for each in found)


async def test_a_migration_that_fails_halfway_leaves_nothing_of_itself(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = op.create_table

    def failing(name: str, *columns: Any, **options: Any) -> Any:
        if name == "dissent":
            raise OSError("No space left on device")
        return create(name, *columns, **options)

    with monkeypatch.context() as patch:
        patch.setattr(op, "create_table", failing)
        with pytest.raises(OSError, match="No space"):
            upgrade(database.writer)
    assert _tables(database) == set()
    await _comes_up(database)


async def _comes_up(database: Database) -> None:
    """It can be migrated again, and used."""
    ensure_newest(database.writer)
    assert revision(database.writer) == NEWEST
    log = SqlEventLog(database)
    made = await log.append("mtg_1", 0, whole("mtg_1"))
    assert await SqlArchive(database).log("mtg_1") == made
    await log.close()
    await database.close()


def _migrate_and_die(url: str, table: str) -> None:
    """In a process of its own: begin to migrate and be killed at this table."""
    create = op.create_table

    def dying(name: str, *columns: Any, **options: Any) -> Any:
        made = create(name, *columns, **options)
        if name == table:
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    op.create_table = dying
    migrating.upgrade(Database(url).writer)


@pytest.mark.parametrize("table", ["event", "meeting", "agent", "vote"])
async def test_a_process_that_is_killed_halfway(empty_url: str, table: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=_migrate_and_die, args=(empty_url, table))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    await _comes_up(Database(empty_url))


def test_a_database_of_newer_code_is_left_alone(database: Database) -> None:
    upgrade(database.writer)
    with database.writer.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew, match="9999"):
        ensure_newest(database.writer)
    with pytest.raises(SchemaTooNew, match="9999"):
        upgrade(database.writer)
    assert revision(database.writer) == "9999"


async def test_what_is_no_database_is_said_to_be_none(store: Store) -> None:
    await store.kill()
    for attempt in (revision, upgrade, ensure_newest):
        with pytest.raises(DatabaseUnusable) as refused:
            attempt(store.database.writer)
        assert "\n" not in refused.value.message
