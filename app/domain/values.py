"""Plain values that everything else is made of: JSON, exact numbers, moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

Json = Any
"""A value that JSON can hold."""

if TYPE_CHECKING:
    JsonValue: TypeAlias = (
        "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
    )
else:
    # Whoever reads annotations at run time cannot follow a type into itself.
    JsonValue = Any
"""A value that JSON can hold, which has to be looked at before it is used."""

JsonObject: TypeAlias = Mapping[str, JsonValue]


@lru_cache(maxsize=1024, typed=True)
def exact(number: int | float | str | Decimal) -> Fraction:
    """The number as written (``0.6`` is 6/10, not the nearest binary fraction)."""
    return Fraction(str(number))


def rfc3339(at: datetime) -> str:
    """How a moment, which is in UTC everywhere here, is written for others."""
    return at.isoformat().replace("+00:00", "Z")
