"""Records of a meeting that was resumed: the latest end, and everything that stood before it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.domain.ending.arbitration import Choice
from app.domain.errors import MeetingNotEnded
from app.domain.meeting import events
from app.domain.meeting.events import Event
from app.domain.meeting.history import history
from app.domain.meeting.meeting import CompletionGate, Language, Limits
from app.outbound.minutes_folder import file_name, write_minutes
from app.records.catalogue import WORDS
from app.records.decision import decision_json, decision_markdown
from app.records.handoff import handoff_json
from app.records.minutes import minutes_json, minutes_markdown
from app.records.rulings import questions
from tests.formats.council.test_story import answers as council_answers
from tests.formats.council.test_story import council
from tests.records.held import Log, answers, ended, held, meeting, stances
from tests.records.ruled import PERSON
from tests.records.test_rulings import in_council

HOSTILE = "Go on.\n\n# Not a heading\n<script>alert(1)</script>"
DRAFT = [{"id": "terms", "version": "2", "title": "# Terms", "text": "Payment in 30 days."}]


def undecided(**fields: Any) -> list[Event]:
    """Two rounds without consensus, up to the end."""
    split = [stances("AGREE", "DISAGREE", "NEUTRAL"), stances("AGREE", "DISAGREE", "NEUTRAL")]
    return ended(held(meeting(limits=Limits(rounds=2), **fields), answers(split)))


def going_on(log: Sequence[Event], number: int = 1, **fields: Any) -> Log:
    continued = Log(meeting(), answers([]), list(log))
    given: dict[str, Any] = {"after_round": 2, "limits": Limits(rounds=3).record()}
    continued.resume(number, **(given | fields))
    return continued


def with_a_third_round(log: Log) -> list[Event]:
    """Another leg: a round in which all agree, and the decision."""
    first = next(e for e in log.events if e.type == events.ROUND_STARTED).data
    log.add(events.ROUND_STARTED, **{**first, "round": 3})
    closed = next(e for e in log.events if e.type == events.ROUND_CLOSED).data
    log.add(events.ROUND_CLOSED, **{**closed, "round": 3})
    decided = next(e for e in log.events if e.type == events.DECISION_RECORDED).data
    by = {"kind": "consensus", "name": "MAJORITY_CONSENSUS", "scope": "One, by June."}
    agreed = {"result": "decided", "stopped_by": "consensus", "decision": "One, by June."}
    agreed |= {"decision_source": "motion", "decided_by": by}
    log.add(events.DECISION_RECORDED, **{**decided, **agreed})
    return log.events


def resumed_and_decided(language: Language = "en", **fields: Any) -> list[Event]:
    return with_a_third_round(going_on(undecided(language=language), **fields))


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_minutes_tell_what_changed_and_what_stood_before(language: Language) -> None:
    words = WORDS[language]
    minutes = minutes_markdown(resumed_and_decided(language, note=HOSTILE, materials=DRAFT))
    assert "\nresult: " in minutes
    assert 'result: "decided"' in minutes
    assert "resumed: 1" in minutes
    told = minutes.split(f"## {words('heading.resumed', number=1)}\n")[1]
    told = told.split(f"## {words('heading.round', round=3)}\n")[0]
    assert words("result.undecided") in told
    assert words("stopped.rounds") in told
    assert f"| {words('label.rounds')} | 2 | 3 |" in told
    assert words("label.time") not in told
    assert "> \\# Not a heading" in told
    assert "\n> <script>" not in minutes
    assert "terms" in told
    assert minutes.index(words("heading.round", round=2)) < minutes.index(told)


def test_limits_that_stayed_are_not_listed() -> None:
    same = Limits(rounds=2).record()
    minutes = minutes_markdown(resumed_and_decided(limits=same, acknowledged=["op_1"]))
    assert WORDS["en"]("resumed.same_limits") in minutes
    assert WORDS["en"]("resumed.acknowledged", ids="op_1") in minutes


def test_the_json_records_hold_the_earlier_outcomes() -> None:
    log = resumed_and_decided()
    for record in (minutes_json(log), decision_json(log)):
        (resumption,) = record["resumptions"]
        assert resumption["outcome"]["stopped_by"] == "rounds"
        assert resumption["outcome"]["tally"]["counts"]
        assert (resumption["limits_before"]["rounds"], resumption["limits"]["rounds"]) == (2, 3)
        assert (resumption["number"], resumption["after_round"]) == (1, 2)
    assert decision_json(log)["decision"] == "One, by June."
    assert minutes_json(log)["limits"]["rounds"] == 3
    assert [each["round"] for each in minutes_json(log)["rounds"]] == [1, 2, 3]
    assert WORDS["en"]("heading.resumed", number=1) in decision_markdown(log)


def test_a_meeting_that_was_never_resumed_says_nothing_of_it() -> None:
    log = undecided()
    assert minutes_json(log)["resumptions"] == decision_json(log)["resumptions"] == []
    assert "esumed" not in minutes_markdown(log) + decision_markdown(log)


def test_while_it_runs_again_there_is_no_decision_and_nothing_to_hand_over() -> None:
    log = going_on(undecided()).events
    assert 'status: "running"' in minutes_markdown(log)
    assert WORDS["en"]("heading.resumed", number=1) in minutes_markdown(log)
    for record in (decision_json, handoff_json):
        with pytest.raises(MeetingNotEnded):
            record(log)


def test_the_time_between_an_end_and_a_resuming_is_not_spent() -> None:
    first = undecided()
    log = going_on(first)
    running = history(first[:-3]).spent["seconds"]  # the decision is three from the end
    log.add(events.ROUND_STARTED, round=3, motion="One repository.")
    # Every entry of these logs is a second after the one before.
    assert history(log.events).spent["seconds"] == running + 2


def test_twice() -> None:
    log = going_on(undecided())
    again = next(e for e in log.events if e.type == events.DECISION_RECORDED).data
    log.add(events.DECISION_RECORDED, **{**again, "stopped_by": "cancellation"})
    log.end()
    twice = with_a_third_round(going_on(log.events, 2))
    record = decision_json(twice)["resumptions"]
    assert [each["outcome"]["stopped_by"] for each in record] == ["rounds", "cancellation"]
    assert "resumed: 2" in minutes_markdown(twice)


def test_what_an_earlier_cancel_could_not_confirm_stays_visible() -> None:
    log = Log(meeting(), answers([]), undecided()[:-3])
    item = {"kind": "request", "ref": "req_1", "state": "unconfirmed"}
    log.add(events.CANCELLATION_REQUESTED, reason="lunch")
    log.add(events.CANCELLATION_CLOSED, state="unconfirmed", items=[item])
    decided = next(e for e in undecided() if e.type == events.DECISION_RECORDED).data
    log.add(events.DECISION_RECORDED, **{**decided, "result": "cancelled"})
    log.end()
    twice = with_a_third_round(going_on(log.events))
    told = minutes_markdown(twice).split("## Resumed (1)")[1].split("## Round 3")[0]
    assert "> lunch" in told
    assert "| request | req_1 | unconfirmed |" in told
    (resumption,) = decision_json(twice)["resumptions"]
    assert resumption["cancellation"]["items"] == [item]
    assert minutes_json(twice)["cancellation"] is None


def test_a_question_of_an_earlier_leg_waits_for_nobody() -> None:
    log = Log(meeting(), answers([]), undecided()[:-3])
    choice = Choice("adopt", "One repository.").record()
    log.add(
        events.ARBITRATION_OPENED,
        question="One?",
        scope="One?",
        choices=[choice],
        arbiter={"kind": "human", "agent": None, "name": None},
        round=2,
        deadline="2026-12-01T00:00:00+00:00",
    )
    log.add(events.CANCELLATION_REQUESTED, reason=None)
    decided = next(e for e in undecided() if e.type == events.DECISION_RECORDED).data
    log.add(events.DECISION_RECORDED, **decided)
    log.end()
    past = history(going_on(log.events).events)
    assert past.status == "running"
    assert [asked.state for asked in questions(past)] == ["overtaken"]


def test_what_ran_out_before_is_no_open_point_of_the_latest_end() -> None:
    log = Log(meeting(), answers([]), undecided())
    log.events.insert(2, Event(events.BUDGET_EXHAUSTED, {"round": 1}, log.events[1].at))
    assert not history(with_a_third_round(going_on(log.events))).exhausted


def test_every_end_has_a_file_of_its_own(tmp_path: Path) -> None:
    first = write_minutes(tmp_path, undecided(), minutes_markdown(undecided()))
    kept = first.read_text()
    second = write_minutes(tmp_path, resumed_and_decided(), minutes_markdown(resumed_and_decided()))
    assert (first.name, second.name) == (
        file_name(meeting(), "2026-11-30"),
        file_name(meeting(), "2026-11-30", 2),
    )
    assert second.name == f"{first.stem}.2.md"
    assert first.read_text() == kept
    assert (
        write_minutes(tmp_path, resumed_and_decided(), minutes_markdown(resumed_and_decided()))
        == second
    )
    assert len(list(tmp_path.iterdir())) == 2


def test_the_closing_question_is_timed_without_the_time_in_between() -> None:
    log = Log(meeting(completion_gate=CompletionGate()), answers([]))
    log.open()
    log.add(events.COMPLETION_SIGNALLED, participant="sceptic", completion="complete", attempt=1)
    decided = next(e for e in undecided() if e.type == events.DECISION_RECORDED).data
    log.add(events.DECISION_RECORDED, **decided)
    log.end()
    log.resume()
    log.add(events.COMPLETION_SIGNALLED, participant="operator", completion="complete", attempt=1)
    minutes = minutes_markdown(log.events)
    # Every entry of these logs is a second after the one before; three lay in between.
    assert "| 1 s | 1 | sceptic |" in minutes
    assert "| 3 s | 1 | operator |" in minutes


# --- the handoff of a meeting that goes on -------------------------------------------------------


def another_pass(log: Log, first: Sequence[Event]) -> None:
    """The council's first pass once more, in rounds 3 and 4, with other words."""
    in_rounds = (events.ROUND_STARTED, events.REPLY_RECEIVED, events.ROUND_CLOSED)
    for event in first:
        # Answers to the closing question are none of a round.
        if event.type in in_rounds and "completion" not in event.data:
            again = {"round": event.data["round"] + 2}
            if event.type == events.REPLY_RECEIVED:
                again["text"] = f"Anew: {event.data['text']}"
            log.add(event.type, **{**event.data, **again})


