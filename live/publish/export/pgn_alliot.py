"""The comments of Alliot's annotated games, as far as their values are known here. Pure.

Alliot (2017), section 2.4: after a move ``{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}``,
and where the engine preferred another one, that as a variation with the same comment. Values are
centipawns from the mover's side, both from the position before the move. What is not known is left
empty, the commas stay: selective depth, tablebase hits and time are not kept, nor is anything of a
search restricted to the move played. A study keeps all (``live.studies.alliot_database``).
"""

from __future__ import annotations

import chess

from live.events import ComplexityView, GameDetail, PlyView

#: What the ``Annotator`` tag says of the comments, in Alliot's words.
FORMAT = "{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}"


def comment(value_cp: int, depth: int | None = None, changes: ComplexityView | None = None) -> str:
    """One comment, without blanks so that no line break falls into it."""
    mean, largest, at = "", "", ""
    if changes is not None:
        mean, largest = f"{changes.stability_cp:.0f}", f"{changes.jump_cp}"
        at = "" if changes.jump_depth is None else f"{changes.jump_depth}"
    return f"{{{value_cp},{'' if depth is None else depth},,,,{mean},({largest},{at})}}"


class AlliotComments:
    """Comments of one game's plies, in their order."""

    def __init__(self, game: GameDetail) -> None:
        self._board: chess.Board | None = None
        if game.variant in ("standard", "chess960"):
            try:
                self._board = chess.Board(game.start_fen, chess960=game.variant == "chess960")
            except ValueError:
                self._board = None
        # Of the search of the position before the move.
        self._depth: int | None = None
        self._changes: ComplexityView | None = None

    def tokens(self, ply: PlyView, number: str) -> list[str]:
        """What follows the move: its comment, and the engine's own choice as a variation.

        ``number`` is the move's number as a variation begins with it (``12.`` or ``12...``).
        """
        depth, self._depth = self._depth, ply.depth if ply.final else None
        changes, self._changes = self._changes, ply.complexity if ply.final else None
        better = self._san(ply.best)
        self._push(ply.uci)
        loss_cp = ply.gain_same_search_cp
        if ply.played_cp is None or loss_cp is None:
            return []
        white = number.endswith(".") and not number.endswith("...")
        value_cp = ply.played_cp if white else -ply.played_cp
        if ply.best == ply.uci:
            return [comment(value_cp, depth, changes)]
        words = [comment(value_cp)]
        if better is not None and loss_cp < 0:
            words += ["(", number, better, comment(value_cp - loss_cp, depth, changes), ")"]
        return words

    def _san(self, uci: str | None) -> str | None:
        if self._board is None or uci is None:
            return None
        try:
            return self._board.san(self._board.parse_uci(uci))
        except ValueError:
            return None

    def _push(self, uci: str) -> None:
        if self._board is not None:
            try:
                self._board.push_uci(uci)
            except ValueError:
                self._board = None
