"""What records show of an arbitration (PROTOCOLS 11): the question, its limits, and the answer.

It says who decided which scope, and never that anybody agreed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from app.domain.ending.arbitration import Choice
from app.domain.meeting.events import ArbitrationExpired, ArbitrationOpened, ArbitrationRuled
from app.domain.meeting.history import History, Recorded
from app.domain.meeting.meeting import Arbiter
from app.domain.values import Json, rfc3339
from app.records.catalogue import Words
from app.records.containment import inline, quoted
from app.records.degradation import bullets

State = Literal["open", "ruled", "expired", "overtaken"]
"""``overtaken``: the meeting ended, by a cancel or a limit, before there was a ruling."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question that was put to an arbiter, and the leg in which it was. ``closed`` is what its
    answer or expiry holds."""

    text: str
    scope: str
    choices: tuple[Choice, ...]
    arbiter: Arbiter
    round: int
    opened_at: datetime
    deadline: datetime
    state: State
    leg: int
    closed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    closed_at: datetime | None = None

    @property
    def allowed(self) -> tuple[Choice, ...]:
        return tuple(choice for choice in self.choices if not choice.barred_by)

    def record(self) -> dict[str, Json]:
        return {
            "question": self.text,
            "scope": self.scope,
            "choices": [choice.record() for choice in self.choices],
            "arbiter": self.arbiter.record(),
            "round": self.round,
            "opened_at": rfc3339(self.opened_at),
            "deadline": rfc3339(self.deadline),
            "state": self.state,
            "closed_at": None if self.closed_at is None else rfc3339(self.closed_at),
            "ruling": self._ruling(),
            "expired_because": self.closed.get("reason") if self.state == "expired" else None,
        }

    def _ruling(self) -> dict[str, Json] | None:
        fields = ("choice", "conditions", "reason", "decided_by")
        return {key: self.closed[key] for key in fields} if self.state == "ruled" else None


def questions(past: History) -> tuple[Question, ...]:
    """Every question that was put, in order; more than one only in a meeting that was resumed."""
    found: list[Question] = []
    for event in past.arbitration:
        if event.type == ArbitrationOpened.type:
            over = past.ended or past.cancellation is not None or event.leg < past.leg
            found.append(_opened(event, "overtaken" if over else "open"))
        elif event.type in _CLOSED and found:
            state = _CLOSED[event.type]
            asked = found.pop()
            found.append(replace(asked, state=state, closed=event.data, closed_at=event.at))
    return tuple(found)


def present_question(past: History) -> Question | None:
    """The latest question of the present leg; those of earlier ones are over with their end."""
    return next((asked for asked in reversed(questions(past)) if asked.leg == past.leg), None)


_CLOSED: Mapping[str, State] = {ArbitrationRuled.type: "ruled", ArbitrationExpired.type: "expired"}


def _opened(event: Recorded, state: State) -> Question:
    data = event.data
    return Question(
        text=data["question"],
        scope=data["scope"],
        choices=tuple(Choice.read(choice) for choice in data["choices"]),
        arbiter=Arbiter.read(data["arbiter"]),
        round=data["round"],
        opened_at=event.at,
        deadline=datetime.fromisoformat(data["deadline"]),
        state=state,
        leg=event.leg,
    )


def arbitration(words: Words, past: History, level: int = 2) -> Iterator[str]:
    """Each question with its choices, who could rule until when, and what came of it."""
    for asked in questions(past):
        yield f"{'#' * level} {words('heading.arbitration')}"
        yield words(
            "ruling.put",
            at=words.moment(asked.opened_at),
            until=words.moment(asked.deadline),
            arbiter=arbiter_text(words, asked.arbiter),
        )
        yield quoted(asked.text)
        yield from choices(words, asked.choices)
        yield from _answer(words, asked)


def choices(words: Words, offered: Sequence[Choice]) -> Iterator[str]:
    yield words("ruling.choices")
    yield bullets([_choice(words, choice) for choice in offered])


def _choice(words: Words, choice: Choice) -> str:
    # An option is its own id, and a rejection names itself before what it rejects.
    text = choice.text.removeprefix(f"{choice.id}: ")
    if choice.id == text:
        return inline(text)
    named = {"id": inline(choice.id), "text": inline(text)}
    if not choice.barred_by:
        return words("ruling.choice", **named)
    criteria = words.joined(inline(id_) for id_ in choice.barred_by)
    return words("ruling.barred", **named, criteria=criteria)


def arbiter_text(words: Words, arbiter: Arbiter) -> str:
    if arbiter.kind == "agent":
        agent = inline(arbiter.agent or "")
        if arbiter.name is None:
            return words("ruling.agent", agent=agent)
        return words("ruling.named_agent", name=inline(arbiter.name), agent=agent)
    if arbiter.name is None:
        return words("ruling.person")
    return words("ruling.named", name=inline(arbiter.name))


def _answer(words: Words, asked: Question) -> Iterator[str]:
    if asked.state == "ruled":
        yield from _ruled(words, asked)
        return
    key = f"ruling.{asked.state}"
    reason = str(asked.closed.get("reason") or "timeout")
    if asked.state == "expired" and reason != "timeout":
        yield words(f"{key}_because", status=words.either(f"status.{reason}", inline(reason)))
    else:
        yield words(key)


def _ruled(words: Words, asked: Question) -> Iterator[str]:
    picked = next(choice for choice in asked.choices if choice.id == asked.closed["choice"])
    yield words(
        "ruling.ruled",
        name=inline(asked.closed["decided_by"]),
        at=words.moment(asked.closed_at),
        choice=inline(picked.id),
    )
    if asked.closed["conditions"]:
        yield words("ruling.conditions")
        yield quoted(asked.closed["conditions"])
    if asked.closed["reason"]:
        yield words("ruling.reason")
        yield quoted(asked.closed["reason"])
