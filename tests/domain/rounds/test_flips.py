from app.domain.rounds.flips import Position, flips


def test_toward_and_away_from_the_majority_with_reasons() -> None:
    rounds = [
        {"a": Position("AGREE"), "b": Position("AGREE"), "c": Position("DISAGREE")},
        {"a": Position("AGREE"), "b": Position("NEUTRAL"), "c": Position("AGREE", "the cost")},
    ]
    assert [(f.participant, f.before, f.after, f.direction, f.reason) for f in flips(rounds)] == [
        ("b", "AGREE", "NEUTRAL", "away_from_majority", None),
        ("c", "DISAGREE", "AGREE", "toward_majority", "the cost"),
    ]


def test_a_seat_that_fell_silent_has_not_flipped() -> None:
    rounds = [
        {"a": Position("AGREE")},
        {"a": Position("NEUTRAL", stands=False)},
        {"a": Position("AGREE")},
    ]
    assert flips(rounds) == ()


def test_a_change_across_a_silent_round_is_seen() -> None:
    rounds = [
        {"a": Position("AGREE"), "b": Position("AGREE")},
        {"a": Position("UNKNOWN", stands=False), "b": Position("AGREE")},
        {"a": Position("DISAGREE"), "b": Position("AGREE")},
    ]
    (flip,) = flips(rounds)
    assert (flip.round, flip.direction) == (3, "away_from_majority")
    assert not flip.record()["explained"]
