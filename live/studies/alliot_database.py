"""Alliot's database of annotated games, read and written (Alliot 2017, section 2.4).

A game is PGN with moves in coordinates (``c1d2``). After a move stands what its search found,
``{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}``, and other moves searched in the same
position follow as variations with the same comment. Values are centipawns from the mover's side,
time is in milliseconds. The ``Annotator`` tag says what searched. What is not known is left empty
between its commas. Nodes, the distance of a mate, the score after each depth and that of the last
position have no place in the format.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

import chess
import msgspec

from live.feeds.pgn.pgn_headers import read_head
from live.feeds.pgn.pgn_splitter import PgnSegment
from live.publish.export.pgn_export import FORMAT, tag_value, wrapped
from live.ratings.alliot.complexity import Complexity
from live.studies.corpus_database import NumberedGame, SearchSetting
from live.studies.corpus_game import STANDARD_FEN, CorpusGame, game_from
from live.studies.searched_game import MoveSearch, PositionSearch, SearchedGame, clamped

_MARK = b"Format:{value,"
_ANNOTATOR = re.compile(rb'\[Annotator\s+"([^"]*)"\s*\]', re.DOTALL)
_FIELD = re.compile(r"(\w+):\s*([^,]*)")
_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
_TOKEN = re.compile(r"\{([^}]*)\}|([()])|(\d+\.+)|([^\s(){}]+)")
_COMMENT = re.compile(r"(-?\d+),(\d*),(\d*),(\d*),(\d*),(-?\d*(?:\.\d+)?),\((-?\d*),(\d*)\)\s*\Z")

AlliotGame = tuple[CorpusGame | None, SearchedGame | None, SearchSetting | None, str]


def is_alliot(segment: PgnSegment) -> bool:
    """Whether a text of PGN is in this format."""
    return _MARK in segment.header or _MARK in segment.movetext[:2000]


def read_alliot(segment: PgnSegment) -> AlliotGame:
    """The game, its searches and what made them; no game and the problem where it is damaged.

    Never raises. Moves may also be in SAN, as other programs convert them.
    """
    text = segment.header + segment.movetext
    found = _ANNOTATOR.search(text)
    tags, moves = (text[: found.start()], text[found.end() :]) if found else (text, b"")
    head = read_head(tags, max_tags=100, max_line_bytes=2000)
    if not head.playable:
        return None, None, None, head.problem or "not to be played"
    board = head.board()
    try:
        played, positions = _moves(board, moves.decode("utf-8", "replace"))
    except ValueError as error:
        return None, None, None, str(error)
    game = game_from(head.headers, head.result, played, head.start_fen)
    game = msgspec.structs.replace(game, chess960=head.chess960)
    about = " ".join(found[1].decode("utf-8", "replace").split()) if found else ""
    return game, SearchedGame((*positions, None)), _setting(about), ""


def _setting(annotator: str) -> SearchSetting:
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


def _moves(board: chess.Board, text: str) -> tuple[list[str], list[PositionSearch | None]]:
    """Raises ValueError for moves that are not legal."""
    played: list[str] = []
    positions: list[PositionSearch | None] = []
    # Moves searched in the position of the newest ply, the one played first.
    found: dict[str, MoveSearch] = {}
    before = board.copy(stack=False)
    depth, last = 0, ""
    for comment, bracket, number, word in _TOKEN.findall(text):
        if bracket:
            depth += 1 if bracket == "(" else -1
        elif comment:
            search = _search(comment, 1 if before.turn == chess.WHITE else -1)
            if search is not None and last:
                found.setdefault(last, search)
        elif word and not number and word not in _RESULTS and depth <= 1:
            if depth:
                last = _uci(before, word, len(played))
                continue
            if played:
                positions.append(_position(played[-1], found, before.turn))
            before = board.copy(stack=False)
            last = _uci(board, word, len(played) + 1)
            board.push(chess.Move.from_uci(last))
            board.clear_stack()
            played.append(last)
            found = {}
    if played:
        positions.append(_position(played[-1], found, before.turn))
    return played, positions


def _uci(board: chess.Board, word: str, ply: int) -> str:
    try:
        if board.is_legal(chess.Move.from_uci(word)):
            return word
    except ValueError:
        pass
    try:
        return board.parse_san(word).uci()
    except ValueError:
        raise ValueError(f"illegal move {word[:20]} at ply {ply}") from None


def _position(
    played: str, found: Mapping[str, MoveSearch], turn: chess.Color
) -> PositionSearch | None:
    """Of all moves searched the best one is the position's own; of equals one not played."""
    if played not in found:
        return None
    sign = 1 if turn == chess.WHITE else -1
    best = max(found, key=lambda move: (sign * found[move].cp, move != played))
    return PositionSearch(found[best], best, None if best == played else found[played])


