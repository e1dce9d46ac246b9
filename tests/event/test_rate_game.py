"""One way to rate a game: whatever order news come in, and what the choices of moves
say.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import chess
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.engine.requests import SearchRequest
from live.engine.search import Limit, Search, SearchOptions, SearchResult
from live.event.ply import (
    EvaluatedPosition,
    KnownGame,
    Ply,
    build_search,
    collect_known,
    list_missing,
    play_move,
    start_game,
)
from live.event.rate_game import (
    GameFigures,
    GameRater,
    HumanSearches,
    Measure,
    rate_head_to_head,
)
from live.games.game import HeadersChanged, MovesPlayed, NewGame
from live.human.question import HumanAnswer, HumanQuestion, HumanRequest
from live.journal.journal_reader import encode
from live.messages.figures import ChoiceEvidence, GameDetail, HeadToHead, PlyView
from live.messages.from_sources import Player, Score
from live.messages.to_clients import PointMessage
from live.ratings.agreement import load_choice_model
from live.ratings.ferreira import compute_expected_score_between
from live.ratings.gains import GainHistogram
from live.ratings.move_circumstances import Turn
from live.ratings.perceived_model import MoveReader
from live.ratings.perceived_rating import ComparedMove, Elos
from tests.event.arithmetic import ANAND, CARLSEN, Effects, Held, answer, game, line
from tests.event.test_event import BOTH_PACES, FIGURES, begun, ledger

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
        shares.append(
            {uci: 1000 * w // sum(weights.values()) for uci, w in weights.items()}
        )
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
        self._open = [each for each in self._open if not _is_dropped(each, out)]
        self._open += [*out.requests, *out.questions]

    def run(self, unanswered: int | None = None) -> GameDetail:
        """Everything is answered, but for the question about one position."""
        while self._open:
            at = self._order.randrange(len(self._open)) if self._order else 0
            one = self._open.pop(at)
            if isinstance(one, SearchRequest):
                self.take(self.held.report_result(one.id, self._engine(one.search)))
            else:
                told = (
                    None
                    if one.ply == unanswered
                    else people(one.question, self._network)
                )
                self.take(self.held.people_say(one, told))
        detail = self.held.game("g1")
        assert detail is not None
        return detail

    def begin(self, white: Player = ANAND) -> Played:
        self.take(
            self.held.report_step(
                NewGame(game(moves=MOVES, white=white, black=CARLSEN))
            )
        )
        return self


def _is_dropped(each: SearchRequest | HumanRequest, out: Effects) -> bool:
    return isinstance(each, SearchRequest) and each.id in out.dropped


def list_agreements(played: Played) -> list[ChoiceEvidence | None]:
    return [player.agreement for player in played.held.players()]


def test_a_choice_that_many_find_was_to_be_expected() -> None:
    with_people, without = Played(WITH).begin(), Played(WITH).network("another").begin()
    with_people.run()
    without.run()
    for one, other in zip(
        list_agreements(with_people), list_agreements(without), strict=True
    ):
        assert one is not None
        assert other is not None
        assert (one.moves, one.matches) == (other.moves, other.matches)
        assert one.expected != other.expected


def test_choices_are_compared_only_after_the_opening() -> None:
    played = Played(WITH).begin()
    played.run()
    for agreement in list_agreements(played):
        assert agreement is not None
        assert agreement.moves == (PLIES - 16) // 2  # from move 9 on


def test_what_people_would_play_enters_no_rating() -> None:
    assert Played(WITH).begin().run().curves == Played(WITHOUT).begin().run().curves


def test_a_new_rating_has_people_asked_anew_and_ends_in_the_same_figures() -> None:
    corrected = msgspec.structs.replace(ANAND, elo=2300)
    played = Played(WITH).begin()
    played.run()
    headers = game(moves=MOVES, white=corrected, black=CARLSEN).headers
    played.take(played.held.report_step(HeadersChanged("g1", headers)))
    calm = Played(WITH).begin(corrected)
    assert played.run() == calm.run()
    assert list_agreements(played) == list_agreements(calm)


# --- the call itself ------------------------------------------------------------------


def bytes_of(figures: GameFigures) -> bytes:
    return encode(figures)


@st.composite
def knowledge(draw: st.DrawFn) -> list[tuple[Any, KnownGame, float | None]]:
    """States of one game that follow each other, in any way."""
    states = []
    for _ in range(draw(st.integers(2, 6))):
        count = draw(st.integers(0, PLIES))
        plies = build_plies(*(move.uci for move in MOVES[:count]))
        unknown = draw(st.sets(st.integers(0, PLIES), max_size=5))
        for index, ply in enumerate(plies):
            if index in unknown or ply.found is not None:
                continue
            search = build_search(
                plies, "position", index, SearchOptions(), chess960=False
            )
            ply.found = EvaluatedPosition.from_result(answer(search))
        for index, (before, ply) in enumerate(pairwise(plies), 1):
            if "played" in list_missing(before, ply):
                search = build_search(
                    plies, "played", index, SearchOptions(), chess960=False
                )
                ply.played = answer(search).score
        elos = draw(
            st.sampled_from([(2811, 2826), (2811, None), (None, None), (2400, 2826)])
        )
        held = game(
            moves=MOVES[:count],
            white=Player("Anand", elo=elos[0]),
            black=Player("Carlsen", elo=elos[1]),
            time_control=draw(st.sampled_from(["", "180+2", "15+10"])),
        )
        held = msgspec.structs.replace(held, result=draw(st.sampled_from(["*", "1-0"])))
        states.append(
            (held, collect_known(plies), draw(st.sampled_from([None, 2200.0])))
        )
    return states


@given(knowledge())
@settings(max_examples=25, deadline=None)
def test_law_what_was_rated_before_leaves_no_trace(
    states: list[tuple[Any, KnownGame, float | None]],
) -> None:
    rater = GameRater()
    for held, known, field in states:
        found = rater.rate(held, known, (), field, BOTH_PACES)
        assert bytes_of(found) == bytes_of(
            GameRater().rate(held, known, (), field, BOTH_PACES)
        )


def test_one_more_move_leaves_the_points_before_the_very_same() -> None:
    run = begun(game(), measure=FIGURES)
    for ply, move in enumerate(MOVES, 1):
        before = len(run.changes)
        run.step(MovesPlayed("g1", ply, (move,)))
        run.reply_all()
        points = [
            each for each in run.changes[before:] if isinstance(each, PointMessage)
        ]
        assert [each.point.ply for each in points] == [ply]


def build_plies(*ucis: str, start_fen: str = chess.STARTING_FEN) -> list[Ply]:
    board = chess.Board(start_fen)
    plies = [start_game(start_fen, board)]
    for number, uci in enumerate(ucis, 1):
        plies.append(play_move(board, plies[-1], PlyView(number, "", uci)))
    return plies


def test_a_lead_is_one_for_whoever_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int, int]] = []
    compare = MoveReader.compare_turn

    def note_turn(reader: MoveReader, turn: Turn, elos: Elos) -> ComparedMove:
        seen.append((turn.ply, turn.score_before_cp, turn.gain_cp))
        return compare(reader, turn, elos)

    monkeypatch.setattr(MoveReader, "compare_turn", note_turn)
    plies = build_plies("e2e4", "d7d5", "d2d4")
    for ply, cp in zip(plies, (20, 280, 330, 310), strict=True):
        ply.found = EvaluatedPosition(Score(cp), "a2a3")
        ply.played = Score(cp)
    GameRater().rate(game(), collect_known(plies), (None,) * 4, None, FIGURES)
    assert seen == [(1, 20, 0), (2, -280, -50), (3, 330, -20)]


def test_head_to_head_is_the_whole_cross_correlation() -> None:
    white, black = [0, -5, -40, 0, -12], [0, 0, -40, -7]
    found = rate_head_to_head(white, black)
    exact = compute_expected_score_between(GainHistogram(white), GainHistogram(black))
    assert found.expected_score == pytest.approx(exact, abs=1e-6)
    assert rate_head_to_head(white, []) == HeadToHead()
