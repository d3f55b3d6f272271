"""Every format goes on after a resuming (PROTOCOLS 12): numbering, limits, what is asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.ending.arbitration import Ruling
from app.domain.ending.completion_gate import Close, GateStatus
from app.domain.meeting import events
from app.domain.meeting.meeting import (
    Arbiter,
    CompletionGate,
    Destination,
    Language,
    Limits,
    Material,
    Meeting,
)
from app.domain.meeting.outcome import Result, StopReason
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from tests.formats.ballots import answers as poll_answers
from tests.formats.ballots import casts, polling, ranking, vote, voting
from tests.formats.by_hand import OVER, Answer, Held, hold, meeting
from tests.formats.council.test_story import answers as members
from tests.formats.council.test_story import council
from tests.formats.debate.test_story import debaters
from tests.formats.legs import Course, rounds_asked
from tests.formats.review.by_hand import MATERIALS, judged, objection, review, rounds
from tests.formats.roundtable.test_story import table
from tests.templates import render

DUE = datetime(2026, 1, 1, tzinfo=UTC)
CLOSED = Close(GateStatus.CONSENSUS, ("ann", "ben"), {}, DUE)
OPEN = Close(GateStatus.INCOMPLETE, (), {"cy": "costs"}, DUE)
PERSON = Arbiter("human", name="Dana")
MANY = Limits(rounds=9)
SPENT, LOST = ReplyStatus.BUDGET, ReplyStatus.ERROR


def until(last: int, early: str | ReplyStatus, then: Answer) -> Answer:
    """Everybody says the same up to a round, and after it speaks for itself; offices always do."""

    def answer(ask: Ask) -> str | ReplyStatus:
        participant = ask.office == "participant"
        return early if participant and ask.round <= last else then(ask)

    return answer


def ballots(*given: list[Any]) -> Answer:
    """A poll's passes, each in the order of seats."""
    return lambda ask: poll_answers(*given[ask.round - 1])(ask)


@dataclass(frozen=True)
class Play:
    """A meeting that decides, with several rounds where its format has them."""

    meeting: Meeting
    answer: Answer
    gate: tuple[Close, ...] = ()


A, B, C = vote("A"), vote("B"), vote("C")
XYZ, YZX, ZXY = ranking("XYZ"), ranking("YZX"), ranking("ZXY")
GATE: dict[str, Any] = {"completion_gate": CompletionGate()}
PLAYS: Mapping[str, Play] = {
    "roundtable": Play(meeting("roundtable", **GATE), table("DAN", "AND", "AAA"), (CLOSED,)),
    "debate": Play(meeting("debate"), debaters("A7 B8 C9", "B9 B9 B8")),
    "rolling": Play(
        meeting("debate", rules={"history": "rolling"}),
        debaters("A7 B8 C9", "B9 B9 B8"),
    ),
    "vote": Play(voting(**GATE), casts([A, B, C], [A, A, C]), (CLOSED,)),
    "poll": Play(polling("ranking", options="XYZ", **GATE), ballots([XYZ, XYZ, YZX]), (CLOSED,)),
    "recommendation": Play(
        polling("recommendation"),
        poll_answers(
            *['{"recommendations": [{"title": "wait", "confidence": 6, "why": "x"}]}'] * 3,
            group='{"groups": [[0, 1, 2]]}',
        ),
    ),
    "council": Play(council(), members(), (CLOSED,)),
    "review": Play(
        review(),
        rounds({"ben": judged(objection())}, {"ben": judged(closed=["obj-1"])}),
    ),
    "saved": Play(review(destination=Destination("https://example.org/x")), rounds({})),
}


# --- interrupted --------------------------------------------------------------------------------


def _places() -> Iterator[Any]:
    for name, play in PLAYS.items():
        whole = hold(play.meeting, play.answer, gate=play.gate)
        for key in (*whole.steps, *(save.key for save in whole.saves)):
            yield pytest.param(name, {"stop_before": key}, id=f"{name}-before-{key}")
        for ask in whole.asks:
            yield pytest.param(name, {"cut": ask.key}, id=f"{name}-at-{ask.key}")


