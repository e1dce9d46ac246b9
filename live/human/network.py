"""Neural networks of human moves: their questions, their inputs, and their answers.

The network of this project is an ONNX file, run by onnxruntime on one core. Its inputs
are ``planes`` (float32, ``n x 40 x 8 x 8``) and ``conditions`` (float32, ``n x 20``),
as made by this module; its output is ``logits`` (float32, ``n x 4096``), one for each
``from * 64 + to``, with the mover playing up the board. Any ONNX file with these inputs
and output can be used.

A position is packed into one record of bitboards (:data:`POSITION`), the form in which
training stores it on disk. :func:`build_planes` and :func:`build_conditions` convert
many records at once to the network's two inputs, and :func:`compute_shares` converts
its answer. Black's positions are mirrored top to bottom, so that the mover always plays
up the board.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from hashlib import blake2b
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import chess
import numpy as np
from numpy.typing import NDArray

from live.errors import ConfigError
from live.human.question import (
    KINDS,
    LEARNED_ELO,
    HumanAnswer,
    HumanQuestion,
    round_answer,
)

#: One position: six bitboards by kind of piece (pawn to king), and one of the mover's
#: pieces; squares of rooks that can castle; en-passant square or -1; plies since a
#: capture or pawn move; from and to of the last ply and the one before it, or -1; Elo
#: of mover and opponent; kind of game; the move played, as ``from * 64 + to``, or -1;
#: number of the game and ply, to find the position again.
POSITION = np.dtype(
    [
        ("men", "<u8", (6,)),
        ("own", "<u8"),
        ("castling", "<u8"),
        ("en_passant", "i1"),
        ("quiet_plies", "u1"),
        ("history", "i1", (4,)),
        ("elo", "<i2", (2,)),
        ("kind", "u1"),
        ("played", "<i2"),
        ("game", "<i4"),
        ("ply", "<i2"),
    ]
)
Positions = NDArray[np.void]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]

#: Number of planes. They are, in order: the mover's six kinds of pieces and the
#: opponent's; castling; en passant; from and to of the last two plies; a plane of ones,
#: by which a convolution sees the edge of the board; for each kind of piece, the number
#: of the mover's pieces that attack or guard a square, then the opponent's; squares
#: from which a pawn, knight, bishop and rook would give check; pieces that alone stand
#: between a king and a line piece of the other side (the mover's pinned, the opponent's
#: pinned) or of their own side (the mover's, the opponent's, which can discover a
#: check); and a plane of ones if the mover is in check. All planes from the nineteenth
#: on follow from the first ones: a small network, or one learned from few games, then
#: need not learn how the pieces move.
PLANES = 40
#: Number of conditions: see :func:`build_conditions`.
CONDITIONS = 20

#: Centres, and below the width, of the soft steps by which the network sees an Elo.
_STEPS = np.array([900, 1250, 1600, 1950, 2300, 2650], dtype=np.float32)
_STEP = 350.0


def pack_position(
    board: chess.Board, history: Sequence[chess.Move], elo: tuple[int, int], kind: str
) -> tuple[Any, ...]:
    """Return a position as a row of :data:`POSITION`, not mirrored yet (see
    :func:`build_records`).

    ``history`` has the last two plies or fewer, the latest last; ``elo`` is the mover's
    and the opponent's. Raises ``ValueError`` for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is none of {', '.join(KINDS)}")
    squares: list[int] = []
    for move in history[:-3:-1]:
        squares += (move.from_square, move.to_square)
    return (
        (
            board.pawns,
            board.knights,
            board.bishops,
            board.rooks,
            board.queens,
            board.kings,
        ),
        board.occupied_co[board.turn],
        board.castling_rights,
        -1 if board.ep_square is None else board.ep_square,
        min(board.halfmove_clock, 255),
        (*squares, -1, -1, -1, -1)[:4],
        elo,
        KINDS.index(kind),
        -1,
        -1,
        board.ply(),
    )


def mirror_black(rows: Positions, black: Bools) -> Positions:
    """Return the rows, with those of Black mirrored top to bottom."""
    turned = rows.copy()
    for name in ("men", "own", "castling"):
        # Ranks are the bytes of a bitboard, so swapping the bytes mirrors the board.
        turned[name][black] = rows[name][black].byteswap()
    for name in ("en_passant", "history"):
        squares = rows[name][black]
        turned[name][black] = np.where(squares < 0, squares, squares ^ 56)
    moves = rows["played"][black]
    turned["played"][black] = np.where(moves < 0, moves, moves ^ (56 * 64 + 56))
    return turned


def build_records(rows: Sequence[tuple[Any, ...]], black: Sequence[bool]) -> Positions:
    """Return rows of :func:`pack_position` as records, each from its mover's side."""
    return mirror_black(
        np.array(list(rows), dtype=POSITION), np.array(black, dtype=np.bool_)
    )


