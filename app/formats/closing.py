"""How formats come to their end: the drafted synthesis, drawn from the closing reserve."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.completion_gate import Close, CompletionReading, GateStatus
from app.domain.events import COMPLETION_CLOSED
from app.domain.meeting import SECRETARY, Json, Meeting
from app.domain.outcome import Completeness, Degradation, Result, StopReason
from app.domain.steps import Ask, Confirm, Office, Part, Reply, confirm, consult, note
from app.domain.synthesis import SynthesisReading

SYNTHESIS_STEP = "closing/synthesis"


def draft_synthesis(
    template: str,
    variables: Mapping[str, Json],
    round_: int,
    office: Office = SECRETARY,
) -> Part[Mapping[str, Json] | None]:
    """Have the synthesis drafted; None when that fails (the record is then made by code)."""
    reading = SynthesisReading()
    ask = Ask(
        SYNTHESIS_STEP, office, round_, template, variables, reading, office=office, closing=True
    )
    reply = yield from consult(ask)
    return reply.values["synthesis"] if reply.usable else None


def result_of(stopped_by: StopReason) -> tuple[Result, Completeness]:
    """What a meeting that decided nothing ends as (PROTOCOLS 11, outcome)."""
    if stopped_by is StopReason.CANCELLATION:
        return Result.CANCELLED, Completeness.PARTIAL
    if stopped_by in (StopReason.AGENTS_UNAVAILABLE, StopReason.ERROR):
        return Result.FAILED, Completeness.PARTIAL
    return Result.UNDECIDED, Completeness.PARTIAL


def missing_replies(rounds: Iterable[Sequence[Reply]]) -> tuple[Degradation, ...]:
    """Which seats gave no usable reply, and in which rounds."""
    silent: dict[str, list[int]] = {}
    for replies in rounds:
        for reply in replies:
            if not reply.usable:
                silent.setdefault(reply.who, []).append(reply.round)
    return tuple(Degradation("no_reply", (who,), tuple(in_)) for who, in_ in silent.items())


@dataclass(frozen=True, slots=True)
class GatePassed:
    """How the completion gate closed, and the text that it closed on."""

    text: str
    closing: Close

    @property
    def complete(self) -> bool:
        return self.closing.status is not GateStatus.INCOMPLETE


def pass_gate(
    meeting: Meeting, text: str, revise: Callable[[Mapping[str, str]], Part[str | None]]
) -> Part[GatePassed | None]:
    """Have the participants confirm the result (PROTOCOLS 10); None if there is no gate.

    ``revise`` drafts the text anew for the reasons given, by participant; None when that fails.
    Raises ``Stopped`` when the meeting must end before the gate has closed.
    """
    settings = meeting.completion_gate
    if settings is None:
        return None
    attempt = 1
    while True:
        key = f"gate-{attempt}"
        asks = _closing_questions(meeting, key, text, attempt)
        action = yield from confirm(Confirm(key, settings, asks, attempt))
        if isinstance(action, Close):
            yield from note(f"{key}/closed", COMPLETION_CLOSED, **_closed(action, attempt))
            return GatePassed(text, action)
        text = (yield from revise(action.reasons)) or text
        attempt += 1


def _closing_questions(meeting: Meeting, key: str, text: str, attempt: int) -> tuple[Ask, ...]:
    return tuple(
        Ask(
            f"{key}/ask/{seat.name}",
            seat.name,
            attempt,
            "gate/confirm",
            {
                "topic": meeting.topic,
                "context": meeting.context,
                "draft": text,
                "name": seat.name,
                "role": seat.role,
                "label": meeting.label(seat.name),
                "attempt": attempt,
                "nudged": False,
            },
            CompletionReading(),
            closing=True,
        )
        for seat in meeting.seats
    )


def _closed(action: Close, attempt: int) -> dict[str, Json]:
    return {
        "status": action.status.value,
        "attempt": attempt,
        "completed_by": list(action.completed_by),
        "reasons": dict(action.reasons),
        "warning": action.warning,
    }
