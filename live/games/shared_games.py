"""The games that are shown: what the sources report, with one game of several merged.

Reports are applied to an index, which has every source's games as it reports them
(:class:`~live.games.game_index.GameIndex`). This module merges those that are the same
game (:func:`is_same_game_in_two_sources`): only the game that was known first is shown,
under its own id and with the data that the other sources add.

The longest line is shown; of equally long lines, the first source's. So if one source
stops, the others continue the game. If lines contradict each other, the longest is
shown, and the game describes the contradiction (``dispute``), which does not count as a
correction. A takeback is shown when every source has it, or when its line continues
differently. Headers, clocks and results missing in the first source come from the
others, which the game also names (``also``).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec.structs import replace

from live.games.game import (
    CarriersChanged,
    Game,
    GameConfirmed,
    GameGone,
    HeadersChanged,
    NewGame,
    Step,
    apply_step,
    split_into_steps,
)
from live.games.game_index import GameIndex, KeyIndex, player_keys
from live.games.game_matching import (
    MAX_CANDIDATES,
    count_equal_plies,
    count_same_players,
)
from live.games.player_identity import fill_missing, is_known, is_same_person
from live.games.report_changes import diff_games, plan_report_steps
from live.games.same_game import (
    is_another_line,
    is_same_game_in_two_sources,
    may_be_one_game,
)
from live.messages.from_sources import FeedReport, Headers, Move, Player
from live.messages.values import GameId

#: A step of a game as shown, and the game after it; None if it was deleted.
Shown = tuple[Step, Game | None]
#: A step that was applied to a source's game, and the steps of the games as shown,
#: which must be iterated over before the next step.
Applied = tuple[Step, Iterable[Shown]]

#: Number of plies from which on a source counts as behind. A smaller difference is
#: normal delay.
BEHIND_PLIES = 6


class _Group:
    """Games of several sources that are shown as one, under the id of the first."""

    def __init__(self, first: Game) -> None:
        self.first = first.id
        self.leading = first.id
        """Id of the game whose line is shown."""
        self.others: list[GameId] = []
        self.shown = first


class SharedGames:
    """Merger of games from several sources. Applies every step to the index."""

    def __init__(self, index: GameIndex) -> None:
        self._index = index
        # Group of each merged game, by the game's id.
        self._groups: dict[GameId, _Group] = {}
        # Games that an arbiter has removed, by the id that the arbiter named, each with
        # its ids in all sources.
        self._removed: dict[GameId, tuple[GameId, ...]] = {}
        # Games of all sources, by their players.
        self._players = KeyIndex()
        # A new game with all its moves, whose steps follow in batches.
        self._coming: dict[GameId, Game] = {}

    def get(self, id: GameId) -> Game | None:
        """Return the game shown under this id; if none is, the game as its source
        reports it.
        """
        group = self._groups.get(id)
        return (
            group.shown
            if group is not None and group.first == id
            else self._index.get(id)
        )

    def shown_id(self, id: GameId) -> GameId:
        """Return the id under which a source's game is shown."""
        return self._groups[id].first if id in self._groups else id

    def member_ids(self, id: GameId) -> tuple[GameId, ...]:
        """Return the ids of all games that are shown under this id; ``id`` itself is
        the last.
        """
        group = self._groups.get(id)
        return (*group.others, id) if group is not None and group.first == id else (id,)

    def apply_report(self, report: FeedReport) -> Iterator[Applied]:
        """Apply a report step by step.

        Each step is applied when the iterator is advanced. A new game arrives without
        moves, and its moves follow in groups, so that no step takes long.

        Raises:
            ValueError: a step does not fit its game.
            KeyError: the game of a step is unknown.
        """
        for step in plan_report_steps(self._index, report):
            if isinstance(step, NewGame):
                yield from self.add_game(step.game)
            else:
                yield step, self.apply_step(step)

    def add_game(self, game: Game) -> Iterator[Applied]:
        """Add a new game step by step, as :meth:`apply_report` does."""
        self._coming = {game.id: game}
        for step in split_into_steps(game):
            yield step, self.apply_step(step)

    def apply_step(self, step: Step) -> Iterable[Shown]:
        """Apply a step of a source's games; return the steps of the games as shown.

        Raises:
            ValueError: the step does not fit its game.
            KeyError: the game of the step is unknown.
        """
        self._index.apply(step)
        return () if isinstance(step, GameConfirmed) else self._follow_step(step)

    def _follow_step(self, step: Step) -> Iterator[Shown]:
        """Yield the steps by which a step of the index changes the games as shown."""
        id = step.id
        if any(id in members for members in self._removed.values()):
            return
        game = self._index.get(id)
        if isinstance(step, NewGame | HeadersChanged | GameGone):
            self._update_keys(id, game)
        if (group := self._groups.get(id)) is not None:
            yield from self._update_group(group, id)
        elif game is None:
            yield step, None
        else:
            yield from self._follow_single(step, game)

    def _follow_single(self, step: Step, game: Game) -> Iterator[Shown]:
        """Yield the steps of a game that is not merged yet; merge it if another source
        has the same game.
        """
        whole = max(game, self._coming.get(game.id, game), key=_count_plies)
        partner = self._find_partner(whole)
        is_shown = not isinstance(step, NewGame)
        if is_shown or partner is None:
            yield step, game
        if partner is not None:
            yield from self._join_group(game.id, partner, is_shown=is_shown)

    def forget_game(self, first: GameId) -> tuple[list[Game], Iterator[Shown]]:
        """Remove the game of this id in all its sources, until a report changes it.

        Return the game as each source reported it, and the steps of the games as shown.
        """
        games = list(map(self._index.forget, self.member_ids(first)))
        # All sources are removed in one call, so that screens never show the game with
        # only some of its sources.
        return games, self._retire_game(first)

    def _retire_game(self, first: GameId) -> Iterator[Shown]:
        """Stop showing the game of this id, and forget which games were merged into
        it.
        """
        for id in self.member_ids(first):
            self._update_keys(id, None)
            self._groups.pop(id, None)
        yield GameGone(first), None

    def remove_game(self, id: GameId) -> Iterator[Shown]:
        """Stop showing a game, whatever its sources report.

        It stays in the index, so that a report does not create it again.
        """
        if id in self._removed:
            return
        first = self.shown_id(id)
        self._removed[id] = self.member_ids(first)
        yield from self._retire_game(first)

    def removed_ids(self) -> tuple[GameId, ...]:
        """Return the ids of the removed games, the latest last."""
        return tuple(self._removed)

    def restore_removed(self, id: GameId) -> Iterator[Shown]:
        """Show a removed game again, with the present data of its sources."""
        for member in self._removed.pop(id, ()):
            if (game := self._index.get(member)) is not None:
                yield from self._follow_step(NewGame(game))

    def merge_restored(self, ids: Iterable[GameId]) -> Iterator[Shown]:
        """Merge games that were restored and are already shown."""
        for id in ids:
            self._update_keys(id, self._index[id])
        for id in ids:
            if id not in self._groups:
                partner = self._find_partner(self._index[id])
                if partner is not None:
                    yield from self._join_group(id, partner, is_shown=True)

    def _join_group(
        self, id: GameId, partner: GameId, *, is_shown: bool
    ) -> Iterator[Shown]:
        """Show the two games as one from now on."""
        first, joined = partner, id
        group = self._groups.get(partner)
        if group is None and is_shown:
            first, joined = (
                game.id for game in self._index if game.id in (id, partner)
            )
        if joined != id or is_shown:
            yield GameGone(joined), None
        if group is None:
            group = self._groups[first] = _Group(self._index[first])
        group.others.append(joined)
        self._groups[joined] = group
        yield from self._show_group(group)

    def _update_group(self, group: _Group, id: GameId) -> Iterator[Shown]:
        leading = self._index.get(group.first)
        if leading is None:
            # The first game had no moves, or began from another position, and was
            # deleted.
            yield from self._split_group(group)
            return
        for member_id in list(group.others):
            if (game := self._index.get(member_id)) is None:
                self._leave_group(group, member_id)
            elif id in (member_id, group.first) and (
                not may_be_one_game(leading, game) or is_another_line(leading, game)
            ):
                self._leave_group(group, member_id)
                yield NewGame(game), game
        yield from self._show_group(group)

    def _leave_group(self, group: _Group, member_id: GameId) -> None:
        group.others.remove(member_id)
        del self._groups[member_id]

    def _split_group(self, group: _Group) -> Iterator[Shown]:
        """Show each game of a group separately, because the game that gave the id was
        deleted.
        """
        yield GameGone(group.first), None
        for id in (group.first, *group.others):
            del self._groups[id]
            if (game := self._index.get(id)) is not None:
                yield NewGame(game), game

    def _show_group(self, group: _Group) -> Iterator[Shown]:
        """Yield the steps that lead from the game as last shown to the present data of
        its sources.
        """
        before = group.shown
        reports = [self._index[id] for id in (group.first, *group.others)]
        if len(reports) == 1:
            del self._groups[group.first]
        leading = find_longest(reports)
        has_switched = group.leading != leading.id
        group.leading = leading.id
        after = group.shown = merge_games(reports, leading)
        steps = list(diff_games(before, after))
        if (before.also, before.dispute) != (after.also, after.dispute):
            carriers = CarriersChanged(after.id, after.also, after.dispute)
            # If another source now leads, the dispute is shown before its moves.
            steps.insert(0 if has_switched and after.dispute else len(steps), carriers)
        for step in steps:
            before = apply_step(before, step)
            yield step, before

    def _find_partner(self, game: Game) -> GameId | None:
        """Return the id of the same game from another source; None if there is none or
        it is unclear.
        """
        if self._index.feed_count < 2:
            return None
        keys = self._players.keys_of_game(game.id)
        candidates = [self._players.list_game_ids_with_key(key) for key in keys]
        ids = chain.from_iterable(
            ids for ids in candidates if len(ids) <= MAX_CANDIDATES
        )
        near_games = [self._index[id] for id in dict.fromkeys(ids) if id != game.id]
        if all(near_game.feed == game.feed for near_game in near_games):
            return None
        # Games that have the same names and could be confused.
        rivals = [
            near_game
            for near_game in near_games
            if count_same_players(game.headers, near_game.headers) == 2
            and may_be_one_game(game, near_game)
        ]
        has_own_rival = any(near_game.feed == game.feed for near_game in rivals)
        partners: list[tuple[int, GameId]] = []
        for other in near_games:
            first = self.shown_id(other.id)
            feeds = {self._index[id].feed for id in self.member_ids(first)}
            if game.feed in (other.feed, *feeds):
                continue
            has_other_rival = (
                sum(near_game.feed == other.feed for near_game in rivals) > 1
            )
            if is_same_game_in_two_sources(
                game, other, alone=not has_own_rival and not has_other_rival
            ):
                partners.append((count_equal_plies(game.moves, other.moves), first))
        most_alike = max((alike for alike, _ in partners), default=0)
        best = {first for alike, first in partners if alike == most_alike}
        return best.pop() if len(best) == 1 else None

    def _update_keys(self, id: GameId, game: Game | None) -> None:
        self._players.set_keys(
            id, () if game is None else player_keys("", game.headers)
        )


