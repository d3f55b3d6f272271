"""Operations of PROTOCOLS 13: what follows on what, and what never does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import cycle, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.operation.deciding import decide
from app.domain.operation.state import (
    LANDING_SECONDS,
    MOST_LATE_LOOKS,
    MOST_WRITES,
    OperationState,
    cut_short,
    is_news,
)
from app.domain.operation.terms import (
    Check,
    Checked,
    Confirmed,
    Failed,
    Fate,
    Finding,
    GivenUp,
    GiveUp,
    HandedOver,
    HandOver,
    Look,
    Operation,
    OperationAction,
    OperationHappening,
    OperationStatus,
    OperationWait,
    Replaced,
    Sent,
    Write,
    WriteAnswer,
    Written,
    compare,
    happening_read,
    happening_record,
    sha256_of,
)
from app.domain.values import rfc3339

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
OURS, OTHERS = sha256_of(b"ours"), sha256_of(b"theirs")
OPERATION = Operation("op_1", "https://wiki.example/a.md", OURS, "ann", START)

STORED, ACCEPTED, EXISTS = Fate.STORED, Fate.ACCEPTED, Fate.EXISTS
DEFERRED, UNSENT, REFUSED, UNCLEAR = Fate.DEFERRED, Fate.UNSENT, Fate.REFUSED, Fate.UNCLEAR
SAME, DIFFERENT, ABSENT, NO_ANSWER = Look.SAME, Look.DIFFERENT, Look.ABSENT, Look.NO_ANSWER


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def sent(seconds: float = 0) -> Sent:
    return Sent(at(seconds))


def written(fate: Fate, seconds: float = 0, reason: str = "", wait: float | None = None) -> Written:
    return Written(at(seconds), WriteAnswer(fate, reason, wait))


def looked(look: Look, seconds: float = 0, wait: float | None = None) -> Checked:
    version = '"v1"' if look is SAME else None
    return Checked(at(seconds), Finding(look, version=version, retry_after=wait))


def state(*happenings: OperationHappening) -> OperationState:
    return OperationState.of(OPERATION, happenings)


def then(seconds: float, *happenings: OperationHappening) -> OperationAction:
    return decide(state(*happenings), at(seconds))


# --- the usual way --------------------------------------------------------------------------------


def test_it_is_written_at_once_whatever_is_there() -> None:
    assert then(0) == Write(only_if_absent=False, patience_seconds=10)
    assert state().status is OperationStatus.REQUESTED


def test_a_write_is_read_back_however_it_was_answered() -> None:
    for fate in (STORED, ACCEPTED, EXISTS, UNCLEAR):
        assert isinstance(then(1, sent(), written(fate, 1)), Check)


def test_the_same_content_there_confirms_it_with_its_version() -> None:
    after = state(sent(), written(STORED, 1), looked(SAME, 2))
    assert (after.status, after.version) == (OperationStatus.CONFIRMED, '"v1"')
    assert decide(after, at(3)) == Confirmed('"v1"')


def test_already_there_and_equal_is_confirmed() -> None:
    assert state(sent(), written(EXISTS, 1), looked(SAME, 1)).status is OperationStatus.CONFIRMED
    assert state(looked(SAME)).status is OperationStatus.CONFIRMED


def test_refused_for_good_is_failed() -> None:
    after = state(sent(), written(REFUSED, 1, "It answered 403."))
    assert (after.status, after.reason) == (OperationStatus.FAILED, "It answered 403.")
    assert decide(after, at(2)) == Failed("It answered 403.")


# --- a lost answer --------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [(), (written(UNCLEAR, 1),)])
def test_a_lost_answer_is_followed_by_a_look(answer: tuple[OperationHappening, ...]) -> None:
    """With ``Written`` missing the process was killed: the log knows only that it was sent."""
    assert isinstance(then(1, sent(), *answer), Check)


def test_a_lost_write_that_was_stored_is_confirmed_without_a_second_one() -> None:
    assert state(sent(), written(UNCLEAR, 1), looked(SAME, 1)).status is OperationStatus.CONFIRMED


def test_with_nothing_there_it_is_written_again_after_a_pause_and_one_more_look() -> None:
    lost = (sent(), written(UNCLEAR, 1), looked(ABSENT, 1))
    assert state(*lost).status is OperationStatus.UNKNOWN
    assert then(1, *lost) == OperationWait(at(1.5))
    assert isinstance(then(1.5, *lost), Check)
    again = then(1.5, *lost, looked(ABSENT, 1.5))
    assert again == Write(only_if_absent=True, patience_seconds=10)


def test_the_pause_that_was_asked_for_is_kept() -> None:
    lost = (sent(), written(UNCLEAR, 1, wait=7), looked(ABSENT, 1))
    assert then(1, *lost) == OperationWait(at(8))
    assert then(2, sent(), written(STORED, 1), looked(NO_ANSWER, 2, wait=9)) == OperationWait(
        at(11)
    )
    assert then(1, sent(), written(DEFERRED, 1, wait=99)) == OperationWait(at(30))


def test_something_else_there_after_a_lost_answer_is_unknown_while_ours_may_land() -> None:
    lost = (sent(), written(UNCLEAR, 1))
    assert state(*lost, looked(DIFFERENT, 1)).status is OperationStatus.UNKNOWN
    assert then(1, *lost, looked(DIFFERENT, 1)) == OperationWait(at(1.5))
    late = state(*lost, looked(DIFFERENT, LANDING_SECONDS))
    assert (late.status, late.reason) == (OperationStatus.FAILED, "Something else is there.")


def test_something_else_there_after_an_answer_that_says_so_is_failed() -> None:
    after = state(sent(), written(EXISTS, 1), looked(DIFFERENT, 1))
    assert (after.status, after.reason) == (OperationStatus.FAILED, "Something else is there.")


# --- something else there, though the write was acknowledged --------------------------------------


def saw(sha256: str, seconds: float, *, asked: bool = False, ours: str | None = None) -> Checked:
    return Checked(at(seconds), Finding(DIFFERENT, sha256=sha256, ours=ours), asked)


ACKNOWLEDGED = (sent(), written(STORED, 1))


def test_what_is_read_right_after_a_write_may_be_stale() -> None:
    stale = (*ACKNOWLEDGED, saw(OTHERS, 1))
    assert state(*stale).status is OperationStatus.UNKNOWN
    assert state(*stale).reason == "Something else is there."
    assert then(1, *stale) == OperationWait(at(1.5))
    assert state(*stale, saw(OTHERS, 2)).status is OperationStatus.UNKNOWN
    assert state(*stale, looked(SAME, 2)).status is OperationStatus.CONFIRMED


def test_the_same_thing_seen_again_at_the_check_deadline_has_failed() -> None:
    stale = (*ACKNOWLEDGED, saw(OTHERS, 1))
    after = state(*stale, saw(OTHERS, 30))
    assert (after.status, after.reason) == (OperationStatus.FAILED, "Something else is there.")
    assert state(*stale, saw(sha256_of(b"x"), 30)).status is OperationStatus.UNKNOWN


def test_seen_only_once_before_the_deadline_passed_it_is_looked_at_once_more() -> None:
    quick = replace(OPERATION, check_deadline_seconds=0.5)
    once = OperationState.of(quick, (*ACKNOWLEDGED, saw(OTHERS, 1)))
    assert decide(once, at(1)) == OperationWait(at(1.5))
    assert isinstance(decide(once, at(1.5)), Check)
    assert once.after(saw(OTHERS, 1.5)).status is OperationStatus.FAILED
    again = once.after(saw(sha256_of(b"x"), 1.5))
    assert isinstance(decide(again, at(1.5)), HandOver)


def test_once_it_can_no_longer_be_stale_one_look_tells() -> None:
    after = state(*ACKNOWLEDGED, saw(OTHERS, LANDING_SECONDS))
    assert after.status is OperationStatus.FAILED


def test_a_refusal_does_not_end_it_while_an_earlier_write_may_land() -> None:
    lost = (sent(), written(UNCLEAR, 0), looked(ABSENT, 0.5))
    twice = (*lost, sent(1), written(REFUSED, 1, "It answered 403."))
    assert state(*twice).status is OperationStatus.UNKNOWN
    assert isinstance(then(1, *twice), Check)
    assert state(*twice, looked(ABSENT, 2)).status is OperationStatus.UNKNOWN
    assert state(*twice, looked(SAME, 2)).status is OperationStatus.CONFIRMED
    after = state(*twice, looked(ABSENT, LANDING_SECONDS))
    assert (after.status, after.reason) == (OperationStatus.FAILED, "It answered 403.")


# --- answers that are sure, or nearly -------------------------------------------------------------


def test_an_acknowledged_write_that_is_not_there_is_looked_for_not_repeated() -> None:
    for fate in (STORED, ACCEPTED):
        told = (sent(), written(fate, 1), looked(ABSENT, 1))
        assert state(*told).status is OperationStatus.UNKNOWN
        assert then(1, *told) == OperationWait(at(1.5))
        assert isinstance(then(9, *told), Check)
        assert state(*told, looked(ABSENT, LANDING_SECONDS + 1)).status is OperationStatus.FAILED


def test_what_is_in_the_way_and_not_there_is_the_answer_itself() -> None:
    after = state(sent(), written(EXISTS, 1, "It answered 409."), looked(ABSENT, 1))
    assert (after.status, after.reason) == (OperationStatus.FAILED, "It answered 409.")


@pytest.mark.parametrize("fate", [DEFERRED, UNSENT])
def test_what_surely_was_not_stored_is_sent_again_without_a_look(fate: Fate) -> None:
    first = (sent(), written(fate, 1, "no way"))
    assert then(1, *first) == OperationWait(at(1.5))
    assert then(1.5, *first) == Write(only_if_absent=False, patience_seconds=10)
    assert state(*first).status is OperationStatus.REQUESTED
    assert then(30, *first) == GiveUp("no way")
    after = state(*first, GivenUp(at(30), "no way"))
    assert (after.status, after.reason) == (OperationStatus.FAILED, "no way")


@pytest.mark.parametrize("fate", [DEFERRED, UNSENT])
def test_but_with_a_look_while_an_earlier_one_is_open(fate: Fate) -> None:
    tried = (sent(), written(UNCLEAR, 0), looked(ABSENT, 1), sent(1), written(fate, 1))
    assert isinstance(then(5, *tried), Check)


def test_with_time_left_a_lost_write_that_can_no_longer_land_is_written_again() -> None:
    patient = replace(OPERATION, check_deadline_seconds=3_600)
    lost = (sent(), written(UNCLEAR, 1), looked(ABSENT, LANDING_SECONDS))
    after = OperationState.of(patient, lost)
    assert after.status is OperationStatus.UNKNOWN
    assert decide(after, at(LANDING_SECONDS)) == Write(only_if_absent=True, patience_seconds=10)


# --- the deadline ---------------------------------------------------------------------------------


def test_at_its_deadline_it_is_looked_at_once_more_and_handed_over() -> None:
    lost = (sent(2), written(STORED, 3), looked(NO_ANSWER, 20))
    assert then(31.9, *lost) == Check(2.0)
    assert isinstance(then(32, *lost), Check)
    last = (*lost, looked(NO_ANSWER, 33))
    hand_over = then(33, *last)
    assert isinstance(hand_over, HandOver)
    assert (hand_over.owner, hand_over.next_check) == ("ann", at(33 + LANDING_SECONDS))
    after = state(*last, HandedOver(at(33), hand_over.next_check))
    assert (after.status, after.next_check) == (OperationStatus.HANDED_OVER, hand_over.next_check)


def test_one_that_passed_while_the_process_was_down_is_looked_at_first() -> None:
    assert isinstance(then(9_999, sent()), Check)
    assert isinstance(then(9_999, sent(), looked(NO_ANSWER, 9_999)), HandOver)
    assert isinstance(then(9_999), Write)


def test_it_never_waits_past_its_deadline() -> None:
    assert then(1, sent(), written(UNCLEAR, 1, wait=600), looked(ABSENT, 1)) == OperationWait(
        at(30)
    )


HANDED = (sent(), written(UNCLEAR, 1), looked(NO_ANSWER, 30), HandedOver(at(30), at(330)))


def test_handed_over_it_is_only_looked_at() -> None:
    assert then(31, *HANDED) == OperationWait(at(330))
    assert isinstance(then(330, *HANDED), Check)
    assert then(331, *HANDED, looked(NO_ANSWER, 330)) == OperationWait(
        at(330 + 2 * LANDING_SECONDS)
    )
    assert state(*HANDED, looked(SAME, 40)).status is OperationStatus.CONFIRMED
    assert state(*HANDED, looked(ABSENT, 40)).status is OperationStatus.HANDED_OVER
    assert state(*HANDED, looked(ABSENT, 330)).status is OperationStatus.FAILED
    assert state(*HANDED, looked(DIFFERENT, 330)).status is OperationStatus.FAILED


def test_looks_after_the_hand_over_come_to_an_end() -> None:
    happenings: list[OperationHappening] = [*HANDED]
    now, looks = at(30), 0
    while True:
        match decide(state(*happenings), now):
            case OperationWait(None):
                break
            case OperationWait(until):
                assert until is not None
                assert now < until <= now + timedelta(days=1)
                now = until
            case Check():
                happenings.append(Checked(now, Finding(NO_ANSWER)))
                looks += 1
            case other:
                pytest.fail(f"unexpected: {other}")
    assert state(*happenings).status is OperationStatus.HANDED_OVER
    assert looks == MOST_LATE_LOOKS
    assert timedelta(days=5) < now - START < timedelta(days=10)
    assert state(*happenings, Checked(now, Finding(SAME))).status is OperationStatus.CONFIRMED


def test_looks_that_were_asked_for_move_no_schedule() -> None:
    asked = Checked(at(40), Finding(NO_ANSWER, "It answered 500."), asked=True)
    after = state(*HANDED, *[asked] * (MOST_LATE_LOOKS + 1))
    assert (after.next_check, after.checks) == (at(330), 0)
    assert after.reason == "It answered 500."
    assert then(331, *HANDED, asked, looked(NO_ANSWER, 330)) == OperationWait(
        at(330 + 2 * LANDING_SECONDS)
    )


def test_a_look_that_shows_what_was_known_is_no_news() -> None:
    before = state(*HANDED)
    assert not is_news(before, Checked(at(40), Finding(NO_ANSWER), asked=True))
    assert is_news(before, Checked(at(40), Finding(NO_ANSWER, "It answered 500."), asked=True))
    assert is_news(before, Checked(at(40), Finding(ABSENT), asked=True))
    absent = state(*HANDED, looked(ABSENT, 40))
    assert not is_news(absent, Checked(at(41), Finding(ABSENT), asked=True))
    assert is_news(absent, Checked(at(LANDING_SECONDS), Finding(ABSENT), asked=True))


def test_however_long_its_check_deadline_is_the_looks_stay_few() -> None:
    week = replace(OPERATION, check_deadline_seconds=7 * 86_400)
    happenings: list[OperationHappening] = [sent(), written(UNCLEAR, 1)]
    now = at(1)
    for looks in range(200):
        match decide(OperationState.of(week, happenings), now):
            case Check():
                happenings.append(Checked(now, Finding(NO_ANSWER)))
            case OperationWait(until):
                assert until is not None
                now = until
            case HandOver():
                assert looks > 50
                return
            case other:
                pytest.fail(f"unexpected: {other}")
    pytest.fail("too many looks")


# --- two saves of one meeting at one place --------------------------------------------------------

CONFIRMED = (*ACKNOWLEDGED, looked(SAME, 2))


def test_a_confirmed_one_over_which_an_earlier_one_lands_is_handed_over_again() -> None:
    over = Replaced(at(9), "op_0", in_turn=False)
    after = state(*CONFIRMED, over)
    assert (after.status, after.there_instead) == (OperationStatus.HANDED_OVER, "op_0")
    assert (after.version, after.reason) == (None, "What is there was saved by op_0.")
    assert then(10, *CONFIRMED, over) == OperationWait(at(9 + LANDING_SECONDS))
    late = 9 + LANDING_SECONDS
    assert isinstance(then(late, *CONFIRMED, over), Check)
    gone = state(*CONFIRMED, over, saw(OTHERS, late, ours="op_0"))
    assert (gone.status, gone.there_instead) == (OperationStatus.FAILED, "op_0")
    back = state(*CONFIRMED, over, looked(SAME, late))
    assert (back.status, back.there_instead) == (OperationStatus.CONFIRMED, None)


def test_one_that_was_replaced_in_turn_stays_confirmed_and_says_so() -> None:
    after = state(*CONFIRMED, Replaced(at(9), "op_2", in_turn=True))
    assert (after.status, after.there_instead) == (OperationStatus.CONFIRMED, "op_2")
    assert after.reason == "What is there was saved by op_2."


def test_one_that_cannot_land_any_more_and_was_replaced_says_by_what() -> None:
    lost = (sent(), written(UNCLEAR, 1))
    early = state(*lost, saw(OTHERS, 9, ours="op_2"))
    assert (early.status, early.there_instead) == (OperationStatus.UNKNOWN, "op_2")
    after = state(*lost, saw(OTHERS, LANDING_SECONDS, ours="op_2"))
    assert (after.status, after.there_instead) == (OperationStatus.FAILED, "op_2")
    assert after.reason == "What is there was saved by op_2."


def test_only_what_was_confirmed_can_be_replaced() -> None:
    for so_far in ((), (sent(),), HANDED, (sent(), written(REFUSED))):
        before = state(*so_far)
        assert before.after(Replaced(at(9), "op_0", in_turn=False)) == before


def test_only_writes_that_left_are_counted() -> None:
    kept_in = Written(at(1), WriteAnswer(UNSENT, left=False))
    assert state(sent(), kept_in).record()["writes"] == 0
    assert state(sent(), kept_in, sent(2)).record()["writes"] == 1
    assert state(sent(), written(REFUSED)).record()["writes"] == 1


# --- what may never be ----------------------------------------------------------------------------

SECONDS = st.integers(0, 1_000)
ANSWERS = st.builds(WriteAnswer, st.sampled_from(Fate), st.just("why"), st.none() | SECONDS)
FINDINGS = st.builds(Finding, st.sampled_from(Look), st.just(""), st.none(), st.none() | SECONDS)
HAPPENINGS: st.SearchStrategy[OperationHappening] = st.one_of(
    st.builds(Sent, SECONDS.map(at)),
    st.builds(Written, SECONDS.map(at), ANSWERS),
    st.builds(Checked, SECONDS.map(at), FINDINGS),
    st.builds(HandedOver, SECONDS.map(at), SECONDS.map(at)),
    st.builds(GivenUp, SECONDS.map(at), st.just("why")),
)
REPLACED = st.builds(Replaced, SECONDS.map(at), st.just("op_0"), st.booleans())


@given(st.lists(HAPPENINGS, max_size=12), HAPPENINGS, SECONDS)
def test_ends_stay(
    happenings: list[OperationHappening], more: OperationHappening, seconds: int
) -> None:
    before = state(*happenings)
    if before.ended:
        assert before.after(more) == before
        assert isinstance(decide(before, at(seconds)), Confirmed | Failed)


@given(st.lists(HAPPENINGS, max_size=12), HAPPENINGS)
def test_unknown_never_turns_back_into_requested(
    happenings: list[OperationHappening], more: OperationHappening
) -> None:
    before = state(*happenings)
    if before.status is not OperationStatus.REQUESTED:
        assert before.after(more).status is not OperationStatus.REQUESTED
    if before.status is OperationStatus.HANDED_OVER:
        assert before.after(more).status is not OperationStatus.UNKNOWN


@given(st.lists(HAPPENINGS, max_size=8), SECONDS)
def test_no_write_follows_an_open_one_without_a_look_that_found_nothing(
    happenings: list[OperationHappening], seconds: int
) -> None:
    before = state(*happenings)
    if isinstance(decide(before, at(seconds)), Write) and before.open_since is not None:
        assert before.checked is not None
        assert before.checked.finding.look is ABSENT


def play(
    answers: Iterator[WriteAnswer | None], findings: Iterator[Finding]
) -> list[OperationHappening]:
    """What a coordinator would do until the hand-over or the end, with a clock that jumps."""
    log: list[OperationHappening] = []
    now = START
    for _ in range(500):
        action = decide(state(*log), now)
        match action:
            case Write():
                log.append(Sent(now))
                answer = next(answers)
                now += timedelta(seconds=0.25)
                if answer is not None:  # else: killed before it came
                    log.append(Written(now, answer))
            case Check():
                now += timedelta(seconds=0.25)
                log.append(Checked(now, next(findings)))
            case OperationWait(until):
                assert until is None or until > now
                if until is None or state(*log).status is OperationStatus.HANDED_OVER:
                    return log
                now = until
            case HandOver(_, next_check):
                log.append(HandedOver(now, next_check))
            case GiveUp(reason):
                log.append(GivenUp(now, reason))
            case Confirmed() | Failed():
                return log
    raise AssertionError("it never came to an end")


@given(
    st.lists(st.none() | ANSWERS, min_size=1, max_size=6),
    st.lists(FINDINGS, min_size=1, max_size=6),
)
def test_every_run_ends_and_writes_again_only_when_it_may(
    answers: list[WriteAnswer | None], findings: list[Finding]
) -> None:
    log = play(cycle(answers), cycle(findings))
    final = state(*log)
    assert final.ended or final.status is OperationStatus.HANDED_OVER
    assert final.writes <= MOST_WRITES
    doubt = False
    for position, happening in enumerate(log):
        earlier = log[:position]
        match happening:
            case Sent() if earlier:
                look = earlier[-1]
                assert not doubt or (isinstance(look, Checked) and look.finding.look is ABSENT), (
                    "a second write while the first one's fate was open"
                )
                assert not any(
                    isinstance(h, Written) and h.answer.fate is STORED for h in earlier
                ), "an acknowledged write was repeated"
            case HandedOver(moment, _):
                assert moment >= START + timedelta(seconds=30)
                assert isinstance(earlier[-1], Checked)
            case GivenUp():
                assert not doubt
            case _:
                pass
        if isinstance(happening, Sent):
            following = log[position + 1] if position + 1 < len(log) else None
            answered = following.answer.fate if isinstance(following, Written) else None
            doubt = doubt or answered is None or answered in (UNCLEAR, ACCEPTED)


@given(st.lists(HAPPENINGS | REPLACED, max_size=10))
def test_what_happened_can_be_written_and_read_back(happenings: list[OperationHappening]) -> None:
    kept = [(json.dumps(happening_record(each)), each.at) for each in happenings]
    assert [happening_read(json.loads(text), when) for text, when in kept] == happenings


def test_what_never_happened_cannot_be_read() -> None:
    with pytest.raises(ValueError, match="exploded"):
        happening_read({"happened": "exploded"}, START)


def test_half_a_log_then_the_rest_equals_all_of_it() -> None:
    log = play(cycle([WriteAnswer(UNCLEAR)]), cycle([Finding(ABSENT), Finding(NO_ANSWER)]))
    for cut in range(len(log)):
        half = OperationState.of(OPERATION, log[:cut])
        for happening in log[cut:]:
            half = half.after(happening)
        assert half == state(*log)


def test_every_state_takes_every_happening() -> None:
    moments = [HANDED, (), (sent(),), (sent(), written(UNCLEAR)), (sent(), written(REFUSED))]
    happenings: list[OperationHappening] = [
        sent(5),
        HandedOver(at(5), at(9)),
        GivenUp(at(5), "why"),
    ]
    happenings += [written(fate, 5) for fate in Fate] + [looked(look, 5) for look in Look]
    for before, happening in product(moments, happenings):
        decide(state(*before, happening), at(6))


# --- content --------------------------------------------------------------------------------------


def test_the_digest_is_sha_256() -> None:
    assert sha256_of("決定".encode()) == sha256("決定".encode()).hexdigest()


@pytest.mark.parametrize(
    ("seen", "claimed", "look"),
    [
        (OURS, None, SAME),
        (OURS, OURS, SAME),
        (OURS, OTHERS, SAME),
        (OTHERS, OURS, DIFFERENT),
        (OTHERS, None, DIFFERENT),
        (None, OURS, SAME),
        (None, OTHERS, DIFFERENT),
        (None, None, NO_ANSWER),
    ],
)
def test_bytes_count_before_claims(seen: str | None, claimed: str | None, look: Look) -> None:
    assert compare(OURS, seen, claimed) is look


def test_an_operation_can_be_written_and_read_back() -> None:
    assert Operation.read(json.loads(json.dumps(OPERATION.record()))) == OPERATION


def test_what_callers_see_of_it() -> None:
    assert json.loads(json.dumps(state(*HANDED).record())) == {
        "id": "op_1",
        "url": "https://wiki.example/a.md",
        "subject": "deliverable",
        "state": "handed_over",
        "sha256": OURS,
        "version": None,
        "reason": None,
        "there_instead": None,
        "owner": "ann",
        "requested_at": rfc3339(START),
        "writes": 1,
        "check_deadline_seconds": 30,
        "check_deadline": rfc3339(at(30)),
        "next_check_at": rfc3339(at(330)),
    }


# --- cut short -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("so_far", "status"),
    [
        ((), OperationStatus.FAILED),
        ((sent(),), OperationStatus.UNKNOWN),
        ((sent(), written(UNCLEAR)), OperationStatus.UNKNOWN),
        ((sent(), written(STORED)), OperationStatus.UNKNOWN),
        ((sent(), written(EXISTS)), OperationStatus.UNKNOWN),
        ((sent(), written(UNCLEAR), looked(ABSENT)), OperationStatus.UNKNOWN),
        ((sent(), written(UNCLEAR), looked(ABSENT), sent(2)), OperationStatus.UNKNOWN),
        ((sent(), written(DEFERRED)), OperationStatus.FAILED),
        ((sent(), written(UNSENT)), OperationStatus.FAILED),
        ((sent(), written(DEFERRED), sent(2)), OperationStatus.UNKNOWN),
        (
            (sent(), written(UNCLEAR), looked(ABSENT), sent(2), written(DEFERRED)),
            OperationStatus.UNKNOWN,
        ),
    ],
)
def test_what_may_be_there_is_unknown_and_what_surely_is_not_has_failed(
    so_far: tuple[OperationHappening, ...], status: OperationStatus
) -> None:
    before = state(*so_far)
    last = cut_short(before, at(5), "It was cancelled.")
    after = before if last is None else before.after(last)
    assert after.status is status
    assert cut_short(after, at(5), "It was cancelled.") is None
    assert last is None or "It was cancelled." in after.reason


@pytest.mark.parametrize(
    "so_far", [(sent(), looked(SAME)), (sent(), written(REFUSED)), HANDED], ids=str
)
def test_what_is_settled_is_not_cut_short(so_far: tuple[OperationHappening, ...]) -> None:
    assert cut_short(state(*so_far), at(5), "It was cancelled.") is None
