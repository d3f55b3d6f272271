"""``POST /v1/meetings/{id}/resume``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.api.schemas.meeting_request import WireLimits
from app.api.schemas.parts import WireMaterial
from app.api.schemas.text_types import SAYS_SOMETHING, Wire
from app.coordinator.resuming import MOST_NOTE_CHARACTERS
from app.domain.meeting.meeting import Changed


def _without_defaults(schema: dict[str, Any]) -> None:
    """A limit that is left out stays as it is, so here it has no default."""
    for field in schema["properties"].values():
        field.pop("default", None)


class RaisedLimits(WireLimits):
    """The limits that are raised; those that are left out stay as they are."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)


class ResumeRequest(Wire):
    """What has changed since the meeting ended, and what it goes on with."""

    changed: Annotated[
        Changed,
        Field(
            description="What kind of thing is different now. In a format that reads no "
            "materials, `materials` comes without any; the note says what has changed."
        ),
    ]
    note: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MOST_NOTE_CHARACTERS,
            description="What is different now, for the record and for the participants.",
        ),
        SAYS_SOMETHING,
    ]
    limits: Annotated[
        RaisedLimits | None,
        Field(description='With `changed: "limits"`, and only with it: at least one is raised.'),
    ] = None
    materials: Annotated[
        tuple[WireMaterial, ...],
        Field(
            max_length=50,
            description='With `changed: "materials"`, and only with it: those that are new. One '
            "with the id of an earlier material takes its place from now on.",
        ),
    ] = ()
    acknowledge_unknown: Annotated[
        bool,
        Field(description="Go on though nobody knows what became of an operation."),
    ] = False
