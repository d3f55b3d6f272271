"""From bodies to wishes, by values."""

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from app.api.json_body import JsonBody, validated
from app.api.problems import Problem
from app.api.request_mapping import unknown_rule, wish_of
from app.api.schemas.meeting_request import request_schema
from app.coordinator.commands import OpenMeeting, SeatWanted
from app.domain.errors import InvalidRequest
from app.domain.meeting.meeting import CompletionGate, Criterion, Destination, Limits, Material
from app.formats import FORMATS

_DEADLINE = "/destination/check_deadline_seconds"


def body(content: Any) -> JsonBody:
    return JsonBody(json.dumps(content).encode(), content)


def refused(content: Any) -> tuple[str, list[str]]:
    """The problem's code and the pointers of its faults."""
    with pytest.raises((Problem, InvalidRequest)) as caught:
        wish_of(body(content))
    return caught.value.code, [fault.pointer for fault in caught.value.faults]


def test_a_topic_is_enough() -> None:
    assert wish_of(body({"topic": "Tea or coffee?"})) == OpenMeeting(topic="Tea or coffee?")


def test_every_field_is_mapped() -> None:
    wish = wish_of(
        body(
            {
                "topic": "単一リポジトリにすべきか",
                "format": "roundtable",
                "motion": "単一リポジトリにする。",
                "context": "12人\nのチーム",
                "options": ["mono", "many"],
                "participants": [
                    {"name": " architect ", "role": "structure", "agent": "a-1", "weight": 1.1},
                    {"expert": True},
                ],
                "count": 2,
                "secretary": "scribe",
                "rules": {},
                "limits": {
                    "rounds": 5,
                    "seconds": 90,
                    "reply_seconds": 0.5,
                    "usd": "0.30",
                    "tokens": 9000,
                    "no_progress_rounds": 1,
                    "arbitration_seconds": 10,
                },
                "language": "ja",
                "identities": "shown",
                "ephemeral": True,
                "metadata": {"team": "platform"},
            }
        )
    )
    assert wish == OpenMeeting(
        topic="単一リポジトリにすべきか",
        motion="単一リポジトリにする。",
        context="12人\nのチーム",
        options=("mono", "many"),
        seats=(
            SeatWanted("architect", "structure", "a-1", Fraction(11, 10)),
            SeatWanted(expert=True),
        ),
        count=2,
        secretary="scribe",
        limits=Limits(5, 90, 0.5, Decimal("0.30"), 9000, 1, 10),
        language="ja",
        identities="shown",
        ephemeral=True,
        metadata={"team": "platform"},
    )


@pytest.mark.parametrize("usd", [0.1, "0.1", 1, "1e-3"])
def test_money_is_exact(usd: object) -> None:
    wish = wish_of(body({"topic": "x", "limits": {"usd": usd}}))
    assert wish.limits.usd == Decimal(str(usd))


DEFAULTS = {
    "topic": "x",
    "request": None,
    "motion": None,
    "options": [],
    "participants": [],
    "count": None,
    "chair": None,
    "arbiter": None,
    "rules": {},
    "completion_gate": None,
    "materials": [],
    "criteria": [],
    "destination": None,
    "domains": [],
    "parent_id": None,
    "webhook": None,
    "metadata": {},
}


def test_the_contracts_example_of_all_defaults_is_taken() -> None:
    assert wish_of(body(DEFAULTS)) == OpenMeeting(topic="x")


@pytest.mark.parametrize("field", ["destination", "webhook"])
def test_null_stands_for_nothing_in_what_is_not_built(field: str) -> None:
    assert wish_of(body({"topic": "x", field: None})) == OpenMeeting(topic="x")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("request", "5つのエージェントに議論させて"),
        ("webhook", {"url": "https://example.org/", "secret": "whsec_x"}),
        ("accept_vague", True),
        ("webhook", 0),
    ],
)
def test_what_is_not_built_yet_says_so(field: str, value: object) -> None:
    assert refused({"topic": "x", field: value}) == ("not-built-yet", [f"/{field}"])


def test_a_destination_is_taken_with_its_defaults() -> None:
    wish = wish_of(body({"topic": "x", "destination": {"url": "https://example.org/a.md"}}))
    assert wish.destination == Destination("https://example.org/a.md", 30, None)


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({}, "/destination/url"),
        ({"url": "https://example.org/", "check_deadline_seconds": 0}, _DEADLINE),
        ({"url": "https://example.org/", "check_deadline_seconds": 86_401}, _DEADLINE),
        ({"url": "https://example.org/", "owner": " "}, "/destination/owner"),
        ({"url": "https://example.org/", "owner": "a\nb"}, "/destination/owner"),
        ({"url": "https://example.org/", "method": "POST"}, "/destination/method"),
    ],
)
def test_a_destination_that_is_not_one(given: object, pointer: str) -> None:
    wish = {"topic": "x", "destination": given}
    assert refused(wish) == ("invalid-request", [pointer])


def test_a_parent_is_taken_by_its_id() -> None:
    assert wish_of(body({"topic": "x", "parent_id": "mtg_1"})).parent_id == "mtg_1"


