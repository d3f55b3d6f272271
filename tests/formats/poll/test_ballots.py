"""Reading answers to polls: every shape of PROTOCOLS 16, and every fault by its code."""

import json

import pytest

from app.domain.replies.messages import Code, Message
from app.formats.poll.ballots import BinaryReading, RecommendationReading, ScoringReading

RECOMMEND = RecommendationReading()
BINARY = BinaryReading()
SCORES = ScoringReading(("X", "Y"), ("cost", "risk"))

THE_FIRST = Message.of(Code.THE_CONFIDENCE_OF, number=1)
CONFIDENCE = Message.of(Code.THE_KEY, key="confidence")
ALL_SCORES = Message.of(Code.THE_KEY, key="scores")
X_SCORE = Message.of(Code.THE_SCORE_OF, option="X")
X_RISK = Message.of(Code.THE_SCORE_ON, option="X", criterion="risk")


def test_recommendations() -> None:
    text = '{"recommendations": [{"title": " Use  a queue ", "confidence": "8/10", "why": "load"}]}'
    read = RECOMMEND.read(text)
    assert read.fault is None
    assert read.values["ballot"] == {
        "recommendations": [{"title": "Use a queue", "confidence": 8, "why": "load"}]
    }


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([], Message.of(Code.RECOMMENDATIONS_NOT_A_LIST, most=3)),
        (
            [{"title": "a", "confidence": 5}] * 4,
            Message.of(Code.RECOMMENDATIONS_TOO_MANY, count=4, most=3),
        ),
        (
            [{"title": "a", "confidence": 5}, {"confidence": 5}],
            Message.of(Code.RECOMMENDATION_UNTITLED, number=2),
        ),
        (["a"], Message.of(Code.RECOMMENDATION_UNTITLED, number=1)),
        (
            [{"title": "a"}],
            Message.of(Code.NOT_A_NUMBER, what=THE_FIRST, value=None, low=1, high=10),
        ),
        (
            [{"title": "a", "confidence": 11}],
            Message.of(Code.OUT_OF_RANGE, what=THE_FIRST, low=1, high=10),
        ),
    ],
)
def test_faults_of_recommendations(entries: object, fault: Message) -> None:
    assert RECOMMEND.read(json.dumps({"recommendations": entries})).fault == fault


def test_binary() -> None:
    read = BINARY.read('{"answer": "yes", "reasons": ["a", "", "b", "c", "d"], "confidence": 7}')
    assert read.fault is None
    assert read.values["ballot"] == {"answer": "YES", "reasons": ["a", "b", "c"]}
    assert read.values["confidence"] == 7
    assert BINARY.read('{"answer": "No"}').values["ballot"] == {"answer": "NO", "reasons": []}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"answer": "maybe"}', Message.of(Code.ANSWER_UNKNOWN, value="maybe")),
        ('{"answer": true}', Message.of(Code.ANSWER_UNKNOWN, value=True)),
        ("{}", Message.of(Code.ANSWER_UNKNOWN, value=None)),
        (
            '{"answer": "YES", "confidence": 0}',
            Message.of(Code.OUT_OF_RANGE, what=CONFIDENCE, low=1, high=10),
        ),
    ],
)
def test_faults_of_a_binary_answer(text: str, fault: Message) -> None:
    assert BINARY.read(text).fault == fault


def test_scores() -> None:
    text = '{"scores": {"x": {"cost": 7, "RISK": "8/10"}, "Y": {"cost": 7.5, "risk": 1}}}'
    read = SCORES.read(text)
    assert read.fault is None
    assert read.values["ballot"] == {
        "scores": {"X": {"cost": 7, "risk": 8}, "Y": {"cost": 7.5, "risk": 1}}
    }
    plain = ScoringReading(("X", "Y")).read('{"scores": {"X": 3, "Y": 10}}')
    assert plain.values["ballot"] == {"scores": {"X": 3, "Y": 10}}


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        (None, Message.of(Code.FIELDS_NO_OBJECT, what=ALL_SCORES, names=("X", "Y"))),
        ({"X": 1}, Message.of(Code.FIELDS_MISSING, what=ALL_SCORES, missing=("Y",))),
        (
            {"X": 1, "Y": 2, "Z": 3},
            Message.of(Code.FIELDS_UNKNOWN, what=ALL_SCORES, unknown=("Z",), names=("X", "Y")),
        ),
        (
            {"X": 1, "x": 1, "Y": 2},
            Message.of(Code.FIELDS_REPEATED, what=ALL_SCORES, names=("X", "Y")),
        ),
        ({"X": 0, "Y": 2}, Message.of(Code.OUT_OF_RANGE, what=X_SCORE, low=1, high=10)),
        (
            {"X": "good", "Y": 2},
            Message.of(Code.NOT_A_NUMBER, what=X_SCORE, value="good", low=1, high=10),
        ),
    ],
)
def test_faults_of_scores(scores: object, fault: Message) -> None:
    assert ScoringReading(("X", "Y")).read(json.dumps({"scores": scores})).fault == fault


def test_a_missing_criterion_is_named() -> None:
    read = SCORES.read('{"scores": {"X": {"cost": 1}, "Y": {"cost": 1, "risk": 2}}}')
    assert read.fault == Message.of(Code.FIELDS_MISSING, what=X_SCORE, missing=("risk",))
    wrong = SCORES.read('{"scores": {"X": {"cost": 1, "risk": 0}, "Y": {"cost": 1, "risk": 2}}}')
    assert wrong.fault == Message.of(Code.OUT_OF_RANGE, what=X_RISK, low=1, high=10)
