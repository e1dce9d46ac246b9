"""What alerts cost in attention: ``python tests/benchmarks/alerts.py OPEN.pgn SEARCHED.ndjson.gz``.

1. A real round of 56 boards is played back at its own pace into the real keeper: every alert is
   listed. Real rounds have real faults (clocks that were not connected, last moves the board
   missed); the games whose own record shows one are found by a check of its own, written anew.
2. 56 boards without such a fault are played back: nothing may be raised.
3. The agreement alert on honest games (searched over the board): how the screening figure spreads
   in players the expectation was not learned from, how much more often it is far out when looked
   at after every move, and how many rounds of 1 to 56 boards would show an alert.

The first two take some minutes for 56 boards, the third some seconds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import chess
import msgspec
import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from live.alerts import expected_agreement
from live.alerts.kinds import engine_agreement
from live.events import GameReport
from live.feeds.pgn.pgn_decoder import PgnReader
from tests.alerts.replayed_event import Rehearsal

BOARDS = 56


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def read(path: Path) -> list[GameReport]:
    reader = PgnReader()
    return list(reader.read(path.read_bytes(), closed=True))


def numbered(games: list[GameReport]) -> list[GameReport]:
    return [
        msgspec.structs.replace(
            game,
            headers=msgspec.structs.replace(game.headers, board=board, event="Open", round="1"),
        )
        for board, game in enumerate(games, 1)
    ]


def faults(game: GameReport) -> list[str]:
    """What a reader of the PGN alone would find odd in it."""
    found = []
    for first in (0, 1):
        clocks = [move.clock_s for move in game.moves[first::2] if move.clock_s is not None]
        run = most = 0
        for before, after in pairwise(clocks):
            run = run + 1 if after == before else 0
            most = max(most, run)
            if after - before > 30 + 60:
                found.append(f"clock rises {after - before:.0f} s")
        if most >= 4:
            found.append(f"clock stands still for {most} moves")
    board = chess.Board(game.start_fen)
    for move in game.moves:
        board.push_uci(move.uci)
        if board.can_claim_draw():
            found.append("a draw could be claimed")
            break
    if not game.moves:
        found.append("no moves")
    elif game.result == ("1-0" if board.turn else "0-1") and not board.is_checkmate():
        found.append("ends with the winner to move")
    if any(move.clock_s is not None and move.clock_s <= 0 for move in game.moves):
        found.append("a clock shows 0:00")
    return found


def play(title: str, games: list[GameReport]) -> Counter[str]:
    service = Rehearsal()
    begin = time.perf_counter()
    service.play(games)
    took = time.perf_counter() - begin
    told = Counter(str(alert.kind) for alert in service.raised.values())
    plies = sum(len(game.moves) for game in games)
    say(f"{title}: {len(games)} boards, {plies} moves, {took:.0f} s of work")
    say(f"  alerts: {dict(told) or 'none'}")
    for alert in sorted(service.raised.values(), key=lambda alert: alert.first_seen_s):
        board = int(alert.text.split(":")[0].removeprefix("Board ")) if alert.game else 0
        odd = "; ".join(dict.fromkeys(faults(games[board - 1]))) if board else ""
        say(f"    {alert.text}  [in the PGN: {odd or 'nothing'}]")
    return told


# --- agreement ------------------------------------------------------------------------------------


class Honest(NamedTuple):
    """One player in one game: for each move that counts, whether it was the first choice."""

    game: int
    player: str
    elo: int
    choices: tuple[bool, ...]


def honest(path: Path) -> list[Honest]:
    found = []
    with gzip.open(path, "rt") as lines:
        for number, line in enumerate(lines):
            told: dict[str, Any] = json.loads(line)
            board = chess.Board()
            sides: tuple[list[bool], list[bool]] = ([], [])
            for index, uci in enumerate(told["moves"]):
                before = told["plies"][index]
                forced = board.legal_moves.count() == 1
                if index >= 16 and not forced and abs(before["cp"]) <= 300:
                    sides[index % 2].append(before["best"] == uci)
                board.push_uci(uci)
            for side, name in zip(sides, ("white", "black"), strict=True):
                if told[f"{name}_elo"]:
                    found.append(Honest(number, told[name], told[f"{name}_elo"], tuple(side)))
    return found


def learned(players: list[Honest]) -> tuple[float, float, float]:
    """Level and slope by maximum likelihood, spread by moments."""
    n = np.array([len(each.choices) for each in players], float)
    k = np.array([sum(each.choices) for each in players], float)
    x = (
        np.array([each.elo for each in players]) - expected_agreement.CENTRE_ELO
    ) / expected_agreement.SLOPE_ELO

    def loss(at: Any) -> float:
        odds = at[0] + at[1] * x
        return float(-(k * odds - n * np.log1p(np.exp(odds))).sum())

    level, slope = minimize(loss, [0.0, 0.0]).x
    p = 1 / (1 + np.exp(-(level + slope * x)))
    spreads = np.arange(0, 0.2, 0.0025)
    off = [abs(np.mean((k / n - p) ** 2 / (p * (1 - p) / n + s**2)) - 1) for s in spreads]
    return float(level), float(slope), float(spreads[int(np.argmin(off))])


def screened(players: list[Honest], norm: tuple[float, float, float]) -> list[list[float]]:
    """The z after every move from the least sample on, by players' games."""
    level, slope, spread = norm
    found = []
    for each in players:
        odds = (
            level
            + slope * (each.elo - expected_agreement.CENTRE_ELO) / expected_agreement.SLOPE_ELO
        )
        p = 1 / (1 + math.exp(-odds))
        hits, zs = 0, []
        for moves, hit in enumerate(each.choices, 1):
            hits += hit
            if moves >= engine_agreement.LEAST_MOVES:
                zs.append((hits / moves - p) / math.sqrt(p * (1 - p) / moves + spread**2))
        if zs:
            found.append(zs)
    return found


