"""What one move costs the ledger: ``python tests/benchmarks/ratings/methods.py``.

An event of 100 players in its last of nine rounds, all earlier games finished and scored. Timed is
what follows from one more move until its gain is in every figure: the move itself, the answer
about the position, and the answer about the move played; curves, both players' pooled figures,
conformance, accuracy, first choices, Algorithms 1 to 4 and all messages. Beside it, a ledger made
afresh from the same games. No engine runs: answers are drawn.

Processor time of the fastest of several runs. What counts is the ratio, and that an update stays
far below the milliseconds in which moves arrive.
"""

from __future__ import annotations

import random
import sys
import time

import chess

from live.engine.search import Search, SearchResult
from live.events import Change, Headers, Move, Player, Score, StandingMessage
from live.games.game import Game
from live.games.game_steps import MovesPlayed, NewGame
from live.ledger.event_ledger import EventLedger
from live.ledger.measure import Measure
from live.ledger.outgoing_messages import Effects
from live.ratings.calibration.calibration_choice import CalibrationShelf
from live.ratings.calibration.move_evidence import load_calibration

PLAYERS = 100
ROUNDS = 9
PLIES = 60
TIMED = 40


def random_line(rng: random.Random, plies: int) -> tuple[Move, ...]:
    """Legal moves that end no game."""
    board = chess.Board()
    moves: list[Move] = []
    while len(moves) < plies:
        legal = list(board.legal_moves)
        move = rng.choice(legal)
        san = board.san(move)
        board.push(move)
        if board.is_game_over():
            board.pop()
            continue
        moves.append(Move(move.uci(), san))
    return tuple(moves)


class Event:
    """The ledger with a queue of one."""

    def __init__(self, rng: random.Random, calibration: str | None) -> None:
        self.rng = rng
        shelf = CalibrationShelf([load_calibration(calibration)] if calibration else [])
        self.ledger = EventLedger(
            measure=Measure("same-search", shelf),
            engine_name="drawn",
            limit="none",
            fixed_rating=2200,
            stored_rating=2200,
        )
        self.changes: list[Change] = []

    def answer(self, search: Search) -> SearchResult:
        level = self.rng.randrange(-80, 80)
        played = search.only
        if played is not None:
            # A move that was not the first choice loses something.
            white = len(search.position.moves) % 2 == 0
            level += (-1 if white else 1) * int(self.rng.lognormvariate(3.3, 1.2))
            return SearchResult(Score(max(-3900, min(3900, level))), played, depth=14)
        # No legal move: each move played is asked about too, the dearer case.
        return SearchResult(Score(level), "0000", depth=14)

    def take(self, out: Effects) -> None:
        self.changes += out.changes
        for wish in out.requests:
            self.take(self.ledger.searched(wish.id, self.answer(wish.search)))


def schedule(rng: random.Random) -> list[tuple[Player, Player]]:
    players = [Player(f"Player {n}", elo=rng.randrange(1400, 2600)) for n in range(PLAYERS)]
    pairs = []
    for _ in range(ROUNDS):
        rng.shuffle(players)
        pairs += list(zip(players[::2], players[1::2], strict=True))
    return pairs


def play_event(calibration: str | None) -> tuple[Event, list[Game], float]:
    """All games but the last plies of the last round, and the seconds that took."""
    rng = random.Random(2012)
    lines = [random_line(rng, PLIES) for _ in range(20)]
    games = []
    pairs = schedule(rng)
    for number, (white, black) in enumerate(pairs):
        last = number >= len(pairs) - PLAYERS // 2
        moves = lines[number % len(lines)]
        games.append(
            Game(
                id=f"g{number}",
                feed="benchmark",
                key=f"g{number}",
                headers=Headers(white=white, black=black),
                start_fen=chess.STARTING_FEN,
                moves=moves[: PLIES // 2] if last else moves,
            )
        )
    event = Event(rng, calibration)
    start = time.process_time()
    for game in games:
        event.take(event.ledger.apply(NewGame(game)))
    return event, games, time.process_time() - start


def main() -> None:
    """Print the table, without and with a calibration."""
    say = sys.stdout.write
    say(f"One move among {PLAYERS} players in round {ROUNDS}, {PLIES // 2} plies into the game\n\n")
    say(f"{'calibration':<14}{'a move':>10}{'an update':>12}{'afresh':>10}{'ratio':>10}")
    say(f"{'standings':>12}\n")
    for calibration in (None, "classical"):
        event, games, afresh = play_event(calibration)
        spent: list[float] = []
        updates: list[float] = []
        told = 0
        for game in games[-TIMED:]:
            board = chess.Board()
            for move in game.moves:
                board.push_uci(move.uci)
            chosen = event.rng.choice(list(board.legal_moves))
            step = MovesPlayed(
                game.id, len(game.moves) + 1, (Move(chosen.uci(), board.san(chosen)),)
            )
            event.changes.clear()
            start = time.process_time()
            out = event.ledger.apply(step)
            calls = 1
            event.changes += out.changes
            queue = list(out.requests)
            while queue:
                wish = queue.pop()
                out = event.ledger.searched(wish.id, event.answer(wish.search))
                calls += 1
                event.changes += out.changes
                queue += out.requests
            seconds = time.process_time() - start
            spent.append(seconds)
            updates.append(seconds / calls)
            told += sum(isinstance(change, StandingMessage) for change in event.changes)
        spent.sort()
        updates.sort()
        a_move, update = spent[len(spent) // 2], updates[len(updates) // 2]
        say(
            f"{calibration or 'none':<14}{a_move * 1e3:>7.2f} ms{update * 1e3:>9.2f} ms"
            f"{afresh:>8.1f} s{afresh / a_move:>8.0f} x{told / TIMED:>12.1f}\n"
        )


if __name__ == "__main__":
    main()
