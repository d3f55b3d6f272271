"""The council (PROTOCOLS 8).

Every member answers alone; every member ranks the others' answers under shuffled letters; the
chair writes the synthesis from answers and mean ranks; and it closes when the members confirm
that the synthesis is complete, after one revision if they ask for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.domain import events
from app.domain.ballot import MOST_TEXT_CHARACTERS, LetterRankingReading
from app.domain.council import MOST_ANSWER_CHARACTERS, AnswerReading
from app.domain.council_stages import Stages
from app.domain.cut_short import cut_short
from app.domain.gate_record import gate_degradation
from app.domain.meeting import CHAIR, SECRETARY, Json, Meeting, Seat, label_letters
from app.domain.outcome import (
    Completeness,
    DecidedBy,
    DecisionSource,
    Degradation,
    Dissent,
    Outcome,
    Result,
    StopReason,
)
from app.domain.reply_text import clean
from app.domain.steps import Ask, Conversation, Part, Reply, Stopped, gather, note
from app.domain.synthesis import MOST_SENTENCE_CHARACTERS
from app.formats.arbitrating import (
    REJECT,
    Matter,
    Settled,
    accept_or_reject,
    plan_ruling,
    put,
)
from app.formats.closing import (
    SYNTHESIS_STEP,
    GatePassed,
    draft_synthesis,
    missing_replies,
    pass_gate,
    result_of,
)
from app.formats.format import Format, PlannedAsk, longest
from app.formats.rounds import (
    MOST_SYNTHESIS_CHARACTERS,
    plan_closing,
    synthesis_text,
    until_stopped,
)

_ANSWERS, _RANKS = 1, 2
_SYNTHESIS = "council/synthesis"
_MOST_RANK_SHOWN = "99.99"


@dataclass(frozen=True)
class CouncilRules:
    """``rank_self``: members rank their own answer among the others."""

    rank_self: bool = False


@dataclass(slots=True)
class _Council:
    """What is known so far."""

    meeting: Meeting
    stages: Stages
    synthesis: Mapping[str, Json] | None = None
    chair_failed: bool = False
    chair_replaced: bool = False
    gate: GatePassed | None = None
    settled: Settled = field(default_factory=lambda: Settled(StopReason.COMPLETED))

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
    meeting = council.meeting
    answers = yield from _round(_ANSWERS, _questions(meeting))
    council.stages = Stages(meeting, answers)
    if not council.stages.texts:
        return cut_short(answers) or StopReason.AGENTS_UNAVAILABLE
    letters = council.stages.letters
    rankings = yield from _round(_RANKS, _ballots(council.stages), letters=letters)
    council.stages = Stages(meeting, answers, rankings)
    tally = council.stages.tally()
    yield from note(f"round-{_RANKS}/tally", events.TALLY_COMPUTED, round=_RANKS, **tally)
    return StopReason.COMPLETED


def _round(number: int, asks: tuple[Ask, ...], **shown: Json) -> Part[tuple[Reply, ...]]:
    yield from note(f"round-{number}/start", events.ROUND_STARTED, round=number, **shown)
    replies = yield from gather(*asks)
    heard = sum(reply.usable for reply in replies)
    closed = {"round": number, "effective_participants": heard}
    yield from note(f"round-{number}/close", events.ROUND_CLOSED, **closed)
    return replies


# --- the members --------------------------------------------------------------------------------


def _questions(meeting: Meeting) -> tuple[Ask, ...]:
    return tuple(
        Ask(
            f"round-{_ANSWERS}/ask/{seat.name}",
            seat.name,
            _ANSWERS,
            "council/answer",
            {**_seen_by(meeting, seat), "options": list(meeting.options)},
            AnswerReading(),
        )
        for seat in meeting.seats
    )


def _ballots(stages: Stages) -> tuple[Ask, ...]:
    """Each reviewer's own letters, so that no place in the list favours an answer."""
    meeting, texts = stages.meeting, stages.texts
    return tuple(
        Ask(
            f"round-{_RANKS}/ask/{reviewer}",
            reviewer,
            _RANKS,
            "council/rank",
            {
                **_seen_by(meeting, meeting.seat(reviewer)),
                "answers": [
                    {"letter": letter, "text": texts[author]} for letter, author in letters.items()
                ],
            },
            LetterRankingReading(tuple(letters)),
        )
        for reviewer, letters in stages.letters.items()
    )


