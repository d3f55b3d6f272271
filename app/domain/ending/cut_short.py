"""Which limit of the meeting's kept replies out of a round (PROTOCOLS 11)."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.meeting.outcome import StopReason, first_to_count
from app.domain.replies.reading import Reply, ReplyStatus

_UNREACHED = frozenset({ReplyStatus.TIMEOUT, ReplyStatus.ERROR})


def limits_met(replies: Sequence[Reply]) -> frozenset[StopReason]:
    """The deadline, the budget, both or neither: whatever these replies say is missing.

    It is named as what ended the meeting, since no further request is made that would run
    into it.
    """
    found: set[StopReason] = set()
    if any(reply.out_of_time for reply in replies):
        found.add(StopReason.DEADLINE)
    if any(reply.status is ReplyStatus.BUDGET for reply in replies):
        found.add(StopReason.BUDGET)
    return frozenset(found)


def cut_short(replies: Sequence[Reply]) -> StopReason | None:
    """The stop that a single pass without a result has met, if one explains what is missing.

    With one pass there is no second round to wait for (PROTOCOLS 4): one in which nobody could
    be reached means that the agents are not available.
    """
    found = set(limits_met(replies))
    if all(reply.status in _UNREACHED for reply in replies):
        found.add(StopReason.AGENTS_UNAVAILABLE)
    return first_to_count(found)
