"""How well a calibration of one engine reads another: ``python -m tests.benchmarks.transfer
OWN POSITIONS OTHER... [--terms FILE]``

OWN is a file of rated games that the calibrations' engine searched (NDJSON, may be gzipped, as
``live.ratings.calibration.rated_games`` reads it). Each OTHER holds some of these games searched by
another engine or to another limit: ``source`` and ``index`` of the game, and ``plies``, one search
a position with ``cp``, ``best`` and, where another move was played, ``played`` (its ``cp``).
POSITIONS is a folder with the same engines' scores of the reference positions: for OTHER
``judged-X.ndjson`` it is ``reference-X.ndjson``, one ``search`` a line, ``id`` ``ref-N``.

Calibrations, offsets and weights are learned on other players than those they are held against
(five shares of the players). With ``--terms`` what all games together say is written as the terms
that the package reads.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gzip
import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from live.ratings.calibration.calibrated_rating import CalibratedRating
from live.ratings.calibration.calibration_fit import learn
from live.ratings.calibration.engine_transfer import (
    LimitTerms,
    MeasuredEngine,
    Transfer,
    TransferTerms,
    agreement,
    load_reference,
    load_terms,
)
from live.ratings.calibration.move_evidence import Calibration, EvidenceSums
from live.ratings.calibration.posterior import Posterior
from live.ratings.calibration.rated_games import RatedGame, belongs, read_rated_games

FOLDS = 5
#: An offset is believed as far as it stands out from what limits differ by anyway: so many Elo.
OFFSET_SD_ELO = 60.0
#: A weight is drawn towards this one, as if so many player-games had shown it.
USUAL_WEIGHT, USUAL_GAMES = 0.75, 40


class Searched(msgspec.Struct):
    """One game as either engine searched it."""

    plies: list[dict[str, object]]
    source: str = ""
    index: int = 0
    id: str = ""

    @property
    def key(self) -> str:
        return self.id or f"{self.source}:{self.index}"


class Pair(NamedTuple):
    """One player's moves of one game, by both engines."""

    game: str
    own: RatedGame
    other: RatedGame


