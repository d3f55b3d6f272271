"""One envelope for a tree of meetings, on both databases: nobody spends what another has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from typing import Any

import pytest

from app.coordinator.ports import EventLog
from app.domain.errors import CancelledAbove, NoRoom, NotFound
from app.domain.meeting import events
from app.domain.meeting.entries import Entry
from app.domain.meeting.envelope import Unconfirmed
from app.domain.meeting.meeting import Limits
from app.domain.meeting.tree import ParentClosed
from app.domain.money import NOTHING, Cost
from app.store.database import Database
from app.store.log import SqlEventLog
from tests.postgres import Postgres
from tests.store.conftest import Store
from tests.store.meetings import (
    created,
    decided,
    ended,
    entry,
    put,
    reply,
    reserved,
    started,
    unanswered,
)

ROOM = 10
"""How many requests of 1,000 tokens fit under the parent's limit at once."""

PARENT = Limits(tokens=ROOM * 1_000, usd=Decimal("0.02"))


def below(id_: str, *ancestors: str, **fields: Any) -> Entry:
    return created(id_, ancestors=ancestors, **fields)


async def reserve(log: EventLog, id_: str, who: str = "ann") -> bool:
    try:
        await put(log, id_, reserved(who))
    except NoRoom:
        return False
    return True


async def open_children(log: EventLog, count: int) -> list[str]:
    await log.append("mtg_0", 0, [created("mtg_0", limits=PARENT)])
    ids = [f"mtg_0{number:02}" for number in range(1, count + 1)]
    for id_ in ids:
        await log.append(id_, 0, [below(id_, "mtg_0")])
    return ids


async def race(logs: Sequence[EventLog], ids: Sequence[str]) -> list[str]:
    """Everybody reserves at once; those who could."""
    asked = (reserve(logs[number % len(logs)], id_) for number, id_ in enumerate(ids))
    got = await asyncio.gather(*asked)
    return [id_ for id_, room in zip(ids, got, strict=True) if room]


async def test_fifty_children_race_for_one_envelope(store: Store) -> None:
    ids = await open_children(store.log, 50)
    got = await race([store.log], ids)
    assert len(got) == ROOM
    for id_ in got:
        await put(store.log, id_, reply("ann"))
    parent = await store.log.state("mtg_0")
    assert parent.below.reserved == NOTHING
    assert parent.drawn.spent == Cost(ROOM * 100, ROOM * 20, ROOM * Decimal("0.0011"))
    # 1,200 tokens are gone: eight more requests of 1,000 fit, and money for as many.
    again = [id_ for id_ in ids if id_ not in got]
    assert len(await race([store.log], again)) == 4, "0.011 of 0.02 USD is spent, 0.002 each"


@pytest.fixture
async def processes(postgres: Postgres) -> AsyncIterator[list[SqlEventLog]]:
    """The logs of four processes on one Postgres."""
    url = postgres.migrated()
    databases = [Database(url) for _ in range(4)]
    logs = [SqlEventLog(database) for database in databases]
    yield logs
    for log in logs:
        await log.close()
    for database in databases:
        await database.close()
    postgres.give_back(url)


@pytest.mark.postgres
async def test_fifty_children_on_four_processes(processes: list[SqlEventLog]) -> None:
    ids = await open_children(processes[0], 50)
    got = await race(processes, ids)
    assert len(got) == ROOM
    # Settled by other processes than those that reserved.
    await asyncio.gather(
        *(put(processes[(number + 1) % 4], id_, reply("ann")) for number, id_ in enumerate(got))
    )
    for log in processes:
        parent = await log.state("mtg_0")
        assert parent.below.reserved == NOTHING
        assert parent.drawn.spent == Cost(ROOM * 100, ROOM * 20, ROOM * Decimal("0.0011"))
    again = [id_ for id_ in ids if id_ not in got]
    assert len(await race(processes, again)) == 4


