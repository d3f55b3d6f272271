"""The store over each database that it runs on."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, event, text

from app.store.agent_settings import SqlAgentStore
from app.store.archive import SqlArchive
from app.store.database import Database
from app.store.log import SqlEventLog
from tests.clock import VirtualClock
from tests.migrated_file import migrated_file
from tests.postgres import Postgres, postgres

__all__ = ["migrated_file", "postgres"]

BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


class Store:
    """All of the store, over one database. ``kill`` takes the database away under it."""

    def __init__(self, url: str, kill: Callable[[], None]) -> None:
        self.url = url
        self.database = Database(url)
        self.log = SqlEventLog(self.database)
        self.archive = SqlArchive(self.database)
        self.clock = VirtualClock()
        self.agents = SqlAgentStore(self.database, self.clock)
        self._kill = kill
        self.killed = False

    async def kill(self) -> None:
        self.killed = True
        await self.database.close()
        self._kill()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the database holds, seen past the store."""
        engine = create_engine(self.database.sync_url)
        with engine.connect() as connection:
            found = [tuple(row) for row in connection.execute(text(query))]
        engine.dispose()
        return found

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """Nothing can be committed within the block, so that appends pile up."""
        engine = create_engine(self.database.sync_url)
        with engine.connect() as connection:
            if self.database.embedded:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.exec_driver_sql("LOCK TABLE log_head, meeting IN EXCLUSIVE MODE")
            yield
            connection.rollback()
        engine.dispose()

    @contextmanager
    def commits(self) -> Iterator[list[object]]:
        """Counts the writer's commits."""
        seen: list[object] = []

        def note(connection: object) -> None:
            seen.append(connection)

        event.listen(self.database.writer, "commit", note)
        yield seen
        event.remove(self.database.writer, "commit", note)

    async def close(self) -> None:
        await self.log.close()
        await self.database.close()


@pytest.fixture(params=BOTH)
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def empty_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table."""
    if backend == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path / 'yoriai.db'}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    url = server.empty()
    yield url
    server.drop(url)


@pytest.fixture
async def store(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path, migrated_file: Path
) -> AsyncIterator[Store]:
    if backend == "sqlite":
        path = tmp_path / "yoriai.db"
        shutil.copy(migrated_file, path)
        opened = Store(f"sqlite+aiosqlite:///{path}", lambda: _ruin(path))
        yield opened
        await opened.close()
        return
    server: Postgres = request.getfixturevalue("postgres")
    url = server.migrated()
    opened = Store(url, lambda: server.drop(url))
    yield opened
    await opened.close()
    if not opened.killed:
        server.give_back(url)


def _ruin(path: Path) -> None:
    for each in path.parent.glob(path.name + "*"):
        each.unlink()
    path.write_bytes(b"This is no database. " * 1000)
