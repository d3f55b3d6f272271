"""What every format says of itself, and what their questions and plans have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from app.domain.errors import Fault
from app.domain.meeting.meeting import Meeting, Seat
from app.domain.steps import Conversation, Office
from app.domain.values import Json
from app.formats.shared.record import Record


@dataclass(frozen=True, slots=True)
class PlannedAsk:
    """A kind of request that a meeting may make, and how often: usually, and at the most.

    ``variables`` are of the largest size that they can have, so that what is estimated from
    them is never too low.
    """

    template: str
    variables: Mapping[str, Json]
    usually: int
    at_most: int
    office: Office = "participant"


@dataclass(frozen=True, slots=True)
class Format:
    """A format's name and version, how it is held, and what a caller may ask of it.

    ``perspectives`` gives the keys of the roles or framings for seats that a caller leaves
    open; the texts behind the keys are with the format's prompts. ``fills_roles`` says that
    named participants without a role get one too. ``rules`` is a frozen dataclass: the
    format's own settings with their defaults and bounds. ``usual_seats`` is how many sit
    there by these rules when a caller names nobody. ``faults`` says what is wrong with a
    meeting beyond what the types of its fields can say. ``gated`` formats pass the completion
    gate unless a caller says otherwise. One that ``delivers`` saves what it makes at the meeting's
    destination, and its numbers tell under ``operation`` how that stood at the end; of the others
    the decision record goes there. ``uses`` are the request's fields that other formats have no use
    for. ``package`` is the folder that holds its templates and the words of its records, ``record``
    its part of them. ``by_default`` marks the one format that is held where a caller names none.
    """

    name: str
    version: int
    hold: Callable[[Meeting], Conversation]
    plan: Callable[[Meeting], tuple[PlannedAsk, ...]]
    perspectives: Callable[[str, Mapping[str, Json], int], tuple[str, ...]]
    rules: type
    usual_seats: Callable[[Mapping[str, Json]], int]
    faults: Callable[[Meeting], tuple[Fault, ...]] = lambda meeting: ()
    fewest_seats: int = 2
    most_seats: int = 20
    fills_roles: bool = False
    gated: bool = False
    delivers: bool = False
    uses: frozenset[str] = frozenset()
    package: str | None = None
    record: Record = field(default_factory=Record)
    by_default: bool = False

    @property
    def templates(self) -> str:
        """The first part of its templates' names; of later versions with their number behind."""
        return self.name if self.version == 1 else f"{self.name}-{self.version}"


def usual_rounds(meeting: Meeting) -> int:
    """How many of the rounds allowed are reckoned with, where a meeting is planned."""
    return (meeting.limits.rounds + 1) // 2


def seen_by(meeting: Meeting, seat: Seat) -> dict[str, Json]:
    """What every question to a seat shows: the topic, who is asked, and what a resuming changed."""
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "name": seat.name,
        "role": seat.role,
        "label": meeting.label(seat.name),
        **since_resuming(meeting),
    }


def since_resuming(meeting: Meeting) -> dict[str, Json]:
    """What every question says of how the meeting was resumed; nothing where it never was.

    Those from before a resuming have their replies in the log, and are not put again.
    """
    if not meeting.resumptions:
        return {}
    return {"resumed": [resumption.shown() for resumption in meeting.resumptions]}


def in_turn(keys: Sequence[str], count: int) -> tuple[str, ...]:
    """A key for each of so many seats; they come round again where there are too few."""
    return tuple(keys[index % len(keys)] for index in range(count))


@cache
def longest(characters: int) -> str:
    """A stand-in for a text of so many characters, as heavy as any: three bytes each."""
    return "議" * characters
