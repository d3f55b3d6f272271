"""What meetings have saved elsewhere, and what became of it (PROTOCOLS 13)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.api.json_answer import json_answer
from app.api.parameters import Cursor, Limit, MeetingId, StrictRoute, problems
from app.api.schemas import list_answers
from app.api.services import Given
from app.coordinator.ports import OperationFilter
from app.domain.operation.terms import OperationStatus

router = APIRouter(tags=["operations"], route_class=StrictRoute)

OperationId = Annotated[
    str, Path(max_length=120, pattern=r"^[A-Za-z0-9_-]+$", examples=["op_01JD0Z3K7W_5f0c2b"])
]
State = Annotated[
    OperationStatus | None,
    Query(
        alias="status",
        description="Only those in this state; without it those that are unknown or handed over.",
    ),
]


@router.get(
    "/v1/meetings/{meeting_id}/operations",
    operation_id="list_meeting_operations",
    summary="What a meeting has saved elsewhere, each as it stands now",
    response_model=list_answers.OperationList,
    responses=problems("not-found", "log-unavailable"),
)
async def list_meeting_operations(services: Given, meeting_id: MeetingId) -> Response:
    state = await services.archive.state(meeting_id)
    items = [operation.record() for operation in state.operations.values()]
    return json_answer({"items": items, "next_cursor": None})


@router.get(
    "/v1/operations",
    operation_id="list_operations",
    summary="Operations over all meetings that nobody can be sure of, newest first",
    response_model=list_answers.OperationPage,
    responses=problems("log-unavailable"),
)
async def list_operations(
    services: Given, status: State = None, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    wanted = OperationFilter(cursor=cursor, limit=limit)
    if status is not None:
        wanted = OperationFilter(frozenset({status.value}), cursor, limit)
    page = await services.archive.operations(wanted)
    return json_answer({"items": list(page.items), "next_cursor": page.next_cursor})


@router.post(
    "/v1/operations/{operation_id}/reconcile",
    operation_id="reconcile_operation",
    summary="Look now whether it is there; nothing is written",
    response_model=list_answers.OperationShown,
    response_description="The operation after one look. One that is confirmed or has failed, and "
    "one that its meeting is still at work on, comes back as it stands.",
    responses=problems("not-found", "log-unavailable"),
)
async def reconcile_operation(services: Given, operation_id: OperationId) -> Response:
    known = await services.archive.operation(operation_id)
    operation = await services.reconcile(known["meeting_id"], operation_id)
    return json_answer(operation.record())
