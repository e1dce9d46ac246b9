"""Which part of a re-read snapshot to believe. Pure.

A file that is being rewritten can be read when half of it is there: the last game is cut, games
behind it are missing. Believed at once, that would be a takeback and a dozen vanished games,
and all of it back a second later. So what makes a snapshot *less* than the one before it is
believed only when it still reads the same after a while; all that is new is believed at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from live.events import GameReport
from live.feeds.game_roster import Identity, identities
from live.feeds.pgn.pgn_splitter import RESULT_END


class BelievedText(msgspec.Struct, frozen=True):
    """What to report of a snapshot."""

    games: tuple[GameReport, ...]
    complete: bool
    look_again_s: float | None = None
    """Part of it was held back: read again after this many seconds."""


def ends_whole(tail: bytes) -> bool:
    """Tell from the end of a PGN text whether its last game is there to its result token."""
    return RESULT_END.search(tail.rstrip()) is not None


class PartialReadFilter:
    """Holds back what may be half-written, until it has stood still for ``settle_s`` seconds."""

    def __init__(self, settle_s: float) -> None:
        self._settle_s = settle_s
        self._held: dict[Identity, GameReport] = {}
        self._doubted: tuple[GameReport, ...] | None = None
        self._doubted_since_s = 0.0

    def believe(self, games: Sequence[GameReport], *, whole: bool, now_s: float) -> BelievedText:
        """Judge one reading of the source.

        ``whole``: the text ended with a result token (:func:`ends_whole`). Cost is O(games).
        """
        games = tuple(games)
        named = dict(zip(identities(games), games, strict=True))
        kept = games
        if games and not whole and self._cut(*next(reversed(named.items()))):
            kept = games[:-1]
        doubtful = len(kept) < len(games) or self._held.keys() - named.keys()
        if doubtful:
            if games != self._doubted:
                self._doubted = games
                self._doubted_since_s = now_s
            left_s = self._doubted_since_s + self._settle_s - now_s
            if left_s > 0:
                self._held.update(list(named.items())[: len(kept)])
                return BelievedText(kept, complete=False, look_again_s=left_s)
        self._doubted = None
        self._held = named
        return BelievedText(games, complete=True)

    def _cut(self, who: Identity, last: GameReport) -> bool:
        """The last, unterminated game is less than what we hold, or has not begun."""
        held = self._held.get(who)
        if held is None:
            return not last.moves
        # The text may be cut in the last move's clock: what was played is what counts.
        return len(last.moves) < len(held.moves) and all(
            new.uci == old.uci for new, old in zip(last.moves, held.moves, strict=False)
        )
