"""What a report changes; the lies of feeds each by name; and the laws of planning."""

import itertools
from collections import Counter
from typing import Any

import chess
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.games.game import (
    ClocksCorrected,
    Game,
    GameConfirmed,
    GameGone,
    HeadersChanged,
    MovesPlayed,
    NewGame,
    ProblemChanged,
    ResultChanged,
    TailReplaced,
    TakenBack,
)
from live.games.game_index import GameIndex
from live.games.game_matching import (
    drop_repeats,
    is_next_game_of_same_players,
    match_games,
)
from live.games.player_identity import preferred_game_id
from live.games.report_changes import plan_report_steps
from live.games.report_cleaning import (
    add_result_after_mate,
    drop_centring_king_moves,
    drop_moves_of_unsupported_variant,
    is_no_game,
)
from live.messages.from_sources import GameReport, Move, Player, Result, Score
from tests.games.short_reports import (
    FEED,
    build_index,
    change_headers,
    follow,
    line,
    make_game,
    report,
)

ID = preferred_game_id(make_game())
NAMES = "Anna Adams-Boris Berg"
MATED: Any = "f3 e5 g4 Qh4#"


def set_clocks(game: GameReport, *clocks: float | None) -> GameReport:
    """``game`` with the clock after each of its first moves."""
    moves = list(game.moves)
    for index, clock_s in enumerate(clocks):
        moves[index] = msgspec.structs.replace(moves[index], clock_s=clock_s)
    return msgspec.structs.replace(game, moves=tuple(moves))


# --- one game -------------------------------------------------------------------------


GAME = make_game(sans="e4 e5 Nf3")
ILLEGAL = "illegal move 2.Nxe7"
CLOCKED = set_clocks(make_game(sans="e4 e5 Nf3"), 60, 60, 2)
STARTS_960 = "nrbbqnkr/pppppppp/8/8/8/8/PPPPPPPP/NRBBQNKR w KQkq - 0 1"
GM = change_headers(
    make_game(), white=Player("Anna Adams", 2400, "GM", federation="SUI")
)


@pytest.mark.parametrize(
    ("before", "stages"),
    [
        (make_game(sans="e4"), [(GAME, MovesPlayed(ID, 2, GAME.moves[1:]))]),
        (GAME, [(make_game(sans="e4"), TakenBack(ID, 1))]),
        (
            GAME,
            [(make_game(sans="e4 c5 Nf3"), TailReplaced(ID, 2, line("e4 c5 Nf3")[1:]))],
        ),
        (GAME, [(make_game(sans="e4 c5"), TailReplaced(ID, 2, line("e4 c5")[1:]))]),
        (
            make_game(sans="e4"),
            [(make_game(sans="d4 d5"), TailReplaced(ID, 1, line("d4 d5")))],
        ),
        # A result before the last moves, and one withdrawn.
        (
            make_game(sans="e4"),
            [
                (make_game(sans="e4", result="0-1"), ResultChanged(ID, "0-1")),
                (
                    make_game(sans="e4 e5 Nf3", result="0-1"),
                    MovesPlayed(ID, 2, GAME.moves[1:]),
                ),
                (GAME, ResultChanged(ID, "*")),
            ],
        ),
        # Clocks that jump, and what no clock shows.
        (
            CLOCKED,
            [
                (
                    set_clocks(GAME, 60, 60, 1802),
                    ClocksCorrected(ID, ((3, 1802, None),)),
                ),
                (
                    set_clocks(GAME, None, -5, 1e9),
                    ClocksCorrected(
                        ID, ((1, None, None), (2, -5, None), (3, 1e9, None))
                    ),
                ),
            ],
        ),
        # Clocks of what was held, with moves that are new or others.
        (
            CLOCKED,
            [
                (
                    now := set_clocks(make_game(sans="e4 e5 Nf3 Nc6"), 60, 58, 2),
                    MovesPlayed(ID, 4, now.moves[3:]),
                    ClocksCorrected(ID, ((2, 58, None),)),
                ),
                (
                    now := set_clocks(make_game(sans="e4 c5"), 61, 21),
                    TailReplaced(ID, 2, now.moves[1:]),
                    ClocksCorrected(ID, ((1, 61, None),)),
                ),
            ],
        ),
        # An illegal move really played.
        (
            make_game(sans="e4 e5"),
            [
                (make_game(sans="e4 e5", problem=ILLEGAL), ProblemChanged(ID, ILLEGAL)),
                (
                    make_game(sans="e4 e5", problem=ILLEGAL, result="1-0"),
                    ResultChanged(ID, "1-0"),
                ),
                (make_game(sans="e4 e5", result="1-0"), ProblemChanged(ID, None)),
            ],
        ),
        # Scored by forfeit after all.
        (GAME, [(make_game(result="0-1"), TakenBack(ID, 0), ResultChanged(ID, "0-1"))]),
        # A wrong title or rating can be withdrawn.
        (
            GM,
            [
                (
                    now := change_headers(
                        make_game(), white=Player("Anna Adams", 2410)
                    ),
                    HeadersChanged(ID, now.headers),
                )
            ],
        ),
    ],
)
def test_what_a_report_changes(before: GameReport, stages: Any) -> None:
    held = build_index(before)
    for now, *steps in stages:
        assert follow(held, now) == steps
        assert follow(held, now) == [], "nothing is left to change"


