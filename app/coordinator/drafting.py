"""From the wish to hold a meeting to the meeting as it would be created."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from app.coordinator.commands import OpenMeeting
from app.coordinator.planning import estimate, plan_record
from app.coordinator.ports import AgentProfile, Agents, Clock, EventLog, Prompts
from app.coordinator.roster import Perspective, seat_participants
from app.coordinator.runner import agent_names
from app.domain.ending.completion_gate import gate_faults
from app.domain.errors import Fault, InvalidRequest, NotFound
from app.domain.meeting.events import MeetingCreated
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.tree import Place, place_below
from app.domain.values import Json
from app.formats import FORMATS
from app.formats.shared.format import Format

TargetFault = Callable[[str, str], Fault | None]
"""What is wrong with a URL that a caller gives; the second argument points to it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A meeting before it is created, with its plan and what a caller should know beforehand."""

    meeting: Meeting
    plan: Mapping[str, Json]
    warnings: list[str]
    agents: Mapping[str, AgentProfile]

    def created(self) -> MeetingCreated:
        """The beginning of its log."""
        return MeetingCreated(
            meeting=self.meeting,
            plan=self.plan,
            warnings=tuple(self.warnings),
            agents={name: _profile(profile) for name, profile in self.agents.items()},
        )


class Drafting:
    """Fills in what a wish leaves open and refuses what cannot be held; nothing is stored."""

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        agents: Agents,
        prompts: Prompts,
        perspective: Perspective,
        new_id: Callable[[], str],
        target_fault: TargetFault,
    ) -> None:
        self._log = log
        self._clock = clock
        self._agents = agents
        self._prompts = prompts
        self._perspective = perspective
        self._new_id = new_id
        self._target_fault = target_fault

    async def draft(self, wish: OpenMeeting) -> Draft:
        """The meeting that is wished for, under a new id.

        Raises ``InvalidRequest`` naming the fields, or ``ParentClosed``.
        """
        format_ = FORMATS[wish.format]
        agents, faults = await self._profiles(wish)
        seats = seat_participants(wish, format_, self._perspective, agents)
        place = await self._place(wish)
        meeting = Meeting(
            id=f"mtg_{self._new_id()}",
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
            limits=place.limits,
            completion_gate=wish.completion_gate,
            materials=wish.materials,
            criteria=wish.criteria,
            destination=wish.destination,
            domains=wish.domains,
            language=wish.language,
            identities=wish.identities,
            ancestors=place.ancestors,
            ends_by=place.ends_by,
            ephemeral=wish.ephemeral,
            metadata=wish.metadata,
        )
        faults += [*_price_faults(meeting, agents), *gate_faults(meeting), *format_.faults(meeting)]
        faults += self._destination_faults(wish)
        if faults:
            raise InvalidRequest(*faults)
        warnings = _warnings(wish, format_, agents)
        estimated = estimate(meeting, format_, agents, self._prompts)
        return Draft(meeting, plan_record(meeting, estimated, warnings), warnings, agents)

    async def _place(self, wish: OpenMeeting) -> Place:
        """Where the meeting stands in its tree, and what limits that leaves it.

        Raises ``InvalidRequest``, or ``ParentClosed``.
        """
        if wish.parent_id is None:
            return Place(wish.limits)
        try:
            parent = await self._log.state(wish.parent_id)
        except NotFound as missing:
            raise InvalidRequest(Fault("#/parent_id", missing.message)) from None
        above = [await self._log.state(id_) for id_ in reversed(parent.meeting.ancestors)]
        return place_below(parent, above, wish.limits, self._clock.now())

    def _destination_faults(self, wish: OpenMeeting) -> Iterator[Fault]:
        if wish.destination is not None:
            fault = self._target_fault(wish.destination.url, "#/destination/url")
            if fault is not None:
                yield fault

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
    whose = " of the meeting above" if meeting.parent_id else ""
    detail = (
        f"The price of {', '.join(unknown)} is not known, so the money limit{whose} could not be "
        "kept; give the agent a price or leave the limit out."
    )
    return [Fault("#/limits/usd", detail)]


_SPECIAL_FIELDS = ("options", "chair", "arbiter", "materials", "criteria", "domains")


def _warnings(wish: OpenMeeting, format_: Format, agents: Mapping[str, AgentProfile]) -> list[str]:
    """What a caller should know before the meeting begins, as codes."""
    rehearsing = any(profile.kind == "rehearsal" for profile in agents.values())
    given = (name for name in _SPECIAL_FIELDS if getattr(wish, name))
    unused = [f"unused_field:{name}" for name in given if name not in format_.uses]
    return [
        *(["rehearsal_agents"] if rehearsing else []),
        *(["single_model"] if _one_model(wish, agents) else []),
        *unused,
    ]


def _one_model(wish: OpenMeeting, agents: Mapping[str, AgentProfile]) -> bool:
    """Whether one model is set to answer for all; their agreement is weaker evidence then."""
    seated = {seat.agent for seat in wish.seats} or {"default"}
    models = {agents[name].model for name in seated}
    return len(models) == 1 and None not in models
