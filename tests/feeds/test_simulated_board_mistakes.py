"""Mistakes for good: each does to a game what its name says, and nothing before its ply."""

from __future__ import annotations

import pytest

from live.commands import service_commands
from live.feeds.game_timeline import (
    FLAG_S,
    LATE_PLIES,
    MISTAKES,
    RISE_S,
    Mistake,
    PlannedIncident,
    Told,
    mistaken,
    timeline,
)
from live.rehearse.rehearsal import mistakes
from tests.alerts.games import four_boards

PLY = 15


def told(mistake: Mistake) -> tuple[list[Told], list[Told]]:
    """The first game as it was, and with the mistake."""
    whole = [(moment.at_s, moment.report) for moment in timeline(four_boards()[:1])]
    return whole, mistaken(whole, mistake, PLY)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_nothing_is_wrong_before_its_ply_and_something_is_after(mistake: Mistake) -> None:
    whole, wrong = told(mistake)
    assert wrong != whole
    early = [each for each in whole if len(each[1].moves) < PLY - 2]
    assert wrong[: len(early)] == early
    assert [at_s for at_s, _ in wrong] == sorted(at_s for at_s, _ in wrong)


def test_each_does_what_its_name_says() -> None:
    game = four_boards()[0]
    last = {mistake: told(mistake)[1][-1][1] for mistake in MISTAKES}
    assert last["illegal-move"].problem == f"illegal move Qh9 at ply {PLY}"
    assert len(last["illegal-move"].moves) == len(last["unreadable"].moves) == PLY - 1
    assert len({move.clock_s for move in last["clock-still"].moves[PLY - 1 : PLY + 13 : 2]}) == 1
    before, after = game.moves[PLY - 1].clock_s, last["clock-rising"].moves[PLY - 1].clock_s
    assert before is not None and after == before + RISE_S
    assert (last["stale"].result, len(last["stale"].moves)) == ("*", PLY - 1)
    assert len(last["last-move"].moves) == len(game.moves) - 1
    assert last["late-move"] == game
    assert last["result"].result not in ("*", game.result)


def test_a_flag_is_down_for_a_while_before_the_result() -> None:
    wrong = told("flag")[1]
    (_, before), (fallen_s, fallen), (over_s, over) = wrong[-3:]
    assert before.result == fallen.result == "*" and over.result == "0-1"  # White is to move
    assert [move.clock_s for move in fallen.moves].count(0.0) == 1
    assert over_s - fallen_s == FLAG_S


def test_moves_after_the_result() -> None:
    wrong = told("late-move")[1]
    (_, early), (_, whole) = wrong[-2:]
    assert early.result == whole.result != "*"
    assert len(whole.moves) - len(early.moves) == LATE_PLIES


def test_mistakes_are_made_with_the_first_games_one_each() -> None:
    games = four_boards()
    made = mistakes(["flag", "stale"], games)
    assert made == [
        PlannedIncident("flag", 0, len(games[0].moves) // 2),
        PlannedIncident("stale", 1, len(games[1].moves) // 2),
    ]
    moments = timeline(games, speed=60, incidents=made)
    ends = {moment.game: moment.report for moment in moments}
    assert ends[1].result == "*" and [ends[2], ends[3]] == games[2:]


def test_the_command_knows_them_all() -> None:
    assert tuple(option.value for option in service_commands.Mistake) == MISTAKES