def test_another_start_position_replaces_the_game_under_its_id() -> None:
    held = build_index(make_game(sans="e4", key="abc"))
    gone, new = follow(
        held, make_game(key="abc", start_fen=STARTS_960, variant="chess960")
    )
    assert gone == GameGone("abc")
    assert (
        isinstance(new, NewGame)
        and new.id == "abc"
        and new.game.start_fen == STARTS_960
    )
    assert held["abc"].moves == () and held["abc"].chess960


def test_another_variant_replaces_the_game_as_castling_differs() -> None:
    held = build_index(make_game(sans="e4"))
    gone, new = follow(held, make_game(sans="e4", variant="chess960"))
    assert gone == GameGone(ID)
    assert isinstance(new, NewGame) and new.game.chess960


# --- feed lies ------------------------------------------------------------------------


def test_lie_kings_in_the_centre_after_mate_and_no_result() -> None:
    kings = make_game(sans=MATED, problem="illegal move 3.Kd4")
    live = build_index(make_game(sans="f3 e5 g4"))
    follow(live, kings)
    for held in (live, build_index(kings)):
        assert (held[ID].result, held[ID].problem, len(held[ID].moves)) == (
            "0-1",
            None,
            4,
        )
        assert follow(held, kings) == []


def test_a_played_game_that_its_source_no_longer_holds_stays_and_says_so() -> None:
    held = build_index(make_game(sans="e4"), make_game("Cleo-Dora", "d4"))
    id = preferred_game_id(make_game("Cleo-Dora"))
    problem = "no longer in its source; the last known state is shown"
    assert follow(held, make_game(sans="e4")) == [ProblemChanged(id, problem)]
    assert follow(held, make_game(sans="e4")) == []
    back = [ProblemChanged(id, None), MovesPlayed(id, 2, line("d4 d5")[1:])]
    found = follow(held, make_game(sans="e4"), make_game("Cleo-Dora", "d4 d5"))
    assert sorted(map(repr, found)) == sorted(map(repr, back))


def test_a_pairing_that_its_source_no_longer_holds_is_gone() -> None:
    held = build_index(make_game(sans="e4"), make_game("Cleo-Dora"))
    assert follow(held, make_game(sans="e4")) == [
        GameGone(preferred_game_id(make_game("Cleo-Dora")))
    ]


def test_a_report_that_is_not_complete_takes_nothing_away() -> None:
    held = build_index(make_game(sans="e4"), make_game("Cleo-Dora", "d4"))
    for _ in range(5):
        assert follow(held, make_game(sans="e4"), complete=False) == []


def test_lie_a_pairing_completed_later_is_a_game() -> None:
    held = build_index(make_game("Anna-?", key="x"))
    (new,) = follow(held, make_game("Anna-Boris", key="x"))
    assert isinstance(new, NewGame) and new.id == "x"


def test_lie_names_event_round_and_board_that_vanish_are_kept() -> None:
    full = change_headers(
        make_game(sans="e4", board=3, key="k"), white=Player("Anna", 2400, "GM", 7)
    )
    held = build_index(full)
    bare = change_headers(
        full, white=Player("?"), black=Player(""), event="?", round="-", board=None
    )
    assert follow(held, bare) == []
    assert held["k"].headers == full.headers


