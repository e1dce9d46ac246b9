from pathlib import Path
from typing import get_args

import chess
import pytest

from live.errors import ConfigError
from live.games.pairing_list import read_pairing_list
from live.games.player_lists import (
    PlayerLists,
    add_neighbouring_lists,
    open_player_lists,
)
from live.games.rating_list import RatedPace, RatingList, read_rating_list
from live.messages.from_sources import FeedReport, GameReport, Headers, Move, Player
from live.settings import FeedsConfig


def listed(number: int, name: str, fed: str, rating: int, title: str = "") -> str:
    return (
        f"<player><fideid>{number}</fideid><name>{name}</name><country>{fed}</country>"
        f"<title>{title}</title><rating>{rating}</rating><k>20</k></player>\n"
    )


XML = """<?xml version="1.0"?><playerslist>
<player><fideid>1503014</fideid><name>Carlsen, Magnus</name><country>NOR</country>
<sex>M</sex><title>GM</title><rating>2840</rating><games>0</games><k>10</k><rapid_rating>2830</rapid_rating>
<blitz_rating>2880</blitz_rating></player>
<player><fideid>99</fideid><name>O&apos;Brien, Tim</name><country>IRL</country><title/>
<rating>1700</rating><k>20</k></player>
""" + "".join(
    [
        listed(24116068, "Mueller, Karsten", "GER", 2500, "GM"),
        listed(1, "Smith, John", "ENG", 1800),
        listed(2, "Smith, John", "USA", 1900),
        listed(3, "Vachier-Lagrave, Maxime", "FRA", 2730, "GM"),
    ]
)
CSV = """Name;FideId;Fed;Title;Rating;K
Carlsen, Magnus;1503014;NOR;GM;2840;10
Hráček, Zbyněk;;CZE;;2400;
"""


def read(text: str) -> RatingList:
    return read_rating_list(text.encode())


@pytest.mark.parametrize("text", [XML, CSV])
def test_every_format_finds_a_player_by_id_and_by_name(text: str) -> None:
    rated = read(text)
    by_id = rated.find_player(Player("M. Carlsen", fide_id=1503014)).player
    by_name = rated.find_player(Player("GM Magnus CARLSEN")).player
    assert by_id is not None and by_id == by_name
    found = (by_id.name, by_id.federation, by_id.title, by_id.standard, by_id.fide_id)
    assert found == ("Carlsen, Magnus", "NOR", "GM", 2840, 1503014)


def test_accents_umlauts_and_hyphens_are_no_hindrance() -> None:
    rated = read(XML)
    for name, rating in (("Müller, Karsten", 2500), ("Maxime Vachier Lagrave", 2730)):
        row = rated.find_player(Player(name)).player
        assert row is not None and row.standard == rating
    row = read(CSV).find_player(Player("Zbynek Hracek")).player
    assert row is not None and row.standard == 2400
    assert read(XML).find_player(Player("O'Brien, Tim")).player is not None


def test_what_is_doubtful_is_said_and_nobody_is_taken() -> None:
    rated = read(XML)
    found = rated.find_player(Player("Smith, John"))
    assert found.player is None
    assert found.doubt.startswith(
        "Smith, John is the name of 2 players in the list: give"
    )
    row = rated.find_player(Player("Smith, John", federation="USA")).player
    assert row is not None and row.fide_id == 2
    assert (
        "perhaps Carlsen, Magnus (1503014)"
        in rated.find_player(Player("Carlsen, M")).doubt
    )
    assert (
        "which is Carlsen, Magnus"
        in rated.find_player(Player("Anna Boe", fide_id=1503014)).doubt
    )
    assert rated.find_player(Player("Nobody, Known")) == rated.find_player(Player("?"))


