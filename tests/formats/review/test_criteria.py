"""What a review's draft is judged by (PROTOCOLS 9): checks, verdicts, completeness."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.meeting.meeting import Criterion
from app.formats.review.criteria import (
    MOST_DRAFT_CHARACTERS,
    check_fault,
    is_complete,
    judge,
    passes,
    pattern_fault,
)
from app.formats.review.objections import ObjectionRegister
from tests.formats.review.test_objections import objection, play


@pytest.mark.parametrize(
    ("check", "draft", "passed"),
    [
        ({"contains": "owner"}, "the owner is ann", True),
        ({"contains": "Owner"}, "the owner is ann", False),
        ({"max_chars": 3}, "会議室", True),
        ({"max_chars": 2}, "会議室", False),
        ({"regex": r"^## Decision"}, "x\n## Decision", False),
        ({"regex": r"(?m)^## Decision"}, "x\n## Decision", True),
        ({"regex": r"\d{4}-\d{2}-\d{2}"}, "on 2026-11-30", True),
        ({"regex": "(?i)risk|危険"}, "RISK", True),
    ],
)
def test_mechanical_checks(check: dict[str, Any], draft: str, passed: bool) -> None:
    assert check_fault(check) is None
    assert passes(check, draft) is passed


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+b", r"(?:a|a)*b", r"(a|aa)+$", r"a*a*b", r"(?:a?){30}b", r"a{0,30}a{0,30}b", r"(ab)*c",
     r"(a)\1", r"(?=a)b", r"(?!a)b", r"(?<=a)b", r"(?P<n>a)", r"(?x)a b", r"a++", r"[[a]", r"(",
     r"a)", r"[a", r"*a", r"a{3,1}", r"a{1,}b+", r"(?:(?:a?))*b", "a" * 301, r"\x41", r"(?#a)b"],
)  # fmt: skip
def test_patterns_that_are_refused(pattern: str) -> None:
    assert pattern_fault(pattern) is not None
    assert check_fault({"regex": pattern}) is not None
    with pytest.raises(ValueError, match=r"."):
        passes({"regex": pattern}, "a")


@pytest.mark.parametrize(
    "pattern",
    [r"Owner: ?\w+", r"red|green|blue|yellow|cyan", r"(?:Fig\.|Table) ?\d", r"(?:the )?end",
     r"(?s)Decision.*Owner", r"[^]a]{1,30}", r"[\]\-x]", r"\(draft\)", r"会議", r"(ab){3}"],
)  # fmt: skip
def test_patterns_that_are_taken(pattern: str) -> None:
    assert pattern_fault(pattern) is None


@pytest.mark.parametrize(
    "check",
    [{}, {"contains": ""}, {"max_chars": 0}, {"max_chars": True}, {"max_chars": "3"},
     {"contains": "a", "max_chars": 3}, {"starts": "a"}, {"regex": ""}],
)  # fmt: skip
def test_checks_that_are_refused(check: dict[str, Any]) -> None:
    assert check_fault(check) is not None


@pytest.mark.parametrize("pattern", [r"[a-z]+\d", r"(?i)[^x]*y", r"a?[^x]*y", r"a{0,199}b"])
def test_the_worst_patterns_still_end(pattern: str) -> None:
    # Some two seconds at the most; a pattern that explodes would meet the suite's own timeout.
    assert not passes({"regex": pattern}, "a" * MOST_DRAFT_CHARACTERS)


@given(st.text(alphabet="ab(|)*+?{}[]1,^$\\.d:", max_size=12), st.text("ab1", max_size=20))
def test_a_pattern_that_is_taken_can_be_searched(pattern: str, text: str) -> None:
    if pattern_fault(pattern) is None:
        re.search(pattern, text)


CRITERIA = (
    Criterion("c1", "names an owner", check={"contains": "owner"}),
    Criterion("c2", "is fair"),
    Criterion("c3", "is short", required=False, check={"max_chars": 1}),
)


@pytest.mark.parametrize(
    ("verdicts", "c2"),
    [
        ({"ann": {"c2": "pass"}, "ben": {"c2": "pass"}}, "pass"),
        ({"ann": {"c2": "pass"}, "ben": {"c2": "fail"}}, "fail"),
        ({"ann": {"c2": "pass"}}, "open"),
        ({"ann": {"c2": "fail"}}, "fail"),
        ({}, "open"),
    ],
)
def test_all_critics_have_to_pass_a_criterion(verdicts: dict[str, Any], c2: str) -> None:
    results = judge(CRITERIA, "the owner", ("ann", "ben"), verdicts)
    assert results == {"c1": "pass", "c2": c2, "c3": "fail"}
    assert is_complete(CRITERIA, results, ObjectionRegister()) is (c2 == "pass")


def test_an_open_blocking_objection_keeps_a_review_from_being_complete() -> None:
    results = judge(CRITERIA, "the owner", ("ann",), {"ann": {"c2": "pass"}})
    blocked, _ = play(("ann", [objection()], []))
    assert not is_complete(CRITERIA, results, blocked)
    assert is_complete(CRITERIA, results, play(("ann", [objection("never")], []))[0])
