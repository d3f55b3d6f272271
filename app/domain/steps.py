"""What a format may yield, and what it is sent back.

A format is a generator: it yields a ``Step``, the coordinator performs it (or finds its result
in the meeting's log), sends the result back, and so on until the format returns an ``Outcome``.
When the meeting must stop, ``Stopped`` is thrown in at the first step that would cost something
and has not begun, so a replay of the log meets it at the same place.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from app.domain.meeting.entries import Content
from app.domain.meeting.meeting import CompletionGate
from app.domain.operation.record import OperationRecord
from app.domain.operation.terms import OperationStatus
from app.domain.replies.reading import Reading, Reply
from app.domain.values import Json

if TYPE_CHECKING:
    from app.domain.ending.arbitration import Choice, Ruling
    from app.domain.ending.completion_gate import Close, Revise
    from app.domain.meeting.outcome import Outcome, StopReason

Office = Literal["participant", "secretary", "chair", "arbiter"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one answerer.

    ``key`` names the step in the log (``round-2/ask/architect``), ``who`` is the participant's
    name (or the office's), ``template`` and ``variables`` make the prompt. ``closing`` lets it
    draw on the closing reserve of time and money (PROTOCOLS 11).
    """

    key: str
    who: str
    round: int
    template: str
    variables: Mapping[str, Json]
    reading: Reading
    office: Office = "participant"
    closing: bool = False


@dataclass(frozen=True, slots=True)
class Gather:
    """Ask all of these at once; sent back: a ``Reply`` each, in the same order."""

    asks: tuple[Ask, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """Tell the meeting's log something that follows from what is known; sent back: None."""

    key: str
    content: Content


@dataclass(frozen=True, slots=True)
class Confirm:
    """Ask whether the result is complete, and wait as the completion gate does (PROTOCOLS 10).

    ``asks`` hold one question for each participant, with keys below ``key``; ``attempt`` counts
    from 1. Sent back: the gate's ``Close`` or ``Revise``.
    """

    key: str
    settings: CompletionGate
    asks: tuple[Ask, ...]
    attempt: int


@dataclass(frozen=True, slots=True)
class Arbitrate:
    """Put the question to the meeting's arbiter (PROTOCOLS 11, arbitration).

    ``scope`` says what the ruling is about, ``variables`` what an arbiter that is an agent is
    shown beside question and choices. Sent back: the ``Ruling``, or None if there was none in
    time.
    """

    key: str
    round: int
    question: str
    choices: tuple[Choice, ...]
    scope: str
    variables: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Save:
    """Save the deliverable at the meeting's destination, and see that it is there (PROTOCOLS 13).

    Sent back: ``Saved``, once it is confirmed, has failed, was handed over, or the meeting's time
    is over. Each key is one operation.
    """

    key: str
    content: str


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a save: the operation's record as it stood then."""

    operation: OperationRecord

    @property
    def confirmed(self) -> bool:
        return self.operation.state is OperationStatus.CONFIRMED


Step = Gather | Note | Confirm | Arbitrate | Save

Conversation = Generator[Step, Any, "Outcome"]
"""A format at work."""

_T = TypeVar("_T")

Part = Generator[Step, Any, _T]
"""A stretch of a format that comes back with something."""


class Stopped(Exception):
    """Thrown into a format that must come to its end now."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


def gather(*asks: Ask) -> Part[tuple[Reply, ...]]:
    return (yield Gather(asks))


def consult(ask: Ask) -> Part[Reply]:
    (reply,) = yield Gather((ask,))
    return reply


def confirm(step: Confirm) -> Part[Close | Revise]:
    return (yield step)


def arbitrate(step: Arbitrate) -> Part[Ruling | None]:
    return (yield step)


def save(step: Save) -> Part[Saved]:
    return (yield step)


def note(key: str, content: Content) -> Part[None]:
    yield Note(key, content)
