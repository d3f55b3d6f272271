"""The review through its generator (PROTOCOLS 9 and 11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.ending.arbitration import Ruling
from app.domain.ending.completion_gate import Close, GateStatus
from app.domain.meeting import events
from app.domain.meeting.meeting import (
    Arbiter,
    CompletionGate,
    Criterion,
    Destination,
    Language,
    Limits,
    Material,
    Seat,
)
from app.domain.meeting.outcome import Completeness, Result, StopReason
from app.domain.replies.reading import ReplyStatus
from app.formats.review.story import FORMAT
from tests.formats.by_hand import Held, hold
from tests.formats.review.by_hand import (
    CRITERIA,
    MATERIALS,
    SEATS,
    judged,
    objection,
    review,
    rounds,
    written,
)
from tests.templates import render


def ended(*given: Any, **fields: Any) -> Held:
    return hold(review(**fields), rounds(*given))


def stall(held: Held) -> dict[str, Any]:
    (told,) = held.told(events.ProgressStalled.type)
    return dict(told)


# --- a round ------------------------------------------------------------------------------------


def test_one_round_is_the_author_and_then_the_critics() -> None:
    held = ended({})
    assert [(ask.who, ask.template) for ask in held.asks][:3] == [
        ("ann", "review/author"),
        ("ben", "review/critic"),
        ("cy", "review/critic"),
    ]
    author, critic = held.asks[:2]
    assert author.variables["materials"][0]["text"] == MATERIALS[0].text
    assert [c["id"] for c in author.variables["criteria"]] == ["c1", "c2"]
    assert critic.variables["draft"] == "The owner is Dee."
    # A mechanical criterion is not a critic's to judge.
    assert [c["id"] for c in critic.variables["criteria"]] == ["c2"]


def test_the_author_gets_what_is_open_and_a_critic_only_its_own() -> None:
    changes = [{"objection": "obj-1", "change": "four hours are named"}]
    held = ended(
        {"ben": judged(objection()), "cy": judged(objection("Nobody had the pager"))},
        {"ann": written("The owner is Dee. Four hours.", changes=changes)},
    )
    author = held.ask("round-2/ask/ann")
    assert [(o["id"], o["from"]) for o in author.variables["objections"]] == [
        ("obj-1", "Participant B"),
        ("obj-2", "Participant C"),
    ]
    assert author.variables["draft"] == "The owner is Dee."
    ben, cy = held.ask("round-2/ask/ben"), held.ask("round-2/ask/cy")
    assert [(o["id"], o["change"]) for o in ben.variables["own_objections"]] == [
        ("obj-1", "four hours are named")
    ]
    assert [(o["id"], o["change"]) for o in cy.variables["own_objections"]] == [("obj-2", "")]


def test_objections_are_told_as_they_are_raised_resolved_and_reopened() -> None:
    held = ended(
        {"ben": judged(objection())},
        {"ben": judged(closed=["obj-1"]), "cy": judged(objection("pager"))},
        {"ben": judged(objection(point="gone again"))},
        limits=Limits(rounds=3),
    )
    raised = held.told(events.ObjectionRaised.type)
    assert [(o["id"], o["critic"], o["round"], o["support"]) for o in raised] == [
        ("obj-1", "ben", 1, "supported"),
        ("obj-2", "cy", 2, "supported"),
    ]
    (resolved,) = held.told(events.ObjectionResolved.type)
    assert (resolved["id"], resolved["round"], resolved["state"]) == ("obj-1", 2, "closed")
    (reopened,) = held.told(events.ObjectionReopened.type)
    assert (reopened["id"], reopened["round"], reopened["reopened_in"]) == ("obj-1", 3, [3])


# --- complete -----------------------------------------------------------------------------------


def test_it_is_complete_when_required_criteria_pass_and_nothing_blocks() -> None:
    held = ended({"ben": judged(objection())}, {"ben": judged(closed=["obj-1"])})
    outcome = held.ended
    assert (outcome.result, outcome.stopped_by) == (Result.DECIDED, StopReason.COMPLETED)
    assert outcome.completeness is Completeness.COMPLETE
    assert (outcome.decision, outcome.decision_source) == ("The owner is Dee.", "draft")
    assert outcome.decided_by is not None
    assert outcome.decided_by.kind == "completion"
    assert outcome.synthesis is not None
    assert len(held.asked("review/author")) == 2
    assert outcome.record()["review"]["open_blocking"] == []


def test_all_agreed_alone_is_not_complete() -> None:
    """Every critic is content, but a required criterion fails by its mechanical check."""
    outcome = ended({"ann": written("Dee has it.")}, rounds=2).ended
    assert (outcome.result, outcome.stopped_by) == (Result.UNDECIDED, StopReason.ROUNDS)
    assert {c["id"]: c["result"] for c in outcome.numbers["criteria"]} == {
        "c1": "fail",
        "c2": "pass",
    }


def test_a_criterion_that_is_not_required_may_fail() -> None:
    optional = Criterion("c3", "is short", required=False, check={"max_chars": 3})
    outcome = ended({}, criteria=(*CRITERIA, optional)).ended
    assert outcome.result is Result.DECIDED
    assert outcome.numbers["criteria"][-1]["result"] == "fail"


def test_one_critic_s_fail_fails_a_criterion() -> None:
    outcome = ended({"cy": judged(criteria={"c2": "fail"})}, rounds=1).ended
    assert outcome.result is Result.UNDECIDED
    assert outcome.numbers["criteria"][1]["result"] == "fail"


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (objection(), Result.UNDECIDED),
        (objection("never said"), Result.DECIDED),
        (objection(""), Result.DECIDED),
        (objection(severity="minor"), Result.DECIDED),
        (objection(severity="preference"), Result.DECIDED),
    ],
)
def test_only_supported_blocking_objections_block(given: Any, result: Result) -> None:
    outcome = ended({"ben": judged(given)}, rounds=1).ended
    assert outcome.result is result
    # Whatever stayed open is kept with the condition that would have met it.
    (dissent,) = outcome.dissents
    assert (dissent.participant, dissent.rationale) == ("ben", "the duration is missing")
    assert (dissent.mitigation, dissent.round) == ("it says four hours", 1)


def test_a_critic_who_did_not_answer_is_not_taken_for_content() -> None:
    """Not even where code alone could say that every criterion passes."""
    mechanical = CRITERIA[:1]
    outcome = ended({"cy": ReplyStatus.TIMEOUT}, rounds=1, criteria=mechanical).ended
    assert (outcome.result, outcome.stopped_by) == (Result.UNDECIDED, StopReason.ROUNDS)
    assert outcome.degradation[0].names == ("cy",)
    heard = ended({"cy": ReplyStatus.TIMEOUT}, {}, criteria=mechanical).ended
    assert heard.result is Result.DECIDED


# --- stops --------------------------------------------------------------------------------------


def test_the_rounds_run_out() -> None:
    draft = [{"ann": written(f"The owner is Dee {n}."), "ben": _blocks(n)} for n in range(3)]
    outcome = ended(*draft, rounds=3).ended
    assert (outcome.result, outcome.stopped_by) == (Result.UNDECIDED, StopReason.ROUNDS)
    assert (outcome.decision, outcome.completeness) == (None, Completeness.PARTIAL)
    assert outcome.numbers["draft"] == "The owner is Dee 2."
    assert outcome.numbers["open_blocking"] == ["obj-1", "obj-2", "obj-3"]


def _blocks(number: int) -> str:
    return judged(objection(("The outage", "lasted", "pager")[number], point=f"p{number}"))


@pytest.mark.parametrize("severity", ["preference", "blocking"])
def test_the_same_split_is_a_stalemate(severity: str) -> None:
    split = judged(objection(severity=severity), criteria={"c2": "fail"})
    held = ended({"ben": split}, rounds=9)
    assert held.ended.stopped_by is StopReason.NO_PROGRESS
    assert stall(held) == {
        "kind": "stalemate",
        "round": 3,
        "rounds_without_progress": 2,
        "reopened": [],
        "waiting": [],
        "operation": None,
        "owner": None,
        "next_check_at": None,
    }


def test_a_closed_objection_that_comes_back_on_the_same_ground_is_circular() -> None:
    fails: dict[str, Any] = {"criteria": {"c2": "fail"}}
    held = ended(
        {"ben": judged(objection(), **fails)},
        {"ben": judged(closed=["obj-1"], **fails)},
        {"cy": judged(objection(point="again"), **fails), "ben": judged(**fails)},
        {"ben": judged(**fails), "cy": judged(**fails)},
        rounds=9,
    )
    told = stall(held)
    assert (told["kind"], told["round"], told["reopened"]) == ("circular", 4, ["obj-1"])


def test_a_draft_that_returns_to_an_earlier_text_is_circular() -> None:
    """The criteria's results change back with it, which is no progress."""
    one, two = written("The owner is Dee."), written("Dee has it.")
    fails = judged(criteria={"c2": "fail"})
    held = ended(*({"ann": text, "ben": fails} for text in (one, two, one, two)), rounds=9)
    told = stall(held)
    assert (told["kind"], told["round"]) == ("circular", 4)


