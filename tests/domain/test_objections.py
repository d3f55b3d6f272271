"""A review's objections: raised, supported, closed, reopened (PROTOCOLS 9)."""

import json
from typing import Any

import pytest

from app.domain.meeting import Material
from app.domain.objections import Changes, Ledger, Raised, Severity, is_supported

MATERIALS = (
    Material("m1", "1", "The outage\n  lasted ４ hours."),
    Material("m2", "1", "次の会議は\n来週です。"),
)


def objection(quote: str = "lasted 4 hours", **fields: Any) -> Raised:
    given = {"severity": Severity.BLOCKING, "material": "m1", "point": "p", "resolves_when": "r"}
    return Raised(quote=quote, **(given | fields))


def play(*rounds: tuple[str, list[Raised], list[str]]) -> tuple[Ledger, Changes]:
    ledger, changes = Ledger(), Changes()
    for number, (critic, raised, closed) in enumerate(rounds, 1):
        ledger, changes = ledger.after(critic, number, raised, closed, MATERIALS)
    return ledger, changes


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
    ledger, changes = play(("ann", [objection()], []))
    assert [o.id for o in ledger.blocking] == ["obj-1"]
    assert (changes.raised, changes.evidence) == (("obj-1",), ("obj-1",))
    assert changes.progress.reasons == ("new_evidence:obj-1",)
    record = ledger.objections[0].record()
    assert (record["support"], record["state"]) == ("supported", "open")
    json.dumps(record)


def test_an_unsupported_one_is_kept_and_blocks_nothing() -> None:
    ledger, changes = play(("ann", [objection("never said")], []))
    assert (len(ledger.objections), ledger.blocking) == (1, ())
    assert (changes.raised, changes.evidence, changes.progress.made) == (("obj-1",), (), False)
    assert ledger.objections[0].record()["support"] == "unsupported"


@pytest.mark.parametrize("severity", [Severity.MINOR, Severity.PREFERENCE])
def test_only_blocking_ones_block(severity: Severity) -> None:
    ledger, _ = play(("ann", [objection(severity=severity)], []))
    assert ledger.blocking == ()


def test_a_critic_closes_its_own_and_keeps_the_rest() -> None:
    ledger, changes = play(
        ("ann", [objection(), objection("The outage")], []),
        ("ben", [objection("hours")], ["obj-1"]),
        ("ann", [], ["obj-1", "obj-3"]),
    )
    assert (changes.closed, changes.kept) == (("obj-1",), ("obj-2",))
    assert [o.id for o in ledger.blocking] == ["obj-2", "obj-3"]
    assert changes.progress.reasons == ("objection_closed:obj-1",)


def test_the_same_ground_reopens_what_was_closed() -> None:
    again = objection("lasted ４  hours", point="still", severity=Severity.MINOR)
    ledger, changes = play(("ann", [objection()], []), ("ann", [], ["obj-1"]), ("ben", [again], []))
    (only,) = ledger.objections
    assert (changes.reopened, changes.raised, changes.circular) == (("obj-1",), (), True)
    assert not changes.progress.made
    assert (only.open, only.critic, only.round, only.reopened_in) == (True, "ben", 1, (3,))
    assert only.raised.severity is Severity.MINOR


def test_closing_and_reopening_in_one_reply_is_no_progress() -> None:
    _, changes = play(("ann", [objection()], []), ("ann", [objection(point="q")], ["obj-1"]))
    assert (changes.reopened, changes.progress.made) == (("obj-1",), False)


def test_closing_what_had_come_back_leads_to_where_it_was_before() -> None:
    back_and_forth = ("ann", [objection()], []), ("ann", [], ["obj-1"])
    ledger, changes = play(*back_and_forth, *back_and_forth)
    assert (changes.closed, changes.again, changes.progress.made) == (("obj-1",), ("obj-1",), False)
    assert ledger.blocking == ()


def test_objections_without_a_quote_have_no_common_ground() -> None:
    ledger, changes = play(
        ("ann", [objection("")], []), ("ann", [], ["obj-1"]), ("ann", [objection("")], [])
    )
    assert (len(ledger.objections), changes.reopened) == (2, ())


def test_repeating_an_open_objection_changes_nothing() -> None:
    ledger, changes = play(("ann", [objection()], []), ("ann", [objection()], []))
    assert (len(ledger.objections), changes.raised, changes.kept) == (1, (), ("obj-1",))


def test_another_critics_same_ground_is_raised_but_no_new_evidence() -> None:
    ledger, changes = play(("ann", [objection()], []), ("ben", [objection()], []))
    assert (len(ledger.objections), changes.raised, changes.evidence) == (2, ("obj-2",), ())