@pytest.mark.parametrize(("name", "place"), [*_places()])
def test_cancelled_anywhere_and_resumed_it_comes_to_the_same_end(
    name: str, place: dict[str, Any]
) -> None:
    play = PLAYS[name]
    whole = hold(play.meeting, play.answer, gate=play.gate)
    course = Course(play.meeting)
    first = course.hold(play.answer, **place, gate=play.gate)
    assert first.ended.stopped_by is StopReason.CANCELLATION
    second = course.resume().hold(play.answer, gate=play.gate)
    assert second.ended == whole.ended
    talk = [ask.key for leg in course.legs for ask in leg.asks if ask.key.startswith("round-")]
    assert sorted(talk) == sorted(a.key for a in whole.asks if a.key.startswith("round-"))


# --- ended by a limit ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """A meeting that a limit ended after so many rounds, and how it decides once it goes on."""

    meeting: Meeting
    answer: Answer
    stop: StopReason
    after: int
    raised: Mapping[str, Any] = field(default_factory=dict[str, Any])
    decides_in: int = 0
    gate: tuple[Close, ...] = ()


IDLE: dict[str, Any] = {"limits": MANY}
PASSES = rounds({"ben": judged(objection())}, {"ben": judged(closed=["obj-1"])})
ENDED: Mapping[str, Ended] = {
    "roundtable-rounds": Ended(
        meeting("roundtable", rounds=2),
        table("DAN", "NDA", "AAA"),
        StopReason.ROUNDS, 2, {"rounds": 3}, 3,
    ),
    "roundtable-no-progress": Ended(
        meeting("roundtable", **IDLE),
        table("DAN", "DAN", "DAN", "DAN", "AAA"),
        StopReason.NO_PROGRESS, 3, {}, 5,
    ),
    "roundtable-silence": Ended(
        meeting("roundtable", **IDLE),
        table("TTT", "TTT", "TTT", "AAA"),
        StopReason.AGENTS_UNAVAILABLE, 2, {}, 4,
    ),
    "roundtable-deadline": Ended(
        meeting("roundtable"),
        until(1, OVER, table("", "AAA")),
        StopReason.DEADLINE, 1, {"seconds": 900.0}, 2,
    ),
    "roundtable-budget": Ended(
        meeting("roundtable"),
        until(1, SPENT, table("", "AAA")),
        StopReason.BUDGET, 1, {"tokens": 9_000}, 2,
    ),
    "debate-rounds": Ended(
        meeting("debate", rounds=2),
        debaters("A7 B8 C9", "B9 B9 B9"),
        StopReason.ROUNDS, 2, {"rounds": 3}, 3,
    ),
    "debate-no-progress": Ended(
        meeting("debate", **IDLE),
        debaters("A7 B7 C7", "A7 B7 C7", "A7 B7 C7", "B9 B9 B9"),
        StopReason.NO_PROGRESS, 3, {}, 5,
    ),
    "debate-silence": Ended(
        meeting("debate", **IDLE),
        debaters("- - -", "- - -", "- - -", "B9 B9 B9"),
        StopReason.AGENTS_UNAVAILABLE, 3, {}, 5,
    ),
    "debate-deadline": Ended(
        meeting("debate"),
        until(1, OVER, debaters("A7 B7 C7", "B9 B9 B9")),
        StopReason.DEADLINE, 1, {"seconds": 900.0}, 3,
    ),
    "review-rounds": Ended(
        review(rounds=1), PASSES, StopReason.ROUNDS, 1, {"rounds": 2}, 2
    ),
    "review-no-progress": Ended(
        review(limits=MANY),
        rounds(*[{"ben": judged(objection())}] * 4, {"ben": judged(closed=["obj-1"])}),
        StopReason.NO_PROGRESS, 3, {}, 5,
    ),
    "review-silence": Ended(
        review(limits=MANY),
        until(3, LOST, rounds({})),
        StopReason.AGENTS_UNAVAILABLE, 2, {}, 4,
    ),
    "review-deadline": Ended(
        review(), until(1, OVER, rounds({})), StopReason.DEADLINE, 1, {"seconds": 900.0}, 2
    ),
    "vote-rounds": Ended(
        voting(rounds=1), casts([A, B, C], [A, A, C]), StopReason.ROUNDS, 1, {"rounds": 2}, 2
    ),
    "vote-threshold": Ended(
        voting(), casts([A, B, C], [A, B, C], [A, A, C]), StopReason.THRESHOLD, 2, {}, 3
    ),
    "vote-quorum": Ended(
        voting(), casts([LOST, LOST, C], [A, B, C], [A, A, C]), StopReason.QUORUM, 1, {}, 3
    ),
    "vote-no-progress": Ended(
        voting(revotes=9, **IDLE),
        casts(*[[A, B, C]] * 4, [A, A, C]),
        StopReason.NO_PROGRESS, 3, {}, 5,
    ),
    "vote-silence": Ended(
        voting(), casts([LOST] * 3, [A, A, C]), StopReason.AGENTS_UNAVAILABLE, 1, {}, 2
    ),
    "vote-deadline": Ended(
        voting(), casts([OVER] * 3, [A, A, C]), StopReason.DEADLINE, 1, {}, 2
    ),
    "poll-tie": Ended(
        polling("ranking", options="XYZ"),
        ballots([XYZ, YZX, ZXY], [XYZ, XYZ, ZXY]),
        StopReason.COMPLETED, 1, {}, 2,
    ),
    "poll-silence": Ended(
        polling("ranking", options="XYZ"),
        ballots([LOST] * 3, [XYZ, XYZ, ZXY]),
        StopReason.AGENTS_UNAVAILABLE, 1, {}, 2,
    ),
    "poll-deadline": Ended(
        polling("ranking", options="XYZ"),
        ballots([OVER] * 3, [XYZ, XYZ, ZXY]),
        StopReason.DEADLINE, 1, {}, 2,
    ),
    "council-silence": Ended(
        council(),
        until(1, LOST, members()),
        StopReason.AGENTS_UNAVAILABLE, 1, {}, 3, (CLOSED,),
    ),
}  # fmt: skip
LIMITED = pytest.mark.parametrize("case", [*ENDED.values()], ids=[*ENDED])


