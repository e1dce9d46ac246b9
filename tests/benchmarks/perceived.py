"""What the perceived rating is worth: ``python -m tests.benchmarks.perceived KIND FILE…``

KIND is ``classical``, ``classical-successive``, ``blitz``, ``blitz-successive`` or ``native``;
each FILE is NDJSON (may be gzipped) as ``live.ratings.perceived.played_games`` reads it. Players
are split into five folds, and each is judged by a model learned from all others; ``--shipped``
judges with the model of the package and learns nothing. ``native`` reads games that another engine
searched by the classical model and the scale of centipawns that the two engines have to each
other: that of the games searched by both, as ``--beside FILE`` names them, else of the package.

For player-games after 5, 10, 20, 40 counted moves and whole: shares below the 5th to 95th
percentile, r of the two players' places, how often the usual band and the 95 % interval hold, how
many ratings lie outside their own usual band and figures beyond 3200, the same by bands of Elo,
and r with Elo when nobody's rating is used and everybody starts at one Elo. *Known weaknesses*:
what is left of them, and what they are without the circumstances ``dead`` and ``won``.

``--players learned`` leaves out those that no fit sees (``live.ratings.held_out``), to choose by;
``--players judges`` takes them alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from live.events import GainKind
from live.ratings.held_out import judges, share_of
from live.ratings.perceived.learn import CIRCUMSTANCES, learn
from live.ratings.perceived.loss_logit import Floats
from live.ratings.perceived.many_games import (
    Scored,
    States,
    Turns,
    betas,
    crossings,
    in_parts,
    places,
    ratings,
    scored,
    states,
    turns_of,
)
from live.ratings.perceived.model import PerceivedModel, shipped_models
from live.ratings.perceived.perceived_rating import LEAST_ELO, MOST_ELO, PULL_MOVES, Dispersion
from live.ratings.strength.known_before_move import Circumstance
from live.ratings.strength.played_games import PlayedGame, read_played_games


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
AFTER = (5, 10, 20, 40)
WHOLE = "whole"
PERCENTILES = (5, 25, 50, 75, 95)
BANDS = ((0, 1600), (1600, 2000), (2000, 2300), (2300, 2600), (2600, 4000))
BEYOND_ELO = 3200
#: What is to be mended, and by which circumstances.
MENDS: tuple[Circumstance, ...] = ("dead", "won")
APART_ELO = 400
_USUAL, _SURE = NormalDist().inv_cdf(0.9), NormalDist().inv_cdf(0.975)


class Judged(NamedTuple):
    """Player-games after some of their moves, one row each."""

    game: Floats
    side: Floats
    counted: Floats
    whole: Floats
    elo: Floats
    level: Floats
    rating: Floats
    z: Floats
    """Where the rating lies among those of players rated alike, in standard deviations."""
    usual_low: Floats
    usual_high: Floats
    low: Floats
    """Of the 95 % interval; infinite beyond the grid."""
    high: Floats
    blind: Floats
    """The rating when everybody starts at one Elo and no rating is used."""


class Weak(NamedTuple):
    """Scores of single moves at the player's own Elo, where they are known to be weak."""

    score: Floats
    dead: Floats
    """1 for a move at 0.00 after ply 60."""
    won: Floats
    """1 for a move at +4 or more."""


def read(paths: Iterable[Path], gain: GainKind) -> list[PlayedGame]:
    """The games of all files."""
    games: list[PlayedGame] = []
    for path in paths:
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        games += read_played_games(text.splitlines(), gain, path.name)
    return games


