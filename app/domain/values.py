"""Plain values that everything else is made of: JSON, exact numbers, moments."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

Json = Any
"""A value that JSON can hold."""


@lru_cache(maxsize=1024, typed=True)
def exact(number: int | float | str | Decimal) -> Fraction:
    """The number as written (``0.6`` is 6/10, not the nearest binary fraction)."""
    return Fraction(str(number))


def rfc3339(at: datetime) -> str:
    """How a moment, which is in UTC everywhere here, is written for others."""
    return at.isoformat().replace("+00:00", "Z")
