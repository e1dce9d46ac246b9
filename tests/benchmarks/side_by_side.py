"""What one game says of a player's Elo, figure by figure, on the same games.

``python -m tests.benchmarks.side_by_side KIND FILE… [--json FILE]``; KIND and files as
for :mod:`tests.benchmarks.perceived`. For each player-game after 10, 20 and 40 counted
moves and whole: correlation with the player's Elo, and error of the Elo guessed from it
(root mean square, and mean absolute), of

* the perceived rating, with one level for everybody, so that no rating helps it;
* lichess' accuracy, centipawn loss, and its logarithm;
* the best linear mixture of these three.

``--games`` does the same for players with several games, after 1, 3, 5 and 10 of them:
the sums of the perceived rating over them, and means of the others.

Every guess is a straight line fitted to the players of the other four folds.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from live.messages.from_sources import Score
from live.messages.values import Color
from live.ratings.accuracy import compute_game_accuracy
from live.ratings.perceived_model import MoveReader
from live.ratings.perceived_rating import Evidence, Floats, read_rating
from live.studies.learning.followed_games import COLORS, choose_sides, follow_game
from live.studies.learning.held_out import assign_share
from live.studies.learning.perceived_judgement import AFTER, WHOLE
from live.studies.learning.played_games import PlayedGame
from tests.benchmarks.perceived import FOLDS, KINDS, Kind, folds, read

GAMES = (1, 3, 5, 10)
NOBODY_IS_HARD = ((0, 0.0),)


class SidePart(NamedTuple):
    """What the first moves of one side of a game say."""

    player: str
    elo: float
    evidence: Evidence
    accuracy: float
    loss_cp: float


FIGURES = ("perceived", "accuracy", "loss", "log loss", "mixture of three")


def read_parts(
    games: Sequence[PlayedGame], kind: Kind
) -> tuple[dict[str, list[SidePart]], dict[str, MoveReader]]:
    """Return every player-game after so many moves, each by a model of other
    players.
    """
    found: dict[str, list[SidePart]] = {str(when): [] for when in (*AFTER, WHOLE)}
    readers: dict[str, MoveReader] = {}
    for model, inside in folds(games, kind, lambda _: True):
        reader = MoveReader((model,))
        for game, sides in zip(games, choose_sides(games, inside), strict=True):
            if not sides:
                continue
            moves = list(
                follow_game(game, reader, NOBODY_IS_HARD, level=model.mean_elo)
            )
            for color, player in sides.items():
                readers[player] = reader
                own = [each for each in moves if each.color == color]
                elo = float(game.sides[COLORS.index(color)].elo or 0)
                for n in {*AFTER, len(own)}:
                    if n > len(own):
                        continue
                    ply = own[n - 1].turn.ply
                    beside = read_accuracy(game, color, ply)
                    if beside is None:
                        continue
                    part = SidePart(player, elo, own[n - 1].total, *beside)
                    if n in AFTER:
                        found[str(n)].append(part)
                    if n == len(own):
                        found[WHOLE].append(part)
    return found, readers


def read_accuracy(
    game: PlayedGame, color: Color, ply: int
) -> tuple[float, float] | None:
    """Return lichess' accuracy and the centipawn loss of a side up to a ply; None where
    no score is known.
    """
    scores = [None if cp is None else Score(cp) for cp in game.scores_cp[: ply + 1]]
    side = compute_game_accuracy(scores, "white")[color]
    if side.accuracy.value is None or side.centipawn_loss.value is None:
        return None
    return side.accuracy.value, side.centipawn_loss.value


def guess(columns: Floats, elo: Floats, fold: Floats) -> Floats:
    """Return the Elo guessed by straight lines that were fitted to the other folds."""
    guessed = np.full(len(elo), np.nan)
    features = np.column_stack([np.ones(len(elo)), columns])
    for number in range(FOLDS):
        inside = fold == number
        weights, *_ = np.linalg.lstsq(features[~inside], elo[~inside], rcond=None)
        guessed[inside] = features[inside] @ weights
    return guessed


def compare_figures(
    parts: Sequence[SidePart], prior_sd: Callable[[str], float]
) -> dict[str, object]:
    """Return r and errors of every figure."""
    elo = np.array([each.elo for each in parts])
    fold = np.array(
        [assign_share(each.player, FOLDS) for each in parts], dtype=np.float64
    )
    ratings = []
    for each in parts:
        figure = read_rating(each.evidence, prior_sd(each.player))
        assert figure is not None  # a move is counted
        ratings.append(figure.rating)
    accuracy = np.array([each.accuracy for each in parts])
    loss = np.array([each.loss_cp for each in parts])
    log = np.log1p(loss)
    columns = (
        np.array(ratings)[:, None],
        accuracy[:, None],
        loss[:, None],
        log[:, None],
        np.column_stack([accuracy, loss, log]),
    )
    found: dict[str, object] = {"n": len(parts), "elo_sd": round(float(elo.std()), 1)}
    for name, column in zip(FIGURES, columns, strict=True):
        guessed = guess(column, elo, fold)
        error = guessed - elo
        found[name] = {
            "r": round(float(np.corrcoef(guessed, elo)[0, 1]), 3),
            "rms": round(float(np.sqrt((error**2).mean())), 1),
            "mean_absolute": round(float(np.abs(error).mean()), 1),
        }
    return found


def join_games(parts: Sequence[SidePart], games: int) -> Iterator[SidePart]:
    """Yield each player's first so many games as one; players with fewer are
    left out.
    """
    of_players: dict[str, list[SidePart]] = {}
    for part in parts:
        of_players.setdefault(part.player, []).append(part)
    for player, held in of_players.items():
        if len(held) < games:
            continue
        some = held[:games]
        evidence = some[0].evidence
        for each in some[1:]:
            evidence = evidence.join(each.evidence)
        moves = [each.evidence.counted for each in some]
        yield SidePart(
            player,
            math.fsum(each.elo for each in some) / games,
            evidence,
            float(np.average([each.accuracy for each in some], weights=moves)),
            float(np.average([each.loss_cp for each in some], weights=moves)),
        )


def measure(args: argparse.Namespace) -> dict[str, object]:
    """Return all figures, as ``--json`` writes them."""
    kind = KINDS[args.kind]
    games = read(args.files, kind.gain)
    parts, readers = read_parts(games, kind)

    def prior_sd(player: str) -> float:
        return readers[player].prior_sd

    found: dict[str, object] = {"kind": args.kind, "games": len(games)}
    if not args.games:
        after = {
            when: compare_figures(some, prior_sd)
            for when, some in parts.items()
            if some
        }
        return found | {"after": after}
    # The same players in every row.
    enough = {each.player for each in join_games(parts[WHOLE], GAMES[-1])}
    whole = [each for each in parts[WHOLE] if each.player in enough]
    rows = {n: compare_figures(list(join_games(whole, n)), prior_sd) for n in GAMES}
    return found | {"after_games": rows}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures as JSON, or write them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument(
        "--games", action="store_true", help="players with several games"
    )
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args(argv)
    text = json.dumps(measure(args), indent=1) + "\n"
    if args.json:
        Path(args.json).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
