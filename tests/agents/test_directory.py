"""Finding agents by name, and what ``default`` stands for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr

from app.agents.directory import STANDARD_MODELS, AgentDirectory, ModelDefaults
from app.agents.prices import highest_price
from app.agents.rehearsal import RehearsalAgent
from app.domain.errors import InvalidRequest, NotFound
from tests.agents import cast
from tests.agents.cast import Stored, directory_of
from tests.provider import Provider


async def default_model(**defaults: Any) -> str | None:
    return (await directory_of(Stored(), **defaults).find("default")).profile.model


async def test_an_unknown_name(directory: AgentDirectory) -> None:
    with pytest.raises(NotFound, match="no agent named nobody"):
        await directory.find("nobody")


async def test_a_hostile_name_makes_a_short_message(directory: AgentDirectory) -> None:
    with pytest.raises(NotFound) as raised:
        await directory.find("\x1b[31m" + "x" * 100_000)
    assert len(raised.value.message) < 200


async def test_a_stored_agent_is_built_once(directory: AgentDirectory, stored: Stored) -> None:
    stored["actor"] = {"name": "actor", "kind": "rehearsal", "script": ["one"]}
    found = await directory.find("actor")
    assert (await found.answer(cast.request())).text == "one"
    assert await directory.find("actor") is found


async def test_a_changed_agent_is_built_anew(directory: AgentDirectory, stored: Stored) -> None:
    stored["actor"] = {"name": "actor", "kind": "rehearsal", "script": ["one"]}
    before = await directory.find("actor")
    stored["actor"] = {"name": "actor", "kind": "rehearsal", "script": ["two"]}
    assert (await (await directory.find("actor")).answer(cast.request())).text == "two"
    del stored["actor"]
    with pytest.raises(NotFound):
        await directory.find("actor")
    assert (await before.answer(cast.request())).text == "one"


async def test_a_record_that_cannot_be_read(directory: AgentDirectory, stored: Stored) -> None:
    stored["old"] = {"name": "old", "kind": "llm", "model": "gone:x", "api_key": "secret-key"}
    with pytest.raises(NotFound, match="PUT /v1/agents/old") as raised:
        await directory.find("old")
    assert "secret-key" not in raised.value.message


async def test_not_more_agents_are_kept_than_are_needed(
    directory: AgentDirectory, stored: Stored
) -> None:
    for number in range(600):
        name = f"actor-{number}"
        stored[name] = {"name": name, "kind": "rehearsal"}
        await directory.find(name)
    assert len(directory._built) <= 256


# --- default -------------------------------------------------------------------------------------


async def test_default_is_a_rehearsal_where_nothing_is_set(directory: AgentDirectory) -> None:
    found = await directory.find("default")
    assert isinstance(found, RehearsalAgent)
    assert found.profile.name == "default"
    assert await directory.find("default") is found


async def test_a_stored_default_comes_first(stored: Stored) -> None:
    stored["default"] = {"name": "default", "kind": "rehearsal", "script": ["stored"]}
    directory = directory_of(stored, default_model="openai:x", openai_api_key=SecretStr("k"))
    assert (await (await directory.find("default")).answer(cast.request())).text == "stored"


@pytest.mark.parametrize(
    ("defaults", "model"),
    [
        ({"default_model": "openai:mine", "anthropic_api_key": SecretStr("k")}, "openai:mine"),
        ({"anthropic_api_key": SecretStr("k")}, STANDARD_MODELS["anthropic"]),
        ({"openai_api_key": SecretStr("k")}, STANDARD_MODELS["openai"]),
        (
            {"anthropic_api_key": SecretStr("k"), "openai_api_key": SecretStr("k")},
            STANDARD_MODELS["anthropic"],
        ),
        ({"anthropic_api_key": SecretStr("k"), "standard": "anthropic:other"}, "anthropic:other"),
        (
            {
                "anthropic_api_key": SecretStr("k"),
                "openai_api_key": SecretStr("k"),
                "standard": "openai:other",
            },
            "openai:other",
        ),
        (
            {"anthropic_api_key": SecretStr("k"), "standard": "openai:other"},
            STANDARD_MODELS["anthropic"],
        ),
        ({"standard": "openai:other"}, "rehearsal"),
    ],
)
async def test_the_order_of_defaults(defaults: dict[str, Any], model: str) -> None:
    assert await default_model(**defaults) == model


@pytest.mark.parametrize(
    ("defaults", "named"),
    [
        ({"default_model": "nonsense"}, "YORIAI_DEFAULT_MODEL"),
        ({"default_model": "openai:x", "default_base_url": "ftp:x"}, "YORIAI_DEFAULT_BASE_URL"),
        (
            {"default_model": "openai:x", "default_api_key": SecretStr("two words")},
            "YORIAI_DEFAULT_API_KEY",
        ),
        ({"standard": "nonsense"}, "YORIAI_MODEL_STANDARD"),
    ],
)
def test_unusable_defaults_are_found_at_the_start(defaults: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidRequest, match=named) as raised:
        directory_of(Stored(), **defaults)
    assert "two words" not in raised.value.message


def test_defaults_hide_their_keys() -> None:
    assert "sk-1" not in repr(ModelDefaults(default_api_key=SecretStr("sk-1")))


@pytest.mark.parametrize("model", STANDARD_MODELS.values())
async def test_standard_models_have_a_known_price(model: str) -> None:
    provider, _, name = model.partition(":")
    price = highest_price(provider, name, None)
    assert price is not None
    assert 0 < price.input_per_million < price.output_per_million


# --- keys and prices -----------------------------------------------------------------------------


async def test_the_default_models_own_key_goes_to_its_server(provider: Provider) -> None:
    directory = directory_of(
        Stored(),
        default_model="openai:local",
        default_base_url=provider.openai_url,
        default_api_key=SecretStr("its-own-key"),
        openai_api_key=SecretStr("the-operators-key"),
    )
    provider.will("yes")
    await (await directory.find("default")).answer(cast.request())
    await directory.close()
    assert provider.requests[0].headers["Authorization"] == "Bearer its-own-key"


@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_the_operators_key_never_goes_to_a_base_url(provider: Provider, api: str) -> None:
    settings = cast.llm_settings(api, provider, api_key=None)
    stored = Stored({"local": settings.model_dump(mode="json")})
    directory = directory_of(
        stored,
        openai_api_key=SecretStr("the-operators-key"),
        anthropic_api_key=SecretStr("the-operators-key"),
    )
    provider.will("yes")
    await (await directory.find("local")).answer(cast.request())
    await directory.close()
    assert "the-operators-key" not in str(dict(provider.requests[0].headers))


async def test_a_known_models_price_is_in_its_profile(stored: Stored) -> None:
    stored["known"] = {"name": "known", "kind": "llm", "model": "openai:gpt-4o-mini"}
    stored["unknown"] = {"name": "unknown", "kind": "llm", "model": "openai:no-such-model"}
    stored["local"] = {**stored["known"], "name": "local", "base_url": "http://localhost:1/v1"}
    directory = directory_of(stored)
    prices = {name: (await directory.find(name)).profile.price for name in stored}
    assert prices["known"] is not None
    assert prices["known"].output_per_million > 0
    assert prices["unknown"] is None
    assert prices["local"] is None


def test_a_price_with_steps_is_taken_at_its_dearest() -> None:
    from genai_prices.data_snapshot import get_snapshot

    _, model = get_snapshot().find_provider_model("gpt-5.4", None, "openai", None)
    prices: Any = model.get_prices(datetime.now(UTC))
    price = highest_price("openai", "gpt-5.4", None)
    assert price is not None
    assert price.input_per_million == max(tier.price for tier in prices.input_mtok.tiers)
    assert price.input_per_million > prices.input_mtok.base
