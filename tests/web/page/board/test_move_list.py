"""live/web/page/board/move_list.js: what a move lost, in pawns and as a sign."""

from __future__ import annotations

import pytest

from tests.web.page.games import Pages


@pytest.mark.parametrize(
    ("played_cp", "gain_cp", "mover", "sign"),
    [
        (0, 0, "white", None),
        (0, -50, "white", None),
        (0, -60, "white", "?!"),
        (-60, -60, "black", "?!"),
        (60, -60, "black", "?!"),
        (-112, -112, "white", "?"),
        (-200, -200, "white", "??"),
        (200, -200, "black", "??"),
        # What is lost in a decided position weighs little.
        (600, -200, "white", None),
        (900, -200, "white", None),
        (30, None, "white", None),
    ],
)
def test_signs_follow_the_chances_lost(
    pages: Pages, played_cp: int, gain_cp: int | None, mover: str, sign: str | None
) -> None:
    ply = {"played_cp": played_cp, "score_cp": 0, "gain_cp": gain_cp}
    found = pages("call", module="page/board/move_list.js", name="moveMark", args=[ply, mover])
    assert (found or {}).get("sign") == sign


def test_signs_agree_with_lichess_figures(pages: Pages) -> None:
    """A loss of 5, 10 and 15 points of win percentage: inaccuracy, mistake, blunder."""

    def percentage(cp: float) -> float:
        return float(
            100 * pages("call", module="drawing/number_format.js", name="whiteShare", args=[cp])
        )

    limits = {"?!": 5, "?": 10, "??": 15}
    for loss in range(0, 300, 10):
        ply = {"played_cp": -loss, "score_cp": 0, "gain_cp": -loss}
        found = pages(
            "call", module="page/board/move_list.js", name="moveMark", args=[ply, "white"]
        )
        lost = percentage(0) - percentage(-loss)
        wanted = [sign for sign, least in limits.items() if lost >= least]
        assert (found or {}).get("sign") == (wanted[-1] if wanted else None)


@pytest.mark.parametrize(
    ("gain", "text"), [(None, ""), (0, "0"), (-35, "−0.35"), (120, "+1.20"), (-7800, "−78.00")]
)
def test_gains_in_pawns(pages: Pages, gain: int | None, text: str) -> None:
    assert pages("call", module="page/board/move_list.js", name="gainText", args=[gain]) == text
