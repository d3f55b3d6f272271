"""Putting like recommendations together (PROTOCOLS 6): by the secretary, or by their wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, cast

from app.domain.ballot import NO_OBJECT, shown
from app.domain.ballot_numbers import read_number
from app.domain.meeting import Json, exact
from app.domain.reply_text import folded, last_json_object
from app.domain.steps import Read, ReplyStatus

GroupingMethod = Literal["secretary", "similarity"]

_NO_LIST = 'The key "groups" must be a list of lists of numbers, such as [[0, 3], [1, 2]].'


@dataclass(frozen=True, slots=True)
class GroupingReading:
    """Reads the secretary's grouping of ``count`` numbered recommendations (from 0).

    Whatever is not in exactly one group is a fault, so what comes out is a partition.
    """

    count: int

    def read(self, text: str) -> Read:
        answer = last_json_object(text)
        if answer is None:
            return Read(self.absent(ReplyStatus.INVALID), NO_OBJECT)
        groups = _groups(answer.get("groups"))
        fault = groups if isinstance(groups, str) else grouping_fault(groups, self.count)
        if isinstance(groups, str) or fault is not None:
            return Read(self.absent(ReplyStatus.INVALID), fault)
        return Read({"groups": groups})

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"groups": None}


def _groups(value: object) -> list[list[int]] | str:
    """The groups that are not empty, or what is wrong with them."""
    if not isinstance(value, list):
        return _NO_LIST
    groups: list[list[int]] = []
    for entry in cast("list[Any]", value):
        if not isinstance(entry, list):
            return _NO_LIST
        numbers: list[int] = []
        for said in cast("list[Any]", entry):
            number = read_number(said, 1)
            if number is None or number.denominator != 1:
                return f"A group holds {shown(said)}; it must hold whole numbers only."
            numbers.append(int(number))
        groups.append(numbers)
    return [group for group in groups if group]


def grouping_fault(groups: Sequence[Sequence[int]], count: int) -> str | None:
    """What keeps a grouping from holding each of ``count`` recommendations exactly once."""
    times = Counter(index for group in groups for index in group)
    faults = [f"{index} does not exist" for index in sorted(times) if not 0 <= index < count]
    faults += [f"{index} is in no group" for index in range(count) if not times[index]]
    faults += [f"{index} is there more than once" for index in range(count) if times[index] > 1]
    if not faults:
        return None
    return "Every recommendation must be in exactly one group: " + ", ".join(faults) + "."


def group_by_similarity(
    titles: Sequence[str], similarity: Callable[[str, str], float], threshold: Fraction
) -> tuple[tuple[int, ...], ...]:
    """Titles linked, also through others, by a similarity of at least the threshold.

    ``similarity`` compares two folded titles, on the threshold's scale.

    Single linkage finds the same groups in whatever order the titles come, and each pair is
    compared in one fixed order in case the similarity itself is not symmetric.
    """
    names = sorted({folded(title) for title in titles})
    group_of = {name: number for number, name in enumerate(names)}
    for index, one in enumerate(names):
        for other in names[index + 1 :]:
            old, new = group_of[other], group_of[one]
            if old != new and exact(similarity(one, other)) >= threshold:
                group_of |= {name: new for name, group in group_of.items() if group == old}
    groups: dict[int, list[int]] = {}
    for index, title in enumerate(titles):
        groups.setdefault(group_of[folded(title)], []).append(index)
    return tuple(tuple(group) for group in groups.values())
