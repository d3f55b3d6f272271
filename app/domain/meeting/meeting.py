"""What a meeting is: its seats, limits and settings, fixed before it starts.

A ``Meeting`` is what ``meeting.created`` records, so it can be written as JSON and read back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from app.domain.values import Json, exact

Language = Literal["en", "ja"]
Identities = Literal["hidden", "shown"]

SECRETARY = "secretary"
CHAIR = "chair"
ARBITER = "arbiter"


@dataclass(frozen=True, slots=True)
class Seat:
    """One participant: a name, a perspective and the agent that answers for it."""

    name: str
    role: str
    agent: str
    weight: Fraction = Fraction(1)
    expert: bool = False

    def record(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "role": self.role,
            "agent": self.agent,
            "weight": float(self.weight),
            "expert": self.expert,
        }

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Seat:
        return cls(
            name=record["name"],
            role=record["role"],
            agent=record["agent"],
            weight=exact(record["weight"]),
            expert=record["expert"],
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """When a meeting must end. Seconds of wall-clock time, US dollars, tokens in and out."""

    rounds: int = 3
    seconds: float = 600
    reply_seconds: float = 60
    usd: Decimal | None = None
    tokens: int | None = None
    no_progress_rounds: int = 2
    arbitration_seconds: float = 60

    @property
    def bounded(self) -> bool:
        """Whether money or tokens are limited."""
        return self.usd is not None or self.tokens is not None

    def record(self) -> dict[str, Json]:
        return {
            "rounds": self.rounds,
            "seconds": self.seconds,
            "reply_seconds": self.reply_seconds,
            "usd": None if self.usd is None else str(self.usd),
            "tokens": self.tokens,
            "no_progress_rounds": self.no_progress_rounds,
            "arbitration_seconds": self.arbitration_seconds,
        }

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Limits:
        fields: dict[str, Json] = dict(record)
        fields["usd"] = None if record["usd"] is None else Decimal(record["usd"])
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class CompletionGate:
    """The closing question's settings (PROTOCOLS 10); times in seconds."""

    min_completions: int = 2
    window_seconds: float = 60
    nudge_after_seconds: float = 30
    fallback_timeout: float = 120

    def record(self) -> dict[str, Json]:
        return {
            "min_completions": self.min_completions,
            "window_seconds": self.window_seconds,
            "nudge_after_seconds": self.nudge_after_seconds,
            "fallback_timeout": self.fallback_timeout,
        }


@dataclass(frozen=True, slots=True)
class Material:
    """A text that a deliverable is judged against."""

    id: str
    version: str
    text: str
    title: str | None = None

    def record(self) -> dict[str, Json]:
        return {"id": self.id, "version": self.version, "title": self.title, "text": self.text}


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a review is judged by, or what a scoring poll scores on.

    ``check`` is a mechanical one: ``{"contains": text}``, ``{"regex": pattern}`` or
    ``{"max_chars": number}``.
    """

    id: str
    text: str
    required: bool = True
    check: Mapping[str, Json] | None = None

    def record(self) -> dict[str, Json]:
        check = None if self.check is None else dict(self.check)
        return {"id": self.id, "text": self.text, "required": self.required, "check": check}


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the deliverable is to be saved (PROTOCOLS 13), and who sees to it if that stays open.

    ``check_deadline_seconds`` after the first write it is handed over to ``owner``.
    """

    url: str
    check_deadline_seconds: float = 30
    owner: str | None = None

    def record(self) -> dict[str, Json]:
        return {
            "url": self.url,
            "check_deadline_seconds": self.check_deadline_seconds,
            "owner": self.owner,
        }


@dataclass(frozen=True, slots=True)
class Arbiter:
    """Who may rule: a person, over HTTP, or an agent by name."""

    kind: Literal["human", "agent"]
    agent: str | None = None
    name: str | None = None

    @property
    def shown(self) -> str:
        return self.name or self.agent or "arbiter"

    def record(self) -> dict[str, Json]:
        return {"kind": self.kind, "agent": self.agent, "name": self.name}

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Arbiter:
        return cls(record["kind"], record["agent"], record["name"])


Changed = Literal["materials", "criteria", "order", "permission", "limits"]
"""What can have changed for a meeting to be resumed (PROTOCOLS 12)."""


@dataclass(frozen=True, slots=True)
class Resumption:
    """One resuming of a meeting that had ended. ``after_round`` had closed last before it.

    ``note`` says in the caller's words what is different now; participants are shown it.
    ``materials_before`` are those that the rounds up to ``after_round`` were held on.
    """

    changed: Changed
    note: str
    after_round: int
    materials_before: tuple[Material, ...] = ()

    def shown(self) -> dict[str, Json]:
        """As prompts show it."""
        return {"changed": self.changed, "note": self.note}


