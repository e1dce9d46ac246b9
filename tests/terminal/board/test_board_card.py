"""One board in the terminal: whose score it is."""

from __future__ import annotations

import msgspec
import pytest

from live.events import DifficultyView, GameDetail
from live.terminal.board.board_card import BoardCardOptions, board_card
from live.terminal.palette import PLAIN
from tests.terminal.sample_boards import detail

LOOK = BoardCardOptions(
    palette=PLAIN,
    figure="algorithm4",
    engine_rating=2160,
    ply=2,
    following=True,
    panel="curves",
    age_s=None,
    new=False,
)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60)])
def test_a_score_that_is_not_the_engines_names_its_source(width: int, height: int) -> None:
    game = detail(provisional=True)
    assert "lichess" not in shown(game, width, height)
    plies = (
        game.plies[0],
        msgspec.structs.replace(game.plies[1], depth=40, score_source="lichess cloud"),
    )
    text = shown(msgspec.structs.replace(game, plies=plies), width, height)
    assert "+0.37~" in text
    assert "lichess cloud" in text
    assert "depth 40" in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60)])
def test_what_others_would_play_stands_beside_the_move(width: int, height: int) -> None:
    game = detail()
    assert "played" not in shown(game, width, height)
    hard = DifficultyView(2400, "e7e5", 0.05, (), 0.42, 90)
    common = msgspec.structs.replace(game.plies[1], played_share=0.3, difficulty=hard)
    find = msgspec.structs.replace(common, played_share=0.083, mark="find")
    trap = msgspec.structs.replace(common, mark="trap")
    said = {
        common: ("played 3 in 10", "best 1 in 20", "err 4 in 10"),
        find: ("find 1 in 12", "best 1 in 20", "err 4 in 10"),
        trap: ("played 3 in 10", "trap 4 in 10"),
    }
    for ply, words in said.items():
        text = shown(msgspec.structs.replace(game, plies=(game.plies[0], ply)), width, height)
        assert all(f"  {each}" in text for each in words)


def shown(game: GameDetail, width: int, height: int) -> str:
    return "\n".join(line.plain for line in board_card(game, width, height, LOOK))
