"""What the coordinator needs from outside, and nothing about how it is done.

``EventLog`` is kept by ``store/``, ``Agents`` by ``agents/``, ``Dispatch`` by ``dispatch/``;
the clock, the prompts and the minutes' file come from the composition root.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Generic, Literal, Protocol, TypeVar

from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.meeting import Language
from app.domain.meeting.state import MeetingState
from app.domain.money import Price
from app.domain.operation.terms import Check, Finding, Operation, Write, WriteAnswer
from app.domain.replies.messages import Message
from app.domain.steps import Office
from app.domain.values import Json, JsonObject

_T = TypeVar("_T")

StopState = Literal["acknowledged", "stopped", "unconfirmed"]
FinishReason = Literal["stop", "length"]


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...

    def call_at(self, at: datetime, callback: Callable[[], object]) -> Timer:
        """Call back on the event loop at ``at``, or soon if that is past."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """One question on its way to an agent.

    ``request_id`` is the same however often the same question is sent. ``turn`` counts the
    meeting's requests to this agent from 0. ``template`` and ``variables`` are what the prompt
    was made from; only a rehearsal looks at them.
    """

    request_id: str
    meeting_id: str
    who: str
    office: Office
    round: int
    turn: int
    template: str
    variables: Mapping[str, Json]
    language: Language
    system: str
    prompt: str
    deadline: datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them, and US dollars (None where the price is unknown)."""

    input_tokens: int
    output_tokens: int
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Answer:
    """``finish`` is ``length`` when the answer was cut off at the output cap."""

    text: str
    usage: Usage | None = None
    model: str | None = None
    finish: FinishReason = "stop"


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """What can be known of an agent without asking it. ``price`` is None where unknown."""

    name: str
    kind: str
    model: str | None
    max_output_tokens: int
    price: Price | None
    expertise: Mapping[str, Decimal] = field(default_factory=dict[str, Decimal])


class Agent(Protocol):
    @property
    def profile(self) -> AgentProfile: ...

    async def answer(self, request: Request) -> Answer:
        """The agent's answer; cancelling the call aborts the request.

        Raises a kind of ``AgentFailure``. Limits of time and retries are the coordinator's.
        """
        ...

    async def stop(self, request_id: str) -> StopState:
        """What is known of an aborted request: whether the far side has really stopped."""
        ...


class Agents(Protocol):
    async def find(self, name: str) -> Agent:
        """The agent of that name. Raises ``NotFound``."""
        ...


@dataclass(frozen=True, slots=True)
class Idempotency:
    """A caller's key, the digest of what it asked, and the first answer (JSON) to give again."""

    key: str
    digest: str
    answer: str


class EventLog(Protocol):
    async def append(
        self,
        meeting_id: str,
        expected: int,
        entries: Sequence[Entry],
        idempotency: Idempotency | None = None,
    ) -> Sequence[Event]:
        """Make the entries durable, after the entry ``expected`` (0: a new meeting).

        What is reserved is weighed against every envelope of the meeting's tree, and a parent
        learns of its child's beginning and end, in the same transaction. Nothing is written
        where this raises ``LogConflict`` (the log's last entry is another one), ``NoRoom``,
        ``CancelledAbove``, ``ParentClosed`` or ``NotFound``.
        """
        ...

    async def read(self, meeting_id: str, after: int = 0) -> Sequence[Event]:
        """All entries after ``after``, in order, internal ones included."""
        ...

    async def state(self, meeting_id: str) -> MeetingState:
        """Where a meeting stands, what those below it have drawn included.

        Raises ``NotFound``.
        """
        ...

    async def unfinished(self) -> Sequence[str]:
        """The meetings that have not ended, or whose operations are looked after, oldest first."""
        ...


class Dispatch(Protocol):
    def wake(self, meeting_id: str, at: datetime | None = None) -> None:
        """See to it that the meeting is advanced: now, or at a time to come."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    system: str
    user: str


Prompts = Callable[[str, Language, Mapping[str, Json]], Prompt]
"""Makes the prompt from a template's name, a language and the variables."""

Wording = Callable[[Message, Language], str]
"""Puts what an answerer or a reader of the record is told into sentences of a language."""

MinutesFile = Callable[[Sequence[Event]], Awaitable[str]]
"""Writes a meeting's minutes from its events, durably, and says where they lie."""


DecisionText = Callable[[Sequence[Event]], Awaitable[str]]
"""Makes a meeting's decision record as Markdown from its events up to the decision."""


