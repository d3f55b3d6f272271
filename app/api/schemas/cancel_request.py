"""``POST /v1/meetings/{id}/cancel``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.api.schemas.text_types import MAY_BE_EMPTY, Wire


class CancelRequest(Wire):
    """Why the meeting is cancelled, for the record; the body may be left out."""

    reason: Annotated[str, Field(max_length=1_000), MAY_BE_EMPTY] | None = None
