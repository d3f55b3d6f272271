"""Advances meetings: loads the log, runs the format over it, and brings it to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime

from app.coordinator.conclusion import conclude, finish, recorded_decision
from app.coordinator.journal import Journal
from app.coordinator.pausing import Paused
from app.coordinator.ports import Agent, Agents, Clock, EventLog, MinutesFile, Prompts, Wording
from app.coordinator.run import MeetingRun
from app.domain.errors import LogUnavailable, NotFound, Superseded, YoriaiError
from app.domain.events import Event
from app.domain.meeting import Meeting
from app.domain.outcome import ended_by_error
from app.formats import FORMATS


class Runner:
    """One for a process. A meeting is advanced by at most one call at a time."""

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        agents: Agents,
        prompts: Prompts,
        wording: Wording,
        write_minutes: MinutesFile,
    ) -> None:
        self._log = log
        self._clock = clock
        self._agents = agents
        self._prompts = prompts
        self._wording = wording
        self._write_minutes = write_minutes
        self._journals: dict[str, Journal] = {}
        self._hearing: set[asyncio.Task[None]] = set()

    async def advance(self, meeting_id: str) -> datetime | None:
        """Take the meeting as far as it goes, from wherever its log stands.

        None: it has ended. Else the time from which there is something to do again.

        Raises ``Superseded`` when another runner holds it, ``LogUnavailable`` when the log
        cannot be written, and, after ending the meeting as failed, whatever fault of ours
        stopped it.
        """
        journal = Journal(self._log, await self._log.read(meeting_id))
        if journal.state.ended:
            return None
        self._journals[meeting_id] = journal
        try:
            await self._advance(journal)
        except Paused as pause:
            return pause.until
        finally:
            del self._journals[meeting_id]
            await journal.release()
        return None

    def hear(self, meeting_id: str) -> None:
        """A hint that a caller has appended something to a meeting that may be at work here."""
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
            except (Superseded, LogUnavailable, Paused):
                raise
            except Exception as error:
                fault = error
                code = error.code if isinstance(error, YoriaiError) else "internal-error"
                decision = await conclude(journal, self._clock, agents, ended_by_error(code))
        await finish(journal, self._clock, self._write_minutes, decision)
        if fault is not None:
            raise fault

    async def _hold(self, journal: Journal, agents: Mapping[str, Agent]) -> Event:
        run = MeetingRun(journal, self._clock, agents, self._prompts, self._wording)
        format_ = FORMATS[journal.state.meeting.format]
        outcome = await run.hold(format_.hold(journal.state.meeting))
        return await conclude(journal, self._clock, agents, outcome)

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


async def _catch_up(journal: Journal) -> None:
    try:
        await journal.catch_up()
    except (Superseded, LogUnavailable):
        # The run itself meets the same at its next append, and says so there.
        return
