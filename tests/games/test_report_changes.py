"""What a report changes; the lies of feeds each by name; and the laws of planning."""

from __future__ import annotations

from collections import Counter
from typing import Any

import chess
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import GameReport, Move, Player, Result, Score
from live.games.game import (
    ClocksCorrected,
    EvalsChanged,
    Game,
    GameConfirmed,
    GameGone,
    HeadersChanged,
    MovesPlayed,
    NewGame,
    ProblemChanged,
    ResultChanged,
    Step,
    TailReplaced,
    TakenBack,
)
from live.games.game_index import GameIndex
from live.games.player_identity import first_id
from live.games.report_changes import plan
from tests.games.told import FEED, follow, holding, line, report, told

ID = first_id(told())
NAMES = "Anna Adams-Boris Berg"
MATED: Any = "f3 e5 g4 Qh4#"


def clocked(game: GameReport, *clocks: float | None) -> GameReport:
    """``game`` with the clock after each of its first moves."""
    moves = list(game.moves)
    for index, clock_s in enumerate(clocks):
        moves[index] = msgspec.structs.replace(moves[index], clock_s=clock_s)
    return msgspec.structs.replace(game, moves=tuple(moves))


def headed(game: GameReport, **changes: Any) -> GameReport:
    headers = msgspec.structs.replace(game.headers, **changes)
    return msgspec.structs.replace(game, headers=headers)


# --- one game -----------------------------------------------------------------------------------


def test_a_new_game_comes_with_all_it_has() -> None:
    start_eval = msgspec.structs.replace(told(NAMES, "e4 e5", board=4), start_eval=Score(20))
    (step,) = follow(GameIndex(), start_eval)
    assert step == NewGame(
        Game(
            id=first_id(start_eval),
            feed=FEED,
            key="",
            headers=start_eval.headers,
            start_fen=chess.STARTING_FEN,
            moves=line("e4 e5"),
            start_eval=Score(20),
        )
    )


@pytest.mark.parametrize(
    ("before", "now", "step"),
    [
        ("", "e4", MovesPlayed(ID, 1, line("e4"))),
        ("e4", "e4 e5 Nf3", MovesPlayed(ID, 2, line("e4 e5 Nf3")[1:])),
        ("e4 e5 Nf3", "e4", TakenBack(ID, 1)),
        ("e4 e5 Nf3", "e4 c5 Nf3", TailReplaced(ID, 2, line("e4 c5 Nf3")[1:])),
        ("e4 e5 Nf3", "e4 c5", TailReplaced(ID, 2, line("e4 c5")[1:])),
        ("e4", "d4 d5", TailReplaced(ID, 1, line("d4 d5"))),
    ],
)
def test_a_change_of_moves_is_one_step(before: str, now: str, step: Step) -> None:
    assert follow(holding(told(sans=before)), told(sans=now)) == [step]


def test_a_report_of_what_is_held_changes_nothing() -> None:
    games = [told(sans="e4 e5", problem="illegal move Qh9 at ply 3"), told("Cleo-Dora")]
    assert follow(holding(*games), *games) == []


def test_headers_result_and_problem_change_each_by_its_step() -> None:
    held = holding(told(sans="e4"))
    now = headed(
        told(sans="e4", result="1-0", problem="illegal move Qh9 at ply 2"),
        white=Player("Anna Adams", elo=2412),
    )
    assert follow(held, now) == [
        HeadersChanged(ID, now.headers),
        ResultChanged(ID, "1-0"),
        ProblemChanged(ID, "illegal move Qh9 at ply 2"),
    ]
    assert follow(held, told(sans="e4", result="1-0"))[-1] == ProblemChanged(ID, None)


def test_new_moves_come_with_corrected_clocks_of_the_old() -> None:
    held = holding(clocked(told(sans="e4 e5"), 5400, 5400))
    now = clocked(told(sans="e4 e5 Nf3"), 5400, 5380, 5390)
    assert follow(held, now) == [
        MovesPlayed(ID, 3, now.moves[2:]),
        ClocksCorrected(ID, ((2, 5380, None),)),
    ]


def test_clocks_of_a_replaced_tail_come_with_its_moves() -> None:
    held = holding(clocked(told(sans="e4 e5"), 10, 20))
    now = clocked(told(sans="e4 c5"), 11, 21)
    assert follow(held, now) == [
        TailReplaced(ID, 2, now.moves[1:]),
        ClocksCorrected(ID, ((1, 11, None),)),
    ]


