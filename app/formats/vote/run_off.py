"""The instant run-off (PROTOCOLS 7): its counts, its ties, and who beats everybody in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from app.domain.rounds.counting import borda
from app.domain.values import Json

DroppedBy = Literal["fewest", "earlier_counts", "borda", "together"]


@dataclass(frozen=True, slots=True)
class RunOffRound:
    """One count of a run-off: first places among the continuing options, and who went out."""

    counts: Mapping[str, int]
    exhausted: int
    dropped: tuple[str, ...] = ()
    by: DroppedBy | None = None

    def record(self) -> dict[str, Json]:
        return {
            "counts": dict(self.counts),
            "exhausted": self.exhausted,
            "dropped": list(self.dropped),
            "by": self.by,
        }


_Piles = dict[str, list[tuple[int, tuple[str, ...]]]]
"""Under each continuing option the rankings that count for it now, and how often each was cast."""


def run_off(
    options: Sequence[str], rankings: Iterable[tuple[str, ...]]
) -> tuple[tuple[RunOffRound, ...], tuple[str, ...]]:
    """Every count of an instant run-off, and the tie that ended it, if one did."""
    ballots = Counter(rankings)
    # Only a dropped option's pile moves, so each ballot is looked at once for each of its places.
    piles: _Piles = {option: [] for option in options}
    for ranking, n in ballots.items():
        piles[ranking[0]].append((n, ranking))
    exhausted = 0
    rounds: list[RunOffRound] = []
    while True:
        counts = {option: sum(n for n, _ in pile) for option, pile in piles.items()}
        total = sum(counts.values())
        if 2 * max(counts.values()) > total or not total:
            return (*rounds, RunOffRound(counts, exhausted)), ()
        group, by = _going_out(counts, rounds, lambda: borda(ballots.elements(), options))
        rounds.append(RunOffRound(counts, exhausted, group if by else (), by))
        if by is None:
            return tuple(rounds), group
        exhausted += _transfer(piles, group)


def _transfer(piles: _Piles, dropped: Iterable[str]) -> int:
    """Give each dropped option's ballots to their next continuing one; how many have none."""
    moving = [entry for option in dropped for entry in piles.pop(option)]
    exhausted = 0
    for n, ranking in moving:
        heir = next((option for option in ranking if option in piles), None)
        if heir is None:
            exhausted += n
        else:
            piles[heir].append((n, ranking))
    return exhausted


def _going_out(
    counts: Mapping[str, int],
    earlier: Sequence[RunOffRound],
    points: Callable[[], Mapping[str, Fraction]],
) -> tuple[tuple[str, ...], DroppedBy | None]:
    """Who goes out, and by which rule (PROTOCOLS 7, run-off); or who is tied, by none.

    ``points`` are the Borda points, which few run-offs come to need.
    """
    last = _lowest(counts, counts)
    if len(last) == 1:
        return last, "fewest"
    behind = _lowest_before(last, earlier)
    if len(behind) == 1:
        return behind, "earlier_counts"
    least = _lowest(behind, points())
    if len(least) == 1:
        return least, "borda"
    # When all that share the last place hold fewer than the next, the order among them is of no
    # consequence, so that serves as well as the few that the tie-breaks left.
    harmless = next((group for group in (least, last) if _fewer_than_next(group, counts)), None)
    return (least, None) if harmless is None else (harmless, "together")


def _lowest_before(options: tuple[str, ...], earlier: Sequence[RunOffRound]) -> tuple[str, ...]:
    """Those that the earlier counts, looking backwards, leave in the last place."""
    for before in reversed(earlier):
        options = _lowest(options, before.counts)
    return options


def _fewer_than_next(group: tuple[str, ...], counts: Mapping[str, int]) -> bool:
    """Whether all of the group together hold fewer than the next option."""
    others = [n for option, n in counts.items() if option not in group]
    return bool(others) and sum(counts[option] for option in group) < min(others)


def _lowest(
    options: Iterable[str], values: Mapping[str, int] | Mapping[str, Fraction]
) -> tuple[str, ...]:
    among = tuple(options)
    least = min(values[option] for option in among)
    return tuple(option for option in among if values[option] == least)


def condorcet_winner(rankings: Iterable[tuple[str, ...]], options: Sequence[str]) -> str | None:
    """The option that beats every other one in pairs, if there is one.

    A ranked option is preferred to one left out; of two left out neither is preferred.
    """
    ballots = Counter(rankings)
    weights = list(ballots.values())
    orders = [{option: place for place, option in enumerate(ranking)} for ranking in ballots]
    places = {option: [order.get(option, len(options)) for order in orders] for option in options}

    def beats(one: str, other: str) -> bool:
        pairs = zip(weights, places[one], places[other], strict=True)
        return sum(n if a < b else -n for n, a, b in pairs if a != b) > 0

    # A winner beats whoever stands when its turn comes, and is never replaced after that.
    standing = options[0]
    for option in options[1:]:
        if not beats(standing, option):
            standing = option
    winner = all(beats(standing, option) for option in options if option != standing)
    return standing if winner and ballots else None
