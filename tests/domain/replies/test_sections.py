import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.replies.messages import Code, Message
from app.domain.replies.sections import SectionsReading, read_sections

DEBATE = ("AGREEMENTS", "DISAGREEMENTS", "REFINED PROPOSAL", "PROPOSAL", "BACKS")


@pytest.mark.parametrize(
    "text",
    [
        "SUMMARY: They met.\nMOTION: Do it.",
        "**Summary:** They met.\n\n**Motion:** Do it.",
        "## SUMMARY:\nThey met.\n## MOTION:\nDo it.",
        "ＳＵＭＭＡＲＹ：They met.\n__MOTION__: Do it.",
        "<think>SUMMARY: no</think>Here:\nsummary : They met.\nmotion : Do it.",
        "SUMMARY: first try\nSUMMARY: They met.\nMOTION: Do it.",
    ],
)
def test_headings_in_every_dress(text: str) -> None:
    assert read_sections(text, ("SUMMARY", "MOTION")) == {
        "summary": "They met.",
        "motion": "Do it.",
    }


def test_a_longer_heading_is_not_read_as_the_shorter_one() -> None:
    found = read_sections("REFINED PROPOSAL: B\nPROPOSAL: A", DEBATE)
    assert (found["refined proposal"], found["proposal"]) == ("B", "A")


def test_a_missing_section_is_empty_and_a_required_one_a_fault() -> None:
    read = SectionsReading(("SUMMARY", "MOTION"), required=("SUMMARY",)).read("MOTION: Do it.")
    assert read.values["sections"] == {"summary": "", "motion": "Do it."}
    assert read.fault == Message.of(Code.SECTIONS_MISSING, headings=("SUMMARY",))
    assert SectionsReading(("SUMMARY", "MOTION"), ("SUMMARY",)).read("SUMMARY: a").fault is None


@given(st.text())
def test_reading_never_raises(text: str) -> None:
    assert set(read_sections(text, DEBATE)) == {heading.lower() for heading in DEBATE}
