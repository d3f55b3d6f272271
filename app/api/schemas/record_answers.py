"""The shapes of a meeting's records, for the OpenAPI document; ``app/records`` makes them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.answers import (
    Answer,
    ArbiterShown,
    Cancellation,
    CancellationItem,
    ChoiceShown,
    Consensus,
    Decider,
    DissentShown,
    LimitsShown,
    OpenAnswer,
    OutcomeShown,
    PageOf,
    Participant,
    Record,
    Spent,
    StallShown,
)
from app.api.schemas.list_answers import OperationShown, Round
from app.domain.meeting.meeting import Changed, Language
from app.domain.meeting.outcome import Completeness, DecisionSource, Result, StopReason
from app.domain.meeting.status import Status

Stalled = Annotated[
    StallShown | None,
    Field(description="How the talk got nowhere; null where it did not."),
]


class ExternalWait(Answer):
    """A save that was handed over: it is waited for, which is no stall."""

    operation: Annotated[str, Field(description="The operation's id.")]
    url: str
    owner: str
    next_check_at: Annotated[
        datetime | None, Field(description="Null: it is not looked at again by itself.")
    ]


Waits = Annotated[ExternalWait | None, Field(description="What is waited for; null: nothing.")]


class Weakness(Answer):
    """Something that makes the record weaker than it should be."""

    kind: str
    names: list[str]
    rounds: list[int]
    detail: str
    text: Annotated[str, Field(description="The sentence for a reader.")]


class SeatShown(Participant):
    label: Annotated[str, Field(description="How the others saw this participant.")]
    model: Annotated[str | None, Field(description="What answered; null where nobody knows.")]


class QuestionShown(OpenAnswer):
    """A question that was put to an arbiter, and what came of it."""

    question: str
    scope: str
    choices: list[ChoiceShown]
    arbiter: ArbiterShown
    round: int
    opened_at: datetime
    deadline: datetime
    state: Literal["open", "ruled", "expired", "overtaken"]
    closed_at: datetime | None
    ruling: Record | None
    expired_because: str | None


class EarlierEnd(OpenAnswer):
    """A resuming, and the outcome that stood until then."""

    number: int
    at: datetime
    changed: Changed
    note: str
    after_round: int
    limits_before: LimitsShown
    limits: LimitsShown
    materials: list[Record]
    acknowledged: list[str]
    ended_at: datetime
    outcome: OutcomeShown
    cancellation: Cancellation | None


class Consequence(Answer):
    kind: Literal["gain", "risk", "follow_up"]
    text: str


class Lineage(Answer):
    """Which models answered for participants."""

    models: list[str]
    single_model: bool


class Candidate(Answer):
    """What there is or was to choose from: an option, a proposal, a motion, a draft."""

    id: str
    text: str


class DecisionRecord(OpenAnswer):
    """Context, options, decision, who decided, consequences and dissent of one meeting; the format
    adds one object with its numbers, such as `tally`."""

    meeting_id: str
    topic: str
    title: str
    format: str
    format_version: int
    language: Language
    date: date
    result: Result
    consensus: Consensus
    decision: str | None
    decision_source: DecisionSource | None
    decided_by: Decider | None
    ruling: Record | None
    arbitration: list[QuestionShown]
    completeness: Completeness
    stopped_by: StopReason
    context: str
    motion: str | None
    options: list[str]
    materials: list[Record]
    consequences: list[Consequence]
    dissents: list[DissentShown]
    reservations: list[Record]
    baseline: Record | None
    final: Record | None
    flips: list[Record]
    unexplained_flips: int
    stalled: Stalled
    external_wait: Waits
    synthesis: Record | None
    effective_participants: int
    candidates: list[Candidate]
    handoff: Record | None
    open_points: list[str]
    degradation: list[Weakness]
    warnings: list[str]
    participants: list[SeatShown]
    lineage: Lineage
    spent: Spent
    open_below: Annotated[
        list[str], Field(description="The meetings below it that had not ended at its end, by id.")
    ]
    resumptions: list[EarlierEnd]
    operations: list[OperationShown]
    started_at: datetime | None
    ended_at: datetime | None


class DecisionPage(PageOf):
    items: list[DecisionRecord]


class Decided(Answer):
    decision: str
    decision_source: DecisionSource
    decided_by: Decider
    conditions: str | None
    reason: str | None


class QuestionToDecide(OpenAnswer):
    """The one question; `not_put` where it was put to no arbiter."""

    question: str
    scope: str
    choices: list[ChoiceShown]
    state: Literal["open", "ruled", "expired", "overtaken", "not_put"]


class MayDecide(ArbiterShown):
    scope: str
    choices: Annotated[list[str], Field(description="The ids of those that may be picked.")]
    conditions: Annotated[bool, Field(description="Whether conditions may be added.")]
    until: datetime


class Side(Answer):
    position: str
    participants: list[str]
    arguments: list[Record]


class Excerpt(OpenAnswer):
    """Words at stake: a participant's, or those of a material that an objection rests on."""

    source: str
    round: int
    text: str


class CriterionShown(Answer):
    id: str
    text: str
    required: bool
    result: str


class CriteriaShown(Answer):
    passed: list[CriterionShown]
    open: list[CriterionShown]


class SettledPoint(OpenAnswer):
    kind: Literal["agreed", "resolved"]
    text: str


class Handoff(OpenAnswer):
    """What a person needs to decide, or to go on from what was decided."""

    meeting_id: str
    format: str
    language: Language
    status: Status
    result: Result | None
    stopped_by: StopReason | None
    completeness: Completeness | None
    topic: str
    context: str
    decided: Decided | None
    question: QuestionToDecide
    may_decide: list[MayDecide]
    stalled: Stalled
    external_wait: Waits
    candidates: list[Candidate]
    sides: list[Side]
    excerpts: list[Excerpt]
    criteria: CriteriaShown
    settled: list[SettledPoint]
    dissents: list[DissentShown]
    synthesis: Record | None
    open_points: list[str]
    unconfirmed: list[CancellationItem]
    operations: list[OperationShown]
    degradation: list[Weakness]
    warnings: list[str]


class Minutes(OpenAnswer):
    """Everything that the written minutes show, as data."""

    id: str
    format: str
    format_version: int
    language: Language
    date: date
    status: Status
    result: Result | None
    stopped_by: StopReason | None
    completeness: Completeness | None
    degradation: list[Weakness]
    warnings: list[str]
    topic: str
    motion: str | None
    context: str
    options: list[str]
    materials: list[Record]
    participants: list[SeatShown]
    secretary: str
    limits: LimitsShown
    spent: Spent
    resumptions: list[EarlierEnd]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    rounds: list[Round]
    stalls: list[Record]
    objections: list[Record]
    completions: list[Record]
    confirmations: list[Record]
    operations: list[OperationShown]
    arbitration: list[QuestionShown]
    cancellation: Cancellation | None
    late_replies: list[Record]
    outcome: OutcomeShown | None
    baseline: Record | None
    final: Record | None
    flips: list[Record]
    unexplained_flips: int
    reservations: list[Record]
    open_points: list[str]
