"""One board in depth: live/web/page/board."""

from __future__ import annotations

from collections import Counter
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Curves, DifficultyView, GameDetail, Player, RatingShare
from tests.web.conftest import Pages
from tests.web.page.games import HOSTILE, START, game, plain, ply, point

# --- gain chart ----------------------------------------------------------------------------------


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("page/charts.js", name, *args)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-900, 900), max_size=60), st.sampled_from([0, 200]))
def test_every_move_is_in_the_picture_once(pages: Pages, gains: list[int], to: int) -> None:
    counts = call(pages, "countAtOne", gains)
    assert counts == [list(each) for each in sorted(Counter(gains).items())]
    shares = call(pages, "sharesAtOne", counts, to)
    assert len(shares) == 201 + to
    if gains:
        assert abs(sum(share or 0 for share in shares) - 1) < 1e-9
        # What lies beyond stands at the end, what does not at its centipawn.
        far = sum(gain <= -200 for gain in gains) / len(gains)
        assert abs((shares[0] or 0) - far) < 1e-9
        if to:
            assert abs((shares[200] or 0) - gains.count(0) / len(gains)) < 1e-9


def test_the_spike_is_said_in_words(pages: Pages) -> None:
    assert call(pages, "spikeWords", "White", [[-30, 1], [0, 3]]) == "White: 75 % of 4 moves at 0"
    assert call(pages, "spikeWords", "White", [[-30, 1]]) == "White: 0 % of 1 move at 0"
    assert call(pages, "spikeWords", "White", []) == ""


@settings(max_examples=60, deadline=None)
@given(gains=st.lists(st.integers(-7800, 7800), max_size=60), both=st.booleans())
def test_the_table_has_every_gain_in_one_class(pages: Pages, gains: list[int], both: bool) -> None:
    gains = gains if both else [-abs(gain) for gain in gains]
    side = {"name": "White", "counts": call(pages, "countAtOne", gains)}
    subject = {"up": side, "down": side | {"name": "Black"}, "engine": [[0, 1]], "both": both}
    table = pages("gain_table", subject=subject)
    assert table["head"] == ["Gain, cp", "White", "Black", "Engine"]
    assert len(table["rows"]) == (13 if both else 7)
    counts = [int(white.split()[0]) if white else 0 for _, white, _, _ in table["rows"]]
    assert sum(counts) == len(gains)
    rows = dict(zip((name for name, *_ in table["rows"]), counts, strict=True))
    assert rows["lost over 200"] == sum(gain < -200 for gain in gains)
    assert rows["lost 1\u201310"] == sum(-10 <= gain < 0 for gain in gains)
    assert [row[3] for row in table["rows"] if row[3]] == ["1 (100\u00a0%)"]


def test_successive_gains_of_the_engine_are_those_of_its_own_choices(pages: Pages) -> None:
    chosen = game(
        plies=(
            ply(1, 10, best="e2e4", gain_successive_cp=0),
            ply(2, 10, best="e7e5", gain_successive_cp=-15),
            ply(3, 10, best="a2a3", gain_successive_cp=-300),
        )
    )
    assert call(pages, "measuredGains", "successive", plain([chosen])) == [0, -15]
    assert call(pages, "measuredGains", "same-search", plain([chosen])) is None


def test_the_chart_holds_the_gains_of_the_curve(pages: Pages) -> None:
    curves = Curves(white=(point(1, 1, 2100.0, gain_cp=-7), point(3, 2, 2100.0, gain_cp=0)))
    assert call(pages, "gainsOf", plain(game(curves=curves)), "white") == [-7, 0]


# --- human panel ---------------------------------------------------------------------------------


MODULE = "page/board_panels.js"


def said(pages: Pages, name: str, *args: Any) -> str:
    words: str = pages.run(MODULE, name, *args)
    return words.replace("\u00a0", " ")


def test_the_move_played(pages: Pages) -> None:
    move = ply(3, 30, 0, played_share=0.083, played_elo=2500)
    assert said(pages, "playedWords", plain(move), START) == (
        "about 1 in 12 players rated 2500 play 2. Nf3"
    )
    unrated = msgspec.structs.replace(move, played_elo=None)
    assert "1 in 12 players play" in said(pages, "playedWords", plain(unrated), START)
    assert said(pages, "playedWords", plain(ply(3)), START) == ""


