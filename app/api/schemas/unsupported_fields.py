"""Parts of a meeting's request that later versions will act on; their shapes are fixed already."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.api.schemas.text_types import Url, Wire, Word


class Webhook(Wire):
    """Where the meeting's events are sent."""

    url: Url
    secret: Annotated[str, Field(min_length=1, max_length=200)]
    events: tuple[Word, ...] = ("*",)
