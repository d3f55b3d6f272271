"""The port ``Archive`` over both databases: lists, filters, words in any script, decisions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from app.coordinator.ports import MeetingFilter
from app.domain.errors import InvalidRequest, LogUnavailable, NotFound
from app.domain.meeting.entries import Entry
from app.domain.meeting.state import fold
from tests.clock import START
from tests.store.conftest import Store
from tests.store.meetings import created, ended, put, round_, started, whole


async def _ids(store: Store, **filter_: Any) -> list[str]:
    page = await store.archive.meetings(MeetingFilter(**filter_))
    return [state.meeting.id for state in page.items]


def _at(seconds: float, opening: Entry) -> Entry:
    at = START + timedelta(seconds=seconds)
    return replace(opening, at=at)


async def test_newest_first_page_by_page(store: Store) -> None:
    ids = [f"mtg_{number:02}" for number in range(7)]
    for id_ in reversed(ids):
        await store.log.append(id_, 0, [created(id_)])
    seen: list[str] = []
    cursor = None
    pages = 0
    while True:
        page = await store.archive.meetings(MeetingFilter(limit=3, cursor=cursor))
        seen += [state.meeting.id for state in page.items]
        pages += 1
        cursor = page.next_cursor
        if cursor is None:
            break
        # A meeting that comes meanwhile is newer than the pages to come.
        await store.log.append(f"mtg_9{pages}", 0, [created(f"mtg_9{pages}")])
    assert (seen, pages) == (ids[::-1], 3)


async def test_a_page_that_is_just_full_is_the_last(store: Store) -> None:
    for id_ in ("mtg_1", "mtg_2"):
        await store.log.append(id_, 0, [created(id_)])
    assert (await store.archive.meetings(MeetingFilter(limit=2))).next_cursor is None
    assert (await store.archive.meetings(MeetingFilter(limit=1))).next_cursor is not None


@pytest.mark.parametrize("cursor", ["x", "%%%", "AAAA", "bXRnX____w", "🎭", "bXRnXwA"])
async def test_a_cursor_that_no_page_gave(store: Store, cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        await store.archive.meetings(MeetingFilter(cursor=cursor))
    with pytest.raises(InvalidRequest):
        await store.archive.decided(MeetingFilter(cursor=cursor))


async def test_filters(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    await store.log.append("mtg_2", 0, [_at(5, created("mtg_2")), started()])
    await store.log.append("mtg_3", 0, [_at(9, created("mtg_3", format="vote"))])
    await store.log.append("mtg_4", 0, whole("mtg_4"))
    undecided = ended(None, result="undecided")
    await store.log.append("mtg_5", 0, [created("mtg_5"), started(), *round_(), undecided])
    assert await _ids(store) == ["mtg_5", "mtg_4", "mtg_3", "mtg_2", "mtg_1"]
    assert await _ids(store, status="scheduled") == ["mtg_3", "mtg_1"]
    assert await _ids(store, status="running") == ["mtg_2"]
    assert await _ids(store, status="ended") == ["mtg_5", "mtg_4"]
    assert await _ids(store, format="vote") == ["mtg_3"]
    assert await _ids(store, result="undecided") == ["mtg_5"]
    assert await _ids(store, created_after=START) == ["mtg_3", "mtg_2"]
    assert await _ids(store, created_after=START + timedelta(seconds=5)) == ["mtg_3"]
    assert await _ids(store, created_after=START - timedelta(microseconds=1), limit=1) == ["mtg_5"]
    assert await _ids(store, status="ended", result="decided", text="REPOSITORY") == ["mtg_4"]


async def test_metadata(store: Store) -> None:
    for id_, metadata in (
        ("mtg_1", {"team": "platform", "ticket": "A-1"}),
        ("mtg_2", {"team": "platform"}),
        ("mtg_3", {"team": "会議室", "a.b": "100%"}),
    ):
        await store.log.append(id_, 0, [created(id_, metadata=metadata)])
    assert await _ids(store, metadata={"team": "platform"}) == ["mtg_2", "mtg_1"]
    assert await _ids(store, metadata={"team": "platform", "ticket": "A-1"}) == ["mtg_1"]
    assert await _ids(store, metadata={"team": "会議室"}) == ["mtg_3"]
    assert await _ids(store, metadata={"a.b": "100%"}) == ["mtg_3"]
    for key, value in (
        ("team", "PLATFORM"),
        ("team", "plat%"),
        ("ticket", ""),
        ("a_b", "100%"),
    ):
        assert await _ids(store, metadata={key: value}) == []


TOPICS = {
    "mtg_01": "来週の会議の議事録を公開するか",
    "mtg_02": "社会保険の手続き",
    "mtg_03": 'Keep the "Monorepo" AND the train?',
    "mtg_04": "100% coverage or snake_case",
    "mtg_05": "Straße, CAFÉ und ＦＵＬＬＷＩＤＴＨ",
    "mtg_06": "c++ -draft near/far (x OR y) a*b; DROP TABLE",
    "mtg_07": "絵文字🎭の扱い",
    "mtg_08": "ｶﾞｲﾄﾞﾗｲﾝ",
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("会", ["mtg_02", "mtg_01"]),
        ("会議", ["mtg_01"]),
        ("議事録", ["mtg_01"]),
        ("の議事録を公開", ["mtg_01"]),
        ("会議 議事録", ["mtg_01"]),
        ("会議　保険", []),
        ("議会", []),
        ("monorepo", ["mtg_03"]),
        ("MONOREPO keep", ["mtg_03"]),
        ("noRE", ["mtg_03"]),
        ('"monorepo"', ["mtg_03"]),
        ('"', ["mtg_03"]),
        ('""', []),
        ('"""', []),
        ("and", ["mtg_03"]),
        ("monorepo AND train?", ["mtg_03"]),
        ("NOT", []),
        ("NEAR(a b)", []),
        ("100%", ["mtg_04"]),
        ("%", ["mtg_04"]),
        ("1%0", []),
        ("%%%", []),
        ("_", ["mtg_04"]),
        ("e_c", ["mtg_04"]),
        ("_case", ["mtg_04"]),
        ("snake.case", []),
        ("strasse", ["mtg_05"]),
        ("STRASSE", ["mtg_05"]),
        ("café", ["mtg_05"]),
        ("cafe\u0301", ["mtg_05"]),
        ("fullwidth", ["mtg_05"]),
        ("ＦＵ", ["mtg_05"]),
        ("*", ["mtg_06"]),
        ("a*b", ["mtg_06"]),
        ("a*", ["mtg_06"]),
        ("mono*", []),
        ("-draft", ["mtg_06"]),
        ("-monorepo", []),
        ("c++", ["mtg_06"]),
        ("(x", ["mtg_06"]),
        ("search_text:mono", []),
        ("; drop table", ["mtg_06"]),
        ("' OR ''='", []),
        ("🎭", ["mtg_07"]),
        ("字🎭の", ["mtg_07"]),
        ("ガイド", ["mtg_08"]),
        ("ガイドライン", ["mtg_08"]),
        ("\\", []),
        ("/", ["mtg_06"]),
        ("r/f", ["mtg_06"]),
        ("the role of ann", [f"mtg_0{n}" for n in range(8, 0, -1)]),
        ("", [f"mtg_0{n}" for n in range(8, 0, -1)]),
        ("  \t\n", [f"mtg_0{n}" for n in range(8, 0, -1)]),
        ("mono\0repo", ["mtg_03"]),
        ("\0", [f"mtg_0{n}" for n in range(8, 0, -1)]),
        ("\ud83c\ud83c\ud83c", []),
        ("x" * 3000, []),
    ],
)
async def test_words_are_found_in_any_script(store: Store, text: str, found: list[str]) -> None:
    for id_, topic in TOPICS.items():
        await store.log.append(id_, 0, [created(id_, topic=topic)])
    assert await _ids(store, text=text) == found


