"""Bodies, queries and paths that are wrong get a problem document, and nothing is stored."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.api.schemas.meeting_request import MeetingRequest
from tests.api.parts import Parts

JSON = {"content-type": "application/json"}


async def post(client: httpx.AsyncClient, body: bytes, path: str = "/v1/meetings") -> Any:
    response = await client.post(path, content=body, headers=JSON)
    assert response.headers["content-type"] == "application/problem+json", response.text
    return response


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"{",
        b'{"topic": "x"} {}',
        b'{"topic": NaN}',
        b'{"topic": "x", "limits": {"seconds": Infinity}}',
        b'{"topic": "x", "limits": {"seconds": -Infinity}}',
        b'{"topic": "x", "topic": "y"}',
        b'{"topic": "x", "limits": {"rounds": 1, "rounds": 2}}',
        b'{"topic": "\xff"}',
        b'\xef\xbb\xbf{"topic": "x"}',
        b'{"topic": "a\x00b"}',
        b'{"topic": ' + b"[" * 100_000,
        b'{"topic": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"topic": "x", "limits": {"rounds": 1' + b"0" * 5000 + b"}}",
        b"topic=x",
        b"{'topic': 'x'}",
        '{"topic": "x"}'.encode("utf-16"),
    ],
)
async def test_not_json(client: httpx.AsyncClient, parts: Parts, body: bytes) -> None:
    response = await post(client, body)
    assert response.status_code == 400
    assert response.json()["type"] == "malformed-json"
    assert await parts.meetings() == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b'{"topic": "\\ud800"}', "#/topic"),
        (b'{"topic": "x", "metadata": {"k": "\\udfff"}}', "#/metadata/k"),
        (b'{"topic": "x", "metadata": {"\\udfff": "v"}}', "#/metadata"),
        (b'{"topic": "x", "limits": {"seconds": 1e999}}', "#/limits/seconds"),
        (b'{"topic": "x", "limits": {"seconds": 1' + b"0" * 400 + b"}}", "#/limits/seconds"),
        (b'{"topic": "x", "limits": {"usd": 1e999}}', "#/limits/usd"),
        (b"[]", "#/"),
        (b"null", "#"),
        (b"1", "#"),
        (b'{"topic": "a\\u0007b"}', "#/topic"),
        (b'{"topic": ' + b"[" * 300 + b"]" * 300 + b"}", "#/topic"),
    ],
)
async def test_json_that_means_nothing_here(
    client: httpx.AsyncClient, parts: Parts, body: bytes, pointer: str
) -> None:
    response = await post(client, body)
    assert response.status_code in (400, 422)
    if response.status_code == 422:
        assert response.json()["errors"][0]["pointer"] == pointer.removesuffix("/")
    assert await parts.meetings() == []


@pytest.mark.parametrize(
    "content_type",
    [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json"],
)
async def test_not_sent_as_json(client: httpx.AsyncClient, content_type: str | None) -> None:
    headers = {} if content_type is None else {"content-type": content_type}
    response = await client.post("/v1/meetings", content=b'{"topic": "x"}', headers=headers)
    assert response.status_code == 415
    assert response.json()["type"] == "unsupported-media-type"


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON; charset=utf-8", "application/vnd.acme+json"],
)
async def test_sent_as_json(client: httpx.AsyncClient, content_type: str) -> None:
    headers = {"content-type": content_type}
    response = await client.post("/v1/meetings", content=b'{"topic": "x"}', headers=headers)
    assert response.status_code == 201


async def test_over_a_megabyte(client: httpx.AsyncClient, parts: Parts) -> None:
    response = await post(client, json.dumps({"topic": "x" * (1 << 20)}).encode())
    assert response.status_code == 413
    assert response.json()["type"] == "body-too-large"
    assert response.headers["connection"] == "close"
    assert await parts.meetings() == []


async def test_over_a_megabyte_in_chunks(client: httpx.AsyncClient, parts: Parts) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * 32_768

    response = await client.post("/v1/meetings", content=chunks(), headers=JSON)
    assert response.status_code == 413
    assert response.json()["type"] == "body-too-large"
    assert await parts.meetings() == []


async def test_a_megabyte_exactly_is_read(client: httpx.AsyncClient) -> None:
    body = b'{"topic": "x"}'.ljust(1 << 20)
    assert (await client.post("/v1/meetings", content=body, headers=JSON)).status_code == 201


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("/v1/meetings?limit=0", "#/limit"),
        ("/v1/meetings?limit=201", "#/limit"),
        ("/v1/meetings?limit=ten", "#/limit"),
        ("/v1/meetings?limit=1&limit=2", "#/limit"),
        ("/v1/meetings?status=asleep", "#/status"),
        ("/v1/meetings?format=chat", "#/format"),
        ("/v1/meetings?q=", "#/q"),
        ("/v1/meetings?q=" + "x" * 201, "#/q"),
        ("/v1/meetings?created_after=yesterday", "#/created_after"),
        ("/v1/meetings?created_after=0.5", "#/created_after"),
        ("/v1/meetings?created_after=2026-11-02", "#/created_after"),
        ("/v1/meetings?created_after=2026-13-02T09:00:00Z", "#/created_after"),
        ("/v1/meetings?created_after=2026-11-02T09:00:00", "#/created_after"),
        ("/v1/meetings?cursor=nobody-gave-this", "#/cursor"),
        ("/v1/meetings?q=a%00b", "#/q"),
        ("/v1/meetings?cursor=a%20b", "#/cursor"),
        ("/v1/meetings?metadata.=x", "#/metadata."),
        ("/v1/meetings?metadata.x=a%00b", "#/metadata."),
        ("/v1/meetings?metadata.a%00b=x", "#/metadata."),
        ("/v1/meetings?metadata=x", "#/metadata"),
        ("/v1/meetings?states=running", "#/states"),
        ("/v1/decisions?result=perhaps", "#/result"),
        ("/v1/decisions?status=ended", "#/status"),
        ("/v1/meetings/mtg_1/events?after=-1", "#/after"),
        ("/v1/meetings/mtg_1/events?after=x", "#/after"),
        ("/v1/meetings/mtg_1/minutes?partial=perhaps", "#/partial"),
        ("/v1/meetings/mtg_1?verbose=1", "#/verbose"),
        ("/v1/events?after=1", "#/after"),
        ("/healthz?x=1", "#/x"),
    ],
)
async def test_queries(client: httpx.AsyncClient, path: str, pointer: str) -> None:
    response = await client.get(path)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert [fault["pointer"] for fault in response.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/meetings/mtg_nowhere",
        "/v1/meetings/mtg_nowhere/events",
        "/v1/meetings/mtg_nowhere/rounds",
        "/v1/meetings/mtg_nowhere/dissents",
        "/v1/meetings/mtg_nowhere/minutes",
        "/v1/meetings/mtg_nowhere/decision",
        "/v1/meetings/mtg_nowhere/cancellation",
        "/v1/meetings/%00",
        "/v1/meetings/" + "x" * 101,
        "/v1/meetings/a%20b",
        "/v1/agents/nobody",
        "/v1/agents/" + "x" * 65,
        "/v1/agents/%00",
        "/v1/meetings/",
    ],
)
async def test_nothing_there(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 404
    assert response.json()["type"] == "not-found"


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
LIKELY_FIELDS = st.sampled_from(
    [*MeetingRequest.model_fields, "kind", "name", "model", "script", "price", "reason"]
)
LIKELY_VALUES = st.sampled_from(
    ["x", "roundtable", "llm", "rehearsal", {"rounds": 1}, [{}, {}], {}, [], 0, "default"]
)
LIKELY_BODIES = st.dictionaries(LIKELY_FIELDS, ANY_JSON | LIKELY_VALUES, max_size=8)


ANYTHING = settings(
    max_examples=150,
    deadline=None,
    # One database for all examples is right: what they leave behind changes no status.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@given(content=ANY_JSON | LIKELY_BODIES)
@ANYTHING
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/meetings"),
        ("POST", "/v1/meetings?dry_run=true"),
        ("POST", "/v1/meetings/mtg_0001/cancel"),
        ("POST", "/v1/meetings/mtg_0001/resume"),
        ("POST", "/v1/agents"),
        ("PUT", "/v1/agents/x"),
    ],
)
async def test_no_body_is_our_fault(
    client: httpx.AsyncClient, method: str, path: str, content: Any
) -> None:
    body = json.dumps(content).encode()
    response = await client.request(method, path, content=body, headers=JSON)
    assert response.status_code < 500, response.text
    response.json()


@given(body=st.binary(max_size=200))
@ANYTHING
async def test_no_bytes_are_our_fault(client: httpx.AsyncClient, body: bytes) -> None:
    response = await client.post("/v1/meetings", content=body, headers=JSON)
    assert response.status_code < 500