def test_a_spelling_of_a_move_is_no_change() -> None:
    held = build_index(make_game(sans="e4 e5 Nf3"))
    spelt = tuple(Move(uci=move.uci, san=move.san + "!") for move in line("e4 e5 Nf3"))
    assert follow(held, msgspec.structs.replace(make_game(), moves=spelt)) == []


def test_planning_looks_only_at_the_games_told() -> None:
    class Watched(GameIndex):
        looked_at: set[str]

        def __getitem__(self, id: str) -> Game:
            self.looked_at.add(id)
            return super().__getitem__(id)

        def list_game_ids_of_feed(self, feed: str) -> tuple[str, ...]:
            raise AssertionError("an incomplete report needs no list of games")

    held = Watched()
    games = [make_game(f"White{i} X-Black{i} Y", "e4 e5", board=i) for i in range(200)]
    follow(held, *games, complete=False)
    held.looked_at = set()
    (step,) = plan_report_steps(
        held,
        report(make_game("White7 X-Black7 Y", "e4 e5 Nf3", board=7), complete=False),
    )
    assert held.looked_at == {step.id}


# --- what cannot be read --------------------------------------------------------------


def unread(
    sans: str = "",
    problem: str = "unreadable move 1.xx",
    parts: Any = ("moves",),
    **more: Any,
) -> GameReport:
    """A game whose line could not be read beyond these moves."""
    return msgspec.structs.replace(
        make_game(sans=sans, problem=problem, **more), unread=parts
    )


@pytest.mark.parametrize("restored", [False, True])
@pytest.mark.parametrize(
    "now",
    [
        unread(),
        unread("e4"),
        unread("e4 e5 Nf3"),
        # Where it began, and which game it is, could not be read either.
        unread(start_fen=STARTS_960),
        unread(variant="standart"),
    ],
)
def test_what_cannot_be_read_takes_no_move_away(
    restored: bool, now: GameReport
) -> None:
    """Audit of public reports, rows W1, W3 and W12."""
    held = build_index(make_game(sans="e4 e5 Nf3 Nc6"))
    if restored:
        held.mark_restored(ID)
    follow(held, now)
    assert follow(held, now) == []
    assert (held[ID].problem or "").endswith("; the last known state is shown")
    assert held[ID].moves == line("e4 e5 Nf3 Nc6")
    assert (held[ID].start_fen, held[ID].headers.variant) == (
        chess.STARTING_FEN,
        "standard",
    )
    # Read again it goes on at once, and nothing of it is left.
    again = follow(held, make_game(sans="e4 e5 Nf3 Nc6 Bb5"))
    assert again == [
        MovesPlayed(ID, 5, line("e4 e5 Nf3 Nc6 Bb5")[4:]),
        ProblemChanged(ID, None),
    ]


def test_what_can_be_read_of_a_line_contradicts_what_is_held() -> None:
    held = build_index(make_game(sans="e4 e5 Nf3 Nc6"))
    assert follow(held, unread("e4 c5")) == [
        TailReplaced(ID, 2, line("e4 c5")[1:]),
        ProblemChanged(ID, "unreadable move 1.xx"),
    ]
    held = build_index(make_game(sans="e4 e5 Nf3 Nc6"))
    assert follow(held, make_game(sans="e4 e5")) == [TakenBack(ID, 2)]


def test_a_first_reading_that_cannot_be_read_says_so_and_no_more() -> None:
    held = build_index(unread())
    assert (held[ID].moves, held[ID].problem) == ((), "unreadable move 1.xx")
    steps = follow(held, make_game(sans="e4"))
    assert steps == [MovesPlayed(ID, 1, line("e4")), ProblemChanged(ID, None)]


@pytest.mark.parametrize("parts", [("moves",), ("result",), ("moves", "result")])
def test_what_cannot_be_read_withdraws_no_result_and_begins_no_other_game(
    parts: Any,
) -> None:
    held = build_index(make_game(sans="e4 e5 Nf3 Nc6", result="1-0"))
    sans = "" if "moves" in parts else "e4 e5 Nf3 Nc6"
    follow(held, unread(sans, parts=parts))
    assert len(held) == 1
    assert (held[ID].result, held[ID].moves) == ("1-0", line("e4 e5 Nf3 Nc6"))
    follow(held, unread(sans, parts=("moves",), result="0-1"))
    assert held[ID].result == "0-1"
    # The file is used anew for their next game.
    follow(held, make_game(sans="d4"))
    assert len(held) == 2 and held[ID].result == "0-1"


