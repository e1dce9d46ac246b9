"""The moves of a corpus as Parquet files, with one row per move.

``COLUMNS`` is the documented schema, for pandas, R and SQL. There is one file for every
thousand games of a corpus and setting. The code of the rating methods computes the
rows, so no formula is repeated in a query. A file is written under a temporary name and
then moved into place, so a killed process leaves no incomplete file. The file name
includes a digest of the data from which the file was made; a file that is up to date is
not written again.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import polars
from polars import DataFrame

from live.messages.values import Color
from live.ratings.choice_model import build_spread, explain_left_out
from live.ratings.conformance import is_counted
from live.studies.corpus_database import CorpusDatabase, NumberedGame
from live.studies.searched_games import (
    MoveSearch,
    PositionSearch,
    SearchedGame,
    compute_gains,
)

#: Number of games in one file, which is also the largest number in memory at once.
GAMES_A_FILE = 1000
#: Version of the schema; it changes when the meaning of a column changes.
SCHEMA = 1
#: Type of each column, in their order. The page ``studies`` of the manual says what the
#: columns mean.
COLUMNS: dict[str, Any] = {
    "game": polars.Int64,
    "ply": polars.Int16,
    "colour": polars.String,
    "player": polars.Int32,
    "opponent": polars.Int32,
    "elo": polars.Int16,
    "opponent_elo": polars.Int16,
    "event": polars.Int32,
    "year": polars.Int16,
    "score": polars.Float32,
    "move": polars.String,
    "best": polars.String,
    "best_cp": polars.Int16,
    "gain_cp": polars.Int16,
    "successive_cp": polars.Int16,
    "forced": polars.Boolean,
    "counted": polars.Boolean,
    "depth": polars.Int16,
    "seldepth": polars.Int16,
    "time_ms": polars.Int32,
    "nodes": polars.Int64,
    "tbhits": polars.Int64,
    "stability_cp": polars.Float32,
    "jump_cp": polars.Int16,
    "jump_depth": polars.Int16,
    "deltas": polars.List(polars.Float64),
    "played_line": polars.Int16,
    "turn_left_out": polars.String,
}


def update_move_files(database: CorpusDatabase, setting: int) -> list[Path]:
    """Bring the Parquet files of one setting up to date; return them in the order of
    their games.

    Raises:
        InputError: stored results cannot be read.
    """
    folder = Path(f"{database.path}-moves", f"setting-{setting}")
    folder.mkdir(parents=True, exist_ok=True)
    games_of_setting = database.execute(
        "SELECT games.game, digest, result, other_result, white, black, white_elo,"
        " black_elo, event, length(positions) FROM results JOIN games USING (game)"
        " WHERE setting = ? ORDER BY games.game",
        (setting,),
    )
    files = []
    for block, games in itertools.groupby(
        games_of_setting, lambda row: row[0] // GAMES_A_FILE
    ):
        # Digest of all data from which the rows are made.
        mark = hashlib.blake2b(str(SCHEMA).encode(), digest_size=16)
        for row in games:
            mark.update(repr(tuple(row)).encode())
        first = block * GAMES_A_FILE
        file = folder / f"games-{first:09}-{mark.hexdigest()}.parquet"
        files.append(file)
        if not file.is_file():
            searched = database.read_searched_games(
                setting, first, first + GAMES_A_FILE
            )
            rows: list[tuple[Any, ...]] = []
            for game in searched:
                rows += build_move_rows(*game)
            frame = DataFrame(rows, schema=COLUMNS, orient="row")
            for stale in folder.glob(f"games-{first:09}*"):
                stale.unlink()
            partial = file.with_suffix(".partial")
            frame.write_parquet(partial, compression="zstd", statistics=False)
            os.replace(partial, file)
    return files


_SCORES = {"1-0": (1.0, 0.0), "0-1": (0.0, 1.0), "1/2-1/2": (0.5, 0.5)}


def build_move_rows(
    game: NumberedGame, searched: SearchedGame
) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each move whose position was searched. Cells are in the order of
    ``COLUMNS``.
    """
    scores = _SCORES.get(game.result, (None, None))
    players = (game.white, game.black)
    elos = (game.white_elo, game.black_elo)
    board = chess.Board(game.start_fen, chess960=game.chess960)
    earlier_epds: set[str] = set()
    multiple = any(position and position.lines for position in searched.positions)
    for index, uci in enumerate(game.moves):
        position = searched.positions[index]
        epd = board.epd() if multiple else ""
        if position is not None:
            # The mover's values come first.
            step = 1 if board.turn else -1
            color: Color = "white" if board.turn else "black"
            # Two legal moves suffice to know that the move is not forced.
            forced = len(list(itertools.islice(board.legal_moves, 2))) == 1
            yield (
                game.game,
                index + 1,
                color,
                *players[::step],
                *elos[::step],
                game.event,
                game.year,
                scores[::step][0],
                uci,
                position.best or None,
                step * position.whole.cp,
                *compute_gains(position, searched.positions[index + 1], uci, color),
                forced,
                is_counted(index + 1, forced=forced),
                *_build_search_cells(position.whole),
                *_build_turn_cells(
                    position, uci, step, index + 1, repeated=epd in earlier_epds
                ),
            )
        earlier_epds.add(epd)
        board.push(chess.Move.from_uci(uci))
        board.clear_stack()


def _build_search_cells(whole: MoveSearch) -> tuple[Any, ...]:
    """Return the cells of the search: its depth and cost as far as they are known, and
    how its score changed from depth to depth.
    """
    spent = whole.nodes or whole.time_ms
    changes = whole.complexity
    return (
        whole.depth or None,
        whole.seldepth or None,
        whole.time_ms if spent else None,
        whole.nodes or None,
        whole.tbhits if spent else None,
        *(
            (changes.stability_cp, changes.jump_cp, changes.jump_depth)
            if changes
            else [None] * 3
        ),
    )


def _build_turn_cells(
    position: PositionSearch, uci: str, sign: int, ply: int, *, repeated: bool
) -> tuple[Any, ...]:
    """Return the three cells of Regan and Haworth's method; each is None if only one
    line was searched.
    """
    if not position.lines:
        return None, None, None
    spread = build_spread([(move, sign * cp) for move, cp in position.lines], uci)
    return (
        list(spread.deltas),
        spread.played,
        explain_left_out(spread, ply, repeated=repeated) or "",
    )
