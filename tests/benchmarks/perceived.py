"""What the perceived rating is worth: ``python -m tests.benchmarks.perceived KIND
FILE…``

KIND is ``classical``, ``classical-successive``, ``blitz``, ``blitz-successive`` or
``native``; each FILE is NDJSON (may be gzipped) as
``live.studies.learning.played_games`` reads it, or gains of one side a line
(:mod:`tests.benchmarks.gains_files`). Players are split into five folds, and each is
judged by a model learned from all others; ``--shipped`` judges with the model of the
package and learns nothing. ``native`` reads games that another engine searched through
a scale of centipawns alone: that of its scores against those of the model's own engine
in the same games (``--beside``, else ``otb-same-search.ndjson.gz`` in the same folder),
from which the folds' models are learned too.

For player-games after 5, 10, 20, 40 counted moves and whole: shares below the 5th to
95th percentile, r of the two players' places, how often the usual band and the 95 %
interval hold, how many ratings lie outside their own usual band and figures beyond
3200, the same by bands of Elo, and r with Elo when nobody's rating is used and
everybody starts at one Elo; and what is left of known weaknesses.

``--write FILE`` judges nothing, but writes the shipped model with what games share and
differ by learned anew, on all players but those that judge; with ``--weights`` the
weights, too.

``--players learned`` leaves out those that no fit sees (one player in eight judges), to
choose by; ``--players judges`` takes them alone.
"""

import argparse
import datetime as dt
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import msgspec
import numpy as np

from live.messages.figures import GainKind
from live.ratings.engine_scale import measure_agreement
from live.ratings.model_choice import load_shipped_models
from live.ratings.perceived_model import MoveReader, PerceivedModel, scale_turn
from live.server.analysis import to_json
from live.studies.learning.followed_games import Whom, choose_sides, follow_game
from live.studies.learning.held_out import assign_share, is_held_out
from live.studies.learning.perceived_judgement import (
    BEYOND_ELO,
    WHOLE,
    Judged,
    compute_share,
    is_in_usual_band,
    judge,
    round_figure,
    summarise_judgement,
)
from live.studies.learning.perceived_weights import fit_perceived_model
from live.studies.learning.played_games import PlayedGame, PlayedSide, read_played_games
from tests.benchmarks.gains_files import is_gains_line, read_gains
from tests.benchmarks.rating_changes import (
    RatingChange,
    list_rating_changes,
    summarise_changes,
)


def read(paths: Iterable[Path], gain: GainKind) -> list[PlayedGame]:
    """The games of all files, which may be gzipped."""
    games: list[PlayedGame] = []
    for path in paths:
        data = path.read_bytes()
        lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
        if lines and is_gains_line(lines[0]):
            games += read_gains(lines)
        else:
            games += read_played_games(lines, gain, path.name)
    return games


class Kind(NamedTuple):
    """What the files of a kind hold, and which model reads them."""

    gain: GainKind
    model: str
    time_control: str


KINDS = {
    "classical": Kind("same-search", "classical", "classical"),
    "classical-successive": Kind("successive", "classical-successive", "classical"),
    "blitz": Kind("same-search", "blitz", "blitz"),
    "blitz-successive": Kind("successive", "blitz-successive", "blitz"),
    "native": Kind("same-search", "classical", "classical"),
}
FOLDS = 5
#: Fields of a model that say what games share and differ by.
SPREAD = ("shared", "prior_sd", "dispersion", "finished_dispersion", "event_dispersion")
APART_ELO = 400
Part = tuple[PerceivedModel, Whom]


def native_scale(native: Sequence[PlayedGame], beside: Sequence[PlayedGame]) -> float:
    """Centipawns of the engine of ``native`` to one of that of ``beside``, over the
    positions of the games that both searched.
    """
    own = {game.moves: game.scores_cp for game in beside}
    pairs: list[tuple[float, float]] = []
    for game in native:
        if game.moves not in own:
            continue
        for ours, theirs in zip(own[game.moves], game.scores_cp, strict=True):
            if ours is not None and theirs is not None:
                pairs.append((ours, theirs))
    found = measure_agreement(*zip(*pairs, strict=True))
    sys.stderr.write(
        f"scale {found.scale:.3f} ± {found.scale_error:.3f}, "
        f"correlation {found.correlation:.3f}, "
        f"{found.positions} positions\n"
    )
    return found.scale


