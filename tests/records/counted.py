"""The logs of votes and polls held by hand, for what records show of them."""

from __future__ import annotations

import json

from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Meeting
from app.domain.steps import Gather, Note
from app.formats import FORMATS
from app.records.decision import decision_json, decision_markdown
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
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
                log.tell(step.content)
                step = conversation.send(None)
            else:
                assert isinstance(step, Gather)  # no gate and no arbiter here
                step = conversation.send(tuple(log.reply_to(ask) for ask in step.asks))
    except StopIteration as end:
        log.record(end.value)
    return log.events


_RAW = ("below_threshold", "high_variance", "off_topic", "numerator", ": None", "leaders")


def made_whole(log: list[Event]) -> None:
    """Every record can be made, and none leaves a key untold."""
    for text in (minutes_markdown(log), decision_markdown(log)):
        assert not [word for word in _RAW if word in text]
        assert "{" not in text.replace('{"', "")
    assert "<table>" in minutes_html(log)
    json.dumps([minutes_json(log), decision_json(log)])
