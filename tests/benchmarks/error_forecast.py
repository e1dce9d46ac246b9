"""Errors of a pawn or more against their forecast:
``python -m tests.benchmarks.error_forecast FILE… --engine ENGINE [--learn]``

Each FILE is NDJSON of searched games (may be gzipped) that the network never saw. Of
positions drawn evenly from their turns after the opening, the network says what looks
natural to players of the mover's rating, a short search of twelve lines (a quarter of
the usual limit) what their moves lose, as on a running board; what the move played lost
is in the file. ``live.human.difficulty`` makes the forecast of both, as it does there.

Printed of the games in which a player judges (one player in eight), by band of Elo: how
many erred, how often the engine's choice was played, and how likely the moves played
were, in nats. ``--learn`` learns the weights from the other games first, and prints
them.
"""

import argparse
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path

import chess
import chess.engine
import msgspec
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.optimize import minimize

from live.human.difficulty import (
    ELO_STEP,
    ERROR_CP,
    LOSS_CP,
    MIDDLE_ELO,
    RAREST_PER_MILLE,
    WEIGHTS,
    ChoiceWeights,
    MoveLosses,
    clamp_score,
    compute_move_losses,
    estimate_difficulty,
)
from live.human.network import HumanNetwork, answer_questions
from live.human.question import HumanQuestion, explain_not_covered, round_elo
from live.ratings.move_circumstances import Turn as AnyTurn
from live.ratings.perceived_rating import Floats
from live.studies.learning.held_out import is_held_out
from live.studies.learning.played_games import PlayedGame
from tests.benchmarks.perceived import read

#: As ``live.event.choose_measure.build_measure`` asks at 100,000 nodes.
LINES, NODES = 12, 25_000
#: Bands of Elo end here.
BANDS = (1200, 1600, 2000, 2300, 2500, 2600, 4000)
#: The first plies are played from memory: they say what was learned by heart.
FIRST_PLY = 9


class Turn(msgspec.Struct, frozen=True):
    """One position of a rated game, and what was played."""

    elo: int
    judged: bool
    """A player of its game judges: nothing is learned from it."""
    fen: str
    played: str
    best: str
    """The choice of the file's deeper search, UCI."""
    lost_cp: int
    """What the move played lost by that search."""
    people: dict[str, int] = {}
    """Thousandths that the network gives, by UCI."""
    scores_cp: dict[str, int] = {}
    """White's, of the short search, the best first."""

    @property
    def losses(self) -> MoveLosses:
        found = compute_move_losses(
            self.scores_cp, self.best, 1 if " w " in self.fen else -1
        )
        assert found is not None, "searched"
        return found


def questions(
    game: PlayedGame, elos: Callable[[AnyTurn], tuple[int, ...]], kind: str
) -> Iterator[tuple[AnyTurn, chess.Board, HumanQuestion]]:
    """Every turn after the opening that the network covers, with the position before
    it, and what is asked about that.
    """
    all_turns = chain.from_iterable(side.turns for side in game.sides)
    turns = {turn.ply: turn for turn in all_turns}
    board = chess.Board()
    fens = [board.fen()]
    for ply, uci in enumerate(game.moves, 1):
        first = max(0, ply - 3)
        if ply >= FIRST_PLY and ply in turns and explain_not_covered(board) is None:
            before = game.moves[first : ply - 1]
            yield (
                turns[ply],
                board,
                HumanQuestion(fens[first], before, elos(turns[ply]), kind),
            )
        board.push_uci(uci)
        fens.append(board.fen())


def turns(files: Sequence[Path], most: int) -> list[tuple[Turn, HumanQuestion]]:
    """Those after the opening, drawn by a fixed seed."""
    found = []
    for game in read(files, "same-search"):
        judged = any(is_held_out(side.player) for side in game.sides)
        best_of: dict[int, str | None] = {}
        for side in game.sides:
            plies = (turn.ply for turn in side.turns)
            best_of.update(zip(plies, side.best, strict=True))

        def elo(turn: AnyTurn, game: PlayedGame = game) -> int:
            return game.sides[(turn.ply + 1) % 2].elo or 0

        for turn, board, asked in questions(
            game, lambda turn: (round_elo(elo(turn)),), "otb"
        ):
            uci, best = game.moves[turn.ply - 1], best_of[turn.ply]
            if elo(turn) and best and {uci[4:], best[4:]} <= {"", "q"}:
                before = turn.score_before_cp
                lost = clamp_score(before) - clamp_score(before + turn.gain_cp)
                found.append(
                    (Turn(elo(turn), judged, board.fen(), uci, best, lost), asked)
                )
    return random.Random(1).sample(found, min(most, len(found)))


