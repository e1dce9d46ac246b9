from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import GameReport, Headers, Move, Player
from live.feeds.pgn_snapshots import PartialReadFilter

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MOVES = (Move("e2e4", "e4"), Move("e7e5", "e5"), Move("g1f3", "Nf3"))


def game(white: str, moves: Sequence[Move] = MOVES) -> GameReport:
    return GameReport("", Headers(Player(white), Player("B")), START, tuple(moves))


A, B, C = game("A"), game("B"), game("C")
KEPT = "kept: its source has less of it just now"


def test_more_is_believed_at_once() -> None:
    believing = PartialReadFilter(60)
    assert (
        believing.believe([game("A", MOVES[:1])], whole=True, now_s=0).games[0].moves == MOVES[:1]
    )
    belief = believing.believe([A, B], whole=False, now_s=0)
    assert belief.games == (A, B) and belief.complete and belief.look_again_s is None


def test_a_correction_is_believed_at_once() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A], whole=True, now_s=0)
    other = game("A", (MOVES[0], Move("c7c5", "c5")))
    assert believing.believe([other], whole=True, now_s=0).games == (other,)


def test_a_takeback_in_a_whole_text_is_believed_at_once() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A], whole=True, now_s=0)
    shorter = game("A", MOVES[:2])
    assert believing.believe([shorter], whole=True, now_s=0).games == (shorter,)


def test_a_half_written_file_takes_no_move_back_and_loses_no_game() -> None:
    """Eight boards uploaded in five seconds (audit, row 3)."""
    believing = PartialReadFilter(60)
    believing.believe([A, B, C], whole=True, now_s=0)
    belief = believing.believe([A, game("B", MOVES[:1])], whole=False, now_s=10)
    assert [len(one.moves) for one in belief.games] == [3, 3, 3]
    assert [one.problem for one in belief.games] == [None, KEPT, KEPT]
    assert belief.complete and belief.doubted == 2 and belief.look_again_s == 60
    belief = believing.believe([A, B, C], whole=True, now_s=15)
    assert belief.games == (A, B, C) and not belief.doubted and belief.look_again_s is None


def test_an_upload_that_pauses_in_the_last_game_takes_nothing_back() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A, B], whole=True, now_s=0)
    cut = [A, game("B", MOVES[:1])]
    believing.believe(cut, whole=False, now_s=1)
    belief = believing.believe(cut, whole=False, closed=True, now_s=3)
    assert [len(one.moves) for one in belief.games] == [3, 3]


def test_a_text_cut_between_two_games_loses_no_game() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A, B, C], whole=True, now_s=0)
    belief = believing.believe([A], whole=True, now_s=10)
    assert [one.headers.white.name for one in belief.games] == ["A", "B", "C"]


def test_a_loss_is_believed_after_a_minute_and_three_readings_of_it() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A, B], whole=True, now_s=0)
    for now_s in (5, 30):
        assert believing.believe([], whole=False, now_s=now_s).doubted == 2
    assert believing.believe([], whole=False, now_s=64.9).doubted == 2
    assert believing.believe([], whole=False, now_s=65).games == ()
    believing.believe([A, B], whole=True, now_s=70)
    believing.believe([A], whole=True, now_s=71)
    assert believing.believe([A], whole=True, now_s=140).doubted == 1  # only the second reading
    assert believing.believe([A], whole=True, now_s=140).games == (A,)


def test_other_boards_go_on_while_a_board_is_doubted() -> None:
    believing = PartialReadFilter(60)
    believing.believe([game("A", MOVES[:1]), B], whole=True, now_s=0)
    believing.believe([game("A", MOVES[:2])], whole=True, now_s=10)
    belief = believing.believe([A], whole=True, now_s=40)
    assert belief.games[0] == A and belief.doubted == 1
    assert believing.believe([A], whole=True, now_s=70).games == (A,)


def test_two_takebacks_at_once_and_a_board_emptied_are_doubted() -> None:
    for shorter in ([game("A", MOVES[:2]), game("B", MOVES[:2])], [game("A", ()), B]):
        believing = PartialReadFilter(60)
        believing.believe([A, B], whole=True, now_s=0)
        belief = believing.believe(shorter, whole=True, now_s=1)
        assert [len(one.moves) for one in belief.games] == [3, 3]


def test_a_takeback_from_a_page_with_old_copies_is_doubted() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A, B], whole=True, now_s=0)
    assert believing.believe([game("A", MOVES[:2]), B], whole=True, now_s=1, suspect=True).doubted


def test_as_many_games_under_other_names_are_no_loss() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A, B], whole=True, now_s=0)
    assert believing.believe([game("Ann"), B], whole=True, now_s=1).games == (game("Ann"), B)


