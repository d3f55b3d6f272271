"""A poll's own settings, and what is wrong with them (PROTOCOLS 6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, cast, get_args

from app.domain.errors import Fault
from app.domain.meeting.meeting import Meeting
from app.domain.values import Json, exact
from app.formats.poll.scoring import HIGH_VARIANCE
from app.formats.shared.option_faults import option_faults, repeated

Output = Literal["ranking", "recommendation", "binary", "scoring"]

OF_OPTIONS: frozenset[Output] = frozenset({"ranking", "scoring"})
"""What is answered about the options themselves, so that there have to be some."""

DEFAULT_OUTPUT: Output = "recommendation"
_WIDEST_SPREAD = 9
"""From the lowest score to the highest: no deviation is larger."""


@dataclass(frozen=True)
class PollRules:
    """What a ballot holds, and from which standard deviation on scores count as far apart."""

    output: Output = DEFAULT_OUTPUT
    high_variance: float = float(HIGH_VARIANCE)


def output_of(rules: Mapping[str, Json]) -> Output:
    return cast("Output", rules.get("output") or DEFAULT_OUTPUT)


def high_variance(rules: Mapping[str, Json]) -> Fraction:
    given = rules.get("high_variance")
    return HIGH_VARIANCE if given is None else exact(given)


def poll_faults(meeting: Meeting) -> tuple[Fault, ...]:
    """Everything that the types of the fields cannot say, each fault with its field."""
    output = output_of(meeting.rules)
    if output not in get_args(Output):
        expected = f"This should be one of: {', '.join(get_args(Output))}."
        return (Fault("#/rules/output", expected),)
    return (
        *_option_faults(meeting, output),
        *_criteria_faults(meeting, output),
        *_variance_faults(meeting.rules.get("high_variance")),
    )


def _option_faults(meeting: Meeting, output: Output) -> Iterator[Fault]:
    if output in OF_OPTIONS:
        yield from option_faults(meeting.options, f"poll with the output {output}")
    else:
        yield from repeated(meeting.options, "#/options/{index}", "option")


def _criteria_faults(meeting: Meeting, output: Output) -> Iterator[Fault]:
    if meeting.criteria and output != "scoring":
        yield Fault("#/criteria", f"Only scores are given on criteria; {output} has none.")
    names = [criterion.id for criterion in meeting.criteria]
    yield from repeated(names, "#/criteria/{index}/id", "criterion")


def _variance_faults(given: Any) -> Iterator[Fault]:
    if given is None:
        return
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not math.isfinite(given) or not 0 < given <= _WIDEST_SPREAD:
        detail = f"This should be a number of points above 0 and up to {_WIDEST_SPREAD}."
        yield Fault("#/rules/high_variance", detail)
