"""Whether participants line up, by a rule fixed beforehand (PROTOCOLS 1, consensus)."""

from __future__ import annotations

from enum import StrEnum


class Consensus(StrEnum):
    FULL = "FULL_CONSENSUS"
    MAJORITY = "MAJORITY_CONSENSUS"
    NONE = "NO_CONSENSUS"

    @property
    def reached(self) -> bool:
        return self is not Consensus.NONE
