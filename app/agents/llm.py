"""A language model as an agent, asked through Pydantic AI's direct interface.

This is the light half: what can be said of the agent without importing Pydantic AI and the
provider's SDK, which takes seconds. ``model_client`` is the heavy half; it is loaded, in a
thread, when the first question comes.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from app.agent_kinds import AnySecret, LlmSettings
from app.agents.connections import Connections
from app.coordinator.ports import AgentProfile, Answer, Request, StopState
from app.domain.money import Price

if TYPE_CHECKING:
    from app.agents.model_client import ModelClient

_LOADING = threading.Lock()
"""Two threads importing packages that import each other can see half of them; one at a time."""


class LlmAgent:
    """Asks a model. No retries and no deadline of its own: those are the coordinator's.

    ``key`` overrides the settings' ``api_key`` where those have none. ``price`` is what the
    tokens are reserved at, None where it is unknown.
    """

    def __init__(
        self,
        settings: LlmSettings,
        connections: Connections,
        key: AnySecret | None = None,
        price: Price | None = None,
    ) -> None:
        self._settings = settings
        self._connections = connections
        self._key = settings.api_key or key
        self._client: ModelClient | None = None
        self._profile = AgentProfile(
            name=settings.name,
            kind=settings.kind,
            model=settings.model,
            max_output_tokens=settings.max_output_tokens,
            price=price if settings.price is None else settings.price.price(),
            expertise=settings.weights,
        )

    @property
    def profile(self) -> AgentProfile:
        return self._profile

    async def answer(self, request: Request) -> Answer:
        client = self._client
        if client is None:
            client = self._client = await asyncio.to_thread(self._load)
        return await client.answer(request)

    async def stop(self, request_id: str) -> StopState:
        """Closing the connection ended our waiting; whether the provider still writes, and
        bills, it does not tell.
        """
        del request_id
        return "unconfirmed"

    def _load(self) -> ModelClient:
        with _LOADING:
            if self._client is None:
                from app.agents.model_client import ModelClient

                self._client = ModelClient(self._settings, self._key, self._connections.client())
            return self._client
