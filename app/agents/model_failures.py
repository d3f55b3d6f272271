"""What went wrong with a model, as one of ours: by status where there is one, in plain words.

    429, 408, 409, 425, 5xx, no connection    AgentUnavailable, with the pause asked for
    exhausted credit, other 3xx and 4xx       AgentRejected
    a content filter's 400                    AgentRefused
    anything else                             AgentNonsense: the body was not what was promised

A message never holds the key, and is one bounded, printable line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

import httpx2
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    UserError,
)

from app.agent_kinds import LlmSettings
from app.agents.plain_text import MOST_MESSAGE_CHARACTERS, one_printable_line
from app.domain.errors import (
    AgentFailure,
    AgentNonsense,
    AgentRefused,
    AgentRejected,
    AgentUnavailable,
)

_FOR_NOW = frozenset({408, 409, 425, 429})
_MOST_RETRY_SECONDS = 86_400.0
_MOST_QUOTED_CHARACTERS = 160
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})


def agent_failure(error: Exception, settings: LlmSettings, secret: str) -> AgentFailure:
    """The failure that the error comes down to; ``secret`` is struck out of its message."""
    for cause in _causes(error):
        # The transport says so itself; the SDKs wrap it, or not, as any lost connection.
        if isinstance(cause, AgentNonsense):
            return AgentNonsense(cause.message)
    words = _Words(settings, secret)
    if isinstance(error, ModelHTTPError):
        return _by_status(error, words)
    if isinstance(error, ModelConnectionError):
        unsent = any(isinstance(cause, _NEVER_SENT) for cause in _causes(error))
        # Whoever hung up may have worked for it until then, and will want to be paid.
        sentence = "{it} could not be reached, or hung up."
        return AgentUnavailable(words.line(sentence), answered=not unsent)
    if isinstance(error, ContentFilterError):
        return AgentRefused(words.line("The content filter of {it} blocked the request."))
    if isinstance(error, UserError):
        return AgentRejected(
            words.line("The agent's settings do not fit its model.", error.message)
        )
    status = _status_below_400(error)
    if status is not None and status >= 300:
        return AgentRejected(
            words.line(f"{{it}} redirects elsewhere ({status}). Set base_url to the final address.")
        )
    return AgentNonsense(words.line("What {it} sent is not an answer of its API."))


class _Words:
    """Makes messages about one agent's model."""

    def __init__(self, settings: LlmSettings, secret: str) -> None:
        self._settings = settings
        self._secret = secret

    @property
    def it(self) -> str:
        at = self._settings.base_url
        return f"{self._settings.provider} at {at}" if at else self._settings.provider

    def line(self, sentence: str, said: object = None) -> str:
        """The sentence (``{it}`` is the provider), and what the provider said about it."""
        text = sentence.replace("{it}", self.it)
        quoted = self._clean(said, _MOST_QUOTED_CHARACTERS) if isinstance(said, str) else ""
        if quoted:
            text += f" It said: {quoted}"
        return self._clean(text, MOST_MESSAGE_CHARACTERS)

    def _clean(self, text: str, most_characters: int) -> str:
        return one_printable_line(text, most_characters, without=self._secret)


def _by_status(error: ModelHTTPError, words: _Words) -> AgentFailure:
    status, said = error.status_code, _said(error.body)
    if isinstance(error, ModelQuotaExceededError):
        # Some send this as a 429 too, but waiting does not fill an account.
        return AgentRejected(words.line("The account at {it} has no credit or quota left.", said))
    if status in _FOR_NOW or status >= 500:
        sentence = f"{{it}} cannot answer just now (status {status})."
        return AgentUnavailable(words.line(sentence, said), _retry_after(error))
    if error.provider_error_code in _FILTER_CODES:
        return AgentRefused(words.line("The content filter of {it} blocked the request.", said))
    if isinstance(error, ModelContextWindowExceededError) or status == 413:
        sentence = "The prompt is longer than the model takes. Use one with a larger context."
        return AgentRejected(words.line(sentence, said))
    sentence = _REJECTIONS.get(status, "{it} rejected the request (status {status}).")
    return AgentRejected(words.line(sentence.replace("{status}", str(status)), said))


_REJECTIONS = {
    401: "{it} did not accept the API key. Set a valid api_key for the agent.",
    403: "{it} does not allow this with the agent's API key. Check what the key may use.",
    404: "{it} knows no such model, or this is not its address. Check model and base_url.",
}


def _said(body: object) -> str | None:
    """The provider's own words in an error's body; pages of HTML are not among them."""
    if isinstance(body, str):
        return None if body.lstrip().startswith("<") else body
    if not isinstance(body, dict):
        return None
    fields = cast("dict[object, object]", body)
    for key in ("error", "message", "detail"):
        found = fields.get(key)
        if isinstance(found, dict):
            found = cast("dict[object, object]", found).get("message")
        if isinstance(found, str):
            return found
    return None


def _retry_after(error: ModelAPIError) -> float | None:
    """Seconds, from ``retry-after-ms`` or ``Retry-After`` (seconds or a date), within a day."""
    seconds = error.retry_after
    if seconds is None or not math.isfinite(seconds):
        return None
    return min(max(0.0, seconds), _MOST_RETRY_SECONDS)


def _status_below_400(error: Exception) -> int | None:
    """The HTTP status of a redirect, which only the SDK's own error carries."""
    for cause in _causes(error):
        status = getattr(cause, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__