@pytest.mark.parametrize(
    ("control", "clock_s", "rating"),
    [
        ("5400+30", None, 2840),
        ("40/7200:3600", None, 2840),
        ("90+30", None, 2840),
        ("90", 5400.0, 2840),
        ("900+10", None, 2830),
        ("15+10", None, 2830),
        ("180+2", None, 2880),
        ("60+1", None, 2880),
        ("", None, 2840),
        ("G/90", None, 2840),
        ("Blitz", 5400.0, 2840),
    ],
)
def test_the_rating_that_counts_goes_by_the_time_control(
    control: str, clock_s: float | None, rating: int
) -> None:
    headers = Headers(Player("Carlsen, Magnus"), Player("?"), time_control=control)
    moves = (Move("e2e4", "e4", clock_s), Move("e7e5", "e5", clock_s))
    game = GameReport("", headers, chess.STARTING_FEN, moves)
    (found,) = (
        PlayerLists(read(XML), None).complete_report(FeedReport("hall", (game,))).games
    )
    assert found.headers.white.elo == rating


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"PK\x03\x04...", "unpack"),
        (b"ID Number      Name", "use the XML list"),
        (b"<html></html>", "no players"),
        (b"a;b\n1;2\n", "column"),
    ],
)
def test_what_is_no_list_says_so(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_rating_list(data)


def test_without_a_rating_of_the_pace_the_standard_one_counts() -> None:
    row = read(XML).find_player(Player("Tim O'Brien", fide_id=99)).player
    assert row is not None
    assert [row.rating_for_pace(pace)[0] for pace in get_args(RatedPace)] == [1700] * 3


def test_k_is_that_of_the_pace() -> None:
    (xml,) = (
        b"<playerslist><player><fideid>7</fideid><name>Boe, "
        b"Anna</name><rating>2300</rating>"
        b"<k>10</k><rapid_rating>2200</rapid_rating><rapid_k>20</rapid_k><blitz_k>40</blitz_k>"
        b"</player></playerslist>",
    )
    player = read_rating_list(xml).find_player(Player("Boe, Anna")).player
    assert player is not None
    assert (
        player.rating_for_pace("standard")[1],
        player.rating_for_pace("rapid")[1],
    ) == (10, 20)
    assert player.rating_for_pace("blitz")[1] == 10, (
        "no blitz rating: the standard one counts"
    )


RATINGS = (
    "Name,FideId,Fed,Title,Rating,K\nAnna Boe,7,NOR,WGM,2300,40\nCleo "
    "Dahl,8,DEN,,2100,\n"
)
PAIRINGS = (
    "Round,Board,White,Black,WhiteTeam\n1,1,Anna Boe,Cleo Dahl,Oslo\n,2,Eve "
    "Fox,Gil Hay,\n"
)


def report(
    white: Player, black: Player, board: int = 1, round_: str = "1.1"
) -> FeedReport:
    headers = Headers(white, black, round=round_, board=board)
    return FeedReport("hall", (GameReport("", headers, chess.STARTING_FEN),))


def both() -> PlayerLists:
    ratings = read_rating_list(RATINGS.encode())
    return PlayerLists(ratings, read_pairing_list(PAIRINGS.encode()))


def test_a_field_without_ratings_becomes_rated() -> None:
    (game,) = (
        both()
        .complete_report(report(Player("Boe, Anna"), Player("Dahl, Cleo", elo=2150)))
        .games
    )
    assert game.headers.white == Player("Boe, Anna", 2300, "WGM", 7, "NOR", k=40)
    # What the source says itself stands.
    assert game.headers.black == Player("Dahl, Cleo", 2150, None, 8, "DEN")


def test_boards_without_names_get_them_and_no_others() -> None:
    nobody = Player("?")
    (game,) = both().complete_report(report(nobody, nobody)).games
    assert game.headers.white == Player("Anna Boe", 2300, "WGM", 7, "NOR", "Oslo", 40)
    (game,) = both().complete_report(report(nobody, nobody, 2, "3.2")).games
    assert (game.headers.white.name, game.headers.black.name) == ("Eve Fox", "Gil Hay")
    known = report(Player("Ida"), nobody)
    assert both().complete_report(known) == known


def test_a_doubtful_name_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    lists = both()
    for _ in range(3):
        lists.complete_report(report(Player("Boe, A"), Player("Zoe Zed")))
    (doubt,) = lists.doubtful
    assert doubt.startswith(
        "Boe, A is perhaps Anna Boe (7) in the list: give the FIDE id"
    )
    assert lists.doubt_text == doubt
    assert caplog.text.count("perhaps Anna Boe") == 1


def test_lists_beside_the_games_are_taken_where_the_settings_name_none(
    tmp_path: Path,
) -> None:
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "pairings-round-1.csv").write_text(PAIRINGS)
    for path in (tmp_path, tmp_path / "games.pgn"):
        found = add_neighbouring_lists([path], FeedsConfig())
        assert found.rating_list.endswith("ratings.csv")
        assert found.pairing_list.endswith("pairings-round-1.csv")
    assert (
        add_neighbouring_lists(
            [tmp_path], FeedsConfig(rating_list="mine.csv")
        ).rating_list
        == "mine.csv"
    )
    assert (
        add_neighbouring_lists([tmp_path / "none" / "games.pgn"], FeedsConfig())
        == FeedsConfig()
    )


