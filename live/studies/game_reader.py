"""Reader that converts the text of one game, PGN or NDJSON, to a game of a corpus with
its evaluations.

PGN is read with the decoder of the live sources. The scores of ``[%eval]`` comments are
stored as scores after each move, without best moves.
"""

from __future__ import annotations

from contextlib import suppress

import chess
import chess.pgn
import msgspec

from live.games.game import LEAST_PLIES
from live.sources.pgn_decoder import PgnLimits, PgnReader
from live.sources.pgn_splitter import PgnSegment
from live.studies.alliot_format import is_alliot_format, read_alliot
from live.studies.corpus_games import CorpusGame
from live.studies.corpus_players import build_game
from live.studies.game_lines import GameLine, ShortLine
from live.studies.game_texts import MOST_BYTES, DamagedGame, GameText, ReadGame
from live.studies.searched_games import (
    MoveSearch,
    PositionSearch,
    SearchedGame,
    SearchSetting,
)

#: Setting for evaluations that come from comments in a PGN.
IN_THE_PGN = SearchSetting("[%eval] of the PGN", "as given")
_MOST_SHOWN = 80


class GameReader:
    """Reader of texts one by one. ``given`` is the setting assumed for evaluations in
    files that name no engine.
    """

    def __init__(self, setting: SearchSetting) -> None:
        self._setting = setting
        # The reader remembers only two games, because recognising games that are sent
        # again is useless here.
        limits = PgnLimits(game_bytes=MOST_BYTES, games=2)
        self._pgn = PgnReader(limits=limits)

    def read(self, text: GameText) -> ReadGame:
        """Return the game of one text.

        Raises:
            DamagedGame: the text is not a usable game. No other error is raised.
        """
        read_game = (
            self._read_line(text) if isinstance(text, bytes) else self._read_pgn(text)
        )
        if not read_game.game.moves:
            raise DamagedGame(_name_game(read_game.game), "no moves")
        if len(read_game.game.moves) < LEAST_PLIES:
            raise DamagedGame(
                _name_game(read_game.game), "only one move, treated as a walkover"
            )
        return read_game

    def _read_pgn(self, segment: PgnSegment) -> ReadGame:
        if is_alliot_format(segment):
            return read_alliot(segment)
        reports = self._pgn.read_text(
            segment.header + b"\n" + segment.movetext + b"\n\n", closed=True
        )
        if not reports:
            start = " ".join(segment.header.decode("utf-8", "replace").split())[
                :_MOST_SHOWN
            ]
            raise DamagedGame(start or "?", "no game")
        report = reports[0]
        moves = [move.uci for move in report.moves]
        game = build_game(report.headers, report.result, moves, report.start_fen)
        if report.problem:
            raise DamagedGame(_name_game(game), report.problem)
        scores = [report.start_eval, *(move.eval for move in report.moves)]
        positions = tuple(
            None if score is None else PositionSearch(MoveSearch(score.cp, score.mate))
            for score in scores
        )
        return ReadGame(
            game, SearchedGame(positions) if any(scores) else None, IN_THE_PGN
        )

    def _read_line(self, line: bytes) -> ReadGame:
        try:
            row = msgspec.json.decode(line, type=GameLine)
            if not row.moves:
                row = msgspec.json.decode(line, type=ShortLine).expand_keys()
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            start = line[:_MOST_SHOWN].decode("utf-8", "replace")
            raise DamagedGame(start, str(error)) from None
        game = row.build_game()
        try:
            board = chess.Board(game.start_fen)
            for ply, uci in enumerate(game.moves, 1):
                move = None
                with suppress(ValueError):
                    move = board.push_uci(uci)
                if not move:
                    raise ValueError(f"illegal move {uci} at ply {ply}")
            searched = row.build_searched_game()
        except ValueError as error:
            raise DamagedGame(_name_game(game), str(error)) from None
        setting = self._setting
        limit = f"{row.nodes_limit} nodes" if row.nodes_limit else row.limit
        if row.engine:
            setting = SearchSetting(row.engine, limit or setting.bound, row.multipv)
        return ReadGame(game, searched, setting)


def _name_game(game: CorpusGame) -> str:
    when = ", ".join(part for part in (game.event, game.round, game.date) if part)
    return f"{game.white.name} - {game.black.name}{f' ({when})' if when else ''}"[:200]
