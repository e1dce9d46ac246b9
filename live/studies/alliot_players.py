"""Alliot's tables of players (2017): conformance, careers by year, Markov chains,
battle royale; and of matches: Table 5, and Figures 7 and 8.

A match is all games of two players at one event, four and more.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from polars import DataFrame, Int64, col

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
from live.ratings.predictions import BattleRoyale, Prediction
from live.studies.alliot_games import STEPS_CP, compute_share_difference, sum_lines
from live.studies.move_files import build_schema
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
    register_table,
)

#: How pairings are predicted.
PREDICTORS: dict[str, Callable[[PairedMoves, PairedMoves], Prediction]] = {
    # The paper's first experiment: no convolution, raw gains (its n0 = 0).
    "step": lambda one, other: predict_by_covariance(
        one.shortfalls, other.shortfalls, STEP
    ),
    "tanh": lambda one, other: predict_by_covariance(
        one.tanh, other.tanh, TANH, TANH_FIT
    ),
    # Its n0 = 32, b = 2.4.
    "convolution": lambda one, other: predict_by_convolution(
        one.shortfalls, other.shortfalls, CONVOLUTION_32
    ),
    "markov": lambda one, other: predict_by_markov(
        one.transitions.build_chain("white"), other.transitions.build_chain("black")
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


@register_table(
    "alliot-1",
    "Games of each player",
    "Alliot 2017, Table 1",
    "player",
    "white",
    "black",
    "total",
    engine="",
)
def build_games_table(data: StudyData) -> Rows:
    """Table 1: games by player and colour."""
    for player, name in data.players.items():
        counts = [
            data.database.count_rows("games", f"{color} = {player} AND {data.where}")
            for color in _COLORS
        ]
        yield name, *counts, sum(counts)


@register_table(
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
def build_conformance_table(data: StudyData) -> Rows:
    """p(x) of each player, for the three kinds of conformance, at 0 and at the kind's
    own x.
    """
    for player, moves in gather_by_player(data, ConformingMoves).items():
        row: Row = (data.players[player], moves.elo, moves.kinds[0].n)
        for held in moves.kinds:
            row += (
                held.compute_share_at(0),
                held.share,
                *held.compute_interval_at(held.kind.x_cp),
            )
        yield row


@register_table(
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
        "One engine judges all years: opponents, openings and clocks differ between"
        " them, and",
        "so does what these figures mean (Alliot 2017, section 5; Ferreira 2012,"
        " section 8).",
    ),
)
def build_career_table(data: StudyData) -> Rows:
    """A player's figures by year: Figures 16 and 17, and Algorithm 4."""
    found = gather_by_year(data, ConformingMoves)
    for player, name in data.players.items():
        past: list[AccumulatedConformance] = []
        for year in sorted(year for who, year in found if who == player):
            moves = found[player, year]
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


@register_table("alliot-markov", *_CHAINS, *_build_chain_columns(NINETEEN))
def build_markov_table(data: StudyData, classes: EvaluationClasses = NINETEEN) -> Rows:
    """Transition matrices with each colour, from its own moves alone (Tables 2 and
    3).
    """
    held = gather_moves(data, lambda gain: PairedMoves(gain, classes), "player")
    for player, name in data.players.items():
        if (player,) in held:
            for color in _COLORS:
                chain = held[player,].transitions.build_chain(color, own_color=True)
                lines = zip(
                    _label_class_edges(classes),
                    chain.support.tolist(),
                    chain.matrix,
                    strict=True,
                )
                for edge, support, line in lines:
                    yield name, color, edge, float(support), *line.tolist()


@register_table("alliot-markov-10", *_CHAINS, *_build_chain_columns(TEN))
def build_markov_ten_table(data: StudyData) -> Rows:
    """The same in ten classes of 0.4 pawn."""
    return build_markov_table(data, TEN)


@register_table(
    "alliot-stationary",
    "Stationary vectors of pairs",
    "Alliot 2017, section 4.4.1",
    "white",
    "black",
    *((edge or "lowest", 3) for edge in _label_class_edges(NINETEEN)),
    notes=(f"The paper asks for {ENOUGH_MOVES} moves of a player.",),
)
def build_stationary_table(data: StudyData) -> Rows:
    """Where the chain of each two players ends up (section 4.4.1)."""
    held = gather_by_player(data, PairedMoves)
    for one, other in itertools.permutations(held, 2):
        white = held[one].transitions.build_chain("white")
        black = held[other].transitions.build_chain("black")
        if white.support.any() and black.support.any():
            vector = solve_chain(white.matrix, black.matrix, NINETEEN.level)
            yield data.players[one], data.players[other], *map(float, vector)


