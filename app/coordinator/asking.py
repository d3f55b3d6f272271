"""From a question to a recorded reply: limits of time, retries, reading, the second asking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from app.coordinator.journal import Overtaken
from app.coordinator.ports import Agent, Answer, Clock, Request
from app.coordinator.timing import TimeLimit
from app.domain.errors import (
    AgentFailure,
    AgentRefused,
    AgentUnavailable,
    LogUnavailable,
    NoRoom,
    Superseded,
)
from app.domain.meeting.events import Replied
from app.domain.money import Cost
from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import Reply, ReplyStatus
from app.domain.replies.text import sanitised
from app.domain.steps import Ask
from app.domain.values import Json

_Replied = TypeVar("_Replied", bound=Replied)

Again = Callable[[AgentUnavailable, int], Awaitable[bool]]
"""Waits after the failed attempt of this number until the request may be sent once more; False to
give up."""

MOST_REPLY_CHARACTERS = 65_536
_EXCERPT_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it. ``usage`` is None where nothing was counted.

    ``fault`` is the sentence with which the question is asked once more. It is the reply's
    ``reason`` too, so that the log alone is enough to go on after a crash.
    """

    reply: Reply
    attempt: int
    fault: str | None = None
    usage: Cost | None = None
    booked: Cost | None = None
    """The most that it can have cost, where nothing was counted."""
    answered: bool = False
    """Whether the far side worked for it, or may have: then it was not free, counted or not."""
    model: str | None = None
    finish: str | None = None
    seconds: float = 0.0

    @property
    def final(self) -> bool:
        """Whether this is the reply that counts, and not one that is asked for again."""
        return self.fault is None or self.attempt > 1

    def event(self, kind: type[_Replied], request_id: str) -> _Replied:
        """What the log holds of it: what was read, and how it came."""
        reply = self.reply
        return kind(
            participant=reply.who,
            round=reply.round,
            status=reply.status,
            text=reply.text,
            read=reply.values,
            reason=reply.reason,
            out_of_time=reply.out_of_time,
            attempt=self.attempt,
            final=self.final,
            usage=self.usage,
            booked=self.booked,
            model=self.model,
            finish=self.finish,
            request_id=request_id,
            seconds=round(self.seconds, 3),
        )


def unanswered(ask: Ask, status: ReplyStatus, reason: str, attempt: int = 1) -> Exchange:
    """The exchange when there is no reply to read."""
    values = ask.reading.absent(status)
    return Exchange(Reply(ask.who, ask.round, status, "", values, reason, attempt > 1), attempt)


async def exchange(
    clock: Clock,
    agent: Agent,
    ask: Ask,
    request: Request,
    attempt: int,
    say: Callable[[Message], str],
    again: Again,
) -> Exchange:
    """Send the request, until its deadline at the latest, and read what comes back.

    Whatever the agent does becomes an exchange with a status. ``say`` puts a message into the
    meeting's language; ``again`` makes ready to send the request once more, and only what it raises
    goes through, and a cancel.
    """
    started = clock.now()
    try:
        async with TimeLimit(clock, request.deadline):
            answer = await _send(agent, request, again)
    except TimeoutError:
        seconds = (request.deadline - started).total_seconds()
        reason = say(Message.of(Code.NO_REPLY_IN_TIME, seconds=seconds))
        # Hanging up ends our waiting, and perhaps not the far side's work.
        made = replace(unanswered(ask, ReplyStatus.TIMEOUT, reason, attempt), answered=True)
    except AgentFailure as failure:
        refused = isinstance(failure, AgentRefused)
        status = ReplyStatus.REFUSED if refused else ReplyStatus.ERROR
        made = unanswered(ask, status, failure.message, attempt)
        made = replace(made, answered=failure.answered, usage=failure.usage)
    except (Superseded, Overtaken, LogUnavailable, NoRoom):
        raise
    except Exception as bug:
        reason = say(Message.of(Code.ADAPTER_FAILED, error=type(bug).__name__))
        # It may have broken over an answer as well as before the question was sent.
        made = replace(unanswered(ask, ReplyStatus.ERROR, reason, attempt), answered=True)
    else:
        return _read(ask, answer, attempt, say, _since(started, clock))
    return replace(made, seconds=_since(started, clock))


def _since(started: datetime, clock: Clock) -> float:
    return (clock.now() - started).total_seconds()


async def _send(agent: Agent, request: Request, again: Again) -> Answer:
    attempt = 1
    while True:
        try:
            return await agent.answer(request)
        except AgentUnavailable as failure:
            if not await again(failure, attempt):
                raise
            attempt += 1


def _read(
    ask: Ask, answer: Answer, attempt: int, say: Callable[[Message], str], seconds: float
) -> Exchange:
    made = _read_text(ask, sanitised(answer.text), attempt, say)
    usage = answer.usage
    cost = None if usage is None else Cost(usage.input_tokens, usage.output_tokens, usage.usd)
    return replace(
        made,
        answered=True,
        usage=cost,
        model=answer.model,
        finish=answer.finish,
        seconds=seconds,
    )


def _read_text(ask: Ask, text: str, attempt: int, say: Callable[[Message], str]) -> Exchange:
    if not text:
        return unanswered(ask, ReplyStatus.ERROR, say(Message.of(Code.REPLY_EMPTY)), attempt)
    if len(text) > MOST_REPLY_CHARACTERS:
        # A stance read from text that is not kept could not be re-counted from the minutes.
        too_long = Message.of(Code.REPLY_TOO_LONG, count=len(text), most=MOST_REPLY_CHARACTERS)
        made = unanswered(ask, ReplyStatus.ERROR, say(too_long), attempt)
        return replace(made, reply=replace(made.reply, text=text[:_EXCERPT_CHARACTERS]))
    read = ask.reading.read(text)
    fault = None if read.fault is None else say(read.fault)
    status = ReplyStatus.OK if fault is None else _status_of_fault(read.values)
    reply = Reply(ask.who, ask.round, status, text, read.values, fault, attempt > 1)
    return Exchange(reply, attempt, fault=fault)


def _status_of_fault(values: Mapping[str, Json]) -> ReplyStatus:
    return ReplyStatus.OFF_TOPIC if values.get("off_topic") else ReplyStatus.INVALID
