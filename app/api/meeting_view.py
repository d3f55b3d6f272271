"""The meeting resource (API.md), from where a meeting stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from app.domain.meeting.entries import Event
from app.domain.meeting.state import MeetingState, spent_record
from app.domain.meeting.status import ResumedAt
from app.domain.operation.terms import OperationStatus
from app.domain.values import Json, rfc3339

_T = TypeVar("_T", Decimal, int)


def meeting_view(
    state: MeetingState, now: datetime, above: Sequence[MeetingState] = ()
) -> dict[str, Json]:
    """The resource. Before the start, and from the end on, it does not depend on ``now``.

    What remains is never more than what the meetings ``above`` it have left.
    """
    meeting = state.meeting
    spent = spent_record(state, now)
    return {
        "id": meeting.id,
        "status": state.status.value,
        "format": meeting.format,
        "topic": meeting.topic,
        "motion": state.motion,
        "participants": [seat.record() for seat in meeting.seats],
        "limits": meeting.limits.record(),
        "rules": dict(meeting.rules),
        "round": state.round,
        "spent": spent,
        "remaining": _remaining(state, above, state.seconds(now)),
        "outcome": None if state.outcome is None else state.outcome.record(),
        "pending_question": _question_view(state),
        "cancellation": cancellation_view(state),
        "operations": _operations(state),
        "parked": None if state.parked is None else state.parked.record(),
        "parent_id": meeting.parent_id,
        "children": list(state.children),
        "resumptions": [_resumption_view(each) for each in state.resumptions],
        "plan": state.plan,
        "warnings": list(state.warnings),
        "created_at": rfc3339(state.created_at),
        "started_at": _moment(state.started_at),
        "ended_at": _moment(state.ended_at) if state.ended else None,
        "deadline": _moment(state.deadline),
        "metadata": dict(meeting.metadata),
        "links": _links(meeting.id),
    }


def cancellation_view(state: MeetingState) -> dict[str, Json] | None:
    return None if state.cancellation is None else state.cancellation.record()


def _resumption_view(resumption: ResumedAt) -> dict[str, Json]:
    told = resumption.told
    return {"changed": told.changed, "note": told.note, "at": rfc3339(resumption.at)}


def _question_view(state: MeetingState) -> dict[str, Json] | None:
    """What waits for a ruling, from whom, and until when."""
    question = state.pending_question
    if question is None:
        return None
    asked = question.asked.record()
    fields = ("question", "choices", "scope", "arbiter", "deadline")
    return {
        "id": question.asked.question_id,
        **{field: asked[field] for field in fields},
        "opened_at": rfc3339(question.opened_at),
    }


def _operations(state: MeetingState) -> dict[str, Json]:
    """How many the meeting is at work on, and of how many nobody can be sure."""
    states = [operation.state for operation in state.operations.values()]
    unsure = (OperationStatus.UNKNOWN, OperationStatus.HANDED_OVER)
    return {
        "pending": states.count(OperationStatus.REQUESTED),
        "unknown": sum(map(states.count, unsure)),
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else rfc3339(at)


def event_view(event: Event) -> dict[str, Json]:
    """The envelope in which an event is told, here as over SSE."""
    return {
        "id": event.number,
        "type": event.type,
        "meeting_id": event.meeting_id,
        "at": rfc3339(event.at),
        "data": event.data,
    }


def location(meeting_id: str) -> str:
    return f"/v1/meetings/{meeting_id}"


def _remaining(
    state: MeetingState, above: Sequence[MeetingState], seconds: float
) -> dict[str, Json]:
    """What the limits leave; None where there is no limit, or where the price is unknown."""
    usd = _least(_usd_left(each) for each in (state, *above))
    return {
        "seconds": round(max(0.0, state.meeting.limits.seconds - seconds), 3),
        "usd": None if usd is None else format(usd.normalize(), "f"),
        "tokens": _least(_tokens_left(each) for each in (state, *above)),
    }


def _usd_left(state: MeetingState) -> Decimal | None:
    limit, spent = state.meeting.limits.usd, state.drawn.spent.usd
    return None if limit is None or spent is None else max(Decimal(0), limit - spent)


def _tokens_left(state: MeetingState) -> int | None:
    limit = state.meeting.limits.tokens
    return None if limit is None else max(0, limit - state.drawn.spent.tokens)


def _least(amounts: Iterable[_T | None]) -> _T | None:
    return min((each for each in amounts if each is not None), default=None)


_PARTS: Mapping[str, str] = {
    "self": "",
    "events": "/events",
    "rounds": "/rounds",
    "votes": "/votes",
    "dissents": "/dissents",
    "objections": "/objections",
    "operations": "/operations",
    "minutes": "/minutes",
    "decision": "/decision",
    "handoff": "/handoff",
    "ruling": "/ruling",
    "cancel": "/cancel",
    "cancellation": "/cancellation",
    "resume": "/resume",
}


def _links(meeting_id: str) -> dict[str, Json]:
    return {name: location(meeting_id) + part for name, part in _PARTS.items()}
