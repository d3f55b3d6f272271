"""Trying out an agent with one trivial question (API, ``POST /v1/agents/{name}/check``)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from app.coordinator.ports import Agent, Answer, Request, Usage
from app.domain.errors import AgentFailure

CHECK_SECONDS = 20.0

_QUESTION = "This is a test of the connection. Reply with the single word: ready"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """How it went: ``error`` is None when the agent answered. Latency in milliseconds."""

    ok: bool
    latency_ms: int
    usage: Usage | None
    model: str | None
    error: str | None

    def record(self) -> dict[str, Any]:
        """The report as the HTTP contract shows it."""
        usage = self.usage
        return {
            "ok": self.ok,
            "latency_ms": self.latency_ms,
            "usage": None
            if usage is None
            else {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "usd": None if usage.usd is None else format(usage.usd.normalize(), "f"),
            },
            "model": self.model,
            "error": self.error,
        }


async def check(
    agent: Agent,
    *,
    now: Callable[[], datetime],
    monotonic: Callable[[], float],
    seconds: float = CHECK_SECONDS,
) -> CheckReport:
    """Ask the agent one trivial question, for so many seconds at the most."""
    started = monotonic()
    answer: Answer | None = None
    error: str | None = None
    try:
        async with asyncio.timeout(seconds):
            answer = await agent.answer(_question(agent, now() + timedelta(seconds=seconds)))
    except TimeoutError:
        error = f"There was no answer within {seconds:g} seconds."
    except AgentFailure as failure:
        error = failure.message
    return CheckReport(
        ok=answer is not None,
        latency_ms=round((monotonic() - started) * 1000),
        usage=None if answer is None else answer.usage,
        model=agent.profile.model if answer is None else answer.model,
        error=error,
    )


def _question(agent: Agent, deadline: datetime) -> Request:
    # A new id each time, or a gateway that honours idempotency keys would answer from memory.
    request_id = f"check-{secrets.token_hex(8)}"
    return Request(
        request_id=request_id,
        meeting_id=request_id,
        who=agent.profile.name,
        office="participant",
        round=1,
        turn=0,
        template="agent/check",
        variables={},
        language="en",
        system="",
        prompt=_QUESTION,
        deadline=deadline,
    )
