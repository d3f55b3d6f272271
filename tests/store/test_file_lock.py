"""One process to a SQLite file."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.store.database import Database, DatabaseUnusable
from app.store.file_lock import DatabaseInUse, FileLock

_HOLD = """
import sys
from pathlib import Path
from app.store.file_lock import FileLock
with FileLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def _holder(database: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until it is told otherwise."""
    command = [sys.executable, "-c", _HOLD, str(database)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_told_which_file_and_what_to_do(tmp_path: Path) -> None:
    database = tmp_path / "yoriai.db"
    with _holder(database) as holder:
        with pytest.raises(DatabaseInUse) as refused, FileLock(database):
            pass
        assert str(database) in refused.value.message
        assert "YORIAI_DATABASE_URL" in refused.value.message
        assert "\n" not in refused.value.message
        with FileLock(tmp_path / "another.db"):
            pass
        holder.communicate("")
    with FileLock(database):
        pass


def test_the_lock_goes_with_a_process_that_is_killed(tmp_path: Path) -> None:
    database = tmp_path / "yoriai.db"
    with _holder(database) as holder:
        holder.kill()
        assert holder.wait() == -signal.SIGKILL
    with FileLock(database):
        pass


def test_another_name_for_the_same_file_is_the_same_lock(tmp_path: Path) -> None:
    database = tmp_path / "yoriai.db"
    database.touch()
    folder = tmp_path / "elsewhere"
    folder.symlink_to(tmp_path)
    link = tmp_path / "link.db"
    link.symlink_to(database)
    with FileLock(database):
        for name in (folder / "yoriai.db", link, tmp_path / "x" / ".." / "yoriai.db"):
            with pytest.raises(DatabaseInUse), FileLock(name):
                pass


async def test_the_file_is_durable_and_one_process_writes(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'deep' / 'yoriai.db'}")
    wanted = {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 5000, "foreign_keys": 1}
    for pragma, value in wanted.items():
        with database.writer.connect() as connection:
            assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value
        async with database.reader.connect() as connection:
            assert (await connection.exec_driver_sql(f"PRAGMA {pragma}")).scalar() == value
    with database.writer.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x)")
        assert connection.connection.in_transaction
    await database.close()


@pytest.mark.parametrize("place", ["", "/etc", "/proc/none/x.db"])
def test_a_place_where_no_file_can_be(place: str) -> None:
    with pytest.raises(DatabaseUnusable) as refused:
        Database(f"sqlite+aiosqlite:///{place}")
    assert place in refused.value.message
    assert "\n" not in refused.value.message


def test_a_lock_that_cannot_be_made() -> None:
    with pytest.raises(DatabaseUnusable, match=r"/proc/x\.db"):
        FileLock(Path("/proc/x.db"))
