"""A meeting's state as a row, and back.

What is queried has a column of its own; everything else that changes is JSON in the column
``state``, with whatever is empty left out: it is written at every append. ``record`` is the
meeting as it was created, and never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, reduce
from operator import attrgetter
from typing import Any

import orjson
from msgspec import NODEFAULT
from msgspec.structs import fields

from app.domain.meeting.cancellation import Cancellation
from app.domain.meeting.envelope import UNTOUCHED, Drawn, Unconfirmed
from app.domain.meeting.events import (
    ArbitrationOpened,
    MeetingCreated,
    MeetingResumed,
    RequestReserved,
)
from app.domain.meeting.outcome import Outcome
from app.domain.meeting.resumption import resumed
from app.domain.meeting.state import MeetingState
from app.domain.meeting.status import Parked, PendingQuestion, ResumedAt, Status
from app.domain.money import Cost
from app.domain.operation.record import OperationRecord
from app.domain.replies.text import folded
from app.domain.values import Json, rfc3339

_MOST_SEARCHED_CHARACTERS = 20_000

_LARGEST_KEPT_RECORD = 32 * 1024
_MOST_KEPT_RECORDS = 1_000


def encode(value: object) -> str:
    """As JSON; a moment, which is in UTC, as ``rfc3339`` writes it."""
    return orjson.dumps(value, option=orjson.OPT_UTC_Z).decode()


# --- the row --------------------------------------------------------------------------------------


def new_row(state: MeetingState, record: str) -> dict[str, Any]:
    return {
        "id": state.meeting.id,
        "format": state.meeting.format,
        "created_at": state.created_at,
        "record": record,
        "search_text": search_text(state),
        **changing_columns(state),
    }


def changing_columns(state: MeetingState) -> dict[str, Any]:
    """The columns that change while a meeting goes on."""
    return {
        "status": state.status.value,
        "result": None if state.outcome is None else state.outcome.result.value,
        "below": None if state.below is UNTOUCHED else encode(state.below.record()),
        "last_seq": state.last_seq,
        "state": _encoded_parts(state),
    }


def state_of(row: Mapping[Any, Any]) -> MeetingState:
    """The state that a row of ``meeting`` holds."""
    created = _created(row["record"])
    parts = _decoded_parts(row["state"])
    told = (each.told for each in parts.get("resumptions", ()))
    return MeetingState(
        meeting=reduce(resumed, told, created.meeting),
        plan=created.plan,
        warnings=created.warnings,
        agents=created.agents,
        created_at=row["created_at"],
        status=Status(row["status"]),
        below=below_of(row["below"]),
        last_seq=row["last_seq"],
        **parts,
    )


def below_of(text: str | None) -> Drawn:
    """What the column ``below`` holds."""
    return UNTOUCHED if text is None else Drawn.read(orjson.loads(text))


def _created(record: str) -> MeetingCreated:
    """A meeting that is looked at is looked at again, and reading its record costs the most."""
    if len(record) > _LARGEST_KEPT_RECORD:
        return MeetingCreated.decoded(record)
    return _kept_created(record)


@lru_cache(maxsize=_MOST_KEPT_RECORDS)
def _kept_created(record: str) -> MeetingCreated:
    return MeetingCreated.decoded(record)


# --- the column ``state`` -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """How a field of the state is written as JSON, and read again."""

    write: Callable[[Any], Json]
    read: Callable[[Any], Any]


def _same(value: Json) -> Json:
    return value


def _by_key(cls: type[RequestReserved | OperationRecord], read: Callable[[Any], Any]) -> _Part:
    return _Part(
        lambda given: {key: cls.record(each) for key, each in given.items()},
        lambda record: {key: read(each) for key, each in record.items()},
    )


def _question(question: PendingQuestion) -> Json:
    return {**question.asked.record(), "opened_at": rfc3339(question.opened_at)}


def _question_of(record: Json) -> PendingQuestion:
    opened_at = datetime.fromisoformat(record["opened_at"])
    return PendingQuestion(ArbitrationOpened.of(record), opened_at)


def _resumptions(given: tuple[ResumedAt, ...]) -> Json:
    return [{**each.told.record(), "at": rfc3339(each.at)} for each in given]


def _resumptions_of(record: Json) -> tuple[ResumedAt, ...]:
    return tuple(
        ResumedAt(MeetingResumed.of(each), datetime.fromisoformat(each["at"])) for each in record
    )


def _parked_of(record: Json) -> Parked:
    return Parked(record["reason"], datetime.fromisoformat(record["since"]))


_PLAIN = _Part(_same, _same)
_MOMENT = _Part(_same, datetime.fromisoformat)

_PARTS: Mapping[str, _Part] = {
    "round": _PLAIN,
    "motion": _PLAIN,
    "replies": _PLAIN,
    "ballots": _PLAIN,
    "spent": _Part(Cost.record, Cost.read),
    "unconfirmed": _Part(Unconfirmed.record, Unconfirmed.read),
    "started_at": _MOMENT,
    "ended_at": _MOMENT,
    "deadline": _MOMENT,
    "outcome": _Part(Outcome.record, Outcome.read),
    "cancellation": _Part(Cancellation.record, Cancellation.read),
    "pending_question": _Part(_question, _question_of),
    "minutes_path": _PLAIN,
    "reserved": _by_key(RequestReserved, RequestReserved.of),
    "children": _PLAIN,
    "adopted": _PLAIN,
    "operations": _by_key(OperationRecord, OperationRecord.read),
    "resumptions": _Part(_resumptions, _resumptions_of),
    "seconds_before": _PLAIN,
    "parked": _Part(Parked.record, _parked_of),
    "last_number": _PLAIN,
}


def _empty_values() -> list[tuple[str, Any, Callable[[Any], Json]]]:
    found: list[tuple[str, Any, Callable[[Any], Json]]] = []
    for each in fields(MeetingState):
        if each.name in _PARTS:
            made = each.default_factory
            empty = each.default if made is NODEFAULT else made()
            found.append((each.name, empty, _PARTS[each.name].write))
    return found


_WRITTEN = _empty_values()
"""Each part with what it is in a meeting that has just been created."""


_values_of = attrgetter(*(name for name, _, _ in _WRITTEN))


def _encoded_parts(state: MeetingState) -> str:
    kept = {
        name: write(value)
        for (name, empty, write), value in zip(_WRITTEN, _values_of(state), strict=True)
        if value is not empty and value != empty
    }
    return encode(kept)


def _decoded_parts(text: str) -> dict[str, Any]:
    return {name: _PARTS[name].read(value) for name, value in orjson.loads(text).items()}


# --- what is searched -----------------------------------------------------------------------------


def search_text(state: MeetingState) -> str:
    """What ``q`` looks through: the question, who sat, and how it ended."""
    meeting = state.meeting
    parts = [meeting.topic, meeting.motion or "", meeting.context, *meeting.options]
    parts += [f"{seat.name} {seat.role}" for seat in meeting.seats]
    if state.outcome is not None:
        parts += [state.outcome.decision or "", *_said(state.outcome.synthesis)]
    return searched(parts)


def searched(parts: Iterable[str]) -> str:
    """Texts as they are searched: without regard to case, and not without end."""
    return folded("\n".join(parts))[:_MOST_SEARCHED_CHARACTERS]


def _said(synthesis: Mapping[str, Json] | None) -> list[str]:
    if synthesis is None:
        return []
    return [str(synthesis.get("recommendation", "")), *map(str, synthesis.get("agreed", ()))]
