from pathlib import Path

import chess
import pytest

from live.config import FeedsConfig
from live.errors import ConfigError
from live.events import FeedReport, GameReport, Headers, Player
from live.players.player_lists import (
    PlayerLists,
    beside,
    open_player_lists,
    read_pairing_list,
    read_rating_list,
)

RATINGS = "Name,FideId,Fed,Title,Rating,K\nAnna Boe,7,NOR,WGM,2300,40\nCleo Dahl,8,DEN,,2100,\n"
PAIRINGS = "Round,Board,White,Black,WhiteTeam\n1,1,Anna Boe,Cleo Dahl,Oslo\n,2,Eve Fox,Gil Hay,\n"


def report(white: Player, black: Player, board: int = 1, round_: str = "1.1") -> FeedReport:
    headers = Headers(white, black, round=round_, board=board)
    return FeedReport("hall", (GameReport("", headers, chess.STARTING_FEN),))


def both() -> PlayerLists:
    ratings = read_rating_list(RATINGS.encode())
    return PlayerLists(ratings, read_pairing_list(PAIRINGS.encode()))


def test_a_field_without_ratings_becomes_rated() -> None:
    (game,) = both().applied(report(Player("Boe, Anna"), Player("Dahl, Cleo", elo=2150))).games
    assert game.headers.white == Player("Boe, Anna", 2300, "WGM", 7, "NOR", k=40)
    # What the source says itself stands.
    assert game.headers.black == Player("Dahl, Cleo", 2150, None, 8, "DEN")


def test_boards_without_names_get_them_and_no_others() -> None:
    nobody = Player("?")
    (game,) = both().applied(report(nobody, nobody)).games
    assert game.headers.white == Player("Anna Boe", 2300, "WGM", 7, "NOR", "Oslo", 40)
    (game,) = both().applied(report(nobody, nobody, 2, "3.2")).games
    assert (game.headers.white.name, game.headers.black.name) == ("Eve Fox", "Gil Hay")
    known = report(Player("Ida"), nobody)
    assert both().applied(known) == known


def test_a_doubtful_name_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    lists = both()
    for _ in range(3):
        lists.applied(report(Player("Boe, A"), Player("Zoe Zed")))
    (doubt,) = lists.doubtful
    assert doubt.startswith("Boe, A is perhaps Anna Boe (7) in the list: give the FIDE id")
    assert lists.doubt_text == doubt
    assert caplog.text.count("perhaps Anna Boe") == 1


def test_lists_beside_the_games_are_taken_where_the_settings_name_none(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "pairings-round-1.csv").write_text(PAIRINGS)
    for path in (tmp_path, tmp_path / "games.pgn"):
        found = beside([path], FeedsConfig())
        assert found.rating_list.endswith("ratings.csv")
        assert found.pairing_list.endswith("pairings-round-1.csv")
    assert beside([tmp_path], FeedsConfig(rating_list="mine.csv")).rating_list == "mine.csv"
    assert beside([tmp_path / "none" / "games.pgn"], FeedsConfig()) == FeedsConfig()


@pytest.mark.parametrize("text", [None, "<html>", "Dear reader\n"])
def test_a_list_that_cannot_be_used_is_named(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "list.xml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=r"feeds\.rating_list"):
        open_player_lists(FeedsConfig(rating_list=str(path)))
