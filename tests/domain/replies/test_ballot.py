"""Reading ballots: the votes and rankings of PROTOCOLS 16, and what holds for every ballot."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.replies.ballot import RankingReading, VoteReading
from app.domain.replies.messages import Arg, Code, Message
from app.domain.replies.quoting import listed, mentioned
from app.domain.replies.reading import Reading, ReplyStatus
from app.domain.values import exact
from app.formats.council.letters import LetterRankingReading
from app.formats.poll.ballots import BinaryReading, RecommendationReading, ScoringReading

OPTIONS = ("PostgreSQL", "DynamoDB", "MongoDB")
VOTE = VoteReading(OPTIONS)
RANKED = RankingReading(OPTIONS, abstention_accepted=True)
RECOMMEND = RecommendationReading()
BINARY = BinaryReading()
SCORES = ScoringReading(("X", "Y"), ("cost", "risk"))
READINGS: tuple[Reading, ...] = (
    VOTE,
    VoteReading(OPTIONS, abstention_accepted=False),
    RANKED,
    RankingReading(OPTIONS, complete=True),
    LetterRankingReading(("A", "B")),
    RECOMMEND,
    BINARY,
    SCORES,
    ScoringReading(OPTIONS),
)


A_LIST = Message.of(Code.A_LIST)
CONFIDENCE = Message.of(Code.THE_KEY, key="confidence")
OUT_OF_RANGE = Message.of(Code.OUT_OF_RANGE, what=CONFIDENCE, low=0, high=1)


def vote(**fields: Any) -> str:
    return json.dumps({"vote": "PostgreSQL", "confidence": 0.9} | fields, ensure_ascii=False)


def _no_confidence(value: Arg) -> Message:
    return Message.of(Code.NOT_A_NUMBER, what=CONFIDENCE, value=value, low=0, high=1)


@pytest.mark.parametrize("written", [0.9, "0.9", "90%", "9/10"])
def test_a_vote_is_stored_with_the_exact_confidence(written: object) -> None:
    read = VOTE.read(vote(confidence=written, rationale=" it is known ", mitigation="a spike"))
    assert read.fault is None
    assert read.values == {
        "ballot": {"vote": "PostgreSQL"},
        "confidence": 0.9,
        "rationale": "it is known",
        "mitigation": "a spike",
    }
    assert isinstance(read.values["confidence"], float)
    assert exact(read.values["confidence"]) == Fraction(9, 10)


@pytest.mark.parametrize("spelled", ["postgresql", " PostgreSQL ", "ＰｏｓｔｇｒｅＳＱＬ"])
def test_the_ballot_holds_the_meetings_own_spelling(spelled: str) -> None:
    assert VOTE.read(vote(vote=spelled)).values["ballot"] == {"vote": "PostgreSQL"}


def test_a_number_may_name_an_option() -> None:
    assert VoteReading(("2026", "2027")).read(vote(vote=2026)).values["ballot"] == {"vote": "2026"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("I am for PostgreSQL.", Message.of(Code.NO_OBJECT)),
        ('{"confidence": 0.9}', Message.of(Code.KEY_MISSING, key="vote")),
        (vote(vote="Oracle"), Message.of(Code.VOTE_UNKNOWN, value="Oracle", options=OPTIONS)),
        (vote(vote=["DynamoDB"]), Message.of(Code.VOTE_UNKNOWN, value=A_LIST, options=OPTIONS)),
        ('{"vote": "MongoDB"}', Message.of(Code.KEY_MISSING, key="confidence")),
        (vote(confidence="high"), _no_confidence("high")),
        (vote(confidence=True), _no_confidence(True)),
        (
            '{"vote": "MongoDB", "confidence": 1e999999}',
            _no_confidence(Message.of(Code.ENDLESS)),
        ),
        (vote(confidence=9), OUT_OF_RANGE),
        (vote(confidence="120%"), OUT_OF_RANGE),
        (vote(confidence=-0.1), OUT_OF_RANGE),
    ],
)
def test_faults_of_a_vote(text: str, fault: Message) -> None:
    read = VOTE.read(text)
    assert (read.fault, read.values["ballot"]) == (fault, None)


def test_not_a_number_is_no_json() -> None:
    assert VOTE.read('{"vote": "MongoDB", "confidence": NaN}').fault is not None


def test_the_last_object_counts() -> None:
    text = vote(vote="MongoDB") + "\nNo, rather:\n```json\n" + vote(vote="DynamoDB") + "\n```"
    assert VOTE.read(text).values["ballot"] == {"vote": "DynamoDB"}


def test_a_ballot_may_say_why_it_changed() -> None:
    assert VOTE.read(vote(changed_because=" the cost ")).values["changed_because"] == "the cost"
    assert "changed_because" not in VOTE.read(vote(changed_because=None)).values
    ranking = RANKED.read('{"ranking": ["MongoDB"], "changed_because": "the load"}')
    assert ranking.values["changed_because"] == "the load"


def test_an_abstention_needs_no_confidence() -> None:
    read = VOTE.read('{"vote": "abstain", "rationale": "not my field"}')
    assert read.fault is None
    assert read.values["ballot"] == {"vote": "ABSTAIN"}
    assert (read.values["confidence"], read.values["rationale"]) == (None, "not my field")


def test_an_abstention_that_is_not_accepted_is_a_fault_and_stays_visible() -> None:
    read = VoteReading(("A1", "B1"), abstention_accepted=False).read('{"vote": "ABSTAIN"}')
    assert read.fault == Message.of(Code.ABSTENTION_REFUSED, options=("A1", "B1"))
    assert read.values["ballot"] == {"vote": "ABSTAIN"}


def test_an_option_called_abstain_is_an_option() -> None:
    reading = VoteReading(("Abstain", "B1"), abstention_accepted=False)
    assert reading.read(vote(vote="abstain")).fault is None


@pytest.mark.parametrize(
    ("text", "off_topic"),
    [
        ("The weather is fine.", True),
        ("I like postgresql best.", False),
        ("<think>PostgreSQL?</think> The weather is fine.", True),
        ('{"weather": "fine"}', False),
        ("", True),
    ],
)
def test_off_topic_is_no_object_and_no_option(text: str, off_topic: bool) -> None:
    read = VOTE.read(text)
    assert read.fault is not None
    assert read.values.get("off_topic", False) is off_topic


def test_recommendations_and_letters_are_never_off_topic() -> None:
    assert "off_topic" not in RECOMMEND.read("hello").values
    assert "off_topic" not in LetterRankingReading(("A", "B")).read("hello").values


def test_a_ranking_may_leave_options_out() -> None:
    read = RANKED.read('{"ranking": ["mongodb", "PostgreSQL"], "confidence": "80%"}')
    assert read.fault is None
    assert read.values["ballot"] == {"ranking": ["MongoDB", "PostgreSQL"]}
    assert read.values["confidence"] == 0.8
    assert RANKED.read('{"ranking": ["MongoDB"]}').values["confidence"] is None


@pytest.mark.parametrize(
    ("ranking", "fault"),
    [
        (
            ["Oracle", "MongoDB"],
            Message.of(Code.RANKING_UNKNOWN, unknown=("Oracle",), names=OPTIONS),
        ),
        (["MongoDB", "mongodb"], Message.of(Code.RANKING_REPEATED, repeated=("MongoDB",))),
        ([], Message.of(Code.RANKING_NOT_A_LIST, names=OPTIONS)),
        ("MongoDB", Message.of(Code.RANKING_NOT_A_LIST, names=OPTIONS)),
        ([["MongoDB"]], Message.of(Code.RANKING_UNKNOWN, unknown=(A_LIST,), names=OPTIONS)),
    ],
)
def test_faults_of_a_ranking(ranking: object, fault: Message) -> None:
    assert RANKED.read(json.dumps({"ranking": ranking})).fault == fault


def test_of_many_names_only_the_first_are_told() -> None:
    letters = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert listed(letters) == (*letters[:20], Message.of(Code.MORE))
    assert listed(letters[:20]) == letters[:20]


def test_a_complete_ranking_names_what_is_missing() -> None:
    read = RankingReading(OPTIONS, complete=True).read('{"ranking": ["MongoDB"]}')
    left_out = ("PostgreSQL", "DynamoDB")
    assert read.fault == Message.of(Code.RANKING_INCOMPLETE, missing=left_out)


@pytest.mark.parametrize(
    "text", ['{"ranking": "ABSTAIN"}', '{"ranking": ["abstain"]}', '{"vote": "ABSTAIN"}']
)
def test_abstaining_from_a_ranked_vote(text: str) -> None:
    read = RANKED.read(text)
    assert (read.fault, read.values["ballot"]) == (None, {"vote": "ABSTAIN"})
    refused = RankingReading(OPTIONS, abstention_accepted=False).read(text)
    assert refused.fault is not None
    assert refused.values["ballot"] == {"vote": "ABSTAIN"}
    assert RankingReading(OPTIONS).read(text).values["ballot"] is None


def test_letters_are_ranked_and_may_be_left_out() -> None:
    reading = LetterRankingReading(("A", "B", "C"))
    assert reading.read('{"ranking": ["b", "A"]}').values["ballot"] == {"ranking": ["B", "A"]}
    assert reading.read('{"ranking": ["B", "B"]}').fault is not None
    assert reading.read('{"ranking": ["D"]}').fault is not None


def test_half_a_surrogate_pair_and_control_characters_are_not_stored() -> None:
    read = VOTE.read('{"vote": "MongoDB", "confidence": 1, "rationale": "a\\ud800\\u0000b"}')
    assert read.values["rationale"] == "a?b"
    unknown = VOTE.read('{"vote": "\\ud800", "confidence": 1}')
    assert unknown.fault is not None
    assert unknown.fault.args["value"] == "?"


def test_names_are_found_as_whole_words() -> None:
    names = ("React", "React Native", "会議")
    assert mentioned("use react-native? React  native!", names) == ("React", "React Native")
    assert mentioned("only React Native", names) == ("React Native",)
    assert mentioned("reactive", names) == ()
    assert mentioned("次の会議では", names) == ("会議",)
    assert mentioned("anything", ()) == ()


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: type(reading).__name__)
def test_an_absent_reply_has_no_ballot(reading: Reading) -> None:
    values = reading.absent(ReplyStatus.TIMEOUT)
    assert values == {"ballot": None, "confidence": None, "rationale": "", "mitigation": ""}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["vote", "confidence", "ranking", "recommendations", "answer", "reasons", "scores", "rationale"]
)
REPLIES = st.text() | st.dictionaries(KEYS, JSON).map(json.dumps)


@given(REPLIES)
def test_no_text_makes_a_reading_raise(text: str) -> None:
    for reading in READINGS:
        read = reading.read(text)
        assert (read.values["ballot"] is None) <= (read.fault is not None)
        json.dumps(read.values, allow_nan=False, ensure_ascii=False).encode()


@given(st.decimals(0, 1, places=9))
def test_a_confidence_is_counted_as_it_was_written(written: Any) -> None:
    read = VOTE.read(vote(confidence=format(written, "f")))
    assert exact(read.values["confidence"]) == Fraction(written)
