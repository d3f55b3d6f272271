"""Agents on the wire, by kind. Types and sizes are checked here, meaning by the agents' room."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.text_types import MAY_BE_EMPTY, AgentName, Url, Wire, Word

LATER_KINDS = frozenset({"openclaw", "http", "human"})
SECRETS = frozenset({"api_key", "secret", "token"})
"""Fields that come in and never go out again."""

Expertise = Annotated[
    dict[Word, Annotated[float, Field(ge=1, le=2)]],
    Field(
        max_length=64,
        description="How much the agent's voice weighs in each domain, from 1.0 to 2.0.",
    ),
]
UsdPerMillion = Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=12)]
Script = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=20_000), MAY_BE_EMPTY], ...],
    Field(min_length=1, max_length=200),
]
Secret = Annotated[
    str, Field(min_length=1, max_length=1_000, json_schema_extra={"writeOnly": True})
]


class WirePrice(Wire):
    """US dollars per million tokens; a number or, exactly, a decimal string."""

    input_per_million: UsdPerMillion
    output_per_million: UsdPerMillion


class AgentRequest(Wire):
    """What agents of every kind have."""

    name: AgentName
    expertise: Expertise = Field(default_factory=dict)


class LlmAgentRequest(AgentRequest):
    """A language model behind a provider's API or a compatible server."""

    kind: Literal["llm"]
    model: Annotated[str, Field(min_length=1, max_length=256, examples=["openai:gpt-5-mini"])]
    base_url: Url | None = None
    api_key: Secret | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1, le=32_768)] = 800
    price: WirePrice | None = None


class RehearsalAgentRequest(AgentRequest):
    """A stand-in that costs nothing: for trying things out and for tests."""

    kind: Literal["rehearsal"]
    script: Script | None = None
    delay_seconds: Annotated[float, Field(ge=0, le=60)] = 0
    price: WirePrice | None = None


AGENT_REQUESTS: dict[str, type[AgentRequest]] = {
    "llm": LlmAgentRequest,
    "rehearsal": RehearsalAgentRequest,
}
"""The request schema of every kind of agent that there is, by kind."""
