"""What a review's draft is judged by (PROTOCOLS 9): mechanical checks, verdicts, completeness."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.domain.meeting.meeting import Criterion
from app.domain.replies.quoting import bounded_text
from app.domain.replies.text import one_line
from app.domain.values import Json
from app.formats.review.objections import ObjectionRegister

MOST_DRAFT_CHARACTERS = 12_000
_MOST_PATTERN_CHARACTERS = 300
_MOST_WAYS = 400
_MOST_WAYS_UNBOUNDED = 2

Verdict = Literal["pass", "fail", "open"]
"""``open``: a critic who has to judge it has not."""

_PIECE = re.compile(
    r"\\(?:[dDwWsSbBnrtAZ]|[^\w\s])"
    r"|\[\^?\]?(?:\\.|(?!--|&&|~~|\|\|)[^\[\]\\])*\]"
    r"|(?P<open>\((?:\?:)?)(?!\?)|(?P<close>\))|(?P<or>\|)"
    r"|(?P<quantifier>(?:[*+?]|\{(?P<low>\d{0,4})(?P<comma>,?)(?P<high>\d{0,4})\})\??)"
    r"|[^\\()\[\]{}*+?|]"
)
_FLAGS = re.compile(r"^\(\?[ims]{1,3}\)")


def pattern_fault(pattern: str) -> str | None:
    """Why a ``regex`` criterion is refused, or None; to be asked when a meeting is created.

    Python's matcher has no time limit and backtracks, so patterns are held to what it can only
    try in few ways: one unbounded quantifier (``*``, ``+``, ``{n,}``) in the whole pattern, on a
    single character or class, with next to nothing optional beside it; no repetition of a group
    that holds a quantifier or an alternative; no back-references, look-arounds, or flags but
    leading ``(?i)``, ``(?m)``, ``(?s)``. The worst such search grows with the square of the
    draft's length, and drafts are bounded (``MOST_DRAFT_CHARACTERS``): a second or two for a
    pattern and a draft made for each other, microseconds otherwise.
    """
    if len(pattern) > _MOST_PATTERN_CHARACTERS:
        return f"a pattern has at most {_MOST_PATTERN_CHARACTERS} characters"
    fault = _cost_fault(_FLAGS.sub("", pattern))
    if fault is not None:
        return fault
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"it is no regular expression: {error}"
    return None


@dataclass(slots=True)
class _Group:
    """What the scan of a pattern knows of a group that is still open, or of the whole."""

    choices: bool = False
    alternatives: int = 1
    closed: bool = False


def _cost_fault(pattern: str) -> str | None:
    groups = [_Group()]
    last = _Group()
    unbounded, ways, position = 0, 1, 0
    while position < len(pattern):
        piece = _PIECE.match(pattern, position)
        if piece is None or (piece["close"] and len(groups) == 1):
            unknown = one_line(bounded_text(pattern[position : position + 4]), 4)
            return f'"{unknown}" is not supported here'
        position = piece.end()
        before, last = last, _Group()
        if piece["open"]:
            groups.append(_Group())
        elif piece["close"]:
            last = replace(groups.pop(), closed=True)
            groups[-1].choices |= last.choices
            ways *= last.alternatives
        elif piece["or"]:
            groups[-1].choices = True
            groups[-1].alternatives += 1
        elif quantifier := piece["quantifier"]:
            lengths = _lengths(piece)
            if fault := _repetition_fault(before, lengths, optional=quantifier[0] == "?"):
                return fault
            groups[-1].choices = True
            unbounded += lengths is None
            ways *= lengths or 1
    if unbounded > 1:
        return "only one unbounded quantifier (*, + or {n,}) may stand in a pattern"
    if ways * groups[0].alternatives > (_MOST_WAYS_UNBOUNDED if unbounded else _MOST_WAYS):
        return "its optional parts and alternatives combine in too many ways"
    return None


def _repetition_fault(group: _Group, lengths: int | None, *, optional: bool) -> str | None:
    """Why what stands before a quantifier may not be repeated so."""
    if group.choices and not optional:
        return "a group that holds a quantifier or an alternative cannot be repeated"
    if group.closed and lengths is None:
        return "a group cannot be repeated without a bound"
    return None


def _lengths(piece: re.Match[str]) -> int | None:
    """How many lengths a quantifier can try; None for any number."""
    if piece["quantifier"][0] == "?":
        return 2
    if piece["quantifier"][0] in "*+" or (piece["comma"] and not piece["high"]):
        return None
    return int(piece["high"]) - int(piece["low"] or 0) + 1 if piece["comma"] else 1


def check_fault(check: Mapping[str, Json]) -> str | None:
    """What is wrong with a mechanical check, or None."""
    match dict(check):
        case {"contains": str(text), **rest} if text and not rest:
            return None
        case {"regex": str(pattern), **rest} if pattern and not rest:
            return pattern_fault(pattern)
        case {"max_chars": int(most), **rest} if most is not True and most > 0 and not rest:
            return None
        case _:
            return 'a check is one of {"contains": text}, {"regex": pattern}, {"max_chars": number}'


def passes(check: Mapping[str, Json], draft: str) -> bool:
    """Whether a draft passes a mechanical check: text as it stands, code points counted.

    Raises ValueError for a check that ``check_fault`` refuses, so that none is ever run.
    """
    fault = check_fault(check)
    if fault is not None:
        raise ValueError(fault)
    if "contains" in check:
        return check["contains"] in draft
    if "max_chars" in check:
        return len(draft) <= check["max_chars"]
    fits = len(draft) <= MOST_DRAFT_CHARACTERS
    return fits and re.search(check["regex"], draft) is not None


def judge(
    criteria: Iterable[Criterion],
    draft: str,
    critics: Sequence[str],
    verdicts: Mapping[str, Mapping[str, str]],
) -> dict[str, Verdict]:
    """Each criterion's result, by id; ``verdicts`` are the critics', by name and criterion.

    Without a mechanical check every critic has to pass it: one ``fail`` fails it, whatever the
    others say, and until all have judged it stays open.
    """
    results: dict[str, Verdict] = {}
    for criterion in criteria:
        if criterion.check is not None:
            results[criterion.id] = "pass" if passes(criterion.check, draft) else "fail"
            continue
        given = {verdicts.get(critic, {}).get(criterion.id, "open") for critic in critics}
        judged: Verdict = "open" if "open" in given or not given else "pass"
        results[criterion.id] = "fail" if "fail" in given else judged
    return results


def is_complete(
    criteria: Iterable[Criterion], results: Mapping[str, Verdict], register: ObjectionRegister
) -> bool:
    """Every required criterion passes and nothing blocks; a destination is checked elsewhere."""
    passed = all(results[criterion.id] == "pass" for criterion in criteria if criterion.required)
    return passed and not register.blocking
