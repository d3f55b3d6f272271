"""A run that has nothing to do before a later time."""

from __future__ import annotations

from datetime import datetime


class Paused(Exception):
    """Ends the run; the meeting is advanced again at ``until``, by whoever then holds it.

    So a long wait occupies no memory, and a restart in between keeps the clock.
    """

    def __init__(self, until: datetime) -> None:
        super().__init__(until)
        self.until = until
