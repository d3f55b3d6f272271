"""Counting polls: the vectors of PROTOCOLS 6, and the laws of Borda and of grouping."""

import json
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.polling import (
    FRAMINGS,
    Answer,
    Recommendation,
    RecommendationCount,
    Spread,
    borda,
    count_answers,
    count_rankings,
    count_recommendations,
    count_scores,
    framings,
    group_by_similarity,
    grouping_fault,
)


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


def mentions(*counts: int, effective: int = 10) -> RecommendationCount:
    """One group for each count, mentioned by that many of the respondents."""
    made: list[Recommendation] = []
    groups: list[range] = []
    for number, n in enumerate(counts):
        groups.append(range(len(made), len(made) + n))
        made += [Recommendation(f"r{i}", f"idea {number}", Fraction(5)) for i in range(n)]
    return count_recommendations(made, groups, effective)


def test_vector_recommendation() -> None:
    found = mentions(7, 6, 4, 3)
    assert [(len(g.respondents), g.kind) for g in found.groups] == [
        (7, "consensus"),
        (6, "divergence"),
        (4, "divergence"),
        (3, "outlier"),
    ]
    assert found.leader == "idea 0"
    json.dumps(found.record())


def test_two_equally_large_consensus_groups_have_no_leader() -> None:
    found = mentions(8, 8, 7)
    assert (found.leaders, found.leader) == (("idea 0", "idea 1"), None)
    assert mentions(6, 6).leader is None
    assert mentions(effective=0).leader is None


def test_a_respondent_counts_once_a_group() -> None:
    twice = [
        Recommendation("ann", "cache", Fraction(9)),
        Recommendation("ann", "Cache", Fraction(3)),
    ]
    (group,) = count_recommendations(twice, [(0, 1)], 2).groups
    assert (group.share, group.kind, group.members) == (Fraction(1, 2), "divergence", (0, 1))


def test_a_groups_title_is_the_one_used_most_then_the_surest() -> None:
    made = [
        Recommendation("a", "Queue", Fraction(10)),
        Recommendation("b", "cache it", Fraction(2)),
        Recommendation("c", "Cache it", Fraction(8)),
    ]
    assert count_recommendations(made, [(0, 1, 2)], 3).groups[0].title == "Cache it"


@pytest.mark.parametrize(
    ("groups", "fault"),
    [
        ([(0, 1), (2,)], None),
        ([(0, 1)], "2 is in no group"),
        ([(0, 1), (1, 2)], "1 is there more than once"),
        ([(0, 1, 2, 3)], "3 does not exist"),
        ([(-1, 0, 1, 2)], "-1 does not exist"),
    ],
)
def test_every_recommendation_is_in_exactly_one_group(
    groups: Sequence[Sequence[int]], fault: str | None
) -> None:
    found = grouping_fault(groups, 3)
    assert (found is None) if fault is None else (found is not None and fault in found)


def test_a_wrong_grouping_is_never_counted() -> None:
    with pytest.raises(ValueError, match="exactly one group"):
        count_recommendations([Recommendation("a", "x", Fraction(5))], [], 1)


def alike(one: str, other: str) -> float:
    """Made to be asymmetric: the shared part of the first one's letters, in per cent."""
    return 100 * len(set(one) & set(other)) / max(1, len(set(one)))


def test_similar_titles_are_linked_through_others() -> None:
    groups = group_by_similarity(["abcd", "ghij", "cdef", "efgh", "ABCD"], alike, Fraction(50))
    assert groups == ((0, 1, 2, 3, 4),)
    apart = group_by_similarity(["abcd", "ghij", "cdef", " ABCD"], alike, Fraction(60))
    assert apart == ((0, 3), (1,), (2,))
    assert group_by_similarity([], alike, Fraction(1)) == ()


@given(st.lists(st.text("abcdef", min_size=1, max_size=4), max_size=10), st.randoms())
def test_grouping_does_not_depend_on_the_order(titles: list[str], chance: random.Random) -> None:
    order = list(range(len(titles)))
    chance.shuffle(order)
    groups = group_by_similarity(titles, alike, Fraction(60))
    shuffled = group_by_similarity([titles[i] for i in order], alike, Fraction(60))
    assert {frozenset(order[i] for i in group) for group in shuffled} == set(map(frozenset, groups))
    assert grouping_fault(groups, len(titles)) is None


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


@given(st.lists(st.integers(1, 10), min_size=1), st.integers(-3, 3))
def test_moving_all_scores_moves_the_mean_and_not_the_variance(scores: list[int], by: int) -> None:
    spread = Spread.of([Fraction(score) for score in scores])
    moved = Spread.of([Fraction(score + by) for score in scores])
    assert (moved.mean, moved.variance) == (spread.mean + by, spread.variance)
