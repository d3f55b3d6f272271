from hypothesis import given
from hypothesis import strategies as st

from app.domain.replies.reading import Reply, ReplyStatus
from app.domain.rounds.summary import (
    MOST_SUMMARY_CHARACTERS,
    bounded_motion,
    extractive_summary,
    first_sentence,
)


def _reply(who: str, text: str, stance: str = "AGREE") -> Reply:
    return Reply(who, 1, ReplyStatus.OK, text, {"stance": stance})


def test_the_extractive_summary_takes_first_sentences_and_stances() -> None:
    replies = [
        _reply("a", "We should. It is cheap. [STANCE: AGREE]"),
        _reply("b", "費用が高い。だから反対。", "DISAGREE"),
        Reply("c", 1, ReplyStatus.TIMEOUT, "", {"stance": "NEUTRAL"}),
    ]
    labels = {"a": "Participant A", "b": "Participant B", "c": "Participant C"}
    assert extractive_summary(replies, labels) == (
        "Participant A [AGREE]: We should.\n"
        "Participant B [DISAGREE]: 費用が高い。\n"
        "Participant C [NEUTRAL]: –"
    )


@given(st.lists(st.text(), min_size=1, max_size=20))
def test_the_extractive_summary_has_the_size_of_any_other(texts: list[str]) -> None:
    replies = [_reply(str(number), text) for number, text in enumerate(texts)]
    labels = {reply.who: f"Participant {reply.who}" for reply in replies}
    assert len(extractive_summary(replies, labels)) <= MOST_SUMMARY_CHARACTERS


def test_a_motion_is_one_line_and_no_stance() -> None:
    assert bounded_motion('"Use one\nrepository."  [STANCE: AGREE]') == "Use one repository."


def test_first_sentence_keeps_numbers_whole() -> None:
    assert first_sentence("It costs 1.5 days. Then it is done.") == "It costs 1.5 days."
