"""The records' own words in each language: headings, labels, sentences, dates."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.domain.meeting.meeting import Language

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Words:
    """One language's texts, by ``section.key``.

    Values that are filled in must already be safe (through ``containment``); they are never
    read as patterns themselves.
    """

    language: Language
    texts: Mapping[str, str]
    months: tuple[str, ...]

    def __call__(self, key: str, **values: object) -> str:
        """The text with the values filled in. Raises ``KeyError`` for a key that is not there."""
        text = self.texts[key]
        return text.format(**values) if values else text

    def either(self, key: str, otherwise: str) -> str:
        """The text, or ``otherwise`` where there is none (a code of a later version)."""
        return self.texts.get(key, otherwise)

    def has(self, key: str) -> bool:
        return key in self.texts

    def joined(self, items: Iterable[object]) -> str:
        return self.texts["measure.list"].join(str(item) for item in items)

    def day(self, at: datetime) -> str:
        """The date (UTC), as the language writes it."""
        at = at.astimezone(UTC)
        month = self.months[at.month - 1]
        return self("date.day", year=at.year, month=month, number=at.month, day=at.day)

    def moment(self, at: datetime | None) -> str:
        if at is None:
            return self.texts["measure.missing"]
        time = f"{at.astimezone(UTC):%H:%M:%S}"
        return self("date.moment", date=self.day(at), time=time)

    def seconds(self, seconds: float) -> str:
        return self("measure.seconds", seconds=f"{seconds:g}")


def _load(language: Language) -> Words:
    path = _TEMPLATES / f"{language}.toml"
    sections = tomllib.loads(path.read_text(encoding="utf-8"))
    texts = {
        f"{section}.{key}": text
        for section, entries in sections.items()
        for key, text in entries.items()
    }
    return Words(language, texts, tuple(texts["date.months"].split()))


WORDS: Mapping[Language, Words] = {"en": _load("en"), "ja": _load("ja")}
