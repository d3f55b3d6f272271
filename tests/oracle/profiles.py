"""Random elections, the same ones on every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

COUNT = 2_000

_Ballot = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Election:
    """Ballots over the options ``"0"``, ``"1"`` …, so that both sides can name them."""

    number: int
    options: tuple[str, ...]
    ballots: tuple[_Ballot, ...]


def elections(seed: int, *, complete: bool) -> Iterator[Election]:
    """Two to six options. Every other election is small, so that many ties come up.

    With ``complete`` every ballot ranks all options; without it a ballot may stop after any place.
    """
    chance = random.Random(seed)  # noqa: S311 (repeatable, and nobody is to be kept from guessing)
    for number in range(COUNT):
        options = tuple(str(place) for place in range(chance.randint(2, 6)))
        voters = chance.randint(1, 12) if number % 2 else chance.randint(13, 200)
        ballots = tuple(
            tuple(chance.sample(options, len(options) if complete else _places(chance, options)))
            for _ in range(voters)
        )
        yield Election(number, options, ballots)


def _places(chance: random.Random, options: tuple[str, ...]) -> int:
    return chance.randint(1, len(options))
