"""PROTOCOLS 4, the consensus rule and its vectors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.rounds.consensus import Consensus
from app.formats.roundtable.stance import Stance
from app.formats.roundtable.tally import StanceTally

LETTERS = {stance.value[0]: stance for stance in Stance}
VECTORS = {
    "AAA": Consensus.FULL,
    "AAN": Consensus.MAJORITY,
    "AAU": Consensus.MAJORITY,
    "AND": Consensus.NONE,
    "AAD": Consensus.NONE,
    "AANN": Consensus.NONE,
    "AAAAND": Consensus.NONE,
    "NNN": Consensus.NONE,
    "AAAAANN": Consensus.MAJORITY,
    "": Consensus.NONE,
}
"""``AAAAANN``: five AGREE of seven with two timeouts, which count as NEUTRAL (15 ≥ 14)."""

stances = st.lists(st.sampled_from(list(Stance)), min_size=1, max_size=20)


@pytest.mark.parametrize(("letters", "consensus"), VECTORS.items())
def test_vectors(letters: str, consensus: Consensus) -> None:
    assert StanceTally.of(LETTERS[letter] for letter in letters).consensus is consensus


@given(stances)
def test_adding_an_agree_never_turns_consensus_into_none(taken: list[Stance]) -> None:
    if StanceTally.of(taken).consensus.reached:
        assert StanceTally.of([*taken, Stance.AGREE]).consensus.reached


@given(stances, st.randoms())
def test_the_order_of_stances_never_matters(taken: list[Stance], chance: object) -> None:
    shuffled = list(taken)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis' Random
    assert StanceTally.of(shuffled) == StanceTally.of(taken)


@given(stances)
def test_a_disagree_prevents_consensus_and_unknown_counts_as_neutral(taken: list[Stance]) -> None:
    assert not StanceTally.of([*taken, Stance.DISAGREE]).consensus.reached
    as_neutral = [Stance.NEUTRAL if s is Stance.UNKNOWN else s for s in taken]
    assert StanceTally.of(as_neutral).consensus is StanceTally.of(taken).consensus
