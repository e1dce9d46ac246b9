"""Alliot's database of annotated games, read and written (Alliot 2017, section 2.4).

A game is PGN with moves in coordinates (``c1d2``). The comment after a move holds what
its search found, ``{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}``. Other moves
that were searched in the same position follow as variations with such comments. Values
are centipawns from the mover's side; time is in milliseconds. The ``Annotator`` tag
names what searched. An unknown value is left empty between its commas. The format has
no place for nodes, the distance of a mate, the score after each depth, and the score of
the last position.
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
    """Return whether a PGN text is in this format."""
    return _MARK in segment.header or _MARK in segment.movetext[:2000]


def read_alliot(segment: PgnSegment) -> ReadGame:
    """Return the game, its searches and the setting they were made with. Moves may also
    be in SAN, as other programs convert them. Raises DamagedGame.
    """
    text = segment.header + segment.movetext
    found = _ANNOTATOR.search(text)
    tags, moves = (text[: found.start()], text[found.end() :]) if found else (text, b"")
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
    about = " ".join(found[1].decode("utf-8", "replace").split()) if found else ""
    return ReadGame(game, SearchedGame((*positions, None)), _parse_setting(about))


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
    """A game without any mistake; of a move's comments the first one of a search is
    kept.
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
    """Return the moves and searches. Raises ValueError for illegal moves and for words
    that are no moves, which chess.pgn would skip.
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
    # An empty line would be its end.
    movetext = io.StringIO(f"{start}\n{' '.join(text.split())}")
    played: list[str] = []
    positions: list[PositionSearch | None] = []
    game = chess.pgn.read_game(movetext, Visitor=_Strict)
    for node in game.mainline() if game is not None else ():
        # Moves searched in the same position, the one played first.
        sign = 1 if node.parent.turn() == chess.WHITE else -1
        found: dict[str, MoveSearch] = {}
        for each in node.parent.variations:
            search = _parse_comment(each.comment, sign)
            if search is not None:
                found.setdefault(each.move.uci(), search)
        played.append(node.move.uci())
        positions.append(_choose_searches(played[-1], found, sign))
    return played, positions


def _choose_searches(
    played: str, found: Mapping[str, MoveSearch], sign: int
) -> PositionSearch | None:
    """Keep the best of all moves searched as the position's own; of equal ones, one
    that was not played.
    """
    if played not in found:
        return None
    best = max(found, key=lambda move: (sign * found[move].cp, move != played))
    return PositionSearch(found[best], best, None if best == played else found[played])


def _parse_comment(comment: str, sign: int) -> MoveSearch | None:
    """Return the search in the comment after a move; None if the comment is not in this
    format.
    """
    found = _COMMENT.match("".join(comment.split()))
    if found is None:
        return None
    value, depth, seldepth, tbhits, time_ms, mean, largest, at = found.groups()
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
    """Return one game in the format, ending with an empty line."""
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


#: What the ``Annotator`` tag says of the comments, in Alliot's words.
_FORMAT = "{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}"


def _format_annotator(searched: SearchedGame, setting: SearchSetting) -> str:
    known = [position for position in searched.positions if position is not None]
    searches = [each.whole for each in known]
    searches += [each.played for each in known if each.played is not None]
    total_ms = sum(each.time_ms for each in searches)
    n = len(known) or 1
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
        f" Avg_Depth:{sum(each.whole.depth for each in known) // n}, First_move:1,"
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
            # A move that scores better than the first choice does so by search noise.
            lower = min(sign * position.played.cp, sign * position.whole.cp)
            yield _format_comment(
                msgspec.structs.replace(position.played, cp=sign * lower), sign
            )
            yield f"({position.best}"
            yield f"{_format_comment(position.whole, sign)})"


def _format_comment(search: MoveSearch, sign: int) -> str:
    """Format a search without blanks, so that no line break falls into it."""
    changes = ",(,)"
    if (found := search.complexity) is not None:
        at = "" if found.jump_depth is None else found.jump_depth
        changes = f"{found.stability_cp:.0f},({found.jump_cp},{at})"
    hits = search.tbhits if search.seldepth or search.time_ms else ""
    known = (search.depth or "", search.seldepth or "", hits, search.time_ms or "")
    return f"{{{sign * search.cp},{','.join(map(str, known))},{changes}}}"
