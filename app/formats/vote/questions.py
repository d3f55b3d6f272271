"""What a vote asks and shows, and the largest that this can become.

Each function takes the ballots that it goes by, and knows nothing of the ladder that is climbed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.ending.arbitration import Choice
from app.domain.meeting.meeting import Meeting, Seat
from app.domain.replies.ballot import ABSTAIN, RankingReading, VoteReading
from app.domain.replies.reading import Reading, Reply
from app.domain.replies.text import clean, without_thinking
from app.domain.steps import Ask
from app.domain.values import Json
from app.formats.shared.arbitrating import Matter, plan_ruling
from app.formats.shared.closing import plan_gate
from app.formats.shared.format import PlannedAsk, longest, seen_by
from app.formats.shared.planning import heaviest_option, most_shown
from app.formats.shared.shuffling import shuffled
from app.formats.vote.arguments import RebuttalReading, answers_the_others, shown_to
from app.formats.vote.balloting import Balloting
from app.formats.vote.counting import Protocol, Rules
from app.formats.vote.findings import MOST_ARGUED_CHARACTERS, argued, question_of
from app.formats.vote.rules import ladder, revotes

_DELIBERATE = "vote/deliberate"

_MOST_RATIONALE_CHARACTERS = 1_000
_MOST_REBUTTAL_CHARACTERS = 2_000
"""Of one voter's words, in what another is shown."""


# --- the voters ---------------------------------------------------------------------------------


def ballot_questions(
    meeting: Meeting, last: Balloting | None = None, talk: Sequence[Reply] = ()
) -> list[Ask]:
    """A ballot for everybody. ``talk`` is what was answered to the reasons given with the last."""
    number, rules = _next(last), Rules.read(meeting.rules)
    template = "vote/ranking" if _ranked(rules) else "vote/ballot"
    answers = {reply.who: _rebuttal(reply) for reply in talk}
    return [
        Ask(
            f"round-{number}/ask/{seat.name}",
            seat.name,
            number,
            template,
            _shared_variables(meeting, seat, last)
            | {
                "abstention_accepted": rules.abstention_accepted,
                "own_answer": answers.get(seat.name, ""),
                "others": [
                    {**shown, "answer": answers.get(voter, "")}
                    for voter, shown in _others(meeting, seat, last)
                ],
            },
            _reading(meeting, rules),
        )
        for seat in meeting.seats
    ]


def deliberation_questions(meeting: Meeting, last: Balloting) -> list[Ask]:
    """Who has to answer the reasons of the others, and which."""
    number = _next(last)
    return [
        Ask(
            f"round-{number}/deliberate/{seat.name}",
            seat.name,
            number,
            _DELIBERATE,
            _shared_variables(meeting, seat, last)
            | {"others": [shown for _, shown in _others(meeting, seat, last)]},
            RebuttalReading(),
        )
        for seat in meeting.seats
        if answers_the_others(last.choices.get(seat.name), last.tally)
    ]


def _next(last: Balloting | None) -> int:
    return 1 if last is None else last.number + 1


def _ranked(rules: Rules) -> bool:
    return rules.protocol is Protocol.RANKED


def _reading(meeting: Meeting, rules: Rules) -> Reading:
    options, accepted = meeting.options, rules.abstention_accepted
    if _ranked(rules):
        return RankingReading(options, abstention_accepted=accepted)
    return VoteReading(options, abstention_accepted=accepted)


# --- what they are shown ------------------------------------------------------------------------


def _shared_variables(meeting: Meeting, seat: Seat, last: Balloting | None) -> dict[str, Json]:
    """What every question of a vote shows; never how many stand where."""
    return {
        **seen_by(meeting, seat),
        "motion": meeting.motion or "",
        "options": shuffled(meeting.options, meeting.id, seat.name, "options"),
        "round": _next(last),
        **_last_ballot(last, seat),
    }


