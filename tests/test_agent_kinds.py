"""What may be stored of an agent, and what comes out again."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from app.agent_kinds import LlmSettings, public_view, read_settings, stored_record
from app.domain.errors import InvalidRequest, NotBuiltYet

SECRET = "sk-very-secret-indeed"

LLM: dict[str, Any] = {"name": "critic", "kind": "llm", "model": "openai:some-model"}
REHEARSAL: dict[str, Any] = {"name": "actor", "kind": "rehearsal"}


def pointers(record: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidRequest) as raised:
        read_settings(record)
    return [fault.pointer for fault in raised.value.faults]


def test_the_least_that_is_needed() -> None:
    settings = read_settings(LLM)
    assert isinstance(settings, LlmSettings)
    assert settings.max_output_tokens == 800
    assert (settings.provider, settings.model_name) == ("openai", "some-model")
    assert read_settings(REHEARSAL).name == "actor"


def test_a_record_comes_back_as_it_was_stored() -> None:
    settings = read_settings(
        {
            **LLM,
            "base_url": "http://localhost:11434/v1/",
            "api_key": SECRET,
            "temperature": 0.5,
            "price": {"input_per_million": "0.250000000001", "output_per_million": 2},
            "expertise": {"database": 1.3},
        }
    )
    assert isinstance(settings, LlmSettings)
    stored = json.loads(json.dumps(stored_record(settings)))
    assert read_settings(stored) == settings
    assert stored["api_key"] == SECRET
    assert settings.base_url == "http://localhost:11434/v1"
    assert settings.price is not None
    assert settings.price.input_per_million == Decimal("0.250000000001")
    assert settings.weights["database"] == Decimal("1.3")


def test_the_public_view_and_the_repr_hold_no_secret() -> None:
    settings = read_settings({**LLM, "api_key": SECRET})
    view = public_view(stored_record(settings))
    assert "api_key" not in view
    assert view["api_key_set"] is True
    assert view["model"] == "openai:some-model"
    assert SECRET not in json.dumps(view)
    assert SECRET not in repr(settings)


def test_settings_do_not_change() -> None:
    settings = read_settings({**LLM, "expertise": {"database": 1.5}})
    with pytest.raises(TypeError):
        settings.expertise["database"] = 2.0  # type: ignore[index]
    with pytest.raises(ValueError, match="frozen"):
        settings.name = "other"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "a b"}, "/name"),
        ({"name": "a\n"}, "/name"),
        ({"name": ".."}, "/name"),
        ({"name": "x" * 65}, "/name"),
        ({"name": "寄合"}, "/name"),
        ({"model": "some-model"}, "/model"),
        ({"model": "openai:"}, "/model"),
        ({"model": "openai:a b"}, "/model"),
        ({"model": "google:gemini"}, "/model"),
        ({"model": "openai:" + "x" * 300}, "/model"),
        ({"base_url": "ftp://host"}, "/base_url"),
        ({"base_url": "file:///etc/passwd"}, "/base_url"),
        ({"base_url": "http://"}, "/base_url"),
        ({"base_url": "http://user:pw@host/"}, "/base_url"),
        ({"base_url": "http://host:99999/"}, "/base_url"),
        ({"base_url": "http://host/?key=1"}, "/base_url"),
        ({"base_url": "http://host/\nX: y"}, "/base_url"),
        ({"api_key": ""}, "/api_key"),
        ({"api_key": "two words"}, "/api_key"),
        ({"api_key": "line\r\nX-Other: 1"}, "/api_key"),
        ({"api_key": "鍵"}, "/api_key"),
        ({"temperature": 2.1}, "/temperature"),
        ({"temperature": -0.1}, "/temperature"),
        ({"temperature": True}, "/temperature"),
        ({"temperature": float("nan")}, "/temperature"),
        ({"max_output_tokens": 0}, "/max_output_tokens"),
        ({"max_output_tokens": 32_769}, "/max_output_tokens"),
        ({"max_output_tokens": "800"}, "/max_output_tokens"),
        ({"price": {"input_per_million": 1}}, "/price/output_per_million"),
        ({"price": {"input_per_million": -1, "output_per_million": 1}}, "/price/input_per_million"),
        (
            {"price": {"input_per_million": "NaN", "output_per_million": 1}},
            "/price/input_per_million",
        ),
        ({"expertise": {"database": 0.9}}, "/expertise/database"),
        ({"expertise": {"database": 2.1}}, "/expertise/database"),
        ({"script": ["x"]}, "/script"),
        ({"anything": 1}, "/anything"),
    ],
)
def test_wrong_settings_of_a_model(change: dict[str, Any], pointer: str) -> None:
    assert pointers({**LLM, **change}) == [pointer]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"script": []}, "/script"),
        ({"script": [""]}, "/script/0"),
        ({"script": "text"}, "/script"),
        ({"script": ["x" * 20_001]}, "/script/0"),
        ({"script": ["x"] * 201}, "/script"),
        ({"delay_seconds": -1}, "/delay_seconds"),
        ({"delay_seconds": 61}, "/delay_seconds"),
        ({"model": "openai:x"}, "/model"),
    ],
)
def test_wrong_settings_of_a_rehearsal(change: dict[str, Any], pointer: str) -> None:
    # Where a text of the script is wrong, the shortened script may be at fault as well.
    assert pointers({**REHEARSAL, **change})[0] == pointer


@pytest.mark.parametrize("kind", [None, "", "robot", 7, ["llm"], {"llm": 1}])
def test_unknown_kinds(kind: object) -> None:
    assert pointers({"name": "a", "kind": kind}) == ["/kind"]


@pytest.mark.parametrize("kind", ["openclaw", "http", "human"])
def test_kinds_of_a_later_version_say_so(kind: str) -> None:
    with pytest.raises(NotBuiltYet):
        read_settings({"name": "a", "kind": kind})


def test_another_provider_is_told_how_to_go_about_it() -> None:
    with pytest.raises(InvalidRequest, match="openai or anthropic"):
        read_settings({**LLM, "model": "mistral:large"})


def test_faults_repeat_no_values() -> None:
    with pytest.raises(InvalidRequest) as raised:
        read_settings({**LLM, "api_key": f"{SECRET} {SECRET}", "temperature": SECRET})
    assert SECRET not in raised.value.message


def test_faults_are_bounded_however_much_is_wrong() -> None:
    with pytest.raises(InvalidRequest) as raised:
        read_settings({**LLM, **{f"{'x' * 10_000}{n}": n for n in range(200)}})
    assert len(raised.value.message) < 10_000
