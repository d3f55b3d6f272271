"""What happens in meetings, as it happens (server-sent events) or page by page."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from app.api.json_answer import JSON_TYPE, json_answer
from app.api.meeting_view import event_view
from app.api.negotiation import chosen
from app.api.parameters import MOST_PAGE, Accept, Limit, MeetingId, StrictRoute, problems
from app.api.request_headers import last_event_cursor, last_event_number
from app.api.services import Given, Services
from app.api.sse import EVENT_STREAM, EventStream

router = APIRouter(tags=["events"], route_class=StrictRoute)

_STREAM_DESCRIPTION = (
    "Server-sent events: `retry: 2000` first, then for each event `id`, `event` (its type) and "
    "`data` (the event as JSON, on one line), and a comment every 15 seconds."
)
_STREAM_EXAMPLE = (
    "retry: 2000\n\n"
    "id: 1\nevent: meeting.created\n"
    'data: {"id":1,"type":"meeting.created","meeting_id":"mtg_01JD0Z3K7W",'
    '"at":"2026-11-02T09:00:00Z","data":{}}\n\n'
)
STREAM_CONTENT = {
    # The fields of one event. OpenAPI 3.2 has the word itemSchema for it; more tools read 3.1.
    "schema": {
        "type": "object",
        "required": ["data"],
        "properties": {
            "id": {"type": "string"},
            "event": {"type": "string"},
            "data": {
                "type": "string",
                "contentMediaType": JSON_TYPE,
                "contentSchema": {"$ref": "#/components/schemas/Event"},
            },
            "retry": {"type": "integer"},
        },
    },
    "examples": {"first event": {"value": _STREAM_EXAMPLE}},
}
_STREAM_HEADERS = {
    "Cache-Control": {"schema": {"type": "string", "const": "no-store"}},
    "X-Accel-Buffering": {"schema": {"type": "string", "const": "no"}},
}

After = Annotated[
    int | None,
    Query(ge=0, lt=10**15, description="Only events with a number above this one."),
]
LastEventId = Annotated[
    str | None,
    Header(alias="Last-Event-ID", description="As `after`, for streams; it wins over `after`."),
]


@router.get(
    "/v1/meetings/{meeting_id}/events",
    operation_id="follow_meeting",
    summary="A meeting's events: all so far, then live until the meeting has ended",
    response_class=Response,
    responses={
        200: {
            "description": f"{_STREAM_DESCRIPTION} With `Accept: {JSON_TYPE}`: one page of events.",
            "headers": _STREAM_HEADERS,
            "content": {
                EVENT_STREAM: STREAM_CONTENT,
                JSON_TYPE: {"schema": {"$ref": "#/components/schemas/EventPage"}},
            },
        },
        **problems("not-found", "not-acceptable", "log-unavailable"),
    },
)
async def follow_meeting(
    services: Given,
    meeting_id: MeetingId,
    after: After = None,
    limit: Limit = MOST_PAGE,
    last_event_id: LastEventId = None,
    accept: Accept = None,
) -> Response:
    if chosen(accept, (EVENT_STREAM, JSON_TYPE)) == JSON_TYPE:
        return await _page(services, meeting_id, after or 0, limit)
    # Everything that can be refused is refused here: no problem can follow a stream's start.
    resumed = last_event_number(last_event_id)
    await services.tail.check(meeting_id)
    start = after or 0 if resumed is None else resumed
    return EventStream(services.tail.follow(meeting_id, start), services.shutdown)


@router.get(
    "/v1/events",
    operation_id="follow_all_meetings",
    summary="The events of all meetings: all so far, then live",
    response_class=Response,
    responses={
        200: {
            "description": f"{_STREAM_DESCRIPTION} Ids are opaque here, and resumable too.",
            "headers": _STREAM_HEADERS,
            "content": {EVENT_STREAM: STREAM_CONTENT},
        },
        **problems("not-acceptable", "log-unavailable"),
    },
)
async def follow_all_meetings(
    services: Given, last_event_id: LastEventId = None, accept: Accept = None
) -> Response:
    chosen(accept, (EVENT_STREAM,))
    frames = services.tail.follow_all(last_event_cursor(last_event_id))
    return EventStream(frames, services.shutdown)


async def _page(services: Services, meeting_id: str, after: int, limit: int) -> Response:
    found = await services.archive.events(meeting_id, after, limit + 1)
    items = [event_view(event) for event in found[:limit]]
    next_cursor = str(items[-1]["id"]) if len(found) > limit else None
    page = {"items": items, "next_cursor": next_cursor}
    return json_answer(page, headers={"Vary": "Accept"})