@pytest.mark.postgres
async def test_parents_and_children_write_at_once_on_two_processes(
    processes: list[SqlEventLog],
) -> None:
    """Rows of a tree are locked from two ends, and nobody waits for ever."""
    one, two, *_ = processes
    await one.append("mtg_0", 0, [created("mtg_0", limits=PARENT)])
    await one.append("mtg_01", 0, [below("mtg_01", "mtg_0")])

    async def write(log: EventLog, id_: str) -> None:
        for number in range(1, 30):
            await put(log, id_, reserved("ann", number), reply("ann", number))

    await asyncio.gather(write(one, "mtg_0"), write(two, "mtg_01"), return_exceptions=True)
    for log in (one, two):
        root = await log.state("mtg_0")
        child = await log.state("mtg_01")
        assert root.below.spent == child.spent
        assert root.below.reserved == NOTHING


async def test_a_reservation_counts_all_the_way_up(store: Store) -> None:
    log = store.log
    await log.append("mtg_0", 0, [created("mtg_0", limits=Limits(tokens=1_500))])
    await log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])
    await log.append("mtg_012", 0, [below("mtg_012", "mtg_0", "mtg_01")])
    await log.append("mtg_02", 0, [below("mtg_02", "mtg_0")])
    assert await reserve(log, "mtg_012")
    for id_ in ("mtg_0", "mtg_01"):
        assert (await log.state(id_)).below.reserved.tokens == 1_000
    assert not await reserve(log, "mtg_02")
    assert not await reserve(log, "mtg_0"), "the root itself draws on the same envelope"
    assert (await log.state("mtg_02")).own.reserved == NOTHING


async def test_what_a_crash_left_reserved_is_booked_before_it_is_asked_for_again(
    store: Store,
) -> None:
    log = store.log
    await log.append("mtg_0", 0, [created("mtg_0", limits=Limits(tokens=2_500))])
    await log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])
    assert await reserve(log, "mtg_01")
    await put(log, "mtg_01", unanswered("ann"), reserved("ann"))
    for drawn in ((await log.state("mtg_01")).own, (await log.state("mtg_0")).below):
        assert (drawn.spent.tokens, drawn.reserved.tokens) == (1_000, 1_000)
        assert drawn.unconfirmed == Unconfirmed(1, Cost(200, 800, Decimal("0.002")))
    with pytest.raises(NoRoom):
        await put(log, "mtg_01", unanswered("ann"), reserved("ann"))
    await put(log, "mtg_01", unanswered("ann"))
    above = (await log.state("mtg_0")).below
    assert (above.spent.tokens, above.reserved) == (2_000, NOTHING)
    assert above.unconfirmed.requests == 2


async def test_what_still_holds_room_is_not_freed_by_asking_again(store: Store) -> None:
    """A crash is no way past a limit, whoever forgets to book it."""
    await store.log.append("mtg_0", 0, [created("mtg_0", limits=Limits(tokens=1_500))])
    assert await reserve(store.log, "mtg_0")
    assert not await reserve(store.log, "mtg_0")
    assert (await store.log.state("mtg_0")).own.reserved.tokens == 1_000


async def test_one_of_several_in_an_append_is_refused_by_name(store: Store) -> None:
    await store.log.append("mtg_0", 0, [created("mtg_0", limits=Limits(tokens=2_500))])
    with pytest.raises(NoRoom) as refusal:
        await put(store.log, "mtg_0", *(reserved(who) for who in ("ann", "ben", "cid")))
    assert refusal.value.steps == {"round-1/ask/cid"}
    assert len(await store.log.read("mtg_0")) == 1, "nothing of the append was written"


async def test_an_end_gives_back_what_was_still_reserved(store: Store) -> None:
    await store.log.append("mtg_0", 0, [created("mtg_0", limits=PARENT)])
    await store.log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])
    assert await reserve(store.log, "mtg_01")
    await put(store.log, "mtg_01", decided())
    assert (await store.log.state("mtg_0")).below.reserved == NOTHING


async def test_a_parent_learns_of_its_children(store: Store) -> None:
    await store.log.append("mtg_0", 0, [created("mtg_0")])
    await store.log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])
    assert (await store.log.state("mtg_0")).children == {"mtg_01": False}
    await put(store.log, "mtg_01", started(), ended())
    parent = await store.log.state("mtg_0")
    assert parent.children == {"mtg_01": True}
    log = await store.log.read("mtg_0")
    assert [each.type for each in log] == ["meeting.created", "child.opened", "child.ended"]
    assert [each.number for each in log] == [1, None, None], "callers read of neither"


