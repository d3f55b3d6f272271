"""What can be set of an agent, kind by kind (API, *Agents*); nothing else says it.

A kind is a frozen model in ``SETTINGS_BY_KIND``. Its fields are what the HTTP edge reads a body
by, what the OpenAPI document shows, what the store keeps and what the agent is built from. What
their types cannot say, ``faults`` says, and is asked only where the types have nothing to object
to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    Secret,
    SecretStr,
    StringConstraints,
    ValidationError,
)

from app.domain.errors import Fault, InvalidRequest, NotBuiltYet, pointer_to
from app.domain.money import Price
from app.domain.text_rules import AGENT_NAME, on_one_line, without_controls

PROVIDERS = ("openai", "anthropic")
LATER_KINDS = frozenset({"openclaw", "http", "human"})
SECRETS = frozenset({"api_key"})
"""Fields that come in and never go out again."""

_MOST_FAULTS = 50
_MOST_WEIGHT_DECIMALS = 6


def _plain_number(amount: Decimal) -> str:
    return format(amount.normalize(), "f")


AgentName = Annotated[str, StringConstraints(pattern=AGENT_NAME)]
DomainName = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(on_one_line)]
Expertise = Annotated[
    Mapping[DomainName, Annotated[float, Field(ge=1, le=2)]],
    Field(
        max_length=64,
        description="How much the agent's voice weighs in each domain, from 1.0 to 2.0.",
    ),
    AfterValidator(lambda weights: MappingProxyType(dict(weights))),
    PlainSerializer(dict, return_type=dict[str, float]),
]
UsdPerMillion = Annotated[
    Decimal,
    Field(ge=0, le=1_000_000, decimal_places=12),
    PlainSerializer(_plain_number, return_type=str),
]
Model = Annotated[str, Field(min_length=1, max_length=256, examples=["openai:gpt-5-mini"])]
BaseUrl = Annotated[
    str,
    Field(min_length=1, max_length=2_000),
    AfterValidator(on_one_line),
    AfterValidator(lambda url: url.rstrip("/")),
]
ApiKey = Annotated[
    Secret[Annotated[str, Field(min_length=1, max_length=1_000)]],
    Field(json_schema_extra={"writeOnly": True}),
]
ScriptText = Annotated[
    str, Field(min_length=1, max_length=20_000), AfterValidator(without_controls)
]

AnySecret = SecretStr | Secret[str]
"""A key, whether it came with the agent or with the service's own settings."""


class _Strict(BaseModel):
    """Exact types, no field unknown; a fault never repeats a value, since it may be a secret."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )


class AgentPrice(_Strict):
    """US dollars per million tokens; a number or, exactly, a decimal string."""

    input_per_million: UsdPerMillion
    output_per_million: UsdPerMillion

    def price(self) -> Price:
        return Price(self.input_per_million, self.output_per_million)


class _Settings(_Strict):
    """What agents of every kind have."""

    name: AgentName
    expertise: Expertise = Field(default_factory=lambda: MappingProxyType({}))

    @property
    def weights(self) -> Mapping[str, Decimal]:
        """The expertise as the numbers that were written, not as the floats nearest to them."""
        return {domain: Decimal(str(weight)) for domain, weight in self.expertise.items()}

    def faults(self) -> Iterator[Fault]:
        """What is wrong with the settings though each has the right type and size."""
        if self.name in (".", ".."):
            # HTTP clients would resolve it away from the path of its own resource.
            yield Fault("/name", "may not be . or ..")
        for domain, weight in self.weights.items():
            if -int(weight.as_tuple().exponent) > _MOST_WEIGHT_DECIMALS:
                detail = (
                    f"Decimal input should have no more than {_MOST_WEIGHT_DECIMALS} decimal places"
                )
                yield Fault(pointer_to(("expertise", domain)), detail)


class LlmSettings(_Settings):
    """A language model behind a provider's API or a compatible server."""

    kind: Literal["llm"]
    model: Model
    base_url: BaseUrl | None = None
    api_key: ApiKey | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1, le=32_768)] = 800
    price: AgentPrice | None = None

    @property
    def provider(self) -> str:
        return self.model.partition(":")[0]

    @property
    def model_name(self) -> str:
        return self.model.partition(":")[2]

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        key = None if self.api_key is None else self.api_key.get_secret_value()
        found = {
            "/model": _model_fault(self.model),
            "/base_url": None if self.base_url is None else _url_fault(self.base_url),
            "/api_key": None if key is None else _key_fault(key),
        }
        yield from (Fault(field, fault) for field, fault in found.items() if fault)


