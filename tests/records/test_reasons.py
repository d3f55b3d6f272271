"""Why a save is not confirmed, said in the record's language."""

from __future__ import annotations

import ast
from pathlib import Path

import httpx2
import pytest

import app
from app.coordinator.saving import failed_here
from app.outbound import answers
from app.outbound.guard import Guard, TargetRefused
from app.records.catalogue import words_in
from app.records.containment import inline
from app.records.reasons import is_known, reason_in

_ROOT = Path(app.__file__).parent
_MAKE_REASONS = (
    "coordinator/reconciling.py",
    "coordinator/saving.py",
    "domain/operation/state.py",
    "outbound/answers.py",
    "outbound/destination.py",
)


def _sentences(path: str) -> list[str]:
    """Every string in the source that is a sentence and no comment of it."""
    tree = ast.parse((_ROOT / path).read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for each in node.values
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in alone | parts
        and node.value.endswith(".")
        and node.value[0].isupper()
    ]


@pytest.mark.parametrize("path", _MAKE_REASONS)
def test_every_sentence_that_a_reason_is_made_of_is_known(path: str) -> None:
    found = _sentences(path)
    assert [each for each in found if not is_known(each)] == []
    assert found


def test_those_with_values_are_known_too() -> None:
    refused = [answers.write_answer(status, {}).reason for status in (307, 403, 503)]
    with pytest.raises(TargetRefused) as inside:
        Guard().refuse_address("10.0.0.1")
    refused += [inside.value.message, failed_here(KeyError("x"))]
    refused += [answers.failed_write(httpx2.InvalidURL("x")).reason]
    refused += ["What is there was saved by op_01_a."]
    assert [each for each in refused if not is_known(each)] == []


def test_it_is_said_in_the_language_of_the_record() -> None:
    reason = "The meeting was cancelled before it was confirmed. The destination answered 429."
    assert reason_in(words_in("en"), reason, str) == reason
    told = reason_in(words_in("ja"), reason, inline)
    assert told == "確認される前に会議が取り消された。宛先の応答は 429 だった。"


def test_what_is_not_known_stays_as_it_is() -> None:
    assert reason_in(words_in("ja"), "Nobody *knows*.", inline) == inline("Nobody *knows*.")
