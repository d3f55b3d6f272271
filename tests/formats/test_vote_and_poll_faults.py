"""What a vote and a poll refuse before anybody is asked, each fault with its field."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from app.domain.meeting.meeting import Criterion, Meeting
from app.formats import FORMATS
from app.formats.poll.rules import PollRules
from app.formats.vote.rules import VoteRules
from tests.formats.ballots import polling, seats, voting


def pointers(meeting: Meeting) -> list[str]:
    return [fault.pointer for fault in FORMATS[meeting.format].faults(meeting)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"options": ()}, ["#/options"]),
        ({"options": ("A",)}, ["#/options"]),
        ({"options": ("A", " ａ ", "B")}, ["#/options/1"]),
        ({"options": ("A", "B", "abstain")}, ["#/options/2"]),
        ({"protocol": "coin"}, ["#/rules/protocol"]),
        ({"threshold": 0.7}, ["#/rules/threshold"]),
        ({"protocol": "unanimous", "threshold": 1.0}, ["#/rules/threshold"]),
        ({"protocol": "ranked", "threshold": 0.6}, ["#/rules/threshold"]),
        ({"protocol": "weighted", "threshold": 0.6}, []),
        ({"protocol": "supermajority", "threshold": 1}, []),
        ({"protocol": "weighted", "threshold": 0}, ["#/rules/threshold"]),
        ({"protocol": "weighted", "threshold": 1.01}, ["#/rules/threshold"]),
        ({"protocol": "weighted", "threshold": -0.5}, ["#/rules/threshold"]),
        ({"protocol": "weighted", "threshold": True}, ["#/rules/threshold"]),
        ({"protocol": "weighted", "threshold": float("inf")}, ["#/rules/threshold"]),
        ({"quorum": 1}, []),
        ({"quorum": 3}, []),
        ({"quorum": 4}, ["#/rules/quorum"]),
        ({"quorum": 0}, ["#/rules/quorum"]),
        ({"quorum": -1}, ["#/rules/quorum"]),
        ({"quorum": 1.0}, []),
        ({"quorum": 0.01}, []),
        ({"quorum": 0.0}, ["#/rules/quorum"]),
        ({"quorum": 1.5}, ["#/rules/quorum"]),
        ({"quorum": True}, ["#/rules/quorum"]),
        ({"quorum": "half"}, ["#/rules/quorum"]),
        ({"protocol": "unanimous", "quorum": 2}, ["#/rules/quorum"]),
        ({"protocol": "unanimous", "quorum": 3}, []),
        ({"protocol": "unanimous", "quorum": 1.0}, []),
        ({"resolution": []}, []),
        ({"resolution": ["escalate"]}, ["#/rules/resolution"]),
        ({"resolution": ["expert", "escalate", "deliberate"]}, ["#/rules/resolution"]),
        ({"resolution": ["deliberate", "expert", "escalate"]}, []),
        ({"resolution": ["deliberate", "deliberate"]}, ["#/rules/resolution/1"]),
        ({"resolution": ["pray"]}, ["#/rules/resolution/0"]),
        ({"revotes": 0}, ["#/rules/revotes"]),
        ({"revotes": 11}, ["#/rules/revotes"]),
        ({"revotes": True}, ["#/rules/revotes"]),
        ({"seats": seats(ben={"weight": Fraction("2.1")})}, ["#/participants/1/weight"]),
        ({"seats": seats(ann={"weight": Fraction("0.9")})}, ["#/participants/0/weight"]),
        ({"seats": seats(ann={"weight": Fraction(1)}, ben={"weight": Fraction(2)})}, []),
        ({"options": (), "quorum": 9}, ["#/options", "#/rules/quorum"]),
    ],
)
def test_faults_of_a_vote(fields: dict[str, Any], expected: list[str]) -> None:
    assert pointers(voting(**fields)) == expected


TWICE = (Criterion("cost", "a"), Criterion("COST", "b"))
ONCE = (Criterion("cost", "a"),)


@pytest.mark.parametrize(
    ("output", "fields", "expected"),
    [
        ("recommendation", {}, []),
        ("binary", {"options": ("A",)}, []),
        ("binary", {"options": ("A", "a")}, ["#/options/1"]),
        ("ranking", {}, ["#/options"]),
        ("scoring", {}, ["#/options"]),
        ("ranking", {"options": ("A",)}, ["#/options"]),
        ("ranking", {"options": ("A", "Ａ")}, ["#/options/1"]),
        ("ranking", {"options": ("A", "abstain")}, []),
        ("ranking", {"options": ("A", "B"), "criteria": ONCE}, ["#/criteria"]),
        ("scoring", {"options": ("A", "B"), "criteria": ONCE}, []),
        ("scoring", {"options": ("A", "B"), "criteria": TWICE}, ["#/criteria/1/id"]),
        ("scoring", {"options": ("A", "B"), "high_variance": 0}, ["#/rules/high_variance"]),
        ("scoring", {"options": ("A", "B"), "high_variance": 9.5}, ["#/rules/high_variance"]),
        ("scoring", {"options": ("A", "B"), "high_variance": True}, ["#/rules/high_variance"]),
        ("scoring", {"options": ("A", "B"), "high_variance": 1.5}, []),
        ("gut", {}, ["#/rules/output"]),
    ],
)
def test_faults_of_a_poll(output: str, fields: dict[str, Any], expected: list[str]) -> None:
    assert pointers(polling(output, **fields)) == expected


def read(rules: type, given: str) -> Any:
    return TypeAdapter(rules).validate_json(given, strict=True)


def test_rules_are_read_from_json_as_they_are_meant() -> None:
    assert read(VoteRules, "{}") == VoteRules()
    assert VoteRules().resolution == ("expert", "deliberate", "escalate")
    one, all_ = (read(VoteRules, f'{{"quorum": {quorum}}}').quorum for quorum in ("1", "1.0"))
    assert (type(one), type(all_)) == (int, float)
    assert (
        TypeAdapter(VoteRules).dump_python(read(VoteRules, '{"resolution": []}'), mode="json")[
            "resolution"
        ]
        == []
    )
    assert read(PollRules, '{"output": "binary"}') == PollRules(output="binary")


@pytest.mark.parametrize(
    ("rules", "given"),
    [
        (VoteRules, '{"quorum": true}'),
        (VoteRules, '{"quorum": "1"}'),
        (VoteRules, '{"threshold": "0.6"}'),
        (VoteRules, '{"resolution": ["pray"]}'),
        (VoteRules, '{"protocol": "coin"}'),
        (VoteRules, '{"critical": 1}'),
        (PollRules, '{"output": "gut"}'),
        (PollRules, '{"high_variance": true}'),
    ],
)
def test_rules_of_the_wrong_type_are_refused(rules: type, given: str) -> None:
    with pytest.raises(ValidationError):
        read(rules, given)
