from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import GameReport, Headers, Move, Player
from live.feeds.files.partial_reads import PartialReadFilter, ends_whole

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MOVES = (Move("e2e4", "e4"), Move("e7e5", "e5"), Move("g1f3", "Nf3"))


def game(white: str, moves: Sequence[Move] = MOVES) -> GameReport:
    return GameReport("", Headers(Player(white), Player("B")), START, tuple(moves))


A, B, C = game("A"), game("B"), game("C")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (b"1. e4 *\n\n", True),
        (b"1. e4 1-0", True),
        (b"1. e4 0-1\r\n", True),
        (b"1. e4 1/2-1/2", True),
        ("1. e4 ½-½\n".encode(), True),
        (b"1. e4 e", False),
        (b'[Black "B"]\n[Result "1-0', False),  # cut in a tag, not behind a result
        (b'[White "A"]\n', False),
        (b"", False),
    ],
)
def test_the_end_of_a_text_tells_whether_it_is_all_there(text: bytes, whole: bool) -> None:
    assert ends_whole(text) is whole


def test_more_is_believed_at_once() -> None:
    settling = PartialReadFilter(1.0)
    assert settling.believe([game("A", MOVES[:1])], whole=True, now_s=0).games[0].moves == MOVES[:1]
    belief = settling.believe([A, B], whole=False, now_s=0)
    assert belief.games == (A, B) and belief.complete and belief.look_again_s is None


def test_a_correction_is_believed_at_once() -> None:
    settling = PartialReadFilter(1.0)
    settling.believe([A], whole=True, now_s=0)
    other = game("A", (MOVES[0], Move("c7c5", "c5")))
    assert settling.believe([other], whole=True, now_s=0).games == (other,)


def test_a_takeback_in_a_whole_text_is_believed_at_once() -> None:
    settling = PartialReadFilter(1.0)
    settling.believe([A], whole=True, now_s=0)
    shorter = game("A", MOVES[:2])
    assert settling.believe([shorter], whole=True, now_s=0).games == (shorter,)


def test_a_half_written_file_takes_no_move_back_and_loses_no_game() -> None:
    settling = PartialReadFilter(1.0)
    settling.believe([A, B, C], whole=True, now_s=0)
    belief = settling.believe([A, game("B", MOVES[:1])], whole=False, now_s=10)
    assert belief.games == (A,) and not belief.complete and belief.look_again_s == 1.0
    belief = settling.believe([A, B, C], whole=True, now_s=10.1)
    assert belief.games == (A, B, C) and belief.complete and belief.look_again_s is None


def test_an_emptied_file_is_believed_after_a_while() -> None:
    settling = PartialReadFilter(1.0)
    settling.believe([A, B], whole=True, now_s=0)
    assert not settling.believe([], whole=False, now_s=5).complete
    belief = settling.believe([], whole=False, now_s=5.5)
    assert not belief.complete and belief.look_again_s == 0.5
    assert settling.believe([], whole=False, now_s=6).complete


def test_a_loss_that_goes_on_changing_is_not_believed_yet() -> None:
    settling = PartialReadFilter(1.0)
    settling.believe([A, B, C], whole=True, now_s=0)
    settling.believe([A], whole=True, now_s=5)
    assert not settling.believe([A, B], whole=True, now_s=6).complete
    assert settling.believe([A, B], whole=True, now_s=7).complete


def test_a_new_game_without_moves_may_be_half_its_headers() -> None:
    settling = PartialReadFilter(1.0)
    settling.believe([A], whole=True, now_s=0)
    begun = game("Bo", ())
    assert settling.believe([A, begun], whole=False, now_s=0).games == (A,)
    assert settling.believe([A, begun], whole=False, now_s=1).games == (A, begun)


cuts = st.lists(st.integers(0, 9), max_size=12)


@given(cuts)
def test_readings_of_a_growing_text_never_take_back_what_was_reported(points: list[int]) -> None:
    """Read at any moments while A, B, C are rewritten, then left alone: all ends well."""
    settling = PartialReadFilter(1.0)
    settling.believe([A, B, C], whole=True, now_s=0)
    for point in points:  # the text holds that many moves in all
        full, rest = divmod(point, 3)
        games = [A, B, C][:full]
        if rest:
            games.append(game("ABC"[full], MOVES[:rest]))
        belief = settling.believe(games, whole=rest == 0, now_s=0)
        assert all(len(one.moves) == 3 for one in belief.games)
        assert belief.complete == (len(belief.games) == 3)
    end = settling.believe([A, B, C], whole=True, now_s=0)
    assert end.games == (A, B, C) and end.complete


@given(st.lists(st.sampled_from([A, B, C, msgspec.structs.replace(A, result="1-0")]), max_size=5))
def test_whatever_stands_still_is_believed(games: list[GameReport]) -> None:
    settling = PartialReadFilter(1.0)
    settling.believe([A, B, C], whole=True, now_s=0)
    settling.believe(games, whole=False, now_s=10)
    belief = settling.believe(games, whole=False, now_s=11)
    assert belief.games == tuple(games) and belief.complete
