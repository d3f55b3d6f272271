"""What a debate asks and shows, and the largest that this can become.

Each function takes what has been said so far, and knows nothing of how the debate goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.ending.arbitration import Choice
from app.domain.meeting.meeting import SECRETARY, Meeting, Seat, labels
from app.domain.rounds.consensus import Consensus
from app.domain.rounds.summary import MOST_SUMMARY_CHARACTERS
from app.domain.steps import Ask
from app.domain.values import Json
from app.formats.debate.debating import DebateAnswerReading, DebateOpeningReading
from app.formats.debate.shown import labels_on_offer, last_backed, others_said, own_said, quoted
from app.formats.debate.standing import MOST_PROPOSAL_CHARACTERS, DebateRound, proposals
from app.formats.shared.arbitrating import Matter, plan_ruling
from app.formats.shared.closing import plan_closing
from app.formats.shared.format import PlannedAsk, longest, seen_by, usual_rounds
from app.formats.shared.notes import MOST_QUOTED_CHARACTERS
from app.formats.shared.shuffling import shuffled

_OPENING = "debate/open"
_ANSWER = "debate/answer"
COMPRESS = "debate/compress"
SYNTHESIS = "debate/synthesis"

_MOST_READ_CHARACTERS = 60_000
"""Of the whole debate, for its synthesis: every reply gets the same share of it."""


def rolling(meeting: Meeting) -> bool:
    """Whether a summary stands for the earlier rounds; else all that was said is shown."""
    return meeting.rules.get("history") == "rolling"


# --- the participants ---------------------------------------------------------------------------


def questions(meeting: Meeting, rounds: Sequence[DebateRound], summary: str) -> list[Ask]:
    """Those of the round that follows these."""
    if not rounds:
        return [_opening(meeting, seat) for seat in meeting.seats]
    shown_as = labels(meeting)
    return [_answer(meeting, shown_as, seat, rounds, summary) for seat in meeting.seats]


def _opening(meeting: Meeting, seat: Seat) -> Ask:
    """A question that shows nobody's words: round 1 is independent (PROTOCOLS 2, rule 3)."""
    variables = _shared(meeting, seat, 1)
    return Ask(_key(1, seat), seat.name, 1, _OPENING, variables, DebateOpeningReading())


def _answer(
    meeting: Meeting,
    shown_as: Mapping[str, str],
    seat: Seat,
    rounds: Sequence[DebateRound],
    summary: str,
) -> Ask:
    number, name = len(rounds) + 1, seat.name
    on_offer = labels_on_offer(rounds, shown_as, name)
    own = own_said(rounds, name, MOST_QUOTED_CHARACTERS)
    history: list[Json] = []
    if rolling(meeting):
        own = own[-1:]
    else:
        history = others_said(rounds, shown_as, name, meeting.id, MOST_QUOTED_CHARACTERS)
    variables = _shared(meeting, seat, number) | {
        "labels": list(on_offer),
        "last_backs": last_backed(rounds, name),
        "summary": summary,
        "history": history,
        "own": own,
    }
    reading = DebateAnswerReading(on_offer)
    return Ask(_key(number, seat), name, number, _ANSWER, variables, reading)


def _key(number: int, seat: Seat) -> str:
    return f"round-{number}/ask/{seat.name}"


def _shared(meeting: Meeting, seat: Seat, number: int) -> dict[str, Json]:
    return {
        **seen_by(meeting, seat),
        "options": shuffled(meeting.options, meeting.id, seat.name),
        "motion": meeting.motion or "",
        "round": number,
        "rounds": meeting.limits.rounds,
    }


# --- the arbiter --------------------------------------------------------------------------------


def matter_for_arbiter(meeting: Meeting, rounds: Sequence[DebateRound]) -> Matter:
    """An arbiter picks among the proposals as they stand (PROTOCOLS 11, arbitration)."""
    shown_as = labels(meeting)
    said = quoted(rounds[-1], shown_as, MOST_QUOTED_CHARACTERS)
    return _matter(meeting, proposals(rounds, shown_as), said)


def _matter(
    meeting: Meeting, standing: Mapping[str, str], excerpts: Sequence[Mapping[str, Json]]
) -> Matter:
    choices = tuple(Choice(label, text) for label, text in standing.items())
    return Matter(meeting.topic, choices, meeting.topic, excerpts)


# --- the secretary ------------------------------------------------------------------------------


def compress_variables(meeting: Meeting, closed: DebateRound, summary: str) -> dict[str, Json]:
    return {
        "topic": meeting.topic,
        "summary": summary,
        "round": closed.number,
        "replies": quoted(closed, labels(meeting), MOST_QUOTED_CHARACTERS),
        "most_characters": MOST_SUMMARY_CHARACTERS,
    }


