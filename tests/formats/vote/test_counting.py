"""Counting votes: the vectors of PROTOCOLS 7, and the laws of counting."""

import json
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.meeting.meeting import Seat
from app.domain.replies.ballot import RankingReading, VoteReading
from app.formats.vote.counting import (
    Ballot,
    Normalize,
    Protocol,
    Reason,
    Rules,
    Tally,
    cast_ballot,
    count,
    expert_override,
)

SIMPLE = Rules(Protocol.SIMPLE_MAJORITY)
SUPER = Rules(Protocol.SUPERMAJORITY)
UNANIMOUS = Rules(Protocol.UNANIMOUS)
RANKED = Rules(Protocol.RANKED)


def plain(votes: str) -> list[Ballot]:
    """One ballot a letter; ``-`` abstains."""
    return [
        Ballot(f"v{i}", abstained=True) if letter == "-" else Ballot(f"v{i}", letter)
        for i, letter in enumerate(votes)
    ]


def weighted(
    voter: str, weight: str, confidence: str, option: str, *, expert: bool = False
) -> Ballot:
    return Ballot(
        voter, option, confidence=Fraction(confidence), weight=Fraction(weight), expert=expert
    )


def tally(rules: Rules, ballots: Sequence[Ballot], options: str = "ABC", seats: int = 0) -> Tally:
    return count(rules, tuple(options), ballots, seats or len(ballots))


DATABASES = ("PostgreSQL", "DynamoDB", "MongoDB")
DATABASE_VOTE = [
    weighted("database-architect", "2.0", "0.9", "PostgreSQL", expert=True),
    weighted("security-architect", "1.0", "0.8", "PostgreSQL"),
    weighted("devops", "1.5", "0.7", "DynamoDB"),
]


def test_vector_weighted_database_vote_is_not_reached() -> None:
    found = count(Rules(Protocol.WEIGHTED, threshold=Fraction("0.6")), DATABASES, DATABASE_VOTE, 3)
    assert found.shares == {
        "PostgreSQL": Fraction("2.6") / Fraction("4.5"),
        "DynamoDB": Fraction("1.05") / Fraction("4.5"),
        "MongoDB": 0,
    }
    assert (found.reason, found.passed) == (Reason.BELOW_THRESHOLD, None)
    assert found.leader == "PostgreSQL"
    record = found.record()
    assert record["shares"]["PostgreSQL"] == {"numerator": 26, "denominator": 45, "percent": 57.8}
    assert record["shares"]["DynamoDB"]["percent"] == 23.3
    assert record["sums"] == {"PostgreSQL": 2.6, "DynamoDB": 1.05, "MongoDB": 0}
    assert record["total"] == 4.5
    json.dumps(record)


def test_vector_expert_override_decides_the_database_vote() -> None:
    override = expert_override(DATABASE_VOTE)
    assert override is not None
    assert (override.option, override.experts) == ("PostgreSQL", ("database-architect",))


@pytest.mark.parametrize(
    ("normalize", "share", "percent", "reached"),
    [("expressed", Fraction(2, 3), 66.7, True), ("weight", Fraction(18, 35), 51.4, False)],
)
def test_vector_weighted_microservices(
    normalize: Normalize, share: Fraction, percent: float, reached: bool
) -> None:
    ballots = [
        weighted("architect", "1.5", "0.8", "Microservices"),
        weighted("developer", "1.0", "0.9", "Monolith"),
        weighted("devops", "1.0", "0.6", "Microservices"),
    ]
    rules = Rules(Protocol.WEIGHTED, normalize=normalize)
    found = count(rules, ("Microservices", "Monolith"), ballots, 3)
    assert found.shares["Microservices"] == share
    assert found.record()["shares"]["Microservices"]["percent"] == percent
    assert found.passed == ("Microservices" if reached else None)


def test_a_weighted_threshold_reached_exactly_passes() -> None:
    found = tally(Rules(Protocol.WEIGHTED), [weighted("a", "1.0", "0.6", "A")])
    assert (found.shares["A"], found.passed) == (Fraction(6, 10), "A")


def test_two_options_over_a_low_threshold_the_higher_passes() -> None:
    rules = Rules(Protocol.WEIGHTED, threshold=Fraction("0.3"))
    ballots = [weighted("a", "1", "0.9", "A"), weighted("b", "1", "0.8", "B")]
    assert tally(rules, ballots).passed == "A"


