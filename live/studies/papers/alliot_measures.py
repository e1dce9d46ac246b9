"""Alliot's figures (2017): games, results, predictions of matches, complexity,
covariance, Markov chains and best years of his twenty champions.

The champions' own moves are what they are about. Only their conformance and chains of
the year before predict a match (section 4.2.4).
"""

from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

import numpy as np

from live.messages.figures import GainKind
from live.ratings.alliot import BattleRoyale, Prediction, predict_by_conformance
from live.ratings.markov import NINETEEN, TEN, EvaluationClasses, solve_chain
from live.ratings.score_interval import compute_score_interval
from live.studies.alliot_covariance import build_covariance_table
from live.studies.alliot_games import build_complexity_table
from live.studies.alliot_players import PREDICTORS, build_best_year_table
from live.studies.papers.comparison import Measured
from live.studies.papers.corpus_games import (
    CorpusGames,
    ListedGame,
    count_results,
    name_people,
)
from live.studies.papers.measures import (
    Evidence,
    Figures,
    Key,
    draw_in_turn,
    keep_known,
    list_occasion_games,
    measure,
    measure_share,
    read_figure,
    read_rows,
)
from live.studies.papers.printed import PrintedPaper, PrintedRow, PrintedTable
from live.studies.study_data import ConformingMoves, PairedMoves, gather_moves

_GAINS: tuple[GainKind, ...] = ("same-search",)
_CHAMPIONS = "champions"
_MATCHES = "title-matches"


# --- which games ----------------------------------------------------------------------


def list_champions_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """List all of them, or draw as many as the table says, always the same."""
    found = games.list_of_occasion(paper.occasions[_CHAMPIONS])
    return found[: table.sample or None]


