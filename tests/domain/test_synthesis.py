import pytest

from app.domain.synthesis import SynthesisReading


def test_what_is_there_is_taken_and_the_rest_is_empty() -> None:
    read = SynthesisReading().read(
        '{"decision": "Do it.", "agreed": "one thing", "differ": [1, "x"]}'
    )
    assert read.fault is None
    assert read.values["synthesis"] == {
        "decision": "Do it.",
        "recommendation": "",
        "agreed": ["one thing"],
        "differ": ["x"],
        "concerns": [],
    }


@pytest.mark.parametrize("text", ["Sure, here it is.", '{"agreed": []}', '{"decision": 7}'])
def test_a_draft_that_says_nothing_is_at_fault(text: str) -> None:
    assert SynthesisReading().read(text).fault is not None
