"""The minutes on disk: there in full or not at all, under a name that no other meeting has."""

from __future__ import annotations

import asyncio
import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast
from uuid import uuid4

from app.domain.meeting.entries import Event
from app.domain.meeting.events import MeetingCreated, MeetingResumed
from app.domain.meeting.meeting import Meeting

_MOST_SLUG_BYTES = 90
"""Leaves room for the date, the id and the temporary name's ending within 255 bytes."""

_KEPT_IN_SLUG = ("L", "M", "N")
"""Unicode's letters, marks and numbers; everything else becomes a hyphen."""

_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_TEMPORARY = ".writing"
_ABANDONED_AFTER_SECONDS = 3600.0
_THREADS = 2
"""Setting minutes is work of the CPU, so more would only take turns; while one waits for the disk,
the other sets the next."""


class UnsafeMeetingId(ValueError):
    """An id that cannot be part of a file's name."""


def slug(topic: str) -> str:
    """The topic's letters and digits joined by hyphens, in at most ``_MOST_SLUG_BYTES`` bytes."""
    folded = unicodedata.normalize("NFKC", topic[:1000]).lower()
    kept = "".join(
        sign if unicodedata.category(sign)[0] in _KEPT_IN_SLUG else " " for sign in folded
    )
    joined = "-".join(kept.split())
    short = joined.encode()[:_MOST_SLUG_BYTES].decode(errors="ignore")
    return short.rstrip("-") or "meeting"


def file_name(meeting: Meeting, created_on: str, end: int = 1) -> str:
    """The name of a meeting's minutes: the same whenever it is asked for, and only its own.

    ``created_on`` is the day of creation (``2026-11-30``). A meeting that is resumed ends more than
    once, and what was written before stays as it is: each later ``end`` has a file of its own. No
    id holds a dot, so its number is no part of one. Raises ``UnsafeMeetingId``.
    """
    if not _SAFE_ID.fullmatch(meeting.id):
        raise UnsafeMeetingId(f"{meeting.id!r} cannot be part of a file's name")
    number = f".{end}" if end > 1 else ""
    return f"{created_on}-{slug(meeting.topic)}-{meeting.id}{number}.md"


def write_minutes(folder: Path, log: Sequence[Event], text: str) -> Path:
    """Write a meeting's minutes, this text, and return their path once they are safe on disk.

    Writing them again after the same end replaces the file by the same content. Blocks while the
    disk works. Raises ``OSError`` when they could not be written, and ``UnsafeMeetingId``.
    """
    meeting = cast("MeetingCreated", log[0].content).meeting
    end = 1 + sum(isinstance(entry.content, MeetingResumed) for entry in log)
    name = file_name(meeting, f"{log[0].at:%Y-%m-%d}", end)
    content = text.encode()
    target = folder / name
    if target.parent != folder or target.name != name:
        raise UnsafeMeetingId(f"{name!r} would lie outside {folder}")
    # Another process may write the same minutes at the same time, so the name is its own.
    temporary = folder / f".{name}.{uuid4().hex[:12]}{_TEMPORARY}"
    try:
        try:
            _write_through(temporary, content)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
            _write_through(temporary, content)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(folder)
    return target


def _write_through(path: Path, content: bytes) -> None:
    """Create the file and return when its content has reached the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """A rename is durable only once the folder itself is."""
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_abandoned(folder: Path) -> int:
    """Remove what killed processes left half-written, and say how many files that were."""
    before = time.time() - _ABANDONED_AFTER_SECONDS
    return sum(_remove_if_older(path, before) for path in _temporary_files(folder))


def _temporary_files(folder: Path) -> Iterable[Path]:
    return list(folder.glob(f".*{_TEMPORARY}")) if folder.is_dir() else []


def _remove_if_older(path: Path, before: float) -> bool:
    try:
        if path.stat().st_mtime >= before:
            return False
        path.unlink()
    except FileNotFoundError:
        return False
    return True


class MinutesFolder:
    """Writes minutes into a folder from a few threads of its own; the event loop stays free.

    ``minutes`` sets them from a meeting's log. Opened, it clears away what killed processes left
    half-written there.
    """

    def __init__(self, folder: Path, minutes: Callable[[Sequence[Event]], str]) -> None:
        self._folder = folder
        self._minutes = minutes
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="minutes")
        # Nobody waits for it, and a folder that cannot be cleared can perhaps be written to.
        self._threads.submit(remove_abandoned, folder)

    async def __call__(self, log: Sequence[Event]) -> str:
        """Write the minutes durably and return where they lie, as the folder was given.

        Raises ``OSError`` when they could not be written.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._write, log)

    def _write(self, log: Sequence[Event]) -> str:
        return str(write_minutes(self._folder, log, self._minutes(log)))

    def close(self) -> None:
        """Let running writes finish; nothing more is taken."""
        self._threads.shutdown()
