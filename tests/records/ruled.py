"""The logs of meetings that put a question to an arbiter, for what records show of them."""

from __future__ import annotations

from datetime import timedelta

from app.domain.ending.arbitration import Ruling
from app.domain.ending.completion_gate import Close
from app.domain.meeting import events
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Arbiter, Meeting
from app.domain.meeting.outcome import StopReason
from app.domain.steps import Arbitrate, Confirm, Gather, Note, Stopped
from app.domain.values import JsonValue
from app.formats import FORMATS
from tests.records.held import Answers, Log

PERSON = Arbiter("human", name="Ann Lee")


def put(
    meeting: Meeting,
    answer: Answers,
    ruling: Ruling | None = None,
    *,
    waits: bool = False,
    cancelled: bool = False,
    gate: Close | None = None,
) -> list[Event]:
    """The events up to ``decision.recorded``; with ``waits``, up to the open question."""
    log = Log(meeting, answer)
    log.open()
    conversation = FORMATS[meeting.format].hold(meeting)
    try:
        step = next(conversation)
        while True:
            match step:
                case Note():
                    log.tell(step.content)
                    step = conversation.send(None)
                case Gather():
                    step = conversation.send(tuple(log.reply_to(ask) for ask in step.asks))
                case Confirm():
                    step = conversation.send(gate)
                case Arbitrate():
                    _open(log, step)
                    if waits:
                        return log.events
                    if cancelled:
                        _cancel(log)
                        step = conversation.throw(Stopped(StopReason.CANCELLATION))
                    else:
                        _close(log, ruling)
                        step = conversation.send(ruling)
    except StopIteration as end:
        log.record(end.value)
    return log.events


def _open(log: Log, step: Arbitrate) -> None:
    assert log.meeting.arbiter is not None
    asked = events.ArbitrationOpened(
        question_id=step.key,
        round=step.round,
        question=step.question,
        choices=tuple(step.choices),
        scope=step.scope,
        deadline=log.events[-1].at + timedelta(seconds=61),
        arbiter=log.meeting.arbiter,
    )
    log.tell(asked)


def _close(log: Log, ruling: Ruling | None) -> None:
    content: dict[str, JsonValue] = {"question_id": "arbitration", "round": 1}
    if ruling is None:
        log.tell(events.ArbitrationExpired.of({**content, "reason": "timeout"}))
    else:
        log.tell(events.ArbitrationRuled.of({**content, **ruling.record()}))


def _cancel(log: Log) -> None:
    log.tell(events.CancellationRequested(reason="The question is moot."))
    items = (
        _request("req_1", "ann", "unconfirmed"),
        _request("req_2", "ben", "stopped"),
    )
    log.tell(events.CancellationClosed(state="unconfirmed", items=items))


def _request(ref: str, participant: str, state: str) -> events.CancelItem:
    return events.CancelItem(kind="request", ref=ref, participant=participant, state=state)
