"""What a report changes: ``plan(held, report)`` → the steps that make it true.

Pure. A report of k games costs O(k + what changed), however many games are held.

What is believed of a report, at the first that says so:

* Moves, clocks, evaluations and result as reported: clocks may jump, a result may come before the
  last moves or be taken back, a takeback may only shorten the game. A mate while the source
  still says ``*`` has the result the rules give it.
* Moves fall only by a line that can be read: of a game that could not be read to its end
  (``unread``) what was known stays, and its ``problem`` says so; see :mod:`live.feeds.kept_moves`.
* A game left out of a **complete** report is no longer in its source. What was played is never
  lost: when it is over it stays as it is, with moves but no result its ``problem`` says that it is
  shown as it was last, without any moves it is gone. (Sources that are read while they are written
  doubt a loss themselves: :mod:`live.feeds.file_feed`.)
* Another starting position or variant is another game: the old one is gone at
  once, the new one has its id.
* A name, an event, a round or a board that vanishes was lost, not taken back: the last one reported
  stays. Elo, title, team, FIDE id and the rest are as reported, so a wrong title can be withdrawn.
* A bye, or a pairing without one of its players, is no game until it has moves.
* The spelling of a move (SAN) is kept as first reported; the move is its UCI.

Which held game each reported game is.

With a key of the source, the key says it, unless table, both players and the moves are others: some
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

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count

import msgspec
from msgspec.structs import replace

from live.events import (
    NO_LONGER,
    FeedName,
    FeedReport,
    GameId,
    GameReport,
    Headers,
    Move,
    Result,
    Score,
)
from live.feeds.kept_moves import AS_LAST, keep_unread
from live.games.game import (
    ClocksCorrected,
    EvalsChanged,
    Game,
    GameConfirmed,
    GameGone,
    HeadersChanged,
    MovesPlayed,
    NewGame,
    ProblemChanged,
    ResultChanged,
    Step,
    TailReplaced,
    TakenBack,
    normalise_round,
    side_to_play,
)
from live.games.game_index import GameIndex, Mark, source_key, player_and_place_keys
from live.games.player_identity import (
    fide_id_of,
    preferred_game_id,
    normalise_header,
    is_bye,
    is_known,
    is_same_person,
)

# What cannot be true in a report, found from that report alone.
#
# Each function looks at one report, so what is held in the end does not depend on the order in
# which the news came, and following a game live ends where reading its PGN afterwards ends.


SUPPORTED_VARIANTS = frozenset({"standard", "chess960"})

# At the end of a game players put the kings on the centre to enter the result: on the
# white squares e4 and d5 when White won, on the black ones when Black did (DGT LiveChess).
_KING_TO_CENTRE = re.compile(r"K[de][45]")
# What the decoder of moves says of it; anything behind that is another problem.
_ILLEGAL_KING = re.compile(r"illegal move \d+\.+(K[de][45])[+#]?")
_WON_SQUARES: dict[Result, frozenset[str]] = {
    "1-0": frozenset({"Ke4", "Kd5"}),
    "0-1": frozenset({"Kd4", "Ke5"}),
}


def normalise_report(report: GameReport) -> GameReport:
    """``report`` with all that this module knows better."""
    return drop_centred_kings(add_result_by_rule(drop_unsupported_variant(report)))


def is_no_game(report: GameReport) -> bool:
    """A bye, or a pairing without a player: nothing is played until there are moves."""
    players = (report.headers.white, report.headers.black)
    if report.moves or report.problem is not None:
        return False  # somebody plays, even where we cannot follow
    return any(map(is_bye, players)) or not all(map(is_known, players))


def drop_unsupported_variant(report: GameReport) -> GameReport:
    """A variant we do not know keeps its headers and result; its moves are left alone."""
    variant = report.headers.variant
    if variant in SUPPORTED_VARIANTS:
        return report
    problem = f"variant {variant} is not supported"
    return replace(report, moves=(), start_eval=None, problem=problem)


def drop_centred_kings(report: GameReport) -> GameReport:
    """``report``, less the kings put in the centre after the end.

    Only what is proved is cut. The illegal king move at the end is no problem of the game. A legal
    one before it is cut when the two kings show the result and its mover is the one who lost:
    nobody makes a king move and resigns at once. Any other legal king move stands, for nothing
    distinguishes it from a real one. While the game has no result, the problem stays shown.
    """
    illegal = _ILLEGAL_KING.fullmatch(report.problem or "")
    result = report.result
    if illegal is None or result == "*":
        return report
    moves = report.moves
    if moves and _KING_TO_CENTRE.fullmatch(last := moves[-1].san.rstrip("+#")):
        lost = result == (
            "0-1" if side_to_play(report.start_fen, len(report.moves)) == "white" else "1-0"
        )
        if lost and {last, illegal[1]} == _WON_SQUARES[result]:
            moves = moves[:-1]
    return replace(report, moves=moves, problem=None)


def add_result_by_rule(report: GameReport) -> GameReport:
    """On a mated board where no result is reported, the one the rules give.

    (FIDE Laws 5.1.1.) A stalemate or dead position without a result stays ``*`` until the source
    shows the draw: seeing it would cost replaying the game.
    """
    if report.result == "*" and report.moves and report.moves[-1].san.endswith("#"):
        won: Result = "1-0" if side_to_play(report.start_fen, len(report.moves)) == "white" else "0-1"
        return replace(report, result=won)
    return report


def plan_steps(held: GameIndex, report: FeedReport) -> tuple[Step, ...]:
    """The steps from what is held to what ``report`` says, to be applied in order.

    Planned again after they are applied, the same report gives no steps.
    """
    reported = drop_repeats(report.games, complete=report.complete)
    read = [normalise_report(game) for game in reported if game.key or not is_no_game(game)]
    found = match_games(held, report.feed, read, complete=report.complete)
    opened = _assign_new_ids(held, read, found)
    steps: list[Step] = []
    for index, reported_game in enumerate(read):
        if index in found:
            if held.is_restored(found[index]):
                steps.append(GameConfirmed(found[index]))
            steps.extend(_diff_report(held[found[index]], reported_game))
        elif index in opened:
            steps.append(NewGame(_create_game(opened[index], report.feed, reported_game)))
    if report.complete:
        present = set(found.values())
        problem = NO_LONGER + AS_LAST
        for game in (held[id] for id in held.games_of_feed(report.feed) if id not in present):
            # One that is over, with moves, stays: a file used anew for the next round does not
            # make it unplayed.
            if not game.moves:
                steps.append(GameGone(game.id))
            elif game.result == "*" and game.problem != problem:
                steps.append(ProblemChanged(game.id, problem))
    return tuple(steps)


# --- new games ----------------------------------------------------------------------------------


GameIds = dict[int, GameId]
"""Which game each report is, by its index."""


def _assign_new_ids(held: GameIndex, read: list[GameReport], found: GameIds) -> GameIds:
    """An id for every new game; among games of equal names the same way in any order."""
    wanted = [
        (preferred_game_id(report), index)
        for index, report in enumerate(read)
        if index not in found and not is_no_game(report)
    ]
    asked = [id for id, _ in wanted]
    if len(set(asked)) < len(asked):
        wanted.sort(key=lambda each: (each[0], content_sort_key(read[each[1]])))
    given: GameIds = {}
    taken: set[GameId] = set()
    names: dict[GameId, Iterator[GameId]] = {}
    for first, index in wanted:
        free = names.setdefault(first, chain([first], (f"{first}-{n}" for n in count(2))))
        given[index] = next(id for id in free if id not in held and id not in taken)
        taken.add(given[index])
    return given


def _create_game(id: GameId, feed: FeedName, report: GameReport) -> Game:
    told = msgspec.structs.asdict(report)
    del told["unread"]
    return Game(id=id, feed=feed, **told)


# --- known games --------------------------------------------------------------------------------


def _diff_report(game: Game, report: GameReport) -> Iterator[Step]:
    report = keep_unread(report, game)
    report = replace(report, headers=_keep_lost_headers(game.headers, report.headers))
    if report.start_fen != game.start_fen or report.headers.variant != game.headers.variant:
        yield GameGone(game.id)
        yield NewGame(_create_game(game.id, game.feed, report))
    else:
        yield from diff_games(game, report)


def _keep_lost_headers(old: Headers, new: Headers) -> Headers:
    """``new``, with the names and the place it lost."""
    if new == old:
        return old
    return replace(
        new,
        white=new.white if is_known(new.white) else old.white,
        black=new.black if is_known(new.black) else old.black,
        event=new.event if normalise_header(new.event) else old.event,
        round=new.round if normalise_header(new.round) else old.round,
        board=old.board if new.board is None else new.board,
    )


def _count_shared_plies(game: Game, report: Game | GameReport) -> int:
    """How many plies both begin with; the annotations of a move do not count."""
    shorter = shorter_length(game, report)
    # Tuples are compared in C; a report that only adds moves never gets past here.
    if game.moves[:shorter] == report.moves[:shorter]:
        return shorter
    for index in range(shorter):
        if game.moves[index].uci != report.moves[index].uci:
            return index
    return shorter


def diff_games(game: Game, report: Game | GameReport) -> Iterator[Step]:
    """The steps from what is held of a game to what ``report`` says of it."""
    id, old, new = game.id, game.moves, report.moves
    if report.headers != game.headers:
        yield HeadersChanged(id, report.headers)
    shared = _count_shared_plies(game, report)
    if shared == len(old) < len(new):
        yield MovesPlayed(id, shared + 1, new[shared:])
    elif shared == len(new) < len(old):
        yield TakenBack(id, shared)
    elif shared < len(new):
        yield TailReplaced(id, shared + 1, new[shared:])
    clocks: list[tuple[int, float | None, float | None]] = []
    evals: list[tuple[int, Score | None]] = []
    if report.start_eval != game.start_eval:
        evals.append((0, report.start_eval))
    # One comparison in C for the many reports that only add moves.
    if old[:shared] != new[:shared]:
        for ply, (was, now) in enumerate(zip(old[:shared], new[:shared], strict=True), 1):
            if (was.clock_s, was.spent_s) != (now.clock_s, now.spent_s):
                clocks.append((ply, now.clock_s, now.spent_s))
            if was.eval != now.eval:
                evals.append((ply, now.eval))
    if clocks:
        yield ClocksCorrected(id, tuple(clocks))
    if evals:
        yield EvalsChanged(id, tuple(evals))
    if report.result != game.result:
        yield ResultChanged(id, report.result)
    if report.problem != game.problem:
        yield ProblemChanged(id, report.problem)


# --- which game is which ------------------------------------------------------------------------

#: Plies played alike that make two games of partly different names one; openings of two boards of
#: the same players differ sooner.
PROOF_PLIES = 4
#: Plies played alike that make two games one whose names both differ.
STRONG_PROOF_PLIES = 10
#: How many of its last plies may differ in the same line: a move or two being corrected.
CORRECTED_PLIES = 2
#: How many plies shorter the same line may be: a takeback.
TAKEN_BACK_PLIES = 4
#: More changed games than this of one name, or this squared of pairs to compare, are distinguished
#: by their length alone, and what more games than this have in common finds none of them: a hostile
#: source must not cost O(games²).
CROWD = 100

Rank = tuple[int, ...]


def match_games(
    held: GameIndex, feed: FeedName, reports: Sequence[GameReport], *, complete: bool
) -> GameIds:
    """Index in ``reports`` → the held game it is; a game not in it is new.

    Pure, and independent of the order of ``reports`` but for games of equal names and moves.
    """
    found: GameIds = {}
    namesakes: defaultdict[Mark, list[int]] = defaultdict(list)
    for index, report in enumerate(reports):
        namesakes[source_key(feed, report)].append(index)
    for mark, indexes in namesakes.items():
        found.update(_match_namesakes(held, held.games_with_key(mark), reports, indexes, complete=complete))
    # What is left over: names, board or event are reported differently now.
    taken = set(found.values())
    left = [i for i, report in enumerate(reports) if i not in found and not report.key]
    left.sort(key=lambda index: content_sort_key(reports[index]))
    ranked: list[tuple[Rank, GameId, int]] = []
    for place, index in enumerate(left):
        marks = player_and_place_keys(feed, reports[index].headers)
        bearers = [ids for mark in marks if len(ids := held.games_with_key(mark)) <= CROWD]
        ranked.extend(
            (rank, id, place)
            for id in set(chain.from_iterable(bearers)) - taken
            if (rank := _rank_relation(held[id], reports[index], complete=complete)) is not None
        )
    return found | {left[place]: id for place, id in _assign_best_first(ranked).items()}


def _is_key_trustworthy(game: Game | GameReport, report: GameReport) -> bool:
    """Whether an equal key means an equal game: unless all speaks against it."""
    old, new = game.headers, report.headers
    known = all(map(is_known, (old.white, old.black, new.white, new.black)))
    swapped = is_same_person(old.white, new.black) or is_same_person(old.black, new.white)
    if not known or swapped or count_same_players(old, new) or _is_one_table(old, new):
        return True
    shorter = shorter_length(game, report)
    return shorter >= PROOF_PLIES and count_equal_plies(game.moves, report.moves) == shorter


def _is_one_table(old: Headers, new: Headers) -> bool:
    """Whether both are the same board of the same round: no address of a whole round says that of
    two games.
    """
    one_round = normalise_header(old.round) == normalise_header(new.round) != ""
    return one_round and old.event == new.event and old.board == new.board is not None


def count_same_players(one: Headers, other: Headers) -> int:
    """How many players are the same in the same seats."""
    return is_same_person(one.white, other.white) + is_same_person(one.black, other.black)


def drop_repeats(reports: Iterable[GameReport], *, complete: bool) -> tuple[GameReport, ...]:
    """One report for each game: a stream may hold the same game twice, newest last.

    In a complete report two games of the same names are two games; an equal key is one game unless
    players and moves are others.
    """
    kept: list[GameReport] = []
    places: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for report in reports:
        mark = source_key("", report)
        earlier = places[mark]
        if report.key:
            earlier = [place for place in earlier if _is_key_trustworthy(kept[place], report)]
        else:
            namesakes = () if complete else earlier[-CROWD:]
            earlier = [place for place in namesakes if _is_same_line(kept[place], report)]
        if earlier:
            kept[earlier[-1]] = report
        else:
            places[mark].append(len(kept))
            kept.append(report)
    return tuple(kept)


def content_sort_key(game: Game | GameReport) -> tuple[object, ...]:
    """Sorts games of equal names the same way whatever order they are reported in."""
    line = tuple(move.uci for move in game.moves)
    return (-len(line), line, msgspec.msgpack.encode(_content(game)))


def _content(game: Game | GameReport) -> tuple[object, ...]:
    return (
        game.headers,
        game.start_fen,
        game.moves,
        game.result,
        game.start_eval,
        game.problem,
    )


def is_another_game(game: Game, report: GameReport, *, complete: bool) -> bool:
    """Is ``report``, of the same names as ``game``, the next game and not a new state of this one?

    Yes when ``game`` was over and is not only corrected: reopened with less than half of its
    moves, reported with a result and moves of which less than half agree, or begun from another
    position. A game still going on may lose all its moves, or its starting position, to a
    correction; but in a stream that reports one game at a time, eight plies or more of which less
    than half agree are another game. What could not be read shows no other game.
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
    held: GameIndex,
    ids: Sequence[GameId],
    reports: Sequence[GameReport],
    indexes: Sequence[int],
    *,
    complete: bool,
) -> GameIds:
    """Tell games of one key or of the same names apart."""

    def may_be(id: GameId, index: int) -> bool:
        game, report = held[id], reports[index]
        if report.key:
            return _is_key_trustworthy(game, report)
        return not is_another_game(game, report, complete=complete)

    if not ids:
        return {}
    if len(ids) == len(indexes) == 1:
        return {indexes[0]: ids[0]} if may_be(ids[0], indexes[0]) else {}
    # Those that stand as they stood; linear, so that a thousand of them cost little.
    standing: defaultdict[tuple[object, ...], list[GameId]] = defaultdict(list)
    for id in reversed(ids):
        standing[_content(held[id])].append(id)
    found = {
        index: same.pop() for index in indexes if (same := standing.get(_content(reports[index])))
    }
    left = [id for same in standing.values() for id in same]
    left.sort(key=lambda id: content_sort_key(held[id]))
    in_order = [index for index in indexes if index not in found]
    in_order.sort(key=lambda index: content_sort_key(reports[index]))
    if len(left) * len(in_order) > CROWD * CROWD:
        return found | dict(zip(in_order, left, strict=False))
    ranked = [
        (_rank_likeness(held[id], reports[index]), id, place)
        for id in left
        for place, index in enumerate(in_order)
        if may_be(id, index)
    ]
    return found | {in_order[place]: id for place, id in _assign_best_first(ranked).items()}


