"""Where a meeting stands: what the meeting resource shows, folded from its log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Self, cast

from msgspec import Struct, field
from msgspec.structs import asdict

from app.domain.meeting import events
from app.domain.meeting.cancellation import Cancellation
from app.domain.meeting.entries import Event
from app.domain.meeting.envelope import ALL_CONFIRMED, UNTOUCHED, Drawn, Envelope, Unconfirmed
from app.domain.meeting.folding import Folding
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import Outcome
from app.domain.meeting.status import Parked, PendingQuestion, ResumedAt, Status
from app.domain.money import NOTHING, Cost
from app.domain.operation.record import OperationRecord
from app.domain.values import Json, JsonObject, JsonValue


class MeetingState(Struct, frozen=True):
    """A meeting and how far it has come. ``last_seq`` counts all entries of its log,
    ``last_number`` the public ones; ``replies`` are the participants', and ``ballots`` those of all
    replies, late ones included, in which a ballot was looked for.

    ``reserved`` holds the requests under way by their step, ``unconfirmed`` says which part of what
    was ``spent`` nobody confirmed, ``children`` are the meetings opened from this one and whether
    each has ended, ``adopted`` likewise those that a child left open below it when it ended,
    ``operations`` what became of each save. ``below`` is what all meetings further down have drawn:
    it lies in their logs and not in this one, so the log's writer keeps it. ``seconds_before`` is
    the time that was taken up before the latest resuming.
    """

    meeting: Meeting
    plan: JsonObject
    warnings: Sequence[str]
    agents: Mapping[str, JsonObject]
    created_at: datetime
    status: Status = Status.SCHEDULED
    round: int = 0
    motion: str | None = None
    replies: int = 0
    ballots: int = 0
    spent: Cost = NOTHING
    unconfirmed: Unconfirmed = ALL_CONFIRMED
    started_at: datetime | None = None
    ended_at: datetime | None = None
    deadline: datetime | None = None
    outcome: Outcome | None = None
    cancellation: Cancellation | None = None
    pending_question: PendingQuestion | None = None
    minutes_path: str | None = None
    reserved: Mapping[str, events.RequestReserved] = field(default_factory=dict[str, Any])
    children: Mapping[str, bool] = field(default_factory=dict[str, bool])
    adopted: Mapping[str, bool] = field(default_factory=dict[str, bool])
    operations: Mapping[str, OperationRecord] = field(default_factory=dict[str, Any])
    below: Drawn = UNTOUCHED
    resumptions: tuple[ResumedAt, ...] = ()
    seconds_before: float = 0.0
    parked: Parked | None = None
    last_seq: int = 0
    last_number: int = 0

    @property
    def ended(self) -> bool:
        return self.status is Status.ENDED

    @property
    def decided(self) -> bool:
        """Whether its decision stands, though its record may still be on the way."""
        return self.ended_at is not None

    @property
    def resumed_at(self) -> datetime | None:
        return self.resumptions[-1].at if self.resumptions else None

    @property
    def began_at(self) -> datetime | None:
        """When the present leg began."""
        return self.resumed_at or self.started_at

    @property
    def open_below(self) -> list[str]:
        """The meetings below that it would have to stop, by id."""
        return [id_ for id_, ended in {**self.children, **self.adopted}.items() if not ended]

    @property
    def own(self) -> Drawn:
        """What this meeting alone has drawn."""
        reserved = NOTHING
        for request in self.reserved.values():
            reserved += _known(request.reserved)
        return Drawn(self.replies, self.spent, reserved, self.unconfirmed)

    @property
    def drawn(self) -> Drawn:
        """What it has drawn together with all meetings below it."""
        return self.own + self.below

    @property
    def envelope(self) -> Envelope:
        closing = Cost.read(cast("Mapping[str, Json]", self.plan["closing_reserve"]))
        return Envelope.of(self.meeting.limits, closing, self.drawn)

    def seconds(self, now: datetime) -> float:
        """How long it has been held; the time between an end and a resuming is no part of it."""
        if self.began_at is None:
            return 0.0
        until = self.ended_at or now
        return round(self.seconds_before + (until - self.began_at).total_seconds(), 3)

    def after(self, *new: Event) -> MeetingState:
        """Where the meeting stands once these have happened, in order."""
        folding = self.folding()
        for event in new:
            folding.take(event)
        return self.of(folding)

    def folding(self) -> Folding:
        """A copy of its fields for entries to change."""
        return Folding(asdict(self))

    @classmethod
    def of(cls, folding: Folding) -> Self:
        """The state that the fields have become."""
        return cls(**vars(folding))


def spent_record(state: MeetingState, now: datetime) -> dict[str, JsonValue]:
    """What the meeting and those below it have spent, in the contract's shape; the seconds are
    its own and run until its end. What is unconfirmed is a part of the sums before it."""
    drawn = state.drawn
    return {
        "replies": drawn.replies,
        "seconds": state.seconds(now),
        "usd": _dollars(drawn.spent.usd),
        "tokens": {"input": drawn.spent.input_tokens, "output": drawn.spent.output_tokens},
        "unconfirmed": {
            "requests": drawn.unconfirmed.requests,
            "usd": _dollars(drawn.unconfirmed.cost.usd),
            "tokens": drawn.unconfirmed.cost.tokens,
        },
    }


def _dollars(usd: Decimal | None) -> str | None:
    return None if usd is None else format(usd.normalize(), "f")


def settled(state: MeetingState) -> MeetingState:
    """The state as it is once its decision stands and nobody is waited for any more."""
    folding = state.folding()
    folding.settle()
    return MeetingState.of(folding)


def _known(cost: Cost) -> Cost:
    return cost if cost.usd is not None else replace(cost, usd=NOTHING.usd)


def fold(log: Iterable[Event]) -> MeetingState:
    """Where the meeting stands after its whole log, which begins with ``meeting.created``."""
    first, *rest = log
    return created(first).after(*rest)


def created(event: Event) -> MeetingState:
    content = cast("events.MeetingCreated", event.content)
    return MeetingState(
        meeting=content.meeting,
        plan=content.plan,
        warnings=content.warnings,
        agents=content.agents,
        created_at=event.at,
        motion=content.meeting.motion,
        last_seq=event.seq,
        last_number=event.number or 0,
    )
