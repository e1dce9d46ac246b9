"""Alliot's tables of players (2017): conformance, careers by year, Markov chains,
battle royale. It also builds his tables of matches: Table 5, and Figures 7 and 8.

A match consists of all games between two players at one event, at least four.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from polars import col

from live.messages.figures import GainKind
from live.messages.values import Color
from live.ratings.conformance import PONDERATED, AccumulatedConformance, average_periods
from live.ratings.covariance import (
    CONVOLUTION_32,
    STEP,
    TANH,
    TANH_FIT,
    predict_by_convolution,
    predict_by_covariance,
)
from live.ratings.expected_score import convert_difference_to_score
from live.ratings.markov import (
    ENOUGH_MOVES,
    NINETEEN,
    TEN,
    EvaluationClasses,
    predict_by_markov,
    solve_chain,
)
from live.ratings.predictions import (
    BattleRoyale,
    Prediction,
    predict_both_colors,
)
from live.studies.alliot_games import STEPS_CP, compute_share_difference, fit_lines
from live.studies.player_moves import (
    ConformingMoves,
    Moves,
    PairedMoves,
    gather_by_player,
    gather_by_year,
    gather_moves,
)
from live.studies.study_data import StudyData
from live.studies.study_tables import (
    Cell,
    Column,
    Row,
    Rows,
    TableHead,
    build_interval_columns,
    define_table,
)

#: Methods to predict the result of a pairing, by name.
PREDICTORS: dict[str, Callable[[PairedMoves, PairedMoves], Prediction]] = {
    # The paper's first experiment: raw gains without convolution (n0 = 0).
    "step": lambda a, b: predict_by_covariance(a.shortfalls, b.shortfalls, STEP),
    "tanh": lambda a, b: predict_by_covariance(a.tanh, b.tanh, TANH, TANH_FIT),
    # The paper's setting n0 = 32, b = 2.4.
    "convolution": lambda a, b: predict_by_convolution(
        a.shortfalls, b.shortfalls, CONVOLUTION_32
    ),
    "markov": lambda a, b: predict_by_markov(
        a.transitions.build_chain("white"), b.transitions.build_chain("black")
    ),
}
PAIRINGS = tuple(PREDICTORS)
_COLORS: tuple[Color, ...] = ("white", "black")


def _build_conformance_columns(kind: str) -> tuple[Column, ...]:
    return (
        (f"{kind} 0", 3, "share of moves at 0"),
        (f"{kind} x", 3, "share within 30 cp (Guid and Bratko: 20)"),
        (f"{kind} low", 3),
        (f"{kind} high", 3, "95 % interval"),
    )


@define_table(
    "alliot-1",
    "Games of each player",
    "Alliot 2017, Table 1",
    "player",
    "white",
    "black",
    "total",
    engine="",
)
def games_table(data: StudyData) -> Rows:
    """Build Alliot's Table 1: games by player and colour."""
    for player, name in data.players.items():
        counts = [
            data.database.count_rows(
                "games", f"{color} = {player} AND {data.sql_condition}"
            )
            for color in _COLORS
        ]
        yield name, *counts, sum(counts)


@define_table(
    "alliot-conformance",
    "Accumulated conformance",
    "Alliot 2017, sections 3.2 and 4.2, Figure 8",
    "player",
    ("elo", 0),
    "moves",
    *_build_conformance_columns("raw"),
    *_build_conformance_columns("guid-bratko"),
    *_build_conformance_columns("ponderated"),
    notes=("From move 10 on, forced moves left out.",),
)
def conformance_table(data: StudyData) -> Rows:
    """Build the table of each player's p(x), the share of moves that lose at most x,
    for the three kinds of conformance. The values of x are 0 and the x that the paper
    uses for the kind.
    """
    for player, moves in gather_by_player(data, ConformingMoves).items():
        row: Row = (data.players[player], moves.elo, moves.kinds[0].n)
        for conformance in moves.kinds:
            row += (
                conformance.compute_share_at(0),
                conformance.share,
                *conformance.compute_interval_at(conformance.kind.x_cp),
            )
        yield row


