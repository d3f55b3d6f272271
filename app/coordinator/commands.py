"""What a caller asks for when it opens a meeting, before anything is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from app.domain.meeting.meeting import (
    Arbiter,
    CompletionGate,
    Criterion,
    Destination,
    Identities,
    Language,
    Limits,
    Material,
)
from app.domain.values import Json
from app.formats import FORMATS


@dataclass(frozen=True, slots=True)
class SeatWanted:
    """A participant as asked for; what is None is filled in by the coordinator."""

    name: str | None = None
    role: str | None = None
    agent: str = "default"
    weight: Fraction | None = None
    expert: bool = False


@dataclass(frozen=True, slots=True)
class OpenMeeting:
    """The wish to hold a meeting, with every field of the wrong type already refused.

    ``seats`` empty: ``count`` of them (or the format's usual number) on the default agent.
    """

    topic: str
    format: str = FORMATS.default
    motion: str | None = None
    context: str = ""
    options: tuple[str, ...] = ()
    seats: tuple[SeatWanted, ...] = ()
    count: int | None = None
    secretary: str = "default"
    chair: str | None = None
    arbiter: Arbiter | None = None
    rules: Mapping[str, Json] = field(default_factory=dict[str, Json])
    limits: Limits = field(default_factory=Limits)
    completion_gate: CompletionGate | None = None
    materials: tuple[Material, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    destination: Destination | None = None
    domains: tuple[str, ...] = ()
    language: Language = "en"
    identities: Identities = "hidden"
    parent_id: str | None = None
    ephemeral: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
