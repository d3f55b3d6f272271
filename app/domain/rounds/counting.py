"""Counting that several formats share (PROTOCOLS 6): who leads, and Borda points.

A tie is reported as a tie: there is a leader only where exactly one has the most. Points are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction


def top(points: Mapping[str, Fraction]) -> tuple[str, ...]:
    """Those with the most points, if any has some: more than one of them is a tie."""
    most = max(points.values(), default=Fraction(0))
    return tuple(name for name, value in points.items() if value == most and most > 0)


def only(leaders: Sequence[str]) -> str | None:
    return leaders[0] if len(leaders) == 1 else None


def borda(rankings: Iterable[Sequence[str]], options: Sequence[str]) -> dict[str, Fraction]:
    """Borda points: N for a first place among N options … 1 for the last.

    Options left out of a ranking share equally the points that remain. A ranking gives
    N(N+1)/2 points in all, whatever it leaves out.
    """
    n = len(options)
    # Twice the points, in integers: k options left out hold k…1 between them, (k+1)/2 each.
    ranked: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    shared = 0
    for ranking in rankings:
        remaining = n - len(ranking) + 1
        shared += remaining
        for place, option in enumerate(ranking):
            ranked[option] += 2 * (n - place)
            left_out[option] -= remaining
    return {o: Fraction(ranked[o] + left_out[o] + shared, 2) for o in options}
