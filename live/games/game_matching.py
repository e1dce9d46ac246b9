"""Matching of reported games with known games. No I/O.

If the source gives a key, the key identifies the game, unless board, both players and
moves all differ: some sources give one address to all games of a round. Without a key
(PGN files, standard input) the following rules apply in this order, and each known game
matches at most one reported game:

1. Same event, round, board, White and Black (by name). If several games have the same
   names, FIDE ids and equal moves decide.
2. The remaining reports are compared with the remaining known games of one of their
   players, or of the same round and board. Games of two different rounds never match,
   nor games from different starting positions, nor games whose moves are not one line.
   The best match is chosen, in this order: both players are the same (boards reordered,
   or an event renamed); the players are swapped; one player is the same (a name
   corrected); the round and board are the same and ten plies are equal (both names
   rewritten). Unless both players, event and round are the same, a complete report or
   four equal plies are required, because a stream that reports one game at a time can
   begin the second game of a match.

If the names of an ended game come back with other moves, they are **another game** (a
file reused for the next game, or a match without round numbers); see
:func:`is_next_game_of_same_players`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from live.games.game import Game
from live.games.game_index import GameIndex, GameKey, player_and_place_keys, source_key
from live.games.player_identity import (
    fide_id_of,
    is_known,
    is_same_person,
    normalise_header,
)
from live.games.rounds import normalise_round
from live.messages.from_sources import GameReport, Headers, Move
from live.messages.values import FeedName, GameId
from live.sources.kept_moves import keep_unread

GameIds = dict[int, GameId]
"""The known game of each report, by the report's index."""


#: Number of equal plies that show two games to be the same although their names partly
#: differ. On two boards with the same players, the openings differ before that.
PROOF_PLIES = 4
#: Number of equal plies that show two games to be the same although both names differ.
STRONG_PROOF_PLIES = 10
#: Number of last plies that can differ between two reports of one game, because the
#: last moves are often being corrected.
CORRECTED_PLIES = 2
#: Number of plies by which a report of the same game can be shorter after a takeback.
TAKEN_BACK_PLIES = 4
#: Maximum number of games compared for one key. A key that more games share finds none
#: of them. More than the square of this number of pairs are not compared, but matched
#: in order of length. A hostile source must not cost O(games²).
MAX_CANDIDATES = 100
Rank = tuple[int, ...]


def match_games(
    known_games: GameIndex,
    feed: FeedName,
    reports: Sequence[GameReport],
    *,
    complete: bool,
) -> GameIds:
    """Return the known game of each report, by the report's index; other reports are
    new games.

    The result does not depend on the order of ``reports``, except for games with equal
    names and moves.
    """
    matches: GameIds = {}
    namesakes: defaultdict[GameKey, list[int]] = defaultdict(list)
    for index, report in enumerate(reports):
        namesakes[source_key(feed, report)].append(index)
    for key, indexes in namesakes.items():
        ids = known_games.list_game_ids_with_key(key)
        matches.update(
            _match_namesakes(known_games, ids, reports, indexes, complete=complete)
        )
    # Match the remaining reports, in which names, board or event have changed.
    matched_ids = set(matches.values())
    unmatched = [
        i for i, report in enumerate(reports) if i not in matches and not report.key
    ]
    unmatched.sort(key=lambda index: content_sort_key(reports[index]))
    ranked: list[tuple[Rank, GameId, int]] = []
    for place, index in enumerate(unmatched):
        keys = player_and_place_keys(feed, reports[index].headers)
        candidates = [known_games.list_game_ids_with_key(key) for key in keys]
        candidates = [ids for ids in candidates if len(ids) <= MAX_CANDIDATES]
        for id in set(chain.from_iterable(candidates)) - matched_ids:
            rank = _rank_relation(known_games[id], reports[index], complete=complete)
            if rank is not None:
                ranked.append((rank, id, place))
    return matches | {
        unmatched[place]: id for place, id in _assign_best_first(ranked).items()
    }


def _is_key_trustworthy(game: Game | GameReport, report: GameReport) -> bool:
    """Return whether two games with an equal key are the same game. They are not if
    players, board and moves all differ.
    """
    old, new = game.headers, report.headers
    has_known_players = all(map(is_known, (old.white, old.black, new.white, new.black)))
    is_swapped = is_same_person(old.white, new.black) or is_same_person(
        old.black, new.white
    )
    if (
        not has_known_players
        or is_swapped
        or count_same_players(old, new)
        or _is_one_table(old, new)
    ):
        return True
    shorter = shorter_length(game, report)
    return (
        shorter >= PROOF_PLIES
        and count_equal_plies(game.moves, report.moves) == shorter
    )


