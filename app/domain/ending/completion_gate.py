"""The completion gate (PROTOCOLS 10): when a synthesis may close, as a pure state machine.

What has happened goes in as a list, ``decide`` says what to do now. It goes through the signals
in the order of their times and stops at the first that settles the question, or at the deadline if
that fell due before the next one. So the answer depends on what happened when, and neither on how
often nor how late it is asked for: a gate that has closed stays closed, and closes only once.

    asked ── enough fresh completions ───────────────────────────> consensus_complete
      │ └─── all answered, a revision among them, too few ──┬─ 1st ─> revise, then asked again
      └───── deadline ─┬─ a revision asked for ─────────────┴─ 2nd ─> closed_incomplete
                       ├─ some completion ─────────────────────────> single_agent_complete
                       └─ none ────────────────────────────────────> closed_incomplete

The deadline is ``fallback_timeout`` after the first completion, or after the question while there
is none. Times are aware datetimes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby

import msgspec

from app.domain.errors import Fault
from app.domain.meeting.meeting import CompletionGate, Meeting
from app.domain.replies.messages import Code, Message
from app.domain.replies.quoting import NO_OBJECT, bounded_text, shown
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.text import folded, last_json_object
from app.domain.values import Json, JsonObject

SINGLE_WARNING = "single_agent_completion"
ATTEMPTS = 2
"""The first question, and one more after one revision."""


def gate_faults(meeting: Meeting) -> tuple[Fault, ...]:
    """What is wrong with a meeting's gate, whatever its format."""
    gate, seats = meeting.completion_gate, len(meeting.seats)
    if gate is None or gate.min_completions <= seats:
        return ()
    detail = f"{gate.min_completions} completions cannot come from {seats} participants."
    return (Fault("#/completion_gate/min_completions", detail),)


class SignalKind(StrEnum):
    COMPLETE = "complete"
    NEEDS_REVISION = "needs_revision"


class GateStatus(StrEnum):
    CONSENSUS = "consensus_complete"
    SINGLE = "single_agent_complete"
    INCOMPLETE = "closed_incomplete"


@dataclass(frozen=True, slots=True)
class Asked:
    """The closing question was put; every later one is about a revised synthesis."""

    participants: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Signal:
    participant: str
    kind: SignalKind
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Nudged:
    participants: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Closed:
    status: GateStatus
    at: datetime


GateHappening = Asked | Signal | Nudged | Closed


@dataclass(frozen=True, slots=True)
class GateState:
    """Where one gate stands: what belongs to its present attempt (from 1)."""

    settings: CompletionGate
    participants: tuple[str, ...] = ()
    asked_at: datetime | None = None
    attempt: int = 0
    signals: tuple[Signal, ...] = ()
    nudges: tuple[Nudged, ...] = ()
    closed: GateStatus | None = None

    def after(self, happening: GateHappening) -> GateState:
        """The state once this has happened; nothing moves a closed gate."""
        if self.closed is not None:
            return self
        match happening:
            case Asked(participants, at):
                return GateState(self.settings, participants, at, self.attempt + 1)
            case Signal(participant):
                if participant not in self.participants:
                    return self
                return replace(self, signals=(*self.signals, happening))
            case Nudged():
                return replace(self, nudges=(*self.nudges, happening))
            case Closed(status):
                return replace(self, closed=status)

    @classmethod
    def of(cls, settings: CompletionGate, happenings: Iterable[GateHappening]) -> GateState:
        state = cls(settings)
        for happening in happenings:
            state = state.after(happening)
        return state


@dataclass(frozen=True, slots=True)
class GateWait:
    """Nothing to do before ``until``, unless a signal comes; None: nothing will ever be due."""

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Nudge:
    participants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Close:
    """``completed_by`` are those whose completion stands, ``reasons`` what others still ask for."""

    status: GateStatus
    completed_by: tuple[str, ...]
    reasons: Mapping[str, str]
    due: datetime

    @property
    def warning(self) -> str | None:
        return SINGLE_WARNING if self.status is GateStatus.SINGLE else None


@dataclass(frozen=True, slots=True)
class Revise:
    """Revise once for these reasons, by participant, and ask again.

    ``completed_by`` are those for whom it is complete as it stands.
    """

    completed_by: tuple[str, ...]
    reasons: Mapping[str, str]
    due: datetime


GateAction = GateWait | Nudge | Close | Revise


def decide(state: GateState, now: datetime) -> GateAction:
    """What the gate does now; signals later than ``now`` are not known yet."""
    if state.closed is not None or state.asked_at is None:
        return GateWait(None)
    known = _in_order(signal for signal in state.signals if signal.at <= now)
    last: dict[str, Signal] = {}
    first_completion: datetime | None = None
    deadline = state.asked_at + timedelta(seconds=state.settings.fallback_timeout)
    # Signals of one instant are taken together, so that their order in the log decides nothing.
    for at, signals in groupby(known, key=lambda signal: signal.at):
        if deadline < at:
            break
        # A repeated signal takes the place of the earlier one: it counts once, at its new time.
        last |= {signal.participant: signal for signal in signals}
        if first_completion is None and _completed(last):
            first_completion = at
            deadline = at + timedelta(seconds=state.settings.fallback_timeout)
        settled = _settled(state, last, at)
        if settled is not None:
            return settled
    if deadline <= now:
        return _at_deadline(state, last, deadline)
    return _meanwhile(state, last, first_completion, deadline, now)