def judge(
    turns: Turns, judged: np.ndarray[Any, np.dtype[np.bool_]], model: PerceivedModel, over: bool
) -> tuple[Judged, Weak]:
    """The players ``judged`` (one bool each), whose ``turns`` hold the model's circumstances.

    ``over``: whole games, else after each of ``AFTER``.
    """
    games = np.zeros(int(turns.game.max()) + 1, dtype=bool)
    games[turns.game[judged[turns.player]]] = True
    kappa = Dispersion(model.dispersion, model.finished_dispersion)
    logit = model.logit()
    found, weak = [], []
    for part in in_parts(turns.rows(games[turns.game])):
        mine = judged[part.player] & ~np.isnan(part.elo)
        wanted = mine & (part.number == part.of if over else np.isin(part.number, AFTER))
        moves = scored(logit, part)
        held = states(part, moves, betas(part.ply, model.shared), wanted)
        blind = _blind(part, moves, scored(logit, part, level=model.mean_elo), wanted)
        spread = np.array([kappa.at(int(n), over=over) for n in held.turns.number])
        found.append(_figures(held, spread, blind))
        weak.append(_weak(part, moves, model, mine))
    return Judged(*map(np.concatenate, zip(*found, strict=True))), Weak(
        *map(np.concatenate, zip(*weak, strict=True))
    )


def _figures(held: States, kappa: Floats, blind: Floats) -> Judged:
    n = held.turns.number.astype(np.float64)[:, None]
    rating = ratings(held)
    pull = (PULL_MOVES / n) * (held.of_level - n / 2)
    usual = held.of_own - n / 2 + pull
    deviation = np.sqrt(kappa * held.own_variance)
    spread = _SURE * np.sqrt(kappa[:, None] * held.variance)
    gained = held.score - n / 2
    return Judged(
        held.turns.game,
        held.turns.side,
        held.turns.number,
        held.turns.number == held.turns.of,
        held.turns.elo,
        held.turns.level,
        rating,
        places(held, rating) / np.sqrt(kappa),
        crossings(usual - _USUAL * deviation[:, None]),
        crossings(usual + _USUAL * deviation[:, None]),
        _open(gained - spread),
        _open(gained + spread),
        blind,
    )


def _open(falling: Floats) -> Floats:
    found = crossings(falling)
    found[falling[:, 0] <= 0] = -np.inf
    found[(falling > 0).all(axis=1)] = np.inf
    return found


def _blind(part: Turns, moves: Scored, same: Scored, wanted: np.ndarray[Any, Any]) -> Floats:
    """With one F for everybody; without ratings nothing is known of the game's hardness."""
    bare = moves._replace(of_level=same.of_level)
    return ratings(states(part, bare, np.zeros(len(part.game)), wanted))


def _weak(part: Turns, moves: Scored, model: PerceivedModel, mine: np.ndarray[Any, Any]) -> Weak:
    score_cp = part.score_cp[mine]
    return Weak(
        moves.own_score[mine] + 0.5,
        (np.abs(score_cp) <= 3) & (part.ply[mine] > 60),
        score_cp >= 400,
    )


# --- tables --------------------------------------------------------------------------------------


def summary(of: Judged) -> dict[str, Any]:
    """The figures of one row of the table."""
    if not len(of.elo):
        return {"n": 0}
    elo = np.clip(of.elo, LEAST_ELO, MOST_ELO)
    below = [float((of.z < NormalDist().inv_cdf(each / 100)).mean()) for each in PERCENTILES]
    return {
        "n": len(of.elo),
        "percentile_below": dict(zip(map(str, PERCENTILES), map(_r, below), strict=True)),
        "pair_r": _pair_r(of),
        "pairs": len(_pairs(of)),
        "usual_holds": _share(_usual(of)),
        "interval_holds": _share((of.low <= elo) & (elo <= of.high)),
        "own_outside": _share((elo < of.usual_low) | (elo > of.usual_high)),
        "beyond_3200": _share(of.rating > BEYOND_ELO),
        "blind_r": _r(float(np.corrcoef(of.blind, of.elo)[0, 1])) if len(of.elo) > 2 else None,
        "bands": [_band(of, *band) for band in BANDS],
    }