def test_other_ratings_only_where_they_play_something_else(pages: Pages) -> None:
    same = [plain(RatingShare(1500, 0.08)), plain(RatingShare(2400, 0.085))]
    assert said(pages, "otherRatings", 0.083, same) == ""
    other = [plain(RatingShare(1500, 0.024)), same[1]]
    assert said(pages, "otherRatings", 0.083, other) == (
        "1500: about 1 in 40 · 2400: about 1 in 12"
    )


def test_the_position_after_it(pages: Pages) -> None:
    hard = DifficultyView(2400, "e7e5", 0.05, (), 0.41, 90)
    assert said(pages, "difficultyWords", plain(hard)) == (
        "about 1 in 20 find the best move, about 4 in 10 lose a pawn or more"
    )
    quiet = msgspec.structs.replace(hard, best_share=None, error_chance=0.0)
    assert said(pages, "difficultyWords", plain(quiet)) == "hardly any lose a pawn or more"


# --- move list -----------------------------------------------------------------------------------


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
    found = pages.run("page/board_panels.js", "moveMark", ply, mover)
    assert (found or {}).get("sign") == sign


def test_signs_agree_with_lichess_figures(pages: Pages) -> None:
    """A loss of 5, 10 and 15 points of win percentage: inaccuracy, mistake, blunder."""

    def percentage(cp: float) -> float:
        return float(100 * pages.run("drawing/number_format.js", "whiteShare", cp))

    limits = {"?!": 5, "?": 10, "??": 15}
    for loss in range(0, 300, 10):
        ply = {"played_cp": -loss, "score_cp": 0, "gain_cp": -loss}
        found = pages.run("page/board_panels.js", "moveMark", ply, "white")
        lost = percentage(0) - percentage(-loss)
        wanted = [sign for sign, least in limits.items() if lost >= least]
        assert (found or {}).get("sign") == (wanted[-1] if wanted else None)


@pytest.mark.parametrize(
    ("gain", "text"), [(None, ""), (0, "0"), (-35, "−0.35"), (120, "+1.20"), (-7800, "−78.00")]
)
def test_gains_in_pawns(pages: Pages, gain: int | None, text: str) -> None:
    assert pages.run("page/board_panels.js", "gainText", gain) == text


# --- rating panel --------------------------------------------------------------------------------


CURVE = plain([point(1, 1, 2100.0), point(3, 2, 2150.0), point(7, 3, 2000.0)])


@pytest.mark.parametrize(("ply", "n"), [(0, None), (1, 1), (2, 1), (6, 2), (7, 3), (99, 3)])
def test_the_last_point_up_to_a_ply(pages: Pages, ply: int, n: int | None) -> None:
    found = pages.run("client/figures.js", "pointAt", CURVE, ply)
    assert (found or {}).get("counted") == n


@pytest.mark.parametrize(
    ("white", "black", "expected"),
    [(2000, 2000, 0.5), (2400, 2000, 10 / 11), (2000, 2400, 1 / 11), (None, 2000, None)],
)
def test_what_elo_ratings_expect(
    pages: Pages, white: int | None, black: int, expected: float | None
) -> None:
    found = pages.run("page/board_panels.js", "eloExpectation", white, black)
    assert found == (pytest.approx(expected) if expected is not None else None)


def leaping(*values: float, first: int = 10) -> GameDetail:
    """White's figure after moves 1, 2, 3 …; every best move is Bc4."""
    curve = tuple(point(2 * at + 1, first + at, value) for at, value in enumerate(values))
    plies = tuple(ply(number, 0, 0, best="f1c4") for number in range(1, 2 * len(values) + 1))
    return game(curves=Curves(white=curve), plies=plies)


def test_the_leap_that_words_speak_of_is_named_at_the_curve(pages: Pages) -> None:
    held = plain(leaping(2100.0, 2300.0, 2000.0, 2200.0, 2400.0, 2330.0))
    curve = held["curves"]["white"]
    named = pages.run("client/figures.js", "namedLeaps", curve, 3)
    newest = pages.run("client/figures.js", "newestLeap", curve, {})
    assert named[0] == newest
    assert [round(each["to"] - each["from"]) for each in named] == [-70, -300, 200]


