"""One way to rate a game: whatever order news come in, and what the choices of moves
say.
"""

from __future__ import annotations

import random
from functools import partial
from itertools import pairwise
from typing import Any

import chess
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.engine.search import Limit, SearchOptions
from live.event.ply import (
    EvaluatedPosition,
    KnownGame,
    Ply,
    build_search,
    collect_search_results,
    list_missing,
    play_move,
    start_game,
)
from live.event.rate_game import (
    GameFigures,
    GameRater,
    HumanSearches,
    Measure,
    compare_head_to_head,
)
from live.games.game import HeadersChanged, MovesPlayed, NewGame
from live.human.question import HumanAnswer, HumanQuestion
from live.journal.journal_reader import encode
from live.messages.figures import ChoiceEvidence, HeadToHead, PlyView
from live.messages.from_sources import Player, Score
from live.messages.to_clients import PointMessage
from live.ratings.agreement import load_choice_model
from live.ratings.ferreira import compute_expected_score_between
from live.ratings.gains import GainHistogram
from live.ratings.move_circumstances import Turn
from live.ratings.perceived_model import MoveReader
from live.ratings.perceived_rating import ComparedMove, Elos
from tests.event.arithmetic import ANAND, CARLSEN, answer, game, line
from tests.event.test_event import BOTH_PACES, FIGURES, Run, begun, ledger

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


def play(measure: Measure, white: Player = ANAND, network: str = "network") -> Run:
    """A game of which all that is searched and asked is answered."""
    run = Run(ledger(measure=measure), people=partial(people, network=network))
    run.step(NewGame(game(moves=MOVES, white=white, black=CARLSEN)))
    run.reply_all()
    return run


def list_agreements(run: Run) -> list[ChoiceEvidence | None]:
    return [player.agreement for player in run.ledger.players()]


def test_a_choice_that_many_find_was_to_be_expected() -> None:
    with_people, without = play(WITH), play(WITH, network="another")
    for one, other in zip(
        list_agreements(with_people), list_agreements(without), strict=True
    ):
        assert one is not None
        assert other is not None
        assert (one.moves, one.matches) == (other.moves, other.matches)
        assert one.expected != other.expected


def test_choices_are_compared_only_after_the_opening() -> None:
    for agreement in list_agreements(play(WITH)):
        assert agreement is not None
        assert agreement.moves == (PLIES - 16) // 2  # from move 9 on


def test_what_people_would_play_enters_no_rating() -> None:
    one, other = play(WITH).ledger, play(WITHOUT).ledger
    assert one.detail().curves == other.detail().curves


def test_a_new_rating_has_people_asked_anew_and_ends_in_the_same_figures() -> None:
    corrected = msgspec.structs.replace(ANAND, elo=2300)
    run, calm = play(WITH), play(WITH, corrected)
    headers = game(moves=MOVES, white=corrected, black=CARLSEN).headers
    run.step(HeadersChanged("g1", headers))
    run.reply_all()
    assert run.ledger.detail() == calm.ledger.detail()
    assert list_agreements(run) == list_agreements(calm)


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
            (held, collect_search_results(plies), draw(st.sampled_from([None, 2200.0])))
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
    GameRater().rate(game(), collect_search_results(plies), (None,) * 4, None, FIGURES)
    assert seen == [(1, 20, 0), (2, -280, -50), (3, 330, -20)]


def test_head_to_head_is_the_whole_cross_correlation() -> None:
    white, black = [0, -5, -40, 0, -12], [0, 0, -40, -7]
    found = compare_head_to_head(white, black)
    exact = compute_expected_score_between(GainHistogram(white), GainHistogram(black))
    assert found.expected_score == pytest.approx(exact, abs=1e-6)
    assert compare_head_to_head(white, []) == HeadToHead()