class RehearsalSettings(_Settings):
    """A stand-in that costs nothing: for trying things out and for tests."""

    kind: Literal["rehearsal"]
    script: Annotated[tuple[ScriptText, ...], Field(min_length=1, max_length=200)] | None = None
    delay_seconds: Annotated[float, Field(ge=0, le=60)] = 0
    price: AgentPrice | None = None


AgentSettings = LlmSettings | RehearsalSettings
_Some = TypeVar("_Some", bound=AgentSettings)

SETTINGS_BY_KIND: Mapping[str, type[AgentSettings]] = {
    "llm": LlmSettings,
    "rehearsal": RehearsalSettings,
}
"""The settings of every kind of agent that there is."""


def settings_of_kind(kind: object) -> type[AgentSettings]:
    """The schema of a kind. Raises ``InvalidRequest``, or ``NotBuiltYet`` for a later one."""
    known = ", ".join(SETTINGS_BY_KIND)
    if isinstance(kind, str) and kind in LATER_KINDS:
        detail = f"Agents of kind {kind} are not available in this version yet; there is: {known}."
        raise NotBuiltYet(Fault("/kind", detail))
    if not isinstance(kind, str) or kind not in SETTINGS_BY_KIND:
        raise InvalidRequest(Fault("/kind", f"This should be one of: {known}."))
    return SETTINGS_BY_KIND[kind]


def checked(settings: _Some) -> _Some:
    """The settings, if an agent can be built from them; else raises ``InvalidRequest``."""
    faults = tuple(islice(settings.faults(), _MOST_FAULTS))
    if faults:
        raise InvalidRequest(*faults)
    return settings


def read_settings(record: Mapping[str, Any]) -> AgentSettings:
    """The settings in a stored record, or in the service's own settings.

    Raises ``InvalidRequest`` with a fault for every field that is wrong, never repeating a
    value, since it may be a secret; ``NotBuiltYet`` for a kind that a later version will have.
    """
    schema = settings_of_kind(record.get("kind"))
    try:
        return checked(schema.model_validate_json(json.dumps(dict(record))))
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
    raise InvalidRequest(
        *(Fault(pointer_to(each["loc"]), _told(each["msg"])) for each in wrong[:_MOST_FAULTS])
    )


def stored_record(settings: AgentSettings) -> dict[str, Any]:
    """The agent as JSON for the store, its secrets included; ``read_settings`` reads it back."""
    secrets = {name: getattr(settings, name, None) for name in SECRETS}
    given = {name: each.get_secret_value() for name, each in secrets.items() if each is not None}
    return settings.model_dump(mode="json", exclude=set(SECRETS)) | given


def public_view(record: Mapping[str, Any]) -> dict[str, Any]:
    """A stored agent as callers see it: of a secret only whether there is one."""
    shown = {name: value for name, value in record.items() if name not in SECRETS}
    return shown | {f"{name}_set": True for name in SECRETS if record.get(name)}


def _model_fault(model: str) -> str | None:
    provider, colon, name = model.partition(":")
    if not colon or not name:
        return "must be provider:name, such as openai:NAME"
    if provider not in PROVIDERS:
        return (
            "the provider must be openai or anthropic; an OpenAI-compatible server is openai: "
            "with a base_url"
        )
    if not name.isprintable() or " " in name:
        return "the model's name may hold no spaces or controls"
    return None


def _url_fault(url: str) -> str | None:
    if not url.isprintable() or " " in url:
        return "may hold no spaces or control characters"
    try:
        parts = urlsplit(url)
        port_is_possible = parts.port != 0
    except ValueError:
        return "is not a URL"
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_possible:
        return "must be an http or https URL with a host"
    if parts.username is not None or parts.password is not None:
        # It would come back in the public view and in error messages.
        return "may hold no user name or password; use api_key"
    if parts.query or parts.fragment:
        return "may hold no query and no fragment"
    return None


def _key_fault(key: str) -> str | None:
    if not key.isascii() or not key.isprintable() or " " in key:
        return "must be printable ASCII without spaces"
    return None


def _told(message: str) -> str:
    return message.removeprefix("Value error, ")
