"""What the methods beside Ferreira's and the perceived rating say: of moves, games and
players.
"""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from msgspec.structs import replace

from live.engine.search import Line, SearchOptions
from live.event.methods import (
    NO_CHOICE,
    NO_COMPARISON,
    NO_TURN,
    NOBODY_RATED,
    UNRATED,
    JudgedSide,
    MoveQuality,
    accumulate_conformance,
    count_first_choices,
    judge_game,
    judge_move,
    move_figures,
    tournament_figures,
)
from live.event.ply import (
    EvaluatedPosition,
    collect_search_results,
    describe_move,
    set_found,
    set_played,
    set_source_eval,
)
from live.event.rate_game import Measure
from live.games.game import HeadersChanged, NewGame
from live.messages.figures import PlayerMethods, Share
from live.messages.from_sources import Player, Score
from live.ratings.accuracy import MeanOfMoves, SideAccuracy
from live.ratings.algorithm_2 import Algorithm2
from live.ratings.choice_model import FIRST_CHOICE_PLY, build_spread
from live.ratings.conformance import FIRST_COUNTED_PLY
from live.ratings.intrinsic_rating import TABLES
from tests.event.arithmetic import Held, game, line
from tests.event.test_rate_game import build_plies

# --- move quality ---------------------------------------------------------------------

# Moves against the engine's choice: what is known of them, and what is counted.


def test_a_move_is_judged_as_its_scores_become_known() -> None:
    plies = build_plies("e2e4", "e7e5")
    assert judge_move(describe_move(*plies[1:])) == MoveQuality(2)
    set_found(plies, 1, EvaluatedPosition(Score(40), "c7c5"))
    assert judge_move(describe_move(*plies[1:])) == MoveQuality(
        2, best_cp=-40, first_choice=False
    )
    set_played(plies[2], Score(55))
    assert judge_move(describe_move(*plies[1:])) == MoveQuality(
        2, best_cp=-40, gain_cp=-15, first_choice=False
    )


def test_the_only_legal_move_is_forced() -> None:
    # The king on h1 must take the queen on g2: everything else stays in check.
    plies = build_plies("h1g2", start_fen="k7/8/8/8/8/8/6q1/7K w - - 0 1")
    assert judge_move(describe_move(*plies)).forced
    assert not judge_move(describe_move(*build_plies("e2e4"))).forced


@pytest.mark.parametrize(
    ("move", "choices"),
    [
        (MoveQuality(FIRST_CHOICE_PLY, 20, 0, True), 1),
        (MoveQuality(FIRST_CHOICE_PLY - 2, 20, 0, True), 0),
        (MoveQuality(FIRST_CHOICE_PLY, 301, 0, True), 0),
        (MoveQuality(FIRST_CHOICE_PLY, 20, 0, True, forced=True), 0),
        (MoveQuality(FIRST_CHOICE_PLY, 20, None, None), 0),
    ],
)
def test_first_choices_count_where_there_was_a_choice(
    move: MoveQuality, choices: int
) -> None:
    assert count_first_choices(JudgedSide("white", (move,))) == (choices, choices)


@pytest.mark.parametrize(
    ("move", "counted"),
    [
        (MoveQuality(FIRST_COUNTED_PLY, 20, -30), (1, 1)),
        (MoveQuality(FIRST_COUNTED_PLY, 20, -31), (1, 0)),
        (MoveQuality(FIRST_COUNTED_PLY - 2, 20, 0), (0, 0)),
        (MoveQuality(FIRST_COUNTED_PLY, 20, 0, forced=True), (0, 0)),
        (MoveQuality(FIRST_COUNTED_PLY, 20), (0, 0)),
    ],
)
def test_moves_conform_where_there_was_a_choice(
    move: MoveQuality, counted: tuple[int, int]
) -> None:
    found = accumulate_conformance([JudgedSide("white", (move,))])
    assert (found.n, found.within_count) == counted


def test_a_game_that_one_side_never_began_has_no_figures() -> None:
    held = Held(Measure("same-search"))
    held.follow(NewGame(replace(game(moves=SIXTY[:1]), result="1-0")))
    (found,) = held.rate_by_methods().games.values()
    assert found.white.accuracy is None
    assert found.white.conformance.moves == 0


