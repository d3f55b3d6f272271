"""The council (PROTOCOLS 8).

Every member answers alone; every member ranks the others' answers under shuffled letters; the
chair writes the synthesis from answers and mean ranks; and it closes when the members confirm
that the synthesis is complete, after one revision if they ask for one. Resumed after its two
stages, it comes to its closing again with what the members said; but where what they spoke about
has changed, they answer and rank anew first, in two further rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from msgspec import UNSET, UnsetType

from app.domain.meeting.events import TallyComputed
from app.domain.meeting.meeting import CHAIR, SECRETARY, Meeting
from app.domain.meeting.outcome import (
    DecidedBy,
    DecisionSource,
    Degradation,
    Dissent,
    Outcome,
    StopReason,
    first_to_count,
)
from app.domain.replies.reading import Reply
from app.domain.steps import Ask, Conversation, Office, Part, Stopped, consult, gather, note
from app.domain.values import Json
from app.formats.council.questions import (
    SYNTHESIS,
    answer_questions,
    matter_for_arbiter,
    plan,
    ranking_questions,
    sentence_of,
    synthesis_variables,
)
from app.formats.council.record import CouncilRecord
from app.formats.council.stages import Stages
from app.formats.shared.arbitrating import REJECT, ArbitrationResult, put
from app.formats.shared.closing import (
    REDRAFT_STEP,
    SYNTHESIS_STEP,
    GatePassed,
    drafted_in,
    pass_gate,
    synthesis_question,
    synthesis_text,
)
from app.formats.shared.ending import Ending, Found, outcome_of
from app.formats.shared.format import Format, in_turn
from app.formats.shared.round_events import tell_close, tell_start
from app.formats.shared.stops import cut_short, limits_met, until_stopped

_PERSPECTIVES = ("analyst", "practitioner", "sceptic", "advocate", "outsider")


@dataclass(frozen=True)
class CouncilRules:
    """``rank_self``: members rank their own answer among the others."""

    rank_self: bool = False


@dataclass(slots=True)
class _Council:
    """What is known so far."""

    meeting: Meeting
    stages: Stages
    """Those of the latest pass in which anybody answered."""
    rounds: list[tuple[Reply, ...]] = field(default_factory=list[tuple[Reply, ...]])
    synthesis: Mapping[str, Json] | None = None
    drafting: Reply | None = None
    """What came of the latest request for a synthesis."""
    chair_failed: bool = False
    chair_replaced: bool = False
    gate: GatePassed | None = None
    settled: ArbitrationResult = field(
        default_factory=lambda: ArbitrationResult(StopReason.COMPLETED)
    )

    @property
    def round(self) -> int:
        return len(self.rounds)

    @property
    def presiding(self) -> str:
        """The agent in the chair."""
        meeting = self.meeting
        return meeting.secretary if self.chair_replaced else meeting.chair_agent

    @property
    def confirmed(self) -> bool:
        gate = self.gate
        return self.meeting.completion_gate is None or (gate is not None and gate.complete)


def hold(meeting: Meeting) -> Conversation:
    council = _Council(meeting, Stages(meeting))
    stopped_by = yield from until_stopped(_deliberate(council))
    if stopped_by is not StopReason.CANCELLATION and council.stages.texts:
        stopped_by = yield from _close(council, stopped_by)
    council.settled = yield from _arbitrate(council, stopped_by)
    return _outcome(council, council.settled.stopped_by)


def _deliberate(council: _Council) -> Part[StopReason]:
    """One pass of both stages, and one more after each resuming that calls for it.

    The stages are fixed, so the limit of rounds does not part them: it counts the passes.
    """
    meeting = council.meeting
    for passes in count(1):
        stop = yield from _hold_pass(council)
        if not _answered_anew(meeting, council.round, stop):
            return stop
        if passes >= meeting.limits.rounds and council.round >= meeting.resumed_after:
            break
    return StopReason.ROUNDS


_ABOUT_THE_QUESTION = frozenset({"materials", "criteria", "order"})
"""What can have changed that members' answers rest on. With more time, money or a permission they
stand, and only the closing is due again."""


def _answered_anew(meeting: Meeting, held: int, stop: StopReason) -> bool:
    """Whether the pass that ended with this round has to be followed by another one."""
    if held > meeting.resumed_after:
        return False
    changed = {each.changed for each in meeting.resumptions if each.after_round == held}
    return stop is not StopReason.COMPLETED or not changed.isdisjoint(_ABOUT_THE_QUESTION)


def _hold_pass(council: _Council) -> Part[StopReason]:
    """Both stages; without any answer there is nothing to rank."""
    meeting = council.meeting
    answers = yield from _round(council, answer_questions(meeting, council.round + 1))
    stages = Stages(meeting, answers)
    if not stages.texts:
        return cut_short(answers) or StopReason.AGENTS_UNAVAILABLE
    council.stages = stages
    asks = ranking_questions(stages, council.round + 1)
    rankings = yield from _round(council, asks, letters=stages.letters)
    council.stages = Stages(meeting, answers, rankings)
    number, tally = council.round, council.stages.tally()
    yield from note(f"round-{number}/tally", TallyComputed(round=number, tally=tally))
    return StopReason.COMPLETED


def _round(
    council: _Council,
    asks: tuple[Ask, ...],
    letters: Mapping[str, Mapping[str, str]] | UnsetType = UNSET,
) -> Part[tuple[Reply, ...]]:
    number = council.round + 1
    yield from tell_start(number, letters=letters)
    replies = yield from gather(*asks)
    council.rounds.append(replies)
    # Nobody takes a position here: what is ranked is told with the tally.
    yield from tell_close(number, replies)
    return replies


# --- the chair ----------------------------------------------------------------------------------


def _close(council: _Council, stopped_by: StopReason) -> Part[StopReason]:
    """The synthesis, and the gate unless a limit has ended the meeting already."""
    try:
        council.synthesis = yield from _draft(council, SYNTHESIS_STEP)
        if council.synthesis is not None and stopped_by is StopReason.COMPLETED:
            council.gate = yield from pass_gate(
                council.meeting,
                synthesis_text(council.synthesis),
                lambda reasons: _redraft(council, reasons),
                after_round=council.round,
            )
    except Stopped as stopped:
        return stopped.reason
    if council.synthesis is None and stopped_by is StopReason.COMPLETED:
        # Without a synthesis nothing was completed: a limit that kept voices out has ended it.
        asked = [*council.rounds[-1], *([council.drafting] if council.drafting else [])]
        return first_to_count(limits_met(asked)) or stopped_by
    return stopped_by


def _draft(
    council: _Council, step: str, draft: str = "", reasons: Mapping[str, str] | None = None
) -> Part[Mapping[str, Json] | None]:
    """The chair's synthesis; the secretary's, if the chair fails and is somebody else."""
    meeting = council.meeting
    variables = synthesis_variables(council.stages, draft, reasons or {})
    if not council.chair_failed:
        synthesis = yield from _asked_to_draft(council, CHAIR, variables, step)
        if synthesis is not None or meeting.chair_agent == meeting.secretary:
            return synthesis
        council.chair_failed = True
    step = f"{step}/{SECRETARY}"
    synthesis = yield from _asked_to_draft(council, SECRETARY, variables, step)
    council.chair_replaced = synthesis is not None
    return synthesis


def _asked_to_draft(
    council: _Council, office: Office, variables: Mapping[str, Json], step: str
) -> Part[Mapping[str, Json] | None]:
    ask = synthesis_question(SYNTHESIS, variables, council.round, office, step)
    council.drafting = yield from consult(ask)
    return drafted_in(council.drafting)


def _redraft(council: _Council, reasons: Mapping[str, str]) -> Part[str | None]:
    """Once more, for what the members found wrong with it (PROTOCOLS 10)."""
    before = synthesis_text(council.synthesis or {})
    redrafted = yield from _draft(council, REDRAFT_STEP, before, reasons)
    if redrafted is None:
        return None
    council.synthesis = redrafted
    return synthesis_text(redrafted)


# --- the arbiter --------------------------------------------------------------------------------


def _arbitrate(council: _Council, stopped_by: StopReason) -> Part[ArbitrationResult]:
    """A synthesis that the members would not confirm, or that there were no rounds left for, stands
    or falls with the arbiter, if there is one (PROTOCOLS 10 and 11)."""
    synthesis, gate = council.synthesis, council.gate
    refused = stopped_by is StopReason.COMPLETED and gate is not None and not gate.complete
    if synthesis is None or not (refused or stopped_by is StopReason.ROUNDS):
        return ArbitrationResult(stopped_by)
    wanting = gate.closing.reasons if gate else dict[str, str]()
    matter = matter_for_arbiter(council.meeting, synthesis, wanting)
    return (yield from put(council.meeting, stopped_by, council.round, matter))


# --- the outcome --------------------------------------------------------------------------------


def _outcome(council: _Council, stopped_by: StopReason) -> Outcome:
    decision, decided_by = _decision(council, stopped_by)
    found = Found(
        numbers_name="council",
        numbers=_numbers(council),
        heard=council.rounds,
        decision=decision,
        decided_by=decided_by,
        effective=len(council.stages.texts),
        dissents=_dissents(council),
        weaknesses=_weaknesses(council),
        ruled_instead=council.settled.ruling is not None,
    )
    ending = Ending(stopped_by, council.synthesis, drafted=True, gate=council.gate)
    return outcome_of(council.meeting, ending, found, council.settled)


def _decision(
    council: _Council, stopped_by: StopReason
) -> tuple[tuple[str, DecisionSource] | None, DecidedBy | None]:
    """What the arbiter ruled, or else what the members confirmed of the chair's synthesis."""
    settled, synthesis = council.settled, council.synthesis
    if settled.decision is not None:
        return settled.decision, settled.decided_by
    if stopped_by is StopReason.COMPLETED and synthesis is not None and council.confirmed:
        chair = DecidedBy("chair", council.presiding, council.meeting.topic)
        return (sentence_of(synthesis), "synthesis"), chair
    return None, None