def read_through(games: Sequence[PlayedGame], scale: float) -> list[PlayedGame]:
    """The games in the centipawns of the model."""

    def side(of: PlayedSide) -> PlayedSide:
        return of._replace(turns=tuple(scale_turn(each, scale) for each in of.turns))

    return [
        each._replace(white=side(each.white), black=side(each.black)) for each in games
    ]


# --- tables ---------------------------------------------------------------------------


def weak_moves(
    games: Sequence[PlayedGame], model: PerceivedModel, whom: Whom
) -> dict[str, list[float]]:
    """Find the slopes of single moves at the player's own Elo, in standard deviations,
    where they are known to be weak: at 0.00 after ply 60, and at +4 or more.
    """
    found: dict[str, list[float]] = {"dead_draws": [], "won_games": []}
    reader = MoveReader((model,))
    for game, sides in zip(games, choose_sides(games, whom), strict=True):
        for move in follow_game(game, reader, model.shared) if sides else ():
            if move.color in sides:
                if abs(move.turn.score_before_cp) <= 3 and move.turn.ply > 60:
                    found["dead_draws"].append(move.compared.surprise)
                if move.turn.score_before_cp >= 400:
                    found["won_games"].append(move.compared.surprise)
    return found


def weaknesses(
    after: dict[str, Judged], weak: dict[str, list[float]]
) -> dict[str, Any]:
    """Return what is known to be weak; 0 is what slopes should be on average."""
    whole = after[WHOLE]
    elite = whole.rating[whole.elo >= 2600]
    found: dict[str, Any] = {
        what: {
            "moves": len(slopes),
            "slope": round_figure(fmean(slopes)) if slopes else None,
        }
        for what, slopes in weak.items()
    }
    found["elite_finals"] = {
        "n": len(elite),
        "beyond_3200": compute_share(elite > BEYOND_ELO),
    }
    for when in ("10", WHOLE):
        of = after[when]
        edge = 2 * (of.elo - of.level)
        middle = (of.usual_low + of.usual_high) / 2 - of.elo
        for who, sign in (("favourite", 1), ("outsider", -1)):
            chosen = sign * edge >= APART_ELO
            less = round(float(np.median(middle[chosen])), 1) if chosen.any() else None
            found[f"{who}_band_{when}"] = {
                "n": int(chosen.sum()),
                "middle_less_elo": less,
                "usual_holds": compute_share(is_in_usual_band(of)[chosen]),
            }
    return found


# --- the five folds -------------------------------------------------------------------


def folds(games: Sequence[PlayedGame], kind: Kind, whom: Whom) -> Iterator[Part]:
    """The players of each fold, and a model learned from all others."""
    for fold in range(FOLDS):

        def inside(player: str, fold: int = fold) -> bool:
            return assign_share(player, FOLDS) == fold and whom(player)

        def unseen(player: str, fold: int = fold) -> bool:
            return assign_share(player, FOLDS) == fold or not whom(player)

        model = fit_perceived_model(
            games,
            name=f"fold {fold}",
            engine="",
            limit="",
            data="",
            date="",
            gain=kind.gain,
            time_control=kind.time_control,
            is_left_out=unseen,
        )
        sys.stderr.write(
            f"fold {fold}: {model.games} player-games, beta {model.shared}, kappa "
            f"{model.dispersion} {model.finished_dispersion}, "
            f"event {model.event_dispersion}\n"
        )
        yield model, inside


def judge_parts(
    games: Sequence[PlayedGame], parts: Iterable[Part]
) -> tuple[dict[str, Judged], list[RatingChange], dict[str, list[float]]]:
    """Judge all parts together. Return the player-games after each number of moves, the
    changes of ratings, and what is known to be weak.
    """
    after: dict[str, list[Judged]] = {}
    changes: list[RatingChange] = []
    weak: dict[str, list[float]] = {}
    for model, inside in parts:
        changes += list_rating_changes(games, model, inside)
        for when, of in judge(games, model, inside).items():
            after.setdefault(when, []).append(of)
        for what, slopes in weak_moves(games, model, inside).items():
            weak.setdefault(what, []).extend(slopes)
    together = {
        when: Judged(*map(np.concatenate, zip(*each, strict=True)))
        for when, each in after.items()
    }
    return together, changes, weak


