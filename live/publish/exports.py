"""Downloads of the whole event in formats of others: what the port asks of whoever makes them.

A program of ours that makes one file beside the loop: bytes in, bytes out.

One game as annotated PGN: the source's moves with our scores and clocks. Pure.

``[%eval]`` and ``[%clk]`` are the comment commands of the PGN supplement (Alan Cowderoy's
``[%clk]``, and ``[%eval]`` as lichess writes it: pawns from White's side with two decimals, ``#n``
for a mate in n moves). Names from the source are escaped (PGN standard, section 7): between the
quotes of a tag only backslash and quote have a meaning. Comments hold nothing but our own commands.

The comments of Alliot's annotated games, as far as their values are known here.

Alliot (2017), section 2.4: after a move ``{value,depth,seldepth,tbhits,time,dmean,(dmax,ddmax)}``,
and where the engine preferred another one, that as a variation with the same comment. Values are
centipawns from the mover's side, both from the position before the move. What is not known is left
empty, the commas stay: selective depth, tablebase hits and time are not kept, nor is anything of a
search restricted to the move played. A study keeps all (``live.studies.read_games``).

What ``analyze --json`` writes: the whole event as one object. Pure.

Searched games as lines that ``live-rate study add`` takes: live results in a corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import chess
import msgspec

from live.events import (
    ComplexityView,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    Player,
    PlayerGains,
    PlayerView,
    PlyView,
)
from live.games.game import move_number
from live.publish.published_state import PublishedState, snapshot
from live.publish.visibility import StreamFilter, Visibility

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


#: The PGN standard, section 4.3: lines have at most 80 columns, the newline included.
LINE_CHARS = 79

_STANDARD_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


Form = Literal["eval", "alliot"]
"""How scores are written: ``[%eval]`` and ``[%clk]``, or as Alliot writes them."""


def export(game: GameDetail, form: Form = "eval") -> str:
    """The game as PGN text, ending with an empty line."""
    tags = "".join(f'[{name} "{tag_value(value)}"]\n' for name, value in _tags(game, form))
    return f"{tags}\n{wrapped(_tokens(game, form))}\n\n"


def tag_value(text: str) -> str:
    """Text made fit to stand between the quotes of a tag (PGN standard, section 7)."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return printable.replace("\\", "\\\\").replace('"', '\\"')


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
    tenths = max(0, round(clock_s * 10))
    seconds, tenth = divmod(tenths, 10)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    fraction = f".{tenth}" if tenth else ""
    return f"[%clk {hours}:{minutes:02}:{seconds:02}{fraction}]"


def _tags(game: GameDetail, form: Form) -> Iterator[tuple[str, str]]:
    """The seven tags every game has (PGN standard, section 8.1.1), then what else is known."""
    board = f".{game.board}" if game.board is not None and "." not in game.round else ""
    yield "Event", game.event or "?"
    yield "Site", game.site or game.url or "?"
    yield "Date", game.date or "????.??.??"
    yield "Round", f"{game.round}{board}" if game.round else "?"
    yield "White", game.white.name or "?"
    yield "Black", game.black.name or "?"
    yield "Result", game.result if game.result in _RESULTS else "*"
    if game.board is not None:
        yield "Board", str(game.board)
    for color, player in (("White", game.white), ("Black", game.black)):
        yield from _player_tags(color, player)
    if game.time_control:
        yield "TimeControl", game.time_control
    if game.eco:
        yield "ECO", game.eco
    if game.opening:
        yield "Opening", game.opening
    if game.url:
        yield "Link", game.url
    if game.variant == "chess960":
        yield "Variant", "Chess960"
    if game.variant == "chess960" or game.start_fen != _STANDARD_FEN:
        yield "SetUp", "1"
        yield "FEN", game.start_fen
    yield "Annotator", "live-rate" if form == "eval" else f"live-rate, Format:{FORMAT}"


#: Terminations the standard knows (section 8.1.1.7); the others are lichess' for odd outcomes.
_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def _player_tags(color: str, player: Player) -> Iterator[tuple[str, str]]:
    if player.title:
        yield f"{color}Title", player.title
    if player.elo is not None:
        yield f"{color}Elo", str(player.elo)
    if player.fide_id is not None:
        yield f"{color}FideId", str(player.fide_id)
    if player.federation:
        yield f"{color}Fed", player.federation
    if player.team:
        yield f"{color}Team", player.team


