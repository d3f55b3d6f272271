"""Saving a deliverable elsewhere (PROTOCOLS 13), as a pure state machine.

What has happened goes in, in order; what to do now, ``operation_deciding`` says. Writing, looking
and waiting are done by others.

    requested ── write ─┬─ refused for good ───────────────────> failed
        ^               ├─ surely not stored: write again; at the deadline ─> failed
        │               └─ anything else: look ─┬─ the same is there ─────> confirmed
        │                                       ├─ it went against us ────> failed
        └─ nothing there, the answer was lost ──┤
                                                └─ unknown ── deadline ───> handed_over: look …

- **A write whose fate is open is followed by a look before any other write.** Open is the fate of
  one without an answer, or with an answer that does not say (5xx, 202). A write in the log without
  an answer is open too (a crash), so ``decide`` is for those who have nothing under way.
- **An open write may still land** until ``LANDING_SECONDS`` after it was sent. Until then neither
  "nothing there" nor "something else is there" is held against it. Once no write of ours can land
  any more, "something else is there" is ``failed``: what nobody expected is not overwritten.
- **What is read after an acknowledged write may be stale** (a cache, a copy). Within the same time
  "nothing there" is not held against it, and "something else is there" only once the check
  deadline has come and the same thing was seen twice. An answer that itself says that something
  is in the way needs one look.
- **A write after an open one goes only where nothing is** (``only_if_absent``), so it replaces
  nobody's work. The first one replaces what is there: the caller named the place.
- **A write that was acknowledged is not repeated**, though a look may not find it at first.
- At the check deadline, counted from the first write, it is looked at once more and handed over.
  From then on there are only looks, at growing intervals and whenever somebody asks for one. A
  look that was asked for moves no schedule; after the last scheduled one it stays the owner's.
- Confirmed and failed are ends: nothing moves them but one case.
- **Two saves of one meeting at one place** (it was resumed between them): only the content that was
  found there last is there. Where the earlier one is found after the later was confirmed, it has
  landed over it: the later one is handed over, since nobody may write any more, and looked at
  again. So a confirmation is not final while an earlier save there is open. In turn, one that was
  confirmed and then replaced by a later one stays confirmed and says so.

Times are aware datetimes; pauses and limits are seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from app.domain.operation.terms import (
    Checked,
    Fate,
    Finding,
    GivenUp,
    HandedOver,
    Look,
    Operation,
    OperationHappening,
    OperationStatus,
    Replaced,
    Sent,
    WriteAnswer,
    Written,
)
from app.domain.values import rfc3339

LANDING_SECONDS = 300.0
MOST_WRITES = 6
MOST_LATE_LOOKS = 14
"""After the hand-over; together they span about a week."""

_FIRST_LATE_PAUSE, _LONGEST_LATE_PAUSE = LANDING_SECONDS, 86_400.0
_ELSE_THERE = "Something else is there."
_NOT_THERE = "It was not found there."


@dataclass(frozen=True, slots=True)
class OperationState:
    """Where an operation stands. ``answer`` and ``checked`` are those since the last write,
    ``checks`` the scheduled looks since then or since the hand-over; ``doubted`` is when the latest
    earlier write was sent whose fate is open. ``writes`` counts those that were tried, ``kept_in``
    those of them that never left. ``there_instead`` is the operation of the same meeting whose
    content was found there."""

    operation: Operation
    status: OperationStatus = OperationStatus.REQUESTED
    writes: int = 0
    kept_in: int = 0
    first_sent: datetime | None = None
    last_sent: datetime | None = None
    answer: Written | None = None
    doubted: datetime | None = None
    checked: Checked | None = None
    checks: int = 0
    version: str | None = None
    reason: str = ""
    next_check: datetime | None = None
    there_instead: str | None = None

    @classmethod
    def of(
        cls, operation: Operation, happenings: Iterable[OperationHappening] = ()
    ) -> OperationState:
        state = cls(operation)
        for happening in happenings:
            state = state.after(happening)
        return state

    @property
    def ended(self) -> bool:
        return self.status in (OperationStatus.CONFIRMED, OperationStatus.FAILED)

    @property
    def fate(self) -> Fate | None:
        return self.answer.answer.fate if self.answer else None

    @property
    def open_since(self) -> datetime | None:
        """When the latest write was sent whose fate is open."""
        return self.last_sent if self.fate is None or self.fate.open else self.doubted

    @property
    def deadline(self) -> datetime | None:
        """When it is handed over; None before the first write."""
        seconds = self.operation.check_deadline_seconds
        return self.first_sent and self.first_sent + timedelta(seconds=seconds)

    def after(self, happening: OperationHappening) -> OperationState:
        """The state once this has happened; only being replaced moves one that has ended."""
        if isinstance(happening, Replaced):
            return self._replaced(happening)
        if self.ended:
            return self
        match happening:
            case Sent(at):
                return self._sent(at)
            case Written():
                return self._written(happening)
            case Checked():
                return self._checked(happening)
            case HandedOver(_, next_check):
                return replace(
                    self, status=OperationStatus.HANDED_OVER, next_check=next_check, checks=0
                )
            case GivenUp(_, reason):
                return replace(self, status=OperationStatus.FAILED, reason=reason)

    def record(self) -> dict[str, Any]:
        """The operation as callers see it."""
        return {
            **self.operation.record(),
            "state": self.status.value,
            "version": self.version,
            "reason": self.reason or None,
            "there_instead": self.there_instead,
            "writes": self.writes - self.kept_in,
            "check_deadline": self.deadline and rfc3339(self.deadline),
            "next_check_at": self.next_check and rfc3339(self.next_check),
        }

    def _sent(self, at: datetime) -> OperationState:
        return replace(
            self,
            writes=self.writes + 1,
            first_sent=self.first_sent or at,
            last_sent=at,
            answer=None,
            doubted=self.open_since,
            checked=None,
            checks=0,
        )

    def _written(self, written: Written) -> OperationState:
        if self.last_sent is None or self.answer is not None:
            return self
        kept_in = self.kept_in + (not written.answer.left)
        state = replace(self, answer=written, kept_in=kept_in, reason=written.answer.reason)
        if state.fate is Fate.REFUSED and state.open_since is None:
            return replace(state, status=OperationStatus.FAILED)
        return state._in_doubt() if written.answer.fate.open else state

    def _checked(self, checked: Checked) -> OperationState:
        finding = checked.finding
        if finding.look is Look.SAME:
            return replace(
                self,
                status=OperationStatus.CONFIRMED,
                version=finding.version,
                reason="",
                next_check=None,
                there_instead=None,
            )
        there = self.there_instead if finding.look is Look.NO_ANSWER else finding.ours
        checks = self.checks + (not checked.asked)
        state = replace(self, checked=checked, checks=checks, there_instead=there)
        against = _against(state, self.checked, checked)
        if against is not None:
            return replace(state, status=OperationStatus.FAILED, reason=against, next_check=None)
        if state.status is OperationStatus.HANDED_OVER and not checked.asked:
            more = state.checks < MOST_LATE_LOOKS
            next_check = late_check(checked.at, state.checks) if more else None
            state = replace(state, next_check=next_check)
        if not must_look(state):
            return state
        reason = _seen(finding) or state.reason
        return replace(state, reason=reason)._in_doubt()

    def _replaced(self, replaced: Replaced) -> OperationState:
        if self.status is not OperationStatus.CONFIRMED:
            return self
        state = replace(self, there_instead=replaced.by, reason=_instead(replaced.by))
        if replaced.in_turn:
            return state
        return replace(
            state,
            status=OperationStatus.HANDED_OVER,
            version=None,
            checked=None,
            checks=0,
            next_check=late_check(replaced.at, 0),
        )

    def _in_doubt(self) -> OperationState:
        return (
            self
            if self.status is OperationStatus.HANDED_OVER
            else replace(self, status=OperationStatus.UNKNOWN)
        )


_PLAIN = {Look.DIFFERENT: _ELSE_THERE, Look.ABSENT: _NOT_THERE}


def _seen(finding: Finding) -> str:
    """What a look that did not find it has found, in words."""
    if finding.ours is not None:
        return _instead(finding.ours)
    return finding.reason or _PLAIN.get(finding.look, "")


def _instead(id_: str) -> str:
    return f"What is there was saved by {id_}."


def _against(state: OperationState, before: Checked | None, checked: Checked) -> str | None:
    """Why this look settles that the operation has failed, if it does; ``before`` is the last."""
    if not must_look(state) or _may_land(state.open_since, checked.at):
        return None
    match checked.finding.look:
        case Look.DIFFERENT:
            return _else_there(state, before, checked)
        case Look.ABSENT:
            return _not_there(state, checked)
        case Look.SAME | Look.NO_ANSWER:
            return None


def _else_there(state: OperationState, before: Checked | None, checked: Checked) -> str | None:
    """Why something else that is there stands against it; None while it may be stale."""
    if state.fate is Fate.STORED and _may_be_stale(state, before, checked):
        return None
    if checked.finding.ours is not None or checked.finding.reason:
        return _seen(checked.finding)
    return f"{_ELSE_THERE} {_answered(state)}".strip()


def _not_there(state: OperationState, checked: Checked) -> str | None:
    """Why nothing being there stands against it; None while it may come yet, or be sent again."""
    if state.fate in (Fate.EXISTS, Fate.REFUSED):
        return _answered(state) or _NOT_THERE
    if state.fate is Fate.STORED and _may_land(state.last_sent, checked.at):
        return None
    if state.status is not OperationStatus.HANDED_OVER and may_write_again(state, checked):
        return None
    return f"{_NOT_THERE} {_answered(state)}".strip()


def _answered(state: OperationState) -> str:
    """What the far side said to the latest write."""
    return state.answer.answer.reason if state.answer else ""


def cut_short(state: OperationState, now: datetime, why: str) -> OperationHappening | None:
    """What must be noted when the meeting ends before it has ended; None: all is said.

    For those who have stopped whatever was under way. What may have arrived is ``unknown`` then,
    and what surely has not, is given up: after the end nothing is written any more.
    """
    if state.ended or state.status is OperationStatus.HANDED_OVER:
        return None
    if not must_look(state):
        return GivenUp(now, f"{why} {state.reason}".strip())
    if state.answer is None:
        return Written(now, WriteAnswer(Fate.UNCLEAR, why))
    if state.status is OperationStatus.REQUESTED:
        return Checked(now, Finding(Look.NO_ANSWER, why))
    return None


def _may_be_stale(state: OperationState, before: Checked | None, checked: Checked) -> bool:
    """Whether something else that was seen after an acknowledged write may be what was there before
    it."""
    if not _may_land(state.last_sent, checked.at):
        return False
    in_time = state.deadline is not None and checked.at < state.deadline
    return in_time or not _same_seen(before, checked)


def _same_seen(before: Checked | None, now: Checked) -> bool:
    if before is None:
        return False
    one, other = before.finding, now.finding
    return (one.look, one.sha256) == (other.look, other.sha256)


def is_news(before: OperationState, checked: Checked) -> bool:
    """Whether a look that was asked for has shown or settled anything that was not known: only then
    does the log need it."""
    if before.after(checked).record() != before.record():
        return True
    return not _same_seen(before.checked, checked)


def _may_land(sent: datetime | None, at: datetime) -> bool:
    return sent is not None and at < sent + timedelta(seconds=LANDING_SECONDS)


def must_look(state: OperationState) -> bool:
    """Whether only a look can say what became of the writes so far."""
    if state.last_sent is None:
        return False
    return state.open_since is not None or state.fate is None or not state.fate.surely_not_stored


def may_write_again(state: OperationState, checked: Checked) -> bool:
    fate = state.fate
    lost = fate is None or fate is Fate.UNCLEAR or fate.surely_not_stored
    return lost and checked.finding.look is Look.ABSENT and state.writes < MOST_WRITES


def late_check(at: datetime, checks: int) -> datetime:
    """When to look again after the hand-over and so many looks since."""
    pause = min(_FIRST_LATE_PAUSE * 2**checks, _LONGEST_LATE_PAUSE)
    return at + timedelta(seconds=pause)
