from app.domain.rounds.progress import FIRST_ROUND, stance_progress


def test_round_one_counts_as_progress() -> None:
    assert FIRST_ROUND.made


def test_only_a_changed_stance_is_progress() -> None:
    before = {"a": "AGREE", "b": "NEUTRAL"}
    assert not stance_progress(before, dict(before)).made
    changed = stance_progress(before, {"a": "AGREE", "b": "AGREE"})
    assert changed.record() == {"made": True, "reasons": ["stance_changed:b"]}


def test_a_seat_that_came_back_has_not_moved() -> None:
    assert not stance_progress({"a": "AGREE"}, {"a": "AGREE", "b": "DISAGREE"}).made
