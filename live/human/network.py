"""A network in an ONNX file, run by onnxruntime on one core.

Inputs ``planes`` (float32, ``n x 40 x 8 x 8``) and ``conditions`` (float32, ``n x 20``) as
``live.human.encoding`` makes them; output ``logits`` (float32, ``n x 4096``), one for each
``from * 64 + to``, the mover playing up the board. Any ONNX file of these three will do.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import chess
import numpy as np

from live.errors import ConfigError
from live.human.encoding import (
    CONDITIONS,
    PLANES,
    Floats,
    Positions,
    conditions,
    pack,
    planes,
    records,
    shares,
)
from live.human.players import Asked, identity_of

#: Positions at a time: more is no faster, and takes more memory.
BATCH = 64

_WANTED = {"planes": [PLANES, 8, 8], "conditions": [CONDITIONS]}
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

    by_elo = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self._session = _session(path)
        self.identity = identity_of(path)
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
            raise ConfigError(str(self.path), f"cannot be run: {_line(error)}", _REMEDY) from None
        logits: Floats = np.asarray(answer, dtype=np.float32)
        if logits.shape != (len(rows), 4096):
            shape = " x ".join(str(size) for size in logits.shape)
            raise ConfigError(str(self.path), f"answers {shape} for {len(rows)} positions", _REMEDY)
        if not np.isfinite(logits).all():
            raise ConfigError(
                str(self.path), "answers with numbers that are none (NaN or infinite)", _REMEDY
            )
        return logits


def _session(path: Path) -> Any:
    if not path.is_file():
        raise ConfigError(str(path), "there is no such file", _REMEDY)
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
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # as above
        raise ConfigError(str(path), f"is no network: {_line(error)}", _REMEDY) from None
    _reject_other_shapes(path, session)
    return session


def _reject_other_shapes(path: Path, session: Any) -> None:
    inputs = {given.name: list(given.shape) for given in session.get_inputs()}
    if set(inputs) != set(_WANTED):
        raise ConfigError(str(path), f"has inputs {', '.join(sorted(inputs))}", _REMEDY)
    for name, wanted in _WANTED.items():
        if inputs[name][1:] != wanted:
            shape = " x ".join(str(size) for size in inputs[name])
            raise ConfigError(str(path), f"input {name} is {shape}", _REMEDY)
    if "logits" not in {answer.name for answer in session.get_outputs()}:
        raise ConfigError(str(path), "has no output logits", _REMEDY)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