def _is_one_table(old: Headers, new: Headers) -> bool:
    """Return whether two games have the same event, round and board."""
    one_round = normalise_header(old.round) == normalise_header(new.round) != ""
    return one_round and old.event == new.event and old.board == new.board is not None


def count_same_players(first: Headers, second: Headers) -> int:
    """Return the number of players (0 to 2) who are the same with the same colour."""
    return is_same_person(first.white, second.white) + is_same_person(
        first.black, second.black
    )


def drop_repeats(
    reports: Iterable[GameReport], *, complete: bool
) -> tuple[GameReport, ...]:
    """Return one report per game, the newest, since a stream can contain a game twice.

    In a complete report two games with the same names are different games. Games with
    an equal key are one game, unless players and moves differ.
    """
    unique: list[GameReport] = []
    places: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for report in reports:
        mark = source_key("", report)
        earlier = places[mark]
        if report.key:
            earlier = [
                place for place in earlier if _is_key_trustworthy(unique[place], report)
            ]
        else:
            namesakes = () if complete else earlier[-MAX_CANDIDATES:]
            earlier = [
                place for place in namesakes if _is_same_line(unique[place], report)
            ]
        if earlier:
            unique[earlier[-1]] = report
        else:
            places[mark].append(len(unique))
            unique.append(report)
    return tuple(unique)


def content_sort_key(game: Game | GameReport) -> tuple[object, ...]:
    """Return a sort key for games of equal names, independent of their order."""
    line = tuple(move.uci for move in game.moves)
    return (-len(line), line, msgspec.msgpack.encode(_collect_content(game)))


def _collect_content(game: Game | GameReport) -> tuple[object, ...]:
    return (
        game.headers,
        game.start_fen,
        game.moves,
        game.result,
        game.start_eval,
        game.problem,
    )


def is_next_game_of_same_players(
    game: Game, report: GameReport, *, complete: bool
) -> bool:
    """Return whether ``report``, with the same names as ``game``, is the next game.

    A finished ``game`` is followed by another game if the report has no result and
    repeats less than half of the moves, if the report has a result and less than half
    of the moves agree, or if the report begins from another position. Anything else is
    a correction. A running game can lose all its moves, or change its starting
    position, by a correction. Only in a stream that reports one game at a time, a
    report is another game if there are at least eight plies to compare and less than
    half of them agree. Unread parts of a report are not compared.
    """
    report = keep_unread(report, game)
    if report.start_fen != game.start_fen:
        return game.result != "*"
    plies = shorter_length(game, report)
    if game.result == "*":
        if complete or plies < 2 * PROOF_PLIES:
            return False
    elif report.result == "*":
        plies = len(game.moves)
    return 2 * count_equal_plies(game.moves, report.moves) < plies


def _match_namesakes(
    known_games: GameIndex,
    ids: Sequence[GameId],
    reports: Sequence[GameReport],
    indexes: Sequence[int],
    *,
    complete: bool,
) -> GameIds:
    """Match games that have the same key or the same names."""

    def may_be_same(id: GameId, index: int) -> bool:
        game = known_games[id]
        report = reports[index]
        if report.key:
            return _is_key_trustworthy(game, report)
        return not is_next_game_of_same_players(game, report, complete=complete)

    if not ids:
        return {}
    if len(ids) == len(indexes) == 1:
        return {indexes[0]: ids[0]} if may_be_same(ids[0], indexes[0]) else {}
    # Match unchanged games first, in linear time, so that a thousand of them cost
    # little.
    unchanged: defaultdict[tuple[object, ...], list[GameId]] = defaultdict(list)
    for id in reversed(ids):
        unchanged[_collect_content(known_games[id])].append(id)
    matches: GameIds = {}
    for index in indexes:
        same = unchanged.get(_collect_content(reports[index]))
        if same:
            matches[index] = same.pop()
    unmatched = list(chain.from_iterable(unchanged.values()))
    unmatched.sort(key=lambda id: content_sort_key(known_games[id]))
    in_order = [index for index in indexes if index not in matches]
    in_order.sort(key=lambda index: content_sort_key(reports[index]))
    if len(unmatched) * len(in_order) > MAX_CANDIDATES * MAX_CANDIDATES:
        return matches | dict(zip(in_order, unmatched, strict=False))
    ranked = []
    for id in unmatched:
        for place, index in enumerate(in_order):
            if may_be_same(id, index):
                rank = _rank_likeness(known_games[id], reports[index])
                ranked.append((rank, id, place))
    assigned = _assign_best_first(ranked)
    return matches | {in_order[place]: id for place, id in assigned.items()}


