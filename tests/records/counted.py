"""The logs of votes and polls held by hand, for what records show of them."""

from __future__ import annotations

from app.domain.meeting.events import Event
from app.domain.meeting.meeting import Meeting
from app.domain.steps import Gather, Note
from app.formats import FORMATS
from tests.records.held import Answers, Log


def held(meeting: Meeting, answer: Answers) -> list[Event]:
    """The events up to ``decision.recorded``."""
    log = Log(meeting, answer)
    log.open()
    conversation = FORMATS[meeting.format].hold(meeting)
    try:
        step = next(conversation)
        while True:
            if isinstance(step, Note):
                log.add(step.type, **step.content)
                step = conversation.send(None)
            else:
                assert isinstance(step, Gather)  # no gate and no arbiter here
                step = conversation.send(tuple(log.reply_to(ask) for ask in step.asks))
    except StopIteration as end:
        log.record(end.value)
    return log.events