def test_two_equal_options_over_a_low_threshold_are_a_tie() -> None:
    rules = Rules(Protocol.WEIGHTED, threshold=Fraction("0.3"))
    ballots = [weighted("a", "1.5", "0.6", "A"), weighted("b", "1", "0.9", "B")]
    found = tally(rules, ballots)
    assert (found.reason, found.passed, found.tied) == (Reason.TIE, None, ("A", "B"))


def test_a_weighted_vote_without_any_confidence_passes_nothing() -> None:
    for normalize in ("weight", "expressed"):
        rules = Rules(Protocol.WEIGHTED, normalize=normalize)
        assert tally(rules, [weighted("a", "1", "0", "A")]).reason is Reason.BELOW_THRESHOLD


@pytest.mark.parametrize(
    ("votes", "passed", "reason"),
    [
        ("AAB", "A", Reason.PASSED),
        ("AB", None, Reason.TIE),
        ("AABB", None, Reason.TIE),
        ("AABC", None, Reason.BELOW_THRESHOLD),
        ("ABC", None, Reason.BELOW_THRESHOLD),
        ("AAB--", "A", Reason.PASSED),
        ("---", None, Reason.BELOW_THRESHOLD),
    ],
)
def test_simple_majority_is_strict(votes: str, passed: str | None, reason: Reason) -> None:
    found = tally(SIMPLE, plain(votes))
    assert (found.passed, found.reason) == (passed, reason)


@pytest.mark.parametrize(
    ("a", "b", "passed"), [(66, 34, "A"), (65, 35, None), (33, 17, "A"), (2, 1, "A"), (3, 2, None)]
)
def test_supermajority_is_reached_at_66_per_cent(a: int, b: int, passed: str | None) -> None:
    assert tally(SUPER, plain("A" * a + "B" * b)).passed == passed


def test_unanimous() -> None:
    assert tally(UNANIMOUS, plain("AAA")).passed == "A"
    assert tally(UNANIMOUS, plain("AAB")).reason is Reason.BELOW_THRESHOLD
    assert tally(UNANIMOUS, plain("AA-")).reason is Reason.ABSTENTION
    assert tally(UNANIMOUS, plain("AA"), seats=3).reason is Reason.QUORUM


def test_a_critical_vote_takes_no_abstention() -> None:
    rules = Rules(Protocol.SIMPLE_MAJORITY, critical=True)
    assert tally(rules, plain("AAA-")).reason is Reason.ABSTENTION
    assert not rules.abstention_accepted
    assert SIMPLE.abstention_accepted


@pytest.mark.parametrize(
    ("rules", "seats", "needed"),
    [
        (SIMPLE, 4, 2),
        (SIMPLE, 5, 3),
        (SUPER, 4, 3),
        (SUPER, 5, 4),
        (UNANIMOUS, 5, 5),
        (Rules(Protocol.WEIGHTED), 3, 2),
        (Rules(Protocol.WEIGHTED), 100, 66),
        (RANKED, 4, 3),
        (Rules.read({"protocol": "ranked", "quorum": 1}), 10, 1),
        (Rules.read({"protocol": "ranked", "quorum": 1.0}), 10, 10),
        (Rules.read({"protocol": "ranked", "quorum": 0.3}), 10, 3),
        (Rules.read({"protocol": "ranked", "quorum": 3}), 10, 3),
    ],
)
def test_quorum_is_a_count_or_a_share(rules: Rules, seats: int, needed: int) -> None:
    assert rules.quorum_needed(seats) == needed


def test_below_quorum_nothing_is_decided() -> None:
    found = tally(SIMPLE, plain("AA"), seats=5)
    assert (found.reason, found.passed) == (Reason.QUORUM, None)
    assert found.record()["quorum"] == {"needed": 3, "present": 2, "seats": 5}


def test_abstentions_count_toward_quorum_and_no_threshold() -> None:
    found = tally(SUPER, plain("AAB-"), seats=5)
    assert (found.present, found.cast, found.abstained) == (4, 3, ("v3",))
    assert (found.passed, found.shares["A"]) == ("A", Fraction(2, 3))


def test_rules_are_read_as_written() -> None:
    rules = Rules.read({"protocol": "weighted", "threshold": 0.1, "normalize": "expressed"})
    assert (rules.bar, rules.normalize) == (Fraction(1, 10), "expressed")
    assert Rules.read({"protocol": "unanimous", "threshold": 0.1}).bar == 1


# --- experts, and ballots out of readings -------------------------------------------------------


def expert(voter: str, confidence: str, option: str) -> Ballot:
    return weighted(voter, "1", confidence, option, expert=True)


