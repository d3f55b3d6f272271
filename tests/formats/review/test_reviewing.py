"""How a review stalls (PROTOCOLS 11): who waits for whom."""

import pytest

from app.formats.review.reviewing import wait_circle


@pytest.mark.parametrize(
    ("waits", "circle"),
    [
        ({}, ()),
        ({"ann": "ben"}, ()),
        ({"ann": "ben", "ben": "ann"}, ("ann", "ben")),
        ({"ann": "ben", "ben": "cy", "cy": "ben"}, ("ben", "cy")),
        ({"ann": "ben", "ben": "cy", "cy": "ann"}, ("ann", "ben", "cy")),
        ({"ann": "ann"}, ()),
        ({"ann": "ann", "ben": "cy", "cy": "ben"}, ("ben", "cy")),
    ],
)
def test_waiting_for_each_other_is_a_cycle(waits: dict[str, str], circle: tuple[str, ...]) -> None:
    assert wait_circle(waits) == circle
