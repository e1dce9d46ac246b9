import chess
import pytest

from live.events import Headers, Player
from live.games.game import Game
from tests.games.told import line


def game(sans: str, variant: str = "standard", start_fen: str = chess.STARTING_FEN) -> Game:
    headers = Headers(Player("Anna"), Player("Boris"), variant=variant)
    return Game("g", "test", "", headers, start_fen, line(sans, start_fen))


def test_a_position_is_the_start_and_the_moves_up_to_its_ply() -> None:
    played = game("e4 e5 Nf3")
    assert played.position(0) == (chess.STARTING_FEN, (), False)
    assert played.position(2) == (chess.STARTING_FEN, ("e2e4", "e7e5"), False)
    assert played.position(3)[1] == ("e2e4", "e7e5", "g1f3")


def test_a_position_says_that_castling_is_written_king_to_rook() -> None:
    assert game("", "chess960").position(0)[2]


@pytest.mark.parametrize("ply", [-1, 3])
def test_a_position_that_never_was_is_refused(ply: int) -> None:
    with pytest.raises(IndexError, match=f"plies 0 to 2, not {ply}"):
        game("e4 e5").position(ply)