def test_an_expert_has_to_be_surer_than_80_per_cent() -> None:
    assert expert_override([expert("e", "0.8", "A")]) is None
    assert expert_override([expert("e", "0.81", "A")]) is not None
    assert expert_override([weighted("n", "1", "1", "A")]) is None


def test_sure_experts_that_disagree_do_not_settle_it() -> None:
    assert expert_override([expert("e", "0.9", "A"), expert("f", "0.9", "B")]) is None
    override = expert_override([expert("f", "0.9", "A"), expert("e", "1", "A")])
    assert override is not None
    assert override.experts == ("e", "f")
    assert expert_override([expert("e", "0.9", "A"), expert("f", "0.5", "B")]) is not None


def test_ballots_are_cast_from_what_was_read() -> None:
    seat = Seat("ann", "", "default", Fraction(3, 2), expert=True)
    read = VoteReading(("A", "B")).read('{"vote": "b", "confidence": "9/10"}')
    assert cast_ballot(seat, read.values) == Ballot(
        "ann", "B", (), Fraction(9, 10), Fraction(3, 2), expert=True
    )
    ranking = RankingReading(("A", "B"), abstention_accepted=True)
    assert cast_ballot(seat, ranking.read('{"ranking": ["B", "A"]}').values).ranking == ("B", "A")
    assert cast_ballot(seat, ranking.read('{"vote": "ABSTAIN"}').values).abstained


# --- laws ---------------------------------------------------------------------------------------

CONFIDENCE = st.integers(0, 100).map(lambda n: Fraction(n, 100))
WEIGHT = st.integers(10, 20).map(lambda n: Fraction(n, 10))
ORDERS = [order for n in (1, 2, 3, 4) for order in permutations("ABCD", n)]


@st.composite
def ballots(draw: st.DrawFn) -> list[Ballot]:
    made: list[Ballot] = []
    for index in range(draw(st.integers(0, 12))):
        voter = f"v{index}"
        if draw(st.integers(0, 5)) == 0:
            made.append(Ballot(voter, abstained=True))
            continue
        order = draw(st.sampled_from(ORDERS))
        made.append(Ballot(voter, order[0], order, draw(CONFIDENCE), draw(WEIGHT)))
    return made


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    return Rules(
        draw(st.sampled_from(Protocol)),
        draw(st.sampled_from([None, 1, 3, Fraction(1, 3)])),
        draw(st.sampled_from([None, Fraction(1, 10), Fraction(2, 3)])),
        draw(st.sampled_from(["weight", "expressed"])),
    )


@given(rules(), ballots(), st.randoms())
def test_the_order_of_ballots_never_changes_an_outcome(
    chosen: Rules, cast: list[Ballot], chance: random.Random
) -> None:
    shuffled = list(cast)
    chance.shuffle(shuffled)
    assert tally(chosen, shuffled, "ABCD", 12) == tally(chosen, cast, "ABCD", 12)
    assert expert_override(shuffled) == expert_override(cast)


@given(ballots(), st.sampled_from(["weight", "expressed"]), st.fractions(Fraction(1, 9), 9))
def test_scaling_all_weights_changes_no_share(
    cast: list[Ballot], normalize: Normalize, factor: Fraction
) -> None:
    scaled = [
        Ballot(b.voter, b.option, b.ranking, b.confidence, b.weight * factor, b.expert, b.abstained)
        for b in cast
    ]
    chosen = Rules(Protocol.WEIGHTED, normalize=normalize)
    assert tally(chosen, scaled, "ABCD").shares == tally(chosen, cast, "ABCD").shares


@given(rules(), ballots())
def test_whatever_passes_is_the_only_leader(chosen: Rules, cast: list[Ballot]) -> None:
    found = tally(chosen, cast, "ABCD", 12)
    assert found.passed in (None, found.leader)
    assert (found.passed is not None) == (found.reason is Reason.PASSED)
    json.dumps(found.record())


@pytest.mark.parametrize("protocol", Protocol)
def test_ten_thousand_ballots_are_all_counted(protocol: Protocol) -> None:
    chance = random.Random(7)  # noqa: S311 - any ballots will do, as long as they stay the same
    options = tuple("ABCDEFGH")
    cast = [
        Ballot(
            f"v{index}",
            order[0],
            tuple(order),
            Fraction(chance.randrange(1000), 1000),
            Fraction(chance.randrange(10, 21), 10),
        )
        for index in range(10_000)
        for order in [chance.sample(options, len(options))]
    ]
    tally = count(Rules(protocol), options, cast, len(cast))
    assert tally.present == len(cast)
    assert sum(tally.votes.values()) == len(cast)
