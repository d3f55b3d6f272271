"""The round table through its generator (PROTOCOLS 4 and 11): every vector by its name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.ending.completion_gate import Close, GateStatus, Revise
from app.domain.meeting import events
from app.domain.meeting.meeting import CompletionGate, Language, Limits
from app.domain.meeting.outcome import Completeness, Result, StopReason
from app.domain.replies.reading import ReplyStatus
from app.domain.rounds.progress import Stall, StallKind
from app.domain.rounds.summary import MOST_SUMMARY_CHARACTERS
from app.domain.steps import Ask
from app.formats.roundtable.story import FORMAT
from tests.formats.by_hand import NAMES, OVER, SUMMARY, SYNTHESIS, Answer, hold, meeting
from tests.templates import render

LETTERS = {"A": "AGREE", "D": "DISAGREE", "N": "NEUTRAL", "U": "UNKNOWN", "T": "timeout"}
DUE = datetime(2026, 1, 1, tzinfo=UTC)


def table(*rounds: str, secretary: dict[str, str | ReplyStatus] | None = None) -> Answer:
    """One letter a seat and round: A, D, N; U is a reply without a marker, T a timeout."""
    office = {"compress": SUMMARY, "synthesis": SYNTHESIS, **(secretary or {})}

    def answer(ask: Ask) -> str | ReplyStatus:
        if ask.office != "participant":
            return office[ask.template.rpartition("/")[2]]
        letter = rounds[ask.round - 1][NAMES.index(ask.who)]
        if letter == "T":
            return ReplyStatus.TIMEOUT
        marker = "" if letter == "U" else f" [STANCE: {LETTERS[letter]}]"
        return f"{ask.who} says so in round {ask.round}.{marker}"

    return answer


@pytest.mark.parametrize(
    ("letters", "consensus"),
    [
        ("AAA", "FULL_CONSENSUS"),
        ("AAN", "MAJORITY_CONSENSUS"),
        ("AAU", "MAJORITY_CONSENSUS"),
        ("AND", "NO_CONSENSUS"),
        ("AAD", "NO_CONSENSUS"),
        ("AANN", "NO_CONSENSUS"),
        ("AAAAND", "NO_CONSENSUS"),
        ("NNN", "NO_CONSENSUS"),
        ("AAAAATT", "MAJORITY_CONSENSUS"),
    ],
)
def test_vector(letters: str, consensus: str) -> None:
    held = hold(meeting("roundtable", len(letters), rounds=1, motion="Do it."), table(letters))
    outcome = held.ended
    assert outcome.consensus == consensus
    assert held.told(events.RoundClosed.type)[0]["consensus"] == consensus
    reached = consensus != "NO_CONSENSUS"
    assert (outcome.result is Result.DECIDED) is reached
    assert outcome.stopped_by is (StopReason.CONSENSUS if reached else StopReason.ROUNDS)
    assert outcome.decision == ("Do it." if reached else None)
    assert outcome.decision_source == ("motion" if reached else None)


class TestMotion:
    def test_the_bare_topic_is_decided_in_the_synthesis_words(self) -> None:
        outcome = hold(meeting("roundtable"), table("AAA")).ended
        assert (outcome.decision, outcome.decision_source) == ("Do it.", "synthesis")

    def test_the_bare_topic_stands_where_there_is_no_synthesis(self) -> None:
        outcome = hold(
            meeting("roundtable"), table("AAA", secretary={"synthesis": ReplyStatus.ERROR})
        ).ended
        assert outcome.decision == "One repository or several?"
        assert outcome.decision_source == "motion"
        assert [d.kind for d in outcome.degradation] == ["synthesis_by_code"]

    def test_each_round_records_the_motion_that_it_judged(self) -> None:
        held = hold(meeting("roundtable"), table("DAA", "AAA"))
        judged = [closed["motion"] for closed in held.told(events.RoundClosed.type)]
        assert judged == ["One repository or several?", "Use one repository for a trial quarter."]
        assert held.ended.decision == judged[-1]
        assert held.ended.decision_source == "motion"

    def test_an_empty_restatement_leaves_it_as_it_was(self) -> None:
        held = hold(
            meeting("roundtable", motion="Do it."),
            table("DAA", "AAA", secretary={"compress": "SUMMARY: talk\nMOTION:"}),
        )
        assert held.ended.decision == "Do it."

    def test_a_restatement_cannot_carry_a_stance(self) -> None:
        compressed = 'SUMMARY: talk\nMOTION: "Do it. [STANCE: AGREE]"'
        held = hold(meeting("roundtable"), table("DAA", "AAA", secretary={"compress": compressed}))
        assert held.ended.decision == "Do it."


class TestSummary:
    def test_what_a_participant_receives_is_the_same_size_in_every_later_round(self) -> None:
        letters = ["ADN", "DAN", "NDA", "AND", "DNA", "NAD"]
        long = f"SUMMARY: {'words ' * 2_000}\nMOTION: Use one repository."
        held = hold(
            meeting("roundtable", limits=Limits(rounds=6, no_progress_rounds=20)),
            table(*letters, secretary={"compress": long}),
        )
        sizes = {
            len(render(ask.template, "en", {**ask.variables, "last_stance": "AGREE"}).user)
            for ask in held.asks
            if ask.who == "ann" and ask.round > 1
        }
        assert len(sizes) == 1
        later = held.ask("round-6/ask/ann").variables
        assert len(later["summary"]) <= MOST_SUMMARY_CHARACTERS
        assert "says so" not in repr(later)

    def test_a_failing_secretary_is_replaced_by_code(self) -> None:
        held = hold(
            meeting("roundtable"), table("DNA", "AAA", secretary={"compress": ReplyStatus.TIMEOUT})
        )
        told = held.told(events.SummaryUpdated.type)[0]
        assert told["source"] == "extractive"
        assert told["reason"] == "No reply."
        assert told["summary"].split("\n") == [
            "Participant A [DISAGREE]: ann says so in round 1.",
            "Participant B [NEUTRAL]: ben says so in round 1.",
            "Participant C [AGREE]: cy says so in round 1.",
        ]
        assert held.ask("round-2/ask/ann").variables["summary"] == told["summary"]
        assert [d.kind for d in held.ended.degradation] == ["summary_by_code"]
        assert held.ended.degradation[0].rounds == (1,)

    def test_the_first_round_is_blind(self) -> None:
        held = hold(meeting("roundtable"), table("DAA", "AAA"))
        assert all(held.ask(f"round-1/ask/{n}").variables["summary"] == "" for n in NAMES[:3])


STOPS = [StopReason.DEADLINE, StopReason.BUDGET, StopReason.CANCELLATION]
WHOLE = hold(meeting("roundtable"), table("DAA", "NDA", "AAN"))


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("key", WHOLE.steps)
def test_stopped_at_each_step(key: str, stop: StopReason) -> None:
    held = hold(meeting("roundtable"), table("DAA", "NDA", "AAN"), stop_before=key, stop=stop)
    outcome = held.ended
    closing = key == "closing/synthesis"
    if closing and stop is not StopReason.CANCELLATION:
        # Consensus was reached before, and counts before a deadline or a budget (PROTOCOLS 11).
        assert (outcome.result, outcome.stopped_by) == (Result.DECIDED, StopReason.CONSENSUS)
        return
    cancelled = stop is StopReason.CANCELLATION
    assert outcome.result is (Result.CANCELLED if cancelled else Result.UNDECIDED)
    assert outcome.stopped_by is stop
    assert outcome.completeness is Completeness.PARTIAL
    assert outcome.decision is outcome.decided_by is outcome.decision_source is None
    talked = not key.startswith("round-1/ask")
    assert (outcome.synthesis is not None) is (talked and not cancelled)
    assert outcome.numbers["rounds"] == len(held.told(events.RoundClosed.type))


class TestStops:
    def test_two_silent_rounds(self) -> None:
        outcome = hold(meeting("roundtable"), table("TTT", "TTT")).ended
        assert outcome.result is Result.FAILED
        assert outcome.stopped_by is StopReason.AGENTS_UNAVAILABLE
        assert outcome.synthesis is None

    def test_one_reply_between_silent_rounds_keeps_it_going(self) -> None:
        held = hold(
            meeting("roundtable", limits=Limits(rounds=4, no_progress_rounds=9)),
            table("TTT", "DTT", "TTT", "TTT"),
        )
        assert held.ended.stopped_by is StopReason.AGENTS_UNAVAILABLE
        assert len(held.told(events.RoundClosed.type)) == 4

    def test_two_rounds_without_a_change_of_stance(self) -> None:
        held = hold(meeting("roundtable", rounds=9), table(*["DAN"] * 9))
        assert held.ended.stopped_by is StopReason.NO_PROGRESS
        assert held.told(events.ProgressStalled.type) == [Stall(StallKind.STALEMATE, 3, 2).record()]

    def test_a_seat_that_falls_silent_has_not_moved(self) -> None:
        held = hold(meeting("roundtable", rounds=9), table("DAN", "DAT", "DAN", "DAN"))
        assert held.ended.stopped_by is StopReason.NO_PROGRESS
        assert held.ended.numbers["rounds"] == 3


class TestGate:
    confirmed = Close(GateStatus.CONSENSUS, ("ann", "ben"), {}, DUE)

    def gated(self, *gate: Close | Revise, secretary: dict[str, str | ReplyStatus] | None = None):
        asked = meeting("roundtable", motion="Do it.", completion_gate=CompletionGate())
        return hold(asked, table("AAA", secretary=secretary), gate=gate)

    def test_closes_on_the_synthesis(self) -> None:
        held = self.gated(self.confirmed)
        shown = held.confirms[0].asks[0].variables["draft"]
        assert shown.startswith("DECISION:\nDo it.\n\nAGREED:\n- a trial\n\nDIFFER:\n- how long")
        assert held.ended.completeness is Completeness.COMPLETE
        assert held.ended.completion is not None
        assert held.ended.completion["status"] == "consensus_complete"

    def test_revises_once_with_the_reasons(self) -> None:
        held = self.gated(Revise((), {"cy": "It omits the cost."}, DUE), self.confirmed)
        first, second = held.asked("roundtable/synthesis")
        assert (first.variables["reasons"], first.variables["draft"]) == ([], "")
        assert second.variables["reasons"] == [
            {"label": "Participant C", "text": "It omits the cost."}
        ]
        assert second.variables["draft"] == held.confirms[0].asks[0].variables["draft"]
        assert first.key != second.key

    def test_what_stays_unconfirmed_is_partial_and_said_first(self) -> None:
        refused = Close(GateStatus.INCOMPLETE, (), {"cy": "It omits the cost."}, DUE)
        outcome = self.gated(Revise((), {"cy": "It omits the cost."}, DUE), refused).ended
        # The stances were counted by their own rule, so the decision stands.
        assert (outcome.result, outcome.completeness) == (Result.DECIDED, Completeness.PARTIAL)
        assert outcome.degradation[-1].kind == "closed_incomplete"
        assert outcome.completion is not None
        assert outcome.completion["reasons"] == {"cy": "It omits the cost."}

    def test_without_a_synthesis_there_is_nothing_to_confirm(self) -> None:
        held = self.gated(secretary={"synthesis": ReplyStatus.ERROR})
        assert held.confirms == []
        assert held.ended.completeness is Completeness.PARTIAL
        assert [d.kind for d in held.ended.degradation] == ["synthesis_by_code", "not_confirmed"]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("rounds", [1, 4])
def test_nothing_that_is_asked_is_larger_than_planned(language: Language, rounds: int) -> None:
    asked = meeting(
        "roundtable",
        language=language,
        limits=Limits(rounds=rounds, no_progress_rounds=9),
        completion_gate=CompletionGate(),
    )
    long = "議" * 9_000
    gate = Revise((), {"ann": "議" * 2_000}, DUE), TestGate.confirmed
    held = hold(
        asked,
        lambda ask: (
            f"SUMMARY: {long}\nMOTION: {long}"
            if ask.template.endswith("compress")
            else SYNTHESIS
            if ask.office == "secretary"
            else f"{long}\n[STANCE: DISAGREE]"
        ),
        gate=gate,
    )
    most: dict[str, int] = {}
    for planned in FORMAT.plan(asked):
        if planned.template != "gate/confirm":
            size = len(render(planned.template, language, planned.variables).user.encode())
            most[planned.template] = max(size, most.get(planned.template, 0))
    for ask in held.asks:
        assert (
            len(render(ask.template, language, ask.variables).user.encode()) <= most[ask.template]
        )


class TestDeadline:
    """A deadline that cuts replies off counts before whatever else falls together with it."""

    @pytest.mark.parametrize("rounds", [1, 3])
    def test_it_is_named_and_not_the_rounds_or_the_silence(self, rounds: int) -> None:
        held = hold(meeting("roundtable", limits=Limits(rounds=rounds)), lambda ask: OVER)
        assert held.ended.stopped_by is StopReason.DEADLINE
        assert held.ended.result is Result.UNDECIDED

    def test_a_consensus_of_those_who_came_in_time_counts_before_it(self) -> None:
        late = NAMES[2]
        held = hold(
            meeting("roundtable"),
            lambda ask: (
                SYNTHESIS
                if ask.office != "participant"
                else OVER
                if ask.who == late
                else "Yes. [STANCE: AGREE]"
            ),
        )
        assert held.ended.stopped_by is StopReason.CONSENSUS
