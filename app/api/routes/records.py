"""What a meeting leaves behind: rounds, dissents, minutes, the decision, the handoff."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from app.api.json_answer import JSON_TYPE, encoded, json_answer
from app.api.negotiation import chosen
from app.api.parameters import (
    NO_CONTROLS,
    Accept,
    Cursor,
    FormatWanted,
    Limit,
    MeetingId,
    Search,
    StrictRoute,
    problems,
)
from app.api.schemas import list_answers, record_answers
from app.api.services import Given
from app.coordinator.ports import DissentFilter, MeetingFilter
from app.domain.errors import MeetingNotEnded
from app.domain.meeting.entries import Event
from app.domain.meeting.events import MeetingEnded, MeetingResumed
from app.domain.meeting.history import history, rounds_record
from app.domain.meeting.outcome import Result
from app.records.decision import decision_json, decision_markdown
from app.records.handoff import handoff_json, handoff_markdown
from app.records.html import content_security_policy
from app.records.listings import objections_record
from app.records.minutes import minutes_html, minutes_json, minutes_markdown

router = APIRouter(tags=["records"], route_class=StrictRoute)

MARKDOWN = "text/markdown"
HTML = "text/html"

Log = Sequence[Event]
Writer = Callable[[Log], Any]

_MINUTES: dict[str, Writer] = {
    MARKDOWN: minutes_markdown,
    HTML: minutes_html,
    JSON_TYPE: minutes_json,
}
_DECISION: dict[str, Writer] = {JSON_TYPE: decision_json, MARKDOWN: decision_markdown}
_HANDOFF: dict[str, Writer] = {JSON_TYPE: handoff_json, MARKDOWN: handoff_markdown}
_TEXT = {"schema": {"type": "string"}}

Dissenter = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        pattern=NO_CONTROLS,
        description="Only what this participant held, by its name.",
    ),
]
Partial = Annotated[
    bool, Query(description="Before the end too: the minutes of what has happened so far.")
]


@router.get(
    "/v1/meetings/{meeting_id}/rounds",
    operation_id="list_rounds",
    summary="The rounds with their replies, stances, tally and summary",
    response_model=list_answers.RoundList,
    responses=problems("not-found", "log-unavailable"),
)
async def list_rounds(services: Given, meeting_id: MeetingId) -> Response:
    log = await services.archive.log(meeting_id)
    return json_answer({"items": rounds_record(log), "next_cursor": None})


@router.get(
    "/v1/meetings/{meeting_id}/votes",
    operation_id="list_votes",
    summary="The ballots so far, in the order in which they came",
    response_model=list_answers.VoteList,
    responses=problems("not-found", "log-unavailable"),
)
async def list_votes(services: Given, meeting_id: MeetingId) -> Response:
    ballots = await services.archive.ballots(meeting_id)
    return json_answer({"items": ballots, "next_cursor": None})


@router.get(
    "/v1/meetings/{meeting_id}/objections",
    operation_id="list_objections",
    summary="The critics' objections, each as it stands now",
    response_model=list_answers.ObjectionList,
    responses=problems("not-found", "log-unavailable"),
)
async def list_objections(services: Given, meeting_id: MeetingId) -> Response:
    log = await services.archive.log(meeting_id)
    return json_answer({"items": objections_record(history(log)), "next_cursor": None})


@router.get(
    "/v1/meetings/{meeting_id}/dissents",
    operation_id="list_dissents",
    summary="The views that lost, with their reasons; there are none before the end",
    response_model=list_answers.DissentList,
    responses=problems("not-found", "log-unavailable"),
)
async def list_dissents(services: Given, meeting_id: MeetingId) -> Response:
    dissents = await services.archive.dissents(meeting_id)
    return json_answer({"items": dissents, "next_cursor": None})


@router.get(
    "/v1/dissents",
    operation_id="list_all_dissents",
    summary="The views that lost, over all meetings that have ended, newest first",
    response_model=list_answers.DissentPage,
    responses=problems("log-unavailable"),
)
async def list_all_dissents(
    services: Given,
    q: Search = None,
    participant: Dissenter = None,
    format_: FormatWanted = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    page = await services.archive.all_dissents(
        DissentFilter(text=q, participant=participant, format=format_, cursor=cursor, limit=limit)
    )
    return json_answer({"items": page.items, "next_cursor": page.next_cursor})


@router.get(
    "/v1/meetings/{meeting_id}/minutes",
    operation_id="get_minutes",
    summary="The minutes, by Accept: Markdown (default), HTML or JSON",
    response_class=Response,
    responses={
        200: {
            "description": "The minutes.",
            "content": {
                MARKDOWN: _TEXT,
                HTML: _TEXT,
                JSON_TYPE: {"schema": {"$ref": "#/components/schemas/Minutes"}},
            },
        },
        **problems("not-found", "not-acceptable", "meeting-not-ended", "log-unavailable"),
    },
)
async def get_minutes(
    services: Given, meeting_id: MeetingId, partial: Partial = False, accept: Accept = None
) -> Response:
    media = chosen(accept, tuple(_MINUTES))
    log = await services.archive.log(meeting_id)
    if not partial:
        _refuse_before_end(
            log, meeting_id, "its minutes so far are given with the query parameter partial=true"
        )
    return await _written(_MINUTES[media], media, log)


@router.get(
    "/v1/meetings/{meeting_id}/decision",
    operation_id="get_decision",
    summary="The decision record, by Accept: JSON (default) or Markdown",
    response_class=Response,
    responses={
        200: {
            "description": "The decision record.",
            "content": {
                JSON_TYPE: {"schema": {"$ref": "#/components/schemas/DecisionRecord"}},
                MARKDOWN: _TEXT,
            },
        },
        **problems("not-found", "not-acceptable", "meeting-not-ended", "log-unavailable"),
    },
)
async def get_decision(services: Given, meeting_id: MeetingId, accept: Accept = None) -> Response:
    media = chosen(accept, tuple(_DECISION))
    log = await services.archive.log(meeting_id)
    _refuse_before_end(log, meeting_id, "its events say when it does")
    return await _written(_DECISION[media], media, log)


@router.get(
    "/v1/meetings/{meeting_id}/handoff",
    operation_id="get_handoff",
    summary="What a person needs to decide, by Accept: JSON (default) or Markdown",
    response_class=Response,
    responses={
        200: {
            "description": "The package, while a question is open and after the end.",
            "content": {
                JSON_TYPE: {"schema": {"$ref": "#/components/schemas/Handoff"}},
                MARKDOWN: _TEXT,
            },
        },
        **problems("not-found", "not-acceptable", "meeting-not-ended", "log-unavailable"),
    },
)
async def get_handoff(services: Given, meeting_id: MeetingId, accept: Accept = None) -> Response:
    media = chosen(accept, tuple(_HANDOFF))
    log = await services.archive.log(meeting_id)
    return await _written(_HANDOFF[media], media, log)


@router.get(
    "/v1/decisions",
    operation_id="list_decisions",
    summary="The decision records of all meetings, newest first",
    response_model=record_answers.DecisionPage,
    responses=problems("log-unavailable"),
)
async def list_decisions(
    services: Given,
    q: Search = None,
    result: Result | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    wanted = None if result is None else result.value
    page = await services.archive.decided(
        MeetingFilter(text=q, result=wanted, cursor=cursor, limit=limit)
    )
    items = await asyncio.to_thread(lambda: [decision_json(log) for log in page.items])
    return json_answer({"items": items, "next_cursor": page.next_cursor})


def _refuse_before_end(log: Log, meeting_id: str, instead: str) -> None:
    for event in reversed(log):
        if isinstance(event.content, MeetingEnded):
            return
        if isinstance(event.content, MeetingResumed):
            break  # What ended before that goes on.
    raise MeetingNotEnded(f"Meeting {meeting_id} has not ended yet; {instead}.")


async def _written(write: Writer, media: str, log: Log) -> Response:
    # A long meeting's record takes a moment to set; in a thread it holds nobody else up.
    record = await asyncio.to_thread(write, log)
    content = record if isinstance(record, str) else encoded(record)
    headers = {"Vary": "Accept", "X-Content-Type-Options": "nosniff"}
    if media == HTML:
        headers["Content-Security-Policy"] = content_security_policy()
    return Response(content, media_type=media, headers=headers)
