"""Agents by name: who can be asked in a meeting."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from app.agent_kinds import checked, public_view, settings_of_kind, stored_record
from app.api.json_answer import json_answer
from app.api.json_body import JsonBody, read_json, validated
from app.api.parameters import AgentInPath, StrictRoute, problems
from app.api.schemas import answers
from app.api.services import Given
from app.domain.errors import Fault, InvalidRequest, NotFound
from app.domain.values import Json

router = APIRouter(tags=["agents"], route_class=StrictRoute)

_BODY = ("malformed-json", "unsupported-media-type", "body-too-large", "not-built-yet")
_REQUEST_BODY = {"requestBody": {"$ref": "#/components/requestBodies/PutAgent"}}


@router.get(
    "/v1/agents",
    operation_id="list_agents",
    summary="The agents that have been configured",
    response_model=answers.AgentList,
    responses=problems("log-unavailable"),
)
async def list_agents(services: Given) -> Response:
    items = [public_view(settings) for settings in await services.agents.all()]
    return json_answer({"items": items, "next_cursor": None})


@router.post(
    "/v1/agents",
    operation_id="create_agent",
    summary="Configure a new agent",
    status_code=201,
    response_model=answers.Agent,
    responses={
        201: {"headers": {"Location": {"schema": {"type": "string"}}}},
        **problems(*_BODY, "agent-exists", "log-unavailable"),
    },
    openapi_extra=_REQUEST_BODY,
)
async def create_agent(request: Request, services: Given) -> Response:
    settings = _settings(await read_json(request))
    await services.agents.put(settings, new=True)
    return _kept(settings, 201)


@router.get(
    "/v1/agents/{name}",
    operation_id="get_agent",
    summary="One agent, without its secrets",
    response_model=answers.Agent,
    responses=problems("not-found", "log-unavailable"),
)
async def get_agent(services: Given, name: AgentInPath) -> Response:
    settings = await services.agents.get(name)
    if settings is None:
        raise NotFound(f"There is no agent {name}.")
    return json_answer(public_view(settings))


@router.put(
    "/v1/agents/{name}",
    operation_id="put_agent",
    summary="Replace an agent, its secrets included, or configure a new one",
    response_model=answers.Agent,
    responses={
        201: {"model": answers.Agent, "description": "There was no such agent; now there is."},
        **problems("not-found", *_BODY, "log-unavailable"),
    },
    openapi_extra=_REQUEST_BODY,
)
async def put_agent(request: Request, services: Given, name: AgentInPath) -> Response:
    settings = _settings(await read_json(request))
    if settings["name"] != name:
        detail = f"The name in the address is {name}; an agent cannot be renamed."
        raise InvalidRequest(Fault("/name", detail))
    known = await services.agents.get(name) is not None
    await services.agents.put(settings, new=False)
    return _kept(settings, 200 if known else 201)


@router.delete(
    "/v1/agents/{name}",
    operation_id="delete_agent",
    summary="Forget an agent; meetings that have it go on without its replies",
    status_code=204,
    responses=problems("not-found", "log-unavailable"),
)
async def delete_agent(services: Given, name: AgentInPath) -> Response:
    await services.agents.delete(name)
    return Response(status_code=204)


@router.post(
    "/v1/agents/{name}/check",
    operation_id="check_agent",
    summary="Ask the agent one trivial question",
    response_model=answers.AgentCheck,
    responses=problems("not-found", "log-unavailable"),
)
async def check_agent(services: Given, name: AgentInPath) -> Response:
    return json_answer(await services.agent_check(name))


def _settings(body: JsonBody) -> Mapping[str, Json]:
    """The settings in the form in which they are kept."""
    kind = body.content.get("kind") if isinstance(body.content, dict) else None
    return stored_record(checked(validated(settings_of_kind(kind), body)))


def _kept(settings: Mapping[str, Json], status: int) -> Response:
    view = public_view(settings)
    return json_answer(view, status, {"Location": f"/v1/agents/{view['name']}"})
