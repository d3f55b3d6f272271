"""What callers see of saves elsewhere."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.domain.meeting.entries import Entry
from app.domain.meeting.events import OperationHappened
from app.domain.meeting.meeting import Destination
from app.domain.operation.log import begun, happened
from app.domain.operation.state import OperationState
from app.domain.operation.terms import HandedOver, Operation, OperationHappening, Sent
from tests.api.parts import Parts
from tests.clock import START

URL = "https://wiki.example/a.md"


async def _note(parts: Parts, meeting_id: str, number: int, *happenings: OperationHappening) -> str:
    """Have the meeting's log tell of an operation to which this has happened."""
    operation = Operation(f"op_{number}", URL, "0" * 64, "dee", START)
    state = OperationState(operation)
    entries = [Entry(begun(meeting_id, state, "x"), START)]
    for happening in happenings:
        state = state.after(happening)
        noted = happened(OperationHappened, meeting_id, state, happening)
        entries.append(Entry(noted, START))
    await parts.append(meeting_id, *entries)
    return operation.id


HANDED_OVER = (Sent(START), HandedOver(START, START))


@pytest.fixture
async def opened(client: httpx.AsyncClient) -> str:
    return (await client.post("/v1/meetings", json={"topic": "Tea or coffee?"})).json()["id"]


async def _get(client: httpx.AsyncClient, path: str, **query: str) -> Any:
    answer = await client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_meeting_tells_how_many_are_open_and_lists_them(
    client: httpx.AsyncClient, parts: Parts, opened: str
) -> None:
    first = await _note(parts, opened, 1, Sent(START))
    second = await _note(parts, opened, 2, *HANDED_OVER)
    meeting = await _get(client, f"/v1/meetings/{opened}")
    assert meeting["operations"] == {"pending": 1, "unknown": 1}
    items = (await _get(client, meeting["links"]["operations"]))["items"]
    assert [(each["id"], each["state"]) for each in items] == [
        (first, "requested"),
        (second, "handed_over"),
    ]
    assert all(each["meeting_id"] == opened for each in items)


async def test_over_all_meetings_those_that_nobody_can_be_sure_of(
    client: httpx.AsyncClient, parts: Parts, opened: str
) -> None:
    await _note(parts, opened, 1, Sent(START))
    await _note(parts, opened, 2, *HANDED_OVER)
    listed = (await _get(client, "/v1/operations"))["items"]
    assert [each["id"] for each in listed] == ["op_2"]
    await _note(parts, opened, 3, Sent(START))
    page = await _get(client, "/v1/operations", status="requested", limit="1")
    assert [each["id"] for each in page["items"]] == ["op_3"]
    rest = await _get(
        client, "/v1/operations", status="requested", limit="7", cursor=page["next_cursor"]
    )
    assert [each["id"] for each in rest["items"]] == ["op_1"]
    assert rest["next_cursor"] is None


async def test_reconciling_answers_with_the_operation(
    client: httpx.AsyncClient, parts: Parts, opened: str
) -> None:
    id_ = await _note(parts, opened, 1, *HANDED_OVER)
    answer = await client.post(f"/v1/operations/{id_}/reconcile")
    assert (answer.status_code, answer.json()["id"]) == (200, id_)
    assert (await client.post("/v1/operations/op_9/reconcile")).status_code == 404


def test_a_destination_in_a_log_is_read_back() -> None:
    destination = Destination(URL, 5, "dee")
    assert Destination(**destination.record()) == destination
