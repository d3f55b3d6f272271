"""Putting one question to an arbiter, and reading the answer (PROTOCOLS 11, arbitration).

The arbiter picks among fixed choices and may add conditions; nothing else is within its scope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.errors import Conflict, Fault, InvalidRequest
from app.domain.replies.messages import Code, Message
from app.domain.replies.quoting import listed, shown
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.text import clean, folded, last_json_object, one_line
from app.domain.values import Json

MOST_REASON_CHARACTERS = 4_000
_MOST_CHOICE_CHARACTERS = 400


class OutOfScope(InvalidRequest):
    """A ruling that picks what was not offered, or drops what must be kept.

    ``message`` tells the same to an arbiter that is an agent, in the meeting's language.
    """

    code = "out-of-scope"

    def __init__(self, detail: str, message: Message) -> None:
        super().__init__(Fault("#/choice", detail))
        self.message = message


class NoQuestionOpen(Conflict):
    code = "no-question-open"


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer that an arbiter may give.

    ``barred_by`` are the required criteria that it would drop, by id: such a choice is named, so
    that everybody sees what stands against it, and may not be picked.
    """

    id: str
    text: str
    barred_by: tuple[str, ...] = ()

    def record(self) -> dict[str, Json]:
        barred = {"barred_by": list(self.barred_by)} if self.barred_by else {}
        return {"id": self.id, "text": self.text, **barred}

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Choice:
        return cls(record["id"], record["text"], tuple(record.get("barred_by", ())))


@dataclass(frozen=True, slots=True)
class Ruling:
    """An arbiter's answer to the question; ``decided_by`` names who gave it."""

    choice: str
    reason: str
    decided_by: str
    conditions: str | None = None

    def record(self) -> dict[str, Json]:
        return {
            "choice": self.choice,
            "reason": self.reason,
            "decided_by": self.decided_by,
            "conditions": self.conditions,
        }

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Ruling:
        return cls(record["choice"], record["reason"], record["decided_by"], record["conditions"])


def chosen(choices: Sequence[Choice], picked: str) -> Choice:
    """The choice that is meant, by its id or its text, whatever their case.

    Raises ``OutOfScope`` for what is not offered, and for what would drop a required criterion.
    """
    wanted = folded(picked)
    by_id = (choice for choice in choices if folded(choice.id) == wanted)
    by_text = (choice for choice in choices if folded(choice.text) == wanted)
    found = next(by_id, None) or next(by_text, None)
    if found is None:
        offered = [choice.id for choice in choices if not choice.barred_by]
        named = one_line(picked, _MOST_CHOICE_CHARACTERS)
        raise OutOfScope(
            f"The choice {named!r} is not one of those offered: {', '.join(offered)}.",
            Message.of(Code.CHOICE_UNKNOWN, value=shown(picked), offered=listed(offered)),
        )
    if found.barred_by:
        criteria = ", ".join(found.barred_by)
        detail = (
            f"The choice {found.id!r} would drop what is required and does not pass: {criteria}. "
            "An arbiter may not do that."
        )
        barred_by = listed(found.barred_by)
        raise OutOfScope(detail, Message.of(Code.CHOICE_BARRED, value=found.id, criteria=barred_by))
    return found


def ruling_deadline(now: datetime, seconds: float, talk_deadline: datetime) -> datetime:
    """How long the arbiter has: never past the meeting's deadline less its closing reserve."""
    return min(now + timedelta(seconds=seconds), talk_deadline)


@dataclass(frozen=True, slots=True)
class RulingReading:
    """Reads an arbiter's reply (PROTOCOLS 16); any other choice than those offered is a fault."""

    choices: tuple[Choice, ...]

    def read(self, text: str) -> Read:
        answer = last_json_object(text)
        if answer is None:
            return Read(self.absent(ReplyStatus.INVALID), Message.of(Code.NO_OBJECT))
        if answer.get("choice") is None:
            missing = Message.of(Code.KEY_MISSING, key="choice")
            return Read(self.absent(ReplyStatus.INVALID), missing)
        try:
            found = chosen(self.choices, str(answer["choice"]))
        except OutOfScope as outside:
            return Read(self.absent(ReplyStatus.INVALID), outside.message)
        return Read(
            {
                "choice": found.id,
                "conditions": _text(answer.get("conditions")) or None,
                "ruling_reason": _text(answer.get("reason")),
            }
        )

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"choice": None, "conditions": None, "ruling_reason": ""}


def _text(value: object) -> str:
    return clean(value, MOST_REASON_CHARACTERS) if isinstance(value, str) else ""
