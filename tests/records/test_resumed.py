"""Records of a meeting that was resumed: the latest end, and everything that stood before it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from app.domain.ending.arbitration import Choice
from app.domain.errors import MeetingNotEnded
from app.domain.meeting import events
from app.domain.meeting.entries import Event
from app.domain.meeting.history import history
from app.domain.meeting.meeting import Arbiter, CompletionGate, Language, Limits, Material
from app.domain.meeting.outcome import DecidedBy, Result, StopReason
from app.outbound.minutes_folder import file_name, write_minutes
from app.records.catalogue import words_in
from app.records.decision import decision_json, decision_markdown
from app.records.handoff import handoff_json
from app.records.minutes import minutes_json, minutes_markdown
from app.records.rulings import questions
from tests.formats.council.test_story import answers as council_answers
from tests.formats.council.test_story import council
from tests.records.held import (
    Log,
    answers,
    decided_otherwise,
    ended,
    held,
    meeting,
    stances,
    told,
)
from tests.records.ruled import PERSON
from tests.records.test_rulings import in_council

HOSTILE = "Go on.\n\n# Not a heading\n<script>alert(1)</script>"
DRAFT = (Material(id="terms", version="2", title="# Terms", text="Payment in 30 days."),)


def undecided(**fields: Any) -> list[Event]:
    """Two rounds without consensus, up to the end."""
    split = [stances("AGREE", "DISAGREE", "NEUTRAL"), stances("AGREE", "DISAGREE", "NEUTRAL")]
    return ended(held(meeting(limits=Limits(rounds=2), **fields), answers(split)))


def going_on(log: Sequence[Event], number: int = 1, **fields: Any) -> Log:
    continued = Log(meeting(), answers([]), list(log))
    given: dict[str, Any] = {"after_round": 2, "limits": Limits(rounds=3)}
    continued.resume(number, **(given | fields))
    return continued


def with_a_third_round(log: Log) -> list[Event]:
    """Another leg: a round in which all agree, and the decision."""
    log.tell(structs.replace(told(log.events, events.RoundStarted), round=3))
    log.tell(structs.replace(told(log.events, events.RoundClosed), round=3))
    agreed = decided_otherwise(
        told(log.events, events.DecisionRecorded),
        result=Result.DECIDED,
        stopped_by=StopReason.CONSENSUS,
        decision="One, by June.",
        decision_source="motion",
        decided_by=DecidedBy("consensus", "MAJORITY_CONSENSUS", "One, by June."),
    )
    log.tell(agreed)
    return log.events


def resumed_and_decided(language: Language = "en", **fields: Any) -> list[Event]:
    return with_a_third_round(going_on(undecided(language=language), **fields))


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_minutes_tell_what_changed_and_what_stood_before(language: Language) -> None:
    words = words_in(language)
    minutes = minutes_markdown(resumed_and_decided(language, note=HOSTILE, materials=DRAFT))
    assert "\nresult: " in minutes
    assert 'result: "decided"' in minutes
    assert "resumed: 1" in minutes
    part = minutes.split(f"## {words('heading.resumed', number=1)}\n")[1]
    part = part.split(f"## {words('heading.round', round=3)}\n")[0]
    assert words("result.undecided") in part
    assert words("stopped.rounds") in part
    assert f"| {words('label.rounds')} | 2 | 3 |" in part
    assert words("label.time") not in part
    assert "> \\# Not a heading" in part
    assert "\n> <script>" not in minutes
    assert "terms" in part
    assert minutes.index(words("heading.round", round=2)) < minutes.index(part)


def test_limits_that_stayed_are_not_listed() -> None:
    same = Limits(rounds=2)
    minutes = minutes_markdown(resumed_and_decided(limits=same, acknowledged=("op_1",)))
    assert words_in("en")("resumed.same_limits") in minutes
    assert words_in("en")("resumed.acknowledged", ids="op_1") in minutes


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
    assert words_in("en")("heading.resumed", number=1) in decision_markdown(log)


def test_a_meeting_that_was_never_resumed_says_nothing_of_it() -> None:
    log = undecided()
    assert minutes_json(log)["resumptions"] == decision_json(log)["resumptions"] == []
    assert "esumed" not in minutes_markdown(log) + decision_markdown(log)


def test_while_it_runs_again_there_is_no_decision_and_nothing_to_hand_over() -> None:
    log = going_on(undecided()).events
    assert 'status: "running"' in minutes_markdown(log)
    assert words_in("en")("heading.resumed", number=1) in minutes_markdown(log)
    for record in (decision_json, handoff_json):
        with pytest.raises(MeetingNotEnded):
            record(log)


def test_the_time_between_an_end_and_a_resuming_is_not_spent() -> None:
    first = undecided()
    log = going_on(first)
    running = history(first[:-3]).spent["seconds"]  # the decision is three from the end
    log.tell(events.RoundStarted(round=3, motion="One repository."))
    # Every entry of these logs is a second after the one before.
    assert history(log.events).spent["seconds"] == running + 2


def test_twice() -> None:
    log = going_on(undecided())
    again = told(log.events, events.DecisionRecorded)
    log.tell(decided_otherwise(again, stopped_by=StopReason.CANCELLATION))
    log.end()
    twice = with_a_third_round(going_on(log.events, 2))
    record = decision_json(twice)["resumptions"]
    assert [each["outcome"]["stopped_by"] for each in record] == ["rounds", "cancellation"]
    assert "resumed: 2" in minutes_markdown(twice)


def test_what_an_earlier_cancel_could_not_confirm_stays_visible() -> None:
    log = Log(meeting(), answers([]), undecided()[:-3])
    item = events.CancelItem(kind="request", ref="req_1", state="unconfirmed")
    log.tell(events.CancellationRequested(reason="lunch"))
    log.tell(events.CancellationClosed(state="unconfirmed", items=(item,)))
    decided = told(undecided(), events.DecisionRecorded)
    log.tell(decided_otherwise(decided, result=Result.CANCELLED))
    log.end()
    twice = with_a_third_round(going_on(log.events))
    part = minutes_markdown(twice).split("## Resumed (1)")[1].split("## Round 3")[0]
    assert "> lunch" in part
    assert "| request | req_1 | unconfirmed |" in part
    (resumption,) = decision_json(twice)["resumptions"]
    unconfirmed = {"kind": "request", "ref": "req_1", "state": "unconfirmed"}
    assert resumption["cancellation"]["items"] == [unconfirmed]
    assert minutes_json(twice)["cancellation"] is None


def test_a_question_of_an_earlier_leg_waits_for_nobody() -> None:
    log = Log(meeting(), answers([]), undecided()[:-3])
    question = events.ArbitrationOpened(
        question_id="arbitration",
        question="One?",
        scope="One?",
        choices=(Choice("adopt", "One repository."),),
        arbiter=Arbiter("human"),
        round=2,
        deadline=datetime(2026, 12, 1, tzinfo=UTC),
    )
    log.tell(question)
    log.tell(events.CancellationRequested())
    log.tell(told(undecided(), events.DecisionRecorded))
    log.end()
    past = history(going_on(log.events).events)
    assert past.status == "running"
    assert [asked.state for asked in questions(past)] == ["overtaken"]


def test_what_ran_out_before_is_no_open_point_of_the_latest_end() -> None:
    log = Log(meeting(), answers([]), undecided())
    ran_out = events.BudgetExhausted(round=1, participant="operator")
    log.events.insert(2, Event(ran_out, log.events[1].at))
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
    signal = events.CompletionSignalled(round=1, participant="sceptic", completion="complete")
    log.tell(signal)
    log.tell(told(undecided(), events.DecisionRecorded))
    log.end()
    log.resume()
    log.tell(structs.replace(signal, participant="operator"))
    minutes = minutes_markdown(log.events)
    # Every entry of these logs is a second after the one before; three lay in between.
    assert "| 1 s | 1 | sceptic |" in minutes
    assert "| 3 s | 1 | operator |" in minutes


# --- the handoff of a meeting that goes on -------------------------------------------------------


def another_pass(log: Log, first: Sequence[Event]) -> None:
    """The council's first pass once more, in rounds 3 and 4, with other words."""
    for event in first:
        match event.content:
            case events.RoundStarted(round=number) | events.RoundClosed(round=number):
                log.tell(structs.replace(event.content, round=number + 2))
            # Answers to the closing question are none of a round.
            case events.ReplyReceived() as reply if "completion" not in reply.read:
                text = f"Anew: {reply.text}"
                log.tell(structs.replace(reply, round=reply.round + 2, text=text))
            case _:
                pass


def _synthesis(drafted: events.OfficeReplied) -> dict[str, Any]:
    synthesis = drafted.read["synthesis"]
    assert isinstance(synthesis, dict)
    return {**synthesis}


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
    drafted = told(first, events.OfficeReplied)
    draft: Any = {**_synthesis(drafted), "decision": "Drafted anew."}
    log.tell(structs.replace(drafted, read={**drafted.read, "synthesis": draft}))
    log.tell(structs.replace(told(first, events.ArbitrationOpened), question="And now?"))
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
    cancelled = decided_otherwise(
        told(first, events.DecisionRecorded),
        result=Result.CANCELLED,
        stopped_by=StopReason.CANCELLATION,
        synthesis=None,
        dissents=(),
    )
    log.tell(cancelled)
    record = handoff_json(log.events)
    assert history(first).drafted is not None
    assert record["synthesis"] is None
    assert (record["candidates"], record["sides"], record["settled"]) == ([], [], [])
    assert record["question"]["state"] == "not_put"
