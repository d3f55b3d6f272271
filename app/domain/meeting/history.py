"""What happened in a meeting, round by round, folded from its events.

Everything that records show is read from here. A meeting that still runs has a history too: its
last round is simply open and there is no decision yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.domain.meeting import events
from app.domain.meeting.cancellation import may_be_paid
from app.domain.meeting.earlier_legs import EarlierLeg
from app.domain.meeting.events import Event
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.resumption import resumed
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.meeting.state import asked_in
from app.domain.money import NOTHING, Cost
from app.domain.values import Json, rfc3339


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event that belongs to no one round: what it was, what it said, when, and in which leg."""

    type: str
    data: Mapping[str, Json]
    at: datetime
    leg: int

    def record(self) -> dict[str, Json]:
        return {"type": self.type, **self.data, "at": rfc3339(self.at)}


@dataclass(frozen=True, slots=True)
class History:
    """A whole meeting as far as it has come.

    ``decision`` is the data of ``decision.recorded`` and ``ended_at`` its time. The events that
    follow it (the minutes' file, the end) change nothing here, so that the minutes written
    before them and those asked for after them are the same to the byte.

    Of a meeting that was resumed the decision is that of the present leg (see ``legs``), and there
    is none while that runs; ``earlier_legs`` tell what stood before, and ``meeting`` is as it goes
    on. ``leg`` is the present one, ``began_at`` when it began, and ``seconds_before`` what the
    earlier ones took.
    """

    meeting: Meeting
    warnings: Sequence[str]
    agents: Mapping[str, Mapping[str, Json]]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    last_at: datetime
    began_at: datetime | None
    seconds_before: float
    leg: int
    earlier_legs: tuple[EarlierLeg, ...]
    rounds: tuple[RoundHeld, ...]
    stalls: tuple[Recorded, ...]
    objections: tuple[Recorded, ...]
    completions: tuple[Recorded, ...]
    confirmations: tuple[ReplyGiven, ...]
    """Answers to the closing question as they came (PROTOCOLS 10)."""
    exhausted: tuple[Recorded, ...]
    """The budget's ends in the present leg; what ran out before has ended it once."""
    operations: tuple[Mapping[str, Json], ...]
    """Saves elsewhere, each as it stands now: what is found out after the end counts too."""
    arbitration: tuple[Recorded, ...]
    drafted: Mapping[str, Json] | None
    """The present leg's latest synthesis, which only the record of the decision makes public."""
    cancellation: Mapping[str, Json] | None
    late: tuple[ReplyGiven, ...]
    """Replies that came after a cancel: kept, and never counted (PROTOCOLS 12)."""
    decision: Mapping[str, Json] | None
    replies: int
    cost: Cost

    @property
    def ended(self) -> bool:
        return self.decision is not None

    @property
    def findings(self) -> Mapping[str, Json]:
        """What the format found beside the result; nothing before the decision."""
        return self.decision or {}

    @property
    def numbers(self) -> Mapping[str, Json]:
        """The format's own object with the numbers; nothing before the decision."""
        return {} if self.decision is None else self.decision[self.decision["numbers_name"]]

    @property
    def status(self) -> str:
        """The meeting's status in the words of the HTTP contract."""
        if self.ended:
            return "ended"
        if self.cancellation is not None:
            return "cancelling"
        asked = self.of_this_leg(self.arbitration)
        if asked and asked[-1].type == events.ARBITRATION_OPENED:
            return "awaiting_ruling"
        return "scheduled" if self.started_at is None else "running"

    @property
    def spent(self) -> Mapping[str, Json]:
        """Replies, seconds, US dollars (None: unknown) and tokens; so far, if it still runs."""
        if self.decision is not None:
            return self.decision["spent"]
        present = self.last_at - (self.began_at or self.last_at)
        return {
            "replies": self.replies,
            "seconds": round(self.seconds_before + present.total_seconds(), 3),
            "usd": self.cost.record()["usd"],
            "tokens": {"input": self.cost.input_tokens, "output": self.cost.output_tokens},
        }

    def of_this_leg(self, told: Iterable[Recorded]) -> list[Recorded]:
        """Those that belong to the present leg."""
        return [each for each in told if each.leg == self.leg]

    def models_of(self, participant: str, agent: str) -> tuple[str, ...]:
        """The models that answered for a participant, or the one that is set to."""
        answered = {
            reply.model: None
            for round_ in self.rounds
            for reply in round_.replies
            if reply.participant == participant and reply.model
        }
        configured = self.agents.get(agent, {}).get("model")
        return tuple(answered) or ((configured,) if configured else ())


