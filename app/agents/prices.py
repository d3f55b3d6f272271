"""What a model costs: by the table that genai-prices carries, never over the network.

Unknown is None, never 0 (PROTOCOLS 11: a money limit needs a price). The table's import and its
data take a fifth of a second each, so callers on the event loop go through a thread the first
time.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.domain.money import Price

if TYPE_CHECKING:
    from genai_prices.types import AbstractUsage


def highest_price(provider: str, model: str, base_url: str | None) -> Price | None:
    """The model's price at its dearest: what reservations must be made at.

    Some models cost more per token beyond a length of prompt. A model behind a ``base_url`` is
    looked up by that address alone: a name says little about what somebody else's server takes.
    """
    from genai_prices.data_snapshot import get_snapshot
    from genai_prices.types import TieredPrices

    provider_id = None if base_url else provider
    try:
        _, found = get_snapshot().find_provider_model(model, None, provider_id, base_url)
    except LookupError:
        return None

    def dearest(price: Any) -> Decimal | None:
        if isinstance(price, TieredPrices):
            return max(price.base, *(tier.price for tier in price.tiers))
        return price if isinstance(price, Decimal) else None

    prices = found.get_prices(datetime.now(UTC))
    into, out = dearest(prices.input_mtok), dearest(prices.output_mtok)
    return None if into is None or out is None else Price(into, out)


def cost(usage: AbstractUsage, provider: str, model: str, base_url: str | None) -> Decimal | None:
    """US dollars for one request's usage; looked up as in ``highest_price``."""
    from genai_prices import calc_price

    where: dict[str, Any] = (
        {"provider_api_url": base_url} if base_url else {"provider_id": provider}
    )
    try:
        calculated = calc_price(usage, model, **where)
    except (LookupError, ValueError):
        # Not in the table, or usage that cannot be priced (more cached than sent).
        return None
    prices = calculated.model_price
    if prices.input_mtok is None or prices.output_mtok is None:
        return None
    return calculated.total_price