def test_what_is_not_built_yet_is_named() -> None:
    with pytest.raises(Problem) as caught:
        wish_of(body({"topic": "x", "webhook": {"url": "https://example.org/"}}))
    assert caught.value.faults[0].detail == "webhook is not available in this version yet."


def test_what_formats_need_is_taken() -> None:
    wish = wish_of(
        body(
            {
                "topic": "x",
                "format": "review",
                "chair": "judge",
                "completion_gate": {"min_completions": 3},
                "materials": [{"id": "m1", "version": "1", "text": "t"}],
                "criteria": [{"id": "c1", "text": "t", "check": {"max_chars": 400}}],
                "domains": ["database"],
            }
        )
    )
    assert wish.chair == "judge"
    assert wish.completion_gate == CompletionGate(min_completions=3)
    assert wish.materials == (Material("m1", "1", "t"),)
    assert wish.criteria == (Criterion("c1", "t", check={"max_chars": 400}),)
    assert wish.domains == ("database",)


@pytest.mark.parametrize(
    ("format_", "wanted", "gate"),
    [
        ("roundtable", None, None),
        ("roundtable", True, CompletionGate()),
        ("council", None, CompletionGate()),
        ("council", False, None),
    ],
)
def test_the_gate_is_the_formats_habit_unless_something_is_said(
    format_: str, wanted: bool | None, gate: CompletionGate | None
) -> None:
    wish = wish_of(body({"topic": "x", "format": format_, "completion_gate": wanted}))
    assert wish.completion_gate == gate


@pytest.mark.parametrize(
    ("content", "pointers"),
    [
        ({"format": "vote", "rules": {"quorum": "many"}}, ["/rules/quorum"]),
        ({"completion_gate": {"min_completions": 0}}, ["/completion_gate/min_completions"]),
        ({"completion_gate": "yes"}, ["/completion_gate"]),
    ],
)
def test_alternatives_of_a_schema_never_show_in_a_pointer(
    content: dict[str, object], pointers: list[str]
) -> None:
    _, found = refused({"topic": "x", "options": ["a", "b"], **content})
    assert set(pointers) <= set(found)
    assert all("int" not in one and "Gate" not in one and "bool" not in one for one in found)


SEVEN = {"name": "x" * 65}