def _band(of: Judged, low: int, high: int) -> dict[str, Any]:
    inside = (of.elo >= low) & (of.elo < high)
    some = Judged(*(each[inside] for each in of))
    n = len(some.elo)
    percentiles = [100 * NormalDist().cdf(each) for each in some.z]
    return {
        "elo": [low, high],
        "n": n,
        "usual_holds": _share(_usual(some)),
        "percentile_mean": round(float(np.mean(percentiles)), 1) if n else None,
        "bias": round(float(np.median(some.rating - some.elo)), 1) if n else None,
        "beyond_3200": _share(some.rating > BEYOND_ELO),
    }


def weaknesses(after: dict[str, Judged], weak: Weak) -> dict[str, Any]:
    """What is known to be weak; 1/2 is what scores should be on average."""
    whole = after[WHOLE]
    elite = whole.rating[whole.elo >= 2600]
    found: dict[str, Any] = {
        "dead_draws": _mean(weak.score[weak.dead.astype(bool)]),
        "won_games": _mean(weak.score[weak.won.astype(bool)]),
        "elite_finals": {"n": len(elite), "beyond_3200": _share(elite > BEYOND_ELO)},
    }
    for when in ("10", WHOLE):
        of = after[when]
        edge = 2 * (of.elo - of.level)
        middle = (of.usual_low + of.usual_high) / 2 - of.elo
        for who, chosen in (
            ("favourite", edge >= APART_ELO),
            ("outsider", edge <= -APART_ELO),
        ):
            found[f"{who}_band_{when}"] = {
                "n": int(chosen.sum()),
                "middle_less_elo": _r(float(np.median(middle[chosen])), 1)
                if chosen.any()
                else None,
                "usual_holds": _share(_usual(of)[chosen]),
            }
    return found


def _usual(of: Judged) -> np.ndarray[Any, Any]:
    return (of.usual_low <= of.rating) & (of.rating <= of.usual_high)


def _pairs(of: Judged) -> Floats:
    """Both players' places, of the games that have both: (games, 2)."""
    white = {int(g): z for g, s, z in zip(of.game, of.side, of.z, strict=True) if not s}
    rows = [
        (white[int(g)], z)
        for g, s, z in zip(of.game, of.side, of.z, strict=True)
        if s and int(g) in white
    ]
    return np.array(rows).reshape(-1, 2)


def _pair_r(of: Judged) -> float | None:
    pairs = _pairs(of)
    return _r(float(np.corrcoef(pairs.T)[0, 1])) if len(pairs) > 2 else None


def _share(which: np.ndarray[Any, Any]) -> float | None:
    return _r(float(which.mean())) if len(which) else None


def _mean(values: Floats) -> dict[str, Any]:
    return {"moves": len(values), "score": _r(float(values.mean())) if len(values) else None}


def _r(value: float, digits: int = 4) -> float:
    return round(value, digits)


# --- the five folds ------------------------------------------------------------------------------


def _joined(parts: Sequence[tuple[dict[str, Judged], Weak]]) -> tuple[dict[str, Judged], Weak]:
    when = parts[0][0]
    return (
        {
            key: Judged(*map(np.concatenate, zip(*(p[key] for p, _ in parts), strict=True)))
            for key in when
        },
        Weak(*map(np.concatenate, zip(*(weak for _, weak in parts), strict=True))),
    )


def judged_by(
    games: Sequence[PlayedGame], judged: Iterable[tuple[PerceivedModel, Any]]
) -> tuple[dict[str, Judged], Weak]:
    """The figures of players by their model; each pair says of which players it judges."""
    parts = []
    for model, whom in judged:
        turns, players = turns_of(games, model.circumstances, model.loss_edges_cp)
        chosen = np.array([whom(player) for player in players], dtype=bool)
        running, weak = judge(turns, chosen, model, over=False)
        whole, _ = judge(turns, chosen, model, over=True)
        after = {str(n): Judged(*(each[running.counted == n] for each in running)) for n in AFTER}
        parts.append(({**after, WHOLE: whole}, weak))
    return _joined(parts)


