"""What can be asked of the store: meetings, logs, decisions, first answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Select, and_, exists, select

from app.coordinator.ports import (
    DissentFilter,
    Idempotency,
    MeetingFilter,
    OperationFilter,
    Page,
)
from app.domain.errors import NotFound
from app.domain.meeting.ballots import ballot_record, ballots_in
from app.domain.meeting.entries import Event
from app.domain.meeting.events import ReplyReceived
from app.domain.meeting.state import MeetingState
from app.domain.meeting.status import Status
from app.domain.values import Json, JsonObject
from app.store.closed_queries import (
    DISSENTS_ORDERED_BY,
    all_dissents,
    ballots_of,
    cancellation_of,
    cancellation_shown,
    dissent_listed,
    dissent_shown,
    dissents_of,
)
from app.store.cursors import ID, OPERATION_ID, cursor_of, dated_parts_of, parts_of
from app.store.database import LARGEST_INTEGER, Database, outages
from app.store.event_rows import event_of
from app.store.searching import mentions
from app.store.state_rows import state_of
from app.store.tables import (
    EventRow,
    IdempotencyRow,
    MeetingMetadataRow,
    MeetingRow,
    OperationRow,
    table,
)

_event = table(EventRow)
_meeting = table(MeetingRow)
_metadata = table(MeetingMetadataRow)
_idempotency = table(IdempotencyRow)
_operation = table(OperationRow)


class SqlArchive:
    """Implements the port ``Archive``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def state(self, meeting_id: str) -> MeetingState:
        rows = await self._rows(select(_meeting).where(_meeting.c.id == meeting_id))
        if not rows:
            raise NotFound(f"There is no meeting {meeting_id}.")
        return state_of(rows[0])

    async def meetings(self, filter_: MeetingFilter) -> Page[MeetingState]:
        rows, cursor = await self._meetings(select(_meeting), filter_)
        return Page([state_of(row) for row in rows], cursor)

    async def decided(self, filter_: MeetingFilter) -> Page[Sequence[Event]]:
        ended = select(_meeting.c.id).where(_meeting.c.status == Status.ENDED.value)
        rows, cursor = await self._meetings(ended, filter_)
        return Page([await self.log(row["id"]) for row in rows], cursor)

    async def log(self, meeting_id: str) -> Sequence[Event]:
        rows = await self._rows(_log_of(meeting_id))
        if not rows:
            raise NotFound(f"There is no meeting {meeting_id}.")
        return [event_of(row) for row in rows]

    async def events(self, meeting_id: str, after: int, limit: int) -> Sequence[Event]:
        query = (
            select(_event)
            .where(
                _event.c.meeting_id == meeting_id,
                _event.c.number > min(after, LARGEST_INTEGER),
            )
            .order_by(_event.c.number)
            .limit(limit)
        )
        rows = await self._rows(query)
        if not rows:
            await self.state(meeting_id)
        return [event_of(row) for row in rows]

    async def ballots(self, meeting_id: str) -> Sequence[JsonObject]:
        rows = await self._of_meeting(ballots_of(meeting_id), meeting_id)
        if rows is not None:
            return [orjson.loads(row["record"]) for row in rows]
        query = _log_of(meeting_id).where(_event.c.type == ReplyReceived.type)
        log = [event_of(row) for row in await self._rows(query)]
        return [ballot_record(reply, event.at) for event, reply in ballots_in(log)]

    async def dissents(self, meeting_id: str) -> Sequence[JsonObject]:
        rows = await self._of_meeting(dissents_of(meeting_id), meeting_id)
        return [dissent_shown(row) for row in rows or ()]

    async def all_dissents(self, filter_: DissentFilter) -> Page[JsonObject]:
        query = all_dissents(filter_, embedded=self._database.embedded)
        page, cursor = await self._page(query, filter_.limit, *DISSENTS_ORDERED_BY)
        return Page([dissent_listed(row) for row in page], cursor)

    async def closed_cancellation(self, meeting_id: str) -> JsonObject | None:
        rows = await self._rows(cancellation_of(meeting_id))
        return cancellation_shown(rows[0]) if rows else None

    async def operations(self, filter_: OperationFilter) -> Page[Mapping[str, Json]]:
        query = select(_operation).where(_operation.c.state.in_(sorted(filter_.states)))
        if filter_.cursor is not None:
            query = query.where(_behind(filter_.cursor))
        newest_first = (_operation.c.requested_at.desc(), _operation.c.id.desc())
        query = query.order_by(*newest_first)
        page, cursor = await self._page(query, filter_.limit, "requested_at", "id")
        return Page([orjson.loads(row["record"]) for row in page], cursor)

    async def operation(self, operation_id: str) -> Mapping[str, Json]:
        rows = await self._rows(select(_operation).where(_operation.c.id == operation_id))
        if not rows:
            raise NotFound(f"There is no operation {operation_id}.")
        return orjson.loads(rows[0]["record"])

    async def first_answer(self, key: str) -> Idempotency | None:
        rows = await self._rows(select(_idempotency).where(_idempotency.c.key == key))
        if not rows:
            return None
        return Idempotency(rows[0]["key"], rows[0]["digest"], rows[0]["answer"])

    async def keep_answer(self, key: str, answer: str) -> None:
        update = _idempotency.update().where(_idempotency.c.key == key).values(answer=answer)
        await self._write(update)

    async def _of_meeting(self, query: Select[Any], meeting_id: str) -> Sequence[Any] | None:
        """The rows that a meeting's end left; None where it has not ended.

        Raises ``NotFound``.
        """
        rows = await self._rows(query)
        if not rows:
            raise NotFound(f"There is no meeting {meeting_id}.")
        if rows[0]["status"] != Status.ENDED.value:
            return None
        return [row for row in rows if row["number"] is not None]

    async def _meetings(
        self, query: Select[Any], filter_: MeetingFilter
    ) -> tuple[Sequence[Any], str | None]:
        for condition in self._conditions(filter_):
            query = query.where(condition)
        return await self._page(query.order_by(_meeting.c.id.desc()), filter_.limit, "id")

    async def _page(
        self, query: Select[Any], limit: int, *ordered_by: str
    ) -> tuple[Sequence[Any], str | None]:
        """So many rows at the most, and the cursor to those that follow, if any do."""
        rows = await self._rows(query.limit(limit + 1))
        page = rows[:limit]
        more = len(rows) > limit
        return page, cursor_of(*(page[-1][name] for name in ordered_by)) if more else None

    def _conditions(self, filter_: MeetingFilter) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = []
        if filter_.status is not None:
            found.append(_meeting.c.status == filter_.status)
        if filter_.format is not None:
            found.append(_meeting.c.format == filter_.format)
        if filter_.result is not None:
            found.append(_meeting.c.result == filter_.result)
        if filter_.created_after is not None:
            found.append(_meeting.c.created_at > filter_.created_after)
        if filter_.cursor is not None:
            (id_,) = parts_of(filter_.cursor, ID)
            found.append(_meeting.c.id < id_)
        found += [_has_metadata(key, value) for key, value in filter_.metadata.items()]
        if filter_.text:
            found += mentions(_meeting, filter_.text, embedded=self._database.embedded)
        return found

    async def _rows(self, query: Any) -> Sequence[Any]:
        with outages("read"):
            async with self._database.reader.connect() as connection:
                return (await connection.execute(query)).mappings().all()

    async def _write(self, statement: Any) -> None:
        with outages("written"):
            async with self._database.reader.begin() as connection:
                await connection.execute(statement)


def _has_metadata(key: str, value: str) -> ColumnElement[bool]:
    return exists().where(
        and_(
            _metadata.c.meeting_id == _meeting.c.id,
            _metadata.c.key == key,
            _metadata.c.value == value,
        )
    )


def _behind(cursor: str) -> ColumnElement[bool]:
    """Behind this one among the operations, which are listed newest first."""
    at, (id_,) = dated_parts_of(cursor, OPERATION_ID)
    requested_at: ColumnElement[datetime] = _operation.c.requested_at
    return (requested_at < at) | ((requested_at == at) & (_operation.c.id < id_))


def _log_of(meeting_id: str) -> Select[Any]:
    return select(_event).where(_event.c.meeting_id == meeting_id).order_by(_event.c.seq)
