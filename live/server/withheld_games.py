"""Changes that withhold games after a restart until the public delay is over. Pure.

The moves, clocks, headers and results of a game are shown when they are due, as if
there had been no restart. Its figures are shown together with its last change.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf

from msgspec.structs import asdict, replace

from live.event.ply import build_unscored_view
from live.event.rate_game import count_common
from live.games.game import Game
from live.messages.figures import EngineInfo, GameDetail, GameView
from live.messages.moments import ROUND_MOMENTS
from live.messages.to_clients import (
    Change,
    ClockMessage,
    EngineMessage,
    GainsMessage,
    GoneMessage,
    MomentMessage,
    MoveMessage,
    ScoreMessage,
    SnapshotMessage,
    StandingMessage,
)
from live.messages.values import GameId
from live.server.delay_line import TimedChange
from live.server.event_reader import replay_game
from live.server.visibility import Visibility, redact

Stage = tuple[float, Game | None]
"""A stage of a game: how many seconds ago it changed, and the game after the change.
None instead of a game means the present game.
"""


Unshown = Mapping[GameId, Sequence[Stage]]
"""For each game that the public has not completely seen, by its id: its stages, the
oldest first, the present one last. A game without known stages is withheld completely.
"""


def list_withholding_changes(
    whole: SnapshotMessage,
    unshown: Unshown,
    stored_engine: EngineInfo | None,
    *,
    delay_s: float,
    now_s: float,
) -> list[TimedChange]:
    """Return the changes that remove unseen data from a state and later restore it.

    The list is not sorted; changes with equal times are in order. The time of changes
    that remove data is always due.

    Args:
        whole: the whole state.
        unshown: the games that the public has not completely seen.
        stored_engine: the engine with a rating that does not depend on any game.
        delay_s: the delay of the public, seconds.
        now_s: the present time, by the same clock as the returned times, seconds.
    """
    changes: list[TimedChange] = []
    last_changes_s: dict[GameId, float] = {}
    for detail in whole.games:
        stages = unshown.get(detail.id, ())
        if not stages or stages[-1][0] >= delay_s:
            continue
        changes.append((-inf, GoneMessage(detail.id)))
        for ago_s, change in _list_stage_changes(detail, stages):
            changes.append((now_s - ago_s, change))
            last_changes_s[detail.id] = now_s - ago_s
    if last_changes_s:
        last_s = max(last_changes_s.values())
        changes += _withhold_figures(whole, last_changes_s, stored_engine, last_s)
    return changes


def _withhold_figures(
    whole: SnapshotMessage,
    games: Collection[GameId],
    stored_engine: EngineInfo | None,
    last_s: float,
) -> Iterator[TimedChange]:
    """Yield the changes for all figures that depend on withheld games.

    ``last_s`` is the time of the last withheld change.
    """
    for moment in whole.moments:
        is_about_game = moment.game in games
        if not is_about_game and moment.kind not in ROUND_MOMENTS:
            continue
        if not is_about_game:
            yield -inf, MomentMessage(moment.game, moment, holds=False)
        yield last_s, MomentMessage(moment.game, moment)
    # The players' figures depend on the withheld games to an unknown degree.
    for player in whole.players:
        yield -inf, StandingMessage(replace(player, games=0, moves=0))
        yield last_s, StandingMessage(player)
    for player_gains in whole.gains:
        for gain_cp, moves in player_gains.counts:
            yield last_s, GainsMessage(player_gains.player, gain_cp, moves)
    # The engine's rating depends on the withheld games too.
    stored = stored_engine or whole.engine
    stored_only = replace(
        whole.engine,
        rating=stored.rating,
        rating_source=stored.rating_source,
        rating_moves=0,
    )
    yield -inf, EngineMessage(stored_only)
    yield last_s, EngineMessage(whole.engine)


def _list_stage_changes(
    detail: GameDetail, stages: Sequence[Stage]
) -> Iterator[tuple[float, Change]]:
    """Yield the changes from each stage of a game to the next, beginning with no game.

    Each change comes with the number of seconds since it happened.
    """
    before: GameDetail | None = None
    for ago_s, game in stages:
        after = detail if game is None else _restore_position(detail, game)
        changes = (
            replay_game(after)
            if before is None
            else _list_changes_between(before, after)
        )
        for change in changes:
            # If the clock was set back, the time could be in the future. It is limited,
            # since the first change that waits delays all others.
            yield max(0.0, ago_s), change
        before = after


def _restore_position(detail: GameDetail, game: Game) -> GameDetail:
    """Return a game with the moves and headers of an earlier ``game``, without figures.

    Fields that ``game`` lacks are taken from ``detail``.
    """
    heads = asdict(game.headers)
    fields = {
        name: value
        for name, value in heads.items()
        if name in GameView.__struct_fields__
    }
    return replace(
        redact(detail, Visibility.VENUE),
        **fields,
        result=game.result,
        problem=game.problem,
        plies_played=len(game.moves),
        plies=tuple(
            build_unscored_view(ply, move) for ply, move in enumerate(game.moves, 1)
        ),
    )


def _list_changes_between(before: GameDetail, after: GameDetail) -> Iterator[Change]:
    """Yield the messages that change an earlier state of a game into a later one."""
    common_plies = count_common(
        before.plies, after.plies, lambda earlier, later: earlier.uci == later.uci
    )
    if common_plies < len(before.plies):
        yield MoveMessage(after.id, common_plies + 1, None)
    for change in replay_game(after):
        if not isinstance(change, MoveMessage) or change.ply > common_plies:
            yield change
            continue
        shown_ply = before.plies[change.ply - 1]
        now = after.plies[change.ply - 1]
        if (shown_ply.clock_s, shown_ply.spent_s) != (now.clock_s, now.spent_s):
            yield ClockMessage(after.id, now.ply, now.clock_s, now.spent_s)
        if shown_ply != now:
            yield ScoreMessage(after.id, now)
