"""live.producer.scene_choice: at most one switch, and never against the producer."""

from __future__ import annotations

import pytest

from live.config import DirectorConfig
from live.events import GameMessage, GoneMessage, MomentMessage, MoveMessage
from live.producer import scene_choice
from live.producer.scene_choice import FRESH_S, SceneChoice
from live.publish.published_state import view_of
from tests.producer.moments import moment
from tests.story.games import game


def choice(**rules: object) -> SceneChoice:
    made = SceneChoice(DirectorConfig(**{"url": "ws://obs", **rules}))  # type: ignore[arg-type]
    made.heard([GameMessage(view_of(game(id=f"g{n}", board=n))) for n in (1, 2, 3)], 0.0)
    made.scenes(["Wide", "Board 1", "Board 2"])
    made.asked("Wide", 0.0)
    return made


def told(made: SceneChoice, board: int, at_s: float, weight: float = 0.8, ply: int = 1) -> None:
    made.heard([MomentMessage(f"g{board}", moment(f"g{board}", ply, weight=weight))], at_s)


def scene(made: SceneChoice, at_s: float) -> str | None:
    due = made.next(at_s)
    if due is not None:
        made.asked(due.scene, at_s)
    return None if due is None else due.scene


def test_a_moment_is_switched_to_once_after_the_least_time_on_air() -> None:
    made = choice()
    told(made, 1, 5.0)
    assert scene(made, 10.0) is None
    assert scene(made, 21.0) == "Board 1"
    told(made, 1, 22.0)
    assert scene(made, 50.0) is None


def test_what_matters_more_comes_first_and_what_is_old_not_at_all() -> None:
    made = choice()
    told(made, 1, 20.0, 0.7)
    told(made, 2, 21.0, 0.9)
    assert scene(made, 30.0) == "Board 2"
    assert scene(made, 51.0) == "Board 1"
    told(made, 2, 60.0, ply=2)
    assert scene(made, 60.0 + FRESH_S) is None


def test_what_matters_little_and_other_kinds_are_left_out() -> None:
    made = choice()
    told(made, 1, 30.0, 0.5)
    assert scene(made, 31.0) is None
    made = choice(kinds=("comeback",))
    told(made, 1, 30.0)
    assert scene(made, 31.0) is None


def test_a_scene_that_there_is_not_is_never_asked_for() -> None:
    made = choice(home_scene="Nowhere")
    told(made, 3, 30.0)
    assert scene(made, 31.0) is None
    assert scene(made, 500.0) is None


def test_whoever_switches_by_hand_is_left_alone() -> None:
    made = choice()
    told(made, 1, 30.0)
    # OBS says what we asked for: that is no hand.
    made.on_air("Wide", 30.0)
    made.on_air("Interview", 31.0)
    assert scene(made, 90.0) is None
    told(made, 2, 330.0)
    assert scene(made, 332.0) == "Board 2"


def test_it_goes_home_when_nothing_else_is_worth_telling() -> None:
    made = choice(home_scene="Wide")
    told(made, 1, 25.0)
    assert scene(made, 26.0) == "Board 1"
    assert scene(made, 80.0) is None
    assert scene(made, 87.0) == "Wide"
    assert scene(made, 400.0) is None


def test_what_is_withdrawn_or_gone_is_not_shown() -> None:
    made = choice()
    told(made, 1, 25.0)
    made.heard([MomentMessage("g1", moment("g1"), holds=False)], 26.0)
    told(made, 2, 26.0)
    made.heard([GoneMessage("g2")], 27.0)
    assert scene(made, 28.0) is None


def test_of_a_moment_that_nobody_saw_happen_nothing_is_shown() -> None:
    made = choice()
    made.heard([MomentMessage("g1", moment("g1", at_s=None))], 25.0)
    assert scene(made, 26.0) is None


def test_what_stood_before_the_start_is_not_switched_to_when_its_figures_change() -> None:
    made = SceneChoice(DirectorConfig(url="ws://obs"))
    made.begin([view_of(game(id="g1", board=1))], [moment("g1")])
    told(made, 1, 25.0, 0.9)
    assert scene(made, 26.0) is None
    told(made, 1, 27.0, ply=2)
    assert scene(made, 28.0) == "Board 1"


def test_a_moment_sent_again_with_other_figures_is_the_same() -> None:
    made = choice()
    told(made, 1, 25.0)
    told(made, 1, 50.0, 0.9)
    # It is as old as when it was sent first, and counts as it is now.
    told(made, 2, 51.0, 0.85)
    assert scene(made, 52.0) == "Board 1"
    assert scene(made, 75.0) == "Board 2"
    told(made, 1, 95.0, 0.7)
    assert scene(made, 100.0) is None


def test_what_is_taken_back_is_not_shown() -> None:
    made = choice()
    told(made, 1, 25.0, ply=5)
    made.heard([MoveMessage("g1", 6, None), MoveMessage("g2", 5, None)], 26.0)
    assert made.next(27.0) is not None
    told(made, 2, 28.0, ply=5)
    made.heard([MoveMessage("g2", 5, None)], 29.0)
    assert scene(made, 60.0) is None


def test_not_every_moment_is_known_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene_choice, "KNOWN", 2)
    made = choice()
    for ply in (1, 2, 3):
        told(made, 3, 1.0, ply=ply)
    made.heard([GoneMessage("g3")], 2.0)
    made.heard([GameMessage(view_of(game(id="g3", board=1)))], 2.0)
    told(made, 3, 25.0, ply=3)
    assert scene(made, 26.0) is None
    told(made, 3, 26.0, ply=1)
    assert scene(made, 27.0) == "Board 1"
