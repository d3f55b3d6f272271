"""Reading replies that answer under headings (PROTOCOLS 16)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.text import clean, without_thinking
from app.domain.values import Json

MOST_SECTION_CHARACTERS = 8_000


@cache
def _heading(headings: tuple[str, ...]) -> re.Pattern[str]:
    # Longest first, or PROPOSAL would match where REFINED PROPOSAL stands.
    words = "|".join(re.escape(word) for word in sorted(headings, key=len, reverse=True))
    return re.compile(rf"^[\s#*_`]*({words})[\s*_`]*:[*_`]*[ \t]*(.*)$", re.IGNORECASE)


def read_sections(text: str, headings: tuple[str, ...]) -> dict[str, str]:
    """Each heading's text, by the heading's lower-case name; a missing one is empty.

    A heading that comes twice keeps its last text: an answerer that starts over means that.
    """
    pattern = _heading(headings)
    sections = {heading.lower(): "" for heading in headings}
    current: str | None = None
    lines: list[str] = []

    def close() -> None:
        if current is not None:
            sections[current] = clean("\n".join(lines), MOST_SECTION_CHARACTERS)

    for line in without_thinking(text).split("\n"):
        match = pattern.match(unicodedata.normalize("NFKC", line))
        if match is None:
            lines.append(line)
            continue
        close()
        current = match.group(1).lower()
        lines = [match.group(2)]
    close()
    return sections


@dataclass(frozen=True, slots=True)
class SectionsReading:
    """Reads headed sections; a reply without any of the ``required`` ones is at fault."""

    headings: tuple[str, ...]
    required: tuple[str, ...] = ()

    def read(self, text: str) -> Read:
        sections = read_sections(text, self.headings)
        missing = tuple(word for word in self.required if not sections[word.lower()])
        fault = Message.of(Code.SECTIONS_MISSING, headings=missing)
        return Read({"sections": sections}, fault if missing else None)

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"sections": {heading.lower(): "" for heading in self.headings}}
