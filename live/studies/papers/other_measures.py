"""Figures of Regan and Haworth (2011) by rating, and of the match programs in the
wiki.
"""

from live.ratings.match import compute_match_statistics
from live.ratings.match_games import GameCounts
from live.ratings.sprt import Sprt, run_sprt
from live.studies.papers.comparison import Measured
from live.studies.papers.corpus_games import CorpusGames, ListedGame
from live.studies.papers.measures import (
    Evidence,
    Figures,
    Key,
    draw_in_turn,
    measure,
    measure_known,
)
from live.studies.papers.printed import PrintedPaper, PrintedTable
from live.studies.regan_table import fit_competence_line, fit_groups

#: Largest distance of both players' ratings from a milepost, Elo (Regan and Haworth
#: 2011, section 5, where it is "expanded for some of the lower sets").
_REACH_ELO = 10
_REACH_BELOW_ELO = 20
_LOWER_SETS = 2200


def sample_milepost_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return games of the period in which both players are rated near the same
    milepost, drawn from each milepost in turn.
    """
    mileposts = {int(row.one) for row in table.rows}

    def list_mileposts(game: ListedGame) -> list[int | None]:
        white = _find_milepost(game.white_elo)
        is_reached = white in mileposts and white == _find_milepost(game.black_elo)
        return [white] if is_reached else []

    last_year = max(table.last_year, table.fill_year)
    of_period = [
        game for game in games.games if table.first_year <= game.year <= last_year
    ]
    # The same game can be in a collection without names and in one with names; it is
    # used once.
    unique_games = [*{game.moves: game for game in of_period}.values()]
    unique_games.sort(key=lambda game: game.year > table.last_year)
    return draw_in_turn(unique_games, list_mileposts, table.sample)


def _find_milepost(elo: int | None) -> int | None:
    """Return the multiple of 100 Elo that a rating is near; None if the rating is
    between two multiples.
    """
    if elo is None:
        return None
    milepost = (elo + 50) // 100 * 100
    reach = _REACH_BELOW_ELO if milepost <= _LOWER_SETS else _REACH_ELO
    return milepost if abs(elo - milepost) <= reach else None


@measure("regan", games=sample_milepost_games, gains=("same-search",), lines=2)
def fit_mileposts(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the fitted s and c, and the projections, for each milepost of Elo."""
    study = evidence.open_study(evidence.list_games(table), {})
    figures: dict[Key, Measured | None] = {}
    for milepost, fit in fit_groups(study, "rating").items():
        measured = {
            "s": measure_known(fit.s, fit.s_low, fit.s_high),
            "c": measure_known(fit.c, fit.c_low, fit.c_high),
            "matches predicted, %": measure_known(fit.projected_matches),
            "matches, %": measure_known(fit.matches),
            "average difference predicted": measure_known(fit.projected_difference),
            "average difference": measure_known(fit.difference),
            "Q of the fit": measure_known(fit.quality),
            "c on the line": measure_known(fit.c_on_line),
            "s with that c": measure_known(fit.s_on_line),
        }
        for quantity, figure in measured.items():
            figures[str(milepost), quantity, ""] = figure
    return figures


@measure("match-statistics")
def measure_match_statistics(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the likelihood of superiority and the log-likelihood ratio from wins,
    draws and losses.
    """
    test = Sprt(0, 10)
    lower, upper = test.bounds
    figures = {
        ("5 % and 5 %", "lower bound", ""): Measured(lower),
        ("5 % and 5 %", "upper bound", ""): Measured(upper),
    }
    for name in sorted({row.one for row in table.rows if "-" in row.one}):
        counts = GameCounts(*map(int, name.split("-")))
        match = compute_match_statistics(counts)
        ratio = run_sprt(test, counts).llr
        for quantity, value, *ends in (
            ("Elo difference", match.elo, match.elo_low, match.elo_high),
            ("LOS", match.los),
            ("LLR of 0 and 10 Elo", ratio),
        ):
            if value is not None:
                figures[name, quantity, ""] = Measured(value, *ends)
    return figures


@measure("printed-line")
def draw_printed_line(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return c on the straight line through the printed values of c, and the rise of
    the line per 100 Elo.
    """
    rows = evidence.paper.find_table(table.solves).rows
    competences = {int(row.one): row.value for row in rows if row.other == "c"}
    line = fit_competence_line(competences)
    ends = min(line), max(line)
    rise = line[ends[1]] - line[ends[0]]
    figures = {(str(milepost), "", ""): Measured(c) for milepost, c in line.items()}
    figures["slope", "", ""] = Measured(100 * rise / (ends[1] - ends[0]))
    return figures