def _rank_likeness(game: Game, report: GameReport) -> Rank:
    """Return the likeness of two games of the same names; higher is more alike."""
    return (
        count_same_players(game.headers, report.headers),
        sum(compare_fide_ids(game.headers, report.headers)),
        report.start_fen == game.start_fen,
        count_equal_plies(game.moves, report.moves),
        -abs(len(game.moves) - len(report.moves)),
        report.result == game.result,
    )


def _assign_best_first(ranked: list[tuple[Rank, GameId, int]]) -> GameIds:
    """Assign each report at most one game, taking the best pair of all first."""
    assigned: GameIds = {}
    assigned_ids: set[GameId] = set()
    ranked = sorted(ranked, key=lambda pair: pair[1:])
    # The sort is stable: equal ranks stay in order.
    ranked.sort(key=lambda pair: pair[0], reverse=True)
    for _, id, index in ranked:
        if index not in assigned and id not in assigned_ids:
            assigned[index] = id
            assigned_ids.add(id)
    return assigned


def _rank_relation(game: Game, report: GameReport, *, complete: bool) -> Rank | None:
    """Return the rank of the match of a remaining report with ``game``; None for no
    match.
    """
    old, new = game.headers, report.headers
    if not may_be_one_round(old.round, new.round):
        return None
    standing = keep_unread(report, game)
    if standing.start_fen != game.start_fen or not _is_same_line(game, standing):
        return None
    if is_next_game_of_same_players(game, report, complete=complete):
        return None
    alike = count_equal_plies(game.moves, report.moves)
    is_proved = complete or alike >= PROOF_PLIES
    one_event = normalise_header(old.event) == normalise_header(new.event)
    one_round = normalise_header(old.round) == normalise_header(new.round)
    one_board = old.board == new.board
    seated = count_same_players(old, new)
    swapped = is_same_person(old.white, new.black) + is_same_person(
        old.black, new.white
    )
    if seated == 2:
        kind = 4
        is_sure = is_proved or (one_event and one_round)
    elif swapped == 2:
        kind = 3
        is_sure = is_proved and one_event
    elif seated or swapped:
        kind = 2 if seated else 1
        is_sure = one_event and (
            alike >= PROOF_PLIES or (complete and one_round and one_board)
        )
    else:
        kind = 0
        is_sure = complete and one_round and one_board and alike >= STRONG_PROOF_PLIES
    return (kind, one_event, one_round, one_board, alike) if is_sure else None


def may_be_one_round(first: str, second: str) -> bool:
    """Return whether two rounds can be the same: ``"3.12"`` is board 12 of round 3."""
    old = normalise_header(first)
    new = normalise_header(second)
    if not old or not new or old == new:
        return True
    return normalise_round(old) == normalise_round(new)


def _is_same_line(game: Game | GameReport, report: GameReport) -> bool:
    """Return whether one game continues the other, except for corrected last moves."""
    if len(report.moves) < len(game.moves) - TAKEN_BACK_PLIES:
        return False
    shorter = shorter_length(game, report)
    return count_equal_plies(game.moves, report.moves) >= shorter - CORRECTED_PLIES


def shorter_length(first: Game | GameReport, second: Game | GameReport) -> int:
    """Return the number of plies of the shorter game."""
    return min(len(first.moves), len(second.moves))


def count_equal_plies(first: tuple[Move, ...], second: tuple[Move, ...]) -> int:
    """Return the number of plies at which two games have the same move."""
    shorter = min(len(first), len(second))
    if first[:shorter] == second[:shorter]:
        return shorter
    return sum(a.uci == b.uci for a, b in zip(first, second, strict=False))


def compare_fide_ids(first: Headers, second: Headers) -> list[bool]:
    """Return, for each colour with FIDE ids in both games, whether they are equal."""
    sides = ((first.white, second.white), (first.black, second.black))
    return [
        fide_id_of(a) == fide_id_of(b)
        for a, b in sides
        if fide_id_of(a) and fide_id_of(b)
    ]
