"""The debate's rules (PROTOCOLS 5): perspectives, backed labels, convergence and progress."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import ReplyStatus
from app.formats.debate.debating import (
    CONSTRAINTS,
    TENSION,
    Backing,
    DebateAnswerReading,
    DebateOpeningReading,
    Diversity,
    backed_label,
    band,
    common_option,
    concerns_in,
    converged_on,
    debate_progress,
    perspectives,
    read_confidence,
    topic_kind,
)

LABELS = ("Participant A", "Participant B", "Participant C")


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("Should the platform team use a monorepo or several repositories?", "software"),
        ("マイクロサービスとモノリス、どちらで実装すべきか", "software"),
        ("Which onboarding feature do our users need first?", "product"),
        ("顧客向けアプリの料金プランをどう変えるか", "product"),
        ("Should we enter the German market next year?", "strategy"),
        ("来年の採用と投資の方針", "strategy"),
        ("Is a hot dog a sandwich?", "strategy"),
        ("Is the rest of the contest restful?", "strategy"),
    ],
)
def test_the_kind_of_a_topic(topic: str, kind: str) -> None:
    assert topic_kind(topic) == kind


@pytest.mark.parametrize(
    ("topic", "diversity", "found"),
    [
        ("Python or Rust for the backend?", "auto", ("architect", "pragmatist", "critic")),
        ("A feature users want?", "roles", ("user_advocate", "business_strategist", "engineer")),
        ("Expand or stay?", "auto", ("optimist", "sceptic", "synthesiser")),
        ("Design the API of our queue", "auto", CONSTRAINTS[:3]),
        ("データベースのアーキテクチャ", "auto", CONSTRAINTS[:3]),
        ("Design the API of our queue", "roles", ("architect", "pragmatist", "critic")),
        ("Expand or stay?", "constraints", CONSTRAINTS[:3]),
    ],
)  # fmt: skip
def test_perspectives(topic: str, diversity: Diversity, found: tuple[str, ...]) -> None:
    assert perspectives(topic, 3, diversity) == found


def test_past_three_come_roles_that_add_tension() -> None:
    assert perspectives("x", 2, "roles") == ("optimist", "sceptic")
    five = perspectives("x", 5, "roles")
    assert five[3:] == TENSION[:2]
    assert len(perspectives("x", 20, "roles")) == 20
    assert perspectives("x", 5, "constraints") == (*CONSTRAINTS, CONSTRAINTS[0])


@pytest.mark.parametrize(
    "text",
    ["Participant B", "**Participant B**", "participant b", "B", "b.", "(B)", "「B」",
     "Participant B's refined version", "Ｐａｒｔｉｃｉｐａｎｔ　Ｂ", "My own, Participant B"],
)  # fmt: skip
def test_a_backed_label(text: str) -> None:
    assert backed_label(text, LABELS) == "Participant B"


@pytest.mark.parametrize(
    "text", ["", "mine", "D", "Participant D", "Participant AB", "Participant A or Participant B"]
)
def test_what_names_no_single_label(text: str) -> None:
    assert backed_label(text, LABELS) is None


def test_japanese_labels_and_shown_names() -> None:
    assert backed_label("参加者Aの案", ("参加者 A", "参加者 B")) == "参加者 A"
    assert backed_label("the db architect", ("architect", "db architect")) == "db architect"
    assert backed_label("architect", ("architect", "db architect")) == "architect"


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("8", 8),
        ("**8**", 8),
        ("8.", 8),
        ("8/10", 8),
        ("80%", 8),
        ("８／１０", 8),
        ("4/5", 8),
        ("9 (the costs are known)", 9),
        ("10", 10),
        ("0", None),
        ("11", None),
        ("8.5", None),
        ("85%", None),
        (".8", None),
        ("high", None),
        ("", None),
        ("7-8", None),
    ],
)
def test_confidence(text: str, confidence: int | None) -> None:
    assert read_confidence(text) == confidence


ANSWER = """## AGREEMENTS: B is right about cost.
DISAGREEMENTS: scale
REFINED PROPOSAL: one repository
**BACKS:** Participant A
CONFIDENCE: 8/10
CHANGED BECAUSE: B's figures"""


def test_reading_an_answer() -> None:
    read = DebateAnswerReading(LABELS).read(ANSWER)
    assert read.fault is None
    assert (read.values["backs"], read.values["confidence"]) == ("Participant A", 8)
    assert read.values["changed_because"] == "B's figures"
    assert read.values["sections"]["refined proposal"] == "one repository"


