"""The two databases that the invariants are held on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from app.coordinator import journal
from app.store.database import Database
from app.store.migrating import upgrade
from tests.postgres import Postgres, postgres

__all__ = ["postgres"]

Empty = Callable[[], AbstractContextManager[Sequence[str]]]
"""Gives an empty database's URL, once for each process that writes to it."""


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
)
def empty(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Empty:
    if request.param == "postgres":
        return _on_postgres(request.getfixturevalue("postgres"))
    return _on_sqlite(tmp_path_factory.mktemp("invariants"))


def _on_postgres(server: Postgres) -> Empty:
    @contextmanager
    def empty() -> Iterator[Sequence[str]]:
        url = server.migrated()
        yield url, url
        server.give_back(url)

    return empty


def _on_sqlite(folder: Path) -> Empty:
    """One process writes to a file."""
    model = folder / "model.db"
    database = Database(f"sqlite+aiosqlite:///{model}")
    upgrade(database.writer)
    database.writer.dispose()

    @contextmanager
    def empty() -> Iterator[Sequence[str]]:
        path = folder / "yoriai.db"
        shutil.copy(model, path)
        yield (f"sqlite+aiosqlite:///{path}",)
        for each in folder.glob("yoriai.db*"):
            each.unlink()

    return empty


@pytest.fixture(scope="module", autouse=True)
def _no_real_time_passes() -> Iterator[None]:
    """Replies of one moment go to the disk together; a moment is a turn of the event loop here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "_GATHERING_SECONDS", 0)
        yield