def _unpack_bitboards(boards: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return bitboards ``(n, k)`` as zeros and ones ``(n, k, 64)``, a1 first."""
    as_bytes = np.ascontiguousarray(boards).view(np.uint8)
    return np.unpackbits(as_bytes, axis=-1, bitorder="little").reshape(
        *boards.shape, 64
    )


def _build_attacks(pawns: list[int]) -> Bools:
    """Return the attacks of each kind of piece on an empty board, ``(7, 64, 64)``; the
    last is for no piece.
    """
    diagonals = [chess.BB_DIAG_ATTACKS[square][0] for square in chess.SQUARES]
    straights = [
        chess.BB_RANK_ATTACKS[square][0] | chess.BB_FILE_ATTACKS[square][0]
        for square in chess.SQUARES
    ]
    queens = [one | other for one, other in zip(diagonals, straights, strict=True)]
    knights = chess.BB_KNIGHT_ATTACKS
    kings = chess.BB_KING_ATTACKS
    boards = np.array(
        [pawns, knights, diagonals, straights, queens, kings, [0] * 64], np.uint64
    )
    return _unpack_bitboards(boards).astype(np.bool_)


#: Attacks by side, the mover's first.
_ATTACKS = np.stack(
    [
        _build_attacks(chess.BB_PAWN_ATTACKS[color])
        for color in (chess.WHITE, chess.BLACK)
    ]
)
_PUSH = np.eye(64, k=8, dtype=np.bool_)
_PUSH[8:16] |= np.eye(64, k=16, dtype=np.bool_)[8:16]
_BETWEEN = np.empty((64, 64), np.uint64)
for _start in chess.SQUARES:
    for _end in chess.SQUARES:
        _BETWEEN[_start, _end] = chess.between(_start, _end)
_EACH = np.arange(64)


def _find_clear_lines(rows: Positions) -> Bools:
    """Return for each pair of squares whether all squares between them are empty: ``(n,
    64, 64)``.
    """
    taken = np.bitwise_or.reduce(rows["men"], axis=1)
    clear: Bools = (_BETWEEN & taken[:, None, None]) == 0
    return clear


def _find_attacked(men: NDArray[np.uint8], side: int, clear: Bools) -> Bools:
    """Return the squares that a side's pieces ``(n, 6, 64)`` attack or guard: ``(n, 64,
    64)``.
    """
    kind = np.where(men.any(1), men.argmax(1), 6)
    reach: Bools = _ATTACKS[side, kind, _EACH] & clear
    return reach


def _find_shields(
    rows: Positions, king: NDArray[np.intp], lines: NDArray[np.uint8]
) -> NDArray[np.uint64]:
    """Return the pieces of either side that alone stand between a king and one of
    ``lines``, the bishops, rooks and queens.
    """
    bishops, rooks, queens = (lines[:, k].astype(np.bool_) for k in range(3))
    aimed = (_ATTACKS[0, 2, king] & (bishops | queens)) | (
        _ATTACKS[0, 3, king] & (rooks | queens)
    )
    taken = np.bitwise_or.reduce(rows["men"], axis=1)
    between = _BETWEEN[king] & taken[:, None]
    alone = aimed & (between & (between - np.uint64(1)) == 0)
    shields: NDArray[np.uint64] = np.bitwise_or.reduce(
        np.where(alone, between, 0), axis=1
    )
    return shields.astype(np.uint64)


def build_planes(rows: Positions) -> Floats:
    """Return the boards as planes ``(n, PLANES, 8, 8)``, rank by rank from the mover's
    side.
    """
    many = len(rows)
    own = rows["own"][:, None]
    boards = np.concatenate(
        [rows["men"] & own, rows["men"] & ~own, rows["castling"][:, None]], 1
    )
    squares = _unpack_bitboards(boards)
    seen = np.zeros((many, PLANES, 64), dtype=np.float32)
    seen[:, :13] = squares
    for plane, marked in enumerate([rows["en_passant"], *rows["history"].T], 13):
        known = np.flatnonzero(marked >= 0)
        seen[known, plane, marked[known]] = 1.0
    seen[:, 18] = 1.0
    clear = _find_clear_lines(rows)
    each = np.arange(many)
    kings = [squares[:, 6 * side + 5].argmax(1) for side in (0, 1)]
    seen[:, 31:35] = _ATTACKS[1, :4, kings[1]] & clear[each, kings[1]][:, None]
    for side, mine in enumerate((rows["own"], ~rows["own"])):
        men = squares[:, 6 * side :][:, :6]
        theirs = squares[:, 6 * (1 - side) :][:, :6]
        reach = _find_attacked(men, side, clear).astype(np.float32)
        seen[:, 19 + 6 * side : 25 + 6 * side] = men.astype(np.float32) @ reach
        between = _find_shields(rows, kings[side], theirs[:, 2:5])
        # Between this king and the other side's line pieces: pinned, or able to
        # discover a check.
        seen[:, 35 + side] = _unpack_bitboards((between & mine)[:, None])[:, 0]
        seen[:, 38 - side] = _unpack_bitboards((between & ~mine)[:, None])[:, 0]
    seen[:, 39] = seen[each, 25:31, kings[0]].max(1, initial=0.0, keepdims=True) > 0
    return seen.reshape(many, PLANES, 8, 8)


def find_reachable_moves(rows: Positions) -> Bools:
    """Return the legal moves, ignoring the king's safety: ``(n, 4096)``, ``from * 64 +
    to``.

    Training divides the network's shares among these moves, so that it need not learn
    how the pieces move.
    """
    squares = _unpack_bitboards(
        np.concatenate([rows["men"] & rows["own"][:, None], rows["men"]], 1)
    )
    men = squares[:, :6]
    taken: Bools = squares[:, 6:].astype(np.bool_).max(1)
    own: Bools = men.astype(np.bool_).max(1)
    clear = _find_clear_lines(rows)
    moves = _find_attacked(men, 0, clear) & ~own[:, None, :]
    capture = taken & ~own
    passant = np.flatnonzero(rows["en_passant"] >= 0)
    capture[passant, rows["en_passant"][passant]] = True
    pawn = men[:, 0].astype(np.bool_)[:, :, None]
    moves &= ~pawn | capture[:, None, :]
    moves |= pawn & _PUSH & clear & ~taken[:, None, :]
    for rook, end in ((7, 6), (0, 2)):
        may = (rows["castling"] >> np.uint64(rook)) & np.uint64(1) == 1
        moves[:, 4, end] |= may & men[:, 5, 4].astype(np.bool_) & clear[:, 4, rook]
    return moves.reshape(len(rows), 4096)


def build_conditions(rows: Positions) -> Floats:
    """Return the conditions of play: ``(n, CONDITIONS)``.

    They are the ratings of both players, as soft steps 350 Elo wide and as a number,
    the kind of game, and the plies since a capture or pawn move, in hundreds.
    """
    given = np.zeros((len(rows), CONDITIONS), dtype=np.float32)
    elo = np.clip(rows["elo"].astype(np.float32), *LEARNED_ELO)
    given[:, :12] = np.exp(-(((elo[:, :, None] - _STEPS) / _STEP) ** 2)).reshape(-1, 12)
    given[:, 12:14] = (elo - 1900.0) / 500.0
    given[np.arange(len(rows)), 14 + rows["kind"]] = 1.0
    given[:, 19] = np.minimum(rows["quiet_plies"], 100) / 100.0
    return given


def compute_shares(board: chess.Board, logits: Floats) -> dict[str, float]:
    """Return the share of players who choose each legal move, by UCI, the most frequent
    first.

    ``logits`` are the 4096 of this position, from the mover's side. A share is a
    probability: the fraction of players of this rating, in this position and kind of
    game, who choose the move. The shares of all legal moves add up to one. A promotion
    to a piece other than a queen was too rare to learn separately: a pawn's step to the
    last rank counts once, as the promotion to a queen.
    """
    flip = 0 if board.turn else 56
    moves: list[str] = []
    places: list[int] = []
    for move in board.legal_moves:
        if move.promotion in (None, chess.QUEEN):
            moves.append(move.uci())
            places.append((move.from_square ^ flip) * 64 + (move.to_square ^ flip))
    chosen = logits[places].astype(np.float64)
    weights = np.exp(chosen - chosen.max(initial=-np.inf))
    found = weights / weights.sum()
    return {moves[k]: float(found[k]) for k in np.argsort(-found, kind="stable")}


class NetworkInput(NamedTuple):
    """A position, the ratings of its players, and the kind of game.

    ``board`` includes the moves that led here, of which the network sees the last two;
    ``elo`` is the mover's and the opponent's; ``kind`` is one of
    ``live.human.question.KINDS``.
    """

    board: chess.Board
    elo: tuple[int, int]
    kind: str = "otb"


def answer_questions(
    network: HumanNetwork, questions: Sequence[HumanQuestion]
) -> list[HumanAnswer]:
    """Return the network's rounded answers. Blocks until they are ready."""
    asked: list[NetworkInput] = []
    for question in questions:
        board = chess.Board(question.fen)
        for uci in question.moves:
            board.push_uci(uci)
        asked += [
            NetworkInput(board, (elo, elo), question.kind) for elo in question.elos
        ]
    predicted = iter(network.predict_shares(asked))
    answers: list[HumanAnswer] = []
    for question in questions:
        shares = islice(predicted, len(question.elos))
        answers.append(round_answer(network.identity, shares))
    return answers


