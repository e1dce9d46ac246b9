from hashlib import sha256

import pytest

from live.studies.human_moves import PLAYERS_IN, HeldOut, held_out

NOBODY = HeldOut(frozenset(), frozenset())


def _drawn(text: str) -> bool:
    return int(sha256(text.encode()).hexdigest(), 16) % PLAYERS_IN == 0


HELD = next(number for number in range(100) if _drawn(str(number)))
FREE = next(number for number in range(100) if not _drawn(str(number)))


def _moves(drawn: bool) -> str:
    return next(m for m in (f"e2e4 {k}" for k in range(100)) if _drawn(m) is drawn)


@pytest.mark.parametrize(
    ("moves", "players", "learned"),
    [
        (_moves(drawn=True), (FREE, FREE), True),
        (_moves(drawn=False), (FREE, HELD), False),
        (_moves(drawn=False), (HELD, FREE), False),
        (_moves(drawn=False), (None, None), True),
        (_moves(drawn=True), (None, None), False),
        (_moves(drawn=False), (None, HELD), False),
        (_moves(drawn=True), (None, FREE), False),
    ],
)
def test_a_game_of_a_player_held_out_is_never_learned(
    moves: str, players: tuple[int | None, int | None], learned: bool
) -> None:
    assert (NOBODY.part_of(moves, players) == "train") is learned


def test_games_and_players_named_are_held_out() -> None:
    moves = _moves(drawn=False)
    named = HeldOut(frozenset({sha256(moves.encode()).hexdigest()}), frozenset({FREE}))
    assert named.part_of(moves, (None, None)) != "train"
    assert named.part_of("d2d4", (FREE, None)) != "train"


def test_a_third_of_what_is_held_out_serves_choices() -> None:
    parts = [NOBODY.part_of(f"e2e4 {k}", (HELD, FREE)) for k in range(600)]
    assert "train" not in parts
    assert 150 < parts.count("validation") < 250


def test_the_games_that_judge_the_ratings_are_named() -> None:
    named = held_out()
    assert len(named.games) == 238
    assert len(named.players) == 226