def wishes(state: GateState) -> dict[str, str]:
    """What is still asked for by those whose latest signal asks for a revision."""
    return _reasons({signal.participant: signal for signal in _in_order(state.signals)})


def _in_order(signals: Iterable[Signal]) -> list[Signal]:
    return sorted(signals, key=lambda signal: signal.at)


def _settled(state: GateState, last: Mapping[str, Signal], at: datetime) -> Close | Revise | None:
    """What a signal at this moment settles, if anything."""
    window = timedelta(seconds=state.settings.window_seconds)
    fresh = [s for s in last.values() if s.kind is SignalKind.COMPLETE and at - s.at <= window]
    if len(fresh) >= state.settings.min_completions:
        who = tuple(sorted(signal.participant for signal in fresh))
        return Close(GateStatus.CONSENSUS, who, _reasons(last), at)
    if len(last) == len(set(state.participants)) and _reasons(last):
        return _too_few(state, last, at)
    return None


def _too_few(state: GateState, last: Mapping[str, Signal], at: datetime) -> Close | Revise:
    """Somebody asks for a revision: it is made once, and after that the gate gives up."""
    if state.attempt < ATTEMPTS:
        return Revise(_completed(last), _reasons(last), at)
    return Close(GateStatus.INCOMPLETE, _completed(last), _reasons(last), at)


def _at_deadline(state: GateState, last: Mapping[str, Signal], at: datetime) -> Close | Revise:
    if _reasons(last):
        return _too_few(state, last, at)
    # A completion that has left the window still was one: "still too few" is not "none".
    completed = _completed(last)
    return Close(GateStatus.SINGLE if completed else GateStatus.INCOMPLETE, completed, {}, at)


def _meanwhile(
    state: GateState,
    last: Mapping[str, Signal],
    first_completion: datetime | None,
    deadline: datetime,
    now: datetime,
) -> GateWait | Nudge:
    due = _nudges_due(state, last, first_completion)
    open_ = {name: at for name, at in due.items() if not _nudged_since(state, name, at)}
    ready = tuple(
        name for name in dict.fromkeys(state.participants) if open_.get(name, deadline) <= now
    )
    if ready:
        return Nudge(ready)
    return GateWait(min((deadline, *open_.values())))


def _nudges_due(
    state: GateState, last: Mapping[str, Signal], first_completion: datetime | None
) -> dict[str, datetime]:
    """When each participant is to be nudged: the silent, and those whose completion expires."""
    due: dict[str, datetime] = {}
    for name in state.participants:
        signal = last.get(name)
        if signal is not None and signal.kind is SignalKind.COMPLETE:
            due[name] = signal.at + timedelta(seconds=state.settings.window_seconds)
        elif signal is None and first_completion is not None:
            wait = timedelta(seconds=state.settings.nudge_after_seconds)
            due[name] = first_completion + wait
    return due


def _nudged_since(state: GateState, name: str, at: datetime) -> bool:
    return any(name in nudge.participants and nudge.at >= at for nudge in state.nudges)


def _completed(last: Mapping[str, Signal]) -> tuple[str, ...]:
    complete = (s.participant for s in last.values() if s.kind is SignalKind.COMPLETE)
    return tuple(sorted(complete))


def _reasons(last: Mapping[str, Signal]) -> dict[str, str]:
    """What is still asked for, by who asks for it."""
    wanting = (s for s in last.values() if s.kind is SignalKind.NEEDS_REVISION)
    return {signal.participant: signal.reason for signal in sorted(wanting, key=_by_name)}


def _by_name(signal: Signal) -> str:
    return signal.participant


class CompletionRead(msgspec.Struct, frozen=True):
    """What was read from an answer to the closing question; None where it says neither."""

    completion: str | None = None
    completion_reason: str = ""


def completion_in(read: JsonObject) -> CompletionRead:
    return msgspec.convert(read, CompletionRead)


@dataclass(frozen=True, slots=True)
class CompletionReading:
    """Reads an answer to the closing question; a wish for revision needs its reason."""

    def read(self, text: str) -> Read:
        blank = self.absent(ReplyStatus.INVALID)
        answer = last_json_object(text)
        if answer is None:
            return Read(blank, NO_OBJECT)
        said, reason = answer.get("completion"), bounded_text(answer.get("reason"))
        kind = next((k for k in SignalKind if isinstance(said, str) and folded(said) == k), None)
        if kind is None:
            return Read(blank, Message.of(Code.COMPLETION_UNKNOWN, value=shown(said)))
        if kind is SignalKind.NEEDS_REVISION and not reason:
            return Read(blank, Message.of(Code.REVISION_UNEXPLAINED))
        return Read({"completion": kind.value, "completion_reason": reason})

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"completion": None, "completion_reason": ""}
