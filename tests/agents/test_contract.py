"""What every adapter owes the coordinator (``coordinator.ports.Agent``)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from app.agents.connections import Connections
from app.agents.rehearsal import RehearsalAgent
from app.coordinator.ports import Agent
from tests.agents import cast
from tests.provider import Gate, Provider, Reply

Making = Callable[..., Agent]
PRICE = {"input_per_million": "1", "output_per_million": "2"}


@pytest.fixture(params=["rehearsal", "openai", "anthropic"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def making(kind: str, provider: Provider, connections: Connections) -> Making:
    """Makes the agent that says these texts in turn."""

    def make(*texts: str, **more: Any) -> Agent:
        if kind == "rehearsal":
            return RehearsalAgent(cast.rehearsal_settings(script=list(texts), **more))
        provider.will(*texts)
        return cast.llm(kind, provider, connections, **more)

    return make


async def test_gives_the_text_as_it_is(making: Making) -> None:
    text = "  First line.\n\n[STANCE: AGREE] 寄合 🙂\n"
    answer = await making(text).answer(cast.request())
    assert answer.text == text
    assert answer.finish == "stop"


async def test_names_the_model_and_counts_its_tokens(making: Making) -> None:
    answer = await making("a few words").answer(cast.request())
    assert answer.model
    assert answer.usage is not None
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0


async def test_costs_what_its_price_says(making: Making) -> None:
    agent = making("a few words", price=PRICE)
    assert agent.profile.price is not None
    usage = (await agent.answer(cast.request())).usage
    assert usage is not None
    assert usage.usd == agent.profile.price.of(usage.input_tokens, usage.output_tokens)
    assert usage.usd


async def test_never_reports_more_output_than_its_profile_reserves(making: Making) -> None:
    agent = making("a few words")
    usage = (await agent.answer(cast.request())).usage
    assert usage is not None
    assert usage.output_tokens <= agent.profile.max_output_tokens


async def test_profile_says_who_it_is(making: Making, kind: str) -> None:
    profile = making("x", expertise={"database": 1.5}).profile
    assert profile.name == kind
    assert profile.kind == ("rehearsal" if kind == "rehearsal" else "llm")
    assert dict(profile.expertise) == {"database": Decimal("1.5")}


async def test_many_at_once_do_not_mix(making: Making, provider: Provider, kind: str) -> None:
    agent = making("one", "two", "three")
    if kind != "rehearsal":
        provider.will_answer(lambda asked: Reply.text(_prompt(asked.body)))
    requests = [
        cast.request(request_id=str(turn), turn=turn, prompt=("one", "two", "three")[turn % 3])
        for turn in range(30)
    ]
    answers = await asyncio.gather(*(agent.answer(request) for request in requests))
    assert [answer.text for answer in answers] == [request.prompt for request in requests]


async def test_a_cancelled_call_ends_and_leaves_the_agent_usable(
    making: Making, provider: Provider, kind: str
) -> None:
    agent = making("slow", delay_seconds=60) if kind == "rehearsal" else making("slow")
    gate = Gate()
    if kind != "rehearsal":
        provider.will(Reply.text("slow", gate=gate), Reply.text("after"))
    call = asyncio.create_task(agent.answer(cast.request()))
    await asyncio.sleep(0)
    arrived = [] if kind == "rehearsal" else await provider.requests_arrived(1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    for asked in arrived:
        assert await provider.caller_hung_up(asked)
        assert (await agent.answer(cast.request())).text == "after"


async def test_stop_claims_only_what_is_known(making: Making, kind: str) -> None:
    state = await making("x").stop("mtg_1/round-1/ask/architect")
    assert state == ("stopped" if kind == "rehearsal" else "unconfirmed")


def _prompt(body: Any) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]