def _seen_by(meeting: Meeting, seat: Seat) -> dict[str, Json]:
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "name": seat.name,
        "role": seat.role,
        "label": meeting.label(seat.name),
    }


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
                after_round=_RANKS,
            )
    except Stopped as stopped:
        return stopped.reason
    return stopped_by


def _draft(
    council: _Council, step: str, draft: str = "", reasons: Mapping[str, str] | None = None
) -> Part[Mapping[str, Json] | None]:
    """The chair's synthesis; the secretary's, if the chair fails and is somebody else."""
    meeting = council.meeting
    wanted = [{"label": meeting.label(who), "text": why} for who, why in (reasons or {}).items()]
    variables = {**_synthesis_variables(council), "draft": draft, "reasons": wanted}
    if not council.chair_failed:
        synthesis = yield from draft_synthesis(_SYNTHESIS, variables, _RANKS, CHAIR, step)
        if synthesis is not None or meeting.chair_agent == meeting.secretary:
            return synthesis
        council.chair_failed = True
    step = f"{step}/{SECRETARY}"
    synthesis = yield from draft_synthesis(_SYNTHESIS, variables, _RANKS, SECRETARY, step)
    council.chair_replaced = synthesis is not None
    return synthesis


def _redraft(council: _Council, reasons: Mapping[str, str]) -> Part[str | None]:
    """Once more, for what the members found wrong with it (PROTOCOLS 10)."""
    before = synthesis_text(council.synthesis or {})
    redrafted = yield from _draft(council, f"{SYNTHESIS_STEP}-2", before, reasons)
    if redrafted is None:
        return None
    council.synthesis = redrafted
    return synthesis_text(redrafted)


def _synthesis_variables(council: _Council) -> dict[str, Json]:
    meeting = council.meeting
    texts = council.stages.texts
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "members": len(meeting.seats),
        "answers": [
            {
                "label": meeting.label(mean.author),
                "text": texts[mean.author],
                "mean_rank": None if mean.rank is None else f"{float(mean.rank):.2f}",
                "reviews": mean.reviews,
            }
            for mean in council.stages.ranks
        ],
    }


# --- the arbiter --------------------------------------------------------------------------------


def _arbitrate(council: _Council, stopped_by: StopReason) -> Part[Settled]:
    """A synthesis that the members would not confirm stands or falls with the arbiter, if there
    is one (PROTOCOLS 10 and 11)."""
    synthesis, gate = council.synthesis, council.gate
    if stopped_by is not StopReason.COMPLETED or synthesis is None or gate is None or gate.complete:
        return Settled(stopped_by)
    meeting = council.meeting
    wanting = [
        {"label": meeting.label(who), "text": clean(reason, MOST_TEXT_CHARACTERS)}
        for who, reason in gate.closing.reasons.items()
    ]
    matter = _matter(meeting, _sentence(synthesis), synthesis_text(synthesis), wanting)
    return (yield from put(meeting, stopped_by, _RANKS, matter))


def _matter(
    meeting: Meeting, sentence: str, whole: str, wanting: Sequence[Mapping[str, Json]]
) -> Matter:
    excerpts = [{"label": CHAIR, "text": whole}, *wanting]
    return Matter(meeting.topic, accept_or_reject(sentence), meeting.topic, excerpts)


def _sentence(synthesis: Mapping[str, Json]) -> str:
    """What a synthesis comes to, as the one text that is decided on."""
    return synthesis["decision"] or synthesis["recommendation"]


# --- the outcome --------------------------------------------------------------------------------