def test_a_new_game_without_moves_may_be_half_its_headers() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A], whole=True, now_s=0)
    begun = game("Bo", ())
    assert believing.believe([A, begun], whole=False, now_s=0).games == (A,)
    assert believing.believe([A, begun], whole=False, closed=True, now_s=1).games == (A, begun)


cuts = st.lists(st.integers(0, 9), max_size=12)


@pytest.mark.slow
@given(cuts)
def test_readings_of_a_growing_text_never_take_back_what_was_reported(points: list[int]) -> None:
    """Read at any moments while A, B, C are rewritten, then left alone: all ends well."""
    believing = PartialReadFilter(60)
    believing.believe([A, B, C], whole=True, now_s=0)
    for point in points:  # the text holds that many moves in all
        full, rest = divmod(point, 3)
        games = [A, B, C][:full]
        if rest:
            games.append(game("ABC"[full], MOVES[:rest]))
        belief = believing.believe(games, whole=rest == 0, now_s=0)
        assert [len(one.moves) for one in belief.games] == [3, 3, 3]
    end = believing.believe([A, B, C], whole=True, now_s=0)
    assert end.games == (A, B, C) and end.complete


@given(st.lists(st.sampled_from([A, B, C, msgspec.structs.replace(A, result="1-0")]), max_size=5))
def test_whatever_stands_still_is_believed(games: list[GameReport]) -> None:
    believing = PartialReadFilter(60)
    believing.believe([A, B, C], whole=True, now_s=0)
    for now_s in (10, 40, 70):
        belief = believing.believe(games, whole=False, now_s=now_s)
    assert belief.games == tuple(games) and belief.complete


def test_what_was_gone_for_good_and_comes_back_half_written_is_doubted() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A, B], whole=True, now_s=0)
    for now_s in (10, 40, 70):
        gone = believing.believe([], whole=True, now_s=now_s)
    assert gone.games == ()
    back = believing.believe([A, game("B", MOVES[:1])], whole=False, now_s=500)
    assert [len(one.moves) for one in back.games] == [3, 3] and back.doubted == 1
    assert believing.believe([A, B], whole=True, now_s=501).games == (A, B)


def test_other_names_in_a_text_that_is_not_whole_double_no_board() -> None:
    """Colours put right while the last game is being written."""
    long = [Move(uci, uci) for uci in ("g1f3", "g8f6", "f3g1", "f6g8") * 6]
    believing = PartialReadFilter(60)
    believing.believe([game("A", long), B], whole=False, now_s=0)
    belief = believing.believe([game("Ann", long), B], whole=False, now_s=1)
    assert [one.headers.white.name for one in belief.games] == ["Ann", "B"]


def test_a_name_put_right_early_in_a_text_that_is_not_whole_doubles_no_board() -> None:
    line = [Move(uci, uci) for uci in ("g1f3", "g8f6", "f3g1", "f6g8", "g1f3")]
    believing = PartialReadFilter(60)
    believing.believe([game("A", line), B, C], whole=True, now_s=0)
    belief = believing.believe([game("Á", line), B], whole=False, now_s=1)
    assert [one.headers.white.name for one in belief.games] == ["Á", "B", "C"]


def test_a_name_put_right_in_a_text_that_is_cut_in_that_game_doubles_no_board() -> None:
    believing = PartialReadFilter(60)
    believing.believe([A, C], whole=True, now_s=0)
    belief = believing.believe([game("Á", MOVES[:1])], whole=False, closed=True, now_s=10)
    assert [one.headers.white.name for one in belief.games] == ["A", "C"] and not belief.complete
    belief = believing.believe([game("Á"), C], whole=True, now_s=15)
    assert belief.games == (game("Á"), C) and belief.complete


def test_what_was_gone_before_a_restart_and_comes_back_half_written_is_doubted() -> None:
    gone = msgspec.structs.replace(A, problem="no longer in its source; shown as it was last")
    believing = PartialReadFilter(60, [gone, C])
    assert believing.believe([C], whole=True, now_s=0).games == (C,)
    belief = believing.believe([C, game("A", MOVES[:1])], whole=False, now_s=1)
    assert [len(one.moves) for one in belief.games] == [3, 3] and belief.doubted == 1


def test_a_game_that_is_over_hides_no_loss_after_a_restart() -> None:
    over = msgspec.structs.replace(A, result="1-0")
    believing = PartialReadFilter(60, [over, B, C])
    belief = believing.believe([over, B], whole=True, now_s=0)
    assert [one.headers.white.name for one in belief.games] == ["A", "B", "C"]
