"""The network of human moves: how it sees a position, what it answers, what is
refused.
"""

import math
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from live.errors import ConfigError
from live.human.difficulty import LEAST_SHARE
from live.human.network import (
    HumanNetwork,
    NetworkInput,
    find_shipped_network,
    lacks_avx,
)
from live.human.network_input import (
    PLANES,
    Floats,
    Positions,
    build_conditions,
    build_planes,
    build_records,
    compute_shares,
    find_reachable_moves,
    pack_position,
)
from live.human.question import KINDS

pytest.importorskip("onnxruntime", reason="the extra 'human' is not installed")


@pytest.fixture(scope="module")
def network() -> HumanNetwork:
    return HumanNetwork()


def _build_input(line: str, elo: int, kind: str = "otb") -> NetworkInput:
    board = chess.Board()
    for san in line.split():
        board.push_san(san)
    return NetworkInput(board, (elo, elo), kind)


def test_what_ships_is_small_and_says_what_it_was_learned_from(
    network: HumanNetwork,
) -> None:
    assert find_shipped_network().stat().st_size <= 6_000_000
    assert "games" in network.about["learned"]


def test_shares_add_up_over_the_legal_moves(network: HumanNetwork) -> None:
    lines = ("", "e4 e5 Nf3 Nc6", "d4 d5 c4 dxc4 e4 b5 a4", "e4 c5 Nf3 d6 d4 cxd4")
    asked = [_build_input(line, 2000) for line in lines]
    for one, given in zip(asked, network.predict_shares(asked), strict=True):
        assert set(given) == {move.uci() for move in one.board.legal_moves}
        assert sum(given.values()) == pytest.approx(1)
        assert list(given.values()) == sorted(given.values(), reverse=True)
    # Many at once are answered as one by one, and everybody takes back.
    asked = [_build_input("e4 d5 exd5", elo) for elo in range(1000, 2800, 20)]
    together = network.predict_shares(asked)
    for one, given in list(zip(asked, together, strict=True))[::30]:
        assert network.predict_shares([one])[0] == pytest.approx(given, abs=1e-4)
    assert max(together[50]["d8d5"], together[50]["g8f6"]) == max(together[50].values())
    assert network.predict_shares([]) == []


def _apart(one: dict[str, float], other: dict[str, float]) -> float:
    """The share of players who would have to move otherwise."""
    return sum(abs(share - other[uci]) for uci, share in one.items()) / 2


def test_the_rating_and_the_kind_of_game_matter(network: HumanNetwork) -> None:
    # 1.e4 c5 2.Nf3: masters go on with the Open Sicilian, beginners with what they
    # know.
    low, high = network.predict_shares(
        [_build_input("e4 c5 Nf3 d6", 1000), _build_input("e4 c5 Nf3 d6", 2500)]
    )
    assert high["d2d4"] > low["d2d4"] + 0.05
    assert _apart(low, high) > 0.1
    assert min(low.values()) < LEAST_SHARE
    kinds = (_build_input("e4 c5 Nf3 d6 d4", 1800, kind) for kind in ("otb", "bullet"))
    assert _apart(*network.predict_shares(list(kinds))) > 0.01


def test_nothing_is_noted_or_reported_of_this_machine(tmp_path: Path) -> None:
    """Onnxruntime keeps an identity of the machine for its telemetry, unless it is told
    not to.
    """
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    code = "from live.human.network import HumanNetwork; HumanNetwork()"
    told = {"ORT_DISABLE_TELEMETRY": ""}
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **told, **home}, check=True
    )
    assert list(tmp_path.rglob("*")) == []