def learn_model(args: argparse.Namespace) -> PerceivedModel:
    """Learn what the package ships, from players who do not judge."""
    kind = KINDS[args.kind]
    games = read(args.files, kind.gain)
    shipped = next(each for each in load_shipped_models() if each.name == kind.model)
    learned = fit_perceived_model(
        games,
        gain=kind.gain,
        name=kind.model,
        engine=shipped.engine,
        limit=shipped.limit,
        data=", ".join(path.name for path in args.files),
        date=dt.date.today().isoformat(),
        time_control=kind.time_control,
    )
    if args.weights:
        return learned
    spread = {name: getattr(learned, name) for name in SPREAD}
    return msgspec.structs.replace(shipped, date=learned.date, **spread)


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Return all figures, as ``--json`` writes them."""
    kind = KINDS[args.kind]
    games = learned_from = read(args.files, kind.gain)
    whom = {
        "all": lambda _: True,
        "learned": lambda who: not is_held_out(who),
        "judges": is_held_out,
    }[args.players]
    if args.kind == "native":
        beside = args.beside or args.files[0].parent / "otb-same-search.ndjson.gz"
        learned_from = read([beside], kind.gain)
        games = read_through(games, native_scale(games, learned_from))
    parts: Iterable[Part] = folds(learned_from, kind, whom)
    if args.shipped:
        parts = [
            (each, whom) for each in load_shipped_models() if each.name == kind.model
        ]
    judged, changes, weak = judge_parts(games, parts)
    return {
        "kind": args.kind,
        "shipped": args.shipped,
        "players": args.players,
        "games": len(games),
        "after": {when: summarise_judgement(of) for when, of in judged.items()},
        "moves": summarise_changes(games, changes, judged),
        "known_weaknesses": weaknesses(judged, weak),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures, or write them as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument(
        "--shipped", action="store_true", help="judge the model of the package"
    )
    parser.add_argument(
        "--players", choices=("all", "learned", "judges"), default="all"
    )
    parser.add_argument(
        "--beside", type=Path, help="the same games by the model's own engine"
    )
    parser.add_argument("--json", metavar="FILE", help="- prints")
    parser.add_argument(
        "--write", metavar="FILE", help="learn a model, and judge nothing"
    )
    parser.add_argument(
        "--weights", action="store_true", help="learn the weights as well"
    )
    args = parser.parse_args(argv)
    if args.write:
        Path(args.write).write_bytes(to_json(learn_model(args)))
        return 0
    found = measure(args)
    text = json.dumps(found, indent=1) + "\n"
    if args.json == "-":
        sys.stdout.write(text)
        return 0
    if args.json:
        Path(args.json).write_text(text, encoding="utf-8")
    print_table(found)
    return 0


def print_table(found: dict[str, Any]) -> None:
    """For people."""
    out = sys.stdout.write
    out(f"{found['kind']}, {found['games']} games\n")
    out(
        "after  n     below 5 25 50 75 95            pair r (2 se)   "
        "usual  95 %   outside"
        "  3200+  blind r  rms\n"
    )
    for when, row in found["after"].items():
        if not row["n"]:
            continue
        below = " ".join(
            f"{100 * each:5.1f}" for each in row["percentile_below"].values()
        )
        error = 2 / max(row["pairs"], 1) ** 0.5
        out(
            f"{when:6} {row['n']:<6}{below}   {row['pair_r']} ({error:.3f})  "
            f"{row['usual_holds']}  {row['interval_holds']}  {row['own_outside']}  "
            f"{row['beyond_3200']}  {row['blind_r']}  {row['rms']}\n"
        )
    for when, row in found["after"].items():
        for band in row.get("bands", ()):
            out(f"  {when:6} {band}\n")
    for what, figure in found["moves"].items():
        out(f"  {what}: {figure}\n")
    for what, figures in found["known_weaknesses"].items():
        out(f"  {what}: {figures}\n")


if __name__ == "__main__":
    sys.exit(main())
