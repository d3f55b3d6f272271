"""Rulings, the open question and the handoff package over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.api.request_mapping import wish_of
from app.domain.errors import InvalidRequest
from app.domain.meeting.meeting import Arbiter
from tests.api.parts import MEETING, SPLIT, Parts
from tests.api.test_request_mapping import body

AT = "/v1/meetings/mtg_0001"
RULING = {"choice": "adopt", "reason": "It can be undone.", "decided_by": "Ann"}


@pytest.fixture
async def waiting(client: httpx.AsyncClient, parts: Parts) -> httpx.AsyncClient:
    await client.post("/v1/meetings", json={**SPLIT, "arbiter": {"kind": "human", "name": "Ann"}})
    parts.clock.advance(5)
    await parts.hold()
    return client


async def test_the_question_is_shown_while_it_is_open(waiting: httpx.AsyncClient) -> None:
    meeting = (await waiting.get(AT)).json()
    assert meeting["status"] == "awaiting_ruling"
    assert meeting["pending_question"] == {
        "id": "arbitration",
        "question": "Several.",
        "choices": [
            {"id": "adopt", "text": "Several."},
            {"id": "reject", "text": "reject: Several."},
        ],
        "scope": "Several.",
        "arbiter": {"kind": "human", "agent": None, "name": "Ann"},
        "deadline": "2026-11-30T09:01:05Z",
        "opened_at": "2026-11-30T09:00:05Z",
    }
    assert meeting["links"]["ruling"] == f"{AT}/ruling"
    assert meeting["links"]["handoff"] == f"{AT}/handoff"


async def test_a_ruling_answers_with_the_meeting(waiting: httpx.AsyncClient, parts: Parts) -> None:
    answer = await waiting.post(f"{AT}/ruling", json={**RULING, "conditions": ""})
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["pending_question"]) == ("running", None)
    ruled = (await parts.last()).data
    assert (ruled["choice"], ruled["conditions"]) == ("adopt", None)
    again = await waiting.post(f"{AT}/ruling", json=RULING)
    assert (again.status_code, again.json()["type"]) == (409, "no-question-open")


async def test_a_choice_that_was_not_offered(waiting: httpx.AsyncClient) -> None:
    answer = await waiting.post(f"{AT}/ruling", json={**RULING, "choice": "both"})
    problem = answer.json()
    assert (problem["status"], problem["type"]) == (422, "out-of-scope")
    assert [fault["pointer"] for fault in problem["errors"]] == ["#/choice"]


async def test_rulings_need_a_json_body(waiting: httpx.AsyncClient) -> None:
    plain = await waiting.post(f"{AT}/ruling", content="adopt")
    assert plain.json()["type"] == "unsupported-media-type"
    empty = await waiting.post(f"{AT}/ruling", json={})
    pointers = {fault["pointer"] for fault in empty.json()["errors"]}
    assert pointers == {"#/choice", "#/reason", "#/decided_by"}


async def test_the_package(waiting: httpx.AsyncClient, parts: Parts) -> None:
    package = await waiting.get(f"{AT}/handoff")
    assert package.headers["content-type"] == "application/json"
    assert package.json()["may_decide"][0]["choices"] == ["adopt", "reject"]
    page = await waiting.get(f"{AT}/handoff", headers={"Accept": "text/markdown"})
    assert page.headers["content-type"] == "text/markdown; charset=utf-8"
    assert page.headers["vary"] == "Accept"
    assert "## Who may decide what" in page.text


async def test_no_package_before_there_is_something_to_hand_over(
    client: httpx.AsyncClient, parts: Parts
) -> None:
    await client.post("/v1/meetings", json=MEETING)
    await parts.begin()
    early = await client.get(f"{AT}/handoff")
    assert (early.status_code, early.json()["type"]) == (409, "meeting-not-ended")
    await parts.finish()
    assert (await client.get(f"{AT}/handoff")).json()["decided"]["decision"] == "One repository."


@pytest.mark.parametrize(
    ("given", "arbiter"),
    [
        ({"kind": "human"}, Arbiter("human")),
        ({"kind": "human", "name": "Ann Lee"}, Arbiter("human", name="Ann Lee")),
        ({"kind": "agent", "agent": "judge"}, Arbiter("agent", "judge")),
        (
            {"kind": "agent", "agent": "judge", "name": "the bench"},
            Arbiter("agent", "judge", "the bench"),
        ),
        (None, None),
    ],
)
def test_an_arbiter_is_taken(given: Any, arbiter: Arbiter | None) -> None:
    assert wish_of(body({"topic": "x", "arbiter": given})).arbiter == arbiter


@pytest.mark.parametrize(
    "given",
    [{"kind": "agent"}, {"kind": "human", "agent": "judge"}, {"kind": "agent", "name": "Ann"}],
)
def test_an_agent_is_named_for_an_agent_and_only_then(given: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        wish_of(body({"topic": "x", "arbiter": given}))
    assert [fault.pointer for fault in refused.value.faults] == ["/arbiter/agent"]
