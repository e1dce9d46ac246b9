"""What the network of human moves costs a busy service, and what is left out under load:
``python -m tests.benchmarks.service.human_load PGN [--boards N] [--rate MOVES] [--longest S]``.

The first boards of a round are played together, so many moves a second over all of them, through
two services at the same time, each in a process of its own with engines of its own: one asks the
network, one does not. Printed for both: processor time of the service a move, replay included and
engines not (they are processes of their own); how late the loop wakes from a short sleep; memory;
and of which share of all positions, and of the three newest of each board, each figure was known
when the last move came: what is missing then is what is left out under load.

The aim is 56 boards at 25 moves a second on two cores. The two services share the machine, so
compare them with each other; ``--only on --engines 2`` is one service alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from live.config import load_config
from live.events import FeedReport, GameReport
from live.feeds.pgn.pgn_decoder import PgnReader
from live.human.network import shipped
from live.service.event_service import EventService

ARMS = ("off", "on")
#: How often the loop's delay is looked at, seconds.
LOOK_S = 0.02
#: Positions at the end of each board's moves that people look at.
NEWEST = 3


def boards_of(path: Path, most: int) -> list[GameReport]:
    """The first games of a file that have moves, without scores of the source."""
    games = [game for game in PgnReader().read(path.read_bytes(), closed=True) if game.moves]
    return [msgspec.structs.replace(game, start_eval=None) for game in games[:most]]


def one_by_one(games: Sequence[GameReport]) -> Iterator[tuple[int, GameReport]]:
    """Each board's next move in turn, as the report that shows it."""
    for plies in range(1, max(len(game.moves) for game in games) + 1):
        for board, game in enumerate(games):
            if plies <= len(game.moves):
                yield (
                    board,
                    msgspec.structs.replace(game, moves=game.moves[:plies], result="*"),
                )


async def play(arguments: argparse.Namespace, human: bool) -> dict[str, Any]:
    """The figures of one service."""
    games = boards_of(arguments.pgn, arguments.boards)
    flags = {
        "engine.path": arguments.engine,
        "engine.nodes": arguments.nodes,
        "engine.engines": arguments.engines,
    }
    service = EventService(load_config(None, {}, flags), human=human)
    late_s: list[float] = []

    async def look() -> None:
        while True:
            due = time.perf_counter() + LOOK_S
            await asyncio.sleep(LOOK_S)
            late_s.append(time.perf_counter() - due)

    async with service.with_engine():
        keep, looking = asyncio.create_task(service.keep()), asyncio.create_task(look())
        began_s, cpu_s, moves = time.perf_counter(), time.process_time(), 0
        for board, game in one_by_one(games):
            due_s = began_s + moves / arguments.rate
            if moves / arguments.rate > arguments.longest:
                break
            await asyncio.sleep(max(0.0, due_s - time.perf_counter()))
            await service.report(FeedReport(f"board {board}", (game,)))
            moves += 1
        cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - began_s
        keep.cancel()
        looking.cancel()
        found = known(service)
        service.report_engines()
        health = service.state.engines().human
    late_s.sort()
    return {
        "moves": moves,
        "wall_s": round(wall_s, 1),
        "cpu_ms_a_move": round(1000 * cpu_s / moves, 2),
        "late_ms_median": round(1000 * late_s[len(late_s) // 2], 1),
        "late_ms_99": round(1000 * late_s[int(0.99 * len(late_s))], 1),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        **found,
        "network_ms": health.ms_per_position if health else None,
        "waiting": health.waiting if health else None,
        "left_out": health.left_out if health else None,
    }


def known(service: EventService) -> dict[str, Any]:
    """Shares of positions that have each figure, over all plies and over each board's newest."""
    names = ("score", "gain", "share of players", "errors foretold")
    counts = {name: [0, 0] for name in names}
    plies = newest = 0
    for view in service.state.games():
        detail = service.state.game(view.id)
        assert detail is not None
        for back, ply in enumerate(reversed(detail.plies)):
            plies += 1
            newest += back < NEWEST
            hard = ply.difficulty
            has = (
                ply.final,
                ply.gain_cp is not None,
                ply.played_share is not None,
                hard is not None and hard.error_chance is not None,
            )
            for name, there in zip(names, has, strict=True):
                counts[name][0] += there
                counts[name][1] += there and back < NEWEST
    return {
        name: [round(every / max(plies, 1), 3), round(last / max(newest, 1), 3)]
        for name, (every, last) in counts.items()
    }


def main() -> None:
    """Read the arguments; run the arms at the same time, each in a process of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pgn", type=Path)
    parser.add_argument("--boards", type=int, default=56)
    parser.add_argument("--rate", type=float, default=25.0, help="moves a second, all boards")
    parser.add_argument("--longest", type=float, default=1e9, help="seconds of each run")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--engines", type=int, default=1, help="of each service")
    parser.add_argument("--engine", default="", help="a UCI engine; default: as live-rate finds it")
    parser.add_argument("--only", choices=ARMS, help="one service alone")
    parser.add_argument("--in-this-process", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.in_this_process:
        found = asyncio.run(play(arguments, arguments.only == "on"))
        sys.stdout.write(json.dumps(found) + "\n")
        return
    arms = [arguments.only] if arguments.only else list(ARMS)
    command = [sys.executable, "-m", "tests.benchmarks.service.human_load", *sys.argv[1:]]
    running = {
        arm: subprocess.Popen(
            [*command, "--only", arm, "--in-this-process"], stdout=subprocess.PIPE, text=True
        )
        for arm in arms
    }
    found = {arm: json.loads(child.communicate()[0] or "{}") for arm, child in running.items()}
    sys.stdout.write(f"network on disk: {shipped().stat().st_size / 1e6:.1f} MB\n")
    for name in found[arms[0]]:
        told = "".join(f"{found[arm][name]!s:>18}" for arm in arms)
        sys.stdout.write(f"{name:<18}{told}\n")
    if len(arms) == len(ARMS):
        cost = {arm: found[arm]["cpu_ms_a_move"] for arm in ARMS}
        more_mb = found["on"]["memory_mb"] - found["off"]["memory_mb"]
        sys.stdout.write(
            f"with the network: {cost['on'] / cost['off']:.2f} times the processor time, "
            f"{more_mb} MB more\n"
        )


if __name__ == "__main__":
    main()
