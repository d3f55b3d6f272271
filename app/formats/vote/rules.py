"""A vote's own settings, and what is wrong with them (PROTOCOLS 7)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from app.domain.errors import Fault
from app.domain.meeting.meeting import Meeting
from app.domain.values import exact
from app.formats.shared.option_faults import abstaining_options, option_faults
from app.formats.vote.counting import THRESHOLD_SETTABLE, Protocol

Rung = Literal["expert", "deliberate", "escalate"]

DEFAULT_LADDER: tuple[Rung, ...] = ("expert", "deliberate", "escalate")
MOST_REVOTES = 10
LEAST_WEIGHT, MOST_WEIGHT = 1, 2


@dataclass(frozen=True)
class VoteRules:
    """How a vote is counted, and what is done when no option passes.

    ``quorum`` is a number of ballots (an integer) or a share of the seats (with a decimal point);
    None is what the protocol asks for. ``resolution`` is the ladder, in order.
    """

    protocol: Literal["simple_majority", "supermajority", "unanimous", "weighted", "ranked"] = (
        "simple_majority"
    )
    quorum: int | float | None = None
    threshold: float | None = None
    normalize: Literal["weight", "expressed"] = "weight"
    resolution: tuple[Rung, ...] = DEFAULT_LADDER
    revotes: int = 1
    critical: bool = False


def ladder(meeting: Meeting) -> tuple[Rung, ...]:
    return tuple(meeting.rules.get("resolution", DEFAULT_LADDER))


def revotes(meeting: Meeting) -> int:
    return meeting.rules.get("revotes", 1)


def vote_faults(meeting: Meeting) -> tuple[Fault, ...]:
    """Everything that the types of the fields cannot say, each fault with its field."""
    return (
        *option_faults(meeting.options, meeting.format),
        *abstaining_options(meeting.options),
        *_rule_faults(meeting),
        *_weight_faults(meeting),
    )


def _rule_faults(meeting: Meeting) -> Iterator[Fault]:
    rules = meeting.rules
    name = rules.get("protocol", Protocol.SIMPLE_MAJORITY)
    if name not in list(Protocol):
        yield Fault("#/rules/protocol", f"This should be one of: {', '.join(Protocol)}.")
        return
    protocol = Protocol(name)
    yield from _threshold_faults(protocol, rules.get("threshold"))
    yield from _quorum_faults(protocol, rules.get("quorum"), len(meeting.seats))
    yield from _ladder_faults(ladder(meeting))
    if not _is_whole(revotes(meeting)) or not 1 <= revotes(meeting) <= MOST_REVOTES:
        yield Fault("#/rules/revotes", f"This should be a whole number from 1 to {MOST_REVOTES}.")


def _threshold_faults(protocol: Protocol, threshold: Any) -> Iterator[Fault]:
    if threshold is None:
        return
    if protocol not in THRESHOLD_SETTABLE:
        settable = " and ".join(sorted(THRESHOLD_SETTABLE))
        detail = f"The name {protocol} says what the threshold is; it can be set for {settable}."
        yield Fault("#/rules/threshold", detail)
    elif not _is_number(threshold) or not 0 < exact(threshold) <= 1:
        yield Fault("#/rules/threshold", "This should be a share above 0 and up to 1.")


def _quorum_faults(protocol: Protocol, quorum: Any, seats: int) -> Iterator[Fault]:
    if quorum is None:
        return
    if _is_whole(quorum):
        fits, everybody = 1 <= quorum <= seats, quorum == seats
        detail = f"This should be a number of ballots from 1 to {seats}, the seats of this vote."
    else:
        fits = _is_number(quorum) and 0 < exact(quorum) <= 1
        everybody = quorum == 1
        detail = "This should be a whole number of ballots, or a share above 0 and up to 1."
    if not fits:
        yield Fault("#/rules/quorum", detail)
    elif protocol is Protocol.UNANIMOUS and not everybody:
        # Or a vote would be called unanimous that was not (PROTOCOLS 2, nothing is dressed up).
        yield Fault("#/rules/quorum", "A unanimous vote needs the ballot of every seat.")


def _ladder_faults(rungs: Sequence[str]) -> Iterator[Fault]:
    known = get_args(Rung)
    expected = f"This should be one of: {', '.join(known)}."
    for index, rung in enumerate(rungs):
        if rung not in known:
            yield Fault(f"#/rules/resolution/{index}", expected)
        elif rung in rungs[:index]:
            yield Fault(f"#/rules/resolution/{index}", f"The step {rung} is there twice.")
        elif rung == "escalate" and "deliberate" not in rungs[:index]:
            detail = "Put deliberate before escalate: a split vote is talked over first."
            yield Fault("#/rules/resolution", detail)


def _weight_faults(meeting: Meeting) -> Iterator[Fault]:
    for index, seat in enumerate(meeting.seats):
        if not LEAST_WEIGHT <= seat.weight <= MOST_WEIGHT:
            detail = f"A weight lies between {LEAST_WEIGHT}.0 and {MOST_WEIGHT}.0."
            yield Fault(f"#/participants/{index}/weight", detail)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    whole_or_float = isinstance(value, int | float) and not isinstance(value, bool)
    return whole_or_float and math.isfinite(value)
