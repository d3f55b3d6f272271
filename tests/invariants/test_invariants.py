"""Whatever befalls a tree of meetings, on either database (PROTOCOLS 2, 11, 12)."""

from __future__ import annotations

import asyncio
import os

import pytest
from hypothesis import HealthCheck, Phase, example, given, note, settings

from tests.invariants.checks import CHECKS
from tests.invariants.conftest import Empty
from tests.invariants.known import CHILD_ENDS_TOO_LATE, SENT_AGAIN, SILENT_TO_THE_END
from tests.invariants.scenario import Scenario, scenarios
from tests.invariants.world import held

_ANY_PACE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
# To make a failing case smaller takes minutes, so only the slow run does that.
FEW = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=_ANY_PACE,
)
MANY = settings(
    max_examples=int(os.environ.get("YORIAI_EXAMPLES", "1500")),
    deadline=None,
    database=None,
    suppress_health_check=_ANY_PACE,
)


def _hold(empty: Empty, scenario: Scenario) -> None:
    note(repr(scenario))
    with empty() as urls:
        record = asyncio.run(held(scenario, urls))
    for check in CHECKS:
        check(record)


@FEW
@example(scenario=SENT_AGAIN)
@example(scenario=SILENT_TO_THE_END)
@example(scenario=CHILD_ENDS_TOO_LATE)
@given(scenario=scenarios())
def test_the_invariants_hold(empty: Empty, scenario: Scenario) -> None:
    _hold(empty, scenario)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@MANY
@given(scenario=scenarios())
def test_the_invariants_hold_in_many_more_cases(empty: Empty, scenario: Scenario) -> None:
    _hold(empty, scenario)