def test_faults_of_an_answer_are_named_together() -> None:
    text = ANSWER.replace("Participant A", "Participant Z").replace("8/10", "high")
    read = DebateAnswerReading(LABELS).read(text)
    assert read.fault == Message.of(
        Code.BOTH,
        first=Message.of(Code.BACKS_UNCLEAR, value="Participant Z", labels=LABELS),
        second=Message.of(Code.CONFIDENCE_UNCLEAR, value="high"),
    )
    assert read.values["backs"] is None


def test_reading_an_opening() -> None:
    read = DebateOpeningReading().read("POSITION: Yes.\nPROPOSAL: Do it.")
    assert read.fault is None
    assert read.values["sections"] == {
        "position": "Yes.",
        "reasoning": "",
        "proposal": "Do it.",
        "concerns": "",
    }
    wanted = ("POSITION:", "REASONING:", "PROPOSAL:", "CONCERNS:")
    nothing = DebateOpeningReading().read("Well, yes.")
    assert nothing.fault == Message.of(Code.NO_SECTION, headings=wanted)


def test_absent_replies_have_the_same_shape() -> None:
    answer, opening = DebateAnswerReading(LABELS), DebateOpeningReading()
    assert set(answer.absent(ReplyStatus.ERROR)) == set(answer.read(ANSWER).values)
    assert opening.absent(ReplyStatus.ERROR) == opening.read("").values


@pytest.mark.parametrize(
    ("backings", "label"),
    [
        ([Backing("A", 8), Backing("A", 10), Backing("A", 9)], "A"),
        ([Backing("A", 8), Backing("A", 7)], None),
        ([Backing("A", 9), Backing("B", 9)], None),
        ([Backing("A", 9), Backing()], None),
        ([Backing(), Backing()], None),
        ([], None),
    ],
)
def test_convergence(backings: list[Backing], label: str | None) -> None:
    assert converged_on(backings) == label


@pytest.mark.parametrize(
    ("positions", "option"),
    [
        (["Use PostgreSQL.", "postgresql it is"], "PostgreSQL"),
        (["Use PostgreSQL.", "Use MySQL."], None),
        (["Use PostgreSQL.", None], None),
        (["Use PostgreSQL.", "PostgreSQL, not MySQL"], None),
        (["Neither.", "None of them."], None),
        (["PostgreSQL must not be taken.", "Anything but PostgreSQL."], None),
        (["PostgreSQL は避けるべきだ。", "PostgreSQL を使うべきだ。"], None),
        (["PostgreSQL を使うべきだ。", "**PostgreSQL**"], "PostgreSQL"),
        ([], None),
    ],
)
def test_round_one_may_converge_on_an_option(
    positions: list[str | None], option: str | None
) -> None:
    assert common_option(positions, ("PostgreSQL", "MySQL")) == option


def test_an_option_that_is_an_article_too_has_to_stand_alone() -> None:
    options = ("A", "B")
    assert common_option(["A plan that keeps all.", "A middle way."], options) is None
    assert common_option(["A", "**A.**"], options) == "A"


def test_bands() -> None:
    assert [band(n) for n in (1, 4, 5, 7, 8, 10)] == [
        "low",
        "low",
        "middle",
        "middle",
        "high",
        "high",
    ]


def test_progress_is_a_changed_label_band_or_a_new_concern() -> None:
    before = {"ann": Backing("A", 6), "ben": Backing("B", 6), "cy": Backing()}
    same = {"ann": Backing("A", 7), "ben": Backing("B", 5), "cy": Backing("C", 9)}
    assert not debate_progress(before, same).made
    moved = {"ann": Backing("B", 8), "ben": Backing("B", 5)}
    assert debate_progress(before, moved).reasons == (
        "backed_label_changed:ann",
        "confidence_band_changed:ann",
    )


def test_reworded_concerns_are_no_progress() -> None:
    known = concerns_in("- The migration costs two weeks\n2. Nobody owns the queue")
    assert known == ("The migration costs two weeks", "Nobody owns the queue")
    reworded = {"ann": ["the migration costs us two weeks!"]}
    assert not debate_progress({}, {}, known, reworded).made
    named = {"ann": ["Licences forbid it", "licences forbid it."], "ben": ["It forbids licences"]}
    assert debate_progress({}, {}, known, named).reasons == ("concern_named:ann",)


@given(st.text() | st.text().map(lambda text: f"BACKS: {text}\nCONFIDENCE: {text}"))
def test_no_text_makes_a_reading_raise(text: str) -> None:
    DebateOpeningReading().read(text)
    read = DebateAnswerReading(LABELS).read(text)
    assert read.values["backs"] in (None, *LABELS)
    assert read.fault is not None
    topic_kind(text)
    perspectives(text, 4)
    common_option([text], LABELS)
    debate_progress({}, {}, [text], {"ann": concerns_in(text)})
