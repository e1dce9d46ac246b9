"""What headers and clocks say of the pace, as sources really write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.games.pace_of_play import Pace, classify_pace
from live.messages.from_sources import Move


def clocked(clock_s: float | None = None, spent_s: float | None = None) -> Move:
    return Move("", "", clock_s, spent_s)


#: As games of servers, broadcasts, the PGN specification, clocks, American tournaments
#: and people write them.
HEADERS: dict[Pace, tuple[str, ...]] = {
    "bullet": (
        "15+0",
        "60+0",
        "60+1",
        "1+0",
        "ultraBullet",
    ),
    "blitz": (
        "120+1",
        "180+0",
        "180+2",
        "300+3",
        "600+0",
        "5+3",
        "3+2",
        "300",
        "*180",
        "40/240",
        "0:03:00+0:00:02",
        "3|2",
        "G/5 d0",
        "3m2s",
        "blitz",
        "3 min + 2 sec",
        "180+2 (online)",
        "5:00",
        "G/5 min",
        "180+2d",
        "180d2",
        "5 минут + 3 секунды",
        "3 мин. + 2 сек.",
        "блиц 3+2",
        "5 Minuten + 3 Sekunden",
        "5 minutos + 3 segundos",
        "3 minuti + 2 secondi",
    ),
    "rapid": (
        "600+5",
        "900+10",
        "1800+20",
        "25+10",
        "15+10",
        "10+5",
        "G/30;d5",
        "15m10s",
        "Rapid Swiss",
        "15' + 10\"",
        "15:00",
        "15:10",
        "2700d5",
        "2700 d5",
        "45d10",
        "рапид",
        "быстрые шахматы",
        "15 мин + 10 сек",
        "15 minutes + 10 secondes",
        "rápidas",
    ),
    "classical": (
        "5400+30",
        "90+30",
        "60+30",
        "40/9000",
        "40/7200:3600",
        "40/7200+30:900+30",
        "4500+60",
        "40/90+30:30+30",
        "40/120:20/60:15+30",
        "45/45",
        "1:30:00+30",
        "G/90+30",
        "40/120, SD/60",
        "Standard",
        "90 min + 30 sec/move",
        "90min/40moves + 30min + 30sec/move",
        "1h30 + 30s",
        "5700+30 (a)",
        "1 day",
        "90 + 30/40 + 30",
        "100/40+50/20+15+30",
        "40/100+20/50+15+30",
        "40/90+30,30+30",
        "90+30+30",
        "40/90+30;30+30",
        "90 + 30/40 + 0",
        "90 минут + 30 секунд на ход",
        "1 час 30 минут + 30 секунд",
        "классика",
        "2 часа",
        "90 Minuten + 30 Sekunden",
        "1 Std. 30 Min.",
        "2 Stunden",
        "1 heure 30",
        "2 ore",
        "90 minutos + 30 segundos",
        "1 hora 30 minutos",
        "90 minuti + 30 secondi",
        "3 days/move",
        "1/86400",
        "90:30",
        "90:00",
        "5400:1800",
    ),
}


@pytest.mark.parametrize(("pace", "headers"), HEADERS.items())
def test_headers_as_they_are_written(pace: Pace, headers: tuple[str, ...]) -> None:
    assert {header: classify_pace(header) for header in headers} == dict.fromkeys(
        headers, pace
    )


def test_a_colon_that_may_mean_several_things_is_left_to_the_clocks() -> None:
    # Five minutes and a half, or half a minute a move on top; an hour and a half, or a
    # minute.
    for header in ("5:30", "1:30", "2:00", "200:60", "0:30"):
        assert classify_pace(header) is None
    assert classify_pace("5:30", [clocked(330.0), clocked(329.0)]) == "blitz"
    assert classify_pace("1:30", [clocked(5400.0), clocked(5399.0)]) == "classical"


@pytest.mark.parametrize(
    "header", ["", "?", "-", "0", "0+0", "as usual", "+", "/", "40/"]
)
def test_what_tells_nothing_is_nothing(header: str) -> None:
    assert classify_pace(header) is None


CLOCKS = [
    ("90", [], "bullet"),
    # A header may count minutes.
    ("90", [5390, 5395], "classical"),
    ("180+2", [182, 181], "blitz"),
    ("40/120", [118, 117], "blitz"),
    ("40/120", [7180, 7190], "classical"),
    # Clocks alone show base and increment.
    ("", [5400 + 20 * ply for ply in range(8)], "classical"),
    ("", [180 - 2 * ply for ply in range(8)], "blitz"),
]


@pytest.mark.parametrize(("header", "clocks", "pace"), CLOCKS)
def test_the_clocks_say_what_a_header_leaves_open(
    header: str, clocks: list[float], pace: Pace
) -> None:
    assert classify_pace(header, [*map(clocked, clocks)]) == pace


def test_an_increment_is_what_a_clock_gains() -> None:
    assert classify_pace("", [*map(clocked, (600, 600, 606), (4, 5, 4))]) == "rapid"


def test_times_spent_alone_tell_after_twenty_plies() -> None:
    spent = [clocked(spent_s=95.0)] * 20
    assert classify_pace("", spent[:19]) is None
    assert classify_pace("", spent) == "classical"
    assert classify_pace("", [clocked(spent_s=3.0)] * 20) == "blitz"


def spent(*seconds: float) -> list[Move]:
    return [clocked(spent_s=each) for each in seconds]


#: What the moves of an open took, as a clock's software wrote it beside ``TimeControl
#: "60"``.
OPEN = spent(
    2, 105, 10, 93, 7, 125, 15, 10, 12, 92, 79, 121, 183, 84, 27, 327, 147, 267, 181, 61
)


@pytest.mark.parametrize(
    ("header", "pace"),
    [
        *(
            (header, "classical")
            for header in ("60", "75", "90", "120", "5400", "60+0", "90+30")
        ),
        *((header, "rapid") for header in ("15", "25", "30", "45", "40/30")),
        # Contradicted in either unit: what the moves took counts.
        *(
            (header, "classical")
            for header in ("10", "5+3", "180", "300+3", "blitz", "G/5", "3 min")
        ),
    ],
)
def test_a_header_does_not_beat_the_time_that_moves_took(
    header: str, pace: Pace
) -> None:
    assert classify_pace(header, OPEN) == pace


def test_times_that_fit_a_header_leave_it_as_it_is() -> None:
    assert classify_pace("60", spent(*[1.0] * 20)) == "bullet"
    assert classify_pace("180+2", spent(*[20.0] * 20)) == "blitz"
    assert classify_pace("60+30", spent(*[25.0] * 20)) == "classical"
    assert classify_pace("900+10", spent(*[90.0] * 20)) == "rapid"


def test_a_word_does_not_beat_the_clocks() -> None:
    assert classify_pace("Blitz", [clocked(5400.0), clocked(5399.0)]) == "classical"
    assert classify_pace("Rapid", [clocked(900.0), clocked(899.0)]) == "rapid"
    assert classify_pace("Blitz 3+2", [clocked(182.0), clocked(181.0)]) == "blitz"


@given(st.text(max_size=30))
def test_any_text_is_a_pace_or_none(text: str) -> None:
    assert classify_pace(text) in (None, *HEADERS)


@given(
    st.text("0123456789+/:", max_size=12),
    st.lists(st.builds(clocked, st.none() | st.floats(0, 9000)), max_size=40),
)
def test_a_game_keeps_its_pace_after_twenty_plies(
    header: str, plies: list[Move]
) -> None:
    assert classify_pace(header, plies) == classify_pace(header, plies[:20])
