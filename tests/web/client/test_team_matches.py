"""live/web/client/team_matches.js says the same as live/ledger/players/team_matches.py."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Player
from live.ledger.players.team_matches import team_matches
from live.terminal.figure_text import points_text
from tests.web.page.games import Pages, game, plain

TEAMS = st.sampled_from(["India", "Norway", "Peru", None])
#: The last is but the pairing.
EVENTS = st.sampled_from(["Open", "Women", "Round 1: A - B"])
GAMES = st.lists(
    st.tuples(
        EVENTS, TEAMS, TEAMS, st.sampled_from(["*", "1-0", "0-1", "1/2-1/2", "0-0", "1/2-0"])
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(told=GAMES)
def test_both_count_alike(
    pages: Pages, told: list[tuple[str, str | None, str | None, str]]
) -> None:
    games = [
        game(
            f"g{at}",
            event=event,
            round=f"{at % 2 + 1}.{at}",
            white=Player("A", team=white),
            black=Player("B", team=black),
            result=result,
        )
        for at, (event, white, black, result) in enumerate(told)
    ]
    found = pages("call", module="client/team_matches.js", name="teamMatches", args=[plain(games)])
    assert {
        (each["event"], each["round"], *each["teams"], *each["points"], each["running"])
        for each in found
    } == {
        (each.event, each.round, *each.teams, *each.points, each.running)
        for each in team_matches(games)
    }
    assert len(found) == len(team_matches(games))


def test_points_are_written_alike(pages: Pages) -> None:
    for points in (0, 0.5, 1, 3.5, 11):
        args = [points]
        text = pages("call", module="client/team_matches.js", name="pointsText", args=args)
        assert text == points_text(points)
    assert pages("call", module="client/team_matches.js", name="pointsText", args=[2.25]) == "2.25"
