"""Errors of a pawn or more against their forecast:
``python -m tests.benchmarks.error_forecast FILE… --engine ENGINE``

Each FILE is NDJSON of searched games (may be gzipped) whose players the network never saw. Of
positions drawn evenly from their turns after the opening, the network says what players of the
mover's rating choose, a short search of twelve lines (a quarter of the usual limit) what their
moves lose, as on a running board; what the move played lost is in the file. Printed by tenth of the
forecast, and by band of Elo: forecast, share of errors, positions; and how far the mean losses
agree.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import chess
import chess.engine
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from live.human.difficulty import ERROR_CP, clamped, difficulty, losses_cp
from live.human.players import HumanMoves, answers, open_network
from live.human.question import REFERENCE_ELOS, HumanQuestion, asked_elo, not_covered
from live.ratings.strength.human_evidence import FIRST_PLY
from tests.benchmarks.calibration import BANDS, read

#: As ``live.service.measure_settings.human_searches`` asks at 100,000 nodes.
LINES, NODES = 12, 25_000


class Forecast(NamedTuple):
    elo: float
    chance: float
    loss_cp: float
    played_loss_cp: float


class _Asked(NamedTuple):
    board: chess.Board
    question: HumanQuestion
    elo: float
    best: str | None
    """The choice of the file's deeper search, UCI."""
    loss_cp: int


def asked(files: Sequence[Path], most: int) -> list[_Asked]:
    """Turns after the opening, drawn evenly."""
    found = []
    for game in read(files, "same-search"):
        turns = {
            turn.ply: (turn, side, best)
            for side in game.sides
            for turn, best in zip(side.turns, side.best, strict=True)
        }
        board, fens = chess.Board(), [chess.STARTING_FEN]
        for ply, uci in enumerate(game.moves, 1):
            turn, side, best = turns.get(ply, (None, None, None))
            if ply >= FIRST_PLY and turn and side and side.elo and not_covered(board) is None:
                first = max(0, ply - 3)
                elos = (asked_elo(side.elo), *REFERENCE_ELOS)
                question = HumanQuestion(fens[first], game.moves[first : ply - 1], elos, "otb")
                before = turn.score_before_cp
                lost = clamped(before) - clamped(before + turn.gain_cp)
                found.append(_Asked(board.copy(stack=False), question, side.elo, best, lost))
            board.push_uci(uci)
            fens.append(board.fen())
    return found[:: max(1, len(found) // most)]


def forecasts(
    chosen: Sequence[_Asked], network: HumanMoves, engine: chess.engine.SimpleEngine
) -> list[Forecast]:
    """Those that can be made: at least 7 in 10 of the players' moves have a score."""
    made = []
    batches = [chosen[start : start + 16] for start in range(0, len(chosen), 16)]
    for batch in track(batches, "positions", console=Console(stderr=True)):
        told = answers(network, [each.question for each in batch])
        for each, answer in zip(batch, told, strict=True):
            sign = 1 if each.board.turn else -1
            lines = engine.analyse(each.board, chess.engine.Limit(nodes=NODES), multipv=LINES)
            scores = {
                line["pv"][0].uci(): line["score"].white().score(mate_score=100_000) or 0
                for line in lines
                if line.get("pv")
            }
            losses = losses_cp(scores, each.best or next(iter(scores)), sign)
            hard = difficulty(answer.per_mille[0], losses, losses[list(scores)[-1]])
            if hard is not None:
                made.append(
                    Forecast(each.elo, hard.error_chance, hard.expected_loss_cp, each.loss_cp)
                )
    return made


def table(made: Sequence[Forecast]) -> Table:
    """Forecast and what came of it."""
    shown = Table("", "positions", "forecast", "errors", "± 95 %", "expected loss", "lost")

    def add(what: str, rows: Sequence[Forecast]) -> None:
        if not rows:
            return
        chance = np.array([row.chance for row in rows])
        error = np.array([row.played_loss_cp >= ERROR_CP for row in rows])
        reach = 1.96 * np.sqrt(max(error.mean() * (1 - error.mean()), 1 / len(rows)) / len(rows))
        expected = np.mean([row.loss_cp for row in rows])
        lost = np.mean([row.played_loss_cp for row in rows])
        shown.add_row(
            what,
            str(len(rows)),
            f"{chance.mean():.3f}",
            f"{error.mean():.3f}",
            f"{reach:.3f}",
            f"{expected:.0f}",
            f"{lost:.0f}",
        )

    add("all", made)
    edges = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 1.01)
    for low, high in pairwise(edges):
        add(f"forecast {low:.2f}-{min(high, 1):.2f}", [r for r in made if low <= r.chance < high])
    for bottom, top in pairwise(BANDS):
        add(f"Elo {bottom}-{top}", [row for row in made if bottom <= row.elo < top])
    return shown


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--network", type=Path, help="another than the one that comes with it")
    parser.add_argument("--most", type=int, default=3000, help="positions; some 10 a second")
    given = parser.parse_args(arguments)
    chosen = asked(given.files, given.most)
    with chess.engine.SimpleEngine.popen_uci(given.engine) as engine:
        engine.configure({"Threads": 1, "Hash": 16})
        made = forecasts(chosen, open_network(given.network), engine)
    console = Console(width=140)
    console.print(f"{len(made)} of {len(chosen)} positions have a forecast")
    console.print(table(made))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
