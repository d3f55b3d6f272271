"""Saves elsewhere as the store keeps and lists them (PROTOCOLS 13)."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta

import pytest

from app.coordinator.ports import OperationFilter
from app.domain.errors import InvalidRequest, NotFound
from app.domain.meeting import events
from app.domain.meeting.entries import Entry
from app.domain.operation.log import begun, happened
from app.domain.operation.record import OperationRecord
from app.domain.operation.state import OperationState
from app.domain.operation.terms import (
    Checked,
    Fate,
    Finding,
    HandedOver,
    Look,
    Operation,
    OperationHappening,
    Sent,
    WriteAnswer,
    Written,
)
from tests.clock import START
from tests.store.conftest import Store
from tests.store.meetings import created, outcome_of, started

UNKNOWN = (Sent(START), Written(START, WriteAnswer(Fate.UNCLEAR)))
HANDED_OVER = (*UNKNOWN, HandedOver(START, START + timedelta(seconds=300)))
CONFIRMED = (*UNKNOWN, Checked(START, Finding(Look.SAME, version='"v1"')))


async def _save(
    store: Store,
    meeting_id: str,
    *happenings: OperationHappening,
    ends: bool = False,
    at: datetime = START,
) -> str:
    """A meeting with one operation to which this has happened, all in one append."""
    state = OperationState(Operation(f"op_{meeting_id}", "https://x.example/", "0", "dee", at))
    entries = [created(meeting_id), started()]
    entries.append(Entry(begun(meeting_id, state, "x"), START))
    for happening in happenings:
        state = state.after(happening)
        told = happened(events.OperationHappened, meeting_id, state, happening)
        entries.append(Entry(told, START))
    if ends:
        entries.append(Entry(events.MeetingEnded(outcome=outcome_of("x"), ended_at=START), START))
    await store.log.append(meeting_id, 0, entries)
    return state.operation.id


async def test_the_latest_record_is_kept(store: Store) -> None:
    id_ = await _save(store, "mtg_a", *CONFIRMED)
    record = await store.archive.operation(id_)
    assert (record["state"], record["version"], record["meeting_id"]) == (
        "confirmed",
        '"v1"',
        "mtg_a",
    )
    assert (await store.archive.state("mtg_a")).operations == {id_: OperationRecord.read(record)}
    with pytest.raises(NotFound):
        await store.archive.operation("op_none")


async def test_a_later_look_changes_it_without_a_public_event(store: Store) -> None:
    id_ = await _save(store, "mtg_a", *HANDED_OVER, ends=True)
    public = await store.archive.events("mtg_a", 0, 100)
    log = await store.log.read("mtg_a")
    operation = Operation.read(await store.archive.operation(id_))
    state = OperationState.of(operation, [*HANDED_OVER, CONFIRMED[-1]])
    told = happened(events.OperationReconciled, "mtg_a", state, CONFIRMED[-1])
    await store.log.append("mtg_a", log[-1].seq, [Entry(told, START)])
    assert (await store.archive.operation(id_))["state"] == "confirmed"
    assert await store.archive.events("mtg_a", 0, 100) == public
    assert (await store.archive.state("mtg_a")).ended


async def test_pages_of_those_in_a_state(store: Store) -> None:
    for number in range(5):
        await _save(store, f"mtg_{number}", *(HANDED_OVER if number % 2 else UNKNOWN))
    await _save(store, "mtg_9", *CONFIRMED)
    assert await _ids(store, 2) == [f"op_mtg_{number}" for number in (4, 3, 2, 1, 0)]
    confirmed = await store.archive.operations(OperationFilter(frozenset({"confirmed"})))
    assert [record["id"] for record in confirmed.items] == ["op_mtg_9"]


async def _ids(store: Store, limit: int) -> list[str]:
    """The ids of all pages of so many."""
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await store.archive.operations(OperationFilter(cursor=cursor, limit=limit))
        seen += [record["id"] for record in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return seen


async def test_the_newest_come_first_whatever_their_ids(store: Store) -> None:
    """A meeting that is resumed saves again long after others that were opened later."""
    seconds = {"mtg_a": 90.000001, "mtg_b": 1, "mtg_c": 90, "mtg_d": 1, "mtg_e": 2.5}
    for meeting_id, second in seconds.items():
        await _save(store, meeting_id, *UNKNOWN, at=START + timedelta(seconds=second))
    newest_first = [f"op_mtg_{each}" for each in "acedb"]
    for limit in (1, 2, 5):
        assert await _ids(store, limit) == newest_first


@pytest.mark.parametrize(
    "text",
    [
        "mtg_1",
        "op_mtg_1",
        "2026-11-30T12:00:00Z",
        "2026-11-30T12:00:00Z mtg_1",
        "2026-13-30T12:00:00Z op_1",
        "2026-11-30T12:00:00 op_1",
        "",
    ],
)
async def test_a_cursor_of_another_list_is_refused(store: Store, text: str) -> None:
    cursor = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    with pytest.raises(InvalidRequest):
        await store.archive.operations(OperationFilter(cursor=cursor))


async def test_ended_meetings_are_unfinished_while_a_save_is_looked_after(store: Store) -> None:
    await _save(store, "mtg_running")
    await _save(store, "mtg_unknown", *UNKNOWN, ends=True)
    await _save(store, "mtg_handed", *HANDED_OVER, ends=True)
    await _save(store, "mtg_done", *CONFIRMED, ends=True)
    assert await store.log.unfinished() == ["mtg_handed", "mtg_running", "mtg_unknown"]
