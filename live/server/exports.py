"""What others read of games: PGN, a picture, the whole event as one object, lines of a study.

One game as annotated PGN: the source's moves with our scores and clocks. Pure.

``[%eval]`` and ``[%clk]`` are the comment commands of the PGN supplement (Alan Cowderoy's
``[%clk]``, and ``[%eval]`` as lichess writes it: pawns from White's side with two decimals, ``#n``
for a mate in n moves). Names from the source are escaped (PGN standard, section 7): between the
quotes of a tag only backslash and quote have a meaning. Comments hold nothing but our own commands.

What ``analyze --json`` writes: the whole event as one object. Pure.

Searched games as lines that ``live-rate study add`` takes: live results in a corpus.

A board is drawn as a picture that chats and other sites show beside a link: position and both
figures.

The drawing is pure. The pixels are made by resvg, in a process of its own: it takes some tenths of
a second, and holds Python's lock meanwhile. Run as a program this module is that process.

The page of one board for links in chats: what these read of it, and the way to the board.

Places of the page stand behind the ``#`` of its address, which no server is told.
"""

import importlib.util
import os
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlencode

import chess
import chess.svg
import msgspec
from msgspec.structs import asdict

from live.catalogue import EARLY_MOVES, elo_text, main_event, sentence
from live.event.methods import EventMethods
from live.event.rate_game import COLORS
from live.games.game import number_move, side_of_ply
from live.games.rounds import normalise_round
from live.messages.figures import (
    AnalysedGame,
    AnalysedPlayer,
    CurvePoint,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    GameView,
    PlayerGains,
    PlyView,
)
from live.messages.from_sources import GameReport, Player
from live.messages.moments import Moment
from live.messages.values import Color, GameId, Value
from live.server.published_state import PublishedState, snapshot
from live.server.visibility import ALL
from live.server.wire import API_PATH, encode_whole
from live.watch.moment_rules import find_despite
from live.watch.sentences import format_result, write_sentences

#: The PGN standard, section 4.3: lines have at most 80 columns, the newline included.
LINE_CHARS = 79

_STANDARD_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#: Terminations the standard knows (section 8.1.1.7); the others are lichess' for odd outcomes.
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def export(game: GameDetail) -> str:
    """The game as PGN text, ending with an empty line."""
    return f"{tag_lines(_tags(game))}\n{wrapped(_tokens(game))}\n\n"


def tag_lines(tags: Iterable[tuple[str, object]]) -> str:
    """Tags in lines of their own, those without a value left out."""
    return "".join(
        f'[{name} "{tag_value(str(value))}"]\n' for name, value in tags if value not in (None, "")
    )


def tag_value(text: str) -> str:
    """Text made fit to stand between the quotes of a tag (PGN standard, section 7)."""
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


def printable(text: str) -> str:
    """The text with a space for each control character."""
    return "".join(char if char.isprintable() else " " for char in text)


def eval_command(score_cp: int, mate: int | None) -> str:
    """``[%eval 0.35]``, ``[%eval #-3]``; White's side, pawns.

    Mate in 0 (the side to move is mated) has no form of its own: ``#0`` or ``#-0`` by the winner,
    as python-chess reads it.
    """
    if mate is None:
        return f"[%eval {score_cp / 100:.2f}]"
    if mate == 0:
        return "[%eval #0]" if score_cp > 0 else "[%eval #-0]"
    return f"[%eval #{mate}]"


def clock_command(clock_s: float) -> str:
    """``[%clk 1:59:58]``, tenths only where there are any."""
    seconds, tenth = divmod(max(0, round(clock_s * 10)), 10)
    minutes, seconds = divmod(seconds, 60)
    fraction = f".{tenth}" if tenth else ""
    return f"[%clk {minutes // 60}:{minutes % 60:02}:{seconds:02}{fraction}]"


def _tags(game: GameDetail) -> Iterator[tuple[str, object]]:
    """The seven tags every game has (PGN standard, section 8.1.1), then what else is known."""
    board = f".{game.board}" if game.board is not None and "." not in game.round else ""
    yield "Event", game.event or "?"
    yield "Site", game.site or game.url or "?"
    yield "Date", game.date or "????.??.??"
    yield "Round", f"{game.round}{board}" if game.round else "?"
    yield "White", game.white.name or "?"
    yield "Black", game.black.name or "?"
    yield "Result", _result(game)
    chess960 = game.variant == "chess960"
    set_up = chess960 or game.start_fen != _STANDARD_FEN
    yield "Board", game.board
    yield from player_tags(game.white, game.black)
    yield "TimeControl", game.time_control
    yield "Termination", game.termination
    yield "ECO", game.eco
    yield "Opening", game.opening
    yield "Link", game.url
    yield "Variant", "Chess960" if chess960 else ""
    yield "SetUp", "1" if set_up else ""
    yield "FEN", game.start_fen if set_up else ""
    yield "Annotator", "live-rate"


