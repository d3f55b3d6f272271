"""What a meeting's log is made of, and how an entry is written and read.

Public entries are the events that callers read; they are numbered 1, 2, 3 … without gaps.
Internal entries stand between them: what was reserved before a request was sent, which request got
no answer and what it is booked at, what the secretary or the chair replied, when a closing question
was put, what became of a request that was told to stop, what happened to an operation, which
meetings were opened below this one and have ended. All of them are needed to go on after a crash;
only the public ones are shown.

Each type of entry is a class in ``meeting.events``. Unknown fields are passed over when a log is
read, and fields that came later have a default, so every log that was ever written stays readable.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Self, cast

import msgspec

from app.domain.values import Json, JsonObject

_TYPES: dict[str, type[Content]] = {}


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """What an entry says.

    ``internal`` entries are shown to nobody. Those ``from_outside`` are appended for a caller, for
    a meeting below, or after a look at what an earlier end left open, while a runner is at work:
    they are no sign of a second runner.
    """

    type: ClassVar[str]
    internal: ClassVar[bool] = False
    from_outside: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "type" in vars(cls):
            _TYPES[cls.type] = cls

    def record(self) -> JsonObject:
        """As JSON values, in the field names of the log."""
        return cast("JsonObject", _with_lists(msgspec.to_builtins(self)))

    def encoded(self) -> bytes:
        return msgspec.json.encode(self)

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        """What ``record`` once gave."""
        return msgspec.convert(record, cls)

    @classmethod
    def decoded(cls, text: str | bytes) -> Self:
        return msgspec.json.decode(text, type=cls)


class Foreign(Content, frozen=True, kw_only=True):
    """An entry of a type that only a later version knows: kept as it is, and shown as it is."""

    name: str
    fields: JsonObject

    def record(self) -> JsonObject:
        return self.fields

    def encoded(self) -> bytes:
        return msgspec.json.encode(self.fields)


class Flat(Content, frozen=True, kw_only=True):
    """An entry whose fields stand side by side with those of what it holds.

    Its classes say so by ``record`` and ``of``; both ways of writing it go through these. ``flat``
    names the fields whose own stand beside the others, ``sometimes`` those that are left out where
    they do not apply.
    """

    flat: ClassVar[tuple[str, ...]] = ()
    sometimes: ClassVar[tuple[str, ...]] = ()

    def encoded(self) -> bytes:
        return msgspec.json.encode(self.record())

    @classmethod
    def decoded(cls, text: str | bytes) -> Self:
        return cls.of(msgspec.json.decode(text))


def _with_lists(value: Any) -> Any:
    """The same with lists for tuples, as it comes back from the log."""
    if isinstance(value, dict):
        return {key: _with_lists(each) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_with_lists(each) for each in cast("list[Any]", value)]
    return value


def rest_of(record: JsonObject, cls: type[Content]) -> JsonObject:
    """The fields that are no class's own, and so the format's."""
    own = cls.__struct_fields__
    return {key: value for key, value in record.items() if key not in own}


def content_types() -> dict[str, type[Content]]:
    """Every type of entry that there is, by name."""
    return dict(_TYPES)


def decode(type_: str, text: str | bytes) -> Content:
    """The content of an entry as the log holds it."""
    known = _TYPES.get(type_)
    if known is None:
        return Foreign(name=type_, fields=msgspec.json.decode(text))
    return known.decoded(text)


def of_record(type_: str, record: JsonObject) -> Content:
    """The same from JSON values."""
    known = _TYPES.get(type_)
    return Foreign(name=type_, fields=record) if known is None else known.of(record)


class Entry(msgspec.Struct, frozen=True):
    """Something to append. ``step`` is the key under which a replay finds it again."""

    content: Content
    at: datetime
    step: str | None = None
    fingerprint: str | None = None

    @property
    def type(self) -> str:
        content = self.content
        return content.name if isinstance(content, Foreign) else content.type

    @property
    def internal(self) -> bool:
        return self.content.internal

    @property
    def data(self) -> Mapping[str, Json]:
        """What it says, as JSON values."""
        return self.content.record()


class Event(Entry, frozen=True):
    """An entry in its place: ``seq`` in the log, ``number`` among the public ones."""

    meeting_id: str = ""
    seq: int = 0
    number: int | None = None
