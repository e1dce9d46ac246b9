"""Parser that converts one line of NDJSON to a game with its evaluations.

``live-rate manual studies`` describes the formats.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from live.messages.from_sources import MATE_CP
from live.ratings.complexity import Complexity
from live.sources.results import read_result
from live.studies.corpus_games import STANDARD_FEN, CorpusGame
from live.studies.corpus_players import build_player, normalise_date
from live.studies.searched_games import MoveSearch, PositionSearch, SearchedGame


def clamp_score(cp: int) -> int:
    """Return a score limited to the range of scores in this package, from -3900 to
    3900.
    """
    return max(-MATE_CP, min(MATE_CP, cp))


_MATES = {"M": MATE_CP, "-M": -MATE_CP}


def parse_scores(scores: Sequence[Any]) -> tuple[int | None, ...]:
    """Return scores by depth as centipawns. A file has centipawns, ``M`` and ``-M`` for
    mates, or null for an unknown score.
    """
    return tuple(
        clamp_score(score) if isinstance(score, int) else _MATES.get(score)
        for score in scores
    )


class _Played(msgspec.Struct):
    cp: int | None = None
    mate: int | None = None
    depth: int = 0
    seldepth: int = 0
    time_ms: int = 0
    nodes: int = 0
    tbhits: int = 0
    by_depth: list[int | str | None] = []

    def build_search(self) -> MoveSearch | None:
        if self.cp is None and not self.mate:
            return None
        cp = (
            MATE_CP * (1 if self.mate > 0 else -1)
            if self.mate
            else clamp_score(self.cp or 0)
        )
        # The remaining fields are the next fields of MoveSearch, in the same order.
        values = [cp, *msgspec.structs.astuple(self)[1:7], parse_scores(self.by_depth)]
        return MoveSearch(*values)


class _Ply(_Played):
    best: str | None = None
    played: int | _Played | None = None

    def build_position(self) -> PositionSearch | None:
        whole = self.build_search()
        played = self.played
        if isinstance(played, int):
            played = _Played(played)
        other_search = played.build_search() if played else None
        return (
            None
            if whole is None
            else PositionSearch(whole, self.best or "", other_search)
        )


_Numbers = list[int | None] | None
"""One number for each position or move."""


class GameLine(msgspec.Struct):
    """All keys that a line can have, whatever its format."""

    moves: list[str] | str = ""
    white_elo: int | None = None
    black_elo: int | None = None
    white: int | str | None = None
    black: int | str | None = None
    result: str | None = None
    date: str | None = None
    event: str = ""
    round: str = ""
    tc: str | None = None
    start_fen: str = STANDARD_FEN
    engine: str | None = None
    limit: str | None = None
    nodes_limit: int | None = None
    plies: list[_Ply] | None = None
    start_cp: int | None = None
    cp: _Numbers = None
    mate: _Numbers = None
    depth: _Numbers = None
    best: list[str | None] | None = None
    played: _Numbers = None
    stability: list[float | None] | None = None
    jump: _Numbers = None
    jump_depth: _Numbers = None
    multipv: int = 1
    """Number of lines that were searched per position."""
    lines: list[list[tuple[str, int]]] | None = None
    """For each position: first moves and scores of its lines, best first."""

    @property
    def uci(self) -> tuple[str, ...]:
        """Moves in UCI."""
        return tuple(self.moves.split() if isinstance(self.moves, str) else self.moves)

    def build_game(self) -> CorpusGame:
        return CorpusGame(
            white=build_player(self.white),
            black=build_player(self.black),
            white_elo=self.white_elo,
            black_elo=self.black_elo,
            event=self.event,
            round=self.round,
            date=normalise_date(self.date),
            result=read_result(self.result or "*"),
            moves=self.uci,
            start_fen=self.start_fen,
            time_control=self.tc or "",
        )

    def build_searched_game(self) -> SearchedGame | None:
        """Return the searches of the game; None if the line has no evaluations.

        Raises:
            ValueError: the number of evaluations does not fit the moves.
        """
        if self.plies is not None:
            positions = [ply.build_position() for ply in self.plies]
        elif self.cp is not None:
            positions = list(self._read_columns(self.cp))
        else:
            return None
        # The last position of a finished game is allowed to be missing in ``plies``.
        missing = len(self.uci) + 1 - len(positions)
        if missing not in (0, int(self.plies is not None)):
            raise ValueError(f"{len(positions)} evaluations for {len(self.uci)} moves")
        return SearchedGame((*positions, *[None] * missing))

    def _read_columns(
        self, scores: Sequence[int | None]
    ) -> Iterator[PositionSearch | None]:
        """Yield the positions of a line that has one list per figure.

        Each list has one entry per ply. An entry describes the position after the ply,
        but the engine's choice belongs to the position before it. A list of search
        figures can begin with one more entry, for the starting position.
        """
        after = (self.mate, self.depth, self.stability, self.jump, self.jump_depth)
        columns: list[Sequence[Any]] = [[self.start_cp, *scores]]
        for values in after:
            is_from_start = values is not None and len(values) > len(scores)
            columns.append([*([] if is_from_start else [None]), *(values or ())])
        columns += [values or () for values in (self.best, self.played, self.lines)]
        rows = itertools.islice(itertools.zip_longest(*columns), len(columns[0]))
        for cp, mate, depth, mean, jump, at, best, played, lines in rows:
            has_changes = mean is not None and jump is not None
            summary = Complexity(mean, jump, at, 0) if has_changes else None
            # The file has this score also for moves that were the first choice.
            other_search = None if played is None else MoveSearch(clamp_score(played))
            whole = MoveSearch(clamp_score(cp or 0), mate, depth or 0, summary=summary)
            position = PositionSearch(
                whole, best or "", other_search, tuple(lines or ())
            )
            yield None if cp is None else position


_SHORT_KEYS = {
    "moves": "m",
    "white_elo": "w",
    "black_elo": "b",
    "white": "wid",
    "black": "bid",
    "result": "r",
    "event": "kind",
}


class ShortLine(msgspec.Struct, rename=_SHORT_KEYS):
    """All keys of a line from a collection with short keys."""

    moves: list[str] | str = ""
    white_elo: int | None = None
    black_elo: int | None = None
    white: int | str | None = None
    black: int | str | None = None
    result: str | None = None
    date: str | None = None
    event: str = ""
    tc: str | None = None

    def expand_keys(self) -> GameLine:
        """Return the same game under the long keys."""
        return GameLine(**msgspec.structs.asdict(self))
