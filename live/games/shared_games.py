"""One game that several sources carry, shown once.

Every source's games are held as it reports them (:class:`~live.games.game_index.GameIndex`). Here
they are brought together: of games that are one (:func:`is_one_game`) the one that was
held first is shown, under its id, with what the others add, and the others are not shown.

What is shown is the longest line, of lines that are equally long the first source's: so
when one source falls silent, the others carry the game on. Where lines contradict each
other the one that is ahead is shown, move by move, and that they do stands in the game
(``dispute``), which is no correction. A takeback shows when every source has it, or
goes on another way. Headers, clocks and results that the first source lacks come from
the others. Which sources they are stands in the game, too (``also``).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec.structs import replace

from live.events import GameId, Headers, Move, Player
from live.games.game import CarriersChanged, Game, GameGone, HeadersChanged, NewGame, Step, apply_step
from live.games.game_index import GameIndex, Marks, player_keys
from live.games.player_identity import fill_missing, normalise_header, is_known, is_same_person
from live.games.report_changes import (
    CORRECTED_PLIES,
    CROWD,
    count_equal_plies,
    diff_games,
    may_be_one_round,
    compare_fide_ids,
    shorter_length,
    count_same_players,
)

#: A step as shown, and the game after it.
Shown = tuple[Step, Game | None]


class _Group:
    """Games of several sources that are shown as one, under the id of the first."""

    def __init__(self, first: Game) -> None:
        self.first = self.leading = first.id
        """``leading``: whose line is shown."""
        self.others: list[GameId] = []
        self.shown = first


class SharedGames:
    """Follows the index: to be called with every step that has been applied to it."""

    def __init__(self, index: GameIndex) -> None:
        self._index = index
        # By each game that is in one.
        self._groups: dict[GameId, _Group] = {}
        # What the arbiter has removed: the game named, and the sources' games that it was.
        self._removed: dict[GameId, tuple[GameId, ...]] = {}
        # Who plays, whatever the source.
        self._players = Marks()
        # New games that come without their moves first, whole.
        self._coming: dict[GameId, Game] = {}

    # --- what is shown --------------------------------------------------------------------------

    def get(self, id: GameId) -> Game | None:
        """The game as it is shown under this id, or as its source reports it where it is not."""
        group = self._groups.get(id)
        return group.shown if group is not None and group.first == id else self._index.get(id)

    def shown_id(self, id: GameId) -> GameId:
        """Under which id this source's game is shown."""
        return self._groups[id].first if id in self._groups else id

    def member_ids(self, id: GameId) -> tuple[GameId, ...]:
        """The games shown under this id, the one it is named after last."""
        group = self._groups.get(id)
        return (*group.others, id) if group is not None and group.first == id else (id,)

    # --- what happens ---------------------------------------------------------------------------

    def announce_game(self, game: Game) -> None:
        """This game comes next, its moves in pieces."""
        self._coming = {game.id: game}

    def follow_step(self, step: Step) -> Iterator[Shown]:
        """What a step that has been applied to the index means for the games shown."""
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
        elif (partner := self._find_partner(max(game, self._coming.get(id, game), key=_count_plies))) is None:
            yield step, game
        else:
            if not isinstance(step, NewGame):
                yield step, game
            yield from self._join_group(id, partner, shown=not isinstance(step, NewGame))

    def retire_game(self, first: GameId) -> Iterator[Shown]:
        """The index holds the game shown under this id no longer, from none of its sources."""
        for id in self.member_ids(first):
            self._update_keys(id, None)
            self._groups.pop(id, None)
        yield GameGone(first), None

    def remove_game(self, id: GameId) -> Iterator[Shown]:
        """Show a game no longer, whatever its sources say of it: it stays in the index, so that
        they do not make it anew.
        """
        if id in self._removed:
            return
        first = self.shown_id(id)
        self._removed[id] = self.member_ids(first)
        yield from self.retire_game(first)

    def removed_ids(self) -> tuple[GameId, ...]:
        """Games that were removed, the latest last."""
        return tuple(self._removed)

    def restore_removed(self, id: GameId) -> Iterator[Shown]:
        """Show a game that was removed, as its sources have it now."""
        for member in self._removed.pop(id, ()):
            if (game := self._index.get(member)) is not None:
                yield from self.follow_step(NewGame(game))

    def merge_restored(self, ids: Iterable[GameId]) -> Iterator[Shown]:
        """Games that are held and shown already, from before a restart."""
        for id in ids:
            self._update_keys(id, self._index[id])
        for id in ids:
            if id not in self._groups:
                partner = self._find_partner(self._index[id])
                if partner is not None:
                    yield from self._join_group(id, partner, shown=True)

    def _join_group(self, id: GameId, partner: GameId, *, shown: bool) -> Iterator[Shown]:
        """Both games are one from now on."""
        first, other = partner, id
        group = self._groups.get(partner)
        if group is None and shown:
            first, other = (held.id for held in self._index if held.id in (id, partner))
        if other != id or shown:
            yield GameGone(other), None
        if group is None:
            group = self._groups[first] = _Group(self._index[first])
        group.others.append(other)
        self._groups[other] = group
        yield from self._show_group(group)

    def _update_group(self, group: _Group, id: GameId) -> Iterator[Shown]:
        leading = self._index.get(group.first)
        if leading is None:
            # Only a game without moves goes, or one that began from another position.
            yield from self._split_group(group)
            return
        for other in list(group.others):
            if (held := self._index.get(other)) is None:
                self._leave_group(group, other)
            elif id in (other, group.first) and (
                not may_be_one_game(leading, held) or is_another_line(leading, held)
            ):
                self._leave_group(group, other)
                yield NewGame(held), held
        yield from self._show_group(group)

    def _leave_group(self, group: _Group, other: GameId) -> None:
        group.others.remove(other)
        del self._groups[other]

    def _split_group(self, group: _Group) -> Iterator[Shown]:
        """The game it was named after is gone: each of the others is shown for itself."""
        yield GameGone(group.first), None
        for id in (group.first, *group.others):
            del self._groups[id]
            if (held := self._index.get(id)) is not None:
                yield NewGame(held), held

    def _show_group(self, group: _Group) -> Iterator[Shown]:
        before, first = group.shown, group.first
        reports = [self._index[id] for id in (first, *group.others)]
        if len(reports) == 1:
            del self._groups[first]
        leading = find_longest(reports)
        switched, group.leading = group.leading != leading.id, leading.id
        after = group.shown = merge_games(reports, leading)
        steps = list(diff_games(before, after))
        if (before.also, before.dispute) != (after.also, after.dispute):
            carriers = CarriersChanged(after.id, after.also, after.dispute)
            # What changes because another source is ahead changes while they are in
            # dispute, what a source has corrected before.
            steps.insert(0 if switched and after.dispute else len(steps), carriers)
        for step in steps:
            before = apply_step(before, step)
            yield step, before

    # --- which games may be one -----------------------------------------------------------------

    def _find_partner(self, game: Game) -> GameId | None:
        """The game shown that this one is, as another source has it; None where that is open."""
        if self._index.feeds < 2:
            return None
        bearers = [self._players.games_with_key(mark) for mark in self._players.keys_of_game(game.id)]
        found_by_name = chain.from_iterable(ids for ids in bearers if len(ids) <= CROWD)
        near = [self._index[id] for id in dict.fromkeys(found_by_name) if id != game.id]
        if all(each.feed == game.feed for each in near):
            return None
        # Names alone may take one for the other.
        rivals = [
            each
            for each in near
            if count_same_players(game.headers, each.headers) == 2 and may_be_one_game(game, each)
        ]
        own = any(each.feed == game.feed for each in rivals)
        found: list[tuple[int, GameId]] = []
        for other in near:
            first = self.shown_id(other.id)
            feeds = {self._index[id].feed for id in self.member_ids(first)}
            if game.feed in (other.feed, *feeds):
                continue
            theirs = sum(each.feed == other.feed for each in rivals) > 1
            if is_one_game(game, other, alone=not own and not theirs):
                found.append((count_equal_plies(game.moves, other.moves), first))
        best = max(found, default=None)
        if best is None or len({first for alike, first in found if alike == best[0]}) > 1:
            return None
        return best[1]

    def _update_keys(self, id: GameId, game: Game | None) -> None:
        self._players.set_keys(id, () if game is None else player_keys("", game.headers))