def test_a_choice_among_several_lines_is_kept_where_it_counts() -> None:
    shuffle = ("g1f3", "g8f6", "f3g1", "f6g8")
    plies = build_plies(*shuffle * 4, "e2e4", "e7e5", "a2a3")

    def search(ply: int, best: str, other: str) -> None:
        sign = 1 if plies[ply - 1].to_move == "white" else -1
        lines = (Line(best, Score(sign * 40), 12), Line(other, Score(sign * 10), 12))
        set_found(
            plies, ply - 1, EvaluatedPosition(Score(sign * 40), best, lines=lines)
        )

    search(18, "e7e5", "c7c5")
    assert judge_move(describe_move(*plies[17:19])).spread == build_spread(
        [("e7e5", 40), ("c7c5", 10)], "e7e5"
    )
    search(19, "g1f3", "a2a3")
    assert judge_move(describe_move(*plies[18:20])).spread == build_spread(
        [("g1f3", 40), ("a2a3", 10)], "a2a3"
    )
    search(16, "f6g8", "e7e6")
    assert judge_move(describe_move(*plies[15:17])).spread is None  # opening
    search(17, "e2e4", "a2a3")
    assert describe_move(*plies[16:18]).board.repeated
    assert judge_move(describe_move(*plies[16:18])).spread is None
    search(18, "e7e5", "e7e5")
    assert (
        judge_move(describe_move(*plies[17:19])).spread is None
    )  # one move at two ranks: another is missing


# --- method figures -------------------------------------------------------------------

# Figures pooled over games: null has its reason, and the order of games does not
# matter.


