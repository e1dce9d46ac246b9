"""Teams and namesakes."""

from __future__ import annotations

import msgspec
import pytest

from live.events import FeedReport, GameReport, GameView, Player, Result
from live.games.game import NewGame
from live.ledger.roster import (
    TeamMatch,
    TeamStanding,
    might_be_one,
    namesakes,
    team_matches,
    team_table,
)
from live.terminal.players_view import team_lines
from tests.alerts.games import played
from tests.alerts.replayed_event import Rehearsal
from tests.ledger.arithmetic import Held, game
from tests.terminal.sample_boards import detail

# --- team matches -------------------------------------------------------------------------------

# Points of players and teams follow from results, whatever order they come in.


def team_game(
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
        team_game("Norway", "India", "1-0"),
        team_game("India", "Norway", "1/2-1/2", "3.2"),
        team_game("Norway", "India", "*", "3.3"),
        team_game("India", "Norway", "1-0", "4.1"),
        team_game("Norway", None, "1-0"),
        team_game("Norway", "Norway", "1-0"),
    ]
    third, fourth = team_matches(games)
    assert third == TeamMatch("Olympiad", "3", ("India", "Norway"), (0.5, 1.5), 1)
    assert (fourth.round, fourth.points, fourth.running) == ("4", (1.0, 0.0), 0)


def test_the_table_counts_finished_matches_and_every_board_point() -> None:
    games = [
        team_game("Norway", "India", "1-0"),
        team_game("Peru", "India", "1/2-1/2", "4.1"),
        team_game("Norway", "Peru", "0-1", "5.1"),
        team_game("Norway", "Peru", "*", "5.2"),
    ]
    assert team_table(team_matches(games)) == [
        TeamStanding("Olympiad", "Norway", 1, 2, 1.0),
        TeamStanding("Olympiad", "Peru", 1, 1, 1.5),
        TeamStanding("Olympiad", "India", 2, 1, 0.5),
    ]


def test_each_event_of_a_feed_has_its_table() -> None:
    games = [
        team_game("Norway", "India", "1-0", event="Open"),
        team_game("Norway", "India", "0-1", event="Women"),
    ]
    assert team_table(team_matches(games)) == [
        TeamStanding("Open", "Norway", 1, 2, 1.0),
        TeamStanding("Open", "India", 1, 0, 0.0),
        TeamStanding("Women", "India", 1, 2, 1.0),
        TeamStanding("Women", "Norway", 1, 0, 0.0),
    ]
    lines = [line.plain.split() for line in team_lines(team_matches(games), "", 80, 20)]
    assert [line[0] for line in lines[5:11]] == ["Open", "1", "2", "Women", "1", "2"]


def test_games_whose_event_is_the_pairing_are_one_match() -> None:
    games = [
        team_game("Norway", "India", "1-0", "3.1", event="Round 3: A - B"),
        team_game("India", "Norway", "1-0", "3.2", event="Round 3: A - B, board 2"),
    ]
    assert [each.points for each in team_matches(games)] == [(1.0, 1.0)]


def test_without_teams_there_is_no_match() -> None:
    assert team_matches([team_game(None, None, "1-0")]) == []


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


# --- namesakes ----------------------------------------------------------------------------------

# Two names of one person: reported where they might be, never for two who met.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("carlsen magnus", "carlsen m"),
        ("carlsen", "carlsen magnus"),
        ("kasparov garry", "g kasparov"),
        ("radjabov teimour", "radzabov teimour"),
        ("grischuk alexander", "grishuk alexander"),
        ("topalov veselin", "topalvo veselin"),
        ("anand viswanathan", "anand viswanathan"),
    ],
)
def test_shorter_names_and_slips_might_be_one(one: str, other: str) -> None:
    assert might_be_one(one.split(), other.split())
    assert might_be_one(other.split(), one.split())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("carlsen magnus", "carlsen henrik"),
        ("polgar judit", "polgar susan"),
        ("li chao", "li wei"),
        ("wang yue", "wang hao"),
        ("m c", "magnus carlsen"),
        ("anna", "anne"),
        ("", "carlsen"),
    ],
)
def test_other_people_are_not(one: str, other: str) -> None:
    assert not might_be_one(one.split(), other.split())
    assert not might_be_one(other.split(), one.split())


def held(*pairs: tuple[Player, Player]) -> Held:
    ledger = Held()
    for number, (white, black) in enumerate(pairs):
        ledger.apply(NewGame(game(f"g{number}", white=white, black=black)))
    return ledger


def of(ledger: Held) -> tuple[tuple[str, str], ...]:
    met = {frozenset(ledger.player_ids(view.id)) for view in ledger.games()}
    return namesakes(ledger.players(), met)


def test_fide_ids_decide_and_else_it_is_reported() -> None:
    magnus, short = Player("Carlsen, Magnus", fide_id=1503014), Player("Carlsen, M")
    told_twice = held((magnus, Player("A. Nobody")), (short, Player("B. Somebody")))
    assert of(told_twice) == (("Carlsen, M", "Carlsen, Magnus"),)
    same = Player("Carlsen, M", fide_id=1503014)
    one_person = held((magnus, Player("A. Nobody")), (same, Player("B. Somebody")))
    assert len(one_person.players()) == 3
    assert of(one_person) == ()
    brother = Player("Carlsen, M", fide_id=4)
    assert of(held((magnus, Player("A. Nobody")), (brother, Player("B. Somebody")))) == ()


def test_two_who_meet_are_two() -> None:
    assert of(held((Player("Carlsen, Magnus"), Player("Carlsen, M")))) == ()