def _tokens(game: GameDetail, form: Form) -> Iterator[str]:
    """Movetext without line breaks; a comment command is never split."""
    alliot = AlliotComments(game) if form == "alliot" else None
    if game.start_score_cp is not None and alliot is None:
        yield "{"
        yield eval_command(game.start_score_cp, None)
        yield "}"
    numbered = False
    for ply in game.plies:
        count, white = move_number(game, ply.ply)
        if white:
            yield f"{count}."
        elif not numbered:
            yield f"{count}..."
        yield ply.san
        if alliot is None:
            comment = list(_comment(ply))
        else:
            comment = alliot.tokens(ply, f"{count}." if white else f"{count}...")
        yield from comment
        # After a comment the black move's number is repeated (PGN standard, section 8.2.2.2).
        numbered = white and not comment
    yield game.result if game.result in _RESULTS else "*"


def _comment(ply: PlyView) -> Iterator[str]:
    commands: list[str] = []
    if ply.score_cp is not None and ply.final:
        commands.append(eval_command(ply.score_cp, ply.mate))
    if ply.clock_s is not None:
        commands.append(clock_command(ply.clock_s))
    if commands:
        yield "{"
        yield from commands
        yield "}"


def wrapped(tokens: Iterator[str]) -> str:
    """Movetext in lines as long as the standard allows."""
    lines: list[str] = []
    line = ""
    for token in tokens:
        if line and len(line) + 1 + len(token) > LINE_CHARS:
            lines.append(line)
            line = token
        else:
            line = f"{line} {token}" if line else token
    lines.append(line)
    return "\n".join(lines)


class Analysis(msgspec.Struct, frozen=True):
    """Every game with plies and curves, every player, and what they were measured with."""

    engine: EngineInfo
    gain: GainKind
    games: tuple[GameDetail, ...]
    players: tuple[PlayerView, ...]
    partial: bool = False
    """Stopped before every position was searched: what is missing is null."""
    gains: tuple[PlayerGains, ...] = ()
    """Everybody's gains over the event, at one centipawn."""
    engine_gains: GainCounts = ()
    """The engine's own, which players are measured against."""


def analysis(
    state: PublishedState, compared: Iterable[PlayerView] = (), *, partial: bool = False
) -> Analysis:
    """The state as it stands; games and players in the order of a snapshot. ``compared``: players
    with the methods that are made on demand.
    """
    known = {view.id: view for view in compared}
    whole = snapshot(state, StreamFilter(visibility=Visibility.ARBITER, gains=True))
    return Analysis(
        engine=whole.engine,
        gain=state.gain(),
        games=whole.games,
        players=tuple(known.get(view.id, view) for view in whole.players),
        partial=partial,
        gains=whole.gains,
        engine_gains=whole.engine_gains,
    )


def to_json(result: Analysis) -> bytes:
    """Readable JSON, a newline at its end. Unbounded and unknown are null."""
    return msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"


def study_lines(whole: Analysis) -> str:
    """One line a game, with engine and limit; games with a ply that is not searched are left out,
    and so are games of variants.
    """
    return "".join(
        msgspec.json.encode(_line(whole, game)).decode() + "\n"
        for game in whole.games
        if game.variant == "standard" and game.plies and all(ply.final for ply in game.plies)
    )


def _line(whole: Analysis, game: GameDetail) -> dict[str, Any]:
    return {
        "white": _name(game.white),
        "black": _name(game.black),
        "white_elo": game.white.elo,
        "black_elo": game.black.elo,
        "event": game.event,
        "round": game.round,
        "date": game.date,
        "tc": game.time_control,
        "result": game.result,
        "moves": [ply.uci for ply in game.plies],
        "engine": whole.engine.name,
        "limit": whole.engine.limit,
        "start_fen": game.start_fen,
        "start_cp": game.start_score_cp,
        "cp": [ply.score_cp for ply in game.plies],
        "mate": [ply.mate for ply in game.plies],
        "depth": [ply.depth for ply in game.plies],
        "best": [ply.best for ply in game.plies],
        "played": [ply.played_cp for ply in game.plies],
        "stability": [ply.complexity and ply.complexity.stability_cp for ply in game.plies],
        "jump": [ply.complexity and ply.complexity.jump_cp for ply in game.plies],
        "jump_depth": [ply.complexity and ply.complexity.jump_depth for ply in game.plies],
    }


def _name(player: Player) -> str | None:
    return player.name or None
