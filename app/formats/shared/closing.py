"""What is asked at the end, out of the closing reserve: the synthesis, and its confirmation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from app.domain.ending.completion_gate import ATTEMPTS, Close, CompletionReading, GateStatus
from app.domain.meeting.events import CompletionClosed
from app.domain.meeting.meeting import SECRETARY, Meeting, Seat
from app.domain.replies.quoting import MOST_TEXT_CHARACTERS
from app.domain.replies.reading import Reply
from app.domain.replies.text import clean
from app.domain.rounds.synthesis import SynthesisReading
from app.domain.steps import Ask, Confirm, Office, Part, confirm, consult, note
from app.domain.values import Json
from app.formats.shared.format import PlannedAsk, longest, seen_by

SYNTHESIS_STEP = "closing/synthesis"
REDRAFT_STEP = f"{SYNTHESIS_STEP}-2"
MOST_SYNTHESIS_CHARACTERS = 16_000
"""Of a synthesis that is put to the completion gate."""

_CONFIRM = "gate/confirm"


def draft_synthesis(
    template: str,
    variables: Mapping[str, Json],
    round_: int,
    office: Office = SECRETARY,
    step: str = SYNTHESIS_STEP,
) -> Part[Mapping[str, Json] | None]:
    """Have the synthesis drafted; None when that fails (the record is then made by code)."""
    reply = yield from consult(synthesis_question(template, variables, round_, office, step))
    return drafted_in(reply)


def synthesis_question(
    template: str, variables: Mapping[str, Json], round_: int, office: Office, step: str
) -> Ask:
    reading = SynthesisReading()
    return Ask(step, office, round_, template, variables, reading, office=office, closing=True)


def drafted_in(reply: Reply) -> Mapping[str, Json] | None:
    """The synthesis that a reply holds, if it can be used."""
    return reply.values["synthesis"] if reply.usable else None


def synthesis_text(synthesis: Mapping[str, Json]) -> str:
    """A synthesis as text to be confirmed, under its keys, which are the same in every language."""
    return clean("\n\n".join(_synthesis_parts(synthesis)), MOST_SYNTHESIS_CHARACTERS)


def _synthesis_parts(synthesis: Mapping[str, Json]) -> Iterator[str]:
    for key in ("decision", "agreed", "differ", "concerns", "recommendation"):
        value = synthesis.get(key)
        if value:
            points = value if isinstance(value, str) else "\n".join(f"- {each}" for each in value)
            yield f"{key.upper()}:\n{points}"


def wanted_by(meeting: Meeting, reasons: Mapping[str, str]) -> list[dict[str, Json]]:
    """What participants found wrong with a draft, as whoever drafts it anew is shown it."""
    return [{"label": meeting.label(who), "text": reason} for who, reason in reasons.items()]


@dataclass(frozen=True, slots=True)
class GatePassed:
    """How the completion gate closed, at which asking, and the text that it closed on."""

    text: str
    closing: Close
    attempt: int

    @property
    def complete(self) -> bool:
        return self.closing.status is not GateStatus.INCOMPLETE

    def record(self) -> dict[str, Json]:
        return {
            "status": self.closing.status.value,
            "attempt": self.attempt,
            "completed_by": list(self.closing.completed_by),
            "reasons": dict(self.closing.reasons),
            "warning": self.closing.warning,
        }


def pass_gate(
    meeting: Meeting,
    text: str,
    revise: Callable[[Mapping[str, str]], Part[str | None]],
    *,
    after_round: int = 1,
) -> Part[GatePassed | None]:
    """Have the participants confirm the result (PROTOCOLS 10); None if there is no gate.

    ``revise`` drafts the text anew for the reasons given, by participant; None when that fails,
    and then the gate closes incomplete: the same text is not put twice. ``after_round`` is the
    round that the result came from. Raises ``Stopped`` when the meeting must end before the gate
    has closed.
    """
    settings = meeting.completion_gate
    if settings is None:
        return None
    attempt, reasons = 1, dict[str, str]()
    while True:
        key = f"gate-{attempt}"
        asks = _closing_questions(meeting, text, attempt, after_round, reasons)
        action = yield from confirm(Confirm(key, settings, asks, attempt))
        if isinstance(action, Close):
            action = _with_open_wishes(action, reasons)
            break
        reasons = dict(action.reasons)
        revised = yield from revise(reasons)
        if revised is None:
            incomplete = GateStatus.INCOMPLETE
            action = Close(incomplete, action.completed_by, action.reasons, action.due)
            break
        text = revised
        attempt += 1
    passed = GatePassed(text, action, attempt)
    closed = CompletionClosed.of({"round": after_round, **passed.record()})
    yield from note(f"{key}/closed", closed)
    return passed


def _with_open_wishes(action: Close, before: Mapping[str, str]) -> Close:
    """Close with the wishes of the first asking too, of those who have not said it is met."""
    still = {who: why for who, why in before.items() if who not in action.completed_by}
    return replace(action, reasons={**still, **action.reasons})


def _closing_questions(
    meeting: Meeting, text: str, attempt: int, round_: int, reasons: Mapping[str, str]
) -> tuple[Ask, ...]:
    return tuple(
        Ask(
            f"gate-{attempt}/ask/{seat.name}",
            seat.name,
            round_,
            _CONFIRM,
            _confirm_variables(meeting, seat, text, attempt, reasons.get(seat.name, "")),
            CompletionReading(),
            closing=True,
        )
        for seat in meeting.seats
    )


def _confirm_variables(
    meeting: Meeting, seat: Seat, text: str, attempt: int = 1, reason: str = ""
) -> dict[str, Json]:
    """What ``gate/confirm`` is made from; ``reason`` is what this seat wanted revised before."""
    return {
        **seen_by(meeting, seat),
        "draft": text,
        "attempt": attempt,
        "reason": reason,
        "nudged": False,
    }


def plan_gate(meeting: Meeting, draft: str) -> tuple[PlannedAsk, ...]:
    """The closing questions about a draft as long as this one; none without a gate."""
    settings = meeting.completion_gate
    if settings is None:
        return ()
    seats = len(meeting.seats)
    # Before the fallback the silent are nudged once, and those whose completion left the window
    # as often as that can happen.
    nudges = 1 + int(settings.fallback_timeout // settings.window_seconds)
    reason = longest(MOST_TEXT_CHARACTERS)
    variables = _confirm_variables(meeting, meeting.seats[-1], draft, ATTEMPTS, reason)
    most = seats * ATTEMPTS * (1 + nudges)
    return (PlannedAsk(_CONFIRM, {**variables, "nudged": True}, seats, most),)


def plan_closing(
    meeting: Meeting, template: str, variables: Mapping[str, Json]
) -> tuple[PlannedAsk, ...]:
    """The requests of the closing; ``variables`` are of the largest size they can have."""
    first: dict[str, Json] = {**variables, "draft": "", "reasons": []}
    planned = (PlannedAsk(template, first, 1, 1, SECRETARY),)
    if meeting.completion_gate is None:
        return planned
    reason: dict[str, Json] = {
        "label": meeting.label(meeting.seats[-1].name),
        "text": longest(MOST_TEXT_CHARACTERS),
    }
    draft = longest(MOST_SYNTHESIS_CHARACTERS)
    again = {**variables, "draft": draft, "reasons": [reason] * len(meeting.seats)}
    return (
        *planned,
        PlannedAsk(template, again, 0, 1, SECRETARY),
        *plan_gate(meeting, draft),
    )