def synthesis_variables(
    meeting: Meeting, rounds: Sequence[DebateRound], summary: str, decision: str | None
) -> dict[str, Json]:
    """The whole debate: every round, or where that is too much the notes and the last round."""
    last = rounds[-1]
    shown = [last] if rolling(meeting) else rounds
    shown_as, share = labels(meeting), _share(meeting, len(shown))
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "options": list(meeting.options),
        "motion": meeting.motion or "",
        "summary": summary,
        "history": [{"round": r.number, "replies": quoted(r, shown_as, share)} for r in shown],
        "consensus": last.consensus.value,
        "proposal": decision or "",
        "backed": last.converged or "",
    }


def _share(meeting: Meeting, rounds: int) -> int:
    """How much of one reply the synthesis is shown when it reads so many rounds."""
    return min(MOST_QUOTED_CHARACTERS, _MOST_READ_CHARACTERS // (rounds * len(meeting.seats)))


# --- beforehand ---------------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the meeting, with texts as long as they can become."""
    seats = len(meeting.seats)
    opening = _opening(meeting, meeting.seats[-1]).variables
    if rolling(meeting):
        read = _longest_read(meeting, opening, 1)
        later = _plan_rolling(meeting, opening, read)
    else:
        read = _longest_read(meeting, opening, meeting.limits.rounds)
        later = _plan_in_full(meeting, opening)
    return (
        PlannedAsk(_OPENING, opening, seats, seats),
        *later,
        *plan_ruling(meeting, _longest_matter(meeting)),
        *plan_closing(meeting, SYNTHESIS, read),
    )


def _plan_rolling(
    meeting: Meeting, opening: Mapping[str, Json], read: Mapping[str, Json]
) -> tuple[PlannedAsk, ...]:
    """With the notes for a history, every later round asks as much as the second."""
    seats, usual, most = len(meeting.seats), usual_rounds(meeting) - 1, meeting.limits.rounds - 1
    answer = _longest_answer(meeting, opening, 1)
    return (
        PlannedAsk(_ANSWER, answer, seats * usual, seats * most),
        PlannedAsk(COMPRESS, read, usual, most, SECRETARY),
    )


def _plan_in_full(meeting: Meeting, opening: Mapping[str, Json]) -> tuple[PlannedAsk, ...]:
    """With the full history a later round's question is longer, so each is planned by itself."""
    seats, usual = len(meeting.seats), usual_rounds(meeting)
    return tuple(
        PlannedAsk(_ANSWER, _longest_answer(meeting, opening, n), seats * (n < usual), seats)
        for n in range(1, meeting.limits.rounds)
    )


def _longest_answer(meeting: Meeting, opening: Mapping[str, Json], rounds: int) -> dict[str, Json]:
    """The variables of a question after so many rounds."""
    text = longest(MOST_QUOTED_CHARACTERS)
    shown_as = list(labels(meeting).values())
    label = max(shown_as, key=len)
    others = [{"label": label, "text": text}] * (len(shown_as) - 1)
    history: list[Json] = [{"round": rounds, "replies": others}] * rounds
    return {
        **opening,
        "round": rounds + 1,
        "labels": shown_as,
        "last_backs": label,
        "summary": _longest_summary(meeting),
        "history": [] if rolling(meeting) else history,
        "own": [{"round": rounds, "text": text}] * rounds,
    }


def _longest_read(meeting: Meeting, opening: Mapping[str, Json], rounds: int) -> dict[str, Json]:
    """The variables of what the secretary reads of so many rounds, to compress or to conclude."""
    seats = len(meeting.seats)
    label = max(labels(meeting).values(), key=len)
    reply: dict[str, Json] = {
        "label": label,
        "backs": label,
        "confidence": 10,
        "text": longest(MOST_QUOTED_CHARACTERS),
    }
    shared = {**reply, "text": longest(_share(meeting, rounds))}
    return {
        **opening,
        "summary": _longest_summary(meeting),
        "replies": [reply] * seats,
        "history": [{"round": rounds, "replies": [shared] * seats}] * rounds,
        "consensus": Consensus.FULL.value,
        "proposal": longest(MOST_PROPOSAL_CHARACTERS),
        "backed": label,
        "most_characters": MOST_SUMMARY_CHARACTERS,
    }


def _longest_summary(meeting: Meeting) -> str:
    return longest(MOST_SUMMARY_CHARACTERS) if rolling(meeting) else ""


def _longest_matter(meeting: Meeting) -> Matter:
    shown_as = labels(meeting).values()
    proposal, said = longest(MOST_PROPOSAL_CHARACTERS), longest(MOST_QUOTED_CHARACTERS)
    excerpts = [{"label": label, "text": said} for label in shown_as]
    return _matter(meeting, dict.fromkeys(shown_as, proposal), excerpts)
