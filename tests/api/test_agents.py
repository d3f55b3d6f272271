"""Agents over HTTP."""

import json
from typing import Any

import httpx
import pytest

from app.agent_kinds import read_settings, settings_of_kind
from app.api.json_body import JsonBody, validated
from tests.api.parts import Parts

LLM: dict[str, Any] = {
    "name": "critic",
    "kind": "llm",
    "model": "openai:qwen3",
    "base_url": "http://127.0.0.1:11434/v1",
    "api_key": "sk-secret",
    "temperature": 0.2,
    "max_output_tokens": 500,
    "price": {"input_per_million": "0.25", "output_per_million": 2},
    "expertise": {"database": 2.0},
}
REHEARSAL: dict[str, Any] = {"name": "understudy", "kind": "rehearsal", "script": ["Yes."]}


async def test_a_secret_goes_in_and_never_comes_out(
    client: httpx.AsyncClient, parts: Parts
) -> None:
    created = await client.post("/v1/agents", json=LLM)
    assert created.status_code == 201
    assert created.headers["location"] == "/v1/agents/critic"
    kept = await parts.agents.get("critic")
    assert kept is not None
    assert kept["api_key"] == "sk-secret"
    for answer in (
        created,
        await client.get("/v1/agents"),
        await client.get("/v1/agents/critic"),
        await client.put("/v1/agents/critic", json=LLM),
    ):
        assert answer.is_success
        assert "sk-secret" not in answer.text
    assert created.json()["api_key_set"] is True
    assert created.json()["price"] == {"input_per_million": "0.25", "output_per_million": "2"}


async def test_creating_reading_replacing_deleting(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/agents", json=REHEARSAL)).status_code == 201
    twice = await client.post("/v1/agents", json=REHEARSAL)
    assert (twice.status_code, twice.json()["type"]) == (409, "agent-exists")
    assert (await client.get("/v1/agents/understudy")).json()["script"] == ["Yes."]
    replaced = await client.put("/v1/agents/understudy", json=REHEARSAL | {"script": ["No."]})
    assert (replaced.status_code, replaced.json()["script"]) == (200, ["No."])
    assert (await client.delete("/v1/agents/understudy")).status_code == 204
    assert (await client.delete("/v1/agents/understudy")).status_code == 404
    assert (await client.get("/v1/agents")).json() == {"items": [], "next_cursor": None}


async def test_putting_a_new_one(client: httpx.AsyncClient) -> None:
    assert (await client.put("/v1/agents/understudy", json=REHEARSAL)).status_code == 201


async def test_names_must_agree(client: httpx.AsyncClient) -> None:
    response = await client.put("/v1/agents/other", json=REHEARSAL)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "#/name"


async def test_check(client: httpx.AsyncClient) -> None:
    await client.post("/v1/agents", json=REHEARSAL)
    assert (await client.post("/v1/agents/understudy/check")).json()["ok"] is True
    assert (await client.post("/v1/agents/nobody/check")).status_code == 404


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        ({"kind": "human"}, "not-built-yet", "#/kind"),
        ({"kind": "http"}, "not-built-yet", "#/kind"),
        ({"kind": "openclaw"}, "not-built-yet", "#/kind"),
        ({"kind": "oracle"}, "invalid-request", "#/kind"),
        ({"kind": None}, "invalid-request", "#/kind"),
        ({"name": "a b"}, "invalid-request", "#/name"),
        ({"name": ""}, "invalid-request", "#/name"),
        ({"model": 3}, "invalid-request", "#/model"),
        ({"temperature": "warm"}, "invalid-request", "#/temperature"),
        ({"max_output_tokens": 0}, "invalid-request", "#/max_output_tokens"),
        ({"price": {"input_per_million": 1}}, "invalid-request", "#/price/output_per_million"),
        ({"expertise": {"x": 3}}, "invalid-request", "#/expertise/x"),
        ({"api_key": ""}, "invalid-request", "#/api_key"),
        ({"script": ["x"]}, "invalid-request", "#/script"),
        ({"token": "x"}, "invalid-request", "#/token"),
    ],
)
async def test_bad_settings(
    client: httpx.AsyncClient, parts: Parts, change: dict[str, Any], code: str, pointer: str
) -> None:
    response = await client.post("/v1/agents", json=LLM | change)
    assert response.status_code == 422
    assert response.json()["type"] == code
    assert response.json()["errors"][0]["pointer"] == pointer
    assert "sk-secret" not in response.text
    assert await parts.agents.all() == []


@pytest.mark.parametrize("content", [LLM, REHEARSAL, {"name": "a", "kind": "rehearsal"}])
async def test_what_was_taken_is_what_the_agent_is_built_from(
    client: httpx.AsyncClient, parts: Parts, content: dict[str, Any]
) -> None:
    assert (await client.post("/v1/agents", json=content)).status_code == 201
    kept = await parts.agents.get(content["name"])
    assert kept is not None
    body = JsonBody(json.dumps(content).encode(), content)
    assert read_settings(kept) == validated(settings_of_kind(content["kind"]), body)
