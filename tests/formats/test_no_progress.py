"""Kinds of no progress (PROTOCOLS 11): what must be called a stall, and what only looks like it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from app.domain.ending.arbitration import Ruling
from app.domain.meeting import events
from app.domain.meeting.meeting import Arbiter, Criterion, Destination, Limits
from app.domain.meeting.outcome import Result, StopReason
from app.domain.replies.reading import ReplyStatus
from app.domain.rounds.progress import Stall, StallKind
from app.domain.steps import Ask
from tests.formats.ballots import casts, vote, voting
from tests.formats.by_hand import SUMMARY, SYNTHESIS, Answer, Held, hold, meeting
from tests.formats.debate.test_story import answered, opening
from tests.formats.review.by_hand import (
    CONTENT,
    Said,
    judged,
    objection,
    review,
    rounds,
    written,
)

MANY = Limits(rounds=8)
FAILS: dict[str, Any] = {"criteria": {"c2": "fail"}}
FAILING = judged(**FAILS)
SPLIT = Stall(StallKind.STALEMATE, 3, 2).record()


def stall_of(held: Held) -> Mapping[str, Any] | None:
    """What is told of a stall, in the same fields of every kind; the outcome says the same."""
    told = held.told(events.ProgressStalled.type)
    assert all(each.keys() == SPLIT.keys() for each in told)
    stall = held.ended.stalled
    found = None if stall is None else stall.record()
    assert held.ended.record()["stalled"] == found
    assert [found] == told or (found is None and not told)
    assert (found is not None) is (held.ended.stopped_by is StopReason.NO_PROGRESS)
    return found


def kind_of(held: Held) -> str | None:
    found = stall_of(held)
    return None if found is None else found["kind"]


def reviewed(*given: Mapping[str, Said], **fields: Any) -> Held:
    """A review that goes on for eight rounds, the last ones all alike, unless it stalls."""
    return hold(review(**({"limits": MANY} | fields)), rounds(*given))


# --- circular -----------------------------------------------------------------------------------


def test_closing_and_reopening_the_same_point_is_going_in_circles() -> None:
    """Though in every second round an objection is closed."""
    raised, closed = judged(objection(), **FAILS), judged(closed=["obj-1"], **FAILS)
    held = reviewed(*({"ben": each} for each in (raised, closed) * 4))
    found = stall_of(held)
    assert found is not None
    assert (found["kind"], found["round"], found["reopened"]) == ("circular", 4, ["obj-1"])


def test_a_new_point_after_each_closed_one_is_none() -> None:
    """Every objection rests on another place: that is new evidence, and closing it counts."""
    quotes = ("The outage", "lasted", "4 hours", "Nobody", "had the pager")
    given = [
        {
            "ben": judged(
                objection(quote, point=f"p{number}"),
                closed=[f"obj-{number}"] if number else [],
                **FAILS,
            )
        }
        for number, quote in enumerate(quotes)
    ]
    assert kind_of(reviewed(*given, limits=Limits(rounds=5))) is None


def test_going_back_to_an_earlier_text_is_going_in_circles() -> None:
    """Though the check that the text passes or fails changes its result each time."""
    texts = (written("The owner is Dee."), written("Dee has it."))
    held = reviewed(*({"ann": text, "ben": FAILING} for text in texts * 4))
    assert kind_of(held) == "circular"


def test_new_texts_that_change_results_back_and_forth_are_none() -> None:
    texts = [written(f"{'The owner' if n % 2 else 'It'} is Dee, version {n}.") for n in range(8)]
    held = reviewed(*({"ann": text, "ben": FAILING} for text in texts))
    assert (kind_of(held), held.ended.stopped_by) == (None, StopReason.ROUNDS)


# --- stalemate ----------------------------------------------------------------------------------


def test_other_words_for_the_same_draft_and_the_same_objection_are_a_stalemate() -> None:
    given = [
        {
            "ann": written(f"The owner is Dee, as said before in {number} other words."),
            "ben": judged(
                objection(point=f"the duration is missing, put in way {number}"), **FAILS
            ),
        }
        for number in range(8)
    ]
    held = reviewed(*given)
    found = stall_of(held)
    assert found is not None
    assert (found["kind"], found["round"]) == ("stalemate", 3)


def test_the_same_draft_is_none_while_checks_advance() -> None:
    """Word for word the same text, and round by round another criterion is found to pass."""
    criteria = tuple(Criterion(f"c{number}", "is right") for number in range(5))
    given = [
        {
            name: judged(criteria={f"c{n}": "pass" if n < number else "fail" for n in range(5)})
            for name in ("ben", "cy")
        }
        for number in range(6)
    ]
    held = reviewed(*given, criteria=criteria)
    assert (kind_of(held), held.ended.result) == (None, Result.DECIDED)


def test_only_preferences_left_while_a_criterion_fails_is_a_stalemate() -> None:
    taste = judged(objection(severity="preference"), **FAILS)
    assert kind_of(reviewed({"ben": taste})) == "stalemate"


def test_a_preference_that_is_closed_is_none() -> None:
    taste = judged(objection(severity="preference"))
    closed = judged(closed=["obj-1"])
    held = reviewed({"ben": taste, "cy": FAILING}, {"ben": closed, "cy": FAILING}, {})
    assert (kind_of(held), held.ended.result) == (None, Result.DECIDED)


# --- who falls silent ---------------------------------------------------------------------------

GONE = ReplyStatus.TIMEOUT


def test_a_critic_that_drops_out_and_comes_back_to_what_it_said_moves_nothing() -> None:
    """Though the criterion that it has to judge is open in every second round."""
    held = reviewed(*({"ben": said} for said in (FAILING, GONE) * 4))
    found = stall_of(held)
    assert found is not None
    assert (found["kind"], found["round"]) == ("stalemate", 3)
    results = [closed["criteria"]["c2"] for closed in held.told(events.RoundClosed.type)]
    assert results == ["fail", "open", "fail"]


def test_a_critic_that_drops_out_for_good_moves_nothing_and_passes_nothing() -> None:
    held = reviewed({"cy": FAILING}, {"ben": GONE, "cy": FAILING})
    assert (kind_of(held), len(held.told(events.RoundClosed.type))) == ("stalemate", 3)
    held = reviewed({"cy": FAILING}, {"ben": GONE})
    assert held.ended.numbers["criteria"][1]["result"] == "open"
    assert held.ended.result is Result.UNDECIDED


def test_a_critic_that_comes_back_with_another_verdict_is_progress() -> None:
    held = reviewed(
        {"ben": FAILING, "cy": FAILING},
        {"ben": GONE, "cy": FAILING},
        {"ben": FAILING, "cy": GONE},
        {"ben": FAILING},
        {"ben": GONE},
        {"ben": CONTENT},
    )
    assert kind_of(held) == "stalemate", "cy's verdict changed, and ben's fails it all the same"
    changing = [{"ben": said} for said in (FAILING, GONE, CONTENT)]
    moved = reviewed(*changing, {"ben": FAILING, "cy": GONE}, limits=Limits(rounds=3))
    last = moved.told(events.RoundClosed.type)[-1]
    assert last["progress"]["reasons"] == ["criterion_changed:c2"]
    assert (kind_of(moved), moved.ended.result) == (None, Result.DECIDED)


# --- other words for the same -------------------------------------------------------------------


@pytest.mark.parametrize(
    "quote", ["", "nobody ever said this"], ids=["no quote", "an invented one"]
)
def test_raising_and_closing_what_rests_on_nothing_moves_nothing(quote: str) -> None:
    """Each time in other words, so that each round has an objection closed."""
    given = [
        {
            "ben": judged(
                objection(quote and f"{quote} {number}", point=f"in way {number}"),
                closed=[f"obj-{number}"] if number else [],
                **FAILS,
            )
        }
        for number in range(8)
    ]
    found = stall_of(reviewed(*given))
    assert found is not None
    assert (found["kind"], found["round"]) == ("stalemate", 3)


def test_closing_what_rests_on_a_quote_is_progress() -> None:
    """One a round of those that were raised in the first."""
    quotes = ("The outage", "lasted", "4 hours", "Nobody", "had the pager")
    raised = [objection(quote, point=quote) for quote in quotes]
    given = [judged(*raised, **FAILS)]
    given += [judged(closed=[f"obj-{number}"], **FAILS) for number in range(1, 5)]
    held = reviewed(*({"ben": said} for said in given), limits=Limits(rounds=5))
    assert (kind_of(held), held.ended.stopped_by) == (None, StopReason.ROUNDS)


def test_more_or_fewer_words_of_one_sentence_are_no_new_evidence() -> None:
    quotes = ("outage lasted", "The outage lasted", "The  outage lasted ４ hours.", "lasted", "4")
    given = [{"ben": judged(objection(quote, point=quote), **FAILS)} for quote in quotes]
    found = stall_of(reviewed(*given))
    assert found is not None
    assert (found["kind"], found["round"]) == ("stalemate", 3)


def test_a_closed_point_in_more_words_of_its_sentence_goes_in_circles() -> None:
    short, long = "lasted 4 hours", "The outage lasted 4 hours."
    given = [
        judged(objection(short), **FAILS),
        judged(closed=["obj-1"], **FAILS),
        judged(objection(long, point="another word for it"), **FAILS),
        judged(closed=["obj-1"], **FAILS),
    ]
    found = stall_of(reviewed(*({"ben": said} for said in given * 2)))
    assert found is not None
    assert (found["kind"], found["round"], found["reopened"]) == ("circular", 4, ["obj-1"])


# --- waiting ------------------------------------------------------------------------------------

A, B, C = (f"Participant {letter}" for letter in "ABC")


def waits(ann: str | None, ben: str | None, cy: str | None) -> Mapping[str, Said]:
    return {
        "ann": written(waiting_for=ann),
        "ben": judged(waiting_for=ben, **FAILS),
        "cy": judged(waiting_for=cy, **FAILS),
    }


@pytest.mark.parametrize(
    ("who", "circle"),
    [
        ((B, A, None), ["ann", "ben"]),
        ((B, C, A), ["ann", "ben", "cy"]),
        ((B, C, B), ["ben", "cy"]),
        ((" ben ", "ANN", "the log"), ["ann", "ben"]),
    ],
    ids=["two", "three", "a tail before the circle", "by name"],
)
def test_who_wait_for_each_other(
    who: tuple[str | None, str | None, str | None], circle: list[str]
) -> None:
    found = stall_of(reviewed(waits(*who)))
    assert found is not None
    assert (found["kind"], found["waiting"]) == ("mutual_wait", circle)


@pytest.mark.parametrize(
    "who",
    [(B, C, None), (B, None, B), (A, B, C), ("the log", "the log", "the log"), (B, "the log", A)],
    ids=["a chain", "two for one", "each for itself", "for an input", "a chain to an input"],
)
def test_who_wait_without_a_circle(who: tuple[str | None, str | None, str | None]) -> None:
    found = stall_of(reviewed(waits(*who)))
    assert found is not None
    assert (found["kind"], found["waiting"]) == ("stalemate", [])


def test_waiting_for_each_other_is_none_while_something_moves() -> None:
    quotes = ("The outage", "lasted", "4 hours", "Nobody", "had the pager")
    given = [
        {
            "ann": written(waiting_for=B),
            "ben": judged(objection(quote), waiting_for=A, **FAILS),
        }
        for quote in quotes
    ]
    assert kind_of(reviewed(*given, limits=Limits(rounds=5))) is None


PLACE = Destination("https://wiki.example/a.md", owner="dee")


def test_a_save_that_is_handed_over_is_waited_for_and_ends_nothing() -> None:
    held = hold(review(destination=PLACE), rounds({}), saved="handed_over")
    (told,) = [note for note in held.notes if note.content.type == events.ProgressStalled.type]
    assert told.key == "save/stalled"
    assert told.content.record() == SPLIT | {
        "kind": "external_wait",
        "round": 1,
        "rounds_without_progress": 0,
        "operation": "op_1",
        "owner": "dee",
        "next_check_at": "2026-11-30T09:05:00Z",
    }
    assert (held.ended.result, held.ended.stopped_by) == (Result.DECIDED, StopReason.COMPLETED)
    assert held.ended.stalled is None


@pytest.mark.parametrize("saved", ["confirmed", "failed", "unknown", "requested"])
def test_a_save_without_an_owner_and_a_date_is_not_waited_for(saved: str) -> None:
    held = hold(review(destination=PLACE), rounds({}), saved=saved)
    assert held.told(events.ProgressStalled.type) == []


def test_a_stall_that_an_arbiter_ended_may_be_followed_by_a_wait() -> None:
    stuck = review(destination=PLACE, limits=MANY, arbiter=Arbiter("human", name="Dana"))
    blocked = rounds({"ben": judged(objection())})
    ruling = Ruling("accept", "good enough", "Dana")
    held = hold(stuck, blocked, ruling=ruling, saved="handed_over")
    told = held.told(events.ProgressStalled.type)
    assert [each["kind"] for each in told] == ["stalemate", "external_wait"]
    assert held.ended.stalled is not None
    assert held.ended.stalled.record() == told[0]


# --- positions ----------------------------------------------------------------------------------


def said(stances: Mapping[str, str], words: str) -> Answer:
    """A round table's replies in ever other words; ``stances`` has one letter a round."""
    full = {"A": "AGREE", "D": "DISAGREE", "N": "NEUTRAL"}

    def answer(ask: Ask) -> str:
        if ask.office != "participant":
            return SYNTHESIS if ask.template.endswith("synthesis") else SUMMARY
        letter = stances[ask.who][min(ask.round, len(stances[ask.who])) - 1]
        return f"{words.format(ask.round)} [STANCE: {full[letter]}]"

    return answer