def test_evaluations_of_the_source_change_by_ply_the_start_being_0() -> None:
    held = holding(told(sans="e4 e5"))
    first, second = line("e4 e5")
    judged = msgspec.structs.replace(second, eval=Score(31))
    now = msgspec.structs.replace(
        told(), moves=(first, judged), start_eval=Score(cp=12), result="1/2-1/2"
    )
    assert follow(held, now) == [
        EvalsChanged(ID, ((0, Score(12)), (2, Score(31)))),
        ResultChanged(ID, "1/2-1/2"),
    ]
    assert held[ID].moves[1].eval == Score(31)


def test_another_start_position_replaces_the_game_under_its_id() -> None:
    held = holding(told(sans="e4", key="abc"))
    fen = "nrbbqnkr/pppppppp/8/8/8/8/PPPPPPPP/NRBBQNKR w KQkq - 0 1"
    gone, new = follow(held, told(key="abc", start_fen=fen, variant="chess960"))
    assert gone == GameGone("abc")
    assert isinstance(new, NewGame) and new.id == "abc" and new.game.start_fen == fen
    assert held["abc"].moves == () and held["abc"].chess960


def test_another_variant_replaces_the_game_since_castling_is_written_otherwise() -> None:
    held = holding(told(sans="e4"))
    gone, new = follow(held, told(sans="e4", variant="chess960"))
    assert gone == GameGone(ID)
    assert isinstance(new, NewGame) and new.game.position(1)[2]


def test_a_variant_we_do_not_know_is_shown_without_moves() -> None:
    (new,) = follow(GameIndex(), told(sans="e4 e5", variant="atomic"))
    assert isinstance(new, NewGame)
    assert new.game.problem == "variant atomic is not supported"
    assert (new.game.moves, new.game.result) == ((), "*")


# --- feed lies ----------------------------------------------------------------------------------


def test_lie_kings_in_the_centre_at_the_end_of_a_game() -> None:
    held = holding(told(sans="e4 e5 Nf3"))
    kings = told(sans="e4 e5 Nf3", problem="illegal move Kd5 at ply 4")
    assert follow(held, kings) == [ProblemChanged(ID, "illegal move Kd5 at ply 4")]
    over = msgspec.structs.replace(kings, result="1-0")
    assert follow(held, over) == [ResultChanged(ID, "1-0"), ProblemChanged(ID, None)]
    assert follow(held, over) == []


def test_lie_kings_in_the_centre_after_mate_and_no_result() -> None:
    kings = told(sans=MATED, problem="illegal move Kd4 at ply 5")
    live = holding(told(sans="f3 e5 g4"))
    follow(live, kings)
    for held in (live, holding(kings)):
        assert (held[ID].result, held[ID].problem, len(held[ID].moves)) == ("0-1", None, 4)
        assert follow(held, kings) == []


def test_lie_a_result_before_the_last_moves() -> None:
    held = holding(told(sans="e4"))
    assert follow(held, told(sans="e4", result="0-1")) == [ResultChanged(ID, "0-1")]
    late = told(sans="e4 e5 Nf3", result="0-1")
    assert follow(held, late) == [MovesPlayed(ID, 2, line("e4 e5 Nf3")[1:])]
    assert follow(held, told(sans="e4 e5 Nf3")) == [ResultChanged(ID, "*")]


@pytest.mark.parametrize("before", ["", "f3", "f3 e5 g4", "f3 e5 g4 Qg5", "d4"])
def test_lie_an_asterisk_left_after_mate(before: str) -> None:
    held = holding(told(sans=before))
    assert follow(held, told(sans=MATED))[-1] == ResultChanged(ID, "0-1")
    assert follow(held, told(sans=MATED)) == []
    assert held[ID] == holding(told(sans=MATED))[ID]


def test_lie_an_asterisk_after_a_mate_that_was_corrected() -> None:
    held = holding(told(sans=MATED))
    steps = follow(held, told(sans="f3 e5 g4 Qg5"))
    assert steps[1:] == [ResultChanged(ID, "*")]


def test_lie_a_mate_told_with_a_result_keeps_what_was_told() -> None:
    assert holding(told(sans=MATED, result="1/2-1/2"))[ID].result == "1/2-1/2"


