"""How near the calibrated rating comes: ``python tests/benchmarks/calibration.py FILE…``

Each FILE is NDJSON (may be gzipped) of rated games, as ``live.ratings.calibration.rated_games``
reads it. For
every definition of gain the file can give: how the figures of a game go with Elo, with the engine
as a spike at 0 and as measured, and what a calibration does, cross-validated over players, so that
nobody is rated by what was learned from himself. Then the time a move takes.
"""

from __future__ import annotations

import gzip
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from live.errors import InputError
from live.events import GainKind
from live.ratings.calibration.calibrated_rating import CalibratedRating
from live.ratings.calibration.calibration_check import CalibrationCheck, cross_validate
from live.ratings.calibration.calibration_fit import learn
from live.ratings.calibration.move_evidence import Calibration, EvidenceSums, load_calibration
from live.ratings.calibration.rated_games import RatedGame, read_rated_games
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.ferreira.engine_distribution import (
    EngineDistribution,
    MeasuredDistribution,
    SpikeAtZero,
)
from live.ratings.gain_histogram import GainHistogram

#: Shares of the players in cross-validation; fewer where each has plenty of games.
FOLDS, FOLDS_OF_MANY, MANY_GAMES = 10, 5, 2000
GAINS: tuple[GainKind, ...] = ("same-search", "successive")


class Row(NamedTuple):
    """How one definition of gain goes with Elo: correlations over player-games."""

    zeros: float
    spike: float
    measured: float | None
    log_mean_loss: float
    mean_log_loss: float


class FirstChoice(msgspec.Struct):
    """Which moves of a searched game were the engine's own."""

    moves: list[str]
    plies: list[dict[str, msgspec.Raw]]


