"""Our counting against the library pref-voting, on 2,000 random elections of each kind.

*Complete* ballots rank every option; *truncated* ones may stop after any place.

What is compared, and must be the same in every election:

- **Borda**, complete and truncated: the points of every option, and with them the winners, ties
  included. The library counts from N - 1 down to 0, we from N down to 1, so each ballot gives every
  option one point more here. For truncated ballots its *symmetric* Borda score is the counterpart
  of our rule that options left out share the points that remain: (score + ballots * (N - 1)) / 2.
- **Condorcet winner**, complete and truncated: the same one, or none on both sides. For truncated
  ballots by its *extended strict preference*: ranked before left out, as here.
- **Run-off without a tie for last place**: the library's winner, which no tie rule has touched.
- **Run-off with ties, complete**: whom we elect, its run-off elects as well once it breaks ties in
  the order in which we dropped the options (``instant_runoff_tb``). So every step of ours was a
  step that a run-off may take.

What can be compared only one way, because the tie rules differ:

- Its ``instant_runoff_put`` follows every way to break every tie and names all who can win. Whom
  we elect is always among them. When it names one only, we elect that one or report a tie: our
  rule (earlier counts, then Borda points, then all together if they are few) stops at a tie that
  those rules leave open, even where every way out would lead to the same winner.

What cannot be compared: that a reported tie is one. The library has no rule that ends a run-off
undecided, and those that drop all who are tied for last (its ``instant_runoff``) elect somebody
in places where PROTOCOLS 7 forbids it. For a reported tie, only what the tied ones have to have in
common is checked: each of them holds the fewest first places in the last count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from app.formats.poll.polling import count_rankings
from app.formats.vote.counting import Ballot, Protocol, Reason, Rules, Tally, count
from app.formats.vote.run_off import RunOffRound, condorcet_winner
from tests.oracle.profiles import COUNT, Election, elections

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(600)]

BOTH = pytest.mark.parametrize("complete", [True, False], ids=["complete", "truncated"])


@pytest.fixture(scope="module")
def oracle() -> SimpleNamespace:
    """The parts of the library that are asked; not to be had without its own lock."""
    why = "pref-voting is not installed: `make oracle` installs requirements-oracle.lock (600 MB)"
    pytest.importorskip("pref_voting", reason=why)
    # By name, since the library is not among what the type checker sees.
    parts = {
        "pref_voting.profiles": ["Profile"],
        "pref_voting.profiles_with_ties": ["ProfileWithTies"],
        "pref_voting.iterative_methods": [
            "instant_runoff",
            "instant_runoff_for_truncated_linear_orders",
            "instant_runoff_put",
            "instant_runoff_tb",
        ],
    }
    found = SimpleNamespace()
    for module, names in parts.items():
        loaded = pytest.importorskip(module, reason=why)
        for name in names:
            setattr(found, name, getattr(loaded, name))
    return found


def _profile(oracle: SimpleNamespace, election: Election, *, complete: bool) -> Any:
    piles = Counter(election.ballots)
    numbers = list(piles.values())
    if complete:
        return oracle.Profile([[int(o) for o in ballot] for ballot in piles], numbers)
    ranks = [{int(o): place for place, o in enumerate(ballot, 1)} for ballot in piles]
    candidates = [int(option) for option in election.options]
    profile = oracle.ProfileWithTies(ranks, numbers, candidates=candidates)
    profile.use_extended_strict_preference()
    return profile


# --- Borda --------------------------------------------------------------------------------------


def _points(score: int, election: Election, *, complete: bool) -> Fraction:
    """The library's score as we count it."""
    ballots = len(election.ballots)
    if complete:
        return Fraction(score + ballots)
    return ballots + Fraction(score + ballots * (len(election.options) - 1), 2)


@BOTH
def test_borda_points_and_winners(oracle: SimpleNamespace, *, complete: bool) -> None:
    seen: Counter[str] = Counter()
    for election in elections(61, complete=complete):
        ours = count_rankings(election.ballots, election.options)
        theirs = _profile(oracle, election, complete=complete).borda_scores()
        points = {
            str(option): _points(int(score), election, complete=complete)
            for option, score in theirs.items()
        }
        assert ours.points == points, election
        best = max(points.values())
        assert set(ours.leaders) == {option for option in points if points[option] == best}, (
            election
        )
        seen["tie" if len(ours.leaders) > 1 else "one winner"] += 1
    _report("Borda", complete, seen)
    assert seen["tie"] > COUNT / 20


