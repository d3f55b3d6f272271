"""A cancel, and what is known of each thing that was under way (PROTOCOLS 12)."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.meeting.entries import Content


class CancellationRequested(Content, frozen=True, kw_only=True):
    type = "cancellation.requested"
    from_outside = True

    reason: str | None = None


class CancelItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was under way at a cancel, and what is known of it (PROTOCOLS 12).

    ``kind`` is ``request``, ``child`` or ``operation``, ``ref`` its id.
    """

    kind: str
    ref: str
    participant: str | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    state: str


class CancelTold(Content, frozen=True, kw_only=True):
    """What is now known of one item; ``reason`` why nothing is."""

    kind: str
    ref: str
    participant: str | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    state: str
    reason: str | UnsetType = UNSET


class CancellationAcknowledged(CancelTold, frozen=True, kw_only=True):
    type = "cancellation.acknowledged"


class CancellationTold(CancelTold, frozen=True, kw_only=True):
    type = "cancellation.told"
    internal = True


class CancellationClosed(Content, frozen=True, kw_only=True):
    type = "cancellation.closed"

    state: str
    items: tuple[CancelItem, ...] = ()
