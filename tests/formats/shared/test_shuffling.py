"""An order for each reader, the same again from the same seed."""

from collections import Counter

from app.formats.shared.shuffling import shuffled


def test_it_is_an_order_of_the_same_items_whatever_order_they_come_in() -> None:
    items = [f"option {number}" for number in range(9)]
    order = shuffled(items, "mtg_1", "ann", "options")
    assert sorted(order) == items
    assert shuffled(reversed(items), "mtg_1", "ann", "options") == order
    assert shuffled(items, "mtg_1", "ben", "options") != order
    assert shuffled(items, "mtg_2", "ann", "options") != order


def test_no_item_is_favoured() -> None:
    firsts = Counter(shuffled("ABC", "mtg_1", f"voter {n}")[0] for n in range(3_000))
    assert all(900 < firsts[item] < 1_100 for item in "ABC")


def test_halves_of_characters_do_no_harm() -> None:
    assert len(shuffled(["\ud800", "a"], "mtg_1")) == 2