def _result(game: GameDetail) -> str:
    return game.result if game.result in RESULTS else "*"


def player_tags(white: Player, black: Player) -> Iterator[tuple[str, object]]:
    """What is known of both beside their names."""
    for color, player in (("White", white), ("Black", black)):
        yield f"{color}Title", player.title
        yield f"{color}Elo", player.elo
        yield f"{color}FideId", player.fide_id
        yield f"{color}Fed", player.federation
        yield f"{color}Team", player.team


def _tokens(game: GameDetail) -> Iterator[str]:
    """Movetext without line breaks; a comment command is never split."""
    if game.start_score_cp is not None:
        yield from ("{", eval_command(game.start_score_cp, None), "}")
    yield from numbered(game, ((ply.san, _commands(ply)) for ply in game.plies))
    yield _result(game)


def numbered(
    game: GameView | GameReport, moves: Iterable[tuple[str, Sequence[str]]]
) -> Iterator[str]:
    """Moves with their numbers, and the commands of their comments in braces. The number of a black
    move is repeated after a comment (PGN standard, section 8.2.2.2).
    """
    follows = False
    for ply, (san, commands) in enumerate(moves, 1):
        count, white = number_move(game, ply)
        if white or not follows:
            yield f"{count}{'.' if white else '...'}"
        yield san
        if commands:
            yield from ("{", *commands, "}")
        follows = white and not commands


def _commands(ply: PlyView) -> list[str]:
    commands = []
    if ply.score_cp is not None and ply.final:
        commands.append(eval_command(ply.score_cp, ply.mate))
    if ply.clock_s is not None:
        commands.append(clock_command(ply.clock_s))
    return commands


def wrapped(tokens: Iterable[str]) -> str:
    """Movetext in lines as long as the standard allows."""
    # No token is split at its own spaces.
    text = " ".join(token.replace(" ", "\xa0") for token in tokens)
    lines = textwrap.wrap(text, LINE_CHARS, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\xa0", " ")


class Analysis(Value):
    """Every game with plies and curves, every player, and what they were measured with."""

    engine: EngineInfo
    gain: GainKind
    games: tuple[AnalysedGame, ...]
    players: tuple[AnalysedPlayer, ...]
    partial: bool = False
    """Stopped before every position was searched: what is missing is null."""
    gains: tuple[PlayerGains, ...] = ()
    """Everybody's gains over the event, at one centipawn."""
    engine_gains: GainCounts = ()
    """The engine's own, which players are measured against."""
    in_doubt: tuple[GameId, ...] = ()
    """Games that an open alert doubts, or whose result it doubts."""


def analysis(
    state: PublishedState,
    methods: EventMethods = EventMethods({}, {}),  # noqa: B008  # frozen
    *,
    partial: bool = False,
    in_doubt: Collection[GameId] = (),
) -> Analysis:
    """Return the state as it stands; games and players in the order of a snapshot. ``methods``:
    what is made on demand. ``in_doubt``: games that alerts doubt.
    """
    whole = snapshot(state, ALL)
    return Analysis(
        whole.engine,
        state.gain(),
        tuple(
            AnalysedGame(**asdict(each), methods=methods.games.get(each.id)) for each in whole.games
        ),
        tuple(
            AnalysedPlayer(**asdict(each), methods=methods.players.get(each.id))
            for each in whole.players
        ),
        partial,
        whole.gains,
        whole.engine_gains,
        tuple(game.id for game in whole.games if game.id in in_doubt),
    )


def to_json(value: object, indent: int = 1) -> bytes:
    """Readable JSON with every field, a newline at its end. Unbounded and unknown are null."""
    return msgspec.json.format(encode_whole(value), indent=indent) + b"\n"


#: Fields of a line, and what they are of a game and of its plies.
_GAME_FIELDS = {
    **{name: name for name in ("event", "round", "date", "result", "start_fen")},
    "tc": "time_control",
    "start_cp": "start_score_cp",
}
_PLY_FIELDS = {
    **{name: name for name in ("mate", "depth", "best")},
    "moves": "uci",
    "cp": "score_cp",
    "played": "played_cp",
}


def study_lines(whole: Analysis) -> str:
    """One line a game, with engine and limit; games with a ply that is not searched are left out,
    and so are games of variants.
    """
    return "".join(
        f"{msgspec.json.encode(_line(whole, game)).decode()}\n"
        for game in whole.games
        if game.variant == "standard" and game.plies and all(ply.final for ply in game.plies)
    )


def _line(whole: Analysis, game: GameDetail) -> dict[str, Any]:
    return {
        "white": game.white.name or None,
        "black": game.black.name or None,
        "white_elo": game.white.elo,
        "black_elo": game.black.elo,
        "engine": whole.engine.name,
        "limit": whole.engine.limit,
        **{name: getattr(game, field) for name, field in _GAME_FIELDS.items()},
        **{name: [getattr(ply, of) for ply in game.plies] for name, of in _PLY_FIELDS.items()},
        **{
            name: [getattr(ply.complexity, f"{name}{unit}", None) for ply in game.plies]
            for name, unit in (("stability", "_cp"), ("jump", "_cp"), ("jump_depth", ""))
        },
    }


WIDTH, HEIGHT = 1200, 630
#: What a name, an event may have, characters.
_NAME, _EVENT = 28, 24
#: Characters of a small line beside the board.
_LINE = 60
FONTS = "Inter, DejaVu Sans, Noto Sans, Liberation Sans, Arial, Helvetica, Segoe UI"
#: Inter as the page has it; resvg reads no woff2.
_FONT_FOLDER = Path(__file__).resolve().parents[1] / "screens" / "web" / "font"
INK, QUIET, GROUND = "#e8ecf1", "#9aa7b8", "#12161c"
_COLORS: dict[Color, str] = {"white": "#f2c14e", "black": "#63a4ff"}
_SQUARES = {
    "square light": "#d9dee5",
    "square dark": "#71849b",
    "square light lastmove": "#e8d592",
    "square dark lastmove": "#b39d57",
}


def can_draw() -> bool:
    """Whether resvg is installed."""
    return importlib.util.find_spec("resvg_py") is not None


def board_svg(game: GameDetail) -> str:
    """The game's last position with both players, their figures in words and as curves, as SVG of
    1200 by 630.
    """
    board = chess.Board(game.start_fen)
    for ply in game.plies:
        board.push_uci(ply.uci)
    drawn = chess.svg.board(
        board,
        lastmove=board.peek() if board.move_stack else None,
        coordinates=False,
        size=570,
        colors=_SQUARES,
    )
    event = " · ".join(_place(game))
    state = " · ".join(filter(None, (_outcome(game), _last(game))))
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
            f' font-family="{FONTS}"><rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>',
            f'<g transform="translate(30 30)">{drawn}</g>',
            draw_text(630, 60, 22, QUIET, event),
            *_player(120, game, "black"),
            *_curves(game),
            draw_text(630, 376, 26, INK, state),
            *_explain_result(399, game),
            *_player(456, game, "white"),
            draw_text(630, 608, 22, QUIET, "live-rate"),
            "</svg>",
        )
    )