def _outcome(council: _Council, stopped_by: StopReason) -> Outcome:
    synthesis = council.synthesis
    whole = stopped_by is StopReason.COMPLETED and synthesis is not None and council.confirmed
    result, completeness = result_of(stopped_by)
    decision: str | None = None
    decided_by: DecidedBy | None = None
    if whole and synthesis is not None:
        result, completeness = Result.DECIDED, Completeness.COMPLETE
        decision = _sentence(synthesis)
        decided_by = DecidedBy("chair", council.presiding, council.meeting.topic)
    source: DecisionSource | None = "synthesis" if whole else None
    if council.settled.decision is not None:
        result, completeness = Result.DECIDED, Completeness.COMPLETE
        decision, source = council.settled.decision
        decided_by = council.settled.decided_by
    return Outcome(
        result=result,
        stopped_by=stopped_by,
        completeness=completeness,
        decision=decision,
        decision_source=source,
        decided_by=decided_by,
        effective_participants=len(council.stages.texts),
        dissents=_dissents(council),
        synthesis=synthesis,
        numbers_name="council",
        numbers=_numbers(council),
        findings=_findings(council),
        degradation=_degradation(council),
    )


def _findings(council: _Council) -> dict[str, Json]:
    completion = {} if council.gate is None else {"completion": council.gate.record()}
    return completion | council.settled.findings()


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


def _degradation(council: _Council) -> tuple[Degradation, ...]:
    found: tuple[Degradation, ...] = ()
    if council.chair_failed:
        kind = "chair_replaced" if council.chair_replaced else "chair_failed"
        found += (Degradation(kind, (council.meeting.chair_agent,)),)
    if council.synthesis is None:
        found += (Degradation("synthesis_by_code"),)
    elif not council.confirmed and council.gate is None:
        found += (Degradation("not_confirmed"),)
    found += missing_replies((council.stages.answers, council.stages.rankings))
    return found + gate_degradation(council.gate.closing if council.gate else None)


# --- what it may ask ----------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the meeting, with texts as long as they can become."""
    seats = len(meeting.seats)
    question = _questions(meeting)[-1].variables
    answer = longest(MOST_ANSWER_CHARACTERS)
    last = label_letters(seats - 1)
    ranked = {**question, "answers": [{"letter": last, "text": answer}] * seats}
    shown: dict[str, Json] = {
        "label": meeting.label(meeting.seats[-1].name),
        "text": answer,
        "mean_rank": _MOST_RANK_SHOWN,
        "reviews": seats,
    }
    read = {**ranked, "members": seats, "answers": [shown] * seats}
    return (
        PlannedAsk("council/answer", question, seats, seats),
        PlannedAsk("council/rank", ranked, seats, seats),
        *_plan_closing(meeting, read),
        *plan_ruling(meeting, _longest_matter(meeting)),
    )


def _longest_matter(meeting: Meeting) -> Matter:
    label = meeting.label(meeting.seats[-1].name)
    wanting = [{"label": label, "text": longest(MOST_TEXT_CHARACTERS)}] * len(meeting.seats)
    whole = longest(MOST_SYNTHESIS_CHARACTERS)
    return _matter(meeting, longest(MOST_SENTENCE_CHARACTERS), whole, wanting)


def _plan_closing(meeting: Meeting, read: Mapping[str, Json]) -> tuple[PlannedAsk, ...]:
    """The chair's drafts, the gate, and the drafts of the secretary who may have to step in."""
    planned = plan_closing(meeting, _SYNTHESIS, read)
    drafts = tuple(ask for ask in planned if ask.template == _SYNTHESIS)
    others = tuple(ask for ask in planned if ask.template != _SYNTHESIS)
    chair = tuple(replace(ask, office=CHAIR) for ask in drafts)
    if meeting.chair_agent == meeting.secretary:
        return chair + others
    return chair + tuple(replace(ask, usually=0) for ask in drafts) + others


def _perspectives(topic: str, rules: Mapping[str, Json], count: int) -> tuple[str, ...]:
    del topic, rules
    keys = ("analyst", "practitioner", "sceptic", "advocate", "outsider")
    return tuple(keys[index % len(keys)] for index in range(count))


FORMAT = Format(
    name="council",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=_perspectives,
    rules=CouncilRules,
    usual_seats=lambda rules: 3,
    gated=True,
    uses=frozenset({"arbiter", "chair"}),
)
