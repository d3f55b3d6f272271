"""Opens a question, waits for its ruling, and lets it expire (PROTOCOLS 11, arbitration).

A ruling by a person comes in as an entry of the log, from whichever process took the call; one
by an agent is asked for like any other reply.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import cast

from app.coordinator.asker import Asker
from app.coordinator.journal import Journal
from app.coordinator.pausing import Paused
from app.coordinator.ports import Clock
from app.domain.ending.arbitration import Ruling, RulingReading, ruling_deadline
from app.domain.meeting.entries import Content, Entry, Event
from app.domain.meeting.events import ArbitrationExpired, ArbitrationOpened, ArbitrationRuled
from app.domain.meeting.meeting import ARBITER, Arbiter
from app.domain.meeting.outcome import StopReason
from app.domain.replies.reading import Reply, ReplyStatus
from app.domain.steps import Arbitrate, Ask, Stopped

RULED = "/ruled"
_EXPIRED = "/expired"
_TIME_OVER = ReplyStatus.TIMEOUT


class Arbitration:
    """One question to one arbiter."""

    def __init__(
        self,
        step: Arbitrate,
        arbiter: Arbiter,
        journal: Journal,
        clock: Clock,
        asker: Asker,
    ) -> None:
        self._step = step
        self._arbiter = arbiter
        self._journal = journal
        self._clock = clock
        self._asker = asker
        legs = len(journal.state.meeting.resumptions)
        # A ruling on the question of an earlier end must not answer this one.
        self._key = f"{step.key}-{legs + 1}" if legs else step.key

    async def hold(self) -> Ruling | None:
        """The ruling, or None once the question has expired.

        Raises ``Stopped`` for a cancel or a limit, or ``Paused`` while a person is waited for.
        """
        deadline = await self._opened()
        while True:
            ruled = self._journal.find(self._key + RULED)
            if ruled is not None:
                return cast("ArbitrationRuled", ruled.content).ruling
            if self._journal.state.cancellation is not None:
                raise Stopped(StopReason.CANCELLATION)
            expired = self._journal.find(self._key + _EXPIRED)
            if expired is not None:
                if cast("ArbitrationExpired", expired.content).reason == ReplyStatus.BUDGET:
                    raise Stopped(StopReason.BUDGET)
                return None
            if self._clock.now() >= deadline:
                await self._expire(_TIME_OVER)
            elif self._arbiter.kind == "human":
                raise Paused(deadline)
            else:
                await self._ask(deadline)

    async def _opened(self) -> datetime:
        """Until when the question is open, or was. No question opens where a limit or a cancel
        has ended the meeting already (PROTOCOLS 11, arbitration)."""
        opened = self._journal.find(self._key)
        if opened is None:
            self._asker.stop_if_talk_is_over()
            opened = await self._open()
        return cast("ArbitrationOpened", opened.content).deadline

    async def _open(self) -> Event:
        now = self._clock.now()
        seconds = self._journal.state.meeting.limits.arbitration_seconds
        deadline = ruling_deadline(now, seconds, self._asker.talk_deadline)
        opened = ArbitrationOpened(
            question_id=self._key,
            round=self._step.round,
            question=self._step.question,
            choices=self._step.choices,
            scope=self._step.scope,
            deadline=deadline,
            arbiter=self._arbiter,
        )
        while not await self._journal.append_if_unchanged(Entry(opened, now, self._key)):
            # News of another meeting, or of a save, keeps no question from being opened.
            if self._journal.state.cancellation is not None:
                raise Stopped(StopReason.CANCELLATION)
        return self._journal.get(self._key)

    async def _ask(self, deadline: datetime) -> None:
        """Have the arbiting agent rule; a reply that cannot be used is no ruling."""
        ask = self._question()
        reply = self._asker.recall(ask) or await self._reply(ask, deadline)
        if self._journal.state.cancellation is not None:
            return
        if reply is None:
            await self._expire(_TIME_OVER)
            return
        if not reply.usable:
            await self._expire(reply.status)
            return
        ruled = ArbitrationRuled(
            question_id=self._key,
            round=self._step.round,
            choice=reply.values["choice"],
            reason=reply.values["ruling_reason"],
            decided_by=self._arbiter.shown,
            conditions=reply.values["conditions"],
        )
        await self._close(RULED, ruled)

    async def _reply(self, ask: Ask, deadline: datetime) -> Reply | None:
        task = self._asker.start(ask)
        timer = self._clock.call_at(deadline, task.cancel)
        await asyncio.wait([task])
        timer.cancel()
        return None if task.cancelled() else task.result()

    async def _expire(self, reason: ReplyStatus) -> None:
        """Close the question without a ruling; ``reason`` is that of a missing reply."""
        expired = ArbitrationExpired(
            question_id=self._key, round=self._step.round, reason=reason.value
        )
        await self._close(_EXPIRED, expired)

    async def _close(self, end: str, content: Content) -> None:
        # A ruling or a cancel that comes in at this very moment was there first, and counts.
        await self._journal.append_if_unchanged(Entry(content, self._clock.now(), self._key + end))

    def _question(self) -> Ask:
        return Ask(
            f"{self._key}/ask",
            self._arbiter.shown,
            self._step.round,
            "arbiter/rule",
            {
                **self._step.variables,
                "question": self._step.question,
                "choices": [choice.record() for choice in self._step.choices],
                "scope": self._step.scope,
            },
            RulingReading(self._step.choices),
            office=ARBITER,
        )
