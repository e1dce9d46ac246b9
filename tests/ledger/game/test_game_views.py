"""What is shown of one move."""

from live.events import PlyView
from live.ledger.tracked_game import with_chances


def test_a_search_that_deepened_and_then_failed_leaves_no_chances_behind() -> None:
    shown = PlyView(ply=6, san="a6", uci="a7a6", win=0.3671, draw=0.5147, loss=0.1182)
    view = with_chances(shown, None, 2811, 2826)
    assert (view.win, view.draw, view.loss) == (None, None, None)
