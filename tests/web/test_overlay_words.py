"""live/web/overlay/language/words.js and flags.js: every language says everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Pages = Callable[..., Any]


@pytest.fixture
def languages(pages: Pages) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = pages("languages")
    return found


def call(pages: Pages, name: str, *args: Any, module: str = "overlay/language/words.js") -> Any:
    return pages("call", module=module, name=name, args=list(args))


def test_english_and_at_least_four_more(languages: dict[str, Any]) -> None:
    assert {"en", "de", "fr", "es", "ru"} <= set(languages)


def test_every_language_says_everything_with_the_same_holes(
    languages: dict[str, dict[str, Any]],
) -> None:
    english = languages["en"]
    for code, words in languages.items():
        assert words.keys() == english.keys(), code
        assert len(words["letters"]) == 5, code
        assert len(set(words["letters"])) == 5, code
        for name, text in english.items():
            if isinstance(text, str):
                assert words[name], f"{code} {name}"
                assert words[name].count("{}") == text.count("{}"), f"{code} {name}"
        assert all("{}" in form for form in words["moves"]), code


@pytest.mark.parametrize(
    ("lang", "count", "text"),
    [
        ("en", 1, "1 move"),
        ("en", 21, "21 moves"),
        ("de", 1, "1 Zug"),
        ("ru", 1, "1 ход"),
        ("ru", 3, "3 хода"),
        ("ru", 11, "11 ходов"),
        ("ru", 13, "13 ходов"),
        ("ru", 21, "21 ход"),
        ("ru", 24, "24 хода"),
        ("ru", 25, "25 ходов"),
    ],
)
def test_counting(
    pages: Pages, languages: dict[str, Any], lang: str, count: int, text: str
) -> None:
    assert call(pages, "counted", languages[lang]["moves"], count) == text


@pytest.mark.parametrize(
    ("lang", "san", "text"),
    [
        ("de", "Nbxd7+", "Sbxd7+"),
        ("de", "e8=Q#", "e8=D#"),
        ("de", "O-O", "O-O"),
        ("fr", "Kxe2", "Rxe2"),
        ("ru", "Kxe2", "Крxe2"),
        ("ru", "Nf3", "\u041af3"),
        # No move: nothing in it is a piece.
        ("de", "<b>Nf3</b>", "<b>Nf3</b>"),
    ],
)
def test_moves_in_a_language(
    pages: Pages, languages: dict[str, Any], lang: str, san: str, text: str
) -> None:
    assert call(pages, "localMove", san, languages[lang]["letters"]) == text


def test_a_value_is_filled_in_as_it_is(pages: Pages) -> None:
    assert call(pages, "fill", "Round {}", "$& {} $1") == "Round $& {} $1"


@pytest.mark.parametrize(
    ("federation", "style", "text"),
    [
        ("NOR", "code", "NOR"),
        ("nor", "emoji", "🇳🇴"),
        ("GER", "emoji", "🇩🇪"),
        ("SUI", "emoji", "🇨🇭"),
        ("ENG", "emoji", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"),
        # FIDE's own flag is nobody's; the code says it.
        ("FID", "emoji", "FID"),
        ("<b>", "code", ""),
        ("Norway and much more", "code", ""),
        (None, "code", ""),
    ],
)
def test_federations(pages: Pages, federation: str | None, style: str, text: str) -> None:
    assert call(pages, "flagText", federation, style, module="overlay/language/flags.js") == text
