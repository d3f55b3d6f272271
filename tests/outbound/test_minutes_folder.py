"""The minutes on disk: durable, whole, and never somebody else's."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from app.domain.meeting.entries import Event
from app.domain.meeting.events import MeetingCreated
from app.outbound.minutes_folder import (
    MinutesFolder,
    UnsafeMeetingId,
    file_name,
    remove_abandoned,
    slug,
    write_minutes,
)
from app.records.minutes import minutes_markdown
from tests.records.held import ended, meeting, three_rounds, told


def renamed(log: list[Event], id_: str) -> list[Event]:
    created = told(log, MeetingCreated)
    meeting_ = replace(created.meeting, id=id_)
    return [structs.replace(log[0], content=structs.replace(created, meeting=meeting_)), *log[1:]]


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("Should we use one repository?", "should-we-use-one-repository"),
        ("モノレポか、ポリレポか？", "モノレポか-ポリレポか"),
        ("ＦＵＬＬ　Ｗｉｄｔｈ", "full-width"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", "meeting"),
        ("a/b\\c:d\0e\nf", "a-b-c-d-e-f"),
        ("🙂🙂", "meeting"),
        ("", "meeting"),
        ("Ünïcödé हिन्दी", "ünïcödé-हिन्दी"),
        ("\u202eabc\u2066", "abc"),
        ("\ud800x", "x"),
    ],
)
def test_slug(topic: str, expected: str) -> None:
    assert slug(topic) == expected


@pytest.mark.parametrize("topic", ["x" * 5000, "会" * 5000, "é-" * 3000, "👩 a " * 3000])
def test_slug_is_bounded_in_bytes_and_whole_characters(topic: str) -> None:
    made = slug(topic)
    assert 0 < len(made.encode()) <= 90
    assert "\ufffd" not in made
    assert len(file_name(meeting(topic, id="m" * 80), "2026-11-30").encode()) < 200


def test_no_two_meetings_share_a_file() -> None:
    names = {file_name(meeting(id=f"mtg_{n}"), "2026-11-30") for n in range(50)}
    assert len(names) == 50


@pytest.mark.parametrize("id_", ["../x", "a/b", "", ".", "a\0", "x" * 300, "a b", "-x"])
def test_an_id_that_is_no_name_is_refused(id_: str, tmp_path: Path) -> None:
    with pytest.raises(UnsafeMeetingId):
        write_minutes(tmp_path / "minutes", renamed(three_rounds(), id_), "")
    assert list(tmp_path.rglob("*.md")) == []


def test_writes_the_minutes_into_a_new_folder(tmp_path: Path) -> None:
    log = three_rounds()
    path = write_minutes(tmp_path / "a" / "minutes", log, minutes_markdown(log))
    assert path.parent == tmp_path / "a" / "minutes"
    assert path.name == "2026-11-30-should-the-platform-team-use-one-repository-mtg_01k9zq4m7x.md"
    assert path.read_bytes() == minutes_markdown(log).encode()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_writing_again_gives_the_same_file(tmp_path: Path) -> None:
    log = three_rounds()
    first = write_minutes(tmp_path, log, minutes_markdown(log))
    content = first.read_bytes()
    assert write_minutes(tmp_path, ended(log), minutes_markdown(ended(log))) == first
    assert first.read_bytes() == content
    assert len(list(tmp_path.iterdir())) == 1


def test_content_reaches_the_disk_before_the_name_and_the_folder_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    fsync, rename = os.fsync, Path.replace

    def seen_fsync(descriptor: int) -> None:
        is_folder = Path(f"/proc/self/fd/{descriptor}").resolve().is_dir()
        happened.append("sync folder" if is_folder else "sync file")
        fsync(descriptor)

    def seen_replace(self: Path, target: Path) -> Path:
        happened.append("rename")
        assert not target.exists()
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", seen_fsync)
    monkeypatch.setattr(Path, "replace", seen_replace)
    write_minutes(tmp_path, three_rounds(), minutes_markdown(three_rounds()))
    assert happened == ["sync file", "rename", "sync folder"]


@pytest.mark.parametrize("broken", ["fsync", "write"])
def test_a_failed_write_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    target = (os, "fsync") if broken == "fsync" else (Path, "replace")
    monkeypatch.setattr(*target, full)
    with pytest.raises(OSError, match="No space"):
        write_minutes(tmp_path, three_rounds(), minutes_markdown(three_rounds()))
    assert list(tmp_path.iterdir()) == []


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    log = three_rounds()
    path = write_minutes(tmp_path, log, minutes_markdown(log))
    whole = path.read_bytes()
    seen: set[bytes] = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(30):
        write_minutes(tmp_path, log, minutes_markdown(log))
    stop.set()
    reader.join()
    assert seen == {whole}


def test_a_link_in_the_folder_is_replaced_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("keep me", encoding="utf-8")
    folder = tmp_path / "minutes"
    path = write_minutes(folder, three_rounds(), minutes_markdown(three_rounds()))
    path.unlink()
    path.symlink_to(outside)
    write_minutes(folder, three_rounds(), minutes_markdown(three_rounds()))
    assert outside.read_text(encoding="utf-8") == "keep me"
    assert not path.is_symlink()


def test_what_a_killed_process_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    path = write_minutes(tmp_path, three_rounds(), minutes_markdown(three_rounds()))
    old, young = (tmp_path / f".{name}.writing" for name in ("old", "young"))
    for left in (old, young):
        left.write_text("half", encoding="utf-8")
    hours_ago = time.time() - 7200
    os.utime(old, (hours_ago, hours_ago))
    assert remove_abandoned(tmp_path) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([young.name, path.name])
    assert remove_abandoned(tmp_path / "missing") == 0


def test_a_folder_that_is_opened_is_cleared_of_what_was_left(tmp_path: Path) -> None:
    left = tmp_path / ".old.writing"
    left.write_text("half", encoding="utf-8")
    hours_ago = time.time() - 7200
    os.utime(left, (hours_ago, hours_ago))
    MinutesFolder(tmp_path, minutes_markdown).close()
    assert not left.exists()


async def test_folder_writes_without_holding_up_the_loop(tmp_path: Path) -> None:
    folder = MinutesFolder(tmp_path, minutes_markdown)
    log = three_rounds()
    path = await folder(log)
    folder.close()
    (written,) = tmp_path.glob("*.md")  # noqa: ASYNC240 - the loop has nothing else to do
    assert path == str(written)


async def test_folder_says_when_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    folder = MinutesFolder(tmp_path / "file", minutes_markdown)
    with pytest.raises(OSError, match="file"):
        await folder(three_rounds())
    folder.close()