def _dissents(council: _Council) -> tuple[Dissent, ...]:
    """Who still wanted a revision when the gate closed; or who did not, where an arbiter has
    rejected what they held complete.

    A low rank is none: it is about another's answer, and not about what the chair made of all.
    """
    if council.gate is None:
        return ()
    closing, choice = council.gate.closing, council.settled.choice
    if choice is not None and choice.id == REJECT:
        return tuple(Dissent(who, "complete", "") for who in closing.completed_by)
    reasons = closing.reasons
    return tuple(Dissent(who, "needs_revision", why) for who, why in reasons.items())


def _numbers(council: _Council) -> dict[str, Json]:
    return {
        "participants": len(council.meeting.seats),
        **council.stages.tally(),
        "chair": council.presiding,
        "completion": None if council.gate is None else council.gate.record(),
    }


def _weaknesses(council: _Council) -> tuple[Degradation, ...]:
    if not council.chair_failed:
        return ()
    kind = "chair_replaced" if council.chair_replaced else "chair_failed"
    return (Degradation(kind, (council.meeting.chair_agent,)),)


FORMAT = Format(
    name="council",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=lambda topic, rules, count: in_turn(_PERSPECTIVES, count),
    rules=CouncilRules,
    usual_seats=lambda rules: 3,
    gated=True,
    uses=frozenset({"arbiter", "chair"}),
    package=__package__,
    record=CouncilRecord(),
)
