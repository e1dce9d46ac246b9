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
from collections.abc import Callable, Iterable, Mapping
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


class GameStory(msgspec.Struct, omit_defaults=True):
    """What was told of a game, and what the game itself does not say: a journal keeps it."""

    seen_s: dict[int, float] = {}
    """When each ply was played, where somebody saw it."""
    moments: dict[str, Moment] = {}
    let_go: set[str] = set()
    """Ids that made room; they do not come back."""
    whole: WholeGame | None = None
    """As the comparison of its round needs it, once it is over."""
    waits: bool = False
    """It has changed, and was not looked at since."""


@dataclass(slots=True)
class _Game:
    story: GameStory = field(default_factory=GameStory)
    round: _Round | None = None
    """None until its header is known."""
    names: tuple[str, ...] = ()
    """Of who plays: where two share a family name, an initial tells them apart."""


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
        self._waiting: dict[GameId, None] = {}
        # Of which there is more to remember, or nothing any more.
        self._unremembered: dict[GameId, None] = {}

    def moments(self) -> list[Moment]:
        """Those that stand, in the order of their ids."""
        return sorted(self._standing(), key=lambda each: each.id)

    def _standing(self) -> list[Moment]:
        return [moment for game in self._games.values() for moment in game.story.moments.values()]

    # --- news -----------------------------------------------------------------------------------

    def follow(self, changes: Iterable[Change], now_s: float) -> None:
        """Changes that subscribers are sent, too. Sends nothing by itself."""
        changes = list(changes)
        moves = Counter(each.game for each in changes if isinstance(each, MoveMessage))
        for change in changes:
            if isinstance(change, MoveMessage):
                seen_s = now_s if change.move and moves[change.game] <= PAST_MOVES else None
                self._move(change.game, change.ply, seen_s)
            elif isinstance(change, GoneMessage):
                self._forget(change.game)
                continue
            elif isinstance(change, GameMessage):
                self._place(change.game)
            about = change.alert if isinstance(change, AlertMessage) else change
            id = getattr(about, "game", None)
            if id is not None:
                self._waiting[id if isinstance(id, str) else id.id] = None

    def _move(self, id: GameId, ply: int, seen_s: float | None) -> None:
        """A ply is another one, or gone, and so is all behind it."""
        story = self._games.setdefault(id, _Game()).story
        story.moments = {key: each for key, each in story.moments.items() if each.ply < ply}
        for gone in [each for each in story.seen_s if each >= ply]:
            del story.seen_s[gone]
        if seen_s is not None:
            story.seen_s[ply] = seen_s
        self._unremembered[id] = None

    def _place(self, view: GameView) -> None:
        game = self._games.setdefault(view.id, _Game())
        self._name(game, (view.white.name, view.black.name))
        before, game.round = game.round, round_of(view)
        if game.round != before:
            game.story.whole = None
            for each in (before, game.round):
                self._choose(each)

    def _name(self, game: _Game, names: tuple[str, ...]) -> None:
        """Who plays it; whoever shares a family name with them is named anew."""
        before, game.names = game.names, names
        for name in {*before} ^ {*names}:
            if any(name in each.names for each in self._games.values() if each is not game):
                continue
            # Games whose moments are not kept any more would be told of as news.
            self._waiting |= {
                id: None
                for id, each in self._games.items()
                if each.story.moments and _family(name) in map(_family, each.names)
            }

    def _forget(self, id: GameId) -> None:
        self._waiting.pop(id, None)
        game = self._games.get(id)
        if game is not None:
            self._unremembered[id] = None
            game.story.moments.clear()
            self._name(game, ())
            del self._games[id]
            self._choose(game.round)

    # --- looking ----------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Whether a game is to be looked at."""
        return bool(self._waiting)

    def look(self, detail_of: DetailOf) -> list[MomentMessage]:
        """Look at one game that waits; what is new, worded anew or withdrawn."""
        game = next(iter(self._waiting))
        del self._waiting[game]
        detail = detail_of(game)
        return [] if detail is None else self._look(detail) + self._make_room()

    def _make_room(self) -> list[MomentMessage]:
        oldest = sorted(self._standing(), key=lambda each: (each.at_s or 0, each.ply))[:-MOST]
        for moment in oldest:
            story = self._games[moment.game].story
            story.let_go.add(moment.id)
            del story.moments[moment.id]
            self._unremembered[moment.game] = None
        return [MomentMessage(moment.game, moment, holds=False) for moment in oldest]

    def _look(self, detail: GameDetail) -> list[MomentMessage]:
        self._compare(detail)
        if self._doubted(detail.id):
            detail = msgspec.structs.replace(detail, result="*")
        chosen = self._chosen.get(round_of(detail), {}).get(detail.id, ())
        story, namesakes = self._games[detail.id].story, self._namesakes(detail)
        now = dict[str, Moment]()
        for draft in (*moments(detail), *chosen):
            moment = self._moment(draft, detail, namesakes)
            if moment.id not in story.let_go:
                now[moment.id] = moment
        before, story.moments, story.waits = story.moments, now, False
        self._unremembered[detail.id] = None
        withdrawn = [
            MomentMessage(detail.id, before[id], holds=False)
            for id in sorted(before.keys() - now.keys())
        ]
        new = [each for id, each in now.items() if before.get(id) != each]
        return withdrawn + [MomentMessage(detail.id, moment) for moment in new]

    def _moment(self, draft: MomentDraft, detail: GameDetail, namesakes: set[str]) -> Moment:
        what = draft.color if draft.once else draft.ply
        figures = tuple(MomentFigure(name, round(v, 3)) for name, v in draft.figures.items())
        return Moment(
            id=f"{detail.id}:{draft.kind}:{what}",
            game=detail.id,
            ply=draft.ply,
            kind=draft.kind,
            color=draft.color,
            at_s=self._games[detail.id].story.seen_s.get(draft.ply),
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
        if whole != game.story.whole:
            game.story.whole = whole
            self._choose(game.round)
            # It is being looked at.
            self._waiting.pop(detail.id, None)

    def _choose(self, round: _Round | None) -> None:
        """Once all games of a round are whole, which was played best, and which was wildest.

        To be called whenever a game of it comes, goes, or is another: until then nothing is.
        """
        if round is None:
            return
        before, now = self._chosen.get(round, {}), self._best(round)
        self._chosen[round] = now
        for id in {**before, **now}:
            if id in self._games and before.get(id) != now.get(id):
                self._waiting[id] = None

    def _best(self, round: _Round) -> dict[GameId, list[MomentDraft]]:
        games = {id: game.story.whole for id, game in self._games.items() if game.round == round}
        # Without a move nothing was played: a forfeit.
        played = {id: each for id in sorted(games) if (each := games[id]) and each.plies}
        if None in games.values() or len(played) < ROUND_GAMES:
            return {}
        return _best_of(played)

    # --- a run before this one --------------------------------------------------------------------

    def remember_waiting(self) -> None:
        """What waits still is to be remembered as such."""
        for id in self._waiting:
            if id in self._games and not self._games[id].story.waits:
                self._games[id].story.waits = True
                self._unremembered[id] = None

    def unremembered(self) -> dict[GameId, GameStory | None]:
        """Of which games there is more to remember since the last call; None: nothing any more."""
        ids, self._unremembered = self._unremembered, {}
        games = {id: self._games.get(id) for id in ids}
        return {id: game.story if game is not None else None for id, game in games.items()}

    def restore(
        self, games: Iterable[GameView], stories: Mapping[GameId, GameStory], changed: set[GameId]
    ) -> None:
        """The games that stand again, with what is remembered of them; nothing is news. Those that
        have ``changed`` are looked at again.
        """
        for view in games:
            story = stories.get(view.id) or GameStory()
            names = (view.white.name, view.black.name)
            self._games[view.id] = _Game(story, round_of(view), names)
            if story.waits or view.id in changed:
                self._waiting[view.id] = None
        for round in {game.round for game in self._games.values() if game.round is not None}:
            self._chosen[round] = self._best(round)


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