def test_a_round_table_in_other_words_is_a_stalemate() -> None:
    same = {"ann": "A", "ben": "D", "cy": "N"}
    held = hold(meeting("roundtable", limits=MANY), said(same, "Reason number {}."))
    assert stall_of(held) == SPLIT


def test_a_round_table_in_the_same_words_is_none_while_stances_move() -> None:
    moving = {"ann": "AADDAADD", "ben": "D", "cy": "N"}
    held = hold(meeting("roundtable", limits=MANY), said(moving, "As I said."))
    assert (kind_of(held), held.ended.stopped_by) == (None, StopReason.ROUNDS)


def debating(concerns: tuple[str, ...], confidence: str = "7") -> Held:
    """Everybody backs itself; the first one names one concern a round."""

    def answer(ask: Ask) -> str:
        if ask.office != "participant":
            return SYNTHESIS if ask.template.endswith("synthesis") else SUMMARY
        concern = concerns[min(ask.round, len(concerns)) - 1]
        if ask.round == 1:
            return opening(ask.who, concerns=f"- {concern}")
        sure = int(confidence[min(ask.round, len(confidence)) - 1])
        own: str = ask.variables["label"]
        more = {"CONCERNS": concern} if ask.who == "ann" else {}
        return answered(ask.who, ask.round, own, sure, **more)

    return hold(meeting("debate", limits=MANY), answer)


