"""The event ends where an undisturbed run would, whatever happened on the way.

A game that breaks a rule of ours costs no other anything; where little can be known,
every figure is an honest one or an empty place.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import chess
import msgspec
import pytest

from live.engine.requests import RequestId, SearchRequest, Urgency
from live.engine.search import (
    Limit,
    Search,
    SearchFailure,
    SearchOptions,
    SearchProgress,
    SearchResult,
)
from live.event.choose_measure import load_figure_models, select_models
from live.event.event import Event
from live.event.game_change import EventChange
from live.event.game_record import GameRecord
from live.event.players import EventStandings, PlayerTotals
from live.event.rate_game import Measure
from live.games.game import (
    Game,
    GameConfirmed,
    GameGone,
    HeadersChanged,
    MovesPlayed,
    NewGame,
    ResultChanged,
    Step,
    TailReplaced,
    TakenBack,
)
from live.human.question import HumanAnswer, HumanQuestion, HumanRequest
from live.messages.figures import CurvePoint, GameDetail, PlayerView
from live.messages.from_sources import (
    FeedReport,
    GameReport,
    Move,
    Player,
    Result,
    Score,
)
from live.messages.to_clients import (
    Change,
    EngineMessage,
    GameMessage,
    GoneMessage,
    MoveMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import Color
from live.ratings.engine_scale import load_reference
from live.ratings.expected_result import load_result_model
from live.ratings.model_choice import Models, load_shipped_models
from live.server.filtered_reader import snapshot
from live.server.reference_client import ReferenceClient
from live.server.stream_filter import StreamFilter
from live.server.visibility import Visibility
from live.sources import demo_feed
from tests.event.answered_event import open_unscored
from tests.event.arithmetic import (
    Effects,
    Held,
    answer,
    game,
    line,
    sort_changes,
)
from tests.games.short_reports import change_headers
from tests.sources.fakes import upto
from tests.watch.replayed_event import Rehearsal, played

ledger = Held
WITH_GAINS = StreamFilter(gains=True, visibility=Visibility.ARBITER)


Engine = Callable[[Search], SearchResult | SearchFailure]
People = Callable[[HumanQuestion], HumanAnswer | None]


class Run:
    """A ledger with a queue of searches and of questions about people, and a subscriber
    that applies every message.
    """

    def __init__(
        self, held: Held, engine: Engine = answer, people: People = lambda asked: None
    ) -> None:
        self.ledger = held
        self._engine = engine
        self._people = people
        self.open: dict[RequestId, tuple[Search, Urgency]] = {}
        self._questions: list[HumanRequest] = []
        self.subscriber = ReferenceClient()
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
        self._questions += out.questions
        assert self.ledger.is_analysed == (not self.open and not self._questions)
        waits = {"head", "closing", "backlog", "finished"}
        assert self.ledger.is_rated == all(
            urgency not in waits for _, urgency in self.open.values()
        )

    def step(self, *steps: Step) -> None:
        for step in steps:
            self.take(self.ledger.report_step(step))

    def reply(self, request_id: RequestId) -> None:
        search, _ = self.open.pop(request_id)
        self.take(self.ledger.report_result(request_id, self._engine(search)))

    def progress(self, request_id: RequestId, progress: SearchProgress) -> None:
        self.take(sort_changes(self.ledger.apply_progress(request_id, progress)))

    def measure_by(self, models: Models) -> None:
        for changes in self.ledger.measure_by(models):
            self.take(sort_changes(changes))

    def reply_all(self) -> None:
        while self.open or self._questions:
            if self.open:
                self.reply(next(iter(self.open)))
            else:
                request = self._questions.pop(0)
                answered = self._people(request.question)
                self.take(self.ledger.people_say(request, answered))

    def check_subscriber(self) -> None:
        assert self.subscriber.snapshot() == snapshot(self.ledger, WITH_GAINS)
        self.check_gains()

    def check_gains(self) -> None:
        """What is pooled move by move is what all curves together hold."""
        counted: dict[str, Counter[int]] = {
            view.id: Counter() for view in self.ledger.players()
        }
        for view in self.ledger.games():
            detail = self.ledger.game(view.id)
            assert detail is not None
            sides = zip(
                self.ledger.player_ids(view.id),
                (detail.curves.white, detail.curves.black),
                strict=True,
            )
            for player, points in sides:
                counted[player].update(point.gain_cp for point in points if point.n)
        for player, counts in counted.items():
            assert self.ledger.gains(player) == tuple(sorted(counts.items()))


def begun(*games: Game, **changes: Any) -> Run:
    """All searches wait."""
    run = Run(ledger(**changes))
    run.step(*map(NewGame, games))
    return run


def played_out(*games: Game, **changes: Any) -> Run:
    """All searches answered, in the order they were asked for."""
    run = begun(*games, **changes)
    run.reply_all()
    return run


def same_end(one: Held, other: Held) -> None:
    assert snapshot(one, WITH_GAINS) == snapshot(other, WITH_GAINS)


MOVES = line(*range(3, 43))
CLASSICAL = next(model for model in load_shipped_models() if model.name == "classical")
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
                CLASSICAL,
                name="quick",
                time_control="blitz",
                centre_elo=CLASSICAL.centre_elo - 300,
            ),
        ]
    )
)


def test_a_first_choice_needs_no_search_of_its_own() -> None:
    run = begun(game(moves=MOVES))
    positions = dict(run.open)
    assert len(positions) == len(MOVES) + 1
    asked: list[RequestId] = []
    while run.open:
        request_id = next(iter(run.open))
        asked.append(request_id)
        run.reply(request_id)
    detail = run.ledger.detail()
    others = [ply for ply in detail.plies if ply.best != ply.uci]
    assert 0 < len(others) < len(MOVES)
    assert sorted(
        request_id.ply for request_id in asked if request_id.kind == "played"
    ) == [p.ply for p in others]
    for ply in detail.plies:
        if ply.best == ply.uci:
            assert ply.gain_same_search_cp == 0


def test_the_newest_position_of_a_running_game_is_most_urgent() -> None:
    run = begun(game(moves=MOVES[:3]))
    assert {
        request_id.ply: urgency for request_id, (_, urgency) in run.open.items()
    } == {
        0: "backlog",
        1: "backlog",
        2: "head",
        3: "head",
    }
    run.step(MovesPlayed("g1", 4, MOVES[3:4]))
    assert {
        request_id.ply
        for request_id, (_, urgency) in run.open.items()
        if urgency == "head"
    } == {3, 4}
    # Screens wait for the last scores of a game that was seen to run, and of no other.
    run.step(ResultChanged("g1", "1-0"))
    assert {urgency for _, urgency in run.open.values()} == {"closing"}
    run = begun(msgspec.structs.replace(game(moves=MOVES), result="1-0"))
    assert {urgency for _, urgency in run.open.values()} == {"finished"}


def test_a_move_among_several_lines_needs_no_search_of_its_own() -> None:
    options = SearchOptions(lines=40)
    run = begun(
        game(moves=MOVES), measure=Measure("same-search", search_options=options)
    )
    assert {search.lines for search, _ in run.open.values()} == {40}
    while run.open:
        request_id = next(iter(run.open))
        assert request_id.kind == "position"
        run.reply(request_id)
    detail = run.ledger.detail()
    gains = [
        ply.gain_same_search_cp
        for ply in detail.plies
        if ply.gain_same_search_cp is not None
    ]
    assert len(gains) == len(MOVES)
    assert all(gain % 7 == 0 for gain in gains) and min(gains) < -7


def test_the_move_played_is_searched_to_the_best_move_s_depth_where_asked() -> None:
    options = SearchOptions(same_depth=True)
    run = begun(
        game(moves=MOVES), measure=Measure("same-search", search_options=options)
    )
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


def test_a_replaced_move_cancels_its_searches_and_late_answers_do_nothing() -> None:
    run = begun(game(moves=MOVES[:4]))
    late = {
        request_id: search
        for request_id, (search, _) in run.open.items()
        if request_id.ply == 4
    }
    other = line(3, 4, 5, 30)[3]
    assert other.uci != MOVES[3].uci
    run.step(TailReplaced("g1", 4, (other,)))
    assert not set(late) & set(run.open)
    before = snapshot(run.ledger)
    for request_id, search in late.items():
        run.progress(request_id, SearchProgress(Score(77), 40))
        assert not run.ledger.report_result(request_id, answer(search)).changes
    assert snapshot(run.ledger) == before
    run.reply_all()
    same_end(run.ledger, played_out(game(moves=(*MOVES[:3], other))).ledger)


def test_another_variant_and_a_source_s_own_scores_need_no_search() -> None:
    assert not begun(game(moves=MOVES[:4], variant="atomic")).open
    without = Run(ledger(engine_scores=False))
    without.step(NewGame(game(moves=MOVES[:4])))
    assert not without.open
    unreadable = msgspec.structs.replace(game(), problem="its start cannot be read")
    assert not begun(unreadable).open and begun(game()).open


def test_a_position_given_up_stops_nothing_else() -> None:
    run = begun(game(moves=MOVES[:8]))
    lost = next(request_id for request_id in run.open if request_id.ply == 3)
    run.open.pop(lost)
    run.take(run.ledger.report_result(lost, SearchFailure("killed three engines")))
    run.reply_all()
    detail = run.ledger.detail()
    # Ply 4 cannot be compared with a first choice nobody knows.
    assert detail.plies[3].gain_cp is None
    assert [point.ply for point in detail.curves.black] == [2, 6, 8]
    assert detail.plies[2].score_cp is None
    assert detail.problem == "no score at ply 3: killed three engines"
    run.check_subscriber()
    run.step(TakenBack("g1", 2))
    detail = run.ledger.detail()
    assert detail.problem is None


def test_a_provisional_score_is_shown_and_enters_no_curve() -> None:
    run = begun(game(moves=MOVES[:1]))
    request_id = next(request_id for request_id in run.open if request_id.ply == 1)
    run.progress(request_id, SearchProgress(Score(77), 40))
    detail = run.ledger.detail()
    (ply,) = detail.plies
    assert (ply.score_cp, ply.depth, ply.final) == (77, 40, False)
    assert (detail.plies_scored, detail.curves.white) == (0, ())
    run.check_subscriber()
    run.reply(request_id)
    (ply,) = run.ledger.detail().plies
    assert ply.final
    run.check_subscriber()


def test_checkmate_is_scored_by_the_rules_without_an_engine() -> None:
    mate = tuple(
        Move(uci, san)
        for uci, san in (
            ("f2f3", "f3"),
            ("e7e5", "e5"),
            ("g2g4", "g4"),
            ("d8h4", "Qh4#"),
        )
    )
    run = begun(game(moves=mate))
    assert [each.ply for each in run.open if each.kind == "position"] == [
        *range(3, -1, -1)
    ]
    run.reply_all()
    detail = run.ledger.detail()
    last = detail.plies[3]
    assert (last.score_cp, last.mate, last.final, last.played_cp) == (
        -3900,
        0,
        True,
        -3900,
    )
    assert last.gain_same_search_cp == 0


@pytest.mark.parametrize("fixed", [None, 2860])
def test_the_field_rates_the_engine_unless_its_rating_is_fixed(
    fixed: int | None,
) -> None:
    source = "fixed" if fixed else "calibration"
    run = played_out(game(moves=MOVES), rating=fixed or 2000, source=source)
    assert any(isinstance(change, EngineMessage) for change in run.changes) == (
        fixed is None
    )
    engine = run.ledger.engine()
    if fixed is None:
        assert engine.rating > 2000 and engine.rating_source == "field"
    else:
        assert (engine.rating, engine.rating_source) == (2860, "fixed")


def test_engine_figures_are_sent_less_often_with_many_moves() -> None:
    run = Run(ledger(rating=2000))
    many = 0
    while many < 150:
        run.step(NewGame(game(f"g{many}", MOVES)))
        run.reply_all()
        many += len(MOVES)
    engines = [each.engine for each in run.changes if isinstance(each, EngineMessage)]
    moves = [engine.rating_moves for engine in engines]
    assert moves == sorted(moves) and 0 < moves[-1] <= many
    assert moves[-1] >= 100 and all(each < 100 or each % 10 == 0 for each in moves)


def test_players_without_names_are_not_one_person() -> None:
    run = played_out(game("g1", white=Player("?"), black=Player("")))
    assert len({view.id for view in run.ledger.players()}) == 2


def test_source_evaluations_replace_the_engine() -> None:
    moves = tuple(
        msgspec.structs.replace(move, eval=Score(20 * index))
        for index, move in enumerate(MOVES[:4], 1)
    )
    run = begun(game(moves=moves), measure=Measure("successive"), engine_scores=False)
    assert not run.open
    detail = run.ledger.detail()
    # Without an evaluation of the start the first move has no gain.
    assert [ply.gain_cp for ply in detail.plies] == [None, -20, 20, -20]
    run.check_subscriber()


UNKNOWN = "time control unknown: taken as classical"
STANDS_IN = "no model for blitz games: read as classical, provisional"


@pytest.mark.parametrize(
    ("measure", "time_control", "model", "note"),
    [
        (BOTH_PACES, "90+30", "classical", ""),
        (BOTH_PACES, "60+0", "blitz", ""),
        (BOTH_PACES, "15+10", "rapid", ""),
        (BOTH_PACES, "", "classical", UNKNOWN),
        (FIGURES, "180+2", "classical", STANDS_IN),
    ],
)
def test_each_game_is_read_by_the_model_of_its_pace(
    measure: Measure, time_control: str, model: str, note: str
) -> None:
    run = played_out(game("g1", MOVES[:20], time_control=time_control), measure=measure)
    detail = run.ledger.detail()
    assert (detail.model, detail.note) == (model, note)
    assert detail.curves.white[-1].perceived is not None
    run.check_subscriber()


def test_without_a_model_algorithm_4_stays_and_the_reason_is_said() -> None:
    measure = Measure("same-search", Models(note="switched off"))
    run = played_out(game(moves=MOVES), measure=measure)
    detail = run.ledger.detail()
    assert (detail.model, detail.note) == (None, "switched off")
    last = detail.curves.white[-1]
    assert (last.perceived, last.counted, last.percentile) == (None, 0, None)
    assert last.difference is not None
    assert run.ledger.player("Anand").note == "switched off"


def test_a_player_of_one_game_plays_like_its_last_point() -> None:
    run = played_out(game(moves=MOVES), measure=FIGURES)
    run.step(ResultChanged("g1", "1-0"))
    detail = run.ledger.detail()
    for name, last in (
        ("Anand", detail.curves.white[-1]),
        ("Carlsen", detail.curves.black[-1]),
    ):
        view = run.ledger.player(name)
        for field in set(view.__struct_fields__) & set(last.__struct_fields__):
            assert getattr(view, field) == getattr(last, field), field


def test_a_forced_move_leaves_the_figure_as_it_was() -> None:
    start = "7k/8/8/8/8/6nr/8/6BK w - - 0 1"
    assert chess.Board(start).legal_moves.count() == 1
    forced = game(moves=line(5, 0, 7, start_fen=start), start_fen=start)
    run = played_out(forced, measure=FIGURES)
    first = run.ledger.detail().curves.white[0]
    assert (first.n, first.counted, first.perceived) == (1, 0, None)


def test_games_of_two_paces_are_never_pooled() -> None:
    slow = game("slow", MOVES[:20], time_control="90+30")
    quick = game("quick", MOVES[:10], time_control="180+2")
    run, alone = (
        played_out(*games, measure=BOTH_PACES) for games in ((slow, quick), (slow,))
    )
    pooled, single = run.ledger.player("Anand"), alone.ledger.player("Anand")
    assert pooled.perceived == single.perceived
    assert (pooled.model, pooled.games) == ("classical", 2)
    assert pooled.note.startswith("1 of 2 games")
    # The moves of the other game still count in Algorithm 4.
    assert pooled.moves == single.moves + 5


def test_unrated_players_are_taken_to_be_of_the_field() -> None:
    classical: Any = {"time_control": "90+30"}
    nobodies = game(
        "g0", MOVES[:20], white=Player("One"), black=Player("Two"), **classical
    )
    run = played_out(nobodies, measure=FIGURES)
    alone = run.ledger.detail("g0").curves.white[-1].perceived
    run.step(NewGame(game("g1", **classical)))
    run.check_subscriber()
    elite = run.ledger.detail("g0").curves.white[-1].perceived
    junior, novice = Player("Junior", elo=1100), Player("Novice", elo=900)
    run.step(NewGame(game("g2", white=junior, black=novice, **classical)))
    run.check_subscriber()
    mixed = run.ledger.detail("g0").curves.white[-1]
    assert alone is not None and elite is not None and mixed.perceived is not None
    assert alone < elite and mixed.perceived < elite
    assert mixed.usual_low is None and mixed.percentile is None
    run.step(GameGone("g2"))
    run.check_subscriber()
    assert run.ledger.detail("g0").curves.white[-1].perceived == elite


def test_other_models_rate_everything_anew() -> None:
    run = played_out(game(moves=MOVES), measure=FIGURES)
    scaled = Models(FIGURES.models.models, scale=0.8, converted=True)
    run.measure_by(scaled)
    run.check_subscriber()
    anew = played_out(game(moves=MOVES), measure=FIGURES._replace(models=scaled))
    same_end(run.ledger, anew.ledger)
    assert (
        run.ledger.detail().note == "scores of this engine are converted;"
        " time control unknown: taken as classical"
    )


def test_a_game_that_breaks_a_rule_of_ours_is_given_up_and_told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = boards(2)
    proper = GameRecord.follow

    def broken(
        self: GameRecord, game: Game, players: dict[Color, PlayerTotals]
    ) -> None:
        if game.id == "g0":
            raise KeyError("a fault of ours")
        proper(self, game, players)

    monkeypatch.setattr(GameRecord, "follow", broken)
    for id in ("g0", "g1"):
        state.apply_step(TakenBack(id, 5))
    assert [game.white.name for game in state.games()] == ["White 1"]
    (told,) = state.feeds()
    assert told.part and told.state == "failed" and "given up" in told.detail
    (record,) = caplog.records
    assert record.exc_info, "with its traceback"


def test_nothing_is_told_of_the_step_on_which_a_game_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = boards(1)
    proper = GameRecord.follow

    def follow_and_break(
        self: GameRecord, game: Game, players: dict[Color, PlayerTotals]
    ) -> None:
        proper(self, game, players)
        raise KeyError("a fault of ours")

    monkeypatch.setattr(GameRecord, "follow", follow_and_break)
    effects = state.report_step(MovesPlayed("g0", 9, line(*range(1, 10))[8:]))
    assert GoneMessage("g0") in effects.changes
    assert not effects.requests
    assert not {MoveMessage, ScoreMessage} & set(map(type, effects.changes))


def test_a_restored_game_stays_marked_until_its_source_reports_it() -> None:
    state = Held()
    for _ in state.restore(game(moves=line(1, 2))):
        pass
    # A change that is not a report of the source: the message carries the mark all the
    # same.
    for step, marked in (
        (ResultChanged("g1", "1-0"), True),
        (GameConfirmed("g1"), False),
    ):
        changes = state.report_step(step).changes
        assert {
            each.game.restored for each in changes if isinstance(each, GameMessage)
        } == {marked}


class Tolerant(Held):
    """One that gives games up as the service does, and keeps what it has returned."""

    _delete_failed_game = Event._delete_failed_game

    def __init__(self) -> None:
        super().__init__()
        self.out: list[EventChange] = []

    def take_requests(self) -> list[SearchRequest]:
        """The requests since the last call."""
        requests = [each for each in self.out if isinstance(each, SearchRequest)]
        self.out = [each for each in self.out if not isinstance(each, SearchRequest)]
        return requests

    def list_standings(self) -> list[PlayerView]:
        """All standings that were told, in order."""
        return [each.player for each in self.out if isinstance(each, StandingMessage)]


def boards(count: int) -> Tolerant:
    """All with the same moves, nothing answered."""
    state = Tolerant()
    for number in range(count):
        white, black = (
            Player(f"White {number}", elo=2000 + number),
            Player(f"Black {number}"),
        )
        state.out += state.apply_step(
            NewGame(game(f"g{number}", line(*range(1, 9)), white=white, black=black))
        )
    return state


def answer_requests(
    state: Tolerant, *, at_once: bool = False, all: bool = True
) -> bool:
    """Whether there were any."""
    was_asked = False
    while requests := state.take_requests():
        was_asked = True
        for request in requests:
            found = answer(request.search)
            state.out += state.apply_result(request.id, found, rate=at_once)
        if not all:
            break
        state.out += state.rate()
    return was_asked


def test_standings_are_renewed_once_for_all_answers_of_a_turn_and_say_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one_by_one, together = boards(12), boards(12)
    answer_requests(one_by_one, at_once=True)
    renewed: list[int] = []
    proper = EventStandings.rate

    def counted(self: EventStandings, touched: Iterable[PlayerTotals]) -> None:
        touched = list(touched)
        renewed.append(len(touched))
        proper(self, touched)

    monkeypatch.setattr(EventStandings, "rate", counted)
    answer_requests(together, all=False)
    # Of the moves that were not the first choice the gains are known now.
    answer_requests(together, all=False)
    assert not renewed and together.has_unrated
    assert not together.is_analysed
    together.out += together.rate()
    assert 1 <= len(renewed) <= 2
    answer_requests(together)
    assert together.is_rated and together.is_analysed
    assert together.players() == one_by_one.players()
    assert together.engine() == one_by_one.engine()
    told = {each.id for each in together.list_standings()}
    assert told == {each.id for each in together.players()}


def test_a_game_whose_standing_fails_is_given_up_and_the_others_of_the_turn_are_rated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = boards(3)
    bad = next(each.id for each in state.games() if each.white.name == "White 1")
    bad_player = state.player_ids(bad)[0]
    proper = EventStandings.rate

    def rate_without_bad_player(
        self: EventStandings, touched: Iterable[PlayerTotals]
    ) -> None:
        touched = list(touched)
        good = [each for each in touched if each.key != bad_player or not each.games]
        proper(self, good)
        if len(good) < len(touched):
            raise KeyError("a fault of ours")

    monkeypatch.setattr(EventStandings, "rate", rate_without_bad_player)
    while answer_requests(state, all=False):
        state.out += state.rate()
        shown = {each.id: each for each in state.list_standings()}
        assert all(shown.get(each.id, each) == each for each in state.players())
    assert sorted(each.white.name for each in state.games()) == ["White 0", "White 2"]
    assert all(each.moves for each in state.players())
    (told,) = state.feeds()
    assert told.state == "failed"


def test_other_news_comes_after_the_standings_of_the_answers_before_it() -> None:
    state = boards(2)
    for _ in range(2):
        answer_requests(state, all=False)
    assert state.has_unrated
    state.apply_step(ResultChanged("g0", "1-0"))
    assert not state.has_unrated


PLIES = 40
ENDS = [
    ("usual_low", "usual_high"),
    # Of the moves alone: what is shown is drawn towards the level, and may lie outside.
    ("low", "high"),
    ("difference_low", "difference", "difference_high"),
]


@pytest.fixture(scope="module")
def everything() -> Measure:
    """All that the embedded engine is read by."""
    reference = load_reference()
    models = select_models("auto", reference.engine, reference.limit, "same-search")
    results, forecast = load_figure_models(reference.engine, reference.limit)
    return Measure("same-search", models, results=results, forecast=forecast)


def event(
    measure: Measure, *elos: int | None, plies: int = PLIES, result: Result = "1-0"
) -> Held:
    """Players of these ratings, each against the next, White first."""
    held = Held(measure, rating=2160)
    people = [Player(f"Player {number}", elo=elo) for number, elo in enumerate(elos)]
    for number, (white, black) in enumerate(
        zip(people[::2], people[1::2], strict=True)
    ):
        moves = line(*(step * step + 5 * number for step in range(plies)))
        held.follow(
            NewGame(game(f"g{number}", moves, white=white, black=black)),
            ResultChanged(f"g{number}", result),
        )
    return held


def assert_sound(held: Held) -> None:
    """Every figure is a number between its ends, or nothing."""
    curves = held.detail("g0").curves
    for point in (*curves.white, *curves.black):
        assert_figures_sound(point)
    for view in held.players():
        assert_figures_sound(view)


def assert_figures_sound(each: CurvePoint | PlayerView) -> None:
    for names in ENDS:
        known = [end for name in names if (end := getattr(each, name)) is not None]
        assert all(map(math.isfinite, known))
        assert known == sorted(known)
    assert each.percentile is None or 0 <= each.percentile <= 100


def test_one_rated_player_gives_the_other_a_performance(everything: Any) -> None:
    held = event(everything, 2300, None)
    assert_sound(held)
    rated, unrated = held.player("Player 0"), held.player("Player 1")
    assert rated.percentile is not None and unrated.percentile is None
    assert unrated.fide_performance == 2300 - 800  # a loss
    # He has no rated opponent.
    assert rated.fide_performance is None and rated.rating_change is None


@pytest.mark.parametrize(
    "elos", [(0, 2300), (4000, 2300), (2300, 0), (2300, 4000), (0, 4000)]
)
@pytest.mark.parametrize("result", ["1-0", "*"])
def test_a_rating_of_0_or_4000_breaks_nothing(
    everything: Any, elos: tuple[int, int], result: Result
) -> None:
    held = event(everything, *elos, result=result)
    assert_sound(held)
    for number, elo in enumerate(elos):
        view = held.player(f"Player {number}")
        assert view.elo == elo
        assert view.perceived is not None and view.percentile is not None


@pytest.mark.parametrize(("k", "used"), [(None, 20), (40, 40)])
def test_the_rating_change_uses_the_listed_k(
    everything: Any, k: int | None, used: int
) -> None:
    held = event(everything, 2300, 2200)
    headers = game(
        white=Player("Player 0", elo=2300, k=k), black=Player("Player 1", elo=2200)
    )
    held.apply_step(HeadersChanged("g0", headers.headers))
    view = held.player("Player 0")
    assert (view.rating_k, view.rating_k_listed) == (used, k is not None)
    assert view.rating_change == pytest.approx(used * 0.36)


@pytest.mark.parametrize("plies", [0, 1])
def test_a_game_that_one_side_never_began_counts_for_points_alone(
    everything: Any, plies: int
) -> None:
    held = event(everything, 2300, 2200, plies=plies)
    for number in (0, 1):
        view = held.player(f"Player {number}")
        assert (view.points, view.finished, view.games) == (1.0 - number, 1, 1)
        assert (view.fide_performance, view.rating_change) == (None, None)
        assert (view.perceived, view.moves, view.agreement) == (None, 0, None)
    detail = held.detail("g0")
    assert [len(detail.plies), len(detail.curves.white)] == [plies, plies]
    assert not figures_of(detail) and not detail.curves.black


def figures_of(detail: GameDetail) -> list[float]:
    """What White's curve says of the player."""
    names = ("perceived", "usual_low", "percentile", "difference", "difference_low")
    points = detail.curves.white
    found = [getattr(point, name) for point, name in product(points, names)]
    found += [point.counted or None for point in points]
    return [each for each in found if each is not None]


