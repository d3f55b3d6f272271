"""What a meeting's requests can cost, and which turn of an agent each of them is."""

from __future__ import annotations

from collections.abc import Sequence

from app.coordinator.ports import AgentProfile
from app.domain.meeting.entries import Event
from app.domain.meeting.envelope import most_input_tokens
from app.domain.meeting.events import MeetingResumed, RequestReserved
from app.domain.money import Cost, worst_case


def most_cost(profile: AgentProfile, *texts: str) -> Cost:
    """The most that a request with these texts can cost."""
    return worst_case(most_input_tokens(*texts), profile.max_output_tokens, profile.price)


class RequestCounter:
    """Counts the requests made to each agent, so that a script goes on after a crash."""

    def __init__(self, entries: Sequence[Event]) -> None:
        self._next: dict[str, int] = {}
        self._of_step: dict[str, int] = {}
        for entry in entries:
            request = entry.content
            if isinstance(request, MeetingResumed):
                # A step of an end comes again under its key, and is another request.
                self._of_step.clear()
            elif isinstance(request, RequestReserved):
                self._take(request.step, request.agent, request.turn)

    def of(self, step: str, agent: str) -> int:
        """Which of the meeting's requests to this agent the step's one is, from 0."""
        turn = self._of_step.get(step, self._next.get(agent, 0))
        self._take(step, agent, turn)
        return turn

    def _take(self, step: str, agent: str, turn: int) -> None:
        self._of_step[step] = turn
        self._next[agent] = max(self._next.get(agent, 0), turn + 1)
