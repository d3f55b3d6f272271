"""How a meeting ends: the words for it, and the one order in which stops are weighed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar, Literal, Self

from app.domain.ending.arbitration import Ruling
from app.domain.rounds.progress import Stall
from app.domain.values import Json, JsonValue

DecisionSource = Literal["motion", "option", "proposal", "synthesis", "draft", "ruling"]
DeciderKind = Literal["consensus", "vote", "poll", "expert", "ruling", "chair", "completion"]


class Result(StrEnum):
    DECIDED = "decided"
    UNDECIDED = "undecided"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Completeness(StrEnum):
    COMPLETE = "complete"
    PARTIAL = "partial"


class StopReason(StrEnum):
    """What ended the meeting (PROTOCOLS 11)."""

    CANCELLATION = "cancellation"
    CONSENSUS = "consensus"
    COMPLETED = "completed"
    THRESHOLD = "threshold"
    DEADLINE = "deadline"
    BUDGET = "budget"
    AGENTS_UNAVAILABLE = "agents_unavailable"
    NO_PROGRESS = "no_progress"
    ROUNDS = "rounds"
    QUORUM = "quorum"
    RULING = "ruling"
    RULING_EXPIRED = "ruling_expired"
    ERROR = "error"


_FIRST_COUNTS = (
    StopReason.CANCELLATION,
    StopReason.CONSENSUS,
    StopReason.COMPLETED,
    # What was ruled, or was open until its time was over, is no less an end than these; a limit
    # that is met in the closing afterwards does not undo it.
    StopReason.RULING,
    StopReason.RULING_EXPIRED,
    StopReason.DEADLINE,
    StopReason.BUDGET,
    StopReason.AGENTS_UNAVAILABLE,
    StopReason.NO_PROGRESS,
    StopReason.ROUNDS,
)


def first_to_count(reasons: Iterable[StopReason]) -> StopReason | None:
    """Which of several stops that fall together counts (PROTOCOLS 11, outcome)."""
    present = set(reasons)
    return next((reason for reason in _FIRST_COUNTS if reason in present), None)


@dataclass(frozen=True, slots=True)
class DecidedBy:
    """Who settled it, and for what."""

    kind: DeciderKind
    name: str
    scope: str

    def record(self) -> dict[str, JsonValue]:
        return {"kind": self.kind, "name": self.name, "scope": self.scope}


@dataclass(frozen=True, slots=True)
class Dissent:
    """A view that lost, with its reasons and the mitigation it asks for."""

    participant: str
    position: str
    rationale: str
    mitigation: str | None = None
    round: int | None = None

    def record(self) -> dict[str, JsonValue]:
        return {
            "participant": self.participant,
            "position": self.position,
            "rationale": self.rationale,
            "mitigation": self.mitigation,
            "round": self.round,
        }


@dataclass(frozen=True, slots=True)
class Degradation:
    """Something that makes the record weaker than it should be; the record says it first.

    ``kind`` is ``no_reply``, ``summary_by_code``, ``synthesis_by_code`` or one of a format's own;
    the sentence for a reader is made by ``records/`` in the meeting's language.
    """

    kind: str
    names: tuple[str, ...] = ()
    rounds: tuple[int, ...] = ()
    detail: str = ""

    def record(self) -> dict[str, JsonValue]:
        return {
            "kind": self.kind,
            "names": list(self.names),
            "rounds": list(self.rounds),
            "detail": self.detail,
        }

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Self:
        names, rounds = tuple(record["names"]), tuple(record["rounds"])
        return cls(record["kind"], names, rounds, record["detail"])


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a meeting.

    ``numbers_name`` and ``numbers`` are the format's own object with the counts (``tally``,
    ``poll``, …). ``findings`` is what this format's records show beside the result (PROTOCOLS 15):
    baseline, final, flips, reservations. ``stalled`` is how the participants got nowhere, where
    they did, ``ruling`` what an arbiter said, ``completion`` how the gate closed. ``degradation``
    is what the record must say first.
    """

    RECORD_FIELDS: ClassVar = (
        "result",
        "consensus",
        "decision",
        "decision_source",
        "decided_by",
        "completeness",
        "stopped_by",
        "effective_participants",
        "dissents",
        "synthesis",
    )

    result: Result
    stopped_by: StopReason
    completeness: Completeness
    consensus: str | None = None
    decision: str | None = None
    decision_source: DecisionSource | None = None
    decided_by: DecidedBy | None = None
    effective_participants: int = 0
    dissents: tuple[Dissent, ...] = ()
    synthesis: Mapping[str, Json] | None = None
    stalled: Stall | None = None
    numbers_name: str = "tally"
    numbers: Mapping[str, Json] = field(default_factory=dict[str, Json])
    findings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    ruling: Ruling | None = None
    completion: Mapping[str, Json] | None = None
    degradation: tuple[Degradation, ...] = ()

    def record(self) -> dict[str, Json]:
        """The outcome as the meeting resource shows it."""
        decided_by = None if self.decided_by is None else self.decided_by.record()
        return {
            "result": self.result.value,
            "consensus": self.consensus,
            "decision": self.decision,
            "decision_source": self.decision_source,
            "decided_by": decided_by,
            "completeness": self.completeness.value,
            "stopped_by": self.stopped_by.value,
            "effective_participants": self.effective_participants,
            "dissents": [dissent.record() for dissent in self.dissents],
            "synthesis": None if self.synthesis is None else dict(self.synthesis),
            "stalled": None if self.stalled is None else self.stalled.record(),
            self.numbers_name: dict(self.numbers),
        }

    @classmethod
    def read(cls, record: Mapping[str, Json], **beside: Json) -> Self:
        """What ``record`` once gave; ``beside`` are the fields that it does not hold."""
        (name,) = record.keys() - {*cls.RECORD_FIELDS, "stalled"}
        decided_by, stalled = record["decided_by"], record.get("stalled")
        return cls(
            result=Result(record["result"]),
            stopped_by=StopReason(record["stopped_by"]),
            completeness=Completeness(record["completeness"]),
            consensus=record["consensus"],
            decision=record["decision"],
            decision_source=record["decision_source"],
            decided_by=None if decided_by is None else DecidedBy(**decided_by),
            effective_participants=record["effective_participants"],
            dissents=tuple(Dissent(**dissent) for dissent in record["dissents"]),
            synthesis=record["synthesis"],
            stalled=None if stalled is None else Stall.read(stalled),
            numbers_name=name,
            numbers=record[name],
            **beside,
        )


def overtaken_by_cancellation(outcome: Outcome) -> Outcome:
    """The same meeting when a cancel came in before its decision was recorded.

    Cancellation counts first (PROTOCOLS 11); what was found so far stays in the numbers.
    """
    return replace(
        outcome,
        result=Result.CANCELLED,
        stopped_by=StopReason.CANCELLATION,
        completeness=Completeness.PARTIAL,
        decision=None,
        decision_source=None,
        decided_by=None,
    )


def cancelled_unreplayed() -> Outcome:
    """How a meeting ends that was cancelled while no process at hand could go on with it."""
    return Outcome(Result.CANCELLED, StopReason.CANCELLATION, Completeness.PARTIAL)


def ended_by_error(code: str) -> Outcome:
    """How a meeting ends that could not go on through a fault of ours."""
    return Outcome(
        result=Result.FAILED,
        stopped_by=StopReason.ERROR,
        completeness=Completeness.PARTIAL,
        degradation=(Degradation("error", detail=code),),
    )
