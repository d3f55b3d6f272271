"""What there is to choose from, as a list for whoever decides."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.ending.arbitration import Choice
from app.formats.shared.page import Cell, Page, Paragraph, Theirs, bullets, said


def listed(found: Sequence[Choice]) -> Page:
    """By their texts."""
    yield from _bullets([Theirs(choice.text) for choice in found])


def named(found: Sequence[Choice]) -> Page:
    """By their ids too, where these tell more than the text: a label, a number."""
    alone = len(found) == 1
    yield from _bullets(
        [
            Theirs(choice.text)
            if alone or choice.id == choice.text
            else said("handoff.candidate", id=Theirs(choice.id), text=Theirs(choice.text))
            for choice in found
        ]
    )


def _bullets(lines: Sequence[Cell]) -> Page:
    yield bullets(lines) if lines else Paragraph(said("decision.none_named"))