def _player(y: int, game: GameDetail, color: Color) -> Iterator[str]:
    player = getattr(game, color)
    other = game.black if color == "white" else game.white
    points: tuple[CurvePoint, ...] = getattr(game.curves, color)
    name = cut_text(" ".join(filter(None, (player.title, player.name or "?"))), _NAME)
    yield draw_text(630, y, 28, INK, f"{name}  {player.elo or ''}")
    point = points[-1] if points else None
    if point is None or point.perceived is None:
        yield draw_text(630, y + 60, 50, QUIET, "–")
        yield draw_text(630, y + 92, 20, QUIET, game.note or "nothing can be said yet")
        return
    # Moves that the figure does not rest on.
    missing = sum(side_of_ply(game, ply.ply) == color for ply in game.plies[point.ply :])
    early = point.counted < EARLY_MOVES
    final = not game.running and not missing
    figure, *parts = sentence(point, player.elo, other.elo, final=final).split(" · ")
    figure += "…" if missing else ""
    yield draw_text(630, y + 54, 26 if early else 40, QUIET if early else _COLORS[color], figure)
    for at, part in enumerate(parts):
        yield draw_text(630, y + 86 + 26 * at, 20, QUIET, part)


def _curves(game: GameDetail) -> Iterator[str]:
    """Both curves, small, on one scale, and each own Elo as a dashed line."""
    x, y, width, height = 630, 256, 540, 90
    curves = {
        color: [
            (each.ply, each.perceived)
            for each in getattr(game.curves, color)
            if each.perceived is not None
        ]
        for color in _COLORS
    }
    values = [value for points in curves.values() for _, value in points]
    if not values:
        return
    elos = {"white": game.white.elo, "black": game.black.elo}
    values += filter(None, elos.values())
    low, high, last = min(values) - 50, max(values) + 50, max(2, len(game.plies))

    def at(value: float) -> str:
        return f"{y + height * (high - value) / (high - low):.1f}"

    for color, stroke in _COLORS.items():
        path = " ".join(f"{x + width * ply / last:.1f},{at(value)}" for ply, value in curves[color])
        yield f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="4"/>'
        if elo := elos[color]:
            line = f'd="M{x} {at(elo)}h{width}" stroke="{stroke}" stroke-width="1.5"'
            yield f'<path {line} stroke-dasharray="8 8"/>'