@define_table(
    "career",
    "Careers: figures by year",
    "Alliot 2017, Figures 16 and 17; Ferreira 2012, Algorithm 4",
    "player",
    "year",
    "games",
    "moves",
    ("elo", 0),
    ("score", 3, "points a game"),
    *build_interval_columns(
        "p(0)", 3, "ponderated conformance at 0", "low 0", "high 0"
    ),
    *build_interval_columns("p(0.3)", 3, "ponderated conformance within 30 cp"),
    ("remembered", 3, "p(0.3) with past years, each half as much as the next"),
    *build_interval_columns("d", 0, "Elo against the engine", "d low", "d high"),
    notes=(
        "One engine evaluates all years: opponents, openings and clocks differ between"
        " them, and",
        "so does what these figures mean (Alliot 2017, section 5; Ferreira 2012,"
        " section 8).",
    ),
)
def career_table(data: StudyData) -> Rows:
    """Build the table of a player's figures by year: Alliot's Figures 16 and 17, and
    Ferreira's Algorithm 4.
    """
    moves_by_year = gather_by_year(data, ConformingMoves)
    for player, name in data.players.items():
        past: list[AccumulatedConformance] = []
        for year in sorted(
            year for key_player, year in moves_by_year if key_player == player
        ):
            moves = moves_by_year[player, year]
            ponderated = moves.ponderated
            past.insert(0, ponderated)
            if moves.gains.n < max(1, data.selection.min_moves):
                continue
            yield (
                name,
                year,
                moves.games,
                moves.gains.n,
                moves.elo,
                moves.points / moves.results if moves.results else None,
                ponderated.compute_share_at(0),
                *ponderated.compute_interval_at(0),
                ponderated.share,
                *ponderated.compute_interval_at(PONDERATED.x_cp),
                average_periods(past),
                *moves.compute_differences(),
            )


def _label_class_edges(classes: EvaluationClasses) -> list[str]:
    """Return the lower bound of each class as text; the lowest class has none."""
    return ["", *map(str, classes.lower_cp)]


def _build_chain_columns(classes: EvaluationClasses) -> tuple[Column, ...]:
    return (
        "player",
        "colour",
        ("from_cp", None, "least evaluation of the class; none for the lowest"),
        ("moves", 1, "that the row rests on; past years weigh half as much"),
        *((f"to {edge or 'lowest'}", 4) for edge in _label_class_edges(classes)),
    )


_CHAINS = (
    "Transition matrices, from White's side",
    "Alliot 2017, Tables 2 and 3, section 4.4.1",
)


@define_table("alliot-markov", *_CHAINS, *_build_chain_columns(NINETEEN))
def markov_table(data: StudyData) -> Rows:
    """Build the table of transition matrices with each colour, from the player's own
    moves only (Alliot 2017, Tables 2 and 3).
    """
    return _list_transitions(data, NINETEEN)


def _list_transitions(data: StudyData, classes: EvaluationClasses) -> Rows:
    moves_of = gather_moves(data, lambda gain: PairedMoves(gain, classes), "player")
    for player, name in data.players.items():
        if (player,) in moves_of:
            for color in _COLORS:
                chain = moves_of[player,].transitions.build_chain(color, own_color=True)
                lines = zip(
                    _label_class_edges(classes),
                    chain.support.tolist(),
                    chain.matrix,
                    strict=True,
                )
                for edge, support, line in lines:
                    yield name, color, edge, float(support), *line.tolist()


@define_table("alliot-markov-10", *_CHAINS, *_build_chain_columns(TEN))
def markov_ten_table(data: StudyData) -> Rows:
    """Build the table of transition matrices in ten classes of 0.4 pawn."""
    return _list_transitions(data, TEN)


@define_table(
    "alliot-stationary",
    "Stationary vectors of pairs",
    "Alliot 2017, section 4.4.1",
    "white",
    "black",
    *((edge or "lowest", 3) for edge in _label_class_edges(NINETEEN)),
    notes=(f"The paper asks for {ENOUGH_MOVES} moves of a player.",),
)
def stationary_table(data: StudyData) -> Rows:
    """Build the table of the stationary distribution of the Markov chain of each pair
    of players (Alliot 2017, section 4.4.1).
    """
    moves_of = gather_by_player(data, PairedMoves)
    for player, opponent in itertools.permutations(moves_of, 2):
        white = moves_of[player].transitions.build_chain("white")
        black = moves_of[opponent].transitions.build_chain("black")
        if white.support.any() and black.support.any():
            vector = solve_chain(white.matrix, black.matrix, NINETEEN.level)
            yield data.players[player], data.players[opponent], *map(float, vector)


