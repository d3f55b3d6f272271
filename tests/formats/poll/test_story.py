"""The poll through its generator (PROTOCOLS 6 and 11): vectors, exclusions, grouping, ends."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.ending.completion_gate import Close, GateStatus, Revise
from app.domain.meeting import events
from app.domain.meeting.meeting import CompletionGate, Criterion, Limits
from app.domain.meeting.outcome import Completeness, Outcome, Result, StopReason
from app.domain.replies.reading import ReplyStatus
from app.formats.poll.polling import FRAMINGS
from app.formats.poll.story import FORMAT
from tests.formats.ballots import Given, answers, polling, ranking
from tests.formats.by_hand import OVER, Held, hold

LATE, BROKEN, SPENT = ReplyStatus.TIMEOUT, ReplyStatus.ERROR, ReplyStatus.BUDGET
REFUSED, INVALID = ReplyStatus.REFUSED, "The weather is fine."
DUE = datetime(2026, 1, 1, tzinfo=UTC)
COST_AND_RISK = (Criterion("cost", "What it costs"), Criterion("risk", "What can go wrong"))


def recommend(*titles: str, confidence: int = 6) -> str:
    entries = [{"title": t, "confidence": confidence, "why": f"why {t}"} for t in titles]
    return json.dumps({"recommendations": entries})


def binary(answer: str, *reasons: str, confidence: int = 7) -> str:
    return json.dumps({"answer": answer, "reasons": list(reasons), "confidence": confidence})


def scores(**given: object) -> str:
    return json.dumps({"scores": given, "rationale": f"{max(given)} it is"})


def held(output: str, *given: Given, group: Given = BROKEN, **fields: Any) -> Held:
    meeting = polling(output, len(given), **fields)
    return hold(meeting, answers(*given, group=group))


def row(outcome: Outcome) -> tuple[object, ...]:
    """The outcome's row in the table at the end of PROTOCOLS 11."""
    by = None if outcome.decided_by is None else outcome.decided_by.kind
    return (
        outcome.result,
        outcome.completeness,
        outcome.stopped_by,
        by,
        outcome.decision_source,
        outcome.decision,
    )


def decided(decision: str, source: str = "option") -> tuple[object, ...]:
    return (
        Result.DECIDED, Completeness.COMPLETE, StopReason.COMPLETED, "poll", source, decision,
    )  # fmt: skip


NOBODY = (Result.UNDECIDED, Completeness.COMPLETE, StopReason.COMPLETED, None, None, None)
XYZ = ("X", "Y", "Z")


# --- vectors ------------------------------------------------------------------------------------


def test_vector_ranking() -> None:
    found = held("ranking", *(ranking(o) for o in ("XYZ", "XZY", "YXZ")), options=XYZ)
    assert row(found.ended) == decided("X")
    assert found.ended.numbers["points"] == {"X": 8, "Y": 6, "Z": 4}
    assert found.ended.numbers["ballots"]["r2"] == {"ranking": ["Y", "X", "Z"]}
    (dissent,) = found.ended.dissents
    assert (dissent.participant, dissent.position, dissent.rationale) == ("r2", "Y", "Y first")


def test_vector_recommendation() -> None:
    """Seven of ten name one idea, six another, four a third and three a last one."""
    mentions = {"Idea one": 7, "A second plan": 6, "Third way": 4, "Fourth": 3}
    ballots = [
        recommend(*[title for title, n in mentions.items() if number < n])
        if number < 7
        else recommend(f"alone {'pqr'[number - 7] * 9}")
        for number in range(10)
    ]
    # Three at the most in a ballot: the first three respondents name the first three ideas.
    ballots[:3] = [recommend("Idea one", "A second plan", "Third way")] * 3
    ballots[7:] = [recommend("Fourth")] * 3
    found = held("recommendation", *ballots)
    groups = {g["title"]: (g["mentions"], g["kind"]) for g in found.ended.numbers["groups"]}
    assert groups == {
        "Idea one": (7, "consensus"),
        "A second plan": (6, "divergence"),
        "Third way": (4, "divergence"),
        "Fourth": (3, "outlier"),
    }
    assert row(found.ended) == decided("Idea one", "synthesis")
    assert {(d.participant, d.position) for d in found.ended.dissents} == {
        (f"r{n}", "Fourth") for n in (7, 8, 9)
    }


