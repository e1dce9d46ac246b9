"""Texts → games of a corpus, with the evaluations they carry.

PGN goes through the decoder of the feeds; ``[%eval]`` comments are successive scores
and nothing more. NDJSON has one game a line, in the forms that ``live-rate manual
studies`` describes.

Alliot's database of annotated games, read and written (Alliot 2017, section 2.4).

A game is PGN with moves in coordinates (``c1d2``). After a move stands what its search
found, ``{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}``, and other moves
searched in the same position follow as variations with the same comment. Values are
centipawns from the mover's side, time is in milliseconds. The ``Annotator`` tag says
what searched. What is not known is left empty between its commas. Nodes, the distance
of a mate, the score after each depth and that of the last position have no place in the
format.

Files of games, one text after the other: PGN and NDJSON, plain or compressed, or
standard input.

What a file is its first bytes say, not its name. Nothing is held but the text being
read, so a file may be of any size. Compressed by gzip, bzip2, xz and Zstandard.

Files into a corpus: each game once, what is damaged counted, named and gone past.

The same command goes on where a kill left it: texts whose transaction was committed are
passed over unread, and a game that is there already is not added again.
"""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import chess
import chess.pgn
import msgspec

from live.errors import InputError
from live.games.game import LEAST_PLIES
from live.games.player_identity import fide_id_of, normalise_name
from live.messages.from_sources import MATE_CP, Headers, Player, Result
from live.ratings.alliot import Complexity
from live.server.pgn_writer import RESULTS, format_tags, wrap_movetext
from live.sources.pgn_decoder import PgnLimits, PgnReader
from live.sources.pgn_headers import read_head
from live.sources.pgn_splitter import PgnSegment, PgnSplitter
from live.sources.results import read_result
from live.studies.corpus_database import (
    BATCH,
    STANDARD_FEN,
    CorpusDatabase,
    CorpusGame,
    CorpusPlayer,
    MoveSearch,
    NumberedGame,
    PositionSearch,
    SearchedGame,
    SearchSetting,
)

_DATE = re.compile(r"(?!0000)(\d{4})(?:[.\-/](?!00)(\d\d)(?:[.\-/](?!00)(\d\d))?)?")
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


# --- writing --------------------------------------------------------------------------


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


STDIN = "-"

_PIECE_BYTES = 1 << 16
#: Of one game; nothing sane is longer, and a file of something else must not fill the
#: memory.
MOST_BYTES = 1 << 24


#: One game of a file, unread: a segment of PGN, or a line of NDJSON.
GameText = PgnSegment | bytes


class BrokenFile(Exception):
    """A file that ends in the middle or cannot be read on; what came before is good."""


def read_file_mark(path: str) -> str:
    """Return a mark that changes when the file does; empty for standard input, which
    cannot be read again.

    Raises InputError when there is no such file.
    """
    if path == STDIN:
        return ""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise InputError(
            path, error.strerror or "cannot be read", "Check the path"
        ) from None
    return f"{about.st_size} bytes, {about.st_mtime_ns}"


def read_game_texts(path: str) -> Iterator[GameText]:
    """Yield the games of a file in their order.

    Raises:
        InputError: no such file, or one that is compressed in a way that needs another
            package.
        BrokenFile: it cannot be read to its end.
    """
    try:
        raw = sys.stdin.buffer if path == STDIN else open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(
            path, error.strerror or "cannot be read", "Check the path"
        ) from None
    with raw:
        plain = _decompress(
            io.BufferedReader(cast("io.RawIOBase", raw), _PIECE_BYTES), path
        )
        try:
            first = plain.peek(64).lstrip(b"\xef\xbb\xbf \t\r\n")
            yield from (
                _read_lines(plain) if first.startswith(b"{") else _split_segments(plain)
            )
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise BrokenFile(str(error) or type(error).__name__) from None
        except Exception as error:
            # The optional decompressor has errors of its own.
            if type(error).__module__.split(".")[0] == "zstandard":
                raise BrokenFile(str(error)) from None
            raise


def _decompress(raw: io.BufferedReader, path: str) -> Any:
    """Open the contents of a file, whatever compresses it."""
    first = raw.peek(6)
    if first.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)
    if first.startswith(b"BZh"):
        return bz2.BZ2File(raw)
    if first.startswith(b"\xfd7zXZ"):
        return lzma.LZMAFile(raw)
    if not first.startswith(b"\x28\xb5\x2f\xfd"):
        return raw
    try:
        import zstandard
    except ImportError:
        raise InputError(
            path,
            "is compressed by Zstandard, which this Python cannot read",
            "Run: pip install 'live-rate[study]'",
        ) from None
    opened = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    return io.BufferedReader(cast("io.RawIOBase", opened), _PIECE_BYTES)