def council_going_on() -> tuple[Log, list[Event]]:
    """A council whose question expired, resumed; and its events before the resuming."""
    first = in_council(waits=False)
    log = Log(council(arbiter=PERSON), council_answers(), list(first))
    log.end()
    log.resume(after_round=2)
    return log, first


def test_a_resumed_council_is_handed_over_with_its_latest_answers_and_draft() -> None:
    log, first = council_going_on()
    another_pass(log, first)
    drafted = next(e for e in first if e.type == events.OFFICE_REPLIED).data
    draft = {**drafted["synthesis"], "decision": "Drafted anew."}
    log.add(events.OFFICE_REPLIED, **{**drafted, "synthesis": draft})
    question = next(e for e in first if e.type == events.ARBITRATION_OPENED).data
    log.add(events.ARBITRATION_OPENED, **{**question, "question": "And now?"})
    record = handoff_json(log.events)
    assert {each["round"] for each in record["excerpts"]} == {3}
    assert all(each["text"].startswith("Anew: ") for each in record["excerpts"])
    assert record["synthesis"]["decision"] == "Drafted anew."
    assert record["candidates"] == [{"id": "synthesis", "text": "Drafted anew."}]
    assert (record["question"]["question"], record["question"]["state"]) == ("And now?", "open")
    # Nobody has judged this draft yet; what was said of the earlier one is not about it.
    assert record["sides"] == []


def test_what_an_earlier_leg_drafted_and_asked_is_none_of_the_present_end() -> None:
    log, first = council_going_on()
    decided = next(e for e in first if e.type == events.DECISION_RECORDED).data
    ended_by = {"result": "cancelled", "stopped_by": "cancellation", "synthesis": None}
    log.add(events.DECISION_RECORDED, **{**decided, **ended_by, "dissents": []})
    record = handoff_json(log.events)
    assert history(first).drafted is not None
    assert record["synthesis"] is None
    assert (record["candidates"], record["sides"], record["settled"]) == ([], [], [])
    assert record["question"]["state"] == "not_put"
