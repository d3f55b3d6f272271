"""Trying out an agent with one trivial question."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from app.agents.check import check
from app.agents.directory import AgentDirectory
from app.coordinator.ports import Agent, AgentProfile, Answer, Request, StopState
from app.domain.errors import AgentNonsense
from tests.agents import cast
from tests.agents.cast import Stored
from tests.provider import Provider, Reply


async def test_a_check_that_goes_well(directory: AgentDirectory, stored: Stored) -> None:
    stored["actor"] = {"name": "actor", "kind": "rehearsal", "script": ["ready"]}
    report = (await directory.check(await directory.find("actor"))).record()
    assert report["ok"] is True
    assert report["error"] is None
    assert report["model"] == "rehearsal"
    assert report["usage"]["output_tokens"] == 2
    assert report["latency_ms"] >= 0


async def test_a_check_says_in_plain_words_what_is_wrong(
    directory: AgentDirectory, stored: Stored, provider: Provider
) -> None:
    stored["critic"] = {
        **cast.llm_settings("openai", provider).model_dump(mode="json"),
        "api_key": cast.KEY,
    }
    provider.will(Reply.status(401, f"bad {cast.KEY}"))
    report = (await directory.check(await directory.find("critic"))).record()
    assert report["ok"] is False
    assert "did not accept the API key" in report["error"]
    assert cast.KEY not in report["error"]
    assert report["usage"] is None


async def test_every_check_has_an_id_of_its_own(
    directory: AgentDirectory, stored: Stored, provider: Provider
) -> None:
    stored["critic"] = cast.llm_settings("openai", provider, api_key=None).model_dump(mode="json")
    provider.will("ready")
    agent = await directory.find("critic")
    await directory.check(agent)
    await directory.check(agent)
    first, second = (asked.headers["Idempotency-Key"] for asked in provider.requests)
    assert first != second


class Answering:
    """An agent made of one function."""

    profile = AgentProfile("odd", "odd", None, 1, None)

    def __init__(self, answering: Any) -> None:
        self.answering = answering

    async def answer(self, request: Request) -> Answer:
        return await self.answering(request)

    async def stop(self, request_id: str) -> StopState:
        return "unconfirmed"


async def checked(agent: Agent, *moments: float, seconds: float = 20) -> dict[str, Any]:
    ticks = iter(moments)
    report = await check(
        agent,
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        monotonic=lambda: next(ticks),
        seconds=seconds,
    )
    return report.record()


async def test_latency_is_counted_in_milliseconds() -> None:
    async def answering(request: Request) -> Answer:
        return Answer("ready")

    assert (await checked(Answering(answering), 10.0, 11.5))["latency_ms"] == 1_500


async def test_a_check_has_a_limit() -> None:
    async def answering(request: Request) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    report = await checked(Answering(answering), 0.0, 1.0, seconds=0.01)
    assert report["ok"] is False
    assert "no answer within" in report["error"]


async def test_an_agents_failure_is_reported_and_a_fault_of_ours_is_not_hidden() -> None:
    async def nonsense(request: Request) -> Answer:
        raise AgentNonsense("empty reply")

    async def broken(request: Request) -> Answer:
        raise ZeroDivisionError

    assert (await checked(Answering(nonsense), 0.0, 1.0))["error"] == "empty reply"
    with pytest.raises(ZeroDivisionError):
        await checked(Answering(broken), 0.0, 1.0)