def _rank_likeness(game: Game, report: GameReport) -> Rank:
    return (
        count_same_players(game.headers, report.headers),
        sum(compare_fide_ids(game.headers, report.headers)),
        report.start_fen == game.start_fen,
        count_equal_plies(game.moves, report.moves),
        -abs(len(game.moves) - len(report.moves)),
        report.result == game.result,
    )


def _assign_best_first(ranked: list[tuple[Rank, GameId, int]]) -> GameIds:
    """Give each report the best game still free, the best pair of all first."""
    found: GameIds = {}
    taken: set[GameId] = set()
    for _, id, index in sorted(ranked, key=lambda each: ([-part for part in each[0]], *each[1:])):
        if index not in found and id not in taken:
            found[index] = id
            taken.add(id)
    return found


def _rank_relation(game: Game, report: GameReport, *, complete: bool) -> Rank | None:
    """How surely a left-over report is ``game``; None when it is not."""
    old, new = game.headers, report.headers
    if not may_be_one_round(old.round, new.round):
        return None
    standing = keep_unread(report, game)
    if standing.start_fen != game.start_fen or not _is_same_line(game, standing):
        return None
    if is_another_game(game, report, complete=complete):
        return None
    alike = count_equal_plies(game.moves, report.moves)
    proved = complete or alike >= PROOF_PLIES
    one_event = normalise_header(old.event) == normalise_header(new.event)
    one_round = normalise_header(old.round) == normalise_header(new.round)
    one_board = old.board == new.board
    seated = count_same_players(old, new)
    swapped = is_same_person(old.white, new.black) + is_same_person(old.black, new.white)
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


