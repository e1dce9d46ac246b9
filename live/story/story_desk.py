"""All moments of an event: which there are now, and what changed. Pure.

Changes in, messages out. Whoever applies the messages to the list of :meth:`StoryDesk.moments`
holds what the desk holds: a ``move`` drops the moments of its game from that ply on, ``gone`` all
of the game, ``moment`` adds, replaces or withdraws one. Times are seconds since 1970 UTC and come
as arguments.

Games are looked at again when something of them has changed, one at a time; what they look like
is asked for then. So a burst of scores costs one look.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

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
from live.games.player_identity import family_name
from live.story.moment_draft import ONCE, MomentDraft
from live.story.moment_rules import find_moments
from live.story.round_moments import WholeGame, find_round_moments, read_whole_game
from live.story.round_summary import RoundName, round_of
from live.story.sentences import write_sentences

#: Moments held at a time; the oldest make room, first those of which no time is known.
MOST = 120
#: More moves of a game in one batch are its past: nobody saw when they were played.
PAST_MOVES = 2


#: The whole of a game that stands.
DetailOf = Callable[[GameId], GameDetail | None]
#: Whether an alert that stands doubts the result of a game.
Doubted = Callable[[GameId], bool]


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
    round: RoundName | None = None
    """None until its header is known."""
    names: tuple[str, ...] = ()
    """Of who plays: where two share a family name, an initial tells them apart."""


@dataclass(slots=True)
class _Round:
    games: set[GameId] = field(default_factory=set)
    whole: dict[GameId, WholeGame] = field(default_factory=dict)
    """Those that are over, as they are compared."""
    chosen: dict[GameId, list[MomentDraft]] = field(default_factory=dict)
    """What stands out among them, once all are over."""


@lru_cache(maxsize=4096)
def _family(name: str) -> str:
    return family_name(name).lower()


class StoryDesk:
    """One writer calls; nothing waits."""

    def __init__(self, doubted: Doubted = lambda game: False) -> None:
        """A game whose result is ``doubted`` is told of as if it went on."""
        self._doubted = doubted
        self._games: dict[GameId, _Game] = {}
        # Those with moments that stand.
        self._telling: dict[GameId, GameStory] = {}
        self._rounds: dict[RoundName, _Round] = {}
        # Rounds of which a game has come, gone, or is another.
        self._compared: dict[RoundName, None] = {}
        # In how many games each name plays, by family names.
        self._families: defaultdict[str, Counter[str]] = defaultdict(Counter)
        # What is to be looked at, in this order.
        self._waiting: dict[GameId, None] = {}
        # Of which there is more to remember, or nothing any more.
        self._unremembered: dict[GameId, None] = {}

    def moments(self) -> list[Moment]:
        """Those that stand, in the order of their ids."""
        return sorted(self._standing(), key=lambda each: each.id)

    def _standing(self) -> list[Moment]:
        return [each for story in self._telling.values() for each in story.moments.values()]

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
        game, round = self._games.setdefault(view.id, _Game()), round_of(view)
        self._name(view.id, (view.white.name, view.black.name))
        self._enter(view.id, round, game.story.whole if game.round == round else None)

    def _name(self, id: GameId, names: tuple[str, ...]) -> None:
        """Who plays it."""
        game = self._games[id]
        before, game.names = game.names, names
        for name in names:
            self._families[_family(name)][name] += 1
        for name in before:
            family = _family(name)
            self._families[family] -= Counter([name])
            if not self._families[family]:
                del self._families[family]

    def _enter(self, id: GameId, name: RoundName | None, whole: WholeGame | None) -> None:
        """To which round it belongs, and as what it is compared there."""
        game = self._games[id]
        before, game.round = game.round, name
        if before == name and game.story.whole == whole:
            return
        game.story.whole = whole
        if before is not None:
            self._rounds[before].games.discard(id)
            self._rounds[before].whole.pop(id, None)
            self._compared[before] = None
        if name is not None:
            round = self._rounds.setdefault(name, _Round())
            round.games.add(id)
            if whole is not None:
                round.whole[id] = whole
            self._compared[name] = None

    def _forget(self, id: GameId) -> None:
        self._waiting.pop(id, None)
        self._telling.pop(id, None)
        game = self._games.get(id)
        if game is not None:
            self._unremembered[id] = None
            game.story.moments.clear()
            self._name(id, ())
            self._enter(id, None, None)
            del self._games[id]

    # --- looking ----------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Whether a game is to be looked at, or a round compared."""
        return bool(self._waiting or self._compared)

    def look(self, detail_of: DetailOf) -> list[MomentMessage]:
        """Look at one game that waits; what is new, worded anew or withdrawn."""
        self._choose()
        game = next(iter(self._waiting), None)
        if game is None:
            return []
        del self._waiting[game]
        detail = detail_of(game)
        return [] if detail is None else self._look(detail) + self._make_room()

    def _make_room(self) -> list[MomentMessage]:
        oldest = sorted(self._standing(), key=_order_of_leaving)[:-MOST]
        for moment in oldest:
            story = self._games[moment.game].story
            story.let_go.add(moment.id)
            del story.moments[moment.id]
            self._unremembered[moment.game] = None
        return [MomentMessage(moment.game, moment, holds=False) for moment in oldest]

    def _look(self, detail: GameDetail) -> list[MomentMessage]:
        game = detail.id
        self._place(detail)
        self._enter(game, round_of(detail), read_whole_game(detail))
        self._choose()
        self._waiting.pop(game, None)  # It is being looked at.
        chosen = self._rounds[round_of(detail)].chosen.get(game, ())
        if self._doubted(game):
            detail = msgspec.structs.replace(detail, result="*")
        story, namesakes = self._games[game].story, self._namesakes(detail)
        now = dict[str, Moment]()
        for draft in (*find_moments(detail), *chosen):
            moment = self._moment(draft, detail, namesakes)
            if moment.id not in story.let_go:
                now[moment.id] = moment
        before, story.moments, story.waits = story.moments, now, False
        self._telling[game] = story
        if not now:
            del self._telling[game]
        self._unremembered[game] = None
        withdrawn = [
            MomentMessage(game, before[id], holds=False)
            for id in sorted(before.keys() - now.keys())
        ]
        new = [each for id, each in now.items() if before.get(id) != each]
        return withdrawn + [MomentMessage(game, moment) for moment in new]

    def _moment(self, draft: MomentDraft, detail: GameDetail, namesakes: set[str]) -> Moment:
        what = draft.color if draft.kind in ONCE else draft.ply
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
            text=write_sentences(draft, detail, namesakes),
        )

    def _namesakes(self, detail: GameDetail) -> set[str]:
        """All who share a family name with one of its players."""
        families = {_family(detail.white.name), _family(detail.black.name)}
        return {name for family in families for name in self._families[family]}

    # --- rounds -----------------------------------------------------------------------------------

    def _choose(self) -> None:
        """Of rounds whose games are all over, what stands out."""
        compared, self._compared = self._compared, {}
        for name in compared:
            round = self._rounds[name]
            before, round.chosen = round.chosen, {}
            if len(round.whole) == len(round.games):
                round.chosen = find_round_moments(round.whole)
            for id in {**before, **round.chosen}:
                if id in self._games and before.get(id) != round.chosen.get(id):
                    self._waiting[id] = None
            if not round.games:
                del self._rounds[name]

    # --- a run before this one --------------------------------------------------------------------

    def remember_waiting(self) -> None:
        """What waits still is to be remembered as such."""
        self._choose()
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
        self,
        games: Iterable[GameView],
        stories: Mapping[GameId, GameStory],
        changed: set[GameId],
    ) -> None:
        """The games that stand again, with what is remembered of them; nothing is news. Those that
        have ``changed`` are looked at again.
        """
        again: dict[GameId, None] = {}
        for view in games:
            story = stories.get(view.id) or GameStory()
            self._games[view.id] = _Game(story)
            if story.moments:
                self._telling[view.id] = story
            self._name(view.id, (view.white.name, view.black.name))
            self._enter(view.id, round_of(view), story.whole)
            if story.waits or view.id in changed:
                again[view.id] = None
        self._choose()
        self._waiting = again


def _order_of_leaving(moment: Moment) -> tuple[bool, float, int]:
    """Return by what moments make room, the first ones first. What explains figures that stand
    beside a result stays longest, as they stay.
    """
    return moment.kind == "despite", moment.at_s or 0.0, moment.ply