def test_lie_a_move_corrected_twice() -> None:
    held = holding(told(sans="e4 e5 Nf3"))
    assert follow(held, told(sans="e4 e5 Nc3")) == [TailReplaced(ID, 3, line("e4 e5 Nc3")[2:])]
    assert follow(held, told(sans="e4 e5 Nf3 Nc6")) == [
        TailReplaced(ID, 3, line("e4 e5 Nf3 Nc6")[2:])
    ]
    assert follow(held, told(sans="e4 e5 Nf3 Nc6")) == []


def test_lie_a_takeback_that_only_shortens() -> None:
    held = holding(told(sans="e4 e5 Nf3 Nc6"))
    assert follow(held, told(sans="e4 e5 Nf3")) == [TakenBack(ID, 3)]
    assert follow(held, told(sans="e4 e5")) == [TakenBack(ID, 2)]


def test_lie_clocks_that_jump() -> None:
    held = holding(clocked(told(sans="e4 e5 Nf3"), 60, 60, 2))
    up = clocked(told(sans="e4 e5 Nf3"), 60, 60, 1802)
    assert follow(held, up) == [ClocksCorrected(ID, ((3, 1802, None),))]
    nonsense = clocked(told(sans="e4 e5 Nf3"), None, -5, 1e9)
    assert follow(held, nonsense) == [
        ClocksCorrected(ID, ((1, None, None), (2, -5, None), (3, 1e9, None)))
    ]


def test_a_played_game_that_its_source_no_longer_holds_stays_and_says_so() -> None:
    held = holding(told(sans="e4"), told("Cleo-Dora", "d4"))
    id = first_id(told("Cleo-Dora"))
    problem = "no longer in its source; shown as it was last"
    assert follow(held, told(sans="e4")) == [ProblemChanged(id, problem)]
    assert follow(held, told(sans="e4")) == []
    back = [ProblemChanged(id, None), MovesPlayed(id, 2, line("d4 d5")[1:])]
    found = follow(held, told(sans="e4"), told("Cleo-Dora", "d4 d5"))
    assert sorted(map(repr, found)) == sorted(map(repr, back))


def test_a_pairing_that_its_source_no_longer_holds_is_gone() -> None:
    held = holding(told(sans="e4"), told("Cleo-Dora"))
    assert follow(held, told(sans="e4")) == [GameGone(first_id(told("Cleo-Dora")))]


def test_lie_a_file_that_is_empty_for_a_moment() -> None:
    held = holding(told(sans="e4"))
    follow(held)
    follow(held)
    assert MovesPlayed(ID, 2, line("e4 e5")[1:]) in follow(held, told(sans="e4 e5"))


def test_a_report_that_is_not_complete_takes_nothing_away() -> None:
    held = holding(told(sans="e4"), told("Cleo-Dora", "d4"))
    for _ in range(5):
        assert follow(held, told(sans="e4"), complete=False) == []


def test_a_report_takes_nothing_from_another_feed() -> None:
    held = holding(told(sans="e4"))
    for _ in range(5):
        follow(held, told("Cleo-Dora"), feed="other")
    assert ID in held


def test_a_game_scored_by_forfeit_after_all_loses_its_moves_at_once() -> None:
    held = holding(told(sans="e4 e5"))
    assert follow(held, told(result="0-1")) == [TakenBack(ID, 0), ResultChanged(ID, "0-1")]


def test_lie_byes_and_half_pairings_are_no_games() -> None:
    assert (
        follow(GameIndex(), told("Anna-BYE", result="1-0"), told("Anna-?"), told("-", key="x"))
        == []
    )


def test_lie_a_pairing_completed_later_is_a_game() -> None:
    held = holding(told("Anna-?", key="x"))
    (new,) = follow(held, told("Anna-Boris", key="x"))
    assert isinstance(new, NewGame) and new.id == "x"


def test_a_game_without_names_is_one_when_it_has_moves() -> None:
    (new,) = follow(GameIndex(), told("?-?", "e4"))
    assert isinstance(new, NewGame)


def test_lie_an_illegal_move_really_played_is_told_as_a_problem() -> None:
    held = holding(told(sans="e4 e5"))
    problem = "illegal move Nxe7 at ply 3"
    assert follow(held, told(sans="e4 e5", problem=problem)) == [ProblemChanged(ID, problem)]
    over = told(sans="e4 e5", problem=problem, result="1-0")
    assert follow(held, over) == [ResultChanged(ID, "1-0")]


def test_lie_names_event_round_and_board_that_vanish_are_kept() -> None:
    full = headed(told(sans="e4", board=3, key="k"), white=Player("Anna", 2400, "GM", 7))
    held = holding(full)
    bare = headed(full, white=Player("?"), black=Player(""), event="?", round="-", board=None)
    assert follow(held, bare) == []
    assert held["k"].headers == full.headers


