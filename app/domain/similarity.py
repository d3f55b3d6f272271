"""How alike two titles are, where the secretary cannot say (PROTOCOLS 6, grouping)."""

from __future__ import annotations

from fractions import Fraction

# The one library in the pure rooms: it computes on its two arguments and touches nothing else.
# Its version is in the lock; should another one ever find other groups for a poll that is still
# open, the replay says so loudly, by the fingerprint of the count.
from rapidfuzz import fuzz

ALIKE = Fraction(80)
"""In per cent, and rather too strict: an idea split in two is told as less agreement than there
is, but two ideas taken for one would make up a consensus that nobody had."""


def likeness(one: str, other: str) -> float:
    """From 0 to 100, whatever the order of the words; Japanese, unspaced, as it stands."""
    return fuzz.token_sort_ratio(one, other)
