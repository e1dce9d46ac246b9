import pytest

from live.events import Player
from live.players.player_lists import RatingList, pace_of, read_rating_list

HEADING = (
    "ID Number      Name                                                         Fed Sex Tit  "
    "WTit OTit           FOA SRtng SGm SK RRtng RGm Rk BRtng BGm BK B-day Flag\n"
)


def txt(number: int, name: str, fed: str = "NOR", title: str = "", rating: int = 2000) -> str:
    return (
        f"{number:<15}{name:<61}{fed:<4}M   {title:<5}{'':<5}{'':<15}{'':<4}{rating:<6}0   20 "
        f"{rating - 50:<6}0   20 {rating - 90:<6}0   20 1990  \n"
    )


TXT = HEADING + "".join(
    [
        txt(1503014, "Carlsen, Magnus", "NOR", "GM", 2840),
        txt(24116068, "Mueller, Karsten", "GER", "GM", 2500),
        txt(1, "Smith, John", "ENG", "", 1800),
        txt(2, "Smith, John", "USA", "", 1900),
        txt(3, "Vachier-Lagrave, Maxime", "FRA", "GM", 2730),
    ]
)
XML = """<?xml version="1.0"?><playerslist>
<player><fideid>1503014</fideid><name>Carlsen, Magnus</name><country>NOR</country><sex>M</sex>
<title>GM</title><rating>2840</rating><games>0</games><k>10</k><rapid_rating>2830</rapid_rating>
<blitz_rating>2880</blitz_rating></player>
<player><fideid>99</fideid><name>O&apos;Brien, Tim</name><country>IRL</country><title/>
<rating>1700</rating><k>20</k></player></playerslist>"""
CSV = """Name;FideId;Fed;Title;Rating;K
Carlsen, Magnus;1503014;NOR;GM;2840;10
Hráček, Zbyněk;;CZE;;2400;
"""


def read(text: str) -> RatingList:
    return read_rating_list(text.encode())


@pytest.mark.parametrize("text", [TXT, XML, CSV])
def test_every_format_finds_a_player_by_id_and_by_name(text: str) -> None:
    rated = read(text)
    by_id = rated.find(Player("M. Carlsen", fide_id=1503014)).player
    by_name = rated.find(Player("GM Magnus CARLSEN")).player
    assert by_id is not None and by_id == by_name
    found = (by_id.name, by_id.federation, by_id.title, by_id.standard, by_id.fide_id)
    assert found == ("Carlsen, Magnus", "NOR", "GM", 2840, 1503014)


def test_accents_umlauts_and_hyphens_are_no_hindrance() -> None:
    rated = read(TXT)
    for name, rating in (("Müller, Karsten", 2500), ("Maxime Vachier Lagrave", 2730)):
        row = rated.find(Player(name)).player
        assert row is not None and row.standard == rating
    row = read(CSV).find(Player("Zbynek Hracek")).player
    assert row is not None and row.standard == 2400
    assert read(XML).find(Player("O'Brien, Tim")).player is not None


def test_what_is_doubtful_is_said_and_nobody_is_taken() -> None:
    rated = read(TXT)
    found = rated.find(Player("Smith, John"))
    assert found.player is None
    assert found.doubt.startswith("Smith, John is the name of 2 players in the list: give")
    row = rated.find(Player("Smith, John", federation="USA")).player
    assert row is not None and row.fide_id == 2
    assert "perhaps Carlsen, Magnus (1503014)" in rated.find(Player("Carlsen, M")).doubt
    assert "which is Carlsen, Magnus" in rated.find(Player("Anna Boe", fide_id=1503014)).doubt
    assert rated.find(Player("Nobody, Known")) == rated.find(Player("?"))


@pytest.mark.parametrize(
    ("control", "pace"),
    [
        ("5400+30", "standard"),
        ("40/7200:3600", "standard"),
        ("900+10", "rapid"),
        ("180+2", "blitz"),
        ("", "standard"),
        ("G/90", "standard"),
    ],
)
def test_the_rating_that_counts_goes_by_the_time_control(control: str, pace: str) -> None:
    assert pace_of(control) == pace
    row = read(TXT).find(Player("Carlsen, Magnus")).player
    assert row is not None
    assert row.rating(pace_of(control)) == {"standard": 2840, "rapid": 2790, "blitz": 2750}[pace]


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"PK\x03\x04...", "unpack"), (b"<html></html>", "no players"), (b"a;b\n1;2\n", "column")],
)
def test_what_is_no_list_says_so(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_rating_list(data)


def test_without_a_rating_of_the_pace_the_standard_one_counts() -> None:
    row = read(XML).find(Player("Tim O'Brien", fide_id=99)).player
    assert row is not None
    assert (row.rating("rapid"), row.rating("blitz"), row.rating("standard")) == (1700, 1700, 1700)


def test_k_is_that_of_the_pace() -> None:
    (xml,) = (
        b"<playerslist><player><fideid>7</fideid><name>Boe, Anna</name><rating>2300</rating>"
        b"<k>10</k><rapid_rating>2200</rapid_rating><rapid_k>20</rapid_k><blitz_k>40</blitz_k>"
        b"</player></playerslist>",
    )
    player = read_rating_list(xml).find(Player("Boe, Anna")).player
    assert player is not None
    assert (player.development("standard"), player.development("rapid")) == (10, 20)
    assert player.development("blitz") == 10, "no blitz rating: the standard one counts"
