"""Meetings held by hand in several legs: ended, resumed, and gone on with (PROTOCOLS 12).

It keeps what the coordinator keeps over a resuming: replies and notes whose keys begin with
``round-``. What belonged to an earlier end is asked and told anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from app.domain.ending.arbitration import Ruling
from app.domain.ending.completion_gate import Close, Revise
from app.domain.meeting import events
from app.domain.meeting.meeting import Changed, Material, Meeting
from app.domain.meeting.outcome import StopReason
from app.domain.meeting.resumption import resumed
from app.domain.replies.reading import Reply
from app.domain.steps import Arbitrate, Ask, Confirm, Gather, Note, Save, Step, Stopped
from app.formats import FORMATS
from tests.clock import START
from tests.formats.by_hand import Answer, Held, reply_to, saved_as

KEPT = "round-"
SAVED = saved_as("confirmed")


@dataclass
class Course:
    """A meeting as it is held, ends and is resumed.

    Each leg's ``Held`` has only what was asked and told in that leg.
    """

    meeting: Meeting
    legs: list[Held] = field(default_factory=list[Held])
    replies: dict[str, Reply] = field(default_factory=dict[str, Reply])
    told: dict[str, Note] = field(default_factory=dict[str, Note])

    @property
    def closed(self) -> int:
        told = (note.content for note in self.told.values())
        closings = (content for content in told if isinstance(content, events.RoundClosed))
        return max((closed.round for closed in closings), default=0)

    def hold(
        self,
        answer: Answer,
        *,
        stop_before: str | None = None,
        cut: str | None = None,
        stop: StopReason = StopReason.CANCELLATION,
        gate: Sequence[Close | Revise] = (),
        ruling: Ruling | None = None,
    ) -> Held:
        """One leg. ``stop_before`` is the key of what is not begun any more; ``cut`` that of a
        question that is under way when the stop comes, with those behind it."""
        leg = _Leg(self, Held(), answer, list(gate), ruling, stop_before, cut)
        conversation = FORMATS[self.meeting.format].hold(self.meeting)
        try:
            step = next(conversation)
            while True:
                try:
                    result = leg.perform(step)
                except InterruptedError:
                    step = conversation.throw(Stopped(stop))
                else:
                    step = conversation.send(result)
        except StopIteration as end:
            leg.held.outcome = end.value
        self.legs.append(leg.held)
        self._check(leg.held)
        return leg.held

    def _check(self, held: Held) -> None:
        """Nothing is asked or told in a round that had closed before, but to sum it up."""
        after = self.meeting.resumed_after
        keys = [ask.key for ask in held.asks] + [note.key for note in held.notes]
        assert len(keys) == len(set(keys))
        late = [key for key in keys if key.startswith(KEPT) and _round_of(key) <= after]
        assert {key.rpartition("/")[2] for key in late} <= {"compress", "summary"}

    def resume(
        self,
        changed: Changed = "limits",
        note: str = "Two more days.",
        materials: Sequence[Material] = (),
        **limits: Any,
    ) -> Course:
        told = events.MeetingResumed(
            changed=changed,
            note=note,
            after_round=self.closed,
            limits=replace(self.meeting.limits, **limits),
            materials=tuple(materials),
            deadline=START + timedelta(seconds=900),
            resumption=len(self.meeting.resumptions) + 1,
        )
        self.meeting = resumed(self.meeting, told)
        return self


@dataclass
class _Leg:
    course: Course
    held: Held
    answer: Answer
    gate: list[Close | Revise]
    ruling: Ruling | None
    stop_before: str | None
    cut: str | None

    def perform(self, step: Step) -> Any:
        """What comes of a step; ``InterruptedError`` where the meeting has to stop."""
        match step:
            case Note():
                if step.key not in self.course.told:
                    self.held.notes.append(step)
                    if step.key.startswith(KEPT):
                        self.course.told[step.key] = step
                return None
            case Gather(asks):
                return self._gather(asks)
            case Confirm():
                self._stop(step.key)
                self.held.confirms.append(step)
                return self.gate.pop(0)
            case Arbitrate():
                self._stop(step.key)
                self.held.questions.append(step)
                return self.ruling
            case Save():
                self._stop(step.key)
                self.held.saves.append(step)
                return SAVED

    def _stop(self, *keys: str) -> None:
        if self.stop_before in keys:
            raise InterruptedError

    def _gather(self, asks: Sequence[Ask]) -> tuple[Reply, ...]:
        known = self.course.replies
        self._stop(*(ask.key for ask in asks if ask.key not in known))
        found: list[Reply] = []
        for ask in asks:
            if ask.key == self.cut:
                raise InterruptedError
            reply = known.get(ask.key)
            if reply is None:
                self.held.asks.append(ask)
                reply = reply_to(ask, self.answer(ask))
                if ask.key.startswith(KEPT):
                    known[ask.key] = reply
            found.append(reply)
        return tuple(found)


def _round_of(key: str) -> int:
    return int(key.removeprefix(KEPT).partition("/")[0])


def rounds_asked(held: Held) -> list[int]:
    """The rounds in which participants were asked in a leg, each once."""
    own = (ask for ask in held.asks if ask.office == "participant" and ask.key.startswith(KEPT))
    return list(dict.fromkeys(ask.round for ask in own))
