"""Whole reviews over a real log (PROTOCOLS 9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.coordinator.commands import SeatWanted
from app.coordinator.ports import Request
from app.domain.errors import InvalidRequest
from app.domain.meeting.state import MeetingState
from tests.coordinator.table import Table, ended
from tests.coordinator.test_crash import lived, told
from tests.formats.review.by_hand import CRITERIA, MATERIALS, judged, objection, written

SEATS = (
    SeatWanted(name="ann", role="author", agent="ann"),
    SeatWanted(name="ben", role="critic", agent="ben"),
    SeatWanted(name="cy", role="critic", agent="cy"),
)


def ben(request: Request) -> str:
    return judged(objection()) if request.round == 1 else judged(closed=["obj-1"])


def cy(request: Request) -> str:
    return judged(objection("pager", severity="minor")) if request.round == 2 else judged()


def _table(folder: Path) -> Table:
    return Table(
        folder,
        ann=lambda r: written(f"The owner is Dee, round {r.round}."),
        ben=ben,
        cy=cy,
    )


async def _open(held: Table) -> MeetingState:
    fields = {"materials": MATERIALS, "criteria": CRITERIA, "seats": SEATS}
    return await held.open(format="review", **fields)


async def test_dying_after_every_append_ends_the_same(tmp_path: Path) -> None:
    whole = _table(tmp_path / "whole")
    state = await _open(whole)
    await whole.runner.advance(state.meeting.id)
    expected = await whole.events(state.meeting.id)
    outcome = ended(expected)
    assert (outcome["result"], outcome["decision"]) == ("decided", "The owner is Dee, round 2.")
    await whole.close()
    deaths, survived = 0, False
    while not survived:
        deaths += 1
        held = _table(tmp_path / str(deaths))
        state = await _open(held)
        survived = await lived(held, state.meeting.id, deaths)
        await held.runner.advance(state.meeting.id)
        events = await held.events(state.meeting.id)
        await held.close()
        assert told(events) == told(expected)
    assert deaths > 8


async def test_a_review_without_an_author_is_refused_by_its_field(tmp_path: Path) -> None:
    held = _table(tmp_path)
    with pytest.raises(InvalidRequest) as refused:
        await held.open(format="review", seats=SEATS[1:])
    await held.close()
    assert [fault.pointer for fault in refused.value.faults] == ["#/participants/0/role"]
