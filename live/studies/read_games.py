"""Texts → games of a corpus, with the evaluations they carry.

PGN goes through the decoder of the feeds; ``[%eval]`` comments are successive scores and nothing
more. Alliot's annotated games are read by ``live.studies.alliot_database``. NDJSON has one game a
line, in any of the forms that ``live-rate manual studies`` describes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from live.events import MATE_CP
from live.feeds.pgn.pgn_decoder import PgnLimits, PgnReader
from live.feeds.pgn.pgn_splitter import PgnSegment
from live.feeds.result_spelling import read_result
from live.ratings.alliot.complexity import Complexity
from live.studies.alliot_database import is_alliot, read_alliot
from live.studies.corpus_database import SearchSetting
from live.studies.corpus_game import (
    STANDARD_FEN,
    CorpusGame,
    game_of,
    illegal_move,
    numbered_player,
    plain_date,
)
from live.studies.game_texts import MOST_BYTES, GameTextPart
from live.studies.searched_game import MoveSearch, PositionSearch, SearchedGame, clamped, cps

#: Of the evaluations that stand in a PGN.
IN_THE_PGN = SearchSetting("[%eval] of the PGN", "as given")

_MOST_SHOWN = 80
T = TypeVar("T")


class ReadGame(msgspec.Struct, frozen=True):
    """What one text held: a game, or a problem."""

    name: str
    """For people: who played, or where it stands."""
    game: CorpusGame | None = None
    problem: str = ""
    searched: SearchedGame | None = None
    setting: SearchSetting | None = None


class GameReader:
    """Reads texts one by one. ``given`` is said of evaluations whose file names no engine."""

    def __init__(self, given: SearchSetting) -> None:
        self._given = given
        # Two games remembered: what the reader keeps of games sent again is of no use here.
        limits = PgnLimits(game_bytes=MOST_BYTES, comment_bytes=MOST_BYTES, games=2)
        self._pgn = PgnReader(limits=limits)

    def read(self, text: GameTextPart) -> ReadGame:
        """Never raises for what stands in a file."""
        if text.line is not None:
            found = self._of_line(text.line)
        else:
            assert text.pgn is not None
            found = self._of_pgn(text.pgn)
        if found.game is not None and not found.game.moves:
            return ReadGame(found.name, problem="no moves")
        return found

    def _of_pgn(self, segment: PgnSegment) -> ReadGame:
        if is_alliot(segment):
            game, searched, setting, problem = read_alliot(segment)
            if game is None:
                return ReadGame("a game of Alliot's format", problem=problem)
            return ReadGame(_name(game), game, problem, searched, setting)
        reports = self._pgn.read(segment.header + b"\n" + segment.movetext + b"\n\n", closed=True)
        if not reports:
            start = " ".join(segment.header.decode("utf-8", "replace").split())[:_MOST_SHOWN]
            return ReadGame(start or "?", problem="no game")
        report = reports[0]
        game = game_of(report)
        if report.problem:
            return ReadGame(_name(game), problem=report.problem)
        scores = [report.start_eval, *(move.eval for move in report.moves)]
        if not any(scores):
            return ReadGame(_name(game), game)
        positions = tuple(
            None if score is None else PositionSearch(MoveSearch(score.cp, score.mate))
            for score in scores
        )
        return ReadGame(_name(game), game, "", SearchedGame(positions), IN_THE_PGN)

    def _of_line(self, line: bytes) -> ReadGame:
        try:
            row = msgspec.json.decode(line, type=_Line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return ReadGame(line[:_MOST_SHOWN].decode("utf-8", "replace"), problem=str(error))
        game = row.game()
        name = _name(game)
        if problem := illegal_move(game.moves, game.start_fen):
            return ReadGame(name, problem=problem)
        try:
            searched = row.searched(game.moves)
        except ValueError as error:
            return ReadGame(name, problem=str(error))
        if searched is None:
            return ReadGame(name, game)
        return ReadGame(name, game, "", searched, row.setting(self._given))


def _name(game: CorpusGame) -> str:
    when = ", ".join(part for part in (game.event, game.round, game.date) if part)
    return f"{game.white.name} - {game.black.name}{f' ({when})' if when else ''}"[:200]


# --- NDJSON -------------------------------------------------------------------------------------


class _Played(msgspec.Struct):
    cp: int
    mate: int | None = None
    depth: int = 0
    seldepth: int = 0
    time_ms: int = 0
    nodes: int = 0
    tbhits: int = 0
    by_depth: list[int | str | None] = []

    def search(self) -> MoveSearch:
        cp = MATE_CP * (1 if self.mate > 0 else -1) if self.mate else clamped(self.cp)
        return MoveSearch(
            cp,
            self.mate,
            self.depth,
            self.seldepth,
            self.time_ms,
            self.nodes,
            self.tbhits,
            cps(self.by_depth),
        )


class _Ply(_Played):
    best: str | None = None
    played: int | _Played | None = None

    def position(self) -> PositionSearch:
        played = self.played
        if isinstance(played, int):
            played = _Played(played)
        return PositionSearch(self.search(), self.best or "", played.search() if played else None)


class _Line(msgspec.Struct):
    """Every key that any of the forms has."""

    m: list[str] | str | None = None
    moves: list[str] | str | None = None
    w: int | None = None
    b: int | None = None
    white_elo: int | None = None
    black_elo: int | None = None
    wid: int | str | None = None
    bid: int | str | None = None
    white: int | str | None = None
    black: int | str | None = None
    r: str | None = None
    result: str | None = None
    date: str | None = None
    event: str = ""
    round: str = ""
    kind: str | None = None
    tc: str | None = None
    start_fen: str = STANDARD_FEN
    engine: str | None = None
    limit: str | None = None
    nodes_limit: int | None = None
    plies: list[_Ply] | None = None
    start_cp: int | None = None
    cp: list[int | None] | None = None
    mate: list[int | None] | None = None
    depth: list[int | None] | None = None
    best: list[str | None] | None = None
    played: list[int | None] | None = None
    stability: list[float | None] | None = None
    jump: list[int | None] | None = None
    jump_depth: list[int | None] | None = None

    def game(self) -> CorpusGame:
        moves = self.moves if self.moves is not None else self.m or ""
        white = self.white if self.white is not None else self.wid
        black = self.black if self.black is not None else self.bid
        return CorpusGame(
            white=numbered_player(white),
            black=numbered_player(black),
            white_elo=self.white_elo if self.white_elo is not None else self.w,
            black_elo=self.black_elo if self.black_elo is not None else self.b,
            event=self.event,
            round=self.round,
            date=plain_date(self.date),
            result=read_result(self.result or self.r or "*"),
            moves=tuple(moves.split() if isinstance(moves, str) else moves),
            start_fen=self.start_fen,
            time_control=self.tc or self.kind or "",
        )

    def setting(self, given: SearchSetting) -> SearchSetting:
        """By the file's own words where it has any."""
        if self.engine is None:
            return given
        limit = f"{self.nodes_limit} nodes" if self.nodes_limit else self.limit
        return SearchSetting(self.engine, limit or given.bound)

    def searched(self, moves: Sequence[str]) -> SearchedGame | None:
        """Raises ValueError for evaluations that do not fit the moves."""
        if self.plies is not None:
            # A finished game may or may not have its last position among them.
            if not len(moves) <= len(self.plies) <= len(moves) + 1:
                raise ValueError(f"{len(self.plies)} evaluations for {len(moves)} moves")
            positions: list[PositionSearch | None] = [ply.position() for ply in self.plies]
            return SearchedGame((*positions, *[None] * (len(moves) + 1 - len(positions))))
        if self.cp is None:
            return None
        if len(self.cp) != len(moves):
            raise ValueError(f"{len(self.cp)} evaluations for {len(moves)} moves")
        return SearchedGame(
            tuple(self._position(index, len(moves)) for index in range(len(moves) + 1))
        )

    def _position(self, index: int, plies: int) -> PositionSearch | None:
        """The position before ply ``index + 1``: columns have one entry a ply, of the position
        after it, but for the choice made in the position before.
        """
        cp = self.start_cp if index == 0 else _at(self.cp, index - 1)
        if cp is None:
            return None
        best = _at(self.best, index) if index < plies else None
        played = _at(self.played, index) if index < plies else None
        summary = None
        stability = _at(self.stability, index - 1) if index else None
        jump = _at(self.jump, index - 1) if index else None
        if stability is not None and jump is not None:
            summary = Complexity(stability, jump, _at(self.jump_depth, index - 1), 0)
        whole = MoveSearch(
            clamped(cp),
            _at(self.mate, index - 1) if index else None,
            (_at(self.depth, index - 1) if index else None) or 0,
            summary=summary,
        )
        # The file has the score of the first choice too, where that was played.
        other = None if played is None else MoveSearch(clamped(played))
        return PositionSearch(whole, best or "", other)


def _at(values: Sequence[T | None] | None, index: int) -> T | None:
    return None if values is None or index >= len(values) else values[index]
