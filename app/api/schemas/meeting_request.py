"""``POST /v1/meetings``: one schema for each format that can be held."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from app.api.schemas.parts import (
    Seconds,
    WireArbiter,
    WireCriterion,
    WireDestination,
    WireGate,
    WireMaterial,
)
from app.api.schemas.text_types import (
    MAY_BE_EMPTY,
    ON_ONE_LINE,
    SAYS_SOMETHING,
    AgentName,
    Later,
    Wire,
    Word,
)
from app.api.schemas.unsupported_fields import Webhook
from app.domain.meeting.meeting import Identities, Language
from app.domain.rounds.summary import MOST_MOTION_CHARACTERS
from app.formats import FORMATS
from app.formats.shared.format import Format

DEFAULT_FORMAT = FORMATS.default

_MOST_SEATS = 20

Usd = Annotated[
    Decimal,
    Field(gt=0, le=1_000_000, decimal_places=18, description="A number or, exactly, a string."),
]
Topic = Annotated[str, Field(min_length=1, max_length=4_000), SAYS_SOMETHING]
InPlainWords = Annotated[str, Field(min_length=1, max_length=8_000), SAYS_SOMETHING]
Motion = Annotated[str, Field(min_length=1, max_length=MOST_MOTION_CHARACTERS), SAYS_SOMETHING]
Context = Annotated[str, Field(max_length=100_000), MAY_BE_EMPTY]
Option = Annotated[str, Field(min_length=1, max_length=200), ON_ONE_LINE]
Role = Annotated[str, Field(max_length=500), MAY_BE_EMPTY]
MeetingId = Annotated[str, Field(min_length=1, max_length=100)]
MetadataText = Annotated[str, Field(max_length=512), MAY_BE_EMPTY]


class WireParticipant(Wire):
    """A seat. What is left out is filled in: a name, and the format's own perspective."""

    name: Word | None = None
    role: Role | None = None
    agent: AgentName = "default"
    weight: Annotated[float, Field(ge=1, le=2)] | None = None
    expert: bool = False


class WireLimits(Wire):
    """When the meeting must end, whatever has come of it."""

    rounds: Annotated[int, Field(ge=1, le=20)] = 3
    seconds: Seconds = 600
    reply_seconds: Seconds = 60
    usd: Usd | None = None
    tokens: Annotated[int, Field(gt=0, le=10**12)] | None = None
    no_progress_rounds: Annotated[int, Field(ge=1, le=1000)] = 2
    arbitration_seconds: Seconds = 60


class MeetingRequest(Wire):
    """A meeting to be held. Only ``topic`` is required."""

    topic: Topic
    request: Annotated[InPlainWords | None, Later()] = None
    format: str = DEFAULT_FORMAT
    motion: Motion | None = None
    context: Context = ""
    options: Annotated[tuple[Option, ...], Field(max_length=50)] = ()
    participants: Annotated[tuple[WireParticipant, ...], Field(max_length=_MOST_SEATS)] = ()
    count: Annotated[int, Field(ge=1, le=_MOST_SEATS)] | None = None
    secretary: AgentName = "default"
    chair: AgentName | None = None
    arbiter: WireArbiter | None = None
    rules: Any = None
    limits: WireLimits = WireLimits()
    completion_gate: bool | WireGate | None = None
    materials: Annotated[tuple[WireMaterial, ...], Field(max_length=50)] = ()
    criteria: Annotated[tuple[WireCriterion, ...], Field(max_length=50)] = ()
    destination: WireDestination | None = None
    domains: Annotated[tuple[Word, ...], Field(max_length=50)] = ()
    language: Language = "en"
    identities: Identities = "hidden"
    parent_id: MeetingId | None = None
    ephemeral: bool = False
    webhook: Annotated[Webhook | None, Later()] = None
    accept_vague: Annotated[bool, Later(False)] = False
    metadata: Annotated[dict[Word, MetadataText], Field(max_length=32)] = Field(
        default_factory=dict
    )


def request_schema(format_: Format) -> type[MeetingRequest]:
    """The request schema of one format; its ``rules`` are the format's own dataclass."""
    name: Any = Literal[format_.name]
    seats: Any = Annotated[int, Field(ge=format_.fewest_seats, le=format_.most_seats)]
    optional_seats: Any = seats | None
    return create_model(
        f"{format_.name.title()}Meeting",
        __base__=MeetingRequest,
        __doc__=f"A meeting in the format {format_.name}. Only the topic is required.",
        format=(name, format_.name),
        count=(optional_seats, None),
        rules=(format_.rules, Field(default_factory=format_.rules)),
    )


MEETING_REQUESTS = {name: request_schema(format_) for name, format_ in FORMATS.items()}
"""The request schema of every format that can be held, by the format's name."""
