"""All moments of an event: which there are now, and what changed. Pure.

Changes in, messages out. Whoever applies the messages to the list of :meth:`StoryDesk.moments`
holds what the desk holds: a ``move`` drops the moments of its game from that ply on, ``gone`` all
of the game, ``moment`` adds, replaces or withdraws one. Times are seconds since 1970 UTC and come
as arguments.

Games are looked at again when something of them has changed, one at a time; what they look like
is asked for then. So a burst of scores costs one look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import msgspec

from live.events import (
    AlertMessage,
    Change,
    GameDetail,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    Moment,
    MomentFigure,
    MomentMessage,
    MoveMessage,
)
from live.games.game import main_round
from live.games.player_identity import family_name
from live.ledger.roster import main_event
from live.story.moment_rules import MomentDraft, WholeGame, moments, whole_game
from live.story.sentences import sentences

#: Moments held at a time; the oldest make room, first those of which no time is known.
MOST: Final = 120
#: More moves of a game in one batch are its past: nobody saw when they were played.
PAST_MOVES: Final = 2
#: A round of fewer games has no best one.
ROUND_GAMES: Final = 4
#: The best-played one is better than so many games in 100 on both sides, or it is not told of.
WELL: Final = 50.0
#: Points that the wildest game has to have moved by.
WILD: Final = 1.5


#: The whole of a game that stands.
DetailOf = Callable[[GameId], GameDetail | None]
#: Whether an alert that stands doubts the result of a game.
Doubted = Callable[[GameId], bool]
_Round = tuple[str, str]


@dataclass(slots=True)
class _Game:
    """What the desk knows of a game."""

    round: _Round | None = None
    """None until its header is known."""
    whole: WholeGame | None = None
    """As the comparison of its round needs it, once it is over."""
    names: tuple[str, ...] = ()
    """Of who plays: where two share a family name, an initial tells them apart."""
    seen_s: dict[int, float] = field(default_factory=dict)
    """When each ply was played, where somebody saw it."""
    moments: dict[str, Moment] = field(default_factory=dict)
    let_go: set[str] = field(default_factory=set)
    """Ids that made room; they do not come back."""


def round_of(view: GameView) -> _Round:
    """Event and round. Broadcasts write boards into rounds (`4.12`), and pairings into events."""
    return main_event(view), main_round(view.round)


@lru_cache(maxsize=4096)
def _family(name: str) -> str:
    return family_name(name).lower()


class StoryDesk:
    """One writer calls; nothing waits."""

    def __init__(self, doubted: Doubted = lambda game: False) -> None:
        """A game whose result is ``doubted`` is told of as if it went on."""
        self._doubted = doubted
        self._games: dict[GameId, _Game] = {}
        # The best-played and the wildest game of each round that is over.
        self._chosen: dict[_Round, dict[GameId, list[MomentDraft]]] = {}
        # What is to be looked at, in this order.
        self._dirty: dict[GameId, None] = {}

    def moments(self) -> list[Moment]:
        """Those that stand, in the order of their ids."""
        return sorted(self._standing(), key=lambda each: each.id)

    def _standing(self) -> list[Moment]:
        return [moment for game in self._games.values() for moment in game.moments.values()]

    # --- news -----------------------------------------------------------------------------------

    def heard(self, changes: Iterable[Change], now_s: float | None) -> None:
        """Take note of changes that subscribers are sent, too. Sends nothing by itself.

        ``now_s`` None: they happened at a time that is not known.
        """
        changes = list(changes)
        moves = Counter(each.game for each in changes if isinstance(each, MoveMessage))
        for change in changes:
            if isinstance(change, MoveMessage):
                game = self._games.setdefault(change.game, _Game())
                game.moments = {
                    id: each for id, each in game.moments.items() if each.ply < change.ply
                }
                game.seen_s = {ply: at_s for ply, at_s in game.seen_s.items() if ply < change.ply}
                if change.move and now_s is not None and moves[change.game] <= PAST_MOVES:
                    game.seen_s[change.ply] = now_s
            elif isinstance(change, GoneMessage):
                self._forget(change.game)
                continue
            elif isinstance(change, GameMessage):
                self._place(change.game)
            about = change.alert if isinstance(change, AlertMessage) else change
            id = getattr(about, "game", None)
            if id is not None:
                self._dirty[id if isinstance(id, str) else id.id] = None

    def _place(self, view: GameView) -> None:
        game = self._games.setdefault(view.id, _Game())
        self._name(game, (view.white.name, view.black.name))
        before, game.round = game.round, round_of(view)
        if game.round != before:
            game.whole = None
            for each in (before, game.round):
                self._choose(each)

    def _name(self, game: _Game, names: tuple[str, ...]) -> None:
        """Who plays it; whoever shares a family name with them is named anew."""
        before, game.names = game.names, names
        for name in {*before} ^ {*names}:
            if any(name in each.names for each in self._games.values() if each is not game):
                continue
            # Games whose moments are not kept any more would be told of as news.
            self._dirty |= {
                id: None
                for id, each in self._games.items()
                if each.moments and _family(name) in map(_family, each.names)
            }

    def _forget(self, id: GameId) -> None:
        self._dirty.pop(id, None)
        game = self._games.get(id)
        if game is not None:
            game.moments.clear()
            self._name(game, ())
            del self._games[id]
            self._choose(game.round)

    # --- looking ----------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Whether a game is to be looked at."""
        return bool(self._dirty)

    def look(self, detail_of: DetailOf) -> list[MomentMessage]:
        """Look at one game that waits; what is new, worded anew or withdrawn."""
        game = next(iter(self._dirty))
        del self._dirty[game]
        detail = detail_of(game)
        return [] if detail is None else self._look(detail) + self._make_room()

    def recall(self, detail_of: DetailOf) -> Iterator[None]:
        """Look at all games that have changed, as they were before a restart: the latest round
        first, and only as far back as moments are held. Yields after every game.
        """
        rounds: dict[_Round, list[tuple[float, GameId]]] = {}
        # What is heard meanwhile is looked at as ever.
        dirty, self._dirty = self._dirty, {}
        for id in dirty:
            game = self._games.get(id)
            if game is not None and game.round is not None:
                seen_s = max(game.seen_s.values(), default=0.0)
                rounds.setdefault(game.round, []).append((seen_s, id))
        for games in sorted(rounds.values(), key=max, reverse=True):
            if self._older(max(games)[0]):
                break
            for _, id in games:
                if id in self._games and (detail := detail_of(id)) is not None:
                    self._compare(detail)
                yield
            for seen_s, id in sorted(games, reverse=True):
                # Chosen as the best of its round a moment ago, or heard of since.
                self._dirty.pop(id, None)
                if id not in self._games or self._older(seen_s):
                    continue
                if (detail := detail_of(id)) is not None:
                    self._look(detail)
                    self._make_room()
                yield

    def _older(self, seen_s: float) -> bool:
        """Whether all of a game of which nothing was seen since then would make room again."""
        standing = self._standing()
        return len(standing) >= MOST and seen_s <= min(each.at_s or 0.0 for each in standing)

    def _make_room(self) -> list[MomentMessage]:
        oldest = sorted(self._standing(), key=lambda each: (each.at_s or 0, each.ply))[:-MOST]
        for moment in oldest:
            game = self._games[moment.game]
            game.let_go.add(moment.id)
            del game.moments[moment.id]
        return [MomentMessage(moment.game, moment, holds=False) for moment in oldest]

    def _look(self, detail: GameDetail) -> list[MomentMessage]:
        self._compare(detail)
        if self._doubted(detail.id):
            detail = msgspec.structs.replace(detail, result="*")
        chosen = self._chosen.get(round_of(detail), {}).get(detail.id, ())
        game, namesakes = self._games[detail.id], self._namesakes(detail)
        now = dict[str, Moment]()
        for draft in (*moments(detail), *chosen):
            moment = self._moment(draft, detail, namesakes)
            if moment.id not in game.let_go:
                now[moment.id] = moment
        before, game.moments = game.moments, now
        withdrawn = [
            MomentMessage(detail.id, before[id], holds=False)
            for id in sorted(before.keys() - now.keys())
        ]
        told = [each for id, each in now.items() if before.get(id) != each]
        return withdrawn + [MomentMessage(detail.id, moment) for moment in told]

    def _moment(self, draft: MomentDraft, detail: GameDetail, namesakes: set[str]) -> Moment:
        what = draft.color if draft.once else draft.ply
        figures = tuple(MomentFigure(name, round(v, 3)) for name, v in draft.figures.items())
        return Moment(
            id=f"{detail.id}:{draft.kind}:{what}",
            game=detail.id,
            ply=draft.ply,
            kind=draft.kind,
            color=draft.color,
            at_s=self._games[detail.id].seen_s.get(draft.ply),
            weight=round(min(1.0, max(0.0, draft.weight)), 3),
            figures=figures,
            text=sentences(draft, detail, namesakes),
        )

    def _namesakes(self, detail: GameDetail) -> set[str]:
        """All who share a family name with one of its players."""
        families = {_family(detail.white.name), _family(detail.black.name)}
        names = {name for game in self._games.values() for name in game.names}
        return {name for name in names if _family(name) in families}

    # --- rounds -----------------------------------------------------------------------------------

    def _compare(self, detail: GameDetail) -> None:
        """Take note of what the comparison of its round needs of a game."""
        self._place(detail)
        game, whole = self._games[detail.id], whole_game(detail)
        if whole != game.whole:
            game.whole = whole
            self._choose(game.round)
            # It is being looked at.
            self._dirty.pop(detail.id, None)

    def _choose(self, round: _Round | None) -> None:
        """Once all games of a round are whole, which was played best, and which was wildest.

        To be called whenever a game of it comes, goes, or is another: until then nothing is.
        """
        if round is None:
            return
        before, now = self._chosen.pop(round, {}), dict[GameId, list[MomentDraft]]()
        games = {id: game.whole for id, game in self._games.items() if game.round == round}
        whole = {id: games[id] for id in sorted(games)}
        # Without a move nothing was played: a forfeit.
        played = {id: each for id, each in whole.items() if each is not None and each.plies}
        if None not in whole.values() and len(played) >= ROUND_GAMES:
            now = self._chosen[round] = _best_of(played)
        for id in {**before, **now}:
            if id in self._games and before.get(id) != now.get(id):
                self._dirty[id] = None


def _best_of(games: dict[GameId, WholeGame]) -> dict[GameId, list[MomentDraft]]:
    found: dict[GameId, list[MomentDraft]] = {}
    long = {id: each for id, each in games.items() if not each.short}
    levels = {id: each.level for id, each in long.items() if each.level is not None}
    # Of a game without a level nobody knows whether it was the best.
    if len(levels) == len(long) >= ROUND_GAMES:
        best = max(levels, key=lambda id: min(levels[id]))
        first, second = levels[best]
        if min(first, second) >= WELL:
            figures = {"first": first, "second": second}
            found[best] = [MomentDraft("best-played", games[best].plies, None, 0.7, figures)]
    wildest = max(games, key=lambda id: games[id].wild)
    if games[wildest].wild >= WILD:
        figures = {"points": games[wildest].wild}
        draft = MomentDraft("wildest", games[wildest].plies, None, 0.7, figures)
        found.setdefault(wildest, []).append(draft)
    return found
