"""Which game is which: what is held, what is reported, who is who."""

import itertools

import msgspec
import pytest

from live.events import GameReport, Player
from live.games.game import HeadersChanged, MovesPlayed, NewGame, ResultChanged
from live.games.game_matching import is_another_game, matched, without_repeats
from live.games.player_identity import first_id
from tests.games.told import FEED, follow, holding, line, told

SPANISH = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5"
FRENCH = "e4 e6 d4 d5 Nc3 Bb4 e5 c5 a3 Bxc3+ bxc3 Ne7"
SLAV = "d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4 a4 Bf5 e3 e6"
FIVE = [
    told("Anna-Boris", SPANISH, board=1),
    told("Cleo-Dora", FRENCH, board=2),
    told("Emil-Fay", SLAV, board=3),
    told("Gus-Hal", "c4 e5", board=4),
    told("Ida-Jon", board=5),
]


def who(games: list[GameReport], reports: list[GameReport], *, complete: bool = True) -> list[str]:
    """For each report the game it is, by the White player first told of it; "new" if none."""
    held = holding(*games)
    white = {game.id: game.headers.white.name for game in held}
    found = matched(held, FEED, reports, complete=complete)
    return [white[found[i]] if i in found else "new" for i in range(len(reports))]


def rename(old: GameReport, white: str | Player, black: str | Player | None = None) -> GameReport:
    def player(new: str | Player | None, was: Player) -> Player:
        return was if new is None else Player(new) if isinstance(new, str) else new

    headers = msgspec.structs.replace(
        old.headers,
        white=player(white, old.headers.white),
        black=player(black, old.headers.black),
    )
    return msgspec.structs.replace(old, headers=headers)


def moved(old: GameReport, board: int | None, round: str = "1") -> GameReport:
    headers = msgspec.structs.replace(old.headers, board=board, round=round)
    return msgspec.structs.replace(old, headers=headers)


def test_5_games_2_reported_in_reverse_order() -> None:
    assert who(FIVE, [FIVE[3], FIVE[1]], complete=False) == ["Gus", "Cleo"]


def test_5_games_all_reported_in_every_order() -> None:
    for order in itertools.permutations(FIVE):
        assert who(FIVE, list(order)) == [each.headers.white.name for each in order]


def test_5_games_boards_rotated() -> None:
    rotated = [moved(each, i % 5 + 1) for i, each in enumerate(FIVE, 1)]
    assert who(FIVE, rotated) == ["Anna", "Cleo", "Emil", "Gus", "Ida"]


def test_5_games_boards_rotated_in_the_round_header() -> None:
    games = [moved(each, None, f"3.{i}") for i, each in enumerate(FIVE, 1)]
    rotated = [moved(each, None, f"3.{i % 5 + 1}") for i, each in enumerate(FIVE, 1)]
    assert who(games, rotated) == ["Anna", "Cleo", "Emil", "Gus", "Ida"]


def test_5_games_the_next_round_in_their_place() -> None:
    pairs = ("Boris-Cleo", "Dora-Emil", "Fay-Gus", "Hal-Ida", "Jon-Anna")
    after = [told(pair, round="2", board=i) for i, pair in enumerate(pairs, 1)]
    assert who(FIVE, after) == ["new"] * 5


def test_the_same_pair_in_the_next_round_is_another_game() -> None:
    assert who(FIVE, [*FIVE, moved(FIVE[0], 1, "2")]) == [*who(FIVE, FIVE), "new"]
    assert who(FIVE, [moved(FIVE[0], 1, "2")]) == ["new"]


def test_a_sixth_board_is_new() -> None:
    assert who(FIVE, [told("Kai-Lou", board=6), *FIVE])[0] == "new"


def test_an_event_renamed_in_mid_round() -> None:
    renamed = [
        msgspec.structs.replace(
            each, headers=msgspec.structs.replace(each.headers, event="Open 2025")
        )
        for each in FIVE
    ]
    assert who(FIVE, renamed) == ["Anna", "Cleo", "Emil", "Gus", "Ida"]


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
    assert who(FIVE, [moved(rename(FIVE[0], "Анна", "Борис"), 2)]) == ["new"]
    assert who(FIVE, [rename(FIVE[0], "Анна", "Борис")], complete=False) == ["new"]


