"""What records say of saves elsewhere, as they stand now (PROTOCOLS 13)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from app.domain import events
from app.domain.events import Event
from app.domain.meeting import Language
from app.domain.operation import OperationState
from app.domain.operation_log import begun, happened
from app.domain.operation_terms import (
    Checked,
    Fate,
    Finding,
    HandedOver,
    Happening,
    Look,
    Operation,
    Sent,
    WriteAnswer,
    Written,
)
from app.records.decision import decision_json, decision_markdown
from app.records.handoff import handoff_json, handoff_markdown
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.records.held import START, Log, answers, held, meeting, stances

HOSTILE = "https://wiki.example/a_b*c*|`d`.md"


def _log(
    language: Language, *happenings: Happening, later: Sequence[Happening] = ()
) -> list[Event]:
    """A round table whose record was sent out; ``later`` was found after its end."""
    made = meeting(language=language)
    log = Log(made, answers([]), held(made, answers([stances("AGREE", "AGREE", "AGREE")])))
    state = OperationState(Operation("op_1", HOSTILE, "0" * 64, "dee", START, 30, "record"))
    log.add(events.OPERATION_HAPPENED, **begun(made.id, state, "x"))
    for happening in (*happenings, *later):
        state = state.after(happening)
        type_ = events.OPERATION_RECONCILED if happening in later else events.OPERATION_HAPPENED
        log.add(type_, **happened(made.id, state, happening))
    return log.events


UNKNOWN = (Sent(START), Written(START, WriteAnswer(Fate.UNCLEAR, "No answer came.")))
HANDED_OVER = (*UNKNOWN, HandedOver(START, START + timedelta(seconds=300)))
SAME = Checked(START, Finding(Look.SAME, version='"v1"'))


def _texts(log: Sequence[Event]) -> list[str]:
    return [
        minutes_markdown(log),
        minutes_html(log),
        decision_markdown(log),
        handoff_markdown(log),
    ]


def _data(log: Sequence[Event]) -> list[dict[str, Any]]:
    return [minutes_json(log), decision_json(log), handoff_json(log)]


@pytest.mark.parametrize(
    ("language", "first", "heading"),
    [
        ("en", "nobody knows whether it is there", "Saved elsewhere"),
        ("ja", "分からない", "外部への保存"),
    ],
)
def test_an_unknown_save_is_said_first(language: Language, first: str, heading: str) -> None:
    log = _log(language, *UNKNOWN)
    for text in _texts(log):
        assert first in text
        assert heading in text
        assert "op_1" in text
    for data in _data(log):
        (operation,) = data["operations"]
        assert (operation["state"], operation["url"]) == ("unknown", HOSTILE)
        assert "operation_unknown" in [each["kind"] for each in data["degradation"]]
        assert any("op_1" in point for point in data["open_points"])


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_save_that_was_handed_over_names_its_owner_and_date(language: Language) -> None:
    for data in _data(_log(language, *HANDED_OVER)):
        assert any("dee" in point for point in data["open_points"])
        assert "operation_handed_over" in [each["kind"] for each in data["degradation"]]


def test_once_it_is_confirmed_nothing_is_open() -> None:
    log = _log("en", *HANDED_OVER, later=[SAME])
    for data in _data(log):
        assert data["operations"][0]["state"] == "confirmed"
        assert not any("op_1" in point for point in data["open_points"])
        assert not any(each["kind"].startswith("operation") for each in data["degradation"])
    assert all("confirmed" in text for text in _texts(log))


def test_what_a_caller_put_into_the_url_stays_text() -> None:
    for text in (minutes_markdown(_log("en", *UNKNOWN)), decision_markdown(_log("en", *UNKNOWN))):
        assert HOSTILE not in text
    assert "<em>" not in minutes_html(_log("en", *UNKNOWN))


def test_a_meeting_that_saved_nothing_says_nothing_of_it() -> None:
    made = meeting()
    log = held(made, answers([stances("AGREE", "AGREE", "AGREE")]))
    assert all("Saved elsewhere" not in text for text in _texts(log))
