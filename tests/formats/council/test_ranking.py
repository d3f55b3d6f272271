"""The council's letters and mean ranks (PROTOCOLS 8)."""

import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from app.formats.council.ranking import Review, best_ranked, mean_ranks, shuffled_letters

MEMBERS = ("ann", "ben", "cy", "dee")


def test_its_own_answer_is_left_out_unless_asked_for() -> None:
    assert sorted(shuffled_letters("mtg_1", "ann", MEMBERS).values()) == ["ben", "cy", "dee"]
    assert list(shuffled_letters("mtg_1", "ann", MEMBERS)) == ["A", "B", "C"]
    shown = shuffled_letters("mtg_1", "ann", MEMBERS, rank_self=True)
    assert sorted(shown.values()) == sorted(MEMBERS)


def test_letters_differ_between_reviewers_and_meetings() -> None:
    many = [f"m{i}" for i in range(12)]
    orders = {
        tuple(shuffled_letters(meeting, reviewer, many).values())
        for meeting in ("mtg_1", "mtg_2")
        for reviewer in ("x", "y")
    }
    assert len(orders) == 4


def test_letters_are_the_same_in_every_release() -> None:
    assert shuffled_letters("mtg_1", "ann", MEMBERS) == {"A": "cy", "B": "ben", "C": "dee"}


@given(st.text(), st.text(), st.permutations(MEMBERS))
def test_letters_depend_on_names_only(meeting: str, reviewer: str, order: list[str]) -> None:
    safe = meeting.encode("utf-8", "replace").decode()
    assert shuffled_letters(safe, reviewer, order) == shuffled_letters(safe, reviewer, MEMBERS)


def test_mean_ranks_are_exact() -> None:
    reviews = [
        Review("ann", ("ben", "cy"), ("ben", "cy")),
        Review("ben", ("ann", "cy"), ("ann", "cy")),
        Review("cy", ("ann", "ben"), ("ben", "ann")),
    ]
    ranks = mean_ranks(("ann", "ben", "cy"), reviews)
    assert [(mean.author, mean.rank) for mean in ranks] == [
        ("ben", Fraction(1)),
        ("ann", Fraction(3, 2)),
        ("cy", Fraction(2)),
    ]
    assert best_ranked(ranks) == ("ben",)
    json.dumps([mean.record() for mean in ranks])


def test_answers_left_out_share_the_last_places() -> None:
    ranks = mean_ranks(MEMBERS, [Review("eve", MEMBERS, ("cy",))])
    assert {mean.author: mean.rank for mean in ranks} == {"cy": 1, "ann": 3, "ben": 3, "dee": 3}


def test_an_answer_that_nobody_ranked_comes_last_without_a_rank() -> None:
    ranks = mean_ranks(("ann", "ben"), [Review("ann", ("ben",), ("ben",))])
    assert [(mean.author, mean.rank, mean.reviews) for mean in ranks] == [
        ("ben", 1, 1),
        ("ann", None, 0),
    ]
    assert best_ranked(mean_ranks(("ann",), [])) == ()


def test_equal_ranks_are_a_tie() -> None:
    reviews = [Review("c", ("a", "b"), ("a", "b")), Review("d", ("a", "b"), ("b", "a"))]
    assert best_ranked(mean_ranks(("a", "b"), reviews)) == ("a", "b")


def test_a_ballot_of_letters_becomes_a_review() -> None:
    review = Review.read("ann", {"A": "cy", "B": "ben"}, ["B", "A"])
    assert review == Review("ann", ("cy", "ben"), ("ben", "cy"))
