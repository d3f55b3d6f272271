"""The rolling summary's size, and the one made by code when the secretary cannot (PROTOCOLS 4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from app.domain.replies.reading import Reply
from app.domain.replies.text import clean, one_line, spoken

MOST_SUMMARY_CHARACTERS = 2_000
"""About 500 tokens of English; fewer characters make as many tokens in Japanese."""

MOST_MOTION_CHARACTERS = 500

_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)
_STANCE_MARKER = re.compile(r"\[STANCE:[^\]]*\]", re.IGNORECASE)


def bounded_summary(text: str) -> str:
    return clean(text, MOST_SUMMARY_CHARACTERS)


def bounded_motion(text: str) -> str:
    """A motion on one line, without anything that could be read as somebody's stance."""
    return one_line(_STANCE_MARKER.sub("", text).strip(' "“”*_'), MOST_MOTION_CHARACTERS)


def first_sentence(text: str, most_characters: int = 240) -> str:
    said = _STANCE_MARKER.sub("", spoken(text)).strip()
    match = _SENTENCE.match(said)
    return one_line(match.group(0), most_characters) if match else ""


def extractive_summary(replies: Sequence[Reply], labels: Mapping[str, str]) -> str:
    """Each participant's first sentence and stance, within the size of any other summary."""
    share = MOST_SUMMARY_CHARACTERS // max(1, len(replies))
    lines: list[str] = []
    for reply in replies:
        stance = reply.values.get("stance", "")
        head = f"{labels[reply.who]} [{stance}]: "
        said = first_sentence(reply.text, max(1, share - len(head) - 2)) if reply.usable else ""
        lines.append(head + (said or "–"))
    return bounded_summary("\n".join(lines))
