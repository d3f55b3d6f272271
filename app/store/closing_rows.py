"""The rows that are written once, when a decision or a cancel is closed: dissents, votes, and what
became of everything that was under way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from app.domain.meeting.ballots import ballot_record, ballots_in, is_counted
from app.domain.meeting.cancellation import item_record
from app.domain.meeting.entries import Event
from app.domain.meeting.events import CancellationClosed, DecisionRecorded, ReplyReceived
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.state import MeetingState
from app.store.state_rows import encode, searched

Row = dict[str, Any]


def cancellation_row(event: Event, state: MeetingState, closed: CancellationClosed) -> Row:
    asked = state.cancellation
    return {
        "meeting_id": event.meeting_id,
        "requested_at": event.at if asked is None else asked.requested_at,
        "reason": None if asked is None else asked.reason,
        "state": closed.state,
        "items": encode([item_record(item) for item in closed.items]),
    }


def dissent_rows(event: Event, meeting: Meeting, decided: DecisionRecorded) -> Iterator[Row]:
    for number, dissent in enumerate(decided.outcome.dissents):
        told = (dissent.position, dissent.rationale, dissent.mitigation or "")
        yield {
            "meeting_id": event.meeting_id,
            "number": number,
            "participant": dissent.participant,
            "position": dissent.position,
            "rationale": dissent.rationale,
            "mitigation": dissent.mitigation,
            "round": dissent.round,
            "topic": meeting.topic,
            "decision": decided.outcome.decision,
            "decided_at": event.at,
            "search_text": searched((meeting.topic, *told)),
        }


def ballot_rows(meeting: Meeting, log: Iterable[Event]) -> Iterator[Row]:
    """A row for each ballot in a meeting's log, which may be given without its other entries."""
    weights = {seat.name: _exact(seat.weight) for seat in meeting.seats}
    for number, (event, reply) in enumerate(ballots_in(log)):
        yield {
            "meeting_id": meeting.id,
            "number": number,
            "seq": event.seq,
            "participant": reply.participant,
            "round": reply.round,
            "attempt": reply.attempt,
            "status": reply.status.value,
            "counted": is_counted(reply),
            "ballot": _written(reply, "ballot"),
            "confidence": _written(reply, "confidence"),
            "weight": weights[reply.participant],
            "record": encode(ballot_record(reply, event.at)),
        }


def _written(reply: ReplyReceived, field: str) -> str | None:
    value = reply.read.get(field)
    return None if value is None else encode(value)


def _exact(weight: Fraction) -> str:
    """As it was given: a weight comes from a decimal number."""
    decimal = Decimal(weight.numerator) / Decimal(weight.denominator)
    return format(decimal.normalize(), "f")
