"""live.watch.round_summary: what a round came to, and nothing before it is over."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from live.messages.figures import Curves, GameDetail
from live.messages.from_sources import Player
from live.watch.round_summary import list_finished_rounds, summarise_round
from tests.watch.games import late as game
from tests.watch.games import point

QUIET = [0.5] * 40
LOST = [*[0.5] * 20, *[0.05] * 20]


def played(
    id: str,
    board: int | None,
    wins: Sequence[float] = QUIET,
    result: str = "1/2-1/2",
    percentiles: tuple[float, float] = (50.0, 50.0),
    counted: int = 20,
    **more: Any,
) -> GameDetail:
    white, black = percentiles
    last = len(wins)
    curves = Curves(
        white=(point(last - 1, counted, white),), black=(point(last, counted, black),)
    )
    return game(wins, id=id, board=board, result=result, curves=curves, **more)


def test_a_round_is_over_when_no_game_of_it_runs() -> None:
    games = [played("a", 1), played("b", 2, result="*"), played("c", 1, round="2.1")]
    assert list_finished_rounds(games) == [("Open", "2")]
    games[1] = replace(games[1], result="1-0")
    assert list_finished_rounds(games) == [("Open", "2"), ("Open", "1")]
    # The newest is that of the last day; rounds count by number.
    tenth = played("d", 1, round="10", date="2025.04.12")
    assert list_finished_rounds([*games, tenth])[0] == ("Open", "10")
    later = replace(games[0], date="2025.04.20")
    assert list_finished_rounds([later, tenth])[0] == ("Open", "1")
    # Forfeits alone are no round that was played.
    assert list_finished_rounds([game(id="f", result="1-0")]) == []


def test_results_stand_by_board_and_upsets_are_counted() -> None:
    weak, strong = Player("Low, Lu", elo=2000), Player("High, Hu", elo=2100)
    games = [
        played("none", None),
        played("ten", 10, result="0-1"),
        played("two", 2, result="1-0", white=weak, black=strong),
        played("forfeit", 3, wins=(), result="1-0", white=weak, black=strong),
    ]
    summary = summarise_round(games)
    assert [each.id for each in summary.games] == ["two", "forfeit", "ten", "none"]
    assert [each.upset_elo for each in summary.games] == [100, 0, 0, 0]
    assert (summary.event, summary.round) == ("Open", "1")
    assert (summary.decided, summary.upsets, summary.unscored) == (2, 1, 0)
    first = summary.games[0].white
    assert (first.name, first.elo, first.perceived, first.percentile) == (
        "Low, Lu",
        2000,
        2500,
        50,
    )


def test_moves_without_a_score_are_counted() -> None:
    waits = replace(played("a", 1), plies_scored=37)
    assert summarise_round([waits, played("b", 2)]).unscored == 3


def test_three_at_most_are_named_above_and_below() -> None:
    levels = [(95.0, 9.0), (91.0, 10.0), (90.0, 50.0), (99.0, 1.0), (96.0, 5.0)]
    games = [played(f"g{n}", n, percentiles=each) for n, each in enumerate(levels)]
    # Few moves are not compared, nor is who has no rating.
    games.append(played("few", 8, percentiles=(99.5, 0.5), counted=14))
    games.append(played("unrated", 9, percentiles=(99.5, 30.0), white=Player("X")))
    summary = summarise_round(games)
    assert [(each.game, each.player.percentile) for each in summary.above] == [
        ("g3", 99.0),
        ("g4", 96.0),
        ("g0", 95.0),
    ]
    assert [each.game for each in summary.below] == ["g3", "g4", "g0"]
    assert {each.color for each in summary.above} == {"white"}


def test_the_two_moves_that_cost_most_for_good_are_named() -> None:
    small = [*[0.5] * 20, *[0.3] * 2, *[0.1] * 18]
    won = [*[0.9] * 20, *[0.1] * 20]
    games = [
        played("small", 1, small, "0-1"),
        played("lost", 2, LOST, "0-1"),
        played("won", 3, won, "0-1"),
        # It was lost, and nobody took it.
        played("saved", 4, LOST, "1-0"),
    ]
    summary = summarise_round(games)
    assert [(each.game, each.ply, each.color) for each in summary.moves] == [
        ("won", 21, "white"),
        ("lost", 21, "white"),
    ]
    first = summary.moves[0]
    assert (first.before, first.after, first.player) == (90.0, 10.0, "Adams, Ann")
    assert (first.move.en, first.move.de) == ("21.\u00a0Nf3", "21.\u00a0Sf3")
    assert first.text.en.startswith("Adams falls from 90\u00a0%")


def test_a_quiet_round_names_nobody_and_no_move() -> None:
    summary = summarise_round([played(f"g{n}", n) for n in range(4)])
    assert (summary.above, summary.below, summary.moves) == ((), (), ())


def test_the_order_of_games_does_not_matter() -> None:
    games = [
        played(
            f"g{n}", n % 3, LOST if n % 2 else QUIET, "0-1", (50.0 + 10 * n, 9.0 - n)
        )
        for n in range(5)
    ]
    assert summarise_round(games[::-1]) == summarise_round(games)
