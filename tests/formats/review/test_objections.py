"""A review's objections: raised, supported, closed, reopened (PROTOCOLS 9)."""

import json
from typing import Any

import pytest

from app.domain.meeting.meeting import Material
from app.formats.review.objections import (
    Changes,
    ObjectionRegister,
    Raised,
    Severity,
    is_supported,
)

MATERIALS = (
    Material("m1", "1", "The outage\n  lasted ４ hours."),
    Material("m2", "1", "次の会議は\n来週です。"),
)


def objection(quote: str = "lasted 4 hours", **fields: Any) -> Raised:
    given = {"severity": Severity.BLOCKING, "material": "m1", "point": "p", "resolves_when": "r"}
    return Raised(quote=quote, **(given | fields))


def play(*rounds: tuple[str, list[Raised], list[str]]) -> tuple[ObjectionRegister, Changes]:
    register, changes = ObjectionRegister(), Changes()
    for number, (critic, raised, closed) in enumerate(rounds, 1):
        register, changes = register.after(critic, number, raised, closed, MATERIALS)
    return register, changes


@pytest.mark.parametrize(
    ("quote", "material", "supported"),
    [
        ("The outage lasted 4 hours.", "m1", True),
        ("outage   lasted\n４ hours", " M1 ", True),
        ("The outage lasted five hours.", "m1", False),
        ("the outage", "m1", False),
        ("lasted 4 hours", "m2", False),
        ("lasted 4 hours", "m9", False),
        ("次の会議は来週です", "m2", True),
        ("", "m1", False),
        ("  ", "m1", False),
    ],
)
def test_quotes_are_checked_after_folding(quote: str, material: str, supported: bool) -> None:
    assert is_supported(quote, material, MATERIALS) is supported


def test_a_supported_blocking_objection_blocks() -> None:
    register, changes = play(("ann", [objection()], []))
    assert [o.id for o in register.blocking] == ["obj-1"]
    assert (changes.raised, changes.evidence) == (("obj-1",), ("obj-1",))
    assert changes.progress.reasons == ("new_evidence:obj-1",)
    record = register.objections[0].record()
    assert (record["support"], record["state"]) == ("supported", "open")
    json.dumps(record)


def test_an_unsupported_one_is_kept_and_blocks_nothing() -> None:
    register, changes = play(("ann", [objection("never said")], []))
    assert (len(register.objections), register.blocking) == (1, ())
    assert (changes.raised, changes.evidence, changes.progress.made) == (("obj-1",), (), False)
    assert register.objections[0].record()["support"] == "unsupported"


@pytest.mark.parametrize("severity", [Severity.MINOR, Severity.PREFERENCE])
def test_only_blocking_ones_block(severity: Severity) -> None:
    register, _ = play(("ann", [objection(severity=severity)], []))
    assert register.blocking == ()


def test_a_critic_closes_its_own_and_keeps_the_rest() -> None:
    register, changes = play(
        ("ann", [objection(), objection("The outage")], []),
        ("ben", [objection("hours")], ["obj-1"]),
        ("ann", [], ["obj-1", "obj-3"]),
    )
    assert (changes.closed, changes.kept) == (("obj-1",), ("obj-2",))
    assert [o.id for o in register.blocking] == ["obj-2", "obj-3"]
    assert changes.progress.reasons == ("objection_closed:obj-1",)


def test_the_same_ground_reopens_what_was_closed() -> None:
    again = objection("lasted ４  hours", point="still", severity=Severity.MINOR)
    register, changes = play(
        ("ann", [objection()], []), ("ann", [], ["obj-1"]), ("ben", [again], [])
    )
    (only,) = register.objections
    assert (changes.reopened, changes.raised) == (("obj-1",), ())
    assert not changes.progress.made
    assert (only.open, only.critic, only.round, only.reopened_in) == (True, "ben", 1, (3,))
    assert only.raised.severity is Severity.MINOR


def test_closing_and_reopening_in_one_reply_is_no_progress() -> None:
    _, changes = play(("ann", [objection()], []), ("ann", [objection(point="q")], ["obj-1"]))
    assert (changes.reopened, changes.progress.made) == (("obj-1",), False)