# --- what several sources come to -----------------------------------------------------------------


def find_longest(reports: Sequence[Game]) -> Game:
    """Give the one with the most moves, of several such the first."""
    return max(reports, key=_count_plies)


def merge_games(reports: Sequence[Game], leading: Game) -> Game:
    """One game as several sources have it, the one it is named after first; with the line of
    ``leading``, one of them.
    """
    others = [each for each in reports if each is not leading]
    result, plies = leading.result, len(leading.moves)
    if result == "*":
        near = (each.result for each in others if len(each.moves) > plies - BEHIND_PLIES)
        result = next((each for each in near if each != "*"), "*")
    # Another source that has as many moves has no problem with them.
    read = any(each.problem is None and len(each.moves) >= plies for each in others)
    differences = [text for each in others if (text := describe_dispute(leading, each))]
    return replace(
        reports[0],
        headers=_merge_headers(reports),
        moves=_merge_moves(leading, others),
        result=result,
        start_eval=leading.start_eval,
        problem=None if read else leading.problem,
        also=tuple(each.feed for each in reports[1:]),
        dispute="; ".join(differences),
    )


def _count_plies(game: Game) -> int:
    return len(game.moves)


def _merge_moves(leading: Game, others: Sequence[Game]) -> tuple[Move, ...]:
    """The leading line, with clocks and evaluations from others where its own source has none."""
    moves = list(leading.moves)
    for other in others:
        for index, (own, theirs) in enumerate(zip(moves, other.moves, strict=False)):
            if own.uci != theirs.uci:
                break
            if own.clock_s is None and theirs.clock_s is not None:
                own = replace(own, clock_s=theirs.clock_s, spent_s=theirs.spent_s)
            if own.eval is None and theirs.eval is not None:
                own = replace(own, eval=theirs.eval)
            moves[index] = own
    return tuple(moves)


