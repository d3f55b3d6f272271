"""What callers see of saves elsewhere."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.domain.meeting import events
from app.domain.meeting.events import Entry
from app.domain.meeting.meeting import Destination
from app.domain.operation.log import begun, happened
from app.domain.operation.state import OperationState
from app.domain.operation.terms import HandedOver, Happening, Operation, Sent
from tests.api.in_memory import NOON, World

URL = "https://wiki.example/a.md"


def _note(world: World, meeting_id: str, number: int, *happenings: Happening) -> str:
    """Have the meeting's log tell of an operation to which this has happened."""
    operation = Operation(f"op_{number}", URL, "0" * 64, "dee", NOON)
    state = OperationState(operation)
    entries = [Entry(events.OPERATION_HAPPENED, begun(meeting_id, state, "x"), NOON)]
    for happening in happenings:
        state = state.after(happening)
        data = happened(meeting_id, state, happening)
        entries.append(Entry(events.OPERATION_HAPPENED, data, NOON))
    world.store.append(meeting_id, *entries)
    return operation.id


HANDED_OVER = (Sent(NOON), HandedOver(NOON, NOON))


@pytest.fixture
async def opened(client: httpx.AsyncClient) -> str:
    return (await client.post("/v1/meetings", json={"topic": "Tea or coffee?"})).json()["id"]


async def _get(client: httpx.AsyncClient, path: str, **query: str) -> Any:
    answer = await client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_meeting_tells_how_many_are_open_and_lists_them(
    client: httpx.AsyncClient, world: World, opened: str
) -> None:
    first, second = _note(world, opened, 1, Sent(NOON)), _note(world, opened, 2, *HANDED_OVER)
    meeting = await _get(client, f"/v1/meetings/{opened}")
    assert meeting["operations"] == {"pending": 1, "unknown": 1}
    items = (await _get(client, meeting["links"]["operations"]))["items"]
    assert [(each["id"], each["state"]) for each in items] == [
        (first, "requested"),
        (second, "handed_over"),
    ]
    assert all(each["meeting_id"] == opened for each in items)


async def test_over_all_meetings_those_that_nobody_can_be_sure_of(
    client: httpx.AsyncClient, world: World, opened: str
) -> None:
    _note(world, opened, 1, Sent(NOON))
    _note(world, opened, 2, *HANDED_OVER)
    listed = (await _get(client, "/v1/operations"))["items"]
    assert [each["id"] for each in listed] == ["op_2"]
    listed = (await _get(client, "/v1/operations", status="requested", limit="7"))["items"]
    assert [each["id"] for each in listed] == ["op_1"]
    assert world.store.operation_filters[-1].limit == 7


async def test_reconciling_answers_with_the_operation(
    client: httpx.AsyncClient, world: World, opened: str
) -> None:
    id_ = _note(world, opened, 1, *HANDED_OVER)
    answer = await client.post(f"/v1/operations/{id_}/reconcile")
    assert (answer.status_code, answer.json()["id"]) == (200, id_)
    assert (await client.post("/v1/operations/op_9/reconcile")).status_code == 404


def test_a_destination_in_a_log_is_read_back() -> None:
    destination = Destination(URL, 5, "dee")
    assert Destination(**destination.record()) == destination
