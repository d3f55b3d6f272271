"""What is written once, when a decision or a cancel is closed, over both databases: votes and
cancellations, each as its meeting shows it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from app.domain.errors import NotFound
from app.domain.meeting import events
from app.domain.meeting.entries import Entry
from app.domain.meeting.meeting import Seat
from app.domain.replies.reading import ReplyStatus
from app.domain.values import JsonObject
from tests.clock import START
from tests.store.conftest import Store
from tests.store.meetings import created, decided, ended, entry, put, started
from tests.store.test_resumed import resumed

WEIGHTS = {"ann": Fraction(3, 2), "ben": Fraction(11, 10), "cid": Fraction(1)}
SEATS = tuple(Seat(name, "", "default", weight) for name, weight in WEIGHTS.items())


def ballot(
    who: str, vote: str | None, seconds: float = 3, confidence: Any = 0.9, **fields: Any
) -> Entry:
    """A reply in which a ballot was looked for, and found unless there is no vote."""
    told: dict[str, Any] = {
        "participant": who,
        "round": 1,
        "status": ReplyStatus.INVALID if vote is None else ReplyStatus.OK,
        "text": "…",
        "read": {
            "ballot": None if vote is None else {"vote": vote},
            "confidence": None if vote is None else confidence,
            "rationale": "速い",
            "mitigation": "",
        },
    }
    return entry(events.ReplyReceived(**(told | fields)), seconds)


BALLOTS = [
    ballot("ann", "A"),
    ballot("cid", None, attempt=1, final=False, reason="no JSON"),
    ballot("ben", "A", 4, confidence=0.1),
    ballot("cid", None, 5, attempt=2, reason="no JSON"),
]


def shown(who: str, vote: str | None, seconds: float = 3, confidence: Any = 0.9) -> JsonObject:
    at = (START + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    return {
        "participant": who,
        "round": 1,
        "status": "ok" if vote else "invalid",
        "reason": None if vote else "no JSON",
        "ballot": {"vote": vote} if vote else None,
        "confidence": confidence if vote else None,
        "rationale": "速い",
        "mitigation": "",
        "at": at,
    }


SHOWN = [shown("ann", "A"), shown("ben", "A", 4, 0.1), shown("cid", None, 5)]


# --- votes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [1, 2, 99])
async def test_votes_are_the_same_before_the_end_and_after_it(store: Store, at_once: int) -> None:
    """However much of the log came in one append with the decision."""
    entries = [
        created("mtg_1", format="vote", seats=SEATS),
        started(),
        *BALLOTS,
        decided(),
        ended(),
    ]
    for first in range(0, len(entries), at_once):
        await put(store.log, "mtg_1", *entries[first : first + at_once])
        state = await store.archive.state("mtg_1")
        if state.ballots == len(BALLOTS):
            assert list(await store.archive.ballots("mtg_1")) == SHOWN
    query = "SELECT number, seq, participant, attempt, status, ballot, confidence, weight FROM vote"
    assert store.rows(f"{query} ORDER BY number") == [
        (0, 3, "ann", 1, "ok", '{"vote":"A"}', "0.9", "1.5"),
        (1, 5, "ben", 1, "ok", '{"vote":"A"}', "0.1", "1.1"),
        (2, 6, "cid", 2, "invalid", None, None, "1"),
    ]
    counted = store.rows("SELECT counted FROM vote ORDER BY number")
    assert [bool(row[0]) for row in counted] == [True, True, False]


async def test_a_ballot_that_came_after_the_cancel_is_kept_and_not_counted(store: Store) -> None:
    late = ballot("ann", "A", late=True)
    entries = [created("mtg_1"), started(), late, decided(None, "cancelled"), ended()]
    await store.log.append("mtg_1", 0, entries)
    assert list(await store.archive.ballots("mtg_1")) == [shown("ann", "A")]
    assert [bool(row[0]) for row in store.rows("SELECT counted FROM vote")] == [False]


async def test_a_meeting_without_ballots_has_no_votes(store: Store) -> None:
    await store.log.append("mtg_1", 0, [created("mtg_1")])
    assert list(await store.archive.ballots("mtg_1")) == []
    await put(store.log, "mtg_1", started(), decided(), ended())
    assert list(await store.archive.ballots("mtg_1")) == []


async def test_the_ballots_of_every_leg_are_shown(store: Store) -> None:
    first = [created("mtg_1"), started(), ballot("ann", "A"), decided(None, "undecided")]
    await store.log.append("mtg_1", 0, [*first, ended(None, "undecided")])
    await put(store.log, "mtg_1", resumed(), ballot("ann", "B", 21))
    assert store.rows("SELECT number FROM vote") == []
    both = [shown("ann", "A"), shown("ann", "B", 21)]
    assert list(await store.archive.ballots("mtg_1")) == both
    await put(store.log, "mtg_1", decided(), ended())
    assert list(await store.archive.ballots("mtg_1")) == both
    assert store.rows("SELECT number FROM vote ORDER BY number") == [(0,), (1,)]


async def test_an_end_and_a_resuming_that_share_a_transaction(store: Store) -> None:
    first = [created("mtg_1"), started(), ballot("ann", "A")]
    await store.log.append("mtg_1", 0, first)
    closed = [*_cancel(), decided(None, "cancelled"), ended(None, "cancelled")]
    with store.held_up():
        appends = [
            asyncio.ensure_future(store.log.append("mtg_1", seq, entries))
            for seq, entries in ((3, closed), (7, [resumed()]), (8, [decided(), ended()]))
        ]
        await asyncio.sleep(0)
    await asyncio.gather(*appends)
    assert store.rows("SELECT number FROM vote") == [(0,)]
    assert store.rows("SELECT decision FROM dissent") == [("One repository.",)]
    assert store.rows("SELECT state FROM cancellation") == []


# --- cancellations -----------------------------------------------------------------------------

ITEM = events.CancelItem(kind="child", ref="mtg_2", state="stopped")


def _cancel() -> list[Entry]:
    return [
        entry(events.CancellationRequested(reason="昼休み"), 5, "cancel"),
        entry(events.CancellationClosed(state="stopped", items=(ITEM,)), 6, "end/cancellation"),
    ]


async def test_a_cancel_has_a_row_once_it_is_closed(store: Store) -> None:
    requested, closed = _cancel()
    await store.log.append("mtg_1", 0, [created("mtg_1"), started(), requested])
    assert await store.archive.closed_cancellation("mtg_1") is None
    assert store.rows("SELECT * FROM cancellation") == []
    await put(store.log, "mtg_1", closed)
    state = await store.archive.state("mtg_1")
    assert state.cancellation is not None
    assert await store.archive.closed_cancellation("mtg_1") == state.cancellation.record()
    assert state.cancellation.record() == {
        "requested_at": "2026-11-30T09:00:05Z",
        "reason": "昼休み",
        "state": "stopped",
        "items": [{"kind": "child", "ref": "mtg_2", "state": "stopped"}],
    }


async def test_an_earlier_cancel_of_a_meeting_that_was_resumed_is_not_shown(store: Store) -> None:
    entries = [created("mtg_1"), started(), *_cancel(), decided(None, "cancelled")]
    await store.log.append("mtg_1", 0, [*entries, ended(None, "cancelled")])
    await put(store.log, "mtg_1", resumed())
    assert await store.archive.closed_cancellation("mtg_1") is None
    assert await store.archive.closed_cancellation("mtg_none") is None


async def test_no_such_meeting(store: Store) -> None:
    for ask in (store.archive.ballots("mtg_x"), store.archive.dissents("mtg_x")):
        with pytest.raises(NotFound):
            await ask
