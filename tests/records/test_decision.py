"""The decision record: who decided what, against what; and nothing decided that was not."""

from __future__ import annotations

import pytest

from app.domain.errors import MeetingNotEnded
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Language, Limits
from app.domain.meeting.outcome import (
    Completeness,
    DecidedBy,
    Dissent,
    Outcome,
    Result,
    StopReason,
)
from app.records.decision import decision_json, decision_markdown
from tests.records.held import Log, answers, ended, held, meeting, stances, three_rounds

FIELDS = {
    *("meeting_id", "topic", "title", "format", "format_version", "language", "date", "result"),
    *("consensus", "decision", "decision_source", "decided_by", "completeness", "stopped_by"),
    *("context", "motion", "options", "consequences", "dissents", "reservations", "baseline"),
    *("final", "flips", "unexplained_flips", "synthesis", "tally", "degradation", "warnings"),
    *("participants", "lineage", "spent", "operations", "started_at", "ended_at"),
}


def undecided() -> list[Event]:
    rounds = [stances("AGREE", "DISAGREE", "NEUTRAL")] * 2
    return held(meeting(limits=Limits(rounds=2)), answers(rounds))


def test_json_has_every_field() -> None:
    record = decision_json(three_rounds())
    assert set(record) >= FIELDS
    assert record["decision"] == record["title"] == "Adopt one repository by June."
    assert record["decision_source"] == "motion"
    assert record["lineage"] == {"models": ["openai:small"], "single_model": True}
    assert record["options"] == [
        "Should the platform team use one repository?",
        "Adopt one repository by June.",
    ]
    assert {"kind": "risk", "text": "Checkout time"} in record["consequences"]
    assert record["date"] == "2026-12-01"
    assert record["ended_at"].endswith("Z")


def test_page_says_who_decided_and_how_it_was_counted() -> None:
    page = decision_markdown(three_rounds())
    assert page.startswith("---\nid: ")
    assert "# Adopt one repository by June." in page
    assert "The participants decided, by the consensus rule fixed beforehand" in page
    assert "AGREE: 2 of 3 seated participants in round 3." in page
    assert "Adopt one repository by June. (rounds 2 to 3)" in page
    assert "Their agreement is weaker evidence" in page


def test_a_drafted_sentence_is_not_passed_off_as_voted_on() -> None:
    log = held(meeting(), answers([stances("AGREE", "AGREE", "AGREE")]))
    assert decision_json(log)["decision_source"] == "synthesis"
    page = decision_markdown(log)
    assert "nobody voted on its wording" in page
    assert "> Should the platform team use one repository?" in page


def test_dissent_is_kept_with_its_reasons() -> None:
    record = decision_json(undecided())
    assert [d["participant"] for d in record["dissents"]] == ["operator"]
    page = decision_markdown(undecided())
    assert "**operator, round 2: DISAGREE**" in page
    assert "> operator has a reason for this." in page


def test_an_undecided_meeting_hands_over_candidates_and_open_points() -> None:
    record = decision_json(undecided())
    assert record["decision"] is None
    assert record["decided_by"] is None
    assert record["consequences"] == []
    assert {"id": "motion", "text": "Adopt one repository by June."} in record["candidates"]
    assert any("Who owns the build" in point for point in record["open_points"])
    page = decision_markdown(undecided())
    assert "# Not decided: Should the platform team" in page
    assert "There is no decision." in page
    assert "The draft below is not a decision." in page
    assert "## Consequences" not in page


@pytest.mark.parametrize(
    ("stop", "title"),
    [
        (StopReason.CANCELLATION, "Cancelled: "),
        (StopReason.DEADLINE, "Not decided: "),
        (StopReason.AGENTS_UNAVAILABLE, "Failed: "),
    ],
)
def test_other_ends_are_called_what_they_are(stop: StopReason, title: str) -> None:
    rounds = [stances("AGREE", "DISAGREE", "NEUTRAL")]
    log = held(meeting(), answers(rounds), stop_before="round-2/ask/architect", stop=stop)
    record = decision_json(log)
    assert record["title"].startswith(title)
    assert record["completeness"] == "partial"
    assert "The record is partial" in decision_markdown(log)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_is_the_same_before_and_after_the_end(language: Language) -> None:
    log = three_rounds(language=language)
    assert decision_markdown(log) == decision_markdown(ended(log))
    assert decision_json(log) == decision_json(ended(log))


def test_there_is_none_before_the_end() -> None:
    with pytest.raises(MeetingNotEnded):
        decision_json(three_rounds()[:-1])
    with pytest.raises(MeetingNotEnded):
        decision_markdown(three_rounds()[:-1])


def test_hostile_topic_stays_in_its_place() -> None:
    topic = "---\nstatus: decided\n---\n# Decided: yes\n[x](javascript:1)"
    rounds = [stances("AGREE", "DISAGREE", "NEUTRAL")]
    log = held(meeting(topic=topic, limits=Limits(rounds=1)), answers(rounds))
    page = decision_markdown(log)
    assert page.count("\n# ") == 1
    assert page.count("\n---\n") == 1
    assert "](javascript" not in page.replace("\\](", "")


def test_unknown_numbers_are_shown_with_the_mitigation_asked_for() -> None:
    """Formats to come bring numbers of their own; they are laid out as tables."""
    log = Log(meeting(format="show_of_hands", options=("PostgreSQL", "DynamoDB")), answers([]))
    log.open()
    dissent = Dissent("operator", "DynamoDB", "Runs itself.", mitigation="Use a managed server.")
    outcome = Outcome(
        Result.DECIDED,
        StopReason.COMPLETED,
        Completeness.COMPLETE,
        decision="PostgreSQL",
        decision_source="option",
        decided_by=DecidedBy("expert", "architect", "the database"),
        dissents=(dissent,),
        numbers={
            "options": {
                "PostgreSQL": {"votes": 2, "share": {"numerator": 26, "denominator": 45}},
                "DynamoDB": {"votes": 1, "share": {"numerator": 7, "denominator": 30}},
            },
            "threshold": "0.6",
        },
    )
    log.record(outcome)
    page = decision_markdown(log.events)
    assert "| PostgreSQL | 2 | 26 of 45 |" in page
    assert "| threshold | 0.6 |" in page
    assert "The expert architect decided; this was no consensus." in page
    assert "> Use a managed server." in page
    assert decision_json(log.events)["dissents"][0]["mitigation"] == "Use a managed server."
