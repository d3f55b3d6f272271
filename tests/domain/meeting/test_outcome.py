import itertools
from dataclasses import replace

import pytest

from app.domain.meeting.events import DecisionRecorded
from app.domain.meeting.outcome import (
    Completeness,
    DecidedBy,
    Outcome,
    Result,
    StopReason,
    first_to_count,
    overtaken_by_cancellation,
)
from app.domain.rounds.progress import Stall, StallKind

ORDER = [
    "cancellation",
    "consensus",
    "completed",
    "deadline",
    "budget",
    "agents_unavailable",
    "no_progress",
    "rounds",
]


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(ORDER, 2)))
def test_of_several_stops_the_first_in_the_rule_counts(first: str, second: str) -> None:
    together = [StopReason(second), StopReason(first)]
    assert first_to_count(together) is StopReason(first)


def test_no_stop_is_none() -> None:
    assert first_to_count([]) is None


def _decided() -> Outcome:
    return Outcome(
        Result.DECIDED,
        StopReason.CONSENSUS,
        Completeness.COMPLETE,
        consensus="FULL_CONSENSUS",
        decision="Do it.",
        decision_source="motion",
        decided_by=DecidedBy("consensus", "FULL_CONSENSUS", "Do it."),
        findings={"flips": []},
    )


def test_a_cancel_that_came_first_takes_the_decision_away_and_keeps_the_facts() -> None:
    record = overtaken_by_cancellation(_decided()).record()
    assert (record["result"], record["stopped_by"]) == ("cancelled", "cancellation")
    assert record["completeness"] == "partial"
    assert (record["decision"], record["decision_source"], record["decided_by"]) == (None,) * 3
    assert record["consensus"] == "FULL_CONSENSUS"


def test_the_outcome_is_found_again_among_the_findings() -> None:
    """As a decision is recorded now, and as it was recorded with everything side by side."""
    outcome = _decided()
    nested = DecisionRecorded(outcome=outcome, format="roundtable", spent={})
    flat = {
        **outcome.record(),
        **outcome.findings,
        "numbers_name": outcome.numbers_name,
        "degradation": [],
        "spent": {},
    }
    for record in (nested.record(), flat):
        found = DecisionRecorded.of(record).outcome
        assert found == outcome
        assert found.record() == {**outcome.record(), "stalled": None}


def test_the_outcome_says_how_the_talk_stalled() -> None:
    stall = Stall(StallKind.STALEMATE, 3, 2)
    outcome = replace(_decided(), stalled=stall)
    nested = DecisionRecorded(outcome=outcome, format="roundtable", spent={})
    beside = {"numbers_name": outcome.numbers_name, "degradation": [], "spent": {}}
    for record in (nested.record(), {**outcome.record(), **beside}):
        found = DecisionRecorded.of(record).outcome
        assert found.stalled == stall
        assert found.record()["stalled"] == stall.record()