def test_vector_scores() -> None:
    given = [scores(X=7, Y=5), scores(X=8, Y=6), scores(X=9, Y=4)]
    found = held("scoring", *given, options=("X", "Y"))
    assert row(found.ended) == decided("X")
    overall = found.ended.numbers["scores"]["X"]["overall"]
    assert overall == {"n": 3, "mean": 8.0, "median": 8.0, "deviation": 1.0}
    assert found.ended.numbers["high_variance"] == []


def test_vector_binary_five_to_five_is_a_split_without_a_winner() -> None:
    given = [binary("YES" if n % 2 else "NO", f"reason {n}") for n in range(10)]
    found = held("binary", *given)
    assert row(found.ended) == NOBODY
    assert found.ended.numbers["counts"] == {"YES": 5, "NO": 5}
    assert (found.ended.numbers["split"], found.ended.numbers["leader"]) == (True, None)


# --- the pass -----------------------------------------------------------------------------------


def test_one_pass_and_what_it_tells() -> None:
    given = [binary("YES", "cheap", confidence=4), binary("YES", "fast", confidence=9)]
    found = held("binary", *given, binary("NO", "risky"))
    assert row(found.ended) == decided("YES")
    assert [note.content.type for note in found.notes] == [
        events.RoundStarted.type,
        events.TallyComputed.type,
        events.RoundClosed.type,
    ]
    assert [ask.key for ask in found.asks] == [f"round-1/ask/r{n}" for n in range(3)]
    (closed,) = found.told(events.RoundClosed.type)
    assert closed["counts"] == {"YES": 2, "NO": 1}
    assert closed["ballots"]["r2"] == {"answer": "NO", "reasons": ["risky"]}
    assert [a["reason"] for a in found.ended.numbers["arguments"]["YES"]] == ["fast", "cheap"]
    assert [(d.position, d.rationale) for d in found.ended.dissents] == [("NO", "risky")]
    assert found.ended.decided_by is not None
    assert found.ended.decided_by.record() == {
        "kind": "poll",
        "name": "binary",
        "scope": "One repository or several?",
    }


def test_nobody_sees_another_and_options_are_shuffled() -> None:
    options = tuple(f"option {number}" for number in range(8))
    given = [ranking(options)] * 6
    one, two = (held("ranking", *given, options=options) for _ in range(2))
    assert [a.variables for a in one.asks] == [a.variables for a in two.asks]
    assert len({tuple(ask.variables["options"]) for ask in one.asks}) == 6
    assert all(ask.variables["role"] == f"as {ask.who}" for ask in one.asks)


def test_excluded_ballots_are_named_with_their_reasons() -> None:
    given = [binary("YES"), binary("YES"), binary("NO"), INVALID, LATE]
    found = held("binary", *given).ended
    assert row(found) == decided("YES")
    assert (found.effective_participants, found.numbers["effective"]) == (3, 3)
    assert found.numbers["excluded"] == [
        {
            "participant": "r3",
            "status": "invalid",
            "reason": "There is no JSON object in the reply.",
        },
        {"participant": "r4", "status": "timeout", "reason": "No reply."},
    ]
    assert [d.names for d in found.degradation] == [("r3",), ("r4",)]
    assert found.numbers["ballots"]["r4"] is None


def test_shares_are_of_the_effective_ones() -> None:
    given: list[Given] = [recommend("Wait")] * 7 + [recommend("Go on")] * 2 + [LATE]
    found = held("recommendation", *given).ended
    assert found.numbers["groups"][0]["share"] == {
        "numerator": 7,
        "denominator": 9,
        "percent": 77.8,
    }


