"""What each format puts to an arbiter, and what it ends as (PROTOCOLS 7, 8, 9, 11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.ending.arbitration import OutOfScope, Ruling, RulingReading, chosen
from app.domain.ending.completion_gate import Close, GateStatus
from app.domain.meeting.meeting import ARBITER, Arbiter, CompletionGate, Language, Limits, Meeting
from app.domain.meeting.outcome import Completeness, Outcome, Result, StopReason, first_to_count
from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import ReplyStatus
from app.formats import FORMATS
from tests.formats.ballots import Given, casts, polling, seats, vote, voting
from tests.formats.by_hand import Held, hold, meeting
from tests.formats.council.test_story import answers, council
from tests.formats.review.by_hand import judged, objection, review, rounds, written
from tests.templates import render

PERSON = Arbiter("human", name="Ann Lee")
JUDGE = Arbiter("agent", "judge")
DUE = datetime(2026, 1, 1, tzinfo=UTC)
A, B, ABSTAINED = vote("A"), vote("B"), vote("ABSTAIN")
SPLIT: list[Given] = [A, B, ABSTAINED]
WANTING = Close(GateStatus.INCOMPLETE, ("ann",), {"ben": "It omits the cost."}, DUE)

RULED = (Result.DECIDED, Completeness.COMPLETE, StopReason.RULING, "ruling", "ruling")
EXPIRED = (Result.UNDECIDED, Completeness.COMPLETE, StopReason.RULING_EXPIRED, None, None)


def ruling(choice: str, conditions: str | None = None) -> Ruling:
    return Ruling(choice, "It can be undone.", "Ann Lee", conditions)


def row(outcome: Outcome) -> tuple[object, ...]:
    by = None if outcome.decided_by is None else outcome.decided_by.kind
    return (
        outcome.result,
        outcome.completeness,
        outcome.stopped_by,
        by,
        outcome.decision_source,
    )


def ids(held: Held) -> list[str]:
    (question,) = held.questions
    return [choice.id for choice in question.choices]


# --- the vote -----------------------------------------------------------------------------------


def votes(*ballots: list[Given], ruled: Ruling | None = None, **fields: Any) -> Held:
    return hold(voting(**{"arbiter": PERSON, **fields}), casts(*ballots), ruling=ruled)


def test_the_ladders_last_step_puts_every_option_to_the_arbiter() -> None:
    held = votes(SPLIT, SPLIT, ruled=ruling("C", "for one year"))
    (question,) = held.questions
    assert [choice.record() for choice in question.choices] == [
        {"id": option, "text": option} for option in "ABC"
    ]
    assert question.question == question.scope == "One repository or several?"
    assert question.variables["excerpts"][0] == {
        "label": "Participant A",
        "text": "A\nA is known\na way back to A",
    }
    ended = held.ended
    assert row(ended) == RULED
    assert ended.decision == "C"
    assert ended.decided_by is not None
    assert ended.decided_by.record() == {
        "kind": "ruling",
        "name": "Ann Lee",
        "scope": "One repository or several?",
    }
    assert ended.ruling == ruling("C", "for one year")
    assert "handoff" not in ended.findings
    assert ended.numbers["resolution"] == [
        {"step": "deliberate", "round": 2},
        {"step": "escalate", "round": 2, "to": "Ann Lee"},
    ]
    assert ended.numbers["passed"] is None  # a ruling is no count


def test_who_voted_otherwise_dissents_with_reason_and_mitigation() -> None:
    ended = votes(SPLIT, SPLIT, ruled=ruling("A")).ended
    (dissent,) = ended.dissents
    assert (dissent.participant, dissent.position) == ("ben", "B")
    assert (dissent.rationale, dissent.mitigation) == ("B is known", "a way back to B")
    assert [each["participant"] for each in ended.findings["reservations"]] == ["cy"]


def test_without_a_ruling_in_time_the_case_is_handed_on() -> None:
    ended = votes(SPLIT, SPLIT).ended
    assert row(ended) == EXPIRED
    assert ended.findings["handoff"]["escalated"] is True


@pytest.mark.parametrize("resolution", [[], ["expert"], ["expert", "deliberate"]])
def test_a_ladder_without_that_step_is_not_made_longer(resolution: list[str]) -> None:
    held = votes(SPLIT, SPLIT, resolution=resolution)
    assert not held.questions
    assert held.ended.stopped_by is StopReason.THRESHOLD


def test_the_ladder_is_climbed_in_order_before_anybody_is_asked_to_rule() -> None:
    expert = seats("ann", "ben", "cy", ann={"expert": True})
    held = votes([vote("A", 0.9), B, ABSTAINED], seats=expert)
    assert not held.questions
    assert held.ended.decided_by is not None
    assert held.ended.decided_by.kind == "expert"
    assert not votes(SPLIT, [A, A, B]).questions


@pytest.mark.parametrize(
    ("ballots", "fields"),
    [
        ([A, ReplyStatus.REFUSED, ReplyStatus.REFUSED], {}),
        ([A, A, ABSTAINED], {"critical": True}),
        ([A, A, ABSTAINED], {"protocol": "unanimous"}),
    ],
)
def test_below_quorum_the_arbiter_decides_at_once(
    ballots: list[Given], fields: dict[str, Any]
) -> None:
    held = votes(ballots, ruled=ruling("B"), **fields)
    assert ids(held) == ["A", "B", "C"]
    assert row(held.ended) == RULED
    assert held.ended.numbers["resolution"] == []
    without = votes(ballots, arbiter=None, **fields)
    assert without.ended.stopped_by is StopReason.QUORUM


@pytest.mark.parametrize(
    ("ballots", "stop"),
    [
        ([ReplyStatus.ERROR] * 3, StopReason.AGENTS_UNAVAILABLE),
        ([A, ReplyStatus.BUDGET, ReplyStatus.BUDGET], StopReason.BUDGET),
    ],
)
def test_what_a_limit_ended_is_put_to_nobody(ballots: list[Given], stop: StopReason) -> None:
    held = votes(ballots)
    assert not held.questions
    assert held.ended.stopped_by is stop


def test_rounds_that_run_out_before_the_talk_are_put_to_the_arbiter() -> None:
    held = votes(SPLIT, ruled=ruling("A"), limits=Limits(rounds=1))
    assert row(held.ended) == RULED


@pytest.mark.parametrize("stop", [StopReason.CANCELLATION, StopReason.BUDGET, StopReason.DEADLINE])
def test_a_question_that_is_stopped_leaves_the_vote_undecided(stop: StopReason) -> None:
    fields = voting(arbiter=PERSON)
    held = hold(fields, casts(SPLIT, SPLIT), stop_before="arbitration", stop=stop)
    assert held.ended.stopped_by is stop
    assert held.ended.decision is None


def test_a_ruling_stands_whatever_the_gate_says() -> None:
    gated = voting(arbiter=PERSON, completion_gate=CompletionGate())
    held = hold(gated, casts(SPLIT, SPLIT), ruling=ruling("A"), gate=[WANTING])
    ended = held.ended
    assert (ended.decision, ended.stopped_by) == ("A", StopReason.RULING)
    assert ended.completeness is Completeness.PARTIAL
    assert first_to_count((StopReason.DEADLINE, StopReason.RULING)) is StopReason.RULING


# --- the poll -----------------------------------------------------------------------------------


def test_a_poll_is_put_to_nobody() -> None:
    tied = ['{"ranking": ["X", "Y"], "confidence": 0.5}', '{"ranking": ["Y", "X"]}'] * 2
    meeting = polling("ranking", 4, options=("X", "Y"), arbiter=PERSON)
    held = hold(meeting, lambda ask: tied[int(ask.who[1:])])
    assert not held.questions
    assert held.ended.stopped_by is StopReason.COMPLETED


# --- the council --------------------------------------------------------------------------------


def ruled_council(ruled: Ruling | None, gate: Any = (WANTING,), **fields: Any) -> Held:
    meeting = council(**{"arbiter": PERSON, **fields})
    return hold(meeting, answers(), gate=gate, ruling=ruled)


def test_a_synthesis_that_the_members_do_not_confirm_stands_or_falls_with_the_arbiter() -> None:
    held = ruled_council(ruling("accept"))
    (question,) = held.questions
    assert [choice.record() for choice in question.choices] == [
        {"id": "accept", "text": "Do it."},
        {"id": "reject", "text": "reject: Do it."},
    ]
    assert question.variables["excerpts"][1]["text"] == "It omits the cost."
    assert row(held.ended) == RULED
    assert held.ended.decision == "Do it."
    assert [d.participant for d in held.ended.dissents] == ["ben"]
    # The record still says first that it was not confirmed.
    assert [part.kind for part in held.ended.degradation] == ["closed_incomplete"]


def test_a_synthesis_that_is_rejected_was_held_complete_by_who_dissents_then() -> None:
    ended = ruled_council(ruling("reject")).ended
    assert row(ended) == RULED
    assert ended.decision == "reject: Do it."
    assert [(d.participant, d.position) for d in ended.dissents] == [("ann", "complete")]


def test_no_ruling_leaves_a_council_undecided() -> None:
    assert row(ruled_council(None).ended) == EXPIRED


def test_a_council_that_confirms_is_put_to_nobody() -> None:
    closed = Close(GateStatus.CONSENSUS, ("ann", "ben"), {}, DUE)
    held = ruled_council(None, gate=(closed,))
    assert not held.questions
    assert held.ended.decided_by is not None
    assert held.ended.decided_by.kind == "chair"


def test_a_council_without_an_arbiter_closes_incomplete_as_before() -> None:
    ended = ruled_council(None, arbiter=None).ended
    assert (ended.stopped_by, ended.completeness) == (StopReason.COMPLETED, Completeness.PARTIAL)


# --- the review ---------------------------------------------------------------------------------

BLOCKED = {"ben": judged(objection())}
FAILING = {"ann": written("Nobody is named."), "ben": judged(objection())}


def ruled_review(said: dict[str, Any], ruled: Ruling | None, **fields: Any) -> Held:
    meeting = review(**{"arbiter": PERSON, "rounds": 1, **fields})
    return hold(meeting, rounds(said), ruling=ruled)


def test_a_draft_that_is_blocked_may_be_accepted_where_its_criteria_pass() -> None:
    held = ruled_review(BLOCKED, ruling("accept", "Say the duration."))
    (question,) = held.questions
    assert [choice.barred_by for choice in question.choices] == [(), ()]
    labels = [excerpt["label"] for excerpt in question.variables["excerpts"]]
    assert labels == ["Participant A", "criteria", "Participant B"]
    ended = held.ended
    assert row(ended) == RULED
    assert ended.decision == "The owner is Dee."
    assert [d.participant for d in ended.dissents] == ["ben"]


def test_a_rejected_draft_is_no_deliverable() -> None:
    ended = ruled_review(BLOCKED, ruling("reject")).ended
    assert row(ended) == RULED
    assert ended.decision == "reject: The owner is Dee."
    assert ended.numbers["draft"] == "The owner is Dee."


def test_a_required_criterion_cannot_be_dropped() -> None:
    held = ruled_review(FAILING, ruling("reject"))
    (question,) = held.questions
    accept, reject = question.choices
    assert (accept.id, accept.barred_by) == ("accept", ("c1",))
    assert accept.record()["barred_by"] == ["c1"]
    assert "barred_by" not in reject.record()
    with pytest.raises(OutOfScope, match="required and does not pass: c1"):
        chosen(question.choices, "accept")
    with pytest.raises(OutOfScope, match="offered: reject"):
        chosen(question.choices, "postpone")
    read = RulingReading(question.choices).read('{"choice": "accept", "reason": "fine"}')
    assert read.fault == Message.of(Code.CHOICE_BARRED, value="accept", criteria=("c1",))


def test_a_criterion_that_nobody_judged_is_open_and_bars_too() -> None:
    said = {"ben": ReplyStatus.TIMEOUT, "cy": judged()}
    (question,) = ruled_review(said, None).questions
    assert question.choices[0].barred_by == ("c2",)


def test_a_stall_of_a_review_is_put_to_the_arbiter() -> None:
    held = ruled_review(
        BLOCKED, ruling("accept"), limits=Limits(rounds=5, no_progress_rounds=1), rounds=5
    )
    assert len(held.questions) == 1
    assert row(held.ended) == RULED


def test_a_review_that_is_complete_or_never_had_a_draft_is_put_to_nobody() -> None:
    assert not ruled_review({}, None).questions
    silent = ruled_review({"ann": ReplyStatus.TIMEOUT}, None)
    assert not silent.questions


def test_no_ruling_leaves_a_review_undecided() -> None:
    assert row(ruled_review(BLOCKED, None).ended) == EXPIRED


# --- what it may cost ---------------------------------------------------------------------------


def any_meeting(format_: str, **fields: Any) -> Meeting:
    made = {
        "vote": voting,
        "review": review,
        "council": council,
        "poll": lambda **given: polling("ranking", options=("X", "Y"), **given),
    }.get(format_)
    if made is not None:
        return made(**fields)
    return replace(voting(**fields), format=format_)


@pytest.mark.parametrize("format_", sorted(FORMATS))
@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_agents_ruling_is_planned(format_: str, language: Language) -> None:
    asks = FORMATS[format_].plan(any_meeting(format_, arbiter=JUDGE, language=language))
    rules = [ask for ask in asks if ask.template == "arbiter/rule"]
    assert len(rules) == (format_ != "poll")
    for ask in rules:
        assert (ask.usually, ask.at_most, ask.office) == (0, 1, ARBITER)
        assert render(ask.template, language, ask.variables).user
    people = FORMATS[format_].plan(any_meeting(format_, arbiter=PERSON, language=language))
    assert not any(ask.template == "arbiter/rule" for ask in people)


def test_the_largest_question_is_no_larger_than_planned() -> None:
    long = written("責" * 11_000 + " owner")
    said = {"ann": long, "ben": judged(*[objection(point="長" * 1_500)] * 10)}
    meeting = review(arbiter=JUDGE, rounds=1)
    (question,) = hold(meeting, rounds(said)).questions
    (planned,) = [a for a in FORMATS["review"].plan(meeting) if a.template == "arbiter/rule"]
    asked = {
        **question.variables,
        "question": question.question,
        "choices": [choice.record() for choice in question.choices],
        "scope": question.scope,
    }
    real = render("arbiter/rule", "ja", asked).user
    assert len(real.encode()) <= len(render("arbiter/rule", "ja", planned.variables).user.encode())
    assert "外すことになる" in render("arbiter/rule", "ja", planned.variables).user


# --- in the meeting's language ------------------------------------------------------------------


def rejected(format_: str, language: Language) -> Held:
    """A meeting of that format whose arbiter turns down what it came to."""
    fields: dict[str, Any] = {"language": language}
    if format_ == "council":
        return ruled_council(ruling("reject"), **fields)
    if format_ == "review":
        return ruled_review(BLOCKED, ruling("reject"), **fields)
    split = meeting(format_, rounds=1, arbiter=PERSON, motion="Do it.", **fields)
    return hold(split, lambda _: "No. [STANCE: DISAGREE]", ruling=ruling("reject"))


@pytest.mark.parametrize("format_", ["roundtable", "council", "review"])
@pytest.mark.parametrize(("language", "words"), [("en", "reject: "), ("ja", "却下：")])
def test_a_rejection_reads_in_the_meetings_language(
    format_: str, language: Language, words: str
) -> None:
    held = rejected(format_, language)
    (question,) = held.questions
    kept, dropped = question.choices
    assert (dropped.id, dropped.text) == ("reject", words + kept.text)
    assert held.ended.decision == dropped.text
