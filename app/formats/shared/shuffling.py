"""An order that favours nobody and can be worked out again (PROTOCOLS 8 and 16, fairness).

What is read first is liked more. So everybody gets options and others' words in an order of its
own, made by digests and not by chance: the meeting's id and the reader's name give it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable


def shuffled(items: Iterable[str], *reader: str) -> list[str]:
    """The items in the order for this reader, whatever order they come in."""

    def digest(item: str) -> bytes:
        # As a JSON list, so that no two different lists of texts make the same text.
        return hashlib.sha256(json.dumps([*reader, item]).encode()).digest()

    return sorted(items, key=digest)
