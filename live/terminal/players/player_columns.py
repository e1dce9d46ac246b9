"""The columns of players and standings: every method, each with its explanation in plain words."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from live.events import PlayerView, Share
from live.terminal.figure_text import interval_text, percent, rating_text, signed, so_far

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
    calibrated: bool = False
    """Needs a calibration."""
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
        "Moves",
        "Moves",
        5,
        lambda v: str(v.moves),
        lambda v: v.moves,
        "Moves that are scored and in the histogram. Few moves say little: look at the interval.",
    ),
    PlayerColumn(
        "Plays like",
        "Like",
        4,
        lambda v: "·" if v.calibrated is None else f"{v.calibrated:.0f}",
        lambda v: v.calibrated,
        "The calibrated rating: how strong somebody is who plays such moves, on the Elo scale, "
        "learned from rated games searched with this engine and limit.",
        calibrated=True,
    ),
    PlayerColumn(
        "Plays like, 95 %",
        "95 %",
        9,
        lambda v: interval_text(v.calibrated_low, v.calibrated_high),
        lambda v: v.calibrated_low,
        "With 95 % certainty the rating that fits these moves lies between these two.",
        calibrated=True,
    ),
    PlayerColumn(
        "Form",
        "Form",
        5,
        lambda v: signed(v.form),
        lambda v: v.form,
        "Elo above (+) or below (-) the player's own rating, as far as these moves tell.",
        calibrated=True,
    ),
    PlayerColumn(
        "Algorithm 4",
        "A4",
        4,
        lambda v: rating_text(v.rating, v.low, v.high),
        lambda v: v.rating,
        "Ferreira's Algorithm 4: the player's gains against the engine's, as an Elo difference "
        "added to the engine's rating. It ranks players; its distances are not Elo distances.",
    ),
    PlayerColumn(
        "Algorithm 4, 95 %",
        "95 %",
        9,
        lambda v: interval_text(v.low, v.high),
        lambda v: v.low,
        "The 95 % interval of Algorithm 4. With ≤ or ≥ it has no end on the other side.",
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