def _last_ballot(last: Balloting | None, seat: Seat) -> dict[str, Json]:
    """A voter's own last ballot: whoever answers next may not remember it."""
    ballot = last.ballots.get(seat.name) if last else None
    if last is None or ballot is None:
        return {"last_vote": "", "last_rationale": ""}
    (reply,) = (reply for reply in last.replies if reply.who == seat.name)
    ranked = " > ".join(ballot.ranking)
    return {
        "last_vote": ranked or ballot.option or ABSTAIN,
        "last_rationale": clean(reply.values["rationale"], _MOST_RATIONALE_CHARACTERS),
    }


def _others(
    meeting: Meeting, seat: Seat, last: Balloting | None
) -> list[tuple[str, dict[str, Json]]]:
    """The arguments that a voter is shown, by who gave them, in an order of this voter's own."""
    if last is None:
        return []
    choice = last.choices.get(seat.name)
    shown = {a.voter: a for a in shown_to(seat.name, choice, last.arguments, last.tally)}
    order = shuffled(shown, meeting.id, seat.name, f"others-{_next(last)}")
    return [
        (
            voter,
            {
                "label": meeting.label(voter),
                "option": shown[voter].option,
                "rationale": clean(shown[voter].rationale, _MOST_RATIONALE_CHARACTERS),
            },
        )
        for voter in order
    ]


def _rebuttal(reply: Reply) -> str:
    return clean(without_thinking(reply.text), _MOST_REBUTTAL_CHARACTERS) if reply.usable else ""


# --- the arbiter --------------------------------------------------------------------------------


def matter_for_arbiter(meeting: Meeting, last: Balloting) -> Matter:
    """Every option goes to the arbiter, with what was argued for them (PROTOCOLS 7)."""
    return _matter(meeting, argued(meeting, last))


def _matter(meeting: Meeting, excerpts: Sequence[Mapping[str, Json]]) -> Matter:
    question = question_of(meeting)
    choices = tuple(Choice(option, option) for option in meeting.options)
    return Matter(question, choices, question, excerpts)


# --- beforehand ---------------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the vote, with texts as long as they can become."""
    seats = len(meeting.seats)
    opening = most_shown(ballot_questions(meeting))
    again = _most_votes_again(meeting)
    later = {**opening.variables, **_longest_later(meeting)}
    words: dict[str, Json] = {
        "label": meeting.label(meeting.seats[-1].name),
        "text": longest(MOST_ARGUED_CHARACTERS),
    }
    return (
        PlannedAsk(opening.template, opening.variables, seats, seats),
        PlannedAsk(_DELIBERATE, later, 0, again),
        PlannedAsk(opening.template, later, 0, again),
        *plan_ruling(meeting, _matter(meeting, [words] * seats)),
        *plan_gate(meeting, heaviest_option(meeting)),
    )


def _most_votes_again(meeting: Meeting) -> int:
    """How many ballots may be asked for once more, where reasons are exchanged."""
    if "deliberate" not in ladder(meeting):
        return 0
    return len(meeting.seats) * max(0, min(revotes(meeting), meeting.limits.rounds - 1))


def _longest_later(meeting: Meeting) -> dict[str, Json]:
    """What the questions after the first ballot show beside the options."""
    option = heaviest_option(meeting)
    ranked = _ranked(Rules.read(meeting.rules))
    shown: dict[str, Json] = {
        "label": meeting.label(meeting.seats[-1].name),
        "option": option,
        "rationale": longest(_MOST_RATIONALE_CHARACTERS),
        "answer": longest(_MOST_REBUTTAL_CHARACTERS),
    }
    return {
        "round": 2,
        "last_vote": " > ".join(meeting.options) if ranked else option,
        "last_rationale": longest(_MOST_RATIONALE_CHARACTERS),
        "own_answer": longest(_MOST_REBUTTAL_CHARACTERS),
        "others": [shown] * (len(meeting.seats) - 1),
    }
