"""Tables of studies made after the event: comparison, ranking, match, engine. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from live.catalogue import FIGURES, Figure, band_text, read, written
from live.events import EngineInfo, GainKind, PlayerView
from live.ledger.comparisons import PredictorRow, Rank
from live.ratings.match import GameCounts, MatchStatistics, PairCounts, Sprt, SprtRun, SprtState
from live.terminal.figure_text import (
    interval_text,
    odds_text,
    plain,
    rating_text,
)
from live.terminal.tables.event_summary import WIDEST_TABLE


def _table(title: str, width: int | None = None) -> Table:
    return Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        width=width,
    )


def both_players(
    one: PlayerView, other: PlayerView, engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """What is known of two players, a figure a row."""
    table = _table(
        f"{plain(one.name, 40)} and {plain(other.name, 40)} ({plain(engine.name, 60)}, "
        f"{engine.limit}, {gain} gain; "
        f"Algorithm 4 with the engine at {engine.rating} Elo by {engine.rating_source})",
        min(width, WIDEST_TABLE),
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
    found = read(figure, view, engine.rating)
    text = written(figure, found.value)
    if found.value is None or found.low is None or found.high is None:
        return text
    return f"{text} ({figure.interval} {band_text(found.low, found.high)})"


def comparison(
    one: PlayerView, other: PlayerView, rows: Sequence[PredictorRow], *, width: int
) -> Table:
    """All predictors, one a row; below them those without an answer, by the reason."""
    table = _table(
        f"{plain(one.name, 40)} against {plain(other.name, 40)}, both colours alike",
        min(width, WIDEST_TABLE),
    )
    table.add_column("Predictor", no_wrap=True)
    for head in ("Score", "95 %", "Elo", "Win/draw/loss"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("Note", ratio=1)
    without: dict[str, list[str]] = {}
    for row in rows:
        name = row.predictor
        if row.expected_score is None:
            without.setdefault(row.missing, []).append(name)
            continue
        outcomes = ""
        if row.win is not None and row.draw is not None:
            outcomes = odds_text(row.win, row.draw)
        table.add_row(
            name,
            _score(row.expected_score),
            _ends(row.low, row.high),
            "" if row.difference is None else f"{row.difference:+.0f}",
            outcomes,
            Text(plain(row.caution)),
        )
    if without:
        table.caption = Text(
            "\n".join(
                f"No answer: {'; '.join(names)} ({plain(why, 200)})"
                for why, names in without.items()
            )
        )
        table.caption_justify = "left"
    return table


def battle(ranks: Sequence[Rank], by: str, *, width: int) -> Table:
    """Everybody against everybody; equal scores share a place, those without one come last."""
    table = _table(f"Battle royale by {by}, and Algorithm 2", min(width, WIDEST_TABLE))
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Player", ratio=1, no_wrap=True, overflow="ellipsis")
    for head in ("Battle", "95 %", "Beats", "A2", "95 %"):
        table.add_column(head, justify="right", no_wrap=True)
    places = Counter(each.place for each in ranks)
    for each in sorted(ranks, key=_battle_order):
        second = each.algorithm_2
        tied = "=" if places[each.place] > 1 else ""
        table.add_row(
            "" if each.place is None else f"{each.place}{tied}",
            Text(plain(each.name, 40)),
            _score(each.expected_score),
            _ends(each.expected_low, each.expected_high),
            f"{each.victories}/{each.opponents}" if each.opponents else "",
            _signed(each.algorithm_2_difference) if second is None else rating_text(second),
            _signed_ends(each.algorithm_2_low, each.algorithm_2_high)
            if second is None
            else interval_text(each.algorithm_2_low, each.algorithm_2_high),
        )
    caption = "Where 95 % intervals overlap, the order may be chance."
    if reasons := {plain(each.missing): None for each in ranks if each.missing}:
        caption += " No place in the battle royale: " + "; ".join(reasons)
    table.caption = Text(caption)
    table.caption_justify = "left"
    return table


def _battle_order(rank: Rank) -> tuple[bool, int]:
    return rank.place is None, rank.place or 0


def match(first: str, second: str, counts: GameCounts, found: MatchStatistics) -> Table:
    """All figures of a match from wins, draws and losses."""
    names = f"{plain(first, 40)} against {plain(second, 40)}: " if first else ""
    table = _table(f"{names}+{counts.wins} ={counts.draws} -{counts.losses}")
    table.add_column("Figure")
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_row("games", str(found.games))
    for name, value in (
        ("score", found.score),
        ("wins", found.win_ratio),
        ("draws", found.draw_ratio),
        ("losses", found.loss_ratio),
    ):
        table.add_row(name, "" if value is None else f"{value:.3f}")
    _elo_rows(table, found)
    for name, value in (
        ("likelihood of superiority, normal", found.los),
        ("likelihood of superiority, exact", found.los_exact),
        ("so uneven by chance (two-tailed)", found.p_value),
    ):
        table.add_row(name, "" if value is None else f"{value:.4f}")
    _gaps(table, found)
    return table


def pairs(counts: PairCounts, found: MatchStatistics) -> Table:
    """The same from pairs of games with colours reversed."""
    table = _table(
        "Pairs with colours reversed, by points 0, ½, 1, 1½, 2: "
        + " ".join(map(str, counts.by_score))
    )
    table.add_column("Figure")
    table.add_column("Value", justify="right", no_wrap=True)
    _elo_rows(table, found)
    table.add_row("likelihood of superiority", "" if found.los is None else f"{found.los:.4f}")
    _gaps(table, found)
    return table


def _elo_rows(table: Table, found: MatchStatistics) -> None:
    error = "" if found.elo_error is None else f" ± {found.elo_error:.1f}"
    table.add_row("Elo difference", _signed(found.elo) + error)
    table.add_row("95 %", _signed_ends(found.elo_low, found.elo_high))
    table.add_row("normalized Elo", _signed(found.normalized_elo))
    table.add_row("95 %", _signed_ends(found.normalized_elo_low, found.normalized_elo_high))


def _gaps(table: Table, found: MatchStatistics) -> None:
    if found.gaps:
        table.caption = "; ".join(found.gaps)
        table.caption_justify = "left"


def sprt(test: Sprt, state: SprtState, run: SprtRun | None) -> Table:
    """Where a sequential test stands, and when it was first decided."""
    table = _table(f"SPRT, H0: {test.elo0:g} Elo, H1: {test.elo1:g} Elo ({test.scale})")
    table.add_column("Figure")
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_row(
        "log-likelihood ratio", "no game yet" if state.llr is None else f"{state.llr:.3f}"
    )
    table.add_row("H0 at or below, H1 at or above", f"{state.lower:.3f}, {state.upper:.3f}")
    table.add_row("decision now", state.decision)
    if run is not None:
        after = run.decided_after
        table.add_row("first decided", "not yet" if after is None else f"after {after} games")
        if after is not None:
            table.add_row("as", run.decision)
    if state.regularised:
        table.caption = "A result that has not occurred yet counts as 1/1000."
        table.caption_justify = "left"
    return table


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _ends(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    return f"{0 if low is None else low:.2f}–{1 if high is None else high:.2f}"


def _signed(elo: float | None) -> str:
    return "" if elo is None else f"{elo:+.0f}"


def _signed_ends(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{low:+.0f} to {high:+.0f}"
    if high is not None:
        return f"≤ {high:+.0f}"
    return "" if low is None else f"≥ {low:+.0f}"
