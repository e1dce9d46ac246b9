"""Second computation of Ferreira's Tables 1 and 4 from the scores in a corpus. It
imports nothing from ``live``.

``python tests/studies/recompute_papers.py CORPUS.db papers.csv`` compares its figures
with those that ``study reproduce`` wrote, for each engine and gain. The exit code is 1
if a figure differs.
"""

import csv
import sqlite3
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from statistics import NormalDist, fmean
from typing import Any

import msgspec

LONDON = (
    "Kramnik",
    "Carlsen",
    "Nakamura",
    "McShane",
    "Anand",
    "Aronian",
    "Short",
    "Howell",
    "Adams",
)
SQUARES = [file + rank for rank, file in product("12345678", "abcdefgh")]


class Side:
    """Gains of both kinds and ratings of one player."""

    def __init__(self) -> None:
        self.gains: dict[str, Counter[int]] = {
            "same-search": Counter(),
            "successive": Counter(),
        }
        self.elos: list[int] = []


def moves_of(packed: bytes) -> Iterator[str]:
    """Yield the moves of a game in UCI. A packed move has six bits for the origin, six
    for the destination, and then the promotion.
    """
    for low, high in zip(packed[::2], packed[1::2], strict=True):
        code = low + 256 * high
        promotion = ("", "n", "b", "r", "q")[code >> 12]
        yield SQUARES[code & 63] + SQUARES[code >> 6 & 63] + promotion


def sides_of(corpus: str, setting: int) -> dict[str, Side]:
    """Return the gains and ratings of the players of London 2011, by family name."""
    database = sqlite3.connect(corpus)
    rows = database.execute(
        "SELECT white.name, black.name, white_elo, black_elo, moves, "
        "positions FROM games"
        " JOIN results USING (game) JOIN events USING (event)"
        " JOIN players white ON white.player = games.white"
        " JOIN players black ON black.player = games.black"
        " WHERE setting = ? AND year = 2011 AND events.name LIKE "
        "'%london%' AND plies > 1",
        (setting,),
    )
    sides: dict[str, Side] = defaultdict(Side)
    for white, black, white_elo, black_elo, packed, results in rows:
        players = [sides[name.partition(",")[0]] for name in (white, black)]
        for side, elo in zip(players, (white_elo, black_elo), strict=True):
            side.elos += [] if elo is None else [elo]
        [positions] = msgspec.msgpack.decode(zlib.decompress(results))
        for ply, move in enumerate(moves_of(packed)):
            add_gains(
                players[ply % 2],
                positions[ply],
                positions[ply + 1],
                move,
                1 - ply % 2 * 2,
            )
    return sides


def add_gains(
    side: Side, before: list[Any], after: list[Any], move: str, sign: int
) -> None:
    """Add both kinds of gain of one move to the side's counts, centipawns."""
    (score, *_), best, played, _ = before
    if best == move:
        side.gains["same-search"][0] += 1
    elif played is not None and best:
        side.gains["same-search"][min(0, sign * (played[0] - score))] += 1
    if after is not None:
        side.gains["successive"][sign * (after[0][0] - score)] += 1


def expected(one: Counter[int], other: Counter[int]) -> float:
    """Return the expected score: the share of pairs in which the first gain is higher,
    plus half of the share in which both are equal.
    """
    halves = 0
    for a, n in one.items():
        for b, m in other.items():
            halves += n * m * (2 * (a > b) + (a == b))
    return halves / (2 * one.total() * other.total())


def elo(share: float) -> float:
    """Return the difference in Elo that corresponds to a share of points, by the normal
    distribution.
    """
    return float(200 * 2**0.5 * NormalDist().inv_cdf(share))


def tables(sides: dict[str, Side], gain: str) -> dict[tuple[str, str, str], float]:
    """Return the figures of both tables by table, player and opponent."""
    found = {}
    engine = Counter({0: 1})
    by_elo = []
    for place, one in enumerate(LONDON):
        own = sides[one].gains[gain]
        share = expected(own, engine)
        by_elo.append(fmean(sides[one].elos) - elo(share))
        found["ferreira-table-4-score", one, ""] = share
        found["ferreira-table-4-difference", one, ""] = elo(share)
        found["ferreira-table-4-by-elo", one, ""] = by_elo[-1]
        for other in LONDON[place + 1 :]:
            share = expected(own, sides[other].gains[gain])
            found["ferreira-table-1-expected", one, other] = share
            found["ferreira-table-1-difference", one, other] = elo(share)
    found["ferreira-table-4-by-elo", "average", ""] = fmean(by_elo)
    return found


def main(corpus: str, written: str) -> int:
    """Compare all figures of both tables; return the exit code."""
    with open(written, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["ours"]]
    compared = 0
    differing = 0
    settings = sqlite3.connect(corpus).execute(
        "SELECT setting, engine, bound FROM settings"
    )
    for setting, engine, bound in settings.fetchall():
        sides = sides_of(corpus, setting)
        for gain in ("same-search", "successive"):
            found = tables(sides, gain) if sides else {}
            for row in rows:
                key = row["table"], row["one"], row["other"]
                if key in found and (row["engine"], row["gain"]) == (
                    f"{engine}, {bound}",
                    gain,
                ):
                    compared += 1
                    differing += (
                        abs(float(row["ours"]) - found[key])
                        > 1e-5 * abs(found[key]) + 1e-9
                    )
    sys.stdout.write(
        f"{compared} figures of Tables 1 and 4 recomputed, {differing} differ\n"
    )
    return int(differing > 0 or not compared)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
