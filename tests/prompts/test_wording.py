"""Every message has its sentence in every language, made from what the readings give it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from string import Formatter

import pytest

from app.domain.ending.arbitration import Choice, RulingReading
from app.domain.ending.completion_gate import CompletionReading
from app.domain.meeting.meeting import Language
from app.domain.replies.ballot import RankingReading, VoteReading
from app.domain.replies.messages import Arg, Code, Message
from app.domain.replies.reading import Reading
from app.domain.replies.sections import SectionsReading
from app.domain.rounds.synthesis import SynthesisReading
from app.formats.council.letters import LetterRankingReading
from app.formats.council.ranking import AnswerReading
from app.formats.debate.debating import DebateAnswerReading, DebateOpeningReading
from app.formats.poll.ballots import BinaryReading, RecommendationReading, ScoringReading
from app.formats.poll.grouping import GroupingReading
from app.formats.review.replies import AuthorReading, CriticReading
from app.formats.vote.arguments import RebuttalReading
from app.prompts.wording import catalogue, sentence

LANGUAGES: tuple[Language, ...] = ("en", "ja")

AB = ("A1", "B1")
VOTE = VoteReading(AB)
RANKING = RankingReading(AB, complete=True)
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
SCORES = ScoringReading(AB, ("cost", "risk"))
GROUPS = GroupingReading(3)
CRITIC = CriticReading(("obj-1",), ("c2",))
DEBATER = DebateAnswerReading(("Participant A", "Participant B"))
ARBITER = RulingReading((Choice("keep", "Keep it"), Choice("drop", "Drop it", ("c1",))))

POINT = {"severity": "minor", "point": "it is wrong"}


def read(reading: Reading, text: str) -> Message:
    fault = reading.read(text).fault
    assert fault is not None
    return fault


def told(reading: Reading, **answer: object) -> Message:
    return read(reading, json.dumps(answer))


SENTENCES: list[tuple[Message, str]] = [
    (read(VOTE, "hm"), "There is no JSON object in the reply."),
    (read(AnswerReading(), "<think>hm</think>"), "There is no answer in the reply."),
    (
        read(RebuttalReading(), "<think>hm</think>"),
        "There is nothing in the reply outside its thinking.",
    ),
    (told(VOTE, confidence=1), 'The key "vote" is missing.'),
    (told(AuthorReading(), draft="x", open="costs"), 'The key "open" must be a list.'),
    (
        told(VOTE, vote="A1", confidence="high"),
        'The key "confidence" is "high"; it must be a number from 0 to 1, in digits.',
    ),
    (
        read(VOTE, '{"vote": "A1", "confidence": 1e999}'),
        'The key "confidence" is endless; it must be a number from 0 to 1, in digits.',
    ),
    (
        told(VOTE, vote="A1", confidence=True),
        'The key "confidence" is true; it must be a number from 0 to 1, in digits.',
    ),
    (
        told(VOTE, vote="A1", confidence=9),
        'The key "confidence" is out of range; it must be a number from 0 to 1.',
    ),
    (
        read(DebateOpeningReading(), "hm"),
        'None of these sections is there: "POSITION:", "REASONING:", "PROPOSAL:", "CONCERNS:".',
    ),
    (
        read(SectionsReading(("SUMMARY", "MOTION"), ("SUMMARY", "MOTION")), "hm"),
        'These sections are missing or empty: "SUMMARY", "MOTION".',
    ),
    (told(VOTE, vote="C1"), 'The vote is "C1", but the options are "A1", "B1".'),
    (told(VOTE, vote=["A1"]), 'The vote is a list, but the options are "A1", "B1".'),
    (told(VOTE, vote={}), 'The vote is an object, but the options are "A1", "B1".'),
    (told(VOTE, vote=3), 'The vote is a number, but the options are "A1", "B1".'),
    (told(VOTE, vote=None), 'The vote is null, but the options are "A1", "B1".'),
    (
        told(VoteReading(AB, abstention_accepted=False), vote="ABSTAIN"),
        'An abstention is not accepted here; choose among "A1", "B1".',
    ),
    (told(RANKING, ranking="A1"), 'The key "ranking" must be a list, best first, of "A1", "B1".'),
    (
        told(RANKING, ranking=["A1", "C1"]),
        'The ranking names "C1", but there is only "A1", "B1".',
    ),
    (
        told(LetterRankingReading(LETTERS), ranking=[]),
        'The key "ranking" must be a list, best first, of '
        + ", ".join(f'"{letter}"' for letter in LETTERS[:20])
        + ", ….",
    ),
    (told(RANKING, ranking=["A1", "A1"]), 'The ranking names "A1" more than once.'),
    (told(RANKING, ranking=["A1"]), 'The ranking leaves out "B1".'),
    (
        told(RecommendationReading(), recommendations=[]),
        'The key "recommendations" must be a list with 1 to 3 of them.',
    ),
    (
        told(RecommendationReading(), recommendations=["a"] * 4),
        "There are 4 recommendations; give 3 at the most.",
    ),
    (
        told(RecommendationReading(), recommendations=["a"]),
        'Recommendation 1 has no "title".',
    ),
    (
        told(RecommendationReading(), recommendations=[{"title": "a"}]),
        (
            'The "confidence" of recommendation 1 is null; '
            "it must be a number from 1 to 10, in digits."
        ),
    ),
    (told(BinaryReading(), answer="maybe"), 'The key "answer" is "maybe"; it must be YES or NO.'),
    (
        told(SCORES, scores=None),
        'The key "scores" must be an object with a value for each of "A1", "B1".',
    ),
    (
        told(SCORES, scores={"A1": 1, "B1": 1, "C1": 1}),
        'The key "scores" names "C1", but there is only "A1", "B1".',
    ),
    (
        told(SCORES, scores={"A1": 1, "a1": 1, "B1": 1}),
        'The key "scores" names one of "A1", "B1" more than once.',
    ),
    (told(SCORES, scores={"A1": 1}), 'The key "scores" lacks "B1".'),
    (
        told(SCORES, scores={"A1": {"cost": 1}, "B1": {}}),
        'The score of "A1" lacks "risk".',
    ),
    (
        told(SCORES, scores={"A1": {"cost": 1, "risk": 0}, "B1": {}}),
        'The score of "A1" on "risk" is out of range; it must be a number from 1 to 10.',
    ),
    (
        read(DEBATER, "BACKS: me\nCONFIDENCE: 8"),
        'BACKS is "me"; it must name exactly one of "Participant A", "Participant B".',
    ),
    (
        read(DEBATER, "BACKS: B\nCONFIDENCE: high"),
        'CONFIDENCE is "high"; it must be a whole number from 1 to 10.',
    ),
    (
        read(DEBATER, "BACKS: me\nCONFIDENCE: high"),
        (
            'BACKS is "me"; it must name exactly one of "Participant A", "Participant B". '
            'CONFIDENCE is "high"; it must be a whole number from 1 to 10.'
        ),
    ),
    (told(AuthorReading()), 'The key "draft" must hold the whole draft as text.'),
    (
        told(AuthorReading(), draft="x" * 12_001),
        "The draft is longer than 12000 characters.",
    ),
    (
        told(CRITIC, objections=[POINT] * 21),
        "There are more than 20 objections; keep the weightiest.",
    ),
    (
        told(CRITIC, objections=[POINT | {"severity": "bad"}]),
        (
            'The "severity" of objection 1 is "bad"; '
            'it must be one of "blocking", "minor", "preference".'
        ),
    ),
    (told(CRITIC, objections=[POINT | {"point": ""}]), 'Objection 1 has no "point".'),
    (
        told(CRITIC, closed=["obj-9"]),
        'You close "obj-9", but your open objections are "obj-1".',
    ),
    (
        told(CriticReading(), closed=["obj-9"]),
        'You close "obj-9", but you have no open objections.',
    ),
    (
        told(CRITIC),
        'The criterion "c2" is null; under "criteria" it must be "pass" or "fail".',
    ),
    (
        told(GROUPS, groups="all"),
        'The key "groups" must be a list of lists of numbers, such as [[0, 3], [1, 2]].',
    ),
    (told(GROUPS, groups=[[2.5]]), "A group holds a number; it must hold whole numbers only."),
    (
        told(GROUPS, groups=[[0, 0, 1, 3]]),
        (
            "Every recommendation must be in exactly one group: "
            "3 does not exist, 2 is in no group, 0 is there more than once."
        ),
    ),
    (told(SynthesisReading()), 'The keys "decision" and "recommendation" are empty.'),
    (
        told(CompletionReading(), completion="yes"),
        'The key "completion" is "yes"; it must be "complete" or "needs_revision".',
    ),
    (
        told(CompletionReading(), completion="needs_revision"),
        'The key "reason" must say what needs revision.',
    ),
    (told(ARBITER), 'The key "choice" is missing.'),
    (told(ARBITER, choice="both"), 'The choice "both" is not one of those offered: "keep".'),
    (
        told(ARBITER, choice="drop"),
        (
            'The choice "drop" would drop what is required and does not pass: "c1". '
            "An arbiter may not do that."
        ),
    ),
    (Message.of(Code.NO_REPLY_IN_TIME, seconds=60.0), "No reply within 60 s."),
    (Message.of(Code.TIME_WAS_OVER), "The meeting's time was over before this was asked."),
    (Message.of(Code.NO_ROOM), "The meeting's envelope has no room for this request."),
    (Message.of(Code.REPLY_EMPTY), "The reply was empty."),
    (
        Message.of(Code.REPLY_TOO_LONG, count=2_000_000, most=65_536),
        "The reply has 2000000 characters; at most 65536 are read.",
    ),
    (
        Message.of(Code.ADAPTER_FAILED, error="KeyError"),
        'The agent\'s adapter failed with "KeyError".',
    ),
    (Message.of(Code.AGENT_GONE, agent="gone"), 'There is no agent named "gone" any more.'),
]
"""What the readings say, and what the coordinator does, with the English sentence."""


def within(arg: Arg) -> Iterator[Message]:
    """The messages in an argument: itself, and those in its own arguments."""
    if isinstance(arg, Message):
        yield arg
        for each in arg.args.values():
            yield from within(each)
    elif isinstance(arg, tuple):
        for each in arg:
            yield from within(each)


EVERY = [part for message, _ in SENTENCES for part in within(message)]


@pytest.mark.parametrize(("message", "english"), SENTENCES)
def test_the_english_sentence(message: Message, english: str) -> None:
    assert sentence(message, "en") == english


@pytest.mark.parametrize("message", [message for message, _ in SENTENCES])
def test_the_japanese_sentence_is_whole_and_japanese(message: Message) -> None:
    found = sentence(message, "ja")
    assert found.endswith("。")
    assert not re.search(r"[{}]", found)
    # Keys and headings stay in English, and what an answerer wrote stays as it is.
    own = re.sub(r"「[^」]*」", "", found)
    assert not re.search(r"\b(?:the|an?|is|are|of)\b", own, re.IGNORECASE | re.ASCII)
    assert re.search(r"[ぁ-ん]", own)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_catalogue_has_each_code_and_nothing_else(language: Language) -> None:
    assert set(catalogue(language)["messages"]) == {code.value for code in Code}


def test_every_code_stands_in_the_sentences_above() -> None:
    assert {message.code for message in EVERY} == set(Code)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("message", EVERY, ids=lambda message: message.code.value)
def test_a_sentence_tells_all_that_its_message_holds(message: Message, language: Language) -> None:
    text = catalogue(language)["messages"][message.code]
    assert {name for _, name, _, _ in Formatter().parse(text) if name} == set(message.args)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_missing_argument_is_an_error(language: Language) -> None:
    with pytest.raises(KeyError, match="options"):
        sentence(Message.of(Code.VOTE_UNKNOWN, value="C1"), language)


def test_what_an_answerer_wrote_is_quoted_and_never_filled_in() -> None:
    hostile = "{options} {0} {value.__class__}"
    message = Message.of(Code.VOTE_UNKNOWN, value=hostile, options=("A1",))
    assert f'"{hostile}"' in sentence(message, "en")
    assert f"「{hostile}」" in sentence(message, "ja")


def test_japanese_sentences_read_as_japanese() -> None:
    said = {message.code: sentence(message, "ja") for message, _ in SENTENCES}
    assert said[Code.NO_OBJECT] == "回答の中に JSON オブジェクトがない。"
    assert said[Code.BOTH] == (
        "BACKS が「me」になっている。「Participant A」、「Participant B」のうちちょうど一つの名札を"
        "書く必要がある。CONFIDENCE が「high」になっている。1から10までの整数でなければならない。"
    )
    assert said[Code.GROUPS_NO_PARTITION] == (
        "どの推奨も、ちょうど一つの組に入っていなければならない："
        "3番は存在しない、2番はどの組にも入っていない、0番は二度以上入っている。"
    )
    assert said[Code.NO_REPLY_IN_TIME] == "60秒以内に回答がなかった。"