def test_a_game_that_goes_on_after_its_first_move_has_its_figures(
    everything: Any,
) -> None:
    run = begun(game("g1", line(1)), measure=everything)
    run.reply_all()
    assert figures_of(run.ledger.detail("g1"))
    for result in ("1-0", "*"):
        run.step(ResultChanged("g1", result))
        run.check_subscriber()
        assert bool(figures_of(run.ledger.detail("g1"))) == (result == "*")


@pytest.mark.parametrize(
    ("date", "change"), [("2025.09.30", 0.8), ("2026.05.01", 0.0), ("", 0.0)]
)
def test_the_rating_change_follows_the_rule_of_the_game_s_date(
    everything: Any, date: str, change: float
) -> None:
    held = event(everything, 2800, 1800)
    white, black = Player("Player 0", elo=2800), Player("Player 1", elo=1800)
    dated = game(white=white, black=black, date=date)
    held.apply_step(HeadersChanged("g0", dated.headers))
    assert held.player("Player 0").rating_change == pytest.approx(change)


@pytest.mark.parametrize(
    ("result", "points"),
    [
        ("1-0", (1.0, 0.0)),
        ("1/2-1/2", (0.5, 0.5)),
        ("0-0", (0.0, 0.0)),
        ("*", (None, None)),
    ],
)
def test_a_player_has_the_points_of_finished_games(
    result: Result, points: tuple[float | None, float | None]
) -> None:
    service = Rehearsal()

    def report(result: Result) -> tuple[float | None, ...]:
        told: GameReport = played("e4 e5 Nf3 Nc6", result=result)
        service.report(FeedReport("hall", (told,)))
        views = sorted(
            service.state.players(), key=lambda view: view.name, reverse=True
        )
        assert all(view.finished == (result != "*") for view in views)
        return tuple(view.points for view in views)

    report("*")
    assert report(result) == points
    assert report("*") == (None, None), (
        "a result that is withdrawn takes its points along"
    )


