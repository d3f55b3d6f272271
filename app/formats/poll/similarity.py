"""How alike two titles are, where the secretary cannot say (PROTOCOLS 6, grouping)."""

from __future__ import annotations

from fractions import Fraction

ALIKE = Fraction(80)
"""In per cent, and rather too strict: an idea split in two is told as less agreement than there
is, but two ideas taken for one would make up a consensus that nobody had."""


def likeness(one: str, other: str) -> float:
    """From 0 to 100, whatever the order of the words; Japanese, unspaced, as it stands."""
    # The one library in the pure rooms: it computes on its two arguments and touches nothing else.
    # Its version is in the lock; should another one ever find other groups for a poll that is
    # still open, the replay says so loudly, by the fingerprint of the count. Most meetings never
    # need it, so a start does not load it.
    from rapidfuzz import fuzz  # noqa: PLC0415 - as said above

    return fuzz.token_sort_ratio(one, other)