@pytest.mark.parametrize(
    ("values", "first", "upto", "said"),
    [
        (
            (2100.0, 2030.4),
            10,
            9,
            "Last swing: fell from 2100 to 2030 with 2.\u00a0Nf3; Bc4 was better",
        ),
        ((2100.0, 2160.0), 10, 9, "Last swing: rose from 2100 to 2160 with 2.\u00a0Nf3"),
        ((2100.0, 2159.0), 10, 9, ""),
        # The newest of those up to the move that is looked at.
        ((2100.0, 2000.0, 2100.0), 10, 9, "Last swing: rose from 2000 to 2100 with 3.\u00a0Bb5"),
        (
            (2100.0, 2000.0, 2100.0),
            10,
            4,
            "Last swing: fell from 2100 to 2000 with 2.\u00a0Nf3; Bc4 was better",
        ),
        ((2100.0, 2000.0), 9, 9, ""),
    ],
)
def test_which_move_moved_the_figure(
    pages: Pages, values: tuple[float, ...], first: int, upto: int, said: str
) -> None:
    assert (
        pages.run(
            "page/board_panels.js", "leapWords", plain(leaping(*values, first=first)), "white", upto
        )
        == said
    )


@pytest.mark.parametrize(
    ("later", "said"),
    [
        ((), "fell 70 with 2.\u00a0Nf3"),
        ((2040.0,) * 2, "fell 70 with 2.\u00a0Nf3"),
        ((2040.0,) * 3, ""),
    ],
)
def test_a_move_that_moved_the_figure_is_news_for_some_moves(
    pages: Pages, later: tuple[float, ...], said: str
) -> None:
    held = plain(leaping(2100.0, 2030.4, *later))
    args = [held, "white", {"choice": "perceived"}]
    assert pages.run("page/score_words.js", "leapNews", *args) == said
    args[2] = {"choice": "algorithm4"}
    assert pages.run("page/score_words.js", "leapNews", *args) == ""
    words = pages("languages")["de"]
    args = [held, "white", words]
    found = pages.run("overlay/shown_figures.js", "leapText", *args)
    assert found == (said and "fiel um 70 mit 2.\u00a0Sf3")


def test_beside_a_final_figure_stands_no_news(pages: Pages) -> None:
    held = plain(leaping(2100.0, 2030.0, 2040.0))

    def news(result: str, ply: int) -> str:
        args = [{**held, "result": result}, "white", {"choice": "perceived"}, ply]
        return str(pages.run("page/score_words.js", "leapNews", *args))

    assert news("1-0", 99) == ""
    # While its last move is not looked at, and while it runs.
    assert news("1-0", 4) == news("*", 99) == "fell 70 with 2.\u00a0Nf3"


# --- share image ---------------------------------------------------------------------------------


SVG = "{http://www.w3.org/2000/svg}"
PIECES = {letter: f'<circle class="{letter}" r="9"/>' for letter in "KQRBNPkqrbnp"}
ENGINE = {"name": "Stockfish", "limit": "100000 nodes"}


def drawing(pages: Pages, view: Any, number: int) -> ElementTree.Element:
    return ElementTree.fromstring(
        pages("shareSvg", game=plain(view), ply=number, engine=ENGINE, pieces=PIECES)
    )


def texts(root: ElementTree.Element) -> list[str]:
    return [(each.text or "").strip("\u2068\u2069") for each in root.iter(f"{SVG}text")]


def test_it_shows_the_ply_that_is_seen_and_only_what_was_known_then(pages: Pages) -> None:
    view = game(
        white=Player("Anna", elo=2000),
        black=Player("Bea"),
        curves=Curves(white=(point(1, 11, 2100.0), point(3, 12, 2150.0)), black=()),
    )
    now, then = (texts(drawing(pages, view, number)) for number in (4, 1))
    assert "2150" in now
    assert "2100" in then
    assert "2150" not in then
    assert "usual for 2000: 1900\u2060–\u20602300" in now
    assert "better than 50\u00a0% of games by players of 2000, 12 moves" in now
    assert "no move rated yet" in now
    # Algorithm 4 stands nowhere under another name.
    assert "2080" not in now
    pieces = [each.get("class") for each in drawing(pages, view, 1).iter(f"{SVG}circle")]
    assert sum(each in PIECES for each in pieces if each) == 32


@settings(max_examples=40, deadline=None)
@given(name=st.text(max_size=50) | st.just(HOSTILE))
def test_any_name_is_text(pages: Pages, name: str) -> None:
    # Lone halves of surrogate pairs cannot travel as JSON.
    name = name.encode("utf-8", "replace").decode()
    view = game(white=Player(name, title=name), event=name, round=name, plies=(ply(1, 10, 0),))
    root = drawing(pages, view, 1)
    allowed = {f"{SVG}{tag}" for tag in ("svg", "rect", "text", "circle", "g", "path")}
    assert {each.tag for each in root.iter()} <= allowed
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on")]