def screening(path: Path) -> None:
    players = [each for each in honest(path) if len(each.choices) >= 10]
    norm = learned(players)
    say(f"agreement: {len(players)} player-games, {sum(len(p.choices) for p in players)} moves")
    say(
        f"  learned: level {norm[0]:.3f}, slope {norm[1]:.3f}, spread {norm[2]:.4f}; in use: "
        f"{expected_agreement.LEVEL}, {expected_agreement.SLOPE}, {expected_agreement.SPREAD}"
    )
    # Players are held to what was learned from the others: ten parts, whole games together.
    parts = [
        screened(
            [each for each in players if each.game % 10 == part],
            learned([each for each in players if each.game % 10 != part]),
        )
        for part in range(10)
    ]
    games = [zs for part in parts for zs in part]
    last = np.array([zs[-1] for zs in games])
    most = np.array([max(zs) for zs in games])
    say(
        f"  {len(games)} with {engine_agreement.LEAST_MOVES} moves or more, held to the others: "
        f"z has mean {last.mean():.2f}, standard deviation {last.std():.2f}, largest "
        f"{last.max():.2f}; looked at after every move the largest is {most.max():.2f}"
    )
    say("  bound   at the end   after every move   normal   looks")
    for bound in (1.0, 1.28, 1.645, 1.96, 2.33):
        end, ever = (last > bound).mean(), (most > bound).mean()
        normal = 0.5 * math.erfc(bound / math.sqrt(2))
        say(f"  {bound:5.2f}   {end:10.4f}   {ever:16.4f}   {normal:.4f}   {ever / normal:5.2f}")
    say(
        f"  an alert on some board, if nobody does anything wrong: promised are at most "
        f"{engine_agreement.FALSE_ALARMS:.0%}; the interval is that of {len(games)} player-games"
    )
    for boards in (1, 2, 4, 8, 16, 32, BOARDS):
        over = sum(
            engine_agreement.false_alarm_rate(float(z), 2 * boards) <= engine_agreement.FALSE_ALARMS
            for z in most
        )
        share, low, high = (
            1 - (1 - each) ** (2 * boards)
            for each in (over / len(games), *wilson(over, len(games)))
        )
        bound = next(
            z / 100
            for z in range(600)
            if engine_agreement.false_alarm_rate(z / 100, 2 * boards)
            <= engine_agreement.FALSE_ALARMS
        )
        say(
            f"  {boards:3d} boards: bound {bound:.2f}, {over} of {len(games)} over it, so "
            f"{share:.3f} ({low:.3f} to {high:.3f}) of rounds"
        )


def wilson(hits: int, n: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927)."""
    z, p = 1.96, hits / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def main() -> int:
    """Print everything; 1 when clean boards raise an alert."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pgn", type=Path)
    parser.add_argument("searched", type=Path)
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--only", choices=("boards", "agreement"))
    args = parser.parse_args()
    if args.only != "boards":
        screening(args.searched)
    if args.only == "agreement":
        return 0
    games = read(args.pgn)
    play("a real round", numbered(games[: args.boards]))
    clean = [game for game in games if not faults(game)][: args.boards]
    return 1 if play("clean boards", numbered(clean)) else 0


if __name__ == "__main__":
    sys.exit(main())
