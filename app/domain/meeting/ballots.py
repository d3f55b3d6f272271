"""The ballots of a meeting, as callers read them: one record each, in the order in which they
came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from app.domain.meeting.entries import Event
from app.domain.meeting.events import ReplyReceived
from app.domain.replies.reading import ReplyStatus
from app.domain.values import JsonObject, rfc3339

_BALLOT_FIELDS = ("ballot", "confidence", "rationale", "mitigation")


def ballots_in(log: Iterable[Event]) -> Iterator[tuple[Event, ReplyReceived]]:
    """The replies that stand as somebody's ballot, invalid ones among them.

    One that was asked for once more stands as it was in the end.
    """
    for event in log:
        reply = event.content
        if isinstance(reply, ReplyReceived) and reply.final and "ballot" in reply.read:
            yield event, reply


def ballot_record(reply: ReplyReceived, at: datetime) -> JsonObject:
    """One ballot, or with its reason why there is none."""
    return {
        "participant": reply.participant,
        "round": reply.round,
        "status": reply.status.value,
        "reason": reply.reason,
        **{field: reply.read.get(field) for field in _BALLOT_FIELDS},
        "at": rfc3339(at),
    }


def is_counted(reply: ReplyReceived) -> bool:
    """Whether it could be read, and came in time."""
    return reply.status is ReplyStatus.OK and not reply.late
