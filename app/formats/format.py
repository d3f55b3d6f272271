"""What every format says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from app.domain.errors import Fault
from app.domain.meeting import Json, Meeting
from app.domain.steps import Conversation, Office


@dataclass(frozen=True, slots=True)
class PlannedAsk:
    """A kind of request that a meeting may make, and how often: usually, and at the most.

    ``variables`` are of the largest size that they can have, so that what is estimated from
    them is never too low.
    """

    template: str
    variables: Mapping[str, Json]
    usually: int
    at_most: int
    office: Office = "participant"


@dataclass(frozen=True, slots=True)
class Format:
    """A format's name and version, how it is held, and what a caller may ask of it.

    ``perspectives`` gives the keys of the roles or framings for seats that a caller leaves
    open; the texts behind the keys are with the format's prompts. ``fills_roles`` says that
    named participants without a role get one too. ``rules`` is a frozen dataclass: the
    format's own settings with their defaults and bounds. ``usual_seats`` is how many sit
    there by these rules when a caller names nobody. ``faults`` says what is wrong with a
    meeting beyond what the types of its fields can say. ``gated`` formats pass the completion
    gate unless a caller says otherwise. ``uses`` are the request's fields that other formats
    have no use for.
    """

    name: str
    version: int
    hold: Callable[[Meeting], Conversation]
    plan: Callable[[Meeting], tuple[PlannedAsk, ...]]
    perspectives: Callable[[str, Mapping[str, Json], int], tuple[str, ...]]
    rules: type
    usual_seats: Callable[[Mapping[str, Json]], int]
    faults: Callable[[Meeting], tuple[Fault, ...]] = lambda meeting: ()
    fewest_seats: int = 2
    most_seats: int = 20
    fills_roles: bool = False
    gated: bool = False
    uses: frozenset[str] = frozenset()


@cache
def longest(characters: int) -> str:
    """A stand-in for a text of so many characters, as heavy as any: three bytes each."""
    return "議" * characters
