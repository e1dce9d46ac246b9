"""Command ``live-rate match``: statistics of the result of a match, with its pairs of
games and a sequential test.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from live.errors import InputError
from live.games.game import is_played
from live.games.player_identity import person_key
from live.messages.from_sources import GameReport, Player
from live.messages.values import Value
from live.ratings.match import MatchStatistics, compute_match_statistics
from live.ratings.match_games import GameCounts, MatchGame, PairCounts, count_match
from live.ratings.sprt import Sprt, SprtRun, SprtState, run_sprt, trace_sprt
from live.screens.terminal.text import plain
from live.sources.pgn_file import read_pgn_file
from live.studies.analyse_files import describe_walkovers
from live.studies.corpus_games import find_named
from live.studies.printed_results import (
    build_figures_table,
    count_decimals,
    format_number,
    format_signed,
    format_signed_interval,
    report_result,
)
from live.watch.finding import format_count


class MatchStudy(Value):
    """Statistics of a match from the first player's side, as ``match --json`` writes
    them.
    """

    counts: GameCounts
    statistics: MatchStatistics
    first: str = ""
    second: str = ""
    pairs: PairCounts | None = None
    """Null if games are not given one by one, or if none of them form a pair."""
    pair_statistics: MatchStatistics | None = None
    left_out: int = 0
    """Played games whose result does not split one point between the players."""
    unpaired: int = 0
    """Counted games that form no pair with a game with reversed colours; 0 if games are
    not given one by one.
    """
    walkovers: int = 0
    """Games in which one player or both made no move. They are left out if other games
    of the match have moves.
    """
    results_only: bool = False
    """True if no game has moves; then all games count as played."""
    sprt: SprtState | None = None
    """Null without ``--elo0`` and ``--elo1``."""
    sprt_run: SprtRun | None = None
    """The test after every pair or game, for a match that is given game by game."""


def assess_match(
    arguments: Sequence[str], test: Sprt | None, first: str | None, json: str | None
) -> int:
    """Run ``live-rate match``; return the exit code."""
    result = build_match_study(arguments, test, first)
    tables: list[Any] = [build_match_table(result)]
    if result.pairs is not None and result.pair_statistics is not None:
        tables.append(build_reversed_pairs_table(result.pairs, result.pair_statistics))
    if test is not None and result.sprt is not None:
        tables.append(build_sprt_table(test, result.sprt, result.sprt_run))
    notes = (
        (
            result.left_out,
            f"Left out: {result.left_out} without a result that splits one point.",
        ),
        (result.walkovers, describe_walkovers(result.walkovers)),
        (
            result.unpaired,
            f"In no pair: {format_count(result.unpaired, 'game')} without one of"
            " reversed colours beside it.",
        ),
        (
            result.results_only,
            "No game has moves: all results are taken as those of played games.",
        ),
    )
    return report_result(
        json, result, *tables, *(note for holds, note in notes if holds)
    )


def build_match_study(
    arguments: Sequence[str], test: Sprt | None, first: str | None
) -> MatchStudy:
    """Return the statistics of three counts, or of the games in PGN files.

    Raises:
        InputError: the arguments are neither three counts nor files of one match.
    """
    if all(argument.lstrip("+-").isdigit() for argument in arguments):
        numbers = [int(argument) for argument in arguments]
        if len(numbers) != 3 or min(numbers) < 0:
            problem = f"{' '.join(arguments)} are not wins, draws and losses"
            raise InputError(
                "match", problem, "Give three, for example: live-rate match 12 20 8"
            )
        counts = GameCounts(*numbers)
        state = run_sprt(test, counts) if test else None
        return MatchStudy(counts, compute_match_statistics(counts), sprt=state)
    reports: list[GameReport] = []
    for argument in arguments:
        reports += read_pgn_file(Path(argument)).games
    results_only = not any(map(is_played, reports))
    # Different spellings of one person's name are treated as one name.
    spelling_of: dict[str, str] = {}

    def choose_spelling(player: Player) -> str:
        return spelling_of.setdefault(person_key(player) or player.name, player.name)

    games = [
        MatchGame(
            choose_spelling(report.headers.white),
            choose_spelling(report.headers.black),
            report.result,
            played=results_only or is_played(report),
        )
        for report in reports
    ]
    if first is not None:
        # Some words of a name are enough if only one player's name has them.
        matching_names = find_named(
            first, {name: name for name in spelling_of.values()}
        )
        first = matching_names[0] if len(matching_names) == 1 else first
    match_counts = count_match(games, first)
    pairs = match_counts.pairs if match_counts.pairs.games else None
    return MatchStudy(
        match_counts.games,
        compute_match_statistics(match_counts.games),
        match_counts.first,
        match_counts.second,
        pairs,
        compute_match_statistics(pairs) if pairs else None,
        left_out=match_counts.left_out,
        unpaired=match_counts.games.games - match_counts.pairs.games,
        walkovers=match_counts.walkovers,
        results_only=results_only,
        sprt=run_sprt(test, pairs or match_counts.games) if test else None,
        sprt_run=trace_sprt(test, games, match_counts.first)
        if test and match_counts.games.games
        else None,
    )


def build_match_table(match: MatchStudy) -> Table:
    """Build a table of all figures of a match that follow from wins, draws and
    losses.
    """
    first = match.first
    counts = match.counts
    statistics = match.statistics
    names = f"{plain(first, 40)} against {plain(match.second, 40)}: " if first else ""
    rows = (
        ("games", str(statistics.games)),
        ("score", format_number(statistics.score, ".3f")),
        ("wins", format_number(statistics.win_ratio, ".3f")),
        ("draws", format_number(statistics.draw_ratio, ".3f")),
        ("losses", format_number(statistics.loss_ratio, ".3f")),
        *_build_elo_rows(statistics),
        ("likelihood of superiority, normal", format_number(statistics.los, ".4f")),
        (
            "likelihood of superiority, exact",
            format_number(statistics.los_exact, ".4f"),
        ),
        ("so uneven by chance (two-tailed)", format_number(statistics.p_value, ".4f")),
    )
    title = f"{names}+{counts.wins} ={counts.draws} -{counts.losses}"
    return build_figures_table(title, rows, caption="; ".join(statistics.gaps))


def build_reversed_pairs_table(
    counts: PairCounts, statistics: MatchStatistics
) -> Table:
    """Build a table of the figures that follow from pairs of games with reversed
    colours.
    """
    points = " ".join(map(str, counts.by_score))
    return build_figures_table(
        f"Pairs with colours reversed, by points 0, ½, 1, 1½, 2: {points}",
        (
            *_build_elo_rows(statistics),
            ("likelihood of superiority", format_number(statistics.los, ".4f")),
        ),
        caption="; ".join(statistics.gaps),
    )


def _build_elo_rows(statistics: MatchStatistics) -> tuple[tuple[str, str], ...]:
    digits = count_decimals(statistics.elo_low, statistics.elo_high)
    error = ""
    if statistics.elo_error is not None:
        error = f" ± {statistics.elo_error:.{max(1, digits)}f}"
    normalized = (statistics.normalized_elo_low, statistics.normalized_elo_high)
    normalized_digits = count_decimals(*normalized)
    return (
        ("Elo difference", format_signed(statistics.elo, digits) + error),
        (
            "95 %",
            format_signed_interval(statistics.elo_low, statistics.elo_high, digits),
        ),
        ("normalized Elo", format_signed(statistics.normalized_elo, normalized_digits)),
        ("95 %", format_signed_interval(*normalized, normalized_digits)),
    )


def build_sprt_table(test: Sprt, state: SprtState, run: SprtRun | None) -> Table:
    """Build a table of a sequential test: its present state, and when it was first
    decided.
    """
    rows = [
        ("log-likelihood ratio", format_number(state.llr, ".3f") or "no game yet"),
        ("H0 at or below, H1 at or above", f"{state.lower:.3f}, {state.upper:.3f}"),
        ("decision now", state.decision),
    ]
    if run is not None:
        after = run.decided_after
        rows.append(
            ("first decided", "not yet" if after is None else f"after {after} games")
        )
        rows += [("as", run.decision)] if after is not None else []
    return build_figures_table(
        f"SPRT, H0: {test.elo0:g} Elo, H1: {test.elo1:g} Elo ({test.scale})",
        rows,
        caption="A result that has not occurred yet counts as 1/1000."
        if state.regularised
        else "",
    )
