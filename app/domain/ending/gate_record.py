"""What the record says of a result that was put to the completion gate (PROTOCOLS 10)."""

from __future__ import annotations

from app.domain.ending.completion_gate import SINGLE_WARNING, Close, GateStatus
from app.domain.meeting.outcome import Completeness, Degradation, Dissent


def completeness_after(closing: Close | None) -> Completeness:
    """A counted result stands however the gate closes; unconfirmed, its record is partial."""
    incomplete = closing is not None and closing.status is GateStatus.INCOMPLETE
    return Completeness.PARTIAL if incomplete else Completeness.COMPLETE


def gate_degradation(closing: Close | None) -> tuple[Degradation, ...]:
    """What makes the confirmation weaker than it should be; the record says it first."""
    if closing is None or closing.status is GateStatus.CONSENSUS:
        return ()
    if closing.status is GateStatus.SINGLE:
        return (Degradation(SINGLE_WARNING, closing.completed_by),)
    if not closing.reasons:
        return (Degradation("unconfirmed"),)
    return (Degradation(GateStatus.INCOMPLETE.value, tuple(closing.reasons)),)


def gate_dissents(closing: Close | None) -> tuple[Dissent, ...]:
    """Who still asks for a revision of what the others hold complete, and why."""
    if closing is None:
        return ()
    return tuple(Dissent(who, "needs_revision", why) for who, why in closing.reasons.items())