def _search(comment: str, sign: int) -> MoveSearch | None:
    """The comment after a move; None where it is none of ours."""
    found = _COMMENT.match("".join(comment.split()))
    if found is None:
        return None
    value, depth, seldepth, tbhits, time_ms, mean, largest, at = found.groups()
    summary = None
    if mean and largest:
        summary = Complexity(float(mean), int(largest), int(at) if at else None, 0)
    return MoveSearch(
        sign * clamped(int(value)),
        depth=int(depth or 0),
        seldepth=int(seldepth or 0),
        time_ms=int(time_ms or 0),
        tbhits=int(tbhits or 0),
        summary=summary,
    )


# --- writing ------------------------------------------------------------------------------------


def write_alliot(
    game: NumberedGame,
    searched: SearchedGame,
    setting: SearchSetting,
    names: Mapping[int, str],
    events: Mapping[int, str],
) -> str:
    """One game in the format, ending with an empty line."""
    tags = [
        ("Event", events.get(game.event or 0, "?")),
        ("Site", "?"),
        ("Date", ".".join([*game.date.split("."), "??", "??"][:3]) if game.date else "????.??.??"),
        ("Round", "?"),
        ("White", names.get(game.white or 0, "?")),
        ("Black", names.get(game.black or 0, "?")),
        ("Result", game.result if game.result in _RESULTS else "*"),
    ]
    if game.start_fen != STANDARD_FEN:
        tags += [("SetUp", "1"), ("FEN", game.start_fen)]
    tags.append(("Annotator", _annotator(searched, setting)))
    head = "".join(f'[{name} "{tag_value(value)}"]\n' for name, value in tags)
    result = game.result if game.result in _RESULTS else "*"
    tokens = itertools.chain(_tokens(game, searched), [result])
    return f"{head}\n{wrapped(tokens)}\n\n"


def _annotator(searched: SearchedGame, setting: SearchSetting) -> str:
    known = [position.whole for position in searched.positions if position is not None]
    total_ms = sum(
        search.time_ms
        for position in searched.positions
        if position is not None
        for search in (position.whole, position.played)
        if search is not None
    )
    kind, amount = "Eval_Time", setting.bound.replace(" ", "")
    if setting.bound.endswith(" nodes"):
        kind, amount = "Eval_Nodes", setting.bound.removesuffix(" nodes")
    elif setting.bound.startswith("depth "):
        kind, amount = "Eval_Depth", setting.bound.removeprefix("depth ")
    n = len(known) or 1
    return (
        f"Program:{setting.engine.replace(',', ';')}, Total_Time:{total_ms // 1000}s,"
        f" {kind}:{amount}, Lines:{setting.lines}, Version:{setting.version},"
        f" Avg_Time:{total_ms // n}ms, Avg_Depth:{sum(each.depth for each in known) // n},"
        f" First_move:1, Format:{FORMAT}, Ref: live-rate"
    )


def _tokens(game: NumberedGame, searched: SearchedGame) -> Iterator[str]:
    white = game.start_fen.split()[1] == "w"
    for ply, uci in enumerate(game.moves):
        yield uci
        sign = 1 if (ply % 2 == 0) == white else -1
        position = searched.positions[ply]
        if position is None or not position.best:
            continue
        if position.best == uci:
            yield _comment(position.whole, sign)
        elif position.played is not None:
            # A move that scores better than the first choice does so by search noise.
            lower = min(sign * position.played.cp, sign * position.whole.cp)
            yield _comment(msgspec.structs.replace(position.played, cp=sign * lower), sign)
            yield f"({position.best}"
            yield f"{_comment(position.whole, sign)})"


def _comment(search: MoveSearch, sign: int) -> str:
    """Without blanks, so that no line break falls into it."""
    changes = ",(,)"
    if (found := search.complexity) is not None:
        at = "" if found.jump_depth is None else found.jump_depth
        changes = f"{found.stability_cp:.0f},({found.jump_cp},{at})"
    hits = search.tbhits if search.seldepth or search.time_ms else ""
    known = (search.depth or "", search.seldepth or "", hits, search.time_ms or "")
    return f"{{{sign * search.cp},{','.join(map(str, known))},{changes}}}"
