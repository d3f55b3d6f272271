"""``POST`` and ``PUT`` of agents: the schemas of their kinds, as the document names them."""

from __future__ import annotations

from pydantic import BaseModel, create_model

from app.agent_kinds import SETTINGS_BY_KIND


def _named_as_request(kind: str, settings: type[BaseModel]) -> type[BaseModel]:
    name = f"{kind.title()}AgentRequest"
    return create_model(name, __base__=settings, __doc__=settings.__doc__)


AGENT_REQUESTS = {
    kind: _named_as_request(kind, settings) for kind, settings in SETTINGS_BY_KIND.items()
}
"""The request schema of every kind of agent that there is, by kind."""
