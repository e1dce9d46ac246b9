import chess
import msgspec
import pytest

from live.events import Headers, Player, Score
from live.games.game import (
    ClocksCorrected,
    EvalsChanged,
    Game,
    GameConfirmed,
    GameGone,
    MovesPlayed,
    NewGame,
    Step,
    TailReplaced,
    TakenBack,
    applied,
    game_after,
)
from tests.games.told import line

GAME = Game("g", "test", "", Headers(Player("Anna"), Player("Boris")), chess.STARTING_FEN)
PLAYED = msgspec.structs.replace(GAME, moves=line("e4 e5 Nf3"))


def test_moves_played_go_on_where_the_game_stood() -> None:
    after = applied(PLAYED, MovesPlayed("g", 4, line("e4 e5 Nf3 Nc6")[3:]))
    assert after.moves == line("e4 e5 Nf3 Nc6")


def test_a_replaced_tail_may_be_shorter_or_longer_than_what_it_replaces() -> None:
    assert applied(PLAYED, TailReplaced("g", 2, line("e4 c5")[1:])).moves == line("e4 c5")
    longer = line("e4 c5 Nf3 d6")
    assert applied(PLAYED, TailReplaced("g", 2, longer[1:])).moves == longer


def test_a_takeback_leaves_the_plies_it_names() -> None:
    assert applied(PLAYED, TakenBack("g", 1)).moves == line("e4")
    assert applied(PLAYED, TakenBack("g", 0)).moves == ()


def test_corrected_clocks_and_evaluations_touch_nothing_else() -> None:
    step = ClocksCorrected("g", ((1, 90.0, 3.0), (3, None, 4.0)))
    after = applied(PLAYED, step)
    assert [(m.clock_s, m.spent_s) for m in after.moves] == [(90.0, 3.0), (None, None), (None, 4.0)]
    judged = applied(after, EvalsChanged("g", ((0, Score(20)), (2, Score(35)))))
    assert judged.start_eval == Score(20)
    assert [m.eval for m in judged.moves] == [None, Score(35), None]
    assert [m.clock_s for m in judged.moves] == [90.0, None, None]


@pytest.mark.parametrize(
    "step",
    [
        MovesPlayed("g", 3, line("e4")),
        MovesPlayed("g", 5, line("e4")),
        TailReplaced("g", 4, line("e4")),
        TailReplaced("g", 0, line("e4")),
        TakenBack("g", 3),
        TakenBack("g", -1),
        NewGame(GAME),
        GameGone("g"),
    ],
)
def test_a_step_that_does_not_fit_the_moves_is_refused(step: Step) -> None:
    with pytest.raises(ValueError, match="does not fit game g, which has 3 plies"):
        applied(PLAYED, step)


def test_a_step_of_another_game_is_refused() -> None:
    with pytest.raises(ValueError, match="about game h, not g"):
        applied(PLAYED, GameConfirmed("h"))


def test_steps_survive_the_journal() -> None:
    steps: list[Step] = [NewGame(PLAYED), TailReplaced("g", 2, line("e4 c5")[1:]), GameGone("g")]
    kept = msgspec.json.encode(steps)
    assert msgspec.json.decode(kept, type=list[Step]) == steps


def test_the_fold_begins_with_a_new_game_and_ends_when_it_is_gone() -> None:
    begun = game_after(None, NewGame(GAME))
    assert begun == GAME
    after = game_after(begun, MovesPlayed("g", 1, line("e4")))
    assert after is not None
    assert after.moves == line("e4")
    assert game_after(after, GameGone("g")) is None
    assert game_after(after, NewGame(PLAYED)) == PLAYED


def test_a_step_about_a_game_that_is_not_held_changes_nothing() -> None:
    assert game_after(None, TakenBack("g", 0)) is None
    assert game_after(None, GameGone("g")) is None


def test_a_step_that_does_not_fit_is_refused_by_the_fold() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        game_after(PLAYED, TakenBack("g", 3))
