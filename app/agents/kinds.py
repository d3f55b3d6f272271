"""What is stored of an agent, by kind (API, *Agents*).

A kind is a frozen model with a ``kind`` of its own; ``AgentSettings`` is their union. What comes
in goes through ``read_settings``; what goes out again is ``public_view``, which has no secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from app.domain.errors import Fault, InvalidRequest, NotBuiltYet
from app.domain.money import Price

PROVIDERS = ("openai", "anthropic")

_KINDS = ("llm", "rehearsal")
_LATER_KINDS = ("openclaw", "http", "human")
_MOST_FAULTS = 50
_MOST_POINTER_CHARACTERS = 64
_MOST_URL_CHARACTERS = 2_000
_MOST_KEY_CHARACTERS = 1_000


def _provider_and_name(model: str) -> str:
    provider, colon, name = model.partition(":")
    if not colon or not name:
        raise PydanticCustomError("model", "must be provider:name, such as openai:NAME")
    if provider not in PROVIDERS:
        raise PydanticCustomError(
            "provider",
            "the provider must be openai or anthropic; an OpenAI-compatible server is openai: "
            "with a base_url",
        )
    if not name.isprintable() or " " in name:
        raise PydanticCustomError("model", "the model's name may hold no spaces or controls")
    return model


def _not_a_step_in_a_path(name: str) -> str:
    if name in (".", ".."):
        # HTTP clients would resolve it away from the path of its own resource.
        raise PydanticCustomError("name", "may not be . or ..")
    return name


def _http_url(url: str) -> str:
    if not url.isprintable() or " " in url:
        raise PydanticCustomError("url", "may hold no spaces or control characters")
    try:
        parts = urlsplit(url)
        port_is_possible = parts.port != 0
    except ValueError:
        raise PydanticCustomError("url", "is not a URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_possible:
        raise PydanticCustomError("url", "must be an http or https URL with a host")
    if parts.username is not None or parts.password is not None:
        # It would come back in the public view and in error messages.
        raise PydanticCustomError("url", "may hold no user name or password; use api_key")
    if parts.query or parts.fragment:
        raise PydanticCustomError("url", "may hold no query and no fragment")
    return url.rstrip("/")


def _header_safe(key: SecretStr) -> SecretStr:
    secret = key.get_secret_value()
    if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise PydanticCustomError("key", "must be printable ASCII without spaces")
    return key


def _plain_number(amount: Decimal) -> str:
    return format(amount.normalize(), "f")


AgentName = Annotated[
    str, StringConstraints(pattern="^[A-Za-z0-9._-]{1,64}$"), AfterValidator(_not_a_step_in_a_path)
]
DomainName = Annotated[str, StringConstraints(min_length=1, max_length=64, strip_whitespace=True)]
Weight = Annotated[
    Decimal, Field(ge=1, le=2, decimal_places=6), PlainSerializer(float, return_type=float)
]
UsdPerMillion = Annotated[
    Decimal,
    Field(ge=0, le=1_000_000, decimal_places=12),
    PlainSerializer(_plain_number, return_type=str),
]
Expertise = Annotated[
    Mapping[DomainName, Weight],
    Field(max_length=64),
    AfterValidator(lambda weights: MappingProxyType(dict(weights))),
    PlainSerializer(dict, return_type=dict[DomainName, Weight]),
]
ModelReference = Annotated[
    str, StringConstraints(max_length=256), AfterValidator(_provider_and_name)
]
HttpUrl = Annotated[
    str, StringConstraints(max_length=_MOST_URL_CHARACTERS), AfterValidator(_http_url)
]
ApiKey = Annotated[SecretStr, Field(max_length=_MOST_KEY_CHARACTERS), AfterValidator(_header_safe)]
ScriptText = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class PriceSettings(BaseModel):
    """US dollars per million tokens; a number or, exactly, a decimal string."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    input_per_million: UsdPerMillion
    output_per_million: UsdPerMillion

    def price(self) -> Price:
        return Price(self.input_per_million, self.output_per_million)


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: AgentName
    expertise: Expertise = Field(default_factory=lambda: MappingProxyType({}))


class LlmSettings(_Settings):
    """A language model behind a provider's API or a compatible server."""

    kind: Literal["llm"] = "llm"
    model: ModelReference
    base_url: HttpUrl | None = None
    api_key: ApiKey | None = None
    temperature: Annotated[float, Field(ge=0, le=2, strict=True)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1, le=32_768, strict=True)] = 800
    price: PriceSettings | None = None

    @property
    def provider(self) -> str:
        return self.model.partition(":")[0]

    @property
    def model_name(self) -> str:
        return self.model.partition(":")[2]


class RehearsalSettings(_Settings):
    """A stand-in that costs nothing: for trying things out and for tests."""

    kind: Literal["rehearsal"] = "rehearsal"
    script: Annotated[tuple[ScriptText, ...], Field(min_length=1, max_length=200)] | None = None
    delay_seconds: Annotated[float, Field(ge=0, le=60, strict=True)] = 0
    price: PriceSettings | None = None


AgentSettings = Annotated[LlmSettings | RehearsalSettings, Field(discriminator="kind")]

_settings: TypeAdapter[LlmSettings | RehearsalSettings] = TypeAdapter(AgentSettings)


def read_settings(record: Mapping[str, Any]) -> LlmSettings | RehearsalSettings:
    """The settings in a request's body or a stored record.

    Raises ``InvalidRequest`` with a fault for every field that is wrong, never repeating a
    value, since it may be a secret; ``NotBuiltYet`` for a kind that a later version will have.
    """
    kind = record.get("kind")
    if kind in _LATER_KINDS:
        raise NotBuiltYet(Fault("/kind", f"agents of kind {kind} come with a later version"))
    if kind not in _KINDS:
        raise InvalidRequest(Fault("/kind", f"must be one of: {', '.join(_KINDS)}"))
    try:
        return _settings.validate_python(dict(record))
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
    faults = (Fault(_pointer(each["loc"]), each["msg"]) for each in wrong[:_MOST_FAULTS])
    raise InvalidRequest(*faults)


def public_view(settings: LlmSettings | RehearsalSettings) -> dict[str, Any]:
    """The agent as callers see it: everything but its secrets (they are write-only)."""
    return settings.model_dump(mode="json", exclude={"api_key"})


def stored_record(settings: LlmSettings | RehearsalSettings) -> dict[str, Any]:
    """The agent as JSON for the store, its secret included; ``read_settings`` reads it back."""
    record = public_view(settings)
    if isinstance(settings, LlmSettings) and settings.api_key is not None:
        record["api_key"] = settings.api_key.get_secret_value()
    return record


def _pointer(location: tuple[int | str, ...]) -> str:
    """A JSON pointer (RFC 6901), without the union's tag that comes first."""
    parts = (str(part)[:_MOST_POINTER_CHARACTERS] for part in location[1:])
    escaped = (part.replace("~", "~0").replace("/", "~1") for part in parts)
    return "".join(f"/{part}" for part in escaped)
