import pytest

from app.domain.replies.messages import Code
from app.domain.rounds.synthesis import SynthesisReading


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


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Sure, here it is.", Code.NO_OBJECT),
        ('{"agreed": []}', Code.SYNTHESIS_EMPTY),
        ('{"decision": 7}', Code.SYNTHESIS_EMPTY),
    ],
)
def test_a_draft_that_says_nothing_is_at_fault(text: str, code: Code) -> None:
    fault = SynthesisReading().read(text).fault
    assert fault is not None
    assert fault.code is code
