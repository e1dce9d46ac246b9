"""Studies of finished games: who would beat whom, who played best, what a match shows. Part of the
composition root: reads files, runs the pipeline, hands the figures to tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from rich.console import Console

from live.config import Config
from live.errors import InputError
from live.events import EngineInfo, GainKind, GameReport, Player, PlayerView
from live.games.player_identity import name_words, person_key
from live.jobs.analyze_games import analysed, read_pgn, was_played, write_json
from live.ledger.comparisons import PredictorRow, Rank, compare, rank
from live.ratings.match import (
    GameCounts,
    MatchGame,
    MatchStatistics,
    PairCounts,
    Sprt,
    SprtRun,
    SprtState,
    count_match,
    follow,
    match_statistics,
    sprt,
)
from live.studies import printed_tables as tables
from live.terminal import event_tables

Evals = Literal["engine", "pgn"]


class PlayerComparison(msgspec.Struct, frozen=True):
    """What ``compare --json`` writes."""

    engine: EngineInfo
    gain: GainKind
    players: tuple[PlayerView, PlayerView]
    predictions: tuple[PredictorRow, ...]
    """Expected scores of the first player against the second, both colours alike."""


class PlayerRanking(msgspec.Struct, frozen=True):
    """What ``rank --json`` writes; players by what is known of them."""

    engine: EngineInfo
    gain: GainKind
    predictor: str
    """Of the battle royale."""
    players: tuple[Rank, ...]


class MatchStudy(msgspec.Struct, frozen=True):
    """What ``match --json`` writes, from the first player's side."""

    counts: GameCounts
    statistics: MatchStatistics
    first: str = ""
    second: str = ""
    pairs: PairCounts | None = None
    """Null where games are not given one by one, or none make a pair."""
    pair_statistics: MatchStatistics | None = None
    left_out: int = 0
    """Played games without a result that splits one point."""
    walkovers: int = 0
    """Games without moves among games with moves, left out too."""
    results_only: bool = False
    """No game has moves: all are taken as played."""
    sprt: SprtState | None = None
    """Null without ``--elo0`` and ``--elo1``."""
    sprt_run: SprtRun | None = None
    """The same test after every pair, or game, of a match given game by game."""


async def compare_players(
    config: Config,
    files: Sequence[Path],
    names: tuple[str, str],
    *,
    evals: Evals,
    json: str | None,
) -> int:
    """``live-rate compare``; returns the exit code."""
    state = await analysed(config, files, evals=evals, walkovers=False)
    views = state.compared_players()
    one, other = (find_player(views, name) for name in names)
    if one.id == other.id:
        raise InputError(
            "--players", f"{names[0]!r} and {names[1]!r} are the same person", "Name two"
        )
    result = PlayerComparison(
        state.engine(),
        state.gain(),
        (one, other),
        compare(state.study(), one.id, other.id),
    )
    width = Console().width
    return _shown(
        json,
        result,
        tables.both_players(one, other, result.engine, result.gain, width=width),
        tables.comparison(one, other, result.predictions, width=width),
    )


async def rank_players(
    config: Config, files: Sequence[Path], *, evals: Evals, by: str, json: str | None
) -> int:
    """``live-rate rank``; returns the exit code."""
    state = await analysed(config, files, evals=evals, walkovers=False)
    views = state.players()
    engine = state.engine()
    ranked = rank(state.study(), views, by, engine_rating=engine.rating)
    result = PlayerRanking(engine, state.gain(), by, ranked)
    width = Console().width
    return _shown(
        json,
        result,
        event_tables.players(views, result.engine, result.gain, width=width),
        tables.battle(result.players, by, width=width),
    )


