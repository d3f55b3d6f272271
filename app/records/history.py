"""What happened in a meeting, round by round, folded from its events.

Everything that records show is read from here. A meeting that still runs has a history too: its
last round is simply open and there is no decision yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.domain import events
from app.domain.envelope import NOTHING, Cost
from app.domain.events import Event, rfc3339
from app.domain.meeting import Json, Meeting
from app.records.rounds import ReplyGiven, RoundHeld

_MEETING_RESUMED = "meeting.resumed"


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event that belongs to no one round: what it was, what it said and when."""

    type: str
    data: Mapping[str, Json]
    at: datetime

    def record(self) -> dict[str, Json]:
        return {"type": self.type, **self.data, "at": rfc3339(self.at)}


@dataclass(frozen=True, slots=True)
class History:
    """A whole meeting as far as it has come.

    ``decision`` is the data of ``decision.recorded`` and ``ended_at`` its time. The events that
    follow it (the minutes' file, the end) change nothing here, so that the minutes written
    before them and those asked for after them are the same to the byte.
    """

    meeting: Meeting
    warnings: Sequence[str]
    agents: Mapping[str, Mapping[str, Json]]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    last_at: datetime
    rounds: tuple[RoundHeld, ...]
    stalls: tuple[Recorded, ...]
    objections: tuple[Recorded, ...]
    completions: tuple[Recorded, ...]
    confirmations: tuple[ReplyGiven, ...]
    """Answers to the closing question as they came (PROTOCOLS 10)."""
    exhausted: tuple[Recorded, ...]
    operations: tuple[Recorded, ...]
    arbitration: tuple[Recorded, ...]
    drafted: Mapping[str, Json] | None
    """The latest synthesis, which only the record of the decision makes public."""
    cancellation: Mapping[str, Json] | None
    decision: Mapping[str, Json] | None
    replies: int
    cost: Cost

    @property
    def ended(self) -> bool:
        return self.decision is not None

    @property
    def status(self) -> str:
        """The meeting's status in the words of the HTTP contract."""
        if self.ended:
            return "ended"
        if self.cancellation is not None:
            return "cancelling"
        if self.arbitration and self.arbitration[-1].type == events.ARBITRATION_OPENED:
            return "awaiting_ruling"
        return "scheduled" if self.started_at is None else "running"

    @property
    def spent(self) -> Mapping[str, Json]:
        """Replies, seconds, US dollars (None: unknown) and tokens; so far, if it still runs."""
        if self.decision is not None:
            return self.decision["spent"]
        begun = self.started_at or self.last_at
        return {
            "replies": self.replies,
            "seconds": round((self.last_at - begun).total_seconds(), 3),
            "usd": self.cost.record()["usd"],
            "tokens": {"input": self.cost.input_tokens, "output": self.cost.output_tokens},
        }

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
    replies: list[ReplyGiven] = field(default_factory=list[ReplyGiven])
    closed: Mapping[str, Json] | None = None
    summary: Mapping[str, Json] | None = None
    tallies: list[Mapping[str, Json]] = field(default_factory=list[Mapping[str, Json]])
    letters: Mapping[str, Mapping[str, str]] | None = None

    def finished(self, order: Mapping[str, int]) -> RoundHeld:
        # Replies of a round come in any order; a reader wants the order of the seats.
        self.replies.sort(key=lambda reply: (order.get(reply.participant, 0), reply.attempt))
        return RoundHeld(
            self.number,
            self.motion,
            self.started_at,
            self.closed_at,
            tuple(self.replies),
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
        self.rounds: dict[int, _RoundDraft] = {}
        self.confirmations: list[ReplyGiven] = []
        self.kept: dict[str, list[Recorded]] = {}
        self.cancellation: Mapping[str, Json] | None = None
        self.decision: Mapping[str, Json] | None = None
        self.replies = 0
        self.cost: Cost = NOTHING
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
        self.kept.setdefault(family, []).append(Recorded(event.type, event.data, event.at))

    def round(self, event: Event) -> _RoundDraft:
        number: int = event.data.get("round") or 1
        return self.rounds.setdefault(number, _RoundDraft(number))

    def start(self, event: Event) -> None:
        self.started_at = event.at

    def start_round(self, event: Event) -> None:
        round_ = self.round(event)
        round_.motion = event.data.get("motion")
        round_.started_at = event.at
        round_.letters = event.data.get("letters")

    def reply(self, event: Event) -> None:
        self.replies += 1
        self.pay(event)
        if "completion" not in event.data:
            self.round(event).replies.append(ReplyGiven.of(event))
            return
        # An answer to the closing question comes after a round and is none of it; what it says
        # is told by an event of its own.
        self.confirmations.append(ReplyGiven.of(event))

    def office_reply(self, event: Event) -> None:
        self.drafted = event.data.get("synthesis") or self.drafted
        self.pay(event)

    def pay(self, event: Event) -> None:
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

    def decide(self, event: Event) -> None:
        self.decision = event.data
        self.ended_at = event.at

    def resume(self, event: Event) -> None:
        self.decision = None
        self.ended_at = None
        self.cancellation = None
        self._keep(event)

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
            rounds=tuple(self.rounds[number].finished(order) for number in sorted(self.rounds)),
            stalls=self._kept("progress"),
            objections=self._kept("objection"),
            completions=self._kept("completion"),
            confirmations=tuple(self.confirmations),
            exhausted=self._kept("budget"),
            operations=self._kept("operation"),
            arbitration=self._kept("arbitration"),
            drafted=self.drafted,
            cancellation=self.cancellation,
            decision=self.decision,
            replies=self.replies,
            cost=self.cost,
        )

    def _kept(self, family: str) -> tuple[Recorded, ...]:
        return tuple(self.kept.get(family, ()))


_TAKES: Mapping[str, Callable[[_Draft, Event], None]] = {
    events.MEETING_STARTED: _Draft.start,
    events.ROUND_STARTED: _Draft.start_round,
    events.REPLY_RECEIVED: _Draft.reply,
    events.OFFICE_REPLIED: _Draft.office_reply,
    events.ROUND_CLOSED: _Draft.close_round,
    events.SUMMARY_UPDATED: _Draft.summary,
    events.TALLY_COMPUTED: _Draft.tally,
    events.CANCELLATION_REQUESTED: _Draft.cancel,
    events.CANCELLATION_CLOSED: _Draft.close_cancel,
    events.DECISION_RECORDED: _Draft.decide,
    _MEETING_RESUMED: _Draft.resume,
}

_AFTER_THE_DECISION = (_MEETING_RESUMED, "operation.")
_LISTED = ("progress.", "objection.", "completion.", "budget.", "operation.", "arbitration.")
