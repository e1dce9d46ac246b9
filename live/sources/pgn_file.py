"""Reader of a finished PGN file as a whole."""

import logging
from pathlib import Path

from live.errors import InputError
from live.messages.from_sources import FeedReport
from live.sources.charset_guess import guess_charset
from live.sources.game_identity import drop_repeated_games
from live.sources.pgn_decoder import PgnLimits, PgnReader

log = logging.getLogger(__name__)

#: The file is read as a whole and delays no live game, so its games can be longer than
#: those of a live source. Reading 64 MiB takes seconds.
_LIMITS = PgnLimits(game_bytes=1 << 26)


def read_pgn_file(file: Path) -> FeedReport:
    """Return all games of one file.

    Raises:
        InputError: there is no such file, or no game in it.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(
            str(file), error.strerror or "cannot be read", "Check the path"
        ) from None
    charset = guess_charset(data)
    if charset:
        log.warning("%s: charset guessed: %s", file, charset)
    reader = PgnReader(limits=_LIMITS, fallback_charset=charset or "cp1252")
    reports = reader.read_text(data, closed=True)
    games = drop_repeated_games(reports)
    if len(games) < len(reports):
        repeated = len(reports) - len(games)
        log.warning("%s: games found twice in it, counted once: %d", file, repeated)
    for note in reader.notes:
        log.warning("%s: %s", file, note)
    if reader.left_out:
        log.warning("%s: only the first %d games are read", file, len(games))
    if not games:
        raise InputError(
            str(file), "holds no game", "Give a PGN file: tags, then moves"
        )
    return FeedReport(str(file), games, complete=True)
