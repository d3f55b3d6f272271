"""What to do now for an operation, by the rules in ``operation`` (PROTOCOLS 13).

A decision is a value: nothing is done here. Pauses are seconds and grow with every attempt.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from app.domain.operation.state import (
    MOST_WRITES,
    OperationState,
    late_check,
    may_write_again,
    must_look,
)
from app.domain.operation.terms import (
    Check,
    Checked,
    Confirmed,
    Failed,
    Fate,
    GiveUp,
    HandOver,
    Look,
    OperationAction,
    OperationStatus,
    OperationWait,
    Write,
)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_LONGEST_SHARE = 8
"""Between two looks lies no more than ``_LONGEST_PAUSE``, or, of a write that is older, this part
of the time since it was sent: however long the check deadline is, the looks stay few."""
_MOST_DOUBLINGS = 30
_LEAST_PATIENCE = 2.0
LONGEST_PATIENCE = 10.0
"""How long one answer is waited for."""


def decide(state: OperationState, now: datetime) -> OperationAction:
    """What to do now, for those who have neither a write nor a look under way."""
    match state.status:
        case OperationStatus.CONFIRMED:
            return Confirmed(state.version)
        case OperationStatus.FAILED:
            return Failed(state.reason)
        case OperationStatus.HANDED_OVER:
            if state.next_check is None or now < state.next_check:
                return OperationWait(state.next_check)
            return Check(LONGEST_PATIENCE)
        case OperationStatus.REQUESTED | OperationStatus.UNKNOWN:
            if state.deadline is not None and must_look(state):
                return _looking(state, state.deadline, now)
            return _writing(state, now)


def _writing(state: OperationState, now: datetime) -> OperationAction:
    """What to do while every write so far is known not to have been stored."""
    if state.deadline is not None:
        if now >= state.deadline or state.writes >= MOST_WRITES:
            return GiveUp(state.reason)
        due = _write_due(state)
        if now < due:
            return OperationWait(min(due, state.deadline))
    return Write(only_if_absent=False, patience_seconds=_patience(state, now))


def _looking(state: OperationState, deadline: datetime, now: datetime) -> OperationAction:
    """What to do while only a look can tell."""
    patience, checked = _patience(state, now), state.checked
    if checked is None or checked.at < deadline <= now:
        return Check(patience)
    if now >= deadline:
        if not _seen_once(state, checked):
            return HandOver(state.operation.owner, late_check(now, 0), state.reason)
        due = _after(checked.at, _FIRST_PAUSE)
        return Check(patience) if due <= now else OperationWait(due)
    if may_write_again(state, checked):
        due = _write_due(state)
        if due <= checked.at <= now:
            return Write(only_if_absent=True, patience_seconds=patience)
    else:
        pause = _looks_apart(state, checked.at)
        due = _after(checked.at, pause, checked.finding.retry_after)
    return Check(patience) if due <= now else OperationWait(min(due, deadline))


def _seen_once(state: OperationState, checked: Checked) -> bool:
    """Whether all that was ever seen after an acknowledged write is one thing, once: another look
    tells whether it was stale."""
    different = checked.finding.look is Look.DIFFERENT
    return state.fate is Fate.STORED and different and state.checks == 1


def _looks_apart(state: OperationState, at: datetime) -> float:
    since = (at - (state.last_sent or at)).total_seconds()
    return min(_plain_pause(state.checks), max(_LONGEST_PAUSE, since / _LONGEST_SHARE))


def _write_due(state: OperationState) -> datetime:
    """When the next write may leave at the earliest."""
    if state.answer is None:
        return _after(state.last_sent or state.operation.requested_at, _pause(state.writes))
    return _after(state.answer.at, _pause(state.writes), state.answer.answer.retry_after)


def _after(since: datetime, pause: float, asked: float | None = None) -> datetime:
    return since + timedelta(seconds=max(pause, asked or 0.0))


def _pause(attempts: int) -> float:
    return min(_plain_pause(attempts), _LONGEST_PAUSE)


def _plain_pause(attempts: int) -> float:
    return _FIRST_PAUSE * 2.0 ** min(max(attempts - 1, 0), _MOST_DOUBLINGS)


def _patience(state: OperationState, now: datetime) -> float:
    """Up to the deadline, but long enough for an answer that comes at all."""
    left = state.operation.check_deadline_seconds
    if state.deadline is not None:
        left = (state.deadline - now).total_seconds()
    return min(max(left, _LEAST_PATIENCE), LONGEST_PATIENCE)
