"""Drives a format by hand: answers go in, steps come out. No clock, no log, no agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.domain.ending.arbitration import Ruling
from app.domain.ending.completion_gate import Close, Revise
from app.domain.meeting.meeting import Limits, Meeting, Seat
from app.domain.meeting.outcome import Outcome, StopReason
from app.domain.operation.record import OperationRecord
from app.domain.operation.terms import OperationStatus
from app.domain.replies.reading import Reply, ReplyStatus
from app.domain.steps import Arbitrate, Ask, Confirm, Gather, Note, Save, Saved, Step, Stopped
from app.formats import FORMATS
from app.prompts.wording import sentence

Answer = Callable[[Ask], str | ReplyStatus]

SYNTHESIS = (
    '{"decision": "Do it.", "agreed": ["a trial"], "differ": ["how long"], '
    '"concerns": ["build time"], "recommendation": "Start in January."}'
)
SUMMARY = "SUMMARY: They talked.\nMOTION: Use one repository for a trial quarter."


def meeting(format_: str, seats: int = 3, **fields: Any) -> Meeting:
    settings: dict[str, Any] = {
        "id": "mtg_0001",
        "format": format_,
        "format_version": FORMATS[format_].version,
        "topic": "One repository or several?",
        "seats": tuple(Seat(name, f"as {name}", "default") for name in NAMES[:seats]),
        "secretary": "default",
        "limits": Limits(rounds=fields.pop("rounds", 3)),
    }
    return Meeting(**(settings | fields))


NAMES: tuple[str, ...] = ("ann", "ben", "cy", "dan", "eve", "fay", "gus")


@dataclass
class Held:
    """A meeting that was held: every question and note in order, and the outcome."""

    asks: list[Ask] = field(default_factory=list[Ask])
    notes: list[Note] = field(default_factory=list[Note])
    confirms: list[Confirm] = field(default_factory=list[Confirm])
    questions: list[Arbitrate] = field(default_factory=list[Arbitrate])
    saves: list[Save] = field(default_factory=list[Save])
    outcome: Outcome | None = None

    @property
    def ended(self) -> Outcome:
        assert self.outcome is not None
        return self.outcome

    def asked(self, template: str) -> list[Ask]:
        return [ask for ask in self.asks if ask.template == template]

    def ask(self, key: str) -> Ask:
        return next(ask for ask in self.asks if ask.key == key)

    def told(self, type_: str) -> list[Mapping[str, Any]]:
        return [note.content.record() for note in self.notes if note.content.type == type_]

    @property
    def steps(self) -> list[str]:
        """The keys of everything that may be stopped before it begins."""
        keys = [ask.key for ask in self.asks] + [confirm.key for confirm in self.confirms]
        return list(dict.fromkeys(keys))


def hold(
    meeting_: Meeting,
    answer: Answer,
    *,
    stop_before: str | None = None,
    stop: StopReason = StopReason.DEADLINE,
    gate: Sequence[Close | Revise] = (),
    ruling: Ruling | None = None,
    saved: str = "confirmed",
) -> Held:
    """The whole meeting; ``stop_before`` is the key of a question that is not begun any more.

    ``ruling`` answers the arbiter's question; None lets it expire. ``saved`` is what becomes of a
    save.
    """
    held = Held()
    gates = iter(gate)
    conversation = FORMATS[meeting_.format].hold(meeting_)
    try:
        step = next(conversation)
        while True:
            if stop_before is not None and _is(step, stop_before):
                step = conversation.throw(Stopped(stop))
            else:
                step = conversation.send(_result(held, step, answer, gates, ruling, saved))
    except StopIteration as end:
        held.outcome = end.value
    return held


def saved_as(state: str) -> Saved:
    """What became of a save."""
    return Saved(
        OperationRecord(
            meeting_id="mtg_0001",
            id="op_1",
            url="https://wiki.example/a.md",
            sha256="0" * 64,
            owner="dee",
            requested_at="2026-11-30T09:00:00Z",
            next_check_at="2026-11-30T09:05:00Z",
            state=OperationStatus(state),
        )
    )


def _is(step: Step, key: str) -> bool:
    match step:
        case Gather(asks):
            return any(ask.key == key for ask in asks)
        case Confirm() | Arbitrate() | Save():
            return step.key == key
        case _:
            return False


def _result(
    held: Held,
    step: Step,
    answer: Answer,
    gates: Iterator[Close | Revise],
    ruling: Ruling | None,
    saved: str,
) -> Any:
    match step:
        case Note():
            held.notes.append(step)
            return None
        case Confirm():
            held.confirms.append(step)
            return next(gates)
        case Arbitrate():
            held.questions.append(step)
            return ruling
        case Save():
            held.saves.append(step)
            return saved_as(saved)
        case Gather(asks):
            held.asks += asks
            return tuple(reply_to(ask, answer(ask)) for ask in asks)


OVER = "(the meeting's time is over)"
"""What stands for a reply that the meeting's own deadline kept out."""


def reply_to(ask: Ask, given: str | ReplyStatus) -> Reply:
    if given == OVER:
        return replace(reply_to(ask, ReplyStatus.TIMEOUT), out_of_time=True)
    if isinstance(given, ReplyStatus):
        return Reply(ask.who, ask.round, given, "", ask.reading.absent(given), "No reply.")
    read = ask.reading.read(given)
    status = ReplyStatus.OK if read.fault is None else ReplyStatus.INVALID
    reason = None if read.fault is None else sentence(read.fault, "en")
    return Reply(ask.who, ask.round, status, given, read.values, reason)
