"""The model adapter against a real HTTP server, through the real SDKs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from decimal import Decimal

import pytest
from pydantic import SecretStr

from app.agents.connections import Connections
from app.agents.llm import LlmAgent
from app.domain.errors import (
    AgentRejected,
)
from app.formats.roundtable.stance import StanceReading
from tests.agents import cast
from tests.provider import Asked, Gate, Provider, Reply

MEBIBYTE = 1024 * 1024


async def asked_once(agent: LlmAgent, provider: Provider, reply: Reply | str = "yes") -> Asked:
    provider.will(reply)
    await agent.answer(cast.request())
    (asked,) = provider.requests
    return asked


# --- what is sent --------------------------------------------------------------------------------


async def test_openai_with_a_base_url_speaks_chat_completions(
    provider: Provider, connections: Connections
) -> None:
    agent = cast.llm("openai", provider, connections, temperature=0.25, max_output_tokens=77)
    asked = await asked_once(agent, provider)
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == f"Bearer {cast.KEY}"
    assert asked.body["model"] == "gpt-4o-mini"
    assert asked.body["temperature"] == 0.25
    assert asked.body["max_tokens"] == 77
    assert [message["role"] for message in asked.body["messages"]] == ["system", "user"]
    assert asked.body["messages"][0]["content"] == "You sit at a round table."
    assert asked.body["messages"][1]["content"] == "What do you say?"
    assert not asked.body.get("stream")


async def test_reasoning_models_behind_a_base_url_get_the_newer_cap(
    provider: Provider, connections: Connections
) -> None:
    agent = cast.llm("openai", provider, connections, model="openai:gpt-5-mini")
    asked = await asked_once(agent, provider)
    assert asked.body["max_completion_tokens"] == 800
    assert "max_tokens" not in asked.body


async def test_anthropic_speaks_messages(provider: Provider, connections: Connections) -> None:
    agent = cast.llm("anthropic", provider, connections, temperature=0.25, max_output_tokens=32_768)
    asked = await asked_once(agent, provider)
    assert asked.path == "/v1/messages"
    # The SDK's versions differ in which of the two headers they use; the API takes both.
    sent = asked.headers.get("x-api-key"), asked.headers.get("Authorization")
    assert cast.KEY in sent or f"Bearer {cast.KEY}" in sent
    assert asked.body["max_tokens"] == 32_768
    assert asked.body["temperature"] == 0.25
    assert "You sit at a round table." in str(asked.body["system"])
    assert not asked.body.get("stream")


async def test_models_that_think_by_default_are_told_not_to(
    provider: Provider, connections: Connections
) -> None:
    """Thoughts count toward the cap, which is set for replies."""
    sonnet = cast.llm("anthropic", provider, connections, model="anthropic:claude-sonnet-5-5")
    terra = cast.llm("openai", provider, connections, model="openai:gpt-6.1-terra")
    local = cast.llm("openai", provider, connections, model="openai:llama3.2")
    provider.will("yes")
    for agent in (sonnet, terra, local):
        await agent.answer(cast.request())
    thought, reasoned, plain = (asked.body for asked in provider.requests)
    # Which of the two switches it off differs by model; there are no tools to think between.
    assert thought["thinking"]["type"] in ("disabled", "between_tools")
    assert reasoned["reasoning_effort"] == "none"
    assert "reasoning_effort" not in plain


async def test_request_id_is_the_idempotency_key(agent: LlmAgent, provider: Provider) -> None:
    asked = await asked_once(agent, provider)
    assert asked.headers["Idempotency-Key"] == "mtg_1/round-1/ask/architect"


async def test_uncompressed_answers_are_asked_for(agent: LlmAgent, provider: Provider) -> None:
    asked = await asked_once(agent, provider)
    assert asked.headers["Accept-Encoding"] == "identity"


async def test_nothing_of_the_environment_is_sent(
    api: str, provider: Provider, connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base_url is somebody's server; the operator's keys and ids are none of its business."""
    for name in (
        "OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID",
        "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
    ):  # fmt: skip
        monkeypatch.setenv(name, "operators-own-secret")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Secret: operators-own-secret")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    agent = cast.llm(api, provider, connections, api_key=None)
    asked = await asked_once(agent, provider)
    assert "operators-own-secret" not in str(dict(asked.headers))


async def test_an_agents_own_key_comes_before_the_services(
    api: str, provider: Provider, connections: Connections
) -> None:
    settings = cast.llm_settings(api, provider)
    agent = LlmAgent(settings, connections, key=SecretStr("the-services-key"))
    asked = await asked_once(agent, provider)
    assert cast.KEY in str(dict(asked.headers))
    assert "the-services-key" not in str(dict(asked.headers))


async def test_cookies_are_not_kept(agent: LlmAgent, provider: Provider) -> None:
    provider.will(Reply.text("yes", headers={"Set-Cookie": "owner=somebody; Path=/"}))
    await agent.answer(cast.request())
    await agent.answer(cast.request())
    assert "Cookie" not in provider.requests[1].headers


async def test_all_agents_share_one_client(provider: Provider, connections: Connections) -> None:
    provider.will("yes")
    client = connections.client()
    for api in ("openai", "anthropic"):
        await cast.llm(api, provider, connections).answer(cast.request())
    assert connections.client() is client


