"""``POST /v1/meetings/{id}/ruling``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.api.schemas.text_types import MAY_BE_EMPTY, ON_ONE_LINE, SAYS_SOMETHING, Wire
from app.domain.ending.arbitration import MOST_REASON_CHARACTERS


class RulingRequest(Wire):
    """The answer to the question that is open, for the record with its reason and its author."""

    choice: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MOST_REASON_CHARACTERS,
            description="One of the choices offered, by its id or its text.",
        ),
        SAYS_SOMETHING,
    ]
    conditions: (
        Annotated[
            str,
            Field(
                max_length=MOST_REASON_CHARACTERS,
                description="What the choice is made subject to; it changes no choice.",
            ),
            MAY_BE_EMPTY,
        ]
        | None
    ) = None
    reason: Annotated[str, Field(min_length=1, max_length=MOST_REASON_CHARACTERS), SAYS_SOMETHING]
    decided_by: Annotated[
        str,
        Field(min_length=1, max_length=200, description="Who rules, by name."),
        ON_ONE_LINE,
    ]
