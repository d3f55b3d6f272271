"""Agents by name: from the store, and what ``default`` stands for when nobody stored one."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import SecretStr

from app.agent_kinds import AgentSettings, LlmSettings, RehearsalSettings, read_settings
from app.agents.check import CheckReport, check
from app.agents.connections import Connections
from app.agents.llm import LlmAgent
from app.agents.prices import highest_price
from app.agents.rehearsal import RehearsalAgent
from app.coordinator.ports import Agent
from app.domain.errors import Fault, InvalidRequest, NotFound
from app.domain.replies.text import one_line

DEFAULT = "default"

STANDARD_MODELS = {
    "anthropic": "anthropic:claude-sonnet-5-5",
    "openai": "openai:gpt-6.1-terra",
}
"""Each provider's model of the middle tier, in the order in which a provider is picked."""

_MOST_BUILT = 256
_MOST_NAME_CHARACTERS = 64

Stored = Callable[[str], Awaitable[Mapping[str, Any] | None]]
"""An agent's stored record by its name, or None; what ``agent_kinds.stored_record`` made."""


@dataclass(frozen=True, slots=True)
class ModelDefaults:
    """What the service's own settings say of models (API, *Agents* and *Running it*).

    ``default_*`` are the ``YORIAI_DEFAULT_…`` settings, ``standard`` is
    ``YORIAI_MODEL_STANDARD``; the keys are the providers' own variables.
    """

    default_model: str | None = None
    default_base_url: str | None = None
    default_api_key: SecretStr | None = None
    standard: str | None = None
    anthropic_api_key: SecretStr | None = None
    openai_api_key: SecretStr | None = None

    def key_of(self, provider: str) -> SecretStr | None:
        return {"anthropic": self.anthropic_api_key, "openai": self.openai_api_key}[provider]


class AgentDirectory:
    """Finds agents, and builds each only once while its stored record stays the same.

    Raises ``InvalidRequest`` when the service's own settings name no usable default.
    """

    def __init__(
        self,
        stored: Stored,
        defaults: ModelDefaults,
        *,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        connections: Connections | None = None,
    ) -> None:
        self._stored = stored
        self._defaults = defaults
        self._now = now
        self._monotonic = monotonic
        self._connections = connections or Connections()
        self._built: OrderedDict[str, Agent] = OrderedDict()
        self._fallback = default_settings(defaults)

    async def find(self, name: str) -> Agent:
        """The agent of that name. Raises ``NotFound``, also when its record cannot be read."""
        record = await self._stored(name)
        if record is not None:
            return await self._agent(record)
        if name == DEFAULT:
            return await self._agent(None)
        shown = one_line(name, _MOST_NAME_CHARACTERS)
        raise NotFound(
            f"There is no agent named {shown}. Create it with POST /v1/agents, or use {DEFAULT}."
        )

    async def check(self, agent: Agent) -> CheckReport:
        """Ask the agent one trivial question and say how that went."""
        return await check(agent, now=self._now, monotonic=self._monotonic)

    async def close(self) -> None:
        """Close the connections to providers."""
        self._built.clear()
        await self._connections.close()

    async def _agent(self, record: Mapping[str, Any] | None) -> Agent:
        content = "" if record is None else json.dumps(dict(record), sort_keys=True, default=str)
        agent = self._built.get(content)
        if agent is None:
            settings = self._fallback if record is None else _read(record)
            agent = self._built[content] = await self._build(settings)
            if len(self._built) > _MOST_BUILT:
                self._built.popitem(last=False)
        else:
            self._built.move_to_end(content)
        return agent

    async def _build(self, settings: AgentSettings) -> Agent:
        if isinstance(settings, RehearsalSettings):
            return RehearsalAgent(settings)
        price = None
        if settings.price is None:
            # In a thread: the first look at the price table imports and reads it.
            price = await asyncio.to_thread(
                highest_price, settings.provider, settings.model_name, settings.base_url
            )
        # The operator's own key goes to the provider it belongs to and to nobody else's server.
        key = None if settings.base_url else self._defaults.key_of(settings.provider)
        return LlmAgent(settings, self._connections, key, price)


def default_settings(defaults: ModelDefaults) -> AgentSettings:
    """What ``default`` stands for unless an agent of that name is stored, in the API's order.

    Raises ``InvalidRequest``, its pointers named after the service's settings.
    """
    if defaults.default_model is not None:
        return _default_model(defaults)
    for provider, model in _standard_models(defaults):
        if defaults.key_of(provider) is not None:
            return LlmSettings(name=DEFAULT, kind="llm", model=model)
    return RehearsalSettings(name=DEFAULT, kind="rehearsal")


def _default_model(defaults: ModelDefaults) -> AgentSettings:
    key = defaults.default_api_key
    record = {
        "name": DEFAULT,
        "kind": "llm",
        "model": defaults.default_model,
        "base_url": defaults.default_base_url,
        "api_key": None if key is None else key.get_secret_value(),
    }
    try:
        return read_settings(record)
    except InvalidRequest as error:
        faults = (
            Fault("YORIAI_DEFAULT_" + fault.pointer.strip("/").upper(), fault.detail)
            for fault in error.faults
        )
        raise InvalidRequest(*faults) from None


def _standard_models(defaults: ModelDefaults) -> list[tuple[str, str]]:
    """Providers and their standard models; the one that the settings name comes first."""
    if defaults.standard is None:
        return list(STANDARD_MODELS.items())
    try:
        read_settings({"name": DEFAULT, "kind": "llm", "model": defaults.standard})
    except InvalidRequest as error:
        fault = Fault("YORIAI_MODEL_STANDARD", error.faults[0].detail)
        raise InvalidRequest(fault) from None
    provider = defaults.standard.partition(":")[0]
    others = [pair for pair in STANDARD_MODELS.items() if pair[0] != provider]
    return [(provider, defaults.standard), *others]


def _read(record: Mapping[str, Any]) -> AgentSettings:
    try:
        return read_settings(record)
    except InvalidRequest as error:
        name = one_line(str(record.get("name")), _MOST_NAME_CHARACTERS)
        raise NotFound(
            f"Agent {name} is stored with settings that this version cannot use "
            f"({error.message}). Replace it with PUT /v1/agents/{name}."
        ) from None
