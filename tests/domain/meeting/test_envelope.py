from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from app.domain.meeting.envelope import (
    Drawn,
    Envelope,
    Unconfirmed,
    closing_seconds,
    most_input_tokens,
)
from app.domain.meeting.meeting import Limits
from app.domain.money import Cost, Price

PRICE = Price(Decimal("0.25"), Decimal("2.00"))
amounts = st.builds(
    Cost,
    st.integers(0, 1_000),
    st.integers(0, 1_000),
    st.decimals(0, 1, places=6, allow_nan=False),
)


def test_a_price_is_exact() -> None:
    assert PRICE.of(1, 1) == Decimal("0.00000225")
    assert Cost(1, 1, PRICE.of(1, 1)).record()["usd"] == "0.00000225"


def test_the_closing_reserve_is_kept_back_from_the_conversation() -> None:
    envelope = Envelope(tokens=100, closing=Cost(20, 20))
    assert envelope.has_room(Cost(30, 30))
    assert not envelope.has_room(Cost(31, 30))
    assert envelope.has_room(Cost(50, 50), closing=True)
    assert not envelope.has_room(Cost(51, 50), closing=True)


def test_an_unknown_price_never_fits_a_money_limit() -> None:
    assert not Envelope(usd=Decimal(100)).has_room(Cost(1, 1, None))
    assert Envelope(tokens=100).has_room(Cost(1, 1, None))


@given(st.lists(st.tuples(amounts, st.integers(0, 100))), st.integers(0, 5_000))
def test_spending_never_passes_the_envelope(requests: list[tuple[Cost, int]], tokens: int) -> None:
    drawn = Drawn()
    for worst, share in requests:
        if not Envelope(Decimal(3), tokens, drawn).has_room(worst):
            continue
        drawn += Drawn(reserved=worst)
        real = Cost(
            worst.input_tokens * share // 100,
            worst.output_tokens * share // 100,
            None if worst.usd is None else worst.usd * share / 100,
        )
        drawn = drawn - Drawn(reserved=worst) + Drawn(spent=real)
        assert drawn.spent.tokens <= tokens
        assert drawn.spent.usd is not None
        assert drawn.spent.usd <= 3
    assert drawn.reserved == Cost()


@given(amounts, amounts, st.integers(0, 3))
def test_what_was_drawn_can_be_written_down_and_read_back(
    spent: Cost, reserved: Cost, unconfirmed: int
) -> None:
    drawn = Drawn(3, spent, reserved, Unconfirmed(unconfirmed, spent))
    assert Drawn.read(drawn.record()) == drawn


@given(amounts, amounts)
def test_what_is_booked_without_an_answer_takes_its_room_once(worst: Cost, other: Cost) -> None:
    """It moves from what is reserved to what is spent, and stands in the way of the next."""
    before = Drawn(reserved=worst) + Drawn(spent=other)
    booked = before - Drawn(reserved=worst) + Drawn(spent=worst, unconfirmed=Unconfirmed(1, worst))
    assert booked.unconfirmed == Unconfirmed(1, worst)
    whole = worst.tokens + other.tokens
    for limit in (whole, whole - 1):
        for drawn in (before, booked):
            assert Envelope(tokens=limit, drawn=drawn).has_room(Cost()) is (limit >= whole)


def test_what_is_left_for_a_meeting_below() -> None:
    drawn = Drawn(spent=Cost(10, 10, Decimal("0.2")), reserved=Cost(5, 5, Decimal("0.1")))
    envelope = Envelope(Decimal(1), 100, drawn, Cost(10, 10, Decimal("0.3")))
    assert envelope.left == (Decimal("0.4"), 50)
    assert Envelope(drawn=drawn).left == (None, None)
    assert Envelope(Decimal("0.1"), 10, drawn).left == (0, 0)


@given(st.text())
def test_no_text_has_more_tokens_than_bytes(text: str) -> None:
    assert most_input_tokens(text) >= len(text.encode("utf-8", "surrogatepass"))


def test_the_closing_reserve_of_time() -> None:
    assert closing_seconds(600) == 30
    assert closing_seconds(100) == 10


def test_a_small_limit_keeps_room_to_talk() -> None:
    limits = Limits(tokens=1_000, usd=Decimal("0.10"))
    envelope = Envelope.of(limits, Cost(90_000, 4_000, Decimal(3)))
    assert envelope.closing.tokens == 200
    assert envelope.closing.usd == Decimal("0.02")
    assert envelope.has_room(Cost(700, 100, Decimal("0.08")))
    assert Envelope.of(Limits(), Cost(9, 9)).closing == Cost(9, 9)
