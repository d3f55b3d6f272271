"""An agent that reads from a script: for trying things out, for tests, and for the demo.

It answers at once and costs nothing unless its settings say otherwise, so this is also the floor
that the benchmarks measure: a reply here is some string formatting and nothing else.
"""

from __future__ import annotations

import asyncio
from decimal import Decimal

from app.agent_kinds import RehearsalSettings
from app.agents.rehearsal_script import improvise
from app.coordinator.ports import AgentProfile, Answer, FinishReason, Request, StopState, Usage
from app.domain.money import Price

_CHARACTERS_PER_TOKEN = 4
_FREE = Price(Decimal(0), Decimal(0))
_MODEL = "rehearsal"
_MOST_IMPROVISED_TOKENS = 2_000
_MOST_IMPROVISED_CHARACTERS = _MOST_IMPROVISED_TOKENS * _CHARACTERS_PER_TOKEN


class RehearsalAgent:
    """Gives its script's texts in turn; without a script, one made for the question."""

    def __init__(self, settings: RehearsalSettings) -> None:
        self._script = settings.script
        self._delay = settings.delay_seconds
        self._price = _FREE if settings.price is None else settings.price.price()
        self._profile = AgentProfile(
            name=settings.name,
            kind=settings.kind,
            model=_MODEL,
            max_output_tokens=_longest(settings.script),
            price=self._price,
            expertise=settings.weights,
        )

    @property
    def profile(self) -> AgentProfile:
        return self._profile

    async def answer(self, request: Request) -> Answer:
        if self._delay:
            await asyncio.sleep(self._delay)
        text, finish = self._text(request)
        into = _tokens(len(request.system) + len(request.prompt))
        out = _tokens(len(text))
        return Answer(text, Usage(into, out, self._price.of(into, out)), _MODEL, finish)

    def _text(self, request: Request) -> tuple[str, FinishReason]:
        if self._script is not None:
            return self._script[request.turn % len(self._script)], "stop"
        text = improvise(request)
        if len(text) > _MOST_IMPROVISED_CHARACTERS:
            # As a model would be: what was reserved for this answer is all it may cost.
            return text[:_MOST_IMPROVISED_CHARACTERS], "length"
        return text, "stop"

    async def stop(self, request_id: str) -> StopState:
        """It ran in this process and was cancelled with the call: nothing of it is left."""
        del request_id
        return "stopped"


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_PER_TOKEN)


def _longest(script: tuple[str, ...] | None) -> int:
    """The most output tokens that an answer can be reported with."""
    if script is None:
        return _MOST_IMPROVISED_TOKENS
    return max(_tokens(len(text)) for text in script)
