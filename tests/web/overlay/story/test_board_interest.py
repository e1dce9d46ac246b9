"""live/web/overlay/story: which board tells the story, and which moment is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Pages = Callable[..., Any]


def moment(id: str, game: str = "a", weight: float = 0.5, **more: Any) -> dict[str, Any]:
    return {"id": id, "game": game, "weight": weight, "at_s": 100.0, **more}


def played(id: str, board: int) -> dict[str, Any]:
    return {
        "id": id,
        "event": "Open",
        "round": "1",
        "board": board,
        "result": "*",
        "start_fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "plies": [{"ply": 1, "uci": "e2e4", "score_cp": 100 * board}],
        "curves": {"white": [{"ply": 1, "n": 1}], "black": []},
        "white": {"name": "A"},
        "black": {"name": "B"},
    }


def followed(pages: Pages, looked: list[tuple[list[dict[str, Any]], int]], stay: int = 20) -> Any:
    games = [played("a", 1), played("b", 2), played("c", 3)]
    options = {"game": [], "board": [], "player": [], "follow": "story", "stay": stay}
    shown = [[games, now, moments] for moments, now in looked]
    return pages("followed", options=options, looked=shown)


def test_without_a_moment_it_is_the_closest_board(pages: Pages) -> None:
    old = [moment("m", "c", 1.0)]
    # What was there when the page opened is no news.
    assert followed(pages, [(old, 0), (old, 60_000)]) == ["a", "a"]


def test_a_moment_is_cut_to_after_the_least_time_on_air(pages: Pages) -> None:
    told = [moment("m", "b")]
    looked = [([], 0), (told, 5_000), (told, 19_000), (told, 21_000), ([], 90_000)]
    assert followed(pages, looked) == ["a", "a", "a", "b", "b"]


def test_after_a_result_that_was_withdrawn_the_true_one_stays_as_long(pages: Pages) -> None:
    first, other = played("a", 1), played("b", 2)
    over = {**first, "result": "1-0"}
    looked = [(over, 1_000), (first, 5_000), (over, 99_000), (over, 110_000), (over, 120_000)]
    options = {"game": [], "board": [], "player": [], "follow": "top"}
    shown = [[[first, other], 0, []], *([[each, other], at, []] for each, at in looked)]
    assert pages("followed", options=options, looked=shown) == ["a", "a", "a", "a", "a", "b"]


def test_it_does_not_jump_between_equals(pages: Pages) -> None:
    first = [moment("m", "b", 0.6)]
    both = [*first, moment("n", "c", 0.6)]
    better = [*both, moment("o", "c", 0.95)]
    looked = [([], 0), (first, 30_000), (both, 60_000), (better, 90_000)]
    assert followed(pages, looked) == ["a", "b", "b", "c"]


def shown(pages: Pages, always: bool, *looked: tuple[list[dict[str, Any]], int]) -> list[Any]:
    return [
        each and each["id"]
        for each in pages(
            "moments", looked=[list(each) for each in looked], hold_ms=15_000, always=always
        )
    ]


def test_a_moment_is_shown_for_a_while_and_the_newest_first(pages: Pages) -> None:
    old, one, two = moment("old"), moment("one"), moment("two")
    looked = (([old], 0), ([old, one], 1_000), ([old, one, two], 5_000), ([old, one, two], 21_000))
    assert shown(pages, False, *looked) == [None, "one", "two", None]
    assert shown(pages, True, *looked)[0] == "old"
    assert shown(pages, True, ([moment("x", "elsewhere")], 0)) == [None]
    # Withdrawn and told again, it is no news.
    again: list[Any] = [([], 0), ([one], 1_000), ([], 2_000), ([one], 20_000)]
    assert shown(pages, False, *again) == [None, "one", None, None]


def test_what_nobody_saw_happen_is_old(pages: Pages) -> None:
    restored = [moment("m", "b", 1.0, at_s=None)]
    assert followed(pages, [([], 0), (restored, 60_000)]) == ["a", "a"]
    here = [moment("m", at_s=None)]
    assert shown(pages, False, ([], 0), (here, 1_000)) == [None, None]
    assert shown(pages, True, ([], 0), (here, 1_000)) == [None, "m"]
    # Sent again with a time, it is no newer.
    assert shown(pages, False, ([], 0), (here, 1_000), ([moment("m")], 2_000))[2] is None
