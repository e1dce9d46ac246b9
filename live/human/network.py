"""Loading, running and checking of the neural network of human moves.

The network of this project is an ONNX file, run by onnxruntime on one core. Its inputs
are ``planes`` (float32, ``n x 40 x 8 x 8``) and ``conditions`` (float32, ``n x 20``),
as made by :mod:`live.human.network_input`; its output is ``logits`` (float32,
``n x 4096``), one for each ``from * 64 + to``, with the mover playing up the board. Any
ONNX file with these inputs and output can be used.
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

from live.errors import ConfigError
from live.human.network_input import (
    CONDITIONS,
    PLANES,
    Floats,
    Positions,
    build_conditions,
    build_planes,
    build_records,
    compute_shares,
    pack_position,
)
from live.human.question import HumanAnswer, HumanQuestion, round_answer


class NetworkInput(NamedTuple):
    """A position, the ratings of its players, and the kind of game.

    ``board`` includes the moves that led to the position; the network sees the last
    two.
    ``elo`` contains the ratings of the mover and of the opponent. ``kind`` is one of
    ``live.human.question.KINDS``.
    """

    board: chess.Board
    elo: tuple[int, int]
    kind: str = "otb"


def answer_questions(
    network: HumanNetwork, questions: Sequence[HumanQuestion]
) -> list[HumanAnswer]:
    """Return the network's rounded answers. Blocks until they are ready."""
    inputs: list[NetworkInput] = []
    for question in questions:
        board = chess.Board(question.fen)
        for uci in question.moves:
            board.push_uci(uci)
        inputs += [
            NetworkInput(board, (elo, elo), question.kind) for elo in question.elos
        ]
    predicted = iter(network.predict_shares(inputs))
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
    """Return whether the processor of a Linux PC lacks AVX.

    Without AVX, onnxruntime ends the whole program.

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
        #: Metadata of the file; ``learned`` describes the training data in a few words.
        self.about: dict[str, str] = dict(
            self._session.get_modelmeta().custom_metadata_map
        )
        self.predict_shares([NetworkInput(chess.Board(), (2000, 2000))])

    def predict_shares(self, inputs: Sequence[NetworkInput]) -> list[dict[str, float]]:
        """Return, for each position, the share of players who choose each legal move,
        largest first.
        """
        rows = [
            pack_position(
                position.board,
                position.board.move_stack[-2:],
                position.elo,
                position.kind,
            )
            for position in inputs
        ]
        logits = self.compute_logits(
            build_records(rows, [not position.board.turn for position in inputs])
        )
        return [
            compute_shares(position.board, move_logits)
            for position, move_logits in zip(inputs, logits, strict=True)
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
        inputs = {"planes": build_planes(rows), "conditions": build_conditions(rows)}
        try:
            answer = self._session.run(["logits"], inputs)[0]
        except Exception as error:
            # All exceptions are caught: onnxruntime raises its own types of error,
            # which a type checker does not know.
            raise _build_error(
                self.path, f"cannot be run: {_format_error(error)}"
            ) from None
        logits: Floats = np.asarray(answer, dtype=np.float32)
        if logits.shape != (len(rows), 4096):
            shape = " x ".join(map(str, logits.shape))
            raise _build_error(self.path, f"returns {shape} for {len(rows)} positions")
        if not np.isfinite(logits).all():
            raise _build_error(
                self.path, "returns values that are not numbers (NaN or infinite)"
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
        # All exceptions are caught, as in :meth:`HumanNetwork._run_batch`.
        raise _build_error(
            path, f"is not a neural network: {_format_error(error)}"
        ) from None


def _format_error(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200]
