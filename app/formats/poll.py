"""The poll (PROTOCOLS 6).

Everybody answers the same problem in the same shape, alone, each under another framing. Plain
code counts the answers that can be read; of recommendations the secretary says which belong
together, or their wording does. There is one pass and no talk, and a tie stays a tie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain import events
from app.domain.ballot import RankingReading
from app.domain.cut_short import cut_short, limits_met
from app.domain.grouping import GroupingReading
from app.domain.meeting import SECRETARY, Json, Meeting, Seat
from app.domain.outcome import (
    DecidedBy,
    Degradation,
    Dissent,
    Outcome,
    StopReason,
    first_to_count,
)
from app.domain.poll_ballots import (
    MOST_RECOMMENDATIONS,
    MOST_TITLE_CHARACTERS,
    BinaryReading,
    RecommendationReading,
    ScoringReading,
)
from app.domain.poll_record import (
    Grouping,
    PollCount,
    by_wording,
    count_poll,
    excluded,
    poll_dissents,
    poll_numbers,
    recommendations_in,
)
from app.domain.poll_rules import Output, PollRules, output_of, poll_faults
from app.domain.polling import BinaryCount, framings
from app.domain.progress import FIRST_ROUND
from app.domain.recommending import Recommendation
from app.domain.reply_text import clean
from app.domain.shuffling import shuffled
from app.domain.steps import Ask, Conversation, Part, Reading, Reply, Stopped, consult, gather, note
from app.formats.closing import missing_replies, plan_gate
from app.formats.counted import confirm, result_of_count, unconfirmed
from app.formats.format import Format, PlannedAsk, longest
from app.formats.rounds import Ending

_ONLY_ROUND = 1
_USUAL_SEATS = 10
_USUAL_BINARY_SEATS = 5
_MOST_WHY_CHARACTERS = 300
"""Of the reasons for one recommendation, in what the secretary is shown."""


@dataclass(slots=True)
class _Poll:
    """What is known so far."""

    meeting: Meeting
    replies: tuple[Reply, ...] = ()
    grouping: Grouping | None = None
    secretary_failed: str | None = None
    """Why the secretary did not group the recommendations, if it should have."""

    @property
    def output(self) -> Output:
        return output_of(self.meeting.rules)

    @property
    def question(self) -> str:
        return self.meeting.motion or self.meeting.topic

    @property
    def count(self) -> PollCount | None:
        return count_poll(self.meeting, self.replies, self.grouping)


def hold(meeting: Meeting) -> Conversation:
    poll = _Poll(meeting)
    try:
        ending = Ending((yield from _ask_everybody(poll)))
    except Stopped as stopped:
        ending = Ending(stopped.reason)
    count = poll.count
    if ending.stopped_by is StopReason.COMPLETED and count is not None and count.leader is not None:
        ending = yield from confirm(meeting, count.leader, _ONLY_ROUND)
    return _outcome(poll, ending, count)


def _ask_everybody(poll: _Poll) -> Part[StopReason]:
    number, motion = _ONLY_ROUND, poll.meeting.motion
    yield from note(f"round-{number}/start", events.ROUND_STARTED, round=number, motion=motion)
    poll.replies = yield from gather(*_questions(poll.meeting))
    if poll.output == "recommendation":
        yield from _group(poll)
    count = poll.count
    yield from _tell(poll, count)
    if count is None:
        return cut_short(poll.replies) or StopReason.COMPLETED
    if count.leader is None:
        return first_to_count(limits_met(poll.replies)) or StopReason.COMPLETED
    return StopReason.COMPLETED


def _tell(poll: _Poll, count: PollCount | None) -> Part[None]:
    number = _ONLY_ROUND
    if count is not None:
        method = {} if poll.grouping is None else {"method": poll.grouping.method}
        yield from note(
            f"round-{number}/tally",
            events.TALLY_COMPUTED,
            round=number,
            **count.record(),
            **method,
            excluded=excluded(poll.replies),
        )
    yield from note(
        f"round-{number}/close",
        events.ROUND_CLOSED,
        round=number,
        motion=poll.meeting.motion,
        ballots={reply.who: reply.values["ballot"] for reply in poll.replies},
        counts=_counts(count),
        consensus=None,
        progress=FIRST_ROUND.record(),
        effective_participants=count.effective if count else 0,
    )


def _counts(count: PollCount | None) -> dict[str, Json] | None:
    """How many gave each answer, where answers can be told apart as they stand."""
    return {"YES": count.yes, "NO": count.no} if isinstance(count, BinaryCount) else None


# --- what is asked ------------------------------------------------------------------------------


def _questions(meeting: Meeting) -> list[Ask]:
    output = output_of(meeting.rules)
    return [
        Ask(
            f"round-{_ONLY_ROUND}/ask/{seat.name}",
            seat.name,
            _ONLY_ROUND,
            f"poll/{output}",
            _variables(meeting, seat),
            _reading(meeting, output),
        )
        for seat in meeting.seats
    ]


def _variables(meeting: Meeting, seat: Seat) -> dict[str, Json]:
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "motion": meeting.motion or "",
        "options": shuffled(meeting.options, meeting.id, seat.name, "options"),
        "criteria": [{"id": each.id, "text": each.text} for each in meeting.criteria],
        "name": seat.name,
        "role": seat.role,
        "label": meeting.label(seat.name),
    }


def _reading(meeting: Meeting, output: Output) -> Reading:
    match output:
        case "ranking":
            return RankingReading(meeting.options)
        case "recommendation":
            return RecommendationReading()
        case "binary":
            return BinaryReading()
        case "scoring":
            return ScoringReading(meeting.options, tuple(each.id for each in meeting.criteria))


def _group(poll: _Poll) -> Part[None]:
    """Which recommendations belong together: the secretary says, or else their wording does.

    Nothing can be counted without it, so it may draw on the closing reserve.
    """
    every = recommendations_in(poll.replies)
    if not every:
        return
    reply = yield from consult(
        Ask(
            f"round-{_ONLY_ROUND}/group",
            SECRETARY,
            _ONLY_ROUND,
            "secretary/group",
            {"topic": poll.meeting.topic, "recommendations": _numbered(every)},
            GroupingReading(len(every)),
            office=SECRETARY,
            closing=True,
        )
    )
    if reply.usable:
        poll.grouping = Grouping(reply.values["groups"], "secretary")
    else:
        poll.grouping = by_wording(every)
        poll.secretary_failed = reply.reason or reply.status.value


def _numbered(recommendations: list[Recommendation]) -> list[Json]:
    return [
        {"number": number, "title": each.title, "why": clean(each.why, _MOST_WHY_CHARACTERS)}
        for number, each in enumerate(recommendations)
    ]


# --- the end ------------------------------------------------------------------------------------


def _outcome(poll: _Poll, ending: Ending, count: PollCount | None) -> Outcome:
    meeting = poll.meeting
    completed = ending.stopped_by is StopReason.COMPLETED
    leader = count.leader if count and completed else None
    result, completeness = result_of_count(meeting, ending, decided=leader is not None)
    # A group's title is one respondent's wording of what several said, not a given option.
    source = "synthesis" if poll.output == "recommendation" else "option"
    return Outcome(
        result=result,
        stopped_by=ending.stopped_by,
        completeness=completeness,
        decision=leader,
        decision_source=source if leader else None,
        decided_by=DecidedBy("poll", poll.output, poll.question) if leader else None,
        effective_participants=count.effective if count else 0,
        dissents=_dissents(poll, count, leader) + ending.dissents(),
        numbers_name="poll",
        numbers=_numbers(poll, count),
        findings=_findings(poll, ending, count),
        degradation=_degradation(poll, ending, decided=leader is not None),
    )


def _dissents(poll: _Poll, count: PollCount | None, leader: str | None) -> tuple[Dissent, ...]:
    if count is None or leader is None:
        return ()
    return poll_dissents(poll.replies, poll.output, count, leader)


def _numbers(poll: _Poll, count: PollCount | None) -> dict[str, Json]:
    method = None if poll.grouping is None else poll.grouping.method
    return poll_numbers(poll.meeting, poll.replies, count, method)


def _findings(poll: _Poll, ending: Ending, count: PollCount | None) -> dict[str, Json]:
    """One pass: the first tally is the last, and nobody could change position."""
    view = None
    if count is not None:
        counted = {"round": _ONLY_ROUND, "motion": poll.meeting.motion, "counts": _counts(count)}
        view = {**count.record(), **counted, "consensus": None}
    return {
        "baseline": view,
        "final": view,
        "flips": [],
        "unexplained_flips": 0,
        "reservations": [],
        **ending.findings(),
    }


def _degradation(poll: _Poll, ending: Ending, *, decided: bool) -> tuple[Degradation, ...]:
    found = missing_replies([poll.replies])
    if poll.secretary_failed is not None:
        found += (Degradation("grouped_by_wording", detail=poll.secretary_failed),)
    return found + unconfirmed(poll.meeting, ending, decided=decided)


# --- beforehand ---------------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the poll, with texts as long as they can become."""
    seats = len(meeting.seats)
    ask = max(_questions(meeting), key=lambda ask: len(str(ask.variables)))
    planned = (PlannedAsk(ask.template, ask.variables, seats, seats),)
    output = output_of(meeting.rules)
    decision = max(meeting.options, key=lambda text: len(text.encode()), default="YES")
    if output == "recommendation":
        decision = longest(MOST_TITLE_CHARACTERS)
        planned += (PlannedAsk("secretary/group", _most_grouped(meeting), 1, 1, SECRETARY),)
    return planned if meeting.completion_gate is None else planned + plan_gate(meeting, decision)


def _most_grouped(meeting: Meeting) -> dict[str, Json]:
    most = [
        {
            "number": number,
            "title": longest(MOST_TITLE_CHARACTERS),
            "why": longest(_MOST_WHY_CHARACTERS),
        }
        for number in range(MOST_RECOMMENDATIONS * len(meeting.seats))
    ]
    return {"topic": meeting.topic, "recommendations": most}


def _perspectives(topic: str, rules: Mapping[str, Json], count: int) -> tuple[str, ...]:
    del topic, rules
    return framings(count)


def _usual_seats(rules: Mapping[str, Json]) -> int:
    return _USUAL_BINARY_SEATS if output_of(rules) == "binary" else _USUAL_SEATS


FORMAT = Format(
    name="poll",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=_perspectives,
    rules=PollRules,
    usual_seats=_usual_seats,
    faults=poll_faults,
    fewest_seats=3,
    fills_roles=True,
    uses=frozenset({"options", "criteria"}),
)
