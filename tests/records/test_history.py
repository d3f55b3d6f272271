"""The fold behind every record, and the rounds as the HTTP contract shows them."""

from __future__ import annotations

from app.domain.meeting import events
from app.domain.meeting.history import history, rounds_record
from tests.records.held import Log, answers, ended, meeting, three_rounds


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
    log.add(events.ROUND_STARTED, round=1, motion="m")
    for name in ("sceptic", "architect"):
        log.add(
            events.REPLY_RECEIVED,
            participant=name,
            round=1,
            status="ok",
            text="x",
            attempt=1,
            final=True,
            reason=None,
            usage=None,
            ballot="A",
        )
    (round_,) = rounds_record(log.events)
    assert [reply["participant"] for reply in round_["replies"]] == ["architect", "sceptic"]
    assert round_["ballots"] == {"architect": "A", "sceptic": "A"}


def test_other_formats_events_are_listed() -> None:
    log = Log(meeting(), answers([]))
    log.open()
    log.add(events.OBJECTION_RAISED, id="obj-1", severity="blocking")
    log.add(events.COMPLETION_SIGNALLED, participant="sceptic", signal="complete")
    log.add(events.OPERATION_HAPPENED, happened="sent", operation={"id": "op_1"})
    past = history(log.events)
    assert [e.type for e in past.objections] == [events.OBJECTION_RAISED]
    assert past.completions[0].record()["signal"] == "complete"
    assert past.operations == ({"id": "op_1"},)


def test_a_resumed_meeting_runs_again() -> None:
    log = Log(meeting(), answers([]), ended(three_rounds()))
    assert history(log.events).ended
    log.resume()
    past = history(log.events)
    assert past.status == "running"
    assert past.decision is None


def test_money_is_counted_with_the_offices() -> None:
    past = history(three_rounds()[:-1])
    assert past.replies == 9
    assert past.spent["tokens"] == {"input": 1200, "output": 240}
    assert past.spent["usd"] == "0.0132"
