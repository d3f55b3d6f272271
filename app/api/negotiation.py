"""Choosing a representation by the Accept header (RFC 9110, 12.5.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.api.problems import Problem

_QUALITY = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")


def chosen(accept: str | None, offers: Sequence[str]) -> str:
    """The offer that the caller likes best; among equals the first. Raises a 406 ``Problem``."""
    ranges = _ranges(accept or "")
    if not ranges:
        return offers[0]
    liked = {offer: _quality(offer, ranges) for offer in offers}
    best = max(offers, key=lambda offer: liked[offer])
    if liked[best] == 0:
        raise Problem("not-acceptable", f"Ask for one of these instead: {', '.join(offers)}.")
    return best


def _ranges(accept: str) -> dict[str, float]:
    """Each media range with its quality; what is not one is passed over."""
    found: dict[str, float] = {}
    for element in accept.split(","):
        media, *parameters = (part.strip().lower() for part in element.split(";"))
        main, slash, sub = media.partition("/")
        if slash and main and sub:
            found[media] = _quality_among(parameters)
    return found


def _quality_among(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            return float(value) if _QUALITY.fullmatch(value.strip()) else 0.0
    return 1.0


def _quality(offer: str, ranges: dict[str, float]) -> float:
    """The most specific range that fits decides, also when it says no."""
    main = offer.partition("/")[0]
    fitting = (offer, f"{main}/*", "*/*")
    return next((ranges[media] for media in fitting if media in ranges), 0.0)
