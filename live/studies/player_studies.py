"""Commands ``live-rate compare`` and ``live-rate rank`` about the players of finished
games: predictions for a pair of players, and a battle royale of all players.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.catalogue import FIGURES, Figure, write_band, write_cell, write_interval
from live.errors import InputError
from live.event.comparisons import PredictorRow, Rank, compare, rank
from live.games.player_identity import normalise_name
from live.messages.figures import EngineInfo, GainKind, PlayerView
from live.screens.terminal import printed
from live.screens.terminal.printed import NAME, begin_table
from live.screens.terminal.text import plain, write_odds
from live.settings import Config
from live.studies.analyse_files import analyse_files_to_end
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
    """Run ``live-rate compare``; return the exit code. Predictions are expected scores
    of the first player against the second, as the mean over both colours.
    """
    state = await analyse_files_to_end(config, files, command="compare", evals=evals)
    views = state.players()
    player, opponent = (find_player(views, name) for name in names)
    if player.id == opponent.id:
        raise InputError(
            "--players",
            f"{names[0]!r} and {names[1]!r} are the same person",
            "Name two",
        )
    engine = state.engine()
    gain = state.gain()
    rows = compare(state.collect_compared_moves(), player.id, opponent.id)
    width = Console().width
    return report_result(
        json,
        {
            "engine": engine,
            "gain": gain,
            "players": (player, opponent),
            "predictions": rows,
        },
        build_players_table(player, opponent, engine, gain, width=width),
        build_comparison_table(player, opponent, rows, width=width),
    )


async def rank_players(
    config: Config, files: Sequence[Path], *, evals: Evals, by: str, json: str | None
) -> int:
    """Run ``live-rate rank``; return the exit code."""
    state = await analyse_files_to_end(config, files, command="rank", evals=evals)
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
        printed.build_players_table(views, engine, gain, width=width),
        build_battle_table(ranked, by, width=width),
    )


def find_player(views: Sequence[PlayerView], name: str) -> PlayerView:
    """Return the player with this id or name, or the only player whose name contains
    all its words.

    Raises:
        InputError: no player or several players match the name.
    """
    matches = [
        view
        for view in views
        if name == view.id or normalise_name(name) == normalise_name(view.name) != ""
    ][:1]
    if not matches:
        similar_ids = find_named(name, {view.id: view.name for view in views})
        matches = [view for view in views if view.id in similar_ids]
    if len(matches) == 1:
        return matches[0]
    # Separated by semicolons, because names contain commas.
    names = "; ".join(view.name for view in (matches or views)[:12])
    problem = "several players are called so" if matches else "nobody is called so"
    raise InputError(
        name, problem, f"There are: {names}" if views else "There is no player"
    )


def build_players_table(
    player: PlayerView,
    opponent: PlayerView,
    engine: EngineInfo,
    gain: GainKind,
    *,
    width: int,
) -> Table:
    """Build a table of two players' figures, one figure per row."""
    table = begin_table(
        f"{plain(player.name, 40)} and {plain(opponent.name, 40)}"
        f" ({plain(engine.name, 60)}, {engine.limit}, {gain} gain; Algorithm 4 with"
        f" the engine at {engine.rating} Elo by {engine.rating_source})",
        width=width,
    )
    table.add_column("", no_wrap=True)
    for view in (player, opponent):
        table.add_column(
            Text(plain(view.name, 24)), justify="right", ratio=1, no_wrap=True
        )
    for figure in FIGURES:
        if figure.usual:
            table.add_row(
                figure.name,
                *(_format_figure(figure, view, engine) for view in (player, opponent)),
            )
    table.add_row("moves", *(str(view.moves) for view in (player, opponent)))
    return table


def _format_figure(figure: Figure, view: PlayerView, engine: EngineInfo) -> str:
    text = write_cell(figure, view, engine.rating)
    ends = write_interval(figure, view, engine.rating)
    return f"{text} ({figure.interval} {ends})" if text and ends else text


def build_comparison_table(
    player: PlayerView,
    opponent: PlayerView,
    rows: Sequence[PredictorRow],
    *,
    width: int,
) -> Table:
    """Build a table of all predictors, one per row. Predictors that give no prediction
    are listed below the table with the reason.
    """
    table = begin_table(
        f"{plain(player.name, 40)} against {plain(opponent.name, 40)},"
        " both colours alike",
        "Score",
        "95 %",
        "Elo",
        "Win/draw/loss",
        first="Predictor",
        width=width,
    )
    table.add_column("Note", ratio=1)
    predictors_by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.expected_score is None:
            predictors_by_reason.setdefault(row.missing, []).append(row.predictor)
            continue
        has_odds = row.win is not None and row.draw is not None
        table.add_row(
            row.predictor,
            format_number(row.expected_score, ".3f"),
            format_interval(row.low, row.high),
            format_number(row.difference, "+.0f"),
            write_odds(row.win or 0.0, row.draw or 0.0) if has_odds else "",
            Text(plain(row.caution)),
        )
    table.caption = Text(
        "\n".join(
            f"No answer: {'; '.join(names)} ({plain(reason, 200)})"
            for reason, names in predictors_by_reason.items()
        )
    )
    return table


def build_battle_table(ranks: Sequence[Rank], by: str, *, width: int) -> Table:
    """Build the ranking by expected scores of all players against all. Players with
    equal scores share a place, and players without a place come last.
    """
    table = begin_table(f"Battle royale by {by}, and Algorithm 2", width=width)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Player", **NAME)
    for head in ("Battle", "95 %", "Beats", "A2", "95 %"):
        table.add_column(head, justify="right", no_wrap=True)
    places = Counter(entry.place for entry in ranks)
    for entry in sorted(
        ranks, key=lambda entry: (entry.place is None, entry.place or 0)
    ):
        tied = "=" if places[entry.place] > 1 else ""
        low = entry.algorithm_2_low
        high = entry.algorithm_2_high
        second = format_number(entry.algorithm_2, ".0f"), write_band(low, high)
        if entry.algorithm_2 is None:
            second = (
                format_number(entry.algorithm_2_difference, "+.0f"),
                format_signed_interval(low, high),
            )
        table.add_row(
            "" if entry.place is None else f"{entry.place}{tied}",
            Text(plain(entry.name, 40)),
            format_number(entry.expected_score, ".3f"),
            format_interval(entry.expected_low, entry.expected_high),
            f"{entry.victories}/{entry.opponents}" if entry.opponents else "",
            *second,
        )
    caption = "Where 95 % intervals overlap, the order may be chance."
    if reasons := {plain(entry.missing): None for entry in ranks if entry.missing}:
        caption += " No place in the battle royale: " + "; ".join(reasons)
    table.caption = Text(caption)
    return table
