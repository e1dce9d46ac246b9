"""Numbers that Alliot (2017) prints in his text, in addition to Figures 3 to 6, 11 and
13.

They are computed from the same draw of the champions' games as Table 6.
"""

from collections import Counter

from polars import col

from live.ratings.score_interval import subtract_shares
from live.studies.alliot_covariance import CONVOLUTIONS, fit_convolutions, fit_grid
from live.studies.alliot_games import count_shortfalls, fit_share_differences
from live.studies.line_fits import LineFit
from live.studies.papers.alliot_measures import list_champions_games, open_champions
from live.studies.papers.comparison import Measured
from live.studies.papers.measures import (
    Evidence,
    Figures,
    Key,
    measure,
    measure_known,
    measure_mean_score,
    measure_share,
)
from live.studies.papers.printed import PrintedTable

#: Names of the kinds of conformance: the name in the printed rows, then the name in the
#: table of correlations.
_KINDS = {
    "raw": "raw",
    "Guid and Bratko": "guid-bratko",
    "k1 = 0.75": "k1 = 0.75, k2 = -3.30",
}

#: Largest loss, centipawns, for which colours are compared. Larger losses are so rare
#: that a single move could decide where the difference is greatest.
_TWO_PAWNS_CP = 200


def _count_losses(table: PrintedTable, evidence: Evidence) -> dict[str, Counter[int]]:
    """Count moves by the centipawns that they lose, for each colour."""
    losses = {"White": Counter[int](), "Black": Counter[int]()}
    shortfalls = count_shortfalls(open_champions(table, evidence))
    for lost_cp, white, black in shortfalls.iter_rows():
        losses["White"][lost_cp] = white
        losses["Black"][lost_cp] = black
    return losses


@measure("perfect-moves", games=list_champions_games, gains=("same-search",))
def share_perfect_moves(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the share of moves that lose nothing, by colour (Alliot 2017, Fig. 3)."""
    losses = _count_losses(table, evidence)
    counted_rows = [row for row in table.rows if losses[row.one].total()]
    return {row.key: _share_within(losses[row.one], 0) for row in counted_rows}


@measure("shortfalls", games=list_champions_games, gains=("same-search",))
def share_shortfalls(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the share of moves that lose nothing, and the share of moves that lose
    more than two pawns (Alliot 2017, Figure 3).
    """
    white, black = _count_losses(table, evidence).values()
    losses = white + black
    n = losses.total()
    if not n:
        return {}
    beyond = n - _count_within(losses, _TWO_PAWNS_CP)
    return {
        ("all players", "at 0", ""): _share_within(losses, 0),
        ("all players", "beyond 2.00", ""): measure_share(beyond, n),
    }


@measure("colours-apart", games=list_champions_games, gains=("same-search",))
def compare_colours(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return White's share of moves that lose at most the paper's x, minus Black's
    share (Alliot 2017, Figure 6). Return also the x, up to two pawns, at which this
    difference is largest, if it is larger than chance explains.
    """
    white, black = _count_losses(table, evidence).values()
    if not white.total() or not black.total():
        return {}
    [printed_cp] = [
        round(100 * row.value) for row in table.rows if row.other == "greatest at x"
    ]
    differences = []
    for x_cp in range(_TWO_PAWNS_CP + 1):
        within = [_count_within(losses, x_cp) for losses in (white, black)]
        shares = subtract_shares(within[0], white.total(), within[1], black.total())
        differences.append(Measured(*shares))
    greatest = max(differences)
    figures = {("White less Black", "within 0.25", ""): differences[printed_cp]}
    if greatest.low is not None and greatest.low > 0:
        figures["White less Black", "greatest at x", ""] = Measured(
            differences.index(greatest) / 100
        )
    return figures


def _share_within(losses: Counter[int], x_cp: int) -> Measured:
    return measure_share(_count_within(losses, x_cp), losses.total())


def _count_within(losses: Counter[int], x_cp: int) -> int:
    return sum(moves for lost_cp, moves in losses.items() if lost_cp <= x_cp)


@measure("accumulated", games=list_champions_games, gains=("same-search",))
def fit_accumulated_conformance(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the x at which accumulated conformance correlates best with results, and
    the line fitted at the paper's x (Alliot 2017, Figures 4 and 5).
    """
    lines: dict[str, dict[int, LineFit]] = {}
    for kind, x_cp, fit in fit_share_differences(open_champions(table, evidence)):
        if fit.rho is not None:
            lines.setdefault(kind, {})[x_cp] = fit
    figures: dict[Key, Measured | None] = {}
    for row in table.rows:
        fits = lines.get(_KINDS[row.one], {})
        if row.other == "best x" and fits:
            best_cp = max(fits, key=lambda x_cp: fits[x_cp].rho or 0)
            printed = fits[round(100 * row.value)]
            figures[row.one, "best x", ""] = Measured(best_cp / 100)
            figures[row.one, "beta", ""] = measure_known(
                printed.beta, printed.beta_low, printed.beta_high
            )
            figures[row.one, "alpha", ""] = measure_known(printed.alpha)
    return figures


@measure("convolved", games=list_champions_games, gains=("same-search",))
def correlate_convolved_gains(table: PrintedTable, evidence: Evidence) -> Figures:
    """Correlate convolved gains with results, by setting, and find the n0 and b with
    the highest correlation (Alliot 2017, Figure 11).
    """
    study = open_champions(table, evidence)
    figures: dict[Key, Measured | None] = {}
    for (name, *_), fit in zip(CONVOLUTIONS, fit_convolutions(study), strict=True):
        figures[name, "rho", ""] = measure_known(fit.rho, fit.rho_low, fit.rho_high)
    best = max(fit_grid(study), key=lambda fit: -1.0 if fit.rho is None else fit.rho)
    figures["the best n0 and b", "rho", ""] = measure_known(
        best.rho, best.rho_low, best.rho_high
    )
    return figures


@measure("highest-reached", games=list_champions_games, gains=("same-search",))
def score_after_highest(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the champions' mean score in games in which they reached a given
    evaluation before one of their moves (Alliot 2017, Figure 13).
    """
    games = (
        open_champions(table, evidence)
        .scan_moves()
        .drop_nulls(["best_cp", "score"])
        .group_by("player", "game")
        .agg(highest=col("best_cp").max(), score=col("score").first())
        .collect()
    )
    figures: dict[Key, Measured] = {}
    for row in table.rows:
        scores = games.filter(col("highest") >= round(100 * float(row.other)))["score"]
        if len(scores):
            figures[row.key] = measure_mean_score(scores.to_list())
    return figures
