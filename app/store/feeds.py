"""The latest events of meetings that somebody follows or that are at work, in memory.

A follower keeps no queue of its own, only the number it has reached, so a slow one costs
nothing; what a feed no longer holds is read from the database.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from app.store.frames import Frame

_MOST_FRAMES = 256
_MOST_BYTES = 1 << 20
"""Of one feed; its latest frame is held however large."""

_MOST_FEEDS = 4_000


class Feed:
    """Frames in order of number without gaps.

    There is one for each meeting at work, mostly with few frames and no reader, so it is small.
    A ``forgotten`` feed gets no more frames: who follows it must open it anew.
    """

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self._bytes = 0
        self._changed: asyncio.Event | None = None
        self.forgotten = False

    @property
    def changed(self) -> asyncio.Event:
        """What is set with the next frame, and only with that one."""
        if self._changed is None:
            self._changed = asyncio.Event()
        return self._changed

    def extend(self, frames: Sequence[Frame]) -> None:
        if self.frames and self.frames[-1].number + 1 != frames[0].number:
            # Another process wrote what lies between; it is read from the database.
            self._drop(len(self.frames))
        self.frames.extend(frames)
        self._bytes += sum(len(frame.content) for frame in frames)
        self._drop(max(0, len(self.frames) - _MOST_FRAMES))
        while self._bytes > _MOST_BYTES and len(self.frames) > 1:
            self._drop(1)
        self.wake()

    def _drop(self, count: int) -> None:
        self._bytes -= sum(len(frame.content) for frame in self.frames[:count])
        del self.frames[:count]

    def wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def after(self, number: int) -> list[Frame] | None:
        """The frames that follow ``number``; None if some of them are not held any more."""
        if not self.frames or self.frames[-1].number <= number:
            return []
        first = self.frames[0].number
        if first > number + 1:
            return None
        return [frame for frame in self.frames if frame.number > number]

    @property
    def ended(self) -> bool:
        return bool(self.frames) and self.frames[-1].last

    @property
    def goes_on(self) -> bool:
        """Whether it is worth waiting for more frames."""
        return not (self.forgotten or self.ended)


class Feeds:
    """All feeds of a process. Only the event loop touches them."""

    def __init__(self) -> None:
        self._feeds: OrderedDict[str, Feed] = OrderedDict()

    def get(self, meeting_id: str) -> Feed | None:
        return self._feeds.get(meeting_id)

    def open(self, meeting_id: str) -> Feed:
        feed = self._feeds.get(meeting_id)
        if feed is None:
            feed = self._feeds[meeting_id] = Feed()
            if len(self._feeds) > _MOST_FEEDS:
                self._forget_one()
        return feed

    def publish(self, meeting_id: str, frames: Sequence[Frame]) -> None:
        """Hand on what was committed. An ended meeting's feed stays with its readers only."""
        feed = self._feeds.get(meeting_id)
        if feed is None:
            if frames[0].number > 1:
                return
            feed = self.open(meeting_id)
        feed.extend(frames)
        if feed.ended:
            self._feeds.pop(meeting_id, None)

    def forget(self, meeting_id: str, feed: Feed) -> None:
        """Let go of a feed that will get no more frames."""
        if self._feeds.get(meeting_id) is feed:
            del self._feeds[meeting_id]
        feed.forgotten = True
        feed.wake()

    def _forget_one(self) -> None:
        meeting_id, feed = next(iter(self._feeds.items()))
        self.forget(meeting_id, feed)