@pytest.mark.parametrize(
    "orders", [["XYZ", "YXZ", "ZXY", "ZYX"], ["XYZ", "YZX", "ZXY"], ["XY", "YX"] * 2]
)
def test_equal_points_are_a_tie(orders: list[str]) -> None:
    found = held("ranking", *(ranking(o) for o in orders), options=sorted(orders[0])).ended
    expected = NOBODY if len(found.numbers["leaders"]) > 1 else None
    assert row(found) == expected
    assert found.dissents == ()


def test_two_equally_large_groups_decide_nothing() -> None:
    found = held("recommendation", *[recommend("Wait", "Go on")] * 3).ended
    assert row(found) == NOBODY
    assert sorted(found.numbers["leaders"]) == ["Go on", "Wait"]


def test_no_group_at_seventy_per_cent_decides_nothing() -> None:
    given = [recommend("Wait")] * 2 + [recommend("Go on")]
    assert row(held("recommendation", *given).ended) == NOBODY


def test_scores_on_criteria_and_where_they_lie_apart() -> None:
    given = [
        scores(X={"cost": 10, "risk": 2}, Y={"cost": 5, "risk": 5}),
        scores(X={"cost": 10, "risk": 9}, Y={"cost": 6, "risk": 5}),
        scores(X={"cost": 1, "risk": 2}, Y={"cost": 5, "risk": 6}),
    ]
    found = held("scoring", *given, options=("X", "Y"), criteria=COST_AND_RISK).ended
    assert found.decision == "X"
    assert found.numbers["high_variance"] == ["X"]
    assert found.numbers["scores"]["Y"]["criteria"]["risk"]["n"] == 3
    assert [(d.participant, d.position) for d in found.dissents] == [("r2", "Y")]
    wide = held("scoring", *given, options=("X", "Y"), criteria=COST_AND_RISK, high_variance=9)
    assert wide.ended.numbers["high_variance"] == []


# --- grouping -----------------------------------------------------------------------------------


def grouped(group: Given) -> Held:
    given = [recommend("Wait"), recommend("Hold still"), recommend("Go on", "wait")]
    return held("recommendation", *given, group=group)


def test_the_secretary_says_which_belong_together() -> None:
    found = grouped('{"groups": [[0, 1, 3], [2]]}')
    assert row(found.ended) == decided("Wait", "synthesis")
    assert found.ended.numbers["method"] == "secretary"
    assert found.told(events.TallyComputed.type)[0]["method"] == "secretary"
    (ask,) = found.asked("secretary/group")
    assert (ask.office, ask.closing) == ("secretary", True)
    assert [(r["number"], r["title"]) for r in ask.variables["recommendations"]] == [
        (0, "Wait"),
        (1, "Hold still"),
        (2, "Go on"),
        (3, "wait"),
    ]
    assert found.ended.degradation == ()


@pytest.mark.parametrize("group", [BROKEN, LATE, '{"groups": [[0, 1]]}', "They are alike."])
def test_else_their_wording_does_and_the_record_says_so(group: Given) -> None:
    found = grouped(group).ended
    assert row(found) == NOBODY
    assert found.numbers["method"] == "similarity"
    assert [(g["title"], g["mentions"]) for g in found.numbers["groups"]] == [
        ("Wait", 2),
        ("Go on", 1),
        ("Hold still", 1),
    ]
    assert [d.kind for d in found.degradation] == ["grouped_by_wording"]
    assert found.degradation[0].detail


def test_without_a_valid_ballot_nobody_is_asked_to_group() -> None:
    assert held("recommendation", INVALID, INVALID, LATE).asked("secretary/group") == []