@define_table(
    "alliot-classes",
    "Positions in the nineteen classes of evaluation",
    "Alliot 2017, section 4.4.1, Figure 15",
    "player",
    ("class", None, "from lost to won, mover's side"),
    ("from_cp", None, "least evaluation of the class; none for the lowest"),
    "positions",
    ("a year", 1, "over the years with a dated game"),
)
def classes_table(data: StudyData) -> Rows:
    """Build the table of Alliot's Figure 15: the number of positions in each class of
    the Markov chains, as a total and as the average per year.
    """
    counted = data.scan_moves().filter("counted", col("best_cp").is_not_null())
    dated = col("year").n_unique() - col("year").has_nulls()
    years = dict(counted.group_by("player").agg(dated).collect().rows())
    counts = Counter[tuple[int, int]]()
    for player, best_cp, n in (
        counted.group_by("player", "best_cp").len().collect().iter_rows()
    ):
        counts[player, NINETEEN.find_class(best_cp)] += n
    for player, name in data.players.items():
        for index, edge in (
            enumerate((None, *NINETEEN.lower_cp)) if player in years else ()
        ):
            n = counts[player, index]
            yield name, index + 1, edge, n, n / years[player] if years[player] else None


_ROYALE = "Alliot 2017, sections 4.3.2 and 4.4.2, Tables 7, 8 and 9"


@define_table("alliot-royale", "Battle royale", _ROYALE, by=PAIRINGS)
def royale_table(data: StudyData, by: str) -> Rows:
    """Build the matrix of Alliot's Tables 7 to 9: the expected score of each player
    against each other player, best player first.
    """
    moves_of = gather_by_player(data, PairedMoves)
    return _build_matrix_rows(
        {data.players[player]: moves for player, moves in moves_of.items()},
        by,
        "Battle royale",
    )


@define_table(
    "alliot-best-year", "Battle royale of the best years", _ROYALE, by=PAIRINGS
)
def best_year_table(data: StudyData, by: str) -> Rows:
    """Build the table of each player's best year, and the matrix of expected scores
    between these years. The best year of a player is the one that beats the most years
    of all players.
    """
    entrants = {
        f"{data.players[player]} {year}": moves
        for (player, year), moves in find_best_years(data, by).items()
    }
    yield from _build_matrix_rows(entrants, by, "Battle royale of the best years")
    yield f"Years with fewer than {_require_moves(data)} counted moves are left out."


def _require_moves(data: StudyData) -> int:
    """Return the smallest number of counted moves with which a year is included."""
    return max(ENOUGH_MOVES, data.selection.min_moves)


def find_best_years(data: StudyData, by: str) -> dict[tuple[int, int], PairedMoves]:
    """Return the moves of each player's best year, by player and year. The best year of
    a player is the one that beats the most years of all players; if several years are
    equal, the first of them.
    """
    moves_by_year = gather_by_year(data, PairedMoves)
    years = {
        f"{player} {year}": (player, year)
        for player, year in sorted(moves_by_year)
        if moves_by_year[player, year].counted >= _require_moves(data)
    }
    entrants = {name: moves_by_year[key] for name, key in years.items()}
    places = _play_royale(entrants, by).rank_players()
    victories = {years[place.player]: place.victories for place in places}
    best: dict[int, tuple[int, int]] = {}
    for key in years.values():
        player, _ = key
        if player not in best or victories[key] > victories[best[player]]:
            best[player] = key
    best_years = [best[player] for player in data.players if player in best]
    return {key: moves_by_year[key] for key in best_years}