@dataclass(frozen=True, slots=True)
class Meeting:
    """One deliberation, as it was fixed at its creation and by each resuming since.

    ``ancestors`` are the meetings above it in its tree, from the root down to its parent, and
    ``ends_by`` is when they need it to have ended.
    """

    id: str
    format: str
    format_version: int
    topic: str
    seats: tuple[Seat, ...]
    secretary: str
    """The secretary's agent, by name."""
    limits: Limits = field(default_factory=Limits)
    motion: str | None = None
    context: str = ""
    options: tuple[str, ...] = ()
    chair: str | None = None
    arbiter: Arbiter | None = None
    rules: Mapping[str, Json] = field(default_factory=dict[str, Json])
    completion_gate: CompletionGate | None = None
    materials: tuple[Material, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    domains: tuple[str, ...] = ()
    language: Language = "en"
    identities: Identities = "hidden"
    destination: Destination | None = None
    ancestors: tuple[str, ...] = ()
    ends_by: datetime | None = None
    ephemeral: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    resumptions: tuple[Resumption, ...] = ()

    @property
    def parent_id(self) -> str | None:
        return self.ancestors[-1] if self.ancestors else None

    @property
    def resumed_after(self) -> int:
        """The last round that had closed before the latest resuming; 0 if there was none.

        A limit or a stall that was met up to then has ended the meeting once, and does not again.
        """
        return self.resumptions[-1].after_round if self.resumptions else 0

    @property
    def chair_agent(self) -> str:
        """The council's chair's agent; the secretary's unless one was named."""
        return self.chair or self.secretary

    def seat(self, name: str) -> Seat:
        return next(seat for seat in self.seats if seat.name == name)

    def label(self, name: str) -> str:
        """How others see this participant: a neutral label, or its name where identities show."""
        if self.identities == "shown":
            return name
        index = [seat.name for seat in self.seats].index(name)
        return f"{LABEL_WORDS[self.language]} {label_letters(index)}"

    def record(self) -> dict[str, Json]:
        """The meeting as JSON, in the field names of the HTTP contract."""
        gate = self.completion_gate
        return {
            "id": self.id,
            "format": self.format,
            "format_version": self.format_version,
            "topic": self.topic,
            "motion": self.motion,
            "context": self.context,
            "options": list(self.options),
            "participants": [seat.record() for seat in self.seats],
            "secretary": self.secretary,
            "chair": self.chair,
            "arbiter": None if self.arbiter is None else self.arbiter.record(),
            "rules": dict(self.rules),
            "limits": self.limits.record(),
            "completion_gate": None if gate is None else gate.record(),
            "materials": [material.record() for material in self.materials],
            "criteria": [criterion.record() for criterion in self.criteria],
            "domains": list(self.domains),
            "language": self.language,
            "identities": self.identities,
            "destination": None if self.destination is None else self.destination.record(),
            "parent_id": self.parent_id,
            "ancestors": list(self.ancestors),
            "ends_by": None if self.ends_by is None else self.ends_by.isoformat(),
            "ephemeral": self.ephemeral,
            "metadata": dict(self.metadata),
        }

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Meeting:
        """The meeting that ``record`` once wrote; fields beside its own are passed over."""
        gate = record["completion_gate"]
        arbiter = record.get("arbiter")
        destination = record.get("destination")
        ends_by = record.get("ends_by")
        return cls(
            id=record["id"],
            format=record["format"],
            format_version=record["format_version"],
            topic=record["topic"],
            motion=record["motion"],
            context=record["context"],
            options=tuple(record["options"]),
            seats=tuple(Seat.read(seat) for seat in record["participants"]),
            secretary=record["secretary"],
            chair=record["chair"],
            arbiter=None if arbiter is None else Arbiter.read(arbiter),
            rules=record["rules"],
            limits=Limits.read(record["limits"]),
            completion_gate=None if gate is None else CompletionGate(**gate),
            materials=tuple(Material(**material) for material in record["materials"]),
            criteria=tuple(Criterion(**criterion) for criterion in record["criteria"]),
            domains=tuple(record["domains"]),
            language=record["language"],
            identities=record["identities"],
            destination=None if destination is None else Destination(**destination),
            ancestors=tuple(record.get("ancestors", ())),
            ends_by=None if ends_by is None else datetime.fromisoformat(ends_by),
            ephemeral=record["ephemeral"],
            metadata=record["metadata"],
        )


LABEL_WORDS: Mapping[Language, str] = {"en": "Participant", "ja": "参加者"}
CANCELLED_ABOVE_WORDS: Mapping[Language, str] = {
    "en": "{above}, above this meeting, was cancelled.",
    "ja": "上位の会議 {above} が中止された。",
}
"""Why a meeting is cancelled that is cancelled with its tree."""

REJECTED_WORDS: Mapping[Language, str] = {"en": "reject: {text}", "ja": "却下：{text}"}
"""How a text stands among an arbiter's choices, and as a decision, where it is turned down."""


def label_letters(index: int) -> str:
    """A, B … Z, AA, AB …, for the seat at ``index`` (from 0)."""
    letters = ""
    index += 1
    while index:
        index, remainder = divmod(index - 1, 26)
        letters = chr(ord("A") + remainder) + letters
    return letters


def labels(meeting: Meeting) -> Mapping[str, str]:
    """The label of each seat, by the seat's name."""
    return {seat.name: meeting.label(seat.name) for seat in meeting.seats}


def names(seats: Sequence[Seat]) -> tuple[str, ...]:
    return tuple(seat.name for seat in seats)
