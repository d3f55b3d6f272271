"""Asking one question on behalf of a meeting: found in the log, or sent, read and recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b

from app.coordinator.asking import Exchange, exchange, unanswered
from app.coordinator.journal import Journal, belated
from app.coordinator.ports import Agent, Clock, Prompt, Prompts, Request, Wording
from app.coordinator.replay import AGAIN, check_fingerprint, fingerprint, recorded_reply
from app.coordinator.request_counter import RequestCounter, most_cost
from app.domain.meeting import events
from app.domain.meeting.envelope import closing_seconds
from app.domain.meeting.events import Entry
from app.domain.meeting.meeting import ARBITER, CHAIR, SECRETARY
from app.domain.money import Cost
from app.domain.replies.messages import Arg, Code, Message
from app.domain.replies.reading import Reply, ReplyStatus
from app.domain.steps import Ask
from app.domain.values import rfc3339

REQUEST = "/request"
"""Ends the key under which a request is recorded as reserved."""

_EXHAUSTED = "envelope/exhausted"


class Asker:
    """``agents`` are those of the meeting, by name; one that is missing makes its replies errors.

    ``deadline`` is when the meeting must have ended, ``talk_deadline`` when its conversation
    must have: between them lies the closing reserve.
    """

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        agents: Mapping[str, Agent],
        prompts: Prompts,
        wording: Wording,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._agents = agents
        self._prompts = prompts
        self._wording = wording
        self._meeting = journal.state.meeting
        self._turns = RequestCounter(journal.entries)
        self._in_flight: set[asyncio.Task[Reply]] = set()
        self.budget_spent = journal.find(_EXHAUSTED) is not None
        self.deadline = self._begin()
        reserve = closing_seconds(self._meeting.limits.seconds)
        self.talk_deadline = self.deadline - timedelta(seconds=reserve)

    def _begin(self) -> datetime:
        state = self._journal.state
        if state.deadline is not None:
            return state.deadline
        now = self._clock.now()
        deadline = now + timedelta(seconds=self._meeting.limits.seconds)
        if self._meeting.ends_by is not None:
            # A meeting in a tree ends in time for those above it, however late it starts.
            deadline = min(deadline, self._meeting.ends_by)
        content = {"deadline": rfc3339(deadline)}
        self._journal.add(Entry(events.MEETING_STARTED, content, now, step="start"))
        return deadline

    def recall(self, ask: Ask) -> Reply | None:
        """The reply to this question that the log already holds.

        Raises ``ReplayDiverged`` if the log holds another question under its key.
        """
        recorded = self._journal.find(ask.key + AGAIN) or self._journal.find(ask.key)
        if recorded is None:
            return None
        if self._journal.of_this_leg(recorded):
            check_fingerprint(recorded, ask)
        return recorded_reply(recorded) if recorded.data["final"] else None

    def begun(self, asks: Iterable[Ask]) -> bool:
        return any(self._journal.find(ask.key) for ask in asks)

    def start(self, ask: Ask) -> asyncio.Task[Reply]:
        """Ask in the background; ``abort`` ends the waiting for it."""
        task = asyncio.create_task(self._ask(ask))
        self._in_flight.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[Reply]) -> None:
        self._in_flight.discard(task)
        if not task.cancelled():
            # Of several that fail of the same thing one is heard; the others are no news.
            task.exception()

    def abort(self) -> None:
        for task in self._in_flight:
            task.cancel()

    async def abandon(self) -> None:
        """Abort, and wait until nothing is left."""
        left = tuple(self._in_flight)
        self.abort()
        await asyncio.gather(*left, return_exceptions=True)

    async def _ask(self, ask: Ask) -> Reply:
        """Ask, and once more if the reply does not fit (PROTOCOLS 16)."""
        first = self._journal.find(ask.key)
        fault = None if first is None else first.data["reason"]
        made = await self._exchange(ask, attempt=1) if fault is None else None
        if made is None or not made.final:
            fault = fault if made is None else made.fault
            made = await self._exchange(ask, attempt=2, fault=fault)
        self._have_written()
        return made.reply

    def _have_written(self) -> None:
        """Have this task's reply written, at the latest with whatever the meeting does next."""
        self._in_flight -= {asyncio.current_task()}
        if self._in_flight:
            self._journal.flush_soon()
        else:
            self._journal.cancel_flush()

    async def _exchange(self, ask: Ask, attempt: int, fault: str | None = None) -> Exchange:
        step = ask.key if attempt == 1 else ask.key + AGAIN
        request_id = self._request_id(step)
        agent = self._agents.get(self._agent_of(ask))
        until = self._until(ask)
        sent_before = self._journal.state.reserved.get(step)
        if agent is None:
            reason = self._reason(Code.AGENT_GONE, agent=self._agent_of(ask))
            made = unanswered(ask, ReplyStatus.ERROR, reason, attempt)
        elif self._clock.now() >= until:
            reason = self._reason(Code.TIME_WAS_OVER)
            made = unanswered(ask, ReplyStatus.TIMEOUT, reason, attempt)
        else:
            prompt = self._prompt(ask, fault)
            turn = self._turns.of(step, agent.profile.name)
            request = self._request(ask, request_id, turn, prompt, until)
            made = await self._send(ask, agent, request, step, attempt)
        if made.reply.status is ReplyStatus.TIMEOUT and until == self._end_for(ask):
            made = replace(made, reply=replace(made.reply, out_of_time=True))
        if sent_before is not None and self._uncounted(made):
            # A crash left it under way, and nobody knows whether it was worked for.
            made = replace(made, booked=Cost.read(sent_before["reserved"]))
        self._record(ask, step, made, request_id)
        return made

    def _request(
        self, ask: Ask, request_id: str, turn: int, prompt: Prompt, until: datetime
    ) -> Request:
        return Request(
            request_id=request_id,
            meeting_id=self._meeting.id,
            who=ask.who,
            office=ask.office,
            round=ask.round,
            turn=turn,
            template=ask.template,
            variables=ask.variables,
            language=self._meeting.language,
            system=prompt.system,
            prompt=prompt.user,
            deadline=until,
        )

    async def _send(
        self, ask: Ask, agent: Agent, request: Request, step: str, attempt: int
    ) -> Exchange:
        """Reserve the most that it can cost, and only then send it (PROTOCOLS 11)."""
        cost = most_cost(agent.profile, request.system, request.prompt)
        if not await self._reserve(ask, request, step, agent.profile.name, cost):
            self._exhaust(ask)
            return unanswered(ask, ReplyStatus.BUDGET, self._reason(Code.NO_ROOM), attempt)
        if self._clock.now() >= request.deadline:
            return unanswered(ask, ReplyStatus.TIMEOUT, self._reason(Code.TIME_WAS_OVER), attempt)
        made = await exchange(self._clock, agent, ask, request, attempt, self._say, self._look_up)
        if made.answered and self._uncounted(made):
            # An answer that nobody counted was not free; a limit is kept by the worst case.
            made = replace(made, booked=cost)
        return made

    def _uncounted(self, made: Exchange) -> bool:
        """Whether there is a limit to keep, and nothing has been counted against it."""
        return self._meeting.limits.bounded and made.usage is None and made.booked is None

    async def _reserve(self, ask: Ask, request: Request, step: str, agent: str, cost: Cost) -> bool:
        content = {
            "for": step,
            "request_id": request.request_id,
            "who": ask.who,
            "agent": agent,
            "turn": request.turn,
            "reserved": cost.record(),
            "closing": ask.closing,
        }
        entry = Entry(events.REQUEST_RESERVED, content, self._clock.now(), step + REQUEST)
        return await self._journal.reserve(entry)

    async def _look_up(self) -> None:
        """Learn of a cancel; what is in flight, the caller of this included, is aborted by it."""
        await self._journal.catch_up()
        # An abort of this very task takes hold where it next waits.
        await asyncio.sleep(0)

    def _say(self, message: Message) -> str:
        return self._wording(message, self._meeting.language)

    def _reason(self, code: Code, **args: Arg) -> str:
        return self._say(Message(code, args))

    def _prompt(self, ask: Ask, fault: str | None) -> Prompt:
        language = self._meeting.language
        first = self._prompts(ask.template, language, ask.variables)
        if fault is None:
            return first
        again = self._prompts("again", language, {"prompt": first.user, "fault": fault})
        return Prompt(first.system, again.user)

    def _exhaust(self, ask: Ask) -> None:
        if self.budget_spent:
            return
        self.budget_spent = True
        content = {"round": ask.round, "participant": ask.who}
        self._journal.add(Entry(events.BUDGET_EXHAUSTED, content, self._clock.now(), _EXHAUSTED))

    def _record(self, ask: Ask, step: str, made: Exchange, request_id: str) -> None:
        seat = ask.office == "participant"
        type_ = events.REPLY_RECEIVED if seat else events.OFFICE_REPLIED
        at = self._clock.now()
        entry = Entry(type_, made.record(request_id), at, step, fingerprint(ask))
        late = self._journal.state.cancellation is not None
        self._journal.add(belated(entry) if late else entry)

    def _request_id(self, step: str) -> str:
        """The same for the same question, so that a far side can tell a repetition.

        After a resuming it is another question, though its step may be the same.
        """
        leg = len(self._meeting.resumptions)
        asked = f"{step}#{leg}" if leg else step
        digest = blake2b(asked.encode(), digest_size=8).hexdigest()
        return f"req_{self._meeting.id.removeprefix('mtg_')}_{digest}"

    def _agent_of(self, ask: Ask) -> str:
        if ask.office == SECRETARY:
            return self._meeting.secretary
        if ask.office == CHAIR:
            return self._meeting.chair_agent
        if ask.office == ARBITER:
            arbiter = self._meeting.arbiter
            return "" if arbiter is None else arbiter.agent or ""
        return self._meeting.seat(ask.who).agent

    def _until(self, ask: Ask) -> datetime:
        """When this question's time is over; only closing ones may use the reserve."""
        reply_limit = self._clock.now() + timedelta(seconds=self._meeting.limits.reply_seconds)
        return min(reply_limit, self._end_for(ask))

    def _end_for(self, ask: Ask) -> datetime:
        """When the meeting's time is over for this question."""
        return self.deadline if ask.closing else self.talk_deadline
