"""Saves one deliverable for real, as a coordinator would, by a clock that jumps over every wait."""

from __future__ import annotations

from datetime import datetime

from app.domain.operation.deciding import decide
from app.domain.operation.state import OperationState
from app.domain.operation.terms import (
    Check,
    Checked,
    Confirmed,
    Failed,
    GivenUp,
    GiveUp,
    HandedOver,
    HandOver,
    Operation,
    OperationHappening,
    OperationWait,
    Sent,
    Write,
    Written,
    sha256_of,
)
from app.outbound.destination import HttpDestination
from tests.clock import VirtualClock

_MOST_STEPS = 200


class Saving:
    """``log`` holds what has happened so far."""

    def __init__(self, adapter: HttpDestination, url: str, content: bytes) -> None:
        self._adapter = adapter
        self._content = content
        self.clock = VirtualClock()
        self.operation = Operation("op_1", url, sha256_of(content), "ann", self.clock.now())
        self.log: list[OperationHappening] = []

    @property
    def state(self) -> OperationState:
        return OperationState.of(self.operation, self.log)

    async def run(self) -> OperationState:
        """Goes on until it has ended or is handed over."""
        for _ in range(_MOST_STEPS):
            match decide(self.state, self.clock.now()):
                case Write() as write:
                    self.log.append(Sent(self.clock.now()))
                    answer = await self._adapter.write(self.operation, self._content, write)
                    self.log.append(Written(self.clock.now(), answer))
                case Check() as check:
                    finding = await self._adapter.look(self.operation, check)
                    self.log.append(Checked(self.clock.now(), finding))
                case HandOver(_, next_check):
                    self.log.append(HandedOver(self.clock.now(), next_check))
                    return self.state
                case GiveUp(reason):
                    self.log.append(GivenUp(self.clock.now(), reason))
                case OperationWait(until):
                    if until is None:
                        return self.state
                    self._jump(until)
                case Confirmed() | Failed():
                    return self.state
        raise AssertionError("it never came to an end")

    def _jump(self, until: datetime) -> None:
        self.clock.advance((until - self.clock.now()).total_seconds())
