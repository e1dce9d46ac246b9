"""The ledger ends where an undisturbed run would, whatever happened on the way."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import chess
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.engine.search import (
    Limit,
    Search,
    SearchFailure,
    SearchOptions,
    SearchProgress,
    SearchResult,
)
from live.events import (
    Change,
    EngineMessage,
    GameDetail,
    Move,
    Player,
    PlayerView,
    Result,
    Score,
)
from live.games.game import (
    ClocksCorrected,
    EvalsChanged,
    GameGone,
    HeadersChanged,
    MovesPlayed,
    NewGame,
    ResultChanged,
    Step,
    TailReplaced,
    TakenBack,
    applied,
)
from live.ledger.game_evaluations import RequestId, Urgency
from live.ledger.measure import Measure
from live.publish.published_state import ClientState, snapshot
from live.publish.visibility import StreamFilter, Visibility
from live.ratings.expected_result import load_result_model
from live.ratings.perceived_model import Models, shipped_models
from tests.ledger.arithmetic import Effects, Held, answer, answer_or_failure, game, line

ledger = Held
WITH_GAINS = StreamFilter(gains=True, visibility=Visibility.ARBITER)


Engine = Callable[[Search], SearchResult | SearchFailure]


class Run:
    """A ledger with a queue of searches, and a subscriber that applies every message."""

    def __init__(self, held: Held, engine: Engine = answer) -> None:
        self.ledger = held
        self._engine = engine
        self.open: dict[RequestId, tuple[Search, Urgency]] = {}
        self.subscriber = ClientState()
        self.subscriber.apply(snapshot(held, WITH_GAINS))
        self.changes: list[Change] = []

    def take(self, out: Effects) -> None:
        for request_id in out.dropped:
            self.open.pop(request_id, None)
        for request in out.requests:
            self.open[request.id] = (request.search, request.urgency)
        for change in out.changes:
            self.subscriber.apply(change)
        self.changes += out.changes
        assert self.ledger.analysed == (not self.open)
        waits = {"head", "closing", "backlog", "finished"}
        assert self.ledger.rated == all(urgency not in waits for _, urgency in self.open.values())

    def step(self, *steps: Step) -> None:
        for step in steps:
            self.take(self.ledger.told(step))

    def reply(self, request_id: RequestId) -> None:
        search, _ = self.open.pop(request_id)
        self.take(self.ledger.found(request_id, self._engine(search)))

    def progress(self, request_id: RequestId, progress: SearchProgress) -> None:
        self.ledger.progressed(request_id, progress)
        self.take(self.ledger.taken())

    def measure_by(self, models: Models) -> None:
        for _ in self.ledger.measure_by(models):
            self.take(self.ledger.taken())

    def reply_all(self, order: random.Random | None = None) -> None:
        while self.open:
            request_ids = list(self.open)
            self.reply(order.choice(request_ids) if order else request_ids[0])

    def check_subscriber(self) -> None:
        assert self.subscriber.snapshot() == snapshot(self.ledger, WITH_GAINS)
        self.check_gains()

    def check_gains(self) -> None:
        """What is pooled move by move is what all curves together hold."""
        counted: dict[str, Counter[int]] = {view.id: Counter() for view in self.ledger.players()}
        for view in self.ledger.games():
            detail = self.ledger.game(view.id)
            assert detail is not None
            sides = zip(
                self.ledger.player_ids(view.id),
                (detail.curves.white, detail.curves.black),
                strict=True,
            )
            for player, points in sides:
                counted[player].update(point.gain_cp for point in points)
        for player, counts in counted.items():
            assert self.ledger.gains(player) == tuple(sorted(counts.items()))


def undisturbed(*games: Any, **changes: Any) -> Held:
    run = Run(ledger(**changes))
    for each in games:
        run.step(NewGame(each))
    run.reply_all()
    return run.ledger


def same_end(one: Held, other: Held) -> None:
    assert snapshot(one, WITH_GAINS) == snapshot(other, WITH_GAINS)


MOVES = line(*range(3, 43))
CLASSICAL = next(model for model in shipped_models() if model.name == "classical")
FIGURES = Measure(
    "same-search",
    Models([CLASSICAL], note="learned"),
    results=tuple(load_result_model(pace) for pace in ("classical", "blitz")),
)
#: A second model of the same classes, as that of blitz will be.
BOTH_PACES = FIGURES._replace(
    models=Models(
        [
            CLASSICAL,
            msgspec.structs.replace(
                CLASSICAL, name="quick", time_control="blitz", centre_elo=CLASSICAL.centre_elo - 300
            ),
        ]
    )
)


def test_a_game_is_rated_move_by_move() -> None:
    run = Run(ledger())
    run.step(NewGame(game()))
    for ply, move in enumerate(MOVES, 1):
        run.step(MovesPlayed("g1", ply, (move,)))
        run.reply_all()
        detail = run.ledger.game("g1")
        assert detail is not None
        assert detail.plies_scored == ply
        assert len(detail.curves.white) + len(detail.curves.black) == ply
        run.check_subscriber()
    same_end(run.ledger, undisturbed(game(moves=MOVES)))


def test_a_first_choice_needs_no_search_of_its_own() -> None:
    run = Run(ledger())
    run.step(NewGame(game(moves=MOVES)))
    positions = dict(run.open)
    assert len(positions) == len(MOVES) + 1
    asked: list[RequestId] = []
    while run.open:
        request_id = next(iter(run.open))
        asked.append(request_id)
        run.reply(request_id)
    detail = run.ledger.game("g1")
    assert detail is not None
    others = [ply for ply in detail.plies if ply.best != ply.uci]
    assert 0 < len(others) < len(MOVES)
    assert sorted(request_id.ply for request_id in asked if request_id.kind == "played") == [
        p.ply for p in others
    ]
    for ply in detail.plies:
        if ply.best == ply.uci:
            assert ply.gain_same_search_cp == 0


def test_the_newest_position_of_a_running_game_is_most_urgent() -> None:
    run = Run(ledger())
    run.step(NewGame(game(moves=MOVES[:3])))
    assert {request_id.ply: urgency for request_id, (_, urgency) in run.open.items()} == {
        0: "backlog", 1: "backlog", 2: "head", 3: "head",
    }  # fmt: skip
    run.step(MovesPlayed("g1", 4, MOVES[3:4]))
    assert {
        request_id.ply for request_id, (_, urgency) in run.open.items() if urgency == "head"
    } == {3, 4}
    # Screens wait for the last scores of a game that was seen to run, and of no other.
    run.step(ResultChanged("g1", "1-0"))
    assert {urgency for _, urgency in run.open.values()} == {"closing"}
    run = Run(ledger())
    run.step(NewGame(msgspec.structs.replace(game(moves=MOVES), result="1-0")))
    assert {urgency for _, urgency in run.open.values()} == {"finished"}


def test_a_move_among_several_lines_needs_no_search_of_its_own() -> None:
    run = Run(ledger(measure=Measure("same-search", search_options=SearchOptions(lines=40))))
    run.step(NewGame(game(moves=MOVES)))
    assert {search.lines for search, _ in run.open.values()} == {40}
    while run.open:
        request_id = next(iter(run.open))
        assert request_id.kind == "position"
        run.reply(request_id)
    detail = run.ledger.game("g1")
    assert detail is not None
    gains = [ply.gain_same_search_cp for ply in detail.plies if ply.gain_same_search_cp is not None]
    assert len(gains) == len(MOVES)
    assert all(gain % 7 == 0 for gain in gains) and min(gains) < -7


def test_the_move_played_is_searched_to_the_best_move_s_depth_where_asked() -> None:
    run = Run(ledger(measure=Measure("same-search", search_options=SearchOptions(same_depth=True))))
    run.step(NewGame(game(moves=MOVES)))
    depths = set()
    while run.open:
        request_id, (search, _) = next(iter(run.open.items()))
        if request_id.kind == "played":
            assert search.limit == Limit(depth=10 + (request_id.ply - 1) % 3)
            depths.add(search.limit)
        else:
            assert search.limit is None
        run.reply(request_id)
    assert len(depths) == 3


def test_a_replaced_move_cancels_its_searches_and_a_late_answer_changes_nothing() -> None:
    run = Run(ledger())
    run.step(NewGame(game(moves=MOVES[:4])))
    late = {
        request_id: search for request_id, (search, _) in run.open.items() if request_id.ply == 4
    }
    other = line(3, 4, 5, 30)[3]
    assert other.uci != MOVES[3].uci
    run.step(TailReplaced("g1", 4, (other,)))
    assert not set(late) & set(run.open)
    before = snapshot(run.ledger)
    for request_id, search in late.items():
        assert not run.ledger.found(request_id, answer(search)).changes
    assert snapshot(run.ledger) == before
    run.reply_all()
    same_end(run.ledger, undisturbed(game(moves=(*MOVES[:3], other))))


def test_a_position_given_up_stops_nothing_else() -> None:
    run = Run(ledger())
    run.step(NewGame(game(moves=MOVES[:8])))
    lost = next(request_id for request_id in run.open if request_id.ply == 3)
    run.open.pop(lost)
    run.take(run.ledger.found(lost, SearchFailure("killed three engines")))
    run.reply_all()
    detail = run.ledger.game("g1")
    assert detail is not None
    # Ply 4 cannot be compared with a first choice nobody knows.
    assert detail.plies[3].gain_cp is None
    assert [point.ply for point in detail.curves.black] == [2, 6, 8]
    assert detail.plies[2].score_cp is None
    assert detail.problem == "no score at ply 3: killed three engines"
    run.check_subscriber()
    run.step(TakenBack("g1", 2))
    detail = run.ledger.game("g1")
    assert detail is not None
    assert detail.problem is None


def test_a_provisional_score_is_shown_and_enters_no_curve() -> None:
    run = Run(ledger())
    run.step(NewGame(game(moves=MOVES[:1])))
    request_id = next(request_id for request_id in run.open if request_id.ply == 1)
    run.progress(request_id, SearchProgress(Score(77), 8))
    detail = run.ledger.game("g1")
    assert detail is not None
    assert (detail.plies[0].score_cp, detail.plies[0].depth, detail.plies[0].final) == (
        77,
        8,
        False,
    )
    assert detail.plies_scored == 0
    assert detail.curves.white == ()
    run.check_subscriber()


def test_a_score_of_somebody_else_is_named_until_the_engine_has_its_own() -> None:
    run = Run(ledger())
    run.step(NewGame(game(moves=MOVES[:1])))
    request_id = next(request_id for request_id in run.open if request_id.ply == 1)
    run.progress(request_id, SearchProgress(Score(77), 40, "lichess cloud"))
    detail = run.ledger.game("g1")
    assert detail is not None
    assert (detail.plies[0].depth, detail.plies[0].score_source) == (40, "lichess cloud")
    run.check_subscriber()
    run.open.pop(request_id)
    run.take(run.ledger.found(request_id, SearchResult(Score(12), "e7e5", 9)))
    detail = run.ledger.game("g1")
    assert detail is not None
    assert (detail.plies[0].depth, detail.plies[0].score_source) == (9, "")
    run.check_subscriber()
    run.reply_all()
    run.check_subscriber()


def test_checkmate_is_scored_by_the_rules_without_an_engine() -> None:
    mate = tuple(
        Move(uci, san)
        for uci, san in (("f2f3", "f3"), ("e7e5", "e5"), ("g2g4", "g4"), ("d8h4", "Qh4#"))
    )
    run = Run(ledger())
    run.step(NewGame(game(moves=mate)))
    assert {request_id.ply for request_id in run.open if request_id.kind == "position"} == {
        0,
        1,
        2,
        3,
    }
    run.reply_all()
    detail = run.ledger.game("g1")
    assert detail is not None
    last = detail.plies[3]
    assert (last.score_cp, last.mate, last.final, last.played_cp) == (-3900, 0, True, -3900)
    assert last.gain_same_search_cp == 0


def test_the_field_rates_the_engine_and_every_rating_follows() -> None:
    run = Run(ledger(stored_rating=2000))
    run.step(NewGame(game(moves=MOVES)))
    run.reply_all()
    assert any(isinstance(change, EngineMessage) for change in run.changes)
    engine = run.ledger.engine()
    assert engine.rating > 2000
    assert engine.rating_source == "field"


def test_a_fixed_engine_rating_stays() -> None:
    run = Run(ledger(fixed_rating=2860))
    run.step(NewGame(game(moves=MOVES)))
    run.reply_all()
    assert (run.ledger.engine().rating, run.ledger.engine().rating_source) == (2860, "fixed")


def test_players_are_pooled_and_a_player_who_turns_out_another_takes_his_gains_along() -> None:
    run = Run(ledger())
    run.step(
        NewGame(game("g1", MOVES[:10])),
        NewGame(game("g2", MOVES[:7], white=Player("Carlsen"), black=Player("Anand"))),
    )
    run.reply_all()
    assert {view.name: (view.games, view.moves) for view in run.ledger.players()} == {
        "Anand": (2, 5 + 3), "Carlsen": (2, 5 + 4),
    }  # fmt: skip
    held = game("g2", MOVES[:7], white=Player("Kramnik"), black=Player("Anand"))
    run.step(HeadersChanged("g2", held.headers))
    run.check_subscriber()
    assert {view.name: (view.games, view.moves) for view in run.ledger.players()} == {
        "Anand": (2, 8), "Carlsen": (1, 5), "Kramnik": (1, 4),
    }  # fmt: skip
    run.step(GameGone("g2"))
    run.check_subscriber()
    same_end(run.ledger, undisturbed(game("g1", MOVES[:10])))


def test_players_without_names_are_not_one_person() -> None:
    run = Run(ledger())
    run.step(NewGame(game("g1", white=Player("?"), black=Player(""))))
    assert len(run.ledger.players()) == 2
    assert len({view.id for view in run.ledger.players()}) == 2


def test_source_evaluations_replace_the_engine() -> None:
    moves = tuple(
        msgspec.structs.replace(move, eval=Score(20 * index))
        for index, move in enumerate(MOVES[:4], 1)
    )
    run = Run(ledger(measure=Measure("successive"), engine_scores=False))
    run.step(NewGame(game(moves=moves)))
    assert not run.open
    detail = run.ledger.game("g1")
    assert detail is not None
    # Without an evaluation of the start the first move has no gain.
    assert [ply.gain_cp for ply in detail.plies] == [None, -20, 20, -20]
    run.step(EvalsChanged("g1", ((0, Score(13)),)))
    run.check_subscriber()
    detail = run.ledger.game("g1")
    assert detail is not None
    assert [ply.gain_cp for ply in detail.plies] == [7, -20, 20, -20]
    assert detail.start_score_cp == 13


def test_a_clock_correction_changes_nothing_else() -> None:
    run = Run(ledger())
    run.step(NewGame(game(moves=MOVES[:6])))
    run.reply_all()
    run.step(ClocksCorrected("g1", ((3, 5400.0, 12.5),)))
    run.check_subscriber()
    detail = run.ledger.game("g1")
    assert detail is not None
    assert (detail.plies[2].clock_s, detail.plies[2].spent_s) == (5400.0, 12.5)
    assert detail.plies_scored == 6


def game_told(held: Held, id: str) -> GameDetail:
    detail = held.game(id)
    assert detail is not None
    return detail


def player_told(held: Held, name: str) -> PlayerView:
    return next(view for view in held.players() if view.name == name)


def timed(id: str, time_control: str, moves: tuple[Move, ...] = (), **more: Any) -> Any:
    held = game(id, moves, **more)
    headers = msgspec.structs.replace(held.headers, time_control=time_control)
    return msgspec.structs.replace(held, headers=headers)


@pytest.mark.parametrize(
    ("time_control", "model", "note"),
    [
        ("90+30", "classical", ""),
        ("180+2", "blitz", ""),
        ("15+10", "rapid", ""),
        ("60+0", "blitz", ""),
        ("", "classical", "time control unknown: taken as classical"),
    ],
)
def test_each_game_is_read_by_the_model_of_its_pace(
    time_control: str, model: str, note: str
) -> None:
    run = Run(ledger(measure=BOTH_PACES))
    run.step(NewGame(timed("g1", time_control, MOVES[:20])))
    run.reply_all()
    detail = game_told(run.ledger, "g1")
    assert (detail.model, detail.note) == (model, note)
    assert detail.curves.white[-1].perceived is not None
    run.check_subscriber()


def test_where_no_model_was_learned_for_the_pace_another_stands_in_and_says_so() -> None:
    run = Run(ledger(measure=FIGURES))
    run.step(NewGame(timed("g1", "180+2", MOVES[:10])))
    run.reply_all()
    detail = game_told(run.ledger, "g1")
    assert detail.model == "classical"
    assert detail.note == "no model for blitz games: read as classical, provisional"
    assert detail.curves.white[-1].perceived is not None
    assert player_told(run.ledger, "Anand").note == detail.note


def test_without_a_model_algorithm_4_stays_and_the_reason_is_said() -> None:
    run = Run(ledger(measure=Measure("same-search", Models(note="switched off"))))
    run.step(NewGame(game(moves=MOVES)))
    run.reply_all()
    detail = game_told(run.ledger, "g1")
    assert (detail.model, detail.note) == (None, "switched off")
    last = detail.curves.white[-1]
    assert (last.perceived, last.counted, last.percentile) == (None, 0, None)
    assert last.difference is not None
    assert player_told(run.ledger, "Anand").note == "switched off"


def test_the_points_of_a_game_are_those_of_the_model() -> None:
    run = Run(ledger(measure=FIGURES))
    run.step(NewGame(game(moves=MOVES)))
    run.reply_all()
    run.step(ResultChanged("g1", "1-0"))
    detail = game_told(run.ledger, "g1")
    for color in (detail.curves.white, detail.curves.black):
        for point in color:
            assert point.perceived is not None and 400 <= point.perceived <= 3600
            assert point.usual_low is not None and point.usual_high is not None
            assert point.usual_low < point.usual_high
            assert point.percentile is not None
            # Band and percentile never disagree.
            inside = point.usual_low <= point.perceived <= point.usual_high
            assert inside == (10 <= point.percentile <= 90)
        assert [point.n for point in color] == list(range(1, len(color) + 1))
    run.check_subscriber()


def test_a_player_of_one_game_plays_like_its_last_point() -> None:
    run = Run(ledger(measure=FIGURES))
    run.step(NewGame(game(moves=MOVES)), ResultChanged("g1", "1-0"))
    run.reply_all()
    detail = game_told(run.ledger, "g1")
    for name, last in (("Anand", detail.curves.white[-1]), ("Carlsen", detail.curves.black[-1])):
        view = player_told(run.ledger, name)
        for field in ("counted", "perceived", "low", "high", "usual_low", "usual_high"):
            assert getattr(view, field) == getattr(last, field)
        assert view.percentile == last.percentile


def test_a_forced_move_leaves_the_figure_as_it_was() -> None:
    # White is checked on the long diagonal of files: one answer alone.
    start = "7k/8/8/8/8/8/6q1/r6K w - - 0 1"
    board = chess.Board("7k/8/8/8/8/6nr/8/6BK w - - 0 1")
    assert start and board.is_check() and board.legal_moves.count() == 1
    moves = line(5, 0, 7, start_fen="7k/8/8/8/8/6nr/8/6BK w - - 0 1")
    run = Run(ledger(measure=FIGURES))
    run.step(NewGame(game(moves=moves[:3], start_fen="7k/8/8/8/8/6nr/8/6BK w - - 0 1")))
    run.reply_all()
    first = game_told(run.ledger, "g1").curves.white[0]
    assert (first.n, first.counted, first.perceived) == (1, 0, None)


def test_a_corrected_time_control_rates_the_game_anew() -> None:
    run = Run(ledger(measure=BOTH_PACES))
    run.step(NewGame(timed("g1", "90+30", MOVES[:20])))
    run.reply_all()
    run.step(HeadersChanged("g1", timed("g1", "180+2").headers))
    run.check_subscriber()
    calm = Run(ledger(measure=BOTH_PACES))
    calm.step(NewGame(timed("g1", "180+2", MOVES[:20])))
    calm.reply_all()
    same_end(run.ledger, calm.ledger)


def test_games_of_two_paces_are_never_pooled() -> None:
    run = Run(ledger(measure=BOTH_PACES))
    run.step(
        NewGame(timed("slow", "90+30", MOVES[:20])),
        NewGame(timed("quick", "180+2", MOVES[:10])),
    )
    run.reply_all()
    alone = Run(ledger(measure=BOTH_PACES))
    alone.step(NewGame(timed("slow", "90+30", MOVES[:20])))
    alone.reply_all()
    pooled, single = player_told(run.ledger, "Anand"), player_told(alone.ledger, "Anand")
    assert pooled.perceived == single.perceived
    assert (pooled.model, pooled.games) == ("classical", 2)
    assert pooled.note.startswith("1 of 2 games")
    # The moves of the other game still count in Algorithm 4.
    assert pooled.moves == single.moves + 5


def test_unrated_players_are_taken_to_be_of_the_field() -> None:
    nobodies: dict[str, Any] = {"white": Player("One"), "black": Player("Two")}
    run = Run(ledger(measure=FIGURES))
    run.step(NewGame(timed("g0", "90+30", MOVES[:20], **nobodies)))
    run.reply_all()
    alone = game_told(run.ledger, "g0").curves.white[-1].perceived
    run.step(NewGame(timed("g1", "90+30")))
    run.check_subscriber()
    elite = game_told(run.ledger, "g0").curves.white[-1].perceived
    juniors: dict[str, Any] = {
        "white": Player("Junior", elo=1100),
        "black": Player("Novice", elo=900),
    }
    run.step(NewGame(timed("g2", "90+30", **juniors)))
    run.check_subscriber()
    mixed = game_told(run.ledger, "g0").curves.white[-1]
    assert alone is not None and elite is not None and mixed.perceived is not None
    assert alone < elite and mixed.perceived < elite
    assert mixed.usual_low is None and mixed.percentile is None
    run.step(GameGone("g2"))
    run.check_subscriber()
    assert game_told(run.ledger, "g0").curves.white[-1].perceived == elite


def test_other_models_rate_everything_anew() -> None:
    run = Run(ledger(measure=FIGURES))
    run.step(NewGame(game(moves=MOVES)))
    run.reply_all()
    scaled = Models(FIGURES.models.models, scale=0.8, transferred=True)
    run.measure_by(scaled)
    run.check_subscriber()
    same_end(run.ledger, undisturbed(game(moves=MOVES), measure=FIGURES._replace(models=scaled)))
    assert (
        game_told(run.ledger, "g1").note == "transferred; time control unknown: taken as classical"
    )


#: Another spelling, a corrected rating, somebody without a name.
PEOPLE = [
    Player("Anand", elo=2811),
    Player("Anand, V", elo=1200),
    Player("ANAND", title="GM"),
    Player("Carlsen", elo=2826),
    Player("Carlsen"),
    Player(""),
]


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[Step | None, int]]:
    """Steps that fit each other, each followed by some answers (a seed for which)."""
    moves: dict[str, tuple[Move, ...]] = {}
    steps: list[tuple[Step | None, int]] = []
    for _ in range(draw(st.integers(1, 14))):
        id = draw(st.sampled_from(["g1", "g2"]))
        step: Step | None = None
        if id not in moves:
            # Long enough, now and then, for the figures that leave the opening out.
            known = MOVES[:18] if draw(st.booleans()) else ()
            moves[id] = known + _after(known, draw(st.lists(st.integers(0, 40), max_size=6)))
            step = NewGame(game(id, moves[id]))
        else:
            held = moves[id]
            kind = draw(
                st.sampled_from(
                    ["play", "replace", "back", "result", "headers", "clock", "gone", "none"]
                )
            )
            if kind == "play":
                new = _after(held, draw(st.lists(st.integers(0, 40), min_size=1, max_size=4)))
                if new:
                    step = MovesPlayed(id, len(held) + 1, new)
                    moves[id] = held + new
            elif kind == "replace" and held:
                ply = draw(st.integers(1, len(held)))
                new = _after(
                    held[: ply - 1], draw(st.lists(st.integers(0, 40), min_size=1, max_size=3))
                )
                step = TailReplaced(id, ply, new)
                moves[id] = held[: ply - 1] + new
            elif kind == "back" and held:
                ply = draw(st.integers(0, len(held) - 1))
                step = TakenBack(id, ply)
                moves[id] = held[:ply]
            elif kind == "result":
                result: Result = draw(st.sampled_from(["*", "1-0", "1/2-1/2"]))
                step = ResultChanged(id, result)
            elif kind == "headers":
                white, black = draw(st.sampled_from(PEOPLE)), draw(st.sampled_from(PEOPLE))
                control = draw(st.sampled_from(["", "90+30", "180+2"]))
                step = HeadersChanged(id, timed(id, control, white=white, black=black).headers)
            elif kind == "clock" and held:
                step = ClocksCorrected(id, ((draw(st.integers(1, len(held))), 60.0, None),))
            elif kind == "gone":
                step = GameGone(id)
                del moves[id]
        steps.append((step, draw(st.integers(0, 2**16))))
    return steps


def _after(held: tuple[Move, ...], choices: Iterable[int]) -> tuple[Move, ...]:
    board = chess.Board()
    for move in held:
        board.push_uci(move.uci)
    return line(*choices, start_fen=board.fen())


@pytest.mark.slow
@given(histories(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_after_any_history_the_state_is_that_of_an_undisturbed_run(
    history: list[tuple[Step | None, int]], read: bool
) -> None:
    measure = BOTH_PACES if read else Measure("same-search")
    run = Run(ledger(stored_rating=2300, measure=measure), answer_or_failure)
    final: dict[str, Any] = {}
    for step, seed in history:
        if step is not None:
            run.step(step)
            if isinstance(step, NewGame):
                final[step.id] = step.game
            elif isinstance(step, GameGone):
                del final[step.id]
            else:
                final[step.id] = applied(final[step.id], step)
        chance = random.Random(seed)
        for _ in range(chance.randrange(5)):
            if run.open:
                request_id = chance.choice(list(run.open))
                if chance.random() < 0.2:
                    run.progress(request_id, SearchProgress(Score(chance.randrange(99)), 5))
                else:
                    run.reply(request_id)
        run.check_subscriber()
    run.reply_all()
    run.check_subscriber()
    calm = Run(ledger(stored_rating=2300, measure=measure), answer_or_failure)
    for each in final.values():
        calm.step(NewGame(each))
    calm.reply_all()
    one, other = snapshot(run.ledger), snapshot(calm.ledger)
    assert one.games == other.games
    assert one.players == other.players
    assert one.engine == other.engine


def test_a_player_of_one_game_has_the_interval_of_that_game() -> None:
    held = ledger()
    held.follow(NewGame(game(moves=line(*(step * step for step in range(30))))))
    detail = held.game("g1")
    assert detail is not None
    shown = {
        (view.difference_low, view.difference, view.difference_high) for view in held.players()
    }
    last = (detail.curves.white[-1], detail.curves.black[-1])
    assert shown == {
        (point.difference_low, point.difference, point.difference_high) for point in last
    }
