"""Networks of human moves: what they are asked, what they see, and what they answer.

Ours is an ONNX file, run by onnxruntime on one core. Inputs ``planes`` (float32, ``n x 40 x 8 x
8``) and ``conditions`` (float32, ``n x 20``) as this module makes them; output ``logits`` (float32,
``n x 4096``), one for each ``from * 64 + to``, the mover playing up the board. Any ONNX file of
these three will do.

A position is packed into one record of bitboards (:data:`POSITION`), which is what training keeps
on disk; :func:`planes` and :func:`conditions` unpack many at once into the network's two inputs,
and :func:`shares` reads its answer. Black's positions are mirrored top to bottom, so that the mover
always plays up the board.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import chess
import numpy as np
from numpy.typing import NDArray

from live.errors import ConfigError
from live.human.question import KINDS, LEARNED_ELO, HumanAnswer, HumanQuestion, rounded_answer

#: Six bitboards by kind of piece (pawn to king), one of the mover's men; squares of rooks that may
#: castle; en-passant square or -1; plies since a capture or pawn move; from and to of the last ply
#: and the one before, or -1; Elo of mover and opponent; kind of game; the move played, as
#: ``from * 64 + to``, or -1; number of the game and ply, for whoever needs to find it again.
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

#: Planes: the mover's six kinds of men, the opponent's, castling, en passant, from and to of the
#: last two plies, a plane of ones, by which a convolution sees the edge of the board; how many of
#: the mover's men of each kind attack or guard a square, and of the opponent's; from where a pawn,
#: knight, bishop and rook would give check; men that alone stand between a king and a line piece
#: of the other side (the mover's pinned, the opponent's pinned) or of their own (the mover's, the
#: opponent's, who discover a check); and ones where the mover is in check. All from the nineteenth
#: on follows from the first: a small network, or few games, need not learn how the men move.
PLANES = 40
#: Conditions: see :func:`conditions`.
CONDITIONS = 20

#: Centres of the soft steps by which the network sees an Elo.
_STEPS = np.array([900, 1250, 1600, 1950, 2300, 2650], dtype=np.float32)
_STEP = 350.0


def pack(
    board: chess.Board, history: Sequence[chess.Move], elo: tuple[int, int], kind: str
) -> tuple[Any, ...]:
    """A position as a row of :data:`POSITION`, not yet mirrored (see :func:`records`).

    ``history`` holds the last two plies or fewer, the latest last; ``elo`` is the mover's and the
    opponent's. Raises ``ValueError`` for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is none of {', '.join(KINDS)}")
    squares = [square for move in history[:-3:-1] for square in (move.from_square, move.to_square)]
    return (
        (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings),
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


def mirrored(rows: Positions, black: Bools) -> Positions:
    """The rows with Black to move turned top to bottom."""
    turned = rows.copy()
    for name in ("men", "own", "castling"):
        # Ranks are bytes of a bitboard: swapping the bytes turns the board over.
        turned[name][black] = rows[name][black].byteswap()
    for name in ("en_passant", "history"):
        squares = rows[name][black]
        turned[name][black] = np.where(squares < 0, squares, squares ^ 56)
    moves = rows["played"][black]
    turned["played"][black] = np.where(moves < 0, moves, moves ^ (56 * 64 + 56))
    return turned


def records(rows: Sequence[tuple[Any, ...]], black: Sequence[bool]) -> Positions:
    """Rows of :func:`pack` as records, each from its mover's side."""
    return mirrored(np.array(list(rows), dtype=POSITION), np.array(black, dtype=np.bool_))


def _squares(boards: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Bitboards ``(n, k)`` as zeros and ones ``(n, k, 64)``, a1 first."""
    as_bytes = np.ascontiguousarray(boards).view(np.uint8)
    return np.unpackbits(as_bytes, axis=-1, bitorder="little").reshape(*boards.shape, 64)


def _attack(pawns: list[int]) -> Bools:
    """What men attack on an empty board: ``(7, 64, 64)`` by kind, none last."""
    diagonals = [chess.BB_DIAG_ATTACKS[square][0] for square in chess.SQUARES]
    straights = [
        chess.BB_RANK_ATTACKS[square][0] | chess.BB_FILE_ATTACKS[square][0]
        for square in chess.SQUARES
    ]
    queens = [one | other for one, other in zip(diagonals, straights, strict=True)]
    knights, kings = chess.BB_KNIGHT_ATTACKS, chess.BB_KING_ATTACKS
    boards = np.array([pawns, knights, diagonals, straights, queens, kings, [0] * 64], np.uint64)
    return _squares(boards).astype(np.bool_)


#: By side, the mover's first.
_ATTACK = np.stack([_attack(chess.BB_PAWN_ATTACKS[color]) for color in (chess.WHITE, chess.BLACK)])
_PUSH = np.eye(64, k=8, dtype=np.bool_)
_PUSH[8:16] |= np.eye(64, k=16, dtype=np.bool_)[8:16]
_BETWEEN = np.array(
    [[chess.between(start, end) for end in chess.SQUARES] for start in chess.SQUARES], np.uint64
)
_EACH = np.arange(64)


def _clear(rows: Positions) -> Bools:
    """From which square to which nothing stands between: ``(n, 64, 64)``."""
    taken = np.bitwise_or.reduce(rows["men"], axis=1)
    clear: Bools = (_BETWEEN & taken[:, None, None]) == 0
    return clear


def _attacks(men: NDArray[np.uint8], side: int, clear: Bools) -> Bools:
    """Which squares the men ``(n, 6, 64)`` of a side attack or guard: ``(n, 64, 64)``."""
    kind = np.where(men.any(1), men.argmax(1), 6)
    reach: Bools = _ATTACK[side, kind, _EACH] & clear
    return reach


def _shields(
    rows: Positions, king: NDArray[np.intp], lines: NDArray[np.uint8]
) -> NDArray[np.uint64]:
    """Men of either side that alone stand between a king and bishops, rooks or queens."""
    bishops, rooks, queens = (lines[:, k].astype(np.bool_) for k in range(3))
    aimed = (_ATTACK[0, 2, king] & (bishops | queens)) | (_ATTACK[0, 3, king] & (rooks | queens))
    taken = np.bitwise_or.reduce(rows["men"], axis=1)
    between = _BETWEEN[king] & taken[:, None]
    alone = aimed & (between & (between - np.uint64(1)) == 0)
    shields: NDArray[np.uint64] = np.bitwise_or.reduce(np.where(alone, between, 0), axis=1)
    return shields.astype(np.uint64)


def planes(rows: Positions) -> Floats:
    """What stands on the board: ``(n, PLANES, 8, 8)``, rank by rank from the mover's side."""
    many = len(rows)
    own = rows["own"][:, None]
    boards = np.concatenate([rows["men"] & own, rows["men"] & ~own, rows["castling"][:, None]], 1)
    squares = _squares(boards)
    seen = np.zeros((many, PLANES, 64), dtype=np.float32)
    seen[:, :13] = squares
    for plane, marked in enumerate([rows["en_passant"], *rows["history"].T], 13):
        known = np.flatnonzero(marked >= 0)
        seen[known, plane, marked[known]] = 1.0
    seen[:, 18] = 1.0
    clear, each = _clear(rows), np.arange(many)
    kings = [squares[:, 6 * side + 5].argmax(1) for side in (0, 1)]
    seen[:, 31:35] = _ATTACK[1, :4, kings[1]] & clear[each, kings[1]][:, None]
    for side, mine in enumerate((rows["own"], ~rows["own"])):
        men, theirs = squares[:, 6 * side :][:, :6], squares[:, 6 * (1 - side) :][:, :6]
        reach = _attacks(men, side, clear).astype(np.float32)
        seen[:, 19 + 6 * side : 25 + 6 * side] = men.astype(np.float32) @ reach
        between = _shields(rows, kings[side], theirs[:, 2:5])
        # Between this king and the other side's line pieces: pinned, or about to discover.
        seen[:, 35 + side] = _squares((between & mine)[:, None])[:, 0]
        seen[:, 38 - side] = _squares((between & ~mine)[:, None])[:, 0]
    seen[:, 39] = seen[each, 25:31, kings[0]].max(1, initial=0.0, keepdims=True) > 0
    return seen.reshape(many, PLANES, 8, 8)


def reachable(rows: Positions) -> Bools:
    """Moves by the rules, the king's safety left aside: ``(n, 4096)``, ``from * 64 + to``.

    Training spreads the network's shares over these, so that it need not learn how the men move.
    """
    squares = _squares(np.concatenate([rows["men"] & rows["own"][:, None], rows["men"]], 1))
    men = squares[:, :6]
    taken: Bools = squares[:, 6:].astype(np.bool_).max(1)
    own: Bools = men.astype(np.bool_).max(1)
    clear = _clear(rows)
    moves = _attacks(men, 0, clear) & ~own[:, None, :]
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


def conditions(rows: Positions) -> Floats:
    """Who plays: ``(n, CONDITIONS)``.

    Both ratings as soft steps 350 Elo wide and as a number, the kind of game, and plies since a
    capture or pawn move, in hundreds.
    """
    given = np.zeros((len(rows), CONDITIONS), dtype=np.float32)
    elo = np.clip(rows["elo"].astype(np.float32), *LEARNED_ELO)
    given[:, :12] = np.exp(-(((elo[:, :, None] - _STEPS) / _STEP) ** 2)).reshape(-1, 12)
    given[:, 12:14] = (elo - 1900.0) / 500.0
    given[np.arange(len(rows)), 14 + rows["kind"]] = 1.0
    given[:, 19] = np.minimum(rows["quiet_plies"], 100) / 100.0
    return given


def shares(board: chess.Board, logits: Floats) -> dict[str, float]:
    """Share of the players who choose each legal move, by UCI, the most frequent first.

    ``logits`` are the 4096 of this position, from the mover's side. A share is a probability: of a
    hundred players of this rating in this position and kind of game, how many choose the move. They
    add up to one over the legal moves. A promotion to a lesser piece was too rare to learn apart: a
    pawn's step to the last rank counts once, as the promotion to a queen.
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


class Asked(NamedTuple):
    """A position, who plays it and in what kind of game.

    ``board`` keeps the moves that led here, of which the network sees the last two; ``elo`` is
    the mover's and the opponent's; ``kind`` is one of ``live.human.question.KINDS``.
    """

    board: chess.Board
    elo: tuple[int, int]
    kind: str = "otb"


def answers(network: HumanNetwork, questions: Sequence[HumanQuestion]) -> list[HumanAnswer]:
    """What the network answers, rounded; blocks while it works."""
    asked: list[Asked] = []
    for question in questions:
        board = chess.Board(question.fen)
        for uci in question.moves:
            board.push_uci(uci)
        asked += [Asked(board, (elo, elo), question.kind) for elo in question.elos]
    shares = iter(network.shares(asked))
    return [
        rounded_answer(network.identity, [next(shares) for _ in question.elos])
        for question in questions
    ]


#: Positions at a time: more is no faster, and takes more memory.
BATCH = 64

_REMEDY = (
    f"Give an ONNX file with inputs planes (n x {PLANES} x 8 x 8) and conditions "
    f"(n x {CONDITIONS}) and output logits (n x 4096), or leave the key out"
)


def shipped() -> Path:
    """The network that comes with the package."""
    return Path(str(files(__package__).joinpath("network.onnx")))


def without_avx(machine: str, cpuinfo: str) -> bool:
    """Whether a Linux PC's processor has no AVX, without which onnxruntime ends the program.

    ``machine`` as ``platform.machine()`` has it, ``cpuinfo`` the text of ``/proc/cpuinfo``; where
    that says nothing of flags, nothing is held against the processor.
    """
    flags = [line for line in cpuinfo.splitlines() if line.startswith("flags")]
    return machine in {"x86_64", "AMD64", "i686"} and bool(flags) and " avx" not in flags[0]


class HumanNetwork:
    """Logits of the moves of many positions at once; blocks while it works.

    Raises :class:`~live.errors.ConfigError`, one line each, when onnxruntime is missing or the
    processor too old for it, and when the file is missing, no network, of another shape, or
    answers with numbers that are none.
    """

    def __init__(self, path: Path | None = None) -> None:
        """``path``: None for the one that comes with the package."""
        self.path = path = path or shipped()
        self._session = _session(path)
        #: Its name and a digest of its file: equal where answers are.
        self.identity = f"{path.name} {blake2b(path.read_bytes(), digest_size=6).hexdigest()}"
        #: What it was learned from, in a few words.
        self.about: dict[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)
        self.shares([Asked(chess.Board(), (2000, 2000))])

    def shares(self, asked: Sequence[Asked]) -> list[dict[str, float]]:
        """For each position the share of players who choose each legal move, largest first."""
        rows = [pack(one.board, one.board.move_stack[-2:], one.elo, one.kind) for one in asked]
        logits = self.logits(records(rows, [not one.board.turn for one in asked]))
        return [shares(one.board, given) for one, given in zip(asked, logits, strict=True)]

    def logits(self, rows: Positions) -> Floats:
        """``(n, 4096)`` for ``n`` positions, each from its mover's side."""
        answers = [self._run(rows[start : start + BATCH]) for start in range(0, len(rows), BATCH)]
        return np.concatenate(answers) if answers else np.zeros((0, 4096), np.float32)

    def _run(self, rows: Positions) -> Floats:
        given = {"planes": planes(rows), "conditions": conditions(rows)}
        try:
            answer = self._session.run(["logits"], given)[0]
        except Exception as error:  # onnxruntime raises its own kinds, unknown to a type checker
            raise _refused(self.path, f"cannot be run: {_line(error)}") from None
        logits: Floats = np.asarray(answer, dtype=np.float32)
        if logits.shape != (len(rows), 4096):
            shape = " x ".join(map(str, logits.shape))
            raise _refused(self.path, f"answers {shape} for {len(rows)} positions")
        if not np.isfinite(logits).all():
            raise _refused(self.path, "answers with numbers that are none (NaN or infinite)")
        return logits


def _refused(path: Path, problem: str) -> ConfigError:
    return ConfigError(str(path), problem, _REMEDY)


def _session(path: Path) -> Any:
    if not path.is_file():
        raise _refused(path, "there is no such file")
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and without_avx(platform.machine(), cpuinfo.read_text("utf-8", "replace")):
        raise ConfigError(
            "human",
            "this processor has no AVX, which onnxruntime needs",
            "Set [human] enabled = false",
        )
    # It would write an identity of this machine into the cache folder, and report what it runs.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError:
        raise ConfigError(
            "human", "onnxruntime is not installed", "Run: pip install 'live-rate[human]'"
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # as above
        raise _refused(path, f"is no network: {_line(error)}") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200]
