"""Connections: one synchronous one for the log writer, a pool of asynchronous ones for reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

_BUSY_MILLISECONDS = 5_000


class Database:
    """``embedded`` says that it is a SQLite file, which one process writes to."""

    def __init__(self, url: str) -> None:
        self.url: URL = make_url(url)
        self.embedded = self.url.get_backend_name() == "sqlite"
        if self.embedded:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self.writer: Engine = create_engine(self.sync_url, pool_size=1, max_overflow=0)
        self.reader: AsyncEngine = create_async_engine(self.url)
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

    async def close(self) -> None:
        await self.reader.dispose()
        self.writer.dispose()


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
