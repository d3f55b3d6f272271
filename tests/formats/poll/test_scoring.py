"""Counting scores: the vector of PROTOCOLS 6, and where respondents lie far apart."""

import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from app.formats.poll.scoring import Spread, count_scores


def test_vector_scores() -> None:
    spread = Spread.of([Fraction(7), Fraction(8), Fraction(9)])
    assert (spread.mean, spread.median, spread.variance) == (8, 8, 1)
    assert spread.record() == {"n": 3, "mean": 8.0, "median": 8.0, "deviation": 1.0}


def test_a_single_score_has_no_deviation() -> None:
    spread = Spread.of([Fraction(7)])
    assert (spread.variance, spread.record()["deviation"]) == (None, None)
    assert not spread.deviates(Fraction(0))
    assert Spread.of([Fraction(1), Fraction(2)]).median == Fraction(3, 2)


def test_high_variance_is_flagged_at_exactly_two() -> None:
    # 6, 8, 10: the variance is 4. 6.1, 8, 9.9: it is 3.61.
    ballots = [{"X": 6, "Y": 6.1}, {"X": 8, "Y": 8}, {"X": 10, "Y": 9.9}]
    found = count_scores(ballots, ("X", "Y"))
    assert found.high_variance == ("X",)
    assert (found.leaders, found.leader) == (("X", "Y"), None)
    assert count_scores(ballots, ("X", "Y"), threshold=Fraction("1.9")).high_variance == ("X", "Y")


def test_scores_by_criterion_and_overall() -> None:
    ballots = [
        {"X": {"cost": 10, "risk": 1}, "Y": {"cost": 5, "risk": 5}},
        {"X": {"cost": 1, "risk": 10}, "Y": {"cost": 5, "risk": 6.5}},
    ]
    found = count_scores(ballots, ("X", "Y"), ("cost", "risk"))
    assert (found.overall["X"].mean, found.overall["X"].variance) == (Fraction(11, 2), 0)
    assert found.by_criterion["Y"]["risk"].mean == Fraction(23, 4)
    assert found.high_variance == ("X",)
    assert found.leader == "X"
    assert found.record()["scores"]["X"]["criteria"]["cost"]["mean"] == 5.5
    json.dumps(found.record())


@given(st.lists(st.integers(1, 10), min_size=1), st.integers(-3, 3))
def test_moving_all_scores_moves_the_mean_and_not_the_variance(scores: list[int], by: int) -> None:
    spread = Spread.of([Fraction(score) for score in scores])
    moved = Spread.of([Fraction(score + by) for score in scores])
    assert (moved.mean, moved.variance) == (spread.mean + by, spread.variance)
