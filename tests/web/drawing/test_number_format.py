"""live/web/drawing/number_format.js: numbers as people read them."""

from collections.abc import Callable
from typing import Any

import pytest

Pages = Callable[..., Any]
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@pytest.mark.parametrize(
    ("name", "args", "result"),
    [
        ("scoreText", [34, None], "+0.34"),
        ("scoreText", [-120, None], "−1.20"),
        ("scoreText", [0, None], "0.00"),
        ("scoreText", [3900, 5], "#5"),
        ("scoreText", [-3900, -5], "−#5"),
        ("scoreText", [3900, 0], "#0"),
        ("scoreText", [None, None], ""),
        ("whiteShare", [0], 0.5),
        ("clockText", [None], ""),
        ("clockText", [3909.9], "1:05:09"),
        ("clockText", [309], "5:09"),
        ("clockText", [9.44], "9.4"),
        ("clockText", [-1], "0.0"),
        ("moveText", [1, "e4", START], "1.\u00a0e4"),
        ("moveText", [2, "c5", START], "1…\u00a0c5"),
        ("moveText", [1, "Kd7", "4k3/8/8/8/8/8/8/4K3 b - - 0 31"], "31…\u00a0Kd7"),
        ("moveText", [2, "Kd2", "4k3/8/8/8/8/8/8/4K3 b - - 0 31"], "32.\u00a0Kd2"),
        ("ageText", [8.2], "8 s"),
        ("ageText", [180], "3 min"),
        ("ageText", [7300], "2 h"),
        ("resultText", ["1/2-1/2"], "½–½"),
        ("resultText", ["*"], ""),
        ("resultText", ["1-0"], "1–0"),
        ("safeLink", ["https://lichess.org/x"], "https://lichess.org/x"),
        ("safeLink", ["javascript:alert(1)"], None),
        ("safeLink", [" JaVaScRiPt:alert(1)"], None),
        ("safeLink", [""], None),
    ],
)
def test_it_reads(pages: Pages, name: str, args: list[object], result: object) -> None:
    assert pages("call", module="drawing/number_format.js", name=name, args=args) == result


def test_the_score_bar_follows_the_score(pages: Pages) -> None:
    def share(cp: int) -> float:
        result = pages("call", module="drawing/number_format.js", name="whiteShare", args=[cp])
        assert isinstance(result, float)
        return result

    shares = [share(cp) for cp in (-3900, -300, -20, 20, 300, 3900)]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(1 - shares[-1])
    # lichess.org/page/accuracy: 300 centipawns are 75.1 % for White.
    assert share(300) == pytest.approx(0.751, abs=5e-4)
