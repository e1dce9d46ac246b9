"""What the figures are worth: ``python -m tests.benchmarks.calibration KIND FILE…``

KIND is ``classical``, ``classical-successive`` or ``blitz``; each FILE is NDJSON (may be gzipped)
as ``live.ratings.strength.played_games`` reads it. Players are split into eight shares; each share
is judged by models learned from all others, so nobody is judged by what was learned from himself.
``--shipped`` judges with the models of the package instead, on the players it never saw.

For moves alone, the level, performance and Algorithm 4: error, bias and coverage after 5, 10, 20,
30 and 40 moves, by band of Elo, and both at once; the same in an elite field (both players rated
2600 or more) and, under ``level``, with that field as the prior. For the percentile: how even it
is, and how far those of a game's two players go together. Elo cannot test a figure that knows it:
the level is held against Elo as it is without an own rating (prior of the population or the
field), the percentile against evenness. Algorithm 4 is shown as people see it, with the engine's
rating that follows from the population's mean Elo: an index, whose interval does not claim to hold
the Elo; what it claims stands in the last line. With ``--human``, what the moves of people change
of the errors, paired.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from live.events import GainKind
from live.human.players import HumanMoves, open_network
from live.ratings.calibration.field_population import FieldPopulation
from live.ratings.calibration.move_evidence import Population
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.held_out import SHARES, judges, share_of
from live.ratings.strength.expected_result import Chances, load_result_model
from live.ratings.strength.human_evidence import among_people
from live.ratings.strength.loss_fit import learn_losses
from live.ratings.strength.loss_model import (
    GRID_ELO,
    Floats,
    LossModel,
    LossReader,
    alone,
    joined,
    level,
    shipped_loss_models,
)
from live.ratings.strength.percentile import Surprise, percentile
from live.ratings.strength.performance import POINTS, PlayedAgainst, Results, of_result, performance
from live.ratings.strength.played_games import PlayedGame, PlayedSide, read_played_games
from tests.benchmarks.ratings.algorithm_4_games import over_other_games
from tests.benchmarks.ratings.paired_errors import ErrorPair, paired_errors

KINDS: dict[str, tuple[GainKind, str]] = {
    "classical": ("same-search", "classical"),
    "classical-successive": ("successive", "classical"),
    "blitz": ("successive", "blitz"),
}
AFTER_MOVES = (5, 10, 20, 30, 40)
BANDS = (0, 1200, 1600, 2000, 2300, 2500, 2600, 4000)
#: Both players are rated so or higher: an elite field.
ELITE_ELO = 2600
WITH_PEOPLE = ", with people"
JOINED = ("alone", "level", "performance")
FIGURES = (*JOINED, *(name + WITH_PEOPLE for name in JOINED), "algorithm 4")
WHOLE = 0
#: Draws of an interval.
DRAWS = 1000


class Judged(NamedTuple):
    """One player-game after so many moves (0: all)."""

    game: int
    side: int
    moves: int
    counted: int
    elo: float
    figures: dict[str, tuple[float | None, float | None, float | None]]
    """By name: value, low, high; None for what is unbounded."""
    percentile: float | None
    elite: bool = False
    """Both players are."""
    player: str = ""


def read(paths: Iterable[Path], gain: GainKind) -> list[PlayedGame]:
    games: list[PlayedGame] = []
    for path in paths:
        data = path.read_bytes()
        lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
        games += read_played_games(lines, gain, path.name)
    return games


def told_among_people(
    games: Sequence[PlayedGame], network: HumanMoves, pace: str, kept: Path | None
) -> list[PlayedGame]:
    """The games with the likelihood of each move among people, from ``kept`` where it holds that
    of the same network and games, else asked (some second a game) and kept there.
    """
    turns = [len(side.turns) for game in games for side in game.sides]
    if kept is not None and kept.is_file():
        with np.load(kept) as held:
            if str(held["network"]) == network.identity and held["turns"].tolist() == turns:
                cuts = np.cumsum(turns)[:-1]
                rows = zip(
                    np.split(held["human"].astype(float), cuts),
                    np.split(held["found"].astype(float), cuts),
                    strict=True,
                )
                return [
                    game._replace(
                        white=_with(game.white, *next(rows)), black=_with(game.black, *next(rows))
                    )
                    for game in games
                ]
    told = list(among_people(games, network, pace))
    if kept is not None:
        sides = [side for game in told for side in game.sides]
        human = np.array([row for side in sides for row in side.human], dtype=np.float32)
        found = np.array([turn.found for side in sides for turn in side.turns], dtype=np.float64)
        np.savez(kept, network=network.identity, turns=turns, human=human, found=found)
    return told


def _with(side: PlayedSide, human: Floats, found: Floats) -> PlayedSide:
    turns = (
        msgspec.structs.replace(turn, found=None if np.isnan(share) else share)
        for turn, share in zip(side.turns, found.tolist(), strict=True)
    )
    return side._replace(turns=tuple(turns), human=tuple(human))


def surprises(game: PlayedGame, reader: LossReader, usual_elo: float) -> list[list[Surprise]]:
    found = []
    for side in game.sides:
        told = []
        for turn in side.turns:
            # An opponent without a rating is taken as one of the population.
            expected = reader.expected(turn, side.elo or usual_elo)
            told.append(Surprise(turn.ply, turn.log_loss - expected.mean, expected.variance))
        found.append(told)
    return found


def elite_field(games: Sequence[PlayedGame], model: LossModel) -> Population:
    """What is believed of an unrated player among the elite players of these games."""
    field = FieldPopulation()
    for game in games:
        if is_elite(game):
            for side in game.sides:
                field.update(side.player, None if side.elo is None else round(side.elo))
    return field.over(Population(model.mean_elo, model.sd_elo))


def is_elite(game: PlayedGame) -> bool:
    """Whether both players are rated ``ELITE_ELO`` or more."""
    return all(side.elo is not None and side.elo >= ELITE_ELO for side in game.sides)


def judge(
    games: Sequence[PlayedGame],
    model: LossModel,
    kind: str,
    judged: Callable[[str], bool],
    first: int = 0,
) -> list[Judged]:
    """What ``model`` says of the players that ``judged`` names."""
    gain, pace = KINDS[kind]
    reader = LossReader(model)
    results = Results(load_result_model(pace))
    mean, sd = model.mean_elo, model.sd_elo
    field = elite_field(games, model)
    found = []
    for index, game in enumerate(games):
        if not any(judged(side.player) and side.elo and side.turns for side in game.sides):
            continue
        beside = surprises(game, reader, mean)
        for color, side in enumerate(game.sides):
            if not side.elo or not side.turns or not judged(side.player):
                continue
            summed, among = np.zeros(len(GRID_ELO)), np.zeros(len(GRID_ELO))
            perceived = Algorithm4(gain=gain)
            points = POINTS.get(game.result)
            elite = is_elite(game)
            engine_elo = _engine_elo(model, field.mean_elo if elite else mean)
            opponent = game.sides[1 - color].elo
            for n, turn in enumerate(side.turns, 1):
                summed = summed + reader.log_likelihood(turn)
                if side.human:
                    among = among + side.human[n - 1]
                perceived.add(turn.gain_cp)
                last = n == len(side.turns)
                for moves in ((n,) if n in AFTER_MOVES else ()) + ((WHOLE,) if last else ()):
                    figures: dict[str, tuple[float | None, float | None, float | None]] = {}
                    over = moves == WHOLE
                    if over:
                        ends = _result(points, color) if n >= 10 else None
                    else:
                        ends = results.promised(turn, opponent, color == 0)
                    for known in (None, among) if side.human and model.human else (None,):
                        beside_people = "" if known is None else WITH_PEOPLE
                        both, join = joined(model, summed, known)
                        said = alone(model, both, n, over=over, human=join)
                        assert said is not None
                        figures["alone" + beside_people] = said[:3]
                        held = level(model, both, n, mean, sd)
                        figures["level" + beside_people] = held[:3]
                        if elite:
                            held = level(model, both, n, field.mean_elo, field.sd_elo)
                            figures["level, elite field" + beside_people] = held[:3]
                        if ends is not None:
                            one = PlayedAgainst(
                                opponent, color == 0, ends, summed, n, over, human=known
                            )
                            perf = performance(model, results, [one])
                            assert perf is not None
                            figures["performance" + beside_people] = perf[:3]
                    low, high = perceived.interval()
                    figures["algorithm 4"] = (
                        _above(engine_elo, perceived.difference),
                        _above(engine_elo, low),
                        _above(engine_elo, high),
                    )
                    rank = percentile(
                        model, side.elo, beside[color][:n], beside[1 - color], over=over
                    )
                    found.append(
                        Judged(
                            *(first + index, color, moves, n, side.elo, figures, rank),
                            *(elite, side.player),
                        )
                    )
    return found


def _engine_elo(model: LossModel, mean_elo: float) -> float:
    """What the engine counts before many moves are in: players of the field show their mean."""
    return mean_elo - model.expected_difference(mean_elo)


def _above(engine_elo: float, difference: float | None) -> float | None:
    return None if difference is None else engine_elo + difference


def _result(points: float | None, color: int) -> Chances | None:
    """Of a finished game, for the player of this colour (0: White)."""
    if points is None:
        return None
    return of_result(points if color == 0 else 1 - points)


def errors(rows: Sequence[Judged], name: str) -> tuple[str, ...]:
    """Number, median error, median bias with its interval, coverage, share unbounded, width."""
    held = [(row.elo, *row.figures[name]) for row in rows if name in row.figures]
    if not held:
        return ("0", *[""] * 5)
    away = np.array(
        [
            (value if value is not None else (9999 if low is not None else -9999)) - elo
            for elo, value, low, _ in held
        ]
    )
    inside = np.array(
        [
            (low is None or low <= elo) and (high is None or elo <= high)
            for elo, _, low, high in held
        ]
    )
    width = np.array(
        [
            (high if high is not None else 3600) - (low if low is not None else 400)
            for *_, low, high in held
        ]
    )
    unbounded = np.mean([value is None for _, value, _, _ in held])
    drawn = np.random.default_rng(1).integers(len(away), size=(DRAWS, len(away)))
    low, high = np.quantile(np.median(away[drawn], axis=1), (0.025, 0.975))
    bounded = away[np.abs(away) < 5000]
    return (
        str(len(held)),
        f"{np.median(np.abs(away)):.0f}",
        f"{np.mean(np.abs(bounded)):.0f}" if len(bounded) else "",
        f"{np.median(away):+.0f} ({low:+.0f} to {high:+.0f})",
        f"{inside.mean():.3f}",
        f"{unbounded:.2f}",
        f"{np.median(width):.0f}",
    )


HEADS = (
    "",
    "n",
    "median error",
    "mean error",
    "median bias (95 %)",
    "coverage",
    "unbounded",
    "width",
)


def table(title: str, rows: Sequence[Judged], name: str) -> Table:
    made = Table(*HEADS, title=f"{title}: {name}")
    for moves in (*AFTER_MOVES, WHOLE):
        chosen = [row for row in rows if row.moves == moves]
        made.add_row(f"after {moves} moves" if moves else "whole game", *errors(chosen, name))
    for low, high in pairwise(BANDS):
        chosen = [row for row in rows if row.moves == WHOLE and low <= row.elo < high]
        if chosen:
            made.add_row(f"{low}-{high}, whole game", *errors(chosen, name))
    return made


def by_band_and_move(title: str, rows: Sequence[Judged], name: str) -> Table:
    """Median bias / coverage (player-games) by band of Elo and length at once."""
    made = Table(title=f"{title}: {name}, median bias / coverage (player-games)")
    for head in ("", *(f"after {moves}" for moves in AFTER_MOVES), "whole game"):
        made.add_column(head, justify="right", no_wrap=True)
    for low, high in pairwise(BANDS):
        cells = []
        for moves in (*AFTER_MOVES, WHOLE):
            chosen = [row for row in rows if row.moves == moves and low <= row.elo < high]
            count, _, _, bias, inside, *_ = errors(chosen, name)
            cells.append(f"{bias.split()[0]} / {inside} ({count})" if int(count) > 4 else "")
        if any(cells):
            made.add_row(f"{low}-{high}", *cells)
    return made


def evenness(rows: Sequence[Judged], title: str) -> Table:
    """Percentiles ought to be even at every length and in every band."""
    made = Table(
        "",
        "n",
        "mean",
        "below 5",
        "below 25",
        "below 50",
        "below 75",
        "below 95",
        title=f"{title}: percentile",
    )

    def add(what: str, chosen: Sequence[Judged]) -> None:
        values = np.array([row.percentile for row in chosen if row.percentile is not None])
        if len(values) > 9:
            below = [f"{np.mean(values < cut) * 100:.1f}" for cut in (5, 25, 50, 75, 95)]
            made.add_row(what, str(len(values)), f"{values.mean():.1f}", *below)

    for moves in (*AFTER_MOVES, WHOLE):
        add(
            f"after {moves} moves" if moves else "whole game", [r for r in rows if r.moves == moves]
        )
    for moves in (20, WHOLE):
        for low, high in pairwise(BANDS):
            chosen = [row for row in rows if row.moves == moves and low <= row.elo < high]
            add(f"{low}-{high}, {f'{moves} moves' if moves else 'whole game'}", chosen)
    return made


def together(rows: Sequence[Judged], title: str) -> Table:
    """How far the percentiles of the two players of a game go together; wanted: within ±.05."""
    made = Table("", "games", "r", "95 %", title=f"{title}: percentiles of the two players")
    for moves in (*AFTER_MOVES, WHOLE):
        sides: dict[int, dict[int, float]] = {}
        for row in rows:
            if row.moves == moves and row.percentile is not None:
                sides.setdefault(row.game, {})[row.side] = row.percentile
        pairs = np.array([(both[0], both[1]) for both in sides.values() if len(both) == 2])
        if len(pairs) < 30:
            continue
        r = float(np.corrcoef(pairs.T)[0, 1])
        drawn = np.random.default_rng(2).integers(len(pairs), size=(DRAWS, len(pairs)))
        all_r = [float(np.corrcoef(pairs[each].T)[0, 1]) for each in drawn]
        low, high = np.quantile(all_r, (0.025, 0.975))
        what = f"after {moves} moves" if moves else "whole game"
        made.add_row(what, str(len(pairs)), f"{r:+.3f}", f"{low:+.3f} to {high:+.3f}")
    return made


def beside_people(rows: Sequence[Judged], title: str) -> Table:
    """What the moves of people change of the mean errors, paired over the same player-games; both
    figures must be bounded.
    """
    heads = "", "player-games", "players", "without", "with people", "difference", "95 %"
    made = Table(*heads, title=f"{title}: mean errors, drawn by player")
    for name in JOINED:
        for moves in (*AFTER_MOVES, WHOLE):
            pairs = []
            for row in rows:
                if row.moves == moves and name + WITH_PEOPLE in row.figures:
                    one, other = (row.figures[each][0] for each in (name, name + WITH_PEOPLE))
                    if one is not None and other is not None:
                        pairs.append(
                            ErrorPair(row.player, abs(one - row.elo), abs(other - row.elo))
                        )
            if found := paired_errors(pairs):
                made.add_row(
                    f"{name}, {f'after {moves} moves' if moves else 'whole game'}",
                    *(str(found.games), str(found.players)),
                    *(f"{found.one:.1f}", f"{found.other:.1f}", f"{found.difference:+.1f}"),
                    f"{found.low:+.1f} to {found.high:+.1f}",
                )
    return made


def main(arguments: Sequence[str]) -> int:
    """Print all tables; 1 when the coverage of moves alone leaves 93-97 %."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--shipped", action="store_true", help="judge the models of the package")
    parser.add_argument("--most", type=int, default=0, help="at most so many games, drawn evenly")
    parser.add_argument("--human", action="store_true", help="ask the network of human moves too")
    parser.add_argument("--network", type=Path, help="another than the one that comes with it")
    parser.add_argument("--answers", type=Path, help="keep what it answered here: FILE.npz")
    asked = parser.parse_args(arguments)
    gain, pace = KINDS[asked.kind]
    games = read(asked.files, gain)
    network = ""
    if asked.human:
        opened = open_network(asked.network)
        network = opened.identity
        games = told_among_people(games, opened, pace, asked.answers)
    if asked.most and len(games) > asked.most:
        games = [game for game in games if all(side.turns for side in game.sides)]
        games = games[:: max(1, len(games) // asked.most)]
    console = Console(width=160)
    rows: list[Judged] = []
    if asked.shipped:
        model = next(each for each in shipped_loss_models() if each.name == asked.kind)
        rows = judge(games, model, asked.kind, judges)
    else:
        for share in range(SHARES):

            def apart(player: str, share: int = share) -> bool:
                return share_of(player) == share

            model = learn_losses(
                games,
                name=asked.kind,
                engine="",
                limit="",
                gain=gain,
                time_control=pace,
                data="",
                date="",
                results=load_result_model(pace),
                network=network,
                without=apart,
            )
            rows += judge(games, model, asked.kind, apart)
            weight = f", weight {model.human.weight}" if model.human else ""
            console.print(f"share {share}: {len(rows)} rows{weight}", style="dim")
    title = f"{asked.kind}, {'shipped' if asked.shipped else 'cross-validated by player'}"
    for name in FIGURES:
        if not any(name in row.figures for row in rows):
            continue
        console.print(table(title, rows, name))
        console.print(by_band_and_move(title, rows, name))
    if elite := [row for row in rows if row.elite]:
        for name in (*FIGURES, "level, elite field", "level, elite field" + WITH_PEOPLE):
            console.print(table(f"{title}, both above {ELITE_ELO}", elite, name))
    console.print(evenness(rows, title))
    console.print(together(rows, title))
    if asked.human:
        console.print(beside_people(rows, title))
    if said := over_other_games(games, gain):
        console.print(said)
    whole = [row.figures["alone"] for row in rows if row.moves == WHOLE]
    elos = [row.elo for row in rows if row.moves == WHOLE]
    inside = np.mean(
        [
            (low is None or low <= elo) and (high is None or elo <= high)
            for elo, (_, low, high) in zip(elos, whole, strict=True)
        ]
    )
    return 0 if 0.93 <= inside <= 0.97 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