def _explain_result(y: int, game: GameDetail) -> Iterator[str]:
    """Draw why a game was won with the lower figure, where it was."""
    for draft in find_despite(game):
        text = write_sentences(draft, game).en
        for at, line in enumerate(textwrap.wrap(text, _LINE, max_lines=2, placeholder="…")):
            yield draw_text(630, y + 21 * at, 18, QUIET, line.replace("\u00a0", " "))


def _place(game: GameView) -> Iterator[str]:
    """Yield event, round and board, as far as they are known; an event may be only the pairing."""
    if event := main_event(game):
        yield cut_text(event, _EVENT)
    if round := normalise_round(game.round):
        yield f"Round {round}" if round.isdecimal() else cut_text(round, _EVENT)
    if game.board:
        yield f"board {game.board}"


def _outcome(game: GameDetail) -> str:
    """Return the result, while it runs the last score that is known."""
    if not game.running:
        return format_result(game.result)
    scored = [ply for ply in game.plies if ply.final and ply.score_cp is not None]
    if not scored:
        return ""
    last = scored[-1]
    if last.mate is not None:
        return f"#{last.mate}"
    return f"{(last.score_cp or 0) / 100:+.2f}".replace("-", "−")


def _last(game: GameDetail) -> str:
    if not game.plies:
        return ""
    number, white = number_move(game, len(game.plies))
    return f"{number}{'.' if white else '…'} {game.plies[-1].san}"


def cut_text(text: str, most: int) -> str:
    """Return the text in so many characters at most."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def draw_text(
    x: int,
    y: int,
    size: int,
    fill: str,
    text: str,
    *,
    anchor: Literal["start", "middle", "end"] = "start",
    is_bold: bool = False,
) -> str:
    """Return a line of text as SVG; ``x`` is where ``anchor`` says."""
    # XML has no control characters, and pairs of surrogates stand alone in what feeds send.
    known = "".join(char for char in text if char.isprintable())
    look = f' text-anchor="{anchor}"' if anchor != "start" else ""
    look += ' font-weight="bold"' if is_bold else ""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}"{look}>{escape(known)}</text>'


def share_page(
    asked: str,
    game: GameDetail | None,
    root: str,
    moments: Iterable[Moment] = (),
    *,
    picture: bool,
) -> bytes:
    """HTML with Open Graph (ogp.me) tags, which leads to the board at once.

    Args:
        asked: The id in the link: the page that it leads to may know a token, which no link has.
        game: The game; None for one that this visitor may not see, or that is not there.
        root: Where the service is, ``https://HOST/``.
        moments: What this visitor may hear of the game; the weightiest is told, but for a win with
            the lower figure, as both figures stand there.
        picture: Whether there is one of it.
    """
    place = f"#{urlencode({'game': asked})}" if asked else ""
    title = "live-rate" if game is None else f"{game.white.name or '?'} – {game.black.name or '?'}"
    tags = {"og:type": "website", "og:site_name": "live-rate", "og:title": title}
    if game is not None:
        tags["og:description"] = " · ".join(_description(game, moments))
        if picture:
            tags["og:image"] = f"{root}{API_PATH[1:]}/games/{quote(game.id, safe='')}.png"
            tags["og:image:width"], tags["og:image:height"] = str(WIDTH), str(HEIGHT)
            tags["twitter:card"] = "summary_large_image"
    head = "".join(
        f'<meta property="{name}" content="{escape(text)}">' for name, text in tags.items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'{head}<meta http-equiv="refresh" content="0; url=./{escape(place)}"></head>'
        f'<body><a href="./{escape(place)}">{escape(title)}</a></body></html>'
    ).encode("utf-8", "replace")


def _description(game: GameDetail, moments: Iterable[Moment]) -> Iterator[str]:
    """Yield the result, both figures, what happened, and where it was played."""
    if not game.running:
        yield format_result(game.result)
    last = [points[-1] for points in (game.curves.white, game.curves.black) if points]
    figures = [point.perceived for point in last if point.perceived is not None]
    if len(figures) == len(COLORS):
        yield " : ".join(map(elo_text, figures))
    told = max(moments, key=_rank_for_links, default=None)
    if told is not None:
        yield told.text.en
    yield from _place(game)


def _rank_for_links(moment: Moment) -> tuple[bool, float, str]:
    return moment.kind == "despite", moment.weight, moment.id


if __name__ == "__main__":
    import resvg_py

    if sys.platform != "win32":  # where whoever started it has given it the low priority
        os.nice(10)
    fonts = sorted(map(str, _FONT_FOLDER.glob("*.ttf")))
    # Whoever wanted the picture may have been killed meanwhile.
    with suppress(BrokenPipeError), sys.stdout.buffer as out:
        svg = sys.stdin.buffer.read().decode()
        out.write(resvg_py.svg_to_bytes(svg_string=svg, font_files=fonts))