@pytest.mark.parametrize("close", [[ended()], [entry(events.CancellationRequested())]])
async def test_nothing_is_opened_below_what_ends(store: Store, close: list[Entry]) -> None:
    await store.log.append("mtg_0", 0, [created("mtg_0")])
    await put(store.log, "mtg_0", started(), *close)
    with pytest.raises(ParentClosed):
        await store.log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])
    assert not await store.log.read("mtg_01")


async def test_nothing_is_opened_below_nothing(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])


async def test_a_cancel_stops_the_whole_tree_from_reserving(store: Store) -> None:
    log = store.log
    await log.append("mtg_0", 0, [created("mtg_0")])
    await log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])
    await log.append("mtg_012", 0, [below("mtg_012", "mtg_0", "mtg_01")])
    await put(log, "mtg_0", entry(events.CancellationRequested()))
    for id_ in ("mtg_0", "mtg_01", "mtg_012"):
        with pytest.raises(CancelledAbove) as refusal:
            await put(log, id_, reserved("ann"))
        assert refusal.value.meeting_id == "mtg_0"


async def test_a_tree_outlives_the_process(store: Store) -> None:
    """Reservations and what is below are read back from the rows, not remembered."""
    ids = await open_children(store.log, 12)
    got = await race([store.log], ids)
    assert len(got) == ROOM
    await store.log.close()
    store.log = SqlEventLog(store.database)
    assert not await race([store.log], [id_ for id_ in ids if id_ not in got])
    assert (await store.log.state("mtg_0")).below.reserved.tokens == ROOM * 1_000


async def test_what_a_child_leaves_open_is_looked_after_by_those_above(store: Store) -> None:
    """A cancel reaches a meeting whose own parent has ended before."""
    log = store.log
    await log.append("mtg_0", 0, [created("mtg_0")])
    await log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])
    await log.append("mtg_012", 0, [below("mtg_012", "mtg_0", "mtg_01")])
    await put(log, "mtg_01", started(), ended())
    root = await log.state("mtg_0")
    assert (root.children, root.adopted) == ({"mtg_01": True}, {"mtg_012": False})
    assert root.open_below == ["mtg_012"]
    await put(log, "mtg_0", entry(events.CancellationRequested()))
    root = await log.state("mtg_0")
    assert root.cancellation is not None
    assert [item.ref for item in root.cancellation.items] == ["mtg_012"]
    await put(log, "mtg_0", decided(), ended(None, "cancelled"))
    with pytest.raises(CancelledAbove):
        await put(log, "mtg_012", reserved("ann"))
    await put(log, "mtg_012", ended())
    assert (await log.state("mtg_0")).open_below == []
    assert (await log.state("mtg_01")).open_below == []


async def test_nothing_is_opened_below_a_decision_that_is_being_saved(store: Store) -> None:
    await store.log.append("mtg_0", 0, [created("mtg_0")])
    await put(store.log, "mtg_0", started(), decided())
    with pytest.raises(ParentClosed):
        await store.log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])


async def test_logs_of_before_book_at_the_end_where_there_is_a_limit(store: Store) -> None:
    """They left to the end what was never answered nor known to have stopped."""
    log = store.log
    for id_, limits in (("mtg_0", PARENT), ("mtg_1", Limits())):
        await log.append(id_, 0, [created(id_, limits=limits)])
        await put(log, id_, reserved("ann"), decided())
    assert (await log.state("mtg_0")).spent == Cost(200, 800, Decimal("0.002"))
    assert (await log.state("mtg_1")).spent == NOTHING


async def test_what_comes_to_light_while_it_is_being_cancelled_is_listed_too(store: Store) -> None:
    """A child that decided before the cancel reached it leaves another meeting open."""
    log = store.log
    await log.append("mtg_0", 0, [created("mtg_0")])
    await log.append("mtg_01", 0, [below("mtg_01", "mtg_0")])
    await log.append("mtg_012", 0, [below("mtg_012", "mtg_0", "mtg_01")])
    await put(log, "mtg_01", started(), decided())
    await put(log, "mtg_0", entry(events.CancellationRequested()))
    await put(log, "mtg_01", ended())
    root = await log.state("mtg_0")
    assert root.cancellation is not None
    states = {item.ref: item.state for item in root.cancellation.items}
    assert states == {"mtg_01": "stopped", "mtg_012": "requested"}
