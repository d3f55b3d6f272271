"""What a meeting will ask and may cost, before anybody is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.coordinator.ports import AgentProfile, Prompts
from app.domain.meeting.envelope import most_input_tokens
from app.domain.meeting.meeting import ARBITER, CHAIR, SECRETARY, Meeting
from app.domain.money import NOTHING, Cost, worst_case
from app.domain.values import Json
from app.formats.shared.format import Format, PlannedAsk

_CHARACTERS_A_TOKEN = 4
_USUAL_SHARE_OF_CAP = 2


@dataclass(frozen=True, slots=True)
class Estimate:
    """``usually`` and ``at_most`` are tokens and US dollars of the whole meeting, second askings
    left out of the first and included in the second."""

    prompts: int
    usually: Cost
    at_most: Cost
    closing: Cost


def estimate(
    meeting: Meeting, format_: Format, agents: Mapping[str, AgentProfile], prompts: Prompts
) -> Estimate:
    count, usually, at_most, closing = 0, NOTHING, NOTHING, NOTHING
    for planned in format_.plan(meeting):
        asked = _asked(meeting, planned, agents)
        prompt = prompts(planned.template, meeting.language, planned.variables)
        most = most_input_tokens(prompt.system, prompt.user)
        usual = (len(prompt.system) + len(prompt.user)) // _CHARACTERS_A_TOKEN
        count += planned.at_most
        at_most += _times(_dearest(most, asked), 2 * planned.at_most)
        usually += _times(_dearest(usual, asked, _USUAL_SHARE_OF_CAP), planned.usually)
        if planned.template.endswith("/synthesis"):
            # What is kept back for the draft: a usual prompt, but an answer up to the cap.
            closing += _dearest(usual, asked)
    return Estimate(count, usually, at_most, closing)


def plan_record(meeting: Meeting, estimated: Estimate, warnings: Sequence[str]) -> dict[str, Json]:
    """The ``plan`` of the meeting resource and of a dry run."""
    usually, at_most = estimated.usually.record(), estimated.at_most.record()
    return {
        "format": meeting.format,
        "roster": [seat.record() for seat in meeting.seats],
        "rounds": meeting.limits.rounds,
        "prompts": estimated.prompts,
        "tokens": {
            "typical": estimated.usually.tokens,
            "worst_case": estimated.at_most.tokens,
        },
        "usd": {"typical": usually["usd"], "worst_case": at_most["usd"]},
        "closing_reserve": estimated.closing.record(),
        "warnings": list(warnings),
    }


def _asked(
    meeting: Meeting, planned: PlannedAsk, agents: Mapping[str, AgentProfile]
) -> list[AgentProfile]:
    """Whoever may be asked this, each once."""
    if planned.office == SECRETARY:
        return [agents[meeting.secretary]]
    if planned.office == CHAIR:
        return [agents[meeting.chair_agent]]
    if planned.office == ARBITER and meeting.arbiter is not None and meeting.arbiter.agent:
        return [agents[meeting.arbiter.agent]]
    return [agents[name] for name in dict.fromkeys(seat.agent for seat in meeting.seats)]


def _dearest(input_tokens: int, asked: Sequence[AgentProfile], share_of_cap: int = 1) -> Cost:
    """The highest of each of what this costs from anybody, so that no mix can cost more."""
    costs = [
        worst_case(input_tokens, profile.max_output_tokens // share_of_cap, profile.price)
        for profile in asked
    ]
    if len(costs) == 1:
        return costs[0]
    usd = [cost.usd for cost in costs]
    return Cost(
        input_tokens,
        max(cost.output_tokens for cost in costs),
        None if None in usd else max(amount for amount in usd if amount is not None),
    )


def _times(cost: Cost, count: int) -> Cost:
    usd = None if cost.usd is None else cost.usd * count
    return Cost(cost.input_tokens * count, cost.output_tokens * count, usd)
