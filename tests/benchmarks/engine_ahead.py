"""What searching ahead is worth: ``python -m tests.benchmarks.engine_ahead PGN
[--boards N] …``.

The first boards of a round are replayed with their real clocks, so many times faster,
through the whole service, with searching ahead and without. When a move arrives, are
its final gain and the final score of the position after it known already? And how long
from the move until its point is in the curve?

Any PGN with ``[%clk]`` comments will do; the aims are for six classical boards at 30
times, two engines and the default limit: nine tenths of gains, two thirds of scores,
median under 50 ms.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from live.commands.read_settings import read_settings
from live.engine.search import Position, SearchOptions
from live.messages.from_sources import FeedReport, GameReport
from live.messages.to_clients import Change, MoveMessage, PointMessage
from live.settings import Config
from live.sources.game_timeline import plan_timeline
from live.sources.pgn_decoder import PgnReader
from tests.event.answered_event import RunningEvent, open_service


class Stopwatch:
    """What was known of each move when it came, and how long it took to its point,
    seconds.
    """

    def __init__(self, service: RunningEvent) -> None:
        self.point_s: list[float] = []
        self.moves = 0
        self.gains_known = 0
        self.scores_known = 0
        self._service = service
        self._moved: dict[tuple[str, int], float] = {}

    def tell(self, changes: Iterable[Change]) -> None:
        now = time.perf_counter()
        for change in changes:
            if isinstance(change, MoveMessage) and change.move is not None:
                self.moves += 1
                self._moved[change.game, change.ply] = now
                self._look(change.game, change.ply)
            elif isinstance(change, PointMessage):
                self.point_s.append(now - self._moved[change.game, change.point.ply])

    def _look(self, id: str, ply: int) -> None:
        """Whether the searches that the move needs are made already, or another's will
        do.
        """
        game, options = self._service.state.get_shown_game(id), SearchOptions()
        assert game is not None
        moves = [move.uci for move in game.moves[:ply]]
        before = Position(game.start_fen, tuple(moves[:-1]), game.chess960)
        after = Position(game.start_fen, tuple(moves), game.chess960)
        known = self._service.pool.find_known_result
        self.scores_known += known(options.search_of_position(after)) is not None
        best = known(options.search_of_position(before))
        self.gains_known += best is not None and (
            best.best == moves[-1]
            or known(options.search_of_move(before, moves[-1], None)) is not None
        )


async def replay(
    config: Config,
    games: Sequence[GameReport],
    speed: float,
    longest_s: float,
    human: bool,
) -> RunningEvent:
    """Play the games through a service; print a line of the table."""
    async with open_service(config, live=True, human=human) as service:
        watch = Stopwatch(service)
        service.bus.subscribe(watch.tell)
        keep = asyncio.create_task(service.inbox.run())
        began = time.perf_counter()
        for moment in plan_timeline(games, speed=speed):
            if moment.at_s > longest_s:
                break
            await asyncio.sleep(max(0.0, began + moment.at_s - time.perf_counter()))
            await service.inbox.report(
                FeedReport(f"board {moment.game}", (moment.report,))
            )
        await service.settled()
        keep.cancel()
        service.report_engines()
        ahead = service.state.engines().speculation
    ready, scored = watch.gains_known / watch.moves, watch.scores_known / watch.moves
    times = sorted(watch.point_s)
    name = "ahead" if ahead else "without"
    median_ms = statistics.median(times) * 1000
    slowest_ms = times[int(0.99 * len(times))] * 1000
    sys.stdout.write(
        f"{name:<10}{watch.moves:>6}{ready:>13.0%}{scored:>14.0%}"
        f"{median_ms:>12.1f}{slowest_ms:>12.0f}"
        f"{service.pool.report_health().searches:>10}\n"
    )
    sys.stdout.flush()
    return service


async def contest(games: Sequence[GameReport], arguments: argparse.Namespace) -> None:
    """With and without, one after the other; the same figures must come out."""
    flags = {
        "engine.path": arguments.engine,
        "engine.nodes": arguments.nodes,
        "engine.engines": arguments.engines,
        "engine.nice": 0,
    }
    sys.stdout.write(
        f"{len(games)} boards at {arguments.speed:g} times, "
        f"{arguments.engines} engines, "
        f"{arguments.nodes} "
        f"nodes\n{'':<10}{'moves':>6}{'gain ready':>13}{'score ready':>14}"
        f"{'median ms':>12}{'99 % ms':>12}{'searches':>10}\n"
    )
    curves = []
    for ahead in (True, False):
        config = read_settings(None, {}, {**flags, "engine.speculate": ahead})
        service = await replay(
            config, games, arguments.speed, arguments.longest, arguments.human
        )
        curves.append([service.state.game(view.id) for view in service.state.games()])
    same = curves[0] == curves[1]
    sys.stdout.write(f"figures of both runs: {'the same' if same else 'DIFFERENT'}\n")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("pgn", type=Path)
    parser.add_argument("--boards", type=int, default=6)
    parser.add_argument("--speed", type=float, default=30.0)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--engines", type=int, default=2)
    parser.add_argument(
        "--longest", type=float, default=1e9, help="seconds of each run"
    )
    parser.add_argument(
        "--human", action="store_true", help="knows what people play, too"
    )
    parser.add_argument(
        "--engine", default="", help="a UCI engine; default: as live-rate finds it"
    )
    arguments = parser.parse_args()
    games = []
    for game in PgnReader().read_text(arguments.pgn.read_bytes()):
        if game.moves and all(move.clock_s is not None for move in game.moves):
            # Comments of the source must not stand for scores.
            games.append(msgspec.structs.replace(game, start_eval=None))
        if len(games) == arguments.boards:
            break
    asyncio.run(contest(games, arguments))


if __name__ == "__main__":
    main()
