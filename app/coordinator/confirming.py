"""Puts the closing question and acts as the completion gate decides (PROTOCOLS 10).

The gate's clock is the log's: when the question was put, what was signalled and who was nudged is
read from there, so a restart in the middle changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from app.coordinator.asker import Asker
from app.coordinator.journal import Journal
from app.coordinator.pausing import Paused
from app.coordinator.ports import Clock
from app.coordinator.stopping import stop_if_due
from app.domain.ending.completion_gate import (
    Close,
    GateState,
    GateWait,
    Nudge,
    Nudged,
    Revise,
    Signal,
    SignalKind,
    completion_in,
    decide,
    wishes,
)
from app.domain.meeting import events
from app.domain.meeting.entries import Content, Entry, Event
from app.domain.meeting.events import CompletionNudged, ReplyReceived
from app.domain.replies.reading import Reply, ReplyStatus
from app.domain.steps import Ask, Confirm


class Confirmation:
    """One attempt of one gate."""

    def __init__(self, step: Confirm, journal: Journal, clock: Clock, asker: Asker) -> None:
        self._step = step
        self._journal = journal
        self._clock = clock
        self._asker = asker
        self._put: set[str] = set()
        self._open: set[asyncio.Task[Reply]] = set()
        self._moved = asyncio.Event()
        self._failure: BaseException | None = None

    async def hold(self) -> Close | Revise:
        """What the gate decides. Raises ``Stopped``, or ``Paused`` while only time must pass."""
        try:
            action = await self._until_settled()
        finally:
            # A gate that has closed waits for nobody, and what comes later changes nothing.
            await self._asker.abandon()
        if isinstance(action, Close):
            # A wish that came in the same breath as the last completion closes nothing, but it
            # was said, and the record keeps it.
            await self._tell_signals()
            return replace(action, reasons=wishes(self._state()))
        return action

    async def _until_settled(self) -> Close | Revise:
        while True:
            await self._tell_signals()
            match decide(self._state(), self._as_of()):
                case Close() | Revise() as settled:
                    return settled
                case Nudge() | GateWait() as action:
                    self._stop_if_due()
                    await self._act(action)

    async def _act(self, action: Nudge | GateWait) -> None:
        match action:
            case Nudge(participants):
                nudged = CompletionNudged(
                    round=self._round, participants=participants, attempt=self._step.attempt
                )
                self._add(f"nudge-{len(self._nudges()) + 1}", nudged)
            case GateWait(datetime() as until):
                self._put_questions()
                await self._wait(until)
            case GateWait():
                # Nothing is due before the question has been put.
                self._add("asked", events.GateAsked(round=self._round))

    @property
    def _round(self) -> int:
        return self._step.asks[0].round

    def _add(self, name: str, content: Content) -> None:
        """Put it down; the next look at the log finds it, and then it is acted on."""
        self._journal.add(Entry(content, self._clock.now(), f"{self._step.key}/{name}"))

    # --- what ends it from outside --------------------------------------------------------------

    def _as_of(self) -> datetime:
        """The moment up to which the gate is looked at: now, unless the meeting was over before.

        So a meeting that nobody advanced when it was cancelled, or when its time or money ran
        out, comes to the same end as one that somebody did.
        """
        ends = [self._clock.now(), self._asker.deadline]
        cancellation = self._journal.state.cancellation
        if cancellation is not None:
            ends.append(cancellation.requested_at)
        if self._out_of_budget():
            ends.append(max(at for _, _, at in self._replies()))
        return min(ends)

    def _stop_if_due(self) -> None:
        stop_if_due(
            self._journal.state,
            self._clock.now(),
            self._asker.deadline,
            out_of_budget=self._out_of_budget(),
        )

    def _out_of_budget(self) -> bool:
        """Whether nobody can be heard any more, because there was no room to ask.

        The fallback is not waited for then: a budget that ran out is no single completion.
        """
        refused = any(reply.status is ReplyStatus.BUDGET for _, reply, _ in self._replies())
        return refused and all(self._asker.recall(ask) for ask in self._questions_so_far())

    # --- asking and waiting ---------------------------------------------------------------------

    def _put_questions(self) -> None:
        for ask in self._questions_so_far():
            if ask.key not in self._put and self._asker.recall(ask) is None:
                self._put.add(ask.key)
                task = self._asker.start(ask)
                self._open.add(task)
                task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[Reply]) -> None:
        self._open.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failure = task.exception()
        self._moved.set()

    async def _wait(self, until: datetime) -> None:
        """Until an answer comes, or the gate has something to do, or the meeting must end."""
        limit = min(until, self._asker.deadline)
        if self._moved.is_set():
            # An answer came while what had come before was being written: look again.
            self._moved.clear()
            return
        if not self._open:
            raise Paused(limit)
        timer = self._clock.call_at(limit, self._moved.set)
        try:
            await self._moved.wait()
        finally:
            timer.cancel()
        self._moved.clear()
        if self._failure is not None:
            raise self._failure

    async def _tell_signals(self) -> None:
        """Each answer to the closing question is an event of its own, told once."""
        while True:
            await self._journal.flush()
            untold = [
                self._signalled(step, reply, at)
                for step, reply, at in self._answers()
                if self._journal.find(f"{step}/signal") is None
            ]
            if not untold:
                return
            self._journal.add(*untold)

    def _signalled(self, step: str, reply: ReplyReceived, at: datetime) -> Entry:
        said = completion_in(reply.read)
        signal = events.CompletionSignalled(
            round=reply.round,
            participant=reply.participant,
            completion=said.completion or "",
            reason=said.completion_reason,
            attempt=self._step.attempt,
        )
        return Entry(signal, at, f"{step}/signal")

    # --- what the log says ----------------------------------------------------------------------

    def _state(self) -> GateState:
        asked = self._journal.find(f"{self._step.key}/asked")
        state = GateState(
            self._step.settings,
            tuple(ask.who for ask in self._step.asks),
            None if asked is None else asked.at,
            self._step.attempt,
        )
        for _, reply, at in self._answers():
            said = completion_in(reply.read)
            kind = SignalKind(said.completion)
            state = state.after(Signal(reply.participant, kind, said.completion_reason, at))
        for nudge, at in self._nudges():
            state = state.after(Nudged(nudge.participants, at))
        return state

    def _questions_so_far(self) -> list[Ask]:
        asks = list(self._step.asks)
        for number, (nudge, _) in enumerate(self._nudges(), start=1):
            asks += self._nudging(number, nudge.participants)
        return asks

    def _nudging(self, number: int, participants: Sequence[str]) -> list[Ask]:
        return [
            replace(
                ask,
                key=f"{self._step.key}/nudge-{number}/ask/{ask.who}",
                variables={**ask.variables, "nudged": True},
            )
            for ask in self._step.asks
            if ask.who in participants
        ]

    def _of_step(self) -> Iterator[Event]:
        prefix = self._step.key + "/"
        return (e for e in self._journal.leg if (e.step or "").startswith(prefix))

    def _replies(self) -> list[tuple[str, ReplyReceived, datetime]]:
        """The replies that count, each with its step and when it came."""
        return [
            (entry.step or "", entry.content, entry.at)
            for entry in self._of_step()
            if isinstance(entry.content, ReplyReceived)
            and entry.content.final
            and not entry.content.late
        ]

    def _answers(self) -> list[tuple[str, ReplyReceived, datetime]]:
        return [
            each for each in self._replies() if completion_in(each[1].read).completion is not None
        ]

    def _nudges(self) -> list[tuple[CompletionNudged, datetime]]:
        return [
            (entry.content, entry.at)
            for entry in self._of_step()
            if isinstance(entry.content, CompletionNudged)
        ]
