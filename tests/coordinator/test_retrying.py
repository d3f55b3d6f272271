import pytest

from app.coordinator.retrying import MOST_ATTEMPTS, pause_before_retry


@pytest.mark.parametrize(
    ("attempt", "asked", "left", "pause"),
    [
        (1, None, 60.0, 0.5),
        (2, None, 60.0, 1.0),
        (5, None, 60.0, 8.0),
        (1, 20.0, 60.0, 20.0),
        (4, 1.0, 60.0, 4.0),
        (1, 61.0, 60.0, None),
        (1, None, 0.5, None),
        (MOST_ATTEMPTS, None, 60.0, None),
    ],
)
def test_the_decision(attempt: int, asked: float | None, left: float, pause: float | None) -> None:
    assert pause_before_retry(attempt, asked, left) == pause
