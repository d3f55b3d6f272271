"""The completion gate (PROTOCOLS 10) and arbitration (PROTOCOLS 11)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self, cast

from app.domain.ending.arbitration import Choice, Ruling
from app.domain.meeting.entries import Content, Flat
from app.domain.meeting.meeting import Arbiter
from app.domain.replies.reading import ReplyStatus
from app.domain.values import JsonObject, rfc3339


class GateAsked(Content, frozen=True, kw_only=True):
    """The closing question was put; its time begins."""

    type = "gate.asked"
    internal = True

    round: int


class CompletionSignalled(Content, frozen=True, kw_only=True):
    type = "completion.signalled"

    round: int
    participant: str
    completion: str
    reason: str = ""
    attempt: int = 1


class CompletionNudged(Content, frozen=True, kw_only=True):
    type = "completion.nudged"

    round: int
    participants: tuple[str, ...]
    attempt: int = 1


class CompletionClosed(Content, frozen=True, kw_only=True):
    type = "completion.closed"

    round: int
    status: str
    attempt: int
    completed_by: tuple[str, ...] = ()
    reasons: Mapping[str, str] = {}
    warning: str | None = None


class ArbitrationOpened(Flat, frozen=True, kw_only=True):
    type = "arbitration.opened"

    question_id: str
    round: int
    question: str
    choices: tuple[Choice, ...]
    scope: str
    deadline: datetime
    arbiter: Arbiter

    def record(self) -> JsonObject:
        return {
            "question_id": self.question_id,
            "round": self.round,
            "question": self.question,
            "choices": [choice.record() for choice in self.choices],
            "scope": self.scope,
            "deadline": rfc3339(self.deadline),
            "arbiter": self.arbiter.record(),
        }

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        return cls(
            question_id=given["question_id"],
            round=given["round"],
            question=given["question"],
            choices=tuple(Choice.read(choice) for choice in given["choices"]),
            scope=given["scope"],
            deadline=datetime.fromisoformat(given["deadline"]),
            arbiter=Arbiter.read(given["arbiter"]),
        )


class ArbitrationRuled(Content, frozen=True, kw_only=True):
    type = "arbitration.ruled"
    from_outside = True

    question_id: str
    round: int
    choice: str
    reason: str
    decided_by: str
    conditions: str | None = None

    @property
    def ruling(self) -> Ruling:
        return Ruling(self.choice, self.reason, self.decided_by, self.conditions)


class ArbitrationExpired(Content, frozen=True, kw_only=True):
    """``reason`` is the status of the reply that was missing."""

    type = "arbitration.expired"

    question_id: str
    round: int
    reason: str = ReplyStatus.TIMEOUT.value