def test_a_wrong_title_or_rating_can_be_withdrawn() -> None:
    held = holding(headed(told(), white=Player("Anna Adams", 2400, "GM", federation="SUI")))
    now = headed(told(), white=Player("Anna Adams", 2410))
    assert follow(held, now) == [HeadersChanged(ID, now.headers)]


def test_lie_titles_accents_ids_and_ratings_that_come_and_go_keep_the_game() -> None:
    held = holding(headed(told(sans="e4"), white=Player("Jörg Müller")))
    (game,) = held
    for white in (
        Player("GM Müller, Jörg"),
        Player("Mueller, Joerg", elo=2500),
        Player("MULLER Jorg", fide_id=4600000),
        Player("J. Müller", fide_id=4600000),
        Player("Müller, Jörg"),
    ):
        steps = follow(held, headed(told(sans="e4"), white=white))
        assert [(type(step), step.id) for step in steps] == [(HeadersChanged, game.id)]


def test_a_spelling_of_a_move_is_no_change() -> None:
    held = holding(told(sans="e4 e5 Nf3"))
    spelt = tuple(Move(uci=move.uci, san=move.san + "!") for move in line("e4 e5 Nf3"))
    assert follow(held, msgspec.structs.replace(told(), moves=spelt)) == []


def test_planning_looks_only_at_the_games_told() -> None:
    class Watched(GameIndex):
        looked_at: set[str]

        def __getitem__(self, id: str) -> Game:
            self.looked_at.add(id)
            return super().__getitem__(id)

        def of_feed(self, feed: str) -> tuple[str, ...]:
            raise AssertionError("an incomplete report needs no list of games")

    held = Watched()
    games = [told(f"White{i} X-Black{i} Y", "e4 e5", board=i) for i in range(200)]
    follow(held, *games, complete=False)
    held.looked_at = set()
    (step,) = plan(held, report(told("White7 X-Black7 Y", "e4 e5 Nf3", board=7), complete=False))
    assert held.looked_at == {step.id}


# --- laws ---------------------------------------------------------------------------------------

RESULTS: tuple[Result, ...] = ("*", "*", "1-0", "0-1", "1/2-1/2")
STARTS = (chess.STARTING_FEN, "8/5k2/8/8/8/8/R7/K7 w - - 0 1", "7k/8/5KQ1/8/8/8/8/8 b - - 0 1")