def test_players_swapped_and_swapped_back() -> None:
    held = holding(*FIVE)
    swapped = rename(FIVE[0], "Boris", "Anna")
    (step,) = follow(held, swapped, *FIVE[1:])
    assert isinstance(step, HeadersChanged) and step.id == first_id(FIVE[0])
    (back,) = follow(held, *FIVE)
    assert isinstance(back, HeadersChanged) and back.headers == FIVE[0].headers


def test_players_swapped_before_the_first_move() -> None:
    assert who(FIVE, [*FIVE[:4], rename(FIVE[4], "Jon", "Ida")])[4] == "Ida"


def test_colours_reversed_for_the_second_game_of_a_match() -> None:
    first = told("Anna-Boris", SPANISH, result="1-0")
    second = told("Boris-Anna")
    assert who([first], [first, second]) == ["Anna", "new"]
    assert who([first], [second]) == ["new"]
    assert who([first], [second], complete=False) == ["new"]
    # Listed ahead by a stream that tells one game at a time.
    assert who([told("Anna-Boris")], [second], complete=False) == ["new"]


# --- two games with the same names ---------------------------------------------------------------


def test_two_games_with_the_same_names_get_ids_of_their_own_in_any_order() -> None:
    one, two = told("Anna-Boris", SPANISH), told("Anna-Boris", FRENCH)
    base = first_id(one)
    assert {game.id: game.moves for game in holding(one, two)} == {
        game.id: game.moves for game in holding(two, one)
    }
    assert {game.id for game in holding(one, two)} == {base, f"{base}-2"}


def test_two_games_with_the_same_names_go_on_apart() -> None:
    held = holding(told("Anna-Boris", SPANISH), told("Anna-Boris", FRENCH))
    ids = {game.moves: game.id for game in held}
    steps = follow(held, told("Anna-Boris", FRENCH + " Qg4"), told("Anna-Boris", SPANISH + " Bb3"))
    assert {(type(s), s.id) for s in steps} == {
        (MovesPlayed, ids[line(FRENCH)]),
        (MovesPlayed, ids[line(SPANISH)]),
    }
    assert all(isinstance(s, MovesPlayed) and s.from_ply == 13 for s in steps)


def test_two_people_with_the_same_name_are_told_apart_by_fide_id() -> None:
    one = rename(told("Anna-Boris"), Player("Anna", fide_id=1))
    two = rename(told("Anna-Boris"), Player("Anna", fide_id=2))
    held = holding(one, two)
    id_of = {game.headers.white.fide_id: game.id for game in held}
    one_on = msgspec.structs.replace(one, moves=line("d4"))
    two_on = msgspec.structs.replace(two, moves=line("e4"))
    follow(held, two_on, one_on)
    assert held[id_of[1] or ""].moves == line("d4")
    assert held[id_of[2] or ""].moves == line("e4")


def test_a_file_reused_for_the_next_game_of_the_same_names() -> None:
    held = holding(told("Anna-Boris", SPANISH, result="1-0"))
    base = first_id(told("Anna-Boris"))
    (new,) = follow(held, told("Anna-Boris"))
    assert isinstance(new, NewGame) and new.id == f"{base}-2"
    steps = follow(held, told("Anna-Boris", "e4"))
    assert MovesPlayed(f"{base}-2", 1, line("e4")) in steps
    assert follow(held, told("Anna-Boris", "e4 e5")) == [
        MovesPlayed(f"{base}-2", 2, line("e4 e5")[1:])
    ]
    # What was played stays.
    assert [game.id for game in held] == [base, f"{base}-2"]


