"""One meeting at work: the format yields a step, the log or the world gives its result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from app.coordinator.arbitration import Arbitration
from app.coordinator.asker import Asker
from app.coordinator.confirming import Confirmation
from app.coordinator.journal import Journal
from app.coordinator.ports import Agent, Clock, Destinations, Prompts, Wording
from app.coordinator.replay import check_fingerprint, fingerprint
from app.coordinator.saving import Saving
from app.domain.ending.arbitration import Ruling
from app.domain.ending.completion_gate import Close, Revise
from app.domain.meeting.entries import Entry
from app.domain.meeting.outcome import Outcome, StopReason
from app.domain.replies.reading import Reply
from app.domain.steps import (
    Arbitrate,
    Ask,
    Confirm,
    Conversation,
    Gather,
    Note,
    Save,
    Saved,
    Step,
    Stopped,
)

_Result = tuple[Reply, ...] | Close | Revise | Ruling | Saved | None


class MeetingRun:
    """Drives a conversation over a journal, from wherever the journal has come to."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        agents: Mapping[str, Agent],
        prompts: Prompts,
        wording: Wording,
        destinations: Destinations,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._asker = Asker(journal, clock, agents, prompts, wording)
        self._destinations = destinations
        self._saving: Saving | None = None
        journal.on_news = self._heed

    async def hold(self, conversation: Conversation) -> Outcome:
        """Run the format to its end; what the log holds already is never asked for again.

        Raises ``Paused`` when there is nothing to do before a later time, ``Overtaken`` when a
        cancel came before what was about to be written, and ``Superseded``, ``ReplayDiverged`` or
        ``LogUnavailable``.
        """
        try:
            step = next(conversation)
            while True:
                try:
                    result = await self._perform(step)
                except Stopped as stopped:
                    step = conversation.throw(stopped)
                else:
                    step = conversation.send(result)
        except StopIteration as end:
            return end.value
        finally:
            await self._asker.abandon()

    async def _perform(self, step: Step) -> _Result:
        match step:
            case Note():
                return self._tell(step)
            case Gather():
                return await self._gather(step)
            case Confirm():
                confirmation = Confirmation(step, self._journal, self._clock, self._asker)
                return await confirmation.hold()
            case Arbitrate():
                return await self._arbitrate(step)
            case Save():
                return await self._save(step)

    async def _arbitrate(self, step: Arbitrate) -> Ruling | None:
        arbiter = self._journal.state.meeting.arbiter
        if arbiter is None:
            return None
        arbitration = Arbitration(step, arbiter, self._journal, self._clock, self._asker)
        return await arbitration.hold()

    async def _save(self, step: Save) -> Saved:
        destination = self._journal.state.meeting.destination
        if destination is None:
            raise ValueError(f"{step.key}: there is no destination to save anything at")
        self._saving = Saving(
            step,
            "deliverable",
            destination,
            self._journal,
            self._clock,
            self._destinations,
            # The closing reserve is for the synthesis and the record (PROTOCOLS 11).
            self._asker.talk_deadline,
        )
        try:
            return await self._saving.hold()
        finally:
            self._saving = None

    def _tell(self, step: Note) -> None:
        recorded = self._journal.find(step.key)
        if recorded is not None:
            if self._journal.of_this_leg(recorded):
                check_fingerprint(recorded, step)
            return
        at = self._clock.now()
        self._journal.add(Entry(step.content, at, step.key, fingerprint(step)))

    async def _gather(self, step: Gather) -> tuple[Reply, ...]:
        known = {ask.key: self._asker.recall(ask) for ask in step.asks}
        open_ = [ask for ask in step.asks if known[ask.key] is None]
        if open_:
            self._stop_before(step)
            known |= await self._ask_all(open_)
        return tuple(reply for reply in known.values() if reply is not None)

    def _stop_before(self, step: Gather) -> None:
        """Raises ``Stopped`` instead of asking, when the meeting has come to its end.

        A gathering that has begun is finished, without asking anybody more, so that a replay
        meets the stop at the same place.
        """
        if self._journal.state.cancellation is not None:
            raise Stopped(StopReason.CANCELLATION)
        if not (self._asker.begun(step.asks) or all(ask.closing for ask in step.asks)):
            self._asker.stop_if_talk_is_over()

    async def _ask_all(self, asks: Sequence[Ask]) -> dict[str, Reply | None]:
        tasks = {ask.key: self._asker.start(ask) for ask in asks}
        await asyncio.wait(tasks.values())
        self._journal.check()
        if self._journal.state.cancellation is not None:
            raise Stopped(StopReason.CANCELLATION)
        return {key: task.result() for key, task in tasks.items()}

    def _heed(self) -> None:
        """A cancel has come in, or nothing that is waited for could be written down any more: stop
        waiting for whatever is in flight (PROTOCOLS 12)."""
        if self._journal.failed or self._journal.state.cancellation is not None:
            self._asker.abort()
            if self._saving is not None:
                self._saving.abort()
