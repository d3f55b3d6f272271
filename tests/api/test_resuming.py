"""Resuming over HTTP: what the call takes and what it answers."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import httpx
import pytest

from app.api.json_body import JsonBody, validated
from app.api.request_mapping import resuming_wish
from app.api.schemas.resume_request import ResumeRequest
from app.coordinator.resuming import ResumeMeeting
from app.domain.meeting.meeting import Material
from tests.api.parts import SPLIT, Parts

AT = "/v1/meetings/mtg_0001"
BODY: dict[str, Any] = {"changed": "limits", "note": "More rounds.", "limits": {"rounds": 5}}


def wish(content: Any) -> ResumeMeeting:
    """What the body asks for, by values."""
    return resuming_wish(validated(ResumeRequest, JsonBody(json.dumps(content).encode(), content)))


@pytest.fixture
async def undecided(client: httpx.AsyncClient, parts: Parts) -> httpx.AsyncClient:
    limits = {"rounds": 1, "usd": "1", "tokens": 1_000_000, "reply_seconds": 50}
    await client.post("/v1/meetings", json={**SPLIT, "limits": limits})
    await parts.hold()
    return client


async def test_it_answers_with_the_meeting_that_goes_on(undecided: httpx.AsyncClient) -> None:
    ended = (await undecided.get(AT)).json()
    assert (ended["status"], ended["resumptions"]) == ("ended", [])
    assert ended["links"]["resume"] == f"{AT}/resume"
    answer = await undecided.post(f"{AT}/resume", json=BODY)
    assert (answer.status_code, answer.headers["location"]) == (202, AT)
    meeting = answer.json()
    assert meeting["status"] == "running"
    assert meeting["outcome"] is meeting["ended_at"] is None
    assert meeting["limits"]["rounds"] == 5
    told = {"changed": "limits", "note": "More rounds.", "at": "2026-11-30T09:00:00Z"}
    assert meeting["resumptions"] == [told]
    again = await undecided.post(f"{AT}/resume", json=BODY)
    assert (again.status_code, again.json()["type"]) == (409, "meeting-not-ended")
    assert (await undecided.get(f"{AT}/decision")).json()["type"] == "meeting-not-ended"


async def test_only_the_limits_that_are_named_come_through(undecided: httpx.AsyncClient) -> None:
    body = {**BODY, "limits": {"rounds": 5, "usd": "1.50", "tokens": None}}
    asked = wish(body)
    assert asked.limits == {"rounds": 5, "usd": Decimal("1.50"), "tokens": None}
    assert (asked.materials, asked.acknowledge_unknown) == ((), False)
    before = (await undecided.get(AT)).json()["limits"]
    meeting = (await undecided.post(f"{AT}/resume", json=body)).json()
    assert meeting["limits"] == {**before, "rounds": 5, "usd": "1.50", "tokens": None}
    assert before["reply_seconds"] == 50


async def test_materials_come_through_whole(undecided: httpx.AsyncClient, parts: Parts) -> None:
    given = {"id": "m1", "version": "2", "title": "Terms", "text": "14 days."}
    body = {"changed": "materials", "note": "New terms.", "materials": [given]}
    answer = await undecided.post(f"{AT}/resume", json={**body, "acknowledge_unknown": True})
    assert answer.status_code == 202
    material = Material("m1", "2", "14 days.", "Terms")
    assert (await parts.archive.state("mtg_0001")).meeting.materials == (material,)
    asked = wish({**body, "acknowledge_unknown": True})
    assert asked.materials == (material,)
    assert asked.acknowledge_unknown


async def test_it_needs_a_json_body(undecided: httpx.AsyncClient) -> None:
    plain = await undecided.post(f"{AT}/resume", content="go on")
    assert plain.json()["type"] == "unsupported-media-type"
    empty = await undecided.post(f"{AT}/resume", json={})
    assert {fault["pointer"] for fault in empty.json()["errors"]} == {"#/changed", "#/note"}
    nothing = await undecided.post(f"{AT}/resume")
    assert nothing.status_code in (400, 415)


async def test_a_meeting_that_is_not_there(client: httpx.AsyncClient) -> None:
    answer = await client.post(f"{AT}/resume", json=BODY)
    assert (answer.status_code, answer.json()["type"]) == (404, "not-found")


async def test_a_cancel_before_the_resuming_is_not_denied(
    undecided: httpx.AsyncClient, parts: Parts
) -> None:
    never = (await undecided.get(f"{AT}/cancellation")).json()
    assert never["detail"] == "Nobody has cancelled meeting mtg_0001."
    await undecided.post(f"{AT}/resume", json=BODY)
    uncancelled = await undecided.get(f"{AT}/cancellation")
    assert uncancelled.json()["detail"] == never["detail"]
    await undecided.post(f"{AT}/cancel", json={"reason": "lunch"})
    await parts.hold()
    assert (await undecided.get(AT)).json()["outcome"]["result"] == "cancelled"
    await undecided.post(f"{AT}/resume", json={**BODY, "limits": {"rounds": 7}})
    answer = await undecided.get(f"{AT}/cancellation")
    assert (answer.status_code, answer.json()["type"]) == (404, "not-found")
    detail = answer.json()["detail"]
    assert "was cancelled, and has been resumed since" in detail
    assert f"{AT}/minutes" in detail
    kept = await undecided.get(
        f"{AT}/minutes", params={"partial": "true"}, headers={"Accept": "application/json"}
    )
    reasons = [(each["cancellation"] or {}).get("reason") for each in kept.json()["resumptions"]]
    assert reasons == [None, "lunch"]
