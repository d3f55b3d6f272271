"""What a council asks and shows, and the largest that this can become.

Its members see each other's answers under letters, its chair sees them under labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.domain.meeting.meeting import CHAIR, Meeting, label_letters
from app.domain.replies.quoting import MOST_TEXT_CHARACTERS
from app.domain.replies.text import clean
from app.domain.rounds.synthesis import MOST_SENTENCE_CHARACTERS
from app.domain.steps import Ask
from app.domain.values import Json
from app.formats.council.letters import LetterRankingReading
from app.formats.council.ranking import MOST_ANSWER_CHARACTERS, AnswerReading
from app.formats.council.stages import Stages
from app.formats.shared.arbitrating import Matter, accept_or_reject, plan_ruling
from app.formats.shared.closing import (
    MOST_SYNTHESIS_CHARACTERS,
    plan_closing,
    synthesis_text,
    wanted_by,
)
from app.formats.shared.format import PlannedAsk, longest, seen_by, since_resuming

_ANSWER = "council/answer"
_RANK = "council/rank"
SYNTHESIS = "council/synthesis"

_FIRST = 1
_MOST_RANK_SHOWN = "99.99"


# --- the members --------------------------------------------------------------------------------


def answer_questions(meeting: Meeting, number: int) -> tuple[Ask, ...]:
    return tuple(
        Ask(
            f"round-{number}/ask/{seat.name}",
            seat.name,
            number,
            _ANSWER,
            {**seen_by(meeting, seat), "options": list(meeting.options)},
            AnswerReading(),
        )
        for seat in meeting.seats
    )


def ranking_questions(stages: Stages, number: int) -> tuple[Ask, ...]:
    """Each reviewer's own letters, so that no place in the list favours an answer."""
    meeting, texts = stages.meeting, stages.texts
    return tuple(
        Ask(
            f"round-{number}/ask/{reviewer}",
            reviewer,
            number,
            _RANK,
            {
                **seen_by(meeting, meeting.seat(reviewer)),
                "answers": [
                    {"letter": letter, "text": texts[author]} for letter, author in letters.items()
                ],
            },
            LetterRankingReading(tuple(letters)),
        )
        for reviewer, letters in stages.letters.items()
    )


# --- the chair ----------------------------------------------------------------------------------


def synthesis_variables(stages: Stages, draft: str, reasons: Mapping[str, str]) -> dict[str, Json]:
    """To draft the synthesis; or to draft it anew, for the reasons that members gave."""
    meeting, texts = stages.meeting, stages.texts
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
            for mean in stages.ranks
        ],
        "draft": draft,
        "reasons": wanted_by(meeting, reasons),
        **since_resuming(meeting),
    }


# --- the arbiter --------------------------------------------------------------------------------


def sentence_of(synthesis: Mapping[str, Json]) -> str:
    """What a synthesis comes to, as the one text that is decided on."""
    return synthesis["decision"] or synthesis["recommendation"]


def matter_for_arbiter(
    meeting: Meeting, synthesis: Mapping[str, Json], reasons: Mapping[str, str]
) -> Matter:
    """The synthesis stands or falls, beside what its members still wanted of it."""
    wanting = [
        {"label": meeting.label(who), "text": clean(reason, MOST_TEXT_CHARACTERS)}
        for who, reason in reasons.items()
    ]
    return _matter(meeting, sentence_of(synthesis), synthesis_text(synthesis), wanting)


def _matter(
    meeting: Meeting, sentence: str, whole: str, wanting: Sequence[Mapping[str, Json]]
) -> Matter:
    excerpts = [{"label": CHAIR, "text": whole}, *wanting]
    return Matter(meeting.topic, accept_or_reject(meeting, sentence), meeting.topic, excerpts)


# --- beforehand ---------------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the meeting, with texts as long as they can become."""
    seats = len(meeting.seats)
    question = answer_questions(meeting, _FIRST)[-1].variables
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
        PlannedAsk(_ANSWER, question, seats, seats),
        PlannedAsk(_RANK, ranked, seats, seats),
        *_plan_chair(meeting, read),
        *plan_ruling(meeting, _longest_matter(meeting)),
    )


def _longest_matter(meeting: Meeting) -> Matter:
    label = meeting.label(meeting.seats[-1].name)
    wanting = [{"label": label, "text": longest(MOST_TEXT_CHARACTERS)}] * len(meeting.seats)
    whole = longest(MOST_SYNTHESIS_CHARACTERS)
    return _matter(meeting, longest(MOST_SENTENCE_CHARACTERS), whole, wanting)


def _plan_chair(meeting: Meeting, read: Mapping[str, Json]) -> tuple[PlannedAsk, ...]:
    """The chair's drafts, the gate, and the drafts of the secretary who may have to step in."""
    planned = plan_closing(meeting, SYNTHESIS, read)
    drafts = tuple(ask for ask in planned if ask.template == SYNTHESIS)
    others = tuple(ask for ask in planned if ask.template != SYNTHESIS)
    chair = tuple(replace(ask, office=CHAIR) for ask in drafts)
    if meeting.chair_agent == meeting.secretary:
        return chair + others
    return chair + tuple(replace(ask, usually=0) for ask in drafts) + others
