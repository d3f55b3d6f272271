"""The records' words in each language: headings, labels, sentences, dates.

What every record says stands in ``templates/``. What only one format says stands in that format's
package, under ``wording/``, and is laid over the shared texts for its meetings: two versions of a
format may say different things. Both are read when they are first needed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from app.domain.meeting.meeting import Language, Meeting
from app.records.asked import format_of

_SHARED = "app.records", "templates"
_OWN = "wording"
"""The folder in a format's package that holds its words."""


@dataclass(frozen=True, slots=True)
class Words:
    """One language's texts, by ``section.key``.

    Values that are filled in must already be safe (through ``containment``); they are never
    read as patterns themselves.
    """

    language: Language
    texts: Mapping[str, str]
    format: str = ""
    """The format whose own texts are among them."""

    def __call__(self, key: str, **values: object) -> str:
        """The text with the values filled in. Raises ``KeyError`` for a key that is not there."""
        text = self.texts[key]
        return text.format(**values) if values else text

    def either(self, key: str, otherwise: str) -> str:
        """The text, or ``otherwise`` where there is none (a code of a later version)."""
        return self.texts.get(key, otherwise)

    def own(self, key: str, otherwise: str, **values: object) -> str:
        """The format's own text for something that ``otherwise`` is the text for in any format."""
        of_format = f"{self.format}.{key}"
        return self(of_format if self.has(of_format) else otherwise, **values)

    def has(self, key: str) -> bool:
        return key in self.texts

    def joined(self, items: Iterable[object]) -> str:
        return self.texts["measure.list"].join(str(item) for item in items)

    def day(self, at: datetime) -> str:
        """The date (UTC), as the language writes it."""
        at = at.astimezone(UTC)
        month = self.texts["date.months"].split()[at.month - 1]
        return self("date.day", year=at.year, month=month, number=at.month, day=at.day)

    def moment(self, at: datetime | None) -> str:
        if at is None:
            return self.texts["measure.missing"]
        time = at.astimezone(UTC).time().isoformat("seconds")
        return self("date.moment", date=self.day(at), time=time)

    def seconds(self, seconds: float) -> str:
        return self("measure.seconds", seconds=f"{seconds:g}")


@cache
def words_in(language: Language) -> Words:
    """What every record says."""
    return Words(language, _texts(*_SHARED, language))


def words_of(meeting: Meeting) -> Words:
    """What the records of this meeting say, in its language and its format's words."""
    found = format_of(meeting)
    package = None if found is None else found.package
    return _laid_over(meeting.language, meeting.format, package)


@cache
def _laid_over(language: Language, format_: str, package: str | None) -> Words:
    own = {} if package is None else _texts(package, _OWN, language)
    return Words(language, {**words_in(language).texts, **own}, format_)


def _texts(package: str, folder: str, language: Language) -> dict[str, str]:
    """None where the package has no words: a format need not say anything of its own."""
    path = files(package).joinpath(folder, f"{language}.toml")
    sections = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {
        f"{section}.{key}": text
        for section, entries in sections.items()
        for key, text in entries.items()
    }
