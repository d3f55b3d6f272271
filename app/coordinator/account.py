"""The meeting's account while it runs: reserve before sending, settle at the real usage."""

from __future__ import annotations

from collections.abc import Sequence

from app.coordinator.ports import AgentProfile
from app.domain.envelope import NOTHING, Cost, Envelope, most_input_tokens, worst_case
from app.domain.events import REQUEST_RESERVED, Event
from app.domain.state import MeetingState


class Account:
    """``turns`` counts the requests made to each agent, so that a script goes on after a crash.

    A reservation that a crash left open is released: the request is sent again under the same
    id and reserved anew.
    """

    def __init__(self, state: MeetingState, entries: Sequence[Event]) -> None:
        closing = Cost.read(state.plan["closing_reserve"])
        self._envelope = Envelope.of(state.meeting.limits, closing, state.spent)
        self._turns: dict[str, int] = {}
        self._turn_of: dict[str, int] = {}
        for entry in entries:
            if entry.type == REQUEST_RESERVED:
                self._take_turn(entry.data["for"], entry.data["agent"], entry.data["turn"])

    def cost_of(self, profile: AgentProfile, *texts: str) -> Cost:
        """The most that a request with these texts can cost."""
        tokens = most_input_tokens(*texts)
        return worst_case(tokens, profile.max_output_tokens, profile.price)

    def reserve(self, cost: Cost, *, closing: bool) -> bool:
        """Set the amount aside, if there is room for it."""
        if not self._envelope.bounded:
            return True
        if not self._envelope.has_room(cost, closing=closing):
            return False
        self._envelope = self._envelope.reserve(cost)
        return True

    @property
    def bounded(self) -> bool:
        return self._envelope.bounded

    def settle(self, reserved: Cost, real: Cost | None) -> None:
        """Book what a request really cost; nothing was counted where ``real`` is None."""
        if not self._envelope.bounded:
            return
        self._envelope = self._envelope.settle(reserved, real or NOTHING)

    def turn(self, step: str, agent: str) -> int:
        """Which of the meeting's requests to this agent the step's one is, from 0."""
        turn = self._turn_of.get(step, self._turns.get(agent, 0))
        self._take_turn(step, agent, turn)
        return turn

    def _take_turn(self, step: str, agent: str, turn: int) -> None:
        self._turn_of[step] = turn
        self._turns[agent] = max(self._turns.get(agent, 0), turn + 1)
