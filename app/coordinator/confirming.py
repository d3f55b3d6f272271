"""Puts the closing question and acts as the completion gate decides (PROTOCOLS 10).

The gate's clock is the log's: what was signalled and nudged, and when, is read from there, so a
restart in the middle changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from app.coordinator.journal import Journal
from app.coordinator.pausing import Paused
from app.coordinator.ports import Clock
from app.coordinator.questions import Questions
from app.domain import events
from app.domain.completion_gate import (
    Close,
    GateState,
    Nudge,
    Nudged,
    Revise,
    Signal,
    SignalKind,
    Wait,
    decide,
)
from app.domain.events import Entry, Event
from app.domain.outcome import StopReason
from app.domain.steps import Ask, Confirm, Reply, Stopped


class Confirmation:
    """One attempt of one gate."""

    def __init__(self, step: Confirm, journal: Journal, clock: Clock, questions: Questions) -> None:
        self._step = step
        self._journal = journal
        self._clock = clock
        self._questions = questions
        self._open: set[asyncio.Task[Reply]] = set()
        self._moved = asyncio.Event()

    async def hold(self) -> Close | Revise:
        """What the gate decides. Raises ``Stopped``, or ``Paused`` while only time must pass."""
        self._stop_if_due()
        await self._journal.durable()
        self._ask(self._step.asks)
        for number, nudge in enumerate(self._nudges(), start=1):
            self._ask(self._nudging(number, nudge.data["participants"]))
        while True:
            await self._tell_signals()
            action = decide(self._state(), self._clock.now())
            match action:
                case Close() | Revise():
                    await self._questions.abandon()
                    return action
                case Nudge(participants):
                    await self._nudge(participants)
                case Wait(until):
                    await self._wait(until)

    def _stop_if_due(self) -> None:
        if self._journal.state.cancellation is not None:
            raise Stopped(StopReason.CANCELLATION)

    async def _wait(self, until: datetime | None) -> None:
        """Until an answer comes, or the gate has something to do, or the meeting must end."""
        deadline = self._questions.deadline
        if self._clock.now() >= deadline:
            raise Stopped(StopReason.DEADLINE)
        limit = deadline if until is None else min(until, deadline)
        if not self._open:
            await self._journal.durable()
            raise Paused(limit)
        timer = self._clock.call_at(limit, self._moved.set)
        try:
            await self._moved.wait()
        finally:
            timer.cancel()
        self._moved.clear()
        self._stop_if_due()
        await self._journal.durable()

    def _ask(self, asks: Sequence[Ask]) -> None:
        for ask in asks:
            if self._questions.recall(ask) is None:
                task = self._questions.start(ask)
                self._open.add(task)
                task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[Reply]) -> None:
        self._open.discard(task)
        self._moved.set()

    async def _nudge(self, participants: Sequence[str]) -> None:
        number = sum(1 for _ in self._nudges()) + 1
        content = {"round": self._step.asks[0].round, "participants": list(participants)}
        key = f"{self._step.key}/nudge-{number}"
        now = self._clock.now()
        self._journal.add(Entry(events.COMPLETION_NUDGED, content, now, key))
        await self._journal.durable()
        self._ask(self._nudging(number, participants))

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

    async def _tell_signals(self) -> None:
        """Each answer to the closing question is an event of its own, told once."""
        await self._journal.durable()
        for entry in list(self._answers()):
            told = f"{entry.step}/signal"
            if self._journal.find(told) is None:
                content = {
                    "round": entry.data["round"],
                    "participant": entry.data["participant"],
                    "completion": entry.data["completion"],
                    "reason": entry.data["completion_reason"],
                }
                self._journal.add(Entry(events.COMPLETION_SIGNALLED, content, entry.at, told))
        await self._journal.durable()

    # --- what the log says --------------------------------------------------------------

    def _state(self) -> GateState:
        asked_at = min(entry.at for entry in self._of_step() if entry.type != _NUDGED)
        state = GateState(
            self._step.settings,
            tuple(ask.who for ask in self._step.asks),
            asked_at,
            self._step.attempt,
        )
        for entry in self._answers():
            kind = SignalKind(entry.data["completion"])
            signal = Signal(
                entry.data["participant"], kind, entry.data["completion_reason"], entry.at
            )
            state = state.after(signal)
        for nudge in self._nudges():
            state = state.after(Nudged(tuple(nudge.data["participants"]), nudge.at))
        return state

    def _of_step(self) -> Iterator[Event]:
        prefix = self._step.key + "/"
        return (e for e in self._journal.entries if (e.step or "").startswith(prefix))

    def _answers(self) -> Iterator[Event]:
        return (
            entry
            for entry in self._of_step()
            if entry.type == events.REPLY_RECEIVED
            and entry.data["final"]
            and entry.data["completion"] is not None
        )

    def _nudges(self) -> Iterator[Event]:
        return (entry for entry in self._of_step() if entry.type == _NUDGED)


_NUDGED = events.COMPLETION_NUDGED
