"""Points of players and teams follow from results, whatever order they come in."""

from __future__ import annotations

import msgspec
import pytest

from live.events import FeedReport, GameReport, GameView, Player, Result
from live.ledger.roster import TeamMatch, TeamStanding, team_matches, team_table
from live.terminal.palette import PLAIN
from live.terminal.players.team_list import team_lines
from tests.alerts.games import played
from tests.alerts.replayed_event import Rehearsal
from tests.terminal.sample_boards import detail


def game(
    white: str | None,
    black: str | None,
    result: Result,
    round: str = "3.1",
    event: str = "Olympiad",
) -> GameView:
    return msgspec.structs.replace(
        detail(),
        white=Player("A", team=white),
        black=Player("B", team=black),
        result=result,
        round=round,
        event=event,
    )


def test_a_match_adds_up_both_colours() -> None:
    games = [
        game("Norway", "India", "1-0"),
        game("India", "Norway", "1/2-1/2", "3.2"),
        game("Norway", "India", "*", "3.3"),
        game("India", "Norway", "1-0", "4.1"),
        game("Norway", None, "1-0"),
        game("Norway", "Norway", "1-0"),
    ]
    third, fourth = team_matches(games)
    assert third == TeamMatch("Olympiad", "3", ("India", "Norway"), (0.5, 1.5), 1)
    assert (fourth.round, fourth.points, fourth.running) == ("4", (1.0, 0.0), 0)


def test_the_table_counts_finished_matches_and_every_board_point() -> None:
    games = [
        game("Norway", "India", "1-0"),
        game("Peru", "India", "1/2-1/2", "4.1"),
        game("Norway", "Peru", "0-1", "5.1"),
        game("Norway", "Peru", "*", "5.2"),
    ]
    assert team_table(team_matches(games)) == [
        TeamStanding("Olympiad", "Norway", 1, 2, 1.0),
        TeamStanding("Olympiad", "Peru", 1, 1, 1.5),
        TeamStanding("Olympiad", "India", 2, 1, 0.5),
    ]


def test_each_event_of_a_feed_has_its_table() -> None:
    games = [
        game("Norway", "India", "1-0", event="Open"),
        game("Norway", "India", "0-1", event="Women"),
    ]
    assert team_table(team_matches(games)) == [
        TeamStanding("Open", "Norway", 1, 2, 1.0),
        TeamStanding("Open", "India", 1, 0, 0.0),
        TeamStanding("Women", "India", 1, 2, 1.0),
        TeamStanding("Women", "Norway", 1, 0, 0.0),
    ]
    lines = [line.plain.split() for line in team_lines(team_matches(games), "", 80, 20, PLAIN)]
    assert [line[0] for line in lines[5:11]] == ["Open", "1", "2", "Women", "1", "2"]


def test_games_whose_event_is_the_pairing_are_one_match() -> None:
    games = [
        game("Norway", "India", "1-0", "3.1", event="Round 3: A - B"),
        game("India", "Norway", "1-0", "3.2", event="Round 3: A - B, board 2"),
    ]
    assert [each.points for each in team_matches(games)] == [(1.0, 1.0)]


def test_without_teams_there_is_no_match() -> None:
    assert team_matches([game(None, None, "1-0")]) == []


@pytest.mark.parametrize(
    ("result", "points"),
    [("1-0", (1.0, 0.0)), ("1/2-1/2", (0.5, 0.5)), ("0-0", (0.0, 0.0)), ("*", (None, None))],
)
def test_a_player_has_the_points_of_finished_games(
    result: Result, points: tuple[float | None, float | None]
) -> None:
    service = Rehearsal()

    def report(result: Result) -> tuple[float | None, ...]:
        told: GameReport = played("e4 e5 Nf3 Nc6", result=result)
        service.report(FeedReport("hall", (told,)))
        views = sorted(service.state.players(), key=lambda view: view.name, reverse=True)
        assert all(view.finished == (result != "*") for view in views)
        return tuple(view.points for view in views)

    report("*")
    assert report(result) == points
    assert report("*") == (None, None), "a result that is withdrawn takes its points along"
