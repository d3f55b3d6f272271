"""The completion gate of PROTOCOLS 10, moment by moment."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.ending.completion_gate import (
    Asked,
    Close,
    Closed,
    CompletionReading,
    GateAction,
    GateHappening,
    GateState,
    GateStatus,
    GateWait,
    Nudge,
    Nudged,
    Revise,
    Signal,
    SignalKind,
    decide,
    gate_faults,
)
from app.domain.meeting.meeting import CompletionGate, Meeting, Seat
from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import ReplyStatus

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
WHO = ("ann", "ben", "cy")
GATE = CompletionGate()


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def complete(who: str, seconds: float) -> Signal:
    return Signal(who, SignalKind.COMPLETE, "", at(seconds))


def revision(who: str, seconds: float) -> Signal:
    return Signal(who, SignalKind.NEEDS_REVISION, f"{who} misses costs", at(seconds))


def after(seconds: float, *happenings: GateHappening, gate: CompletionGate = GATE) -> GateAction:
    return decide(GateState.of(gate, [Asked(WHO, START), *happenings]), at(seconds))


def status(action: GateAction) -> GateStatus | None:
    return action.status if isinstance(action, Close) else None


def test_it_waits_for_the_fallback_at_first() -> None:
    assert after(1) == GateWait(at(120))


def test_two_completions_within_the_window_close_it() -> None:
    action = after(70, complete("ann", 10), complete("ben", 70))
    assert isinstance(action, Close)
    assert (action.status, action.completed_by) == (GateStatus.CONSENSUS, ("ann", "ben"))
    assert (action.due, action.warning) == (at(70), None)


def test_two_completions_further_apart_do_not() -> None:
    assert status(after(72, complete("ann", 10), complete("ben", 70.001))) is None


def test_one_participant_counts_once() -> None:
    assert status(after(20, complete("ann", 10), complete("ann", 20))) is None


def test_a_repeated_signal_refreshes_its_time() -> None:
    signals = (complete("ann", 10), complete("ann", 50), complete("ben", 105))
    assert status(after(105, *signals)) is GateStatus.CONSENSUS


def test_the_silent_are_nudged_after_the_first_completion() -> None:
    assert after(11, complete("ann", 10)) == GateWait(at(40))
    assert after(40, complete("ann", 10)) == Nudge(("ben", "cy"))


def test_nobody_is_nudged_twice_for_the_same_silence() -> None:
    assert after(41, complete("ann", 10), Nudged(("ben", "cy"), at(40))) == GateWait(at(70))


def test_a_completion_that_leaves_the_window_is_nudged_again() -> None:
    nudged = Nudged(("ben", "cy"), at(40))
    assert after(70, complete("ann", 10), nudged) == Nudge(("ann",))
    assert after(71, complete("ann", 10), nudged, Nudged(("ann",), at(70))) == GateWait(at(130))


def test_one_that_wants_a_revision_is_not_nudged() -> None:
    assert after(40, complete("ann", 10), revision("ben", 12)) == Nudge(("cy",))


def test_a_single_completion_closes_it_with_a_warning() -> None:
    action = after(130, complete("ann", 10))
    assert isinstance(action, Close)
    assert (action.status, action.completed_by) == (GateStatus.SINGLE, ("ann",))
    assert (action.warning, action.due) == ("single_agent_completion", at(130))


def test_no_completion_closes_it_incomplete() -> None:
    assert status(after(119.9)) is None
    assert status(after(120)) is GateStatus.INCOMPLETE


def test_a_revision_waits_until_all_have_answered() -> None:
    assert isinstance(after(12, revision("ben", 12)), GateWait)
    action = after(20, complete("ann", 10), revision("ben", 12), revision("cy", 20))
    reasons = {"ben": "ben misses costs", "cy": "cy misses costs"}
    assert action == Revise(("ann",), reasons, at(20))


def test_a_revision_is_due_with_the_fallback_too() -> None:
    action = after(130, complete("ann", 10), revision("ben", 12))
    assert action == Revise(("ann",), {"ben": "ben misses costs"}, at(130))
    assert after(120, revision("ben", 12)) == Revise((), {"ben": "ben misses costs"}, at(120))


def test_enough_completions_close_it_over_a_revision_that_is_kept() -> None:
    action = after(20, revision("ben", 5), complete("ann", 10), complete("cy", 20))
    assert isinstance(action, Close)
    assert (action.status, action.reasons) == (GateStatus.CONSENSUS, {"ben": "ben misses costs"})


def test_who_changes_its_mind_counts_by_its_last_word() -> None:
    assert status(after(20, complete("ann", 10), revision("ann", 15), complete("ben", 20))) is None
    assert status(after(20, revision("ann", 10), complete("ann", 15), complete("ben", 20)))


def test_after_one_revision_it_is_asked_again_and_then_closed_incomplete() -> None:
    first = (revision("ann", 1), complete("ben", 2), revision("cy", 3), Asked(WHO, at(10)))
    assert after(11, *first) == GateWait(at(130))
    assert status(after(13, *first, complete("ann", 12), complete("cy", 13)))
    second = (revision("ann", 12), complete("ben", 13), revision("cy", 14))
    action = after(14, *first, *second)
    assert isinstance(action, Close)
    assert (action.status, action.completed_by) == (GateStatus.INCOMPLETE, ("ben",))
    assert action.reasons == {"ann": "ann misses costs", "cy": "cy misses costs"}


def test_a_completion_after_the_deadline_comes_too_late() -> None:
    for now in (131, 500):
        action = after(now, complete("ann", 10), complete("ben", 130.5))
        assert (status(action), isinstance(action, Close) and action.due) == (
            GateStatus.SINGLE,
            at(130),
        )


def test_it_is_decided_by_when_things_happened_not_when_it_is_asked() -> None:
    assert status(after(9999, complete("ann", 10), complete("ben", 20))) is GateStatus.CONSENSUS


def test_strangers_do_not_count() -> None:
    assert status(after(12, complete("zoe", 10), complete("ann", 11))) is None


def test_a_closed_gate_stays_closed() -> None:
    closed = Closed(GateStatus.SINGLE, at(130))
    late = (complete("ann", 10), closed, complete("ben", 131), Asked(WHO, at(140)))
    assert after(9999, *late) == GateWait(None)


def test_more_completions_than_seats_are_a_fault() -> None:
    seats = tuple(Seat(name, "", "default") for name in WHO)
    meeting = Meeting("mtg_1", "council", 1, "a topic", seats, "default")
    assert gate_faults(meeting) == ()
    assert gate_faults(replace(meeting, completion_gate=CompletionGate(min_completions=3))) == ()
    (fault,) = gate_faults(replace(meeting, completion_gate=CompletionGate(min_completions=4)))
    assert fault.pointer == "#/completion_gate/min_completions"
    assert fault.detail == "4 completions cannot come from 3 participants."


def test_one_completion_can_be_enough() -> None:
    gate = CompletionGate(min_completions=1)
    assert status(after(10, complete("ann", 10), gate=gate)) is GateStatus.CONSENSUS


SIGNALS = st.builds(
    Signal,
    st.sampled_from(WHO),
    st.sampled_from(SignalKind),
    st.just("because"),
    st.integers(0, 300).map(at),
)


@given(st.lists(SIGNALS, max_size=10))
def test_it_closes_at_most_once_whatever_the_order_of_signals(signals: list[Signal]) -> None:
    """Plays a meeting against a clock that only the gate's own actions move."""
    log: list[GateHappening] = [Asked(WHO, START)]
    pending = sorted(signals, key=lambda signal: signal.at)
    now, closes, revisions, steps = START, 0, 0, 0
    while True:
        steps += 1
        assert steps < 200
        action = decide(GateState.of(GATE, log), now)
        match action:
            case GateWait(None):
                break
            case GateWait(until):
                assert until is not None
                assert until > now
                now = min(until, pending[0].at) if pending else until
                while pending and pending[0].at <= now:
                    log.append(pending.pop(0))
            case Nudge(participants):
                log.append(Nudged(participants, now))
            case Revise():
                revisions += 1
                log.append(Asked(WHO, now))
            case Close():
                closes += 1
                log += [Closed(action.status, now), *pending]
    assert closes == 1
    assert revisions <= 1


