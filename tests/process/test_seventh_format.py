"""A format from outside, in several versions, and meetings that this process cannot go on with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.process.service import Reader, Service

pytestmark = pytest.mark.timeout(240)

WISH = {
    "format": "show_of_hands",
    "topic": "Do we meet on Mondays?",
    "participants": [
        {"name": "ann", "agent": "up"},
        {"name": "ben", "agent": "up"},
        {"name": "cid", "agent": "down"},
    ],
}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    made = Service(tmp_path, "tests.seventh", {"HANDS": "1"})
    await made.start()
    for hand in ("up", "down"):
        await made.agent(hand, script=[f'{{"hand": "{hand}"}}'], delay_seconds=0.2)
    yield made
    await made.close()


async def _begun(service: Service) -> str:
    """A meeting that is at work when its process is killed."""
    id_ = await service.open(**WISH)
    await Reader(id_).read(service, until={"type": "round.started"})
    await service.kill()
    return id_


async def _start(service: Service, hands: str) -> None:
    service.beside["HANDS"] = hands
    await service.start()


async def _meeting(service: Service, id_: str) -> dict[str, Any]:
    return (await service.get(f"/v1/meetings/{id_}")).json()


async def _parked(service: Service, id_: str) -> dict[str, Any]:
    """The meeting, once this process has seen that it cannot go on with it."""
    await service.until_said(id_.encode(), 1)
    meeting = await _meeting(service, id_)
    while meeting["parked"] is None:
        meeting = await _meeting(service, id_)
    return meeting


async def test_a_format_from_outside_is_held_with_all_its_records(service: Service) -> None:
    reader = Reader(await service.open(**WISH))
    await reader.read(service)
    id_ = reader.sent[0].data["meeting_id"]
    meeting = await _meeting(service, id_)
    assert meeting["outcome"]["decision"] == "Do we meet on Mondays?"
    assert meeting["outcome"]["hands"]["counts"] == {"up": 2, "down": 1}
    decided = next(one for one in reader.sent if one.event == "decision.recorded").data["data"]
    assert decided["show_of_hands"] == {"raised": 2}
    path = f"/v1/meetings/{id_}"
    minutes = (await service.get(f"{path}/minutes")).text
    assert "Every hand was counted." in minutes
    assert all(name in minutes for name in ("ann", "ben", "cid", "Do we meet on Mondays?"))
    assert "<h1>" in (await service.get(f"{path}/minutes", accept="text/html")).text
    record = (await service.get(f"{path}/decision")).json()
    assert record["decision"] == "Do we meet on Mondays?"
    assert record["hands"]["counts"]["up"] == 2
    assert (
        "Do we meet on Mondays?"
        in (await service.get(f"{path}/decision", accept="text/markdown")).text
    )
    assert (await service.get(f"{path}/handoff")).json()["candidates"] == record["candidates"]
    listed = (await service.get("/v1/meetings?format=show_of_hands")).json()["items"]
    assert [each["id"] for each in listed] == [id_]
    mapping = (await service.get("/openapi.json")).json()["components"]["schemas"]
    assert "show_of_hands" in mapping["MeetingRequest"]["discriminator"]["mapping"]


async def test_it_is_replayed_like_any_other(service: Service) -> None:
    id_ = await _begun(service)
    await service.start()
    await Reader(id_).read(service)
    assert (await _meeting(service, id_))["outcome"]["result"] == "decided"


async def test_two_versions_are_held_side_by_side(service: Service) -> None:
    first = await _begun(service)
    await _start(service, "1,2")
    second = await service.open(**WISH)
    versions: dict[str, int] = {}
    for id_ in (first, second):
        reader = Reader(id_)
        await reader.read(service)
        versions[id_] = reader.sent[0].data["data"]["format_version"]
        assert (await _meeting(service, id_))["outcome"]["result"] == "decided"
    assert versions == {first: 1, second: 2}


@pytest.mark.parametrize(("hands", "reason"), [("2", "version_unknown"), ("1!", "replay_diverged")])
async def test_what_cannot_be_replayed_is_kept_whole_until_a_process_can(
    service: Service, hands: str, reason: str
) -> None:
    id_ = await _begun(service)
    before = service.log(id_)
    await _start(service, hands)
    meeting = await _parked(service, id_)
    assert meeting["parked"]["reason"] == reason
    assert meeting["status"] == "running"
    assert meeting["outcome"] is None
    assert service.log(id_)[: len(before)] == before
    assert [type_ for _, type_, _ in service.log(id_)[len(before) :]] == ["meeting.parked"]
    partial = await service.get(f"/v1/meetings/{id_}/minutes?partial=true")
    assert "Do we meet on Mondays?" in partial.text
    # Another process that cannot either leaves no second trace.
    await service.kill()
    await _start(service, hands)
    assert (await _parked(service, id_))["parked"] == meeting["parked"]
    await service.until_said(b"meeting.parked", 1)
    assert len(service.log(id_)) == len(before) + 1
    await service.kill()
    await _start(service, "1")
    await Reader(id_).read(service)
    ended = await _meeting(service, id_)
    assert ended["parked"] is None
    assert ended["outcome"]["result"] == "decided"


@pytest.mark.parametrize("hands", ["2", "1!"])
async def test_a_parked_meeting_can_be_cancelled(service: Service, hands: str) -> None:
    id_ = await _begun(service)
    await _start(service, hands)
    await _parked(service, id_)
    answer = await service.client.post(f"/v1/meetings/{id_}/cancel", json={"reason": "Moot."})
    assert answer.status_code == 202
    await Reader(id_).read(service)
    meeting = await _meeting(service, id_)
    assert meeting["outcome"]["result"] == "cancelled"
    assert meeting["parked"] is None
    assert "Moot." in (await service.get(f"/v1/meetings/{id_}/minutes")).text
