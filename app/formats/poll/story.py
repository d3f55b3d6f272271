"""The poll (PROTOCOLS 6).

Everybody answers the same problem in the same shape, alone, each under another framing. Plain
code counts the answers that can be read; of recommendations the secretary says which belong
together, or their wording does. There is one pass and no talk, and a tie stays a tie. Resumed
after a pass that showed no clear leader, everybody is asked again, as alone as before, and the
latest pass counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.meeting.events import TallyComputed
from app.domain.meeting.meeting import Meeting
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
from app.domain.rounds.flips import flips
from app.domain.rounds.progress import FIRST_ROUND, Progress
from app.domain.steps import Conversation, Part, consult, gather, note
from app.domain.values import Json
from app.formats.poll.findings import (
    Grouping,
    PollCount,
    by_wording,
    count_poll,
    excluded,
    poll_dissents,
    poll_numbers,
    poll_positions,
    recommendations_in,
)
from app.formats.poll.polling import BinaryCount, framings
from app.formats.poll.questions import grouping_question, plan, questions
from app.formats.poll.record import PollRecord
from app.formats.poll.rules import Output, PollRules, output_of, poll_faults
from app.formats.shared.ending import Ending, Found, confirm_count, gate_dissents, outcome_of
from app.formats.shared.format import Format
from app.formats.shared.round_events import tell_close, tell_start
from app.formats.shared.stops import cut_short, limits_met, rounds_used_up, until_stopped

_USUAL_SEATS = 10
_USUAL_BINARY_SEATS = 5


@dataclass(slots=True)
class _Pass:
    """One asking of everybody.

    ``secretary_failed`` is why the secretary did not group the recommendations, if it should have.
    """

    meeting: Meeting
    replies: tuple[Reply, ...]
    grouping: Grouping | None = None
    secretary_failed: str | None = None

    @property
    def number(self) -> int:
        return self.replies[0].round

    @property
    def count(self) -> PollCount | None:
        return count_poll(self.meeting, self.replies, self.grouping)


@dataclass(slots=True)
class _Poll:
    """What is known so far."""

    meeting: Meeting
    passes: list[_Pass] = field(default_factory=list[_Pass])

    @property
    def last(self) -> _Pass | None:
        return self.passes[-1] if self.passes else None

    @property
    def replies(self) -> tuple[Reply, ...]:
        return self.last.replies if self.last else ()

    @property
    def output(self) -> Output:
        return output_of(self.meeting.rules)

    @property
    def question(self) -> str:
        return self.meeting.motion or self.meeting.topic

    @property
    def count(self) -> PollCount | None:
        return self.last.count if self.last else None


def hold(meeting: Meeting) -> Conversation:
    poll = _Poll(meeting)
    stopped_by = yield from until_stopped(_ask(poll))
    ending, count = Ending(stopped_by, counts=True), poll.count
    if stopped_by is StopReason.COMPLETED and count is not None and count.leader is not None:
        ending = yield from confirm_count(meeting, count.leader, len(poll.passes))
    return _outcome(poll, ending, count)


def _ask(poll: _Poll) -> Part[StopReason]:
    """One pass, and one more after each resuming of a poll that had ended without a leader."""
    while True:
        asked = yield from _ask_everybody(poll)
        if asked.number > poll.meeting.resumed_after:
            return _stop_of(asked)
        if asked.count is not None and asked.count.leader is not None:
            return StopReason.COMPLETED
        if rounds_used_up(poll.meeting, asked.number):
            return StopReason.ROUNDS


def _stop_of(asked: _Pass) -> StopReason:
    """What ended a pass: a limit that may have kept a leader out, or nothing but its end."""
    if asked.count is None:
        return cut_short(asked.replies) or StopReason.COMPLETED
    if asked.count.leader is None:
        return first_to_count(limits_met(asked.replies)) or StopReason.COMPLETED
    return StopReason.COMPLETED


def _ask_everybody(poll: _Poll) -> Part[_Pass]:
    number, motion = len(poll.passes) + 1, poll.meeting.motion
    yield from tell_start(number, motion)
    replies = yield from gather(*questions(poll.meeting, number))
    asked, before = _Pass(poll.meeting, replies), poll.last
    poll.passes.append(asked)
    if poll.output == "recommendation":
        yield from _group(asked)
    yield from _tell(asked, _progress(poll, before, asked))
    return asked


def _group(asked: _Pass) -> Part[None]:
    """Which recommendations belong together: the secretary says, or else their wording does."""
    every = recommendations_in(asked.replies)
    if not every:
        return
    reply = yield from consult(grouping_question(asked.meeting, asked.number, every))
    if reply.usable:
        asked.grouping = Grouping(reply.values["groups"], "secretary")
    else:
        asked.grouping = by_wording(every)
        asked.secretary_failed = reply.reason or reply.status.value


def _progress(poll: _Poll, before: _Pass | None, asked: _Pass) -> Progress:
    """What came out otherwise than in the pass before; the first has nothing to compare with."""
    if before is None:
        return FIRST_ROUND
    was, is_ = (poll_positions(each.replies, poll.output) for each in (before, asked))
    both = [name for name, position in is_.items() if position.stands and was[name].stands]
    changed = (name for name in both if was[name].value != is_[name].value)
    return Progress(tuple(f"vote_changed:{name}" for name in changed))


def _tell(asked: _Pass, progress: Progress) -> Part[None]:
    number, count = asked.number, asked.count
    if count is not None:
        method = {} if asked.grouping is None else {"method": asked.grouping.method}
        tally = {**count.record(), **method, "excluded": excluded(asked.replies)}
        yield from note(f"round-{number}/tally", TallyComputed(round=number, tally=tally))
    yield from tell_close(
        number,
        asked.replies,
        motion=asked.meeting.motion,
        counts=_counts(count),
        progress=progress,
        details={"ballots": {reply.who: reply.values["ballot"] for reply in asked.replies}},
    )


def _counts(count: PollCount | None) -> dict[str, Json] | None:
    """How many gave each answer, where answers can be told apart as they stand."""
    return {"YES": count.yes, "NO": count.no} if isinstance(count, BinaryCount) else None


# --- the end ------------------------------------------------------------------------------------


def _outcome(poll: _Poll, ending: Ending, count: PollCount | None) -> Outcome:
    completed = ending.stopped_by is StopReason.COMPLETED
    leader = count.leader if count and completed else None
    found = Found(
        numbers_name="poll",
        numbers=_numbers(poll, count),
        heard=[asked.replies for asked in poll.passes],
        decision=None if leader is None else (leader, _source(poll)),
        decided_by=DecidedBy("poll", poll.output, poll.question),
        effective=count.effective if count else 0,
        dissents=_dissents(poll, count, leader) + gate_dissents(ending.closing),
        findings=_findings(poll),
        counted=poll.replies,
        weaknesses=_weaknesses(poll),
    )
    return outcome_of(poll.meeting, ending, found)


def _source(poll: _Poll) -> DecisionSource:
    # A group's title is one respondent's wording of what several said, not a given option.
    return "synthesis" if poll.output == "recommendation" else "option"


def _dissents(poll: _Poll, count: PollCount | None, leader: str | None) -> tuple[Dissent, ...]:
    if count is None or leader is None:
        return ()
    return poll_dissents(poll.replies, poll.output, count, leader)


def _numbers(poll: _Poll, count: PollCount | None) -> dict[str, Json]:
    grouping = poll.last and poll.last.grouping
    method = None if grouping is None else grouping.method
    return poll_numbers(poll.meeting, poll.replies, count, method)


def _findings(poll: _Poll) -> dict[str, Json]:
    """The first pass beside the latest. Where there was one, nobody could change position."""
    changed = flips([poll_positions(asked.replies, poll.output) for asked in poll.passes])
    return {
        "baseline": _view(poll.passes[0]) if poll.passes else None,
        "final": _view(poll.passes[-1]) if poll.passes else None,
        "flips": [flip.record() for flip in changed],
        "unexplained_flips": len(changed),
        "reservations": [],
    }


def _view(asked: _Pass) -> dict[str, Json] | None:
    count = asked.count
    if count is None:
        return None
    counted = {"round": asked.number, "motion": asked.meeting.motion, "counts": _counts(count)}
    return {**count.record(), **counted, "consensus": None}


def _weaknesses(poll: _Poll) -> tuple[Degradation, ...]:
    if poll.last is None or poll.last.secretary_failed is None:
        return ()
    return (Degradation("grouped_by_wording", detail=poll.last.secretary_failed),)


def _usual_seats(rules: Mapping[str, Json]) -> int:
    return _USUAL_BINARY_SEATS if output_of(rules) == "binary" else _USUAL_SEATS


FORMAT = Format(
    name="poll",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=lambda topic, rules, count: framings(count),
    rules=PollRules,
    usual_seats=_usual_seats,
    faults=poll_faults,
    fewest_seats=3,
    fills_roles=True,
    uses=frozenset({"options", "criteria"}),
    package=__package__,
    record=PollRecord(),
)