@given(st.lists(SIGNALS, max_size=8), st.permutations(range(8)), st.integers(0, 500))
def test_neither_log_order_nor_a_late_look_changes_how_it_closes(
    signals: list[Signal], order: list[int], later: int
) -> None:
    distinct = list({(s.participant, s.at): s for s in signals}.values())
    shuffled = [distinct[i] for i in order if i < len(distinct)]
    first = after(300, *distinct)
    assert after(300, *shuffled) == first
    if isinstance(first, Close | Revise):
        assert after(300 + later, *shuffled) == first


@pytest.mark.parametrize(
    ("text", "completion", "fault"),
    [
        ('{"completion": "complete", "reason": "fine"}', "complete", None),
        ('{"completion": " Needs_Revision", "reason": "costs"}', "needs_revision", None),
        (
            '{"completion": "needs_revision"}',
            None,
            Message.of(Code.REVISION_UNEXPLAINED),
        ),
        ('{"completion": "yes"}', None, Message.of(Code.COMPLETION_UNKNOWN, value="yes")),
        ("complete", None, Message.of(Code.NO_OBJECT)),
    ],
)
def test_reading_a_completion(text: str, completion: str | None, fault: Message | None) -> None:
    read = CompletionReading().read(text)
    assert read.values["completion"] == completion
    assert read.fault == fault
    assert CompletionReading().absent(ReplyStatus.ERROR)["completion"] is None


@given(st.text() | st.text().map(lambda text: f'{{"completion": "{text}"}}'))
def test_no_text_makes_it_raise(text: str) -> None:
    CompletionReading().read(text)
