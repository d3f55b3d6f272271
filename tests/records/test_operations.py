"""What records say of saves elsewhere, as they stand now (PROTOCOLS 13)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from app.domain.meeting import events
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Language
from app.domain.operation.log import begun, happened
from app.domain.operation.state import LANDING_SECONDS, OperationState
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
from app.domain.values import rfc3339
from app.records.catalogue import words_in
from app.records.decision import decision_json, decision_markdown
from app.records.handoff import handoff_json, handoff_markdown
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.records.held import START, Log, answers, held, meeting, stances

HOSTILE = "https://wiki.example/a_b*c*|`d`.md"


def sent_out(
    language: Language, *happenings: OperationHappening, later: Sequence[OperationHappening] = ()
) -> list[Event]:
    """A round table whose record was sent out; ``later`` was found after its end."""
    made = meeting(language=language)
    log = Log(made, answers([]), held(made, answers([stances("AGREE", "AGREE", "AGREE")])))
    state = OperationState(Operation("op_1", HOSTILE, "0" * 64, "dee", START, 30, "record"))
    log.tell(begun(made.id, state, "x"))
    for happening in (*happenings, *later):
        state = state.after(happening)
        kind = events.OperationReconciled if happening in later else events.OperationHappened
        log.tell(happened(kind, made.id, state, happening))
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
    log = sent_out(language, *UNKNOWN)
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
    for data in _data(sent_out(language, *HANDED_OVER)):
        assert any("dee" in point for point in data["open_points"])
        assert "operation_handed_over" in [each["kind"] for each in data["degradation"]]


def test_once_it_is_confirmed_nothing_is_open() -> None:
    log = sent_out("en", *HANDED_OVER, later=[SAME])
    for data in _data(log):
        assert data["operations"][0]["state"] == "confirmed"
        assert not any("op_1" in point for point in data["open_points"])
        assert not any(each["kind"].startswith("operation") for each in data["degradation"])
    assert all("confirmed" in text for text in _texts(log))


def test_what_a_caller_put_into_the_url_stays_text() -> None:
    for text in (
        minutes_markdown(sent_out("en", *UNKNOWN)),
        decision_markdown(sent_out("en", *UNKNOWN)),
    ):
        assert HOSTILE not in text
    assert "<em>" not in minutes_html(sent_out("en", *UNKNOWN))


def test_a_meeting_that_saved_nothing_says_nothing_of_it() -> None:
    made = meeting()
    log = held(made, answers([stances("AGREE", "AGREE", "AGREE")]))
    assert all("Saved elsewhere" not in text for text in _texts(log))


def _external(log: Sequence[Event]) -> list[Any]:
    return [decision_json(log)["external_wait"], handoff_json(log)["external_wait"]]


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Still waiting for something outside: whether "),
        ("ja", "外部待ち：https"),
    ],
)
def test_what_is_waited_for_is_named_with_its_owner_and_date(
    language: Language, sentence: str
) -> None:
    log = sent_out(language, *HANDED_OVER)
    wait = {"operation": "op_1", "url": HOSTILE, "owner": "dee"}
    wait["next_check_at"] = rfc3339(START + timedelta(seconds=300))
    assert _external(log) == [wait, wait]
    for page in (decision_markdown(log), handoff_markdown(log)):
        (told,) = [line for line in page.splitlines() if line.startswith(sentence)]
        assert "op_1" in told
        assert "dee" in told
        assert words_in(language).moment(START + timedelta(seconds=300)) in told


@pytest.mark.parametrize(
    ("language", "left", "failed"),
    [
        ("en", "handed over to dee, and not looked at again by itself", "is not there"),
        ("ja", "dee に引き継いだ。自動での再確認はもうない", "保存されていない"),
    ],
)
def test_open_points_say_what_is_known(language: Language, left: str, failed: str) -> None:
    last = [Checked(START, Finding(Look.NO_ANSWER))] * 20
    refused = (Sent(START), Written(START, WriteAnswer(Fate.REFUSED, "It answered 403.")))
    for log, said in (
        (sent_out(language, *HANDED_OVER, later=last), left),
        (sent_out(language, *refused), failed),
    ):
        for data in _data(log):
            (point,) = [each for each in data["open_points"] if "op_1" in each]
            assert said in point


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_a_later_save_has_replaced_is_said_and_makes_nothing_weaker(
    language: Language,
) -> None:
    late = START + timedelta(seconds=LANDING_SECONDS)
    other = Checked(late, Finding(Look.DIFFERENT, sha256="1" * 64, ours="op_2"))
    log = sent_out(language, *UNKNOWN, later=[other])
    assert "operation_failed" in [each["kind"] for each in minutes_json(log)["degradation"]]
    later = OperationState(Operation("op_2", HOSTILE, "1" * 64, "dee", late, 30, "record"))
    noted = Log(meeting(language=language), answers([]), log)
    noted.tell(begun(log[0].meeting_id, later, "y"))
    for happening in (Sent(late), SAME):
        later = later.after(happening)
        noted.tell(happened(events.OperationHappened, log[0].meeting_id, later, happening))
    for data in _data(noted.events):
        assert not any(each["kind"].startswith("operation") for each in data["degradation"])
        assert not any("op_1" in point for point in data["open_points"])
    named = {"ref": "op_1", "instead": "op_2"}
    assert words_in(language)("operation.instead", **named) in minutes_markdown(noted.events)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_is_not_looked_at_again_is_still_waited_for(language: Language) -> None:
    last = [Checked(START, Finding(Look.NO_ANSWER))] * 20
    log = sent_out(language, *HANDED_OVER, later=last)
    assert [each["next_check_at"] for each in _external(log)] == [None, None]
    begins = words_in(language)("stall.external_wait")
    for page in (decision_markdown(log), handoff_markdown(log)):
        assert begins in page.lower()


def test_nothing_is_waited_for_once_it_is_confirmed_or_before_it_is_handed_over() -> None:
    assert _external(sent_out("en", *UNKNOWN)) == [None, None]
    assert _external(sent_out("en", *HANDED_OVER, later=(SAME,))) == [None, None]
    assert "waiting for something outside" not in decision_markdown(sent_out("en", *UNKNOWN))
