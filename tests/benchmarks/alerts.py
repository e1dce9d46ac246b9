"""What alerts cost in attention: ``python -m tests.benchmarks.alerts OPEN.pgn SEARCHED…``.

1. A real round of 56 boards is played back at its own pace into the real keeper: every alert is
   listed. Real rounds have real faults (clocks that were not connected, last moves the board
   missed); the games whose own record shows one are found by a check of its own, written anew.
2. 56 boards without such a fault are played back: nothing may be raised.
3. The agreement alert on games searched over the board, each player held to a forecast learned from
   others: how many of 10,000 events of fair players, resampled whole, show any alarm, and how often
   a player is seen of whose choices 10, 20 or 30 % are replaced by the engine's.

The first two take some minutes for 56 boards, the third some seconds.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

import chess
import msgspec
import numpy as np

from live.events import GameReport
from live.feeds.pgn_decoder import PgnReader
from live.human.network import open_network
from live.ratings.agreement import GameChoices, bound, counts, log_e_value
from live.studies.perceived_learning import SHARES, share_of
from tests.alerts.replayed_event import Rehearsal
from tests.benchmarks.searched_games import learn_choices, read, told_among_people

BOARDS = 56
NULL_EVENTS = 10_000

Choices = list[tuple[float, bool]]
"""Of one game: log-odds of a match by the forecast, and whether there was one."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


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


def screening(paths: list[Path], *, human: bool) -> None:
    """Part 3: fair players, looked at after every choice, and players helped now and then."""
    games = read(paths, "same-search")
    network = ""
    if human:
        opened = open_network()
        network, games = opened.identity, list(told_among_people(games, opened, "classical"))
    players: dict[str, list[Choices]] = {}
    spreads: list[tuple[float, float]] = []
    for share in range(SHARES):
        others = partial(_of_share, share=share)
        model = learn_choices(games, others, network)
        spreads.append((model.player_sd, model.game_sd))
        for side in (side for game in games for side in game.sides):
            if side.elo is None or not others(side.player):
                continue
            told = [
                (model.log_odds(turn, side.elo), choice)
                for turn, choice in zip(side.turns, side.first_choices, strict=True)
                if counts(turn)
            ]
            if told:
                players.setdefault(side.player, []).append(told)
    player_sd, game_sd = (float(np.mean(each)) for each in zip(*spreads, strict=True))
    rng = np.random.default_rng(15)

    def highest(played: list[Choices], helped: float = 0.0, every: int = 1) -> float:
        done: list[GameChoices] = []
        most = 0.0
        for choices in played:
            game = GameChoices()
            for number, (log_odds, match) in enumerate(choices, 1):
                game = game.after(log_odds, match or bool(rng.random() < helped))
                if number % every == 0 or number == len(choices):
                    most = max(most, log_e_value([*done, game], player_sd, game_sd))
            done.append(game)
        return most

    fair = np.array([highest(played) for played in players.values()])
    say(f"{len(fair)} players who did not teach the forecast; highest evidence {fair.max():.2f}")
    for field in (8, 20, 40, 100):
        reached = int((fair >= bound(field)).sum())
        alarms = (rng.choice(fair, (NULL_EVENTS, field)) >= bound(field)).any(axis=1).mean()
        high = 1 - (1 - wilson(reached, len(fair))[1]) ** field
        say(
            f"{field} players: {alarms:.2%} of {NULL_EVENTS} fair events with any alarm "
            f"({reached} of {len(fair)} players beyond the bound: at most {high:.0%} by their "
            "number alone, 5% by the theorem)"
        )
    single = [choices for played in players.values() for choices in played if len(choices) > 9]
    for helped in (0.1, 0.2, 0.3):
        for several in (1, 3, 6):
            seen = [
                highest(
                    [single[each] for each in rng.integers(len(single), size=several)], helped, 8
                )
                for _ in range(60)
            ]
            found = float(np.mean(np.array(seen) >= bound(20)))
            say(f"{helped:.0%} of the choices the engine's, {several} games: seen in {found:.0%}")


def _of_share(player: str, share: int) -> bool:
    return share_of(player) == share


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
    parser.add_argument("searched", type=Path, nargs="+")
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--only", choices=("boards", "agreement"))
    parser.add_argument("--human", action="store_true", help="ask the network of human moves too")
    args = parser.parse_args()
    if args.only != "boards":
        screening(args.searched, human=args.human)
    if args.only == "agreement":
        return 0
    games = list(PgnReader().read(args.pgn.read_bytes(), closed=True))
    play("a real round", numbered(games[: args.boards]))
    clean = [game for game in games if not faults(game)][: args.boards]
    return 1 if play("clean boards", numbered(clean)) else 0


if __name__ == "__main__":
    sys.exit(main())
