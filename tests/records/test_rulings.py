"""What minutes, decision records and handoff packages show of an arbitration (PROTOCOLS 11)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from app.domain.ending.arbitration import Ruling
from app.domain.ending.completion_gate import Close, GateStatus
from app.domain.errors import MeetingNotEnded
from app.domain.meeting.entries import Event
from app.domain.meeting.events import ArbitrationExpired
from app.domain.meeting.meeting import Arbiter, Language, Limits
from app.domain.replies.reading import ReplyStatus
from app.records.decision import decision_json, decision_markdown
from app.records.handoff import handoff_json, handoff_markdown
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.formats.ballots import casts, polling, vote, voting
from tests.formats.council.test_story import answers as council_answers
from tests.formats.council.test_story import council
from tests.formats.review.by_hand import judged, objection, review, rounds, written
from tests.records.held import answers, meeting, stances, three_rounds
from tests.records.ruled import PERSON, put

LANGUAGES: tuple[Language, ...] = ("en", "ja")
RULING = Ruling("adopt", "It can be undone.", "Ann Lee", "A review after one quarter.")
MOTION = "Adopt one repository by June."
WANTING = Close(
    GateStatus.INCOMPLETE, ("ann",), {"ben": "It omits the cost."}, datetime(2026, 1, 1, tzinfo=UTC)
)


def roundtable(language: Language = "en", ruled: Ruling | None = RULING, **how: Any) -> list[Event]:
    fields = {"language": language, "motion": MOTION, "limits": Limits(rounds=1), "arbiter": PERSON}
    fields |= how.pop("fields", {})
    return put(meeting(**fields), answers([stances("AGREE", "DISAGREE", "NEUTRAL")]), ruled, **how)


def voted(language: Language = "en", ruled: Ruling | None = None, **how: Any) -> list[Event]:
    split = [vote("A"), vote("B"), vote("ABSTAIN")]
    return put(voting(arbiter=PERSON, language=language), casts(split, split), ruled, **how)


def reviewed(language: Language = "en", ruled: Ruling | None = None, **how: Any) -> list[Event]:
    said = {
        "ann": written("Nobody is named."),
        "ben": judged(objection(), objection("not there", severity="minor")),
    }
    meeting_ = review(arbiter=PERSON, rounds=1, language=language)
    return put(meeting_, rounds(said), ruled, **how)


def in_council(language: Language = "en", ruled: Ruling | None = None, **how: Any) -> list[Event]:
    meeting_ = council(arbiter=PERSON, language=language)
    return put(meeting_, council_answers(), ruled, gate=WANTING, **how)


FORMATS: dict[str, Callable[..., list[Event]]] = {
    "roundtable": roundtable,
    "vote": voted,
    "review": reviewed,
    "council": in_council,
}


# --- minutes and decision record ----------------------------------------------------------------


def test_the_record_says_who_ruled_on_what_and_on_which_conditions() -> None:
    log = roundtable()
    for text in (minutes_markdown(log), decision_markdown(log)):
        assert "Ann Lee decided by a ruling; this was no consensus." in text
        assert "Ann Lee ruled on 1 December 2026, 00:00:07 UTC: adopt." in text
        assert "to be ruled on until 1 December 2026, 00:01:06 UTC." in text
        assert "> A review after one quarter." in text
        assert "> It can be undone." in text
        assert "unanim" not in text.lower()
    record = decision_json(log)
    assert record["ruling"]["conditions"] == "A review after one quarter."
    (asked,) = record["arbitration"]
    assert (asked["state"], asked["ruling"]["choice"]) == ("ruled", "adopt")
    assert asked["opened_at"] < asked["closed_at"] < asked["deadline"]
    assert minutes_json(log)["arbitration"] == [asked]


def test_the_record_says_so_in_japanese() -> None:
    for text in (minutes_markdown(roundtable("ja")), decision_markdown(roundtable("ja"))):
        assert "Ann Lee が裁定した。合意によるものではない。" in text
        assert "Ann Lee が2026年12月1日 00:00:07（協定世界時）に裁定した：adopt。" in text
        assert "次の条件が付いている。" in text
        assert "の裁定を求めた。期限は2026年12月1日 00:01:06（協定世界時）。" in text


def test_an_expired_question_is_said_plainly() -> None:
    log = roundtable(ruled=None)
    assert "No ruling came in time, so nothing was decided." in decision_markdown(log)
    assert decision_json(log)["arbitration"][0]["expired_because"] == "timeout"
    japanese = minutes_markdown(roundtable("ja", ruled=None))
    assert "期限までに裁定がなかったため、何も決まらなかった。" in japanese


def test_an_arbiter_that_gave_nothing_usable_is_not_called_late() -> None:
    log = roundtable(ruled=None, fields={"arbiter": Arbiter("agent", "judge")})
    closing = next(event for event in log if event.type == "arbitration.expired")
    invalid = ArbitrationExpired.of({**closing.data, "reason": "invalid"})
    log[closing.seq - 1] = replace(closing, content=invalid)
    text = minutes_markdown(log)
    assert "put to the agent judge on" in text
    assert "gave no ruling that could be used (answer did not fit)" in text


def test_minutes_of_a_meeting_that_waits_say_so() -> None:
    log = roundtable(waits=True)
    assert minutes_json(log)["status"] == "awaiting_ruling"
    assert "There is no ruling yet." in minutes_markdown(log)


def test_a_vote_that_was_ruled_on_still_shows_its_count() -> None:
    text = decision_markdown(voted(ruled=Ruling("C", "Neither.", "Ann Lee")))
    assert "There is a tie between A, B, and a tie does not pass." in text
    assert "every option was put to Ann Lee." in text
    assert "a way back to B" in text


def test_a_rejected_draft_is_shown_and_not_taken_for_the_deliverable() -> None:
    record = decision_markdown(reviewed(ruled=Ruling("reject", "No owner.", "Ann Lee")))
    assert record.count("# One repository or several?") == 1
    assert "> reject: Nobody is named." in record
    assert "**The last draft**" in record


# --- the handoff package ------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("format_", FORMATS)
def test_an_open_question_has_a_package(format_: str, language: Language) -> None:
    log = FORMATS[format_](language, waits=True)
    package = handoff_json(log)
    json.dumps(package)
    assert package["status"] == "awaiting_ruling"
    assert package["decided"] is None
    assert package["question"]["state"] == "open"
    (who,) = package["may_decide"]
    assert (who["kind"], who["name"]) == ("human", "Ann Lee")
    assert who["until"] == package["question"]["deadline"]
    assert package["candidates"]
    assert package["sides"]
    assert len(package["open_points"]) == 1
    text = handoff_markdown(log)
    assert text.startswith("---\n")
    heading = {"en": "## The one question", "ja": "## 決めるべき一つの問い"}[language]
    assert text.count(heading) == 1
    assert "None" not in text.replace("None were", "").replace("None.", "")


def test_the_sides_of_a_round_table() -> None:
    package = handoff_json(roundtable(waits=True))
    assert [(side["position"], side["participants"]) for side in package["sides"]] == [
        ("AGREE", ["architect"]),
        ("DISAGREE", ["operator"]),
        ("NEUTRAL", ["sceptic"]),
    ]
    assert package["candidates"] == [{"id": "motion", "text": MOTION}]
    assert package["may_decide"][0]["choices"] == ["adopt", "reject"]
    assert [each["source"] for each in package["excerpts"]] == ["architect", "operator", "sceptic"]


def test_the_sides_of_a_vote_have_their_reasons_and_what_they_ask_for() -> None:
    package = handoff_json(voted(waits=True))
    first = package["sides"][0]
    assert first["arguments"] == [
        {"participant": "ann", "text": "A is known", "asks_for": "a way back to A"}
    ]
    assert [each["id"] for each in package["candidates"]] == ["A", "B", "C"]
    text = handoff_markdown(voted(waits=True))
    assert "- ann: A is known (Asked for if this view loses: a way back to A)" in text


def test_a_reviews_package_shows_criteria_objections_and_what_may_not_be_picked() -> None:
    package = handoff_json(reviewed(waits=True))
    assert [each["id"] for each in package["criteria"]["passed"]] == ["c2"]
    assert [each["id"] for each in package["criteria"]["open"]] == ["c1"]
    assert package["may_decide"][0]["choices"] == ["reject"]
    assert package["candidates"] == [{"id": "draft", "text": "Nobody is named."}]
    assert package["excerpts"] == [
        {
            "source": "m1",
            "version": "1",
            "round": 1,
            "objection": "obj-1",
            "text": "lasted 4 hours",
        }
    ]
    author, critics = package["sides"]
    assert (author["participants"], critics["participants"]) == (["ann"], ["ben"])
    text = handoff_markdown(reviewed(waits=True))
    assert "This may not be picked. It would drop what is required and does not pass: c1." in text
    assert "- c1: names an owner (fail, required)" in text
    assert "quote not in the material" in text
    japanese = handoff_markdown(reviewed("ja", waits=True))
    assert "選べない。必須なのに満たされていない基準を外すことになる：c1" in japanese


def test_a_councils_package_holds_the_draft_and_who_wants_it_revised() -> None:
    package = handoff_json(in_council(waits=True))
    assert package["candidates"] == [{"id": "synthesis", "text": "Do it."}]
    assert package["settled"] == [{"kind": "agreed", "text": "a trial"}]
    assert [side["position"] for side in package["sides"]] == ["complete", "needs_revision"]
    assert package["excerpts"][0]["text"] == "ann would try it."  # without the thinking
    assert "- ben: It omits the cost." in handoff_markdown(in_council(waits=True))


def test_after_a_ruling_it_says_what_was_decided_and_what_is_left() -> None:
    package = handoff_json(roundtable())
    assert package["decided"] == {
        "decision": MOTION,
        "decision_source": "ruling",
        "decided_by": {"kind": "ruling", "name": "Ann Lee", "scope": MOTION},
        "conditions": "A review after one quarter.",
        "reason": "It can be undone.",
    }
    assert package["may_decide"] == []
    assert package["question"]["ruling"]["decided_by"] == "Ann Lee"
    assert package["open_points"]
    text = handoff_markdown(roundtable())
    assert "It is decided, and nobody has to decide it again." in text
    assert "Candidates for whoever decides" not in text
    assert "決定済みであり、改めて決める必要はない。" in handoff_markdown(roundtable("ja"))


def test_after_an_expired_question_nobody_may_decide_here_any_more() -> None:
    package = handoff_json(roundtable(ruled=None))
    assert (package["question"]["state"], package["may_decide"]) == ("expired", [])
    text = handoff_markdown(roundtable(ruled=None))
    assert "Nobody may decide it in this meeting any more." in text


def test_what_a_cancel_left_unconfirmed_is_handed_over() -> None:
    log = roundtable(cancelled=True)
    package = handoff_json(log)
    assert [item["ref"] for item in package["unconfirmed"]] == ["req_1"]
    assert package["question"]["state"] == "overtaken"
    text = handoff_markdown(log)
    assert text.count("Not confirmed as stopped: request req_1") == 1
    assert "The meeting ended before there was a ruling." in text


def test_a_meeting_without_an_arbiter_is_handed_to_whoever_is_responsible() -> None:
    package = handoff_json(roundtable(fields={"arbiter": None}))
    assert package["question"]["state"] == "not_put"
    assert package["question"]["question"] == MOTION
    text = handoff_markdown(roundtable(fields={"arbiter": None}))
    assert "Nobody was named who may decide it." in text


def test_a_poll_and_a_consensus_have_a_package_too() -> None:
    ballots = ['{"answer": "YES", "reasons": ["fast"], "confidence": 7}', ReplyStatus.TIMEOUT]
    log = put(polling("binary", 3), lambda ask: ballots[ask.who == "r2"])
    package = handoff_json(log)
    assert package["sides"][0]["arguments"][0]["text"] == "fast"
    assert handoff_json(three_rounds())["decided"]["decided_by"]["kind"] == "consensus"
    assert "The participants decided, by the consensus rule" in handoff_markdown(three_rounds())


def test_there_is_none_while_the_meeting_simply_runs() -> None:
    for upto in (2, 5):
        with pytest.raises(MeetingNotEnded, match="no question of it waits"):
            handoff_json(roundtable()[:upto])


def test_hostile_words_stay_inside() -> None:
    evil = "## Decided\n<script>alert(1)</script> | a | b"
    ruling = Ruling("adopt", evil, "# Ann | x", evil)
    log = roundtable(ruled=ruling, fields={"topic": evil})
    for text in (handoff_markdown(log), minutes_markdown(log), decision_markdown(log)):
        assert "\n## Decided" not in text
        assert "\n> ## Decided" not in text
        assert "by a ruling" in text
    assert "<script>alert" not in minutes_html(log)