async def test_who_moves_is_known_by_the_start_and_the_ply() -> None:
    service = open_unscored()
    report = upto(demo_feed.read_demo_games()[0], 2)
    report = change_headers(report, white=Player("W", elo=2001), black=Player("B"))
    await service.take(FeedReport("file", (report,)))
    (held,) = service.state.list_source_games()
    assert [service.state.find_mover_elo(held.id, ply) for ply in (1, 2, 3)] == [
        2001,
        None,
        2001,
    ]
    assert service.state.find_mover_elo("unknown", 1) is None


def test_a_game_is_forgotten_once() -> None:
    event = ledger()
    first = game("g1", line(1, 2))
    event.report_step(NewGame(first))
    assert event.forget("g1")[0] == [first]
    assert event.forget("g1") == ([], ())
    assert event.game("g1") is None


async def test_doubtful_names_of_a_rating_list_are_shown_with_what_to_do(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("Name,FideId,Rating,K\nBoe Anna,7,2300,40\nDahl Cleo,8,2100,20\n")
    service = open_unscored(None, **{"feeds.rating_list": str(path)})
    game = upto(demo_feed.read_demo_games()[0], 2)
    game = change_headers(game, white=Player("Boe, A"), black=Player("Dahl, Cleo"))
    await service.take(FeedReport("hall", (game,)))
    (health,) = service.state.feeds()
    assert (health.feed, health.state, health.part) == ("rating list", "stale", True)
    assert (
        "Boe, A is perhaps Boe Anna (7) in the list: give the FIDE id" in health.detail
    )
    (held,) = service.state.games()
    assert held.black.elo == 2100 and held.black.k == 20 and held.white.elo is None
    service.arbiter.tick()
