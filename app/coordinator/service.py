"""What callers can do with meetings: open one, cancel or resume it, wait for its end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from app.coordinator.arbitration import RULED
from app.coordinator.cancellation import request_cancellation
from app.coordinator.commands import OpenMeeting
from app.coordinator.drafting import Drafting
from app.coordinator.ports import (
    Clock,
    Dispatch,
    EventLog,
    Idempotency,
    Tail,
)
from app.coordinator.resuming import ResumeMeeting, resume
from app.domain.ending.arbitration import NoQuestionOpen, Ruling, chosen
from app.domain.errors import LogConflict, NotFound
from app.domain.meeting.entries import Entry
from app.domain.meeting.events import ArbitrationOpened, ArbitrationRuled
from app.domain.meeting.state import MeetingState, created, fold
from app.domain.replies.text import clean
from app.domain.values import Json

_MOST_REASON_CHARACTERS = 1_000


class MeetingService:
    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        drafting: Drafting,
        dispatch: Dispatch,
        tail: Tail,
    ) -> None:
        self._log = log
        self._clock = clock
        self._drafting = drafting
        self._dispatch = dispatch
        self._tail = tail

    async def plan(self, wish: OpenMeeting) -> Mapping[str, Json]:
        """What the meeting would be and may cost; nothing is stored, nobody is asked.

        Raises ``InvalidRequest`` naming the fields, or ``ParentClosed``.
        """
        return (await self._drafting.draft(wish)).plan

    async def open(self, wish: OpenMeeting, idempotency: Idempotency | None) -> MeetingState:
        """Create the meeting and have it run; its first event is durable on return.

        Under an idempotency key, ``{"id": …}`` is kept as the answer in the same transaction.
        Raises ``InvalidRequest`` naming the fields, or ``ParentClosed``.
        """
        draft = await self._drafting.draft(wish)
        if idempotency is not None:
            idempotency = replace(idempotency, answer=json.dumps({"id": draft.meeting.id}))
        entry = Entry(draft.created(), self._clock.now(), "create")
        (event,) = await self._log.append(draft.meeting.id, 0, [entry], idempotency)
        self._dispatch.wake(draft.meeting.id)
        return created(event)

    async def ended(self, meeting_id: str) -> None:
        """Come back once the meeting has ended."""
        async for _ in self._tail.follow(meeting_id, 0):
            pass

    async def cancel(self, meeting_id: str, reason: str | None) -> tuple[MeetingState, bool]:
        """Ask the meeting to stop; True if this call is the first to ask.

        Raises ``NotFound``, or ``MeetingEnded`` once its decision is recorded.
        """
        reason = None if reason is None else clean(reason, _MOST_REASON_CHARACTERS)
        state, first = await request_cancellation(self._log, self._clock, meeting_id, reason)
        self._dispatch.wake(meeting_id)
        return state, first

    async def rule(self, meeting_id: str, ruling: Ruling) -> MeetingState:
        """Answer the open question; ``ruling.choice`` may be a choice's id or its text.

        Raises ``NotFound``, ``NoQuestionOpen``, or ``OutOfScope`` for anything not offered.
        """
        while True:
            log = await self._log.read(meeting_id)
            if not log:
                raise NotFound(f"There is no meeting {meeting_id}.")
            state = fold(log)
            question = state.pending_question
            if question is None or question.asked.arbiter.kind != "human" or state.decided:
                raise NoQuestionOpen("No question is waiting for a person's ruling here.")
            entry = self._ruled(question.asked, ruling)
            try:
                (event,) = await self._log.append(meeting_id, state.last_seq, [entry])
            except LogConflict:
                continue
            self._dispatch.wake(meeting_id)
            return state.after(event)

    async def resume(self, meeting_id: str, wish: ResumeMeeting) -> MeetingState:
        """Go on with a meeting that has ended without a decision; see ``resuming.resume``."""
        state = await resume(self._log, self._clock, meeting_id, wish)
        self._dispatch.wake(meeting_id)
        return state

    def _ruled(self, asked: ArbitrationOpened, ruling: Ruling) -> Entry:
        now = self._clock.now()
        if now >= asked.deadline:
            raise NoQuestionOpen("The time for this ruling is over.")
        ruled = ArbitrationRuled(
            question_id=asked.question_id,
            round=asked.round,
            choice=chosen(asked.choices, ruling.choice).id,
            reason=ruling.reason,
            decided_by=ruling.decided_by,
            conditions=ruling.conditions,
        )
        return Entry(ruled, now, asked.question_id + RULED)