def test_a_debate_with_the_same_concern_in_other_words_is_a_stalemate() -> None:
    held = debating(
        (
            "The build will take too long on the old machines.",
            "On the old machines the build will take too long!",
            "The build will, on old machines, take too long.",
        ),
        confidence="7567",
    )
    assert stall_of(held) == SPLIT


def test_a_debate_with_a_new_concern_each_round_is_none() -> None:
    new = "Cost|Who is on call|Licences|Data leaves the EU|Nobody knows Rust|Slow phones|Peak|Law"
    held = debating(tuple(new.split("|")))
    assert (kind_of(held), held.ended.stopped_by) == (None, StopReason.ROUNDS)


def ballots(*rounds_: str, **fields: Any) -> Held:
    """A letter a voter and ballot, each time with other reasons and another confidence."""
    given = [
        [vote(letter, 0.5 + number / 20, rationale=f"reason {number}") for letter in letters]
        for number, letters in enumerate(rounds_)
    ]
    return hold(voting(revotes=5, limits=MANY, **fields), casts(*given))


def test_the_same_votes_for_other_reasons_are_a_stalemate() -> None:
    held = ballots(*["ABC"] * 6)
    assert stall_of(held) == SPLIT


def test_votes_that_move_are_none_even_with_the_same_count() -> None:
    held = ballots("ABC", "BCA", "CAB", "ABC", "BCA", "CAB")
    assert (kind_of(held), held.ended.stopped_by) == (None, StopReason.THRESHOLD)


def test_the_record_of_a_ruling_still_says_that_it_had_stalled() -> None:
    same = {"ann": "A", "ben": "D", "cy": "N"}
    stuck = meeting("roundtable", limits=MANY, arbiter=Arbiter("human", name="Dana"))
    ruling = Ruling("adopt", "it holds", "Dana")
    held = hold(stuck, said(same, "Reason {}."), ruling=ruling)
    assert held.ended.stopped_by is StopReason.RULING
    assert held.ended.stalled is not None
    assert held.ended.stalled.kind == "stalemate"
    json.dumps([held.ended.record(), held.ended.findings])
