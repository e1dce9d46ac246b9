"""One way to rate a game: whatever order news come in, and what the choices of moves say."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import chess
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.engine.search import Limit, Line, Search, SearchOptions, SearchResult
from live.events import ChoiceEvidence, GameDetail, HeadToHead, Player, PointMessage, Score, Share
from live.games.game import HeadersChanged, MovesPlayed, NewGame
from live.human.question import HumanAnswer, HumanQuestion
from live.ledger.game_evaluations import (
    EvaluatedPosition,
    GameEvaluations,
    HumanRequest,
    KnownGame,
    SearchRequest,
)
from live.ledger.rate_game import (
    FIRST_CHOICE_PLY,
    NO_CHOICE,
    NO_TURN,
    UNRATED,
    GameFigures,
    GameRater,
    HumanSearches,
    Measure,
    MoveCounts,
    MoveQuality,
    SideFigures,
    head_to_head,
    judged,
    move_figures,
)
from live.ratings.accuracy import MeanOfMoves
from live.ratings.agreement import load_choice_model
from live.ratings.alliot import GUID_BRATKO, PONDERATED, RAW, AccumulatedConformance
from live.ratings.ferreira import GainHistogram, expected_score_between
from live.ratings.intrinsic_rating import TABLES, spread_of
from live.ratings.perceived_model import MoveReader, Turn
from live.ratings.perceived_rating import ComparedMove, Elos
from live.store.journal_reader import encode
from tests.ledger.arithmetic import ANAND, CARLSEN, Effects, Held, answer, game, line
from tests.ledger.test_event_state import BOTH_PACES, FIGURES, begun, ledger

PLIES = 24
MOVES = line(*range(3, 3 + PLIES))
WITHOUT = FIGURES
FORECAST = load_choice_model("classical")
assert FORECAST.human is not None
WITH = WITHOUT._replace(
    human=HumanSearches(12, Limit(nodes=250)),
    forecast=msgspec.structs.replace(
        FORECAST, human=msgspec.structs.replace(FORECAST.human, network="network")
    ),
)


def people(question: HumanQuestion, network: str = "network") -> HumanAnswer:
    """Some of the moves, drawn from the position; the played one among them."""
    board = chess.Board(question.fen)
    for uci in question.moves:
        board.push_uci(uci)
    legal = sorted(move.uci() for move in board.legal_moves)
    draw = random.Random(board.fen())
    shares = []
    for _ in question.elos:
        weights = {uci: draw.randint(1, 9) for uci in legal}
        shares.append({uci: 1000 * w // sum(weights.values()) for uci, w in weights.items()})
    return HumanAnswer(network, tuple(shares))


class Played:
    """A ledger whose searches and questions are answered in any order."""

    def __init__(
        self,
        measure: Measure,
        order: random.Random | None = None,
        engine: Callable[[Search], SearchResult] = answer,
    ) -> None:
        self.held: Held = ledger(measure=measure)
        self._engine = engine
        self._order = order
        self._network = "network"
        self._open: list[SearchRequest | HumanRequest] = []

    def network(self, name: str) -> Played:
        self._network = name
        return self

    def take(self, out: Effects) -> None:
        self._open = [each for each in self._open if not _dropped(each, out)]
        self._open += [*out.requests, *out.questions]

    def run(self, unanswered: int | None = None) -> GameDetail:
        """Everything is answered, but for the question about one position."""
        while self._open:
            at = self._order.randrange(len(self._open)) if self._order else 0
            one = self._open.pop(at)
            if isinstance(one, SearchRequest):
                self.take(self.held.found(one.id, self._engine(one.search)))
            else:
                told = None if one.ply == unanswered else people(one.question, self._network)
                self.take(self.held.people_say(one, told))
        detail = self.held.game("g1")
        assert detail is not None
        return detail

    def begin(self, white: Player = ANAND) -> Played:
        self.take(self.held.told(NewGame(game(moves=MOVES, white=white, black=CARLSEN))))
        return self


def _dropped(each: SearchRequest | HumanRequest, out: Effects) -> bool:
    return isinstance(each, SearchRequest) and each.id in out.dropped


def screened(played: Played) -> list[ChoiceEvidence | None]:
    return [player.agreement for player in played.held.players()]


def test_a_choice_that_many_find_was_to_be_expected() -> None:
    with_people, without = Played(WITH).begin(), Played(WITH).network("another").begin()
    with_people.run()
    without.run()
    for one, other in zip(screened(with_people), screened(without), strict=True):
        assert one is not None
        assert other is not None
        assert (one.moves, one.matches) == (other.moves, other.matches)
        assert one.expected != other.expected


def test_what_people_would_play_enters_no_rating() -> None:
    assert Played(WITH).begin().run().curves == Played(WITHOUT).begin().run().curves


def test_a_new_rating_has_people_asked_anew_and_ends_in_the_same_figures() -> None:
    corrected = msgspec.structs.replace(ANAND, elo=2300)
    played = Played(WITH).begin()
    played.run()
    headers = game(moves=MOVES, white=corrected, black=CARLSEN).headers
    played.take(played.held.told(HeadersChanged("g1", headers)))
    calm = Played(WITH).begin(corrected)
    assert played.run() == calm.run()
    assert screened(played) == screened(calm)


# --- the call itself -----------------------------------------------------------------------------


def bytes_of(figures: GameFigures) -> bytes:
    return encode(figures)


@st.composite
def knowledge(draw: st.DrawFn) -> list[tuple[Any, KnownGame, float | None]]:
    """States of one game that follow each other, in any way."""
    states = []
    for _ in range(draw(st.integers(2, 6))):
        plies = draw(st.integers(0, PLIES))
        known = GameEvaluations(chess.STARTING_FEN, chess960=False)
        for move in MOVES[:plies]:
            known.extend(move.uci)
        unknown = draw(st.sets(st.integers(0, PLIES), max_size=5))
        for index in range(plies + 1):
            if index in unknown or known.position(index) is not None:
                continue
            found = answer(known.search("position", index))
            known.set_position(index, EvaluatedPosition.of(found))
        for ply in range(1, plies + 1):
            if "played" in known.needs(ply):
                known.set_played(ply, answer(known.search("played", ply)).score)
        elos = draw(st.sampled_from([(2811, 2826), (2811, None), (None, None), (2400, 2826)]))
        held = game(
            moves=MOVES[:plies],
            white=Player("Anand", elo=elos[0]),
            black=Player("Carlsen", elo=elos[1]),
            time_control=draw(st.sampled_from(["", "180+2", "15+10"])),
        )
        held = msgspec.structs.replace(held, result=draw(st.sampled_from(["*", "1-0"])))
        states.append((held, known.known(), draw(st.sampled_from([None, 2200.0]))))
    return states


@given(knowledge())
@settings(max_examples=25, deadline=None)
def test_law_what_was_rated_before_leaves_no_trace(
    states: list[tuple[Any, KnownGame, float | None]],
) -> None:
    rater = GameRater()
    for held, known, field in states:
        found = rater.rate(held, known, (), field, BOTH_PACES)
        assert bytes_of(found) == bytes_of(GameRater().rate(held, known, (), field, BOTH_PACES))


def test_one_more_move_leaves_the_points_before_the_very_same() -> None:
    run = begun(game(), measure=FIGURES)
    for ply, move in enumerate(MOVES, 1):
        before = len(run.changes)
        run.step(MovesPlayed("g1", ply, (move,)))
        run.reply_all()
        points = [each for each in run.changes[before:] if isinstance(each, PointMessage)]
        assert [each.point.ply for each in points] == [ply]


def test_a_standard_start_without_an_evaluation_counts_as_lichess_has_it() -> None:
    assert of_evals(15, 15).methods.white.centipawn_loss == 0.0
    assert of_evals(15, 15, start=95).methods.white.centipawn_loss == 80.0


def of_evals(*scores: int | None, start: int | None = None) -> GameFigures:
    known = GameEvaluations(chess.STARTING_FEN, chess960=False)
    known.take_source_eval(0, None if start is None else Score(start))
    for ply, (uci, cp) in enumerate(zip(("f2f3", "e7e5", "g2g4", "d8h4"), scores, strict=False), 1):
        known.extend(uci)
        known.take_source_eval(ply, None if cp is None else Score(cp))
    return GameRater().rate(game(), known.known(), (), None, Measure("successive"))


def test_a_lead_is_one_for_whoever_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int, int]] = []
    compare = MoveReader.compare

    def spied(reader: MoveReader, turn: Turn, elos: Elos) -> ComparedMove:
        seen.append((turn.ply, turn.score_before_cp, turn.gain_cp))
        return compare(reader, turn, elos)

    monkeypatch.setattr(MoveReader, "compare", spied)
    found = known("e2e4", "d7d5", "d2d4")
    for ply, cp in enumerate((20, 280, 330, 310)):
        found.set_position(ply, EvaluatedPosition(Score(cp), "a2a3"))
        found.set_played(ply, Score(cp))
    GameRater().rate(game(), found.known(), (None,) * 4, None, FIGURES)
    assert seen == [(1, 20, 0), (2, -280, -50), (3, 330, -20)]


def test_head_to_head_is_the_whole_cross_correlation() -> None:
    white, black = [0, -5, -40, 0, -12], [0, 0, -40, -7]
    found = head_to_head(white, black)
    exact = expected_score_between(GainHistogram(white), GainHistogram(black))
    assert found.expected_score == pytest.approx(exact, abs=1e-6)
    assert head_to_head(white, []) == HeadToHead()


# --- move quality -------------------------------------------------------------------------------

# Moves against the engine's choice: what is known of them, and what is counted.


def known(*ucis: str, start_fen: str = chess.STARTING_FEN) -> GameEvaluations:
    found = GameEvaluations(start_fen, chess960=False, search_options=SearchOptions())
    for uci in ucis:
        found.extend(uci)
    return found


def test_a_move_is_judged_as_its_scores_become_known() -> None:
    found = known("e2e4", "e7e5")
    assert judged(found.known_move(2)) == MoveQuality(2)
    found.set_position(1, EvaluatedPosition(Score(40), "c7c5"))
    assert judged(found.known_move(2)) == MoveQuality(2, best_cp=-40, first_choice=False)
    found.set_played(2, Score(55))
    assert judged(found.known_move(2)) == MoveQuality(
        2, best_cp=-40, gain_cp=-15, first_choice=False
    )


def test_the_only_legal_move_is_forced() -> None:
    # The king on h1 must take the queen on g2: everything else stays in check.
    found = known("h1g2", start_fen="k7/8/8/8/8/8/6q1/7K w - - 0 1")
    assert judged(found.known_move(1)).forced
    assert not judged(known("e2e4").known_move(1)).forced


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
def test_first_choices_count_where_there_was_a_choice(move: MoveQuality, choices: int) -> None:
    assert MoveCounts().after(move).first_choice == (choices, choices)


def test_shares_count_what_the_accumulated_conformance_counts() -> None:
    moves = [
        MoveQuality(ply, best_cp=ply * 7 - 200, gain_cp=-(ply % 5) * 20, first_choice=ply % 5 == 0)
        for ply in range(1, 80, 2)
    ]
    counts = MoveCounts()
    for move in moves:
        counts = counts.after(move)
    kinds = RAW, GUID_BRATKO, PONDERATED
    for kind, found in zip(kinds, counts, strict=False):
        whole = AccumulatedConformance(kind)
        for move in moves:
            assert move.best_cp is not None and move.gain_cp is not None
            whole.add(move.best_cp, move.gain_cp, ply=move.ply)
        assert found == (whole.n, whole.within)
    assert counts.markov == counts.conformance.n > 0


def test_a_choice_among_several_lines_is_kept_where_it_counts() -> None:
    shuffle = ("g1f3", "g8f6", "f3g1", "f6g8")
    found = GameEvaluations(
        chess.STARTING_FEN, chess960=False, search_options=SearchOptions(lines=2)
    )
    for uci in (*shuffle * 4, "e2e4", "e7e5", "a2a3"):
        found.extend(uci)

    def search(ply: int, best: str, other: str) -> None:
        sign = 1 if found.mover(ply) == "white" else -1
        lines = (Line(best, Score(sign * 40), 12), Line(other, Score(sign * 10), 12))
        found.set_position(ply - 1, EvaluatedPosition(Score(sign * 40), best, lines=lines))

    search(18, "e7e5", "c7c5")
    assert judged(found.known_move(18)).spread == spread_of([("e7e5", 40), ("c7c5", 10)], "e7e5")
    search(19, "g1f3", "a2a3")
    assert judged(found.known_move(19)).spread == spread_of([("g1f3", 40), ("a2a3", 10)], "a2a3")
    search(16, "f6g8", "e7e6")
    assert judged(found.known_move(16)).spread is None  # opening
    search(17, "e2e4", "a2a3")
    assert found.known_move(17).board.repeated
    assert judged(found.known_move(17)).spread is None
    search(18, "e7e5", "e7e5")
    assert judged(found.known_move(18)).spread is None  # one move at two ranks: another is missing


# --- method figures -----------------------------------------------------------------------------

# Figures pooled over games: null has its reason, and the order of games does not matter.


def side(seed: int, plies: int = 60) -> SideFigures:
    chance = random.Random(seed)
    counts = MoveCounts()
    for ply in range(1, plies, 2):
        gain_cp = -chance.choice((0, 0, 12, 30, 31, 200))
        counts = counts.after(MoveQuality(ply, chance.randrange(-150, 150), gain_cp, gain_cp == 0))
    percent = chance.uniform(60, 99)
    return SideFigures(
        pace="classical",
        counts=counts,
        accuracy=MeanOfMoves(percent, plies // 2),
        loss=MeanOfMoves(35.5, plies // 2),
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


def test_scores_without_a_first_choice_say_so() -> None:
    counts = MoveCounts()
    for ply in range(2, 60, 2):
        counts = counts.after(MoveQuality(ply, best_cp=10))
    made = SideFigures(pace="classical", counts=counts)
    assert (
        move_figures((made,), Measure("same-search"), None)["missing"]["conformance"] == NO_CHOICE
    )


def test_the_order_of_games_does_not_matter() -> None:
    sides = [side(seed, 20 + seed) for seed in range(12)]
    figures = move_figures(sides, Measure("same-search"), None)
    for seed in range(5):
        random.Random(seed).shuffle(sides)
        assert move_figures(sides, Measure("same-search"), None) == figures


# --- move choice screening ----------------------------------------------------------------------

# Choices among several lines, live: figures where a table fits, reasons where none does.


TABLE = TABLES.load("ten-lines")
MEASURE = Measure("same-search", search_options=SearchOptions(lines=10), table=TABLE, table_note="")
SIXTY = line(*(7 * n + 3 for n in range(60)))


def multi_pv_ledger(measure: Measure = MEASURE) -> Held:
    return Held(measure, rating=2200, source="fixed")


def test_each_side_and_each_player_has_the_figures_with_their_interval() -> None:
    held = multi_pv_ledger()
    held.follow(NewGame(game(moves=SIXTY)))
    detail = held.detail()
    for side, view in zip(
        (detail.methods.white, detail.methods.black), held.players(), strict=True
    ):
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
        assert view.methods.intrinsic == found


def test_an_unrated_player_has_no_z_and_the_reason_stands_there() -> None:
    held = multi_pv_ledger()
    held.follow(NewGame(game(moves=SIXTY, white=Player("Nobody"))))
    detail = held.detail()
    white = detail.methods.white
    assert white.intrinsic is not None
    assert (white.intrinsic.match_z, white.missing["intrinsic_z"]) == (None, UNRATED)
    rated = game(moves=SIXTY, white=Player("Nobody", elo=1500)).headers
    held.follow(HeadersChanged("g1", rated))
    detail = held.detail()
    assert detail.methods.white.intrinsic is not None
    assert detail.methods.white.intrinsic.match_z is not None


def test_what_is_missing_is_null_with_its_reason() -> None:
    off = multi_pv_ledger(Measure("same-search"))
    off.follow(NewGame(game(moves=SIXTY)))
    methods = off.players()[0].methods
    told = (methods.intrinsic, methods.missing["intrinsic"])
    assert told == (None, "Multi-PV is off ([engine] multipv)")
    held = multi_pv_ledger()
    held.follow(NewGame(game(moves=SIXTY[:10])))
    methods = held.players()[0].methods
    assert (methods.intrinsic, methods.missing["intrinsic"]) == (None, NO_TURN)
