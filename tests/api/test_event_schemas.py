"""The OpenAPI document's event schemas, held against events as streams show them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app.api.schemas.event_schemas import PUBLIC
from app.domain.meeting.entries import Event, Flat
from app.domain.meeting.events import DecisionRecorded, MeetingCreated, MeetingEnded
from app.store.frames import encode_frame
from tests.api.test_record_schemas import COMPONENTS, ENDED, UNENDED

OPEN = (MeetingCreated, DecisionRecorded, MeetingEnded, Flat)
"""Events with fields of their format's, or of what they hold."""
LOGS = {**{f"ended: {name}": log for name, log in ENDED.items()}, **UNENDED}
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
