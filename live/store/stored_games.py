"""Games as a journal keeps them: what they were told as, and what was known of them. Pure.

Figures are kept ready so that a restart need not work them out again. They count only under the
very measure they were made with; under any other they are made anew from changes and results.
"""

from __future__ import annotations

import hashlib
import logging
import zlib

import msgspec

from live import __version__
from live.events import GameId
from live.games.game import Game
from live.games.game_steps import game_after
from live.ledger.game.archived_game import ArchivedDetails, ArchivedValues
from live.ledger.measure import Measure
from live.store.journal_records import JournalStanding, Restated, StoredGame, encode

log = logging.getLogger(__name__)

_decode_rest = msgspec.msgpack.Decoder(ArchivedValues).decode
_decode_details = msgspec.msgpack.Decoder(ArchivedDetails).decode


def measure_digest(identity: str, limit: str, measure: Measure) -> bytes:
    """Equal where figures are: of whatever decides over them, and the shape they are kept in."""
    _, shapes = msgspec.json.schema_components((ArchivedValues, ArchivedDetails))
    calibrations = measure.shelf.calibrations
    deciding = (__version__, identity, limit, measure.gain, measure.asking, calibrations, shapes)
    return hashlib.blake2b(encode(deciding), digest_size=16).digest()


def packed(details: ArchivedDetails) -> bytes:
    """A tenth of its size; fast rather than small."""
    return zlib.compress(encode(details), 1)


def details_of(game: GameId, data: bytes) -> ArchivedDetails | None:
    """What :func:`packed` made; None for what it cannot have made."""
    try:
        return _decode_details(zlib.decompress(data))
    except (zlib.error, msgspec.MsgspecError) as error:
        log.error("game %s: what was kept of it cannot be read (%s)", game, error)
        return None


def rest_of(kept: StoredGame) -> ArchivedValues | None:
    """A game as it was kept; None for what cannot be read."""
    try:
        return _decode_rest(kept.rest)
    except msgspec.MsgspecError as error:
        log.error("game %s: what was kept of it cannot be read (%s)", kept.game, error)
        return None


def game_of(standing: JournalStanding) -> Game | None:
    """The game as its changes leave it; None where they do not fit together."""
    game: Game | None = None
    try:
        for change in standing.since:
            step = change.step
            game = None if isinstance(step, Restated) else game_after(game, step)
    except (ValueError, IndexError) as error:
        log.error("game %s cannot be restored: %s", standing.game, error)
        return None
    return game
