"""Searched games of rated players, read from NDJSON, with the turns of both sides.

Two formats are read, each with one game per line: with one entry per position
(``moves``, ``plies``), or with one list per figure (``moves``, ``cp``, ``best``). The
manual describes each key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import chess
import msgspec

from live.errors import InputError
from live.messages.figures import GainKind
from live.messages.values import Color
from live.ratings.complexity import Complexity
from live.ratings.move_circumstances import Turn, describe_board
from live.studies.game_lines import GameLine
from live.studies.searched_games import PositionSearch, compute_gains

#: The engine's figures for the usual starting position, for files that leave it out.
_START = Complexity(5.5, 25, None, 0)


class PlayedSide(NamedTuple):
    """Turns of one player in one game."""

    player: str
    elo: int | None
    turns: tuple[Turn, ...]
    best: tuple[str | None, ...] = ()
    """For each turn, the engine's first choice in UCI; empty if unknown."""


class PlayedGame(NamedTuple):
    """Both sides of a game. A side has no turns if they are unknown."""

    white: PlayedSide
    black: PlayedSide
    result: str
    scores_cp: tuple[int | None, ...] = ()
    """Scores from White's side after each ply, from ply 0 on; None where unknown."""
    moves: tuple[str, ...] = ()
    """Moves in UCI; empty if the file leaves them out."""

    @property
    def sides(self) -> tuple[PlayedSide, PlayedSide]:
        return self.white, self.black


def read_played_games(
    lines: Iterable[bytes | str], gain: GainKind, subject: str = "rated games"
) -> list[PlayedGame]:
    """Read the games of NDJSON ``lines``, with turns whose gains are of the kind
    ``gain``.

    A forced move does not count as a turn.

    Raises:
        InputError: a line cannot be read. The error names ``subject`` and the line.
    """
    games = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                games.append(
                    _read_played_game(msgspec.json.decode(line, type=GameLine), gain)
                )
            except (
                msgspec.DecodeError,
                UnicodeDecodeError,
                RecursionError,
                ValueError,
            ) as error:
                raise InputError(
                    f"{subject}, line {number}",
                    f"is no rated game: {error}",
                    "See: live-rate manual studies",
                ) from error
    return games


def _read_played_game(row: GameLine, gain: GainKind) -> PlayedGame:
    searched = row.build_searched_game()
    if searched is None:
        raise ValueError("no scores")
    game = row.build_game()
    # A move has no gain if the position after it is not in the file.
    count = len(game.moves) if row.plies is None else len(row.plies) - 1
    sides = [
        PlayedSide(player.name if player.words else "", elo, ())
        for player, elo in ((game.white, game.white_elo), (game.black, game.black_elo))
    ]
    start = _START if row.plies is None else None
    positions = searched.positions[: count + 1]
    return build_played_game(sides, game.result, game.moves, positions, gain, start)


def build_played_game(
    sides: Sequence[PlayedSide],
    result: str,
    moves: Sequence[str],
    positions: Sequence[PositionSearch | None],
    gain: GainKind,
    start: Complexity | None = None,
) -> PlayedGame:
    """Return a game with the turns of both sides. ``sides`` are White's and Black's,
    still without turns.

    ``positions`` are the searched positions as far as they are known, from the starting
    position on. ``start`` is the complexity of the starting position, for files that
    leave it out.
    """
    turns_by_side: tuple[tuple[list[Turn], list[str | None]], ...] = (
        ([], []),
        ([], []),
    )
    board = chess.Board()
    is_after_capture = False
    earlier_positions = set[str]()
    for index, uci in enumerate(moves[: len(positions) - 1]):
        before = positions[index]
        key = board.epd()
        facts = describe_board(
            board, is_after_capture=is_after_capture, repeated=key in earlier_positions
        )
        earlier_positions.add(key)
        move = chess.Move.from_uci(uci)
        is_after_capture = board.is_capture(move)
        board.push(move)
        if before is None or facts.is_forced:
            continue
        color: Color = "black" if index % 2 else "white"
        gain_cp = compute_gains(before, positions[index + 1], uci, color)[
            gain == "successive"
        ]
        if gain_cp is not None:
            complexity = start if start and not index else before.whole.complexity
            stability_cp, jump_cp = (
                (complexity.stability_cp, complexity.jump_cp)
                if complexity
                else (None, None)
            )
            score = before.whole.cp * (-1 if index % 2 else 1)
            turns, best = turns_by_side[index % 2]
            turns.append(Turn(gain_cp, score, index + 1, stability_cp, jump_cp, facts))
            best.append(before.best or None)
    white, black = (
        side._replace(turns=tuple(turns), best=tuple(best))
        for side, (turns, best) in zip(sides, turns_by_side, strict=True)
    )
    scores = tuple(
        None if position is None else position.whole.cp for position in positions
    )
    return PlayedGame(white, black, result, scores, tuple(moves))