# --- Condorcet ----------------------------------------------------------------------------------


@BOTH
def test_condorcet_winner(oracle: SimpleNamespace, *, complete: bool) -> None:
    seen: Counter[str] = Counter()
    for election in elections(62, complete=complete):
        theirs = _profile(oracle, election, complete=complete).condorcet_winner()
        ours = condorcet_winner(election.ballots, election.options)
        assert ours == (None if theirs is None else str(theirs)), election
        seen["none" if ours is None else "one"] += 1
    _report("Condorcet winner", complete, seen)
    assert min(seen["none"], seen["one"]) > COUNT / 20


# --- the run-off --------------------------------------------------------------------------------


def _run_off(election: Election) -> Tally:
    ballots = [Ballot(f"v{i}", ranking=ranking) for i, ranking in enumerate(election.ballots)]
    return count(Rules(Protocol.RANKED), election.options, ballots, len(ballots))


def _tied_for_last(counted: RunOffRound) -> bool:
    fewest = min(counted.counts.values())
    return list(counted.counts.values()).count(fewest) > 1


def _names(found: Sequence[int]) -> list[str]:
    return [str(option) for option in found]


def _kind(ours: Tally) -> str:
    if ours.passed is None:
        return "ours reports a tie"
    # In the last count nobody is dropped any more.
    if any(_tied_for_last(counted) for counted in ours.run_off[:-1]):
        return "ties for last were broken"
    return "no tie for last"


@BOTH
def test_run_off_winners(oracle: SimpleNamespace, *, complete: bool) -> None:
    seen: Counter[str] = Counter()
    simultaneous = (
        oracle.instant_runoff if complete else oracle.instant_runoff_for_truncated_linear_orders
    )
    for election in elections(63, complete=complete):
        ours, profile = _run_off(election), _profile(oracle, election, complete=complete)
        kind = _kind(ours)
        possible = _names(oracle.instant_runoff_put(profile))
        if ours.passed is None:
            _check_reported_tie(ours, election)
        else:
            assert ours.passed in possible, election
        if kind == "no tie for last":
            assert possible == [ours.passed], election
            assert _names(simultaneous(profile)) == [ours.passed], election
        one = "one possible winner" if len(possible) == 1 else "several possible winners"
        seen[f"{kind}, {one}"] += 1
    _report("run-off", complete, seen)
    assert seen["no tie for last, several possible winners"] == 0
    # Neither side of the comparison is empty.
    for kind in ("no tie for last", "ties for last were broken", "ours reports a tie"):
        assert sum(n for name, n in seen.items() if name.startswith(kind)) > COUNT / 40, seen


def _check_reported_tie(ours: Tally, election: Election) -> None:
    assert ours.reason is Reason.TIE, election
    last = ours.run_off[-1].counts
    assert len(ours.tied) > 1, election
    assert {last[option] for option in ours.tied} == {min(last.values())}, election


def test_every_step_of_a_run_off_is_one_that_a_run_off_may_take(oracle: SimpleNamespace) -> None:
    """The library gets our order of dropping as its way to break ties, and elects the same."""
    seen: Counter[str] = Counter()
    for election in elections(64, complete=True):
        ours = _run_off(election)
        if ours.passed is None:
            continue
        dropped = [option for counted in ours.run_off for option in counted.dropped]
        order = dropped + [option for option in election.options if option not in dropped]
        profile = _profile(oracle, election, complete=True)
        theirs = oracle.instant_runoff_tb(profile, tie_breaker=[int(option) for option in order])
        assert _names(theirs) == [ours.passed], election
        seen.update({counted.by for counted in ours.run_off if counted.by})
    _report("run-offs that used the rule", True, seen)
    assert set(seen) == {"fewest", "earlier_counts", "borda", "together"}


def _report(what: str, complete: bool, seen: Counter[str]) -> None:
    """The figures, for `make oracle`, which shows what passing tests print."""
    kind = "complete" if complete else "truncated"
    figures = ", ".join(f"{name}: {number:,}" for name, number in sorted(seen.items()))
    print(f"{what}, {kind} ballots: {figures}")  # noqa: T201 (shown on request)
