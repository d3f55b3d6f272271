"""What events look like, a schema for each type, from the classes that the log is made of."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from app.domain.meeting.entries import Content, Flat, content_types
from app.domain.meeting.events import DecisionRecorded, MeetingCreated, MeetingEnded

_REF = "#/components/schemas/{name}"
_OUTCOME = {"$ref": _REF.format(name="OutcomeShown")}
_OF_THE_OUTCOME = ("result", "stopped_by", "completeness", "decision")

_OPEN: dict[type[Content], dict[str, Any]] = {
    # A meeting stands there in the fields of its request, and more will come to them.
    MeetingCreated: {"plan": {"type": "object"}, "warnings": {"type": "array"}},
    # The format's findings stand there under the format's name.
    DecisionRecorded: {
        "outcome": _OUTCOME,
        "degradation": {"type": "array"},
        "spent": {"$ref": _REF.format(name="Spent")},
        "open_below": {"type": "array", "items": {"type": "string"}},
    },
}
"""Types whose other fields are not for this document to say."""

PUBLIC = {name: type_ for name, type_ in content_types().items() if not type_.internal}
"""The types of events that callers read."""


def event_schemas() -> dict[str, Any]:
    """The components: ``Event``, and for each type its envelope and its data."""
    schemas: dict[str, Any] = {}
    mapping: dict[str, str] = {}
    for name, type_ in sorted(PUBLIC.items()):
        title = type_.__name__
        schemas |= _data_schema(type_)
        schemas[f"{title}Event"] = _envelope(name, f"{title}Data")
        mapping[name] = _REF.format(name=f"{title}Event")
    schemas["Event"] = {
        "description": "One event of a meeting; ids start at 1 in each meeting and have no gaps.",
        "oneOf": [{"$ref": reference} for reference in mapping.values()],
        "discriminator": {"propertyName": "type", "mapping": mapping},
    }
    return schemas


def _envelope(name: str, data: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["id", "type", "meeting_id", "at", "data"],
        "properties": {
            "id": {"type": "integer"},
            "type": {"const": name},
            "meeting_id": {"type": "string"},
            "at": {"type": "string", "format": "date-time"},
            "data": {"$ref": _REF.format(name=data)},
        },
    }


def _data_schema(type_: type[Content]) -> dict[str, Any]:
    """The schema of a type's data and of what that refers to, by component."""
    if type_ in _OPEN:
        fields = {"properties": _OPEN[type_], "required": sorted(_OPEN[type_])}
        return {f"{type_.__name__}Data": {"type": "object", **fields}}
    _, found = msgspec.json.schema_components(
        [type_], ref_template=_REF.replace("{name}", "{name}Data")
    )
    schemas = {f"{name}Data": _as_written(schema) for name, schema in found.items()}
    own = cast("dict[str, Any]", schemas[f"{type_.__name__}Data"])
    # Fields that came later have a default where a log is read; whoever reads an event gets them.
    own["required"] = sorted(name for name in own["properties"] if _is_there(type_, name))
    if issubclass(type_, Flat):
        _flatten(own, type_, schemas)
    if issubclass(type_, MeetingEnded):
        own["properties"] |= {"outcome": _OUTCOME} | {name: {} for name in _OF_THE_OUTCOME}
    return schemas


def _as_written(schema: dict[str, Any]) -> dict[str, Any]:
    """Without defaults: they are for logs of before, and no event leaves a field to them."""
    fields = schema.get("properties", {})
    shown = {
        name: {key: each for key, each in field.items() if key != "default"}
        for name, field in fields.items()
    }
    return {**schema, "properties": shown} if shown else schema


def _flatten(own: dict[str, Any], type_: type[Flat], schemas: dict[str, Any]) -> None:
    """Have the fields of what an entry holds stand beside its own."""
    for name in type_.flat:
        held = own["properties"].pop(name)
        own["required"] = [each for each in own["required"] if each != name]
        reference: str | None = held.get("$ref")
        if reference is not None:
            within = schemas[reference.rpartition("/")[2]]
            own["properties"] |= within["properties"]
        own["additionalProperties"] = True


def _is_there(type_: type[Content], name: str) -> bool:
    """Whether the field is in every event of the type that is written now."""
    if issubclass(type_, Flat) and name in type_.sometimes:
        return False
    fields = {field.encode_name: field for field in msgspec.structs.fields(type_)}
    return fields[name].default is not msgspec.UNSET
