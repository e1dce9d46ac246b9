"""What a game told again costs: ``python -m tests.benchmarks.service.decoder [PGN]`` from the
project's folder.

700 boards (real games under other names) are sent move by move as a broadcast sends them: the
whole game at every move. Printed are the processor times of one resend at several moves, of
``chess.pgn.read_game`` on the same texts, and of reading one snapshot of all boards again after one
move on one of them. Aims: no more than 1.3 times as much at move 60 as at move 10, no more than a
fifth of ``read_game``, and 25 updates a second in less than a tenth of one core.

Processor time, fastest of several runs. What counts are the ratios.
"""

from __future__ import annotations

import io
import re
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import chess.pgn

from live.feeds.pgn.pgn_decoder import PgnDecoder, PgnReader

BOARDS = 700
MOVES = (10, 20, 30, 40, 50, 60)
REPEATS = 5
DATA = Path(__file__).parents[2] / "data" / "lichess-open-2025.pgn"
_PLY = re.compile(r"\d+\.+ \S+ \{[^}]*\}")


def long_games(text: str) -> list[tuple[str, list[str]]]:
    """Headers and plies of the games of at least 61 moves."""
    parts = [part for part in text.split("\n\n") if part.strip()]
    games = [
        (head.strip(), _PLY.findall(moves))
        for head, moves in zip(parts[0::2], parts[1::2], strict=False)
    ]
    return [(head, plies) for head, plies in games if len(plies) >= 2 * max(MOVES) + 2]


def boards(games: list[tuple[str, list[str]]], plies: int, *, wrap: bool) -> list[bytes]:
    """Each board's game after so many plies, as it is sent."""
    texts = []
    for number in range(BOARDS):
        head, moves = games[number % len(games)]
        head = head.replace('[White "', f'[White "{number} ').replace('[Result "1-0', '[Result "*')
        movetext = " ".join(moves[:plies]) + " *"
        if wrap:
            movetext = textwrap.fill(movetext, 80, break_long_words=False, break_on_hyphens=False)
        texts.append(f"{head}\n\n{movetext}\n\n\n".encode())
    return texts


def fastest_s(prepare: Callable[[], Callable[[], object]], repeats: int = REPEATS) -> float:
    best = float("inf")
    for _ in range(repeats):
        work = prepare()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def resend_us(sends: list[list[bytes]]) -> float:
    """Mean cost of telling each board again, for each of ``sends`` but the first."""

    def prepare() -> Callable[[], object]:
        decoder = PgnDecoder()
        for text in sends[0]:
            decoder.feed(text)
        return lambda: [decoder.feed(text) for texts in sends[1:] for text in texts]

    return fastest_s(prepare) / (BOARDS * (len(sends) - 1)) * 1e6


def read_game_us(texts: list[bytes]) -> float:
    some = [text.decode() for text in texts[:60]]
    work = lambda: [chess.pgn.read_game(io.StringIO(text)) for text in some]  # noqa: E731
    return fastest_s(lambda: work, 3) / len(some) * 1e6


def snapshot_ms(before: list[bytes], after: list[bytes]) -> tuple[float, float]:
    """Reading all boards for the first time, and again after one move on one of them."""
    text = b"".join(before)
    again = b"".join([*before[:-1], after[-1]])
    first = fastest_s(lambda: lambda: PgnReader().read(text), 2)

    def prepare() -> Callable[[], object]:
        reader = PgnReader()
        reader.read(text)
        return lambda: reader.read(again)

    return first * 1e3, fastest_s(prepare) * 1e3


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    games = long_games(path.read_text(encoding="utf-8"))
    out = sys.stdout.write
    out(f"{BOARDS} boards from {len(games)} games of {path.name}\n")
    for wrap in (False, True):
        out(f"\n{'wrapped at 80 columns' if wrap else 'moves on one line (lichess)'}\n")
        out("move  resend µs  read_game µs  ratio  cores at 25/s\n")
        costs: dict[int, float] = {}
        sends: list[list[bytes]] = []
        for move in MOVES:
            # Some moves are harder to read than others (checks, two knights): take ten.
            around = range(2 * move - 8, 2 * move + 3)
            sends = [boards(games, plies, wrap=wrap) for plies in around]
            costs[move] = cost = resend_us(sends)
            reference = read_game_us(sends[len(sends) // 2])
            out(f"{move:4}  {cost:9.1f}  {reference:12.0f}  {cost / reference:5.3f}")
            out(f"  {cost * 25 / 1e6:13.4f}\n")
        out(f"move {max(MOVES)} / move {min(MOVES)}: {costs[max(MOVES)] / costs[min(MOVES)]:.2f}\n")
        first, again = snapshot_ms(sends[0], sends[1])
        out(
            f"a snapshot of all boards: first {first:.0f} ms, again after one move {again:.1f} ms\n"
        )


if __name__ == "__main__":
    main()
