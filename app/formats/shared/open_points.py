"""What a meeting that drafts a synthesis leaves open, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.domain.meeting.history import History
from app.formats.shared.page import Cell, Theirs, said


def open_points(past: History, concerns: Sequence[str] = ()) -> Iterator[Cell]:
    """``concerns`` are what participants have named and nobody has drafted anything about."""
    outcome = past.outcome
    if outcome is None:
        return
    if outcome.decision is None and past.rounds and past.rounds[-1].motion:
        yield said("open.undecided", text=Theirs(past.rounds[-1].motion))
    draft = outcome.synthesis
    if draft is not None:
        yield from (said("open.differ", text=Theirs(text)) for text in draft.get("differ", ()))
        yield from (said("open.concern", text=Theirs(text)) for text in draft.get("concerns", ()))
        return
    yield from (said("open.concern", text=Theirs(text)) for text in concerns)
    for dissent in outcome.dissents:
        # Under a ruling, who lost may be those who were for the motion.
        if dissent.round and outcome.ruling is None:
            name = Theirs(dissent.participant)
            yield said("open.opposed", name=name, round=dissent.round)
    if past.rounds:
        yield said("open.no_synthesis")
