"""The worked vectors of PROTOCOLS, through the HTTP service."""

from __future__ import annotations

import pytest

from tests.service.running import RunningService

STANCES = {
    "A": "Yes. [STANCE: AGREE]",
    "D": "No. [STANCE: DISAGREE]",
    "N": "Either. [STANCE: NEUTRAL]",
    "U": "I have no marker.",
}


@pytest.mark.parametrize(
    ("letters", "consensus", "result"),
    [
        ("AAA", "FULL_CONSENSUS", "decided"),
        ("AAN", "MAJORITY_CONSENSUS", "decided"),
        ("AAU", "MAJORITY_CONSENSUS", "decided"),
        ("AND", "NO_CONSENSUS", "undecided"),
        ("AAD", "NO_CONSENSUS", "undecided"),
        ("AANN", "NO_CONSENSUS", "undecided"),
        ("AAAAND", "NO_CONSENSUS", "undecided"),
        ("NNN", "NO_CONSENSUS", "undecided"),
    ],
)
def test_roundtable(service: RunningService, letters: str, consensus: str, result: str) -> None:
    """PROTOCOLS 4."""
    scripts = {f"{letter}-{i}": [STANCES[letter]] for i, letter in enumerate(letters)}
    meeting = service.hold(
        topic="Shall we?",
        motion="We do it.",
        participants=service.scripted(**scripts),
        limits={"rounds": 1},
        ephemeral=True,
    )
    assert meeting["outcome"]["consensus"] == consensus
    assert meeting["outcome"]["result"] == result


def test_roundtable_five_agree_of_seven_with_two_timeouts(service: RunningService) -> None:
    """PROTOCOLS 4: MAJORITY (15 ≥ 14)."""
    seats = service.scripted(**{f"yes-{i}": [STANCES["A"]] for i in range(5)})
    service.agent("sleeper", script=["too late"], delay_seconds=60)
    seats += [{"name": f"late-{i}", "agent": "sleeper"} for i in range(2)]
    meeting = service.hold(
        topic="Shall we?",
        motion="We do it.",
        participants=seats,
        limits={"rounds": 1, "reply_seconds": 0.2},
    )
    assert meeting["outcome"]["consensus"] == "MAJORITY_CONSENSUS"
    assert meeting["outcome"]["effective_participants"] == 5
