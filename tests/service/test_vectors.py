"""The worked vectors of PROTOCOLS, through the HTTP service."""

from __future__ import annotations

import json
from typing import Any

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


@pytest.mark.parametrize(
    ("text", "stance", "markers", "differing"),
    [
        ("…so yes. [STANCE: AGREE]", "AGREE", 1, False),
        ("**[stance:disagree]**", "DISAGREE", 1, False),
        ("【STANCE：NEUTRAL】", "NEUTRAL", 1, False),
        ("A said [STANCE: AGREE], I do not. [STANCE: DISAGREE]", "DISAGREE", 2, True),
        ("```\n[STANCE: AGREE]\n```", "UNKNOWN", 0, False),
        ("<think>[STANCE: AGREE]</think> No. [STANCE: DISAGREE]", "DISAGREE", 1, False),
        ("[STANCE: AGREE/DISAGREE/NEUTRAL]", "UNKNOWN", 0, False),
        ("[STANCE: 賛成]", "UNKNOWN", 0, False),
        ("[STANCE: AGREED]", "UNKNOWN", 0, False),
    ],
)
def test_stances(
    service: RunningService, text: str, stance: str, markers: int, differing: bool
) -> None:
    """PROTOCOLS 3."""
    seats = service.scripted(reader=[text], other=[STANCES["N"]])
    meeting = service.hold(
        topic="Shall we?", participants=seats, limits={"rounds": 1}, ephemeral=True
    )
    reply = next(
        event["data"]
        for event in service.events(meeting["id"])
        if event["type"] == "reply.received" and event["data"]["participant"] == "reader"
    )
    assert (reply["stance"], reply["markers"], reply["differing"]) == (stance, markers, differing)


def _poll(service: RunningService, scripts: dict[str, list[str]], **wish: Any) -> dict[str, Any]:
    meeting = service.hold(
        topic="Which?",
        format="poll",
        participants=service.scripted(**scripts),
        ephemeral=True,
        **wish,
    )
    return meeting["outcome"]


def test_poll_ranking(service: RunningService) -> None:
    """PROTOCOLS 6: XYZ, XZY, YXZ: X 8, Y 6, Z 4."""
    scripts = {
        f"ranker-{order}": [json.dumps({"ranking": list(order)})] for order in ("XYZ", "XZY", "YXZ")
    }
    outcome = _poll(service, scripts, options=list("XYZ"), rules={"output": "ranking"})
    assert outcome["poll"]["points"] == {"X": 8, "Y": 6, "Z": 4}
    assert (outcome["result"], outcome["decision"]) == ("decided", "X")
    assert outcome["decided_by"]["kind"] == "poll"


def test_poll_recommendations(service: RunningService) -> None:
    """PROTOCOLS 6: of ten, 7 mentions are consensus, 6 and 4 divergence, 3 an outlier."""
    mentions = {
        "Cut the build time in half": 7,
        "Write more tests": 6,
        "Hire a second operator": 4,
        "Move to Kubernetes": 3,
    }
    scripts: dict[str, list[str]] = {}
    for seat in range(10):
        titles = [
            title
            for place, (title, count) in enumerate(mentions.items())
            if (seat - 3 * place) % 10 < count
        ]
        listed = [{"title": title, "confidence": 8, "why": "so"} for title in titles]
        scripts[f"asked-{seat}"] = [json.dumps({"recommendations": listed})]
    service.agent("mute", script=["I cannot group these."])
    outcome = _poll(service, scripts, rules={"output": "recommendation"}, secretary="mute")
    kinds = {group["title"]: group["kind"] for group in outcome["poll"]["groups"]}
    assert list(kinds.values()) == ["consensus", "divergence", "divergence", "outlier"]
    assert outcome["decision"] == "Cut the build time in half"
    assert outcome["decision_source"] == "synthesis"


