"""Dissents over both databases: of one meeting, and over all of them by words in any script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from app.coordinator.ports import DissentFilter
from app.domain.errors import InvalidRequest
from app.domain.meeting.entries import Entry
from app.domain.meeting.outcome import Dissent
from tests.store.conftest import Store
from tests.store.meetings import created, decided, ended, put, started
from tests.store.test_resumed import resumed


async def hold(store: Store, id_: str, *dissents: Dissent, at: float = 0, **fields: Any) -> None:
    told = decided(dissents=dissents)
    told = Entry(told.content, told.at + timedelta(seconds=at))
    await store.log.append(id_, 0, [created(id_, **fields), started(), told, ended()])


async def test_a_meetings_dissents_are_shown_from_its_end_on(store: Store) -> None:
    dissents = (Dissent("cid", "複数。", "違う。", "試験", 2), Dissent("ann", "No.", "Cost."))
    opening = [created("mtg_1"), started(), decided(dissents=dissents)]
    await store.log.append("mtg_1", 0, opening)
    assert list(await store.archive.dissents("mtg_1")) == []
    assert await _found(store) == []
    await put(store.log, "mtg_1", ended())
    assert list(await store.archive.dissents("mtg_1")) == [each.record() for each in dissents]
    page = await store.archive.all_dissents(DissentFilter())
    assert page.items[0] == {
        "meeting_id": "mtg_1",
        "format": "roundtable",
        "topic": "One repository or several?",
        "result": "decided",
        "decision": "One repository.",
        "decided_at": "2026-11-30T09:00:08Z",
        **dissents[0].record(),
    }


async def _found(store: Store, **filter_: Any) -> list[str]:
    page = await store.archive.all_dissents(DissentFilter(**filter_))
    return _told(page.items)


def _told(items: Sequence[Mapping[str, Any]]) -> list[str]:
    return [f"{item['meeting_id']} {item['participant']}" for item in items]


async def some(store: Store) -> None:
    await hold(
        store,
        "mtg_1",
        Dissent("ann", "自前で運用する", "費用を抑えたい", "上限を決める"),
        Dissent("cid", "Several repositories.", "Teams differ; CI is slow."),
        at=5,
        topic="来週の会議で決める",
        format="vote",
    )
    await hold(store, "mtg_2", Dissent("cid", "Wait.", "100% unclear", "ｶﾞｲﾄﾞﾗｲﾝ"), topic="Ship?")
    await hold(store, "mtg_3", topic="Nobody was against it")
    await hold(store, "mtg_4", Dissent("ben", "Wait.", "Later."), at=5)


async def test_filters_newest_first(store: Store) -> None:
    await some(store)
    assert await _found(store) == ["mtg_4 ben", "mtg_1 ann", "mtg_1 cid", "mtg_2 cid"]
    assert await _found(store, participant="cid") == ["mtg_1 cid", "mtg_2 cid"]
    assert await _found(store, participant="CID") == []
    assert await _found(store, format="vote") == ["mtg_1 ann", "mtg_1 cid"]
    assert await _found(store, format="vote", participant="cid") == ["mtg_1 cid"]
    assert await _found(store, participant="cid", text="wait") == ["mtg_2 cid"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("会議", ["mtg_1 ann", "mtg_1 cid"]),
        ("会議で決める", ["mtg_1 ann", "mtg_1 cid"]),
        ("費用", ["mtg_1 ann"]),
        ("費用を抑え", ["mtg_1 ann"]),
        ("上限 自前", ["mtg_1 ann"]),
        ("上", ["mtg_1 ann"]),
        ("several", ["mtg_4 ben", "mtg_1 cid"]),
        ("REPOSITORIES ci", ["mtg_1 cid"]),
        ("100%", ["mtg_2 cid"]),
        ("%", ["mtg_2 cid"]),
        ("ガイド", ["mtg_2 cid"]),
        ("nobody", []),
        ('"wait', []),
        ("", ["mtg_4 ben", "mtg_1 ann", "mtg_1 cid", "mtg_2 cid"]),
    ],
)
async def test_words_of_dissents_and_topics(store: Store, text: str, found: list[str]) -> None:
    await some(store)
    assert await _found(store, text=text) == found


async def test_page_by_page(store: Store) -> None:
    await some(store)
    whole = await _found(store)
    for limit in (1, 2, 3):
        seen: list[str] = []
        cursor = None
        while True:
            page = await store.archive.all_dissents(DissentFilter(limit=limit, cursor=cursor))
            assert len(page.items) <= limit
            seen += _told(page.items)
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == whole
    assert (await store.archive.all_dissents(DissentFilter(limit=4))).next_cursor is None


@pytest.mark.parametrize(
    "cursor", ["x", "%%%", "AAAA", "bXRnXzE", "MjAyNi0xMS0zMFQwOTowMDowOFogbXRnXzE", "🎭"]
)
async def test_a_cursor_that_no_page_gave(store: Store, cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        await store.archive.all_dissents(DissentFilter(cursor=cursor))


async def test_dissents_of_a_meeting_that_goes_on_are_found_no_more(store: Store) -> None:
    entries = [created("mtg_1"), started(), decided(None, "undecided"), ended(None, "undecided")]
    await store.log.append("mtg_1", 0, entries)
    assert await _found(store, text="several") == ["mtg_1 cid"]
    await put(store.log, "mtg_1", resumed())
    assert await _found(store, text="several") == []
    later = decided("Postpone it.", dissents=(Dissent("ann", "Now.", "Haste."),))
    await put(store.log, "mtg_1", later, ended("Postpone it."))
    assert await _found(store, text="haste") == ["mtg_1 ann"]
    assert await _found(store, text="differ") == []
