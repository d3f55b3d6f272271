"""Reading answers to polls: every shape of PROTOCOLS 16, and every fault by its sentence."""

import json

import pytest

from app.domain.poll_ballots import BinaryReading, RecommendationReading, ScoringReading

RECOMMEND = RecommendationReading()
BINARY = BinaryReading()
SCORES = ScoringReading(("X", "Y"), ("cost", "risk"))


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
        ([], 'The key "recommendations" must be a list with one to three of them.'),
        ([{"title": "a", "confidence": 5}] * 4, "There are 4 recommendations; give three at"),
        ([{"title": "a", "confidence": 5}, {"confidence": 5}], 'Recommendation 2 has no "title".'),
        (["a"], 'Recommendation 1 has no "title".'),
        ([{"title": "a"}], 'The "confidence" of recommendation 1 is null; it must be a number'),
        ([{"title": "a", "confidence": 11}], 'The "confidence" of recommendation 1 is out of'),
    ],
)
def test_faults_of_recommendations(entries: object, fault: str) -> None:
    read = RECOMMEND.read(json.dumps({"recommendations": entries}))
    assert read.fault is not None
    assert read.fault.startswith(fault)


def test_binary() -> None:
    read = BINARY.read('{"answer": "yes", "reasons": ["a", "", "b", "c", "d"], "confidence": 7}')
    assert read.fault is None
    assert read.values["ballot"] == {"answer": "YES", "reasons": ["a", "b", "c"]}
    assert read.values["confidence"] == 7
    assert BINARY.read('{"answer": "No"}').values["ballot"] == {"answer": "NO", "reasons": []}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"answer": "maybe"}', 'The key "answer" is "maybe"; it must be YES or NO.'),
        ('{"answer": true}', 'The key "answer" is true; it must be YES or NO.'),
        ("{}", 'The key "answer" is null; it must be YES or NO.'),
        (
            '{"answer": "YES", "confidence": 0}',
            'The key "confidence" is out of range; it must be a number from 1 to 10.',
        ),
    ],
)
def test_faults_of_a_binary_answer(text: str, fault: str) -> None:
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
        (None, 'The key "scores" must be an object with a value for each of "X", "Y".'),
        ({"X": 1}, 'The key "scores" lacks "Y".'),
        ({"X": 1, "Y": 2, "Z": 3}, 'The key "scores" names "Z", but there is only "X", "Y".'),
        ({"X": 1, "x": 1, "Y": 2}, 'The key "scores" names one of "X", "Y" more than once.'),
        ({"X": 0, "Y": 2}, 'The score of "X" is out of range; it must be a number from 1 to 10.'),
        ({"X": "good", "Y": 2}, 'The score of "X" is "good"; it must be a number from 1 to 10, '),
    ],
)
def test_faults_of_scores(scores: object, fault: str) -> None:
    read = ScoringReading(("X", "Y")).read(json.dumps({"scores": scores}))
    assert read.fault is not None
    assert read.fault.startswith(fault)


def test_a_missing_criterion_is_named() -> None:
    read = SCORES.read('{"scores": {"X": {"cost": 1}, "Y": {"cost": 1, "risk": 2}}}')
    assert read.fault == 'The score of "X" lacks "risk".'
