"""Which held game each reported game is.

With a key of the source, the key says it, unless both players and the moves are others: some
sources give one address to all games of a round. Without a key (PGN files, standard input), in this
order, each held game for one reported game at most:

1. Same event, round, board, White and Black (by name). Several games of the same names are kept
   apart by FIDE ids and by the moves they share.
2. What is left over is compared with the left-over games that one of the players plays in, or that
   were played in the same place. Nothing is matched across two different rounds, nor to another
   starting position, nor to moves that are not the same line. The best of these wins:
   both players the same (boards reordered, an event renamed); the players swapped; one player the
   same (a name corrected); the same place and ten plies played alike (both names rewritten).
   All but the first need a complete report, or four plies played alike: a stream that reports one
   game at a time may mean the second game of a match.

A name that comes back with other moves after its game was over is **another game** (a file reused
for the next one, a match without round numbers), see :func:`is_another_game`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import msgspec

from live.events import FeedName, GameId, GameReport, Headers, Move
from live.games.game import Game, main_round
from live.games.game_index import GameIndex, key_mark, names_mark, wider_marks
from live.games.player_identity import fide_id, header_words, is_known, same_person

#: Plies played alike that make two games of partly different names one; openings of two boards of
#: the same players differ sooner.
PROOF_PLIES = 4
#: Plies played alike that make two games one whose names both differ.
STRONG_PROOF_PLIES = 10
#: How many of its last plies may differ in the same line: a move or two being corrected.
CORRECTED_PLIES = 2
#: How many plies shorter the same line may be: a takeback.
TAKEN_BACK_PLIES = 4
#: More changed games than this of one name are distinguished by their length alone, and what more
#: games than this have in common finds none of them: a hostile source must not cost O(games²).
CROWD = 100

Rank = tuple[int, ...]


def matched(
    held: GameIndex, feed: FeedName, reports: Sequence[GameReport], *, complete: bool
) -> dict[int, GameId]:
    """Index in ``reports`` → the held game it is; a game not in it is new.

    Pure, and independent of the order of ``reports`` but for games of equal names and moves.
    """
    found: dict[int, GameId] = {}
    namesakes: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, report in enumerate(reports):
        if report.key:
            taken = set(found.values())
            bearers = [id for id in held.marked(key_mark(feed, report.key)) if id not in taken]
            same = [id for id in bearers if _bears_key(held[id], report)]
            # Of several the one whose players are the same in the same seats.
            same.sort(key=lambda id: -_seated(held[id].headers, report.headers))
            found.update((index, id) for id in same[:1])
        else:
            namesakes[names_mark(feed, report.headers)].append(index)
    for indexes in namesakes.values():
        mark = names_mark(feed, reports[indexes[0]].headers)
        found.update(_by_moves(held, held.marked(mark), reports, indexes, complete=complete))
    found.update(_left_over(held, feed, reports, found, complete=complete))
    return found


def _bears_key(game: Game | GameReport, report: GameReport) -> bool:
    """Whether an equal key means an equal game: unless all speaks against it."""
    old, new = game.headers, report.headers
    known = all(map(is_known, (old.white, old.black, new.white, new.black)))
    swapped = same_person(old.white, new.black) or same_person(old.black, new.white)
    if not known or swapped or _seated(old, new):
        return True
    shorter = min(len(game.moves), len(report.moves))
    return shorter >= PROOF_PLIES and agreeing(game.moves, report.moves) == shorter


def _seated(one: Headers, other: Headers) -> int:
    """How many players are the same in the same seats."""
    return same_person(one.white, other.white) + same_person(one.black, other.black)


def _left_over(
    held: GameIndex,
    feed: FeedName,
    reports: Sequence[GameReport],
    found: Mapping[int, GameId],
    *,
    complete: bool,
) -> dict[int, GameId]:
    """Find the games whose names, board or event are reported differently now."""
    taken = set(found.values())
    left = [i for i, report in enumerate(reports) if i not in found and not report.key]
    left.sort(key=lambda index: content_order(reports[index]))
    ranked: list[tuple[Rank, GameId, int]] = []
    for place, index in enumerate(left):
        report = reports[index]
        marks = wider_marks(feed, report.headers)
        bearers = [ids for mark in marks if len(ids := held.marked(mark)) <= CROWD]
        near = set(chain.from_iterable(bearers)) - taken
        ranked.extend(
            (rank, id, place)
            for id in near
            if (rank := _relation(held[id], report, complete=complete)) is not None
        )
    return {left[place]: id for place, id in _best_first(ranked).items()}


def without_repeats(reports: Iterable[GameReport], *, complete: bool) -> tuple[GameReport, ...]:
    """One report for each game: a stream may hold the same game twice, newest last.

    In a complete report two games of the same names are two games; an equal key is one game unless
    players and moves are others.
    """
    kept: list[GameReport] = []
    places: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for report in reports:
        mark = key_mark("", report.key) if report.key else names_mark("", report.headers)
        earlier = places[mark]
        if report.key:
            earlier = [place for place in earlier if _bears_key(kept[place], report)]
        else:
            namesakes = () if complete else earlier[-CROWD:]
            earlier = [place for place in namesakes if _is_same_line(kept[place], report)]
        if earlier:
            kept[earlier[-1]] = report
        else:
            places[mark].append(len(kept))
            kept.append(report)
    return tuple(kept)


def content_order(report: GameReport) -> tuple[object, ...]:
    """Sorts games of equal names the same way whatever order they are reported in."""
    return (*_longest_first(report), msgspec.msgpack.encode(report))


def _longest_first(game: Game | GameReport) -> tuple[object, ...]:
    return (-len(game.moves), tuple(move.uci for move in game.moves))


def is_another_game(game: Game, report: GameReport, *, complete: bool) -> bool:
    """Is ``report``, of the same names as ``game``, the next game and not a new state of this one?

    Yes when ``game`` was over and is not only corrected: reopened with less than half of its
    moves, reported with a result and moves of which less than half agree, or begun from another
    position. A game still going on may lose all its moves, or its starting position, to a
    correction; but in a stream that reports one game at a time, eight plies or more of which less
    than half agree are another game.
    """
    if report.start_fen != game.start_fen:
        return game.result != "*"
    shorter = min(len(game.moves), len(report.moves))
    if game.result != "*":
        if report.result == "*":
            return 2 * agreeing(game.moves, report.moves) < len(game.moves)
        return shorter > 0 and 2 * agreeing(game.moves, report.moves) < shorter
    if complete or shorter < 2 * PROOF_PLIES:
        return False
    return 2 * agreeing(game.moves, report.moves) < shorter


def _by_moves(
    held: GameIndex,
    ids: Sequence[GameId],
    reports: Sequence[GameReport],
    indexes: Sequence[int],
    *,
    complete: bool,
) -> dict[int, GameId]:
    """Tell games of the same names apart."""
    if len(ids) == len(indexes) == 1:
        id, index = ids[0], indexes[0]
        if is_another_game(held[id], reports[index], complete=complete):
            return {}
        return {index: id}
    found = _unchanged(held, ids, reports, indexes)
    taken = set(found.values())
    left = [id for id in ids if id not in taken]
    in_order = [index for index in indexes if index not in found]
    in_order.sort(key=lambda index: content_order(reports[index]))
    if min(len(left), len(in_order)) > CROWD:
        left.sort(key=lambda id: _longest_first(held[id]))
        found.update(zip(in_order, left, strict=False))
        return found
    ranked: list[tuple[Rank, GameId, int]] = []
    for id in left:
        game = held[id]
        for place, index in enumerate(in_order):
            report = reports[index]
            if is_another_game(game, report, complete=complete):
                continue
            rank = (
                _same_numbers(game.headers, report.headers),
                report.start_fen == game.start_fen,
                agreeing(game.moves, report.moves),
                -abs(len(game.moves) - len(report.moves)),
                report.result == game.result,
            )
            ranked.append((rank, id, place))
    found.update((in_order[place], id) for place, id in _best_first(ranked).items())
    return found


def _unchanged(
    held: GameIndex, ids: Sequence[GameId], reports: Sequence[GameReport], indexes: Sequence[int]
) -> dict[int, GameId]:
    """Namesakes that stand as they stood; linear, so that a thousand of them cost little.

    Those whose headers are all the same come first: else two that differ in a header alone would
    be taken for each other at every report.
    """
    found: dict[int, GameId] = {}
    for state in (_whole, _state):
        taken = set(found.values())
        standing: dict[tuple[object, ...], list[GameId]] = defaultdict(list)
        for id in reversed(ids):
            if id not in taken:
                standing[state(held[id])].append(id)
        for index in indexes:
            if index not in found and (same := standing.get(state(reports[index]))):
                found[index] = same.pop()
    return found


def _whole(game: Game | GameReport) -> tuple[object, ...]:
    return (game.headers, *_state(game))


def _state(game: Game | GameReport) -> tuple[object, ...]:
    players = (game.headers.white, game.headers.black)
    return (*players, game.start_fen, game.moves, game.result, game.start_eval, game.problem)


def _best_first(ranked: list[tuple[Rank, GameId, int]]) -> dict[int, GameId]:
    """Give each report the best game still free, the best pair of all first."""
    found: dict[int, GameId] = {}
    taken: set[GameId] = set()
    for _, id, index in sorted(ranked, key=lambda each: (_negated(each[0]), *each[1:])):
        if index not in found and id not in taken:
            found[index] = id
            taken.add(id)
    return found


def _negated(rank: Rank) -> Rank:
    return tuple(-part for part in rank)


def _relation(game: Game, report: GameReport, *, complete: bool) -> Rank | None:
    """How surely a left-over report is ``game``; None when it is not."""
    old, new = game.headers, report.headers
    if (
        not _may_be_one_round(old.round, new.round)
        or report.start_fen != game.start_fen
        or is_another_game(game, report, complete=complete)
        or not _is_same_line(game, report)
    ):
        return None
    alike = agreeing(game.moves, report.moves)
    proved = complete or alike >= PROOF_PLIES
    one_event = header_words(old.event) == header_words(new.event)
    one_round = header_words(old.round) == header_words(new.round)
    one_board = old.board == new.board
    seated = _seated(old, new)
    swapped = same_person(old.white, new.black) + same_person(old.black, new.white)
    if seated == 2:
        kind, sure = 4, proved or (one_event and one_round)
    elif swapped == 2:
        kind, sure = 3, proved and one_event
    elif seated or swapped:
        kind = 2 if seated else 1
        sure = one_event and (alike >= PROOF_PLIES or (complete and one_round and one_board))
    else:
        kind = 0
        sure = complete and one_round and one_board and alike >= STRONG_PROOF_PLIES
    return (kind, one_event, one_round, one_board, alike) if sure else None


def _may_be_one_round(one: str, other: str) -> bool:
    """``"3.12"`` is board 12 of round 3, and boards are reordered; an unknown round may be any."""
    old, new = header_words(one), header_words(other)
    return old == new or not old or not new or main_round(old) == main_round(new)


def _is_same_line(game: Game | GameReport, report: GameReport) -> bool:
    """Does one go on where the other stops, but for the last moves being corrected?"""
    if len(report.moves) < len(game.moves) - TAKEN_BACK_PLIES:
        return False
    shorter = min(len(game.moves), len(report.moves))
    return agreeing(game.moves, report.moves) >= shorter - CORRECTED_PLIES


def agreeing(one: tuple[Move, ...], other: tuple[Move, ...]) -> int:
    """Plies at which both games have the same move. A move corrected early costs one ply."""
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter
    return sum(a.uci == b.uci for a, b in zip(one, other, strict=False))


def _same_numbers(one: Headers, other: Headers) -> int:
    """How many sides both headers know by the same FIDE id."""
    sides = ((one.white, other.white), (one.black, other.black))
    return sum(fide_id(a) is not None and fide_id(a) == fide_id(b) for a, b in sides)


# Whether games of two sources are one game, and where they contradict each other. Pure.
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
#: What is shown goes on with another source's line where that is so many plies longer.
LEAD_PLIES = 6

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
    shorter = min(len(one.moves), len(other.moves))
    alike = agreeing(one.moves, other.moves)
    events = (header_words(one.headers.event), header_words(other.headers.event))
    rounds = (header_words(one.headers.round), header_words(other.headers.round))
    seated = same_seats(one.headers, other.headers)
    named = seated == 2 and alone and events[0] == events[1] != "" and _one_place(*rounds)
    settled = max(0, shorter - CORRECTED_PLIES)
    same_line = agreeing(one.moves[:settled], other.moves[:settled]) == settled
    if named and same_line and (one.result == "*") == (other.result == "*"):
        return True
    if alike < SAME_GAME_PLIES or _clocks_contradict(one, other):
        return False
    if not same_line:
        # One of the two sources has a wrong move, on which they contradict each other.
        return named and not is_another_line(one, other)
    if seated == 2 and (events[0] == events[1] or "" in events):
        return True
    return seated >= 1 and _clocks_agree(one, other)


def may_be_one_game(one: Game, other: Game) -> bool:
    """Whether what stands beside the moves allows it."""
    old, new = one.headers, other.headers
    return (
        one.start_fen == other.start_fen
        and old.variant == new.variant
        and same_seats(old, new) > 0
        and _one_round(header_words(old.round), header_words(new.round))
        and not _other_numbers(old, new)
        and not _other_month(old.date, new.date)
    )


def is_another_line(one: Game, other: Game) -> bool:
    """Whether the moves show two games after all: they differ early on, and for most of the way."""
    shorter = min(len(one.moves), len(other.moves))
    return shorter >= 8 and 2 * agreeing(one.moves, other.moves) < shorter


def same_seats(one: Headers, other: Headers) -> int:
    """How many players are the same in the same seats."""
    return same_person(one.white, other.white) + same_person(one.black, other.black)


def difference(shown: Game, other: Game) -> str:
    """Where the sources of two reports of one game contradict each other, for people; empty where
    they do not.

    A source that is behind contradicts nobody, nor do the last moves of a game that goes on.
    """
    shorter = min(len(shown.moves), len(other.moves))
    over = "*" not in (shown.result, other.result)
    behind = abs(len(shown.moves) - len(other.moves)) >= LEAD_PLIES
    settled = shorter if over or behind else shorter - CORRECTED_PLIES
    for ply, (a, b) in enumerate(zip(shown.moves, other.moves, strict=False), 1):
        if a.uci != b.uci:
            if ply > settled:
                break
            number = f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}"
            return f"{number} {a.san} in {shown.feed}, but {b.san} in {other.feed}"
    if over and shown.result != other.result:
        return f"{shown.result} in {shown.feed}, but {other.result} in {other.feed}"
    for ended, going in ((shown, other), (other, shown)):
        late = len(going.moves) - len(ended.moves)
        if ended.result != "*" and going.result == "*" and late >= LEAD_PLIES:
            return (
                f"{ended.result} after {len(ended.moves)} plies in {ended.feed},"
                f" but {len(going.moves)} plies in {going.feed}"
            )
    return ""


def _one_place(one: str, other: str) -> bool:
    """Whether the rounds are known, and one: ``1.3`` may be board 3 or game 3 of round 1."""
    return one != "" != other and (one == other or not ("." in one and "." in other))


def _one_round(one: str, other: str) -> bool:
    return not one or not other or main_round(one) == main_round(other)


def _other_numbers(one: Headers, other: Headers) -> bool:
    sides = ((one.white, other.white), (one.black, other.black))
    numbers = [(fide_id(a), fide_id(b)) for a, b in sides]
    return any(a is not None and b is not None and a != b for a, b in numbers)


def _other_month(one: str, other: str) -> bool:
    """More than a month apart. (A broadcast's date is the day on which it was set up.)"""
    found = [_MONTH.match(text) for text in (one, other)]
    months = [12 * int(each[1]) + int(each[2]) for each in found if each is not None]
    return len(months) == 2 and abs(months[0] - months[1]) > 1


def _clock_gaps_s(one: Game, other: Game) -> list[float]:
    return [
        abs(a.clock_s - b.clock_s)
        for a, b in zip(one.moves, other.moves, strict=False)
        if a.clock_s is not None and b.clock_s is not None
    ]


def _clocks_agree(one: Game, other: Game) -> bool:
    gaps_s = _clock_gaps_s(one, other)
    near = sum(gap_s <= CLOCK_S for gap_s in gaps_s)
    return len(gaps_s) >= SAME_GAME_PLIES and near >= CLOCK_SHARE * len(gaps_s)


def _clocks_contradict(one: Game, other: Game) -> bool:
    gaps_s = _clock_gaps_s(one, other)
    far = sum(gap_s > FAR_CLOCK_S for gap_s in gaps_s)
    return len(gaps_s) >= FAR_CLOCK_PLIES and 2 * far >= len(gaps_s)