def list_title_matches(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """List games of every two champions in the table, in the year of their match."""
    people = games.find_people(paper.occasions[_MATCHES])
    found = []
    for row in table.rows:
        found += _list_match(row, games, paper, people)
    return found


def _list_match(
    row: PrintedRow,
    games: CorpusGames,
    paper: PrintedPaper,
    people: dict[str, list[int]],
) -> list[ListedGame]:
    about = paper.occasions[_MATCHES]
    one = people.get(row.one, [])
    other = people.get(row.other, [])
    year = int(row.at)
    return [
        game
        for game in games.list_of_players(one, range(year, year + 1))
        if (game.white in other or game.black in other) and about.has_event(game.event)
    ]


def draw_years_before_matches(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return both champions' games of the year before each match, drawn from each
    champion and year in turn.
    """
    wanted = set()
    for row in paper.predictions["ms"]:
        wanted |= {(row.one, int(row.at) - 1), (row.other, int(row.at) - 1)}
    return _draw_years(wanted, table, paper, games)


def _draw_years(
    wanted: set[tuple[str, int]],
    table: PrintedTable,
    paper: PrintedPaper,
    games: CorpusGames,
) -> list[ListedGame]:
    """Draw games of each champion and year in turn."""
    about = paper.occasions[_CHAMPIONS]
    names = name_people(games.find_people(about))

    def list_years(game: ListedGame) -> list[tuple[str, int]]:
        played = [
            (names.get(player, ""), game.year) for player in (game.white, game.black)
        ]
        return [each for each in played if each in wanted]

    return draw_in_turn(games.list_of_occasion(about), list_years, table.sample)


def list_games_of_year(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """List Fischer's and Spassky's games of the year of the table."""
    people = games.find_people(paper.occasions[_CHAMPIONS])
    numbers = people.get("Fischer", []) + people.get("Spassky", [])
    return list(games.list_of_players(numbers, range(table.year, table.year + 1)))


# --- without an engine ----------------------------------------------------------------


@measure("games", games=list_champions_games)
def count_games(table: PrintedTable, evidence: Evidence) -> Figures:
    """Count games of each champion, with each colour and together (Table 1)."""
    people = evidence.games.find_people(evidence.paper.occasions[_CHAMPIONS])
    games = evidence.list_games(table)
    found = {}
    for row in table.rows:
        numbers = people.get(row.one, [])
        white = sum(game.white in numbers for game in games)
        black = sum(game.black in numbers for game in games)
        counts = {"White": white, "Black": black, "total": white + black}
        found[row.key] = Measured(counts[row.other])
    return found


@measure("white-score", games=list_champions_games)
def score_white(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return what White scores in all games."""
    games = evidence.list_games(table)
    scores = [game.score for game in games if game.score is not None]
    squares = [score * score for score in scores]
    ends = compute_score_interval(len(scores), sum(scores), sum(squares))
    return {table.rows[0].key: Measured(fmean(scores), *ends)}


@measure("results", games=list_occasion_games)
def share_results(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the shares of wins, draws and losses of a match."""
    about = evidence.paper.occasions[table.at]
    people = evidence.games.find_people(about)
    one, other = (people.get(name, []) for name in about.players)
    counts = count_results(evidence.games.list_of_occasion(about), one, other)
    games = sum(counts)
    shares = dict(zip(("wins", "draws", "losses"), counts, strict=True))
    if not games:
        return {}
    return {row.key: measure_share(shares[row.other], games) for row in table.rows}


@measure("match-score", games=list_title_matches)
def score_matches(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return what the first scored in each title match (Table 5, column AS)."""
    people = evidence.games.find_people(evidence.paper.occasions[_MATCHES])
    found = {}
    for row in table.rows:
        games = _list_match(row, evidence.games, evidence.paper, people)
        one, other = (people.get(name, []) for name in (row.one, row.other))
        won, drawn, lost = count_results(games, one, other)
        if won + drawn + lost:
            found[row.key] = Measured((won + drawn / 2) / (won + drawn + lost))
    return found


def compute_mean_errors(
    columns: dict[str, dict[tuple[str, str, str], float]],
    actual: dict[tuple[str, str, str], float],
) -> dict[tuple[str, str], float]:
    """Average errors of each predictor, over all matches and over those with a
    prediction by Elo.
    """
    rated = columns["elos"].keys()
    found = {}
    for name, column in columns.items():
        for label, keys in (("17 matches", actual.keys()), ("11 rated", rated)):
            known = [key for key in keys if key in column and key in actual]
            if known:
                errors = [abs(column[key] - actual[key]) for key in known]
                heading = "ELO" if name == "elos" else name.upper()
                found[heading, label] = fmean(errors)
    return found


def _read_columns(
    paper: PrintedPaper,
) -> dict[str, dict[tuple[str, str, str], float]]:
    columns = {}
    for name, rows in paper.predictions.items():
        columns[name] = {row.key: row.value for row in rows}
    return columns


@measure("printed-errors")
def recompute_errors(table: PrintedTable, evidence: Evidence) -> Figures:
    """Compute the mean errors that the text names from the printed columns of Table
    5.
    """
    columns = _read_columns(evidence.paper)
    actual = columns.pop("as")
    found = compute_mean_errors(columns, actual)
    return {row.key: Measured(found[row.one, row.other]) for row in table.rows}


@measure("printed-stationary")
def solve_printed_chains(table: PrintedTable, evidence: Evidence) -> Figures:
    """Solve the printed matrices, their lines made to sum to 1, for the stationary
    vector.
    """
    chains = evidence.paper.chains
    assert chains is not None  # Alliot's file has them
    white, black = (
        np.array(each) / np.sum(each, axis=1, keepdims=True)
        for each in (chains.fischer_1971, chains.spassky_1971)
    )
    vector = solve_chain(white, black, TEN.level)
    return {
        row.key: Measured(float(each))
        for row, each in zip(table.rows, vector, strict=True)
    }


# --- predictions of matches -----------------------------------------------------------


class _PlayerYear(NamedTuple):
    """One champion's moves of one year."""

    conforming: ConformingMoves
    paired: PairedMoves


@lru_cache(maxsize=4)
def _gather_years_before(evidence: Evidence) -> dict[tuple[str, int], _PlayerYear]:
    """Gather them by the paper's names."""
    paper = evidence.paper
    table = paper.find_table("alliot-table-5-ms")
    people = evidence.games.find_people(paper.occasions[_CHAMPIONS])
    data = evidence.open_study(evidence.list_games(table), people)
    conforming = gather_moves(data, ConformingMoves, "player", "year")
    paired = gather_moves(data, PairedMoves, "player", "year")
    return {
        (data.players[player], year): _PlayerYear(conforming[player, year], moves)
        for (player, year), moves in paired.items()
    }


def _predict_by_shares(one: _PlayerYear, other: _PlayerYear) -> Prediction:
    """Predict by accumulated conformance, ponderated, within 30 cp."""
    return predict_by_conformance(
        one.conforming.ponderated, other.conforming.ponderated
    )


def _predict_by_gains(one: _PlayerYear, other: _PlayerYear) -> Prediction:
    """Predict by covariance with n0 = 32 and b = 2.4."""
    return PREDICTORS["convolution"](one.paired, other.paired)


def _predict_by_chains(one: _PlayerYear, other: _PlayerYear) -> Prediction:
    """Predict by Markov chains of that year alone."""
    return PREDICTORS["markov"](one.paired, other.paired)


#: By the columns of Table 5.
_PREDICTIONS = {
    "acs": _predict_by_shares,
    "covs": _predict_by_gains,
    "ms": _predict_by_chains,
}


@measure(*_PREDICTIONS, games=draw_years_before_matches, gains=_GAINS)
def predict_matches(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return what the first is expected to score in each match (Table 5)."""
    return _predict(table.measure, table.rows, evidence)


def _predict(by: str, rows: Sequence[PrintedRow], evidence: Evidence) -> Figures:
    """Return the mean of a game with each colour, for each match whose players
    moved.
    """
    moves = _gather_years_before(evidence)
    predict = _PREDICTIONS[by]
    found: dict[Key, Measured | None] = {}
    for row in rows:
        one = moves.get((row.one, int(row.at) - 1))
        other = moves.get((row.other, int(row.at) - 1))
        if one is not None and other is not None:
            found[row.key] = _average_colors(predict(one, other), predict(other, one))
    return keep_known(found)


def _average_colors(white: Prediction, black: Prediction) -> Measured | None:
    """Return what the first is expected to score, from a game with each colour."""
    if white.expected_score is None or black.expected_score is None:
        return None
    value = (white.expected_score + 1 - black.expected_score) / 2
    if (
        white.low is None
        or white.high is None
        or black.low is None
        or black.high is None
    ):
        return Measured(value)
    return Measured(
        value, (white.low + 1 - black.high) / 2, (white.high + 1 - black.low) / 2
    )


@measure("errors", games=draw_years_before_matches, gains=_GAINS)
def measure_errors(table: PrintedTable, evidence: Evidence) -> Figures:
    """Average errors of our three predictors, beside the printed results of the
    matches.
    """
    printed = _read_columns(evidence.paper)
    columns: dict[str, dict[tuple[str, str, str], float]] = {"elos": printed["elos"]}
    for name in _PREDICTIONS:
        made = _predict(name, evidence.paper.predictions[name], evidence)
        columns[name] = {key: each.value for key, each in made.items()}
    if any(len(columns[name]) < len(printed["as"]) for name in _PREDICTIONS):
        return {}
    found = compute_mean_errors(columns, printed["as"])
    return {row.key: Measured(found[row.one, row.other]) for row in table.rows}


# --- chains of 1971 -------------------------------------------------------------------


@lru_cache(maxsize=4)
def _gather_chains(
    evidence: Evidence, classes: EvaluationClasses
) -> dict[str, PairedMoves]:
    paper = evidence.paper
    table = paper.find_table("alliot-tables-2-3")
    people = evidence.games.find_people(paper.occasions[_CHAMPIONS])
    data = evidence.open_study(evidence.list_games(table), people)
    found = gather_moves(data, lambda gain: PairedMoves(gain, classes), "player")
    return {data.players[player]: moves for (player,), moves in found.items()}


@measure("chain", games=list_games_of_year, gains=_GAINS)
def measure_transitions(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return cells of Tables 2 and 3 in ten classes, with the interval of a share."""
    held = _gather_chains(evidence, TEN)
    chains = evidence.paper.chains
    assert chains is not None  # Alliot's file has them
    found = {}
    for row in table.rows:
        if row.one not in held:
            continue
        chain = held[row.one].transitions.build_chain(
            "white" if table.color == "white" else "black"
        )
        here = chains.classes.index(row.other)
        there = chains.classes.index(row.at)
        share = float(chain.matrix[here, there])
        moves = float(chain.support[here])
        ends = (
            compute_score_interval(moves, share * moves, share * moves)
            if moves
            else (None, None)
        )
        found[row.key] = Measured(share, *ends)
    return found


@measure("stationary", games=list_games_of_year, gains=_GAINS)
def solve_chains(table: PrintedTable, evidence: Evidence) -> Figures:
    """Find where Fischer's and Spassky's chains of 1971 end up, in ten classes (section
    3.4) or nineteen (section 4.4.1).
    """
    classes = TEN if len(table.rows) == len(TEN) else NINETEEN
    held = _gather_chains(evidence, classes)
    if not {"Fischer", "Spassky"} <= held.keys():
        return {}
    white = held["Fischer"].transitions.build_chain("white")
    black = held["Spassky"].transitions.build_chain("black")
    vector = solve_chain(white.matrix, black.matrix, classes.level)
    return {
        row.key: Measured(float(each))
        for row, each in zip(table.rows, vector, strict=True)
    }


# --- over all games -------------------------------------------------------------------


@measure("complexity", games=list_champions_games, gains=_GAINS)
def correlate_complexity(table: PrintedTable, evidence: Evidence) -> Figures:
    """Correlate complexity with errors, of each champion and together (Table
    4).
    """
    games = evidence.list_games(table)
    people = evidence.games.find_people(evidence.paper.occasions[_CHAMPIONS])
    champions = [*name_people(people)]
    others = [number for number in evidence.games.words if number not in champions]
    indicators = ("D/t", "Stab", "JumpV", "JumpD", "JD x JV")
    found: dict[Key, Measured | None] = {}
    for group in (people, {"Champs": champions}, {"Others": others}):
        for cells in read_rows(
            build_complexity_table(evidence.open_study(games, group))
        ):
            name = "All" if cells[0] == "all" else str(cells[0])
            for at, indicator in enumerate(indicators):
                figure = cells[2 + 3 * at : 5 + 3 * at]
                known = [cell for cell in figure if cell is not None]
                found[name, indicator, ""] = read_figure(known) if known else None
    return keep_known(found)


@measure("covariance", games=list_champions_games, gains=_GAINS)
def fit_covariance(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the correlation and the line of each vector of outcomes (Table 6)."""
    games = evidence.list_games(table)
    found: dict[Key, Measured | None] = {}
    for cells in read_rows(build_covariance_table(evidence.open_study(games, {}))):
        name, _, _, rho, low, high, mean, sd, beta, beta_low, beta_high, alpha, *_ = (
            cells
        )
        for quantity, figure in (
            ("rho", (rho, low, high)),
            ("mean", (mean,)),
            ("sd", (sd,)),
            ("beta", (beta, beta_low, beta_high)),
            ("alpha", (alpha,)),
        ):
            found[str(name), quantity, ""] = read_figure(figure)
    return keep_known(found)


# --- best years -----------------------------------------------------------------------


def draw_best_years(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return games of the years that the paper finds best, drawn from each champion and
    year in turn.

    The years of all predictors are drawn together, so that each game is searched once.
    """
    years = set()
    for each in paper.tables:
        if each.measure == "best-year":
            years |= {(row.one, int(row.value)) for row in each.rows}
    return _draw_years(years, table, paper, games)


@lru_cache(maxsize=8)
def _pair_best_years(evidence: Evidence, by: str) -> BattleRoyale:
    """Pair every two champions, each in the year that the paper finds best; those
    without moves of that year are left out.
    """
    paper = evidence.paper
    moves = _gather_best_years(evidence)
    [printed] = [
        each for each in paper.tables if each.by == by and each.measure == "best-year"
    ]
    years = [(row.one, int(row.value)) for row in printed.rows]
    held = {name: moves[name, year] for name, year in years if (name, year) in moves}
    predict = PREDICTORS[by]
    return BattleRoyale(lambda white, black: predict(held[white], held[black]), held)


@lru_cache(maxsize=4)
def _gather_best_years(evidence: Evidence) -> dict[tuple[str, int], PairedMoves]:
    table = evidence.paper.find_table("alliot-table-7")
    people = evidence.games.find_people(evidence.paper.occasions[_CHAMPIONS])
    data = evidence.open_study(evidence.list_games(table), people)
    found = gather_moves(data, PairedMoves, "player", "year")
    return {
        (data.players[player], year): moves for (player, year), moves in found.items()
    }


@measure("best-rank", games=draw_best_years, gains=_GAINS)
def rank_best_years(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the place of each champion among the best years (Tables 7 to 9)."""
    places = _pair_best_years(evidence, table.by).rank_players()
    ranks = {place.player: place.rank for place in places}
    return {
        row.key: Measured(float(rank))
        for row in table.rows
        if (rank := ranks.get(row.one)) is not None
    }


@measure("best-pairs", games=draw_best_years, gains=_GAINS)
def predict_best_years(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return what the champion of the row is expected to score with White against that
    of the column (Tables 7 to 9).
    """
    pairings = _pair_best_years(evidence, table.by).pairings
    found: Figures = {}
    for row in table.rows:
        prediction = pairings.get((row.one, row.other))
        if prediction is not None and prediction.expected_score is not None:
            found[row.key] = Measured(
                prediction.expected_score, prediction.low, prediction.high
            )
    return found


@measure("best-year", games=list_champions_games, gains=_GAINS)
def find_best_years(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the year in which each champion beats the most other years."""
    people = evidence.games.find_people(evidence.paper.occasions[_CHAMPIONS])
    study = evidence.open_study(evidence.list_games(table), people)
    best = {}
    for cells in read_rows(build_best_year_table(study, table.by)):
        name, _, year = str(cells[1]).rpartition(" ")
        best[name] = float(year)
    return {row.key: Measured(best[row.one]) for row in table.rows if row.one in best}
