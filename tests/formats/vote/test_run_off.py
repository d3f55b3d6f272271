"""The run-off: its transfers, its tie rules, the Condorcet note, and its laws (PROTOCOLS 7)."""

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from app.formats.vote.counting import Ballot, Protocol, Reason, Rules, Tally, count
from app.formats.vote.run_off import condorcet_winner

RANKED = Rules(Protocol.RANKED)


def ranked(*rankings: str) -> list[Ballot]:
    """``"3 ABC"`` is three ballots that rank A before B before C."""
    each = [(int(n), tuple(order)) for n, order in (text.split() for text in rankings)]
    orders = [order for n, order in each for _ in range(n)]
    return [Ballot(f"v{i}", ranking=order) for i, order in enumerate(orders)]


def tally(rules: Rules, ballots: Sequence[Ballot], options: str = "ABC", seats: int = 0) -> Tally:
    return count(rules, tuple(options), ballots, seats or len(ballots))


def test_a_first_choice_of_the_majority_wins_at_once() -> None:
    found = tally(RANKED, ranked("3 ABC", "2 BAC"))
    assert (found.passed, len(found.run_off), found.condorcet) == ("A", 1, "A")


def test_the_fewest_first_places_go_and_are_transferred() -> None:
    found = tally(RANKED, ranked("4 ABC", "3 BAC", "2 CBA"))
    assert found.passed == "B"
    assert found.run_off[0].dropped == ("C",)
    assert found.run_off[0].by == "fewest"
    assert found.run_off[1].counts == {"A": 4, "B": 5}
    assert found.votes == {"A": 4, "B": 3, "C": 2}
    assert found.shares["B"] == Fraction(5, 9)


def test_exhausted_ballots_do_not_continue() -> None:
    found = tally(RANKED, ranked("4 A", "3 B", "2 C"))
    assert (found.passed, found.run_off[-1].exhausted) == ("A", 2)
    assert found.shares["A"] == Fraction(4, 7)


def test_a_tie_for_last_is_broken_by_earlier_counts() -> None:
    # Round 1: A 5, B 4, C 3, D 2. D's ballots go to C and exhaust one: B 4, C 4 in round 2.
    found = tally(RANKED, ranked("5 A", "4 BA", "3 CA", "1 DC", "1 D"), "ABCD")
    assert found.run_off[1].counts == {"A": 5, "B": 4, "C": 4}
    assert (found.run_off[1].dropped, found.run_off[1].by) == (("C",), "earlier_counts")


def test_a_tie_for_last_without_history_is_broken_by_borda() -> None:
    found = tally(RANKED, ranked("3 ABC", "2 BAC", "2 CBA"))
    assert (found.run_off[0].dropped, found.run_off[0].by) == (("C",), "borda")


def test_tied_ones_that_hold_fewer_than_the_next_go_together() -> None:
    found = tally(RANKED, ranked("4 A", "3 BA", "1 CA", "1 DA"), "ABCD")
    assert (found.run_off[0].dropped, found.run_off[0].by) == (("C", "D"), "together")
    assert found.passed == "A"


def test_tied_ones_that_hold_as_much_as_the_next_end_it() -> None:
    found = tally(RANKED, ranked("4 A", "2 BA", "1 CA", "1 DA"), "ABCD")
    assert (found.passed, found.reason) == (None, Reason.TIE)
    assert (found.tied, found.leaders) == (("C", "D"), ("A",))
    assert found.run_off[-1].by is None


def test_options_nobody_put_first_never_end_it() -> None:
    found = tally(RANKED, ranked("2 AED", "2 BED", "1 EAB"), "ABCDEF")
    # Borda leaves C and F tied, and D holds no more than they do; none of the three can matter.
    assert (found.run_off[0].dropped, found.run_off[0].by) == (("C", "D", "F"), "together")


def test_two_that_are_even_in_everything_are_a_tie() -> None:
    found = tally(RANKED, ranked("2 AB", "2 BA"), "AB")
    assert (found.passed, found.reason, found.tied) == (None, Reason.TIE, ("A", "B"))
    assert found.condorcet is None


def test_a_circle_has_no_condorcet_winner() -> None:
    ballots = [b.ranking for b in ranked("1 ABC", "1 BCA", "1 CAB")]
    assert condorcet_winner(ballots, "ABC") is None
    assert tally(RANKED, ranked("1 ABC", "1 BCA", "1 CAB")).reason is Reason.TIE


def test_a_condorcet_winner_may_lose_the_run_off() -> None:
    found = tally(RANKED, ranked("4 ABC", "3 CBA", "2 BAC"))
    assert (found.passed, found.condorcet) == ("A", "B")


def test_a_ranked_vote_of_abstentions_decides_nothing() -> None:
    found = tally(RANKED, [Ballot(voter, abstained=True) for voter in "abc"])
    assert (found.reason, found.condorcet, found.leader) == (Reason.BELOW_THRESHOLD, None, None)
    json.dumps(found.record())


ORDERS = [order for n in (1, 2, 3, 4) for order in permutations("ABCD", n)]


@st.composite
def ballots(draw: st.DrawFn) -> list[Ballot]:
    """Rankings of any length, with an abstention here and there."""
    orders = draw(st.lists(st.sampled_from([(), *ORDERS]), max_size=12))
    return [
        Ballot(f"v{i}", ranking=order) if order else Ballot(f"v{i}", abstained=True)
        for i, order in enumerate(orders)
    ]


@given(ballots())
def test_a_run_off_elects_a_majoritys_first_choice(cast: list[Ballot]) -> None:
    firsts = [ballot.ranking[0] for ballot in cast if not ballot.abstained]
    favourite = next((o for o in "ABCD" if 2 * firsts.count(o) > len(firsts)), None)
    found = count(Rules(Protocol.RANKED, quorum=1), tuple("ABCD"), [*cast], 20)
    if favourite is not None:
        assert (found.passed, found.condorcet) == (favourite, favourite)


def by_hand(orders: list[tuple[str, ...]]) -> str | None:
    """A run-off the slow way, each count from the ballots anew; None where a tie comes up."""
    continuing = set("ABCD")
    while True:
        firsts = [next((o for o in order if o in continuing), None) for order in orders]
        counts = {option: firsts.count(option) for option in continuing}
        best = max(counts, key=lambda option: counts[option])
        if 2 * counts[best] > sum(counts.values()):
            return best
        last = [option for option in continuing if counts[option] == min(counts.values())]
        if len(last) > 1:
            return None
        continuing -= set(last)


@given(ballots())
def test_a_run_off_without_ties_agrees_with_one_by_hand(cast: list[Ballot]) -> None:
    winner = by_hand([ballot.ranking for ballot in cast if not ballot.abstained])
    found = tally(Rules(Protocol.RANKED, quorum=1), cast, "ABCD", 20)
    assert winner in (None, found.leader)


@given(ballots())
def test_a_run_off_loses_no_ballot_and_passes_only_over_half(cast: list[Ballot]) -> None:
    found = tally(Rules(Protocol.RANKED, quorum=1), cast, "ABCD", 20)
    for counted in found.run_off:
        assert sum(counted.counts.values()) + counted.exhausted == found.cast
    if found.passed is not None:
        assert found.shares[found.passed] > Fraction(1, 2)
