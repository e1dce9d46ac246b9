"""Alliot's comments: his own sample in his own form, and python-chess reads what is written."""

from __future__ import annotations

import io
import re

import chess
import chess.pgn
import msgspec
from hypothesis import given
from hypothesis import strategies as st

from live.events import ComplexityView, GameDetail, HeadToHead, Player, PlyView
from live.publish.exports import comment, export

FORM = re.compile(r"-?\d+,\d*,,,,\d*,\(\d*,\d*\)")


def game(plies: tuple[PlyView, ...], start_fen: str = chess.STARTING_FEN) -> GameDetail:
    return GameDetail(
        id="g",
        feed="f",
        event="E",
        round="1",
        board=1,
        white=Player("A"),
        black=Player("B"),
        result="*",
        url="",
        start_fen=start_fen,
        start_score_cp=20,
        head_to_head=HeadToHead(),
        plies_played=len(plies),
        plies_scored=len(plies),
        plies=plies,
    )


#: The two moves of Alliot's sample that were evaluated, values and depths as he gives them.
MOVES = re.findall(
    r"\S+", "c4 g6 Nc3 Bg7 d4 d6 g3 Nc6 Nf3 Bg4 Bg2 Qd7 d5 Bxf3 exf3 Na5 Qd3 c6 Bd2 cxd5"
)


def sample() -> GameDetail:
    board = chess.Board()
    plies = []
    for number, san in enumerate(MOVES, 1):
        move = board.push_san(san)
        plies.append(PlyView(number, san, move.uci(), final=True))
    plies[17] = PlyView(18, "c6", plies[17].uci, final=True, depth=24)
    plies[18] = PlyView(
        *(19, "Bd2", "c1d2"), final=True, depth=25, best="b2b4", played_cp=90,
        gain_same_search_cp=-37,
    )  # fmt: skip
    plies[19] = PlyView(
        *(20, "cxd5", "c6d5"), final=True, depth=25, best="a8c8", played_cp=91,
        gain_same_search_cp=-12,
    )  # fmt: skip
    return game(tuple(plies))


def test_his_sample_has_his_values() -> None:
    text = " ".join(export(sample(), "alliot").split())
    assert "10. Bd2 {90,,,,,,(,)} ( 10. b4 {127,24,,,,,(,)} )" in text
    assert "10... cxd5 {-91,,,,,,(,)} ( 10... Rc8 {-79,25,,,,,(,)} )" in text
    assert "Format:{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}" in text
    assert "%eval" not in text


def test_the_first_choice_has_the_figures_of_its_own_search() -> None:
    plies = (
        PlyView(
            *(1, "e4", "e2e4"), final=True, depth=9, best="e2e4", played_cp=33,
            complexity=ComplexityView(12.4, 31, 7),
        ),
        PlyView(
            *(2, "e5", "e7e5"), final=True, depth=8, best="e7e5", played_cp=30,
            gain_same_search_cp=0,
        ),
        PlyView(3, "Nf3", "g1f3", best="b1c3"),
    )  # fmt: skip
    text = " ".join(export(game(plies), "alliot").split())
    assert text.endswith("1. e4 e5 {-30,9,,,,12,(31,7)} 2. Nf3 *")


def test_python_chess_reads_it() -> None:
    read = chess.pgn.read_game(io.StringIO(export(sample(), "alliot")))
    assert read is not None
    assert not read.errors
    assert [node.san() for node in read.mainline()] == MOVES
    node = read.end()
    assert node.comment == "-91,,,,,,(,)"
    assert node.parent is not None
    (variation,) = node.parent.variations[1:]
    assert (variation.san(), variation.comment) == ("Rc8", "-79,25,,,,,(,)")


def test_a_board_that_cannot_be_set_up_costs_only_the_variations() -> None:
    held = sample()
    for fen, variant in (("nonsense", "standard"), (held.start_fen, "atomic")):
        text = export(msgspec.structs.replace(held, start_fen=fen, variant=variant), "alliot")
        assert "{90,,,,,,(,)}" in text
        assert "b4" not in text


@given(
    st.integers(-3900, 3900),
    st.none() | st.integers(0, 200),
    st.none() | st.builds(ComplexityView, st.floats(0, 99), st.integers(0, 99), st.integers(1, 9)),
)
def test_every_comment_has_eight_fields(
    value_cp: int, depth: int | None, changes: ComplexityView | None
) -> None:
    told = comment(value_cp, depth, changes)
    assert FORM.fullmatch(told[1:-1])
    assert " " not in told
    assert told.count(",") == 7
