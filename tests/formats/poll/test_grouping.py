"""Putting recommendations together: by the secretary, checked, or by their wording."""

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.replies.messages import Arg, Code, Message
from app.domain.replies.reading import ReplyStatus
from app.formats.poll.grouping import GroupingReading, group_by_similarity, grouping_fault
from app.formats.poll.similarity import ALIKE, likeness


def no_partition(**numbers: int) -> Message:
    faults: tuple[Arg, ...] = tuple(
        Message.of(Code(code), number=number) for code, number in numbers.items()
    )
    return Message.of(Code.GROUPS_NO_PARTITION, faults=faults)


@pytest.mark.parametrize(
    ("groups", "fault"),
    [
        ([(0, 1), (2,)], None),
        ([(0, 1)], no_partition(in_no_group=2)),
        ([(0, 1), (1, 2)], no_partition(in_several_groups=1)),
        ([(0, 1, 2, 3)], no_partition(unknown_to_groups=3)),
        ([(-1, 0, 1, 2)], no_partition(unknown_to_groups=-1)),
        ([(0, 0, 5, 1)], no_partition(unknown_to_groups=5, in_no_group=2, in_several_groups=0)),
    ],
)
def test_every_recommendation_is_in_exactly_one_group(
    groups: Sequence[Sequence[int]], fault: Message | None
) -> None:
    assert grouping_fault(groups, 3) == fault


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
        ("They are all the same.", Message.of(Code.NO_OBJECT)),
        ('{"groups": "all"}', Message.of(Code.GROUPS_NOT_LISTS)),
        ('{"groups": [0, 1, 2]}', Message.of(Code.GROUPS_NOT_LISTS)),
        ('{"groups": [[0, 1], [true]]}', Message.of(Code.GROUP_NOT_OF_NUMBERS, value=True)),
        (
            '{"groups": [[0, 1], [2.5]]}',
            Message.of(Code.GROUP_NOT_OF_NUMBERS, value=Message.of(Code.A_NUMBER)),
        ),
        ('{"groups": [[0, 1], ["two"]]}', Message.of(Code.GROUP_NOT_OF_NUMBERS, value="two")),
        ('{"groups": [[1, 2, 3]]}', no_partition(unknown_to_groups=3, in_no_group=0)),
        ('{"groups": [[0, 1]]}', no_partition(in_no_group=2)),
    ],
)
def test_a_grouping_that_is_no_partition_is_at_fault(text: str, fault: Message) -> None:
    read = GroupingReading(3).read(text)
    assert read.fault == fault
    assert read.values == GroupingReading(3).absent(ReplyStatus.TIMEOUT) == {"groups": None}
