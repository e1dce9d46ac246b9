"""Reader and writer of Alliot's database of annotated games (Alliot 2017, section 2.4).

A game is PGN with moves in coordinates (``c1d2``). The comment after a move contains
the result of its search, ``{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}``.
Other moves that were searched in the same position follow as variations with such
comments. Values are centipawns from the mover's side; time is in milliseconds. The
``Annotator`` tag names the searching program and its settings. An unknown value is left
empty between its commas. The format cannot store nodes, the number of moves to mate,
the score after each depth, and the score of the last position.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator, Mapping

import chess
import chess.pgn
import msgspec

from live.ratings.complexity import Complexity
from live.server.pgn_writer import RESULTS, format_tags, wrap_movetext
from live.sources.pgn_headers import read_head
from live.sources.pgn_splitter import PgnSegment
from live.studies.corpus_database import NumberedGame
from live.studies.corpus_games import STANDARD_FEN
from live.studies.corpus_players import build_game
from live.studies.game_lines import clamp_score
from live.studies.game_texts import DamagedGame, ReadGame
from live.studies.searched_games import (
    MoveSearch,
    PositionSearch,
    SearchedGame,
    SearchSetting,
)

_MARK = b"Format:{value,"
_ANNOTATOR = re.compile(rb'\[Annotator\s+"([^"]*)"\s*\]', re.DOTALL)
_FIELD = re.compile(r"(\w+):\s*([^,]*)")
_BESIDE = re.compile(r"\{[^}]*\}|\d+\.+|\$\d+")
_MOVE = re.compile(
    r"(?:[KQRBN]?[a-h]?[1-8]?[-x]?[a-h][1-8](?:=?[qrbnQRBN])?|O-O(?:-O)?|0-0(?:-0)?)[+#]?[!?]*"
)
_COMMENT = re.compile(
    r"(-?\d+),(\d*),(\d*),(\d*),(\d*),(-?\d*(?:\.\d+)?),\((-?\d*),(\d*)\)\s*\Z"
)


def is_alliot_format(segment: PgnSegment) -> bool:
    """Return whether a PGN text is in Alliot's format."""
    return _MARK in segment.header or _MARK in segment.movetext[:2000]


def read_alliot(segment: PgnSegment) -> ReadGame:
    """Return the game, its searches, and the setting with which they were made. Moves
    in SAN are also accepted, because other programs convert coordinates to SAN.

    Raises:
        DamagedGame: the text is not a complete and legal game.
    """
    text = segment.header + segment.movetext
    annotator = _ANNOTATOR.search(text)
    tags, moves = (
        (text[: annotator.start()], text[annotator.end() :])
        if annotator
        else (text, b"")
    )
    head = read_head(tags)
    try:
        if not head.playable:
            raise ValueError(head.problem)
        played, positions = _parse_moves(
            head.create_board(), moves.decode("utf-8", "replace")
        )
    except ValueError as error:
        raise DamagedGame("a game of Alliot's format", str(error)) from None
    game = build_game(head.headers, head.result, played, head.start_fen)
    description = (
        " ".join(annotator[1].decode("utf-8", "replace").split()) if annotator else ""
    )
    return ReadGame(game, SearchedGame((*positions, None)), _parse_setting(description))


def _parse_setting(annotator: str) -> SearchSetting:
    fields: Mapping[str, str] = dict(_FIELD.findall(annotator))
    if "Eval_Nodes" in fields:
        bound = f"{fields['Eval_Nodes']} nodes"
    elif "Eval_Depth" in fields:
        bound = f"depth {fields['Eval_Depth']}"
    else:
        bound = fields.get("Eval_Time", "as given").replace("ms", " ms")
    lines = fields.get("Lines", "")
    return SearchSetting(
        fields.get("Program", "as given").strip(),
        bound,
        int(lines) if lines.isdigit() else 1,
        fields.get("Version", "").strip(),
    )