@register_table(
    "alliot-classes",
    "Positions in the nineteen classes of evaluation",
    "Alliot 2017, section 4.4.1, Figure 15",
    "player",
    ("class", None, "from lost to won, mover's side"),
    ("from_cp", None, "least evaluation of the class; none for the lowest"),
    "positions",
    ("a year", 1, "over the years with a dated game"),
)
def build_classes_table(data: StudyData) -> Rows:
    """Figure 15: positions in each class of the chains, in a year on average."""
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


@register_table("alliot-royale", "Battle royale", _ROYALE, by=PAIRINGS)
def build_royale_table(data: StudyData, by: str) -> Rows:
    """All against all: the matrix of Tables 7 to 9, best player first."""
    held = gather_by_player(data, PairedMoves)
    return _build_matrix_rows(
        {data.players[player]: moves for player, moves in held.items()},
        by,
        "Battle royale",
    )


@register_table(
    "alliot-best-year", "Battle royale of the best years", _ROYALE, by=PAIRINGS
)
def build_best_year_table(data: StudyData, by: str) -> Rows:
    """Each player's year with the most victories over all others' years, and their
    matrix.
    """
    least = max(ENOUGH_MOVES, data.selection.min_moves)
    found = gather_by_year(data, PairedMoves)
    years = {key: found[key] for key in sorted(found) if found[key].counted >= least}
    names = {key: f"{data.players[key[0]]} {key[1]}" for key in years}
    entrants = {names[key]: moves for key, moves in years.items()}
    won = {
        place.player: place.victories
        for place in _play_royale(entrants, by).rank_players()
    }
    best = {
        player: max(keys, key=lambda key: won[names[key]])
        for player, keys in itertools.groupby(years, lambda key: key[0])
    }
    chosen = {
        names[best[player]]: years[best[player]]
        for player in data.players
        if player in best
    }
    yield from _build_matrix_rows(chosen, by, "Battle royale of the best years")
    yield f"Years with fewer than {least} counted moves are left out."


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
            if other is place
            else royale.pairings[place.player, other.player].expected_score
            for other in places
        )
        mean = place.expected_score, place.low, place.high
        moves = entrants[place.player].counted
        yield place.rank, place.player, moves, *mean, place.victories, *against


def _play_royale(held: dict[str, PairedMoves], by: str) -> BattleRoyale:
    """Play every two entrants against each other by White's expected score."""
    predict = PREDICTORS[by]
    return BattleRoyale(lambda white, black: predict(held[white], held[black]), held)


_LEAST_GAMES = 4
#: x of p(x) where matches are compared: perfect moves, and the best of Figure 4.
_X_CP = (0, 30)


class _Match(NamedTuple):
    """One player against another at one event; the winner first where there is one."""

    one: int
    other: int
    event: int | None
    result: float
    """Of the first, points a game."""
    games: int
    elo: float | None
    """By which the first is ahead, mean over games with both ratings."""


def _find_matches(data: StudyData) -> list[_Match]:
    """Find the matches between the selected players, in the order of their numbers."""
    met = data.count_encounters(searched=True)
    matches = []
    for (one, other, event), found in met.items():
        if other in data.players and one < other and found.decided >= _LEAST_GAMES:
            ahead = found.elo / found.rated if found.rated else None
            result = found.points / found.decided
            matches.append(_Match(one, other, event, result, found.decided, ahead))
    return sorted(matches, key=lambda match: (match.one, match.other, match.event or 0))


def _gather_by_match(
    data: StudyData, matches: list[_Match], make: Callable[[GainKind], Moves]
) -> dict[tuple[int, int | None], Moves]:
    """Gather each player's moves by match, under the place of the match in this list;
    None: moves of other games.
    """
    places = []
    for at, match in enumerate(matches):
        where = {"event": match.event, "match": at}
        places.append({"player": match.one, "opponent": match.other, **where})
        places.append({"player": match.other, "opponent": match.one, **where})
    types = {name: build_schema()[name] for name in ("player", "opponent", "event")}
    frame = DataFrame(places, schema=types | {"match": Int64})
    return gather_moves(data, make, "player", "match", places=frame)


_MATCH = ("player", "opponent", "event", "games")


