"""Keeps a second service off a SQLite file (the embedded mode has one process)."""

from __future__ import annotations

import fcntl
from pathlib import Path
from types import TracebackType

from app.domain.errors import YoriaiError
from app.store.database import DatabaseUnusable


class DatabaseInUse(YoriaiError):
    code = "database-in-use"


class FileLock:
    """An operating system's lock: it goes with the process, however that ends.

    Making one raises ``DatabaseUnusable``, entering it ``DatabaseInUse`` while another process
    holds it.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        # Beside the file itself, whatever links lead there.
        real = database.resolve()
        try:
            self._file = real.with_name(real.name + ".lock").open("a")
        except OSError as failure:
            reason = f"no file can be made beside it ({failure.strerror})"
            raise DatabaseUnusable(f"{database} cannot be used: {reason}.") from failure

    def __enter__(self) -> FileLock:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            self._file.close()
            raise DatabaseInUse(
                f"Another Yoriai is running on {self._database}. Stop it first, or give this one "
                "its own file with YORIAI_DATABASE_URL."
            ) from held
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
