"""What the perceived rating is worth: ``python -m tests.benchmarks.perceived KIND FILE…``

KIND is ``classical``, ``classical-successive``, ``blitz``, ``blitz-successive`` or ``native``;
each FILE is NDJSON (may be gzipped) as ``live.studies.perceived_games`` reads it. Players
are split into five folds, and each is judged by a model learned from all others; ``--shipped``
judges with the model of the package and learns nothing. ``native`` reads games that another engine
searched through a scale of centipawns alone: that of its scores against those of the model's own
engine in the same games (``--beside``, else ``otb-same-search.ndjson.gz`` in the same folder), from
which the folds' models are learned too.

For player-games after 5, 10, 20, 40 counted moves and whole: shares below the 5th to 95th
percentile, r of the two players' places, how often the usual band and the 95 % interval hold, how
many ratings lie outside their own usual band and figures beyond 3200, the same by bands of Elo,
and r with Elo when nobody's rating is used and everybody starts at one Elo. *Known weaknesses*:
what is left of them, and what they are without the circumstances ``dead`` and ``won``.

``--players learned`` leaves out those that no fit sees (one player in eight judges), to choose by;
``--players judges`` takes them alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from live.events import GainKind
from live.ratings.engine_scale import agreement
from live.ratings.perceived_model import Circumstance, PerceivedModel, scaled, shipped_models
from live.ratings.perceived_rating import Floats
from live.studies.perceived_games import PlayedGame, read_played_games
from live.studies.perceived_learning import (
    BEYOND_ELO,
    CIRCUMSTANCES,
    WHOLE,
    Judged,
    Weak,
    judged_by,
    judges,
    learn,
    rounded,
    share,
    share_of,
    summary,
    usual_holds,
)


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
#: What is to be mended, and by which circumstances.
MENDS: tuple[Circumstance, ...] = ("dead", "won")
APART_ELO = 400


def read(paths: Iterable[Path], gain: GainKind) -> list[PlayedGame]:
    """The games of all files."""
    games: list[PlayedGame] = []
    for path in paths:
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        games += read_played_games(text.splitlines(), gain, path.name)
    return games


def native_scale(native: Sequence[PlayedGame], beside: Sequence[PlayedGame]) -> float:
    """Centipawns of the engine of ``native`` to one of that of ``beside``, over the positions of
    the games that both searched.
    """
    own = {game.moves: game.scores_cp for game in beside}
    pairs = [
        (ours, theirs)
        for game in native
        if game.moves in own
        for ours, theirs in zip(own[game.moves], game.scores_cp, strict=True)
        if ours is not None and theirs is not None
    ]
    found = agreement(*zip(*pairs, strict=True))
    sys.stderr.write(
        f"scale {found.scale:.3f} ± {found.scale_error:.3f}, correlation {found.correlation:.3f}, "
        f"{found.positions} positions\n"
    )
    return found.scale


def read_through(games: Sequence[PlayedGame], scale: float) -> list[PlayedGame]:
    """The games in the centipawns of the model."""
    return [
        game._replace(
            white=game.white._replace(
                turns=tuple(scaled(each, scale) for each in game.white.turns)
            ),
            black=game.black._replace(
                turns=tuple(scaled(each, scale) for each in game.black.turns)
            ),
        )
        for game in games
    ]


# --- tables --------------------------------------------------------------------------------------


def weaknesses(after: dict[str, Judged], weak: Weak) -> dict[str, Any]:
    """What is known to be weak; 1/2 is what scores should be on average."""
    whole = after[WHOLE]
    elite = whole.rating[whole.elo >= 2600]
    found: dict[str, Any] = {
        "dead_draws": _mean(weak.score[weak.dead.astype(bool)]),
        "won_games": _mean(weak.score[weak.won.astype(bool)]),
        "elite_finals": {"n": len(elite), "beyond_3200": share(elite > BEYOND_ELO)},
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
                "middle_less_elo": rounded(float(np.median(middle[chosen])), 1)
                if chosen.any()
                else None,
                "usual_holds": share(usual_holds(of)[chosen]),
            }
    return found


def _mean(values: Floats) -> dict[str, Any]:
    return {"moves": len(values), "score": rounded(float(values.mean())) if len(values) else None}


# --- the five folds ------------------------------------------------------------------------------


def _joined(
    parts: Iterable[tuple[dict[str, Judged], Weak]],
) -> tuple[dict[str, Judged], Weak]:
    held = list(parts)
    return (
        {
            when: Judged(
                *map(np.concatenate, zip(*(after[when] for after, _ in held), strict=True))
            )
            for when in held[0][0]
        },
        Weak(*map(np.concatenate, zip(*(weak for _, weak in held), strict=True))),
    )


def folds(
    games: Sequence[PlayedGame], kind: Kind, circumstances: tuple[Circumstance, ...], whom: Any
) -> Iterator[tuple[PerceivedModel, Any]]:
    """A model for each fold, and who is in it."""
    for fold in range(FOLDS):

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


def by_folds(
    games: Sequence[PlayedGame],
    learned_from: Sequence[PlayedGame],
    kind: Kind,
    circumstances: tuple[Circumstance, ...],
    whom: Any,
) -> tuple[dict[str, Judged], Weak]:
    """All five together."""
    models = folds(learned_from, kind, circumstances, whom)
    return _joined(judged_by(games, model, inside) for model, inside in models)


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures, as ``--json`` writes them."""
    kind = KINDS[args.kind]
    games = read(args.files, kind.gain)
    whom = {"all": lambda _: True, "learned": lambda who: not judges(who), "judges": judges}[
        args.players
    ]
    learned_from = games
    if args.kind == "native":
        beside = args.beside or args.files[0].parent / "otb-same-search.ndjson.gz"
        learned_from = read([beside], kind.gain)
        games = read_through(games, native_scale(games, learned_from))
    before = None
    if args.shipped:
        (model,) = [each for each in shipped_models() if each.name == kind.model]
        after, weak = judged_by(games, model, whom)
    else:
        after, weak = by_folds(games, learned_from, kind, CIRCUMSTANCES, whom)
        bare = tuple(each for each in CIRCUMSTANCES if each not in MENDS)
        if not args.quick:
            before = weaknesses(*by_folds(games, learned_from, kind, bare, whom))
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
        "after  n     below 5 25 50 75 95            pair r (2 se)   usual  95 %   outside"
        "  3200+  blind r\n"
    )
    for when, row in found["after"].items():
        if not row["n"]:
            continue
        below = " ".join(f"{100 * each:5.1f}" for each in row["percentile_below"].values())
        error = 2 / max(row["pairs"], 1) ** 0.5
        out(
            f"{when:6} {row['n']:<6}{below}   {row['pair_r']} ({error:.3f})  "
            f"{row['usual_holds']}  {row['interval_holds']}  {row['own_outside']}  "
            f"{row['beyond_3200']}  {row['blind_r']}\n"
        )
    for when, row in found["after"].items():
        for band in row.get("bands", ()):
            out(f"  {when:6} {band}\n")
    for when, weak in found["known_weaknesses"].items():
        for what, figures in (weak or {}).items():
            out(f"  {when:6} {what}: {figures}\n")


if __name__ == "__main__":
    sys.exit(main())
