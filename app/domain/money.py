"""What a request costs: tokens and US dollars, exactly (PROTOCOLS 11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from app.domain.values import Json

_PER_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input_per_million: Decimal
    output_per_million: Decimal

    def of(self, input_tokens: int, output_tokens: int) -> Decimal:
        spent = self.input_per_million * input_tokens + self.output_per_million * output_tokens
        return spent / _PER_MILLION


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens in and out, and US dollars (None where the price is unknown)."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: Decimal | None = Decimal(0)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Cost) -> Cost:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Cost(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            usd,
        )

    def __sub__(self, other: Cost) -> Cost:
        usd = None if self.usd is None or other.usd is None else self.usd - other.usd
        return Cost(
            self.input_tokens - other.input_tokens,
            self.output_tokens - other.output_tokens,
            usd,
        )

    def record(self) -> dict[str, Json]:
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": None if self.usd is None else format(self.usd.normalize(), "f"),
        }

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Cost:
        usd = record["usd"]
        return cls(
            record["input_tokens"],
            record["output_tokens"],
            None if usd is None else Decimal(usd),
        )


NOTHING = Cost()


def worst_case(input_tokens: int, output_cap: int, price: Price | None) -> Cost:
    usd = None if price is None else price.of(input_tokens, output_cap)
    return Cost(input_tokens, output_cap, usd)