def test_a_name_corrected_in_a_line_that_cannot_be_read_doubles_no_board() -> None:
    held = build_index(make_game(NAMES, "e4 e5 Nf3 Nc6 Bb5 a6", board=3))
    (id,) = (game.id for game in held)
    follow(held, unread(pair="Anna Adams-B. Bergh", board=3))
    assert [game.id for game in held] == [id] and len(held[id].moves) == 6


# --- laws -----------------------------------------------------------------------------

RESULTS: tuple[Result, ...] = ("*", "*", "1-0", "0-1", "1/2-1/2")
STARTS = (
    chess.STARTING_FEN,
    "8/5k2/8/8/8/8/R7/K7 w - - 0 1",
    "7k/8/5KQ1/8/8/8/8/8 b - - 0 1",
)


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
    game = make_game(
        f"{white}-{black}",
        key=key if keyed else "",
        round=draw(st.sampled_from(["1", "2"])),
        board=draw(st.sampled_from([None, 1, 2])),
        result=draw(st.sampled_from(RESULTS)),
        start_fen=start_fen,
        problem=draw(st.sampled_from([None, None, "illegal move 5.Qh9"])),
    )
    moves = draw(lines(start_fen))
    start_eval = draw(st.sampled_from([None, Score(10)]))
    number = draw(st.sampled_from([None, None, 5]))
    game = change_headers(
        game, white=msgspec.structs.replace(game.headers.white, fide_id=number)
    )
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
        repr(game.headers.white),
        repr(game.headers.black),
        *place,
        game.start_fen,
        repr(game.moves),
        result,
        repr(game.start_eval),
        repr(game.problem),
    )


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


