"""Which stop explains the ballots that are missing."""

import pytest

from app.domain.cut_short import cut_short
from app.domain.meeting import Limits
from app.domain.outcome import StopReason
from app.domain.steps import Reply, ReplyStatus

OK, LATE, BROKEN = ReplyStatus.OK, ReplyStatus.TIMEOUT, ReplyStatus.ERROR
SPENT, INVALID = ReplyStatus.BUDGET, ReplyStatus.INVALID


@pytest.mark.parametrize(
    ("statuses", "seconds", "stop"),
    [
        ([OK, OK], 600, None),
        ([OK, LATE], 600, None),
        ([OK, INVALID], 600, None),
        ([LATE, INVALID], 600, None),
        ([LATE, BROKEN], 600, StopReason.AGENTS_UNAVAILABLE),
        ([BROKEN, BROKEN], 60, StopReason.AGENTS_UNAVAILABLE),
        ([OK, SPENT], 600, StopReason.BUDGET),
        ([OK, LATE], 60, StopReason.DEADLINE),
        ([LATE, LATE], 60, StopReason.DEADLINE),
        ([LATE, SPENT], 60, StopReason.DEADLINE),
        ([LATE, LATE], 90, StopReason.AGENTS_UNAVAILABLE),
    ],
)
def test_cut_short(statuses: list[ReplyStatus], seconds: float, stop: StopReason | None) -> None:
    replies = [Reply(f"r{n}", 1, status) for n, status in enumerate(statuses)]
    assert cut_short(replies, Limits(seconds=seconds, reply_seconds=60)) is stop
