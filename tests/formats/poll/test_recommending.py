"""Counting recommendations: the vector of PROTOCOLS 6, each respondent once a group."""

import json
from fractions import Fraction

import pytest

from app.formats.poll.recommending import (
    Recommendation,
    RecommendationCount,
    count_recommendations,
)


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


def test_a_wrong_grouping_is_never_counted() -> None:
    with pytest.raises(ValueError, match="exactly one group"):
        count_recommendations([Recommendation("a", "x", Fraction(5))], [], 1)