def side(seed: int, plies: int = 60) -> JudgedSide:
    chance = random.Random(seed)
    moves = []
    for ply in range(1, plies, 2):
        gain_cp = -chance.choice((0, 0, 12, 30, 31, 200))
        moves.append(
            MoveQuality(ply, chance.randrange(-150, 150), gain_cp, gain_cp == 0)
        )
    percent = chance.uniform(60, 99)
    return JudgedSide(
        "white",
        tuple(moves),
        lost=SideAccuracy(
            MeanOfMoves(percent, plies // 2), MeanOfMoves(35.5, plies // 2)
        ),
    )


def test_every_null_has_a_reason_and_nothing_else_has() -> None:
    for sides in ((side(1),), (side(1, 12),), (side(1), side(2, 6))):
        figures = move_figures(sides, Measure("same-search"), None)
        missing = figures.pop("missing")
        null = {
            name
            for name, value in figures.items()
            if value is None or (isinstance(value, Share) and value.share is None)
        }
        assert null == set(missing)


def test_a_share_without_a_move_says_from_which_move_on_it_counts() -> None:
    missing = move_figures((side(1, 12),), Measure("same-search"), None)["missing"]
    assert missing["first_choice"] == "no counted move yet (from move 9 on)"
    assert missing["conformance"] == "no counted move yet (from move 10 on)"


def test_scores_without_a_first_choice_say_so() -> None:
    made = JudgedSide(
        "black", tuple(MoveQuality(ply, best_cp=10) for ply in range(2, 60, 2))
    )
    missing = move_figures((made,), Measure("same-search"), None)["missing"]
    assert missing["conformance"] == NO_CHOICE


def test_the_order_of_games_does_not_matter() -> None:
    sides = [side(seed, 20 + seed) for seed in range(12)]
    figures = move_figures(sides, Measure("same-search"), None)
    for seed in range(5):
        random.Random(seed).shuffle(sides)
        assert move_figures(sides, Measure("same-search"), None) == figures


# --- move choice screening ------------------------------------------------------------

# Choices among several lines: figures where a table fits, reasons where none does.


TABLE = TABLES.load("ten-lines")
MEASURE = Measure(
    "same-search", search_options=SearchOptions(lines=10), table=TABLE, table_note=""
)
SIXTY = line(*(7 * n + 3 for n in range(60)))


def multi_pv_ledger(measure: Measure = MEASURE) -> Held:
    return Held(measure, rating=2200, source="fixed")


def test_each_side_and_each_player_has_the_figures_with_their_interval() -> None:
    held = multi_pv_ledger()
    held.follow(NewGame(game(moves=SIXTY)))
    made = held.rate_by_methods()
    sides = made.games["g1"].white, made.games["g1"].black
    for side, whole in zip(sides, made.players.values(), strict=True):
        found = side.intrinsic
        assert found is not None
        assert found.turns > 5
        assert found.table == "ten-lines"
        assert 0 < found.move_match < 0.5  # they pick at random
        assert found.average_difference >= 0
        assert found.match_z is not None and found.difference_z is not None
        assert found.projected_match is not None
        assert "accuses nobody" in found.note
        # Players who pick at random are weaker than any in the table, or below its end.
        assert found.rating is None or found.low is None or found.low < found.rating
        assert ("intrinsic_rating" in side.missing) == (found.rating is None)
        # One game: the player's figures are those of the game.
        assert whole.intrinsic == found


def test_an_unrated_player_has_no_z_and_the_reason_stands_there() -> None:
    held = multi_pv_ledger()
    held.follow(NewGame(game(moves=SIXTY, white=Player("Nobody"))))
    white = held.rate_by_methods().games["g1"].white
    assert white.intrinsic is not None
    assert (white.intrinsic.match_z, white.missing["intrinsic_z"]) == (None, UNRATED)
    rated = game(moves=SIXTY, white=Player("Nobody", elo=1500)).headers
    held.follow(HeadersChanged("g1", rated))
    white = held.rate_by_methods().games["g1"].white
    assert white.intrinsic is not None
    assert white.intrinsic.match_z is not None


def test_what_is_missing_is_null_with_its_reason() -> None:
    off = multi_pv_ledger(Measure("same-search"))
    off.follow(NewGame(game(moves=SIXTY)))
    methods = off.rate_by_methods().players[off.players()[0].id]
    told = (methods.intrinsic, methods.missing["intrinsic"])
    assert told == (None, "Multi-PV is off ([engine] multipv)")
    held = multi_pv_ledger()
    held.follow(NewGame(game(moves=SIXTY[:10])))
    methods = held.rate_by_methods().players[held.players()[0].id]
    assert (methods.intrinsic, methods.missing["intrinsic"]) == (None, NO_TURN)


def test_a_standard_start_without_an_evaluation_counts_as_lichess_has_it() -> None:
    assert white_of_evals(15, 15).lost.centipawn_loss.value == 0.0
    assert white_of_evals(15, 15, start=95).lost.centipawn_loss.value == 80.0


def white_of_evals(*scores: int | None, start: int | None = None) -> JudgedSide:
    plies = build_plies(*("f2f3", "e7e5", "g2g4", "d8h4")[: len(scores)])
    for ply, cp in enumerate((start, *scores)):
        set_source_eval(plies, ply, None if cp is None else Score(cp))
    return judge_game(game(), collect_search_results(plies), Measure("successive"))[
        "white"
    ]


# --- Algorithm 2 ---


def list_player_methods(event: Algorithm2, *names: str) -> list[PlayerMethods]:
    strengths = event.solve_strengths()
    found = [tournament_figures(strengths.get(name)) for name in names]
    return [PlayerMethods(**figures, missing=missing) for figures, missing in found]


def test_whole_elo_of_algorithm_2_with_ends_rounded_outwards() -> None:
    chance = random.Random(4)
    event = Algorithm2("same-search")
    names = [f"p{n}" for n in range(8)]
    for n, name in enumerate(names):
        event.rate(name, 2000 + 50 * n)
        event.add_game(name, [-chance.choice((0, 0, 10, 40)) for _ in range(50)])
    for one, other in pairwise(names):
        event.record_pairing(one, other)
    strengths = event.solve_strengths()
    for name, methods in zip(names, list_player_methods(event, *names), strict=True):
        found, low, high = (
            strengths[name].rating,
            strengths[name].low,
            strengths[name].high,
        )
        assert methods.tournament_rating == pytest.approx(found, abs=0.5 + 1e-6)
        assert 0 <= (low or 0) - (methods.tournament_low or 0) + 1e-6 < 5
        assert 0 <= (methods.tournament_high or 0) - (high or 0) + 1e-6 < 5


def test_what_cannot_be_said_has_its_reason() -> None:
    event = Algorithm2("same-search")
    event.record_pairing("a", "b")
    assert list_player_methods(event, "a")[0].missing == {
        "tournament_rating": NO_COMPARISON
    }
    for name in ("a", "b"):
        event.add_game(name, [0])
    (methods,) = list_player_methods(event, "a")
    assert (methods.tournament_rating, methods.tournament_difference) == (None, 0)
    assert methods.missing == {"tournament_rating": NOBODY_RATED}
    event.rate("b", 2401)
    methods, only = list_player_methods(event, "a", "b")
    assert (methods.tournament_rating, methods.missing) == (2401, {})
    assert methods.tournament_low is not None and methods.tournament_high is not None
    assert methods.tournament_low < 2401 < methods.tournament_high
    # The other one's rating is what was told, whatever was played.
    assert (only.tournament_rating, only.tournament_low) == (2401, None)
    assert set(only.missing) == {"tournament_low", "tournament_high"}
