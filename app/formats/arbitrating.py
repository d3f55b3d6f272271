"""Handing to an arbiter what the participants could not settle (PROTOCOLS 11, arbitration)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.arbitration import Choice, Ruling
from app.domain.meeting import Json, Meeting
from app.domain.outcome import DecidedBy, DecisionSource, StopReason
from app.domain.steps import Arbitrate, Part, Stopped, arbitrate

_STEP = "arbitration"

_OPEN_TO_RULING = frozenset(
    {StopReason.NO_PROGRESS, StopReason.ROUNDS, StopReason.QUORUM, StopReason.THRESHOLD}
)
"""Never on deadline, budget, cancellation or agents unavailable."""


@dataclass(frozen=True, slots=True)
class Matter:
    """What an arbiter may be asked: one question, the allowed choices, and their scope.

    ``excerpts`` are what the participants last said, as ``{"label", "text"}``.
    """

    question: str
    choices: tuple[Choice, ...]
    scope: str
    excerpts: Sequence[Mapping[str, Json]] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """What ended the meeting, and the ruling and its choice if that is what did."""

    stopped_by: StopReason
    ruling: Ruling | None = None
    choice: Choice | None = None
    scope: str = ""

    @property
    def decided_by(self) -> DecidedBy | None:
        if self.ruling is None:
            return None
        return DecidedBy("ruling", self.ruling.decided_by, self.scope)

    @property
    def decision(self) -> tuple[str, DecisionSource] | None:
        """What the arbiter decided; None if it decided nothing."""
        return None if self.choice is None else (self.choice.text, "ruling")

    def findings(self) -> dict[str, Json]:
        return {} if self.ruling is None else {"ruling": self.ruling.record()}


def settle(meeting: Meeting, stopped_by: StopReason, round_: int, matter: Matter) -> Part[Settled]:
    """Have the arbiter rule, if there is one and what stopped the meeting is open to a ruling."""
    if meeting.arbiter is None or stopped_by not in _OPEN_TO_RULING or not matter.choices:
        return Settled(stopped_by)
    variables: dict[str, Json] = {
        "topic": meeting.topic,
        "context": meeting.context,
        "excerpts": [{"label": e["label"], "text": e["text"]} for e in matter.excerpts],
    }
    step = Arbitrate(_STEP, round_, matter.question, matter.choices, matter.scope, variables)
    try:
        ruling = yield from arbitrate(step)
    except Stopped as stopped:
        return Settled(stopped.reason)
    if ruling is None:
        return Settled(StopReason.RULING_EXPIRED)
    choice = next(choice for choice in matter.choices if choice.id == ruling.choice)
    return Settled(StopReason.RULING, ruling, choice, matter.scope)