def test_closing_what_had_come_back_leads_to_where_it_was_before() -> None:
    back_and_forth = ("ann", [objection()], []), ("ann", [], ["obj-1"])
    register, changes = play(*back_and_forth, *back_and_forth)
    assert (changes.closed, changes.settled, changes.progress.made) == (("obj-1",), (), False)
    assert register.blocking == ()


def test_objections_without_a_quote_have_no_common_ground() -> None:
    register, changes = play(
        ("ann", [objection("")], []), ("ann", [], ["obj-1"]), ("ann", [objection("")], [])
    )
    assert (len(register.objections), changes.reopened) == (2, ())


def test_repeating_an_open_objection_changes_nothing() -> None:
    register, changes = play(("ann", [objection()], []), ("ann", [objection()], []))
    assert (len(register.objections), changes.raised, changes.kept) == (1, (), ("obj-1",))


def test_another_critics_same_ground_is_raised_but_no_new_evidence() -> None:
    register, changes = play(("ann", [objection()], []), ("ben", [objection()], []))
    assert (len(register.objections), changes.raised, changes.evidence) == (2, ("obj-2",), ())


@pytest.mark.parametrize("quote", ["", "never said"])
def test_closing_what_rests_on_nothing_is_no_progress(quote: str) -> None:
    _, changes = play(("ann", [objection(quote)], []), ("ann", [], ["obj-1"]))
    assert (changes.closed, changes.settled, changes.progress.made) == (("obj-1",), (), False)


WIDER = "The outage  lasted ４ hours."


@pytest.mark.parametrize(
    ("known", "quote"),
    [
        ("lasted 4 hours", WIDER),
        (WIDER, "lasted 4 hours"),
        ("会議は来週", "次の会議は\n来週です。"),
    ],
)
def test_more_or_fewer_words_of_a_quote_are_the_same_ground(known: str, quote: str) -> None:
    material = "m1" if known.isascii() or known == WIDER else "m2"
    first = objection(known, material=material)
    again = objection(quote, material=material, point="q")
    _, raised = play(("ann", [first], []), ("ann", [again], []))
    assert (raised.raised, raised.evidence, raised.progress.made) == (("obj-2",), (), False)
    register, changes = play(("ann", [first], []), ("ann", [], ["obj-1"]), ("ann", [again], []))
    assert (len(register.objections), changes.reopened) == (1, ("obj-1",))


def test_another_critic_may_mean_another_thing_by_a_part_of_the_same_words() -> None:
    first, other = objection(WIDER), objection("lasted 4 hours", point="q")
    register, changes = play(("ann", [first], []), ("ann", [], ["obj-1"]), ("ben", [other], []))
    assert (len(register.objections), changes.reopened) == (2, ())
    assert (changes.raised, changes.evidence) == (("obj-2",), ("obj-2",))


@pytest.mark.parametrize(
    ("quote", "fields"),
    [("The outage", {}), ("lasted 4 hours, they say", {}), ("lasted 4 hours", {"material": "m2"})],
    ids=["other words", "invented around true ones", "another material"],
)
def test_another_ground_reopens_nothing(quote: str, fields: dict[str, str]) -> None:
    other = objection(quote, **fields)
    register, changes = play(
        ("ann", [objection()], []), ("ann", [], ["obj-1"]), ("ann", [other], [])
    )
    assert (len(register.objections), changes.reopened) == (2, ())
    assert bool(changes.evidence) is (quote == "The outage")


def test_one_reply_closes_reopens_and_raises() -> None:
    register, changes = play(
        ("ann", [objection(), objection("The outage"), objection("invented")], []),
        ("ann", [], ["obj-1"]),
        (
            "ann",
            [objection(WIDER, point="q"), objection("次の会議", material="m2")],
            ["obj-2", "obj-3"],
        ),
    )
    assert (changes.closed, changes.settled) == (("obj-2", "obj-3"), ("obj-2",))
    assert (changes.raised, changes.reopened, changes.kept) == (("obj-4",), ("obj-1",), ())
    assert changes.progress.reasons == ("objection_closed:obj-2", "new_evidence:obj-4")
    assert [o.id for o in register.blocking] == ["obj-1", "obj-4"]
