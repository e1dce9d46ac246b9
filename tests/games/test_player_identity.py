"""live.games.player_identity: names as people know their owners; the pages' rule is
held against it in tests/screens/web/test_games.py.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.games.player_identity import (
    is_bye,
    is_known,
    is_same_person,
    normalise_header,
    normalise_name,
    person_key,
    preferred_game_id,
)
from live.games.short_names import family_name, isolate_direction, short_name
from live.messages.from_sources import GameReport, Player
from tests.games.short_reports import change_headers, make_game


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Carlsen, Magnus", "Magnus Carlsen"),
        ("CARLSEN Magnus", "Carlsen,Magnus"),
        ("GM Carlsen, Magnus", "Carlsen, Magnus (GM)"),
        ("Dr. Hübner, Robert", "Huebner, Robert"),
        ("Hübner, Robert", "Hubner, Robert"),
        ("Müller, Jörg", "Mueller, Joerg"),
        ("Sørensen, Bo", "Sorensen, Bo"),
        ("Mäki, Outi", "Maeki, Outi"),
        ("Bælum, Tim", "Baelum, Tim"),
        ("Vachier-Lagrave, Maxime", "Vachier Lagrave Maxime"),
        ("O'Donnell, Conor", "O’Donnell, Conor"),
        ("Wojtaszek, Radosław", "Wojtaszek, Radoslaw"),
        ("Nepomniachtchi  Ian", "nepomniachtchi, ian"),
        # What stands beside a name.
        ("Castel, Ines (2300)", "Castel, Ines"),
        ("IM Castel, Ines [2300]", "Ines Castel"),
        ("Dvorak, Petr 2044", "Dvorak, Petr"),
        ("Petr Dvorak 2144", "Dvorak, Petr (CZE)"),
        ("WGM Castel Ines (Elo 2300)", "Castel, Ines (NOR)"),
        ("Castel, Ines (WGM)", "Castel, Ines"),
        ("李 小龙 (2300)", "李 小龙"),
        # The same letters, composed and taken apart.
        ("Peréz", "Pere\u0301z"),
    ],
)
def test_spellings_of_one_name(one: str, other: str) -> None:
    assert normalise_name(one) == normalise_name(other) != ""
    assert is_same_person(Player(one), Player(other))
    assert person_key(Player(one)) == person_key(Player(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Polgar, Judit", "Polgar, Susan"),
        ("Stockfish 16.1", "Stockfish 16"),
        ("Петров", "Петрова"),
        ("Deep Rybka 2010", "Deep Rybka 2012"),
        ("Maia 1900", "Maia 1500"),
        ("Smith, John (1)", "Smith, John (2)"),
        ("Smith, John (JUN)", "Smith, John (SEN)"),
        ("Smith, John A.", "Smith, John B."),
        ("Smith, J", "Smith, K"),
        ("Castel, I", "Castel"),
        ("李 龙", "李 龙 明"),
    ],
)
def test_names_that_stay_apart(one: str, other: str) -> None:
    assert not is_same_person(Player(one), Player(other))
    assert len({person_key(Player(one)), person_key(Player(other)), ""}) == 3


def test_a_middle_initial_more_is_the_same_person_beside_who_has_none() -> None:
    bare, more = Player("Castel, Ines"), Player("Ines M. Castel")
    assert is_same_person(bare, more) and is_same_person(more, bare)
    assert not is_same_person(
        Player("Castel, Ines", fide_id=7), Player("Castel, Ines M", fide_id=8)
    )
    assert is_same_person(Player("Castel, Ines", fide_id=7), more)
    # The table of players does not guess which of two Smiths a third one is.
    assert person_key(bare) != person_key(more)


@pytest.mark.parametrize(
    "name", ["", "?", " ", "-", "N.N.", "NN", "unknown", "Unknown", "X", "TBD"]
)
def test_names_of_nobody(name: str) -> None:
    assert not is_known(Player(name))
    assert person_key(Player(name)) == ""
    assert not is_same_person(Player(name), Player(name))


def test_a_title_alone_is_a_name() -> None:
    assert normalise_name("Im") == "im"


def test_a_fide_id_names_a_player_and_0_does_not() -> None:
    assert person_key(Player("Carlsen", fide_id=1503014)) == "fide-1503014"
    assert is_known(Player("?", fide_id=1503014))
    assert person_key(Player("Carlsen, M", fide_id=0)) == "carlsen-m"
    assert is_same_person(
        Player("A. Nother", fide_id=7), Player("Else, Someone", fide_id=7)
    )


def test_a_fide_id_that_appears_or_is_corrected_changes_nobody() -> None:
    assert is_same_person(
        Player("Carlsen, Magnus"), Player("Carlsen, Magnus", fide_id=1503014)
    )
    assert is_same_person(
        Player("Carlsen, Magnus", fide_id=1), Player("Magnus Carlsen", fide_id=2)
    )


def test_a_bye_is_a_name_alone_and_not_the_surname() -> None:
    assert not is_bye(Player("Bye, Anders"))
    assert not is_bye(Player("Bye", fide_id=1500000))
    assert (
        not is_bye(Player("Libre, Juan"))
        and not is_bye(Player("2"))
        and not is_bye(Player("?"))
    )


@pytest.mark.parametrize(
    "name",
    [
        "BYE",
        " bye ",
        "Half-point bye",
        "bye (1/2)",
        "Bye 2",
        "spielfrei",
        "Freilos",
        "EXEMPT",
        "Exempte",
        "libre",
        "Descansa",
        "riposo",
        "Riposa",
        "свободен",
        "Пропуск",
        "[bye]",
    ],
)
def test_a_bye_in_every_language(name: str) -> None:
    assert is_bye(Player(name))


@given(st.text())
def test_any_text_is_a_name_or_nobody(name: str) -> None:
    player = Player(name)
    assert (
        is_same_person(player, player) is is_known(player) is (person_key(player) != "")
    )
    assert not re.search(r"\s", person_key(player))


@given(st.lists(st.text("abcdefgh", min_size=3, max_size=6), min_size=1, max_size=4))
def test_the_order_of_the_words_of_a_name_does_not_count(words: list[str]) -> None:
    assert (
        normalise_name(" ".join(words))
        == normalise_name(", ".join(reversed(words)))
        != ""
    )


def test_events_and_rounds_are_compared_as_words() -> None:
    assert normalise_header("Tata Steel, 2025") == normalise_header("TATA STEEL  2025")
    assert normalise_header("?") == normalise_header("-") == normalise_header("") == ""
    assert normalise_header("1.10") != normalise_header("1.1") != normalise_header("11")


# --- ids ------------------------------------------------------------------------------


def test_a_lichess_key_is_the_id() -> None:
    assert preferred_game_id(make_game(key="aB3dE6gH")) == "aB3dE6gH"


@pytest.mark.parametrize(
    "key", ["0c5bb1e8-5be0-4b2a-9a25-d2d8e2a4a1c4/3/17", "tée", "a b", "../x"]
)
def test_a_long_or_unsafe_key_is_hashed(key: str) -> None:
    assert re.fullmatch("[a-z2-7]{10}", preferred_game_id(make_game(key=key)))


def test_an_id_is_stable_and_ignores_spelling_moves_and_result() -> None:
    assert preferred_game_id(make_game(board=3)) == "rtqy4uc3sd"
    assert preferred_game_id(
        make_game("GM Anna Adams-Berg, Boris", "e4 e5", result="1-0")
    ) == preferred_game_id(make_game())


def test_an_id_ignores_names_where_both_have_fide_ids() -> None:
    def numbered(white: str, black: str, black_id: int | None) -> str:
        players = {
            "white": Player(white, fide_id=1),
            "black": Player(black, fide_id=black_id),
        }
        return preferred_game_id(change_headers(make_game(), **players))

    assert numbered("A. Adams", "B. Berg", 2) == numbered("AA", "BB", 2)
    assert numbered("AA", "BB", None) != numbered("A. Adams", "BB", None)


@pytest.mark.parametrize(
    "other",
    [
        make_game(event="Other"),
        make_game(round="2"),
        make_game(board=1),
        make_game("Boris Berg-Anna Adams"),
        make_game("Anna Adams-Carla Cruz"),
    ],
)
def test_an_id_depends_on_event_round_board_and_colours(other: GameReport) -> None:
    assert preferred_game_id(other) != preferred_game_id(make_game())


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Nepomniachtchi, Ian", "Nepomniachtchi"),
        ("Jorden van Foreest", "van Foreest"),
        ("Gukesh D", "Gukesh"),
        ("侯逸凡 (Hou, Yifan)", "侯逸凡"),
        ("侯逸凡 (Hou, Yi", "侯逸凡"),
        ("侯逸凡 \uff08Hou, Yifan\uff09", "侯逸凡"),
        ("Carlsen, Magnus (NOR)", "Carlsen"),
        ("Magnus Carlsen (NOR)", "Carlsen"),
        ("(Hou, Yifan)", "Hou"),
        ("()", "()"),
        ("", "?"),
    ],
)
def test_the_family_name_is_what_people_know(name: str, family: str) -> None:
    assert family_name(name) == family


def test_two_of_one_family_are_told_apart() -> None:
    assert (
        short_name("Ivanov, Sergey", ["Ivanov, Stanislav", "Berg, Bo"]) == "Ivanov, Se."
    )
    assert short_name("Ivanov, Sergey", ["Ivanov, Sergey", "Berg, Bo"]) == "Ivanov"
    assert short_name("侯逸凡 (Hou, Yifan)", ["侯逸凡"]) == "侯逸凡 (Hou, Yifan)"


def test_only_names_from_right_to_left_are_isolated() -> None:
    assert isolate_direction("السيد") == "\u2068السيد\u2069"
    assert isolate_direction("Berg") == "Berg"
    assert isolate_direction("侯逸凡") == "侯逸凡"
