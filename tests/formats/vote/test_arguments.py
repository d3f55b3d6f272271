"""Who is shown whose reasons, and who has to answer (PROTOCOLS 7, deliberate)."""

import pytest

from app.domain.replies.reading import ReplyStatus
from app.formats.vote.arguments import (
    Argument,
    RebuttalReading,
    answers_the_others,
    pros_and_cons,
    shown_to,
)
from app.formats.vote.counting import Ballot, Protocol, Rules, Tally, count


def vote(choices: str) -> tuple[list[Argument], Tally]:
    """One letter a voter (v0, v1 …); ``-`` abstains."""
    ballots = [
        Ballot(f"v{n}", abstained=True) if letter == "-" else Ballot(f"v{n}", letter)
        for n, letter in enumerate(choices)
    ]
    rules = Rules(Protocol.UNANIMOUS, quorum=1)
    tally = count(rules, tuple("ABC"), ballots, len(ballots))
    return [Argument(b.voter, b.choice, f"why {b.voter}", "", 0.7, 1) for b in ballots], tally


@pytest.mark.parametrize(
    ("choices", "voter", "answers", "shown"),
    [
        ("AABC", "v0", False, {"v2", "v3"}),
        ("AABC", "v2", True, {"v0", "v1"}),
        ("AABC", "v3", True, {"v0", "v1"}),
        ("AAB-", "v3", True, {"v0", "v1"}),
        ("AAB-", "v0", False, {"v2"}),
        ("AABB", "v0", True, {"v2", "v3"}),
        ("AABBC", "v4", True, {"v0", "v1", "v2", "v3"}),
        ("AABBC", "v0", True, {"v2", "v3"}),
    ],
)
def test_each_side_reads_the_other(
    choices: str, voter: str, answers: bool, shown: set[str]
) -> None:
    arguments, tally = vote(choices)
    choice = choices[int(voter[1:])].replace("-", "ABSTAIN")
    assert answers_the_others(choice, tally) is answers
    assert {argument.voter for argument in shown_to(voter, choice, arguments, tally)} == shown


def test_a_voter_without_a_ballot_reads_the_leaders_reasons() -> None:
    arguments, tally = vote("AAB")
    assert answers_the_others(None, tally)
    assert {a.voter for a in shown_to("silent", None, arguments, tally)} == {"v0", "v1"}


def test_every_text_stands_once_however_many_options_there_are() -> None:
    arguments, _ = vote("AB-")
    laid_out = pros_and_cons("ABC", arguments)
    assert [[a["participant"] for a in option["pros"]] for option in laid_out] == [
        ["v0"],
        ["v1"],
        [],
    ]
    assert [option["cons"] for option in laid_out] == [["v1"], ["v0"], ["v0", "v1"]]


def test_an_answer_is_free_text_outside_the_thinking() -> None:
    reading = RebuttalReading()
    assert reading.read("That does not hold.").fault is None
    assert reading.read("<think>hm</think> ").fault is not None
    assert reading.absent(ReplyStatus.TIMEOUT) == {"deliberation": True}
