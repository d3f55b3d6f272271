"""Putting like recommendations together (PROTOCOLS 6): by the secretary, or by their wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, cast

from app.domain.replies.messages import Arg, Code, Message
from app.domain.replies.numbers import read_number
from app.domain.replies.quoting import NO_OBJECT, shown
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.text import folded, last_json_object
from app.domain.values import Json, exact

GroupingMethod = Literal["secretary", "similarity"]

_NO_LIST = Message.of(Code.GROUPS_NOT_LISTS)


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
        fault = groups if isinstance(groups, Message) else grouping_fault(groups, self.count)
        if isinstance(groups, Message) or fault is not None:
            return Read(self.absent(ReplyStatus.INVALID), fault)
        return Read({"groups": groups})

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"groups": None}


def _groups(value: object) -> list[list[int]] | Message:
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
                return Message.of(Code.GROUP_NOT_OF_NUMBERS, value=shown(said))
            numbers.append(int(number))
        groups.append(numbers)
    return [group for group in groups if group]


def grouping_fault(groups: Sequence[Sequence[int]], count: int) -> Message | None:
    """What keeps a grouping from holding each of ``count`` recommendations exactly once."""
    times = Counter(index for group in groups for index in group)
    misplaced = {
        Code.UNKNOWN_TO_GROUPS: [index for index in sorted(times) if not 0 <= index < count],
        Code.IN_NO_GROUP: [index for index in range(count) if not times[index]],
        Code.IN_SEVERAL_GROUPS: [index for index in range(count) if times[index] > 1],
    }
    faults: tuple[Arg, ...] = tuple(
        Message.of(code, number=index) for code, found in misplaced.items() for index in found
    )
    return Message.of(Code.GROUPS_NO_PARTITION, faults=faults) if faults else None


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
