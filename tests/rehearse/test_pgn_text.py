import chess
import msgspec
import pytest

from live.events import GameReport, Headers, Move, Player, Score
from live.feeds.game_timeline import Mistake, mistaken
from live.rehearse.rehearsal import pgn_text
from tests.feeds.fakes import DATA, decode, substance

GAMES = decode((DATA / "four-boards.pgn").read_bytes())


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("ply", [0, 1, 2, 31, 200])
def test_a_game_written_and_read_is_the_same(game: GameReport, ply: int) -> None:
    cut = msgspec.structs.replace(
        game, moves=game.moves[:ply], result="*" if ply < 200 else game.result
    )
    (read,) = decode(pgn_text(cut).encode())
    assert substance(read) == substance(cut)
    assert read.headers.time_control == cut.headers.time_control


def test_a_game_without_moves_is_a_blank_and_a_star() -> None:
    game = GameReport("", Headers(Player("A"), Player("B")), chess.STARTING_FEN)
    assert pgn_text(game).endswith("\n\n *\n")


def test_movetext_is_one_line_as_lichess_writes_it() -> None:
    moves = (
        Move("e2e4", "e4", 5397.0, eval=Score(17)),
        Move("e7e5", "e5", 30.9),
        Move("g1f3", "Nf3"),
        Move("b8c6", "Nc6", eval=Score(3900, 3)),
        Move("f1b5", "Bb5"),
    )
    game = GameReport("", Headers(Player("A"), Player("B")), chess.STARTING_FEN, moves, "1-0")
    assert pgn_text(game).splitlines()[-1] == (
        "1. e4 { [%eval 0.17] [%clk 1:29:57] } 1... e5 { [%clk 0:00:30] } 2. Nf3 Nc6"
        " { [%eval #3] } 3. Bb5 1-0"
    )


def test_black_may_begin_at_any_move_number() -> None:
    fen = "k7/8/1K6/8/8/8/8/7R b - - 0 41"
    game = GameReport("", Headers(Player("A"), Player("B")), fen, (Move("a8b8", "Kb8"),))
    text = pgn_text(game)
    assert text.splitlines()[-1] == "41... Kb8 *"
    assert f'[FEN "{fen}"]' in text
    (read,) = decode(text.encode())
    assert read.start_fen == fen and read.moves[0].san == "Kb8"


def test_quotes_in_names_survive() -> None:
    player = Player('O"Neil \\ Sons', 2100, "FM", 7, "IRL", "Team [A]")
    game = GameReport("", Headers(player, Player("B"), board=3), chess.STARTING_FEN)
    (read,) = decode(pgn_text(game, "https://lichess.org/x/y/z/00000003").encode())
    assert read.headers.white == player
    assert (read.headers.board, read.key) == (3, "00000003")


@pytest.mark.parametrize("mistake", ["illegal-move", "unreadable"])
def test_what_cannot_be_read_is_written_so_and_costs_no_other_game(mistake: Mistake) -> None:
    (_, told) = mistaken([(0.0, GAMES[0]), (1.0, GAMES[0])], mistake, 12)[-1]
    broken, whole = decode(f"{pgn_text(told)}\n{pgn_text(GAMES[1])}".encode())
    assert len(broken.moves) == 11 and whole.problem is None
    assert whole.moves == GAMES[1].moves
    said = "illegal move Qh9" if mistake == "illegal-move" else "a comment is never closed"
    assert broken.problem is not None and broken.problem.startswith(said)
