"""The heavy half of ``llm``: Pydantic AI and the providers' SDKs, with our own HTTP client.

Retries are off and timeouts are ours, so one call here is one request there.
"""

from __future__ import annotations

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from app.agent_kinds import AnySecret, LlmSettings
from app.agents.model_failures import agent_failure
from app.agents.plain_text import MOST_MESSAGE_CHARACTERS, one_printable_line, storable
from app.agents.prices import cost
from app.coordinator.ports import Answer, FinishReason, Request, Usage
from app.domain.errors import AgentNonsense, AgentRefused, AgentRejected
from app.domain.money import Cost

_NO_KEY = "none"
"""Sent where no key is set: without one the SDKs would take the operator's from the environment
and send it to whatever server the ``base_url`` names."""

_MOST_TOKENS = 100_000_000
"""More than any model takes; a count beyond it is made up."""

_MOST_MODEL_CHARACTERS = 200


class ModelClient:
    """One agent's model, ready to be asked.

    Raises ``AgentRejected`` if there is no key for a provider that needs one.
    """

    def __init__(
        self, settings: LlmSettings, key: AnySecret | None, http: httpx2.AsyncClient
    ) -> None:
        if key is None and settings.base_url is None:
            raise AgentRejected(
                f"Agent {settings.name} has no API key for {settings.provider}. "
                "Set its api_key, or the provider's key in the service's environment."
            )
        self._settings = settings
        self._secret = "" if key is None else key.get_secret_value()
        self._model = _MODELS[settings.provider](settings, self._secret or _NO_KEY, http)
        self._model_settings = ModelSettings(max_tokens=settings.max_output_tokens)
        if _thinks_unasked(self._model):
            # Thoughts count toward the cap, and a model left to itself can use it up before it
            # has said a word; what they cost would come out of the meeting's envelope as well.
            self._model_settings["thinking"] = False
        if settings.temperature is not None:
            self._model_settings["temperature"] = settings.temperature

    async def answer(self, request: Request) -> Answer:
        model_settings = self._model_settings.copy()
        model_settings["extra_headers"] = {"Idempotency-Key": request.request_id}
        try:
            response = await model_request(
                self._model, _messages(request), model_settings=model_settings
            )
        except Exception as error:
            # Everything, since a hostile body can break the SDKs anywhere.
            failure = agent_failure(error, self._settings, self._secret)
            # What the SDKs report holds the body as it came, which may quote the key, and would
            # be logged with ours. What they did not foresee is worth its traceback.
            raise failure from (None if isinstance(error, ModelAPIError) else error)
        return self._answer(response)

    def _answer(self, response: ModelResponse) -> Answer:
        usage = self._usage(response)
        paid = None if usage is None else Cost(usage.input_tokens, usage.output_tokens, usage.usd)
        if response.finish_reason == "content_filter":
            raise AgentRefused(self._refusal(response), answered=True, usage=paid)
        text = storable(_as_written(response))
        cut_off = response.finish_reason == "length"
        if not text.strip():
            cap = self._settings.max_output_tokens
            why = f": the {cap} output tokens were used up before any text" if cut_off else ""
            raise AgentNonsense(f"empty reply{why}", usage=paid)
        finish: FinishReason = "length" if cut_off else "stop"
        model = one_printable_line(response.model_name or "", _MOST_MODEL_CHARACTERS)
        return Answer(text, usage, model or self._settings.model_name, finish)

    def _refusal(self, response: ModelResponse) -> str:
        said = (response.provider_details or {}).get("refusal")
        if not isinstance(said, str) or not said:
            return "The model, or its provider's content filter, declined to answer."
        return one_printable_line(
            f"The model declined to answer: {said}", MOST_MESSAGE_CHARACTERS, without=self._secret
        )

    def _usage(self, response: ModelResponse) -> Usage | None:
        """What the provider counted; None where it counted nothing, as some servers do."""
        into, out = response.usage.input_tokens, response.usage.output_tokens
        if not (0 <= into <= _MOST_TOKENS and 0 <= out <= _MOST_TOKENS) or into + out == 0:
            return None
        settings = self._settings
        if settings.price is not None:
            return Usage(into, out, settings.price.price().of(into, out))
        usd = cost(response.usage, settings.provider, settings.model_name, settings.base_url)
        return Usage(into, out, usd)


_NO_TAGS = ("\x00think", "\x00/think")
"""Pydantic AI looks for these in a reply and takes them away; none has them. The rules for reading
a reply are ours and need the real tags: what stands in a block that was never closed was not said
(PROTOCOLS 3)."""


def _as_written(response: ModelResponse) -> str:
    """The reply as the model wrote it; thinking that came apart from it stands in tags again."""
    written: list[str] = []
    for part in response.parts:
        if isinstance(part, TextPart):
            written.append(part.content)
        elif isinstance(part, ThinkingPart) and part.content:
            written.append(f"<think>{part.content}</think>")
    return "".join(written)


def _thinks_unasked(model: Model) -> bool:
    """Whether the model thinks by default, and can be told not to."""
    profile = model.profile
    return bool(profile.get("thinking_enabled_by_default")) and not profile.get(
        "thinking_always_enabled"
    )


def _messages(request: Request) -> list[ModelMessage]:
    prompt = UserPromptPart(request.prompt)
    if not request.system:
        return [ModelRequest([prompt])]
    return [ModelRequest([SystemPromptPart(request.system), prompt])]


def _openai(settings: LlmSettings, key: str, http: httpx2.AsyncClient) -> Model:
    """OpenAI, or a server that speaks its Chat Completions: the Responses API is OpenAI's own."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile, openai_model_profile
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        api_key=key,
        base_url=settings.base_url or "https://api.openai.com/v1",
        max_retries=0,
        timeout=None,
        http_client=http,
    )
    # The SDK fills these from the environment of the process when it is given none.
    client.organization = client.project = None
    client._custom_headers = {}
    profile = OpenAIModelProfile(thinking_tags=_NO_TAGS)
    if settings.base_url and not openai_model_profile(settings.model_name).get("supports_thinking"):
        # Compatible servers know the older name of the cap; only reasoning models refuse it.
        profile["openai_chat_supports_max_completion_tokens"] = False
    provider = OpenAIProvider(openai_client=client)
    return OpenAIChatModel(settings.model_name, provider=provider, profile=profile)


def _anthropic(settings: LlmSettings, key: str, http: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=key,
        base_url=settings.base_url or "https://api.anthropic.com",
        max_retries=0,
        timeout=None,
        http_client=http,
    )
    # As above: ANTHROPIC_CUSTOM_HEADERS is for the operator's own use of the SDK.
    client._custom_headers = {}
    return AnthropicModel(settings.model_name, provider=AnthropicProvider(anthropic_client=client))


_MODELS = {"openai": _openai, "anthropic": _anthropic}