def history(log: Iterable[Event]) -> History:
    """Fold a meeting's events, which begin with ``meeting.created``."""
    entries = iter(log)
    draft = _Draft(next(entries))
    for event in entries:
        draft.take(event)
    return draft.finished()


def rounds_record(log: Iterable[Event]) -> list[dict[str, Json]]:
    """The rounds so far, as ``GET /v1/meetings/{id}/rounds`` shows them."""
    return [round_.record() for round_ in history(log).rounds]


@dataclass(slots=True)
class _RoundDraft:
    number: int
    motion: str | None = None
    started_at: datetime | None = None
    closed_at: datetime | None = None
    replies: dict[str, ReplyGiven] = field(default_factory=dict[str, ReplyGiven])
    closed: Mapping[str, Json] | None = None
    summary: Mapping[str, Json] | None = None
    tallies: list[Mapping[str, Json]] = field(default_factory=list[Mapping[str, Json]])
    letters: Mapping[str, Mapping[str, str]] | None = None

    def finished(self, order: Mapping[str, int]) -> RoundHeld:
        # Replies of a round come in any order; a reader wants the order of the seats.
        replies = sorted(
            self.replies.values(),
            key=lambda reply: (order.get(reply.participant, 0), reply.attempt),
        )
        return RoundHeld(
            self.number,
            self.motion,
            self.started_at,
            self.closed_at,
            tuple(replies),
            self.closed,
            self.summary,
            tuple(self.tallies),
            self.letters,
        )


