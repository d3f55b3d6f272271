"""When a request that failed for now is sent again; the decision is a value."""

from __future__ import annotations

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
MOST_ATTEMPTS = 6


def pause_before_retry(attempt: int, asked: float | None, left: float) -> float | None:
    """Seconds to wait after the failed attempt number ``attempt`` (from 1), or None to give up.

    ``asked`` is the pause that the far side asked for; waiting less would only be refused
    again. ``left`` is what remains of the reply limit.
    """
    if attempt >= MOST_ATTEMPTS:
        return None
    pause = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
    pause = max(pause, asked or 0.0)
    return pause if pause < left else None
