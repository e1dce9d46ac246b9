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
from typing import Final, NamedTuple

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
from live.story.moment_rules import (
    MomentDraft,
    is_short,
    is_whole,
    moments,
    played_level,
    wildness,
)
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


class _RoundGame(NamedTuple):
    """A game as the comparison of a round needs it; the last five once it is whole."""

    round: tuple[str, str]
    whole: bool = False
    plies: int = 0
    level: tuple[float, float] | None = None
    short: bool = False
    wild: float = 0.0


def round_of(view: GameView) -> tuple[str, str]:
    """Event and round. Broadcasts write boards into rounds (`4.12`), and pairings into events."""
    return main_event(view), main_round(view.round)


def _family(name: str) -> str:
    return family_name(name).lower()


class StoryDesk:
    """One writer calls; nothing waits."""

    def __init__(self, doubted: Doubted = lambda game: False) -> None:
        """A game whose result is ``doubted`` is told of as if it went on."""
        self._doubted = doubted
        self._moments: dict[str, Moment] = {}
        self._of_game: dict[GameId, set[str]] = {}
        # Ids that made room; they do not come back while their game is there.
        self._let_go: dict[GameId, set[str]] = {}
        self._seen_s: dict[GameId, dict[int, float]] = {}
        self._games: dict[GameId, _RoundGame] = {}
        self._rounds: dict[tuple[str, str], set[GameId]] = {}
        # Who shares a family name, with their games: where two do, an initial tells them apart.
        self._names: dict[GameId, tuple[str, ...]] = {}
        self._families: dict[str, dict[str, set[GameId]]] = {}
        # The best-played and the wildest game of each round that is over.
        self._chosen: dict[tuple[str, str], dict[GameId, list[MomentDraft]]] = {}
        self._dirty: dict[GameId, None] = {}

    def moments(self) -> list[Moment]:
        """Those that stand, in the order of their ids."""
        return [self._moments[id] for id in sorted(self._moments)]

    # --- news -----------------------------------------------------------------------------------

    def heard(self, changes: Iterable[Change], now_s: float | None) -> None:
        """Take note of changes that subscribers are sent, too. Sends nothing by itself.

        ``now_s`` None: they happened at a time that is not known.
        """
        changes = list(changes)
        moves = Counter(each.game for each in changes if isinstance(each, MoveMessage))
        for change in changes:
            if isinstance(change, MoveMessage):
                self._drop(change.game, change.ply)
                seen = self._seen_s.setdefault(change.game, {})
                for ply in [ply for ply in seen if ply >= change.ply]:
                    del seen[ply]
                if change.move and now_s is not None and moves[change.game] <= PAST_MOVES:
                    seen[change.ply] = now_s
            elif isinstance(change, GoneMessage):
                self._forget(change.game)
                continue
            elif isinstance(change, GameMessage):
                self._place(change.game)
            about = change.alert if isinstance(change, AlertMessage) else change
            game = getattr(about, "game", None)
            if game is not None:
                self._dirty[game if isinstance(game, str) else game.id] = None

    def _place(self, view: GameView) -> None:
        self._name(view.id, (view.white.name, view.black.name))
        key = round_of(view)
        held = self._games.get(view.id)
        if held is None or held.round != key:
            if held is not None:
                self._leave(view.id, held.round)
            self._games[view.id] = _RoundGame(key)
            self._rounds.setdefault(key, set()).add(view.id)
            self._choose(key)

    def _name(self, game: GameId, names: tuple[str, ...]) -> None:
        """Who plays it; whoever shares a family name with them is named anew."""
        before = self._names.get(game, ())
        if names == before:
            return
        for name in {*before, *names}:
            family = self._families.setdefault(_family(name), {})
            known = name in family
            games = family.setdefault(name, set())
            (games.add if name in names else games.discard)(game)
            if not games:
                del family[name]
            if known != (name in family):
                # Games whose moments are not kept any more would be told of as news.
                playing = (id for games in family.values() for id in games)
                self._dirty |= dict.fromkeys(id for id in playing if self._of_game.get(id))
            if not family:
                del self._families[_family(name)]
        self._names[game] = names

    def _leave(self, game: GameId, key: tuple[str, str]) -> None:
        """A game is of this round no longer."""
        self._rounds[key].discard(game)
        self._choose(key)
        if not self._rounds[key]:
            del self._rounds[key]

    def _forget(self, game: GameId) -> None:
        self._drop(game, 0)
        for held in (self._seen_s, self._dirty, self._of_game, self._let_go):
            held.pop(game, None)
        was = self._games.pop(game, None)
        if was is not None:
            self._leave(game, was.round)
            self._name(game, ())
            del self._names[game]

    def _drop(self, game: GameId, ply: int) -> None:
        held = self._of_game.get(game)
        if held:
            for id in [id for id in held if self._moments[id].ply >= ply]:
                held.discard(id)
                del self._moments[id]

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
        rounds: dict[tuple[str, str], list[tuple[float, GameId]]] = {}
        # What is heard meanwhile is looked at as ever.
        dirty, self._dirty = self._dirty, {}
        for game in dirty:
            if game in self._games:
                seen_s = max(self._seen_s.get(game, {}).values(), default=0.0)
                rounds.setdefault(self._games[game].round, []).append((seen_s, game))
        for games in sorted(rounds.values(), key=max, reverse=True):
            if self._older(max(games)[0]):
                break
            for _, game in games:
                if game in self._games and (detail := detail_of(game)) is not None:
                    self._compare(detail)
                yield
            for seen_s, game in sorted(games, reverse=True):
                # Chosen as the best of its round a moment ago, or heard of since.
                self._dirty.pop(game, None)
                if game not in self._games or self._older(seen_s):
                    continue
                if (detail := detail_of(game)) is not None:
                    self._look(detail)
                    self._make_room()
                yield

    def _older(self, seen_s: float) -> bool:
        """Whether all of a game of which nothing was seen since then would make room again."""
        held = self._moments.values()
        return len(held) >= MOST and seen_s <= min(each.at_s or 0.0 for each in held)

    def _make_room(self) -> list[MomentMessage]:
        messages: list[MomentMessage] = []
        while len(self._moments) > MOST:
            oldest = min(self._moments.values(), key=lambda each: (each.at_s or 0, each.ply))
            self._let_go.setdefault(oldest.game, set()).add(oldest.id)
            messages.append(self._withdraw(oldest.id))
        return messages

    def _look(self, game: GameDetail) -> list[MomentMessage]:
        self._compare(game)
        if self._doubted(game.id):
            game = msgspec.structs.replace(game, result="*")
        drafts = moments(game)
        for found in self._chosen.get(round_of(game), {}).get(game.id, ()):
            drafts.append(found)
        now = {moment.id: moment for moment in (self._moment(each, game) for each in drafts)}
        held = self._of_game.setdefault(game.id, set())
        messages = [self._withdraw(id) for id in sorted(held - now.keys())]
        let_go = self._let_go.get(game.id, ())
        for id, moment in now.items():
            if id not in let_go and self._moments.get(id) != moment:
                self._moments[id] = moment
                held.add(id)
                messages.append(MomentMessage(game.id, moment))
        return messages

    def _withdraw(self, id: str) -> MomentMessage:
        moment = self._moments.pop(id)
        self._of_game[moment.game].discard(id)
        return MomentMessage(moment.game, moment, holds=False)

    def _moment(self, draft: MomentDraft, game: GameDetail) -> Moment:
        what = draft.color if draft.once else draft.ply
        id = f"{game.id}:{draft.kind}:{what}"
        figures = tuple(MomentFigure(name, round(v, 3)) for name, v in draft.figures.items())
        return Moment(
            id=id,
            game=game.id,
            ply=draft.ply,
            kind=draft.kind,
            color=draft.color,
            at_s=self._seen_s.get(game.id, {}).get(draft.ply),
            weight=round(min(1.0, max(0.0, draft.weight)), 3),
            figures=figures,
            text=sentences(draft, game, self._namesakes(game)),
        )

    def _namesakes(self, game: GameDetail) -> list[str]:
        """All who share a family name with one of its players."""
        families = {_family(game.white.name), _family(game.black.name)}
        return [name for family in families for name in self._families.get(family, ())]

    # --- rounds -----------------------------------------------------------------------------------

    def _compare(self, game: GameDetail) -> None:
        """Take note of what the comparison of its round needs of a game."""
        self._place(game)
        key, before = round_of(game), self._games[game.id]
        now = _RoundGame(key)
        if is_whole(game):
            level = played_level(game)
            now = _RoundGame(key, True, len(game.plies), level, is_short(game), wildness(game))
        if now == before:
            return
        self._games[game.id] = now
        self._choose(key)
        # It is being looked at.
        self._dirty.pop(game.id, None)

    def _choose(self, key: tuple[str, str]) -> None:
        """Once all games of a round are whole, which was played best, and which was wildest.

        To be called whenever a game of it comes, goes, or is another: until then nothing is.
        """
        before = self._chosen.pop(key, {})
        games = self._rounds[key]
        if all(self._games[id].whole for id in games):
            # Without a move nothing was played: a forfeit.
            played = {id: self._games[id] for id in sorted(games) if self._games[id].plies}
            if len(played) >= ROUND_GAMES:
                self._chosen[key] = self._best_of(played)
        now = self._chosen.get(key, {})
        for id in {**before, **now}:
            if id in self._games and before.get(id) != now.get(id):
                self._dirty[id] = None

    @staticmethod
    def _best_of(games: dict[GameId, _RoundGame]) -> dict[GameId, list[MomentDraft]]:
        found: dict[GameId, list[MomentDraft]] = {}
        long = {id: each for id, each in games.items() if not each.short}
        levels = {id: each.level for id, each in long.items() if each.level is not None}
        # Of a game without a level nobody knows whether it was the best.
        compared = len(levels) == len(long) >= ROUND_GAMES
        best = max(levels, key=lambda id: min(levels[id])) if compared else None
        if best is not None and min(levels[best]) >= WELL:
            first, second = levels[best]
            draft = MomentDraft(
                "best-played", games[best].plies, None, 0.7, {"first": first, "second": second}
            )
            found.setdefault(best, []).append(draft)
        wildest = max(games, key=lambda id: games[id].wild)
        if games[wildest].wild >= WILD:
            points = {"points": games[wildest].wild}
            draft = MomentDraft("wildest", games[wildest].plies, None, 0.7, points)
            found.setdefault(wildest, []).append(draft)
        return found
