"""Putting recommendations together: by the secretary, checked, or by their wording."""

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.grouping import GroupingReading, group_by_similarity, grouping_fault
from app.domain.similarity import ALIKE, likeness
from app.domain.steps import ReplyStatus


@pytest.mark.parametrize(
    ("groups", "fault"),
    [
        ([(0, 1), (2,)], None),
        ([(0, 1)], "2 is in no group"),
        ([(0, 1), (1, 2)], "1 is there more than once"),
        ([(0, 1, 2, 3)], "3 does not exist"),
        ([(-1, 0, 1, 2)], "-1 does not exist"),
    ],
)
def test_every_recommendation_is_in_exactly_one_group(
    groups: Sequence[Sequence[int]], fault: str | None
) -> None:
    found = grouping_fault(groups, 3)
    assert (found is None) if fault is None else (found is not None and fault in found)


def alike(one: str, other: str) -> float:
    """Made to be asymmetric: the shared part of the first one's letters, in per cent."""
    return 100 * len(set(one) & set(other)) / max(1, len(set(one)))


def test_similar_titles_are_linked_through_others() -> None:
    groups = group_by_similarity(["abcd", "ghij", "cdef", "efgh", "ABCD"], alike, Fraction(50))
    assert groups == ((0, 1, 2, 3, 4),)
    apart = group_by_similarity(["abcd", "ghij", "cdef", " ABCD"], alike, Fraction(60))
    assert apart == ((0, 3), (1,), (2,))
    assert group_by_similarity([], alike, Fraction(1)) == ()


@given(st.lists(st.text("abcdef", min_size=1, max_size=4), max_size=10), st.randoms())
def test_grouping_does_not_depend_on_the_order(titles: list[str], chance: random.Random) -> None:
    order = list(range(len(titles)))
    chance.shuffle(order)
    groups = group_by_similarity(titles, alike, Fraction(60))
    shuffled = group_by_similarity([titles[i] for i in order], alike, Fraction(60))
    assert {frozenset(order[i] for i in group) for group in shuffled} == set(map(frozenset, groups))
    assert grouping_fault(groups, len(titles)) is None


def test_wordings_of_one_idea_are_alike_and_other_ideas_are_not() -> None:
    titles = [
        "Move to PostgreSQL",
        "migrate to postgresql",
        "メッセージキューを導入する",
        "メッセージキューの導入",
        "Use a queue",
        "use a cache",
        "キューを入れる",
        "キャッシュを入れる",
    ]
    groups = group_by_similarity(titles, likeness, ALIKE)
    assert groups == ((0, 1), (2, 3), (4,), (5,), (6,), (7,))


@pytest.mark.parametrize(
    "text",
    ['{"groups": [[0, 2], [1]]}', 'So:\n```json\n{"groups": [["0", 2.0], [], ["１"]]}\n```'],
)
def test_the_secretarys_grouping_is_read(text: str) -> None:
    read = GroupingReading(3).read(text)
    assert (read.fault, read.values) == (None, {"groups": [[0, 2], [1]]})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("They are all the same.", "There is no JSON object in the reply."),
        ('{"groups": "all"}', 'The key "groups" must be a list of lists of numbers'),
        ('{"groups": [0, 1, 2]}', 'The key "groups" must be a list of lists of numbers'),
        ('{"groups": [[0, 1], [true]]}', "A group holds true; it must hold whole numbers only."),
        ('{"groups": [[0, 1], [2.5]]}', "A group holds a number; it must hold whole numbers"),
        ('{"groups": [[0, 1], ["two"]]}', 'A group holds "two"; it must hold whole numbers only.'),
        ('{"groups": [[1, 2, 3]]}', "Every recommendation must be in exactly one group: 3 does"),
        ('{"groups": []}', "Every recommendation must be in exactly one group: 0 is in no group"),
    ],
)
def test_a_grouping_that_is_no_partition_is_at_fault(text: str, fault: str) -> None:
    read = GroupingReading(3).read(text)
    assert read.fault is not None
    assert read.fault.startswith(fault)
    assert read.values == GroupingReading(3).absent(ReplyStatus.TIMEOUT) == {"groups": None}