# --- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "limits", "expected"),
    [
        ([LATE, BROKEN, LATE], Limits(), (Result.FAILED, StopReason.AGENTS_UNAVAILABLE)),
        ([LATE, INVALID, LATE], Limits(), (Result.UNDECIDED, StopReason.COMPLETED)),
        ([REFUSED] * 3, Limits(), (Result.UNDECIDED, StopReason.COMPLETED)),
        ([SPENT] * 3, Limits(), (Result.UNDECIDED, StopReason.BUDGET)),
        ([OVER] * 3, Limits(), (Result.UNDECIDED, StopReason.DEADLINE)),
    ],
)
def test_without_a_valid_ballot_it_is_said_why(
    given: list[Given], limits: Limits, expected: tuple[object, ...]
) -> None:
    found = held("binary", *given, limits=limits).ended
    assert (found.result, found.stopped_by) == expected
    assert (found.numbers["effective"], len(found.numbers["excluded"])) == (0, 3)
    assert found.findings["baseline"] is None
    json.dumps(found.record())


@pytest.mark.parametrize("reason", [StopReason.DEADLINE, StopReason.CANCELLATION])
@pytest.mark.parametrize("step", ["round-1/ask/r0", "round-1/group"])
def test_stopped_before_any_step_it_ends_honestly(step: str, reason: StopReason) -> None:
    found = hold(
        polling("recommendation", 3),
        answers(*[recommend("Wait")] * 3),
        stop_before=step,
        stop=reason,
    ).ended
    expected = Result.CANCELLED if reason is StopReason.CANCELLATION else Result.UNDECIDED
    assert row(found) == (expected, Completeness.PARTIAL, reason, None, None, None)
    assert found.numbers["effective"] == (0 if step == "round-1/ask/r0" else 3)


# --- the completion gate ------------------------------------------------------------------------


def test_the_result_is_put_to_the_gate() -> None:
    meeting = polling("binary", 3, completion_gate=CompletionGate(min_completions=2))
    given = answers(binary("YES"), binary("YES"), binary("NO"))
    gate = [Close(GateStatus.CONSENSUS, ("r0", "r1"), {}, DUE)]
    found = hold(meeting, given, gate=gate)
    assert row(found.ended) == decided("YES")
    assert found.confirms[0].asks[0].variables["draft"] == "YES"
    wanting = hold(meeting, given, gate=[Revise((), {"r2": "no"}, DUE)]).ended
    assert (wanting.result, wanting.completeness) == (Result.DECIDED, Completeness.PARTIAL)
    assert [d.kind for d in wanting.degradation] == ["closed_incomplete"]
    alone = hold(meeting, given, gate=[Close(GateStatus.SINGLE, ("r0",), {}, DUE)]).ended
    assert [d.kind for d in alone.degradation] == ["single_agent_completion"]
    cut = hold(meeting, given, stop_before="gate-1", stop=StopReason.DEADLINE).ended
    assert (cut.result, cut.completeness) == (Result.DECIDED, Completeness.PARTIAL)
    assert [d.kind for d in cut.degradation] == ["not_confirmed"]


# --- beforehand ---------------------------------------------------------------------------------


def test_framings_cycle_and_usual_seats() -> None:
    assert FORMAT.perspectives("any", {}, 12) == (*FRAMINGS, *FRAMINGS[:2])
    assert FORMAT.usual_seats({}) == 10
    assert FORMAT.usual_seats({"output": "binary"}) == 5
    assert (FORMAT.fewest_seats, FORMAT.fills_roles) == (3, True)


def test_the_plan_is_one_pass_and_the_grouping() -> None:
    planned = FORMAT.plan(polling("recommendation", 10))
    assert [(p.template, p.at_most, p.office) for p in planned] == [
        ("poll/recommendation", 10, "participant"),
        ("secretary/group", 1, "secretary"),
    ]
    assert len(planned[1].variables["recommendations"]) == 30
    assert [p.template for p in FORMAT.plan(polling("ranking", options=XYZ))] == ["poll/ranking"]
    gated = replace(polling("binary", 5), completion_gate=CompletionGate())
    assert [p.template for p in FORMAT.plan(gated)] == ["poll/binary", "gate/confirm"]