def _merge_headers(reports: Sequence[Game]) -> Headers:
    headers = reports[0].headers
    for each in reports[1:]:
        more = each.headers
        headers = replace(
            fill_missing(headers, more, *_FILLED),
            white=_merge_player(headers.white, more.white),
            black=_merge_player(headers.black, more.black),
        )
    return headers


_FILLED = ("event", "site", "round", "board", "date", "time_control", "url", "eco", "opening")


def _merge_player(one: Player, other: Player) -> Player:
    """The player of one source, with what another source adds of the same person."""
    if not is_known(one):
        return other
    if not is_same_person(one, other):
        return one
    return fill_missing(one, other, "elo", "title", "fide_id", "federation", "team", "k")


# --- whether games of two sources are one ---------------------------------------------------------
#
# Two sources of one event report its games under names, rounds and boards of their own. Two games
# are taken for one only where nothing else can be true, and rather shown twice than merged wrongly:
#
# * They begin from the same position, their moves are the same line (but for the last two, which
#   may be in correction), and no round, FIDE id or date (by more than a month) says otherwise.
# * Event, round and both players are the same, neither source has a second such game, and both
#   games are over or neither is: then they are one, before the first move already.
# * Else they need :data:`SAME_GAME_PLIES` plies played alike by clocks that do not contradict each
#   other, and besides the same players and event (or no event in one of them), or clocks that agree
#   on as many plies; with clocks that agree, one player of the same name is enough. A wrong move in
#   one of the sources is allowed where event, round and both players are the same.
#
# Games without moves of which only one is over, and fast draws between the same players in two
# events without clocks, stay two.

#: Plies played alike, up to the end of the shorter game, that prove what names leave open.
SAME_GAME_PLIES = 20
#: Clocks agree where they are so near, seconds (sources round), on this share of the plies.
CLOCK_S = 2.0
CLOCK_SHARE = 0.9
#: Clocks contradict where they are so far apart, seconds, on half of this many plies or more.
FAR_CLOCK_S = 60.0
FAR_CLOCK_PLIES = 10
#: A source that is so many plies behind is not just a little later than the other.
BEHIND_PLIES = 6