def search_turns(
    chosen: Sequence[tuple[Turn, HumanQuestion]],
    network: HumanNetwork,
    engine: chess.engine.SimpleEngine,
) -> Iterator[Turn]:
    """The turns with what the network and the short search say."""
    for turn, question in track(chosen, "positions", console=Console(stderr=True)):
        people = answer_questions(network, [question])[0].per_mille[0]
        board = chess.Board(turn.fen)
        lines = engine.analyse(
            board, chess.engine.Limit(nodes=NODES), multipv=LINES, game=turn
        )
        scores = {
            line["pv"][0].uci(): line["score"].white().score(mate_score=100_000) or 0
            for line in lines
            if line.get("pv")
        }
        if scores:
            yield msgspec.structs.replace(turn, people=people, scores_cp=scores)


def _above_middle(turn: Turn) -> float:
    return (round_elo(turn.elo) - MIDDLE_ELO) / ELO_STEP


def learn(taught: Sequence[Turn]) -> ChoiceWeights:
    """The weights under which these moves are likeliest, and what short
    searches miss.
    """
    tables, played = [], []
    errors, lost = [], []
    for turn in taught:
        losses, elo = turn.losses, _above_middle(turn)
        moves = [
            uci
            for uci in {**losses.searched_cp, **turn.people, turn.played: 0}
            if uci[4:] in ("", "q")
        ]
        rows: list[tuple[float, ...]] = []
        for uci in moves:
            loss = math.log1p(losses.find_loss(uci) / LOSS_CP)
            share = max(turn.people.get(uci, 0), RAREST_PER_MILLE) / 1000
            new = uci not in losses.searched_cp
            rows.append((math.log(share), loss, loss * elo, uci == losses.best, new))
        tables.append(np.array(rows, dtype=float))
        played.append(moves.index(turn.played))
        if turn.played != turn.best:
            loss_cp = losses.find_loss(turn.played)
            errors.append(
                (1.0, math.log1p(loss_cp / LOSS_CP), elo, turn.lost_cp >= ERROR_CP)
            )
            lost.append((1.0, loss_cp, turn.lost_cp))

    def surprise(weights: Floats) -> float:
        found = 0.0
        for table, at in zip(tables, played, strict=True):
            odds = table @ weights
            found += np.logaddexp.reduce(odds) - odds[at]
        return float(found / len(tables))

    def misses(weights: Floats) -> float:
        odds = of_errors[:, :3] @ weights
        return float((np.logaddexp(0, odds) - of_errors[:, 3] * odds).mean())

    of_errors, of_lost = np.array(errors, dtype=float), np.array(lost, dtype=float)
    choice = minimize(surprise, np.array([1.0, 0, 0, 0, 0])).x
    error = minimize(misses, np.zeros(3)).x
    mean = np.linalg.lstsq(of_lost[:, :2], of_lost[:, 2], rcond=None)[0]
    return ChoiceWeights(*(round(float(each), 3) for each in (*choice, *error, *mean)))


def table(judged: Sequence[Turn], weights: ChoiceWeights) -> Table:
    """Forecasts and what came of them, by bands of Elo."""
    shown = Table(
        "Elo", "positions", "errors foretold", "seen", "best foretold", "played", "nats"
    )
    for low, high in pairwise((0, *BANDS)):
        rows: list[tuple[float, ...]] = []
        for turn in judged:
            if low <= turn.elo < high:
                hard = estimate_difficulty(
                    turn.people, turn.losses, round_elo(turn.elo), weights
                )
                erred, best = turn.lost_cp >= ERROR_CP, turn.played == turn.best
                surprise = -math.log(max(hard.shares.get(turn.played, 0.0), 1e-4))
                share = hard.shares.get(turn.best, 0.0)
                rows.append((hard.error_chance, erred, share, best, surprise))
        means = np.array(rows or [(0.0,) * 5], dtype=float).mean(axis=0)
        shown.add_row(
            f"{low}-{high}", str(len(rows)), *(f"{each:.3f}" for each in means)
        )
    return shown


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument(
        "--most", type=int, default=3000, help="positions; some 10 a second"
    )
    parser.add_argument(
        "--learn", action="store_true", help="weights from the other games"
    )
    given = parser.parse_args(arguments)
    with chess.engine.SimpleEngine.popen_uci(given.engine) as engine:
        engine.configure({"Threads": 1, "Hash": 16})
        chosen = turns(given.files, given.most)
        found = list(search_turns(chosen, HumanNetwork(None), engine))
    console = Console(width=200)
    weights = WEIGHTS
    if given.learn:
        weights = learn([turn for turn in found if not turn.judged])
        console.print(weights)
    console.print(table([turn for turn in found if turn.judged], weights))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