ROWS = [
    ["Name", "FideId", "Fed", "Title", "Rating"],
    ["Müller, Jörg", "4600001", "GER", "FM", "2310"],
    ["Castel, Ines", "1500002", "ESP", "WGM", "2205"],
]


def as_csv(separator: str, newline: str = "\n", first: str = "") -> str:
    text = first
    for row in ROWS:
        text += separator.join(f'"{field}"' for field in row) + newline
    return text


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        (as_csv(","), "utf-8"),
        (as_csv(",", "\r\n"), "utf-8-sig"),
        (as_csv(";", "\r\n"), "cp1252"),
        (as_csv(";"), "mac_roman"),
        (as_csv(";"), "cp850"),
        (as_csv("\t", "\r\n"), "utf-16"),  # Excel's "Unicode text"
        (as_csv("\t"), "utf-16-be"),
        (as_csv("|"), "utf-8"),
        (as_csv(",", "\r"), "utf-8"),
        (as_csv(";", "\r\n", "sep=;\r\n"), "utf-8"),
        (as_csv(",", "\r\n", '"sep=,"\r\n'), "utf-8-sig"),
        (as_csv("\t", "\n", "SEP=\t\n"), "utf-16"),
        (as_csv(",", "\n", "\n\n"), "utf-8"),
        (as_csv(",") + "\x00\x00\x00", "utf-8"),
    ],
)
def test_a_list_is_read_however_a_spreadsheet_wrote_it(text: str, charset: str) -> None:
    rated = read_rating_list(text.encode(charset))
    found = rated.find_player(Player("Jörg Müller")).player
    assert found is not None
    assert (found.name, found.fide_id, found.standard) == (
        "Müller, Jörg",
        4600001,
        2310,
    )
    assert len(rated) == 2


def test_pairings_are_read_likewise() -> None:
    text = "sep=;\rBoard;White;Black\r1;Müller, Jörg;Castel, Ines\r"
    ((white, black),) = read_pairing_list(text.encode("utf-16")).values()
    assert (white.name, black.name) == ("Müller, Jörg", "Castel, Ines")


def test_what_the_csv_reader_refuses_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text('Name,Rating\n"' + "x" * 200_000 + '",2300\n')
    with pytest.raises(
        ConfigError, match=r"list\.csv: cannot be read in line 2 \(field larger"
    ):
        open_player_lists(FeedsConfig(rating_list=str(path)))


def test_a_file_beside_the_games_that_is_no_list_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "rating_list.csv").write_text("Dear reader\n")
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "pairings.csv").write_text('Board,White\n"' + "x" * 200_000 + '"\n')
    (tmp_path / "players_list.xml").mkdir()
    found = add_neighbouring_lists([tmp_path], FeedsConfig())
    assert (Path(found.rating_list).name, found.pairing_list) == ("ratings.csv", "")
    for name in ("rating_list.csv", "pairings.csv", "players_list.xml"):
        assert f"{tmp_path / name} left out: " in caplog.text
    assert open_player_lists(found).size_text == "2 rated players"


@pytest.mark.parametrize("text", [None, "<html>", "Dear reader\n"])
def test_a_list_that_cannot_be_used_is_named(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "list.xml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=r"feeds\.rating_list"):
        open_player_lists(FeedsConfig(rating_list=str(path)))