def find_longest(reports: Sequence[Game]) -> Game:
    """Return the game with the most moves; of equally long games, the first."""
    return max(reports, key=_count_plies)


def merge_games(reports: Sequence[Game], leading: Game) -> Game:
    """Return one game merged from those of several sources, with the line of
    ``leading``.

    The merged game has the id of the first of ``reports``.
    """
    other_reports = [report for report in reports if report is not leading]
    result = leading.result
    plies = len(leading.moves)
    if result == "*":
        near_results = (
            report.result
            for report in other_reports
            if len(report.moves) > plies - BEHIND_PLIES
        )
        result = next((decided for decided in near_results if decided != "*"), "*")
    # If another source read as many moves without a problem, the problem is dropped.
    is_read = any(
        report.problem is None and len(report.moves) >= plies
        for report in other_reports
    )
    disputes = [describe_dispute(leading, report) for report in other_reports]
    return replace(
        reports[0],
        headers=_merge_headers(reports),
        moves=_merge_moves(leading, other_reports),
        result=result,
        start_eval=leading.start_eval,
        problem=None if is_read else leading.problem,
        also=tuple(report.feed for report in reports[1:]),
        dispute="; ".join(filter(None, disputes)),
    )


def _count_plies(game: Game) -> int:
    return len(game.moves)