_MONTH = re.compile(r"(\d{4})\D(\d{2})")


def is_one_game(one: Game, other: Game, *, alone: bool) -> bool:
    """Whether two sources report the same game.

    Args:
        one: as one source has it.
        other: as the other has it.
        alone: neither source has another game of these players that may be of this round.
    """
    if not may_be_one_game(one, other):
        return False
    shorter = shorter_length(one, other)
    alike = count_equal_plies(one.moves, other.moves)
    events = (normalise_header(one.headers.event), normalise_header(other.headers.event))
    rounds = (normalise_header(one.headers.round), normalise_header(other.headers.round))
    seated = count_same_players(one.headers, other.headers)
    named = seated == 2 and alone and events[0] == events[1] != "" and _is_same_place(*rounds)
    settled = max(0, shorter - CORRECTED_PLIES)
    same_line = count_equal_plies(one.moves[:settled], other.moves[:settled]) == settled
    if named and same_line and (one.result == "*") == (other.result == "*"):
        return True
    if alike < SAME_GAME_PLIES:
        return False
    gaps_s = [
        abs(a.clock_s - b.clock_s)
        for a, b in zip(one.moves, other.moves, strict=False)
        if a.clock_s is not None and b.clock_s is not None
    ]
    far = sum(gap_s > FAR_CLOCK_S for gap_s in gaps_s)
    if len(gaps_s) >= FAR_CLOCK_PLIES and 2 * far >= len(gaps_s):
        return False  # they contradict each other
    if not same_line:
        # One of the two sources has a wrong move, on which they contradict each other.
        return named and not is_another_line(one, other)
    if seated == 2 and (events[0] == events[1] or "" in events):
        return True
    near = sum(gap_s <= CLOCK_S for gap_s in gaps_s)
    return len(gaps_s) >= SAME_GAME_PLIES and near >= CLOCK_SHARE * len(gaps_s)


def may_be_one_game(one: Game, other: Game) -> bool:
    """Whether what stands beside the moves allows it."""
    old, new = one.headers, other.headers
    return (
        one.start_fen == other.start_fen
        and old.variant == new.variant
        and count_same_players(old, new) > 0
        and may_be_one_round(old.round, new.round)
        and all(compare_fide_ids(old, new))
        and not _is_other_month(old.date, new.date)
    )


def is_another_line(one: Game, other: Game) -> bool:
    """Whether the moves show two games after all: they differ early on, and for most of the way."""
    shorter = shorter_length(one, other)
    return shorter >= 8 and 2 * count_equal_plies(one.moves, other.moves) < shorter


def describe_dispute(shown: Game, other: Game) -> str:
    """Say where the sources of two reports of one game contradict each other, for
    people; empty where they do not. A source that is behind contradicts nobody.
    """
    for ply, (a, b) in enumerate(zip(shown.moves, other.moves, strict=False), 1):
        if a.uci != b.uci:
            number = f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}"
            return f"{number} {a.san} in {shown.feed}, but {b.san} in {other.feed}"
    if "*" not in (shown.result, other.result) and shown.result != other.result:
        return f"{shown.result} in {shown.feed}, but {other.result} in {other.feed}"
    for ended, going in ((shown, other), (other, shown)):
        late = len(going.moves) - len(ended.moves)
        if ended.result != "*" and going.result == "*" and late >= BEHIND_PLIES:
            return (
                f"{ended.result} after {len(ended.moves)} plies in {ended.feed},"
                f" but {len(going.moves)} plies in {going.feed}"
            )
    return ""


def _is_same_place(one: str, other: str) -> bool:
    """Whether the rounds are known, and one: ``1.3`` may be board 3 or game 3 of round 1."""
    return one != "" != other and (one == other or not ("." in one and "." in other))


def _is_other_month(one: str, other: str) -> bool:
    """More than a month apart. (A broadcast's date is the day on which it was set up.)"""
    found = [_MONTH.match(text) for text in (one, other)]
    months = [12 * int(each[1]) + int(each[2]) for each in found if each is not None]
    return len(months) == 2 and abs(months[0] - months[1]) > 1
