"""Conversion of the players, dates and games in a file to those of a corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable

from live.games.player_identity import fide_id_of, normalise_name
from live.messages.from_sources import Headers, Player, Result
from live.studies.corpus_games import CorpusGame, CorpusPlayer

_DATE = re.compile(r"(?!0000)(\d{4})(?:[.\-/](?!00)(\d\d)(?:[.\-/](?!00)(\d\d))?)?")


def build_player(number: int | str | None) -> CorpusPlayer:
    """Build a player from a field of a file, which contains the player's name, the
    player's number, or nothing.
    """
    if number is None or number == "":
        return CorpusPlayer("?", "")
    if isinstance(number, int):
        return CorpusPlayer(str(number), f"number {number}")
    return CorpusPlayer(number, _split_name(number))


def _split_name(name: str) -> str:
    """Return a name in the form in which names are compared. A single letter or digit
    is accepted as a name, because some studies call their players A and B.
    """
    letter = name.strip().casefold()
    return normalise_name(name) or (
        f"letter {letter}" if len(letter) == 1 and letter.isalnum() else ""
    )


def _read_pgn_player(player: Player) -> CorpusPlayer:
    """Convert a player of a PGN game to a player of a corpus."""
    return CorpusPlayer(
        player.name or "?", _split_name(player.name), fide_id_of(player)
    )


def normalise_date(text: str | None) -> str:
    """Return a date such as ``2013.08.??`` or ``2013-08`` as ``2013.08``; empty if the
    text is not a date.
    """
    match = _DATE.match(text or "")
    return ".".join(filter(None, match.groups())) if match else ""


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
