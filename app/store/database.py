"""Connections: one synchronous one for the log writer, a pool of asynchronous ones for reading."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.domain.errors import LogUnavailable, YoriaiError

LARGEST_INTEGER = 2**31 - 1
"""Of an INTEGER column on Postgres; a larger one in a question is an error there."""

_BUSY_MILLISECONDS = 5_000
_READERS = 5


class DatabaseUnusable(YoriaiError):
    """What the settings name is no database, or cannot become one."""

    code = "database-unusable"


class Database:
    """``embedded`` says that it is a SQLite file, which one process writes to.

    Making one raises ``DatabaseUnusable`` where no such file can be.
    """

    def __init__(self, url: str) -> None:
        self.url: URL = make_url(url)
        self.embedded = self.url.get_backend_name() == "sqlite"
        if self.embedded:
            self._make_room()
        # A failure's text goes into logs and answers; secrets are among the parameters.
        self.writer: Engine = create_engine(
            self.sync_url, pool_size=1, max_overflow=0, hide_parameters=True
        )
        # Each of aiosqlite's connections is a thread; more of them only wait for each other.
        self.reader: AsyncEngine = create_async_engine(
            self.url, pool_size=_READERS, max_overflow=0, hide_parameters=True
        )
        if self.embedded:
            _configure_sqlite(self.writer)
            _configure_sqlite(self.reader.sync_engine)
            event.listen(self.writer, "begin", _begin_immediate)

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return Path(self.url.database or "")

    @property
    def sync_url(self) -> URL:
        return self.url.set(drivername="sqlite") if self.embedded else self.url

    def _make_room(self) -> None:
        if not self.url.database:
            raise DatabaseUnusable("YORIAI_DATABASE_URL needs a path: sqlite+aiosqlite:///PATH.")
        if self.path.is_dir():
            raise DatabaseUnusable(f"{self.path} is a folder, not a database.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():
                # Agents' keys lie in it; SQLite gives its side files the same mode.
                self.path.touch(mode=0o600)
        except OSError as failure:
            reason = f"no folder could be made for it ({failure.strerror})"
            raise DatabaseUnusable(f"{self.path} cannot be used: {reason}.") from failure

    async def close(self) -> None:
        await self.reader.dispose()
        self.writer.dispose()


@contextmanager
def outages(doing: str) -> Iterator[None]:
    """Whatever the database fails with becomes ``LogUnavailable``, but for a clash of keys."""
    try:
        yield
    except IntegrityError:
        raise
    except SQLAlchemyError as failure:
        raise unavailable(doing, failure) from failure


def unavailable(doing: str, failure: Exception) -> LogUnavailable:
    """The outage in one line, without the statement and the row that met it."""
    return LogUnavailable(f"The database could not be {doing}: {reason_of(failure)}")


def reason_of(failure: Exception) -> str:
    return str(getattr(failure, "orig", None) or failure).partition("\n")[0]


def _configure_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        # SQLAlchemy's own "begin" event opens transactions; the driver's would be deferred ones.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            f"busy_timeout={_BUSY_MILLISECONDS}",
            "foreign_keys=ON",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()


def _begin_immediate(connection: Connection) -> None:
    """A transaction that turns from reading to writing would fail at once, whatever the timeout."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
