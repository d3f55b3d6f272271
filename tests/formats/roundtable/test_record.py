"""A round table's part of the records, laid out as readers get it (PROTOCOLS 3, 4 and 15)."""

from __future__ import annotations

import pytest

from app.domain.ending.arbitration import Choice
from app.domain.meeting import events
from app.domain.meeting.history import History, history
from app.domain.meeting.meeting import Language, Limits
from app.domain.replies.reading import ReplyStatus
from app.formats.roundtable.record import RoundtableRecord
from app.formats.roundtable.story import FORMAT
from tests.formats.laid_out import laid_out, shown, told
from tests.records.held import answers, held, meeting, stances, three_rounds

RECORD = RoundtableRecord()
SPLIT = stances("AGREE", "DISAGREE", "NEUTRAL")


def split(language: Language = "en") -> History:
    """Two rounds, in which nobody moves."""
    limits = Limits(rounds=2)
    return history(held(meeting(limits=limits, language=language), answers([SPLIT] * 2)))


def test_the_format_is_shown_by_this_record() -> None:
    assert isinstance(FORMAT.record, RoundtableRecord)
    assert FORMAT.by_default


# --- how stances are counted and read -----------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "majority"),
    [
        (
            "en",
            "MAJORITY_CONSENSUS: at least two thirds (2 of 3) say AGREE and nobody says DISAGREE.",
        ),
        (
            "ja",
            "MAJORITY_CONSENSUS：3分の2以上（3名中2名以上）が AGREE で、DISAGREE が一人もいない。",
        ),
    ],
)
def test_the_rule_is_told_with_this_table_s_own_numbers(language: Language, majority: str) -> None:
    assert majority in laid_out(RECORD.how_to_count(split(language)), language)


def test_a_stance_stands_in_a_column_of_its_own_with_how_it_was_read() -> None:
    said = SPLIT | {
        "operator": "[STANCE: AGREE] or rather\n[STANCE: DISAGREE]",
        "sceptic": "Nothing to say.",
    }
    past = history(held(meeting(limits=Limits(rounds=1)), answers([said])))
    replies = past.rounds[0].final_replies
    assert [RECORD.columns(reply).keys() for reply in replies] == [{"roundtable.stance"}] * 3
    assert [told(RECORD.how_read(reply)) for reply in replies] == [
        "one marker",
        "2 markers that differ; the last one counts",
        "no marker, so UNKNOWN",
    ]
    assert [RECORD.stands_for(reply) for reply in replies] == ["AGREE", "DISAGREE", "UNKNOWN"]


def test_a_reply_that_did_not_come_counts_as_something() -> None:
    said = SPLIT | {"operator": ReplyStatus.TIMEOUT, "sceptic": ReplyStatus.ERROR}
    past = history(held(meeting(limits=Limits(rounds=1)), answers([said])))
    counted = [RECORD.counts_as(reply) for reply in past.rounds[0].final_replies[1:]]
    assert counted == ["NEUTRAL", "UNKNOWN"]


# --- a round ------------------------------------------------------------------------------------


def test_a_round_that_nobody_has_counted_yet_is_counted_by_the_same_rule() -> None:
    log = three_rounds()
    second = [e.type for e in log].index(events.ReplyReceived.type) + 2
    past = history(log[:second])
    assert shown(RECORD.counted_in_round(past, past.rounds[0])) == [
        "AGREE 1, DISAGREE 1, NEUTRAL 0, UNKNOWN 0, out of 3 seated participants."
    ]


def test_a_closed_round_says_what_it_came_to_and_what_moved() -> None:
    past = history(three_rounds())
    assert shown(RECORD.counted_in_round(past, past.rounds[2])) == [
        "AGREE 2, DISAGREE 0, NEUTRAL 1, UNKNOWN 0, out of 3 seated participants.",
        "Usable replies: 3 of 3. Result of the round: MAJORITY_CONSENSUS.",
        "Progress: operator changed stance.",
    ]


# --- what came of it ----------------------------------------------------------------------------


def test_the_share_has_its_denominator() -> None:
    assert shown(RECORD.numbers(history(three_rounds()))) == [
        "AGREE: 2 of 3 seated participants in round 3.",
        "Usable replies in the last round: 3 of 3.",
    ]


def test_without_a_round_there_are_no_numbers() -> None:
    log = held(meeting(), answers([]), stop_before="round-1/ask/architect")
    assert shown(RECORD.numbers(history(log))) == []


def test_first_and_last_round_stand_side_by_side() -> None:
    compared = laid_out(RECORD.comparison(history(three_rounds()), 2))
    assert "| Round | AGREE | DISAGREE | NEUTRAL | UNKNOWN | Consensus |" in compared
    assert (
        "| Round 1 (independent) | 1 of 3 | 1 of 3 | 1 of 3 | 0 of 3 | NO_CONSENSUS |" in compared
    )
    assert "| sceptic | NEUTRAL | AGREE | AGREE |" in laid_out(
        RECORD.round_by_round(history(three_rounds()))
    )


# --- for whoever decides ------------------------------------------------------------------------


def test_the_motion_is_at_stake_and_what_was_drafted_about_it() -> None:
    past = split()
    assert RECORD.question(past) == "Adopt one repository by June."
    assert RECORD.candidates(past) == (
        Choice("motion", "Adopt one repository by June."),
        Choice("synthesis", "Adopt one repository for the four services."),
        Choice("recommendation", "Move the smallest service first."),
    )
    assert RECORD.considered(past) == (
        "Should the platform team use one repository?",
        "Adopt one repository by June.",
    )


def test_a_text_that_was_moved_and_drafted_is_one_candidate() -> None:
    drafted = (
        '{"decision": "Adopt one repository by June.", "agreed": [], "differ": [],'
        ' "concerns": [], "recommendation": "Adopt one repository by June."}'
    )
    past = history(held(meeting(limits=Limits(rounds=2)), answers([SPLIT] * 2, drafted)))
    assert [choice.id for choice in RECORD.candidates(past)] == ["motion"]


def test_the_sides_are_those_of_the_last_round() -> None:
    sides = RECORD.sides(split())
    assert [(side.position, side.participants) for side in sides] == [
        ("AGREE", ("architect",)),
        ("DISAGREE", ("operator",)),
        ("NEUTRAL", ("sceptic",)),
    ]
    assert sides[1].arguments[0].text == "operator has a reason for this."
    assert [each.round for each in RECORD.excerpts(split())] == [2, 2, 2]
