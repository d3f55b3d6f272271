"""The service with the seventh format, registered from outside: ``python -m tests.seventh serve``.

``HANDS`` names the versions that this process has at hand; ``1!`` is a first version whose code has
changed so that it cannot go on with logs of before.
"""

from __future__ import annotations

import os
from dataclasses import replace

from app.domain.meeting.meeting import Meeting
from app.domain.steps import Conversation
from app.formats import FORMATS
from tests.seventh import show_of_hands


def _changed(meeting: Meeting) -> Conversation:
    return show_of_hands.hold(replace(meeting, motion="Something else."))


_VERSIONS = {
    "1": show_of_hands.FORMAT,
    "1!": replace(show_of_hands.FORMAT, hold=_changed),
    "2": show_of_hands.SECOND,
}

for _version in os.environ.get("HANDS", "1").split(","):
    FORMATS.register(_VERSIONS[_version])

if __name__ == "__main__":
    from app.cli import main

    main()
