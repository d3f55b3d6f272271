"""What is listed of a meeting, and over all of them: rounds, votes, objections, dissents, saves."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.answers import DissentShown, OpenAnswer, PageOf, Record
from app.domain.meeting.outcome import Result
from app.domain.operation.terms import OperationStatus


class Round(OpenAnswer):
    round: int
    state: Literal["open", "closed"]
    motion: str | None
    replies: list[Record]
    stances: dict[str, str]
    ballots: Record
    tally: Record | None
    consensus: str | None
    progress: Record | None
    summary: str | None


class RoundList(PageOf):
    items: list[Round]


class VoteShown(OpenAnswer):
    """One participant's ballot, or why there is none that counts."""

    participant: str
    round: int
    status: str
    reason: str | None
    ballot: Record | None
    confidence: float | None
    rationale: str | None
    mitigation: str | None
    at: datetime


class VoteList(PageOf):
    items: list[VoteShown]


class ObjectionShown(OpenAnswer):
    """A critic's objection as it stands now."""

    id: str
    critic: str
    severity: str
    material: str | None
    quote: str | None
    point: str
    resolves_when: str
    support: str
    state: str


class ObjectionList(PageOf):
    items: list[ObjectionShown]


class DissentList(PageOf):
    items: list[DissentShown]


class DissentListed(DissentShown):
    """A view that lost, and the decision that it lost against, if there was one."""

    meeting_id: Annotated[str, Field(examples=["mtg_01JD0Z3K7W"])]
    format: str
    topic: str
    result: Result
    decision: str | None
    decided_at: Annotated[datetime, Field(description="When the decision, or its lack, stood.")]


class DissentPage(PageOf):
    items: list[DissentListed]


class OperationShown(OpenAnswer):
    """Something saved elsewhere: confirmed once a GET of the same URL has given it back."""

    id: Annotated[str, Field(examples=["op_01JD0Z3K7W_5f0c2b"])]
    meeting_id: str
    subject: Literal["deliverable", "record"]
    url: str
    state: OperationStatus
    reason: Annotated[str | None, Field(description="Why it is not, or not yet, confirmed.")]
    version: Annotated[str | None, Field(description="The ETag of what is there.")]
    sha256: str
    owner: Annotated[str, Field(description="Who sees to it once it is handed over.")]
    requested_at: datetime
    there_instead: Annotated[
        str | None,
        Field(description="The operation of the same meeting whose content was found there."),
    ]
    writes: Annotated[int, Field(description="Those that left; one that was not sent is none.")]
    check_deadline_seconds: float
    check_deadline: Annotated[datetime | None, Field(description="Null before the first write.")]
    next_check_at: Annotated[
        datetime | None,
        Field(description="Handed over: when it is looked at again by itself, if ever."),
    ]


class OperationList(PageOf):
    items: list[OperationShown]


class OperationPage(PageOf):
    items: list[OperationShown]