def read(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()


def engine_gains(lines: Sequence[bytes]) -> GainHistogram | None:
    """Successive gains of the engine's own first choices; None for a file of gains alone."""
    counted = GainHistogram()
    for line in lines:
        try:
            game = msgspec.json.decode(line, type=FirstChoice)
        except msgspec.ValidationError:
            return None
        scores = [msgspec.json.decode(ply["cp"], type=int) for ply in game.plies]
        for index in range(min(len(game.moves), len(scores) - 1)):
            best = game.plies[index].get("best")
            if best is not None and msgspec.json.decode(best) == game.moves[index]:
                rise = scores[index + 1] - scores[index]
                counted.add(rise if index % 2 == 0 else -rise)
    return counted


def correlations(games: Sequence[RatedGame], gain: GainKind, lines: Sequence[bytes]) -> Row:
    """One row of the table; the measured engine's gains are those of the file's other half."""
    elo = [game.elo for game in games]
    zeros = np.mean([move.gain_cp == 0 for game in games for move in game.moves])
    losses = [np.array([max(0, -move.gain_cp) for move in game.moves]) for game in games]

    def scores(engine: EngineDistribution, held: Sequence[RatedGame]) -> list[float]:
        found = []
        for game in held:
            gains = (move.gain_cp for move in game.moves)
            score = Algorithm4(gains, engine=engine, gain=gain).expected_score
            found.append(0.5 if score is None else score)
        return found

    def r(values: Sequence[float]) -> float:
        return float(np.corrcoef(values, elo)[0, 1])

    measured: float | None = None
    if gain == "successive":
        sides: dict[int, list[float]] = {}
        for half in (0, 1):
            counted = engine_gains(lines[1 - half :: 2])
            if counted is None:
                break
            own = [g for i, line in enumerate(lines) if i % 2 == half for g in _games([line], gain)]
            sides[half] = scores(MeasuredDistribution(counted), own)
        if len(sides) == 2:
            order = [i % 2 for i, line in enumerate(lines) for _ in _games([line], gain)]
            queues = {half: iter(values) for half, values in sides.items()}
            measured = r([next(queues[half]) for half in order])
    return Row(
        float(zeros),
        r(scores(SpikeAtZero(), games)),
        measured,
        r([float(np.log1p(lost.mean())) for lost in losses]),
        r([float(np.log1p(lost / 10).mean()) for lost in losses]),
    )


def _games(lines: Sequence[bytes], gain: GainKind) -> list[RatedGame]:
    return [game for game in read_rated_games(lines, gain) if game.moves]


def microseconds_a_move(
    calibration: Calibration, games: Sequence[RatedGame]
) -> tuple[float, float]:
    """Time to add a move, and to add it and read the mean and interval."""
    weigher = EvidenceSums(calibration)
    took = []
    for reading in (False, True):
        start = time.perf_counter()
        moves = 0
        for game in games[:100]:
            rating = CalibratedRating(weigher)
            for move in game.moves:
                rating.add(move.gain_cp, move.score_before_cp, move.ply, move.previous_gain_cp)
                moves += 1
                if reading:
                    posterior = rating.posterior
                    _ = posterior.mean, posterior.interval
        took.append((time.perf_counter() - start) / moves * 1e6)
    return took[0], took[1]


def figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def tell(console: Console, name: str, found: dict[GainKind, tuple[Row, CalibrationCheck]]) -> None:
    table = Table("", *found, title=name)
    checks = [found[gain][1] for gain in found]
    rows = [found[gain][0] for gain in found]
    table.add_row("player-games", *(str(check.games) for check in checks))
    table.add_row("zero gains", *(f"{row.zeros:.0%}" for row in rows))
    table.add_row("r(Elo, p), engine a spike", *(figure(row.spike, 2) for row in rows))
    table.add_row("r(Elo, p), engine measured", *(figure(row.measured, 2) for row in rows))
    table.add_row("r(Elo, log mean loss)", *(figure(row.log_mean_loss, 2) for row in rows))
    table.add_row("r(Elo, mean log loss)", *(figure(row.mean_log_loss, 2) for row in rows))
    table.add_row("r(Elo, calibrated)", *(figure(check.r, 2) for check in checks))
    table.add_row("constant: mean error", *(figure(c.constant_error, 1) for c in checks))
    table.add_row("calibrated: mean error", *(figure(c.mean_absolute_error, 1) for c in checks))
    table.add_row("  root mean square", *(figure(c.root_mean_square_error, 1) for c in checks))
    table.add_row("coverage", *(figure(check.coverage, 3) for check in checks))
    for moves in checks[0].by_moves:
        after = [check.by_moves[moves] for check in checks]
        table.add_row(
            f"after {moves} moves: coverage, error, width",
            *(
                f"{figure(a.coverage, 3)}, {figure(a.mean_absolute_error, 0)}, {figure(a.width, 0)}"
                for a in after
            ),
        )
    if checks[0].pooled.players:
        pooled = [check.pooled for check in checks]
        table.add_row("players with 20 games", *(str(p.players) for p in pooled))
        table.add_row("pooled: r", *(figure(p.r, 3) for p in pooled))
        table.add_row("pooled: constant", *(figure(p.constant_error, 1) for p in pooled))
        table.add_row("pooled: mean error", *(figure(p.mean_absolute_error, 1) for p in pooled))
        table.add_row("pooled: coverage", *(figure(p.coverage, 3) for p in pooled))
    console.print(table)


def main(paths: Sequence[str]) -> int:
    """Tell all figures; 1 when a coverage of single games leaves 93-97 %."""
    console = Console()
    good = True
    for path in paths:
        lines = read(Path(path))
        found: dict[GainKind, tuple[Row, CalibrationCheck]] = {}
        for gain in GAINS:
            try:
                games = _games(lines, gain)
            except InputError:
                continue
            learn_from = partial(
                learn,
                name=Path(path).name,
                engine="",
                limit="",
                gain=gain,
                time_control="",
                data=path,
                date="",
            )
            check = cross_validate(
                games, learn_from, FOLDS if len(games) < MANY_GAMES else FOLDS_OF_MANY
            )
            found[gain] = correlations(games, gain, lines), check
            good &= check.coverage is not None and 0.93 <= check.coverage <= 0.97
        tell(console, path, found)
        if "same-search" in found:
            games = _games(lines, "same-search")
            took = microseconds_a_move(load_calibration("classical"), games)
            console.print(f"a move: {took[0]:.1f} µs to add, {took[1]:.1f} µs with the posterior")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
