"""What overlays say of finds, traps and hard positions, in every language."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from live.events import DifficultyView
from tests.web.page.games import Pages, game, plain, ply

SHARE = {
    "en": "Find: about 1 in 12 play it (Elo 2500)",
    "de": "Fund: etwa 1 von 12 spielen das (Elo 2500)",
    "fr": "Trouvaille: environ 1 sur 12 le jouent (Elo 2500)",
    "es": "Hallazgo: cerca de 1 de cada 12 la juegan (Elo 2500)",
    "it": "Trovata: circa 1 su 12 la giocano (Elo 2500)",
    "ru": "Находка: примерно 1 из 12 играют так (Эло 2500)",
}
FIND = ply(1, 30, 0, played_share=0.083, played_elo=2500, mark="find")
HARD = DifficultyView(2400, "e7e5", 0.05, (), 0.42, 90)


def said(pages: Pages, language: str, last: Any) -> Any:
    words = pages("languages")[language]
    shown = plain(game(plies=(last,)))
    return pages("call", module="overlay/human_line.js", name="humanLine", args=[shown, words])


@pytest.mark.parametrize("language", SHARE)
def test_a_find_in_every_language(pages: Pages, language: str) -> None:
    assert said(pages, language, FIND) == {"mark": "find", "text": SHARE[language]}


def test_what_else_there_is_to_say(pages: Pages) -> None:
    trap = msgspec.structs.replace(FIND, mark="trap", difficulty=HARD)
    line = "about 4 in 10 would lose a pawn here (Elo 2400)"
    assert said(pages, "en", trap) == {"mark": "trap", "text": f"Trap: {line}"}
    hard = msgspec.structs.replace(trap, mark=None)
    assert said(pages, "en", hard) == {"mark": None, "text": line}
    quiet = msgspec.structs.replace(FIND, mark=None, played_elo=None)
    assert said(pages, "en", quiet)["text"] == "about 1 in 12 play it"
    assert said(pages, "en", ply(1, 30, 0)) is None
