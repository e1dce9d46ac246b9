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

from live.engine.search import Limit, Search, SearchResult
from live.events import ChoiceEvidence, GameDetail, HeadToHead, Player, PointMessage, Score
from live.games.game import HeadersChanged, MovesPlayed, NewGame
from live.human.question import HumanAnswer, HumanQuestion
from live.ledger.event_ledger import EventLedger
from live.ledger.game_evaluations import EvaluatedPosition, GameEvaluations, KnownGame
from live.ledger.measure import HumanSearches, Measure
from live.ledger.outgoing_messages import Effects, HumanRequest, SearchRequest
from live.ledger.rate_game import GameFigures, GameRater, head_to_head, rate
from live.ratings.gain import GainHistogram, expected_score_exact
from live.ratings.agreement import load_choice_model
from live.store.journal_reader import encode
from tests.ledger.arithmetic import ANAND, CARLSEN, answer, game, line
from tests.ledger.test_event_ledger import BOTH_PACES, FIGURES, Run, ledger

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
        self.held: EventLedger = ledger(measure=measure)
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
                self.take(self.held.searched(one.id, self._engine(one.search)))
            else:
                told = None if one.ply == unanswered else people(one.question, self._network)
                self.take(self.held.answered(one, told))
        detail = self.held.game("g1")
        assert detail is not None
        return detail

    def begin(self, white: Player = ANAND) -> Played:
        self.take(self.held.apply(NewGame(game(moves=MOVES, white=white, black=CARLSEN))))
        return self


def _dropped(each: SearchRequest | HumanRequest, out: Effects) -> bool:
    return isinstance(each, SearchRequest) and each.id in out.dropped


def screened(played: Played) -> list[ChoiceEvidence | None]:
    return [player.agreement for player in played.held.players()]


def test_whatever_order_answers_come_in_the_figures_are_the_same() -> None:
    wanted_by = Played(WITH).begin()
    wanted = wanted_by.run()
    for seed in range(4):
        found_by = Played(WITH, random.Random(seed)).begin()
        found = found_by.run()
        assert found.curves == wanted.curves
        assert found.methods == wanted.methods
        assert screened(found_by) == screened(wanted_by)


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
    played.take(played.held.apply(HeadersChanged("g1", headers)))
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
            if known.needs_played(ply):
                known.set_played(ply, answer(known.search("played", ply)).score)
        elos = draw(st.sampled_from([(2811, 2826), (2811, None), (None, None), (2400, 2826)]))
        held = game(
            moves=MOVES[:plies],
            white=Player("Anand", elo=elos[0]),
            black=Player("Carlsen", elo=elos[1]),
        )
        control, result = (
            draw(st.sampled_from(["", "180+2", "15+10"])),
            draw(st.sampled_from(["*", "1-0"])),
        )
        headers = msgspec.structs.replace(held.headers, time_control=control)
        held = msgspec.structs.replace(held, headers=headers, result=result)
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
        assert bytes_of(found) == bytes_of(rate(held, known, (), field, BOTH_PACES))


def test_one_more_move_leaves_the_points_before_the_very_same() -> None:
    run = Run(ledger(measure=FIGURES))
    run.step(NewGame(game()))
    for ply, move in enumerate(MOVES, 1):
        before = len(run.changes)
        run.step(MovesPlayed("g1", ply, (move,)))
        run.reply_all()
        points = [each for each in run.changes[before:] if isinstance(each, PointMessage)]
        assert [each.point.ply for each in points] == [ply]


def test_the_mating_move_is_part_of_the_average() -> None:
    """1.f3 e5 2.g4 Qh4# with the source's own evaluations."""
    found = of_evals(-50, -40, -900, None).methods
    assert found.black.centipawn_loss == pytest.approx(5.0)  # 10 and 0
    assert found.black.accuracy is not None and 90 < found.black.accuracy <= 100


def test_a_standard_start_without_an_evaluation_counts_as_lichess_has_it() -> None:
    assert of_evals(15, 15).methods.white.centipawn_loss == 0.0
    assert of_evals(15, 15, start=95).methods.white.centipawn_loss == 80.0


def of_evals(*scores: int | None, start: int | None = None) -> GameFigures:
    known = GameEvaluations(chess.STARTING_FEN, chess960=False)
    known.take_source_eval(0, None if start is None else Score(start))
    for ply, (uci, cp) in enumerate(zip(("f2f3", "e7e5", "g2g4", "d8h4"), scores, strict=False), 1):
        known.extend(uci)
        known.take_source_eval(ply, None if cp is None else Score(cp))
    return rate(game(), known.known(), (), None, Measure("successive"))


def test_head_to_head_is_the_whole_cross_correlation() -> None:
    white, black = [0, -5, -40, 0, -12], [0, 0, -40, -7]
    found = head_to_head(white, black)
    exact = expected_score_exact(GainHistogram(white), GainHistogram(black))
    assert found.expected_score == pytest.approx(exact, abs=1e-6)
    assert head_to_head(white, []) == HeadToHead()
