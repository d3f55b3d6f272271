"""The service's settings: ``YORIAI_…`` variables, or a ``.env`` file beside the process."""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.coordinator.cancellation import CONFIRM_SECONDS
from app.domain.errors import YoriaiError

PREFIX = "YORIAI_"
_ENV_FILE = ".env"

NOT_IN_FORCE = {
    "admin_key": "there are no access keys yet, and the service answers on loopback only",
    "rate_limit": "there is no limit on requests yet",
    "model_premium": "no request can ask for the premium tier yet",
}
"""Settings of the contract that this version takes and that change nothing in it."""


_LOOSE = {
    "allow_http_targets": "what is saved at plain http can be read and changed on its way",
    "allow_private_targets": "callers can have addresses of this machine and its network called",
}
"""Settings that loosen the guard for addresses that callers give, and what that risks."""


class BadSettings(YoriaiError):
    code = "bad-settings"


class Settings(BaseSettings):
    """Every setting with its default. Paths are relative to the working directory."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=_ENV_FILE, extra="ignore")

    database_url: str = "sqlite+aiosqlite:///data/yoriai.db"
    minutes_dir: Path = Path("data/minutes")
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_json: bool = False
    cancel_confirm_seconds: float = Field(default=CONFIRM_SECONDS, ge=0, le=600)
    """How long a cancelled meeting waits for those that were told to stop (PROTOCOLS 12)."""

    default_model: str | None = None
    default_base_url: str | None = None
    default_api_key: SecretStr | None = None
    model_standard: str | None = None
    anthropic_api_key: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_API_KEY")
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")

    allow_http_targets: bool = False
    allow_private_targets: bool = False

    admin_key: SecretStr | None = None
    rate_limit: str | None = None
    model_premium: str | None = None

    @property
    def serves_loopback_only(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def loosened(self) -> list[str]:
        """A sentence for each setting that lets callers have more called than the public web."""
        loose = {name: why for name, why in _LOOSE.items() if getattr(self, name)}
        return [f"{PREFIX}{name.upper()} is set: {why}." for name, why in loose.items()]

    def without_effect(self) -> list[str]:
        """A sentence for each setting that was given and changes nothing yet."""
        return [
            f"{PREFIX}{name.upper()} has no effect: {why}."
            for name, why in NOT_IN_FORCE.items()
            if getattr(self, name) is not None
        ]


def load_settings(host: str | None = None, port: int | None = None) -> Settings:
    """The settings, with what the command line gave on top.

    Raises ``BadSettings`` with one readable line for an unknown or an impossible one.
    """
    unknown = sorted(_named() - _known())
    if unknown:
        raise BadSettings(f"Unknown setting {', '.join(unknown)}. See the README for the list.")
    try:
        settings = Settings(**_given(host=host, port=port))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).upper()
        raise BadSettings(f"{PREFIX}{name.removeprefix(PREFIX)}: {first['msg']}.") from None
    if not settings.database_url.startswith("sqlite+aiosqlite:///"):
        raise BadSettings(
            "YORIAI_DATABASE_URL must be sqlite+aiosqlite:///PATH; Postgres comes in a later "
            "version."
        )
    if not settings.serves_loopback_only:
        raise BadSettings(
            f"YORIAI_HOST {settings.host} would show the service to other machines, and there are "
            "no access keys yet. Use 127.0.0.1."
        )
    return settings


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _named() -> set[str]:
    """The ``YORIAI_`` names in the environment and in ``.env``."""
    names = set(os.environ)
    env_file = Path(_ENV_FILE)
    if env_file.is_file():
        names |= set(dotenv_values(env_file, encoding="utf-8"))
    return {name.upper() for name in names if name.upper().startswith(PREFIX)}


def _known() -> set[str]:
    fields = Settings.model_fields.items()
    return {PREFIX + name.upper() for name, field in fields if field.validation_alias is None}
