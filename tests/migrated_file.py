"""A database file to copy: migrating one takes ten times as long as opening one."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.store.database import Database
from app.store.migrating import upgrade


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the newest schema and nothing in it."""
    path = tmp_path_factory.mktemp("migrated") / "yoriai.db"
    database = Database(f"sqlite+aiosqlite:///{path}")
    upgrade(database.writer)
    database.writer.dispose()
    return path
