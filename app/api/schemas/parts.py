"""Parts of a meeting's request that are objects of their own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.api.schemas.text_types import ON_ONE_LINE, SAYS_SOMETHING, AgentName, Url, Wire, Word

Seconds = Annotated[float, Field(gt=0, le=86_400)]


class WireGate(Wire):
    """The closing question's settings; times in seconds."""

    min_completions: Annotated[int, Field(ge=1, le=20)] = 2
    window_seconds: Seconds = 60
    nudge_after_seconds: Seconds = 30
    fallback_timeout: Seconds = 120


class WireArbiter(Wire):
    """Who may decide what the participants could not: a person, or an agent by its name."""

    kind: Literal["human", "agent"]
    agent: Annotated[
        AgentName | None, Field(description="With `agent`, and only with it: who is asked to rule.")
    ] = None
    name: Annotated[Word | None, Field(description="How the record names the arbiter.")] = None


class WireDestination(Wire):
    """Where a review's deliverable is saved; in every other format, the decision record."""

    url: Annotated[
        Url,
        Field(description="It is PUT there and read back; https, and no address of ours."),
    ]
    check_deadline_seconds: Annotated[
        Seconds,
        Field(description="After the first write; then what is still open is handed over."),
    ] = 30
    owner: Annotated[
        Annotated[str, Field(min_length=1, max_length=200), ON_ONE_LINE] | None,
        Field(description="Who sees to it then: else the person who may rule, or `caller`."),
    ] = None


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
