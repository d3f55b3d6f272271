"""Reading a synthesis (PROTOCOLS 16): the secretary's or the chair's closing draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.text import clean, last_json_object
from app.domain.values import Json

MOST_SENTENCE_CHARACTERS = 4_000
"""Of any one text of a synthesis."""

_MOST_POINTS = 20
_TEXTS = ("decision", "recommendation")
_LISTS = ("agreed", "differ", "concerns")


class SynthesisReading:
    """Reads the closing draft; one without a decision or a recommendation is at fault."""

    def read(self, text: str) -> Read:
        draft = last_json_object(text)
        if draft is None:
            return Read(self.absent(ReplyStatus.INVALID), Message.of(Code.NO_OBJECT))
        synthesis: dict[str, Json] = {key: _text(draft.get(key)) for key in _TEXTS}
        synthesis |= {key: _points(draft.get(key)) for key in _LISTS}
        if not (synthesis["decision"] or synthesis["recommendation"]):
            return Read({"synthesis": None}, Message.of(Code.SYNTHESIS_EMPTY))
        return Read({"synthesis": synthesis})

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"synthesis": None}


def _text(value: object) -> str:
    return clean(value, MOST_SENTENCE_CHARACTERS) if isinstance(value, str) else ""


def _points(value: object) -> list[str]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return []
    points = [_text(point) for point in cast("list[Any]", value)]
    return [point for point in points if point][:_MOST_POINTS]
