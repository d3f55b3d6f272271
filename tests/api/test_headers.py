"""Reading headers, by values."""

import pytest

from app.api.negotiation import chosen
from app.api.problems import Problem
from app.api.request_headers import (
    idempotency_key,
    last_event_cursor,
    last_event_number,
    matches,
    preferred_wait,
)

OFFERS = ("text/markdown", "text/html", "application/json")


@pytest.mark.parametrize(
    ("accept", "offer"),
    [
        (None, "text/markdown"),
        ("", "text/markdown"),
        ("*/*", "text/markdown"),
        ("text/*", "text/markdown"),
        ("text/html", "text/html"),
        ("TEXT/HTML", "text/html"),
        ("application/*", "application/json"),
        ("application/json;q=0.5, text/html;q=0.4", "application/json"),
        ("text/markdown;q=0, */*", "text/html"),
        ("text/*;q=0.3, text/html;q=0.7, */*;q=0.5", "text/html"),
        ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", "text/html"),
        ("text/markdown; charset=utf-8; q=0.2, application/json; q=0.3", "application/json"),
        ("garbage", "text/markdown"),
        ("garbage, text/html", "text/html"),
        ("text/html;q=high, application/json;q=0.1", "application/json"),
    ],
)
def test_the_best_liked_offer(accept: str | None, offer: str) -> None:
    assert chosen(accept, OFFERS) == offer


@pytest.mark.parametrize("accept", ["image/png", "text/html;q=0", "*/*;q=0", "text/html;q=2"])
def test_nothing_acceptable(accept: str) -> None:
    with pytest.raises(Problem) as caught:
        chosen(accept, OFFERS)
    assert caught.value.code == "not-acceptable"
    assert "text/markdown" in caught.value.detail


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ([], None),
        (["wait=5"], 5),
        (["Wait = 5"], 5),
        (['wait="5"'], 5),
        (["respond-async, wait=5"], 5),
        (["respond-async; x=1, wait=5; y"], 5),
        (["return=minimal", "wait=7"], 7),
        (["wait=5, wait=9"], 5),
        (["wait=600"], 600),
        (["wait=601"], 600),
        (["wait=999999999999999"], 600),
        (["wait=" + "9" * 5000], None),
        (["wait=0"], None),
        (["wait=-1"], None),
        (["wait=1.5"], None),
        (["wait=soon"], None),
        (["wait"], None),
        (["waiting=5"], None),
        ([",,;=,"], None),
    ],
)
def test_preferred_wait(prefer: list[str], seconds: int | None) -> None:
    assert preferred_wait(prefer) == seconds


@pytest.mark.parametrize("key", ["a", "x" * 255, "5c4f-…"[:4], "two words"])
def test_good_keys(key: str) -> None:
    assert idempotency_key(key) == key


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "鍵"])
def test_bad_keys(key: str) -> None:
    with pytest.raises(Problem) as caught:
        idempotency_key(key)
    assert caught.value.faults[0].pointer == "/Idempotency-Key"


def test_last_event_id() -> None:
    assert last_event_number(None) is None
    assert last_event_number("") is None
    assert last_event_number("0") == 0
    assert last_event_number("17") == 17
    assert last_event_cursor("") is None
    assert last_event_cursor("c-17") == "c-17"


@pytest.mark.parametrize("header", ["x", "-1", "1.0", "９", "9" * 16, " 1"])
def test_bad_last_event_id(header: str) -> None:
    with pytest.raises(Problem) as caught:
        last_event_number(header)
    assert caught.value.faults[0].pointer == "/Last-Event-ID"


@pytest.mark.parametrize("header", ["x" * 201, "a\nb", "é"])
def test_bad_opaque_last_event_id(header: str) -> None:
    with pytest.raises(Problem):
        last_event_cursor(header)


@pytest.mark.parametrize(
    ("if_none_match", "known"),
    [
        (None, False),
        ("*", True),
        ('W/"3"', True),
        ('"3"', True),
        ('"1", W/"3"', True),
        ('W/"2"', False),
        ("3", False),
        ("", False),
    ],
)
def test_if_none_match(if_none_match: str | None, known: bool) -> None:
    assert matches(if_none_match, 'W/"3"') is known
