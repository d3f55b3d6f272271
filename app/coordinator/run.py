"""One meeting at work: the format yields a step, the log or the world gives its result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b

from app.coordinator.account import Account
from app.coordinator.asking import Exchange, exchange, unanswered
from app.coordinator.journal import Journal
from app.coordinator.ports import Agent, Clock, Prompt, Prompts, Request
from app.coordinator.replay import AGAIN, check_fingerprint, fingerprint, recorded_reply
from app.domain import events
from app.domain.envelope import closing_seconds
from app.domain.events import Entry
from app.domain.meeting import CHAIR, SECRETARY, Meeting
from app.domain.outcome import Outcome, StopReason
from app.domain.steps import (
    Ask,
    Conversation,
    Gather,
    Note,
    Reply,
    ReplyStatus,
    Step,
    Stopped,
)

REQUEST = "/request"
"""Ends the key under which a request is recorded as reserved."""


class MeetingRun:
    """Drives a conversation over a journal, from wherever the journal has come to.

    ``agents`` are those of the meeting, by name; one that is missing makes its replies errors.
    """

    def __init__(
        self, journal: Journal, clock: Clock, agents: Mapping[str, Agent], prompts: Prompts
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._agents = agents
        self._prompts = prompts
        self._meeting: Meeting = journal.state.meeting
        self._account = Account(journal.state, journal.entries)
        self._asking: list[asyncio.Task[Reply]] = []
        self._budget_spent = journal.find(_EXHAUSTED) is not None
        self._deadline, self._talk_deadline = self._begin()
        journal.on_news = self._heed

    async def hold(self, conversation: Conversation) -> Outcome:
        """Run the format to its end; what the log holds already is never asked for again.

        Raises ``Superseded``, ``ReplayDiverged`` or ``LogUnavailable``.
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
            await self._abandon()

    async def _perform(self, step: Step) -> tuple[Reply, ...] | None:
        if isinstance(step, Note):
            return self._tell(step)
        return await self._gather(step)

    def _begin(self) -> tuple[datetime, datetime]:
        """When the meeting must have ended, and when its conversation must have."""
        state = self._journal.state
        seconds = self._meeting.limits.seconds
        if state.deadline is None:
            now = self._clock.now()
            deadline = now + timedelta(seconds=seconds)
            content = {"deadline": deadline.isoformat()}
            self._journal.add(Entry(events.MEETING_STARTED, content, now, step="start"))
        else:
            deadline = state.deadline
        return deadline, deadline - timedelta(seconds=closing_seconds(seconds))

    def _tell(self, step: Note) -> None:
        recorded = self._journal.find(step.key)
        if recorded is not None:
            check_fingerprint(recorded, step)
            return
        at = self._clock.now()
        self._journal.add(Entry(step.type, step.content, at, step.key, fingerprint(step)))

    async def _gather(self, step: Gather) -> tuple[Reply, ...]:
        known = {ask.key: self._recall(ask) for ask in step.asks}
        unanswered_asks = [ask for ask in step.asks if known[ask.key] is None]
        if unanswered_asks:
            self._stop_before(step)
            await self._ask_all(unanswered_asks, known)
        return tuple(reply for reply in known.values() if reply is not None)

    def _recall(self, ask: Ask) -> Reply | None:
        """The reply to this question that the log already holds."""
        recorded = self._journal.find(ask.key + AGAIN) or self._journal.find(ask.key)
        if recorded is None:
            return None
        check_fingerprint(recorded, ask)
        return recorded_reply(recorded) if recorded.data["final"] else None

    def _stop_before(self, step: Gather) -> None:
        """Raises ``Stopped`` instead of asking, when the meeting has come to its end.

        A gathering that has begun is finished, without asking anybody more, so that a replay
        meets the stop at the same place.
        """
        if self._cancelled:
            raise Stopped(StopReason.CANCELLATION)
        begun = any(self._journal.find(ask.key) for ask in step.asks)
        if begun or all(ask.closing for ask in step.asks):
            return
        if self._clock.now() >= self._talk_deadline:
            raise Stopped(StopReason.DEADLINE)
        if self._budget_spent:
            raise Stopped(StopReason.BUDGET)

    @property
    def _cancelled(self) -> bool:
        return self._journal.state.cancellation is not None

    async def _ask_all(self, asks: Sequence[Ask], known: dict[str, Reply | None]) -> None:
        self._asking = [asyncio.create_task(self._ask(ask)) for ask in asks]
        await asyncio.wait(self._asking)
        if self._cancelled:
            raise Stopped(StopReason.CANCELLATION)
        for ask, task in zip(asks, self._asking, strict=True):
            known[ask.key] = task.result()
        self._asking = []

    def _heed(self) -> None:
        """A cancel has come in: stop waiting for whatever is in flight (PROTOCOLS 12)."""
        if self._cancelled:
            for task in self._asking:
                task.cancel()

    async def _abandon(self) -> None:
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)

    async def _ask(self, ask: Ask) -> Reply:
        """Ask, and once more if the reply does not fit (PROTOCOLS 16)."""
        first = self._journal.find(ask.key)
        fault = None if first is None else first.data["reason"]
        if fault is None:
            made = await self._exchange(ask, attempt=1)
            if made.final:
                return made.reply
            fault = made.fault
        return (await self._exchange(ask, attempt=2, fault=fault)).reply

    async def _exchange(self, ask: Ask, attempt: int, fault: str | None = None) -> Exchange:
        step = ask.key if attempt == 1 else ask.key + AGAIN
        request_id = self._request_id(step)
        agent = self._agents.get(self._agent_of(ask))
        until = self._until(ask)
        if agent is None:
            reason = f"There is no agent named {self._agent_of(ask)!r} any more."
            made = unanswered(ask, ReplyStatus.ERROR, reason, attempt)
        elif self._clock.now() >= until:
            reason = "The meeting's time was over before this was asked."
            made = unanswered(ask, ReplyStatus.TIMEOUT, reason, attempt)
        else:
            prompt = self._prompt(ask, fault)
            made = await self._send(ask, agent, prompt, step, request_id, until, attempt)
        self._record(ask, step, made, request_id)
        return made

    async def _send(
        self,
        ask: Ask,
        agent: Agent,
        prompt: Prompt,
        step: str,
        request_id: str,
        until: datetime,
        attempt: int,
    ) -> Exchange:
        cost = self._account.cost_of(agent.profile, prompt.system, prompt.user)
        if not self._account.reserve(cost, closing=ask.closing):
            self._exhaust(ask)
            reason = "The meeting's envelope has no room for this request."
            return unanswered(ask, ReplyStatus.BUDGET, reason, attempt)
        turn = self._account.turn(step, agent.profile.name)
        reserved = {
            "for": step,
            "request_id": request_id,
            "who": ask.who,
            "agent": agent.profile.name,
            "turn": turn,
            "reserved": cost.record(),
        }
        now = self._clock.now()
        self._journal.add(Entry(events.REQUEST_RESERVED, reserved, now, step + REQUEST))
        await self._journal.durable()
        request = Request(
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
        made = await exchange(self._clock, agent, ask, request, attempt)
        self._account.settle(cost, made.usage)
        return made

    def _prompt(self, ask: Ask, fault: str | None) -> Prompt:
        language = self._meeting.language
        first = self._prompts(ask.template, language, ask.variables)
        if fault is None:
            return first
        again = self._prompts("again", language, {"prompt": first.user, "fault": fault})
        return Prompt(first.system, again.user)

    def _exhaust(self, ask: Ask) -> None:
        if self._budget_spent:
            return
        self._budget_spent = True
        content = {"round": ask.round, "participant": ask.who}
        self._journal.add(Entry(events.BUDGET_EXHAUSTED, content, self._clock.now(), _EXHAUSTED))

    def _record(self, ask: Ask, step: str, made: Exchange, request_id: str) -> None:
        seat = ask.office == "participant"
        type_ = events.REPLY_RECEIVED if seat else events.OFFICE_REPLIED
        at = self._clock.now()
        self._journal.add(Entry(type_, made.record(request_id), at, step, fingerprint(ask)))

    def _request_id(self, step: str) -> str:
        """The same for the same question, so that a far side can tell a repetition."""
        digest = blake2b(step.encode(), digest_size=8).hexdigest()
        return f"req_{self._meeting.id.removeprefix('mtg_')}_{digest}"

    def _agent_of(self, ask: Ask) -> str:
        if ask.office == SECRETARY:
            return self._meeting.secretary
        if ask.office == CHAIR:
            return self._meeting.chair_agent
        return self._meeting.seat(ask.who).agent

    def _until(self, ask: Ask) -> datetime:
        """When this question's time is over; only closing ones may use the reserve."""
        reply_limit = self._clock.now() + timedelta(seconds=self._meeting.limits.reply_seconds)
        return min(reply_limit, self._deadline if ask.closing else self._talk_deadline)


_EXHAUSTED = "envelope/exhausted"
