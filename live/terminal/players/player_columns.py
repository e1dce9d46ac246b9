"""The columns of players and standings: every method, each with its explanation in plain words."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from live.events import PlayerView, PluginFigure, Share
from live.ledger.players.leading_figure import FigureKind, figure
from live.terminal.figure_text import (
    FIGURE_NAMES,
    figure_interval,
    figure_text,
    percent,
    percentile_text,
    points_text,
    signed,
    so_far,
)

Value = float | str | None


class PlayerColumn(msgspec.Struct, frozen=True):
    """One figure of a player."""

    name: str
    """For the list of columns."""
    head: str
    width: int
    text: Callable[[PlayerView], str]
    value: Callable[[PlayerView], Value]
    """What is sorted by; None comes last."""
    explained: str
    shown: bool = True
    """Whether it is there at the start."""
    new: bool = False
    """Left out where nobody has such a figure."""
    missing: str = ""
    """Name of the figure in ``methods.missing``, which says why it is not there."""


def _share(field: str, name: str, head: str, explained: str, *, shown: bool) -> list[PlayerColumn]:
    def held(view: PlayerView) -> Share:
        share: Share = getattr(view.methods, field)
        return share

    def interval(view: PlayerView) -> str:
        low, high = held(view).low, held(view).high
        return "" if low is None or high is None else f"{100 * low:.0f}–{100 * high:.0f}"

    return [
        PlayerColumn(
            name,
            head,
            5,
            lambda view: percent(held(view).share),
            lambda view: held(view).share,
            explained,
            shown,
            missing=field,
        ),
        PlayerColumn(
            f"{name}, 95 %",
            "95 %",
            6,
            interval,
            lambda view: held(view).low,
            f"The 95 % interval of {name}, in per cent, resampled by game where there are several.",
            shown=False,
            missing=field,
        ),
    ]


def _figure(kind: FigureKind, head: str, explained: str, *, new: bool = True) -> list[PlayerColumn]:
    name = FIGURE_NAMES[kind]

    def interval(view: PlayerView) -> str:
        return figure_interval(figure(view, kind))

    def value(view: PlayerView) -> Value:
        found = figure(view, kind)
        return None if found is None else found.value

    def low(view: PlayerView) -> Value:
        found = figure(view, kind)
        return None if found is None else found.low

    return [
        PlayerColumn(
            name, head, 5, lambda v: figure_text(figure(v, kind)), value, explained, new=new
        ),
        PlayerColumn(
            f"{name}, 95 %",
            "95 %",
            9,
            interval,
            low,
            f"The 95 % interval of {name}: in 95 of 100 cases it holds the true value. Where only "
            "one end is known, as in “2450 or more”, that end stands in its place: ≥2450.",
            new=new,
        ),
    ]


def _form(view: PlayerView) -> float | None:
    if view.level is None or not view.elo:
        return None
    return view.level - view.elo


def plugin_column(name: str) -> PlayerColumn:
    """The figure of the plugin of this name, with its interval where it gives one."""

    def found(view: PlayerView) -> PluginFigure | None:
        return next((each for each in view.plugins if each.name == name), None)

    def text(view: PlayerView) -> str:
        each = found(view)
        if each is None:
            return ""
        if each.low is None or each.high is None:
            return f"{each.value:.{each.digits}f}"
        ends = f"{each.low:.{each.digits}f}–{each.high:.{each.digits}f}"
        return f"{each.value:.{each.digits}f} ({ends})"

    def value(view: PlayerView) -> Value:
        each = found(view)
        return None if each is None else each.value

    explained = f"A figure of the plugin {name}, with its 95 % interval where it gives one."
    return PlayerColumn(f"plugin {name}", name[:16], 16, text, value, explained)


COLUMNS: tuple[PlayerColumn, ...] = (
    PlayerColumn(
        "Elo",
        "Elo",
        4,
        lambda v: str(v.elo or ""),
        lambda v: v.elo,
        "The rating on the pairing list.",
    ),
    PlayerColumn(
        "Games", "Gm", 2, lambda v: str(v.games), lambda v: v.games, "Games of this event."
    ),
    PlayerColumn(
        "Points",
        "Pts",
        4,
        lambda v: points_text(v.points),
        lambda v: v.points,
        "Points of this event's finished games, as their results say. Byes are not in it.",
        new=True,
    ),
    PlayerColumn(
        "Moves",
        "Moves",
        5,
        lambda v: str(v.moves),
        lambda v: v.moves,
        "Counted moves: what the figures rest on. Few moves say little: look at the interval.",
    ),
    *_figure(
        "performance",
        "Perf",
        "Performance: the Elo at which these moves and results are likeliest against these "
        "opponents; the own Elo is not used. While a game runs, what the position promises stands "
        "for the result.",
    ),
    PlayerColumn(
        "FIDE performance",
        "FIDE",
        5,
        lambda v: "" if v.fide_performance is None else str(v.fide_performance),
        lambda v: v.fide_performance,
        "Rating performance by FIDE's table: finished games, rated opponents, results alone.",
        shown=False,
        new=True,
    ),
    PlayerColumn(
        "Rating change",
        "±Elo",
        5,
        lambda v: "" if v.rating_change is None else f"{v.rating_change:+.1f}",
        lambda v: v.rating_change,
        "What these games change of the own rating by FIDE's rules, with the K beside it.",
        shown=False,
        new=True,
    ),
    PlayerColumn(
        "K",
        "K",
        3,
        lambda v: "" if v.rating_k is None else f"{v.rating_k}{'' if v.rating_k_listed else '?'}",
        lambda v: v.rating_k,
        "FIDE's coefficient, from the rating list; with ? 10 from 2400 on and else 20, though "
        "juniors and newcomers have 40.",
        shown=False,
        new=True,
    ),
    *_figure(
        "level",
        "Level",
        "The Elo played at: the own Elo, or without one the field's, and these moves together. "
        "One game moves it little.",
    ),
    PlayerColumn(
        "Share",
        "Share",
        5,
        lambda v: percent(v.level_share),
        lambda v: v.level_share,
        "How much of the level comes from these moves; the rest was known before.",
        shown=False,
        new=True,
    ),
    PlayerColumn(
        "Percentile",
        "Pct",
        5,
        lambda v: percentile_text(figure(v, "percentile"), over=v.finished == v.games),
        lambda v: v.percentile,
        "Better than so many in a hundred games by players rated like this one, in positions as "
        "hard. Needs an Elo and five counted moves.",
        new=True,
    ),
    PlayerColumn(
        "Form",
        "Form",
        5,
        lambda v: signed(_form(v)),
        lambda v: _form(v),
        "How far the level lies above (+) or below (-) the own Elo.",
        shown=False,
        new=True,
    ),
    *_figure(
        "alone",
        "Alone",
        "Moves alone: the Elo at which these moves are likeliest, whoever plays: no own Elo, no "
        "field, no result. Wide, because one game says little.",
    ),
    *_figure(
        "algorithm4",
        "A4",
        "Ferreira's Algorithm 4: the player's gains against the engine's, as a difference added to "
        "the engine's rating. An index on its own scale: it ranks, its distances are not Elo.",
        new=False,
    ),
    PlayerColumn(
        "p against the engine",
        "p",
        5,
        lambda v: "" if v.expected_score is None else f"{v.expected_score:.3f}",
        lambda v: v.expected_score,
        "The chance that a move of the player gains more than one of the engine, ties counting "
        "half (Ferreira 2012, section 4). The engine itself would have 0.5.",
        shown=False,
    ),
    PlayerColumn(
        "Algorithm 2",
        "A2",
        5,
        lambda v: (
            str(v.methods.tournament_rating)
            if v.methods.tournament_rating is not None
            else signed(v.methods.tournament_difference)
        ),
        lambda v: (
            v.methods.tournament_rating
            if v.methods.tournament_rating is not None
            else v.methods.tournament_difference
        ),
        "Ferreira's Algorithm 2: everybody's gains compared with everybody's, the mean of the "
        "rated players kept. A signed number is Elo above the mean of those who can be compared.",
    ),
    PlayerColumn(
        "Mean gain",
        "Gain",
        6,
        lambda v: "" if v.mean_gain_cp is None else f"{v.mean_gain_cp / 100:+.2f}",
        lambda v: v.mean_gain_cp,
        "What an average move wins or loses, in pawns. 0 would be the engine's choice each time.",
    ),
    *_share(
        "first_choice",
        "First choice",
        "1st",
        "How many moves were the engine's first choice: from move 9 on, without forced moves and "
        "decided positions. A screening figure, no evidence of anything by itself.",
        shown=True,
    ),
    *_share(
        "conformance",
        "Within 30 cp",
        "p30",
        "How many moves fall at most 0.30 pawns short of the engine's (Alliot 2017, section 4.2), "
        "from move 10 on.",
        shown=True,
    ),
    *_share(
        "guid_bratko",
        "Within 20 cp, level",
        "p20",
        "How many moves fall at most 0.20 pawns short where the position is within two pawns of "
        "level (after Guid and Bratko).",
        shown=False,
    ),
    *_share(
        "ponderated",
        "Within 30 cp, weighed",
        "p30w",
        "As p30, but what is lost counts less the more the mover is ahead or behind already.",
        shown=False,
    ),
    PlayerColumn(
        "Centipawn loss",
        "Loss",
        4,
        lambda v: (
            ""
            if v.methods.centipawn_loss_so_far is None
            else so_far(f"{v.methods.centipawn_loss_so_far:.0f}", v.methods.centipawn_loss)
        ),
        lambda v: v.methods.centipawn_loss_so_far,
        "Average loss of a move in centipawns, scores capped at ten pawns, over the moves scored "
        "so far, with ~ where some are not. Sharp games cost everybody more.",
        missing="centipawn_loss",
    ),
    PlayerColumn(
        "Accuracy",
        "Acc.",
        6,
        lambda v: (
            ""
            if v.methods.accuracy_so_far is None
            else so_far(f"{v.methods.accuracy_so_far:.0f} %", v.methods.accuracy)
        ),
        lambda v: v.methods.accuracy_so_far,
        "Accuracy by the formula that lichess publishes, over the moves scored so far, with ~ "
        "where some are not.",
        missing="accuracy",
    ),
    PlayerColumn(
        "Markov moves",
        "Mk",
        4,
        lambda v: str(v.methods.markov_moves or ""),
        lambda v: v.methods.markov_moves,
        "Moves that count for Alliot's Markov predictor, which needs 500 of a player; 'live-rate "
        "compare' shows it.",
        shown=False,
    ),
)