def test_a_thousand_games_without_names_are_held_and_found() -> None:
    openings = [" ".join(pair) for pair in itertools.product(("a3", "e4", "d4"), ("a6", "e5"))]
    games = [told("-", sans) for sans in openings for _ in range(170)]
    held = holding(*games)
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
        (SPANISH, "1-0", SPANISH.replace("Be7", "d6"), "1-0", False),  # one move corrected
        (SPANISH, "*", "", "*", False),
        (SPANISH, "*", "d4", "*", False),
        (SPANISH, "*", FRENCH, "*", False),
        ("", "1-0", "e4", "*", False),  # a forfeit that was none
    ],
)
def test_what_another_game_is(
    sans: str, result: str, told_sans: str, told_result: str, another: bool
) -> None:
    (game,) = holding(told("Anna-Boris", sans, result=result))  # type: ignore[arg-type]
    now = told("Anna-Boris", told_sans, result=told_result)  # type: ignore[arg-type]
    assert is_another_game(game, now, complete=True) is another


def test_a_stream_tells_the_next_unfinished_game_by_its_moves() -> None:
    (game,) = holding(told("-", SPANISH))
    assert is_another_game(game, told("-", SLAV), complete=False)
    assert not is_another_game(game, told("-", "d4"), complete=False)


def test_another_start_position_is_another_game_once_the_first_is_over() -> None:
    start = "nrbbqnkr/pppppppp/8/8/8/8/PPPPPPPP/NRBBQNKR w KQkq - 0 1"
    (over,) = holding(told("Anna-Boris", "e4", result="1-0"))
    (running,) = holding(told("Anna-Boris", "e4"))
    now = told("Anna-Boris", start_fen=start)
    assert is_another_game(over, now, complete=True)
    assert not is_another_game(running, now, complete=True)


# --- the same game twice in one report ------------------------------------------------------------


def test_a_stream_that_resends_a_game_in_one_breath_means_the_last() -> None:
    early, late = told("Anna-Boris", "e4"), told("Anna-Boris", "e4 e5")
    other = told("Cleo-Dora")
    assert without_repeats([early, other, late], complete=False) == (late, other)
    assert without_repeats([early, other, late], complete=True) == (early, other, late)


def test_a_stream_that_tells_two_games_of_the_same_names_means_both() -> None:
    one, two = told("-", SPANISH), told("-", SLAV)
    assert without_repeats([one, two], complete=False) == (one, two)


def test_one_key_is_one_game() -> None:
    early, late = told("Anna-Boris", SPANISH, key="k"), told("Anna-Dora", key="k")
    assert without_repeats([early, late], complete=True) == (late,)


def test_a_key_that_two_games_share_makes_them_no_one_game() -> None:
    """Exports of 2025 give every game the address of its round."""
    one, other = told("Anna-Boris", SPANISH, key="k"), told("Cleo-Dora", "d4 d5 c4", key="k")
    assert without_repeats([one, other], complete=False) == (one, other)
    held = holding()
    follow(held, one, complete=False)
    follow(held, other, complete=False)
    assert [game.id for game in held] == ["k", "k-2"]
    more = told("Anna-Boris", f"{SPANISH} Bb3", key="k")
    steps = follow(held, more, complete=False)
    assert [(type(step), step.id) for step in steps] == [(MovesPlayed, "k")]
    assert follow(held, other, more) == []


def test_a_key_is_stronger_than_any_name() -> None:
    held = holding(told("Anna-Boris", SPANISH, key="k"))
    steps = follow(held, told("Cleo-Dora", SPANISH, key="k"), told("Anna-Boris", key="m"))
    assert [type(step) for step in steps] == [HeadersChanged, NewGame]
    assert [game.id for game in held] == ["k", "m"]


def test_headers_of_two_feeds_are_never_one_game() -> None:
    held = holding(told("Anna-Boris", SPANISH))
    (new,) = follow(held, told("Anna-Boris", SPANISH), feed="other")
    assert isinstance(new, NewGame) and new.id == first_id(told("Anna-Boris")) + "-2"
    assert new.game.feed == "other"


def test_two_games_that_differ_in_a_header_alone_are_not_taken_for_each_other() -> None:
    one = told("Anna-Boris")
    other = msgspec.structs.replace(one, headers=msgspec.structs.replace(one.headers, site="Riga"))
    for reports in ([one, other], [other, one]):
        held = holding(one)
        follow(held, *reports)
        assert follow(held, *reports) == []
