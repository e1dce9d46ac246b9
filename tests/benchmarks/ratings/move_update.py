"""What one move costs with everything on: ``python -m tests.benchmarks.ratings.move_update
[PLAYERS [ROUNDS]]``, or ``--profile``.

An event in its last round: one more move of one board at a time, then the answers to all that it
asks. Counted is the processor time of the ledger in this thread, from the move to the last message
made: positions, gains, Algorithms 1, 2 and 4, other methods, moves alone, level, percentile,
expected result, performance, standings and screening. Every figure is made with each of these
calls, at once: nothing is put off to when messages are sent, so nothing is shared between calls and
no figure is left out of the count. Searching, the network, sending and writing are not in it.

``everything`` is what an event costs without the network of human moves, ``with people`` what it
costs with its questions, answers and searches of replies. ``without models`` is the floor: the same
event without a calibration and without models of losses, results and choices. The aim of 1 ms is
held against a whole move; what one call costs stands beside it.
"""

from __future__ import annotations

import cProfile
import pstats
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple, get_args

import chess
import msgspec

from live.engine.search import Search, SearchOptions, SearchResult
from live.engine_config import EngineConfig
from live.events import Player, Result, Score
from live.games.game_steps import MovesPlayed, NewGame, ResultChanged
from live.human.question import HumanAnswer
from live.ledger.event_ledger import EventLedger
from live.ledger.measure import Measure
from live.ledger.outgoing_messages import Effects, HumanRequest
from live.ratings.calibration.engine_transfer import load_reference
from live.service.measure_settings import figure_models, fitting, human_searches
from tests.ledger.arithmetic import answer, game, line

PLAYERS, ROUNDS = 56, 3
PLIES = 80
#: Of the last round, counted.
COUNTED_PLIES = range(20, PLIES)
#: Measured 1.8 to 2.7.
MOST_FLOORS = 4.0


#: Moves a second of the largest event that the service is made for.
BUSIEST_RATE = 25


class Cost(NamedTuple):
    """Of one move with all that follows from it, milliseconds."""

    median: float
    mean: float
    nine_in_ten: float
    call: float
    """The median of one call: the move itself, or one answer."""
    calls: float
    """Of a move."""


def everything(*, human: bool = False) -> Measure:
    """What the embedded engine at its usual limit is read by; ``human``: with the network of human
    moves.
    """
    reference = load_reference()
    shelf = fitting("auto", reference.engine, reference.limit, "same-search")
    losses, results, forecast = figure_models("auto", reference.engine, reference.limit)
    return Measure(
        "same-search",
        shelf,
        SearchOptions(),
        losses=losses,
        results=results,
        forecast=forecast,
        human=human_searches(EngineConfig()) if human else None,
    )


class Event:
    """Players who meet in ``rounds`` rounds."""

    def __init__(self, in_use: Measure, players: int, rounds: int) -> None:
        rng = random.Random(2012)
        reference = load_reference()
        self.held = EventLedger(
            measure=in_use,
            engine_name=reference.engine,
            limit=reference.limit,
            fixed_rating=None,
            stored_rating=2160,
        )
        everybody = [Player(f"Player {n}", elo=rng.randrange(1500, 2700)) for n in range(players)]
        self.moves = {n: line(*(rng.randrange(40) for _ in range(PLIES))) for n in range(8)}
        self.last: list[tuple[str, int]] = []
        # Answers of another network than was learned with would join no figure.
        joined = next((each.model.human for each in in_use.losses if each.model.human), None)
        self._network = joined.network if joined else ""
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

    def take(self, out: Effects) -> list[float]:
        """Answer whatever is asked, the network's questions first; seconds of processor time of
        each answer.
        """
        spent_s = []
        requests, questions = list(out.requests), list(out.questions)
        while requests or questions:
            call: Callable[[], Effects]
            if questions:
                question = questions.pop()
                call = partial(self.held.answered, question, told(question, self._network))
            else:
                request = requests.pop()
                call = partial(self.held.searched, request.id, answered(request.search))
            began_s = time.thread_time()
            out = call()
            spent_s.append(time.thread_time() - began_s)
            requests += out.requests
            questions += out.questions
        return spent_s

    def play(self) -> list[list[float]]:
        """Seconds of processor time of each call of each move, board after board."""
        found = []
        for ply in COUNTED_PLIES:
            for id, moves in self.last:
                if ply >= len(self.moves[moves]):
                    continue
                step = MovesPlayed(id, ply + 1, self.moves[moves][ply : ply + 1])
                began_s = time.thread_time()
                out = self.held.apply(step)
                spent_s = time.thread_time() - began_s
                found.append([spent_s, *self.take(out)])
        return found


def told(request: HumanRequest, network: str) -> HumanAnswer:
    """As a network answers: a share for each of the first moves, others for each rating."""
    asked = request.question
    return HumanAnswer(network, _shares(asked.fen, asked.moves, len(asked.elos)))


@cache
def _shares(fen: str, moves: tuple[str, ...], ratings: int) -> tuple[dict[str, int], ...]:
    board = chess.Board(fen)
    for uci in moves:
        board.push_uci(uci)
    legal = sorted(move.uci() for move in board.legal_moves)[:8]
    return tuple(
        {uci: 300 // (1 + at) + 10 * rating for at, uci in enumerate(legal)}
        for rating in range(ratings)
    )


# The same lines are played on many boards, and the stand-in for an engine is slow.
@cache
def answered(search: Search) -> SearchResult:
    """With a score for each depth, as engines give it."""
    found = answer(search)
    by_depth = tuple(Score(found.score.cp + 3 * (depth % 5)) for depth in range(14))
    return msgspec.structs.replace(found, by_depth=by_depth)


def cost(in_use: Measure, players: int, rounds: int) -> Cost:
    calls = Event(in_use, players, rounds).play()
    times = [1000 * sum(each) for each in calls]
    each_call = [1000 * one for each in calls for one in each]
    return Cost(
        statistics.median(times),
        statistics.fmean(times),
        statistics.quantiles(times, n=10)[-1],
        statistics.median(each_call),
        len(each_call) / len(times),
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
    floor = cost(Measure("same-search"), players, rounds)
    whole = cost(everything(), players, rounds)
    people = cost(everything(human=True), players, rounds)
    named = ("without models", floor), ("everything", whole), ("with people", people)
    for name, found in named:
        sys.stdout.write(
            f"{name}: {found.median:.2f} ms a move (mean {found.mean:.2f}, nine in ten below "
            f"{found.nine_in_ten:.2f}), {found.call:.2f} ms a call, {found.calls:.1f} calls a "
            f"move; {found.mean * BUSIEST_RATE / 10:.1f} % of a core at {BUSIEST_RATE} moves a "
            "second\n"
        )
    sys.stdout.write(
        f"ratio {whole.median / floor.median:.1f}, {players} players, {rounds} rounds\n"
    )
    return 0 if whole.median < MOST_FLOORS * floor.median else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
