"""Why a save is not confirmed, in the record's language.

An operation's ``reason`` is part of the HTTP contract and so in English. It is made of sentences of
ours, which the catalogue holds under ``reason``: for another language each is found there by its
English text, and one that is not there stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from app.domain.meeting.meeting import Language
from app.records.catalogue import Words, words_in

_BETWEEN_SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")
_VALUE = re.compile(r"\\\{(\w+)\\\}")
_CONTRACT: Language = "en"


def reason_in(words: Words, reason: str, safe: Callable[[str], str]) -> str:
    """The reason in the language of ``words``; ``safe`` makes it fit for where it will stand."""
    if words.language == _CONTRACT:
        return safe(reason)
    found = (_sentence_in(words, each, safe) for each in _BETWEEN_SENTENCES.split(reason))
    return "".join(found)


def is_known(sentence: str) -> bool:
    """Whether other languages have a text for it."""
    return any(pattern.fullmatch(sentence) for pattern in _patterns().values())


def _sentence_in(words: Words, sentence: str, safe: Callable[[str], str]) -> str:
    for key, pattern in _patterns().items():
        found = pattern.fullmatch(sentence)
        if found is not None:
            return words(key, **{name: safe(value) for name, value in found.groupdict().items()})
    return safe(sentence)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(_VALUE.sub(r"(?P<\1>[^,;]+)", re.escape(text)))


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    texts = words_in(_CONTRACT).texts
    return {key: _pattern(text) for key, text in texts.items() if key.startswith("reason.")}
