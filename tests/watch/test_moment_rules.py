"""live.watch.moment_rules: what of a game is worth telling, and what is not."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from live.messages.figures import Curves, GameDetail, PlyView
from live.messages.from_sources import Player
from live.watch.moment_rules import find_moments
from live.watch.round_moments import read_whole_game
from tests.watch.games import START, difficulty, ply, point
from tests.watch.games import late as game


def list_moments(played: GameDetail) -> list[tuple[str, int, str | None]]:
    return [(each.kind, each.ply, each.color) for each in find_moments(played)]


def test_a_quiet_game_tells_nothing() -> None:
    # Nor does the first move lose anything to a stronger player.
    assert list_moments(game([0.25, 0.25, 0.26, 0.25])) == []
    assert list_moments(game([0.5, 0.52, 0.49, 0.5] * 10, result="1/2-1/2")) == []


def test_a_move_that_loses_much_turns_the_game_at_once() -> None:
    for answered in ([0.12], [], [None], [None, 0.1]):
        assert list_moments(game([0.5, 0.5, 0.1, *answered])) == [("turn", 3, "white")]
    # Of the first ten moves most are known theory, unless it decides.
    assert list_moments(game([0.5, 0.5, 0.12, 0.12], start_fen=START)) == []
    lost = [0.5, 0.5, 0.1, *[0.1] * 9]
    assert list_moments(game(lost, start_fen=START, result="0-1")) == [
        ("turn", 3, "white")
    ]
    # Black's moves lose in the other direction.
    assert list_moments(game([0.5, 0.9, 0.88])) == [("turn", 2, "black")]
    # A game that ends there has no reply to wait for.
    assert list_moments(game([0.5, 0.5, 0.1], result="0-1")) == [("turn", 3, "white")]


def test_a_turn_is_open_until_the_reply_has_its_score_or_the_game_is_over() -> None:
    def is_open(wins: list[float | None], result: str = "*") -> list[bool]:
        return [
            "open" in each.figures for each in find_moments(game(wins, result=result))
        ]

    fallen = [0.5, 0.5, 0.1]
    assert (
        is_open([*fallen])
        == is_open([*fallen, None])
        == is_open([*fallen, None, 0.1])
        == [True]
    )
    # The reply keeps it, gives it back, or never comes.
    assert is_open([*fallen, 0.12]) == is_open([*fallen, 0.5]) == [False]
    assert is_open([*fallen], result="0-1") == [False]
    # The reply was played, and its score is still to come.
    assert is_open([*fallen, None], result="0-1") == [True]


def test_a_swing_of_forty_points_is_told_however_early() -> None:
    assert list_moments(game([0.5, 0.5, 0.09, 0.1], start_fen=START)) == [
        ("turn", 3, "white")
    ]
    assert list_moments(game([0.5, 0.5, 0.09, 0.5], start_fen=START)) == [
        ("missed", 4, "white")
    ]


def test_what_the_reply_gives_back_was_missed_by_both() -> None:
    played = game([0.5, 0.5, 0.1, 0.45, 0.45])
    assert list_moments(played) == [("missed", 4, "white")]
    (draft,) = find_moments(played)
    assert draft.figures == pytest.approx(
        {"before": 50.0, "after": 10.0, "reply": 45.0}
    )


def test_a_move_that_lost_nothing_turns_nothing_and_misses_nothing() -> None:
    """Whatever shallow scores before and after it say."""

    def first_choice(at: int, **more: object) -> GameDetail:
        wins = [0.5, 0.5, 0.1, 0.45, 0.45] if at == 4 else [0.5, 0.5, 0.1, 0.1]
        plies = [ply(n, win) for n, win in enumerate(wins, 1)]
        plies[at - 1] = ply(at, wins[at - 1], **more)
        return game(plies=plies, result="0-1" if at == 3 else "*")

    # Of the mover, of the reply, and of a game that it would have decided.
    assert list_moments(first_choice(3, best="f3g1")) == []
    assert list_moments(first_choice(3, best="e2e4", gain_same_search_cp=0)) == []
    assert list_moments(first_choice(4, best="f6g8")) == []
    assert list_moments(first_choice(3, best="e2e4", gain_same_search_cp=-90)) == [
        ("turn", 3, "white")
    ]


def test_a_fall_that_other_searches_of_it_do_not_bear_out_turns_nothing() -> None:
    """Of each of the two positions the search before it knows something, too."""

    def fallen(
        opponent_cp: int = 200, played_cp: int = -200
    ) -> list[tuple[str, int, str | None]]:
        other: dict[str, Any] = {"final": True, "best": "e2e4"}
        plies = [
            ply(1, None, score_cp=200, final=True),
            ply(2, None, score_cp=200, **other, played_cp=opponent_cp),
            ply(3, None, score_cp=-200, **other, played_cp=played_cp),
            ply(4, None, score_cp=-200, final=True),
        ]
        return list_moments(game(plies=plies))

    turned = [("turn", 3, "white")]
    assert fallen() == turned
    # The search before the opponent's move saw White no better, or that before the move
    # no worse.
    assert fallen(opponent_cp=-150) == fallen(played_cp=150) == []
    # One search that differs by a little is borne out by the others.
    assert fallen(opponent_cp=150) == fallen(played_cp=-120) == turned


def test_a_gift_that_is_given_back_at_once_turns_nothing() -> None:
    # White lets Black in by little, and Black is out again.
    assert list_moments(game([0.96, 0.97, 0.78, 0.98, 0.98])) == []
    assert list_moments(game([0.4, 0.55, 0.35, 0.35])) == []
    # Had it been good before, too, it would have been lost by this.
    assert list_moments(game([0.6, 0.6, 0.6, 0.98, 0.98])) == [("turn", 4, "black")]
    # Who had next to nothing has nothing to lose.
    assert list_moments(game([0.8, 0.78, 0.79, 0.99, 0.99])) == []


def test_a_lost_game_that_nothing_turned_has_no_turning_point() -> None:
    # Who had a quarter and lost half of it lost as expected.
    decided = [0.75, 0.75, 0.74, 0.91, 0.9, 0.92]
    assert list_moments(game(decided, result="1-0")) == []
    assert list_moments(game(decided, result="1/2-1/2")) == [("comeback", 6, "black")]
    # What turned it decided it.
    turned = [0.5, 0.9, 0.9, 0.9, 0.9]
    assert list_moments(game(turned, result="1-0")) == [("turn", 2, "black")]


def test_who_is_rated_far_lower_turns_a_game_by_what_the_move_cost() -> None:
    """Expected to score a tenth, there is little to lose: then the score alone
    says it.
    """

    def blundered(
        *scores_cp: int, result: str = "*", mate: int | None = None
    ) -> GameDetail:
        wins = [0.1] + [
            0.1 if cp > -195 else 0.06 if cp > -200 else 0.02 for cp in scores_cp
        ]
        scores = [0, *scores_cp]
        plies = [ply(n, win, score_cp=scores[n - 1]) for n, win in enumerate(wins, 1)]
        if mate is not None:
            plies[2] = ply(3, 0.02, score_cp=-3900, mate=mate)
        return game(plies=plies, result=result)

    (draft,) = find_moments(blundered(10, -750, -760))
    assert (draft.kind, draft.ply, draft.color) == ("turn", 3, "white")
    assert draft.figures == pytest.approx({"before": 10.0, "after": 2.0, "pawns": 7.6})
    # What is mate costs no pawns, what the reply gives back was missed.
    assert "pawns" not in find_moments(blundered(10, -750, -760, mate=-3))[0].figures
    assert list_moments(blundered(10, -750, 0)) == [("missed", 4, "white")]
    # A piece is no news where everybody expected the loss, nor what decided such a
    # game.
    assert list_moments(blundered(10, -450, -460, result="0-1")) == []
    assert list_moments(blundered(0, -198, -199, result="0-1")) == []


def test_who_had_nothing_to_lose_is_not_said_to_fall_from_it() -> None:
    scores = (-50, -50, -300, -300, -320, -320)
    known = [ply(n, 0.012, score_cp=cp) for n, cp in enumerate(scores, 1)]
    assert list_moments(game(plies=known, result="0-1")) == []


def test_a_slip_that_was_let_go_before_is_not_told_twice() -> None:
    gift = [0.06, 0.58, 0.11, 0.1]
    assert list_moments(game(gift, result="0-1")) == [("missed", 3, "black")]


def test_a_position_that_comes_a_third_time_is_no_draw_while_the_game_goes_on() -> None:
    won = [0.9] * 7
    assert list_moments(game([*won, 0.5, 0.9, 0.9])) == []
    # Until it ends there.
    assert ("turn", 9, "white") in list_moments(
        game([*won, 0.9, 0.5], result="1/2-1/2")
    )
    # What throws the game away from there does, whatever else the scores show.
    lost = [
        *(ply(n, 0.9) for n in range(1, 8)),
        ply(8),
        ply(9, uci="g2g4"),
        ply(10, uci="e7e5"),
    ]
    assert list_moments(game(plies=lost)) == [("turn", 9, "white")]


def test_scores_that_do_not_hold_tell_nothing() -> None:
    provisional = [ply(1), ply(2), ply(3, 0.1, final=False), ply(4, 0.1)]
    assert list_moments(game(plies=provisional)) == []


def test_without_a_model_of_results_the_score_says_what_is_expected() -> None:
    plain = [
        ply(n, None, score_cp=cp, final=True)
        for n, cp in enumerate((0, 0, -400, -390), 1)
    ]
    assert list_moments(game(plies=plain)) == [("turn", 3, "white")]


def test_finds_that_few_would_find_and_traps_that_many_would_fall_into() -> None:
    def marked(at: int = 21, **more: object) -> list[tuple[str, int, str | None]]:
        before = [ply(n) for n in range(1, at)]
        return list_moments(
            game(plies=[*before, ply(at, 0.5, **more)], start_fen=START)
        )

    find: dict[str, Any] = {"mark": "find", "played_elo": 2000}
    assert marked(**find, played_share=0.03) == [("find", 21, "white")]
    # Of the first ten moves most are known theory.
    assert marked(20, **find, played_share=0.03) == []
    assert marked(**find, played_share=0.3) == []
    assert marked(mark="trap", difficulty=difficulty(0.6)) == [("trap", 21, "white")]
    assert marked(mark="trap", difficulty=difficulty(0.15)) == []
    assert marked(20, mark="trap", difficulty=difficulty(0.6)) == []
    # In a decided game nobody asks.
    decided = ply(1, 0.97, **find, played_share=0.03)
    assert list_moments(game(plies=[decided])) == []


def test_a_scramble_is_told_once_and_goes_by_the_pace() -> None:
    def clocked(base: float, late: float) -> GameDetail:
        early = [ply(n, 0.5, clock_s=base) for n in range(1, 41)]
        return game(plies=[*early, *(ply(n, 0.5, clock_s=late) for n in range(41, 45))])

    assert list_moments(clocked(5400, 45)) == [("scramble", 41, "white")]
    assert list_moments(clocked(5400, 90)) == []
    assert list_moments(clocked(900, 45)) == []
    assert list_moments(clocked(900, 15)) == [("scramble", 41, "white")]
    assert list_moments(game([0.5] * 44)) == []
    # Clocks that nobody set, and a flag that has fallen.
    assert list_moments(clocked(0, 0)) == []
    assert list_moments(clocked(5400, 0)) == []
    # Clocks that the source began to send late: how long the game is, nobody knows.
    unknown = [ply(n, 0.5) for n in range(1, 41)]
    assert list_moments(game(plies=[*unknown, ply(41, 0.5, clock_s=5.0)])) == []


def test_neither_a_draw_nor_a_slip_that_is_mended_makes_a_scramble() -> None:
    def ending(before: float, *late: PlyView) -> GameDetail:
        early = [ply(n, before, clock_s=5400.0) for n in range(1, 41)]
        return game(plies=[*early, *late])

    slip = ply(41, 0.8, clock_s=45.0), ply(42, 0.96, clock_s=2000.0)
    assert list_moments(ending(0.96, *slip)) == []
    dead = ply(41, 0.1, draw=0.8, clock_s=45.0), ply(42, 0.1, draw=0.8, clock_s=45.0)
    assert list_moments(ending(0.5, *dead)) == []
    open_ = ply(41, 0.3, draw=0.4, clock_s=45.0), ply(42, 0.3, draw=0.4, clock_s=45.0)
    assert list_moments(ending(0.5, *open_)) == [("scramble", 41, "white")]


WEAK, STRONG = Player("Low, Lu", elo=1900), Player("High, Hu", elo=2300)
PAIR: dict[str, Any] = {"white": WEAK, "black": STRONG}


def test_an_upset_is_coming_while_the_weaker_is_ahead_and_is_one_when_won() -> None:
    ahead = [0.5] * 32 + [0.8] * 4
    longer = [*ahead, 0.8]
    assert list_moments(game(longer, **PAIR)) == [("upset-coming", 36, "white")]
    assert (
        list_moments(game(ahead, **PAIR))
        == []
        == list_moments(game(longer, white=STRONG, black=WEAK))
    )
    assert list_moments(game(longer, **PAIR, result="1-0")) == [("upset", 37, "white")]
    # Nothing is coming any more in a game that is over, whatever its result.
    for result in ("1/2-1/2", "0-1"):
        kinds = [kind for kind, *_ in list_moments(game(longer, **PAIR, result=result))]
        assert "upset-coming" not in kinds
    assert list_moments(game(ahead, white=WEAK, black=Player("X", elo=None))) == []
    # A hundred Elo make an upset of a win, but none in the making.
    near: dict[str, Any] = {"white": Player("Low, Lu", elo=2200), "black": STRONG}
    assert list_moments(game(longer, **near)) == []
    assert list_moments(game(longer, **near, result="1-0")) == [("upset", 37, "white")]
    near["white"] = Player("Low, Lu", elo=2201)
    assert list_moments(game(longer, **near, result="1-0")) == []
    # By what is said where no move of the loser turned it, and all is known.
    turned = [0.5] * 31 + [0.9] * 4
    given_back = [*[0.5] * 31, 0.64, 0.5, 0.62, 0.62, 0.7, 0.7, 0.78]
    for scores, cost in (
        (ahead, 32),
        (given_back, 34),
        (turned, None),
        ([0.5, 0.55], None),
        ([None, *ahead], None),
    ):
        *_, upset = find_moments(game(scores, **PAIR, result="1-0"))
        assert upset.figures == {"gap": 400} | ({"costliest": cost} if cost else {})
    # A position that comes a third time is no draw: its move before cost nothing.
    slow = game([0.7] * 8 + [0.5] + [0.74] * 3, **PAIR, result="1-0")
    (upset,) = (each for each in find_moments(slow) if each.kind == "upset")
    assert upset.figures == {"gap": 400}


def test_who_was_as_good_as_lost_and_did_not_lose_came_back() -> None:
    low = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.1, 0.3, 0.5]
    assert ("comeback", 9, "white") in list_moments(game(low, result="1/2-1/2"))
    # Who wins in the end need not have been quite as lost.
    half = [0.5, 0.4, 0.3, 0.19, 0.19, 0.3, 0.5]
    assert ("comeback", 7, "white") in list_moments(game(half, result="1-0"))
    assert list_moments(game(half, result="1/2-1/2")) == []
    assert ("comeback", 9, "white") not in list_moments(game(low, result="0-1"))
    assert ("comeback", 9, "white") not in list_moments(game(low))
    # Who is rated far lower was never lost by that alone.
    even = game([0.1] * 9, result="1/2-1/2")
    held = [msgspec.structs.replace(each, score_cp=-60) for each in even.plies]
    assert list_moments(msgspec.structs.replace(even, plies=tuple(held))) == []


def test_above_is_told_when_the_game_is_over_and_not_before() -> None:
    def played(moves: int, percentile: float, result: str = "1/2-1/2") -> GameDetail:
        curves = Curves(
            white=(point(39, moves, percentile),), black=(point(40, moves, 50.0),)
        )
        return game([0.5] * 40, curves=curves, result=result)

    assert list_moments(played(20, 96.0)) == [("above", 39, "white")]
    for other in (played(20, 94.0), played(19, 96.0), played(20, 96.0, "*")):
        assert list_moments(other) == []


def test_a_win_with_the_lower_figure_is_told_with_the_last_mistake() -> None:
    def won(white: int, black: int, moves: int = 20, result: str = "1-0") -> GameDetail:
        curves = Curves(
            white=(replace(point(39, moves, 50.0), perceived=white),),
            black=(replace(point(40, 20, 50.0), perceived=black),),
        )
        return game(
            [*[0.5] * 33, 0.62, 0.62, 0.75, *[0.75] * 4], curves=curves, result=result
        )

    def despite(
        played: GameDetail,
    ) -> list[tuple[int, str | None, Mapping[str, float]]]:
        drafts = [each for each in find_moments(played) if each.kind == "despite"]
        return [(each.ply, each.color, each.figures) for each in drafts]

    figures = {"perceived": 1900.0, "rival_perceived": 2100.0, "mistake": 36.0}
    assert despite(won(1900, 2100)) == [(40, "white", figures)]
    # Black wins in spite of what his own moves cost: White made no mistake that can be
    # named.
    figures = {"perceived": 1900.0, "rival_perceived": 2100.0}
    assert despite(won(2100, 1900, result="0-1")) == [(40, "black", figures)]
    # What lost nothing is no mistake, whatever two searches say.
    sound = won(1900, 2100)
    plies = [replace(each, best=each.uci) for each in sound.plies]
    figures = {"perceived": 1900.0, "rival_perceived": 2100.0}
    assert despite(replace(sound, plies=tuple(plies))) == [(40, "white", figures)]
    for usual in (won(2100, 1900), won(2000, 2000), won(1900, 2100, result="1/2-1/2")):
        assert despite(usual) == []
    assert (
        despite(won(1900, 2100, moves=9)) == despite(won(1900, 2100, result="*")) == []
    )


def test_a_game_is_whole_when_its_figures_rest_on_all_moves() -> None:
    both = Curves(white=(point(3, 2, 60.0),), black=(point(4, 2, 70.0),))
    over = read_whole_game(game([0.5, 0.9, 0.1, 0.5], result="1-0", curves=both))
    assert over is not None
    assert (over.plies, over.level, over.short) == (4, (60.0, 70.0), True)
    # What goes up and down adds up.
    assert over.wild == pytest.approx(0.4 + 0.8 + 0.4)
    assert read_whole_game(game([0.5] * 4, curves=both)) is None
    assert read_whole_game(game([0.5] * 5, result="1-0", curves=both)) is None
    assert (
        read_whole_game(game([0.5, 0.5, 0.5, None], result="1-0", curves=both)) is None
    )
    forfeit = read_whole_game(game(result="1-0"))
    assert forfeit is not None and (forfeit.level, forfeit.short, forfeit.wild) == (
        None,
        True,
        0,
    )
