"""One game as annotated PGN: moves and clocks from the source, with our scores. Pure.

Comments contain only two commands: ``[%clk]`` of the PGN supplement (Alan Cowderoy),
and ``[%eval]`` as lichess writes it: pawns from White's side with two decimals, or
``#n`` for a mate in n moves. Names from the source are escaped: in the quotes of a tag
only the backslash and the quote are special (PGN standard, section 7).
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from live.games.game import number_move
from live.messages.figures import GameDetail, GameView, PlyView
from live.messages.from_sources import GameReport, Player

#: Maximum length of a line, characters: 80 with the newline (PGN standard, section
#: 4.3).
_LINE_CHARS = 79
_STANDARD_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#: Results in the PGN standard (section 8.1.1.7). Sources such as lichess use others
#: too.
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def write_game(game: GameDetail) -> str:
    """Return a game as PGN, with an empty line at the end."""
    return (
        f"{format_tags(_list_tags(game))}\n{wrap_movetext(_write_movetext(game))}\n\n"
    )


def format_tags(tags: Iterable[tuple[str, object]]) -> str:
    """Return the tags as PGN, one per line; leave out tags without a value."""
    return "".join(
        f'[{name} "{_escape_tag_value(str(value))}"]\n'
        for name, value in tags
        if value not in (None, "")
    )


def _escape_tag_value(text: str) -> str:
    """Return text escaped for the quotes of a tag (PGN standard, section 7)."""
    return replace_unprintable(text).replace("\\", "\\\\").replace('"', '\\"')


def replace_unprintable(text: str) -> str:
    """Return text with each unprintable character replaced by a space."""
    return "".join(char if char.isprintable() else " " for char in text)


def format_eval(score_cp: int, mate: int | None) -> str:
    """Return a score as a command: ``[%eval 0.35]``, in pawns, or ``[%eval #-3]``.

    Scores are from White's side. If the side to move is mated, the command is ``#0``
    after a win by White and ``#-0`` after a win by Black, as in python-chess.
    """
    if mate is None:
        return f"[%eval {score_cp / 100:.2f}]"
    if mate == 0:
        return "[%eval #0]" if score_cp > 0 else "[%eval #-0]"
    return f"[%eval #{mate}]"


def format_clock(clock_s: float) -> str:
    """Return a clock time as a command: ``[%clk 1:59:58]``.

    Tenths of a second are written only if they are not 0.
    """
    seconds, tenth = divmod(max(0, round(clock_s * 10)), 10)
    minutes, seconds = divmod(seconds, 60)
    fraction = f".{tenth}" if tenth else ""
    return f"[%clk {minutes // 60}:{minutes % 60:02}:{seconds:02}{fraction}]"


def _list_tags(game: GameDetail) -> Iterator[tuple[str, object]]:
    """Yield the names and values of all tags of a game.

    First come the seven mandatory tags (PGN standard, section 8.1.1).
    """
    board = f".{game.board}" if game.board is not None and "." not in game.round else ""
    yield "Event", game.event or "?"
    yield "Site", game.site or game.url or "?"
    yield "Date", game.date or "????.??.??"
    yield "Round", f"{game.round}{board}" if game.round else "?"
    yield "White", game.white.name or "?"
    yield "Black", game.black.name or "?"
    yield "Result", _write_result(game)
    chess960 = game.variant == "chess960"
    set_up = chess960 or game.start_fen != _STANDARD_FEN
    yield "Board", game.board
    yield from list_player_tags(game.white, game.black)
    yield "TimeControl", game.time_control
    yield "Termination", game.termination
    yield "ECO", game.eco
    yield "Opening", game.opening
    yield "Link", game.url
    yield "Variant", "Chess960" if chess960 else ""
    yield "SetUp", "1" if set_up else ""
    yield "FEN", game.start_fen if set_up else ""
    yield "Annotator", "live-rate"


def _write_result(game: GameDetail) -> str:
    return game.result if game.result in RESULTS else "*"


def list_player_tags(white: Player, black: Player) -> Iterator[tuple[str, object]]:
    """Yield the tags about both players, other than their names."""
    for color, player in (("White", white), ("Black", black)):
        yield f"{color}Title", player.title
        yield f"{color}Elo", player.elo
        yield f"{color}FideId", player.fide_id
        yield f"{color}Fed", player.federation
        yield f"{color}Team", player.team


def _write_movetext(game: GameDetail) -> Iterator[str]:
    """Yield the tokens of the movetext; each token must stay on one line."""
    if game.start_score_cp is not None:
        yield from ("{", format_eval(game.start_score_cp, None), "}")
    yield from number_moves(
        game, ((ply.san, _list_commands(ply)) for ply in game.plies)
    )
    yield _write_result(game)


def number_moves(
    game: GameView | GameReport, moves: Iterable[tuple[str, Sequence[str]]]
) -> Iterator[str]:
    """Yield moves with their move numbers, and their comments in braces.

    Each item of ``moves`` is a move in SAN and the commands of its comment. The number
    of a black move is repeated after a comment (PGN standard, section 8.2.2.2).
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


def _list_commands(ply: PlyView) -> list[str]:
    commands = []
    if ply.score_cp is not None and ply.final:
        commands.append(format_eval(ply.score_cp, ply.mate))
    if ply.clock_s is not None:
        commands.append(format_clock(ply.clock_s))
    return commands


def wrap_movetext(tokens: Iterable[str]) -> str:
    """Return the tokens as lines of at most :data:`_LINE_CHARS` characters."""
    # Spaces inside a token are protected, so that it is not split.
    text = " ".join(token.replace(" ", "\xa0") for token in tokens)
    lines = textwrap.wrap(
        text, _LINE_CHARS, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\xa0", " ")
