"""Parts of a meeting's request that later versions will act on; their shapes are fixed already."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.api.schemas.words import SAYS_SOMETHING, AgentName, Url, Wire, Word


class Arbiter(Wire):
    """Who may decide what the participants could not."""

    kind: Literal["human", "agent"]
    agent: AgentName | None = None
    name: Word | None = None


class Gate(Wire):
    """The closing question's settings; times in seconds."""

    min_completions: Annotated[int, Field(ge=1)] = 2
    window_seconds: Annotated[float, Field(gt=0)] = 60
    nudge_after_seconds: Annotated[float, Field(gt=0)] = 30
    fallback_timeout: Annotated[float, Field(gt=0)] = 120


class WireMaterial(Wire):
    """A text that a deliverable is judged against."""

    id: Word
    version: Word
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    text: Annotated[str, Field(max_length=100_000), SAYS_SOMETHING]


class WireCriterion(Wire):
    """What a review is judged by, or what a scoring poll scores on."""

    id: Word
    text: Annotated[str, Field(max_length=2_000), SAYS_SOMETHING]
    required: bool = True
    check: dict[Literal["contains", "regex", "max_chars"], Any] | None = None


class Destination(Wire):
    """Where a deliverable is saved."""

    url: Url
    check_deadline_seconds: Annotated[float, Field(gt=0)] = 30
    owner: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class Webhook(Wire):
    """Where the meeting's events are sent."""

    url: Url
    secret: Annotated[str, Field(min_length=1, max_length=200)]
    events: tuple[Word, ...] = ("*",)
