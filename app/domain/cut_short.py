"""Whether a pass of ballots ended without a result because the meeting could not go on."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.envelope import closing_seconds
from app.domain.meeting import Limits
from app.domain.outcome import StopReason, first_to_count
from app.domain.steps import Reply, ReplyStatus

_UNREACHED = frozenset({ReplyStatus.TIMEOUT, ReplyStatus.ERROR})


def cut_short(replies: Sequence[Reply], limits: Limits) -> StopReason | None:
    """The stop that a pass without a result has met, if one explains its missing ballots.

    A budget or a deadline that kept ballots out is named as what ended the meeting, since no
    further request is made that would run into it. With one pass there is no second round to
    wait for (PROTOCOLS 4): one in which nobody could be reached means that the agents are not
    available.
    """
    found: list[StopReason] = []
    missing = {reply.status for reply in replies if not reply.usable}
    if ReplyStatus.BUDGET in missing:
        found.append(StopReason.BUDGET)
    if ReplyStatus.TIMEOUT in missing and _meeting_ends_first(limits):
        found.append(StopReason.DEADLINE)
    if all(reply.status in _UNREACHED for reply in replies):
        found.append(StopReason.AGENTS_UNAVAILABLE)
    return first_to_count(found)


def _meeting_ends_first(limits: Limits) -> bool:
    """Whether a reply can only be late because the whole meeting's time is over."""
    return limits.reply_seconds >= limits.seconds - closing_seconds(limits.seconds)