async def test_what_was_decided_is_found_too(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1"), started(), *round_()])
    await store.log.append("mtg_2", 0, whole("mtg_2"))
    for text in ("分割", "分割する"):
        assert await _ids(store, text=text) == []
    await put(store.log, "mtg_1", ended("四半期ごとに分割する"))
    for text in ("分割", "分割する", "january", "One repository", "一"):
        assert await _ids(store, text=text) == (
            ["mtg_1"] if "分" in text else [] if text == "一" else ["mtg_2", "mtg_1"]
        )


async def test_decided_gives_the_logs_of_ended_meetings(store: Store) -> None:
    for id_ in ("mtg_1", "mtg_3"):
        await store.log.append(id_, 0, whole(id_, topic=f"会議 {id_}"))
    await store.log.append("mtg_2", 0, [created("mtg_2"), started()])
    undecided = ended(None, result="undecided")
    await store.log.append("mtg_4", 0, [created("mtg_4"), started(), undecided])
    first = await store.archive.decided(MeetingFilter(limit=2))
    rest = await store.archive.decided(MeetingFilter(limit=2, cursor=first.next_cursor))
    logs = [*first.items, *rest.items]
    assert [log[0].meeting_id for log in logs] == ["mtg_4", "mtg_3", "mtg_1"]
    assert rest.next_cursor is None
    assert logs[1] == await store.log.read("mtg_3")
    for filter_, ids in (
        (MeetingFilter(result="undecided"), ["mtg_4"]),
        (MeetingFilter(text="会議"), ["mtg_3", "mtg_1"]),
        (MeetingFilter(text="mtg_3"), ["mtg_3"]),
        (MeetingFilter(text="nothing of that"), []),
    ):
        page = await store.archive.decided(filter_)
        assert [log[0].meeting_id for log in page.items] == ids


async def test_state_log_and_pages_of_events(store: Store) -> None:
    made = await store.log.append("mtg_1", 0, whole("mtg_1"))
    assert await store.archive.log("mtg_1") == made
    assert await store.archive.state("mtg_1") == fold(made)
    public = [event for event in made if event.number is not None]
    assert await store.archive.events("mtg_1", 0, 100) == public
    assert await store.archive.events("mtg_1", 3, 2) == public[3:5]
    for after in (8, 2**31, 10**15 - 1):
        assert await store.archive.events("mtg_1", after, 100) == []


async def test_no_such_meeting(store: Store) -> None:
    for ask in (
        store.archive.state("mtg_x"),
        store.archive.log("mtg_x"),
        store.archive.events("mtg_x", 0, 10),
    ):
        with pytest.raises(NotFound):
            await ask


async def test_a_state_survives_the_row_at_every_moment(store: Store) -> None:
    """The row and the folded log say the same, whatever has happened last."""
    await store.log.append("mtg_1", 0, [created("mtg_1", metadata={"k": "v"}, language="ja")])
    for entry in (started(), *round_(), ended()):
        await put(store.log, "mtg_1", entry)
        assert await store.archive.state("mtg_1") == fold(await store.log.read("mtg_1"))


async def test_a_dead_database_is_said_to_be_one(store: Store) -> None:
    await store.kill()
    for ask in (
        store.archive.state("mtg_1"),
        store.archive.log("mtg_1"),
        store.archive.events("mtg_1", 0, 10),
        store.archive.meetings(MeetingFilter(text="会議録")),
        store.archive.decided(MeetingFilter()),
        store.archive.first_answer("key"),
        store.archive.keep_answer("key", "{}"),
    ):
        with pytest.raises(LogUnavailable):
            await ask
