"""What a rehearsing agent knows of the question it is asked: its part in the play.

Prompts differ in their variables, and may have fewer than are looked for; everything here has a
fallback.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from app.agents.rehearsal_lines import LINES, Lines
from app.coordinator.ports import Request
from app.domain.replies.text import one_line
from app.domain.values import Json

IN_FAVOUR, AGAINST, UNDECIDED = 0, 1, 2
_TEMPERAMENTS = 3
_ROUNDS_TO_CONVINCE = 3
_MOST_QUOTED_CHARACTERS = 160
_LONGEST_SPOKEN_ROLE = 40
_BRACKETS = str.maketrans("[]【】", "()()")


class Part:
    """One question, seen by the one who answers it."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.variables: Mapping[str, Json] = request.variables
        self.lines: Lines = LINES[request.language]

    @cached_property
    def seat(self) -> int:
        """The place at the table from 0: by the label's letters, else by the name."""
        letters = self.text("label").rpartition(" ")[2]
        if letters.isascii() and letters.isalpha() and letters.isupper():
            place = 0
            for letter in letters[:4]:
                place = place * 26 + ord(letter) - ord("A") + 1
            return place - 1
        return zlib.crc32(self.request.who.encode("utf-8", "replace"))

    @property
    def temperament(self) -> int:
        return self.seat % _TEMPERAMENTS

    @property
    def persuaded(self) -> bool:
        """Whether those who were against or undecided have come round by now."""
        if self.temperament == UNDECIDED:
            return self.request.round >= min(2, self.last_round)
        return self.request.round >= self.last_round

    @property
    def last_round(self) -> int:
        rounds = self.variables.get("rounds")
        limit = rounds if isinstance(rounds, int) and rounds > 0 else _ROUNDS_TO_CONVINCE
        # With one round only nobody has heard anything that could convince them.
        return max(2, min(limit, _ROUNDS_TO_CONVINCE))

    @property
    def role(self) -> str:
        """What it speaks for: its role, or its name where the role is a whole sentence."""
        role = self.quoted("role")
        if len(role) > _LONGEST_SPOKEN_ROLE:
            role = self.quoted("name") or role
        return role or self.lines.no_role

    @property
    def topic(self) -> str:
        return self.quoted("topic")

    def text(self, name: str) -> str:
        value = self.variables.get(name)
        return value if isinstance(value, str) else ""

    def quoted(self, name: str) -> str:
        return excerpt(self.text(name))

    def texts(self, name: str) -> list[str]:
        """A list of names under that name, whether they come bare or as ``{id}``, ``{name}`` …"""
        return [text for text in map(_naming, self.items(name)) if text]

    def items(self, name: str) -> list[Any]:
        value = self.variables.get(name)
        if isinstance(value, Mapping):
            # Such as a label for each name: what is shown stands on the right.
            shown = list(value.values())
            return shown if all(isinstance(item, str) for item in shown) else list(value)
        return list(value) if isinstance(value, list | tuple) else []

    def records(self, name: str) -> list[Mapping[str, Any]]:
        return [item for item in self.items(name) if isinstance(item, Mapping)]


def excerpt(text: str) -> str:
    """A short quotation on one line. Brackets turn round, so that no quoted stance marker or
    the like can be taken for the answerer's own.
    """
    return one_line(text.translate(_BRACKETS), _MOST_QUOTED_CHARACTERS)


def as_json(**fields: Json) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _naming(item: object) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        found = (item.get(key) for key in ("id", "label", "letter", "name", "title", "text"))
        return next((text for text in found if isinstance(text, str)), "")
    return ""