@given(st.data(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_law_ids_do_not_depend_on_the_order_of_a_report(
    data: st.DataObject, keyed: bool
) -> None:
    first, second = (data.draw(reports(keyed=keyed)) for _ in range(2))
    one, other = GameIndex(), GameIndex()
    follow(one, *first)
    follow(one, *second)
    follow(other, *data.draw(st.permutations(first)))
    follow(other, *data.draw(st.permutations(second)))
    assert {game.id: game for game in one} == {game.id: game for game in other}


def test_a_restored_game_goes_on_from_its_source_and_is_confirmed_once() -> None:
    held = build_index(make_game(sans="e4 e5"), make_game("Clara Coy-Dora Dahl", "d4"))
    (one, other) = (game.id for game in held)
    held.mark_restored(one)
    held.mark_restored(other)
    steps = follow(held, make_game(sans="e4 e5 Nf3"), complete=False)
    assert steps == [GameConfirmed(one), MovesPlayed(one, 3, line("e4 e5 Nf3")[2:])]
    assert follow(held, make_game(sans="e4 e5 Nf3"), complete=False) == []
    assert held.is_restored(other)
    assert follow(held, make_game("Clara Coy-Dora Dahl", "d4"), complete=False) == [
        GameConfirmed(other)
    ]


SPANISH = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5"
FRENCH = "e4 e6 d4 d5 Nc3 Bb4 e5 c5 a3 Bxc3+ bxc3 Ne7"
SLAV = "d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4 a4 Bf5 e3 e6"
FIVE = [
    make_game("Anna-Boris", SPANISH, board=1),
    make_game("Cleo-Dora", FRENCH, board=2),
    make_game("Emil-Fay", SLAV, board=3),
    make_game("Gus-Hal", "c4 e5", board=4),
    make_game("Ida-Jon", board=5),
]


def who(
    games: list[GameReport], reports: list[GameReport], *, complete: bool = True
) -> list[str]:
    """For each report the game it is, by the White player first told of it; "new" if
    none.
    """
    held = build_index(*games)
    white = {game.id: game.headers.white.name for game in held}
    found = match_games(held, FEED, reports, complete=complete)
    return [white[found[i]] if i in found else "new" for i in range(len(reports))]


def rename(
    old: GameReport, white: str | Player, black: str | None = None
) -> GameReport:
    named = {"white": white} if black is None else {"white": white, "black": black}
    players = {
        seat: Player(who) if isinstance(who, str) else who
        for seat, who in named.items()
    }
    return change_headers(old, **players)


def move_to_board(old: GameReport, board: int | None, round: str = "1") -> GameReport:
    return change_headers(old, board=board, round=round)


def test_5_games_all_reported_in_every_order() -> None:
    assert who(FIVE, [FIVE[3], FIVE[1]], complete=False) == ["Gus", "Cleo"]
    assert who(FIVE, [*FIVE[:4], rename(FIVE[4], "Jon", "Ida")])[4] == "Ida", "swapped"
    for order in itertools.permutations(FIVE):
        assert who(FIVE, list(order)) == [each.headers.white.name for each in order]


def test_5_games_boards_rotated_or_the_event_renamed() -> None:
    names = ["Anna", "Cleo", "Emil", "Gus", "Ida"]
    in_round = [move_to_board(each, None, f"3.{i}") for i, each in enumerate(FIVE, 1)]
    assert (
        who(FIVE, [move_to_board(each, i % 5 + 1) for i, each in enumerate(FIVE, 1)])
        == names
    )
    rotated = [
        move_to_board(each, None, f"3.{i % 5 + 1}") for i, each in enumerate(FIVE, 1)
    ]
    assert who(in_round, rotated) == names
    assert (
        who(FIVE, [change_headers(each, event="Open 2025") for each in FIVE]) == names
    )


def test_5_games_the_next_round_in_their_place() -> None:
    pairs = ("Boris-Cleo", "Dora-Emil", "Fay-Gus", "Hal-Ida", "Jon-Anna")
    after = [make_game(pair, round="2", board=i) for i, pair in enumerate(pairs, 1)]
    assert who(FIVE, after) == ["new"] * 5


def test_the_same_pair_in_the_next_round_is_another_game() -> None:
    assert who(FIVE, [*FIVE, move_to_board(FIVE[0], 1, "2")]) == [
        *who(FIVE, FIVE),
        "new",
    ]
    assert who(FIVE, [move_to_board(FIVE[0], 1, "2")]) == ["new"]


@pytest.mark.parametrize(
    "white",
    [
        "GM Anna",
        "ÄNNA",
        Player("Anna", elo=2400),
        Player("Anna", title="GM", fide_id=7),
        Player("Anna Adams"),  # found by the opponent and the place
        Player("?"),
    ],
)
def test_one_player_told_differently(white: str | Player) -> None:
    assert who(FIVE, [rename(FIVE[0], white), *FIVE[1:]]) == who(FIVE, FIVE)


def test_one_player_renamed_in_a_stream_needs_moves_as_proof() -> None:
    assert who(FIVE, [rename(FIVE[0], "Anna Adams")], complete=False) == ["Anna"]
    assert who(FIVE, [rename(FIVE[4], "Ida Iversen")], complete=False) == ["new"]
    assert who(FIVE, [*FIVE[:4], rename(FIVE[4], "Ida Iversen")])[4] == "Ida"


def test_both_players_renamed_needs_ten_plies_and_the_place() -> None:
    assert who(FIVE, [rename(FIVE[0], "Анна", "Борис")]) == ["Anna"]
    assert who(FIVE, [rename(FIVE[3], "Гас", "Хэл")]) == ["new"]
    assert who(FIVE, [move_to_board(rename(FIVE[0], "Анна", "Борис"), 2)]) == ["new"]
    assert who(FIVE, [rename(FIVE[0], "Анна", "Борис")], complete=False) == ["new"]


def test_colours_reversed_for_the_second_game_of_a_match() -> None:
    first = make_game("Anna-Boris", SPANISH, result="1-0")
    second = make_game("Boris-Anna")
    assert who([first], [first, second]) == ["Anna", "new"]
    assert who([first], [second]) == ["new"]
    assert who([first], [second], complete=False) == ["new"]
    # Listed ahead by a stream that tells one game at a time.
    assert who([make_game("Anna-Boris")], [second], complete=False) == ["new"]


# --- two games with the same names ----------------------------------------------------


def test_two_games_with_the_same_names_go_on_apart() -> None:
    held = build_index(
        make_game("Anna-Boris", SPANISH), make_game("Anna-Boris", FRENCH)
    )
    ids = {game.moves: game.id for game in held}
    steps = follow(
        held,
        make_game("Anna-Boris", FRENCH + " Qg4"),
        make_game("Anna-Boris", SPANISH + " Bb3"),
    )
    kinds = {(type(s), s.id) for s in steps}
    assert kinds == {
        (MovesPlayed, ids[line(FRENCH)]),
        (MovesPlayed, ids[line(SPANISH)]),
    }
    assert all(isinstance(s, MovesPlayed) and s.from_ply == 13 for s in steps)


def test_two_people_with_the_same_name_are_told_apart_by_fide_id() -> None:
    one = rename(make_game("Anna-Boris"), Player("Anna", fide_id=1))
    two = rename(make_game("Anna-Boris"), Player("Anna", fide_id=2))
    held = build_index(one, two)
    id_of = {game.headers.white.fide_id: game.id for game in held}
    one_on = msgspec.structs.replace(one, moves=line("d4"))
    two_on = msgspec.structs.replace(two, moves=line("e4"))
    follow(held, two_on, one_on)
    assert held[id_of[1] or ""].moves == line("d4")
    assert held[id_of[2] or ""].moves == line("e4")


def test_a_file_reused_for_the_next_game_of_the_same_names() -> None:
    held = build_index(make_game("Anna-Boris", SPANISH, result="1-0"))
    base = preferred_game_id(make_game("Anna-Boris"))
    (new,) = follow(held, make_game("Anna-Boris"))
    assert isinstance(new, NewGame) and new.id == f"{base}-2"
    steps = follow(held, make_game("Anna-Boris", "e4"))
    assert MovesPlayed(f"{base}-2", 1, line("e4")) in steps
    assert follow(held, make_game("Anna-Boris", "e4 e5")) == [
        MovesPlayed(f"{base}-2", 2, line("e4 e5")[1:])
    ]
    # What was played stays.
    assert [game.id for game in held] == [base, f"{base}-2"]


def test_a_thousand_games_without_names_are_held_and_found() -> None:
    openings = [
        " ".join(pair) for pair in itertools.product(("a3", "e4", "d4"), ("a6", "e5"))
    ]
    games = []
    for sans in openings:
        games += [make_game("-", sans) for _ in range(170)]
    held = build_index(*games)
    assert len(held) == 1020
    assert follow(held, *reversed(games)) == []
    longer = [msgspec.structs.replace(each, result="1-0") for each in games]
    assert {type(step) for step in follow(held, *longer)} == {ResultChanged}
    assert len(held) == 1020


@pytest.mark.parametrize(
    ("sans", "result", "told_sans", "told_result", "another"),
    [
        (SPANISH, "1-0", "", "*", True),
        (SPANISH, "1-0", "e4 e5", "*", True),  # the same opening again
        (SPANISH, "1-0", FRENCH, "*", True),
        (SPANISH, "1-0", FRENCH, "0-1", True),
        (SPANISH, "1-0", SPANISH, "*", False),  # the result withdrawn
        (SPANISH, "1-0", SPANISH + " Bb3", "*", False),  # the result came early
        (SPANISH, "1-0", SPANISH[:-3], "1-0", False),
        (SPANISH, "1-0", "", "1-0", False),  # a source that restarts
        (SPANISH, "1-0", "", "0-1", False),  # scored by forfeit after all
        (
            SPANISH,
            "1-0",
            SPANISH.replace("Be7", "d6"),
            "1-0",
            False,
        ),  # one move corrected
        (SPANISH, "*", "", "*", False),
        (SPANISH, "*", "d4", "*", False),
        (SPANISH, "*", FRENCH, "*", False),
        ("", "1-0", "e4", "*", False),  # a forfeit that was none
    ],
)
def test_what_another_game_is(
    sans: str, result: str, told_sans: str, told_result: str, another: bool
) -> None:
    (game,) = build_index(make_game("Anna-Boris", sans, result=result))  # type: ignore[arg-type]
    now = make_game("Anna-Boris", told_sans, result=told_result)  # type: ignore[arg-type]
    assert is_next_game_of_same_players(game, now, complete=True) is another


def test_a_stream_tells_the_next_game_by_its_moves_once_one_is_over() -> None:
    (game,) = build_index(make_game("-", SPANISH))
    assert is_next_game_of_same_players(game, make_game("-", SLAV), complete=False)
    assert not is_next_game_of_same_players(game, make_game("-", "d4"), complete=False)
    start = "nrbbqnkr/pppppppp/8/8/8/8/PPPPPPPP/NRBBQNKR w KQkq - 0 1"
    now = make_game("Anna-Boris", start_fen=start)
    for result, another in (("1-0", True), ("*", False)):
        (game,) = build_index(make_game("Anna-Boris", "e4", result=result))  # type: ignore[arg-type]
        assert is_next_game_of_same_players(game, now, complete=True) is another


# --- the same game twice in one report ------------------------------------------------


def test_a_game_twice_in_one_report() -> None:
    early, late, other = (
        make_game("Anna-Boris", "e4"),
        make_game("Anna-Boris", "e4 e5"),
        make_game("Cleo-Dora"),
    )
    assert drop_repeats([early, other, late], complete=False) == (late, other), (
        "sent again"
    )
    assert drop_repeats([early, other, late], complete=True) == (early, other, late)
    both = (make_game("-", SPANISH), make_game("-", SLAV))
    assert drop_repeats(both, complete=False) == both, "two games of the same names"
    early, late = (
        make_game("Anna-Boris", SPANISH, key="k"),
        make_game("Anna-Dora", key="k"),
    )
    assert drop_repeats([early, late], complete=True) == (late,), "one key is one game"


def test_a_key_that_two_games_share_makes_them_no_one_game() -> None:
    """Exports of 2025 give every game the address of its round."""
    one, other = (
        make_game("Anna-Boris", SPANISH, key="k"),
        make_game("Cleo-Dora", "d4 d5 c4", key="k"),
    )
    assert drop_repeats([one, other], complete=False) == (one, other)
    held = build_index()
    follow(held, one, complete=False)
    follow(held, other, complete=False)
    assert [game.id for game in held] == ["k", "k-2"]
    more = make_game("Anna-Boris", f"{SPANISH} Bb3", key="k")
    steps = follow(held, more, complete=False)
    assert [(type(step), step.id) for step in steps] == [(MovesPlayed, "k")]
    assert follow(held, other, more) == []


def test_a_key_at_one_table_is_one_game_whoever_sits_there() -> None:
    """A pairing was put right before the game began; the old one stood beside it for
    ever.
    """
    held = build_index(make_game("Anna-Boris", key="k", round="2.4", board=4))
    now = make_game("Cleo-Dora", "d4", key="k", round="2.4", board=4)
    names, moves = follow(held, now)
    assert isinstance(names, HeadersChanged) and isinstance(moves, MovesPlayed)
    assert len(held) == 1
    # A source that says no table, or another one, may mean another game.
    for other in (
        make_game("Eve-Fay", key="k"),
        make_game("Gil-Hal", key="k", round="2.5", board=5),
    ):
        assert isinstance(follow(held, other)[0], NewGame)


def test_a_key_is_stronger_than_any_name() -> None:
    held = build_index(make_game("Anna-Boris", SPANISH, key="k"))
    steps = follow(
        held, make_game("Cleo-Dora", SPANISH, key="k"), make_game("Anna-Boris", key="m")
    )
    assert [type(step) for step in steps] == [HeadersChanged, NewGame]
    assert [game.id for game in held] == ["k", "m"]


def test_headers_of_two_feeds_are_never_one_game() -> None:
    held = build_index(make_game("Anna-Boris", SPANISH))
    (new,) = follow(held, make_game("Anna-Boris", SPANISH), feed="other")
    assert (
        isinstance(new, NewGame)
        and new.id == preferred_game_id(make_game("Anna-Boris")) + "-2"
    )
    assert new.game.feed == "other"


def test_two_games_that_differ_in_a_header_alone_are_not_taken_for_each_other() -> None:
    one = make_game("Anna-Boris")
    other = msgspec.structs.replace(
        one, headers=msgspec.structs.replace(one.headers, site="Riga")
    )
    for reports in ([one, other], [other, one]):
        held = build_index(one)
        follow(held, *reports)
        assert follow(held, *reports) == []


# White Kg1, Black Ke6 to move: Kd5 is legal for Black, no king reaches the centre for
# White.
BLACK_NEAR_CENTRE = "8/8/4k3/8/8/8/5PPP/2R3K1 b - - 0 40"
WHITE_NEAR_CENTRE = "3r2k1/5ppp/8/8/8/4K3/8/8 w - - 0 40"


@pytest.mark.parametrize("san", ["Kd4", "Kd5", "Ke4", "Ke5"])
def test_an_illegal_king_in_the_centre_after_the_end_is_no_problem(san: str) -> None:
    report = make_game(
        "Anna-Boris", "e4 e5 Nf3", result="1-0", problem=f"illegal move 2...{san}"
    )
    assert drop_centring_king_moves(report).problem is None
    assert drop_centring_king_moves(report).moves == report.moves


@pytest.mark.parametrize(
    ("problem", "result"),
    [
        ("illegal move 2...Ke3", "1-0"),  # not the centre
        ("illegal move 2...Qe4", "1-0"),
        ("illegal move 2...Ke4; 20 more plies follow", "1-0"),
        ("cut in the middle", "1-0"),
        ("illegal move 2...Ke4", "*"),  # the game goes on
    ],
)
def test_any_other_problem_is_shown(problem: str, result: Result) -> None:
    report = make_game("Anna-Boris", "e4 e5 Nf3", result=result, problem=problem)
    assert drop_centring_king_moves(report) == report


@pytest.mark.parametrize(
    ("result", "second", "plies"),
    [
        ("1-0", "Ke4", 0),  # Black lost and moved last: both kings show White's win
        ("0-1", "Ke4", 1),  # the squares do not show Black's win
        ("1-0", "Ke5", 1),  # nor these White's
        ("1/2-1/2", "Ke4", 1),  # a draw: the king move may be real
    ],
)
def test_a_legal_king_move_is_cut_only_when_both_kings_show_that_its_mover_lost(
    result: Result, second: str, plies: int
) -> None:
    problem = f"illegal move 1...{second}"
    report = make_game(
        "Anna-Boris", "Kd5", result=result, start_fen=BLACK_NEAR_CENTRE, problem=problem
    )
    assert len(drop_centring_king_moves(report).moves) == plies


def test_a_legal_king_move_of_the_winner_or_alone_at_the_end_stands() -> None:
    problem = "illegal move 1...Kd5"
    report = make_game(
        "Anna-Boris", "Ke4", result="1-0", start_fen=WHITE_NEAR_CENTRE, problem=problem
    )
    cut = drop_centring_king_moves(report)
    assert (len(cut.moves), cut.problem) == (1, None)
    alone = make_game("Anna-Boris", "Kd5", result="1-0", start_fen=BLACK_NEAR_CENTRE)
    assert drop_centring_king_moves(alone) == alone


BLACK_MATES_FIRST = "k7/8/8/8/8/1r6/r7/7K b - - 0 1"


@pytest.mark.parametrize(
    ("sans", "start_fen", "told_result", "result"),
    [
        ("f3 e5 g4 Qh4#", chess.STARTING_FEN, "*", "0-1"),
        ("e4 e5 Qh5 Ke7 Qxe5#", chess.STARTING_FEN, "*", "1-0"),
        ("Rb1#", BLACK_MATES_FIRST, "*", "0-1"),
        ("f3 e5 g4 Qh4#", chess.STARTING_FEN, "1/2-1/2", "1/2-1/2"),
        ("f3 e5 g4 Qg5", chess.STARTING_FEN, "*", "*"),
        ("", chess.STARTING_FEN, "*", "*"),
    ],
)
def test_a_mate_without_a_result_is_won_by_rule(
    sans: str, start_fen: str, told_result: Result, result: Result
) -> None:
    report = make_game("Anna-Boris", sans, start_fen=start_fen, result=told_result)
    assert add_result_after_mate(report).result == result


@pytest.mark.parametrize(
    ("pair", "sans", "no_game"),
    [
        ("Anna-bye", "", True),
        ("BYE-Anna", "", True),
        ("Anna-?", "", True),
        ("-", "", True),
        ("Anna-Bye, Anders", "", False),
        ("Anna-Boris", "", False),
        ("-", "e4", False),
        ("?-?", "e4", False),
    ],
)
def test_a_bye_or_a_half_pairing_is_no_game_before_its_first_move(
    pair: str, sans: str, no_game: bool
) -> None:
    assert is_no_game(make_game(pair, sans)) is no_game


def test_an_unknown_variant_keeps_its_names_and_result_and_no_moves() -> None:
    report = make_game("Anna-Boris", "e4 e5", variant="atomic", result="1-0")
    left = drop_moves_of_unsupported_variant(report)
    assert (left.moves, left.problem, left.result) == (
        (),
        "variant atomic is not supported",
        "1-0",
    )
    assert left.headers == report.headers
