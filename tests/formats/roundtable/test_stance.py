"""PROTOCOLS 3, every line of its table, and 63 replies of real small models."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.replies.reading import ReplyStatus
from app.formats.roundtable.stance import Stance, StanceReading

REAL_REPLIES = [
    json.loads(line)
    for line in (Path(__file__).parent / "real_replies.jsonl").read_text("utf-8").splitlines()
]


def read(text: str) -> Mapping[str, Any]:
    return StanceReading().read(text).values


@pytest.mark.parametrize(
    ("text", "stance", "markers", "differing"),
    [
        ("…so yes. [STANCE: AGREE]", "AGREE", 1, False),
        ("**[stance:disagree]**", "DISAGREE", 1, False),
        ("【STANCE：NEUTRAL】", "NEUTRAL", 1, False),
        ("A said [STANCE: AGREE], I do not. [STANCE: DISAGREE]", "DISAGREE", 2, True),
        ("```\n[STANCE: AGREE]\n```\n", "UNKNOWN", 0, False),
        ("<think>[STANCE: AGREE]</think> No. [STANCE: DISAGREE]", "DISAGREE", 1, False),
        ("[STANCE: AGREE/DISAGREE/NEUTRAL]", "UNKNOWN", 0, False),
        ("[STANCE: 賛成]", "UNKNOWN", 0, False),
        ("[STANCE: AGREED]", "UNKNOWN", 0, False),
    ],
)
def test_the_worked_table(text: str, stance: str, markers: int, differing: bool) -> None:
    found = read(text)
    assert (found["stance"], found["markers"], found["differing"]) == (stance, markers, differing)


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("［ＳＴＡＮＣＥ：ＡＧＲＥＥ］", "AGREE"),
        ("［ＳＴＡＮＣＥ：\u3000ｄｉｓａｇｒｅｅ］", "DISAGREE"),
        ("[Stance:   Neutral]", "NEUTRAL"),
        ("`[STANCE: AGREE]`", "AGREE"),
        ("***[STANCE: AGREE]***", "AGREE"),
        ("_[STANCE: AGREE]_", "AGREE"),
        ("```[STANCE: AGREE]```", "AGREE"),
        ("[STANCE: AGREE|DISAGREE|NEUTRAL]", "UNKNOWN"),
        ("[STANCE: AGREE | DISAGREE]", "UNKNOWN"),
        ("STANCE: AGREE", "UNKNOWN"),
        ("[STANCE AGREE]", "UNKNOWN"),
        ("", "UNKNOWN"),
        ("> [STANCE: AGREE]", "UNKNOWN"),
        ("> [STANCE: AGREE]\nI say [STANCE: NEUTRAL]", "NEUTRAL"),
        ("<think>so [STANCE: AGREE]", "UNKNOWN"),
        ("<THINK>a<think>b</think>[STANCE: AGREE]</THINK>[STANCE: NEUTRAL]", "NEUTRAL"),
        ("</think>[STANCE: AGREE]", "AGREE"),
        ("~~~~\n[STANCE: AGREE]\n~~~\n[STANCE: AGREE]\n~~~~\n[STANCE: DISAGREE]", "DISAGREE"),
        ("```python\nx = 1\n[STANCE: AGREE]", "UNKNOWN"),
        ("    [STANCE: AGREE]", "AGREE"),
        ("[STANCE: AGREE]\r\n", "AGREE"),
    ],
)
def test_the_preparation(text: str, stance: str) -> None:
    assert read(text)["stance"] == stance


@pytest.mark.parametrize("line", REAL_REPLIES, ids=range(len(REAL_REPLIES)))
def test_real_replies(line: dict[str, object]) -> None:
    found = read(str(line["text"]))
    assert {key: found[key] for key in ("stance", "markers", "differing")} == {
        key: line[key] for key in ("stance", "markers", "differing")
    }


def test_there_are_63_real_replies() -> None:
    assert len(REAL_REPLIES) == 63


@given(st.text())
def test_reading_never_raises_and_the_last_word_counts(text: str) -> None:
    read(text)
    closed = text + "\n</think>\n```\n~~~\n"
    assert read(closed)["stance"] in set(Stance)


@given(st.text(alphabet="`~<>think/ \n[STANCE: AGREE]【】"), st.sampled_from(list(Stance)[:3]))
def test_one_plain_marker_alone_is_always_read(noise: str, stance: Stance) -> None:
    del noise
    assert read(f"[stance: {stance.value}]")["stance"] == stance


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CHANGED BECAUSE: the cost is lower.\n[STANCE: AGREE]", "the cost is lower."),
        ("**Changed because:** the cost. [STANCE: AGREE]", "the cost."),
        ("CHANGED BECAUSE：費用が下がるから。", "費用が下がるから。"),
        ("CHANGED BECAUSE:\n[STANCE: AGREE]", None),
        ("> CHANGED BECAUSE: somebody else's words", None),
        ("I changed because of that.", None),
    ],
)
def test_the_reason_for_a_change(text: str, reason: str | None) -> None:
    assert read(text)["changed_because"] == reason


def test_a_missing_reply_is_neutral_after_a_timeout_and_else_unknown() -> None:
    reading = StanceReading()
    assert reading.absent(ReplyStatus.TIMEOUT)["stance"] == "NEUTRAL"
    for status in set(ReplyStatus) - {ReplyStatus.TIMEOUT, ReplyStatus.OK}:
        assert reading.absent(status)["stance"] == "UNKNOWN"
