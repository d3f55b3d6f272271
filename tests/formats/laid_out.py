"""What a format hands to its records, laid out as a reader gets it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import app.formats
from app.domain.meeting.meeting import Language
from app.formats.shared.page import Block, Cell
from app.records.catalogue import Words, words_in
from app.records.layout import lay_out, line

_FOLDER = Path(app.formats.__file__).parent


@cache
def words(language: Language = "en") -> Words:
    """The texts of all records, with those that stand in the formats' own folders."""
    shared = words_in(language)
    return replace(shared, texts={**shared.texts, **own_texts(language)})


def own_texts(language: Language, format_: str = "*") -> dict[str, str]:
    texts: dict[str, str] = {}
    for path in sorted(_FOLDER.glob(f"{format_}/wording/{language}.toml")):
        for section, entries in tomllib.loads(path.read_text(encoding="utf-8")).items():
            texts |= {f"{section}.{key}": text for key, text in entries.items()}
    return texts


def shown(page: Iterable[Block], language: Language = "en") -> list[str]:
    return list(lay_out(words(language), page))


def laid_out(page: Iterable[Block], language: Language = "en") -> str:
    return "\n\n".join(shown(page, language))


def told(cell: Cell, language: Language = "en") -> str:
    return line(words(language), cell)
