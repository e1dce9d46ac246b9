"""Alliot's figures (2017): games, results, predictions of matches, complexity,
covariance, Markov chains and best years of his twenty champions.

The figures are about the champions' own moves. A match is predicted only from the two
champions' conformance and Markov chains of the year before (section 4.2.4).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

import numpy as np

from live.messages.figures import GainKind
from live.ratings.conformance import predict_by_conformance
from live.ratings.ferreira import Floats
from live.ratings.markov import NINETEEN, TEN, EvaluationClasses, solve_chain
from live.ratings.predictions import BattleRoyale, Prediction, predict_both_colors
from live.studies.alliot_covariance import VARIANTS, fit_covariances
from live.studies.alliot_games import INDICATORS, correlate_complexity
from live.studies.alliot_players import PREDICTORS, find_best_years
from live.studies.papers.comparison import Measured
from live.studies.papers.corpus_games import (
    CorpusGames,
    ListedGame,
    count_results,
    index_names_by_number,
)
from live.studies.papers.measures import (
    Evidence,
    Figures,
    Key,
    draw_in_turn,
    list_occasion_games,
    measure,
    measure_known,
    measure_mean_score,
    measure_prediction,
    measure_share,
)
from live.studies.papers.printed import PrintedPaper, PrintedRow, PrintedTable
from live.studies.player_moves import ConformingMoves, PairedMoves, gather_moves
from live.studies.study_data import StudyData

_GAINS: tuple[GainKind, ...] = ("same-search",)
_CHAMPIONS = "champions"
_MATCHES = "title-matches"


# --- which games ----------------------------------------------------------------------


def list_champions_games(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return the games of all champions. If the table has a sample size, return only
    that many: a random draw that is the same in every run.
    """
    listed = games.list_games_of_occasion(paper.occasions[_CHAMPIONS])
    return listed[: table.sample or None]