def test_what_is_no_network_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        HumanNetwork(tmp_path / "none.onnx")
    path = tmp_path / "network.onnx"
    path.write_bytes(b"no network at all")
    with pytest.raises(ConfigError, match="is not a neural network") as caught:
        HumanNetwork(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (RuntimeError("Invalid\ndimensions"), "cannot be run: Invalid dimensions"),
        (np.zeros((1, 1858)), "returns 1 x 1858 for 1 positions"),
        (np.full((1, 4096), np.nan), "values that are not numbers"),
    ],
    ids=["input", "width", "nan"],
)
def test_a_network_of_other_shape_or_without_numbers_is_refused(
    answer: Any, said: str, network: HumanNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Session:
        def run(self, names: list[str], given: dict[str, Floats]) -> list[Floats]:
            assert names == ["logits"] and set(given) == {"planes", "conditions"}
            if isinstance(answer, Exception):
                raise answer
            return [answer]

    monkeypatch.setattr(network, "_session", Session())
    with pytest.raises(ConfigError) as caught:
        network.predict_shares([_build_input("", 2000)])
    assert said in str(caught.value)


def test_a_processor_too_old_for_onnxruntime_is_known_before_it_crashes() -> None:
    assert lacks_avx("x86_64", "flags\t\t: fpu sse sse2\n")
    assert not lacks_avx("x86_64", "flags\t\t: fpu sse sse2 avx avx2\n")
    assert not lacks_avx("x86_64", "") and not lacks_avx(
        "aarch64", "Features\t: fp asimd\n"
    )


def test_without_onnxruntime_or_avx_the_line_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as gone:
        gone.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(ConfigError, match=r"not installed.*live-rate\[human\]"):
            HumanNetwork()
    monkeypatch.setattr("live.human.network.lacks_avx", lambda machine, cpuinfo: True)
    with pytest.raises(ConfigError, match=r"no AVX.*enabled = false"):
        HumanNetwork()


POSITIONS = (
    chess.STARTING_FEN,
    "r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "rnbqkbnr/pppp1ppp/8/8/3PpP2/8/PPP1P1PP/RNBQKBNR b KQkq f3 0 3",
    "4k3/8/8/8/8/8/p6p/4K3 b - - 12 60",
)


def _record(
    board: chess.Board, elo: tuple[int, int] = (2000, 1800), kind: str = "otb"
) -> Positions:
    return build_records(
        [pack_position(board, board.move_stack[-2:], elo, kind)], [not board.turn]
    )


def _build_board_planes(board: chess.Board) -> Floats:
    seen: Floats = build_planes(_record(board))[0].reshape(PLANES, 64)
    return seen


def _list_marked(board: chess.Board, start: int, end: int) -> list[list[int]]:
    """The squares marked in some of the planes."""
    return [
        np.flatnonzero(plane).tolist()
        for plane in _build_board_planes(board)[start:end]
    ]


def _squares(moves: Iterable[chess.Move], board: chess.Board) -> set[int]:
    flip = 0 if board.turn else 56
    return {(m.from_square ^ flip) * 64 + (m.to_square ^ flip) for m in moves}


@pytest.mark.parametrize("fen", POSITIONS)
def test_planes_and_moves_are_those_of_the_rules(fen: str) -> None:
    """Reachable moves but for the king's safety, attackers by kind of man, and from
    where a man of each kind would give check; and Black sees the board as White sees
    its mirror.
    """
    board = chess.Board(fen)
    seen, flip = _build_board_planes(board), 0 if board.turn else 56
    found = set(np.flatnonzero(find_reachable_moves(_record(board))[0]).tolist())
    assert _squares(board.legal_moves, board) <= found
    # Castling out of or through attack is the only move of ours that is not
    # pseudo-legal there.
    assert len(found - _squares(board.pseudo_legal_moves, board)) <= 2
    for side, color in enumerate((board.turn, not board.turn)):
        for square in chess.SQUARES:
            counts = [0] * 6
            for attacker in board.attackers(color, square):
                counts[(board.piece_type_at(attacker) or 0) - 1] += 1
            first = 19 + 6 * side
            assert seen[first : first + 6, square ^ flip].tolist() == counts
    king = board.king(not board.turn)
    assert king is not None
    for plane, kind in enumerate(
        (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK), 31
    ):
        wanted = set()
        for square in set(chess.SQUARES) - {king}:
            trial = board.copy(stack=False)
            trial.set_piece_at(square, chess.Piece(kind, board.turn))
            if king in trial.attacks(square):
                wanted.add(square ^ flip)
        assert set(np.flatnonzero(seen[plane]).tolist()) == wanted
    assert (build_planes(_record(board)) == build_planes(_record(board.mirror()))).all()
    assert (
        build_conditions(_record(board)) == build_conditions(_record(board.mirror()))
    ).all()


@pytest.mark.parametrize(
    ("fen", "marked"),
    [
        ("4k3/4n3/8/7b/4B3/4RP2/4K1N1/b7 w - - 0 1", [[chess.F3], [], [], []]),
        ("4k3/8/8/8/4B3/4R3/8/4K2r w - - 0 1", [[], [], [chess.E4], []]),
        ("4k3/4n3/8/8/8/4R3/8/4K3 b - - 0 1", [[chess.E2], [], [], []]),
        ("4r3/8/4n3/8/8/8/8/k3K3 w - - 0 1", [[], [], [], [chess.E6]]),
        ("4r3/8/4n3/8/8/8/8/k3K3 b - - 0 1", [[], [], [chess.E6 ^ 56], []]),
    ],
)
def test_pins_discovered_checks_and_checks_are_marked(
    fen: str, marked: list[list[int]]
) -> None:
    board = chess.Board(fen)
    assert _list_marked(board, 35, 39) == marked
    check = _build_board_planes(board)[39]
    assert check.all() if board.is_check() else not check.any()


def test_the_last_two_plies_are_marked_from_the_movers_side() -> None:
    board = chess.Board()
    for uci in ("e2e4", "d7d5", "e4d5"):
        board.push_uci(uci)
    assert _list_marked(board, 14, 18) == [
        [chess.E5],
        [chess.D4],
        [chess.D2],
        [chess.D4],
    ]
    assert _list_marked(chess.Board(), 14, 18) == [[], [], [], []]


def test_who_plays_and_the_kind_of_game_are_given() -> None:
    """Ratings beyond those learned are the nearest learned; an unknown kind is
    rejected.
    """
    board = chess.Board()
    elos = ((3300, 400), (2800, 1000), (2000, 1000), (1400, 1000))
    far, near, one, other = (build_conditions(_record(board, elo)) for elo in elos)
    assert (far == near).all() and (one != other).any()
    for number, kind in enumerate(KINDS):
        given = build_conditions(_record(board, kind=kind))[0, 14:19]
        assert np.flatnonzero(given).tolist() == [number]
    with pytest.raises(ValueError, match="bughouse"):
        _record(board, kind="bughouse")


def _logits(**moves: float) -> Floats:
    given = np.full(
        4096, 20.0, np.float32
    )  # high where no legal move is: must not matter
    for uci, logit in moves.items():
        move = chess.Move.from_uci(uci)
        given[move.from_square * 64 + move.to_square] = logit
    return given


def test_shares_are_over_legal_moves_largest_first_from_the_movers_side() -> None:
    logits = _logits(a1a2=0.0, a1b1=math.log(2), a1b2=math.log(5))
    given = compute_shares(chess.Board("7k/8/8/8/8/8/8/K7 w - - 0 1"), logits)
    assert list(given) == ["a1b2", "a1b1", "a1a2"]
    assert list(given.values()) == pytest.approx([5 / 8, 2 / 8, 1 / 8])
    given = compute_shares(chess.Board("k7/8/8/8/8/8/8/7K b - - 0 1"), logits)
    assert list(given) == ["a8b7", "a8b8", "a8a7"]
    assert compute_shares(chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"), logits) == {}


def test_a_promotion_is_counted_once_as_a_queen() -> None:
    board = chess.Board("7k/P7/8/8/8/8/8/7K w - - 0 1")
    given = compute_shares(board, np.zeros(4096, np.float32))
    assert sorted(given) == ["a7a8q", "h1g1", "h1g2", "h1h2"]
    assert sum(given.values()) == pytest.approx(1)