def test_poll_scores(service: RunningService) -> None:
    """PROTOCOLS 6: 7, 8, 9: mean 8, median 8, deviation 1.0."""
    scripts = {
        f"scorer-{score}": [json.dumps({"scores": {"X": score, "Y": 5}})] for score in (7, 8, 9)
    }
    outcome = _poll(service, scripts, options=["X", "Y"], rules={"output": "scoring"})
    spread = outcome["poll"]["scores"]["X"]["overall"]
    assert (spread["mean"], spread["median"], spread["deviation"]) == (8, 8, 1.0)


def test_poll_binary_five_to_five(service: RunningService) -> None:
    """PROTOCOLS 6: reported as split, no winner."""
    answers = ["YES"] * 5 + ["NO"] * 5
    scripts = {
        f"voter-{seat}": [json.dumps({"answer": answer, "reasons": ["so"], "confidence": 7})]
        for seat, answer in enumerate(answers)
    }
    outcome = _poll(service, scripts, rules={"output": "binary"})
    assert outcome["poll"]["counts"] == {"YES": 5, "NO": 5}
    assert outcome["poll"]["split"] is True
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "completed")


def _vote(
    service: RunningService,
    ballots: dict[str, tuple[float, float, str]],
    options: list[str],
    rules: dict[str, Any],
    expert: str | None = None,
) -> dict[str, Any]:
    seats: list[dict[str, Any]] = []
    for name, (weight, confidence, option) in ballots.items():
        ballot = {"vote": option, "confidence": confidence, "rationale": "so", "mitigation": "m"}
        service.agent(name, script=[json.dumps(ballot)])
        seats.append({"name": name, "agent": name, "weight": weight, "expert": name == expert})
    meeting = service.hold(
        topic="Which?",
        format="vote",
        options=options,
        participants=seats,
        rules={"protocol": "weighted", **rules},
        ephemeral=True,
    )
    return meeting["outcome"]


DATABASES = {
    "database-architect": (2.0, 0.9, "PostgreSQL"),
    "security-architect": (1.0, 0.8, "PostgreSQL"),
    "devops": (1.5, 0.7, "DynamoDB"),
}


def test_vote_below_its_threshold(service: RunningService) -> None:
    """PROTOCOLS 7: PostgreSQL 2.6/4.5 = 57.8 %, DynamoDB 23.3 %, MongoDB 0: not reached."""
    options = ["PostgreSQL", "MongoDB", "DynamoDB"]
    outcome = _vote(service, DATABASES, options, {"threshold": 0.6, "resolution": []})
    shares = {option: share["percent"] for option, share in outcome["tally"]["shares"].items()}
    assert shares == {"PostgreSQL": 57.8, "MongoDB": 0.0, "DynamoDB": 23.3}
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "threshold")


def test_vote_by_expert_override(service: RunningService) -> None:
    """PROTOCOLS 7: decided PostgreSQL by expert override, devops's dissent kept."""
    options = ["PostgreSQL", "MongoDB", "DynamoDB"]
    outcome = _vote(service, DATABASES, options, {"threshold": 0.6}, expert="database-architect")
    assert (outcome["result"], outcome["decision"]) == ("decided", "PostgreSQL")
    assert outcome["decided_by"]["kind"] == "expert"
    assert [dissent["participant"] for dissent in outcome["dissents"]] == ["devops"]


@pytest.mark.parametrize(
    ("normalize", "percent", "result"),
    [("expressed", 66.7, "decided"), ("weight", 51.4, "undecided")],
)
def test_vote_normalised(
    service: RunningService, normalize: str, percent: float, result: str
) -> None:
    """PROTOCOLS 7: Microservices 1.8/2.7 reached, 1.8/3.5 not."""
    ballots = {
        "architect": (1.5, 0.8, "Microservices"),
        "developer": (1.0, 0.9, "Monolith"),
        "devops-2": (1.0, 0.6, "Microservices"),
    }
    rules = {"threshold": 0.6, "normalize": normalize, "resolution": []}
    outcome = _vote(service, ballots, ["Microservices", "Monolith"], rules)
    assert outcome["tally"]["shares"]["Microservices"]["percent"] == percent
    assert outcome["result"] == result