class _Strict(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builder that rejects every error in a game. Of the comments after a move, it
    keeps the first one that describes a search.
    """

    def handle_error(self, error: Exception) -> None:
        raise error

    def visit_comment(self, comment: str) -> None:
        node = self.variation_stack[-1]
        if (
            self.in_variation
            and not node.comment
            and _COMMENT.match("".join(comment.split()))
        ):
            node.comment = comment


def _parse_moves(
    board: chess.Board, text: str
) -> tuple[list[str], list[PositionSearch | None]]:
    """Return the moves, and the search of each position before them.

    Raises:
        ValueError: a move is illegal, or a word is not a move; chess.pgn would skip
            such words.
    """
    plain = _BESIDE.sub(" ", text)
    words = plain.replace("(", " ").replace(")", " ").split()
    for word in words:
        if word not in RESULTS and not _MOVE.fullmatch(word):
            raise ValueError(f"{word[:20]} is no move")
    if plain.count("(") != plain.count(")"):
        raise ValueError("a bracket is missing")
    start = f'[SetUp "1"]\n[FEN "{board.fen()}"]\n'
    start += '[Variant "Chess960"]\n' if board.chess960 else ""
    # chess.pgn ends the movetext at an empty line.
    movetext = io.StringIO(f"{start}\n{' '.join(text.split())}")
    played: list[str] = []
    positions: list[PositionSearch | None] = []
    game = chess.pgn.read_game(movetext, Visitor=_Strict)
    for node in game.mainline() if game is not None else ():
        # All moves that were searched in the same position, the one played first.
        sign = 1 if node.parent.turn() == chess.WHITE else -1
        searches: dict[str, MoveSearch] = {}
        for variation in node.parent.variations:
            search = _parse_comment(variation.comment, sign)
            if search is not None:
                searches.setdefault(variation.move.uci(), search)
        played.append(node.move.uci())
        positions.append(_choose_searches(played[-1], searches, sign))
    return played, positions


def _choose_searches(
    played: str, searches: Mapping[str, MoveSearch], sign: int
) -> PositionSearch | None:
    """Return the best of all searched moves as the position's own search. Among equal
    moves, prefer one that was not played. Return None if the move played was not
    searched.
    """
    if played not in searches:
        return None
    best = max(searches, key=lambda move: (sign * searches[move].cp, move != played))
    return PositionSearch(
        searches[best], best, None if best == played else searches[played]
    )


def _parse_comment(comment: str, sign: int) -> MoveSearch | None:
    """Return the search described by the comment after a move, with its score from
    White's side; None if the comment does not describe a search.
    """
    match = _COMMENT.match("".join(comment.split()))
    if match is None:
        return None
    value, depth, seldepth, tbhits, time_ms, mean, largest, at = match.groups()
    summary = None
    if mean and largest:
        summary = Complexity(float(mean), int(largest), int(at) if at else None, 0)
    return MoveSearch(
        sign * clamp_score(int(value)),
        depth=int(depth or 0),
        seldepth=int(seldepth or 0),
        time_ms=int(time_ms or 0),
        tbhits=int(tbhits or 0),
        summary=summary,
    )


def write_alliot(
    game: NumberedGame,
    searched: SearchedGame,
    setting: SearchSetting,
    names: Mapping[int, str],
    events: Mapping[int | None, str],
) -> str:
    """Return one game in Alliot's format, ending with an empty line."""
    result = game.result if game.result in RESULTS else "*"
    tags = [
        ("Event", events.get(game.event, "?")),
        ("Site", "?"),
        ("Date", ".".join([*(game.date or "????").split("."), "??", "??"][:3])),
        ("Round", "?"),
        ("White", names.get(game.white or 0, "?")),
        ("Black", names.get(game.black or 0, "?")),
        ("Result", result),
    ]
    if game.start_fen != STANDARD_FEN:
        tags += [("SetUp", "1"), ("FEN", game.start_fen)]
    tags.append(("Annotator", _format_annotator(searched, setting)))
    tokens = itertools.chain(_format_moves(game, searched), [result])
    return f"{format_tags(tags)}\n{wrap_movetext(tokens)}\n\n"


#: Description of the comments in the ``Annotator`` tag, as Alliot writes it.
_FORMAT = "{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}"


def _format_annotator(searched: SearchedGame, setting: SearchSetting) -> str:
    positions = [position for position in searched.positions if position is not None]
    searches = [position.whole for position in positions]
    searches += [position.played for position in positions if position.played]
    total_ms = sum(search.time_ms for search in searches)
    n = len(positions) or 1
    depths = [position.whole.depth for position in positions]
    kind = "Eval_Time"
    amount = setting.bound.replace(" ", "")
    if setting.bound.endswith(" nodes"):
        kind = "Eval_Nodes"
        amount = setting.bound.removesuffix(" nodes")
    elif setting.bound.startswith("depth "):
        kind = "Eval_Depth"
        amount = setting.bound.removeprefix("depth ")
    return (
        f"Program:{setting.engine.replace(',', ';')}, Total_Time:{total_ms // 1000}s,"
        f" {kind}:{amount}, Lines:{setting.lines}, Version:{setting.version},"
        f" Avg_Time:{total_ms // n}ms,"
        f" Avg_Depth:{sum(depths) // n}, First_move:1,"
        f" Format:{_FORMAT}, Ref: live-rate"
    )


def _format_moves(game: NumberedGame, searched: SearchedGame) -> Iterator[str]:
    white = game.start_fen.split()[1] == "w"
    for ply, uci in enumerate(game.moves):
        yield uci
        sign = 1 if (ply % 2 == 0) == white else -1
        position = searched.positions[ply]
        if position is None or not position.best:
            continue
        if position.best == uci:
            yield _format_comment(position.whole, sign)
        elif position.played is not None:
            # Only search noise can give a move a better score than the first choice, so
            # the score is limited to that of the first choice.
            lower = min(sign * position.played.cp, sign * position.whole.cp)
            yield _format_comment(
                msgspec.structs.replace(position.played, cp=sign * lower), sign
            )
            yield f"({position.best}"
            yield f"{_format_comment(position.whole, sign)})"


def _format_comment(search: MoveSearch, sign: int) -> str:
    """Format a search as a comment without spaces, so that no line can split it."""
    changes = ",(,)"
    if (summary := search.complexity) is not None:
        at = "" if summary.jump_depth is None else summary.jump_depth
        changes = f"{summary.stability_cp:.0f},({summary.jump_cp},{at})"
    hits = search.tbhits if search.seldepth or search.time_ms else ""
    figures = (search.depth or "", search.seldepth or "", hits, search.time_ms or "")
    return f"{{{sign * search.cp},{','.join(map(str, figures))},{changes}}}"