def may_be_one_round(one: str, other: str) -> bool:
    """``"3.12"`` is board 12 of round 3, and boards are reordered; an unknown round may be any."""
    old, new = normalise_header(one), normalise_header(other)
    return old == new or not old or not new or normalise_round(old) == normalise_round(new)


def _is_same_line(game: Game | GameReport, report: GameReport) -> bool:
    """Does one go on where the other stops, but for the last moves being corrected?"""
    if len(report.moves) < len(game.moves) - TAKEN_BACK_PLIES:
        return False
    shorter = shorter_length(game, report)
    return count_equal_plies(game.moves, report.moves) >= shorter - CORRECTED_PLIES


def shorter_length(one: Game | GameReport, other: Game | GameReport) -> int:
    """How many plies the shorter one has."""
    return min(len(one.moves), len(other.moves))


def count_equal_plies(one: tuple[Move, ...], other: tuple[Move, ...]) -> int:
    """Plies at which both games have the same move. A move corrected early costs one ply."""
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter
    return sum(a.uci == b.uci for a, b in zip(one, other, strict=False))


def compare_fide_ids(one: Headers, other: Headers) -> list[bool]:
    """For each seat whose FIDE id both headers know: whether it is the same."""
    sides = ((one.white, other.white), (one.black, other.black))
    return [fide_id_of(a) == fide_id_of(b) for a, b in sides if fide_id_of(a) and fide_id_of(b)]
