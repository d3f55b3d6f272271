"""When a run must stop instead of asking anybody anything more (PROTOCOLS 11, stop conditions)."""

from __future__ import annotations

from datetime import datetime

from app.domain.meeting.outcome import StopReason
from app.domain.meeting.state import MeetingState
from app.domain.steps import Stopped


def stop_if_due(
    state: MeetingState, now: datetime, until: datetime, *, out_of_budget: bool = False
) -> None:
    """Raises ``Stopped`` for a cancel, for time that is over at ``until``, or for money that is
    spent; of several at once the first of these counts."""
    if state.cancellation is not None:
        raise Stopped(StopReason.CANCELLATION)
    if now >= until:
        raise Stopped(StopReason.DEADLINE)
    if out_of_budget:
        raise Stopped(StopReason.BUDGET)
