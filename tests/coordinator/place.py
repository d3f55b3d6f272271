"""A destination in memory that does as it is told (PROTOCOLS 13)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TypeVar

from app.domain.operation.terms import (
    Check,
    Fate,
    Finding,
    Look,
    Operation,
    Write,
    WriteAnswer,
    sha256_of,
)

_Scripted = TypeVar("_Scripted")
VERSION = '"v1"'


@dataclass(frozen=True)
class Put:
    """What becomes of one write: whether it is stored, and the answer (None: none ever comes)."""

    stores: bool = True
    answer: WriteAnswer | None = WriteAnswer(Fate.STORED)  # noqa: RUF009 - it is frozen

    @classmethod
    def lost(cls, *, stores: bool) -> Put:
        return cls(stores, WriteAnswer(Fate.UNCLEAR, "No answer came."))

    @classmethod
    def hangs(cls, *, stores: bool = False) -> Put:
        return cls(stores, None)


class Place:
    """Stores what is written and finds it again; ``on_write`` and ``on_look`` are used up in turn,
    the last one for ever. A look of None never comes back."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.on_write: list[Put] = [Put()]
        self.on_look: list[Finding | None] = []
        self.asked: list[str] = []
        self.moved = asyncio.Event()

    async def write(self, operation: Operation, content: bytes, write: Write) -> WriteAnswer:
        assert sha256_of(content) == operation.sha256
        self._note("write")
        put = _next(self.on_write)
        if put.stores and not (write.only_if_absent and operation.url in self.held):
            self.held[operation.url] = content
        if put.answer is None:
            await asyncio.Event().wait()
        assert put.answer is not None
        return put.answer

    async def look(self, operation: Operation, check: Check) -> Finding:
        del check
        self._note("look")
        if self.on_look:
            finding = _next(self.on_look)
            if finding is None:
                await asyncio.Event().wait()
            assert finding is not None
            return finding
        found = self.held.get(operation.url)
        if found is None:
            return Finding(Look.ABSENT)
        sha256 = sha256_of(found)
        if sha256 == operation.sha256:
            return Finding(Look.SAME, version=VERSION)
        return Finding(Look.DIFFERENT, sha256=sha256)

    def _note(self, call: str) -> None:
        self.asked.append(call)
        self.moved.set()


def _next(scripted: list[_Scripted]) -> _Scripted:
    return scripted.pop(0) if len(scripted) > 1 else scripted[0]
