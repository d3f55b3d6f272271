"""Votes in the records: tables that can be re-counted, in both languages."""

from __future__ import annotations

import pytest

from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Language
from app.records.decision import decision_json, decision_markdown
from app.records.minutes import minutes_markdown
from tests.formats.ballots import ranking, seats, vote, voting, weight
from tests.records.counted import held, made_whole

LANGUAGES: tuple[Language, ...] = ("en", "ja")
DATABASES = ("PostgreSQL", "DynamoDB", "MongoDB")


def database_vote(language: Language = "en", *, expert: bool = True) -> list[Event]:
    seated = seats(ann=weight("2.0") | {"expert": expert}, cy=weight("1.5"))
    meeting = voting(DATABASES, seats=seated, protocol="weighted", threshold=0.6, language=language)
    votes = {
        "ann": vote("PostgreSQL", 0.9),
        "ben": vote("PostgreSQL", 0.8),
        "cy": vote("DynamoDB", 0.7, rationale="It scales | alone.", mitigation="A load test."),
    }
    return held(meeting, lambda ask: "No." if ask.template == "vote/deliberate" else votes[ask.who])


def unanimous(language: Language = "en") -> list[Event]:
    made = voting("AB", protocol="unanimous", language=language)
    return held(made, lambda ask: vote("A") if ask.who != "cy" else vote("ABSTAIN"))


def every(language: Language) -> list[list[Event]]:
    ranked = voting("ABC", protocol="ranked", language=language)
    orders = {"ann": "ABC", "ben": "BCA", "cy": "CAB"}
    return [
        database_vote(language),
        database_vote(language, expert=False),
        held(ranked, lambda ask: ranking(orders.get(ask.who, "ABC"))),
        unanimous(language),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_record_can_be_made_and_leaves_no_key_untold(language: Language) -> None:
    for log in every(language):
        made_whole(log)


def test_a_vote_can_be_counted_again_from_its_minutes() -> None:
    text = minutes_markdown(database_vote())
    for row in (
        "| ann | Participant A | as ann | default | openai:small | 2 | yes |",
        "| cy | DynamoDB | 0.7 | read as it stands |",
        "| PostgreSQL | 2 | 2.6 of 4.5 (57.8 %) |",
        "| DynamoDB | 1 | 1.05 of 4.5 (23.3 %) |",
        "It passes from a share of 60 %.",
        "Quorum: 2 of 3 seats have to vote or abstain; 3 did.",
        "After round 1: settled by ann, expert and surer than 0.8.",
        "The expert ann decided; this was no consensus.",
        "> A load test.",
        "cy asks for this, now that another view prevailed: A load test.",
    ):
        assert row in text
    assert "synthesis" not in text.lower()


def test_an_undecided_vote_is_handed_on_with_both_sides() -> None:
    log = database_vote(expert=False)
    text = decision_markdown(log)
    assert "# Not decided: One repository or several?" in text
    assert "- For it, cy: It scales \\| alone." in text
    assert "- Against it, cy, who is for DynamoDB. Asked for, should this one win: A load" in text
    assert "Round 2: the reasons were put to each other, and all voted again." in text
    assert "Nothing was decided, so no view has lost." in text
    assert decision_json(log)["handoff"]["escalated"] is True


def test_talk_between_ballots_is_told_and_not_counted() -> None:
    text = minutes_markdown(database_vote(expert=False))
    assert "### cy: answer to the others' reasons" in text
    assert text.count("| cy | DynamoDB |") == 2


def test_a_run_off_is_shown_count_by_count() -> None:
    orders = {"ann": "ABC", "ben": "BAC", "cy": "CBA", "dan": "ACB", "eve": "BCA"}
    meeting = voting("ABC", count=5, protocol="ranked")
    text = minutes_markdown(held(meeting, lambda ask: ranking(orders[ask.who])))
    for row in (
        "| cy | C > B > A | 0.7 | read as it stands |",
        "| Option | Count 1 | Count 2 |",
        "| B | 2 | 3 |",
        "| C | 1 | – |",
        "- After count 1, C goes out with the fewest first places.",
        "In pairs, B beats every other option (Condorcet winner).",
    ):
        assert row in text


def test_an_abstention_that_is_not_accepted_is_said_first() -> None:
    text = decision_markdown(unanimous())
    assert text.index("cy abstained in round 1, where no abstention") < text.index("## Context")
