"""Changes of the known games by a report: :func:`plan_report_steps` returns the steps.

No I/O. A report of k games costs O(k + number of changes), however many games are
known.

These rules decide the changes:

* Moves, clocks, evaluations and result are accepted as reported: clocks can jump, a
  result can come before the last moves or be withdrawn, and a takeback can only shorten
  the game. A mate that the source still reports with ``*`` gets the result by the
  rules.
* Only a line that was read completely can remove moves. A game that could not be read
  to its end (``unread``) keeps its known moves, and its ``problem`` says so; see
  :mod:`live.sources.kept_moves`.
* A game missing from a **complete** report is no longer in its source. Played moves are
  never lost: a finished game stays as it is; a game with moves but no result gets a
  ``problem``, which says that its last known state is shown; a game without moves is
  removed. (Sources that can be read while they are being written check a missing game
  themselves: :mod:`live.sources.partial_reads`.)
* Another starting position or variant means another game: the old one is removed at
  once, and the new one gets its id.
* A missing name, event, round or board counts as lost, not as withdrawn: the last one
  reported stays. Elo, title, team, FIDE id and other headers are accepted as reported,
  so that a wrong title can be withdrawn.
* A bye, or a pairing without one of its players, is not a game until it has moves.
* A game that was forgotten after its end comes back only if its report has changed.
* The spelling of a move (SAN) stays as first reported; its UCI identifies the move.
"""

from collections.abc import Iterator, Set
from itertools import chain, count

import msgspec
from msgspec.structs import replace

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
)
from live.games.game_index import GameIndex
from live.games.game_matching import (
    GameIds,
    content_sort_key,
    drop_repeats,
    match_games,
)
from live.games.player_identity import is_known, normalise_header, preferred_game_id
from live.games.report_cleaning import is_no_game, normalise_report
from live.messages.from_sources import NO_LONGER, FeedReport, GameReport, Headers, Score
from live.messages.values import FeedName, GameId
from live.sources.game_identity import count_shared_plies
from live.sources.kept_moves import AS_LAST, keep_unread


def plan_report_steps(known_games: GameIndex, report: FeedReport) -> tuple[Step, ...]:
    """Return the steps that change the known games into those of ``report``, in order.

    After they are applied, the same report needs no steps.
    """
    reported = drop_repeats(report.games, complete=report.complete)
    reports = [
        normalise_report(game) for game in reported if game.key or not is_no_game(game)
    ]
    reports = [
        game for game in reports if not known_games.is_forgotten(report.feed, game)
    ]
    matches = match_games(known_games, report.feed, reports, complete=report.complete)
    opened = _assign_new_ids(known_games, reports, matches)
    steps: list[Step] = []
    for index, reported_game in enumerate(reports):
        if index in matches:
            if known_games.is_restored(matches[index]):
                steps.append(GameConfirmed(matches[index]))
            steps.extend(_diff_report(known_games[matches[index]], reported_game))
        elif index in opened:
            steps.append(
                NewGame(_create_game(opened[index], report.feed, reported_game))
            )
    if report.complete:
        steps.extend(
            _report_missing_games(known_games, report.feed, set(matches.values()))
        )
    return tuple(steps)


def _report_missing_games(
    known_games: GameIndex, feed: FeedName, present: Set[GameId]
) -> Iterator[Step]:
    """Yield steps for the games of a feed that are missing from its complete report."""
    problem = NO_LONGER + AS_LAST
    for id in known_games.list_game_ids_of_feed(feed):
        if id in present:
            continue
        # A finished game stays, because its file is perhaps reused for the next round.
        game = known_games[id]
        if not game.moves:
            yield GameGone(id)
        elif game.result == "*" and game.problem != problem:
            yield ProblemChanged(id, problem)


def _assign_new_ids(
    known_games: GameIndex, reports: list[GameReport], matches: GameIds
) -> GameIds:
    """Return an id for every new game, independent of the order of the reports."""
    preferences = [
        (preferred_game_id(report), index)
        for index, report in enumerate(reports)
        if index not in matches and not is_no_game(report)
    ]
    has_namesakes = len({id for id, _ in preferences}) < len(preferences)
    if has_namesakes:
        preferences.sort(key=lambda pair: (pair[0], content_sort_key(reports[pair[1]])))
    new_ids: GameIds = {}
    used_ids: set[GameId] = set()
    names: dict[GameId, Iterator[GameId]] = {}
    for first, index in preferences:
        free = names.setdefault(
            first, chain([first], (f"{first}-{n}" for n in count(2)))
        )
        new_ids[index] = next(
            id for id in free if id not in known_games and id not in used_ids
        )
        used_ids.add(new_ids[index])
    return new_ids


def _create_game(id: GameId, feed: FeedName, report: GameReport) -> Game:
    fields = msgspec.structs.asdict(report)
    del fields["unread"]
    return Game(id=id, feed=feed, **fields)


def _diff_report(game: Game, report: GameReport) -> Iterator[Step]:
    """Yield the steps that bring a known game up to date with a report."""
    report = keep_unread(report, game)
    report = replace(report, headers=_keep_lost_headers(game.headers, report.headers))
    if (
        report.start_fen != game.start_fen
        or report.headers.variant != game.headers.variant
    ):
        yield GameGone(game.id)
        yield NewGame(_create_game(game.id, game.feed, report))
    else:
        yield from diff_games(game, report)


def _keep_lost_headers(old: Headers, new: Headers) -> Headers:
    """Return ``new``, with names, event, round and board of ``old`` where ``new`` has
    none.
    """
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


def diff_games(game: Game, report: Game | GameReport) -> Iterator[Step]:
    """Yield the steps that change ``game`` into ``report``."""
    id, old, new = game.id, game.moves, report.moves
    if report.headers != game.headers:
        yield HeadersChanged(id, report.headers)
    shared = count_shared_plies(old, new)
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
    # One comparison in C is enough for the many reports that only add moves.
    if old[:shared] != new[:shared]:
        for ply, (before, after) in enumerate(
            zip(old[:shared], new[:shared], strict=True), 1
        ):
            if (before.clock_s, before.spent_s) != (after.clock_s, after.spent_s):
                clocks.append((ply, after.clock_s, after.spent_s))
            if before.eval != after.eval:
                evals.append((ply, after.eval))
    if clocks:
        yield ClocksCorrected(id, tuple(clocks))
    if evals:
        yield EvalsChanged(id, tuple(evals))
    if report.result != game.result:
        yield ResultChanged(id, report.result)
    if report.problem != game.problem:
        yield ProblemChanged(id, report.problem)
