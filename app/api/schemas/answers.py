"""The shapes of answers, for the OpenAPI document; handlers build plain dicts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.agent_kinds import SETTINGS_BY_KIND
from app.domain.meeting.meeting import Changed
from app.domain.meeting.outcome import (
    Completeness,
    DeciderKind,
    DecisionSource,
    Result,
    StopReason,
)
from app.domain.meeting.status import Status

Record = dict[str, Any]
Consensus = Literal["FULL_CONSENSUS", "MAJORITY_CONSENSUS", "NO_CONSENSUS"] | None


class Answer(BaseModel):
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class OpenAnswer(Answer):
    """An answer to which formats add fields of their own."""

    model_config = ConfigDict(extra="allow")


class FaultShown(Answer):
    pointer: Annotated[str, Field(description="The field, as a JSON pointer in a fragment.")]
    detail: str


class Problem(BaseModel):
    """RFC 9457: what went wrong, for programs by `type` and for people by `detail`."""

    model_config = ConfigDict(extra="allow")

    type: Annotated[str, Field(examples=["invalid-request"])]
    title: str
    status: int
    detail: str
    errors: Annotated[
        list[FaultShown],
        Field(default_factory=list, description="With every 422: the fields at fault."),
    ]


class Participant(Answer):
    name: str
    role: str
    agent: str
    weight: float
    expert: bool


class LimitsShown(Answer):
    rounds: int
    seconds: float
    reply_seconds: float
    usd: str | None
    tokens: int | None
    no_progress_rounds: int
    arbitration_seconds: float


class Tokens(Answer):
    input: int
    output: int


class UnconfirmedShown(Answer):
    """Requests that got no answer, each booked at the most that it can have cost: sent before a
    crash, a stop or a cancel, or cut off. A part of the sums beside it."""

    requests: int
    usd: Annotated[str | None, Field(description="Null where a price is unknown, never 0.")]
    tokens: int


class Spent(Answer):
    replies: int
    seconds: float
    usd: Annotated[str | None, Field(description="Null where a price is unknown, never 0.")]
    tokens: Tokens
    unconfirmed: UnconfirmedShown


class Remaining(Answer):
    seconds: float
    usd: str | None
    tokens: int | None


class Decider(Answer):
    kind: DeciderKind
    name: str
    scope: str


class DissentShown(Answer):
    participant: str
    position: str
    rationale: str
    mitigation: str | None
    round: int | None


class StallShown(OpenAnswer):
    """How the talk got nowhere: in circles, at a stalemate, or each waiting for the other."""

    kind: Literal["circular", "stalemate", "mutual_wait"]
    round: int
    rounds_without_progress: int
    reopened: Annotated[list[str], Field(description="The objections that came back.")]
    waiting: Annotated[
        list[str], Field(description="Each waits for the next, and the last for the first.")
    ]


class OutcomeShown(OpenAnswer):
    """How the meeting ended; the format adds one object with its numbers, such as `tally`."""

    result: Result
    consensus: Consensus
    decision: str | None
    decision_source: DecisionSource | None
    decided_by: Decider | None
    completeness: Completeness
    stopped_by: StopReason
    effective_participants: int
    dissents: list[DissentShown]
    synthesis: Record | None
    stalled: Annotated[
        StallShown | None, Field(description="How the talk got nowhere; null where it did not.")
    ]


class _WithOptional(BaseModel):
    """Fields that have a default here are left out where they do not apply."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False, extra="allow")


class CancellationItem(_WithOptional):
    """Something that was under way when the cancel came, and what is known of it."""

    kind: Literal["request", "child", "operation"]
    ref: str
    state: Literal["requested", "acknowledged", "stopped", "unconfirmed"]
    participant: Annotated[
        str, Field(default_factory=str, description="Of a request: who was asked.")
    ]
    agent: Annotated[
        str, Field(default_factory=str, description="Of a request: the agent that answers.")
    ]


class Cancellation(OpenAnswer):
    """A cancel as a whole; `stopped` only when nothing of its list is left in doubt."""

    requested_at: datetime
    reason: str | None
    state: Literal["requested", "stopped", "unconfirmed"]
    items: list[CancellationItem]


class Operations(Answer):
    """How many saves elsewhere are not known to be there."""

    pending: Annotated[int, Field(description="Requested: the meeting is at work on them.")]
    unknown: Annotated[int, Field(description="Unknown, or handed over to their owner.")]


class ChoiceShown(_WithOptional):
    """One answer that may be given, unless it has `barred_by`."""

    id: str
    text: str
    barred_by: Annotated[
        list[str],
        Field(
            default_factory=list[str],
            description="The required criteria that it would drop; with any, it may not be picked.",
        ),
    ]


class ArbiterShown(Answer):
    kind: Literal["human", "agent"]
    agent: str | None
    name: str | None


class PendingQuestion(Answer):
    """What waits for a ruling. No other choice than those offered is within its scope."""

    id: str
    question: str
    choices: list[ChoiceShown]
    scope: str
    arbiter: ArbiterShown
    deadline: datetime
    opened_at: datetime


class ResumptionShown(Answer):
    """One resuming of a meeting that had ended without a decision."""

    changed: Changed
    note: str
    at: datetime


class ParkedShown(Answer):
    """Why no process at hand can go on with the meeting, and since when; it is kept whole."""

    reason: Literal["replay_diverged", "version_unknown"]
    since: datetime


class Meeting(Answer):
    """A meeting: what it is, where it stands, what it may still spend, what came of it."""

    id: Annotated[str, Field(examples=["mtg_01JD0Z3K7W"])]
    status: Status
    format: str
    topic: str
    motion: str | None
    participants: list[Participant]
    limits: LimitsShown
    rules: Record
    round: int
    spent: Spent
    remaining: Remaining
    outcome: OutcomeShown | None
    pending_question: PendingQuestion | None
    cancellation: Cancellation | None
    operations: Operations
    parked: ParkedShown | None
    parent_id: str | None
    children: list[str]
    resumptions: list[ResumptionShown]
    plan: Record
    warnings: list[str]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    deadline: datetime | None
    metadata: dict[str, str]
    links: dict[str, str]


class Planned(Answer):
    """What a meeting would be and may cost; nothing has been stored and nobody asked."""

    plan: Record


class PageOf(Answer):
    next_cursor: Annotated[
        str | None, Field(description="Give it back as `cursor` for the next page; null: none.")
    ] = None


class MeetingPage(PageOf):
    items: list[Meeting]


class Event(Answer):
    """One event of a meeting; ids start at 1 in each meeting and have no gaps."""

    id: int
    type: Annotated[str, Field(examples=["reply.received"])]
    meeting_id: str
    at: datetime
    data: Record


class EventPage(Answer):
    items: list[Event]
    next_cursor: Annotated[
        str | None, Field(description="Give it back as `after` for the next page; null: none.")
    ] = None


class Agent(OpenAnswer):
    """An agent as it was configured; its secrets are never shown, only whether there is one."""

    name: str
    # mypy's rule only: the kinds are known at import.
    kind: Literal[tuple(SETTINGS_BY_KIND)]  # type: ignore[valid-type]
    expertise: dict[str, float]


class AgentList(PageOf):
    items: list[Agent]


class AgentCheck(Answer):
    """What came of asking the agent one trivial question."""

    ok: bool
    latency_ms: float | None
    usage: Record | None
    model: str | None
    error: str | None


class Health(Answer):
    status: Literal["ok"]


class Readiness(Answer):
    status: Literal["ready"]
    checks: dict[str, bool]