def lines(path: Path) -> list[bytes]:
    """Of a file that may be gzipped; a line cut short at the end is left out."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return data[: data.rfind(b"\n") + 1].splitlines()


def pairs_of(own: Path, other: Path) -> list[Pair]:
    """Player-games that both have searched."""
    known = {msgspec.json.decode(line, type=Searched).key: line for line in lines(own)}
    found = []
    for line in lines(other):
        searched = msgspec.json.decode(line, type=Searched)
        game = msgspec.json.decode(known[searched.key])
        plies = [
            {
                "cp": 0 if ply.get("cp") is None else ply["cp"],
                "best": ply.get("best"),
                "played": played["cp"] if isinstance(played := ply.get("played"), dict) else played,
            }
            for ply in searched.plies
        ]
        sides = (
            read_rated_games([msgspec.json.encode(each)], "same-search")
            for each in (game, game | {"plies": plies})
        )
        found += [Pair(searched.key, *both) for both in zip(*sides, strict=True)]
    return found


def measured(folder: Path, name: str) -> MeasuredEngine:
    """What the reference positions show of an engine and limit."""
    positions = load_reference().positions
    own, found, nodes = [], [], []
    for line in lines(folder / f"reference-{name}.ndjson"):
        row = msgspec.json.decode(line)
        own.append(positions[int(row["id"].removeprefix("ref-"))].score_cp)
        found.append(row["search"]["cp"])
        nodes.append(row["search"]["nodes"])
    return MeasuredEngine(agreement=agreement(own, found), nodes=round(statistics.median(nodes)))


def rated(calibration: Calibration, game: RatedGame, transfer: Transfer | None) -> CalibratedRating:
    rating = CalibratedRating(EvidenceSums(calibration, transfer))
    for move in game.moves:
        rating.add(move.gain_cp, move.score_before_cp, move.ply, move.previous_gain_cp)
    return rating


class Fitted(NamedTuple):
    """Offset and weight of some player-games."""

    offset_elo: float
    offset_error_elo: float
    weight: float
    games: int


class Evidence(NamedTuple):
    """What one player-game comes to, damped, and who is believed to play before it."""

    slope: float
    curvature: float
    calibration: Calibration

    @classmethod
    def of(cls, rating: CalibratedRating) -> Evidence:
        damping = 1 / (1 + rating.n / rating.calibration.half_moves) / 1e6
        found = rating.evidence
        return cls(found.slope * damping, found.curvature * damping, rating.calibration)

    def mean(self, offset_elo: float = 0.0) -> float:
        """Elo, after the evidence is moved down by ``offset_elo``."""
        held = self.calibration
        slope = self.slope - self.curvature * offset_elo / held.scale_elo
        pull = (held.population.mean_elo - held.centre_elo) / held.population.sd_elo**2
        return held.centre_elo + (pull + slope / held.scale_elo) / self.precision

    @property
    def precision(self) -> float:
        held = self.calibration
        return 1 / held.population.sd_elo**2 + self.curvature / held.scale_elo**2


def fitted(found: Sequence[tuple[str, Evidence, Evidence]]) -> Fitted:
    """The offset that makes both engines show the same on average, and the share of the variance
    of evidence that is left when what they disagree by is added to it.
    """
    shares = np.array(
        [other.curvature / other.calibration.scale_elo**2 / other.precision for *_, other in found]
    )
    apart = np.array([other.mean() - own.mean() for _, own, other in found])
    # Moved by an offset, a shown value moves by its share of evidence.
    offset = float(apart.mean() / shares.mean())
    # Both sides of a game are searched together.
    games = np.array([game for game, *_ in found])
    sums = [(apart[games == game] - apart.mean()).sum() for game in dict.fromkeys(games)]
    error = math.sqrt(float(np.square(sums).sum())) / len(apart) / float(shares.mean())
    left = apart - offset * shares
    counted = shares > 0.02
    precision = np.array([other.curvature / other.calibration.scale_elo**2 for *_, other in found])[
        counted
    ]
    added = float(np.mean(np.square(left[counted] / shares[counted]) * precision))
    return Fitted(offset, error, 1 / (1 + added), len(found))


def shrunk(found: Fitted) -> Fitted:
    """As far as it is believed."""
    trust = OFFSET_SD_ELO**2 / (OFFSET_SD_ELO**2 + found.offset_error_elo**2)
    weight = (found.weight * found.games + USUAL_WEIGHT * USUAL_GAMES) / (found.games + USUAL_GAMES)
    return found._replace(offset_elo=trust * found.offset_elo, weight=weight)


class Row(NamedTuple):
    """How one way of reading did."""

    what: str
    error: float
    error_error: float
    bias: float
    bias_reach: float
    coverage: float
    shift: float | None = None
    shift_reach: float | None = None


def row(
    what: str,
    games: Sequence[str],
    shown: Sequence[Posterior],
    elo: Sequence[float],
    own: Sequence[Posterior] | None = None,
) -> Row:
    errors = np.array([each.mean for each in shown]) - np.array(elo)
    inside = [
        each.interval[0] <= true <= each.interval[1] for each, true in zip(shown, elo, strict=True)
    ]
    mean, reach = _clustered(games, errors)
    far = np.abs(errors)
    shift: tuple[float | None, float | None] = (None, None)
    if own is not None:
        apart = np.array([a.mean - b.mean for a, b in zip(shown, own, strict=True)])
        shift = _clustered(games, apart)
    return Row(
        what, float(far.mean()), float(far.std() / math.sqrt(len(far))), mean, reach,
        float(np.mean(inside)), *shift,
    )  # fmt: skip


def _clustered(games: Sequence[str], values: np.ndarray) -> tuple[float, float]:
    """Mean and half the width of its 95 % interval, a game being one draw."""
    names = np.array(games)
    mean = float(values.mean())
    sums = [(values[names == game] - mean).sum() for game in dict.fromkeys(games)]
    return mean, 1.96 * math.sqrt(float(np.square(sums).sum())) / len(values)


def judged(
    pairs: Sequence[Pair], calibrations: Sequence[Calibration], engine: MeasuredEngine
) -> tuple[list[Row], Fitted]:
    """The table of one other engine, and what all its games say."""
    scale = Transfer(scale=engine.agreement.scale, weight=1.0, offset_elo=0.0)
    fold = [
        next(share for share in range(FOLDS) if belongs(pair.own.player, FOLDS, share))
        for pair in pairs
    ]
    held = [calibrations[share] for share in fold]
    games, elo = [pair.game for pair in pairs], [float(pair.own.elo) for pair in pairs]
    both = list(zip(pairs, held, strict=True))
    own = [rated(each, pair.own, None) for pair, each in both]
    as_is = [rated(each, pair.other, None) for pair, each in both]
    scaled = [rated(each, pair.other, scale) for pair, each in both]
    evidence = [
        (game, Evidence.of(a), Evidence.of(b))
        for game, a, b in zip(games, own, scaled, strict=True)
    ]
    terms = [
        shrunk(fitted([each for each, at in zip(evidence, fold, strict=True) if at != share]))
        for share in range(FOLDS)
    ]
    last = [
        rated(
            each,
            pair.other,
            Transfer(scale=scale.scale, weight=terms[at].weight, offset_elo=terms[at].offset_elo),
        )
        for (pair, each), at in zip(both, fold, strict=True)
    ]
    shown = {
        "calibrations' engine": own,
        "other, as it is": as_is,
        f"scaled by {scale.scale:.3f}": scaled,
        "scaled, moved, wider": last,
    }
    posteriors = [each.posterior for each in own]
    rows = [
        row(
            what, games, [each.posterior for each in ratings], elo,
            posteriors if ratings is not own else None,
        )
        for what, ratings in shown.items()
    ]  # fmt: skip
    return rows, fitted(evidence)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("own", type=Path)
    parser.add_argument("positions", type=Path)
    parser.add_argument("other", type=Path, nargs="+")
    parser.add_argument("--terms", type=Path)
    asked = parser.parse_args()
    learned_from = list(read_rated_games(lines(asked.own), "same-search"))
    reference = load_reference()
    calibrations = [
        learn(
            learned_from,
            name=f"without share {share}",
            engine=reference.engine,
            limit=reference.limit,
            gain="same-search",
            time_control="classical",
            data=asked.own.name,
            date="",
            leave_out=(FOLDS, share),
        )
        for share in range(FOLDS)
    ]
    limits = []
    for path in asked.other:
        name = path.name.split(".")[0].removeprefix("judged-")
        engine = measured(asked.positions, name)
        pairs = pairs_of(asked.own, path)
        rows, found = judged(pairs, calibrations, engine)
        _print(f"{name}: {len(pairs)} player-games", rows)
        used = shrunk(found)
        Console().print(
            f"{engine.agreement}\noffset {found.offset_elo:+.0f} ±{found.offset_error_elo:.0f} "
            f"(used {used.offset_elo:+.0f}), weight {found.weight:.2f} (used {used.weight:.2f})\n",
            highlight=False,
        )
        limits.append(
            LimitTerms(
                nodes=round(engine.nodes, -3),
                weight=round(used.weight, 3),
                offset_elo=round(used.offset_elo, 1),
                offset_error_elo=round(found.offset_error_elo, 1),
                games=found.games,
            )
        )
    if asked.terms:
        _write(asked.terms, limits)
    return 0


def _print(title: str, rows: Iterable[Row]) -> None:
    table = Table(title=title)
    for head in ("", "error", "bias, 95 %", "coverage", "against the calibrations' engine, 95 %"):
        table.add_column(head, justify="left" if not head else "right")
    for each in rows:
        shift = "" if each.shift is None else f"{each.shift:+.0f} ±{each.shift_reach:.0f}"
        table.add_row(
            each.what,
            f"{each.error:.0f} ±{each.error_error:.0f}",
            f"{each.bias:+.0f} ±{each.bias_reach:.0f}",
            f"{each.coverage:.3f}",
            shift,
        )
    Console().print(table)


def _write(path: Path, limits: list[LimitTerms]) -> None:
    terms = TransferTerms(
        data="games over the board searched by Stockfish 19 lite and Stockfish 15.1",
        date=f"{dt.date.today():%Y-%m-%d}",
        unmeasured=load_terms().unmeasured,
        limits=tuple(sorted(limits, key=lambda each: each.nodes)),
    )
    path.write_bytes(msgspec.json.format(msgspec.json.encode(terms), indent=1) + b"\n")


if __name__ == "__main__":
    raise SystemExit(main())
