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


class Patience:
    """With which agents a meeting has waited in vain, and in which round.

    An agent that could not be had after all waiting is asked once, without a pause, for the rest of
    that round: a provider that is down must not hold up every question put to it. A process that
    takes the meeting up is patient again.
    """

    def __init__(self) -> None:
        self._lost: dict[str, int] = {}

    def pause(
        self, agent: str, round_: int, attempt: int, asked: float | None, left: float
    ) -> float | None:
        """As ``pause_before_retry``, while there is patience. To give up after a wait ends it."""
        if self._lost.get(agent) == round_:
            return None
        pause = pause_before_retry(attempt, asked, left)
        if pause is None and attempt > 1:
            self._lost[agent] = round_
        return pause
