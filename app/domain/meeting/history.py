"""What happened in a meeting, round by round: its state, and what was said on the way to it.

Everything that records show is read from here, and whatever the meeting resource shows too is the
state's. A meeting that still runs has a history too: its last round is simply open and there is no
decision yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from msgspec import UNSET

from app.domain.meeting import events
from app.domain.meeting.earlier_legs import EarlierLeg
from app.domain.meeting.entries import Content, Event
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import Outcome
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.meeting.state import MeetingState, created, spent_record
from app.domain.meeting.status import Status
from app.domain.values import Json, JsonObject, rfc3339


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event that belongs to no one round: what it was, what it said, when, and in which leg."""

    type: str
    content: Content
    at: datetime
    leg: int

    @property
    def data(self) -> Mapping[str, Json]:
        return self.content.record()

    def record(self) -> dict[str, Json]:
        return {"type": self.type, **self.data, "at": rfc3339(self.at)}


@dataclass(frozen=True, slots=True)
class History:
    """A whole meeting as far as it has come.

    ``state`` is where it stood at its decision, or stands; the events that follow the decision (the
    minutes' file, the end) change nothing here, so that the minutes written before them and those
    asked for after them are the same to the byte.

    Of a meeting that was resumed the decision is that of the present leg, and there is none while
    that runs; ``earlier_legs`` tell what stood before. ``leg`` is the present one.
    """

    state: MeetingState
    last_at: datetime
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
    arbitration: tuple[Recorded, ...]
    drafted: Mapping[str, Json] | None
    """The present leg's latest synthesis, which only the record of the decision makes public."""
    late: tuple[ReplyGiven, ...]
    """Replies that came after a cancel: kept, and never counted (PROTOCOLS 12)."""
    decided: events.DecisionRecorded | None
    decision: Mapping[str, Json] | None
    """The outcome with all that was found beside it, side by side."""

    @property
    def meeting(self) -> Meeting:
        return self.state.meeting

    @property
    def warnings(self) -> Sequence[str]:
        return self.state.warnings

    @property
    def agents(self) -> Mapping[str, JsonObject]:
        return self.state.agents

    @property
    def created_at(self) -> datetime:
        return self.state.created_at

    @property
    def started_at(self) -> datetime | None:
        return self.state.started_at

    @property
    def ended_at(self) -> datetime | None:
        return self.state.ended_at

    @property
    def operations(self) -> tuple[Mapping[str, Json], ...]:
        """Saves elsewhere, each as it stands now: what is found out after the end counts too."""
        return tuple(operation.record() for operation in self.state.operations.values())

    @property
    def cancellation(self) -> Mapping[str, Json] | None:
        cancellation = self.state.cancellation
        return None if cancellation is None else cancellation.record()

    @property
    def ended(self) -> bool:
        return self.decided is not None

    @property
    def objections_now(self) -> tuple[Recorded, ...]:
        """How each objection stands now, in the order in which they were first raised: what was
        told of it last."""
        return tuple({each.data["id"]: each for each in self.objections}.values())

    @property
    def outcome(self) -> Outcome | None:
        """How the meeting ended; None before the decision."""
        return None if self.decided is None else self.decided.outcome

    @property
    def findings(self) -> Mapping[str, Json]:
        """What the format found beside the result; nothing before the decision."""
        return {} if self.decided is None else self.decided.outcome.findings

    @property
    def numbers(self) -> Mapping[str, Json]:
        """The format's own object with the numbers; nothing before the decision."""
        return {} if self.decided is None else self.decided.outcome.numbers

    @property
    def status(self) -> str:
        """The meeting's status in the words of the HTTP contract."""
        return (Status.ENDED if self.ended else self.state.status).value

    @property
    def spent(self) -> Mapping[str, Json]:
        """Replies, seconds, US dollars (None: unknown), tokens, and what of it nobody confirmed; so
        far, if it still runs."""
        if self.decided is not None:
            return self.decided.spent
        return spent_record(self.state, self.last_at)

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
        configured = cast("str | None", self.agents.get(agent, {}).get("model"))
        return tuple(answered) or ((configured,) if configured else ())


def side_by_side(decided: events.DecisionRecorded) -> dict[str, Json]:
    """A decision's outcome with all that was found beside it in one object."""
    outcome = decided.outcome
    return {
        **outcome.record(),
        **outcome.findings,
        "ruling": None if outcome.ruling is None else outcome.ruling.record(),
        "completion": outcome.completion,
        "numbers_name": outcome.numbers_name,
        "degradation": [part.record() for part in outcome.degradation],
        "spent": decided.spent,
        "open_below": list(decided.open_below),
    }


def numbers_of(decision: Mapping[str, Json]) -> tuple[str, Mapping[str, Json]]:
    """The format's own object with the numbers in what stands side by side, and its name."""
    name: str = decision["numbers_name"]
    return name, decision[name]


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
    started: events.RoundStarted | None = None
    started_at: datetime | None = None
    closed: events.RoundClosed | None = None
    closed_at: datetime | None = None
    summary: events.SummaryUpdated | None = None
    replies: dict[str, ReplyGiven] = field(default_factory=dict[str, ReplyGiven])
    tallies: list[Mapping[str, Json]] = field(default_factory=list[Mapping[str, Json]])

    def finished(self, order: Mapping[str, int]) -> RoundHeld:
        # Replies of a round come in any order; a reader wants the order of the seats.
        replies = sorted(
            self.replies.values(),
            key=lambda reply: (order.get(reply.participant, 0), reply.attempt),
        )
        motion = UNSET if self.started is None else self.started.motion
        letters = UNSET if self.started is None else self.started.letters
        return RoundHeld(
            self.number,
            None if motion is UNSET else motion,
            self.started_at,
            self.closed_at,
            tuple(replies),
            None if self.closed is None else self.closed.record(),
            None if self.summary is None else self.summary.record(),
            tuple(self.tallies),
            None if letters is UNSET else letters,
        )


