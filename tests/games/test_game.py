"""Rounds as sources write them."""

import chess
import msgspec
import pytest

from live.games.game import (
    Game,
    GameConfirmed,
    GameGone,
    MovesPlayed,
    NewGame,
    Step,
    TailReplaced,
    TakenBack,
    apply_or_none,
    apply_step,
    number_move,
    side_of_ply,
)
from live.games.rounds import normalise_round, read_round_number, round_sort_key
from live.messages.from_sources import Headers, Player
from tests.games.short_reports import line
from tests.watch.games import START, game

GAME = Game(
    "g", "test", "", Headers(Player("Anna"), Player("Boris")), chess.STARTING_FEN
)
PLAYED = msgspec.structs.replace(GAME, moves=line("e4 e5 Nf3"))


@pytest.mark.parametrize(
    "step",
    [
        MovesPlayed("g", 3, line("e4")),
        MovesPlayed("g", 5, line("e4")),
        TailReplaced("g", 4, line("e4")),
        TailReplaced("g", 0, line("e4")),
        TakenBack("g", 3),
        TakenBack("g", -1),
        NewGame(GAME),
        GameGone("g"),
    ],
)
def test_a_step_that_does_not_fit_the_moves_is_refused(step: Step) -> None:
    with pytest.raises(ValueError, match="does not fit game g, which has 3 plies"):
        apply_step(PLAYED, step)


def test_a_step_of_another_game_is_refused() -> None:
    with pytest.raises(ValueError, match="about game h, not g"):
        apply_step(PLAYED, GameConfirmed("h"))


def test_steps_survive_the_journal() -> None:
    steps: list[Step] = [
        NewGame(PLAYED),
        TailReplaced("g", 2, line("e4 c5")[1:]),
        GameGone("g"),
    ]
    kept = msgspec.json.encode(steps)
    assert msgspec.json.decode(kept, type=list[Step]) == steps


def test_the_fold_begins_with_a_new_game_and_ends_when_it_is_gone() -> None:
    begun = apply_or_none(None, NewGame(GAME))
    assert begun == GAME
    after = apply_or_none(begun, MovesPlayed("g", 1, line("e4")))
    assert after is not None
    assert after.moves == line("e4")
    assert apply_or_none(after, GameGone("g")) is None
    assert apply_or_none(after, NewGame(PLAYED)) == PLAYED
    assert (
        apply_or_none(None, TakenBack("g", 0))
        is apply_or_none(None, GameGone("g"))
        is None
    )


@pytest.mark.parametrize(
    ("fen", "ply", "number", "color"),
    [
        (START, 1, 1, "white"),
        (START, 4, 2, "black"),
        (START.replace(" w ", " b ").replace(" 1", " 30"), 1, 30, "black"),
        (START.replace(" w ", " b ").replace(" 1", " 30"), 2, 31, "white"),
        (START.replace(" 1", " 0"), 3, 2, "white"),
        ("8/8/8/8/8/8/8/8 b", 1, 1, "black"),
        ("", 2, 1, "black"),
    ],
)
def test_moves_are_counted_from_the_start_position(
    fen: str, ply: int, number: int, color: str
) -> None:
    view = game(start_fen=fen)
    assert number_move(view, ply) == (number, color == "white")
    assert side_of_ply(view, ply) == color


@pytest.mark.parametrize(
    ("number", "texts"),
    [
        (
            8,
            (
                "8;08; 8 ;8.2;08.5;8.2.1;Round 8;round 8;ROUND 08.5;Round: 8;Rd. "
                "8;R8;#8;Runde 8"
            ),
        ),
        (8, "8. Runde;8th round;Round 8, board 5;8 board 12"),
        (7, "7;7.1;7.28"),
        (10, "10;10.1"),
        (None, ";?;-;0;00;Final;Round;2-4;1/8;8 9;2026;.5;8.;Board 8"),
        (None, "0" * 1_000_000),  # costs little
    ],
)
def test_sources_write_rounds_in_many_ways(number: int | None, texts: str) -> None:
    assert {
        text: read_round_number(text) for text in texts.split(";")
    } == dict.fromkeys(texts.split(";"), number)


@pytest.mark.parametrize("text", ["7", "7.1", "07", "Round 7", "Round 07.5"])
def test_one_round_has_one_name(text: str) -> None:
    assert normalise_round(text) == "7"


def test_boards_stand_by_number_whatever_their_source_writes_as_round() -> None:
    """One source writes 7, another 7.1, a third Round 7 (20-28 stood before 1-19)."""
    written = {
        board: ("7", f"7.{board}", "Round 7")[board % 3] for board in range(1, 29)
    }
    placed = sorted(written, key=lambda board: round_sort_key(written[board], board))
    assert placed == list(range(1, 29))
    assert (
        round_sort_key("6.30", 30) < round_sort_key("7", 1) < round_sort_key("10.1", 1)
    )
    assert round_sort_key("Final", 1) < round_sort_key("Final", 2)
