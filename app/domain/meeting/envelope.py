"""What a meeting may spend, and what a request can cost at the most (PROTOCOLS 11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from app.domain.meeting.meeting import Limits
from app.domain.money import NOTHING, Cost
from app.domain.values import Json

_MESSAGE_OVERHEAD_TOKENS = 32
"""Room for the role markers that providers wrap around a system and a user message."""

_CLOSING_SHARE = Decimal("0.1")
_CLOSING_PARTS = 5
"""The closing reserve takes at most a fifth of a limit, or a small one would leave no talk."""
_MOST_CLOSING_SECONDS = 30.0


_NO_MONEY = Decimal(0)


def most_input_tokens(*texts: str) -> int:
    """The most tokens that these texts can be: no tokenizer makes a token of less than a byte."""
    return sum(len(text.encode()) for text in texts) + _MESSAGE_OVERHEAD_TOKENS


def closing_seconds(seconds: float) -> float:
    """The part of a meeting's time that is kept back for its synthesis and record."""
    return min(_MOST_CLOSING_SECONDS, seconds * float(_CLOSING_SHARE))


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """Requests that were sent, or were about to be, and got no answer; and what they are booked at:
    the most that each can have cost, since nobody counted it (PROTOCOLS 11)."""

    requests: int = 0
    cost: Cost = NOTHING

    def __add__(self, other: Unconfirmed) -> Unconfirmed:
        return Unconfirmed(self.requests + other.requests, self.cost + other.cost)

    def __sub__(self, other: Unconfirmed) -> Unconfirmed:
        return Unconfirmed(self.requests - other.requests, self.cost - other.cost)

    def record(self) -> dict[str, Json]:
        return {"requests": self.requests, "cost": self.cost.record()}

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Unconfirmed:
        return cls(record["requests"], Cost.read(record["cost"]))


ALL_CONFIRMED = Unconfirmed()


@dataclass(frozen=True, slots=True)
class Drawn:
    """What has been taken from an envelope: participants' replies, what was spent, what is reserved
    for requests under way, and which part of what was spent is ``unconfirmed``.

    Where a price is unknown there is no money limit either, so nothing is reserved for it.
    """

    replies: int = 0
    spent: Cost = NOTHING
    reserved: Cost = NOTHING
    unconfirmed: Unconfirmed = ALL_CONFIRMED

    def __add__(self, other: Drawn) -> Drawn:
        return Drawn(
            self.replies + other.replies,
            self.spent + other.spent,
            self.reserved + other.reserved,
            self.unconfirmed + other.unconfirmed,
        )

    def __sub__(self, other: Drawn) -> Drawn:
        return Drawn(
            self.replies - other.replies,
            self.spent - other.spent,
            self.reserved - other.reserved,
            self.unconfirmed - other.unconfirmed,
        )

    def record(self) -> dict[str, Json]:
        record: dict[str, Json] = {
            "replies": self.replies,
            "spent": self.spent.record(),
            "reserved": self.reserved.record(),
        }
        if self.unconfirmed != ALL_CONFIRMED:
            record["unconfirmed"] = self.unconfirmed.record()
        return record

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Drawn:
        spent, reserved = Cost.read(record["spent"]), Cost.read(record["reserved"])
        open_ = record.get("unconfirmed")
        unconfirmed = ALL_CONFIRMED if open_ is None else Unconfirmed.read(open_)
        return cls(record["replies"], spent, reserved, unconfirmed)


UNTOUCHED = Drawn()


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a meeting and all meetings below it may spend, and what they have drawn so far.

    ``closing`` is the worst case of the synthesis, set aside from the start; only the meeting's
    own closing requests may draw on it.
    """

    usd: Decimal | None = None
    tokens: int | None = None
    drawn: Drawn = UNTOUCHED
    closing: Cost = NOTHING

    @classmethod
    def of(cls, limits: Limits, closing: Cost = NOTHING, drawn: Drawn = UNTOUCHED) -> Envelope:
        """So much is set aside for closing, as far as the limits allow."""
        return cls(limits.usd, limits.tokens, drawn, _within(limits, closing))

    def has_room(self, cost: Cost, *, closing: bool = False) -> bool:
        """Whether a request that costs at most this much may be sent."""
        held = self.drawn.spent + self.drawn.reserved + cost
        if not closing:
            held += self.closing
        if self.tokens is not None and held.tokens > self.tokens:
            return False
        return self.usd is None or (held.usd is not None and held.usd <= self.usd)

    @property
    def left(self) -> tuple[Decimal | None, int | None]:
        """US dollars and tokens that a meeting below may be given; None where there is no limit."""
        held = self.drawn.spent + self.drawn.reserved + self.closing
        usd = None if self.usd is None or held.usd is None else max(_NO_MONEY, self.usd - held.usd)
        tokens = None if self.tokens is None else max(0, self.tokens - held.tokens)
        return usd, tokens


def _within(limits: Limits, closing: Cost) -> Cost:
    output, usd = closing.output_tokens, closing.usd
    tokens = closing.tokens
    if limits.tokens is not None:
        tokens = min(tokens, limits.tokens // _CLOSING_PARTS)
        output = min(output, tokens)
    if limits.usd is not None and usd is not None:
        usd = min(usd, limits.usd / _CLOSING_PARTS)
    return Cost(tokens - output, output, usd)