class _Draft:
    """A history in the making; ``take`` is called with each event in turn."""

    def __init__(self, created: Event) -> None:
        self.meeting = Meeting.read(created.data)
        self.created = created
        self.started_at: datetime | None = None
        self.ended_at: datetime | None = None
        self.last_at = created.at
        self.began_at: datetime | None = None
        self.seconds_before = 0.0
        self.leg = 0
        self.earlier_legs: list[EarlierLeg] = []
        self.rounds: dict[int, _RoundDraft] = {}
        self.confirmations: list[ReplyGiven] = []
        self.kept: dict[str, list[Recorded]] = {}
        self.operations: dict[str, Mapping[str, Json]] = {}
        self.cancellation: Mapping[str, Json] | None = None
        self.late: list[ReplyGiven] = []
        self.decision: Mapping[str, Json] | None = None
        self.replies = 0
        self.cost: Cost = NOTHING
        self.reserved: dict[str, Mapping[str, Json]] = {}
        self.drafted: Mapping[str, Json] | None = None

    def take(self, event: Event) -> None:
        if self.decision is not None and not event.type.startswith(_AFTER_THE_DECISION):
            # The minutes' file and the end follow it, and a cancel may come too late.
            return
        take = _TAKES.get(event.type)
        if take is not None:
            take(self, event)
        elif event.type.startswith(_LISTED):
            self._keep(event)
        self.last_at = event.at

    def _keep(self, event: Event) -> None:
        family = event.type.partition(".")[0]
        told = Recorded(event.type, event.data, event.at, self.leg)
        self.kept.setdefault(family, []).append(told)

    def round(self, event: Event) -> _RoundDraft:
        number: int = event.data.get("round") or 1
        return self.rounds.setdefault(number, _RoundDraft(number))

    def start(self, event: Event) -> None:
        self.started_at = self.began_at = event.at

    def start_round(self, event: Event) -> None:
        round_ = self.round(event)
        round_.motion = event.data.get("motion")
        round_.started_at = event.at
        round_.letters = event.data.get("letters")

    def reply(self, event: Event) -> None:
        self.pay(event)
        if event.data.get("late"):
            self.late.append(ReplyGiven.of(event))
            return
        self.replies += 1
        if "completion" not in event.data:
            # A reply that a limit had kept out is asked for again after a resuming, and replaced.
            self.round(event).replies[event.step or str(event.seq)] = ReplyGiven.of(event)
            return
        # An answer to the closing question comes after a round and is none of it; what it says
        # is told by an event of its own.
        self.confirmations.append(ReplyGiven.of(event))

    def reserve(self, event: Event) -> None:
        self.reserved[event.data["for"]] = event.data

    def office_reply(self, event: Event) -> None:
        self.pay(event)
        if not event.data.get("late"):
            self.drafted = event.data.get("synthesis") or self.drafted

    def pay(self, event: Event) -> None:
        self.reserved.pop(asked_in(event), None)
        usage = event.data.get("usage") or event.data.get("booked")
        if usage is not None:
            self.cost += Cost.read(usage)

    def close_round(self, event: Event) -> None:
        round_ = self.round(event)
        round_.closed = event.data
        round_.closed_at = event.at

    def summary(self, event: Event) -> None:
        self.round(event).summary = event.data

    def tally(self, event: Event) -> None:
        self.round(event).tallies.append(event.data)

    def cancel(self, event: Event) -> None:
        self.cancellation = {
            "requested_at": rfc3339(event.at),
            "reason": event.data.get("reason"),
            "state": "requested",
            "items": [],
        }

    def close_cancel(self, event: Event) -> None:
        self.cancellation = {**(self.cancellation or {}), **event.data}

    def operate(self, event: Event) -> None:
        operation = event.data["operation"]
        self.operations[operation["id"]] = operation

    def decide(self, event: Event) -> None:
        self.decision = event.data
        self.ended_at = event.at
        if self.meeting.limits.bounded:
            self.cost += may_be_paid(self.reserved, self.cancellation)
        self.reserved.clear()

    def resume(self, event: Event) -> None:
        if self.decision is not None and self.ended_at is not None:
            self.earlier_legs.append(
                EarlierLeg.of(event, self.meeting, self.decision, self.ended_at, self.cancellation)
            )
            if self.began_at is not None:
                self.seconds_before += (self.ended_at - self.began_at).total_seconds()
        self.meeting = resumed(self.meeting, event.data)
        self.started_at = self.started_at or event.at
        self.began_at = event.at
        self.leg += 1
        # The closing belongs to an end: whatever a leg puts to anybody, it has drafted itself.
        self.decision = self.ended_at = self.cancellation = self.drafted = None
        self.kept.pop("budget", None)

    def finished(self) -> History:
        order = {seat.name: index for index, seat in enumerate(self.meeting.seats)}
        return History(
            meeting=self.meeting,
            warnings=self.created.data["warnings"],
            agents=self.created.data["agents"],
            created_at=self.created.at,
            started_at=self.started_at,
            ended_at=self.ended_at,
            last_at=self.last_at,
            began_at=self.began_at,
            seconds_before=self.seconds_before,
            leg=self.leg,
            earlier_legs=tuple(self.earlier_legs),
            rounds=tuple(self.rounds[number].finished(order) for number in sorted(self.rounds)),
            stalls=self._kept("progress"),
            objections=self._kept("objection"),
            completions=self._kept("completion"),
            confirmations=tuple(self.confirmations),
            exhausted=self._kept("budget"),
            operations=tuple(self.operations.values()),
            arbitration=self._kept("arbitration"),
            drafted=self.drafted,
            cancellation=self.cancellation,
            late=tuple(self.late),
            decision=self.decision,
            replies=self.replies,
            cost=self.cost,
        )

    def _kept(self, family: str) -> tuple[Recorded, ...]:
        return tuple(self.kept.get(family, ()))


_TAKES: Mapping[str, Callable[[_Draft, Event], None]] = {
    events.MEETING_STARTED: _Draft.start,
    events.ROUND_STARTED: _Draft.start_round,
    events.REQUEST_RESERVED: _Draft.reserve,
    events.REPLY_RECEIVED: _Draft.reply,
    events.OFFICE_REPLIED: _Draft.office_reply,
    events.ROUND_CLOSED: _Draft.close_round,
    events.SUMMARY_UPDATED: _Draft.summary,
    events.TALLY_COMPUTED: _Draft.tally,
    events.CANCELLATION_REQUESTED: _Draft.cancel,
    events.CANCELLATION_CLOSED: _Draft.close_cancel,
    events.DECISION_RECORDED: _Draft.decide,
    events.OPERATION_HAPPENED: _Draft.operate,
    events.OPERATION_RECONCILED: _Draft.operate,
    events.MEETING_RESUMED: _Draft.resume,
}

_AFTER_THE_DECISION = (events.MEETING_RESUMED, "operation.")
_LISTED = ("progress.", "objection.", "completion.", "budget.", "arbitration.")
