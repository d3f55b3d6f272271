"""The real parts behind the HTTP edge: a database file, the coordinator, agents that do as told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

from app.agents.directory import AgentDirectory, ModelDefaults
from app.api.services import Services
from app.coordinator.drafting import Drafting
from app.coordinator.ports import Agent, Answer, MeetingFilter, Outlets, Prompt, Request
from app.coordinator.reconciling import Reconciliation
from app.coordinator.runner import Runner
from app.coordinator.service import MeetingService
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.events import ReplyReceived
from app.domain.money import Price
from app.domain.values import Json
from app.main import readiness
from app.prompts.wording import sentence
from app.records.decision import decision_markdown
from app.store.agent_settings import SqlAgentStore
from app.store.archive import SqlArchive
from app.store.database import Database
from app.store.log import SqlEventLog
from app.store.migrating import ensure_newest
from tests.clock import VirtualClock
from tests.coordinator.place import Place
from tests.coordinator.table import ActingAgent, prompts, secretary

SEATS = ("ann", "ben", "cid", "dee")
MEETING: dict[str, Any] = {
    "topic": "One repository or several?",
    "motion": "One repository.",
    "participants": [{"name": name} for name in SEATS],
}
"""Held to its end it is decided in one round, with cid neutral."""

SPLIT: dict[str, Any] = {**MEETING, "motion": "Several.", "limits": {"rounds": 1}}
"""Held to its end it is undecided, for cid is against it."""

_TENTH_OF_A_CENT_A_REPLY = Price(Decimal(5), Decimal(25))


class Everybody(ActingAgent):
    """The agent ``default``, behind every seat and office. While ``dee_may_speak`` is not set, the
    last of the seats owes its reply, so a round stays open."""

    def __init__(self) -> None:
        super().__init__("default", _say, _TENTH_OF_A_CENT_A_REPLY)
        self.dee_may_speak = asyncio.Event()
        self.dee_may_speak.set()

    async def answer(self, request: Request) -> Answer:
        if request.who == SEATS[-1]:
            await self.dee_may_speak.wait()
        return await super().answer(request)


def _say(request: Request) -> str:
    if request.office != "participant":
        return secretary(request)
    against = "DISAGREE" if request.variables["motion"] == SPLIT["motion"] else "NEUTRAL"
    return f"I am {request.who}. [STANCE: {against if request.who == 'cid' else 'AGREE'}]"


class _Directory:
    """The service's own, but for who ``default`` is."""

    def __init__(self, default: Agent, stored: AgentDirectory) -> None:
        self._default = default
        self._stored = stored

    async def find(self, name: str) -> Agent:
        return self._default if name == "default" else await self._stored.find(name)


