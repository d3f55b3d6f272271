"""Which stop explains the replies that are missing."""

import pytest

from app.domain.meeting.outcome import StopReason
from app.domain.replies.reading import Reply, ReplyStatus
from app.formats.shared.stops import cut_short, limits_met

OK, LATE, BROKEN = ReplyStatus.OK, ReplyStatus.TIMEOUT, ReplyStatus.ERROR
SPENT, INVALID = ReplyStatus.BUDGET, ReplyStatus.INVALID
OVER = "over"
"""A timeout at the end of the whole meeting's time."""


def _reply(number: int, status: ReplyStatus | str) -> Reply:
    if status == OVER:
        return Reply(f"r{number}", 1, LATE, out_of_time=True)
    return Reply(f"r{number}", 1, ReplyStatus(status))


@pytest.mark.parametrize(
    ("statuses", "stop"),
    [
        ([OK, OK], None),
        ([OK, LATE], None),
        ([OK, INVALID], None),
        ([LATE, INVALID], None),
        ([LATE, BROKEN], StopReason.AGENTS_UNAVAILABLE),
        ([LATE, LATE], StopReason.AGENTS_UNAVAILABLE),
        ([OK, SPENT], StopReason.BUDGET),
        ([OK, OVER], StopReason.DEADLINE),
        ([OVER, OVER], StopReason.DEADLINE),
        ([OVER, SPENT], StopReason.DEADLINE),
    ],
)
def test_cut_short(statuses: list[ReplyStatus | str], stop: StopReason | None) -> None:
    assert cut_short([_reply(n, status) for n, status in enumerate(statuses)]) is stop


def test_both_limits_may_be_met_at_once() -> None:
    met = limits_met([_reply(0, OVER), _reply(1, SPENT)])
    assert met == {StopReason.DEADLINE, StopReason.BUDGET}