def test_who_wait_for_each_other_stall_it() -> None:
    fails: dict[str, Any] = {"criteria": {"c2": "fail"}}
    held = ended(
        {
            "ann": written(waiting_for="Participant B"),
            "ben": judged(waiting_for=" ANN ", **fails),
            "cy": judged(waiting_for="the pager log"),
        },
        rounds=9,
    )
    told = stall(held)
    assert (told["kind"], told["waiting"]) == ("mutual_wait", ["ann", "ben"])


def test_waiting_for_an_input_is_no_mutual_wait() -> None:
    waiting = {"ann": written(waiting_for="the log"), "ben": judged(criteria={"c2": "fail"})}
    assert stall(ended(waiting, rounds=9))["kind"] == "stalemate"


def test_progress_is_what_was_closed_supported_or_judged_otherwise() -> None:
    held = ended(
        {"ben": judged(objection(), criteria={"c2": "fail"})},
        {"ben": judged(closed=["obj-1"]), "cy": judged(objection("pager"))},
        {"ann": written("The owner is Dee, at last."), "cy": judged(objection("never said"))},
        rounds=3,
    )
    reasons = [closed["progress"]["reasons"] for closed in held.told(events.RoundClosed.type)]
    assert reasons == [
        ["first_round"],
        ["objection_closed:obj-1", "new_evidence:obj-2", "criterion_changed:c2"],
        [],
    ]


