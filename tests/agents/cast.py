"""Who and what the agents' tests put on stage: requests, and each kind of agent."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from app.agent_kinds import LlmSettings, RehearsalSettings, read_settings
from app.agents.connections import Connections
from app.agents.directory import AgentDirectory, ModelDefaults
from app.agents.llm import LlmAgent
from app.agents.rehearsal_script import improvise
from app.coordinator.ports import Request
from app.domain.meeting.meeting import Language
from app.domain.replies.text import last_json_object
from app.domain.values import Json
from tests.provider import Provider

KEY = "sk-test-0123456789"

DEADLINE = datetime(2026, 1, 1, tzinfo=UTC)


def request(**changes: Any) -> Request:
    fields: dict[str, Any] = {
        "request_id": "mtg_1/round-1/ask/architect",
        "meeting_id": "mtg_1",
        "who": "architect",
        "office": "participant",
        "round": 1,
        "turn": 0,
        "template": "roundtable/ask",
        "variables": {"topic": "Monorepo or several?", "motion": "Monorepo or several?"},
        "language": "en",
        "system": "You sit at a round table.",
        "prompt": "What do you say?",
        "deadline": DEADLINE,
    }
    return Request(**{**fields, **changes})


def llm_settings(provider_name: str, provider: Provider, **more: Any) -> LlmSettings:
    urls = {"openai": provider.openai_url, "anthropic": provider.anthropic_url}
    models = {"openai": "openai:gpt-4o-mini", "anthropic": "anthropic:claude-haiku-4-5"}
    record = {
        "name": provider_name,
        "kind": "llm",
        "model": models[provider_name],
        "base_url": urls[provider_name],
        "api_key": KEY,
    }
    settings = read_settings({**record, **more})
    assert isinstance(settings, LlmSettings)
    return settings


def llm(provider_name: str, provider: Provider, connections: Connections, **more: Any) -> LlmAgent:
    return LlmAgent(llm_settings(provider_name, provider, **more), connections)


def rehearsal_settings(**more: Any) -> RehearsalSettings:
    settings = read_settings({"name": "rehearsal", "kind": "rehearsal", **more})
    assert isinstance(settings, RehearsalSettings)
    return settings


class Stored(dict[str, Mapping[str, Any]]):
    """The agents' table, as far as the directory sees it."""

    async def __call__(self, name: str) -> Mapping[str, Any] | None:
        return self.get(name)


def directory_of(stored: Stored, **defaults: Any) -> AgentDirectory:
    return AgentDirectory(
        stored,
        ModelDefaults(**defaults),
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        monotonic=time.monotonic,
    )


def scene(template: str, language: Language, seat: str = "A", **variables: Json) -> str:
    label = f"{'Participant' if language == 'en' else '参加者'} {seat}"
    known: dict[str, Json] = {"topic": "Which one?", "label": label, "round": 1, **variables}
    return improvise(
        request(
            template=template,
            language=language,
            who=f"seat-{seat}",
            round=known["round"],
            variables=known,
        )
    )


def ballot(template: str, language: Language, seat: str = "A", **variables: Json) -> dict[str, Any]:
    found = last_json_object(scene(template, language, seat, **variables))
    assert found is not None
    return found
