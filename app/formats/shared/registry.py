"""Where formats are looked up: by name for a new meeting, by name and version for one that is held.

Several versions of a format can be held side by side: a log goes on with the version that began it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from app.domain.meeting.events import DECISION_FIELDS
from app.formats.shared.format import Format


class Registry(Mapping[str, Format]):
    """As a mapping it gives the newest version of each format, which new meetings get."""

    def __init__(self, formats: Iterable[Format] = ()) -> None:
        self._by_version: dict[tuple[str, int], Format] = {}
        for format_ in formats:
            self.register(format_)

    def register(self, format_: Format) -> None:
        """Raises ``ValueError`` for a version that is there already, and for a name under which a
        decision's record holds something else."""
        key = (format_.name, format_.version)
        if format_.name in DECISION_FIELDS:
            raise ValueError(f"A format cannot be called {format_.name}.")
        if key in self._by_version:
            raise ValueError(f"There are two formats {format_.name} of version {format_.version}.")
        self._by_version[key] = format_

    def version(self, name: str, version: int) -> Format | None:
        """The format that a meeting of this version is held by; None where it is not at hand."""
        return self._by_version.get((name, version))

    @property
    def default(self) -> str:
        """The name of the format that is held where a caller names none."""
        return next(each.name for each in self.versions if each.by_default)

    @property
    def versions(self) -> tuple[Format, ...]:
        """Every version of every format."""
        return tuple(self._by_version.values())

    @property
    def packages(self) -> Mapping[str, str]:
        """The package of each version by the first part of its templates' names."""
        return {each.templates: each.package for each in self.versions if each.package}

    def __getitem__(self, name: str) -> Format:
        versions = [version for known, version in self._by_version if known == name]
        if not versions:
            raise KeyError(name)
        return self._by_version[name, max(versions)]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for name, _ in self._by_version))

    def __len__(self) -> int:
        return len({name for name, _ in self._by_version})
