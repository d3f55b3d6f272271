"""How formats come to their end: the drafted synthesis, drawn from the closing reserve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from app.domain.meeting import SECRETARY, Json
from app.domain.outcome import Completeness, Degradation, Result, StopReason
from app.domain.steps import Ask, Office, Part, Reply, consult
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
