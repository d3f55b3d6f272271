"""Reading an author's and a critic's replies (PROTOCOLS 9 and 16)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.objections import Ledger, Raised, Severity
from app.domain.review_replies import AuthorReading, CriticReading, raised_in
from app.domain.steps import ReplyStatus
from tests.domain.test_objections import MATERIALS


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
        ("no", "There is no JSON object in the reply."),
        ("{}", 'The key "draft" must hold the whole draft as text.'),
        ('{"draft": "\\u0000 "}', 'The key "draft" must hold the whole draft as text.'),
        ('{"draft": "x", "open": "costs"}', 'The key "open" must be a list.'),
        (json.dumps({"draft": "x" * 12_001}), "The draft is longer than 12000 characters."),
    ],
)
def test_faults_of_an_author(text: str, fault: str) -> None:
    read = AuthorReading().read(text)
    assert (read.fault, read.values["draft"]) == (fault, None)


POINT = {
    "severity": "Blocking",
    "material": "m1",
    "quote": "lasted 4 hours",
    "point": "wrong",
    "resolves_when": "it is right",
}


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
        ({"objections": [POINT | {"severity": "bad"}]}, 'The "severity" of objection 1 is "bad"'),
        ({"objections": [POINT, POINT | {"point": ""}]}, 'Objection 2 has no "point".'),
        ({"objections": ["wrong"]}, 'The "severity" of objection 1 is null'),
        ({"objections": {}}, 'The key "objections" must be a list.'),
        ({"objections": [POINT] * 21}, "There are more than 20 objections; keep the weightiest."),
        ({"closed": ["obj-9"]}, 'You close "obj-9", but your open objections are "obj-1".'),
        ({"closed": [["obj-1"]]}, "You close a list, but your open"),
        ({"criteria": {}}, 'The criterion "c2" is null; under "criteria" it must be "pass" or'),
        ({"criteria": {"c2": "maybe"}}, 'The criterion "c2" is "maybe"; under "criteria" it must'),
    ],
)  # fmt: skip
def test_faults_of_a_critic(answer: dict[str, Any], fault: str) -> None:
    read = CriticReading(("obj-1",), ("c2",)).read(
        json.dumps({"criteria": {"c2": "pass"}} | answer)
    )
    assert read.fault is not None
    assert read.fault.startswith(fault)
    assert read.values == CriticReading().absent(ReplyStatus.INVALID)


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
    Ledger().after("ann", 1, raised_in(read.values), read.values["closed"], MATERIALS)