def _read_lines(file: io.BufferedReader) -> Iterator[GameText]:
    return filter(bytes.strip, iter(partial(file.readline, MOST_BYTES), b""))


def _split_segments(file: io.BufferedReader) -> Iterator[GameText]:
    splitter = PgnSplitter(max_game_bytes=MOST_BYTES, eager=False)
    # One read at a time: asked for more, a file that was cut fails, and what it had is
    # gone.
    while piece := file.read1(_PIECE_BYTES):
        yield from filter(None, splitter.split_bytes(piece))
    yield from filter(None, splitter.finish_input())


#: Of the evaluations that stand in a PGN.
IN_THE_PGN = SearchSetting("[%eval] of the PGN", "as given")

_MOST_SHOWN = 80


class ReadGame(NamedTuple):
    """What one text holds."""

    game: CorpusGame
    searched: SearchedGame | None
    setting: SearchSetting


class DamagedGame(Exception):
    """A text that is no game: what is wrong with it, for people."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(problem)
        self.name = name
        """Who played, or where it stands."""


class GameReader:
    """Reads texts one by one. ``given`` is said of evaluations whose file names no
    engine.
    """

    def __init__(self, given: SearchSetting) -> None:
        self._given = given
        # Two games remembered: what the reader keeps of games sent again is of no use
        # here.
        limits = PgnLimits(game_bytes=MOST_BYTES, games=2)
        self._pgn = PgnReader(limits=limits)

    def read(self, text: GameText) -> ReadGame:
        """Read one text. Raises DamagedGame, and no other error for any text."""
        found = (
            self._read_line(text) if isinstance(text, bytes) else self._read_pgn(text)
        )
        if not found.game.moves:
            raise DamagedGame(_name_game(found.game), "no moves")
        if len(found.game.moves) < LEAST_PLIES:
            raise DamagedGame(
                _name_game(found.game), "one move alone, taken as a walkover"
            )
        return found

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
                row = msgspec.json.decode(line, type=_ShortLine).expand_keys()
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
        given = self._given
        limit = f"{row.nodes_limit} nodes" if row.nodes_limit else row.limit
        if row.engine:
            given = SearchSetting(row.engine, limit or given.bound, row.multipv)
        return ReadGame(game, searched, given)


def _name_game(game: CorpusGame) -> str:
    when = ", ".join(part for part in (game.event, game.round, game.date) if part)
    return f"{game.white.name} - {game.black.name}{f' ({when})' if when else ''}"[:200]


def build_player(number: int | str | None) -> CorpusPlayer:
    """Build a player from a file that has names, numbers in their place, or neither."""
    if number is None or number == "":
        return CorpusPlayer("?", "")
    if isinstance(number, int):
        return CorpusPlayer(str(number), f"number {number}")
    return CorpusPlayer(number, _split_name(number))


def _split_name(name: str) -> str:
    """A name as it is compared. One letter names somebody too: a study is told its
    players.
    """
    letter = name.strip().casefold()
    return normalise_name(name) or (
        f"letter {letter}" if len(letter) == 1 and letter.isalnum() else ""
    )


def _read_pgn_player(player: Player) -> CorpusPlayer:
    """Convert a player of a PGN."""
    return CorpusPlayer(
        player.name or "?", _split_name(player.name), fide_id_of(player)
    )


def normalise_date(text: str | None) -> str:
    """Convert ``2013.08.??`` and ``2013-08`` to ``2013.08``; return empty text for what
    is no date.
    """
    found = _DATE.match(text or "")
    return ".".join(filter(None, found.groups())) if found else ""


def build_game(
    headers: Headers, result: Result, moves: Iterable[str], start_fen: str
) -> CorpusGame:
    """Build a game from the tags of its PGN, with its moves in UCI."""
    return CorpusGame(
        white=_read_pgn_player(headers.white),
        black=_read_pgn_player(headers.black),
        white_elo=headers.white.elo,
        black_elo=headers.black.elo,
        event=headers.event,
        round=headers.round,
        date=normalise_date(headers.date),
        result=result,
        moves=tuple(moves),
        start_fen=start_fen,
        chess960=headers.variant == "chess960",
        time_control=headers.time_control,
    )


def clamp_score(cp: int) -> int:
    """Limit a score to the range that this package counts with."""
    return max(-MATE_CP, min(MATE_CP, cp))


_MATES = {"M": MATE_CP, "-M": -MATE_CP}


def parse_scores(scores: Sequence[Any]) -> tuple[int | None, ...]:
    """Convert scores by depth as files have them: centipawns, ``M`` and ``-M`` for
    mates, null.
    """
    return tuple(
        clamp_score(score) if isinstance(score, int) else _MATES.get(score)
        for score in scores
    )


# --- NDJSON ---------------------------------------------------------------------------


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
        # The same fields, in the same order.
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
        other = played.build_search() if played else None
        return None if whole is None else PositionSearch(whole, self.best or "", other)


_Numbers = list[int | None] | None
"""One for each position or move."""


class GameLine(msgspec.Struct):
    """Every key that any of the forms has."""

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
    """Lines that were searched."""
    lines: list[list[tuple[str, int]]] | None = None
    """Of each position: first moves and scores, best first."""

    @property
    def uci(self) -> tuple[str, ...]:
        """The moves."""
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
        """Return the searches of the game. Raises ValueError for evaluations that do
        not fit the moves.
        """
        if self.plies is not None:
            positions = [ply.build_position() for ply in self.plies]
        elif self.cp is not None:
            positions = list(self._read_columns(self.cp))
        else:
            return None
        # Of a finished game the last position may be missing where each is listed by
        # itself.
        missing = len(self.uci) + 1 - len(positions)
        if missing not in (0, int(self.plies is not None)):
            raise ValueError(f"{len(positions)} evaluations for {len(self.uci)} moves")
        return SearchedGame((*positions, *[None] * missing))

    def _read_columns(
        self, scores: Sequence[int | None]
    ) -> Iterator[PositionSearch | None]:
        """Columns have one entry a ply, of the position after it, but for the choice
        made in the position before. What a search reported may have one more: that of
        the start, first.
        """
        after = (self.mate, self.depth, self.stability, self.jump, self.jump_depth)
        columns: list[Sequence[Any]] = [[self.start_cp, *scores]]
        for values in after:
            is_from_start = values is not None and len(values) > len(scores)
            columns.append([*([] if is_from_start else [None]), *(values or ())])
        columns += [values or () for values in (self.best, self.played, self.lines)]
        rows = itertools.islice(itertools.zip_longest(*columns), len(columns[0]))
        for cp, mate, depth, mean, jump, at, best, played, lines in rows:
            known = mean is not None and jump is not None
            summary = Complexity(mean, jump, at, 0) if known else None
            # The file has the score of the first choice too, where that was played.
            other = None if played is None else MoveSearch(clamp_score(played))
            whole = MoveSearch(clamp_score(cp or 0), mate, depth or 0, summary=summary)
            found = PositionSearch(whole, best or "", other, tuple(lines or ()))
            yield None if cp is None else found


_SHORT_KEYS = {
    "moves": "m",
    "white_elo": "w",
    "black_elo": "b",
    "white": "wid",
    "black": "bid",
    "result": "r",
    "event": "kind",
}


class _ShortLine(msgspec.Struct, rename=_SHORT_KEYS):
    """What a line of a collection with short keys has."""

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


class AddedGames(msgspec.Struct):
    """What became of one file's texts in this run."""

    source: str
    texts: int = 0
    """In the file, those of earlier runs included."""
    passed_over: int = 0
    """Read in an earlier run."""
    new: int = 0
    known: int = 0
    """Games that the corpus held already."""
    evaluated: int = 0
    """Games whose evaluations came along and were new."""
    damaged: int = 0
    broken: str = ""
    """Why the file could not be read to its end; empty when it was."""

    @property
    def only_damage(self) -> bool:
        """Not one game could be read."""
        return 0 < self.damaged == self.texts - self.passed_over


