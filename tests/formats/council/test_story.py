"""The council through its generator (PROTOCOLS 8 and 11)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.ending.completion_gate import Close, GateStatus, Revise
from app.domain.meeting import events
from app.domain.meeting.meeting import CompletionGate, Language, Meeting
from app.domain.meeting.outcome import Completeness, Result, StopReason
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from app.formats.council.ranking import shuffled_letters
from app.formats.council.story import FORMAT
from tests.formats.by_hand import NAMES, SYNTHESIS, Answer, Held, hold, meeting
from tests.templates import render

DUE = datetime(2026, 1, 1, tzinfo=UTC)
CLOSED = Close(GateStatus.CONSENSUS, ("ann", "ben"), {}, DUE)
Said = str | ReplyStatus


def council(count: int = 3, **fields: Any) -> Meeting:
    return meeting("council", count, **({"completion_gate": CompletionGate()} | fields))


def answers(
    *,
    silent: Mapping[str, tuple[int, ...]] | None = None,
    prefers: tuple[str, ...] = NAMES,
    chair: Said = SYNTHESIS,
    secretary: Said = SYNTHESIS,
) -> Answer:
    """Members answer under their names and rank by ``prefers``; ``silent`` are by round."""
    quiet = silent or {}

    def answer(ask: Ask) -> Said:
        if ask.template == "council/synthesis":
            return chair if ask.office == "chair" else secretary
        if ask.round in quiet.get(ask.who, ()):
            return ReplyStatus.TIMEOUT
        if ask.template == "council/answer":
            return f"<think>hm</think>{ask.who} would try it."
        authors = {answer["letter"]: answer["text"].split()[0] for answer in shown(ask)}
        ranked = sorted(authors, key=lambda letter: prefers.index(authors[letter]))
        return json.dumps({"ranking": ranked, "rationale": "it is clear"})

    return answer


def shown(ask: Ask) -> list[Mapping[str, str]]:
    return ask.variables["answers"]


def ended(
    meeting_: Meeting | None = None, answer: Answer | None = None, gate: Any = (CLOSED,)
) -> Held:
    return hold(meeting_ or council(), answer or answers(), gate=gate)


# --- the stages ---------------------------------------------------------------------------------


def test_every_member_answers_alone() -> None:
    asks = ended().asked("council/answer")
    assert [(ask.who, ask.round) for ask in asks] == [(name, 1) for name in ("ann", "ben", "cy")]
    assert not any("would try" in str(ask.variables) for ask in asks)


def test_every_member_ranks_the_others_answers_under_shuffled_letters() -> None:
    held = ended(council(5))
    asks = held.asked("council/rank")
    assert [(ask.who, ask.round) for ask in asks] == [(name, 2) for name in NAMES[:5]]
    for ask in asks:
        letters = shuffled_letters("mtg_0001", ask.who, NAMES[:5])
        assert ask.who not in letters.values()
        assert [(a["letter"], a["text"]) for a in shown(ask)] == [
            (letter, f"{author} would try it.") for letter, author in letters.items()
        ]
    assert len({tuple(a["text"] for a in shown(ask)) for ask in asks}) == 5


def test_the_letters_are_recorded_before_anybody_ranks() -> None:
    held = ended()
    _, second = held.told(events.RoundStarted.type)
    assert second["letters"] == {
        name: shuffled_letters("mtg_0001", name, NAMES[:3]) for name in NAMES[:3]
    }
    assert second["round"] == 2


def test_rank_self_shows_a_member_its_own_answer_too() -> None:
    held = ended(council(rules={"rank_self": True}))
    for ask in held.asked("council/rank"):
        assert len(shown(ask)) == 3
        assert any(ask.who in answer["text"] for answer in shown(ask))


def test_mean_ranks_are_computed_from_the_ballots() -> None:
    held = ended(answer=answers(prefers=("ben", "ann", "cy")))
    (tally,) = held.told(events.TallyComputed.type)
    ranks = [(mean["author"], mean["mean_rank"], mean["reviews"]) for mean in tally["ranks"]]
    assert ranks == [("ben", 1.0, 2), ("ann", 1.5, 2), ("cy", 2.0, 2)]
    assert (tally["best"], tally["rankings"], tally["answers"]) == (["ben"], 3, 3)
    assert tally["by_reviewer"]["ann"] == ["ben", "cy"]


def test_the_chair_gets_the_answers_with_their_mean_ranks_best_first() -> None:
    held = ended(council(chair="judge"), answers(prefers=("cy", "ben", "ann")))
    (ask,) = held.asked("council/synthesis")
    assert (ask.office, ask.who, ask.closing) == ("chair", "chair", True)
    assert [(a["label"], a["mean_rank"], a["reviews"]) for a in shown(ask)] == [
        ("Participant C", "1.00", 2),
        ("Participant B", "1.50", 2),
        ("Participant A", "2.00", 2),
    ]
    assert shown(ask)[0]["text"] == "cy would try it."


def test_a_member_without_an_answer_is_not_ranked_and_ranks_all_the_same() -> None:
    held = ended(answer=answers(silent={"cy": (1,)}))
    assert [ask.who for ask in held.asked("council/rank")] == ["ann", "ben", "cy"]
    (tally,) = held.told(events.TallyComputed.type)
    assert {mean["author"] for mean in tally["ranks"]} == {"ann", "ben"}
    outcome = held.ended
    assert outcome.effective_participants == 2
    assert outcome.degradation[0].record() == {
        "kind": "no_reply", "names": ["cy"], "rounds": [1], "detail": "",
    }  # fmt: skip


def test_nobody_is_asked_to_rank_nothing() -> None:
    held = ended(answer=answers(silent={"ben": (1,), "cy": (1,)}))
    assert [ask.who for ask in held.asked("council/rank")] == ["ben", "cy"]
    assert held.ended.result is Result.DECIDED


def test_rankings_that_are_missing_leave_answers_without_a_rank() -> None:
    held = ended(answer=answers(silent=dict.fromkeys(NAMES[:3], (2,))))
    (ask,) = held.asked("council/synthesis")
    assert [a["mean_rank"] for a in shown(ask)] == [None] * 3
    assert held.ended.numbers["best"] == []


# --- the chair and the gate ---------------------------------------------------------------------


def test_closed_by_its_gate_it_is_decided_by_the_chair() -> None:
    outcome = ended(council(chair="judge")).ended
    assert (outcome.result, outcome.stopped_by) == (Result.DECIDED, StopReason.COMPLETED)
    assert outcome.completeness is Completeness.COMPLETE
    assert (outcome.decision, outcome.decision_source) == ("Do it.", "synthesis")
    assert outcome.decided_by is not None
    assert outcome.decided_by.record() == {
        "kind": "chair",
        "name": "judge",
        "scope": "One repository or several?",
    }
    assert (outcome.consensus, outcome.numbers_name) == (None, "council")
    assert outcome.record()["council"]["completion"]["status"] == "consensus_complete"


def test_without_a_decision_sentence_the_recommendation_is_the_decision() -> None:
    drafted = SYNTHESIS.replace('"Do it."', '""')
    assert ended(answer=answers(chair=drafted)).ended.decision == "Start in January."


def test_a_single_completion_decides_with_the_warning() -> None:
    single = Close(GateStatus.SINGLE, ("ann",), {}, DUE)
    outcome = ended(gate=(single,)).ended
    assert outcome.result is Result.DECIDED
    assert outcome.numbers["completion"]["warning"] == "single_agent_completion"
    assert outcome.degradation[0].kind == "single_agent_completion"


def test_closed_incomplete_it_decides_nothing_and_keeps_the_reasons() -> None:
    incomplete = Close(GateStatus.INCOMPLETE, ("ann",), {"ben": "costs"}, DUE)
    held = ended(gate=(Revise((), {"ben": "costs", "cy": "dates"}, DUE), incomplete))
    outcome = held.ended
    assert (outcome.result, outcome.stopped_by) == (Result.UNDECIDED, StopReason.COMPLETED)
    assert (outcome.completeness, outcome.decision) == (Completeness.PARTIAL, None)
    assert (outcome.decided_by, outcome.decision_source) == (None, None)
    # cy never said that its wish was met.
    assert [(d.participant, d.rationale) for d in outcome.dissents] == [
        ("ben", "costs"),
        ("cy", "dates"),
    ]
    assert outcome.synthesis is not None
    first, second = held.asked("council/synthesis")
    assert (first.variables["reasons"], second.key) == ([], "closing/synthesis-2")
    assert [r["text"] for r in second.variables["reasons"]] == ["costs", "dates"]
    assert [c.attempt for c in held.confirms] == [1, 2]


def test_without_a_gate_the_chair_decides_at_once() -> None:
    held = ended(council(completion_gate=None), gate=())
    assert (held.confirms, held.ended.result) == ([], Result.DECIDED)
    assert held.ended.numbers["completion"] is None


def test_a_chair_that_fails_is_replaced_by_the_secretary_and_the_record_says_so_first() -> None:
    held = ended(council(chair="judge"), answers(chair=ReplyStatus.ERROR, silent={"cy": (1,)}))
    assert [ask.office for ask in held.asked("council/synthesis")] == ["chair", "secretary"]
    outcome = held.ended
    assert outcome.degradation[0].record() == {
        "kind": "chair_replaced", "names": ["judge"], "rounds": [], "detail": "",
    }  # fmt: skip
    assert outcome.decided_by is not None
    assert (outcome.decided_by.kind, outcome.decided_by.name) == ("chair", "default")


def test_a_chair_that_was_replaced_does_not_come_back_for_the_revision() -> None:
    meeting_ = council(chair="judge")
    gate = (Revise((), {"ben": "costs"}, DUE), CLOSED)
    held = ended(meeting_, answers(chair="nothing"), gate)
    offices = [ask.office for ask in held.asked("council/synthesis")]
    assert offices == ["chair", "secretary", "secretary"]


def test_chair_and_secretary_failing_leave_a_record_by_code() -> None:
    failing = answers(chair=ReplyStatus.ERROR, secretary="no")
    held = ended(council(chair="judge"), failing, gate=())
    outcome = held.ended
    assert (outcome.result, outcome.completeness) == (Result.UNDECIDED, Completeness.PARTIAL)
    assert (outcome.stopped_by, outcome.synthesis) == (StopReason.COMPLETED, None)
    assert [d.kind for d in outcome.degradation] == ["chair_failed", "synthesis_by_code"]
    assert held.confirms == []


def test_a_synthesis_that_a_limit_kept_out_was_not_completed() -> None:
    """The members were heard, and nothing was left for the chair."""
    outcome = ended(answer=answers(chair=ReplyStatus.BUDGET), gate=()).ended
    assert (outcome.result, outcome.stopped_by) == (Result.UNDECIDED, StopReason.BUDGET)
    assert outcome.completeness is Completeness.PARTIAL


def test_money_that_ran_out_over_the_rankings_is_what_ended_it() -> None:
    """There is no room for the synthesis either, and an end by a budget reads as one."""
    told = answers(chair=ReplyStatus.BUDGET)

    def answer(ask: Ask) -> Said:
        return ReplyStatus.BUDGET if ask.template == "council/rank" else told(ask)

    outcome = ended(answer=answer, gate=()).ended
    assert (outcome.result, outcome.stopped_by) == (Result.UNDECIDED, StopReason.BUDGET)
    assert outcome.completeness is Completeness.PARTIAL


def test_a_chair_that_is_the_secretary_is_not_asked_twice() -> None:
    held = ended(council(), answers(chair="no"), gate=())
    assert [ask.office for ask in held.asked("council/synthesis")] == ["chair"]
    assert [d.kind for d in held.ended.degradation] == ["synthesis_by_code"]


# --- ends ---------------------------------------------------------------------------------------


def test_no_answer_at_all_means_that_the_agents_are_unavailable() -> None:
    held = ended(answer=answers(silent=dict.fromkeys(NAMES[:3], (1,))), gate=())
    outcome = held.ended
    assert (outcome.result, outcome.stopped_by) == (Result.FAILED, StopReason.AGENTS_UNAVAILABLE)
    assert outcome.completeness is Completeness.PARTIAL
    assert [ask.template for ask in held.asks] == ["council/answer"] * 3


@pytest.mark.parametrize("stop", [StopReason.DEADLINE, StopReason.BUDGET])
def test_a_limit_before_the_rankings_decides_nothing_but_leaves_a_synthesis(
    stop: StopReason,
) -> None:
    held = hold(council(), answers(), stop_before="round-2/ask/ann", stop=stop)
    outcome = held.ended
    assert (outcome.result, outcome.stopped_by) == (Result.UNDECIDED, stop)
    assert (outcome.completeness, outcome.decision) == (Completeness.PARTIAL, None)
    assert outcome.synthesis is not None
    assert held.confirms == []


@pytest.mark.parametrize(
    "key", ["round-1/ask/ann", "round-2/ask/ann", "closing/synthesis", "gate-1"]
)
def test_a_cancel_ends_it_wherever_it_stands(key: str) -> None:
    held = hold(council(), answers(), stop_before=key, stop=StopReason.CANCELLATION)
    outcome = held.ended
    assert (outcome.result, outcome.completeness) == (Result.CANCELLED, Completeness.PARTIAL)
    assert outcome.decision is None


def test_a_deadline_in_the_gate_is_said_to_have_left_it_unconfirmed() -> None:
    outcome = hold(council(), answers(), stop_before="gate-1").ended
    assert (outcome.result, outcome.stopped_by) == (Result.UNDECIDED, StopReason.DEADLINE)
    assert [d.kind for d in outcome.degradation] == ["not_confirmed"]


# --- prompts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "ja"])
def test_prompts_ask_for_the_shapes_and_show_no_names(language: Language) -> None:
    held = ended(council(language=language, context="Twelve engineers"))
    rank = held.asked("council/rank")[0]
    user = render(rank.template, language, rank.variables).user
    assert '"ranking"' in user
    assert '"rationale"' in user
    assert '"A", "B"' in user or '"A"、"B"' in user
    assert "mean_rank" not in user
    (ask,) = held.asked("council/synthesis")
    user = render(ask.template, language, ask.variables).user
    for key in ("decision", "agreed", "differ", "concerns", "recommendation"):
        assert f'"{key}"' in user
    assert 'mean_rank="1.00"' in user
    confirm = held.confirms[0].asks[0]
    user = render(confirm.template, language, confirm.variables).user
    assert '{"completion": "complete"' in user
    assert '{"completion": "needs_revision"' in user
    assert "Do it." in user


def test_the_plan_covers_the_gate_and_a_chair_of_its_own() -> None:
    planned = FORMAT.plan(council(chair="judge"))
    counts = {(ask.template, ask.office): 0 for ask in planned}
    for ask in planned:
        counts[ask.template, ask.office] += ask.at_most
    assert counts["council/answer", "participant"] == 3
    assert counts["council/rank", "participant"] == 3
    assert counts["council/synthesis", "chair"] == 2
    assert counts["council/synthesis", "secretary"] == 2
    assert counts["gate/confirm", "participant"] == 24
    assert sum(ask.usually for ask in planned) == 3 + 3 + 1 + 3
