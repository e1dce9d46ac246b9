"""Every gain is drawn at its centipawn or written."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from live.terminal.gain_chart import gain_chart
from live.terminal.palette import DUSK

GAINS = st.lists(st.integers(-300, 120), min_size=1, max_size=60)


@given(GAINS, st.integers(20, 120), st.integers(1, 6))
def test_each_gain_stands_in_its_column_or_is_counted_beside_them(
    gains_cp: list[int], width: int, rows: int
) -> None:
    counts = tuple(sorted(Counter(gains_cp).items()))
    written, *bars, axis, engine = [
        line.plain for line in gain_chart(counts, ((0, 1),), width, rows, "white", DUSK)
    ]
    assert len(bars) == rows and all(len(line) <= width for line in (*bars, axis))
    assert engine.startswith("the engine's own: 0"[:width])
    zero = width - 1 - min(max(0, *gains_cp), width // 2)
    drawn = {column - zero for column, char in enumerate(bars[-1]) if char != " "}
    outside = {gain_cp for gain_cp in gains_cp if not -zero <= gain_cp < width - zero}
    assert drawn | outside == set(gains_cp) and not drawn & outside
    if len(written) < width:
        beyond = sum(map(int, re.findall(r"· (\d+) (?:below|above)", written)))
        assert beyond == sum(gain_cp in outside for gain_cp in gains_cp)


def test_the_axis_marks_the_column_of_its_centipawn() -> None:
    _, bars, axis, _ = [
        line.plain for line in gain_chart(((-25, 3), (0, 9)), ((0, 1),), 60, 1, "white", DUSK)
    ]
    assert bars[59 - 25] == "█" and axis[: 59 - 25 + 1].endswith("-25")
    assert axis.endswith("0") and bars[59] == "█"


def test_an_engine_as_measured_is_drawn_too() -> None:
    lines = gain_chart(((-2, 1), (0, 1), (7, 2)), ((-1, 1), (0, 3), (2, 2)), 30, 2, "white", DUSK)
    assert len(lines) == 5
    # 7 is the last column: 0 stands seven before it, cut off, with the engine's -1 and 2 beside it.
    assert lines[-1].plain[29 - 8 : 29 - 4] == "▄█ █"
    assert gain_chart((), (), 30, 2, "white", DUSK)[0].plain == "no gain yet"
