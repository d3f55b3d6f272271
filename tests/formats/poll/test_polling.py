"""Counting polls: the vectors of PROTOCOLS 6 for rankings and answers, and the laws of Borda."""

import random
from fractions import Fraction
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from app.domain.rounds.counting import borda
from app.formats.poll.polling import FRAMINGS, Answer, count_answers, count_rankings, framings


def test_framings_are_the_first_ones_and_cycle_past_ten() -> None:
    assert len(set(FRAMINGS)) == 10
    assert framings(3) == ("neutral_baseline", "risk_averse", "growth")
    assert framings(12) == (*FRAMINGS, "neutral_baseline", "risk_averse")


def test_vector_ranking() -> None:
    found = count_rankings(["XYZ", "XZY", "YXZ"], "XYZ")
    assert found.points == {"X": 8, "Y": 6, "Z": 4}
    assert (found.leader, found.effective) == ("X", 3)
    assert found.record()["points"] == {"X": 8, "Y": 6, "Z": 4}


def test_options_left_out_share_the_points_that_remain() -> None:
    assert borda(["X"], "XYZ") == {"X": 3, "Y": Fraction(3, 2), "Z": Fraction(3, 2)}
    assert borda(["XY"], "XYZ") == {"X": 3, "Y": 2, "Z": 1}


def test_equal_points_are_a_tie() -> None:
    found = count_rankings(["XY", "YX"], "XY")
    assert (found.leaders, found.leader) == (("X", "Y"), None)
    assert count_rankings([], "XY").leaders == ()


def test_vector_binary_five_to_five_is_a_split() -> None:
    found = count_answers([Answer(f"r{i}", "YES" if i % 2 else "NO") for i in range(10)])
    assert (found.yes, found.no, found.leader) == (5, 5, None)
    assert found.record()["split"] is True


def test_binary_majority_and_the_strongest_arguments() -> None:
    found = count_answers([
        Answer("a", "YES", ("cheap",), Fraction(4)),
        Answer("b", "YES", ("Fast", "cheap "), Fraction(9)),
        Answer("c", "YES", ("quiet",)),
        Answer("d", "NO", ("risky",), Fraction(10)),
    ])  # fmt: skip
    assert found.leader == "YES"
    assert found.arguments["YES"] == (("b", "Fast"), ("b", "cheap "), ("c", "quiet"))
    assert found.arguments["NO"] == (("d", "risky"),)


ORDERS = [order for n in range(1, 5) for order in permutations("ABCD", n)]


@given(st.lists(st.sampled_from(ORDERS), max_size=20), st.randoms())
def test_borda_points_sum_as_they_must(
    rankings: list[tuple[str, ...]], chance: random.Random
) -> None:
    points = borda(rankings, "ABCD")
    assert sum(points.values()) == 10 * len(rankings)
    assert all(len(rankings) <= value <= 4 * len(rankings) for value in points.values())
    shuffled = list(rankings)
    chance.shuffle(shuffled)
    assert borda(shuffled, "ABCD") == points