class Destinations(Protocol):
    """Places where deliverables are saved (PROTOCOLS 13). One call is one request; whatever the
    far side does becomes an answer, and cancelling the call aborts it."""

    async def write(self, operation: Operation, content: bytes, write: Write) -> WriteAnswer: ...

    async def look(self, operation: Operation, check: Check) -> Finding: ...


@dataclass(frozen=True, slots=True)
class Outlets:
    """Where what a meeting has come to goes: its minutes' file, and places that callers name."""

    write_minutes: MinutesFile
    write_decision: DecisionText
    destinations: Destinations


@dataclass(frozen=True, slots=True)
class MeetingFilter:
    """Which meetings to list, newest first; ``cursor`` is opaque, from the page before."""

    status: str | None = None
    format: str | None = None
    text: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    created_after: datetime | None = None
    result: str | None = None
    cursor: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class OperationFilter:
    """Which operations to list, newest first; without a state, those that nobody can be sure of."""

    states: frozenset[str] = frozenset({"unknown", "handed_over"})
    cursor: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class DissentFilter:
    """Which dissents to list over all meetings that have ended, newest first."""

    text: str | None = None
    participant: str | None = None
    format: str | None = None
    cursor: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Page(Generic[_T]):
    items: Sequence[_T]
    next_cursor: str | None


class Archive(Protocol):
    """What can be asked of the store; all of it follows from the logs."""

    async def state(self, meeting_id: str) -> MeetingState:
        """Where a meeting stands. Raises ``NotFound``."""
        ...

    async def meetings(self, filter_: MeetingFilter) -> Page[MeetingState]:
        """Raises ``InvalidRequest`` for a cursor that no page gave."""
        ...

    async def decided(self, filter_: MeetingFilter) -> Page[Sequence[Event]]:
        """The logs of ended meetings, newest first; ``result`` and ``text`` narrow them."""
        ...

    async def log(self, meeting_id: str) -> Sequence[Event]:
        """The whole log of a meeting. Raises ``NotFound``."""
        ...

    async def events(self, meeting_id: str, after: int, limit: int) -> Sequence[Event]:
        """Public events with a number above ``after``. Raises ``NotFound``."""
        ...

    async def ballots(self, meeting_id: str) -> Sequence[JsonObject]:
        """A meeting's ballots so far, in the order in which they came. Raises ``NotFound``."""
        ...

    async def dissents(self, meeting_id: str) -> Sequence[JsonObject]:
        """A meeting's dissents; there are none before its end. Raises ``NotFound``."""
        ...

    async def all_dissents(self, filter_: DissentFilter) -> Page[JsonObject]:
        """Each with its meeting's topic and decision. Raises ``InvalidRequest`` for a cursor that
        no page gave."""
        ...

    async def closed_cancellation(self, meeting_id: str) -> JsonObject | None:
        """What became of a cancel, once that is closed; None before, or where there is none."""
        ...

    async def operations(self, filter_: OperationFilter) -> Page[Mapping[str, Json]]:
        """Records over all meetings. Raises ``InvalidRequest`` for a cursor that no page gave."""
        ...

    async def operation(self, operation_id: str) -> Mapping[str, Json]:
        """An operation's record. Raises ``NotFound``."""
        ...

    async def first_answer(self, key: str) -> Idempotency | None: ...

    async def keep_answer(self, key: str, answer: str) -> None:
        """Replace the answer kept under an idempotency key by the final one."""
        ...


class AgentStore(Protocol):
    """Agents as callers configured them, secrets included."""

    async def get(self, name: str) -> Mapping[str, Json] | None: ...

    async def all(self) -> Sequence[Mapping[str, Json]]: ...

    async def put(self, settings: Mapping[str, Json], *, new: bool) -> None:
        """Keep the settings under their ``name``. Raises ``AgentExists`` if it must be new."""
        ...

    async def delete(self, name: str) -> None:
        """Raises ``NotFound``."""
        ...


class Tail(Protocol):
    """Follows committed events as encoded SSE frames; many readers share one encoding."""

    async def check(self, meeting_id: str) -> None:
        """Raises ``NotFound`` if there is no such meeting to follow."""
        ...

    def follow(self, meeting_id: str, after: int) -> AsyncIterator[bytes]:
        """Frames of the public events after number ``after``, several joined when ready at once.

        Ends by itself after a ``meeting.ended`` that nothing follows.
        """
        ...

    def follow_all(self, cursor: str | None) -> AsyncIterator[bytes]:
        """The same over all meetings; ids are opaque. Never ends by itself."""
        ...