def test_an_author_who_gives_no_draft_leaves_the_critics_nothing_to_judge() -> None:
    held = ended({"ann": "I would rather not."}, {})
    assert [ask.key for ask in held.asks][:3] == [
        "round-1/ask/ann",
        "round-2/ask/ann",
        "round-2/ask/ben",
    ]
    assert held.ended.result is Result.DECIDED
    assert held.ended.degradation[0].record()["rounds"] == [1]


def test_two_rounds_without_any_reply_mean_that_the_agents_are_unavailable() -> None:
    outcome = ended({"ann": ReplyStatus.ERROR}).ended
    assert (outcome.result, outcome.stopped_by) == (Result.FAILED, StopReason.AGENTS_UNAVAILABLE)
    assert outcome.synthesis is None


@pytest.mark.parametrize("stop", [StopReason.DEADLINE, StopReason.BUDGET, StopReason.CANCELLATION])
@pytest.mark.parametrize("key", ["round-1/ask/ann", "round-1/ask/ben", "round-2/ask/ann"])
def test_a_stop_wherever_it_stands_decides_nothing_and_keeps_the_draft(
    stop: StopReason, key: str
) -> None:
    answer = rounds({"ben": judged(objection())})
    outcome = hold(review(), answer, stop_before=key, stop=stop).ended
    assert (outcome.stopped_by, outcome.decision) == (stop, None)
    assert outcome.completeness is Completeness.PARTIAL
    drafted = None if key == "round-1/ask/ann" else "The owner is Dee."
    assert outcome.numbers["draft"] == drafted


def test_a_gate_that_does_not_close_leaves_the_decision_and_makes_the_record_partial() -> None:
    incomplete = Close(GateStatus.INCOMPLETE, (), {"cy": "costs"}, datetime(2026, 1, 1, tzinfo=UTC))
    outcome = hold(review(completion_gate=CompletionGate()), rounds({}), gate=(incomplete,)).ended
    assert (outcome.result, outcome.completeness) == (Result.DECIDED, Completeness.PARTIAL)
    assert outcome.completion is not None
    assert outcome.completion["reasons"] == {"cy": "costs"}


# --- the record ---------------------------------------------------------------------------------


def test_the_first_and_the_last_round_stand_side_by_side() -> None:
    held = ended(
        {"ben": judged(objection(), objection("x"))},
        {"ben": judged(closed=["obj-1"])},
    )
    findings = held.ended.findings
    assert findings["baseline"]["open_objections"] == {
        "blocking": 1, "minor": 0, "preference": 0, "unsupported": 1,
    }  # fmt: skip
    assert findings["final"] == {
        "round": 2,
        "criteria": {"c1": "pass", "c2": "pass"},
        "open_objections": {"blocking": 0, "minor": 0, "preference": 0, "unsupported": 1},
    }


@pytest.mark.parametrize("language", ["en", "ja"])
def test_prompts_ask_for_the_shapes(language: Language) -> None:
    held = hold(
        review(language=language),
        rounds({"ben": judged(objection(), objection("never said", point="q"))}, {}),
    )
    author = held.ask("round-2/ask/ann")
    user = render(author.template, language, author.variables).user
    for key in ("draft", "changes", "open", "waiting_for"):
        assert f'"{key}"' in user
    assert '<material id="m1" version="1">' in user
    assert "never said" in user
    assert '"obj-1"' in user
    critic = held.ask("round-2/ask/ben")
    user = render(critic.template, language, critic.variables).user
    for key in ("objections", "closed", "criteria", "waiting_for", "severity", "resolves_when"):
        assert f'"{key}"' in user
    assert '{"c2": "pass"}' in user
    assert "c1" not in user
    assert '"Participant A"' in user or '"参加者 A"' in user