class _Draft:
    """A history in the making; ``take`` is called with each event in turn."""

    def __init__(self, first: Event) -> None:
        self.folding = created(first).folding()
        self.last_at = first.at
        self.leg = 0
        self.earlier_legs: list[EarlierLeg] = []
        self.rounds: dict[int, _RoundDraft] = {}
        self.confirmations: list[ReplyGiven] = []
        self.kept: dict[str, list[Recorded]] = {}
        self.late: list[ReplyGiven] = []
        self.decided: events.DecisionRecorded | None = None
        self.drafted: Mapping[str, Json] | None = None

    def take(self, event: Event) -> None:
        content = event.content
        if self.decided is not None and not isinstance(content, _AFTER_THE_DECISION):
            # The minutes' file and the end follow it, and a cancel may come too late.
            return
        take = _TAKES.get(type(content))
        if take is not None:
            take(self, event, content)
        elif event.type.startswith(_LISTED):
            self._keep(event)
        self.folding.take(event)
        self.last_at = event.at

    def _keep(self, event: Event) -> None:
        family = event.type.partition(".")[0]
        recorded = Recorded(event.type, event.content, event.at, self.leg)
        self.kept.setdefault(family, []).append(recorded)

    def round(self, number: int) -> _RoundDraft:
        return self.rounds.setdefault(number, _RoundDraft(number))

    def start_round(self, event: Event, started: events.RoundStarted) -> None:
        round_ = self.round(started.round)
        round_.started, round_.started_at = started, event.at

    def reply(self, event: Event, reply: events.ReplyReceived) -> None:
        given = ReplyGiven.of(reply, event.at)
        if reply.late:
            self.late.append(given)
        elif "completion" in reply.read:
            # An answer to the closing question comes after a round and is none of it; what it says
            # is told by an event of its own.
            self.confirmations.append(given)
        else:
            # A reply that a limit had kept out is asked for again after a resuming, and replaced.
            self.round(reply.round).replies[event.step or str(event.seq)] = given

    def office_reply(self, _event: Event, reply: events.OfficeReplied) -> None:
        if not reply.late:
            drafted = cast("Mapping[str, Json] | None", reply.read.get("synthesis"))
            self.drafted = drafted or self.drafted

    def close_round(self, event: Event, closed: events.RoundClosed) -> None:
        round_ = self.round(closed.round)
        round_.closed, round_.closed_at = closed, event.at

    def sum_up(self, _event: Event, summed: events.SummaryUpdated) -> None:
        self.round(summed.round).summary = summed

    def tally(self, _event: Event, computed: events.TallyComputed) -> None:
        self.round(computed.round).tallies.append(computed.record())

    def decide(self, _event: Event, decided: events.DecisionRecorded) -> None:
        self.decided = decided

    def resume(self, event: Event, told: events.MeetingResumed) -> None:
        before = self.folding
        if self.decided is not None and before.ended_at is not None:
            self.earlier_legs.append(
                EarlierLeg(
                    told,
                    event.at,
                    before.meeting,
                    self.decided,
                    before.ended_at,
                    before.cancellation,
                )
            )
        self.leg += 1
        # The closing belongs to an end: whatever a leg puts to anybody, it has drafted itself.
        self.decided = self.drafted = None
        self.kept.pop("budget", None)

    def finished(self) -> History:
        state = MeetingState.of(self.folding)
        order = {seat.name: index for index, seat in enumerate(state.meeting.seats)}
        return History(
            state=state,
            last_at=self.last_at,
            leg=self.leg,
            earlier_legs=tuple(self.earlier_legs),
            rounds=tuple(self.rounds[number].finished(order) for number in sorted(self.rounds)),
            stalls=self._kept("progress"),
            objections=self._kept("objection"),
            completions=self._kept("completion"),
            confirmations=tuple(self.confirmations),
            exhausted=self._kept("budget"),
            arbitration=self._kept("arbitration"),
            drafted=self.drafted,
            late=tuple(self.late),
            decided=self.decided,
            decision=None if self.decided is None else side_by_side(self.decided),
        )

    def _kept(self, family: str) -> tuple[Recorded, ...]:
        return tuple(self.kept.get(family, ()))


_TAKES: Mapping[type[Content], Callable[[_Draft, Event, Any], None]] = {
    events.RoundStarted: _Draft.start_round,
    events.ReplyReceived: _Draft.reply,
    events.OfficeReplied: _Draft.office_reply,
    events.RoundClosed: _Draft.close_round,
    events.SummaryUpdated: _Draft.sum_up,
    events.TallyComputed: _Draft.tally,
    events.DecisionRecorded: _Draft.decide,
    events.MeetingResumed: _Draft.resume,
}

_AFTER_THE_DECISION = (events.MeetingResumed, events.OperationTold, events.OperationNoted)
_LISTED = ("progress.", "objection.", "completion.", "budget.", "arbitration.")
