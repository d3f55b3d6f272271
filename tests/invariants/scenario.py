"""Scenarios: who sits at the tables, which meetings are held, and what befalls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from typing import Any, get_args

from hypothesis import strategies as st

from app.coordinator.commands import OpenMeeting, SeatWanted
from app.domain.meeting.meeting import (
    Arbiter,
    Changed,
    CompletionGate,
    Criterion,
    Destination,
    Limits,
    Material,
)
from tests.coordinator.place import Put
from tests.invariants.cast import Manner, Part, Stopping

MOST_SEATS = 4
NAMES = tuple(f"agent-{number}" for number in range(MOST_SEATS))
OFFICE = "office"
"""The agent that is secretary and chair everywhere."""


# --- what a scenario is made of -----------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """A meeting to open."""

    format: str
    seats: int
    limits: Limits
    arbiter: Arbiter | None = None
    saves: bool = False
    gate: CompletionGate | None = None
    output: str = "ranking"

    def wish(self, parent_id: str | None) -> OpenMeeting:
        # A poll is none between fewer.
        seats = NAMES[: max(self.seats, 3) if self.format == "poll" else self.seats]
        roles = {0: "author"} if self.format == "review" else {}
        other = "critic" if self.format == "review" else None
        return OpenMeeting(
            topic="Should we use one repository for all services?",
            format=self.format,
            motion="We use one repository." if self.format == "roundtable" else None,
            options=("one", "many") if self.format in ("vote", "poll") else (),
            seats=tuple(
                SeatWanted(name, roles.get(place, other), name) for place, name in enumerate(seats)
            ),
            secretary=OFFICE,
            arbiter=self.arbiter,
            rules={"output": self.output} if self.format == "poll" else {},
            limits=self.limits,
            completion_gate=self.gate,
            materials=_MATERIALS if self.format == "review" else (),
            criteria=_CRITERIA if self.format == "review" else (),
            destination=_DESTINATION if self.saves else None,
            parent_id=parent_id,
        )


_MATERIALS = (Material("m1", "1", "The outage lasted 4 hours. Nobody had the pager."),)
_CRITERIA = (Criterion("c1", "is understandable"),)
_DESTINATION = Destination("https://records.example/1", check_deadline_seconds=30)


# Meetings and desks are named by numbers, which are taken round and round.


@dataclass(frozen=True)
class GoOn:
    """So many calls to the database come back."""

    calls: int


@dataclass(frozen=True)
class ComeToRest:
    """Nobody has anything to do before the clock moves or a caller comes."""


@dataclass(frozen=True)
class Pass:
    """Time goes by."""

    seconds: float


@dataclass(frozen=True)
class Open:
    """Of a plan on its own, or below a meeting."""

    plan: Plan
    below: int | None


@dataclass(frozen=True)
class Cancel:
    """``heard``: whoever advances the meeting is told. Else only the log knows of it."""

    meeting: int
    heard: bool


@dataclass(frozen=True)
class Rule:
    meeting: int


@dataclass(frozen=True)
class Resume:
    meeting: int
    changed: Changed
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Kill:
    """A process dies in the middle of whatever it does, and another one takes its place."""

    desk: int


@dataclass(frozen=True)
class Seize:
    """A second runner takes the meeting up, while the first one is at work on it."""

    meeting: int


@dataclass(frozen=True)
class Doze:
    """A process gets nothing new to do until it is roused."""

    desk: int


@dataclass(frozen=True)
class Rouse:
    desk: int


Action = GoOn | ComeToRest | Pass | Open | Cancel | Rule | Resume | Kill | Seize | Doze | Rouse


@dataclass(frozen=True)
class Scenario:
    cast: tuple[Part, ...]
    """One for each of the names, and the last for the office."""
    puts: tuple[Put, ...]
    """What becomes of the writes to the destination."""
    first: Plan
    actions: tuple[Action, ...]


# --- how they are drawn -------------------------------------------------------------------------

_MANNERS: Sequence[Manner] = (
    *("plays", "plays", "plays", "stubborn", "stubborn", "hangs", "hangs"),
    *("greedy", "greedy", "uncounted", "slow", "unavailable", "cut off"),
    *("babbles", "fails", "refuses", "breaks"),
)
_SLUGGISH_MANNERS: Sequence[Manner] = (
    *("slow", "slow", "hangs", "hangs", "unavailable", "cut off"),
    *("plays", "stubborn", "greedy", "uncounted"),
)
"""One seat keeps the others waiting, or most meetings were over before anything befalls them."""
_OFFICE_MANNERS: Sequence[Manner] = (
    *("plays", "plays", "plays", "greedy", "slow", "uncounted", "hangs", "babbles"),
)
"""Mostly at work: without a secretary most formats come to little."""

_GATES = (None, CompletionGate(2, 20, 5, 15))
_TOKENS = (None, None, 8_000, 20_000, 40_000)
_USD = (None, None, Decimal("9.5"), Decimal(20), Decimal(40))
_PUTS = (Put(), Put.lost(stores=True), Put.lost(stores=False), Put.hangs(stores=True))


def scenarios() -> st.SearchStrategy[Scenario]:
    return st.builds(
        Scenario,
        st.tuples(
            _parts(_SLUGGISH_MANNERS),
            *[_parts(_MANNERS)] * (MOST_SEATS - 1),
            _parts(_OFFICE_MANNERS),
        ),
        st.tuples(st.sampled_from(_PUTS), st.sampled_from(_PUTS)),
        _plans(),
        st.lists(st.tuples(_paces(), _happenings()), min_size=2, max_size=10).map(_in_a_row),
    )


def _in_a_row(pairs: Sequence[tuple[Action, Action]]) -> tuple[Action, ...]:
    return tuple(chain.from_iterable(pairs))


def _parts(manners: Sequence[Manner]) -> st.SearchStrategy[Part]:
    return st.builds(
        Part,
        st.lists(st.sampled_from(manners), min_size=1, max_size=4).map(tuple),
        st.sampled_from(get_args(Stopping)),
    )


def _limits() -> st.SearchStrategy[Limits]:
    return st.builds(
        Limits,
        rounds=st.integers(1, 4),
        seconds=st.sampled_from((300, 300, 60, 20, 5)),
        reply_seconds=st.sampled_from((10, 60, 3)),
        usd=st.sampled_from(_USD),
        tokens=st.sampled_from(_TOKENS),
        arbitration_seconds=st.sampled_from((60, 5)),
    )


def _plans() -> st.SearchStrategy[Plan]:
    arbiters = (None, Arbiter("human", name="Ann"), Arbiter("agent", NAMES[-1]))
    return st.builds(
        Plan,
        st.sampled_from(("roundtable", "debate", "vote", "poll", "council", "review")),
        st.integers(2, MOST_SEATS),
        _limits(),
        st.sampled_from(arbiters),
        st.booleans(),
        st.sampled_from(_GATES),
        st.sampled_from(("ranking", "recommendation", "scoring")),
    )


def _resumings() -> st.SearchStrategy[Resume]:
    raised = st.fixed_dictionaries(
        {"rounds": st.integers(2, 9), "seconds": st.sampled_from((40, 400, 900))},
        optional={
            "tokens": st.sampled_from((5_000, 8_000, 30_000, 90_000)),
            "usd": st.sampled_from((Decimal(5), Decimal(8), Decimal(90))),
        },
    )
    meetings = st.integers(0, 3)
    return st.one_of(
        st.builds(Resume, meetings, st.just("limits"), raised),
        st.builds(Resume, meetings, st.sampled_from(("order", "permission"))),
    )


def _paces() -> st.SearchStrategy[Action]:
    """How far things go before something happens."""
    return st.one_of(
        st.builds(GoOn, st.integers(0, 6)),
        st.builds(GoOn, st.integers(0, 40)),
        st.just(ComeToRest()),
    )


def _happenings() -> st.SearchStrategy[Action]:
    meetings = st.integers(0, 3)
    desks = st.integers(0, 1)
    passes = st.builds(Pass, st.sampled_from((3, 0.5, 1, 9.9, 10, 25, 100)))
    opens = st.builds(Open, _plans(), st.sampled_from((0, 0, 1, 2, 3, None)))
    return st.one_of(
        passes,
        passes,
        opens,
        opens,
        st.builds(Cancel, meetings, st.booleans()),
        st.builds(Cancel, meetings, st.just(True)),
        st.builds(Rule, meetings),
        _resumings(),
        st.builds(Kill, desks),
        st.builds(Seize, meetings),
        st.builds(Doze, desks) | st.builds(Rouse, desks),
    )
