"""What headers and clocks say of the pace, as sources really write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.pace_of_play import PACES, ClockedGame, Pace, pace_of


@pytest.mark.parametrize(
    ("header", "pace"),
    [
        # lichess games, seconds
        ("15+0", "bullet"),
        ("60+0", "bullet"),
        ("60+1", "bullet"),
        ("120+1", "blitz"),
        ("180+0", "blitz"),
        ("180+2", "blitz"),
        ("300+3", "blitz"),
        ("600+0", "blitz"),
        ("600+5", "rapid"),
        ("900+10", "rapid"),
        ("1800+20", "rapid"),
        ("5400+30", "classical"),
        # broadcasts, minutes
        ("90+30", "classical"),
        ("60+30", "classical"),
        ("25+10", "rapid"),
        ("15+10", "rapid"),
        ("10+5", "rapid"),
        ("5+3", "blitz"),
        ("3+2", "blitz"),
        ("1+0", "bullet"),
        # the PGN specification
        ("40/9000", "classical"),
        ("40/7200:3600", "classical"),
        ("40/7200+30:900+30", "classical"),
        ("300", "blitz"),
        ("4500+60", "classical"),
        ("*180", "blitz"),
        # sessions in minutes
        ("40/90+30:30+30", "classical"),
        ("40/120:20/60:15+30", "classical"),
        ("45/45", "classical"),
        ("40/240", "blitz"),
        # as a clock shows it, and as the United States and chess sites write it
        ("1:30:00+30", "classical"),
        ("0:03:00+0:00:02", "blitz"),
        ("3|2", "blitz"),
        ("G/5 d0", "blitz"),
        ("G/30;d5", "rapid"),
        ("G/90+30", "classical"),
        ("40/120, SD/60", "classical"),
        ("15m10s", "rapid"),
        ("3m2s", "blitz"),
        # words
        ("blitz", "blitz"),
        ("Rapid Swiss", "rapid"),
        ("Standard", "classical"),
        ("ultraBullet", "bullet"),
        ("90 min + 30 sec/move", "classical"),
        ("90min/40moves + 30min + 30sec/move", "classical"),
        ("1h30 + 30s", "classical"),
        ("15' + 10\"", "rapid"),
        ("3 min + 2 sec", "blitz"),
        # remarks, and days
        ("5700+30 (a)", "classical"),
        ("180+2 (online)", "blitz"),
        ("1 day", "classical"),
        ("3 days/move", "classical"),
        ("1/86400", "classical"),
        # not PGN's: whatever it means, it is of this class
        ("90:30", "classical"),
        ("90:00", "classical"),
        ("15:00", "rapid"),
        ("5:00", "blitz"),
        ("15:10", "rapid"),
        ("5400:1800", "classical"),
        ("G/5 min", "blitz"),
    ],
)
def test_headers_as_they_are_written(header: str, pace: Pace) -> None:
    assert pace_of(header) == pace


def test_a_colon_that_may_mean_several_things_is_left_to_the_clocks() -> None:
    # Five minutes and a half, or half a minute a move on top; an hour and a half, or a minute.
    for header in ("5:30", "1:30", "2:00", "200:60", "0:30"):
        assert pace_of(header) is None
    assert pace_of("5:30", [ClockedGame(330.0), ClockedGame(329.0)]) == "blitz"
    assert pace_of("1:30", [ClockedGame(5400.0), ClockedGame(5399.0)]) == "classical"


@pytest.mark.parametrize("header", ["", "?", "-", "0", "0+0", "as usual", "+", "/", "40/"])
def test_what_tells_nothing_is_nothing(header: str) -> None:
    assert pace_of(header) is None


def test_the_clocks_say_that_a_header_counts_minutes() -> None:
    assert pace_of("90") == "bullet"
    assert pace_of("90", [ClockedGame(5390.0), ClockedGame(5395.0)]) == "classical"
    assert pace_of("180+2", [ClockedGame(182.0), ClockedGame(181.0)]) == "blitz"


def test_the_clocks_say_what_a_session_counts() -> None:
    assert pace_of("40/120", [ClockedGame(118.0), ClockedGame(117.0)]) == "blitz"
    assert pace_of("40/120", [ClockedGame(7180.0), ClockedGame(7190.0)]) == "classical"


def test_clocks_alone_tell_base_and_increment() -> None:
    slow = [ClockedGame(5400 + 20 * ply) for ply in range(8)]
    assert pace_of("", slow) == "classical"
    quick = [ClockedGame(180 - 2 * ply) for ply in range(8)]
    assert pace_of("", quick) == "blitz"
    with_increment = [ClockedGame(600.0, 4.0), ClockedGame(600.0, 5.0), ClockedGame(606.0, 4.0)]
    assert pace_of("", with_increment) == "rapid"


def test_times_spent_alone_tell_after_twenty_plies() -> None:
    spent = [ClockedGame(spent_s=95.0)] * 20
    assert pace_of("", spent[:19]) is None
    assert pace_of("", spent) == "classical"
    assert pace_of("", [ClockedGame(spent_s=3.0)] * 20) == "blitz"


@given(st.text(max_size=30))
def test_any_text_is_a_pace_or_none(text: str) -> None:
    assert pace_of(text) in (None, *PACES)


@pytest.mark.slow
@given(
    st.text("0123456789+/:", max_size=12),
    st.lists(st.builds(ClockedGame, st.none() | st.floats(0, 9000)), max_size=40),
)
def test_a_game_keeps_its_pace_after_twenty_plies(header: str, plies: list[ClockedGame]) -> None:
    assert pace_of(header, plies) == pace_of(header, plies[:20])
