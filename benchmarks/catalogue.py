"""Every benchmark by its name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields, replace
from types import ModuleType
from typing import Any

from benchmarks import (
    coordination,
    counting,
    fan_out,
    formats,
    latency,
    memory,
    prompt_size,
    recovery,
    throughput,
    waves,
)
from benchmarks.figures import Figure


class UnknownSize(Exception):
    """A size that no benchmark has."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """``sizes`` is a frozen dataclass of numbers, or tuples of them, each with its default."""

    title: str
    sizes: Any
    measure: Callable[[Any], Awaitable[list[Figure]]]

    def sized(self, changes: dict[str, str]) -> Benchmark:
        """The same with other sizes, given as text. Raises ``UnknownSize`` or ``ValueError``."""
        known = {field.name for field in fields(self.sizes)}
        for name in changes:
            if name not in known:
                raise UnknownSize(f"there is no size {name}; there is: {', '.join(sorted(known))}")
        read = {name: _like(getattr(self.sizes, name), text) for name, text in changes.items()}
        return replace(self, sizes=replace(self.sizes, **read))


def _like(default: Any, text: str) -> Any:
    if isinstance(default, tuple):
        return tuple(_like(default[0], part) for part in text.split(","))
    return type(default)(text)


def _benchmark(module: ModuleType) -> Benchmark:
    return Benchmark((module.__doc__ or "").splitlines()[0], module.Sizes(), module.measure)


_MODULES: Sequence[ModuleType] = (
    coordination,
    throughput,
    waves,
    formats,
    counting,
    prompt_size,
    latency,
    fan_out,
    memory,
    recovery,
)

BENCHMARKS: dict[str, Benchmark] = {
    module.__name__.rpartition(".")[2]: _benchmark(module) for module in _MODULES
}
