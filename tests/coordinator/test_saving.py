"""Saving what a meeting has made, over a real log and a place that does as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.coordinator.resuming import ResumeMeeting
from app.domain.meeting import events
from app.domain.meeting.entries import Entry
from app.domain.meeting.envelope import closing_seconds
from app.domain.meeting.meeting import Arbiter, Destination, Limits
from app.domain.meeting.state import MeetingState
from app.domain.operation.record import OperationRecord
from app.domain.operation.terms import Fate, Finding, Look, WriteAnswer
from app.domain.values import rfc3339
from tests.coordinator.place import VERSION, Put
from tests.coordinator.saved_review import (
    DRAFT,
    URL,
    happened,
    open_review,
    operation,
    review_table,
    roundtable_table,
    to_the_end,
    told,
)
from tests.coordinator.table import Table, ended, of_type
from tests.coordinator.test_crash import lived
from tests.coordinator.test_crash import told as retold

Open = Callable[[Table], object]


@pytest.fixture
async def held(tmp_path: Path):
    table = review_table(tmp_path)
    yield table
    await table.close()


async def test_a_review_is_complete_once_its_deliverable_is_confirmed(held: Table) -> None:
    state = await open_review(held)
    assert await held.runner.advance(state.meeting.id) is None
    public = await held.events(state.meeting.id)
    outcome = ended(public)
    assert held.place.held == {URL: DRAFT.encode()}
    assert held.place.asked == ["write", "look"]
    assert told(public) == ["requested", "confirmed"]
    assert (outcome["result"], outcome["completeness"]) == ("decided", "complete")
    assert (outcome["stopped_by"], outcome["decision_source"]) == ("completed", "draft")
    record = await operation(held, state.meeting.id)
    assert outcome["review"]["operation"] == record.record()
    assert outcome["review"]["external_wait"] is None
    assert (record.state, record.version, record.owner) == ("confirmed", VERSION, "dee")
    assert record.meeting_id == state.meeting.id
    assert record.id.startswith("op_" + state.meeting.id.removeprefix("mtg_"))


async def test_nothing_is_saved_that_did_not_pass(tmp_path: Path) -> None:
    held = review_table(tmp_path)
    held.agents["ben"].behave = lambda _: '{"objections": [], "criteria": {"c2": "fail"}}'
    state = await open_review(held, limits=Limits(rounds=1))
    await held.runner.advance(state.meeting.id)
    outcome = ended(await held.events(state.meeting.id))
    await held.close()
    assert (outcome["result"], outcome["review"]["operation"]) == ("undecided", None)
    assert held.place.asked == []


async def test_that_a_write_leaves_is_durable_before_it_does(held: Table) -> None:
    held.place.on_write = [Put.hangs()]
    state = await open_review(held)
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.place.moved.wait()
    log = list(await held.log.read(state.meeting.id))
    assert happened(log) == ["requested", "sent"]
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)


async def test_a_lost_answer_is_looked_into_and_not_sent_again(held: Table) -> None:
    held.place.on_write = [Put.lost(stores=True)]
    state = await open_review(held)
    await to_the_end(held, state.meeting.id)
    public = await held.events(state.meeting.id)
    assert held.place.asked == ["write", "look"]
    assert told(public) == ["requested", "unknown", "confirmed"]
    assert ended(public)["completeness"] == "complete"


async def test_a_failed_save_leaves_the_decision_partial(held: Table) -> None:
    held.place.on_write = [Put(False, WriteAnswer(Fate.REFUSED, "The destination answered 403."))]
    state = await open_review(held)
    await to_the_end(held, state.meeting.id)
    public = await held.events(state.meeting.id)
    outcome = ended(public)
    assert told(public) == ["requested", "failed"]
    assert (outcome["result"], outcome["completeness"]) == ("decided", "partial")
    assert (outcome["stopped_by"], outcome["decision"]) == ("completed", DRAFT)
    assert outcome["review"]["operation"]["reason"] == "The destination answered 403."


async def test_past_its_check_deadline_it_is_handed_over_and_no_stall(held: Table) -> None:
    held.place.on_write = [Put.lost(stores=False)]
    held.place.on_look = [Finding(Look.NO_ANSWER, "The destination answered 500.")]
    state = await open_review(held)
    again = await to_the_end(held, state.meeting.id)
    public = await held.events(state.meeting.id)
    outcome = ended(public)
    assert told(public) == ["requested", "unknown", "handed_over"]
    assert (outcome["result"], outcome["completeness"]) == ("decided", "partial")
    assert outcome["stopped_by"] == "completed"
    record = OperationRecord.read(outcome["review"]["operation"])
    assert outcome["review"]["external_wait"] == {
        "operation": record.id,
        "owner": "dee",
        "next_check_at": record.next_check_at,
    }
    stalls = [each.data["kind"] for each in of_type(public, events.ProgressStalled.type)]
    assert stalls == ["external_wait"]
    assert again is not None
    assert rfc3339(again) == record.next_check_at


@pytest.mark.parametrize(("name", "owner"), [("Ann Lee", "Ann Lee"), (None, "caller")])
async def test_the_owner_where_none_is_named(held: Table, name: str | None, owner: str) -> None:
    arbiter = Arbiter("human", name=name)
    state = await open_review(held, destination=Destination(URL), arbiter=arbiter)
    await to_the_end(held, state.meeting.id)
    assert (await operation(held, state.meeting.id)).owner == owner


# --- ended while it is open -----------------------------------------------------------------------


async def _under_way(
    held: Table, *, looks: bool = False, **fields: object
) -> tuple[MeetingState, asyncio.Task[object]]:
    """A review whose write never comes back, or whose look if ``looks``."""
    state = await open_review(held, **fields)
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    asked = 2 if looks else 1
    while len(held.place.asked) < asked:
        await held.place.moved.wait()
        held.place.moved.clear()
    return state, run


async def test_a_cancel_while_the_write_is_under_way_leaves_it_unknown(held: Table) -> None:
    held.place.on_write = [Put.hangs(stores=True)]
    state, run = await _under_way(held)
    await held.service.cancel(state.meeting.id, None)
    await run
    public = await held.events(state.meeting.id)
    outcome = ended(public)
    assert (outcome["result"], outcome["stopped_by"]) == ("cancelled", "cancellation")
    assert outcome["review"]["operation"]["state"] == "unknown"
    assert "cancelled" in outcome["review"]["operation"]["reason"]
    assert told(public) == ["requested", "unknown"]
    # After the end it is looked at, and nothing is told in public any more.
    assert public[-1].type == events.MeetingEnded.type
    assert (await operation(held, state.meeting.id)).state == "confirmed"
    assert held.place.asked == ["write", "look"]


async def test_a_cancel_while_it_is_looked_at_sends_nothing_more(held: Table) -> None:
    held.place.on_look = [None]
    state, run = await _under_way(held, looks=True)
    held.place.on_look = [Finding(Look.NO_ANSWER, "Nothing.")]
    await held.service.cancel(state.meeting.id, None)
    again = await run
    assert ended(await held.events(state.meeting.id))["review"]["operation"]["state"] == "unknown"
    assert again is not None
    assert held.place.asked.count("write") == 1


async def test_a_cancel_before_it_was_stored_gives_up(held: Table) -> None:
    busy = WriteAnswer(Fate.DEFERRED, "The destination answered 429.", 20)
    held.place.on_write = [Put(False, busy), Put()]
    state = await open_review(held)
    assert await held.runner.advance(state.meeting.id) is not None
    await held.service.cancel(state.meeting.id, None)
    assert await to_the_end(held, state.meeting.id) is None
    public = await held.events(state.meeting.id)
    assert told(public) == ["requested", "failed"]
    assert ended(public)["result"] == "cancelled"
    assert held.place.asked == ["write"]
    assert (await operation(held, state.meeting.id)).reason == (
        "The meeting was cancelled before it was confirmed. The destination answered 429."
    )


async def test_a_cancel_before_it_began_saves_nothing(held: Table) -> None:
    state = await open_review(held)
    await held.service.cancel(state.meeting.id, None)
    await held.runner.advance(state.meeting.id)
    assert ended(await held.events(state.meeting.id))["result"] == "cancelled"
    assert held.place.asked == []


async def test_the_meetings_time_is_over_while_it_is_under_way(held: Table) -> None:
    held.place.on_write = [Put.hangs()]
    destination = Destination(URL, 3_600, "dee")
    state, run = await _under_way(held, limits=Limits(seconds=60), destination=destination)
    held.place.on_look = [Finding(Look.NO_ANSWER, "Nothing.")]
    held.clock.advance(60)
    again = await run
    outcome = ended(await held.events(state.meeting.id))
    assert (outcome["result"], outcome["completeness"]) == ("decided", "partial")
    assert outcome["stopped_by"] == "completed"
    assert outcome["review"]["operation"]["state"] == "unknown"
    assert "time was over" in outcome["review"]["operation"]["reason"]
    assert again is not None


async def test_a_slow_save_leaves_the_closing_reserve_alone(held: Table) -> None:
    held.place.on_write = [Put.hangs()]
    destination = Destination(URL, 3_600, "dee")
    state, run = await _under_way(held, limits=Limits(seconds=60), destination=destination)
    held.place.on_look = [Finding(Look.NO_ANSWER, "Nothing.")]
    held.clock.advance(60 - closing_seconds(60))
    await run
    outcome = ended(await held.events(state.meeting.id))
    assert outcome["review"]["operation"]["state"] == "unknown"
    deadline = (await held.log.state(state.meeting.id)).deadline
    assert deadline is not None
    assert held.clock.now() < deadline


async def test_the_record_of_another_format_may_use_the_reserve(tmp_path: Path) -> None:
    held = roundtable_table(tmp_path)
    held.place.on_write = [Put.hangs()]
    held.place.on_look = [Finding(Look.NO_ANSWER, "Nothing.")]
    state = await held.open(destination=Destination(URL, 3_600), limits=Limits(seconds=60))
    run = asyncio.create_task(held.runner.advance(state.meeting.id))
    await held.place.moved.wait()
    held.clock.advance(60 - closing_seconds(60))
    await asyncio.sleep(0)
    assert not run.done()
    held.clock.advance(closing_seconds(60))
    await run
    assert (await operation(held, state.meeting.id)).state == "unknown"
    await held.close()


async def test_an_answer_that_came_with_the_cancel_is_kept(held: Table) -> None:
    """The cancel is in the log, and this process has not heard of it, when the answer comes."""
    held.place.on_write = [Put(True, WriteAnswer(Fate.REFUSED, "The destination answered 403."))]
    state = await open_review(held)
    inner = held.place.write

    async def cancelled_meanwhile(*given: Any) -> WriteAnswer:
        log = await held.log.read(state.meeting.id)
        cancel = Entry(events.CancellationRequested(), held.clock.now(), "cancel")
        await held.log.append(state.meeting.id, log[-1].seq, [cancel])
        return await inner(*given)

    held.place.write = cancelled_meanwhile  # type: ignore[method-assign]  # in between
    await held.runner.advance(state.meeting.id)
    public = await held.events(state.meeting.id)
    assert ended(public)["result"] == "cancelled"
    assert told(public) == ["requested", "failed"]
    assert (await operation(held, state.meeting.id)).reason == "The destination answered 403."


@pytest.mark.parametrize("stored", [True, False])
async def test_resumed_over_an_unknown_save_a_look_comes_before_any_write(
    held: Table, stored: bool
) -> None:
    held.place.on_write = [Put.hangs(stores=stored)]
    held.place.on_look = [Finding(Look.NO_ANSWER, "Nothing.")]
    state, run = await _under_way(held)
    await held.service.cancel(state.meeting.id, None)
    await run
    wish = ResumeMeeting("permission", "It may be saved after all.", acknowledge_unknown=True)
    await held.service.resume(state.meeting.id, wish)
    held.place.on_write, held.place.on_look, asked = [Put()], [], len(held.place.asked)
    await to_the_end(held, state.meeting.id)
    outcome = ended(await held.events(state.meeting.id))
    assert (outcome["result"], outcome["completeness"]) == ("decided", "complete")
    assert held.place.asked[asked:][: 1 if stored else 2] == (
        ["look"] if stored else ["look", "write"]
    )
    assert held.place.asked.count("write") == (1 if stored else 2)
    assert len((await held.log.state(state.meeting.id)).operations) == 2


# --- after the end --------------------------------------------------------------------------------


async def _handed_over(held: Table) -> str:
    held.place.on_write = [Put.lost(stores=False)]
    held.place.on_look = [Finding(Look.NO_ANSWER, "The destination answered 500.")]
    state = await open_review(held)
    await to_the_end(held, state.meeting.id)
    return state.meeting.id


async def test_it_is_looked_at_again_by_schedule_and_confirmed(held: Table) -> None:
    id_ = await _handed_over(held)
    before = await held.events(id_)
    assert await held.log.unfinished() == [id_]
    due = await held.runner.advance(id_)
    assert due is not None
    looks = len(held.place.asked)
    held.clock.advance((due - held.clock.now()).total_seconds())
    later = await held.runner.advance(id_)
    assert len(held.place.asked) == looks + 1
    assert later is not None
    assert later > due
    held.place.on_look = [Finding(Look.SAME, version='"v2"')]
    held.clock.advance((later - held.clock.now()).total_seconds())
    assert await held.runner.advance(id_) is None
    assert (await operation(held, id_)).version == '"v2"'
    assert await held.events(id_) == before
    assert await held.log.unfinished() == []


async def test_it_is_looked_after_though_the_minutes_could_not_be_written(held: Table) -> None:
    async def full(_: object) -> str:
        raise OSError(28, "No space left on device")

    held.place.on_write = [Put.lost(stores=False)]
    held.place.on_look = [Finding(Look.NO_ANSWER, "The destination answered 500.")]
    held.write_minutes = full
    state = await open_review(held)
    with pytest.raises(OSError, match="No space"):
        await to_the_end(held, state.meeting.id)
    assert held.woken[-1] == state.meeting.id
    assert await held.runner.advance(state.meeting.id) is not None


async def test_it_is_given_up_looking_at_last(held: Table) -> None:
    id_ = await _handed_over(held)
    for _ in range(40):
        due = await held.runner.advance(id_)
        if due is None:
            break
        held.clock.advance((due - held.clock.now()).total_seconds())
    record = await operation(held, id_)
    assert (record.state, record.next_check_at) == ("handed_over", None)
    assert await held.log.unfinished() == []
    assert held.place.asked.count("write") == 1


async def test_it_is_looked_at_when_somebody_asks(held: Table) -> None:
    id_ = await _handed_over(held)
    known = await operation(held, id_)
    held.place.on_look = [Finding(Look.SAME)]
    record = await held.reconciliation.look(id_, known.id)
    assert record.state == "confirmed"
    assert record == await operation(held, id_)
    looks = len(held.place.asked)
    assert await held.reconciliation.look(id_, known.id) == record
    assert len(held.place.asked) == looks


async def test_a_look_that_fails_on_our_side_is_no_answer(held: Table) -> None:
    id_ = await _handed_over(held)
    known = await operation(held, id_)

    async def broken(*_: object) -> Finding:
        raise KeyError("x")

    held.place.look = broken  # type: ignore[method-assign]  # a fault of ours
    record = await held.reconciliation.look(id_, known.id)
    assert record.state == "handed_over"
    assert "KeyError" in (record.reason or "")


async def test_nobody_looks_beside_a_run_that_is_at_work(held: Table) -> None:
    held.place.on_write = [Put.hangs()]
    state, run = await _under_way(held)
    record = await held.reconciliation.look(
        state.meeting.id, (await operation(held, state.meeting.id)).id
    )
    assert record.state == "requested"
    assert held.place.asked == ["write"]
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)


# --- the record of other formats ------------------------------------------------------------------


async def test_another_format_delivers_its_decision_record(tmp_path: Path) -> None:
    held = roundtable_table(tmp_path)
    state = await held.open(destination=Destination(URL))
    await held.runner.advance(state.meeting.id)
    public = await held.events(state.meeting.id)
    types = [event.type for event in public]
    assert types[-4:] == [
        events.OperationRequested.type,
        events.OperationConfirmed.type,
        events.MinutesWritten.type,
        events.MeetingEnded.type,
    ]
    assert types[-5] == events.DecisionRecorded.type
    text = held.place.held[URL].decode()
    assert text.startswith(f'---\nid: "{state.meeting.id}"\n')
    assert ended(public)["completeness"] == "complete"
    assert (await operation(held, state.meeting.id)).subject == "record"
    await held.close()


async def test_a_record_that_cannot_be_delivered_changes_no_outcome(tmp_path: Path) -> None:
    held = roundtable_table(tmp_path)
    held.place.on_write = [Put(False, WriteAnswer(Fate.REFUSED, "The destination answered 403."))]
    state = await held.open(destination=Destination(URL))
    await held.runner.advance(state.meeting.id)
    outcome = ended(await held.events(state.meeting.id))
    assert (outcome["result"], outcome["completeness"]) == ("decided", "complete")
    assert (await operation(held, state.meeting.id)).state == "failed"
    await held.close()


async def test_a_cancelled_meeting_delivers_nothing(tmp_path: Path) -> None:
    held = roundtable_table(tmp_path)
    state = await held.open(destination=Destination(URL))
    await held.service.cancel(state.meeting.id, None)
    await held.runner.advance(state.meeting.id)
    assert held.place.asked == []
    await held.close()


# --- crashes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["review", "record"])
@pytest.mark.parametrize("put", [Put(), Put.lost(stores=True)], ids=["answered", "lost"])
async def test_dying_after_every_append_saves_once(tmp_path: Path, kind: str, put: Put) -> None:
    async def opened(folder: Path) -> tuple[Table, str]:
        make = review_table if kind == "review" else roundtable_table
        held = make(folder)
        held.place.on_write = [put]
        if kind == "review":
            return held, (await open_review(held)).meeting.id
        return held, (await held.open(destination=Destination(URL))).meeting.id

    whole, id_ = await opened(tmp_path / "whole")
    await to_the_end(whole, id_)
    expected = ended(await whole.events(id_))
    content = _without_spending(whole.place.held[URL])
    await whole.close()
    deaths, survived, looked_first = 0, False, 0
    while not survived:
        deaths += 1
        held, id_ = await opened(tmp_path / str(deaths))
        survived = await lived(held, id_, deaths)
        before = happened(list(await held.log.read(id_)))
        asked = len(held.place.asked)
        await to_the_end(held, id_)
        after = held.place.asked[asked:]
        if before and before[-1] == "sent":
            # Nobody knows whether it left, so a look comes before any other write.
            assert after[0] == "look"
            looked_first += 1
        assert held.place.asked.count("write") <= 2
        public = await held.events(id_)
        outcome = ended(public)
        assert (await operation(held, id_)).state == "confirmed"
        assert _without_spending(held.place.held[URL]) == content
        assert outcome["completeness"] == "complete"
        assert outcome["decision"] == expected["decision"]
        assert len({event.step for event in public}) == len(retold(public))
        await held.close()
    assert looked_first
    assert deaths > 8


def _without_spending(content: bytes) -> list[bytes]:
    """A document's lines, less those that tell what a death cost."""
    told = (b"- Tokens:", b"- Requests without an answer")
    return [line for line in content.splitlines() if not line.startswith(told)]
