"""Holds a round table by hand: replies are given, events come back. No clock, no agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from app.domain.meeting import events
from app.domain.meeting.entries import Content, Event
from app.domain.meeting.meeting import Language, Limits, Meeting, Seat
from app.domain.meeting.outcome import Outcome, StopReason
from app.domain.money import Cost
from app.domain.replies.reading import Reply, ReplyStatus
from app.domain.steps import Arbitrate, Ask, Confirm, Gather, Note, Save, Stopped
from app.domain.values import JsonObject
from app.formats.roundtable import story as roundtable
from app.prompts.wording import sentence

START = datetime(2026, 11, 30, 23, 59, 58, tzinfo=UTC)
SYNTHESIS = (
    '{"decision": "Adopt one repository for the four services.", "agreed": ["One release train"],'
    ' "differ": ["Who owns the build"], "concerns": ["Checkout time"],'
    ' "recommendation": "Move the smallest service first."}'
)
SUMMARY = "SUMMARY: A wants one repository; B doubts it.\nMOTION: Adopt one repository by June."

Answers = Callable[[Ask], str | ReplyStatus]

_Told = TypeVar("_Told", bound=Content)


def meeting(
    topic: str = "Should the platform team use one repository?",
    language: Language = "en",
    names: Sequence[str] = ("architect", "operator", "sceptic"),
    **fields: Any,
) -> Meeting:
    seats = tuple(Seat(name, f"looks at it as {name}", "default") for name in names)
    settings: dict[str, Any] = {
        "id": "mtg_01k9zq4m7x",
        "format": "roundtable",
        "format_version": 1,
        "topic": topic,
        "seats": seats,
        "secretary": "default",
        "language": language,
        "limits": Limits(usd=Decimal("0.50")),
    }
    return Meeting(**(settings | fields))


def answers(
    rounds: Sequence[Mapping[str, str | ReplyStatus]],
    synthesis: str | ReplyStatus = SYNTHESIS,
    summary: str | ReplyStatus = SUMMARY,
) -> Answers:
    """What each participant says in each round, by name."""

    def answer(ask: Ask) -> str | ReplyStatus:
        if ask.template.endswith("/compress"):
            return summary
        if ask.template.endswith("/synthesis"):
            return synthesis
        return rounds[ask.round - 1][ask.who]

    return answer


def stances(*given: str) -> dict[str, str | ReplyStatus]:
    """A round of plain replies: architect, operator and sceptic, by their stances."""
    names = ("architect", "operator", "sceptic")
    return {
        name: f"{name} has a reason for this.\n\n[STANCE: {stance}]"
        for name, stance in zip(names, given, strict=True)
    }


@dataclass
class Log:
    meeting: Meeting
    answer: Answers
    events: list[Event] = field(default_factory=list[Event])
    replies: int = 0

    def tell(self, content: Content) -> Event:
        seq = len(self.events) + 1
        at = START + timedelta(seconds=seq)
        event = Event(content, at, meeting_id=self.meeting.id, seq=seq, number=seq)
        self.events.append(event)
        return event

    def open(self, warnings: Sequence[str] = ()) -> None:
        agents: dict[str, JsonObject] = {
            "default": {
                "kind": "llm",
                "model": "openai:small",
                "max_output_tokens": 800,
                "price": None,
            }
        }
        created = events.MeetingCreated(
            meeting=self.meeting, plan={}, warnings=tuple(warnings), agents=agents
        )
        self.tell(created)
        self.tell(events.MeetingStarted(deadline=START + timedelta(seconds=600)))

    def reply_to(self, ask: Ask) -> Reply:
        given = self.answer(ask)
        office = ask.office != "participant"
        if isinstance(given, ReplyStatus):
            reply = Reply(ask.who, ask.round, given, "", ask.reading.absent(given), "No reply.")
        else:
            read = ask.reading.read(given)
            status = ReplyStatus.OK if read.fault is None else ReplyStatus.INVALID
            fault = None if read.fault is None else sentence(read.fault, self.meeting.language)
            reply = Reply(ask.who, ask.round, status, given, read.values, fault)
        self.replies += 0 if office else 1
        kind = events.OfficeReplied if office else events.ReplyReceived
        told = kind(
            participant=reply.who,
            round=reply.round,
            status=reply.status,
            text=reply.text,
            read=reply.values,
            reason=reply.reason,
            usage=Cost(100, 20, Decimal("0.0011")),
            model="openai:small",
            finish="stop",
            request_id=ask.key,
            seconds=1.25,
        )
        self.tell(told)
        return reply

    def record(self, outcome: Outcome) -> None:
        spent: JsonObject = {
            "replies": self.replies,
            "seconds": 41.2,
            "usd": "0.0132",
            "tokens": {"input": 1200, "output": 240},
            "unconfirmed": {"requests": 0, "usd": "0", "tokens": 0},
        }
        format_ = self.meeting.format
        self.tell(events.DecisionRecorded(outcome=outcome, format=format_, spent=spent))

    def end(self) -> None:
        decided = decision_of(self.events)
        decided_at = self.events[-1].at
        self.tell(events.MinutesWritten(path="somewhere.md"))
        self.tell(events.MeetingEnded(outcome=decided.outcome, ended_at=decided_at))

    def resume(self, number: int = 1, after_round: int = 3, **fields: Any) -> None:
        content: dict[str, Any] = {
            "changed": "order",
            "note": "The order of the work has changed. # Not a heading",
            "after_round": after_round,
            "limits": self.meeting.limits,
            "deadline": START + timedelta(seconds=900),
            "resumption": number,
        }
        self.tell(events.MeetingResumed(**(content | fields)))


def told(log: Sequence[Event], kind: type[_Told]) -> _Told:
    """What the first entry of this type says."""
    return next(event.content for event in log if isinstance(event.content, kind))


def decision_of(log: Sequence[Event]) -> events.DecisionRecorded:
    """The latest decision, which nothing but the end follows in these logs."""
    decided = log[-1].content
    assert isinstance(decided, events.DecisionRecorded)
    return decided


def decided_otherwise(decided: events.DecisionRecorded, **fields: Any) -> events.DecisionRecorded:
    """The same decision with another outcome."""
    outcome = replace(decided.outcome, **fields)
    return msgspec.structs.replace(decided, outcome=outcome)


def held(
    meeting_: Meeting,
    answer: Answers,
    *,
    stop_before: str | None = None,
    stop: StopReason = StopReason.CANCELLATION,
    warnings: Sequence[str] = (),
) -> list[Event]:
    """The events up to ``decision.recorded``; ``stop_before`` names a step that is not begun."""
    log = Log(meeting_, answer)
    log.open(warnings)
    conversation = roundtable.hold(meeting_)
    try:
        step = next(conversation)
        while True:
            if isinstance(step, Note):
                log.tell(step.content)
                step = conversation.send(None)
            elif isinstance(step, Arbitrate | Confirm | Save):
                raise AssertionError("A round table as plain as these has no such step.")
            elif _key(step) == stop_before:
                _cancel(log, stop)
                step = conversation.throw(Stopped(stop))
            else:
                step = conversation.send(tuple(log.reply_to(ask) for ask in step.asks))
    except StopIteration as end:
        log.record(end.value)
    return log.events


def _key(step: Gather) -> str:
    return step.asks[0].key


def _cancel(log: Log, stop: StopReason) -> None:
    if stop is not StopReason.CANCELLATION:
        return
    log.tell(events.CancellationRequested(reason="The question is moot. # Not a heading"))
    items = (
        events.CancelItem(kind="request", ref="round-2/ask/architect", state="unconfirmed"),
        events.CancelItem(kind="request", ref="round-2/ask/operator", state="stopped"),
    )
    log.tell(events.CancellationClosed(state="unconfirmed", items=items))


def ended(log: Sequence[Event]) -> list[Event]:
    """The same meeting with what follows the decision: the minutes' file and the end."""
    continued = Log(meeting(), answers([]), list(log))
    continued.end()
    return continued.events


def three_rounds(**fields: Any) -> list[Event]:
    """Three by three: split, then a change of mind, then a majority."""
    rounds = [
        stances("AGREE", "DISAGREE", "NEUTRAL"),
        stances("AGREE", "DISAGREE", "AGREE")
        | {"sceptic": "Now I see it.\nCHANGED BECAUSE: the build got shorter\n[STANCE: AGREE]"},
        stances("AGREE", "NEUTRAL", "AGREE"),
    ]
    return held(meeting(**fields), answers(rounds))