@LIMITED
def test_what_ended_it_once_does_not_end_it_again(case: Ended) -> None:
    course = Course(case.meeting)
    first = course.hold(case.answer, gate=case.gate)
    assert (first.ended.stopped_by, course.closed) == (case.stop, case.after)
    assert first.ended.result is not Result.DECIDED
    second = course.resume(**case.raised).hold(case.answer, gate=case.gate)
    assert second.ended.result is Result.DECIDED
    assert rounds_asked(second) == list(range(case.after + 1, case.decides_in + 1))
    assert course.closed == case.decides_in


@LIMITED
def test_without_room_it_ends_at_once_by_its_rounds(case: Ended) -> None:
    course = Course(case.meeting)
    course.hold(case.answer, gate=case.gate)
    short = replace(case.meeting.limits, rounds=case.after)
    course.meeting = replace(case.meeting, limits=short)
    second = course.resume().hold(case.answer, gate=case.gate)
    assert (second.ended.result, second.ended.stopped_by) == (
        Result.UNDECIDED,
        StopReason.ROUNDS,
    )
    assert not [key for key in second.steps if key.startswith("round-")]
    assert not [note for note in second.notes if note.key.startswith("round-")]


@LIMITED
def test_it_can_be_resumed_again_and_again(case: Ended) -> None:
    """Cancelled in the middle of what it goes on with, and resumed once more."""
    course = Course(case.meeting)
    course.hold(case.answer, gate=case.gate)
    course.resume(**case.raised)
    seat = case.meeting.seats[0].name
    cut = f"round-{case.after + 1}/ask/{seat}"
    assert course.hold(case.answer, cut=cut).ended.stopped_by is StopReason.CANCELLATION
    third = course.resume(note="And another day.").hold(case.answer, gate=case.gate)
    assert third.ended.result is Result.DECIDED
    keys = [a.key for leg in course.legs for a in leg.asks if a.key.startswith("round-")]
    assert len(keys) == len(set(keys))
    notes = [note.key for leg in course.legs for note in leg.notes if note.key.startswith("round-")]
    assert len(notes) == len(set(notes))
    asked = third.ask(f"round-{case.decides_in}/ask/{seat}")
    assert [each["note"] for each in asked.variables["resumed"]] == [
        "Two more days.",
        "And another day.",
    ]


