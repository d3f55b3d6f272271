"""The vote through its generator (PROTOCOLS 7 and 11): vectors, ladder, quorum, ends."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.ending.completion_gate import Close, GateStatus, Revise
from app.domain.meeting import events
from app.domain.meeting.meeting import CompletionGate, Limits
from app.domain.meeting.outcome import Completeness, Outcome, Result, StopReason
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from tests.formats.ballots import (
    ANSWERED,
    Given,
    casts,
    ranking,
    seats,
    vote,
    voting,
    weight,
)
from tests.formats.by_hand import OVER, Held, hold

A, B, C = vote("A"), vote("B"), vote("C")
LATE, BROKEN, SPENT = ReplyStatus.TIMEOUT, ReplyStatus.ERROR, ReplyStatus.BUDGET
REFUSED = ReplyStatus.REFUSED
DUE = datetime(2026, 1, 1, tzinfo=UTC)


def held(*rounds: list[Given], **fields: Any) -> Held:
    return hold(voting(**fields), casts(*rounds))


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


PASSED_A = (Result.DECIDED, Completeness.COMPLETE, StopReason.COMPLETED, "vote", "option", "A")
BY_EXPERT = (Result.DECIDED, Completeness.COMPLETE, StopReason.COMPLETED, "expert", "option", "A")
NOTHING = (Result.UNDECIDED, Completeness.COMPLETE, StopReason.THRESHOLD, None, None, None)
NO_QUORUM = (Result.UNDECIDED, Completeness.COMPLETE, StopReason.QUORUM, None, None, None)


def limit(reason: StopReason) -> tuple[object, ...]:
    return (Result.UNDECIDED, Completeness.PARTIAL, reason, None, None, None)


# --- vectors ------------------------------------------------------------------------------------

DATABASES = {
    "options": ("PostgreSQL", "DynamoDB", "MongoDB"),
    "protocol": "weighted",
    "threshold": 0.6,
    "resolution": ["expert"],
}
DATABASE_VOTES: list[Given] = [
    vote("PostgreSQL", 0.9),
    vote("PostgreSQL", "80%"),
    vote("DynamoDB", "7/10", rationale="scales by itself", mitigation="a load test first"),
]


def test_vector_weighted_database_vote_is_not_reached() -> None:
    seated = seats(ann=weight("2.0"), cy=weight("1.5"))
    found = held(DATABASE_VOTES, seats=seated, **DATABASES)
    assert row(found.ended) == NOTHING
    shares = found.ended.numbers["shares"]
    assert shares["PostgreSQL"] == {"numerator": 26, "denominator": 45, "percent": 57.8}
    assert shares["DynamoDB"]["percent"] == 23.3
    assert shares["MongoDB"]["percent"] == 0


def test_vector_expert_override_decides_it_and_keeps_the_dissent() -> None:
    seated = seats(ann=weight("2.0") | {"expert": True}, cy=weight("1.5"))
    ended = held(DATABASE_VOTES, seats=seated, **DATABASES).ended
    assert row(ended)[:5] == BY_EXPERT[:5]
    assert ended.decision == "PostgreSQL"
    assert ended.decided_by is not None
    assert (ended.decided_by.name, ended.decided_by.scope) == ("ann", "One repository or several?")
    (dissent,) = ended.dissents
    assert dissent.record() == {
        "participant": "cy",
        "position": "DynamoDB",
        "rationale": "scales by itself",
        "mitigation": "a load test first",
        "round": 1,
    }


@pytest.mark.parametrize(
    ("normalize", "percent", "passed"), [("expressed", 66.7, True), ("weight", 51.4, False)]
)
def test_vector_weighted_microservices(normalize: str, percent: float, passed: bool) -> None:
    found = held(
        [vote("Microservices", 0.8), vote("Monolith", 0.9), vote("Microservices", 0.6)],
        options=("Microservices", "Monolith"),
        seats=seats(ann=weight("1.5")),
        protocol="weighted",
        normalize=normalize,
        resolution=[],
    ).ended
    assert found.numbers["shares"]["Microservices"]["percent"] == percent
    assert found.decision == ("Microservices" if passed else None)


# --- one ballot ---------------------------------------------------------------------------------


def test_a_vote_that_passes_at_once() -> None:
    found = held([A, A, B])
    assert row(found.ended) == PASSED_A
    assert [ask.key for ask in found.asks] == [f"round-1/ask/{n}" for n in ("ann", "ben", "cy")]
    assert [note.content.type for note in found.notes] == [
        events.RoundStarted.type,
        events.TallyComputed.type,
        events.RoundClosed.type,
    ]
    assert found.ended.decided_by is not None
    assert found.ended.decided_by.name == "simple_majority"
    assert found.ended.effective_participants == 3
    assert found.ended.numbers["counts"] == {"A": 2, "B": 1, "C": 0, "ABSTAIN": 0}
    assert found.ended.numbers["ballots"]["cy"] == {"vote": "B"}


def test_what_a_closed_ballot_tells() -> None:
    found = held([A, vote("ABSTAIN"), LATE], resolution=[])
    (tally,) = found.told(events.TallyComputed.type)
    assert (tally["round"], tally["votes"]) == (1, {"A": 1, "B": 0, "C": 0})
    (closed,) = found.told(events.RoundClosed.type)
    assert closed["ballots"] == {"ann": {"vote": "A"}, "ben": {"vote": "ABSTAIN"}, "cy": None}
    assert (closed["consensus"], closed["effective_participants"]) == (None, 2)
    assert closed["progress"] == {"made": True, "reasons": ["first_round"]}


@pytest.mark.parametrize(
    ("protocol", "votes", "expected"),
    [
        ("simple_majority", [A, A, B], PASSED_A),
        ("simple_majority", [A, B, C], NOTHING),
        ("simple_majority", [A, A, B, B], NOTHING),
        ("simple_majority", [A, vote("ABSTAIN"), vote("ABSTAIN")], PASSED_A),
        ("simple_majority", [vote("ABSTAIN")] * 3, NOTHING),
        ("simple_majority", [A, LATE, BROKEN], NO_QUORUM),
        ("supermajority", [A, A, B], PASSED_A),
        ("supermajority", [A, A, A, B, B], NOTHING),
        ("supermajority", [A, A, LATE], NO_QUORUM),
        ("unanimous", [A, A, A], PASSED_A),
        ("unanimous", [A, A, B], NOTHING),
        ("unanimous", [A, A, LATE], NO_QUORUM),
        ("unanimous", [A, A, vote("ABSTAIN")], NO_QUORUM),
        ("weighted", [vote("A", 0.6)] * 3, PASSED_A),
        ("weighted", [vote("A", 0.59)] * 3, NOTHING),
    ],
)
def test_protocols(protocol: str, votes: list[Given], expected: tuple[object, ...]) -> None:
    found = held(votes, count=len(votes), protocol=protocol, resolution=[])
    assert row(found.ended) == expected


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (["ABC", "ABC", "BAC"], PASSED_A),
        (["ABC", "ABC", "BAC", "CAB"], PASSED_A),
        (["AB", "BA"], NOTHING),
        (["ABC", "BCA", "CAB"], NOTHING),
    ],
)
def test_a_ranked_vote(orders: list[str], expected: tuple[object, ...]) -> None:
    found = held(
        [ranking(order) for order in orders],
        options=tuple(sorted(orders[0])),
        count=len(orders),
        protocol="ranked",
        resolution=[],
    )
    assert row(found.ended) == expected
    assert {ask.template for ask in found.asks} == {"vote/ranking"}
    assert found.ended.numbers["run_off"]


def test_the_condorcet_note_stands_beside_a_run_off() -> None:
    orders = ["ABC"] * 4 + ["CBA"] * 3
    found = held([ranking(o) for o in orders], count=7, protocol="ranked", resolution=[]).ended
    assert (found.decision, found.numbers["condorcet"]) == ("A", "A")
    assert [dissent.position for dissent in found.dissents] == ["C", "C", "C"]


def test_an_integer_quorum_is_a_number_of_ballots_and_a_float_a_share() -> None:
    assert row(held([A, LATE, LATE], quorum=1).ended) == PASSED_A
    assert row(held([A, LATE, LATE], quorum=1.0).ended) == NO_QUORUM
    assert row(held([A, LATE, LATE], quorum=0.3).ended) == PASSED_A


def test_below_quorum_no_ladder_is_climbed() -> None:
    seated = seats(ann={"expert": True})
    found = held([vote("A", 1), LATE, REFUSED], seats=seated)
    assert row(found.ended) == NO_QUORUM
    assert found.ended.numbers["resolution"] == []
    assert [d.record()["names"] for d in found.ended.degradation] == [["ben"], ["cy"]]
    assert found.ended.findings["handoff"]["reason"] == "quorum"


def test_a_critical_vote_takes_no_abstention() -> None:
    found = held([A, A, vote("ABSTAIN")], critical=True).ended
    assert row(found) == NO_QUORUM
    assert found.numbers["reason"] == "abstention"
    (weak,) = found.degradation
    assert (weak.kind, weak.names) == ("abstention_not_accepted", ("cy",))
    assert found.effective_participants == 2


def test_an_invalid_ballot_is_a_seat_without_one() -> None:
    found = held([A, A, vote("Oracle")])
    assert row(found.ended) == PASSED_A
    assert found.ended.effective_participants == 2
    assert [d.record()["names"] for d in found.ended.degradation] == [["cy"]]
    assert found.ended.numbers["ballots"]["cy"] is None


def test_abstentions_are_kept_with_their_reasons() -> None:
    found = held([A, A, vote("ABSTAIN", rationale="not my field")]).ended
    assert found.dissents == ()
    assert found.findings["reservations"] == [
        {"participant": "cy", "position": "ABSTAIN", "rationale": "not my field"}
    ]


# --- the ladder ---------------------------------------------------------------------------------


def test_those_on_either_side_read_the_other_and_all_vote_again() -> None:
    again = vote("A", changed_because="the load is known")
    found = held([A, A, B, vote("C"), B], [A, A, again, A, B], count=5)
    assert row(found.ended) == PASSED_A
    talk = found.asked("vote/deliberate")
    assert [ask.who for ask in talk] == ["ann", "ben", "cy", "dan", "eve"]  # A and B lead together
    assert {shown["option"] for shown in found.ask("round-2/deliberate/dan").variables["others"]} \
        == {"A", "B"}  # fmt: skip
    assert found.ended.numbers["resolution"] == [
        {"step": "deliberate", "round": 2},
    ]
    assert found.ended.numbers["rounds"] == 2


def test_with_one_leader_only_the_others_answer() -> None:
    found = held([A, A, B, C], [A, A, A, C], count=4)
    assert row(found.ended) == PASSED_A
    assert [ask.who for ask in found.asked("vote/deliberate")] == ["cy", "dan"]
    shown = found.ask("round-2/deliberate/cy").variables
    assert {(o["label"], o["option"], o["rationale"]) for o in shown["others"]} == {
        ("Participant A", "A", "A is known"),
        ("Participant B", "A", "A is known"),
    }
    assert (shown["last_vote"], shown["last_rationale"]) == ("B", "B is known")


def test_those_with_the_leader_read_the_dissenters_and_their_answers() -> None:
    found = held([A, A, B, C], [A] * 4, count=4)
    with_leader = found.ask("round-2/ask/ann").variables
    assert {(o["option"], o["answer"]) for o in with_leader["others"]} == {
        ("B", ANSWERED),
        ("C", ANSWERED),
    }
    assert with_leader["own_answer"] == ""
    against = found.ask("round-2/ask/cy").variables
    assert {(o["option"], o["answer"]) for o in against["others"]} == {("A", "")}
    assert against["own_answer"] == ANSWERED


def test_nobody_sees_a_count_before_it_votes() -> None:
    found = held([A, A, B, C], [A] * 4, count=4)
    for ask in found.asks:
        written = json.dumps(ask.variables)
        for key in ("votes", "counts", "tally", "leader", "shares", "percent"):
            assert f'"{key}"' not in written


def test_options_and_others_come_in_another_order_for_everybody_and_always_the_same() -> None:
    options = [f"option {number}" for number in range(8)]
    votes: list[Given] = [vote(options[number % 3]) for number in range(7)]
    one, two = (held(votes, [vote(options[0])] * 7, options=options, count=7) for _ in range(2))
    assert [ask.variables for ask in one.asks] == [ask.variables for ask in two.asks]
    orders = {tuple(ask.variables["options"]) for ask in one.asks}
    assert len(orders) == 7
    assert all(sorted(order) == options for order in orders)


def test_flips_are_explained_or_flagged() -> None:
    changed = vote("A", changed_because="the load is known")
    found = held([A, A, B, C], [A, A, changed, A], count=4).ended.findings
    assert [(f["participant"], f["from"], f["to"], f["reason"]) for f in found["flips"]] == [
        ("cy", "B", "A", "the load is known"),
        ("dan", "C", "A", None),
    ]
    assert {f["direction"] for f in found["flips"]} == {"toward_majority"}
    assert found["unexplained_flips"] == 1
    assert (found["baseline"]["round"], found["baseline"]["votes"]) == (1, {"A": 2, "B": 1, "C": 1})
    assert (found["final"]["round"], found["final"]["counts"]["A"]) == (2, 4)


def test_a_sure_expert_may_also_settle_a_later_ballot() -> None:
    seated = seats("ann", "ben", ann={"expert": True})
    found = held([vote("A", 0.8), B], [vote("A", 0.9), B], options="AB", seats=seated).ended
    assert row(found) == BY_EXPERT
    assert [step["step"] for step in found.numbers["resolution"]] == [
        "expert",
        "deliberate",
        "expert",
    ]


def test_an_expert_that_comes_after_the_talk_is_not_asked_before_it() -> None:
    seated = seats("ann", "ben", ann={"expert": True})
    sure = vote("A", 0.9)
    found = held([sure, B], [sure, B], seats=seated, resolution=["deliberate", "expert"]).ended
    assert row(found) == BY_EXPERT
    assert found.numbers["resolution"] == [
        {"step": "deliberate", "round": 2},
        {"step": "expert", "round": 2, "experts": ["ann"]},
    ]


def test_experts_that_disagree_settle_nothing() -> None:
    seated = seats("ann", "ben", ann={"expert": True}, ben={"expert": True})
    votes: list[Given] = [vote("A", 0.9), vote("B", 0.95)]
    assert row(held(votes, seats=seated, resolution=["expert"]).ended) == NOTHING


def test_an_escalation_without_an_arbiter_ends_undecided_with_the_case_laid_out() -> None:
    undecided = held([A, B, vote("ABSTAIN")], [A, B, vote("ABSTAIN")]).ended
    assert row(undecided) == NOTHING
    case = undecided.findings["handoff"]
    assert (case["question"], case["escalated"]) == ("One repository or several?", True)
    assert case["choices"] == [{"id": o, "text": o} for o in "ABC"]
    assert case["options"][0] == {
        "option": "A",
        "pros": [
            {
                "participant": "ann",
                "option": "A",
                "rationale": "A is known",
                "mitigation": "a way back to A",
                "confidence": 0.7,
            }
        ],
        "cons": ["ben"],
    }
    assert case["options"][2] == {"option": "C", "pros": [], "cons": ["ann", "ben"]}
    assert undecided.numbers["resolution"][-1] == {"step": "escalate", "round": 2}


def test_a_tie_does_not_pass_and_is_named() -> None:
    found = held([A, A, B, B], count=4, resolution=[]).ended
    assert row(found) == NOTHING
    assert (found.numbers["reason"], found.numbers["tied"]) == ("tie", ["A", "B"])


def test_all_vote_again_as_often_as_was_fixed() -> None:
    split: list[Given] = [A, B, vote("ABSTAIN")]
    moved: list[Given] = [A, vote("ABSTAIN"), B]
    found = held(split, moved, [A, A, B], revotes=2)
    assert row(found.ended) == PASSED_A
    assert found.ended.numbers["rounds"] == 3
    assert [note.key for note in found.notes if note.content.type == events.RoundStarted.type] == [
        "round-1/start",
        "round-2/start",
        "round-3/start",
    ]


def test_silent_dissenters_are_named() -> None:
    def answer(ask: Ask) -> Given:
        return LATE if ask.template == "vote/deliberate" else (A if ask.who != "cy" else B)

    found = hold(voting(protocol="unanimous"), answer).ended
    assert row(found) == NOTHING
    (weak,) = found.degradation
    assert (weak.kind, weak.names, weak.rounds) == ("no_rebuttal", ("cy",), (2,))


def test_without_a_single_vote_there_is_nothing_to_talk_over() -> None:
    found = held([vote("ABSTAIN")] * 3)
    assert row(found.ended) == NOTHING
    assert found.asked("vote/deliberate") == []


# --- limits -------------------------------------------------------------------------------------


def test_the_limit_of_rounds_counts_ballots() -> None:
    found = held([A, B, C], rounds=1).ended
    assert row(found) == limit(StopReason.ROUNDS)


def test_the_same_split_twice_is_a_stalemate() -> None:
    split: list[Given] = [A, B, C]
    found = held(split, split, split, revotes=5, rounds=9)
    assert row(found.ended) == limit(StopReason.NO_PROGRESS)
    (stall,) = found.told(events.ProgressStalled.type)
    assert (stall["kind"], stall["round"]) == ("stalemate", 3)
    assert found.ended.findings["handoff"]["escalated"] is False


STEPS = ["round-1/ask/ann", "round-2/deliberate/cy", "round-2/ask/ann"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "reason", [StopReason.DEADLINE, StopReason.BUDGET, StopReason.CANCELLATION]
)
def test_stopped_before_any_step_it_ends_honestly(step: str, reason: StopReason) -> None:
    first: list[Given] = [A, A, B, C]
    found = hold(voting(count=4), casts(first, first), stop_before=step, stop=reason).ended
    expected = Result.CANCELLED if reason is StopReason.CANCELLATION else Result.UNDECIDED
    assert row(found) == (expected, Completeness.PARTIAL, reason, None, None, None)
    assert found.dissents == ()
    if step == STEPS[0]:
        assert found.numbers == {"participants": 4, "rounds": 0, "counts": None}
        assert "handoff" not in found.findings
    else:
        assert found.numbers["votes"] == {"A": 2, "B": 1, "C": 1}
        assert found.findings["baseline"]["round"] == found.findings["final"]["round"] == 1
    json.dumps(found.record())


@pytest.mark.parametrize(
    ("votes", "limits", "expected"),
    [
        ([LATE, BROKEN, LATE], Limits(), (Result.FAILED, StopReason.AGENTS_UNAVAILABLE)),
        ([LATE, REFUSED, LATE], Limits(), (Result.UNDECIDED, StopReason.QUORUM)),
        ([A, SPENT, SPENT], Limits(), (Result.UNDECIDED, StopReason.BUDGET)),
        ([OVER] * 3, Limits(), (Result.UNDECIDED, StopReason.DEADLINE)),
        ([A, OVER, SPENT], Limits(), (Result.UNDECIDED, StopReason.DEADLINE)),
    ],
)
def test_what_kept_the_ballots_out_is_named(
    votes: list[Given], limits: Limits, expected: tuple[object, ...]
) -> None:
    found = held(votes, limits=limits).ended
    assert (found.result, found.stopped_by) == expected


@pytest.mark.parametrize("missing", [SPENT, OVER])
def test_a_ballot_that_a_limit_kept_out_does_not_undo_the_vote_but_it_is_partial(
    missing: Given,
) -> None:
    assert row(held([A, A, missing]).ended) == (Result.DECIDED, Completeness.PARTIAL, *PASSED_A[2:])


# --- the completion gate ------------------------------------------------------------------------

GATED = CompletionGate(min_completions=2)


def closed(status: GateStatus, *by: str, **reasons: str) -> Close:
    return Close(status, by, reasons, DUE)


def test_the_result_is_put_to_the_gate() -> None:
    gate = [closed(GateStatus.CONSENSUS, "ann", "ben")]
    found = hold(voting(completion_gate=GATED), casts([A, A, B]), gate=gate)
    assert row(found.ended) == PASSED_A
    (confirm,) = found.confirms
    assert {ask.variables["draft"] for ask in confirm.asks} == {"A"}
    assert found.ended.completion is not None
    assert found.ended.completion["completed_by"] == ["ann", "ben"]
    assert found.ended.degradation == ()


def test_a_single_completion_is_a_weakness() -> None:
    gate = [closed(GateStatus.SINGLE, "ann")]
    found = hold(voting(completion_gate=GATED), casts([A, A, B]), gate=gate).ended
    assert row(found) == PASSED_A
    assert [(d.kind, d.names) for d in found.degradation] == [("single_agent_completion", ("ann",))]


def test_an_unconfirmed_result_stands_and_its_record_is_partial() -> None:
    # There is nothing to word anew, so the question is not put a second time.
    gate = [Revise(("ann",), {"cy": "B was not weighed"}, DUE)]
    found = hold(voting(completion_gate=GATED), casts([A, A, B]), gate=gate)
    assert row(found.ended) == (
        Result.DECIDED, Completeness.PARTIAL, StopReason.COMPLETED, "vote", "option", "A",
    )  # fmt: skip
    assert found.ended.completion is not None
    assert found.ended.completion["reasons"] == {"cy": "B was not weighed"}
    assert [d.kind for d in found.ended.degradation] == ["closed_incomplete"]


@pytest.mark.parametrize(
    ("reason", "result", "decision"),
    [
        (StopReason.DEADLINE, Result.DECIDED, "A"),
        (StopReason.CANCELLATION, Result.CANCELLED, None),
    ],
)
def test_stopped_while_it_is_being_confirmed(
    reason: StopReason, result: Result, decision: str | None
) -> None:
    found = hold(
        voting(completion_gate=GATED), casts([A, A, B]), stop_before="gate-1", stop=reason
    ).ended
    assert (found.result, found.decision) == (result, decision)
    assert found.completeness is Completeness.PARTIAL


def test_nothing_is_put_to_the_gate_when_nothing_was_decided() -> None:
    found = hold(voting(completion_gate=GATED, resolution=[]), casts([A, B, C]))
    assert (row(found.ended), found.confirms) == (NOTHING, [])