@pytest.mark.parametrize(
    ("content", "pointers"),
    [
        ({}, ["/topic"]),
        ({"topic": None}, ["/topic"]),
        ({"topic": ""}, ["/topic"]),
        ({"topic": " \n\t "}, ["/topic"]),
        ({"topic": 3}, ["/topic"]),
        ({"topic": "x" * 4001}, ["/topic"]),
        ({"topic": "a\x00b"}, ["/topic"]),
        ({"topic": "a\u202eb"}, ["/topic"]),
        ({"topic": "x", "nonsense": 1}, ["/nonsense"]),
        ({"topic": "x", "a/b~c": 1}, ["/a~1b~0c"]),
        ({"topic": "x", "format": "chat"}, ["/format"]),
        ({"topic": "x", "format": None}, ["/format"]),
        ({"topic": "x", "format": 1}, ["/format"]),
        ({"topic": "x", "motion": "x" * 501}, ["/motion"]),
        ({"topic": "x", "motion": ""}, ["/motion"]),
        ({"topic": "x", "context": "x" * 100_001}, ["/context"]),
        ({"topic": "x", "options": ["a", " A"]}, ["/options/1"]),
        ({"topic": "x", "options": ["a", ""]}, ["/options/1"]),
        ({"topic": "x", "options": [str(i) for i in range(51)]}, ["/options"]),
        ({"topic": "x", "participants": [{}]}, ["/participants"]),
        ({"topic": "x", "participants": [{}] * 21}, ["/participants"]),
        ({"topic": "x", "participants": "three"}, ["/participants"]),
        ({"topic": "x", "participants": [{}, 7]}, ["/participants/1"]),
        ({"topic": "x", "participants": [{}, SEVEN]}, ["/participants/1/name"]),
        ({"topic": "x", "participants": [{}, {"name": "a\nb"}]}, ["/participants/1/name"]),
        ({"topic": "x", "participants": [{}, {"name": "a\x1bb"}]}, ["/participants/1/name"]),
        (
            {"topic": "x", "participants": [{"name": "Ann"}, {}, {"name": "ＡＮＮ "}]},
            ["/participants/2/name"],
        ),
        ({"topic": "x", "participants": [{}, {"weight": 2.1}]}, ["/participants/1/weight"]),
        ({"topic": "x", "participants": [{}, {"weight": True}]}, ["/participants/1/weight"]),
        ({"topic": "x", "participants": [{}, {"expert": "yes"}]}, ["/participants/1/expert"]),
        ({"topic": "x", "participants": [{}, {"agent": "a b"}]}, ["/participants/1/agent"]),
        ({"topic": "x", "participants": [{}, {"nam": "a"}]}, ["/participants/1/nam"]),
        ({"topic": "x", "participants": [{}, {}], "count": 3}, ["/count"]),
        ({"topic": "x", "count": 1}, ["/count"]),
        ({"topic": "x", "count": 21}, ["/count"]),
        ({"topic": "x", "count": "3"}, ["/count"]),
        ({"topic": "x", "count": 3.0}, ["/count"]),
        ({"topic": "x", "secretary": ""}, ["/secretary"]),
        ({"topic": "x", "secretary": None}, ["/secretary"]),
        ({"topic": "x", "limits": {"rounds": 0}}, ["/limits/rounds"]),
        ({"topic": "x", "limits": {"rounds": 21}}, ["/limits/rounds"]),
        ({"topic": "x", "limits": {"rounds": True}}, ["/limits/rounds"]),
        ({"topic": "x", "limits": {"rounds": 10**400}}, ["/limits/rounds"]),
        ({"topic": "x", "limits": {"seconds": 0}}, ["/limits/seconds"]),
        ({"topic": "x", "limits": {"seconds": -1}}, ["/limits/seconds"]),
        ({"topic": "x", "limits": {"seconds": 86_401}}, ["/limits/seconds"]),
        ({"topic": "x", "limits": {"seconds": "600"}}, ["/limits/seconds"]),
        ({"topic": "x", "limits": {"reply_seconds": 0}}, ["/limits/reply_seconds"]),
        ({"topic": "x", "limits": {"usd": 0}}, ["/limits/usd"]),
        ({"topic": "x", "limits": {"usd": "-1"}}, ["/limits/usd"]),
        ({"topic": "x", "limits": {"usd": "NaN"}}, ["/limits/usd"]),
        ({"topic": "x", "limits": {"usd": "1e-999999"}}, ["/limits/usd"]),
        ({"topic": "x", "limits": {"usd": True}}, ["/limits/usd"]),
        ({"topic": "x", "limits": {"tokens": 0}}, ["/limits/tokens"]),
        ({"topic": "x", "limits": {"no_progress_rounds": 0}}, ["/limits/no_progress_rounds"]),
        ({"topic": "x", "limits": {"arbitration_seconds": 0}}, ["/limits/arbitration_seconds"]),
        ({"topic": "x", "limits": {"round": 1}}, ["/limits/round"]),
        ({"topic": "x", "limits": None}, ["/limits"]),
        ({"topic": "x", "rules": {"quorum": 3}}, ["/rules/quorum"]),
        ({"topic": "x", "rules": []}, ["/rules"]),
        ({"topic": "x", "language": "fr"}, ["/language"]),
        ({"topic": "x", "identities": "both"}, ["/identities"]),
        ({"topic": "x", "ephemeral": 1}, ["/ephemeral"]),
        ({"topic": "x", "metadata": {"a": 1}}, ["/metadata/a"]),
        ({"topic": "x", "metadata": {"": "a"}}, ["/metadata/"]),
        ({"topic": "x", "metadata": {"a": "x" * 513}}, ["/metadata/a"]),
        ({"topic": "x", "metadata": {str(i): "" for i in range(33)}}, ["/metadata"]),
        ([], [""]),
        ("x", [""]),
        (None, [""]),
    ],
)
def test_faults_are_found_where_they_are(content: Any, pointers: list[str]) -> None:
    assert refused(content) == ("invalid-request", pointers)


def test_all_faults_are_told_at_once() -> None:
    code, pointers = refused(
        {"topic": "", "limits": {"rounds": 0, "seconds": 0}, "language": "fr", "typo": 1}
    )
    assert code == "invalid-request"
    assert sorted(pointers) == [
        "/language",
        "/limits/rounds",
        "/limits/seconds",
        "/topic",
        "/typo",
    ]


def test_thousands_of_faults_are_not_all_told() -> None:
    _, pointers = refused({"topic": "x"} | {f"field-{i}": i for i in range(5000)})
    assert len(pointers) == 51


@dataclass(frozen=True)
class VoteRules:
    quorum: int | float | None = None
    critical: bool = False


VOTE = replace(FORMATS["roundtable"], name="tallying", rules=VoteRules)


def test_a_rule_of_another_format_is_called_one() -> None:
    formats = {"roundtable": FORMATS["roundtable"], "tallying": VOTE}
    assert unknown_rule("critical", "roundtable", formats) == (
        "This is a rule of tallying; roundtable has no such rule."
    )
    assert unknown_rule("quorums", "tallying", formats) == (
        "tallying has no such rule; its rules are: quorum, critical."
    )


@pytest.mark.parametrize("quorum", [1, 1.0, 0.5])
def test_rules_are_the_formats_own_dataclass_and_keep_their_types(quorum: float) -> None:
    request = validated(
        request_schema(VOTE),
        body({"topic": "x", "format": "tallying", "rules": {"quorum": quorum}}),
    )
    assert request.rules == VoteRules(quorum=quorum)
    assert type(request.rules.quorum) is type(quorum)


def test_rules_are_strict_and_closed() -> None:
    with pytest.raises(Problem) as caught:
        validated(
            request_schema(VOTE),
            body({"topic": "x", "format": "tallying", "rules": {"critical": "yes", "extra": 1}}),
        )
    pointers = [fault.pointer for fault in caught.value.faults]
    assert sorted(pointers) == ["/rules/critical", "/rules/extra"]
