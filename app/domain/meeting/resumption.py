"""Going on with a meeting that has ended without a decision (PROTOCOLS 12, resuming).

A resumed meeting goes on where it stood: rounds, spending and record continue. The meeting's own
``limits`` and ``materials`` are always those in force now. A leg is what lies between the start of
a meeting, or a resuming, and the next end; a meeting that was never resumed has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from app.domain.meeting.events import MeetingResumed
from app.domain.meeting.meeting import Changed, Material, Meeting, Resumption


def resumed(meeting: Meeting, told: MeetingResumed) -> Meeting:
    """The meeting as it goes on after this ``meeting.resumed``."""
    resumption = Resumption(
        cast("Changed", told.changed), told.note, told.after_round, meeting.materials
    )
    return replace(
        meeting,
        limits=told.limits,
        materials=updated(meeting.materials, told.materials),
        resumptions=(*meeting.resumptions, resumption),
    )


def updated(materials: Sequence[Material], given: Sequence[Material]) -> tuple[Material, ...]:
    """The materials with those given now in place of the ones with the same id, or behind."""
    new = {material.id: material for material in given}
    kept = [new.pop(material.id, material) for material in materials]
    return (*kept, *new.values())


def versions_given(meeting: Meeting) -> dict[tuple[str, str], str]:
    """The text of every version of a material that was ever in force, by id and version."""
    before = [each for resumption in meeting.resumptions for each in resumption.materials_before]
    return {(each.id, each.version): each.text for each in (*before, *meeting.materials)}


def materials_in(meeting: Meeting, round_: int) -> tuple[Material, ...]:
    """The materials that this round was, or is, held on."""
    for resumption in meeting.resumptions:
        if round_ <= resumption.after_round:
            return resumption.materials_before
    return meeting.materials


def version_in(meeting: Meeting, id_: str, round_: int) -> str | None:
    """The version of a material that this round was, or is, held on."""
    found = (each.version for each in materials_in(meeting, round_) if each.id == id_)
    return next(found, None)
