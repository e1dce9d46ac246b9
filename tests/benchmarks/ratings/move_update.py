"""What one move costs with everything on: ``python -m tests.benchmarks.ratings.move_update
[PLAYERS [ROUNDS]]``.

An event in its last round: one more move of one board at a time, and the answers of its searches.
Counted is the processor time of the ledger in this thread, from the move to the last message made:
positions, gains, Algorithms 1, 2 and 4, other methods, moves alone, level, percentile, expected
result, performance, standings and screening. Searching, sending and writing are not in it. The
floor is the same event without a calibration and without models of losses, results and choices.
"""

from __future__ import annotations

import cProfile
import pstats
import random
import statistics
import sys
import time
from functools import cache
from typing import NamedTuple, get_args

import msgspec

from live.engine.search import Search, SearchOptions, SearchResult
from live.events import Player, Result, Score
from live.games.game_steps import MovesPlayed, NewGame, ResultChanged
from live.ledger.calibrations_in_use import CalibrationsInUse
from live.ledger.event_ledger import EventLedger
from live.ledger.outgoing_messages import Effects
from live.ratings.calibration.engine_transfer import load_reference
from live.service.measure_settings import figure_models, fitting
from tests.ledger.arithmetic import answer, game, line

PLAYERS, ROUNDS = 56, 3
PLIES = 80
#: Of the last round, counted.
COUNTED_PLIES = range(20, PLIES)
#: Measured 1.8 to 2.7.
MOST_FLOORS = 4.0


class Cost(NamedTuple):
    """Of one move, milliseconds."""

    median: float
    mean: float
    nine_in_ten: float


def everything() -> CalibrationsInUse:
    """What the embedded engine at its usual limit is read by."""
    reference = load_reference()
    shelf = fitting("auto", reference.engine, reference.limit, "same-search")
    losses, results, forecast = figure_models("auto", reference.engine, reference.limit)
    return CalibrationsInUse(
        "same-search", shelf, SearchOptions(), losses=losses, results=results, forecast=forecast
    )


class Event:
    """Players who meet in ``rounds`` rounds."""

    def __init__(self, in_use: CalibrationsInUse, players: int, rounds: int) -> None:
        rng = random.Random(2012)
        reference = load_reference()
        self.held = EventLedger(
            in_use=in_use,
            engine_name=reference.engine,
            limit=reference.limit,
            fixed_rating=None,
            stored_rating=2160,
        )
        everybody = [Player(f"Player {n}", elo=rng.randrange(1500, 2700)) for n in range(players)]
        self.moves = {n: line(*(rng.randrange(40) for _ in range(PLIES))) for n in range(8)}
        self.last: list[tuple[str, int]] = []
        for number in range(rounds):
            rng.shuffle(everybody)
            last = number == rounds - 1
            for board in range(players // 2):
                white, black = everybody[2 * board : 2 * board + 2]
                id, moves = f"{number}.{board}", self.moves[board % 8]
                held = moves[: COUNTED_PLIES.start] if last else moves
                self.take(self.held.apply(NewGame(game(id, held, white=white, black=black))))
                if last:
                    self.last.append((id, board % 8))
                else:
                    result = rng.choice(get_args(Result)[1:4])
                    self.take(self.held.apply(ResultChanged(id, result)))

    def take(self, out: Effects) -> None:
        """Answer whatever is asked, uncounted."""
        requests = list(out.requests)
        while requests:
            request = requests.pop()
            requests += self.held.searched(request.id, answered(request.search)).requests

    def play(self) -> list[float]:
        """Seconds of processor time of each move, board after board."""
        found = []
        for ply in COUNTED_PLIES:
            for id, moves in self.last:
                if ply >= len(self.moves[moves]):
                    continue
                step = MovesPlayed(id, ply + 1, self.moves[moves][ply : ply + 1])
                began_s = time.thread_time()
                requests = list(self.held.apply(step).requests)
                spent_s = time.thread_time() - began_s
                while requests:
                    request = requests.pop()
                    result = answered(request.search)
                    began_s = time.thread_time()
                    requests += self.held.searched(request.id, result).requests
                    spent_s += time.thread_time() - began_s
                found.append(spent_s)
        return found


# The same lines are played on many boards, and the stand-in for an engine is slow.
@cache
def answered(search: Search) -> SearchResult:
    """With a score for each depth, as engines give it."""
    found = answer(search)
    by_depth = tuple(Score(found.score.cp + 3 * (depth % 5)) for depth in range(14))
    return msgspec.structs.replace(found, by_depth=by_depth)


def cost(in_use: CalibrationsInUse, players: int, rounds: int) -> Cost:
    times = [1000 * each for each in Event(in_use, players, rounds).play()]
    return Cost(
        statistics.median(times), statistics.fmean(times), statistics.quantiles(times, n=10)[-1]
    )


def main(arguments: list[str]) -> int:
    """Print both; 1 when everything costs more than ``MOST_FLOORS`` times the floor."""
    if "--profile" in arguments:
        event = Event(everything(), PLAYERS, ROUNDS)
        with cProfile.Profile() as profile:
            event.play()
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)
        return 0
    players = int(arguments[0]) if arguments else PLAYERS
    rounds = int(arguments[1]) if len(arguments) > 1 else ROUNDS
    floor = cost(CalibrationsInUse("same-search"), players, rounds)
    whole = cost(everything(), players, rounds)
    for name, found in (("without models", floor), ("everything", whole)):
        sys.stdout.write(
            f"{name}: {found.median:.2f} ms a move (mean {found.mean:.2f}, nine in ten below "
            f"{found.nine_in_ten:.2f})\n"
        )
    sys.stdout.write(
        f"ratio {whole.median / floor.median:.1f}, {players} players, {rounds} rounds\n"
    )
    return 0 if whole.median < MOST_FLOORS * floor.median else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
