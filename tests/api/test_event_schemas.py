"""The OpenAPI document's event schemas, held against events as streams show them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from app.api.schemas.event_schemas import PUBLIC
from app.domain.meeting.entries import Event, Flat
from app.domain.meeting.events import (
    BudgetExhausted,
    CancellationAcknowledged,
    CompletionNudged,
    DecisionRecorded,
    MeetingCreated,
    MeetingEnded,
    ObjectionReopened,
    OperationConfirmed,
    OperationFailed,
    OperationHandedOver,
    OperationRequested,
    OperationUnknown,
)
from app.domain.operation.record import OperationRecord
from app.domain.operation.terms import OperationStatus
from app.store.frames import encode_frame
from tests.api.test_record_schemas import COMPONENTS, ENDED, UNENDED

_SAVE = OperationRecord(
    meeting_id="mtg_0001",
    id="op_1",
    url="https://files.example/adr.md",
    sha256="9f86d081",
    owner="ann",
    requested_at="2026-11-02T09:00:00Z",
)
_SAVES = {
    OperationRequested: _SAVE,
    OperationConfirmed: replace(_SAVE, state=OperationStatus.CONFIRMED, writes=1, version='"7"'),
    OperationFailed: replace(_SAVE, state=OperationStatus.FAILED, writes=1, reason="status 403"),
    OperationUnknown: replace(_SAVE, state=OperationStatus.UNKNOWN, writes=1),
    OperationHandedOver: replace(
        _SAVE, state=OperationStatus.HANDED_OVER, next_check_at="2026-11-02T10:00:00Z"
    ),
}
_RARE = (
    BudgetExhausted(round=2, participant="ann"),
    CancellationAcknowledged(
        kind="request", ref="req_1_a", participant="ann", agent="critic", state="acknowledged"
    ),
    CompletionNudged(round=3, participants=("ann", "bob"), attempt=2),
    ObjectionReopened(
        id="obj-1",
        critic="bob",
        severity="blocking",
        material="m1",
        quote="a build of 25 minutes",
        point="The build stays slow.",
        resolves_when="It takes five minutes.",
        support="supported",
        state="open",
        round=3,
        reopened_in=(3,),
        raised_in=1,
    ),
    *(told(operation=record) for told, record in _SAVES.items()),
)
"""What happens in none of the logs below."""

OPEN = (MeetingCreated, DecisionRecorded, MeetingEnded, Flat)
"""Events with fields of their format's, or of what they hold."""
LOGS = {
    **{f"ended: {name}": log for name, log in ENDED.items()},
    **UNENDED,
    "rare": [
        Event(
            content, datetime(2026, 11, 2, tzinfo=UTC), meeting_id="mtg_0001", seq=seq, number=seq
        )
        for seq, content in enumerate(_RARE, 1)
    ],
}
_VALIDATOR = Draft202012Validator({"$ref": "#/components/schemas/Event", "components": COMPONENTS})
SCHEMAS: Mapping[str, Any] = COMPONENTS["schemas"]


def shown(event: Event) -> dict[str, Any]:
    """As a stream shows it."""
    id_, text = str(event.number), event.content.encoded().decode()
    frame = encode_frame(id_, event.type, event.meeting_id, event.at, text).decode()
    (line,) = (each for each in frame.splitlines() if each.startswith("data: "))
    return json.loads(line.removeprefix("data: "))


def public(name: str) -> Iterator[Event]:
    return (event for event in LOGS[name] if event.type in PUBLIC)


@pytest.mark.parametrize("name", LOGS)
def test_every_event_is_as_the_document_says(name: str) -> None:
    for event in public(name):
        schema = SCHEMAS[f"{type(event.content).__name__}Event"]
        document = {**schema, "components": COMPONENTS}
        assert not list(Draft202012Validator(document).iter_errors(shown(event))), event.type


@pytest.mark.parametrize("name", LOGS)
def test_an_event_says_nothing_that_the_document_leaves_out(name: str) -> None:
    for event in public(name):
        schema = SCHEMAS[f"{type(event.content).__name__}Data"]
        if isinstance(event.content, OPEN):
            continue
        assert shown(event)["data"].keys() <= schema["properties"].keys(), event.type


def test_no_type_that_callers_read_goes_unheld() -> None:
    assert {event.type for log in LOGS.values() for event in log} >= PUBLIC.keys()


def test_the_union_knows_every_type_that_callers_read() -> None:
    union = SCHEMAS["Event"]
    assert union["discriminator"]["mapping"].keys() == PUBLIC.keys()
    assert len(union["oneOf"]) == len(PUBLIC)


@pytest.mark.parametrize("field", ["id", "type", "meeting_id", "at", "data"])
def test_an_event_without_its_envelope_is_none(field: str) -> None:
    event = shown(next(public("ended: roundtable-1")))
    assert _VALIDATOR.is_valid(event)
    del event[field]
    assert not _VALIDATOR.is_valid(event)