def _build_matrix_rows(entrants: dict[str, PairedMoves], by: str, title: str) -> Rows:
    royale = _play_royale(entrants, by)
    places = royale.rank_players()
    columns: tuple[Column, ...] = (
        "rank",
        "player",
        ("moves", None, "that count for Alliot"),
        *build_interval_columns(
            "mean", 3, "expected score over all opponents and both colours"
        ),
        ("victories", None, "opponents against whom more than a half is expected"),
        *((f"v {place.player}", 2) for place in places),
    )
    yield from sorted({place.missing for place in places if place.missing})
    yield TableHead(
        f"{title}, paired by {by}: the player of the row has White", columns
    )
    for place in places:
        against = (
            0.5
            if opponent is place
            else royale.pairings[place.player, opponent.player].expected_score
            for opponent in places
        )
        mean = place.expected_score, place.low, place.high
        moves = entrants[place.player].counted
        yield place.rank, place.player, moves, *mean, place.victories, *against


def _play_royale(entrants: dict[str, PairedMoves], by: str) -> BattleRoyale:
    """Return the battle royale of all entrants: White's expected score in every
    pairing.
    """
    predict = PREDICTORS[by]
    return BattleRoyale(
        lambda white, black: predict(entrants[white], entrants[black]), entrants
    )


_LEAST_GAMES = 4
#: Values of x, centipawns, for which matches compare p(x): 0 counts perfect moves, and
#: 30 is the best value of Alliot's Figure 4.
_X_CP = (0, 30)


class _Match(NamedTuple):
    """One player against another at one event."""

    player: int
    opponent: int
    event: int | None
    result: float
    """Points per game of ``player``."""
    games: int
    elo: float | None
    """Mean Elo lead of ``player``, over games with both ratings."""

    @property
    def keys(self) -> tuple[tuple[int, int, int | None], tuple[int, int, int | None]]:
        """Keys of both players' moves: player, opponent and event."""
        return (
            (self.player, self.opponent, self.event),
            (self.opponent, self.player, self.event),
        )


def _find_matches(data: StudyData) -> list[_Match]:
    """Return the matches between the selected players, sorted by the numbers of players
    and event.
    """
    encounters = data.count_encounters(searched=True)
    matches = []
    for (player, opponent, event), encounter in encounters.items():
        if (
            opponent in data.players
            and player < opponent
            and encounter.decided >= _LEAST_GAMES
        ):
            ahead = encounter.elo / encounter.rated if encounter.rated else None
            result = encounter.points / encounter.decided
            matches.append(
                _Match(player, opponent, event, result, encounter.decided, ahead)
            )
    return sorted(
        matches, key=lambda match: (match.player, match.opponent, match.event or 0)
    )


def _gather_by_match(
    data: StudyData,
    matches: list[_Match],
    make: Callable[[GainKind], Moves],
    *,
    with_rest: bool = False,
) -> dict[tuple[Any, ...], Moves]:
    """Gather the moves of each match by its keys; ``with_rest``, also each player's
    moves in all other games.
    """
    keys = {*itertools.chain.from_iterable(match.keys for match in matches)}
    names = "player", "opponent", "event"
    return gather_moves(data, make, *names, only=keys, with_rest=with_rest)


_MATCH = ("player", "opponent", "event", "games")


def _name_match(data: StudyData, match: _Match) -> tuple[str, str, str]:
    return (
        data.players[match.player],
        data.players[match.opponent],
        data.events.get(match.event, ""),
    )


@define_table(
    "alliot-5",
    "Matches predicted from the players' other games, beside their results",
    "Alliot 2017, Table 5",
    *_MATCH,
    ("result", 3),
    ("by elo", 3),
    ("moves", None, "counted moves of the one with fewer"),
    *((by, 3) for by in PAIRINGS),
    notes=("Matches of at least four games. Alliot's predictors erred by 3.6 to 6 %.",),
)
def prediction_table(data: StudyData) -> Rows:
    """Build Alliot's Table 5: matches of two players, predicted from their other games,
    beside the results.
    """
    matches = _find_matches(data)
    moves_of = _gather_by_match(data, matches, PairedMoves, with_rest=True)
    for match in matches:
        # All moves of the two players in other games: the match itself must not predict
        # its own result.
        pair = {
            player: PairedMoves(data.selection.gain)
            for player in (match.player, match.opponent)
        }
        for key, moves in moves_of.items():
            if key[0] in pair and key not in match.keys:
                pair[key[0]].merge(moves)
        a, b = pair.values()
        if a.counted and b.counted:
            yield (
                *_name_match(data, match),
                match.games,
                match.result,
                None if match.elo is None else convert_difference_to_score(match.elo),
                min(a.counted, b.counted),
                *(
                    predict_both_colors(predict, a, b).expected_score
                    for predict in PREDICTORS.values()
                ),
            )


