"""Scenarios that chance comes upon too seldom, each with what it once brought to light."""

from __future__ import annotations

from app.domain.meeting.meeting import Limits
from tests.coordinator.place import Put
from tests.invariants.cast import Manner, Part, Stopping
from tests.invariants.scenario import (
    MOST_SEATS,
    Action,
    Cancel,
    ComeToRest,
    Open,
    Pass,
    Plan,
    Scenario,
)

_TALK = Plan("roundtable", 2, Limits())


def _with(manner: Manner, stopping: Stopping, *actions: Action) -> Scenario:
    """A round table whose first seat is such a one."""
    others = [Part(("plays",), "stopped")] * MOST_SEATS
    return Scenario((Part((manner,), stopping), *others), (Put(),), _TALK, actions)


SENT_AGAIN = _with(
    "unavailable", "stopped", ComeToRest(), Cancel(0, heard=True), ComeToRest(), Pass(1)
)
"""A request that failed for now is not sent once more after a cancel."""

SILENT_TO_THE_END = _with("hangs", "unconfirmed", ComeToRest(), Cancel(0, heard=False))
"""A reply that never came is not known to have stopped, though its time ran out after a cancel."""

CHILD_ENDS_TOO_LATE = _with(
    "hangs", "acknowledged", ComeToRest(), Open(_TALK, 0), ComeToRest(), Cancel(0, heard=True)
)
"""A child may end just after its parent has closed its list with it unconfirmed."""
