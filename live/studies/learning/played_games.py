"""Rated games as NDJSON holds them, searched, with the turns of both sides.

Two kinds are read, one game a line: searched games with one entry a position
(``moves``, ``plies``), or the same with one list a figure (``moves``, ``cp``,
``best``). The manual says what each key holds.
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

#: What the engine says of the usual starting position, where a file leaves it out.
_START = Complexity(5.5, 25, None, 0)


class PlayedSide(NamedTuple):
    """One player's turns of one game."""

    player: str
    elo: int | None
    turns: tuple[Turn, ...]
    best: tuple[str | None, ...] = ()
    """Of each turn the engine's own first choice, UCI; empty where unknown."""


class PlayedGame(NamedTuple):
    """Both sides; one without turns where they are not known."""

    white: PlayedSide
    black: PlayedSide
    result: str
    scores_cp: tuple[int | None, ...] = ()
    """White's side, after each ply from 0 on; None where unknown."""
    moves: tuple[str, ...] = ()
    """In UCI; empty where the file leaves them out."""

    @property
    def sides(self) -> tuple[PlayedSide, PlayedSide]:
        return self.white, self.black


def read_played_games(
    lines: Iterable[bytes | str], gain: GainKind, subject: str = "rated games"
) -> list[PlayedGame]:
    """Read the games of NDJSON ``lines``, with turns by ``gain``.

    Forced moves are no turns. Raises InputError, naming ``subject`` and the line, for
    what cannot be read.
    """
    games = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                games.append(
                    _read_searched_game(msgspec.json.decode(line, type=GameLine), gain)
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


def _read_searched_game(row: GameLine, gain: GainKind) -> PlayedGame:
    searched = row.build_searched_game()
    if searched is None:
        raise ValueError("no scores")
    game = row.build_game()
    # A move whose position after it is not in the file says nothing.
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
    """Return a game with the turns of both sides, White's first, which come without
    any.

    ``positions``: as far as they are known, the first of all among them; ``start``:
    what the engine says of that one, where it is not told.
    """
    found: tuple[tuple[list[Turn], list[str | None]], ...] = (([], []), ([], []))
    board = chess.Board()
    taken = False
    known = set[str]()
    for index, uci in enumerate(moves[: len(positions) - 1]):
        before = positions[index]
        key = board.epd()
        seen = describe_board(board, taken=taken, repeated=key in known)
        known.add(key)
        move = chess.Move.from_uci(uci)
        taken = board.is_capture(move)
        board.push(move)
        if before is None or seen.is_forced:
            continue
        color: Color = "black" if index % 2 else "white"
        gain_cp = compute_gains(before, positions[index + 1], uci, color)[
            gain == "successive"
        ]
        if gain_cp is not None:
            about = start if start and not index else before.whole.complexity
            stability_cp, jump_cp = (
                (about.stability_cp, about.jump_cp) if about else (None, None)
            )
            score = before.whole.cp * (-1 if index % 2 else 1)
            turns, best = found[index % 2]
            turns.append(Turn(gain_cp, score, index + 1, stability_cp, jump_cp, seen))
            best.append(before.best or None)
    white, black = (
        side._replace(turns=tuple(turns), best=tuple(best))
        for side, (turns, best) in zip(sides, found, strict=True)
    )
    scores = tuple(None if each is None else each.whole.cp for each in positions)
    return PlayedGame(white, black, result, scores, tuple(moves))
