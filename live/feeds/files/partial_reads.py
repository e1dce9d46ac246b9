"""Which part of a re-read text to believe. Pure.

A file that is being uploaded can be read when half of it is there: the last game is cut, games
behind it are missing. Believed at once, that would be a takeback and a dozen vanished boards, and
all of it back a second later. So whatever makes a reading *less* than the one before it is doubted:
the board stays as it was, marked, until the loss has stood for a minute in at least three readings
(upload by FTP is what organisers' guides prescribe). What was lost for good and comes back with
less than it had is doubted in the same way. Whatever is new is believed at once, and so is a
takeback on one board of a text that is otherwise whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from live.events import IN_DOUBT, NO_LONGER, GameReport
from live.feeds.game_roster import Identity, identities

#: Readings in which a loss must be seen, besides the time it must stand.
LEAST_READINGS = 3
#: Games remembered that the text has lost for good.
MAX_GONE = 1000
#: Plies played alike after which a game that is missing is one that has got other names.
PROOF_PLIES = 20
#: As many are enough where one of the players, event and round are the same.
SEATED_PLIES = 4


class BelievedText(msgspec.Struct, frozen=True):
    """What to report of a text."""

    games: tuple[GameReport, ...]
    complete: bool
    look_again_s: float | None = None
    """Part of it is doubted or left out: read again after this many seconds."""
    doubted: int = 0
    """Boards that are kept although the text has lost them, or moves of them."""


class _Loss(msgspec.Struct):
    """What a text has lost of one game, and since when."""

    now: GameReport | None
    """The game as the text has it now; None where it has none."""
    since_s: float
    readings: int = 0


class PartialReadFilter:
    """Keeps what a text seems to have lost until the loss has stood for ``lost_after_s``."""

    def __init__(self, lost_after_s: float, before: Sequence[GameReport] = ()) -> None:
        """``before``: what was shown when the service ended."""
        self._lost_after_s = lost_after_s
        former = dict(zip(identities(before), before, strict=True))
        gone = {who for who, game in former.items() if _is_past(game)}
        self._held = {who: game for who, game in former.items() if who not in gone}
        self._losses: dict[Identity, _Loss] = {}
        # Games whose loss was believed, and those of a former run that are past: they may come back
        # half-written.
        self._gone = {who: msgspec.structs.replace(former[who], problem=None) for who in gone}

    def believe(
        self,
        games: Sequence[GameReport],
        *,
        whole: bool,
        now_s: float,
        closed: bool = False,
        suspect: bool = False,
    ) -> BelievedText:
        """Judge one reading of the source.

        ``whole``: the text went to the result of its last game. ``closed``: it has stood
        still for a moment, which makes no text whole: an upload may pause. ``suspect``: old copies
        of the text were seen to come back, so a takeback is doubted too. Cost is O(games).
        """
        games = tuple(games)
        named = dict(zip(identities(games), games, strict=True))
        complete = True
        if games and not whole:
            who, last = next(reversed(named.items()))
            half_headers = not closed and not last.moves
            # Under a new name, and cut: it would be a second board beside the one of before.
            renamed = any(
                _is_renamed(last, game) for each, game in self._held.items() if each not in named
            )
            if who not in self._held and (half_headers or renamed):
                del named[who]
                complete = False
        lost = self._lost(named, whole=whole, suspect=suspect)
        left_s: list[float] = []
        for who, now in lost.items():
            loss = self._losses.get(who)
            if loss is None or loss.now != now:
                loss = self._losses[who] = _Loss(now, now_s)
            loss.readings += 1
            wait_s = loss.since_s + self._lost_after_s - now_s
            if wait_s > 0 or loss.readings < LEAST_READINGS:
                left_s.append(max(wait_s, 0.0))
        doubted = {
            who: self._known(who)
            for who in lost
            if now_s - self._losses[who].since_s < self._lost_after_s
            or self._losses[who].readings < LEAST_READINGS
        }
        self._losses = {who: self._losses[who] for who in doubted}
        believed = {who: doubted.get(who, game) for who, game in named.items()} | doubted
        self._gone |= {who: game for who, game in self._held.items() if who not in believed}
        for who in believed:
            self._gone.pop(who, None)
        for who in list(self._gone)[:-MAX_GONE]:
            del self._gone[who]
        self._held = believed
        return BelievedText(
            tuple(_marked(game) if who in doubted else game for who, game in believed.items()),
            complete,
            min(left_s, default=None),
            len(doubted),
        )

    def _lost(
        self, named: dict[Identity, GameReport], *, whole: bool, suspect: bool
    ) -> dict[Identity, GameReport | None]:
        """Games of which something is missing that cannot be believed at once."""
        # What was gone and is back takes nobody's place.
        fewer = not whole or len(named.keys() - self._gone.keys()) < len(self._held)
        new = {
            mark for who, game in named.items() if who not in self._held for mark in _marks(game)
        }
        missing = {
            who: None
            for who, held in self._held.items()
            # As many games under other names: renamed, reordered, or the next round.
            if fewer and who not in named and new.isdisjoint(_marks(held))
        }
        shorter = {
            who: game
            for who, game in named.items()
            if (who in self._held or who in self._gone) and is_shorter(game, self._known(who))
        }
        emptied = any(not game.moves for game in shorter.values())
        if whole and not suspect and not missing and len(shorter) == 1 and not emptied:
            return {}
        return {**missing, **shorter}

    def _known(self, who: Identity) -> GameReport:
        """The game as it was believed last."""
        return self._held[who] if who in self._held else self._gone[who]


def _is_past(game: GameReport) -> bool:
    """Over, or gone: nobody misses it."""
    return game.result != "*" or (game.problem or "").startswith(NO_LONGER)


def _is_renamed(now: GameReport, before: GameReport) -> bool:
    """Perhaps the same game under another name, as far as it is there."""
    new, old = now.headers, before.headers
    seated = {new.white.name, new.black.name} & {old.white.name, old.black.name}
    return (
        bool(seated)
        and (new.event, new.round) == (old.event, old.round)
        and all(a.uci == b.uci for a, b in zip(now.moves, before.moves, strict=False))
        and len(now.moves) < len(before.moves)
    )


def _marks(game: GameReport) -> list[tuple[str, ...]]:
    """What shows that a game under another name is the same one: how it began, and for how long
    where no player's name is the same.
    """
    line, headers = (game.start_fen, *(move.uci for move in game.moves)), game.headers
    marks = [line[: PROOF_PLIES + 1]] if len(game.moves) >= PROOF_PLIES else []
    if len(game.moves) >= SEATED_PLIES:
        place = (headers.event, headers.round, *line[: SEATED_PLIES + 1])
        marks += [(player.name, *place) for player in (headers.white, headers.black)]
    return marks


def is_shorter(now: GameReport, before: GameReport) -> bool:
    """The same game with some of its last moves gone, and no new result that would explain it."""
    # The text may be cut in the last move's clock: what was played is what counts.
    return (
        len(now.moves) < len(before.moves)
        and now.result in ("*", before.result)
        and now.start_fen == before.start_fen
        and now.headers.variant == before.headers.variant
        and now.problem is None
        and all(new.uci == old.uci for new, old in zip(now.moves, before.moves, strict=False))
    )


def _marked(game: GameReport) -> GameReport:
    if game.problem is not None or game.result != "*":  # a game that is over loses nothing
        return game
    return msgspec.structs.replace(game, problem=f"{IN_DOUBT} its source has less of it just now")
