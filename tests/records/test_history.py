"""The fold behind every record, and the rounds as the HTTP contract shows them."""

from __future__ import annotations

from app.domain.meeting import events
from app.domain.meeting.entries import of_record
from app.domain.meeting.history import history, rounds_record
from app.domain.operation.log import happened, operation_record
from app.domain.operation.state import OperationState
from app.domain.operation.terms import Operation, Sent
from app.domain.replies.reading import ReplyStatus
from app.domain.values import rfc3339
from tests.records.held import START, Log, answers, ended, meeting, three_rounds


def test_rounds_of_a_finished_meeting() -> None:
    first, second, third = rounds_record(ended(three_rounds()))
    assert first["round"] == 1
    assert first["state"] == "closed"
    assert first["stances"] == {"architect": "AGREE", "operator": "DISAGREE", "sceptic": "NEUTRAL"}
    assert first["summary"] == "A wants one repository; B doubts it."
    assert first["next_motion"] == second["motion"] == "Adopt one repository by June."
    assert second["progress"] == {"made": True, "reasons": ["stance_changed:sceptic"]}
    assert second["replies"][2]["changed_because"] == "the build got shorter"
    assert third["tally"]["consensus"] == "MAJORITY_CONSENSUS"
    assert third["summary"] is None


def test_rounds_of_a_running_meeting() -> None:
    log = three_rounds()
    assert rounds_record(log[:1]) == []
    (open_,) = rounds_record(log[:5])
    assert open_["state"] == "open"
    assert open_["tally"] is None
    assert len(open_["replies"]) == 2


def test_replies_are_in_the_order_of_the_seats() -> None:
    log = Log(meeting(), answers([]))
    log.open()
    log.tell(events.RoundStarted(round=1, motion="m"))
    for name in ("sceptic", "architect"):
        reply = events.ReplyReceived(
            participant=name, round=1, status=ReplyStatus.OK, text="x", read={"ballot": "A"}
        )
        log.tell(reply)
    (round_,) = rounds_record(log.events)
    assert [reply["participant"] for reply in round_["replies"]] == ["architect", "sceptic"]
    assert round_["ballots"] == {"architect": "A", "sceptic": "A"}


def test_other_formats_events_are_listed() -> None:
    log = Log(meeting(), answers([]))
    log.open()
    raised = events.ObjectionRaised(
        id="obj-1",
        critic="sceptic",
        severity="blocking",
        material="terms",
        quote="30 days",
        point="Too long.",
        resolves_when="It is 14.",
        support="exact",
        state="open",
        round=1,
        raised_in=1,
    )
    log.tell(raised)
    log.tell(events.CompletionSignalled(round=1, participant="sceptic", completion="complete"))
    operation = Operation("op_1", "https://wiki.example/a.md", "0" * 64, "dee", START)
    state = OperationState(operation).after(Sent(START))
    log.tell(happened(events.OperationHappened, "mtg_1", state, Sent(START)))
    past = history(log.events)
    assert [e.type for e in past.objections] == [events.ObjectionRaised.type]
    assert past.completions[0].record()["completion"] == "complete"
    assert past.operations == (operation_record("mtg_1", state).record(),)


def test_events_that_only_a_later_version_knows_are_listed_as_they_are() -> None:
    log = Log(meeting(), answers([]))
    log.open()
    log.tell(of_record("objection.withdrawn", {"id": "obj-1"}))
    (told,) = history(log.events).objections
    at = rfc3339(log.events[-1].at)
    assert told.record() == {"type": "objection.withdrawn", "id": "obj-1", "at": at}


def test_a_resumed_meeting_runs_again() -> None:
    log = Log(meeting(), answers([]), ended(three_rounds()))
    assert history(log.events).ended
    log.resume()
    past = history(log.events)
    assert past.status == "running"
    assert past.decision is None


def test_money_is_counted_with_the_offices() -> None:
    past = history(three_rounds()[:-1])
    assert past.state.replies == 9
    assert past.spent["tokens"] == {"input": 1200, "output": 240}
    assert past.spent["usd"] == "0.0132"