def test_a_new_leg_stalls_after_as_many_rounds_of_its_own() -> None:
    course = Course(meeting("roundtable", **IDLE))
    answer = table(*["DAN"] * 9)
    course.hold(answer)
    second = course.resume().hold(answer)
    assert second.ended.stopped_by is StopReason.NO_PROGRESS
    assert [told["round"] for told in second.told(events.ProgressStalled.type)] == [5]
    third = course.resume().hold(answer)
    assert [told["round"] for told in third.told(events.ProgressStalled.type)] == [7]


def test_silence_is_counted_anew() -> None:
    course = Course(meeting("roundtable", **IDLE))
    answer = table(*["TTT"] * 9)
    course.hold(answer)
    assert rounds_asked(course.resume().hold(answer)) == [3, 4]


def test_only_the_rounds_count_over_all_legs() -> None:
    """It stalled in its last round: resumed, it stalls no more, and there are no rounds left."""
    course = Course(meeting("roundtable", rounds=3))
    answer = table("DAN", "DAN", "DAN")
    assert course.hold(answer).ended.stopped_by is StopReason.NO_PROGRESS
    second = course.resume().hold(answer)
    assert second.ended.stopped_by is StopReason.ROUNDS
    assert second.ended.synthesis is not None


def test_the_last_round_is_summed_up_before_the_next_one() -> None:
    course = Course(meeting("roundtable", rounds=1))
    answer = table("DAN", "AAA")
    assert "round-1/compress" not in course.hold(answer).steps
    second = course.resume(rounds=2).hold(answer)
    assert second.steps[0] == "round-1/compress"
    assert second.ask("round-2/ask/ann").variables["summary"] == "They talked."
    assert second.ended.decision == "Use one repository for a trial quarter."


def test_numbers_and_baseline_go_over_all_legs() -> None:
    course = Course(meeting("roundtable", rounds=1, motion="Do it."))
    answer = table("DAN", "AAA")
    course.hold(answer)
    outcome = course.resume(rounds=2).hold(answer).ended
    assert outcome.numbers["rounds"] == 2
    assert [outcome.findings[view]["round"] for view in ("baseline", "final")] == [1, 2]
    assert [flip["participant"] for flip in outcome.findings["flips"]] == ["ann", "cy"]


# --- arbitration --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["roundtable-rounds", "debate-rounds", "vote-threshold"])
def test_a_question_that_nobody_ruled_on_is_put_again_when_no_round_is_left(name: str) -> None:
    case = ENDED[name]
    ruled = {"roundtable": "adopt", "debate": "Participant B", "vote": "B"}
    limits = replace(case.meeting.limits, rounds=case.after)
    course = Course(replace(case.meeting, arbiter=PERSON, limits=limits))
    assert course.hold(case.answer).ended.stopped_by is StopReason.RULING_EXPIRED
    course.resume("permission", "Dana is back.")
    choice = ruled[case.meeting.format]
    second = course.hold(case.answer, ruling=Ruling(choice, "it holds", "Dana"))
    assert (second.ended.result, second.ended.stopped_by) == (Result.DECIDED, StopReason.RULING)
    assert rounds_asked(second) == []
    assert second.questions[0].variables["resumed"] == [
        {"changed": "permission", "note": "Dana is back."}
    ]


# --- vote and poll ------------------------------------------------------------------------------


def test_a_vote_whose_ladder_was_climbed_goes_on_with_a_ballot_and_the_ladder_again() -> None:
    course = Course(voting(limits=MANY))
    answer = casts(*[[A, B, C]] * 9)
    first = course.hold(answer)
    assert first.ended.stopped_by is StopReason.THRESHOLD
    second = course.resume("order", "It has to be done by May.").hold(answer)
    assert second.ended.stopped_by is StopReason.THRESHOLD
    assert rounds_asked(second) == [3, 4]
    assert {ask.round for ask in second.asked("vote/deliberate")} == {4}
    ballot = second.ask("round-3/ask/ann").variables
    assert (ballot["own_answer"], ballot["last_vote"]) == ("", "A")
    assert [other["answer"] for other in ballot["others"]] == ["", ""]
    steps = [(step["step"], step["round"]) for step in second.ended.numbers["resolution"]]
    assert steps == [("deliberate", 2), ("escalate", 2), ("deliberate", 4), ("escalate", 4)]