def _name_match(data: StudyData, match: _Match) -> tuple[str, str, str]:
    return (
        data.players[match.one],
        data.players[match.other],
        data.events.get(match.event, ""),
    )


@register_table(
    "alliot-5",
    "Matches predicted from the players' other games, beside their results",
    "Alliot 2017, Table 5",
    *_MATCH,
    ("result", 3),
    ("by elo", 3),
    ("moves", None, "counted moves of the one with fewer"),
    *((by, 3) for by in PAIRINGS),
    notes=(
        "Matches of four games and more. Alliot's predictors were out by 3.6 to 6 %.",
    ),
)
def build_prediction_table(data: StudyData) -> Rows:
    """Table 5: matches of two players, predicted from their other games, beside the
    results.
    """
    matches = _find_matches(data)
    held = _gather_by_match(data, matches, PairedMoves)
    for at, match in enumerate(matches):
        # All that both moved elsewhere: its own games are no prediction.
        pair = {
            player: PairedMoves(data.selection.gain)
            for player in (match.one, match.other)
        }
        for (player, where), moves in held.items():
            if player in pair and where != at:
                pair[player].merge(moves)
        a, b = pair.values()
        if a.counted and b.counted:
            predicted: list[Cell] = []
            for predict in PREDICTORS.values():
                white = predict(a, b).expected_score
                black = predict(b, a).expected_score
                predicted.append(
                    None if white is None or black is None else (white + 1 - black) / 2
                )
            yield (
                *_name_match(data, match),
                match.games,
                match.result,
                None if match.elo is None else convert_difference_to_score(match.elo),
                min(a.counted, b.counted),
                *predicted,
            )


def _read_match_conformance(
    data: StudyData,
) -> Iterator[tuple[_Match, AccumulatedConformance, AccumulatedConformance]]:
    """Yield every match with both players' conformance in it, the winner first."""
    matches = _find_matches(data)
    held = _gather_by_match(data, matches, ConformingMoves)
    for at, match in enumerate(matches):
        a = held.get((match.one, at))
        b = held.get((match.other, at))
        if a is None or b is None or not (a.ponderated.n and b.ponderated.n):
            continue
        if match.result < 0.5:
            a, b = b, a
            match = match._replace(
                one=match.other, other=match.one, result=1 - match.result
            )
        yield match, a.ponderated, b.ponderated


@register_table(
    "alliot-matches",
    "Results of matches beside what the conformance in their own games expects",
    "Alliot 2017, section 4.2.2, Figure 7 (left)",
    *_MATCH,
    ("result", 3, "of the player, points a game"),
    ("by p(0.3)", 3, "expected from ponderated conformance within 30 cp"),
    ("by p(0)", 3, "from perfect moves"),
)
def build_score_table(data: StudyData) -> Rows:
    """Figure 7, left: results of matches beside what the conformance in the same games
    expects.
    """
    indicator = functools.partial(
        compute_share_difference, kind=PONDERATED, steps_cp=_X_CP
    )
    [lines] = sum_lines(data, [indicator], len(_X_CP))
    betas = {x_cp: lines.fit(index).beta for index, x_cp in enumerate(_X_CP)}
    for match, a, b in _read_match_conformance(data):
        expected: list[Cell] = []
        for x_cp, beta in betas.items():
            p, q = (each.count_within(x_cp) / each.n for each in (a, b))
            # Both have White as often: what White is ahead by (alpha) falls out.
            expected.append(None if beta is None else 0.5 + beta * (p - q) / 2)
        yield *_name_match(data, match), match.games, match.result, *reversed(expected)
    known = ", ".join(
        f"{beta:.2f} at {x_cp} cp" for x_cp, beta in betas.items() if beta is not None
    )
    yield (
        f"beta of single games of this corpus: {known or 'unknown'}. Four games and"
        " more."
    )


@register_table(
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
    notes=("Matches of four games and more.",),
)
def build_match_conformance_table(data: StudyData) -> Rows:
    """Figures 7 (right) and 8: p(x) of winner and loser of each match."""
    for match, *ends in _read_match_conformance(data):
        for x_cp in STEPS_CP:
            shares = [
                (each.compute_share_at(x_cp), *each.compute_interval_at(x_cp))
                for each in ends
            ]
            ahead = (shares[0][0] or 0) - (shares[1][0] or 0)
            yield (
                *_name_match(data, match),
                match.result,
                x_cp,
                *shares[0],
                *shares[1],
                ahead,
            )