async def test_a_provider_of_its_own_needs_a_key(connections: Connections) -> None:
    settings = cast.read_settings({"name": "a", "kind": "llm", "model": "openai:gpt-4o-mini"})
    assert isinstance(settings, cast.LlmSettings)
    with pytest.raises(AgentRejected, match="no API key"):
        await LlmAgent(settings, connections).answer(cast.request())


# --- what comes back -----------------------------------------------------------------------------


async def test_usage_is_the_providers(agent: LlmAgent, provider: Provider) -> None:
    provider.will(Reply.text("yes", tokens=(120, 30)))
    usage = (await agent.answer(cast.request())).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (120, 30)


async def test_an_unknown_price_is_none_and_never_zero(agent: LlmAgent, provider: Provider) -> None:
    provider.will("yes")
    usage = (await agent.answer(cast.request())).usage
    assert usage is not None
    assert usage.usd is None


async def test_the_settings_price_counts(
    api: str, provider: Provider, connections: Connections
) -> None:
    price = {"input_per_million": "0.25", "output_per_million": "2.00"}
    agent = cast.llm(api, provider, connections, price=price)
    provider.will(Reply.text("yes", tokens=(1_000, 100)))
    usage = (await agent.answer(cast.request())).usage
    assert usage is not None
    assert usage.usd == Decimal("0.00045")


async def test_missing_usage_is_none(provider: Provider, connections: Connections) -> None:
    provider.will(Reply.text("yes", tokens=None))
    answer = await cast.llm("openai", provider, connections).answer(cast.request())
    assert answer.usage is None


async def test_made_up_usage_is_none(agent: LlmAgent, provider: Provider) -> None:
    provider.will(Reply.text("yes", tokens=(10**12, 5)))
    assert (await agent.answer(cast.request())).usage is None


async def test_an_answer_cut_off_at_the_cap_says_so(agent: LlmAgent, provider: Provider) -> None:
    provider.will(Reply.text("half a sen", finish="length"))
    answer = await agent.answer(cast.request())
    assert (answer.text, answer.finish) == ("half a sen", "length")


async def test_a_large_answer_is_returned_whole(agent: LlmAgent, provider: Provider) -> None:
    provider.will(Reply.large(2 * MEBIBYTE))
    assert len((await agent.answer(cast.request())).text) == 2 * MEBIBYTE


async def test_a_slow_dribble_is_waited_for(agent: LlmAgent, provider: Provider) -> None:
    gate = Gate()
    provider.will(Reply.text("in two halves", dribble=gate))
    call = asyncio.create_task(agent.answer(cast.request()))
    await provider.requests_arrived(1)
    assert not call.done()
    gate.open()
    assert (await call).text == "in two halves"


async def test_a_dribble_can_be_cancelled(agent: LlmAgent, provider: Provider) -> None:
    provider.will(Reply.text("in two halves", dribble=Gate()))
    call = asyncio.create_task(agent.answer(cast.request()))
    (asked,) = await provider.requests_arrived(1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await provider.caller_hung_up(asked)


async def test_a_model_name_from_outside_is_one_bounded_line(
    agent: LlmAgent, provider: Provider
) -> None:
    provider.will(Reply.text("yes", model="evil\n\x1b[31m" + "x" * 5_000))
    model = (await agent.answer(cast.request())).model
    assert model is not None
    assert model.isprintable()
    assert len(model) <= 200


async def test_text_that_no_database_takes_is_made_fit(agent: LlmAgent, provider: Provider) -> None:
    provider.will(Reply.text("a\x00b"))
    assert (await agent.answer(cast.request())).text == "ab"


# --- what it costs to have it --------------------------------------------------------------------


def test_the_sdks_are_not_imported_before_a_model_is_asked() -> None:
    heavy = ("pydantic_ai", "openai", "anthropic", "genai_prices", "httpx2", "aiohttp")
    code = (
        "import sys, app.agents.directory as d\n"
        f"print(*[name for name in {heavy!r} if name in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert loaded.split() == []


async def test_the_event_loop_keeps_turning_while_the_sdks_load(
    provider: Provider, connections: Connections
) -> None:
    agent = cast.llm("openai", provider, connections)
    provider.will("yes")
    call = asyncio.create_task(agent.answer(cast.request()))
    await asyncio.sleep(0)
    turns = 0
    while not call.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 1
    assert (await call).text == "yes"


@pytest.mark.parametrize(
    "written",
    [
        "<think>I lean [STANCE: AGREE]",
        "no idea <think> maybe [STANCE: AGREE] hmm",
        "<think>so [STANCE: AGREE]</think> Well.",
    ],
)
async def test_thinking_comes_back_as_thinking(
    provider: Provider, connections: Connections, written: str
) -> None:
    """The SDK takes the tags away, and a stance that was only thought would count (PROTOCOLS 3)."""
    provider.will(written)
    agent = cast.llm("openai", provider, connections)
    answer = await agent.answer(cast.request())
    assert "<think>" in answer.text
    assert StanceReading().read(answer.text).values["stance"] == "UNKNOWN"