class _FollowedLog(SqlEventLog):
    """``followed`` is set once somebody follows a meeting."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.followed = asyncio.Event()

    async def follow(self, meeting_id: str, after: int) -> AsyncIterator[bytes]:
        self.followed.set()
        async for frames in super().follow(meeting_id, after):
            yield frames


class Parts:
    """Everything behind the edge, and the services made of it.

    A meeting that was opened stays where it is until a test has it go on, and the clock stands
    still.
    """

    def __init__(self, folder: Path) -> None:
        self.clock = VirtualClock()
        self.database = Database(f"sqlite+aiosqlite:///{folder / 'yoriai.db'}")
        ensure_newest(self.database.writer)
        self.log = _FollowedLog(self.database)
        self.archive = SqlArchive(self.database)
        self.agents = SqlAgentStore(self.database, self.clock)
        self.everybody = Everybody()
        self.place = Place()
        self._prompts = prompts
        self.shutdown = asyncio.Event()
        self._stored_agents = AgentDirectory(
            self.agents.get, ModelDefaults(), now=self.clock.now, monotonic=time.monotonic
        )
        self._directory = _Directory(self.everybody, self._stored_agents)
        self._runner = Runner(
            self.log,
            self.clock,
            self._directory,
            self._prompt,
            sentence,
            Outlets(_minutes, _decision_text, self.place),
            self.wake,
        )
        self._running: dict[str, asyncio.Task[datetime | None]] = {}
        self.services = self._services()

    def _services(self) -> Services:
        reconciliation = Reconciliation(self.log, self.clock, self.place)
        return Services(
            meetings=MeetingService(self.log, self.clock, self._drafting(), self, self.log),
            archive=self.archive,
            tail=self.log,
            agents=self.agents,
            agent_check=self._check,
            reconcile=reconciliation.look,
            clock=self.clock,
            ready=lambda: readiness(self.database, self.log),
            shutdown=self.shutdown,
        )

    def _drafting(self) -> Drafting:
        numbers = iter(range(1, 10_000))
        return Drafting(
            self.log,
            self.clock,
            self._directory,
            self._prompt,
            lambda format_, language, key: (key, f"the {key}"),
            lambda: f"{next(numbers):04}",
            lambda url, pointer: None,
        )

    async def close(self) -> None:
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await self.log.close()
        await self._stored_agents.close()
        await self.database.close()

    # --- having meetings go on ----------------------------------------------------------

    def wake(self, meeting_id: str, at: datetime | None = None) -> None:
        """The port ``Dispatch``: a meeting at work hears of it, others are left where they are."""
        del at
        self._runner.hear(meeting_id)

    async def hold(self, meeting_id: str = "mtg_0001") -> None:
        """Take the meeting to its end, or to where it waits."""
        await self._runner.advance(meeting_id)

    async def begin(self, meeting_id: str = "mtg_0001") -> None:
        """Have all but dee reply in the first round; the meeting is at work from then on."""
        self.everybody.dee_may_speak.clear()
        self._running[meeting_id] = asyncio.create_task(self._runner.advance(meeting_id))
        while True:
            log = await self.log.read(meeting_id)
            if sum(entry.type == ReplyReceived.type for entry in log) == len(SEATS) - 1:
                return
            await asyncio.sleep(0)

    async def finish(self, meeting_id: str = "mtg_0001") -> None:
        """Have a meeting that has begun go on to its end."""
        self.everybody.dee_may_speak.set()
        await self._running.pop(meeting_id)

    async def until_handling(self, key: str) -> None:
        """Come back once a request with this idempotency key is at work."""
        while True:
            if key in self.services.handling:
                return
            await asyncio.sleep(0)

    async def append(self, meeting_id: str, *entries: Entry) -> None:
        """Put entries into a meeting's log by hand."""
        last = len(await self.log.read(meeting_id))
        await self.log.append(meeting_id, last, entries)

    # --- what was kept ------------------------------------------------------------------

    async def last(self, meeting_id: str = "mtg_0001") -> Event:
        """The latest entry of a meeting's log."""
        return (await self.archive.log(meeting_id))[-1]

    async def meetings(self) -> Sequence[str]:
        """The ids of all meetings that are stored."""
        page = await self.archive.meetings(MeetingFilter(limit=200))
        return [state.meeting.id for state in page.items]

    # --- what can go wrong --------------------------------------------------------------

    @contextmanager
    def broken_prompts(self, fault: Exception) -> Iterator[None]:
        """Whoever needs a prompt meets a fault of ours within the block."""

        def broken(*_: object) -> Prompt:
            raise fault

        whole, self._prompts = self._prompts, broken
        yield
        self._prompts = whole

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nothing can be written to the database within the block; whoever writes waits."""
        engine = create_engine(self.database.sync_url)
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield
            connection.rollback()
        engine.dispose()

    def _prompt(self, template: str, language: str, variables: Mapping[str, Any]) -> Prompt:
        # Looked up at the time, for ``broken_prompts``.
        return self._prompts(template, language, variables)

    async def _check(self, name: str) -> Mapping[str, Json]:
        agent = await self._stored_agents.find(name)
        return (await self._stored_agents.check(agent)).record()


async def _minutes(events: Sequence[Event]) -> str:
    return f"minutes/{events[0].meeting_id}.md"


async def _decision_text(events: Sequence[Event]) -> str:
    return decision_markdown(events)
