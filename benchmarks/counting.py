"""How long it takes to count ten thousand ballots, by each protocol and each kind of poll."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from app.formats.poll.polling import Answer, count_answers, count_rankings
from app.formats.poll.scoring import count_scores
from app.formats.vote.counting import Ballot, Protocol, Rules, count
from benchmarks.figures import Figure

_SEED = 20_261_130
_OPTIONS = ("Ada", "C++", "Go", "Python", "Rust", "Zig")
_TARGET = "< 100"


@dataclass(frozen=True, slots=True)
class Sizes:
    ballots: int = 10_000
    times: int = 7


async def measure(sizes: Sizes) -> list[Figure]:
    chance = random.Random(_SEED)
    figures = [_vote(protocol, _ballots(protocol, chance, sizes), sizes) for protocol in Protocol]
    rankings = [_ranking(chance) for _ in range(sizes.ballots)]
    figures.append(_figure("poll, ranking", lambda: count_rankings(rankings, _OPTIONS), sizes))
    scores = [{o: chance.randint(1, 10) for o in _OPTIONS} for _ in range(sizes.ballots)]
    figures.append(_figure("poll, scoring", lambda: count_scores(scores, _OPTIONS), sizes))
    answers = [
        Answer(f"v{n}", "YES" if chance.random() < 0.5 else "NO", (f"reason {n}",), Fraction(7))
        for n in range(sizes.ballots)
    ]
    figures.append(_figure("poll, binary", lambda: count_answers(answers), sizes))
    return figures


def _vote(protocol: Protocol, ballots: Sequence[Ballot], sizes: Sizes) -> Figure:
    rules = Rules(protocol)
    return _figure(protocol.value, lambda: count(rules, _OPTIONS, ballots, len(ballots)), sizes)


def _ballots(protocol: Protocol, chance: random.Random, sizes: Sizes) -> list[Ballot]:
    """No two options alike, so that nothing is settled at the first look."""
    return [
        Ballot(
            f"v{n}",
            option=None if protocol is Protocol.RANKED else chance.choice(_OPTIONS),
            ranking=_ranking(chance) if protocol is Protocol.RANKED else (),
            confidence=Fraction(chance.randint(1, 100), 100),
            weight=Fraction(chance.randint(100, 200), 100),
        )
        for n in range(sizes.ballots)
    ]


def _ranking(chance: random.Random) -> tuple[str, ...]:
    return tuple(chance.sample(_OPTIONS, chance.randint(1, len(_OPTIONS))))


def _figure(name: str, counting: Callable[[], object], sizes: Sizes) -> Figure:
    took: list[float] = []
    for _ in range(sizes.times):
        begun = time.perf_counter()
        counting()
        took.append((time.perf_counter() - begun) * 1000)
    how = f"{sizes.ballots:,} ballots over {len(_OPTIONS)} options; median of {sizes.times}"
    return Figure(f"counting, {name}", statistics.median(took), "ms", how, _TARGET)
