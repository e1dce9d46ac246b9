"""live/web/client/move_shares.js says shares as the terminal does."""

from __future__ import annotations

import pytest

from live.human.difficulty import in_words
from tests.web.page.games import Pages


@pytest.mark.parametrize("start", range(0, 1000, 100))
def test_the_same_words(pages: Pages, start: int) -> None:
    english = pages("languages")["en"]
    for per_mille in range(start, start + 100, 7):
        share = per_mille / 1000
        args = [share, english]
        said = pages("call", module="client/move_shares.js", name="shareWords", args=args)
        assert said == in_words(share)
