"""What a change of a game says, alone and joined with a later one."""

from live.event.game_change import GameChange
from live.messages.figures import PlyView


def plies(*numbers: int, version: str = "a") -> tuple[PlyView, ...]:
    return tuple(PlyView(ply=number, san=version, uci="e2e4") for number in numbers)


def test_two_changes_joined_withdraw_what_stood_before_the_first() -> None:
    first = GameChange("g", 4, plies(4, 5))
    assert first.join(GameChange("g", 5, plies(5, version="b"))) == first
    assert first.join(GameChange("g", 4, plies(4, version="b"))) == first
    deeper = GameChange("g", 2, (*plies(2, 3), *plies(4, 5, 6, version="b")))
    assert first.join(deeper) == GameChange("g", 2, plies(2, 3, 4, 5))


def test_a_joined_change_is_disputed_if_one_of_the_two_was() -> None:
    calm, disputed = GameChange("g", 1), GameChange("g", 1, is_disputed=True)
    assert calm.join(disputed).is_disputed and disputed.join(calm).is_disputed
    assert not calm.join(calm).is_disputed
