"""What a report changes: ``plan(held, report)`` → the steps that make it true.

Pure. A report of k games costs O(k + what changed), however many games are held.

What is believed of a report, at the first that says so:

* Moves, clocks, evaluations and result as reported: clocks may jump, a result may come before the
  last moves or be taken back, a takeback may only shorten the game. A mate while the source
  still says ``*`` has the result the rules give it.
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
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from live.events import (
    NO_LONGER,
    FeedName,
    FeedReport,
    GameId,
    GameReport,
    Headers,
    Player,
    Result,
    Score,
)
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
    applied,
)
from live.games.game_index import GameIndex
from live.games.game_matching import content_order, matched, without_repeats
from live.games.player_identity import first_id, header_words, is_bye, is_known

# What cannot be true in a report, found from that report alone.
#
# Each function looks at one report, so what is held in the end does not depend on the order in
# which the news came, and following a game live ends where reading its PGN afterwards ends.


SUPPORTED_VARIANTS = frozenset({"standard", "chess960"})

# At the end of a game players put the kings on the centre to enter the result: on the
# white squares e4 and d5 when White won, on the black ones when Black did (DGT LiveChess).
_KING_TO_CENTRE = re.compile(r"K[de][45]")
# What the decoder of moves says of it, move number in brackets; anything behind that is another
# problem.
_ILLEGAL_KING = re.compile(r"illegal move (K[de][45])[+#]? at ply \d+(?: \(\d+\.+\))?")
_WON_SQUARES: dict[Result, frozenset[str]] = {
    "1-0": frozenset({"Ke4", "Kd5"}),
    "0-1": frozenset({"Kd4", "Ke5"}),
}


def sane(report: GameReport) -> GameReport:
    """``report`` with all that this module knows better."""
    return without_centred_kings(with_result_by_rule(without_unsupported(report)))


def is_no_game(report: GameReport) -> bool:
    """A bye, or a pairing without a player: nothing is played until there are moves."""
    players = (report.headers.white, report.headers.black)
    if report.moves or report.problem is not None:
        return False  # somebody plays, even where we cannot follow
    return any(map(is_bye, players)) or not all(map(is_known, players))


def without_unsupported(report: GameReport) -> GameReport:
    """A variant we do not know keeps its headers and result; its moves are left alone."""
    variant = report.headers.variant
    if variant in SUPPORTED_VARIANTS:
        return report
    problem = f"variant {variant} is not supported"
    return msgspec.structs.replace(report, moves=(), start_eval=None, problem=problem)


def without_centred_kings(report: GameReport) -> GameReport:
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
        lost = result == ("0-1" if _white_moved_last(report) else "1-0")
        if lost and {last, illegal[1]} == _WON_SQUARES[result]:
            moves = moves[:-1]
    return msgspec.structs.replace(report, moves=moves, problem=None)


def with_result_by_rule(report: GameReport) -> GameReport:
    """On a mated board where no result is reported, the one the rules give.

    (FIDE Laws 5.1.1.) A stalemate or dead position without a result stays ``*`` until the source
    shows the draw: seeing it would cost replaying the game.
    """
    if report.result == "*" and report.moves and report.moves[-1].san.endswith("#"):
        won: Result = "1-0" if _white_moved_last(report) else "0-1"
        return msgspec.structs.replace(report, result=won)
    return report


def _white_moved_last(report: GameReport) -> bool:
    white_begins = report.start_fen.split()[1:2] != ["b"]
    return white_begins == (len(report.moves) % 2 == 1)


__all__ = [
    "ClocksCorrected",
    "EvalsChanged",
    "GameConfirmed",
    "GameGone",
    "HeadersChanged",
    "MovesPlayed",
    "NewGame",
    "ProblemChanged",
    "ResultChanged",
    "Step",
    "TailReplaced",
    "TakenBack",
    "applied",
    "plan",
]


def plan(held: GameIndex, report: FeedReport) -> tuple[Step, ...]:
    """The steps from what is held to what ``report`` says, to be applied in order.

    Planned again after they are applied, the same report gives no steps.
    """
    told = without_repeats(report.games, complete=report.complete)
    read = [sane(game) for game in told if game.key or not is_no_game(game)]
    found = matched(held, report.feed, read, complete=report.complete)
    opened = _ids_of_new(held, read, found)
    steps: list[Step] = []
    for index, game in enumerate(read):
        if index in found:
            if held.is_restored(found[index]):
                steps.append(GameConfirmed(found[index]))
            steps.extend(_changes(held, found[index], game))
        elif index in opened:
            steps.append(NewGame(_game(opened[index], report.feed, game)))
    if report.complete:
        present = set(found.values())
        missing = (
            id for id in held.of_feed(report.feed) if id not in present and not _is_played(held[id])
        )
        steps.extend(step for id in missing for step in _missing(held[id]))
    return tuple(steps)


def _is_played(game: Game) -> bool:
    """Over, with moves: a file used anew for the next round does not make it unplayed."""
    return game.result != "*" and bool(game.moves)


def _missing(game: Game) -> Iterator[Step]:
    if not game.moves:
        yield GameGone(game.id)
    elif game.problem != (problem := f"{NO_LONGER}; shown as it was last"):
        yield ProblemChanged(game.id, problem)


# --- new games ----------------------------------------------------------------------------------


def _ids_of_new(
    held: GameIndex, read: list[GameReport], found: dict[int, GameId]
) -> dict[int, GameId]:
    """An id for every new game; among games of equal names the same way in any order."""
    wanted = [
        (first_id(report), index)
        for index, report in enumerate(read)
        if index not in found and not is_no_game(report)
    ]
    asked = [id for id, _ in wanted]
    if len(set(asked)) < len(asked):
        wanted.sort(key=lambda each: (each[0], content_order(read[each[1]])))
    given: dict[int, GameId] = {}
    taken: set[GameId] = set()
    reached: dict[GameId, int] = {}
    for first, index in wanted:
        number = reached.get(first, 1)
        while (id := first if number == 1 else f"{first}-{number}") in held or id in taken:
            number += 1
        reached[first] = number
        taken.add(id)
        given[index] = id
    return given


def _game(id: GameId, feed: FeedName, report: GameReport) -> Game:
    return Game(
        id=id,
        feed=feed,
        key=report.key,
        headers=report.headers,
        start_fen=report.start_fen,
        moves=report.moves,
        result=report.result,
        start_eval=report.start_eval,
        problem=report.problem,
    )


# --- known games --------------------------------------------------------------------------------


def _changes(held: GameIndex, id: GameId, report: GameReport) -> Iterator[Step]:
    game = held[id]
    headers = _kept(game.headers, report.headers)
    if report.start_fen != game.start_fen or headers.variant != game.headers.variant:
        yield GameGone(id)
        yield NewGame(_game(id, game.feed, msgspec.structs.replace(report, headers=headers)))
        return
    if headers != game.headers:
        yield HeadersChanged(id, headers)
    yield from move_changes(game, report)
    if report.result != game.result:
        yield ResultChanged(id, report.result)
    if report.problem != game.problem:
        yield ProblemChanged(id, report.problem)


def _kept(old: Headers, new: Headers) -> Headers:
    """``new``, with the names and the place it lost."""
    if new == old:
        return old
    return msgspec.structs.replace(
        new,
        white=_kept_player(old.white, new.white),
        black=_kept_player(old.black, new.black),
        event=new.event if header_words(new.event) else old.event,
        round=new.round if header_words(new.round) else old.round,
        board=old.board if new.board is None else new.board,
    )


def _kept_player(old: Player, new: Player) -> Player:
    return new if is_known(new) else old


def _first_difference(game: Game, report: Game | GameReport) -> int:
    """How many plies both begin with; the annotations of a move do not count."""
    shorter = min(len(game.moves), len(report.moves))
    # Tuples are compared in C; a report that only adds moves never gets past here.
    if game.moves[:shorter] == report.moves[:shorter]:
        return shorter
    for index in range(shorter):
        if game.moves[index].uci != report.moves[index].uci:
            return index
    return shorter


def move_changes(game: Game, report: Game | GameReport) -> Iterator[Step]:
    """The steps from the moves held to those of ``report``, with their clocks and evaluations."""
    id, old, new = game.id, game.moves, report.moves
    shared = _first_difference(game, report)
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