def match(arguments: Sequence[str], test: Sprt | None, first: str | None, json: str | None) -> int:
    """``live-rate match``; returns the exit code."""
    result = match_of(arguments, test, first)
    shown: list[Any] = [tables.match(result.first, result.second, result.counts, result.statistics)]
    if result.pairs is not None and result.pair_statistics is not None:
        shown.append(tables.pairs(result.pairs, result.pair_statistics))
    if test is not None and result.sprt is not None:
        shown.append(tables.sprt(test, result.sprt, result.sprt_run))
    if result.left_out:
        shown.append(f"Left out: {result.left_out} without a result that splits one point.")
    if result.walkovers:
        shown.append(f"Left out: {result.walkovers} without moves, taken as walkovers.")
    if result.results_only:
        shown.append("No game has moves: all results are taken as those of played games.")
    return _shown(json, result, *shown)


def match_of(arguments: Sequence[str], test: Sprt | None, first: str | None) -> MatchStudy:
    """Statistics of three counts, or of the games in PGN files.

    Raises:
        InputError: neither three counts nor files of one match.
    """
    if all(argument.lstrip("+-").isdigit() for argument in arguments):
        counts = _counts(arguments)
        return MatchStudy(
            counts, match_statistics(counts), sprt=sprt(test, counts) if test else None
        )
    reports = [game for argument in arguments for game in read_pgn(Path(argument)).games]
    results_only = not any(map(was_played, reports))
    games = _match_games(reports, results_only=results_only)
    counted = count_match(games, _as_reported(games, first))
    paired = counted.pairs.games > 0
    by_pairs = counted.pairs if paired else counted.games
    return MatchStudy(
        counted.games,
        match_statistics(counted.games),
        first=counted.first,
        second=counted.second,
        pairs=counted.pairs if paired else None,
        pair_statistics=match_statistics(counted.pairs) if paired else None,
        left_out=counted.left_out,
        walkovers=counted.walkovers,
        results_only=results_only,
        sprt=sprt(test, by_pairs) if test else None,
        sprt_run=follow(test, games, counted.first) if test and counted.games.games else None,
    )


def _counts(arguments: Sequence[str]) -> GameCounts:
    if len(arguments) != 3:
        raise InputError(
            "match",
            f"{len(arguments)} numbers are not wins, draws and losses",
            "Give three, for example: live-rate match 12 20 8",
        )
    numbers = [int(argument) for argument in arguments]
    if min(numbers) < 0:
        raise InputError(
            "match", f"{min(numbers)} is no number of games", "Give wins, draws and losses"
        )
    return GameCounts(*numbers)


def _match_games(reports: Sequence[GameReport], *, results_only: bool) -> list[MatchGame]:
    """Results in the order of the files; one person is one name, however it is spelt."""
    names: dict[str, str] = {}

    def spelled(player: Player) -> str:
        return names.setdefault(person_key(player) or player.name, player.name)

    return [
        MatchGame(
            spelled(report.headers.white),
            spelled(report.headers.black),
            report.result,
            played=results_only or was_played(report),
        )
        for report in reports
    ]


def _as_reported(games: Sequence[MatchGame], first: str | None) -> str | None:
    """``first`` as the games spell it, by some of its words if only one player has them."""
    if first is None:
        return None
    wanted = set(name_words(first).split())
    names = {name for game in games for name in (game.white, game.black)}
    found = [name for name in names if wanted and wanted <= set(name_words(name).split())]
    return found[0] if len(found) == 1 else first


def find_player(views: Sequence[PlayerView], name: str) -> PlayerView:
    """The player of that id or name, or of the only name that holds all its words.

    Raises:
        InputError: nobody or several are called so.
    """
    for view in views:
        if name == view.id or name_words(name) == name_words(view.name) != "":
            return view
    words = set(name_words(name).split())
    found = [view for view in views if words and words <= set(name_words(view.name).split())]
    if len(found) == 1:
        return found[0]
    # Names hold commas.
    everybody = "; ".join(view.name for view in (found or views)[:12])
    problem = "several players are called so" if found else "nobody is called so"
    raise InputError(name, problem, f"There are: {everybody}" if views else "There is no player")


def _shown(json: str | None, result: object, *figures: Any) -> int:
    """As JSON where that is asked for, and as tables unless that is printed; the exit code."""
    if json is not None:
        write_json(json, result)
    if json != "-":
        for each in figures:
            Console().print(each)
    return 0