#: Number of positions in a batch: more would be no faster, and take more memory.
BATCH = 64

_REMEDY = (
    f"Give an ONNX file with inputs planes (n x {PLANES} x 8 x 8) and conditions "
    f"(n x {CONDITIONS}) and output logits (n x 4096), or leave the key out"
)


def find_shipped_network() -> Path:
    """Return the path of the network in the package."""
    return Path(str(files(__package__).joinpath("network.onnx")))


def lacks_avx(machine: str, cpuinfo: str) -> bool:
    """Return whether a Linux PC's processor has no AVX, without which onnxruntime ends
    the program.

    ``machine`` is the value of ``platform.machine()``, ``cpuinfo`` the text of
    ``/proc/cpuinfo``. If the text lists no flags, the processor is assumed to have AVX.
    """
    flags = [line for line in cpuinfo.splitlines() if line.startswith("flags")]
    return (
        machine in {"x86_64", "AMD64", "i686"}
        and bool(flags)
        and " avx" not in flags[0]
    )


class HumanNetwork:
    """A neural network that predicts the moves of many positions at once. Calls block
    until it has finished.

    Raises :class:`~live.errors.ConfigError`, with a message of one line, if onnxruntime
    is missing or the processor is too old for it, and if the file is missing, is not a
    network, has other inputs or outputs, or answers with NaN or infinite numbers.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open the network at ``path``; None means the network in the package."""
        self.path = path = path or find_shipped_network()
        self._session = _open_session(path)
        #: Name of the file and a digest of its content; equal identities give equal
        #: answers.
        self.identity = (
            f"{path.name} {blake2b(path.read_bytes(), digest_size=6).hexdigest()}"
        )
        #: Description of the data it was learned from, in a few words.
        self.about: dict[str, str] = dict(
            self._session.get_modelmeta().custom_metadata_map
        )
        self.predict_shares([NetworkInput(chess.Board(), (2000, 2000))])

    def predict_shares(self, asked: Sequence[NetworkInput]) -> list[dict[str, float]]:
        """Return, for each position, the share of players who choose each legal move,
        largest first.
        """
        rows = [
            pack_position(one.board, one.board.move_stack[-2:], one.elo, one.kind)
            for one in asked
        ]
        logits = self.compute_logits(
            build_records(rows, [not one.board.turn for one in asked])
        )
        return [
            compute_shares(one.board, given)
            for one, given in zip(asked, logits, strict=True)
        ]

    def compute_logits(self, rows: Positions) -> Floats:
        """Return the logits ``(n, 4096)`` of ``n`` positions, each from its mover's
        side.
        """
        parts = [np.zeros((0, 4096), np.float32)]
        starts = range(0, len(rows), BATCH)
        parts += (self._run_batch(rows[start : start + BATCH]) for start in starts)
        return np.concatenate(parts)

    def _run_batch(self, rows: Positions) -> Floats:
        given = {"planes": build_planes(rows), "conditions": build_conditions(rows)}
        try:
            answer = self._session.run(["logits"], given)[0]
        except Exception as error:
            # Broad: onnxruntime raises its own types of error, unknown to a type
            # checker.
            raise _build_error(
                self.path, f"cannot be run: {_format_error(error)}"
            ) from None
        logits: Floats = np.asarray(answer, dtype=np.float32)
        if logits.shape != (len(rows), 4096):
            shape = " x ".join(map(str, logits.shape))
            raise _build_error(self.path, f"answers {shape} for {len(rows)} positions")
        if not np.isfinite(logits).all():
            raise _build_error(
                self.path, "answers with numbers that are none (NaN or infinite)"
            )
        return logits


def _build_error(path: Path, problem: str) -> ConfigError:
    return ConfigError(str(path), problem, _REMEDY)


def _open_session(path: Path) -> Any:
    if not path.is_file():
        raise _build_error(path, "there is no such file")
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and lacks_avx(
        platform.machine(), cpuinfo.read_text("utf-8", "replace")
    ):
        raise ConfigError(
            "human",
            "this processor has no AVX, which onnxruntime needs",
            "Set [human] enabled = false",
        )
    # Without this, onnxruntime writes an identity of this machine into the cache
    # folder, and reports what it runs.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError:
        raise ConfigError(
            "human",
            "onnxruntime is not installed",
            "Run: pip install 'live-rate[human]'",
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        # Broad: as in :meth:`HumanNetwork._run_batch`.
        raise _build_error(path, f"is no network: {_format_error(error)}") from None


def _format_error(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200]
