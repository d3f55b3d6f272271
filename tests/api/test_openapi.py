"""The OpenAPI document says everything that the edge does."""

from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

from app.agent_kinds import SETTINGS_BY_KIND
from app.api.application import create_api
from app.api.problems import KINDS
from app.formats import FORMATS

DOCUMENT: dict[str, Any] = create_api().openapi()
OPERATIONS = [
    (method, path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


def test_it_is_one() -> None:
    validate(DOCUMENT)


def test_operation_ids_are_unique_and_readable() -> None:
    ids = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(set(ids)) == len(ids)
    assert all(name.replace("_", "").isalpha() for name in ids)


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_every_operation_is_described(method: str, path: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["tags"]
    codes = {int(status) for status in operation["responses"]}
    assert {422, 500} <= codes
    assert ("{" not in path) or 404 in codes
    for status, answer in operation["responses"].items():
        if int(status) >= 400:
            (media,) = answer["content"]
            assert media == "application/problem+json"
            assert all(code in KINDS for code in answer["content"][media]["examples"])
    if method in ("post", "put") and not path.endswith(("/check", "/reconcile")):
        assert {400, 413, 415} <= codes
        assert "requestBody" in operation


def test_meetings_are_a_union_over_the_formats() -> None:
    union = DOCUMENT["components"]["schemas"]["MeetingRequest"]
    assert union["discriminator"]["mapping"].keys() == FORMATS.keys()
    assert len(union["oneOf"]) == len(FORMATS)
    body = DOCUMENT["components"]["requestBodies"]["OpenMeeting"]["content"]["application/json"]
    assert body["examples"]


def test_agents_are_a_union_over_their_kinds() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["AgentRequest"]["discriminator"]["mapping"].keys() == SETTINGS_BY_KIND.keys()
    assert schemas["Agent"]["properties"]["kind"]["enum"] == list(SETTINGS_BY_KIND)


def test_the_stream_is_described() -> None:
    answer = DOCUMENT["paths"]["/v1/meetings/{meeting_id}/events"]["get"]["responses"]["200"]
    stream = answer["content"]["text/event-stream"]
    assert stream["schema"]["properties"]["data"]["contentSchema"] == {
        "$ref": "#/components/schemas/Event"
    }
    assert "application/json" in answer["content"]


def test_what_can_be_one_of_few_is_said() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    item = schemas["CancellationItem"]["properties"]
    assert item["kind"]["enum"] == ["request", "child", "operation"]
    assert item["state"]["enum"] == ["requested", "acknowledged", "stopped", "unconfirmed"]
    assert {"participant", "agent"} <= item.keys()
    states = schemas["Cancellation"]["properties"]["state"]["enum"]
    assert states == ["requested", "stopped", "unconfirmed"]
    assert "barred_by" in schemas["ChoiceShown"]["properties"]
    assert {"OperationStatus", "Status"} <= schemas.keys()


def test_no_schema_is_named_after_where_its_code_lies() -> None:
    assert [name for name in DOCUMENT["components"]["schemas"] if "__" in name] == []


def test_secrets_are_write_only() -> None:
    fields = DOCUMENT["components"]["schemas"]["LlmAgentRequest"]["properties"]
    assert "writeOnly" in str(fields["api_key"])
    assert "api_key" not in DOCUMENT["components"]["schemas"]["Agent"]["properties"]


async def test_it_is_served(client: httpx.AsyncClient) -> None:
    assert (await client.get("/openapi.json")).json() == DOCUMENT


async def test_the_docs_are_a_page_of_their_own(client: httpx.AsyncClient) -> None:
    page = (await client.get("/docs")).text
    assert all(path in page for _, path, _ in OPERATIONS)
    assert "<script" not in page
    assert "//" not in page.replace("http://127.0.0.1:11434", "")
