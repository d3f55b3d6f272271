"""Puts messages into sentences, from ``messages.toml`` in each language's folder.

``[forms]`` says how a text is quoted and a list is enumerated, ``[messages]`` has a sentence, or
a part of one, for every ``Code``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import cast

from app.domain.meeting.meeting import Language
from app.domain.replies.messages import Arg, Message

_FOLDER = Path(__file__).parent

Catalogue = Mapping[str, Mapping[str, str]]


def sentence(message: Message, language: Language) -> str:
    """The message in that language. Raises ``KeyError`` for a code or an argument it lacks."""
    return _told(message, catalogue(language))


@cache
def catalogue(language: Language) -> Catalogue:
    path = _FOLDER / language / "messages.toml"
    return cast("Catalogue", tomllib.loads(path.read_text("utf-8")))


def _told(said: Arg, words: Catalogue) -> str:
    match said:
        case Message(code, args):
            told = {name: _told(arg, words) for name, arg in args.items()}
            return words["messages"][code].format_map(told)
        case str():
            return words["forms"]["quoted"].format(text=said)
        case tuple():
            return words["forms"]["separator"].join(_told(each, words) for each in said)
        case float():
            return f"{said:g}"
        case _:
            return json.dumps(said)
