"""What studies print: comparison, ranking, match, and what calibration found. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from live.catalogue import FIGURES, Figure, cell, ends_cell
from live.events import EngineInfo, GainKind, PlayerView
from live.ledger.comparisons import PredictorRow, Rank, TableFour
from live.ratings.intrinsic_rating import IntrinsicTable
from live.ratings.match import GameCounts, MatchStatistics, PairCounts, Sprt, SprtRun, SprtState
from live.terminal.event_tables import NAME, titled
from live.terminal.text import interval_text, odds_text, plain

# --- two players and rankings -----------------------------------------------------------------


def both_players(
    one: PlayerView, other: PlayerView, engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """What is known of two players, a figure a row."""
    table = titled(
        f"{plain(one.name, 40)} and {plain(other.name, 40)} ({plain(engine.name, 60)}, "
        f"{engine.limit}, {gain} gain; "
        f"Algorithm 4 with the engine at {engine.rating} Elo by {engine.rating_source})",
        width=width,
    )
    table.add_column("", no_wrap=True)
    for view in (one, other):
        table.add_column(Text(plain(view.name, 24)), justify="right", ratio=1, no_wrap=True)
    for figure in FIGURES:
        if figure.usual:
            table.add_row(figure.name, *(_with_ends(figure, each, engine) for each in (one, other)))
    table.add_row("moves", *(str(view.moves) for view in (one, other)))
    return table


def _with_ends(figure: Figure, view: PlayerView, engine: EngineInfo) -> str:
    text, ends = cell(figure, view, engine.rating), ends_cell(figure, view, engine.rating)
    return f"{text} ({figure.interval} {ends})" if text and ends else text


def comparison(
    one: PlayerView, other: PlayerView, rows: Sequence[PredictorRow], *, width: int
) -> Table:
    """All predictors, one a row; below them those without an answer, by the reason."""
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
            _text(row.expected_score, ".3f"),
            _ends(row.low, row.high),
            _text(row.difference, "+.0f"),
            odds_text(row.win or 0.0, row.draw or 0.0) if known else "",
            Text(plain(row.caution)),
        )
    table.caption = Text(
        "\n".join(
            f"No answer: {'; '.join(names)} ({plain(why, 200)})" for why, names in without.items()
        )
    )
    return table


def battle(ranks: Sequence[Rank], by: str, *, width: int) -> Table:
    """Everybody against everybody; equal scores share a place, those without one come last."""
    table = titled(f"Battle royale by {by}, and Algorithm 2", width=width)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Player", **NAME)
    for head in ("Battle", "95 %", "Beats", "A2", "95 %"):
        table.add_column(head, justify="right", no_wrap=True)
    places = Counter(each.place for each in ranks)
    for each in sorted(ranks, key=lambda rank: (rank.place is None, rank.place or 0)):
        tied = "=" if places[each.place] > 1 else ""
        low, high = each.algorithm_2_low, each.algorithm_2_high
        second = _text(each.algorithm_2, ".0f"), interval_text(low, high)
        if each.algorithm_2 is None:
            second = _text(each.algorithm_2_difference, "+.0f"), _signed_ends(low, high)
        table.add_row(
            "" if each.place is None else f"{each.place}{tied}",
            Text(plain(each.name, 40)),
            _text(each.expected_score, ".3f"),
            _ends(each.expected_low, each.expected_high),
            f"{each.victories}/{each.opponents}" if each.opponents else "",
            *second,
        )
    caption = "Where 95 % intervals overlap, the order may be chance."
    if reasons := {plain(each.missing): None for each in ranks if each.missing}:
        caption += " No place in the battle royale: " + "; ".join(reasons)
    table.caption = Text(caption)
    return table


# --- matches ----------------------------------------------------------------------------------


def match(first: str, second: str, counts: GameCounts, found: MatchStatistics) -> Table:
    """All figures of a match from wins, draws and losses."""
    names = f"{plain(first, 40)} against {plain(second, 40)}: " if first else ""
    return _match_figures(
        f"{names}+{counts.wins} ={counts.draws} -{counts.losses}",
        found,
        ("games", str(found.games)),
        ("score", _text(found.score, ".3f")),
        ("wins", _text(found.win_ratio, ".3f")),
        ("draws", _text(found.draw_ratio, ".3f")),
        ("losses", _text(found.loss_ratio, ".3f")),
        last=(
            ("likelihood of superiority, normal", _text(found.los, ".4f")),
            ("likelihood of superiority, exact", _text(found.los_exact, ".4f")),
            ("so uneven by chance (two-tailed)", _text(found.p_value, ".4f")),
        ),
    )


def pairs(counts: PairCounts, found: MatchStatistics) -> Table:
    """The same from pairs of games with colours reversed."""
    return _match_figures(
        "Pairs with colours reversed, by points 0, ½, 1, 1½, 2: "
        + " ".join(map(str, counts.by_score)),
        found,
        last=(("likelihood of superiority", _text(found.los, ".4f")),),
    )


def _match_figures(
    title: str,
    found: MatchStatistics,
    *rows: tuple[str, str],
    last: Sequence[tuple[str, str]],
) -> Table:
    """``rows``, what the result says in Elo, ``last``, and why figures are missing."""
    table = titled(title, "Value", first="Figure")
    error = "" if found.elo_error is None else f" ± {found.elo_error:.1f}"
    normalized = _signed_ends(found.normalized_elo_low, found.normalized_elo_high)
    for row in (
        *rows,
        ("Elo difference", _text(found.elo, "+.0f") + error),
        ("95 %", _signed_ends(found.elo_low, found.elo_high)),
        ("normalized Elo", _text(found.normalized_elo, "+.0f")),
        ("95 %", normalized),
        *last,
    ):
        table.add_row(*row)
    table.caption = "; ".join(found.gaps)
    return table


def sprt(test: Sprt, state: SprtState, run: SprtRun | None) -> Table:
    """Where a sequential test stands, and when it was first decided."""
    table = titled(
        f"SPRT, H0: {test.elo0:g} Elo, H1: {test.elo1:g} Elo ({test.scale})",
        "Value",
        first="Figure",
    )
    table.add_row("log-likelihood ratio", _text(state.llr, ".3f") or "no game yet")
    table.add_row("H0 at or below, H1 at or above", f"{state.lower:.3f}, {state.upper:.3f}")
    table.add_row("decision now", state.decision)
    if run is not None:
        after = run.decided_after
        table.add_row("first decided", "not yet" if after is None else f"after {after} games")
        if after is not None:
            table.add_row("as", run.decision)
    if state.regularised:
        table.caption = "A result that has not occurred yet counts as 1/1000."
    return table


# --- calibration ------------------------------------------------------------------------------


def table_four(found: TableFour, engine: str, limit: str, gain: GainKind) -> Table:
    """Algorithms 2 and 3 with the columns of Ferreira 2012, Table 4."""
    table = titled(
        f"Engine strength by Algorithms 2 and 3 ({plain(engine, 60)}, {limit}, {gain} gain)"
    )
    table.add_column("Player", no_wrap=True, overflow="ellipsis", max_width=20)
    for head in ("Moves", "Elo r", "Est. r'", "Score p", "Diff. d", "r - d", "r' - d"):
        table.add_column(head, justify="right", no_wrap=True, min_width=len(head))
    for row in found.rows:
        table.add_row(
            Text(plain(row.name, 40)),
            str(row.moves),
            _text(row.elo, ".0f"),
            _text(row.strength, ".0f"),
            f"{row.expected_score:.3f}",
            _text(row.difference, "+.0f") or "∞",
            _text(row.engine_by_elo, ".0f"),
            _text(row.engine_by_strength, ".0f"),
        )
    table.add_section()
    engine_by = (found.engine_by_elo, found.engine_by_strength)
    table.add_row("Average", *[""] * 5, *(_text(each, ".0f") for each in engine_by))
    table.caption = found.missing
    return table


def summary(games: int, players: int, moves: int, rating: float | None, missing: str) -> str:
    """One line on the rated games, for people."""
    if missing:
        return missing
    strength = "no bounded difference" if rating is None else f"{rating:.0f} Elo"
    return (
        f"{games} rated player-games, {players} players, {moves} moves: "
        f"the engine counts {strength} (Algorithm 3 weighted by moves)."
    )


def mileposts(found: IntrinsicTable) -> Table:
    """Sensitivity and competence by Elo (Regan and Haworth 2011, section 7)."""
    table = titled(
        f"Intrinsic ratings ({plain(found.engine, 60)}, {found.limit}; {found.turns} turns of "
        f"{found.players} players)"
    )
    for head in ("Elo", "s", "c"):
        table.add_column(head, justify="right", no_wrap=True)
    for post in found.mileposts:
        table.add_row(f"{post.elo:.0f}", f"{post.s:.3f}", f"{post.c:.3f}")
    if found.players_sd_elo is not None:
        table.caption = f"One game strays from a player's rating by {found.players_sd_elo:.0f} Elo."
    return table


def checked(model: str, after: Mapping[str, Mapping[str, Any]], *, known: bool) -> Table:
    """What a model's bands hold after some moves and over whole games, as ``judge.summary`` says.

    ``known``: its own file, of which only those players count that it never saw.
    """
    table = titled(
        f"Model {plain(model, 40)}: shares of player-games",
        "Number",
        "In usual",
        "In 95 %",
        "Own outside",
        "Blind r",
        first="After",
    )
    for when, row in after.items():
        if row["n"]:
            shares = (row[key] for key in ("usual_holds", "interval_holds", "own_outside"))
            table.add_row(
                f"{when} moves" if when.isdigit() else "the game",
                str(row["n"]),
                *(f"{100 * share:.1f} %" for share in shares),
                _text(row["blind_r"], ".2f"),
            )
    if known:
        table.caption = "Learned from this file: only players who were left out count."
    return table


def _text(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"


def _ends(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    return f"{0 if low is None else low:.2f}–{1 if high is None else high:.2f}"


def _signed_ends(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{low:+.0f} to {high:+.0f}"
    if high is not None:
        return f"≤ {high:+.0f}"
    return "" if low is None else f"≥ {low:+.0f}"
