"""Handing to an arbiter what the participants could not settle (PROTOCOLS 11, arbitration)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.ending.arbitration import Choice, Ruling
from app.domain.meeting.meeting import ARBITER, REJECTED_WORDS, Meeting
from app.domain.meeting.outcome import DecidedBy, DecisionSource, StopReason
from app.domain.steps import Arbitrate, Part, Stopped, arbitrate
from app.domain.values import Json
from app.formats.shared.format import PlannedAsk, since_resuming

_STEP = "arbitration"
RULE = "arbiter/rule"
"""The template by which an agent is asked to rule."""

ACCEPT, REJECT = "accept", "reject"

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
class ArbitrationResult:
    """What ended the meeting, and the ruling and its choice if that is what did.

    ``put_because`` is what had the question put to the arbiter, where one was.
    """

    stopped_by: StopReason
    ruling: Ruling | None = None
    choice: Choice | None = None
    scope: str = ""
    put_because: StopReason | None = None

    @property
    def stalled(self) -> bool:
        """Whether the participants got nowhere, whatever an arbiter made of it then."""
        return StopReason.NO_PROGRESS in (self.stopped_by, self.put_because)

    @property
    def decided_by(self) -> DecidedBy | None:
        if self.ruling is None:
            return None
        return DecidedBy("ruling", self.ruling.decided_by, self.scope)

    @property
    def decision(self) -> tuple[str, DecisionSource] | None:
        """What the arbiter decided; None if it decided nothing."""
        return None if self.choice is None else (self.choice.text, "ruling")


def arbitrate_if_open(
    meeting: Meeting, stopped_by: StopReason, round_: int, matter: Matter
) -> Part[ArbitrationResult]:
    """Have the arbiter rule, if there is one and what stopped the meeting is open to a ruling."""
    if stopped_by not in _OPEN_TO_RULING:
        return ArbitrationResult(stopped_by)
    return (yield from put(meeting, stopped_by, round_, matter))


def put(
    meeting: Meeting, stopped_by: StopReason, round_: int, matter: Matter
) -> Part[ArbitrationResult]:
    """The same whatever stopped the meeting, for what is known to be undecided."""
    if meeting.arbiter is None or not matter.choices:
        return ArbitrationResult(stopped_by)
    step = Arbitrate(
        _STEP, round_, matter.question, matter.choices, matter.scope, _shown(meeting, matter)
    )
    try:
        ruling = yield from arbitrate(step)
    except Stopped as stopped:
        return ArbitrationResult(stopped.reason, put_because=stopped_by)
    if ruling is None:
        return ArbitrationResult(StopReason.RULING_EXPIRED, put_because=stopped_by)
    choice = next(choice for choice in matter.choices if choice.id == ruling.choice)
    return ArbitrationResult(StopReason.RULING, ruling, choice, matter.scope, stopped_by)


def _shown(meeting: Meeting, matter: Matter) -> dict[str, Json]:
    """What an arbiter that is an agent sees beside the question and its choices."""
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "excerpts": [{"label": e["label"], "text": e["text"]} for e in matter.excerpts],
        **since_resuming(meeting),
    }


def plan_ruling(meeting: Meeting, matter: Matter) -> tuple[PlannedAsk, ...]:
    """The request to an arbiter that is an agent; ``matter`` is of the largest size it can have."""
    if meeting.arbiter is None or meeting.arbiter.kind != "agent":
        return ()
    variables: dict[str, Json] = {
        **_shown(meeting, matter),
        "question": matter.question,
        "choices": [choice.record() for choice in matter.choices],
        "scope": matter.scope,
    }
    return (PlannedAsk(RULE, variables, 0, 1, ARBITER),)


def accept_or_reject(
    meeting: Meeting, text: str, barred_by: tuple[str, ...] = (), accept: str = ACCEPT
) -> tuple[Choice, Choice]:
    """The choices about a text that stands or falls as a whole, in the meeting's language."""
    rejected = REJECTED_WORDS[meeting.language].format(text=text)
    return Choice(accept, text, barred_by), Choice(REJECT, rejected)