def _merge_moves(leading: Game, other_reports: Sequence[Game]) -> tuple[Move, ...]:
    """Return the leading line, with clocks and scores that only other sources have."""
    moves = list(leading.moves)
    for other in other_reports:
        for index, (leading_move, other_move) in enumerate(
            zip(moves, other.moves, strict=False)
        ):
            if leading_move.uci != other_move.uci:
                break
            if leading_move.clock_s is None and other_move.clock_s is not None:
                leading_move = replace(
                    leading_move, clock_s=other_move.clock_s, spent_s=other_move.spent_s
                )
            if leading_move.eval is None and other_move.eval is not None:
                leading_move = replace(leading_move, eval=other_move.eval)
            moves[index] = leading_move
    return tuple(moves)


def _merge_headers(reports: Sequence[Game]) -> Headers:
    headers = reports[0].headers
    for report in reports[1:]:
        other_headers = report.headers
        headers = replace(
            fill_missing(headers, other_headers, *_FILLED),
            white=_merge_player(headers.white, other_headers.white),
            black=_merge_player(headers.black, other_headers.black),
        )
    return headers


_FILLED = (
    "event",
    "site",
    "round",
    "board",
    "date",
    "time_control",
    "url",
    "eco",
    "opening",
)


def _merge_player(first: Player, second: Player) -> Player:
    """Return one source's player, completed by another source's data of the same
    person.
    """
    if not is_known(first):
        return second
    if not is_same_person(first, second):
        return first
    return fill_missing(
        first, second, "elo", "title", "fide_id", "federation", "team", "k"
    )


def describe_dispute(leading: Game, other: Game) -> str:
    """Return the contradiction between two sources of one game, as text for display.

    Empty if there is none. A source that is behind contradicts nothing.
    """
    for ply, (a, b) in enumerate(zip(leading.moves, other.moves, strict=False), 1):
        if a.uci != b.uci:
            number = f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}"
            return f"{number} {a.san} in {leading.feed}, but {b.san} in {other.feed}"
    if "*" not in (leading.result, other.result) and leading.result != other.result:
        return f"{leading.result} in {leading.feed}, but {other.result} in {other.feed}"
    for ended, going in ((leading, other), (other, leading)):
        late_plies = len(going.moves) - len(ended.moves)
        if ended.result != "*" and going.result == "*" and late_plies >= BEHIND_PLIES:
            return (
                f"{ended.result} after {len(ended.moves)} plies in {ended.feed},"
                f" but {len(going.moves)} plies in {going.feed}"
            )
    return ""
