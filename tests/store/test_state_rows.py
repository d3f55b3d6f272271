"""A state survives its row, whatever it holds, and takes little room there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest
from msgspec.structs import fields, replace

from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.envelope import Drawn, Unconfirmed
from app.domain.meeting.state import MeetingState, created, fold
from app.domain.meeting.status import Parked
from app.domain.money import Cost
from app.store.state_rows import _PARTS, below_of, changing_columns, new_row, state_of
from tests.clock import START
from tests.golden import recording
from tests.store import meetings


def through_its_row(state: MeetingState, first: Event) -> MeetingState:
    row: Mapping[Any, Any] = new_row(state, first.content.encoded().decode())
    return state_of(row)


def begun() -> Event:
    return placed([meetings.created("mtg_1")])[0]


def placed(entries: Iterable[Entry]) -> list[Event]:
    return [
        Event(each.content, each.at, each.step, each.fingerprint, "mtg_1", seq, seq)
        for seq, each in enumerate(entries, 1)
    ]


@pytest.mark.parametrize("name", recording.names())
def test_a_state_survives_its_row_after_every_entry(name: str) -> None:
    log = placed(recording.read(name))
    state = created(log[0])
    for event in log[1:]:
        state = state.after(event)
        assert through_its_row(state, log[0]) == state
    assert state == fold(log)
    assert state.ended


def test_what_no_log_of_these_holds() -> None:
    first = begun()
    state = replace(
        created(first),
        parked=Parked("replay_diverged", START + timedelta(microseconds=1)),
        adopted={"mtg_2": False},
        motion="",
        seconds_before=0.1,
        spent=Cost(2**40, 1, None),
        unconfirmed=Unconfirmed(3, Cost(200, 800, None)),
        below=Drawn(
            1,
            Cost(1, 2, Decimal("0.003")),
            unconfirmed=Unconfirmed(1, Cost(1, 1, Decimal("0.002"))),
        ),
    )
    assert through_its_row(state, first) == state


def test_rows_of_before_say_nothing_of_what_is_unconfirmed() -> None:
    """All that was drawn further down is written so for a meeting with nothing unconfirmed too."""
    below = Drawn(1, Cost(1, 2, Decimal("0.003")))
    assert "unconfirmed" not in below.record()
    assert below_of(orjson.dumps(below.record()).decode()) == below


def test_what_is_empty_is_left_out() -> None:
    columns = changing_columns(created(begun()))
    assert orjson.loads(columns["state"]) == {"last_number": 1}


def test_every_field_of_a_state_has_its_place() -> None:
    columns = {"status", "below", "last_seq", "created_at"}
    created_with = {"meeting", "plan", "warnings", "agents"}
    assert {each.name for each in fields(MeetingState)} == {*_PARTS, *columns, *created_with}
