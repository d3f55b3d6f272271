"""What is wrong with the options that a vote or a poll is to choose among."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.domain.errors import Fault
from app.domain.replies.ballot import ABSTAIN
from app.domain.replies.text import folded

FEWEST_OPTIONS = 2


def option_faults(options: Sequence[str], format_: str) -> Iterator[Fault]:
    """Too few of them, or two that a reply could not tell apart (PROTOCOLS 16, names)."""
    if len(options) < FEWEST_OPTIONS:
        yield Fault("#/options", f"A {format_} needs at least two options to choose among.")
    yield from repeated(options, "#/options/{index}", "option")


def repeated(names: Sequence[str], pointer: str, what: str) -> Iterator[Fault]:
    """Names that are the same after NFKC and case folding, each by its ``{index}``."""
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        before = first.setdefault(folded(name), index)
        if before != index:
            detail = f"This is the same {what} as number {before}; they must differ in more than "
            yield Fault(pointer.format(index=index), detail + "case or width.")


def abstaining_options(options: Sequence[str]) -> Iterator[Fault]:
    """Options whose name is what an abstention is written as."""
    for index, option in enumerate(options):
        if folded(option) == folded(ABSTAIN):
            detail = f"{ABSTAIN} is how a voter abstains; call this option something else."
            yield Fault(f"#/options/{index}", detail)
