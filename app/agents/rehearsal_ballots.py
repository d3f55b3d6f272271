"""Rehearsed ballots: votes, rankings, scores and recommendations, and their grouping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.agents.rehearsal_part import AGAINST, Part, as_json
from app.domain.replies.text import folded

_CONFIDENCE = (0.9, 0.7, 0.8)
_NO_OPTIONS = ("A", "B")


def vote_ballot(part: Part) -> str:
    options = _options(part)
    favourite = options[0 if _with_the_first(part) else 1 % len(options)]
    return as_json(
        vote=favourite,
        confidence=_CONFIDENCE[part.temperament],
        rationale=part.lines.rationale[part.temperament],
        mitigation=part.lines.mitigation,
    )


def ranking(part: Part) -> str:
    return as_json(
        ranking=_by_taste(part, _options(part)),
        confidence=_CONFIDENCE[part.temperament],
        rationale=part.lines.rationale[part.temperament],
    )


def council_rank(part: Part) -> str:
    letters = part.texts("letters") or part.texts("answers") or list(_NO_OPTIONS)
    return as_json(
        ranking=_by_taste(part, letters), rationale=part.lines.rationale[part.temperament]
    )


def recommendation(part: Part) -> str:
    lines = part.lines
    titles = ((lines.common_title, 8), (lines.own_titles[part.temperament], 6))
    return as_json(
        recommendations=[
            {"title": title, "confidence": confidence, "why": lines.why}
            for title, confidence in titles
        ]
    )


def binary(part: Part) -> str:
    against = part.temperament == AGAINST
    return as_json(
        answer="NO" if against else "YES",
        reasons=list(part.lines.no_reasons if against else part.lines.yes_reasons),
        confidence=6 if against else 8,
    )


def scoring(part: Part) -> str:
    criteria = part.texts("criteria")
    scores: dict[str, Any] = {}
    for place, option in enumerate(_options(part)):
        score = _score(part, place)
        scores[option] = dict.fromkeys(criteria, score) if criteria else score
    return as_json(scores=scores)


def secretary_group(part: Part) -> str:
    """Equal titles together; the numbers are the places in the list, from 0."""
    groups: dict[str, list[int]] = {}
    for number, item in enumerate(part.items("recommendations")):
        title = item.get("title", "") if isinstance(item, Mapping) else item
        groups.setdefault(folded(str(title)), []).append(number)
    return as_json(groups=list(groups.values()))


def ruling(part: Part) -> str:
    """The first choice that may be picked: a rehearsing arbiter shows the way, not the answer."""
    given = (item for item in part.items("choices") if isinstance(item, Mapping))
    allowed = [str(item.get("id", "")) for item in given if not item.get("barred_by")]
    picked = next(iter(allowed), _NO_OPTIONS[0])
    return as_json(choice=picked, conditions="", reason=part.lines.rationale[part.temperament])


def _options(part: Part) -> list[str]:
    """The options in one order for all: each voter is shown them in another one."""
    return sorted(part.texts("options")) or list(_NO_OPTIONS)


def _with_the_first(part: Part) -> bool:
    return part.temperament != AGAINST or part.request.round > 1


def _by_taste(part: Part, names: Sequence[str]) -> list[str]:
    """As given; the first two changed; or the last two changed."""
    ordered = list(names)
    if len(ordered) > 1 and part.temperament:
        first = 0 if part.temperament == AGAINST else len(ordered) - 2
        ordered[first], ordered[first + 1] = ordered[first + 1], ordered[first]
    return ordered


def _score(part: Part, place: int) -> int:
    return min(10, max(1, 8 - place + (part.temperament - 1)))