def _read_match_conformance(
    data: StudyData,
) -> Iterator[tuple[_Match, AccumulatedConformance, AccumulatedConformance]]:
    """Yield each match with the conformance of ``player`` and of ``opponent`` in its
    games. In the yielded match, ``player`` is the winner.
    """
    matches = _find_matches(data)
    moves_of = _gather_by_match(data, matches, ConformingMoves)
    for match in matches:
        a, b = map(moves_of.get, match.keys)
        if a is None or b is None or not (a.ponderated.n and b.ponderated.n):
            continue
        if match.result < 0.5:
            a, b = b, a
            match = match._replace(
                player=match.opponent, opponent=match.player, result=1 - match.result
            )
        yield match, a.ponderated, b.ponderated


@define_table(
    "alliot-matches",
    "Results of matches beside what the conformance in their own games expects",
    "Alliot 2017, section 4.2.2, Figure 7 (left)",
    *_MATCH,
    ("result", 3, "of the player, points a game"),
    ("by p(0.3)", 3, "expected from ponderated conformance within 30 cp"),
    ("by p(0)", 3, "from perfect moves"),
)
def expected_results_table(data: StudyData) -> Rows:
    """Build the table of Alliot's Figure 7, left: results of matches beside the results
    expected from the conformance in the same games.
    """
    indicator = functools.partial(
        compute_share_difference, kind=PONDERATED, steps_cp=_X_CP
    )
    fits = fit_lines(data, [indicator], len(_X_CP))
    betas = {x_cp: fit.beta for x_cp, fit in zip(_X_CP, fits, strict=True)}
    for match, a, b in _read_match_conformance(data):
        expected: list[Cell] = []
        for x_cp, beta in betas.items():
            p, q = (
                conformance.count_within(x_cp) / conformance.n for conformance in (a, b)
            )
            # Both players have White about equally often, so White's advantage (alpha)
            # cancels out.
            expected.append(None if beta is None else 0.5 + beta * (p - q) / 2)
        yield *_name_match(data, match), match.games, match.result, *reversed(expected)
    known_betas = ", ".join(
        f"{beta:.2f} at {x_cp} cp" for x_cp, beta in betas.items() if beta is not None
    )
    yield (
        f"beta of single games of this corpus: {known_betas or 'unknown'}. Matches"
        " of at least four games."
    )


@define_table(
    "alliot-match-conformance",
    "Ponderated conformance of both players of a match",
    "Alliot 2017, section 4.2.2, Figures 7 (right) and 8",
    ("player", None, "the winner, where there is one"),
    *_MATCH[1:3],
    ("result", 3, "of the player, points a game"),
    "x_cp",
    ("p(x)", 3, "of the player"),
    ("low", 3, "95 % interval of it"),
    ("high", 3),
    ("opponent's p(x)", 3),
    ("opponent's low", 3),
    ("opponent's high", 3),
    ("difference", 3),
    notes=("Matches of at least four games.",),
)
def match_conformance_table(data: StudyData) -> Rows:
    """Build the table of Alliot's Figures 7 (right) and 8: p(x) of winner and loser of
    each match.
    """
    for match, own, opponents in _read_match_conformance(data):
        for x_cp in STEPS_CP:
            share = own.compute_share_at(x_cp)
            opponents_share = opponents.compute_share_at(x_cp)
            yield (
                *_name_match(data, match),
                match.result,
                x_cp,
                share,
                *own.compute_interval_at(x_cp),
                opponents_share,
                *opponents.compute_interval_at(x_cp),
                (share or 0) - (opponents_share or 0),
            )


TABLES = (
    games_table,
    conformance_table,
    career_table,
    markov_table,
    markov_ten_table,
    stationary_table,
    classes_table,
    royale_table,
    best_year_table,
    prediction_table,
    expected_results_table,
    match_conformance_table,
)
