"""Reading an author's and a critic's replies (PROTOCOLS 9 and 16)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import ReplyStatus
from app.formats.review.objections import ObjectionRegister, Raised, Severity
from app.formats.review.replies import AuthorReading, CriticReading, raised_in
from tests.formats.review.test_objections import MATERIALS


def test_reading_an_author() -> None:
    changes = [{"objection": "obj-1", "change": "named"}, {"objection": "obj-2"}, 3]
    text = json.dumps({"draft": " It is. ", "changes": changes, "open": ["costs", 3]})
    read = AuthorReading().read(text)
    assert read.fault is None
    assert read.values == {
        "draft": "It is.",
        "changes": [{"objection": "obj-1", "change": "named"}],
        "open": ["costs"],
        "waiting_for": None,
    }
    waits = AuthorReading().read('{"draft": "x", "waiting_for": "critic"}')
    assert waits.values["waiting_for"] == "critic"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("no", Message.of(Code.NO_OBJECT)),
        ("{}", Message.of(Code.DRAFT_MISSING)),
        ('{"draft": "\\u0000 "}', Message.of(Code.DRAFT_MISSING)),
        ('{"draft": "x", "open": "costs"}', Message.of(Code.KEY_NOT_A_LIST, key="open")),
        (json.dumps({"draft": "x" * 12_001}), Message.of(Code.DRAFT_TOO_LONG, most=12_000)),
    ],
)
def test_faults_of_an_author(text: str, fault: Message) -> None:
    read = AuthorReading().read(text)
    assert (read.fault, read.values["draft"]) == (fault, None)


POINT = {
    "severity": "Blocking",
    "material": "m1",
    "quote": "lasted 4 hours",
    "point": "wrong",
    "resolves_when": "it is right",
}


def _unknown_severity(value: str | None) -> Message:
    known = ("blocking", "minor", "preference")
    return Message.of(Code.SEVERITY_UNKNOWN, number=1, value=value, known=known)


def test_reading_a_critic() -> None:
    text = {"objections": [POINT], "closed": ["obj-1"], "criteria": {"C2": "PASS", "c1": "fail"}}
    read = CriticReading(("obj-1",), ("c2",)).read(json.dumps(text))
    assert read.fault is None
    assert (read.values["closed"], read.values["criteria"]) == (["obj-1"], {"c2": "pass"})
    assert raised_in(read.values) == (
        Raised(Severity.BLOCKING, "m1", "lasted 4 hours", "wrong", "it is right"),
    )
    assert CriticReading().read("{}").fault is None


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"objections": [POINT | {"severity": "bad"}]}, _unknown_severity("bad")),
        (
            {"objections": [POINT, POINT | {"point": ""}]},
            Message.of(Code.POINT_MISSING, number=2),
        ),
        ({"objections": ["wrong"]}, _unknown_severity(None)),
        ({"objections": {}}, Message.of(Code.KEY_NOT_A_LIST, key="objections")),
        ({"objections": [POINT] * 21}, Message.of(Code.OBJECTIONS_TOO_MANY, most=20)),
        (
            {"closed": ["obj-9"]},
            Message.of(Code.CLOSED_UNKNOWN, unknown=("obj-9",), yours=("obj-1",)),
        ),
        (
            {"closed": [["obj-1"]]},
            Message.of(Code.CLOSED_UNKNOWN, unknown=(Message.of(Code.A_LIST),), yours=("obj-1",)),
        ),
        ({"criteria": {}}, Message.of(Code.VERDICT_UNKNOWN, criterion="c2", value=None)),
        (
            {"criteria": {"c2": "maybe"}},
            Message.of(Code.VERDICT_UNKNOWN, criterion="c2", value="maybe"),
        ),
    ],
)
def test_faults_of_a_critic(answer: dict[str, Any], fault: Message) -> None:
    read = CriticReading(("obj-1",), ("c2",)).read(
        json.dumps({"criteria": {"c2": "pass"}} | answer)
    )
    assert read.fault == fault
    assert read.values == CriticReading().absent(ReplyStatus.INVALID)


def test_a_critic_without_open_objections_has_none_to_close() -> None:
    read = CriticReading().read('{"closed": ["obj-9"]}')
    assert read.fault == Message.of(Code.NOTHING_TO_CLOSE, unknown=("obj-9",))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*POINT, "c2"]), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(["draft", "changes", "open", "objections", "closed", "criteria"])


@given(st.text() | st.dictionaries(KEYS, JSON).map(json.dumps))
def test_no_text_makes_a_reading_raise(text: str) -> None:
    AuthorReading().read(text)
    read = CriticReading(("obj-1",), ("c2",)).read(text)
    ObjectionRegister().after("ann", 1, raised_in(read.values), read.values["closed"], MATERIALS)
