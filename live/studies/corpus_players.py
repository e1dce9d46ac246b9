"""Players, dates and games of a corpus, built from what a file says of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from live.games.player_identity import fide_id_of, normalise_name
from live.messages.from_sources import Headers, Player, Result
from live.studies.corpus_games import CorpusGame, CorpusPlayer

_DATE = re.compile(r"(?!0000)(\d{4})(?:[.\-/](?!00)(\d\d)(?:[.\-/](?!00)(\d\d))?)?")


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
