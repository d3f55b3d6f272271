"""Two saves of one meeting at one place: it was resumed while the first was open (PROTOCOLS 13)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.coordinator.resuming import ResumeMeeting
from app.domain.meeting import events
from app.domain.meeting.meeting import Material
from app.domain.operation.record import OperationRecord
from app.domain.operation.state import LANDING_SECONDS
from app.domain.operation.terms import Finding, Look
from app.records.decision import decision_json
from app.records.minutes import minutes_json, minutes_markdown
from tests.coordinator.place import Put
from tests.coordinator.saved_review import DRAFT, URL, open_review, review_table, to_the_end
from tests.coordinator.table import Table, ended
from tests.formats.review.by_hand import written

LATER = "The owner is Dee, and the outage lasted 4 hours."
NEW_MATERIAL = ResumeMeeting(
    "materials",
    "The log was read again.",
    materials=(Material("m1", "2", "The outage lasted 4 hours. The owner is Dee."),),
)
NOTHING = Finding(Look.NO_ANSWER, "The destination answered 500.")


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[Table]:
    table = review_table(tmp_path)
    yield table
    await table.close()


async def cut_and_resumed(held: Table) -> str:
    """The meeting, decided in its second leg; its first save left and was lost from sight."""
    held.place.on_write, held.place.on_look = [Put.hangs()], [NOTHING]
    state = await open_review(held)
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.place.moved.wait()
    await held.service.cancel(state.meeting.id, None)
    await run
    held.agents["ann"].behave = lambda _: written(LATER)
    held.place.on_write, held.place.on_look = [Put()], []
    wish = replace(NEW_MATERIAL, acknowledge_unknown=True)
    await held.service.resume(state.meeting.id, wish)
    await to_the_end(held, state.meeting.id)
    assert held.place.held == {URL: LATER.encode()}
    return state.meeting.id


async def both(held: Table, id_: str) -> list[OperationRecord]:
    return list((await held.log.state(id_)).operations.values())


async def states(held: Table, id_: str) -> list[str]:
    return [each.state for each in await both(held, id_)]


async def wait_until_due(held: Table, id_: str) -> None:
    due = await held.runner.advance(id_)
    assert due is not None
    held.clock.advance((due - held.clock.now()).total_seconds())
    await held.runner.advance(id_)


async def test_an_earlier_save_that_lands_over_a_confirmed_one_takes_its_place(held: Table) -> None:
    id_ = await cut_and_resumed(held)
    assert await states(held, id_) == ["unknown", "confirmed"]
    held.clock.advance(7)
    held.place.held[URL] = DRAFT.encode()
    earlier, later = await both(held, id_)
    await held.reconciliation.look(id_, earlier.id)
    assert await states(held, id_) == ["confirmed", "handed_over"]
    _, now = await both(held, id_)
    assert (now.there_instead, now.version) == (earlier.id, None)
    assert now.reason == f"What is there was saved by {earlier.id}."
    assert now.next_check_at is not None
    assert await held.log.unfinished() == [id_]
    assert held.woken[-1] == id_
    log = await held.log.read(id_)
    kinds = [each["kind"] for each in minutes_json(log)["degradation"]]
    assert "operation_handed_over" in kinds
    assert earlier.id in minutes_markdown(log)
    await wait_until_due(held, id_)
    assert await states(held, id_) == ["confirmed", "failed"]
    assert "operation_failed" in [
        each["kind"] for each in decision_json(await held.log.read(id_))["degradation"]
    ]
    assert later.sha256 != earlier.sha256


async def test_so_does_one_that_the_schedule_finds(held: Table) -> None:
    id_ = await cut_and_resumed(held)
    held.place.held[URL] = DRAFT.encode()
    await wait_until_due(held, id_)
    assert await states(held, id_) == ["confirmed", "handed_over"]
    assert await held.runner.advance(id_) is not None
    held.place.held[URL] = LATER.encode()  # its owner has seen to it
    await wait_until_due(held, id_)
    assert await states(held, id_) == ["confirmed", "confirmed"]
    earlier, later = await both(held, id_)
    assert (earlier.there_instead, later.there_instead) == (later.id, None)


async def test_an_earlier_save_that_a_later_one_replaced_makes_the_record_no_weaker(
    held: Table,
) -> None:
    id_ = await cut_and_resumed(held)
    earlier, later = await both(held, id_)
    found = await held.reconciliation.look(id_, earlier.id)
    assert (found.state, found.there_instead) == ("unknown", later.id)
    held.clock.advance(LANDING_SECONDS)
    await held.reconciliation.look(id_, earlier.id)
    assert await states(held, id_) == ["failed", "confirmed"]
    log = await held.log.read(id_)
    for record in (minutes_json(log), decision_json(log)):
        assert not [each for each in record["degradation"] if "operation" in each["kind"]]
        assert not [point for point in record["open_points"] if earlier.id in point]
    assert f"is what operation {later.id} had saved" in minutes_markdown(log)
    assert "is not there (operation" not in minutes_markdown(log)


async def test_a_confirmed_save_that_a_later_one_replaces_says_so(held: Table) -> None:
    held.place.on_write, held.place.on_look = [Put.hangs(stores=True)], [NOTHING]
    state = await open_review(held)
    id_ = state.meeting.id
    run = asyncio.create_task(held.runner.advance(id_))
    await held.place.moved.wait()
    await held.service.cancel(id_, None)
    await run
    held.place.on_look = []
    (earlier,) = await both(held, id_)
    await held.reconciliation.look(id_, earlier.id)
    assert await states(held, id_) == ["confirmed"]
    held.agents["ann"].behave = lambda _: written(LATER)
    held.place.on_write = [Put()]
    await held.service.resume(id_, NEW_MATERIAL)
    await to_the_end(held, id_)
    earlier, later = await both(held, id_)
    assert await states(held, id_) == ["confirmed", "confirmed"]
    assert (earlier.there_instead, later.there_instead) == (later.id, None)
    assert ended(await held.events(id_))["completeness"] == "complete"


async def test_asking_changes_no_schedule_and_fills_no_log(held: Table) -> None:
    held.place.on_write, held.place.on_look = [Put.lost(stores=False)], [NOTHING]
    state = await open_review(held)
    id_ = state.meeting.id
    await to_the_end(held, id_)
    (known,) = await both(held, id_)
    entries = len(await held.log.read(id_))
    for _ in range(20):
        held.clock.advance(1)
        assert await held.reconciliation.look(id_, known.id) == known
    assert len(await held.log.read(id_)) == entries
    held.place.on_look = [Finding(Look.NO_ANSWER, "The destination answered 503.")]
    found = await held.reconciliation.look(id_, known.id)
    assert (found.reason, found.next_check_at) == (
        "The destination answered 503.",
        known.next_check_at,
    )
    log = await held.log.read(id_)
    assert len(log) == entries + 1
    assert log[-1].type == events.OperationReconciled.type
