"""What callers can do with meetings: open one, cancel it, wait for its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.coordinator.arbitration import RULED
from app.coordinator.opening import OpenMeeting
from app.coordinator.planning import estimate, plan_record
from app.coordinator.ports import (
    AgentProfile,
    Agents,
    Clock,
    Dispatch,
    EventLog,
    Idempotency,
    Prompts,
    Tail,
)
from app.coordinator.roster import Perspective, seat_participants
from app.coordinator.runner import agent_names
from app.domain import events
from app.domain.arbitration import Choice, NoQuestionOpen, Ruling, chosen
from app.domain.completion_gate import gate_faults
from app.domain.errors import Fault, InvalidRequest, LogConflict, MeetingEnded, NotFound
from app.domain.events import Entry, Event
from app.domain.meeting import Json, Meeting
from app.domain.reply_text import clean
from app.domain.state import MeetingState, created, fold
from app.formats import FORMATS
from app.formats.format import Format

_MOST_REASON_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class _Draft:
    meeting: Meeting
    plan: Mapping[str, Json]
    warnings: list[str]
    agents: Mapping[str, AgentProfile]


class MeetingService:
    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        agents: Agents,
        prompts: Prompts,
        perspective: Perspective,
        dispatch: Dispatch,
        tail: Tail,
        new_id: Callable[[], str],
    ) -> None:
        self._log = log
        self._clock = clock
        self._agents = agents
        self._prompts = prompts
        self._perspective = perspective
        self._dispatch = dispatch
        self._tail = tail
        self._new_id = new_id

    async def plan(self, wish: OpenMeeting) -> Mapping[str, Json]:
        """What the meeting would be and may cost; nothing is stored, nobody is asked.

        Raises ``InvalidRequest`` naming the fields.
        """
        return (await self._draft(wish, "mtg_plan")).plan

    async def open(self, wish: OpenMeeting, idempotency: Idempotency | None) -> MeetingState:
        """Create the meeting and have it run; its first event is durable on return.

        Under an idempotency key, ``{"id": …}`` is kept as the answer in the same transaction.
        Raises ``InvalidRequest`` naming the fields.
        """
        draft = await self._draft(wish, f"mtg_{self._new_id()}")
        if idempotency is not None:
            idempotency = replace(idempotency, answer=json.dumps({"id": draft.meeting.id}))
        record = {
            **draft.meeting.record(),
            "plan": draft.plan,
            "warnings": draft.warnings,
            "agents": {name: _profile(profile) for name, profile in draft.agents.items()},
        }
        entry = Entry(events.MEETING_CREATED, record, self._clock.now(), "create")
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
        while True:
            log = await self._log.read(meeting_id)
            if not log:
                raise NotFound(f"There is no meeting {meeting_id}.")
            state = fold(log)
            if state.cancellation is not None and not state.ended:
                return state, False
            if _is_over(log):
                raise MeetingEnded("The meeting has ended; cancelling it changes nothing.")
            content = {"reason": None if reason is None else clean(reason, _MOST_REASON_CHARACTERS)}
            entry = Entry(events.CANCELLATION_REQUESTED, content, self._clock.now(), "cancel")
            try:
                (event,) = await self._log.append(meeting_id, state.last_seq, [entry])
            except LogConflict:
                continue
            self._dispatch.wake(meeting_id)
            return state.after(event), True

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
            if question is None or question["arbiter"]["kind"] != "human" or _is_over(log):
                raise NoQuestionOpen("No question is waiting for a person's ruling here.")
            entry = self._ruled(question, ruling)
            try:
                (event,) = await self._log.append(meeting_id, state.last_seq, [entry])
            except LogConflict:
                continue
            self._dispatch.wake(meeting_id)
            return state.after(event)

    def _ruled(self, question: Mapping[str, Json], ruling: Ruling) -> Entry:
        now = self._clock.now()
        if now >= datetime.fromisoformat(question["deadline"]):
            raise NoQuestionOpen("The time for this ruling is over.")
        found = chosen([Choice.read(choice) for choice in question["choices"]], ruling.choice)
        content = {
            "question_id": question["question_id"],
            "round": question["round"],
            **replace(ruling, choice=found.id).record(),
        }
        key = question["question_id"] + RULED
        return Entry(events.ARBITRATION_RULED, content, now, key)

    async def _draft(self, wish: OpenMeeting, meeting_id: str) -> _Draft:
        format_ = FORMATS[wish.format]
        agents, faults = await self._profiles(wish)
        seats = seat_participants(wish, format_, self._perspective, agents)
        meeting = Meeting(
            id=meeting_id,
            format=wish.format,
            format_version=format_.version,
            topic=wish.topic,
            motion=wish.motion,
            context=wish.context,
            options=wish.options,
            seats=seats,
            secretary=wish.secretary,
            chair=wish.chair,
            arbiter=wish.arbiter,
            rules=wish.rules,
            limits=wish.limits,
            completion_gate=wish.completion_gate,
            materials=wish.materials,
            criteria=wish.criteria,
            domains=wish.domains,
            language=wish.language,
            identities=wish.identities,
            ephemeral=wish.ephemeral,
            metadata=wish.metadata,
        )
        faults += [*_price_faults(meeting, agents), *gate_faults(meeting), *format_.faults(meeting)]
        if faults:
            raise InvalidRequest(*faults)
        warnings = _warnings(wish, format_, agents)
        estimated = estimate(meeting, format_, agents, self._prompts)
        return _Draft(meeting, plan_record(meeting, estimated, warnings), warnings, agents)

    async def _profiles(self, wish: OpenMeeting) -> tuple[dict[str, AgentProfile], list[Fault]]:
        """The agents that the meeting names, and a fault for each that there is not."""
        named = {f"#/participants/{i}/agent": seat.agent for i, seat in enumerate(wish.seats)}
        if not wish.seats:
            named["#/participants"] = "default"
        named["#/secretary"] = wish.secretary
        if wish.chair is not None:
            named["#/chair"] = wish.chair
        if wish.arbiter is not None and wish.arbiter.agent is not None:
            named["#/arbiter/agent"] = wish.arbiter.agent
        profiles: dict[str, AgentProfile] = {}
        faults: list[Fault] = []
        for pointer, name in named.items():
            if name in profiles:
                continue
            try:
                profiles[name] = (await self._agents.find(name)).profile
            except NotFound as missing:
                faults.append(Fault(pointer, missing.message))
        return profiles, faults


def _profile(profile: AgentProfile) -> dict[str, Json]:
    price = profile.price
    return {
        "kind": profile.kind,
        "model": profile.model,
        "max_output_tokens": profile.max_output_tokens,
        "price": price
        and {
            "input_per_million": str(price.input_per_million),
            "output_per_million": str(price.output_per_million),
        },
    }


def _price_faults(meeting: Meeting, agents: Mapping[str, AgentProfile]) -> list[Fault]:
    """A money limit cannot be kept with a model whose price is unknown (PROTOCOLS 11)."""
    if meeting.limits.usd is None:
        return []
    named = [name for name in agent_names(meeting) if name in agents]
    unknown = [name for name in named if agents[name].price is None]
    if not unknown:
        return []
    detail = (
        f"The price of {', '.join(unknown)} is not known, so a money limit could not be kept; "
        "give the agent a price or leave the limit out."
    )
    return [Fault("#/limits/usd", detail)]


_SPECIAL_FIELDS = ("options", "chair", "arbiter", "materials", "criteria", "domains")


def _warnings(wish: OpenMeeting, format_: Format, agents: Mapping[str, AgentProfile]) -> list[str]:
    """What a caller should know before the meeting begins, as codes."""
    rehearsing = any(profile.kind == "rehearsal" for profile in agents.values())
    given = (name for name in _SPECIAL_FIELDS if getattr(wish, name))
    unused = [f"unused_field:{name}" for name in given if name not in format_.uses]
    return [*(["rehearsal_agents"] if rehearsing else []), *unused]


def _is_over(log: Sequence[Event]) -> bool:
    """Whether the decision stands already; a cancel can only come before it."""
    return any(entry.type == events.DECISION_RECORDED for entry in log)