@st.composite
def lines(draw: st.DrawFn, start_fen: str) -> tuple[Move, ...]:
    """A random game; few moves to choose from, so that two often begin alike."""
    board = chess.Board(start_fen)
    moves: list[Move] = []
    for choice in draw(st.lists(st.integers(0, 1), max_size=8)):
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if not legal:
            break
        move = legal[(choice * len(legal)) // 2]
        clock_s = draw(st.sampled_from([None, 60.0, 61.5]))
        score = draw(st.sampled_from([None, None, Score(30)]))
        moves.append(Move(move.uci(), board.san(move), clock_s, None, score))
        board.push(move)
    return tuple(moves)


@st.composite
def games(draw: st.DrawFn, *, keyed: bool, key: str = "") -> GameReport:
    start_fen = draw(st.sampled_from(STARTS))
    white, black = draw(st.permutations(["Anna", "Boris", "Cleo", "Dora"]))[:2]
    game = told(
        f"{white}-{black}",
        key=key if keyed else "",
        round=draw(st.sampled_from(["1", "2"])),
        board=draw(st.sampled_from([None, 1, 2])),
        result=draw(st.sampled_from(RESULTS)),
        start_fen=start_fen,
        problem=draw(st.sampled_from([None, None, "illegal move Qh9 at ply 9"])),
    )
    moves = draw(lines(start_fen))
    start_eval = draw(st.sampled_from([None, Score(10)]))
    number = draw(st.sampled_from([None, None, 5]))
    game = headed(game, white=msgspec.structs.replace(game.headers.white, fide_id=number))
    return msgspec.structs.replace(game, moves=moves, start_eval=start_eval)


@st.composite
def reports(draw: st.DrawFn, *, keyed: bool) -> list[GameReport]:
    if keyed:
        keys = draw(st.lists(st.sampled_from("abcde"), unique=True, max_size=5))
        return [draw(games(keyed=True, key=key)) for key in keys]
    return draw(st.lists(games(keyed=False), max_size=5))


def state(game: Game | GameReport) -> tuple[object, ...]:
    """Everything but the id; the result as the rules have it."""
    result = game.result
    if isinstance(game, GameReport) and result == "*" and game.moves:
        board = chess.Board(game.start_fen)
        for move in game.moves:
            board.push_uci(move.uci)
        if board.is_checkmate():
            result = "0-1" if board.turn else "1-0"
    place = (game.headers.event, game.headers.round)
    return (
        *(repr(game.headers.white), repr(game.headers.black), *place),
        *(game.start_fen, repr(game.moves), result, repr(game.start_eval), repr(game.problem)),
    )


@pytest.mark.slow
@given(st.data(), st.booleans(), st.integers(0, 3))
@settings(deadline=None, max_examples=40)
def test_law_a_plan_applied_reaches_what_was_told(
    data: st.DataObject, keyed: bool, before: int
) -> None:
    held = GameIndex()
    for _ in range(before):
        follow(held, *data.draw(reports(keyed=keyed)))
    now = data.draw(reports(keyed=keyed))
    played = Counter(state(game)[:-1] for game in held if game.moves)
    follow(held, *now)
    # Everything told is held; what is held besides was played before.
    here, wanted = Counter(map(state, held)), Counter(map(state, now))
    assert wanted <= here
    assert Counter(each[:-1] for each in (here - wanted).elements()) <= played


@pytest.mark.slow
@given(st.data(), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_law_a_plan_applied_twice_changes_nothing(
    data: st.DataObject, keyed: bool, complete: bool
) -> None:
    held = GameIndex()
    for _ in range(data.draw(st.integers(0, 3))):
        follow(held, *data.draw(reports(keyed=keyed)), complete=complete)
    now = data.draw(reports(keyed=keyed))
    follow(held, *now, complete=complete)
    assert follow(held, *now, complete=complete) == []


@pytest.mark.slow
@given(st.data(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_law_ids_do_not_depend_on_the_order_of_a_report(data: st.DataObject, keyed: bool) -> None:
    first, second = (data.draw(reports(keyed=keyed)) for _ in range(2))
    one, other = GameIndex(), GameIndex()
    follow(one, *first)
    follow(one, *second)
    follow(other, *data.draw(st.permutations(first)))
    follow(other, *data.draw(st.permutations(second)))
    assert {game.id: game for game in one} == {game.id: game for game in other}


@pytest.mark.slow
@given(st.data())
@settings(deadline=None, max_examples=40)
def test_law_independent_games_may_be_told_in_any_order(data: st.DataObject) -> None:
    """Three games, each told several times in its own order, interleaved at random."""
    turns = data.draw(st.permutations("aaabbbccc"))
    stories = {key: [data.draw(games(keyed=True, key=key)) for _ in range(3)] for key in "abc"}
    mixed, in_turn = GameIndex(), GameIndex()
    told_so_far = dict.fromkeys("abc", 0)
    for key in turns:
        follow(mixed, stories[key][told_so_far[key]], complete=False)
        told_so_far[key] += 1
    for story in stories.values():
        for game in story:
            follow(in_turn, game, complete=False)
    assert {game.id: game for game in mixed} == {game.id: game for game in in_turn}


@pytest.mark.slow
@given(st.data(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_law_planning_changes_nothing_and_names_each_game_held(
    data: st.DataObject, keyed: bool
) -> None:
    held = GameIndex()
    for _ in range(2):
        follow(held, *data.draw(reports(keyed=keyed)))
    before = {game.id: game for game in held}
    now = report(*data.draw(reports(keyed=keyed)))
    assert plan(held, now) == plan(held, now)
    assert {game.id: game for game in held} == before


def test_a_game_from_before_goes_on_where_its_source_tells_it_and_is_confirmed_once() -> None:
    held = holding(told(sans="e4 e5"), told("Clara Coy-Dora Dahl", "d4"))
    (one, other) = (game.id for game in held)
    held.restore(one)
    held.restore(other)
    steps = follow(held, told(sans="e4 e5 Nf3"), complete=False)
    assert steps == [GameConfirmed(one), MovesPlayed(one, 3, line("e4 e5 Nf3")[2:])]
    assert follow(held, told(sans="e4 e5 Nf3"), complete=False) == []
    assert held.is_restored(other)
    assert follow(held, told("Clara Coy-Dora Dahl", "d4"), complete=False) == [GameConfirmed(other)]
