"""Opening, reading, listing, ruling on, cancelling and resuming meetings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import AwareDatetime, BeforeValidator

from app.api.idempotent_open import answer_opening
from app.api.json_answer import json_answer
from app.api.json_body import read_json, read_optional_json, validated
from app.api.meeting_view import cancellation_view, location, meeting_view
from app.api.parameters import (
    METADATA_PREFIX,
    NO_CONTROLS,
    Cursor,
    FormatWanted,
    Limit,
    MeetingId,
    Search,
    StrictRoute,
    problems,
)
from app.api.problems import Problem, invalid
from app.api.request_headers import idempotency_key, matches, preferred_wait, weak_tag
from app.api.request_mapping import resuming_wish, wish_of
from app.api.schemas import answers
from app.api.schemas.cancel_request import CancelRequest
from app.api.schemas.resume_request import ResumeRequest
from app.api.schemas.ruling_request import RulingRequest
from app.api.services import Given
from app.coordinator.ports import Archive, MeetingFilter
from app.domain.ending.arbitration import Ruling
from app.domain.errors import Fault
from app.domain.meeting.events import CancellationRequested
from app.domain.meeting.state import MeetingState
from app.domain.meeting.status import Status

router = APIRouter(tags=["meetings"], route_class=StrictRoute)

_BODY = ("malformed-json", "unsupported-media-type", "body-too-large", "not-built-yet")
_RESUMING = (
    "meeting-not-ended",
    "meeting-decided",
    "operation-unknown",
    "parent-closed",
    "version-unknown",
    "log-unavailable",
)
_RULING = ("no-question-open", "out-of-scope", "log-unavailable")
_MOST_METADATA = 10
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:Z|[+-]\d{2}:\d{2})")
_PLAIN = re.compile(NO_CONTROLS)


def _rfc3339(text: object) -> object:
    # Pydantic would take a bare number for seconds since 1970.
    if not isinstance(text, str) or not _MOMENT.fullmatch(text):
        raise ValueError("must be a time such as 2026-11-02T09:00:00Z")
    return text


Moment = Annotated[AwareDatetime, BeforeValidator(_rfc3339)]
DryRun = Annotated[
    bool, Query(description="Only say what the meeting would be and may cost; store nothing.")
]
Prefer = Annotated[
    list[str] | None,
    Header(description="`wait=N`: hold the answer back until the end, or N seconds (1 to 600)."),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        max_length=255,
        description="The same key and body give the first answer again, and no second meeting.",
    ),
]


@router.post(
    "/v1/meetings",
    operation_id="open_meeting",
    summary="Open a meeting",
    status_code=201,
    response_model=answers.Meeting,
    response_description="The meeting, which runs in the background (or has ended, with `wait`).",
    responses={
        200: {"model": answers.Planned, "description": "With `dry_run`: the plan, nothing else."},
        201: {
            "headers": {
                "Location": {"schema": {"type": "string"}},
                "Preference-Applied": {"schema": {"type": "string"}},
                "Idempotency-Replayed": {"schema": {"type": "string", "enum": ["true"]}},
            }
        },
        **problems(*_BODY, "request-in-progress", "idempotency-key-reused", "log-unavailable"),
    },
    openapi_extra={"requestBody": {"$ref": "#/components/requestBodies/OpenMeeting"}},
)
async def open_meeting(
    request: Request,
    services: Given,
    dry_run: DryRun = False,
    prefer: Prefer = None,
    idempotency_key_: Annotated[IdempotencyKey, Header(alias="Idempotency-Key")] = None,
) -> Response:
    key = idempotency_key(idempotency_key_)
    body = await read_json(request)
    wish = wish_of(body)
    if dry_run:
        # Nothing is stored, so there is no first answer to keep under a key either.
        return json_answer({"plan": await services.meetings.plan(wish)})
    wait = preferred_wait(prefer or ())
    return await answer_opening(services, request, wish, body, key=key, wait=wait)


@router.get(
    "/v1/meetings",
    operation_id="list_meetings",
    summary="List meetings, newest first",
    response_model=answers.MeetingPage,
    responses=problems("log-unavailable"),
    openapi_extra={
        "parameters": [
            {
                "name": "metadata.KEY",
                "in": "query",
                "description": "Only meetings whose metadata has this text under KEY.",
                "schema": {"type": "string"},
            }
        ]
    },
)
async def list_meetings(
    request: Request,
    services: Given,
    status: Status | None = None,
    format_: FormatWanted = None,
    q: Search = None,
    created_after: Moment | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    page = await services.archive.meetings(
        MeetingFilter(
            status=None if status is None else status.value,
            format=format_,
            text=q,
            metadata=_metadata(request),
            created_after=created_after,
            cursor=cursor,
            limit=limit,
        )
    )
    now = services.clock.now()
    items = [meeting_view(state, now) for state in page.items]
    return json_answer({"items": items, "next_cursor": page.next_cursor})


@router.get(
    "/v1/meetings/{meeting_id}",
    operation_id="get_meeting",
    summary="Where a meeting stands",
    response_model=answers.Meeting,
    responses={
        200: {"headers": {"ETag": {"schema": {"type": "string"}}}},
        304: {"description": "Nothing has happened since the version named in `If-None-Match`."},
        **problems("not-found", "log-unavailable"),
    },
)
async def get_meeting(
    services: Given,
    meeting_id: MeetingId,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    state = await services.archive.state(meeting_id)
    above = [await services.archive.state(id_) for id_ in reversed(state.meeting.ancestors)]
    # What is drawn in other meetings of its tree is shown here too, and adds no entry to its log.
    drawn = [each.drawn for each in (state, *above)] if above or state.children else []
    tag = weak_tag(
        state.last_seq,
        *(each.last_seq for each in above),
        *(f"{each.replies}-{each.spent.tokens}" for each in drawn),
    )
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if matches(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return json_answer(meeting_view(state, services.clock.now(), above), headers=headers)


@router.post(
    "/v1/meetings/{meeting_id}/cancel",
    operation_id="cancel_meeting",
    summary="Cancel a meeting",
    status_code=202,
    response_model=answers.Cancellation,
    response_description="The cancel has been requested.",
    responses={
        200: {"model": answers.Cancellation, "description": "It had been requested before."},
        **problems("not-found", *_BODY[:3], "meeting-ended", "log-unavailable"),
    },
    openapi_extra={"requestBody": {"$ref": "#/components/requestBodies/CancelMeeting"}},
)
async def cancel_meeting(request: Request, services: Given, meeting_id: MeetingId) -> Response:
    body = validated(CancelRequest, await read_optional_json(request))
    state, newly = await services.meetings.cancel(meeting_id, body.reason)
    headers = {"Location": f"{location(meeting_id)}/cancellation"}
    return json_answer(cancellation_view(state), 202 if newly else 200, headers)


@router.get(
    "/v1/meetings/{meeting_id}/cancellation",
    operation_id="get_cancellation",
    summary="How far a cancel has come",
    response_model=answers.Cancellation,
    responses=problems("not-found", "log-unavailable"),
)
async def get_cancellation(services: Given, meeting_id: MeetingId) -> Response:
    closed = await services.archive.closed_cancellation(meeting_id)
    if closed is not None:
        return json_answer(closed)
    state = await services.archive.state(meeting_id)
    view = cancellation_view(state)
    if view is None:
        raise Problem("not-found", await _not_cancelled(services.archive, state))
    return json_answer(view)


async def _not_cancelled(archive: Archive, state: MeetingState) -> str:
    """Why there is no cancel of a meeting, or none any more."""
    id_ = state.meeting.id
    log = await archive.log(id_) if state.resumptions else ()
    if not any(isinstance(event.content, CancellationRequested) for event in log):
        return f"Nobody has cancelled meeting {id_}."
    return (
        f"Meeting {id_} was cancelled, and has been resumed since; nobody has cancelled it again. "
        f"That cancel is kept under `resumptions` in its minutes: as JSON at "
        f"{location(id_)}/minutes, until the next end with the query parameter partial=true."
    )


@router.post(
    "/v1/meetings/{meeting_id}/ruling",
    operation_id="rule",
    summary="Answer the question that waits for a person's ruling",
    response_model=answers.Meeting,
    response_description="The ruling is recorded and the meeting goes on to its end by it.",
    responses=problems("not-found", *_BODY[:3], *_RULING),
    openapi_extra={"requestBody": {"$ref": "#/components/requestBodies/Rule"}},
)
async def rule(request: Request, services: Given, meeting_id: MeetingId) -> Response:
    body = validated(RulingRequest, await read_json(request))
    ruling = Ruling(body.choice, body.reason, body.decided_by, body.conditions or None)
    state = await services.meetings.rule(meeting_id, ruling)
    return json_answer(meeting_view(state, services.clock.now()))


@router.post(
    "/v1/meetings/{meeting_id}/resume",
    operation_id="resume_meeting",
    summary="Go on with a meeting that has ended without a decision",
    status_code=202,
    response_model=answers.Meeting,
    response_description="The meeting, which goes on in the background from where it stood.",
    responses=problems("not-found", *_BODY[:3], *_RESUMING),
    openapi_extra={"requestBody": {"$ref": "#/components/requestBodies/ResumeMeeting"}},
)
async def resume_meeting(request: Request, services: Given, meeting_id: MeetingId) -> Response:
    wish = resuming_wish(validated(ResumeRequest, await read_json(request)))
    state = await services.meetings.resume(meeting_id, wish)
    headers = {"Location": location(meeting_id)}
    return json_answer(meeting_view(state, services.clock.now()), 202, headers)


def _metadata(request: Request) -> Mapping[str, str]:
    wanted = {
        key.removeprefix(METADATA_PREFIX): value
        for key, value in request.query_params.items()
        if key.startswith(METADATA_PREFIX)
    }
    fit = all(wanted) and all(_PLAIN.fullmatch(text) for pair in wanted.items() for text in pair)
    if len(wanted) > _MOST_METADATA or not fit:
        detail = (
            f"Give a key after {METADATA_PREFIX}, at most {_MOST_METADATA} of them, "
            "and no control characters."
        )
        raise invalid(Fault(f"/{METADATA_PREFIX}", detail))
    return wanted