def add_file(
    database: CorpusDatabase,
    path: str,
    given: SearchSetting,
    progress: Callable[[AddedGames], None] = lambda added: None,
) -> AddedGames:
    """Add one file's games. Raises InputError when there is no such file or the disk is
    full.
    """
    added = AddedGames(path)
    source, known_texts, finished = database.open_source(path, read_file_mark(path))
    if finished:
        added.texts = added.passed_over = known_texts
        return added
    reader = GameReader(given)
    try:
        for text in read_game_texts(path):
            added.texts += 1
            if added.texts <= known_texts:
                added.passed_over += 1
                continue
            try:
                found = reader.read(text)
            except DamagedGame as error:
                added.damaged += 1
                database.record_damage(source, added.texts, error.name, str(error))
            else:
                number, new = database.add_game(found.game)
                added.new += new
                added.known += not new
                if found.searched is not None:
                    setting = database.add_setting(found.setting)
                    added.evaluated += database.add_results(
                        setting, number, found.searched
                    )
            database.record_texts(source, added.texts)
            if added.texts % BATCH == 0:
                progress(added)
                database.commit()
    except BrokenFile as error:
        added.broken = str(error)
        database.record_damage(
            source, added.texts + 1, "the rest of the file", str(error)
        )
    database.record_texts(source, added.texts, finished=not added.broken)
    database.commit()
    return added
