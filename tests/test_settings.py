"""Settings: every one of the contract is taken, from the environment and from ``.env``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.settings import NOT_IN_FORCE, PREFIX, BadSettings, Settings, load_settings

CONTRACT = {
    "DATABASE_URL": "sqlite+aiosqlite:///elsewhere/x.db",
    "MINUTES_DIR": "elsewhere/minutes",
    "HOST": "127.0.0.2",
    "PORT": "8123",
    "ADMIN_KEY": "yor_secret",
    "ALLOW_HTTP_TARGETS": "true",
    "ALLOW_PRIVATE_TARGETS": "1",
    "LOG_LEVEL": "debug",
    "LOG_JSON": "true",
    "RATE_LIMIT": "600/minute",
    "DEFAULT_MODEL": "openai:small",
    "DEFAULT_BASE_URL": "http://127.0.0.1:11434/v1",
    "DEFAULT_API_KEY": "sk-secret",
    "MODEL_STANDARD": "openai:standard",
    "MODEL_PREMIUM": "openai:premium",
}
"""API.md: *Running it*, *Agents* and *Who may call*."""


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting but a test's own, and no ``.env`` but a test's own."""
    for name in list(os.environ):
        if name.upper().startswith((PREFIX, "ANTHROPIC_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def _plain(settings: Settings, name: str) -> str:
    value = getattr(settings, name.lower())
    secret = getattr(value, "get_secret_value", None)
    return str(value if secret is None else secret())


def test_defaults() -> None:
    settings = load_settings()
    assert settings.database_url == "sqlite+aiosqlite:///data/yoriai.db"
    assert settings.minutes_dir == Path("data/minutes")
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert (settings.log_level, settings.log_json) == ("info", False)
    assert settings.default_model is None
    assert settings.without_effect() == []


@pytest.mark.parametrize("name", CONTRACT)
@pytest.mark.parametrize("where", ["environment", "file", "file of a shell"])
def test_every_setting_of_the_contract_is_taken(
    name: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = CONTRACT[name]
    if where == "environment":
        monkeypatch.setenv(PREFIX + name, given)
    else:
        export = "export " if "shell" in where else ""
        Path(".env").write_text(f'# a comment\n\n{export}{PREFIX}{name}="{given}"\n')
    settings = load_settings()
    assert _plain(settings, name) == {"1": "True", "true": "True"}.get(given, given)
    told = settings.without_effect()
    assert len(told) == (1 if name.lower() in NOT_IN_FORCE else 0)
    assert all(f"{PREFIX}{name} has no effect" in sentence for sentence in told)


@pytest.mark.parametrize("name", ["ALLOW_HTTP_TARGETS", "ALLOW_PRIVATE_TARGETS"])
def test_what_loosens_the_guard_is_off_and_said_when_it_is_on(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert getattr(load_settings(), name.lower()) is False
    assert load_settings().loosened() == []
    monkeypatch.setenv(PREFIX + name, "true")
    (sentence,) = load_settings().loosened()
    assert sentence.startswith(f"{PREFIX}{name} is set: ")


def test_keys_of_providers_are_read_under_their_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    Path(".env").write_text("OPENAI_API_KEY=sk-secret\n")
    settings = load_settings()
    assert _plain(settings, "anthropic_api_key") == "sk-ant-secret"
    assert _plain(settings, "openai_api_key") == "sk-secret"
    assert "secret" not in repr(settings)


def test_the_environment_wins_over_the_file_and_options_over_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text("YORIAI_PORT=1\nYORIAI_LOG_LEVEL=error\nYORIAI_HOST=127.0.0.3\n")
    monkeypatch.setenv("YORIAI_PORT", "2")
    settings = load_settings()
    assert (settings.port, settings.log_level, settings.host) == (2, "error", "127.0.0.3")
    settings = load_settings(host="127.0.0.4", port=3)
    assert (settings.port, settings.host) == (3, "127.0.0.4")


@pytest.mark.parametrize(
    "line",
    [
        "YORIAI_BOGUS=1",
        "export YORIAI_BOGUS=1",
        "  YORIAI_BOGUS = 1",
        "yoriai_bogus=1",
        "export\tYORIAI_BOGUS=1",
        "YORIAI_BOGUS",
        "'YORIAI_BOGUS'=1",
        "YORIAI_BOGUS=1\nYORIAI_PORT=8001",
    ],
)
def test_an_unknown_name_in_the_file_is_refused(line: str) -> None:
    Path(".env").write_text(line + "\n")
    with pytest.raises(BadSettings, match="YORIAI_BOGUS"):
        load_settings()


def test_a_name_in_a_comment_is_none() -> None:
    Path(".env").write_text("# YORIAI_BOGUS=1\n#YORIAI_OTHER=2\nOTHER=YORIAI_BOGUS=1\n")
    load_settings()


def test_an_unknown_name_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YORIAI_BOGUS", "1")
    monkeypatch.setenv("YORIAI_ANTHROPIC_API_KEY", "1")
    with pytest.raises(BadSettings) as refused:
        load_settings()
    assert "YORIAI_BOGUS" in refused.value.message
    assert "YORIAI_ANTHROPIC_API_KEY" in refused.value.message


@pytest.mark.parametrize("name", ["PORT", "LOG_JSON", "LOG_LEVEL", "ALLOW_HTTP_TARGETS"])
def test_a_value_that_cannot_be_names_its_setting_and_not_itself(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PREFIX + name, "swordfish")
    with pytest.raises(BadSettings) as refused:
        load_settings()
    assert refused.value.message.startswith(PREFIX + name)
    assert "swordfish" not in refused.value.message
    assert "\n" not in refused.value.message


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_loopback_is_served(host: str) -> None:
    assert load_settings(host=host).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", ""])  # noqa: S104
def test_other_machines_are_not_served_without_keys(host: str) -> None:
    with pytest.raises(BadSettings, match="YORIAI_HOST"):
        load_settings(host=host)