def list_title_matches(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return the games of each pair of champions in the table, in the year of their
    match.
    """
    people = games.find_people(paper.occasions[_MATCHES])
    listed = []
    for row in table.rows:
        listed += _list_match(row, games, paper, people)
    return listed


def _list_match(
    row: PrintedRow,
    games: CorpusGames,
    paper: PrintedPaper,
    people: dict[str, list[int]],
) -> list[ListedGame]:
    occasion = paper.occasions[_MATCHES]
    player_numbers = people.get(row.one, [])
    opponent_numbers = people.get(row.other, [])
    year = int(row.at)
    return [
        game
        for game in games.list_games_of_players(player_numbers, range(year, year + 1))
        if (game.white in opponent_numbers or game.black in opponent_numbers)
        and occasion.has_event(game.event)
    ]


def draw_years_before_matches(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return both champions' games of the year before each match, drawn from each
    champion and year in turn.
    """
    stays = set()
    for row in paper.predictions["ms"]:
        stays |= {(row.one, int(row.at) - 1), (row.other, int(row.at) - 1)}
    return _draw_years(stays, table, paper, games)


def _draw_years(
    stays: set[tuple[str, int]],
    table: PrintedTable,
    paper: PrintedPaper,
    games: CorpusGames,
) -> list[ListedGame]:
    """Return games of the champions and years in ``stays``, drawn from each champion
    and year in turn.
    """
    occasion = paper.occasions[_CHAMPIONS]
    names = index_names_by_number(games.find_people(occasion))

    def list_years(game: ListedGame) -> list[tuple[str, int]]:
        played = [
            (names.get(player, ""), game.year) for player in (game.white, game.black)
        ]
        return [stay for stay in played if stay in stays]

    return draw_in_turn(
        games.list_games_of_occasion(occasion), list_years, table.sample
    )


def list_games_of_year(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return Fischer's and Spassky's games of the year of the table."""
    people = games.find_people(paper.occasions[_CHAMPIONS])
    numbers = people.get("Fischer", []) + people.get("Spassky", [])
    return list(games.list_games_of_players(numbers, range(table.year, table.year + 1)))


def open_champions(table: PrintedTable, evidence: Evidence) -> StudyData:
    """Return the data of a table's games, with the champions as its players."""
    people = evidence.find_people(_CHAMPIONS)
    return evidence.open_study(evidence.list_games(table), people)


# --- without an engine ----------------------------------------------------------------


@measure("games", games=list_champions_games)
def count_games(table: PrintedTable, evidence: Evidence) -> Figures:
    """Count the games of each champion, with each colour and together (Alliot 2017,
    Table 1).
    """
    people = evidence.find_people(_CHAMPIONS)
    games = evidence.list_games(table)
    figures = {}
    for row in table.rows:
        numbers = people.get(row.one, [])
        white = sum(game.white in numbers for game in games)
        black = sum(game.black in numbers for game in games)
        counts = {"White": white, "Black": black, "total": white + black}
        figures[row.key] = Measured(counts[row.other])
    return figures


@measure("white-score", games=list_champions_games)
def measure_white_score(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return White's mean score in all games."""
    games = evidence.list_games(table)
    scores = [game.score for game in games if game.score is not None]
    return {table.rows[0].key: measure_mean_score(scores)}


@measure("results", games=list_occasion_games)
def measure_result_shares(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the shares of wins, draws and losses of a match."""
    occasion = evidence.paper.occasions[table.at]
    people = evidence.find_people(table.at)
    player, opponent = (people.get(name, []) for name in occasion.players)
    counts = count_results(evidence.list_games_of_occasion(table.at), player, opponent)
    games = sum(counts)
    shares = dict(zip(("wins", "draws", "losses"), counts, strict=True))
    if not games:
        return {}
    return {row.key: measure_share(shares[row.other], games) for row in table.rows}


@measure("match-score", games=list_title_matches)
def score_matches(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the first player's score in each title match (Alliot 2017, Table 5, column
    AS).
    """
    people = evidence.find_people(_MATCHES)
    figures = {}
    for row in table.rows:
        games = _list_match(row, evidence.games, evidence.paper, people)
        player, opponent = (people.get(name, []) for name in (row.one, row.other))
        won, drawn, lost = count_results(games, player, opponent)
        if won + drawn + lost:
            figures[row.key] = Measured((won + drawn / 2) / (won + drawn + lost))
    return figures


def compute_mean_errors(
    columns: dict[str, dict[Key, float]], actual: dict[Key, float]
) -> dict[tuple[str, str], float]:
    """Return each predictor's mean error, over all matches, and over the matches for
    which Elo gives a prediction.
    """
    rated = columns["elos"].keys()
    errors_by_heading = {}
    for name, column in columns.items():
        for label, keys in (("17 matches", actual.keys()), ("11 rated", rated)):
            shared_keys = [key for key in keys if key in column and key in actual]
            if shared_keys:
                errors = [abs(column[key] - actual[key]) for key in shared_keys]
                heading = "ELO" if name == "elos" else name.upper()
                errors_by_heading[heading, label] = fmean(errors)
    return errors_by_heading


def _read_columns(paper: PrintedPaper) -> dict[str, dict[Key, float]]:
    columns = {}
    for name, rows in paper.predictions.items():
        columns[name] = {row.key: row.value for row in rows}
    return columns


@measure("printed-errors")
def recompute_errors(table: PrintedTable, evidence: Evidence) -> Figures:
    """Compute the mean errors that the paper's text states, from the printed columns of
    Alliot's Table 5.
    """
    columns = _read_columns(evidence.paper)
    actual = columns.pop("as")
    mean_errors = compute_mean_errors(columns, actual)
    return {row.key: Measured(mean_errors[row.one, row.other]) for row in table.rows}


@measure("printed-stationary")
def solve_printed_chains(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the stationary distribution of the printed matrices, whose rows are first
    scaled to sum to 1.
    """
    chains = evidence.paper.chains
    assert chains is not None  # not None, because Alliot's file has chains
    white, black = (
        np.array(matrix) / np.sum(matrix, axis=1, keepdims=True)
        for matrix in (chains.fischer_1971, chains.spassky_1971)
    )
    return _read_shares(table, solve_chain(white, black, TEN.level))


def _read_shares(table: PrintedTable, vector: Floats) -> Figures:
    """Return the shares of a stationary distribution, one for each row of the table."""
    shares = zip(table.rows, vector.tolist(), strict=True)
    return {row.key: Measured(share) for row, share in shares}


# --- predictions of matches -----------------------------------------------------------


class _PlayerYear(NamedTuple):
    """One champion's moves of one year."""

    conforming: ConformingMoves
    paired: PairedMoves


@lru_cache(maxsize=4)
def _gather_years(evidence: Evidence, table: str) -> dict[tuple[str, int], _PlayerYear]:
    """Gather the moves of a table's games, by champion and year."""
    data = open_champions(evidence.paper.find_table(table), evidence)
    conforming = gather_moves(data, ConformingMoves, "player", "year")
    paired = gather_moves(data, PairedMoves, "player", "year")
    return {
        (data.players[player], year): _PlayerYear(conforming[player, year], moves)
        for (player, year), moves in paired.items()
    }


#: Predictors of a match by their columns in Alliot's Table 5: accumulated ponderated
#: conformance within 30 cp, covariance with n0 = 32 and b = 2.4, and Markov chains of
#: that year only.
_PREDICTIONS: dict[str, Callable[[_PlayerYear, _PlayerYear], Prediction]] = {
    "acs": lambda a, b: predict_by_conformance(
        a.conforming.ponderated, b.conforming.ponderated
    ),
    "covs": lambda a, b: PREDICTORS["convolution"](a.paired, b.paired),
    "ms": lambda a, b: PREDICTORS["markov"](a.paired, b.paired),
}


@measure(*_PREDICTIONS, games=draw_years_before_matches, gains=_GAINS)
def predict_matches(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the first player's expected score in each match (Alliot 2017, Table 5)."""
    return _predict(table.measure, table.rows, evidence)


def _predict(by: str, rows: Sequence[PrintedRow], evidence: Evidence) -> Figures:
    """Return the first player's expected score, as the mean over both colours, for each
    match for which the moves of both players are known.
    """
    moves = _gather_years(evidence, "alliot-table-5-ms")
    predict = _PREDICTIONS[by]
    figures: dict[Key, Measured | None] = {}
    for row in rows:
        player = moves.get((row.one, int(row.at) - 1))
        opponent = moves.get((row.other, int(row.at) - 1))
        if player is not None and opponent is not None:
            mean = predict_both_colors(predict, player, opponent)
            figures[row.key] = measure_prediction(mean)
    return figures


@measure("errors", games=draw_years_before_matches, gains=_GAINS)
def measure_errors(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the mean errors of this project's three predictors, compared with the
    printed results of the matches.
    """
    printed = _read_columns(evidence.paper)
    columns = {"elos": printed["elos"]}
    for name in _PREDICTIONS:
        predictions = _predict(name, evidence.paper.predictions[name], evidence)
        columns[name] = {
            key: prediction.value
            for key, prediction in predictions.items()
            if prediction is not None
        }
    if any(len(columns[name]) < len(printed["as"]) for name in _PREDICTIONS):
        return {}
    mean_errors = compute_mean_errors(columns, printed["as"])
    return {row.key: Measured(mean_errors[row.one, row.other]) for row in table.rows}


# --- chains of 1971 -------------------------------------------------------------------


@lru_cache(maxsize=4)
def _gather_chains(
    evidence: Evidence, classes: EvaluationClasses
) -> dict[str, PairedMoves]:
    data = open_champions(evidence.paper.find_table("alliot-tables-2-3"), evidence)
    moves_of = gather_moves(data, lambda gain: PairedMoves(gain, classes), "player")
    return {data.players[player]: moves for (player,), moves in moves_of.items()}


@measure("chain", games=list_games_of_year, gains=_GAINS)
def measure_transitions(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the cells of Alliot's Tables 2 and 3 in ten classes, each with the
    interval of a share.
    """
    moves_by_name = _gather_chains(evidence, TEN)
    chains = evidence.paper.chains
    assert chains is not None  # not None, because Alliot's file has chains
    figures = {}
    for row in table.rows:
        if row.one not in moves_by_name:
            continue
        chain = moves_by_name[row.one].transitions.build_chain(
            "white" if table.color == "white" else "black"
        )
        from_class = chains.classes.index(row.other)
        to_class = chains.classes.index(row.at)
        share = float(chain.matrix[from_class, to_class])
        moves = float(chain.support[from_class])
        figures[row.key] = (
            measure_share(share * moves, moves) if moves else Measured(share)
        )
    return figures


@measure("stationary", games=list_games_of_year, gains=_GAINS)
def solve_chains(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the stationary distribution of Fischer's and Spassky's Markov chains of
    1971, in ten classes (Alliot 2017, section 3.4) or nineteen (section 4.4.1).
    """
    classes = TEN if len(table.rows) == len(TEN) else NINETEEN
    moves_by_name = _gather_chains(evidence, classes)
    if not {"Fischer", "Spassky"} <= moves_by_name.keys():
        return {}
    white = moves_by_name["Fischer"].transitions.build_chain("white")
    black = moves_by_name["Spassky"].transitions.build_chain("black")
    return _read_shares(table, solve_chain(white.matrix, black.matrix, classes.level))


# --- over all games -------------------------------------------------------------------


@measure("complexity", games=list_champions_games, gains=_GAINS)
def correlate_errors(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the correlations of complexity with errors, for each champion and for all
    together (Alliot 2017, Table 4).
    """
    games = evidence.list_games(table)
    people = evidence.find_people(_CHAMPIONS)
    champions = [*index_names_by_number(people)]
    other_numbers = [
        number for number in evidence.games.words if number not in champions
    ]
    figures: dict[Key, Measured | None] = {}
    for group in (people, {"Champs": champions}, {"Others": other_numbers}):
        study = evidence.open_study(games, group)
        for name, correlations in correlate_complexity(study):
            subject = "All" if name == "all" else name
            for indicator, correlation in zip(INDICATORS, correlations, strict=True):
                figures[subject, indicator, ""] = measure_known(*correlation[1:])
    return figures


@measure("covariance", games=list_champions_games, gains=_GAINS)
def fit_outcome_vectors(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the correlation and the fitted line of each outcome vector (Alliot 2017,
    Table 6).
    """
    figures: dict[Key, Measured | None] = {}
    fits = fit_covariances(evidence.open_study(evidence.list_games(table), {}))
    for variant, fit in zip(VARIANTS, fits, strict=True):
        name = variant.name
        figures[name, "rho", ""] = measure_known(fit.rho, fit.rho_low, fit.rho_high)
        figures[name, "mean", ""] = measure_known(fit.mean)
        figures[name, "sd", ""] = measure_known(fit.sd)
        figures[name, "beta", ""] = measure_known(fit.beta, fit.beta_low, fit.beta_high)
        figures[name, "alpha", ""] = measure_known(fit.alpha)
    return figures


# --- best years -----------------------------------------------------------------------


def draw_best_years(
    table: PrintedTable, paper: PrintedPaper, games: CorpusGames
) -> list[ListedGame]:
    """Return games of the years that the paper finds best, drawn from each champion and
    year in turn.

    The years of all predictors are drawn together, so that each game is searched once.
    """
    years = set()
    for table_of_paper in paper.tables:
        if table_of_paper.measure == "best-year":
            years |= {(row.one, int(row.value)) for row in table_of_paper.rows}
    return _draw_years(years, table, paper, games)


@lru_cache(maxsize=8)
def _pair_best_years(evidence: Evidence, by: str) -> BattleRoyale:
    """Predict every pair of champions, each with the games of the best year that the
    paper names. Champions without moves of that year are left out.
    """
    moves = _gather_years(evidence, "alliot-table-7")
    [printed] = [
        table
        for table in evidence.paper.tables
        if table.by == by and table.measure == "best-year"
    ]
    moves_by_name = {}
    for row in printed.rows:
        if (row.one, int(row.value)) in moves:
            moves_by_name[row.one] = moves[row.one, int(row.value)].paired
    predict = PREDICTORS[by]
    return BattleRoyale(
        lambda white, black: predict(moves_by_name[white], moves_by_name[black]),
        moves_by_name,
    )


@measure("best-rank", games=draw_best_years, gains=_GAINS)
def rank_best_years(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the place of each champion among the best years (Alliot 2017, Tables 7 to
    9).
    """
    places = _pair_best_years(evidence, table.by).rank_players()
    ranks = {place.player: place.rank for place in places}
    return {row.key: measure_known(ranks.get(row.one)) for row in table.rows}


@measure("best-pairs", games=draw_best_years, gains=_GAINS)
def predict_best_years(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the expected score of the champion of the row, with White, against the
    champion of the column (Alliot 2017, Tables 7 to 9).
    """
    pairings = _pair_best_years(evidence, table.by).pairings
    figures = {}
    for row in table.rows:
        if (row.one, row.other) in pairings:
            figures[row.key] = measure_prediction(pairings[row.one, row.other])
    return figures


@measure("best-year", games=list_champions_games, gains=_GAINS)
def name_best_years(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return the year in which each champion beats the most years of other
    champions.
    """
    study = open_champions(table, evidence)
    best = {}
    for player, year in find_best_years(study, table.by):
        best[study.players[player]] = Measured(float(year))
    return {row.key: best.get(row.one) for row in table.rows}