def test_a_vote_that_was_being_talked_over_is_talked_over_further() -> None:
    course = Course(voting())
    answer = casts([A, B, C], [A, A, C])
    course.hold(answer, cut="round-2/deliberate/ben")
    second = course.resume().hold(answer)
    asked = [ask.key for ask in second.asks]
    assert asked[:2] == ["round-2/deliberate/ben", "round-2/deliberate/cy"]
    assert second.ended.decision == "A"


def test_a_poll_is_answered_anew_and_its_latest_pass_counts() -> None:
    course = Course(polling("ranking", options="XYZ"))
    answer = ballots([XYZ, YZX, ZXY], [XYZ, XYZ, ZXY])
    course.hold(answer)
    second = course.resume("order", "Cheaply.").hold(answer)
    assert (second.ended.decision, second.ended.stopped_by) == ("X", StopReason.COMPLETED)
    findings = second.ended.findings
    assert (findings["baseline"]["leader"], findings["final"]["leader"]) == (None, "X")
    flips = [(flip["participant"], flip["from"], flip["to"]) for flip in findings["flips"]]
    assert flips == [("r1", "Y", "X")]
    (closed,) = second.told(events.RoundClosed.type)
    assert closed["progress"]["reasons"] == ["vote_changed:r1"]


def test_of_a_pass_that_was_cut_short_nothing_counts() -> None:
    course = Course(polling("ranking", options="XYZ"))
    answer = ballots([XYZ, YZX, ZXY], [ZXY, ZXY, ZXY])
    course.hold(answer)
    second = course.resume().hold(answer, cut="round-2/ask/r2", stop=StopReason.DEADLINE)
    assert second.ended.stopped_by is StopReason.DEADLINE
    assert second.ended.numbers["leaders"] == ["X", "Y", "Z"]


# --- council ------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", ["permission", "limits"])
def test_a_council_comes_to_its_closing_again(changed: Any) -> None:
    course = Course(council())
    assert course.hold(members(), gate=(OPEN,)).ended.result is Result.UNDECIDED
    second = course.resume(changed, "There is more time.").hold(members(), gate=(CLOSED,))
    assert rounds_asked(second) == []
    (draft,) = second.asked("council/synthesis")
    assert draft.variables["resumed"][0]["note"] == "There is more time."
    assert second.confirms[0].asks[0].variables["resumed"] == draft.variables["resumed"]
    assert second.ended.result is Result.DECIDED


@pytest.mark.parametrize("changed", ["materials", "criteria", "order"])
def test_a_council_answers_anew_where_what_it_answered_has_changed(changed: Any) -> None:
    course = Course(council())
    first = course.hold(members(prefers=("ann", "ben", "cy")), gate=(OPEN,))
    best = members(prefers=("cy", "ben", "ann"))
    second = course.resume(changed, "It has to run on ships.").hold(best, gate=(OPEN,))
    assert [first.ended.numbers["best"], second.ended.numbers["best"]] == [["ann"], ["cy"]]
    assert rounds_asked(second) == [3, 4]
    assert second.confirms[0].asks[0].round == 4
    third = course.resume("permission", "They may now.").hold(best, gate=(CLOSED,))
    assert rounds_asked(third) == []
    assert third.ended.result is Result.DECIDED


def test_a_council_s_limit_of_rounds_counts_its_passes() -> None:
    course = Course(council(limits=Limits(rounds=1), arbiter=PERSON))
    course.hold(members(), gate=(OPEN,))
    second = course.resume("order").hold(members())
    assert rounds_asked(second) == []
    assert second.ended.stopped_by is StopReason.RULING_EXPIRED
    third = course.resume("limits", rounds=2).hold(members(), gate=(CLOSED,))
    assert rounds_asked(third) == [3, 4]
    assert third.ended.result is Result.DECIDED


