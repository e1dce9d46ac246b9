"""The present moments of an event, and messages about their changes. Pure.

A client that begins with the list from :meth:`StoryDesk.moments` and applies every
message has the same list as the desk. A ``move`` message removes the moments of its
game from that ply on. A ``gone`` message removes all moments of the game. A ``moment``
message adds, replaces or withdraws one moment. Times are seconds since 1970 UTC and are
passed as arguments.

A changed game is put in a queue and examined later, in its turn. So many scores in a
short time cause only one examination.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from live.games.short_names import family_name
from live.messages.figures import GameDetail, GameView
from live.messages.moments import Moment, MomentFigure
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    GoneMessage,
    MomentMessage,
    MoveMessage,
)
from live.messages.values import GameId
from live.watch.moment_draft import ONCE, MomentDraft
from live.watch.moment_rules import find_moments
from live.watch.round_moments import WholeGame, find_round_moments, read_whole_game
from live.watch.round_names import RoundName, round_of
from live.watch.sentences import write_sentences

#: Maximum number of moments. Above it, moments without a known time are removed first,
#: and then the oldest ones.
MOST = 120
#: Maximum number of moves of a game in one batch that count as seen live. In a larger
#: batch the moves were played earlier, so their times are unknown.
PAST_MOVES = 2


#: A function that returns a game with its moves; None if the game is gone.
DetailOf = Callable[[GameId], GameDetail | None]
#: A function that returns whether an open alert puts the result of a game in doubt.
IsDoubted = Callable[[GameId], bool]


class GameStory(msgspec.Struct, omit_defaults=True):
    """The moments of a game, and facts that its record lacks; stored in the journal."""

    seen_s: dict[int, float] = {}
    """The time at which each ply was played, for plies that were seen live."""
    moments: dict[str, Moment] = {}
    """The present moments of the game, by their ids."""
    let_go: set[str] = set()
    """Ids of moments that were removed to limit the number. They are not added again.
    """
    whole: WholeGame | None = None
    """The figures for comparing the game with its round; None until the game has ended.
    """
    waits: bool = False
    """True if the game has changed since it was last examined."""


@dataclass(slots=True)
class _Game:
    story: GameStory = field(default_factory=GameStory)
    round: RoundName | None = None
    """The round of the game; None until its header is known."""
    names: tuple[str, ...] = ()
    """The full names of its players."""


@dataclass(slots=True)
class _Round:
    games: set[GameId] = field(default_factory=set)
    whole: dict[GameId, WholeGame] = field(default_factory=dict)
    """The figures of the finished games, for comparing them."""
    chosen: dict[GameId, list[MomentDraft]] = field(default_factory=dict)
    """The moments that result from the comparison; empty until all games of the round
    have ended.
    """


def _family(name: str) -> str:
    return family_name(name).lower()


class StoryDesk:
    """The moments of all games."""

    def __init__(self, is_doubted: IsDoubted = lambda game: False) -> None:
        """``is_doubted`` returns whether the result of a game is in doubt. Such a game
        counts as in progress.
        """
        self._is_doubted = is_doubted
        self._games: dict[GameId, _Game] = {}
        # The games that have moments: few, as there are at most MOST moments.
        self._eventful: dict[GameId, None] = {}
        self._rounds: dict[RoundName, _Round] = {}
        # Rounds in which a game was added, removed or changed, in the order of these
        # changes.
        self._changed_rounds: dict[RoundName, None] = {}
        # The full names with each family name, and the number of games with each full
        # name.
        self._families: defaultdict[str, Counter[str]] = defaultdict(Counter)
        # Games that wait to be examined, the next one first.
        self._waiting: dict[GameId, None] = {}
        # Games whose stories were changed or deleted since stories were last stored.
        self._unremembered: dict[GameId, None] = {}

    def moments(self) -> list[Moment]:
        """Return all present moments, in the order of their ids."""
        return sorted(self._list_moments(), key=lambda moment: moment.id)

    def _list_moments(self) -> list[Moment]:
        moments: list[Moment] = []
        for id in self._eventful:
            moments.extend(self._games[id].story.moments.values())
        return moments

    def _set_moments(self, id: GameId, moments: dict[str, Moment]) -> None:
        self._games[id].story.moments = moments
        if moments:
            self._eventful[id] = None
        else:
            self._eventful.pop(id, None)

    # --- changes ---------------------------------------------------------------------

    def follow(self, changes: Iterable[Change], now_s: float) -> None:
        """Apply changes of the event at time ``now_s``; moments are updated by
        :meth:`examine_next`.
        """
        changes = list(changes)
        moves = Counter(
            message.game for message in changes if isinstance(message, MoveMessage)
        )
        for change in changes:
            if isinstance(change, GoneMessage):
                self._forget_game(change.game)
                continue
            if isinstance(change, MoveMessage):
                is_seen = change.move and moves[change.game] <= PAST_MOVES
                self._drop_moments_from(
                    change.game, change.ply, now_s if is_seen else None
                )
            elif isinstance(change, GameMessage):
                self._read_header(change.game)
            about = change.alert if isinstance(change, AlertMessage) else change
            game = getattr(about, "game", None)
            if game is not None:
                self._waiting[game if isinstance(game, str) else game.id] = None

    def _drop_moments_from(self, id: GameId, ply: int, seen_s: float | None) -> None:
        """Drop the moments of a game from a changed ply on.

        ``seen_s`` is the time when the new move was played; None if the time is
        unknown.
        """
        story = self._games.setdefault(id, _Game()).story
        moments = story.moments.items()
        staying = {key: moment for key, moment in moments if moment.ply < ply}
        self._set_moments(id, staying)
        story.seen_s = {at: time_s for at, time_s in story.seen_s.items() if at < ply}
        if seen_s is not None:
            story.seen_s[ply] = seen_s
        self._unremembered[id] = None

    def _read_header(self, view: GameView) -> None:
        game = self._games.setdefault(view.id, _Game())
        round = round_of(view)
        self._set_names(view.id, (view.white.name, view.black.name))
        self._set_round(
            view.id, round, game.story.whole if game.round == round else None
        )

    def _set_names(self, id: GameId, names: tuple[str, ...]) -> None:
        """Set the players of a game, and update the count of family names."""
        game = self._games[id]
        for name in names:
            self._families[_family(name)][name] += 1
        for name in game.names:
            family = _family(name)
            self._families[family] -= Counter([name])
            if not self._families[family]:
                del self._families[family]
        game.names = names

    def _set_round(
        self, id: GameId, name: RoundName | None, whole: WholeGame | None
    ) -> None:
        """Set the round of a game, and the figures for comparing the game with that
        round.
        """
        game = self._games[id]
        before = game.round
        game.round = name
        if before == name and game.story.whole == whole:
            return
        game.story.whole = whole
        if before is not None:
            self._rounds[before].games.discard(id)
            self._rounds[before].whole.pop(id, None)
            self._changed_rounds[before] = None
        if name is not None:
            round = self._rounds.setdefault(name, _Round())
            round.games.add(id)
            if whole is not None:
                round.whole[id] = whole
            self._changed_rounds[name] = None

    def _forget_game(self, id: GameId) -> None:
        self._waiting.pop(id, None)
        game = self._games.get(id)
        if game is None:
            return
        self._unremembered[id] = None
        self._set_moments(id, {})
        self._set_names(id, ())
        self._set_round(id, None, None)
        del self._games[id]

    # --- examining games -------------------------------------------------------------

    @property
    def has_work(self) -> bool:
        """True if a game waits to be examined, or a round waits to be compared."""
        return bool(self._waiting or self._changed_rounds)

    def examine_next(self, detail_of: DetailOf) -> list[MomentMessage]:
        """Examine the game that has waited longest.

        Returns:
            Messages about its new, changed and withdrawn moments.
        """
        self._update_round_moments()
        game = next(iter(self._waiting), None)
        if game is None:
            return []
        del self._waiting[game]
        detail = detail_of(game)
        if detail is None:
            return []
        return [*self._examine(detail), *self._remove_oldest_moments()]

    def _examine(self, detail: GameDetail) -> list[MomentMessage]:
        id = detail.id
        name = round_of(detail)
        self._read_header(detail)
        self._set_round(id, name, read_whole_game(detail))
        self._update_round_moments()
        # The game might have been queued again by the comparison of the rounds.
        self._waiting.pop(id, None)
        story = self._games[id].story
        before = story.moments
        chosen = self._rounds[name].chosen.get(id, [])
        self._set_moments(id, self._build_moments(detail, chosen))
        story.waits = False
        self._unremembered[id] = None
        withdrawn = [
            MomentMessage(id, before[moment_id], holds=False)
            for moment_id in sorted(before.keys() - story.moments.keys())
        ]
        updated = [
            MomentMessage(id, moment)
            for moment in story.moments.values()
            if before.get(moment.id) != moment
        ]
        return withdrawn + updated

    def _build_moments(
        self, detail: GameDetail, chosen: Sequence[MomentDraft]
    ) -> dict[str, Moment]:
        """Return all moments of a game, with sentences, by their ids.

        ``chosen`` are the moments that result from comparing the games of the round.
        """
        story = self._games[detail.id].story
        if self._is_doubted(detail.id):
            detail = msgspec.structs.replace(detail, result="*")
        namesakes = self._find_namesakes(detail)
        moments: dict[str, Moment] = {}
        for draft in [*find_moments(detail), *chosen]:
            moment = self._build_moment(draft, detail, namesakes)
            if moment.id not in story.let_go:
                moments[moment.id] = moment
        best = [moment for moment in moments.values() if moment.kind == "highest"]
        for moment in best:
            # The moment about the highest percentile of the round replaces the one
            # about a high percentile in this game.
            moments.pop(f"{detail.id}:above:{moment.color}", None)
        return moments

    def _build_moment(
        self, draft: MomentDraft, detail: GameDetail, namesakes: set[str]
    ) -> Moment:
        discriminator = draft.color if draft.kind in ONCE else draft.ply
        figures = draft.figures.items()
        return Moment(
            id=f"{detail.id}:{draft.kind}:{discriminator}",
            game=detail.id,
            ply=draft.ply,
            kind=draft.kind,
            color=draft.color,
            at_s=self._games[detail.id].story.seen_s.get(draft.ply),
            weight=round(min(1.0, max(0.0, draft.weight)), 3),
            figures=tuple(
                MomentFigure(name, round(value, 3)) for name, value in figures
            ),
            text=write_sentences(draft, detail, namesakes),
        )

    def _find_namesakes(self, detail: GameDetail) -> set[str]:
        """Return the names of all players who share a family name with a player of the
        game, including the players themselves.
        """
        white = self._families[_family(detail.white.name)]
        black = self._families[_family(detail.black.name)]
        return {*white, *black}

    def _remove_oldest_moments(self) -> list[MomentMessage]:
        """Remove the oldest moments if there are more than :data:`MOST`; return
        messages that withdraw them.
        """
        oldest = sorted(self._list_moments(), key=_removal_sort_key)[:-MOST]
        for moment in oldest:
            story = self._games[moment.game].story
            story.let_go.add(moment.id)
            staying = story.moments.copy()
            del staying[moment.id]
            self._set_moments(moment.game, staying)
            self._unremembered[moment.game] = None
        return [MomentMessage(moment.game, moment, holds=False) for moment in oldest]

    # --- rounds ----------------------------------------------------------------------

    def _update_round_moments(self) -> None:
        """Compare the games of each changed round that has ended.

        Games whose moments change by this comparison are queued for examination.
        """
        changed = self._changed_rounds
        self._changed_rounds = {}
        for name in changed:
            round = self._rounds[name]
            before = round.chosen
            round.chosen = {}
            if len(round.whole) == len(round.games):
                round.chosen = find_round_moments(round.whole)
            for id in {**before, **round.chosen}:
                if id in self._games and before.get(id) != round.chosen.get(id):
                    self._waiting[id] = None
            if not round.games:
                del self._rounds[name]

    # --- restart ---------------------------------------------------------------------

    def remember_waiting(self) -> None:
        """Mark the queued games, so that the next run of the service examines them."""
        self._update_round_moments()
        for id in self._waiting:
            if id in self._games and not self._games[id].story.waits:
                self._games[id].story.waits = True
                self._unremembered[id] = None

    def unremembered(self) -> dict[GameId, GameStory | None]:
        """Return the stories that changed since the last call, by game id.

        None stands for a story that must be deleted.
        """
        stories: dict[GameId, GameStory | None] = {}
        for id in self._unremembered:
            game = self._games.get(id)
            stories[id] = None if game is None else game.story
        self._unremembered = {}
        return stories

    def restore(
        self,
        games: Iterable[GameView],
        stories: Mapping[GameId, GameStory],
        changed: set[GameId],
    ) -> None:
        """Restore games with their stories from an earlier run, without messages.

        Games in ``changed`` are queued for examination.
        """
        waiting: dict[GameId, None] = {}
        for view in games:
            story = stories.get(view.id) or GameStory()
            self._games[view.id] = _Game(story)
            self._set_moments(view.id, story.moments)
            self._set_names(view.id, (view.white.name, view.black.name))
            self._set_round(view.id, round_of(view), story.whole)
            if story.waits or view.id in changed:
                waiting[view.id] = None
        self._update_round_moments()
        self._waiting = waiting


def _removal_sort_key(moment: Moment) -> tuple[bool, float, int, str]:
    """Return the sort key for removing moments; the lowest key is removed first.

    Moments that explain why figures contradict a result are removed last, because these
    figures remain visible. The id makes the order the same after a restart.
    """
    return moment.kind == "despite", moment.at_s or 0.0, moment.ply, moment.id
