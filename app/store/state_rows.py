"""A meeting's state as a row, and back."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import reduce
from typing import Any

import orjson

from app.domain.meeting.envelope import UNTOUCHED, Drawn
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.resumption import resumed
from app.domain.meeting.state import MeetingState, Status
from app.domain.money import Cost
from app.domain.replies.text import folded
from app.domain.values import Json

_MOST_SEARCHED_CHARACTERS = 20_000


def encode(value: object) -> str:
    return orjson.dumps(value).decode()


def changing_columns(state: MeetingState) -> dict[str, Any]:
    """The columns that change while a meeting goes on."""
    return {
        "status": state.status.value,
        "round": state.round,
        "motion": state.motion,
        "replies": state.replies,
        "input_tokens": state.spent.input_tokens,
        "output_tokens": state.spent.output_tokens,
        "usd": None if state.spent.usd is None else str(state.spent.usd),
        "started_at": state.started_at,
        "ended_at": state.ended_at,
        "deadline": state.deadline,
        "result": None if state.outcome is None else state.outcome["result"],
        "outcome": _encoded(state.outcome),
        "cancellation": _encoded(state.cancellation),
        "pending_question": _encoded(state.pending_question),
        "minutes_path": state.minutes_path,
        "reserved": _encoded_all(state.reserved),
        "children": _encoded_all(state.children),
        "adopted": _encoded_all(state.adopted),
        "operations": _encoded_all(state.operations),
        "below": None if state.below is UNTOUCHED else encode(state.below.record()),
        "resumptions": encode(state.resumptions) if state.resumptions else "[]",
        "resumed_at": state.resumed_at,
        "seconds_before": state.seconds_before,
        "last_seq": state.last_seq,
        "last_number": state.last_number,
    }


def new_row(state: MeetingState, record: str) -> dict[str, Any]:
    meeting = state.meeting
    return {
        "id": meeting.id,
        "format": meeting.format,
        "topic": meeting.topic,
        "created_at": state.created_at,
        "record": record,
        "search_text": search_text(state),
        **changing_columns(state),
    }


def search_text(state: MeetingState) -> str:
    """What ``q`` looks through: the question, who sat, and how it ended."""
    meeting = state.meeting
    parts = [meeting.topic, meeting.motion or "", meeting.context, *meeting.options]
    parts += [f"{seat.name} {seat.role}" for seat in meeting.seats]
    if state.outcome is not None:
        parts += [state.outcome["decision"] or "", *_said(state.outcome["synthesis"])]
    return folded("\n".join(parts))[:_MOST_SEARCHED_CHARACTERS]


def _said(synthesis: Mapping[str, Json] | None) -> list[str]:
    if synthesis is None:
        return []
    return [str(synthesis.get("recommendation", "")), *map(str, synthesis.get("agreed", ()))]


def state_of(row: Mapping[Any, Any]) -> MeetingState:
    """The state that a row of ``meeting`` holds."""
    record = orjson.loads(row["record"])
    usd = row["usd"]
    resumptions = orjson.loads(row["resumptions"])
    return MeetingState(
        meeting=reduce(resumed, resumptions, Meeting.read(record)),
        plan=record["plan"],
        warnings=record["warnings"],
        agents=record["agents"],
        created_at=row["created_at"],
        status=Status(row["status"]),
        round=row["round"],
        motion=row["motion"],
        replies=row["replies"],
        spent=Cost(
            row["input_tokens"],
            row["output_tokens"],
            None if usd is None else Decimal(usd),
        ),
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        deadline=row["deadline"],
        outcome=_decoded(row["outcome"]),
        cancellation=_decoded(row["cancellation"]),
        pending_question=_decoded(row["pending_question"]),
        minutes_path=row["minutes_path"],
        reserved=orjson.loads(row["reserved"]),
        children=orjson.loads(row["children"]),
        adopted=orjson.loads(row["adopted"]),
        operations=orjson.loads(row["operations"]),
        below=below_of(row["below"]),
        resumptions=tuple(resumptions),
        resumed_at=row["resumed_at"],
        seconds_before=row["seconds_before"],
        last_seq=row["last_seq"],
        last_number=row["last_number"],
    )


def below_of(text: str | None) -> Drawn:
    """What the column ``below`` holds."""
    return UNTOUCHED if text is None else Drawn.read(orjson.loads(text))


def _encoded_all(values: Mapping[str, Json]) -> str:
    return encode(values) if values else "{}"


def _encoded(value: Mapping[str, Json] | None) -> str | None:
    return None if value is None else encode(value)


def _decoded(text: str | None) -> Mapping[str, Json] | None:
    return None if text is None else orjson.loads(text)