def folds(
    games: Sequence[PlayedGame], kind: Kind, circumstances: tuple[Circumstance, ...], whom: Any
) -> Iterator[tuple[PerceivedModel, Any]]:
    """A model for each fold, and who is in it."""
    for fold in range(FOLDS):

        def inside(player: str, fold: int = fold) -> bool:
            return share_of(player, FOLDS) == fold

        def unseen(player: str, fold: int = fold) -> bool:
            return share_of(player, FOLDS) == fold or not whom(player)

        def shown(player: str, fold: int = fold) -> bool:
            return share_of(player, FOLDS) == fold and whom(player)

        model = learn(
            games,
            name=f"fold {fold}",
            engine="",
            limit="",
            gain=kind.gain,
            time_control=kind.time_control,
            data="",
            date="",
            circumstances=circumstances,
            without=unseen,
        )
        sys.stderr.write(
            f"fold {fold}: {model.games} player-games, beta {model.shared}, kappa "
            f"{model.dispersion} {model.finished_dispersion}, event {model.event_dispersion}\n"
        )
        yield model, shown


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures, as ``--json`` writes them."""
    kind = KINDS[args.kind]
    games = read(args.files, kind.gain)
    whom = {"all": lambda _: True, "learned": lambda who: not judges(who), "judges": judges}[
        args.players
    ]
    before = None
    if args.shipped:
        (model,) = [each for each in shipped_models() if each.name == kind.model]
        after, weak = judged_by(games, [(model, whom)])
    else:
        after, weak = judged_by(games, folds(games, kind, CIRCUMSTANCES, whom))
        bare = tuple(each for each in CIRCUMSTANCES if each not in MENDS)
        if not args.quick:
            before = weaknesses(*judged_by(games, folds(games, kind, bare, whom)))
    return {
        "kind": args.kind,
        "shipped": args.shipped,
        "players": args.players,
        "games": len(games),
        "after": {when: summary(of) for when, of in after.items()},
        "known_weaknesses": {"before": before, "after": weaknesses(after, weak)},
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures, or write them as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--shipped", action="store_true", help="judge the model of the package")
    parser.add_argument("--players", choices=("all", "learned", "judges"), default="all")
    parser.add_argument("--quick", action="store_true", help="no weaknesses before the mends")
    parser.add_argument("--beside", type=Path, help="the same games by the model's own engine")
    parser.add_argument("--json", metavar="FILE", help="- prints")
    args = parser.parse_args(argv)
    found = measure(args)
    text = json.dumps(found, indent=1)
    if args.json == "-":
        sys.stdout.write(text + "\n")
        return 0
    if args.json:
        Path(args.json).write_text(text + "\n", encoding="utf-8")
    print_table(found)
    return 0


def print_table(found: dict[str, Any]) -> None:
    """For people."""
    out = sys.stdout.write
    out(f"{found['kind']}, {found['games']} games\n")
    out(
        "after  n     below 5 25 50 75 95            pair r (2 se)   usual  95 %   outside  3200+  blind r\n"
    )
    for when, row in found["after"].items():
        if not row["n"]:
            continue
        below = " ".join(f"{100 * each:5.1f}" for each in row["percentile_below"].values())
        error = 2 / max(row["pairs"], 1) ** 0.5
        out(
            f"{when:6} {row['n']:<6}{below}   {row['pair_r']} ({error:.3f})  {row['usual_holds']}  "
            f"{row['interval_holds']}  {row['own_outside']}  {row['beyond_3200']}  {row['blind_r']}\n"
        )
    for when, row in found["after"].items():
        for band in row.get("bands", ()):
            out(f"  {when:6} {band}\n")
    for when, weak in found["known_weaknesses"].items():
        for what, figures in (weak or {}).items():
            out(f"  {when:6} {what}: {figures}\n")


if __name__ == "__main__":
    sys.exit(main())
