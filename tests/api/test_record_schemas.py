"""The OpenAPI document describes the records as they are, down to their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app.api.application import create_api
from app.domain.meeting.entries import Event
from app.records.decision import decision_json
from app.records.handoff import handoff_json
from app.records.minutes import minutes_json
from tests.golden.recording import names, read
from tests.records.held import answers, held, meeting, stances
from tests.records.test_operations import HANDED_OVER, sent_out
from tests.records.test_resumed import council_going_on, resumed_and_decided
from tests.records.test_rulings import FORMATS, roundtable
from tests.records.test_stalled import CIRCLE, stalled, waiting


def _read(name: str) -> list[Event]:
    """A golden log, with its entries in their places."""
    return [
        Event(each.content, each.at, each.step, meeting_id="mtg_0001", seq=seq, number=seq)
        for seq, each in enumerate(read(name), 1)
    ]


COMPONENTS: dict[str, Any] = create_api().openapi()["components"]
NUMBERS = {"tally", "poll", "debate", "council", "review"}
ENDED: Mapping[str, Sequence[Event]] = {
    **{name: _read(name) for name in names()},
    **{f"{name}, put": put() for name, put in FORMATS.items()},
    "cancelled": held(
        meeting(),
        answers([stances("AGREE", "DISAGREE", "NEUTRAL")]),
        stop_before="round-2/ask/architect",
    ),
    "resumed": resumed_and_decided(acknowledged=["op_1"]),
    "sent out": sent_out("en", *HANDED_OVER),
    "stalled": stalled("en", CIRCLE),
}
OPEN: Mapping[str, Sequence[Event]] = {
    "stalled": waiting(),
    "put": roundtable(waits=True),
    "a council": FORMATS["council"](waits=True),
}
UNENDED: Mapping[str, Sequence[Event]] = {**OPEN, "resumed": council_going_on()[0].events}


def check(schema: str, record: Mapping[str, Any]) -> None:
    document = {"$ref": f"#/components/schemas/{schema}", "components": COMPONENTS}
    faults = list(Draft202012Validator(document).iter_errors(record))
    assert not faults, faults[0]
    undeclared = record.keys() - COMPONENTS["schemas"][schema]["properties"].keys()
    assert undeclared <= NUMBERS | {"resumed"}


@pytest.mark.parametrize("name", ENDED)
@pytest.mark.parametrize(
    ("schema", "record"),
    [("DecisionRecord", decision_json), ("Handoff", handoff_json), ("Minutes", minutes_json)],
)
def test_records_of_an_ended_meeting(
    name: str, schema: str, record: Callable[[Sequence[Event]], dict[str, Any]]
) -> None:
    check(schema, record(ENDED[name]))


@pytest.mark.parametrize("name", UNENDED)
def test_minutes_before_the_end(name: str) -> None:
    check("Minutes", minutes_json(UNENDED[name]))


@pytest.mark.parametrize("name", OPEN)
def test_the_handoff_of_an_open_question(name: str) -> None:
    check("Handoff", handoff_json(OPEN[name]))
