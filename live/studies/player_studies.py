"""Studies of finished games: who would beat whom, who played best, what a match shows;
and ``live-rate calibrate``: the engine's rating and models of perceived ratings from
games of rated players, and how well a model does on players it never saw.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.catalogue import FIGURES, Figure, cell, ends_cell
from live.config import Config
from live.errors import InputError
from live.event.comparisons import PredictorRow, Rank, compare, rank
from live.games.player_identity import normalise_name
from live.jobs.analyze_games import analyse_files_whole
from live.messages.figures import EngineInfo, GainKind, PlayerView
from live.screens.terminal import printed
from live.screens.terminal.printed import NAME, titled
from live.screens.terminal.text import interval_text, odds_text, plain
from live.studies.corpus_games import find_named
from live.studies.printed_results import (
    Evals,
    format_interval,
    format_number,
    format_signed_interval,
    report_result,
)


async def compare_players(
    config: Config,
    files: Sequence[Path],
    names: tuple[str, str],
    *,
    evals: Evals,
    json: str | None,
) -> int:
    """``live-rate compare``; returns the exit code. Predictions are expected scores of
    the first player against the second, both colours alike.
    """
    state = await analyse_files_whole(config, files, command="compare", evals=evals)
    views = state.players()
    one, other = (find_player(views, name) for name in names)
    if one.id == other.id:
        raise InputError(
            "--players",
            f"{names[0]!r} and {names[1]!r} are the same person",
            "Name two",
        )
    engine = state.engine()
    gain = state.gain()
    rows = compare(state.collect_compared_moves(), one.id, other.id)
    width = Console().width
    return report_result(
        json,
        {"engine": engine, "gain": gain, "players": (one, other), "predictions": rows},
        build_players_table(one, other, engine, gain, width=width),
        build_comparison_table(one, other, rows, width=width),
    )


async def rank_players(
    config: Config, files: Sequence[Path], *, evals: Evals, by: str, json: str | None
) -> int:
    """``live-rate rank``; returns the exit code."""
    state = await analyse_files_whole(config, files, command="rank", evals=evals)
    views = state.players()
    engine = state.engine()
    gain = state.gain()
    ranked = rank(
        state.collect_compared_moves(), views, by, engine_rating=engine.rating
    )
    width = Console().width
    return report_result(
        json,
        {"engine": engine, "gain": gain, "predictor": by, "players": ranked},
        printed.players(views, engine, gain, width=width),
        build_battle_table(ranked, by, width=width),
    )


def find_player(views: Sequence[PlayerView], name: str) -> PlayerView:
    """Return the player of that id or name, or of the only name that contains all its
    words.

    Raises:
        InputError: nobody or several are called so.
    """
    found = [
        view
        for view in views
        if name == view.id or normalise_name(name) == normalise_name(view.name) != ""
    ][:1]
    if not found:
        alike = find_named(name, {view.id: view.name for view in views})
        found = [view for view in views if view.id in alike]
    if len(found) == 1:
        return found[0]
    # Names hold commas.
    everybody = "; ".join(view.name for view in (found or views)[:12])
    problem = "several players are called so" if found else "nobody is called so"
    raise InputError(
        name, problem, f"There are: {everybody}" if views else "There is no player"
    )


def build_players_table(
    one: PlayerView,
    other: PlayerView,
    engine: EngineInfo,
    gain: GainKind,
    *,
    width: int,
) -> Table:
    """Tabulate what is known of two players, one figure a row."""
    table = titled(
        f"{plain(one.name, 40)} and {plain(other.name, 40)} ({plain(engine.name, 60)},"
        f" {engine.limit}, {gain} gain; Algorithm 4 with the engine at {engine.rating}"
        f" Elo by {engine.rating_source})",
        width=width,
    )
    table.add_column("", no_wrap=True)
    for view in (one, other):
        table.add_column(
            Text(plain(view.name, 24)), justify="right", ratio=1, no_wrap=True
        )
    for figure in FIGURES:
        if figure.usual:
            table.add_row(
                figure.name,
                *(_format_figure(figure, each, engine) for each in (one, other)),
            )
    table.add_row("moves", *(str(view.moves) for view in (one, other)))
    return table


def _format_figure(figure: Figure, view: PlayerView, engine: EngineInfo) -> str:
    text = cell(figure, view, engine.rating)
    ends = ends_cell(figure, view, engine.rating)
    return f"{text} ({figure.interval} {ends})" if text and ends else text


def build_comparison_table(
    one: PlayerView, other: PlayerView, rows: Sequence[PredictorRow], *, width: int
) -> Table:
    """Tabulate all predictors, one a row, and list below them those without an answer,
    by reason.
    """
    table = titled(
        f"{plain(one.name, 40)} against {plain(other.name, 40)}, both colours alike",
        "Score",
        "95 %",
        "Elo",
        "Win/draw/loss",
        first="Predictor",
        width=width,
    )
    table.add_column("Note", ratio=1)
    without: dict[str, list[str]] = {}
    for row in rows:
        if row.expected_score is None:
            without.setdefault(row.missing, []).append(row.predictor)
            continue
        known = row.win is not None and row.draw is not None
        table.add_row(
            row.predictor,
            format_number(row.expected_score, ".3f"),
            format_interval(row.low, row.high),
            format_number(row.difference, "+.0f"),
            odds_text(row.win or 0.0, row.draw or 0.0) if known else "",
            Text(plain(row.caution)),
        )
    table.caption = Text(
        "\n".join(
            f"No answer: {'; '.join(names)} ({plain(why, 200)})"
            for why, names in without.items()
        )
    )
    return table


def build_battle_table(ranks: Sequence[Rank], by: str, *, width: int) -> Table:
    """Tabulate all players against all; equal scores share a place, and players without
    a place come last.
    """
    table = titled(f"Battle royale by {by}, and Algorithm 2", width=width)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Player", **NAME)
    for head in ("Battle", "95 %", "Beats", "A2", "95 %"):
        table.add_column(head, justify="right", no_wrap=True)
    places = Counter(each.place for each in ranks)
    for each in sorted(ranks, key=lambda rank: (rank.place is None, rank.place or 0)):
        tied = "=" if places[each.place] > 1 else ""
        low = each.algorithm_2_low
        high = each.algorithm_2_high
        second = format_number(each.algorithm_2, ".0f"), interval_text(low, high)
        if each.algorithm_2 is None:
            second = (
                format_number(each.algorithm_2_difference, "+.0f"),
                format_signed_interval(low, high),
            )
        table.add_row(
            "" if each.place is None else f"{each.place}{tied}",
            Text(plain(each.name, 40)),
            format_number(each.expected_score, ".3f"),
            format_interval(each.expected_low, each.expected_high),
            f"{each.victories}/{each.opponents}" if each.opponents else "",
            *second,
        )
    caption = "Where 95 % intervals overlap, the order may be chance."
    if reasons := {plain(each.missing): None for each in ranks if each.missing}:
        caption += " No place in the battle royale: " + "; ".join(reasons)
    table.caption = Text(caption)
    return table
