"""The OpenAPI document: the routes, and the request bodies that handlers read themselves."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.api.json_answer import JSON_TYPE
from app.api.schemas import answers, record_answers
from app.api.schemas.agent_request import AGENT_REQUESTS
from app.api.schemas.cancel_request import CancelRequest
from app.api.schemas.event_schemas import event_schemas
from app.api.schemas.meeting_request import DEFAULT_FORMAT, MEETING_REQUESTS
from app.api.schemas.resume_request import ResumeRequest
from app.api.schemas.ruling_request import RulingRequest

_DESCRIPTION = (
    "Holds meetings between agents to an agreed format, and brings back decisions: "
    "post a meeting, watch its rounds arrive, fetch its minutes and its decision record."
)
_TAGS = {
    "meetings": "Open, read, list, rule on, cancel and resume meetings.",
    "events": "What happens in meetings, as it happens.",
    "records": "Rounds, dissents, minutes, decisions and handoffs.",
    "operations": "What meetings have saved elsewhere, and whether it is there.",
    "agents": "Who can be asked in a meeting.",
    "health": "For whoever keeps the service running.",
}
_REF = "#/components/schemas/{model}"

_ONLY_BY_REFERENCE: tuple[type[BaseModel], ...] = (
    answers.Problem,
    answers.EventPage,
    record_answers.Minutes,
    record_answers.DecisionRecord,
    record_answers.Handoff,
)


def describe(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version=app.openapi_version,
        description=_DESCRIPTION,
        tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        routes=app.routes,
    )
    components: dict[str, Any] = document.setdefault("components", {})
    schemas: dict[str, Any] = components.setdefault("schemas", {})
    schemas |= _request_schemas() | _answer_schemas() | event_schemas()
    components["schemas"] = dict(sorted(schemas.items()))
    components["requestBodies"] = _request_bodies()
    return document


def _request_schemas() -> dict[str, Any]:
    calls = (CancelRequest, ResumeRequest, RulingRequest)
    models = (*MEETING_REQUESTS.values(), *AGENT_REQUESTS.values(), *calls)
    _, schema = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    meetings = {name: _ref(model) for name, model in MEETING_REQUESTS.items()}
    agents = {kind: _ref(model) for kind, model in AGENT_REQUESTS.items()}
    return schema["$defs"] | {
        "MeetingRequest": _either(
            "format", meetings, f"The format decides; without one it is {DEFAULT_FORMAT}."
        ),
        "AgentRequest": _either("kind", agents, "The kind decides."),
    }


def _answer_schemas() -> dict[str, Any]:
    models = [(model, "serialization") for model in _ONLY_BY_REFERENCE]
    return models_json_schema(models, ref_template=_REF)[1]["$defs"]  # type: ignore[arg-type] # a list is not covariant


def _either(key: str, references: dict[str, str], description: str) -> dict[str, Any]:
    return {
        "description": description,
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": key, "mapping": references},
    }


def _ref(model: type[BaseModel]) -> str:
    return _REF.format(model=model.__name__)


def _request_bodies() -> dict[str, Any]:
    return {
        "OpenMeeting": _body("MeetingRequest", _MEETING_EXAMPLES),
        "PutAgent": _body("AgentRequest", _AGENT_EXAMPLES),
        "Rule": _body("RulingRequest", _RULING_EXAMPLES),
        "ResumeMeeting": _body("ResumeRequest", _RESUME_EXAMPLES),
        "CancelMeeting": _body(
            "CancelRequest", {"with a reason": {"reason": "no longer needed"}}, required=False
        ),
    }


def _body(schema: str, examples: dict[str, Any], *, required: bool = True) -> dict[str, Any]:
    return {
        "required": required,
        "content": {
            JSON_TYPE: {
                "schema": {"$ref": _REF.format(model=schema)},
                "examples": {name: {"value": value} for name, value in examples.items()},
            }
        },
    }


_MEETING_EXAMPLES: dict[str, Any] = {
    "only a question": {
        "topic": "Should the platform team use a monorepo or several repositories?"
    },
    "a round table": {
        "format": "roundtable",
        "topic": "Should the platform team use a monorepo or several repositories?",
        "context": "12 engineers, 4 services, one release train",
        "participants": [
            {"name": "architect", "role": "long-term structure"},
            {"name": "operator", "role": "what breaks at night"},
            {"name": "newcomer", "role": "what has to be learnt first"},
        ],
        "limits": {"rounds": 3, "seconds": 600, "usd": "0.50"},
        "metadata": {"team": "platform"},
    },
}
_RULING_EXAMPLES: dict[str, Any] = {
    "a motion adopted": {
        "choice": "adopt",
        "conditions": "A review after one quarter.",
        "reason": "The trial can be undone.",
        "decided_by": "Ann Lee, head of platform",
    }
}
_RESUME_EXAMPLES: dict[str, Any] = {
    "more rounds": {
        "changed": "limits",
        "note": "They were close; two more rounds are worth it.",
        "limits": {"rounds": 5},
    },
    "a new version of a material": {
        "changed": "materials",
        "note": "Legal has sent the corrected terms.",
        "materials": [{"id": "terms", "version": "2026-11-30", "text": "Payment within 30 days."}],
    },
}
_AGENT_EXAMPLES: dict[str, Any] = {
    "a model behind a compatible server": {
        "name": "local",
        "kind": "llm",
        "model": "openai:qwen3",
        "base_url": "http://127.0.0.1:11434/v1",
        "price": {"input_per_million": "0", "output_per_million": "0"},
    },
    "a rehearsal": {
        "name": "understudy",
        "kind": "rehearsal",
        "script": ["It is time. [STANCE: AGREE]"],
    },
}
