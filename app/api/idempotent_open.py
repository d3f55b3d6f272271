"""Answering the call that opens a meeting: once for each key, and late if the caller will wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fastapi import Request, Response

from app.api.json_answer import encoded, json_bytes
from app.api.json_body import JsonBody
from app.api.meeting_view import location, meeting_view
from app.api.request_headers import digest
from app.api.services import Services
from app.coordinator.commands import OpenMeeting
from app.coordinator.ports import Idempotency
from app.domain.errors import Fault, IdempotencyKeyReused, RequestInProgress
from app.domain.meeting.state import MeetingState, created


async def answer_opening(
    services: Services,
    request: Request,
    wish: OpenMeeting,
    body: JsonBody,
    *,
    key: str | None,
    wait: int | None,
) -> Response:
    """The 201 for a new meeting, or the one that was given first to this key."""
    if key is None:
        state = await services.meetings.open(wish, None)
        return await _answer(services, request, state, wait, key)
    with _handling(services, key):
        asked = digest(body.canonical)
        first = await services.archive.first_answer(key)
        if first is not None:
            return await _again(services, first, asked, wait)
        state = await services.meetings.open(wish, Idempotency(key, asked, ""))
        return await _answer(services, request, state, wait, key)


@contextmanager
def _handling(services: Services, key: str) -> Iterator[None]:
    if key in services.handling:
        raise RequestInProgress(
            "The first request with this idempotency key is still being handled; "
            "send it again when that one has been answered."
        )
    services.handling.add(key)
    try:
        yield
    finally:
        services.handling.discard(key)


async def _answer(
    services: Services,
    request: Request,
    state: MeetingState,
    wait: int | None,
    key: str | None,
) -> Response:
    headers: dict[str, str] = {}
    if wait is not None:
        headers["Preference-Applied"] = f"wait={wait}"
        await _wait_for_end(services, request, state.meeting.id, wait)
        state = await services.archive.state(state.meeting.id)
    body = encoded(meeting_view(state, services.clock.now()))
    if key is not None and wait is not None:
        # An answer without a wait follows from the meeting's first event and need not be kept.
        await services.archive.keep_answer(key, body.decode())
    return _created(body, state.meeting.id, headers)


async def _again(services: Services, first: Idempotency, asked: str, wait: int | None) -> Response:
    """The first answer once more; the store holds it, or only which meeting it was about."""
    if first.digest != asked:
        detail = "This key came with another body before; use a new key for a new meeting."
        raise IdempotencyKeyReused(Fault("/Idempotency-Key", detail))
    kept: Mapping[str, Any] = json.loads(first.answer)
    body = first.answer.encode()
    headers = {"Idempotency-Replayed": "true"}
    if kept.keys() == {"id"}:
        opening = (await services.archive.log(kept["id"]))[0]
        body = encoded(meeting_view(created(opening), services.clock.now()))
    elif wait is not None:
        headers["Preference-Applied"] = f"wait={wait}"
    return _created(body, kept["id"], headers)


def _created(body: bytes, meeting_id: str, headers: Mapping[str, str]) -> Response:
    return json_bytes(body, 201, {"Location": location(meeting_id), **headers})


async def _wait_for_end(
    services: Services, request: Request, meeting_id: str, seconds: int
) -> None:
    """Until the meeting has ended, the time is over, the caller has hung up or we shut down."""
    ended = asyncio.ensure_future(services.meetings.ended(meeting_id))
    others = (
        asyncio.create_task(_hung_up(request)),
        asyncio.create_task(services.shutdown.wait()),
    )
    try:
        await asyncio.wait((ended, *others), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            await ended
    finally:
        # Waiting is all that is cancelled here; the meeting goes on.
        for task in (ended, *others):
            task.cancel()
        await asyncio.gather(ended, *others, return_exceptions=True)


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