# --- what is refused ----------------------------------------------------------------------------


def faults(**fields: Any) -> dict[str, str]:
    return {fault.pointer: fault.detail for fault in FORMAT.faults(review(**fields))}


def test_a_proper_review_has_no_faults() -> None:
    assert faults() == {}


def test_a_review_has_one_author_and_critics() -> None:
    author, critic, _ = SEATS
    assert faults(seats=(author, replace(critic, role="author"), critic)).keys() == {
        "#/participants/1/role"
    }
    assert faults(seats=(critic, replace(critic, name="x"))).keys() == {"#/participants/0/role"}
    assert faults(seats=(author, Seat("dee", "editor", "default"), critic)).keys() == {
        "#/participants/1/role"
    }
    assert faults(seats=(author, Seat("dee", "", "default"))).keys() == {"#/participants/1/role"}
    assert "#/participants/1/role" in faults(seats=(author, replace(author, name="x")))


def test_ids_are_unique_and_checks_can_be_run() -> None:
    again = (MATERIALS[0], Material("M1 ", "2", "x"))
    assert faults(materials=again).keys() == {"#/materials/1/id"}
    criteria = (
        Criterion("c1", "x", check={"regex": "(a+)+"}),
        Criterion("C1", "y"),
        Criterion("c2", "z", check={"max_chars": 0}),
    )
    assert faults(criteria=criteria).keys() == {
        "#/criteria/0/check",
        "#/criteria/1/id",
        "#/criteria/2/check",
    }


def test_open_seats_are_an_author_and_critics() -> None:
    keys = FORMAT.perspectives("", {}, 6)
    assert keys == ("author", "evidence", "reader", "risk", "omission", "evidence")


# --- saving ------------------------------------------------------------------------------------


PLACE = Destination("https://wiki.example/a.md")


def test_what_passed_is_saved_as_it_is() -> None:
    held = hold(review(destination=PLACE), rounds({}))
    (save,) = held.saves
    assert (save.key, save.content) == ("save", held.ended.decision)
    assert held.ended.completeness is Completeness.COMPLETE
    assert held.ended.numbers["operation"]["state"] == "confirmed"
    assert held.ended.numbers["external_wait"] is None


@pytest.mark.parametrize("saved", ["requested", "unknown", "failed", "handed_over"])
def test_a_save_that_is_not_confirmed_leaves_the_decision_partial(saved: str) -> None:
    outcome = hold(review(destination=PLACE), rounds({}), saved=saved).ended
    assert (outcome.result, outcome.completeness) == (Result.DECIDED, Completeness.PARTIAL)
    assert (outcome.stopped_by, outcome.decision_source) == (StopReason.COMPLETED, "draft")
    assert outcome.numbers["operation"]["state"] == saved
    assert (outcome.numbers["external_wait"] is not None) == (saved == "handed_over")


def test_without_a_destination_nothing_is_saved_or_said_of_it() -> None:
    held = hold(review(), rounds({}))
    assert held.saves == []
    assert "operation" not in held.ended.numbers


def test_what_did_not_pass_is_not_saved() -> None:
    ben = judged(criteria={"c2": "fail"})
    held = hold(review(destination=PLACE, rounds=1), rounds({"ben": ben}))
    assert held.saves == []
    assert held.ended.numbers["operation"] is None


@pytest.mark.parametrize(("choice", "saves"), [("accept", 1), ("reject", 0)])
def test_a_draft_that_was_accepted_by_a_ruling_is_saved(choice: str, saves: int) -> None:
    meeting = review(destination=PLACE, rounds=1, arbiter=Arbiter("human"))
    asked = rounds({"ben": judged(objection())})
    held = hold(meeting, asked, ruling=Ruling(choice, "r", "Ann", None), saved="unknown")
    assert len(held.saves) == saves
    assert held.ended.stopped_by is StopReason.RULING
    expected = Completeness.PARTIAL if saves else Completeness.COMPLETE
    assert held.ended.completeness is expected


def test_a_cancel_before_the_save_ends_the_review_cancelled() -> None:
    meeting = review(destination=PLACE)
    held = hold(meeting, rounds({}), stop_before="save", stop=StopReason.CANCELLATION)
    assert held.ended.stopped_by is StopReason.CANCELLATION
    assert held.ended.decision is None
    assert held.asked("review/synthesis") == []
