"""A report written as PGN, the way lichess exports a broadcast game. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import chess

from live.events import GameReport, Move, Player, Score


def pgn_text(game: GameReport, url: str = "", more: Mapping[str, str] | None = None) -> str:
    """One game ending in its result token and one line end.

    As lichess writes it (lila PgnDump, scalachess Pgn): movetext in one line, a clock of whole
    seconds without padded hours after every move, `` *`` for a game without moves. ``url`` is
    the ``GameURL`` header, the only stable key a game has there; ``more`` are further tags.
    """
    tags = [
        f'[{name} "{_escaped(value)}"]'
        for name, value in [*_tags(game, url), *(more or {}).items()]
        if value
    ]
    return "\n".join([*tags, "", _movetext(game), ""])


def _tags(game: GameReport, url: str) -> list[tuple[str, str]]:
    headers = game.headers
    tags = [
        ("Event", headers.event or "?"),
        ("Site", headers.site),
        ("Date", headers.date),
        ("Round", headers.round),
        ("Board", "" if headers.board is None else str(headers.board)),
        ("White", headers.white.name or "?"),
        ("Black", headers.black.name or "?"),
        ("Result", game.result),
        *_player_tags("White", headers.white),
        *_player_tags("Black", headers.black),
        ("TimeControl", headers.time_control),
        ("Variant", "Chess960" if headers.variant == "chess960" else headers.variant.capitalize()),
    ]
    if game.start_fen != chess.STARTING_FEN:
        tags += [("FEN", game.start_fen), ("SetUp", "1")]
    return [*tags, ("GameURL", url or headers.url)]


def _player_tags(color: str, player: Player) -> list[tuple[str, str]]:
    return [
        (f"{color}Elo", "" if player.elo is None else str(player.elo)),
        (f"{color}Title", player.title or ""),
        (f"{color}FideId", "" if player.fide_id is None else str(player.fide_id)),
        (f"{color}Fed", player.federation or ""),
        (f"{color}Team", player.team or ""),
    ]


def _movetext(game: GameReport) -> str:
    broken = _broken(game.problem)
    if not game.moves and not broken:
        return f" {game.result}"
    fields = game.start_fen.split()
    black_first = fields[1] == "b"
    number = int(fields[5]) if len(fields) > 5 else 1
    words: list[str] = []
    commented = True  # a black move after a comment, or at the start, repeats its number
    for ply, move in enumerate(game.moves, start=int(black_first)):
        count = number + ply // 2
        if ply % 2 == 0:
            words.append(f"{count}.")
        elif commented:
            words.append(f"{count}...")
        words.append(move.san)
        comment = _comment(move)
        commented = bool(comment)
        if comment:
            words.append(comment)
    return " ".join([*words, *broken, game.result])


def _broken(problem: str | None) -> list[str]:
    """What a reader cannot read where the report says so: the illegal move, or a comment without an
    end, as far as the next game.
    """
    match (problem or "").split():
        case ["illegal", "move", san, *_]:
            return [san]
        case ["a", "comment", *_]:
            return ["{ never closed"]
    return []


def _comment(move: Move) -> str:
    commands = []
    if move.eval is not None:
        commands.append(f"[%eval {_eval(move.eval)}]")
    if move.clock_s is not None:
        commands.append(f"[%clk {_clock(move.clock_s)}]")
    return f"{{ {' '.join(commands)} }}" if commands else ""


def _eval(score: Score) -> str:
    return f"{score.cp / 100:.2f}" if score.mate is None else f"#{score.mate}"


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02}:{second:02}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