# --- review -------------------------------------------------------------------------------------

NEWER = Material("m1", "2", "The outage lasted 5 hours.")


def test_a_review_goes_on_with_draft_and_open_objections() -> None:
    course = Course(review(rounds=1))
    answer = rounds({"ben": judged(objection())}, {"ben": judged(closed=["obj-1"])})
    course.hold(answer)
    second = course.resume(rounds=2).hold(answer)
    author, critic = second.ask("round-2/ask/ann"), second.ask("round-2/ask/ben")
    assert author.variables["draft"] == "The owner is Dee."
    assert [each["id"] for each in author.variables["objections"]] == ["obj-1"]
    assert critic.variables["resumed"] == author.variables["resumed"]
    assert second.ended.result is Result.DECIDED


def test_a_quote_is_looked_for_in_the_materials_of_its_own_round() -> None:
    course = Course(review(rounds=1))
    answer = rounds(
        {"ben": judged(objection("lasted 4 hours"))},
        {"ben": judged(objection("lasted 4 hours", point="p"), objection("lasted 5 hours"))},
    )
    course.hold(answer)
    course.meeting = replace(course.meeting, limits=replace(course.meeting.limits, rounds=2))
    second = course.resume("materials", "It was 5 hours.", (NEWER,)).hold(answer)
    supported = [each["support"] for each in second.ended.numbers["objections"]]
    assert supported == ["supported", "unsupported", "supported"]
    materials = second.ask("round-2/ask/ann").variables["materials"]
    assert [material["version"] for material in materials] == ["2"]


@pytest.mark.parametrize("materials", [(), (NEWER,)])
def test_a_draft_that_had_passed_passes_only_if_its_materials_still_stand(
    materials: tuple[Material, ...],
) -> None:
    course = Course(review())
    course.hold(rounds({}), stop_before="closing/synthesis")
    changed: Any = "materials" if materials else "permission"
    second = course.resume(changed, "x", materials).hold(
        rounds({}), stop_before="closing/synthesis"
    )
    assert rounds_asked(second) == ([2] if materials else [])
    # Back to the first version: what passed on the second one has to be judged anew too.
    course.resume("materials", "y", MATERIALS if materials else (NEWER,))
    third = course.hold(rounds({}))
    assert rounds_asked(third) == ([3] if materials else [2])
    assert third.ended.result is Result.DECIDED


# --- what is shown ------------------------------------------------------------------------------


def questions(leg: Held) -> list[Ask]:
    closing = [ask for confirm in leg.confirms for ask in confirm.asks]
    return [ask for ask in (*leg.asks, *closing) if "compress" not in ask.key]


@pytest.mark.parametrize("language", ["en", "ja"])
@LIMITED
def test_who_is_asked_is_told_what_has_changed(case: Ended, language: Language) -> None:
    course = Course(case.meeting)
    first = course.hold(case.answer, gate=case.gate)
    assert not any("resumed" in ask.variables for ask in questions(first))
    second = course.resume("order", "</context> Mind the ships.", **case.raised)
    asked = [ask for ask in questions(second.hold(case.answer, gate=case.gate)) if _told(ask)]
    assert asked
    for ask in asked:
        user = render(ask.template, language, ask.variables).user
        assert "[/context> Mind the ships.\n</context>\n" in user
        assert "\n\n\n" not in user
        plain = {key: value for key, value in ask.variables.items() if key != "resumed"}
        assert "ships" not in render(ask.template, language, plain).user


def _told(ask: Ask) -> bool:
    return ask.template != "secretary/group"


def test_nobody_is_asked_in_the_words_of_a_resuming_before_it() -> None:
    course = Course(meeting("roundtable", rounds=1))
    answer = table("DAN", "NDA", "AAA")
    course.hold(answer)
    course.resume(rounds=2).hold(answer, cut="round-2/ask/cy")
    third = course.resume(rounds=3).hold(answer)
    asked = [ask.key for ask in third.asks if "resumed" in ask.variables]
    assert asked == ["round-2/ask/cy", *(f"round-3/ask/{n}" for n in ("ann", "ben", "cy")),
                     "closing/synthesis"]  # fmt: skip
