"""Advances meetings: loads the log, runs the format over it, and brings it to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum, auto

from app.coordinator.cancellation import CONFIRM_SECONDS, Cancellation, request_cancellation
from app.coordinator.conclusion import conclude, deliver, finish, recorded_decision
from app.coordinator.journal import Journal, Overtaken
from app.coordinator.pausing import Paused
from app.coordinator.ports import (
    Agent,
    Agents,
    Clock,
    EventLog,
    Outlets,
    Prompts,
    Wording,
)
from app.coordinator.reconciling import Reconciliation
from app.coordinator.run import MeetingRun
from app.domain.errors import (
    LogUnavailable,
    MeetingEnded,
    NotFound,
    Superseded,
    Unreplayable,
    YoriaiError,
)
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.events import MeetingParked, MeetingUnparked
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import Outcome, cancelled_unreplayed, ended_by_error
from app.domain.meeting.state import MeetingState
from app.formats import format_of


class _Run(Enum):
    """What a run over a meeting's log has come to."""

    ENDED = auto()
    OVERTAKEN = auto()
    """A cancel came before what was about to be written: it is gone through anew."""


class Runner:
    """One for a process. A meeting is advanced by at most one call at a time."""

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        agents: Agents,
        prompts: Prompts,
        wording: Wording,
        outlets: Outlets,
        wake: Callable[[str], None],
        confirm_seconds: float = CONFIRM_SECONDS,
    ) -> None:
        self._log = log
        self._clock = clock
        self._agents = agents
        self._prompts = prompts
        self._wording = wording
        self._outlets = outlets
        self._reconciliation = Reconciliation(log, clock, outlets.destinations)
        self._wake = wake
        self._confirm_seconds = confirm_seconds
        self._journals: dict[str, Journal] = {}
        self._looks: dict[str, asyncio.Task[datetime | None]] = {}
        self._hearing: set[asyncio.Task[None]] = set()

    async def advance(self, meeting_id: str) -> datetime | None:
        """Take the meeting as far as it goes, from wherever its log stands.

        None: it has ended, and nothing that it left open outside is looked after any more. Else
        the time from which there is something to do again.

        Raises ``Superseded`` when another runner holds it, ``LogUnavailable`` when the log
        cannot be written, ``Unreplayable`` after parking a meeting that this process cannot go on
        with, and, after ending the meeting as failed, whatever fault of ours stopped it.
        """
        while True:
            journal = Journal(self._log, await self._log.read(meeting_id))
            if journal.state.ended:
                return await self._look_after(journal.state)
            match await self._run(journal):
                case _Run.OVERTAKEN:
                    continue
                case _Run.ENDED:
                    await self._tell_above(journal.state.meeting)
                    return await self._look_after(journal.state)
                case datetime() as until:
                    return until

    async def _run(self, journal: Journal) -> _Run | datetime:
        """What one run over the log has come to, or until when it waits."""
        self._journals[journal.meeting_id] = journal
        try:
            await self._advance(journal)
        except Overtaken:
            return _Run.OVERTAKEN
        except Paused as pause:
            await self._take_up(journal)
            return pause.until
        except Unreplayable as stuck:
            await self._park(journal, stuck)
            raise
        finally:
            del self._journals[journal.meeting_id]
            await journal.release()
        return _Run.ENDED

    async def _park(self, journal: Journal, stuck: Unreplayable) -> None:
        """Keep the meeting as it is: what was thought out on the way is void (API.md, parked)."""
        journal.void()
        while True:
            parked = journal.state.parked
            if parked is not None and parked.reason == stuck.reason:
                return
            told = MeetingParked(reason=stuck.reason, detail=stuck.message)
            if await journal.append_if_unchanged(Entry(told, self._clock.now())):
                return

    async def _take_up(self, journal: Journal) -> None:
        """Say that a parked meeting is held again, where there is nothing else to say yet."""
        if journal.state.parked is not None:
            journal.add(Entry(MeetingUnparked(), self._clock.now()))
            await journal.flush()

    async def _look_after(self, state: MeetingState) -> datetime | None:
        """See to what the meeting's end left open outside; when there is more to do, if ever.

        A hint that there is news, such as a resuming, ends it: it can be looked after later.
        """
        if not _left_open(state):
            return None
        id_ = state.meeting.id
        look = self._looks[id_] = asyncio.create_task(self._reconciliation.tend(id_))
        try:
            await asyncio.wait([look])
        finally:
            del self._looks[id_]
            look.cancel()
        return None if look.cancelled() else look.result()

    def hear(self, meeting_id: str) -> None:
        """A hint that a caller has appended something to a meeting that may be at work here."""
        look = self._looks.get(meeting_id)
        if look is not None:
            look.cancel()
        journal = self._journals.get(meeting_id)
        if journal is None:
            return
        task = asyncio.create_task(_catch_up(journal))
        self._hearing.add(task)
        task.add_done_callback(self._hearing.discard)

    async def _advance(self, journal: Journal) -> None:
        agents = await self._seat(journal.state.meeting)
        fault: Exception | None = None
        decision = recorded_decision(journal)
        if decision is None:
            try:
                decision = await self._hold(journal, agents)
            except (Superseded, Overtaken, LogUnavailable, Paused):
                raise
            except Unreplayable:
                if journal.state.cancellation is None:
                    raise
                journal.void()
                decision = await self._conclude(journal, agents, cancelled_unreplayed())
            except Exception as error:
                fault = error
                code = error.code if isinstance(error, YoriaiError) else "internal-error"
                decision = await self._conclude(journal, agents, ended_by_error(code))
        await deliver(journal, self._clock, self._outlets, decision)
        try:
            await finish(journal, self._clock, self._outlets.write_minutes, decision)
            if fault is not None:
                raise fault
        except Exception:
            if journal.state.ended and _left_open(journal.state):
                # The fault ends this call; what was left open outside is looked after all the same.
                self._wake(journal.meeting_id)
            raise

    async def _hold(self, journal: Journal, agents: Mapping[str, Agent]) -> Event:
        run = MeetingRun(
            journal, self._clock, agents, self._prompts, self._wording, self._outlets.destinations
        )
        meeting = journal.state.meeting
        outcome = await run.hold(format_of(meeting).hold(meeting))
        return await self._conclude(journal, agents, outcome)

    async def _conclude(
        self, journal: Journal, agents: Mapping[str, Agent], outcome: Outcome
    ) -> Event:
        async def close_cancellation() -> None:
            await Cancellation(
                journal, self._clock, agents, self._cancel_below, self._confirm_seconds
            ).close()

        return await conclude(journal, self._log, self._clock, outcome, close_cancellation)

    async def _cancel_below(self, meeting_id: str, reason: str) -> bool:
        try:
            await request_cancellation(self._log, self._clock, meeting_id, reason)
        except MeetingEnded:
            # It comes to its own end, which those above are told.
            return False
        self._wake(meeting_id)
        return True

    async def _tell_above(self, meeting: Meeting) -> None:
        """Whoever waits up there for the meetings below to end finds it in its log."""
        for id_ in meeting.ancestors:
            if not (await self._log.state(id_)).ended:
                self._wake(id_)

    async def _seat(self, meeting: Meeting) -> dict[str, Agent]:
        """The meeting's agents; one that is gone is left out, and its replies become errors."""
        seated: dict[str, Agent] = {}
        for name in agent_names(meeting):
            try:
                seated[name] = await self._agents.find(name)
            except NotFound:
                continue
        return seated


def agent_names(meeting: Meeting) -> list[str]:
    """Every agent that the meeting may ask, each once, in order of first mention."""
    named = [*(seat.agent for seat in meeting.seats), meeting.secretary, meeting.chair_agent]
    if meeting.arbiter is not None and meeting.arbiter.agent is not None:
        named.append(meeting.arbiter.agent)
    return list(dict.fromkeys(named))


def _left_open(state: MeetingState) -> bool:
    return any(operation.open for operation in state.operations.values())


async def _catch_up(journal: Journal) -> None:
    try:
        await journal.catch_up()
    except (Superseded, LogUnavailable):
        # The run itself meets the same at its next append, and says so there.
        return
