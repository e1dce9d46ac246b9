"""What overlays decide: live/screens/web/overlay, by its pure modules."""

import math
import re
from operator import itemgetter
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.messages.figures import Curves, DifficultyView, GameDetail, PlyView
from live.messages.from_sources import RESULT_POINTS, Player
from live.server.static_files import OVERLAY
from tests.screens.web.conftest import Pages
from tests.screens.web.games import START, game, plain, ply, point

# --- options --------------------------------------------------------------------------


def read(pages: Pages, query: str) -> dict[str, Any]:
    found: dict[str, Any] = pages.run("overlay/options.js", "readOptions", query)
    return found


def test_options_are_read(pages: Pages) -> None:
    usual = read(pages, "")
    assert usual["problems"] == [] and usual["options"]["layout"] == "board"
    found = read(
        pages,
        "?layout=grid&board=3,12&board=4&hide=clock,elo&ground=%23FFFFFF80&size=1.5"
        "&provisional=0&show=arrow,opening&player=Carlsen,+Magnus&player=1503014&token=secret&layer-width=800",
    )
    wanted = {
        "layout": "grid",
        "board": [3, 12, 4],
        "hide": ["clock", "elo"],
        "size": 1.5,
        "ground": "ffffff80",
        "show": ["arrow", "opening"],
        "provisional": False,
        "player": ["Carlsen, Magnus", "1503014"],
    }
    assert (found["problems"], found["options"]) == ([], usual["options"] | wanted)


@pytest.mark.parametrize(
    "nonsense",
    [
        "layout=pie",
        "board=-1",
        "board=one",
        "size=",
        "size=99",
        "delay=-5",
        "swing=NaN",
        "text=red;}",
        'font=a"; background: url(x)',
        "hide=interval",
        "follow=worst",
        "rating=best",
        "provisional=maybe",
        "provisional=toString",
        "delay=Infinity",
        "lang=constructor",
        "logo=http://elsewhere.example/a.png",
        "logo=javascript:alert(1)",
        "sponsor=data:image/svg+xml,x",
        "sponsor=//",
        "logo=",
    ],
)
def test_nonsense_is_told_and_changes_nothing(pages: Pages, nonsense: str) -> None:
    name, _, value = nonsense.partition("=")
    found = read(pages, urlencode({name: value}))
    assert found["options"] == read(pages, "")["options"]
    (problem,) = found["problems"]
    assert problem.startswith(f"{name}={value}")


def test_an_option_with_a_wrong_value_lists_the_right_ones(pages: Pages) -> None:
    (problem,) = read(pages, "layout=pie")["problems"]
    names = "board, bar, curves, grid, ticker, standings, player, moment, duel, table"
    assert problem == f"layout=pie ({names})"


@pytest.mark.parametrize(
    ("gone", "name", "left"),
    [
        *((f"{gone}=1", "size", 1) for gone in ("flags", "order", "ties")),
        ("rating=level", "rating", "perceived"),
        ("hide=clock,second", "hide", ["clock"]),
    ],
)
def test_addresses_of_before_go_on_working(
    pages: Pages, gone: str, name: str, left: object
) -> None:
    found = read(pages, gone)
    assert (found["options"][name], found["problems"], found["gone"]) == (
        left,
        [],
        [gone],
    )


def test_every_layout_has_a_module_and_a_size() -> None:
    def named(file: str, start: str, name: str) -> list[str]:
        text = (OVERLAY / file).read_text(encoding="utf-8").split(start)[1]
        return sorted(re.findall(name, re.split(r"[\]}];", text)[0], re.M))

    layouts = named("overlay/options.js", "const LAYOUTS = {", r"^  (\w+):")
    assert len(layouts) >= 10
    assert layouts == named(
        "overlay/overlay_main.js", "const LAYOUTS = {", r"^  (\w+):"
    )
    assert layouts == named("builder/builder_main.js", "const SIZES = {", r"^  (\w+):")


COLOURS = st.from_regex(r"\A([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
NAMES = st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60
).filter(str.strip)
WANTED = {
    "follow": st.sampled_from(["top", "closest", "latest"]),
    "player": st.lists(NAMES, max_size=3),
    "board": st.lists(st.integers(1, 999), max_size=5),
    "hide": st.lists(st.sampled_from(["clock", "elo", "curves"]), unique=True),
    "ground": COLOURS,
    "logo": st.sampled_from(
        ["https://club.example/a.png?b=1", "logo.svg", "/static/icon.svg"]
    ),
    "font": st.sampled_from(["Inter", "Noto Sans", "Ubuntu-Bold", "Ælgreya 2"]),
    "size": st.integers(1, 16).map(lambda quarters: quarters / 4),
    "provisional": st.booleans(),
    "rating": st.sampled_from(["perceived", "algorithm4"]),
}


@settings(max_examples=60, deadline=None)
@given(wanted=st.fixed_dictionaries({}, optional=WANTED))
def test_what_is_written_is_read_again(pages: Pages, wanted: dict[str, Any]) -> None:
    options = {**read(pages, "")["options"], **wanted}
    query = pages.run("overlay/options.js", "writeOptions", options)
    assert bool(query) == (options != read(pages, "")["options"])
    found = read(pages, query)
    assert (found["problems"], found["options"]) == ([], options)


# --- words ----------------------------------------------------------------------------


def test_every_language_says_everything_with_the_same_holes(pages: Pages) -> None:
    languages = pages("languages")
    assert {"en", "de", "fr", "es", "it", "ru"} == set(languages)
    for code, words in languages.items():
        assert words.keys() == languages["en"].keys(), code
        assert len(words["letters"]) == len(set(words["letters"])) == 5, code
        for name, text in languages["en"].items():
            if isinstance(text, str):
                assert words[name], f"{code} {name}"
                assert words[name].count("{}") == text.count("{}"), f"{code} {name}"
        assert all("{}" in form for form in words["moves"]), code


SHARE = {
    "en": "Find: about 1 in 12 play it (Elo 2500)",
    "ru": "Находка: примерно 1 из 12 играют так (Эло 2500)",
}
HARD = DifficultyView(2400, "e7e5", 0.05, (), 0.42, 90)


def test_what_others_would_play_is_said(pages: Pages) -> None:
    def write_human_line(language: str, result: str = "*", **more: Any) -> Any:
        last = ply(1, 30, 0, **{"played_share": 0.083, "played_elo": 2500, **more})
        words = pages("languages")[language]
        return figure(pages, "humanLine", game(plies=(last,), result=result), words)

    for language, text in SHARE.items():
        assert write_human_line(language, mark="find") == {"mark": "find", "text": text}
    line = "about 4 in 10 would lose a pawn here (Elo 2400)"
    assert write_human_line("en", mark="trap", difficulty=HARD) == {
        "mark": "trap",
        "text": f"Trap: {line}",
    }
    over = write_human_line("en", "1-0", difficulty=HARD)  # Nobody moves next.
    assert over == {"mark": None, "text": "about 1 in 12 play it (Elo 2500)"}
    assert write_human_line("en", difficulty=HARD) == {"mark": None, "text": line}
    assert write_human_line("en", played_elo=None)["text"] == "about 1 in 12 play it"
    assert write_human_line("en", played_share=None) is None


# --- figures and scores ---------------------------------------------------------------


def figure(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("overlay/shown_figures.js", name, *map(plain, args))


@pytest.mark.parametrize(
    ("plies", "provisional", "text", "state"),
    [
        ([], True, "+0.20", "final"),
        ([ply(1, 35)], True, "+0.35", "final"),
        ([ply(1, 35, final=False)], True, "+0.35", "provisional"),
        # Provisional scores are not wanted: the one before stays, and is not that of
        # this move.
        ([ply(1, 35), ply(2, -80, final=False)], False, "+0.35", "pending"),
        ([ply(1, 35), ply(2)], True, "+0.35", "pending"),
        ([ply(1, 35, final=False)], False, "+0.20", "pending"),
        ([ply(1, -3900, mate=-3)], True, "−#3", "final"),
        ([ply(1, 3900, mate=0)], True, "#", "final"),
    ],
)
def test_scores_say_how_sure_they_are(
    pages: Pages, plies: list[PlyView], provisional: bool, text: str, state: str
) -> None:
    held = game(plies=tuple(plies))
    score = figure(pages, "scoreOf", held, {"provisional": provisional})
    assert (score["text"], score["state"]) == (text, state)
    # The end of a game is its result, also of its bar.
    over = figure(pages, "scoreOf", {**plain(held), "result": "1/2-1/2"})
    assert (over["text"], over["share"], over["state"]) == ("½–½", 0.5, "result")
    unknown = figure(pages, "scoreOf", game(plies=(), start_score_cp=None))
    assert (unknown["text"], unknown["share"], unknown["state"]) == (
        "",
        None,
        "unknown",
    )


def test_the_odds_are_known_while_the_result_is_open_and_add_up(pages: Pages) -> None:
    words = {"odds": "White {} %, draw {} %, Black {} %"}
    chances: dict[str, Any] = {"win": 0.335, "draw": 0.33}
    unsure = plain(game(plies=(ply(1, 20, **chances), ply(2))))
    said = figure(pages, "oddsWords", figure(pages, "oddsOf", unsure), words)
    assert said == "White\u00a034\u00a0%, draw\u00a033\u00a0%, Black\u00a033\u00a0%"
    assert figure(pages, "oddsWords", None, words) == ""
    assert figure(pages, "oddsOf", {**unsure, "result": "1-0"}) is None
    assert figure(pages, "oddsOf", game(plies=(ply(1, 20),))) is None
    # Where provisional scores are not wanted, what follows from them is not either.
    searched = plain(game(plies=(ply(1, 20, final=False, **chances),)))
    assert figure(pages, "oddsOf", searched, searched["plies"], False) is None
    assert figure(pages, "oddsOf", searched) is not None


def test_a_figure_says_when_it_does_not_rest_on_all_moves(pages: Pages) -> None:
    words = {"movesOf": "{} of {} moves", "lastScores": "last scores to come"}
    curves = Curves(white=(point(3, 2, 2100),), black=(point(6, 3, 2100),))
    behind = plain(game(plies=tuple(ply(n, 20) for n in range(1, 8)), curves=curves))

    def part(held: Any, color: str, counted: int = 2, brief: bool = False) -> Any:
        return figure(
            pages, "unratedPart", held, color, words, {"counted": counted}, brief
        )

    assert part(behind, "white") == {"missing": 2, "text": "2 of 4 moves"}
    # Forced moves are in Algorithm 4 and not in the perceived rating.
    assert part(behind, "white", 1)["text"] == "1 of 3 moves"
    assert part({**behind, "plies": behind["plies"][:3]}, "white", 1) is None
    assert part(behind, "black") is None
    over = {**behind, "result": "1-0"}
    assert part(over, "white", brief=True)["text"] == "last scores to come"
    assert part(over, "white")["text"] == "2 of 4 moves · last scores to come"
    # Where Black began, the odd plies are Black's.
    begun = {**behind, "start_fen": START.replace(" w ", " b ")}
    assert part(begun, "black")["missing"] == 1
    assert part(plain(game(plies=())), "white") is None


@settings(max_examples=40, deadline=None)
@given(
    rating=st.integers(1000, 3900),
    difference=st.floats(-2000, 2000),
    margin=st.floats(0, 900),
    perceived=st.none() | st.integers(800, 3200),
)
def test_algorithm_4_is_the_engines_rating_and_the_difference_with_its_interval(
    pages: Pages, rating: int, difference: float, margin: float, perceived: int | None
) -> None:
    ends = {
        "difference_low": difference - margin,
        "difference_high": difference + margin,
    }
    last = point(5, 2, perceived, difference=difference, n=3, **ends)
    held = game(curves=Curves(white=(last,)), plies=(ply(5),))
    words, above = pages("languages")["de"], {"above": rating}
    read = figure(pages, "figureWords", held, "white", last, words, above)
    value, low, high = (
        math.floor(rating + elo + 0.5) for elo in (difference, *ends.values())
    )
    assert (read["label"], read["text"]) == ("Algorithmus 4", str(value))
    assert read["usual"].replace("\u2060", "") == f"95\u00a0%: {low}–{high}"
    # Few moves make its interval wide; they do not make it early, nor give it a
    # percentile.
    assert (read["early"], read["better"]) == ("", "3 Züge")
    columns = pages.run("client/figures.js", "columns", plain(held)["curves"], rating)
    drawn = [columns[at][2] for at in (1, 2, 3)]
    assert drawn == [
        rating + elo
        for elo in (ends["difference_high"], ends["difference_low"], difference)
    ]
    # Without an interval there is none, and without a difference no figure.
    bare = {**plain(last), "difference_low": None}
    assert (
        figure(pages, "figureWords", held, "white", bare, words, above)["usual"] == ""
    )
    none = {**bare, "difference": None}
    assert figure(pages, "figureWords", held, "white", none, words, above) is None


@pytest.mark.parametrize(
    ("gain", "more", "arrow"),
    [
        (-40, {}, "d2d4"),
        (0, {}, ""),  # another move, as good
        (-40, {"best": "e2e4"}, ""),  # it was played
        (-40, {"best": None}, ""),
        (-40, {"final": False}, ""),  # the engine still searches
    ],
)
def test_an_arrow_shows_a_better_move_once_it_is_sure(
    pages: Pages, gain: int, more: dict[str, Any], arrow: str
) -> None:
    last = ply(1, 20, gain, **{"best": "d2d4", **more})
    curves = Curves(white=(point(1, 1, 2100, gain_cp=gain),), black=())
    assert figure(pages, "betterMove", game(plies=(last,), curves=curves)) == arrow


def test_points_of_a_player_are_those_of_the_service(pages: Pages) -> None:
    players = [
        {"id": "7", "name": "Li, Wei", "points": 2.5, "finished": 4},
        {"id": "Bo", "name": "Bo", "points": None, "finished": 0},
    ]

    def points(name: str, fide_id: int | None = None) -> Any:
        return figure(pages, "eventPoints", players, {"name": name, "fide_id": fide_id})

    assert points("Li Wei", 7) == points("Li, Wei") == "2½ / 4"
    assert points("Bo") is None
    assert points("Nobody") is None


# --- swings ---------------------------------------------------------------------------


def swing_words(
    pages: Pages,
    name: str,
    last: PlyView,
    swing: dict[str, Any],
    *others: str,
    white: str = "Anna",
) -> str:
    played = plain(game(plies=(last,), white=Player(white)))
    german = pages("languages")["de"]
    said: str = pages.run("overlay/panels.js", name, played, swing, german, others)
    return said.replace("\u00a0", " ")


def test_a_swing_names_who_what_it_cost_and_what_was_best(pages: Pages) -> None:
    swing = {"ply": 1, "from": 30, "to": -240}
    last = ply(1, -240, best="g1f3")
    said = swing_words(pages, "swingSentence", last, swing)
    assert said == "Anna: 1. e4 kostet 2,7 Bauern · am besten war Sf3"
    assert swing_words(pages, "swingText", last, swing) == "1. e4 −2.7 · besser Sf3"
    # Its gain is what a move cost, on every screen.
    known = ply(1, -240, -90, best="g1f3")
    assert swing_words(pages, "swingText", known, swing) == "1. e4 −0.9 · besser Sf3"
    level = swing_words(pages, "swingSentence", ply(1, -240, -4, best="g1f3"), swing)
    assert level.endswith("1. e4 +0.30 → −2.40")
    mated = ply(1, -3900, best="g1f3", mate=-3)
    said = swing_words(pages, "swingSentence", mated, {**swing, "to": -3900})
    assert (
        said.startswith("Anna: 1. e4")
        and "3" in said
        and said.endswith("am besten war Sf3")
    )
    # Where the mover gains, nothing was lost: the scores are said as they are.
    gained = swing_words(
        pages, "swingSentence", last, {**swing, "from": -240, "to": 30}
    )
    assert gained.endswith("1. e4 −2.40 → +0.30")
    # It names one player.
    for white, other, name in (
        ("Ivanov, Sergey", "Berg, Bo", "Ivanov"),
        ("Ivanov, Sergey", "Ivanov, Stanislav", "Ivanov, Se."),
        ("محمد السيد", "Berg, Bo", "\u2068السيد\u2069"),
    ):
        said = swing_words(
            pages, "swingSentence", ply(1, -240), swing, other, white=white
        )
        assert said.split(":")[0] == name


THIRD = (ply(1, 30), ply(2, 40), ply(3, -210))
WILD = (ply(1, 30), ply(2, 330), ply(3, 0), ply(4, 310))
DECIDED = (ply(1, 900), ply(2, 450), ply(3, 3900, mate=4), ply(4, -100))


@pytest.mark.parametrize(
    ("looked", "told"),
    [
        # Told once; what was there before is no news.
        ([(THIRD[:2], 0), (THIRD, 1000), (THIRD, 1100)], "-+-"),
        ([((ply(1, 30), ply(2, 400)), 0)], "-"),
        # It waits for the final score.
        (
            [(WILD[:1], 0), ((WILD[0], ply(2, 330, final=False)), 10), (WILD[:2], 20)],
            "--+",
        ),
        # After a swing there is silence for a while.
        ([(WILD[:1], 0), (WILD[:2], 10), (WILD[:3], 29_000), (WILD, 31_000)], "-+-+"),
        # A decided game swings no more.
        ([(DECIDED[:n], n) for n in range(1, 5)], "---+"),
        # A takeback and a late score are no news.
        ([(THIRD, 0), (THIRD[:1], 1), ((THIRD[0], ply(2, 340), ply(3)), 2)], "---"),
    ],
)
def test_a_swing_is_news(
    pages: Pages, looked: list[tuple[tuple[PlyView, ...], int]], told: str
) -> None:
    calls = [["look", plain(game(plies=plies)), now] for plies, now in looked]
    ask = {"module": "overlay/panels.js", "name": "Swings", "calls": calls}
    found = ["+" if each else "-" for each in pages("object", **ask, args=[2])]
    assert "".join(found) == told
    # A threshold of zero tells nothing.
    assert not any(pages("object", **ask, args=[0]))


def test_a_swing_is_shown_until_its_move_is_taken_back(pages: Pages) -> None:
    before, after = plain(game(plies=THIRD[:2])), plain(game(plies=THIRD))
    other = {**after, "plies": [*before["plies"], {**after["plies"][2], "uci": "a2a3"}]}
    calls: list[Any] = [["look", before, 0], ["look", after, 1000]]
    calls += [
        ["shown", each, at]
        for each, at in ((after, 8_900), (other, 1_100), (after, 9_100))
    ]
    ask = {"module": "overlay/panels.js", "name": "Swings", "args": [2]}
    told = pages("object", **ask, calls=calls)
    assert told[1] == {"ply": 3, "from": 40, "to": -210, "size": 250}
    assert [bool(each) for each in told[2:]] == [True, False, False]


# --- which game is on air -------------------------------------------------------------


def choose(
    pages: Pages,
    looked: list[tuple[list[Any], int]],
    withheld: bool = False,
    **options: Any,
) -> list[str]:
    """The ids of the games chosen, at each look."""
    options = {"game": [], "board": [], "player": [], "follow": None, **options}
    ask = {"module": "overlay/on_air.js", "name": "Chooser", "args": [options]}
    calls = [["choose", plain(games), now, [], withheld] for games, now in looked]

    def join_ids(games: list[dict[str, Any]]) -> str:
        return ",".join(each["id"] for each in games)

    return list(map(join_ids, pages("object", **ask, calls=calls)))


def first(pages: Pages, *args: Any, **options: Any) -> list[str]:
    return [each.split(",")[0] for each in choose(pages, *args, **options)]


def at(board: int, cp: int = 0, plies: int = 1, **more: Any) -> GameDetail:
    """A game of this board, all of it rated."""
    ends = Curves(white=(point(plies, 1, 2100),), black=(point(plies, 1, 2100),))
    moves = tuple(ply(n + 1, cp) for n in range(plies))
    return game(f"b{board}", **{"plies": moves, "board": board, "curves": ends, **more})


def test_the_top_board_still_playing_and_a_result_for_a_while(pages: Pages) -> None:
    over = at(1, result="1-0")
    assert first(pages, [([over, at(3), at(2)], 0)]) == ["b2"]
    assert first(pages, [([over, at(2, result="0-1")], 0)]) == ["b1"]
    playing, ended = [at(1), at(2)], [over, at(2)]
    looked = [(playing, 0), (ended, 1_000), (ended, 20_000), (ended, 22_000)]
    assert first(pages, looked) == ["b1", "b1", "b1", "b2"]
    # It stays until its last scores are there, but not for ever, nor where they are
    # withheld.
    open_end = [at(1, result="1-0", curves=Curves()), at(2)]
    looked = [
        (playing, 0),
        (open_end, 1_000),
        (open_end, 60_000),
        (ended, 61_000),
        (ended, 82_000),
    ]
    assert first(pages, looked) == ["b1", "b1", "b1", "b1", "b2"]
    never = [(playing, 0), (open_end, 1_000), (open_end, 92_000), (open_end, 113_000)]
    assert first(pages, never) == ["b1", "b1", "b1", "b2"]
    hidden = [(playing, 0), (open_end, 1_000), (open_end, 20_000), (open_end, 22_000)]
    assert first(pages, hidden, withheld=True) == ["b1", "b1", "b1", "b2"]
    # After a result that was withdrawn the true one stays as long.
    times = (
        (ended, 1_000),
        (playing, 5_000),
        (ended, 99_000),
        (ended, 110_000),
        (ended, 120_000),
    )
    assert first(pages, [(playing, 0), *times], follow="top") == [*["b1"] * 5, "b2"]


def test_the_closest_game_without_flicker_and_the_latest_move(pages: Pages) -> None:
    looked = [
        ([at(1, 300), at(2, 20)], 0),
        # Closer, but too soon; then hardly closer; then clearly.
        ([at(1, 0), at(2, 400)], 5_000),
        ([at(1, 10), at(2, 30)], 30_000),
        ([at(1, 10), at(2, 300)], 31_000),
    ]
    assert first(pages, looked, follow="closest") == ["b2", "b2", "b2", "b1"]
    looked = [
        ([at(1), at(2)], 0),
        ([at(1), at(2, plies=2)], 11_000),
        ([at(1, plies=2), at(2, plies=2)], 12_000),
        ([at(1, plies=2), at(2, plies=2)], 22_000),
    ]
    assert first(pages, looked, follow="latest") == ["b1", "b2", "b2", "b1"]


def test_who_is_asked_for_is_shown_and_nobody_else(pages: Pages) -> None:
    """A broker sends every game, whatever an address asks for."""
    games = [
        at(1, white=Player("Fiorito, Ana")),
        at(2, black=Player("Korneev, Oleg", fide_id=4126025)),
    ]
    for asked in ("Korneev, Oleg", " korneev,  OLEG", "4126025"):
        assert choose(pages, [(games, 0)], player=[asked]) == ["b2"]
    assert choose(pages, [(games, 0)], player=["Korneev, Igor"]) == [""]
    assert choose(pages, [(games, 0)], event=["Another open"]) == [""]
    assert choose(pages, [([], 0)], follow="closest") == [""]
    assert choose(pages, [(games, 0)], board=[9]) == [""]


def test_a_board_stays_from_round_to_round_and_a_game_is_that_game(
    pages: Pages,
) -> None:
    old = [plain(at(n, round="9", result="1-0")) | {"id": f"old{n}"} for n in (1, 2)]
    for plies in (1, 0):  # Before its first move the next round is that round already.
        new = [plain(at(n, round="10", plies=plies)) for n in (1, 2)]
        assert choose(pages, [([*old, *new], 0)], board=[2]) == ["b2"]
    assert choose(pages, [([*old, *new], 0)], game=["old1"]) == ["old1"]
    # Boards are in order where each pairing is an event.
    paired = [
        at(board, event=f"Round 1: {name} - Bea", white=Player(name))
        for board, name in ((2, "A"), (1, "Z"))
    ]
    assert choose(pages, [(paired, 0)], board=[1, 2]) == ["b1,b2"]


def moment(
    id: str, game: str = "a", weight: float = 0.5, **more: Any
) -> dict[str, Any]:
    return {"id": id, "game": game, "weight": weight, "at_s": 100.0, **more}


def followed(pages: Pages, *looked: tuple[list[dict[str, Any]], int]) -> Any:
    games = [plain(at(n, 100 * n)) | {"id": id} for n, id in enumerate("abc", 1)]
    options = {"game": [], "board": [], "player": [], "follow": "story"}
    return "".join(
        pages(
            "followed",
            options=options,
            looked=[[games, now, told] for told, now in looked],
        )
    )


def test_the_story_is_followed_without_jumping(pages: Pages) -> None:
    # Without a moment it is the closest board; what was there when the page opened is
    # no news, nor what nobody saw happen.
    old, restored = [moment("m", "c", 1.0)], [moment("m", "b", 1.0, at_s=None)]
    assert followed(pages, (old, 0), (old, 60_000)) == "aa"
    assert followed(pages, ([], 0), (restored, 60_000)) == "aa"
    # A moment is cut to after the least time on air.
    told = [moment("m", "b")]
    later = ((told, 5_000), (told, 19_000), (told, 21_000))
    assert followed(pages, ([], 0), *later, ([], 90_000)) == "aaabb"
    one = [moment("m", "b", 0.6)]
    both = [*one, moment("n", "c", 0.6)]
    better = [*both, moment("o", "c", 0.95)]
    assert (
        followed(pages, ([], 0), (one, 30_000), (both, 60_000), (better, 90_000))
        == "abbc"
    )


def test_a_moment_is_shown_for_a_while_and_the_newest_first(pages: Pages) -> None:
    def list_shown_moments(
        always: bool, *looked: tuple[list[dict[str, Any]], int]
    ) -> list[Any]:
        told = pages(
            "moments",
            looked=[list(each) for each in looked],
            hold_ms=15_000,
            always=always,
        )
        return [each and each["id"] for each in told]

    old, one, two = moment("old"), moment("one"), moment("two")
    looked = (
        ([old], 0),
        ([old, one], 1_000),
        ([old, one, two], 5_000),
        ([old, one, two], 21_000),
    )
    assert list_shown_moments(False, *looked) == [None, "one", "two", None]
    assert list_shown_moments(True, *looked)[0] == "old"
    assert list_shown_moments(True, ([moment("x", "elsewhere")], 0)) == [None]
    # Withdrawn and told again, it is no news.
    again: list[Any] = [([], 0), ([one], 1_000), ([], 2_000), ([one], 20_000)]
    assert list_shown_moments(False, *again) == [None, "one", None, None]
    # What nobody saw happen is old, also once it is sent again with a time.
    here = [moment("m", at_s=None)]
    assert list_shown_moments(True, ([], 0), (here, 1_000)) == [None, "m"]
    assert list_shown_moments(
        False, ([], 0), (here, 1_000), ([moment("m")], 2_000)
    ) == [
        None,
        None,
        None,
    ]


# --- what it says of itself -----------------------------------------------------------


def test_silence_is_no_loss_but_a_failing_source_is(pages: Pages) -> None:
    of_hall = [plain(game(feed="hall"))]
    states = (
        ("hall", "stale"),
        ("hall", "failed"),
        ("hall", "retrying"),
        ("other", "failed"),
    )
    calls = [
        ["since", [{"feed": feed, "state": state}], of_hall, 10 * now]
        for now, (feed, state) in enumerate(states)
    ]
    ask = {
        "module": "overlay/on_air.js",
        "name": "Failures",
        "args": [],
        "calls": calls,
    }
    assert pages("object", **ask) == [None, 10, 10, None]

    # Nobody here knows for how long one fails that failed when this was opened.
    calls = [
        ["since", [{"feed": "hall", "state": "failed"}], of_hall, now]
        for now in (0, 6_000)
    ]
    assert pages("object", **{**ask, "calls": calls}) == [None, -1e12]

    def lost(status: str, heard: int, failing: int | None, now: int) -> Any:
        connection = {"status": status, "heardAt": heard}
        state: Any = {"connection": connection, "failingSince": failing, "now": now}
        return pages.run("overlay/on_air.js", "lostSince", state)

    assert lost("live", 0, 10, 60_011) == 10
    assert lost("live", 0, 10, 50_000) is None
    assert lost("waiting", 100, None, 9_000) == 100


@pytest.mark.parametrize(
    ("state", "said"),
    [
        *(({"since": 0, "lost": lost}, "") for lost in ("freeze", "hide")),
        ({"since": 0, "lost": "notice"}, "as of 19 secs ago"),
        ({"since": -1e12, "lost": "notice"}, "source not live"),
        # A service closes on those who send no token; that does not say what to do.
        *(
            ({"trouble": "missing", "status": status}, "a token is needed")
            for status in ("connecting", "refused")
        ),
        ({"trouble": "wrong", "status": "waiting"}, "token not valid"),
        ({"status": "refused"}, "Refused: in time"),
        (
            {"layout": "standings", "engine": {"rating_source": "withheld"}},
            "scores and ratings are withheld here",
        ),
        ({"layout": "standings"}, "Waiting for the game"),
        (
            {"games": [], "asked": ["Korneev, Igor", "7"]},
            "Not there yet: Korneev, Igor, 7",
        ),
        ({"games": []}, "Waiting for the game"),
    ],
)
def test_an_overlay_without_figures_says_why(
    pages: Pages, state: dict[str, Any], said: str
) -> None:
    status = state.get("status", "live")
    connection = {
        "status": status,
        "heardAt": 0 if status == "live" else None,
        "reason": "in time",
    }
    held = {"players": {"size": 0}, "engine": state.get("engine")}
    usual = {
        "games": [plain(game())],
        "layout": "board",
        "lost": "freeze",
        "since": None,
    }
    shown = {**usual, **state, "connection": connection, "held": held, "now": 19_000}
    english = pages("languages")["en"]
    assert pages.run("overlay/on_air.js", "statusText", shown, english) == said


def test_a_delay_holds_back_all_but_who_plays(pages: Pages) -> None:
    def build_moment(id: str) -> dict[str, Any]:
        return {
            "id": id,
            "game": "g1",
            "ply": 1,
            "kind": "turn",
            "weight": 0.8,
            "at_s": 100.0,
        }

    snapshot = {
        "type": "snapshot",
        "seq": 5,
        "engine": {"rating": 2500},
        "players": [{"id": "p"}],
        "feeds": [],
        "engines": None,
        "moments": [build_moment("old")],
        "games": [plain(game(plies=(ply(1, 30),), result="1-0", opening="Ruy Lopez"))],
    }
    move = {"type": "move", "seq": 6, "game": "g1", "ply": 2, "move": plain(ply(2))}
    new = {
        "type": "moment",
        "seq": 7,
        "game": "g1",
        "moment": build_moment("new"),
        "holds": True,
    }
    steps = [
        {"at": 0, "message": {"type": "hello", "seq": 4, "sight": "venue"}},
        {"at": 0, "message": snapshot},
        {"at": 30_000, "message": move},
        {"at": 30_000, "message": new},
        *({"at": at} for at in (59_999, 60_000, 89_999, 90_000)),
    ]
    shown = pages("delayed", delay_ms=60_000, steps=steps)
    games = [each and (each["plies"], each["result"]) for each in shown["shown"]]
    before, after = (0, "*"), (1, "1-0")
    assert games == [None, *[before] * 4, after, after, (2, "1-0")]
    assert [each["opening"] for each in shown["shown"][4:6]] == ["", "Ruy Lopez"]
    # When it is due at last, what was there before the page is no news.
    old = ["old", None]
    assert shown["moments"] == [*[[]] * 5, [old], [old], [old, ["new", 100.0]]]
    # What this connection is shown is known at once, whatever is held back.
    assert shown["sight"] == "venue"
    # A connection that comes back resumes from what was received, not from what is
    # shown.
    assert shown["seq"] == [None, 5, 6, *[7] * 5]


# --- tables ---------------------------------------------------------------------------


def test_a_long_list_turns_its_pages(pages: Pages) -> None:
    ask = {"module": "drawing/elements.js", "name": "Pager", "args": [10_000]}
    calls = [
        ["page", list("abcde"), 2, now] for now in (0, 9_999, 10_000, 20_000, 30_000)
    ]
    answers = pages("object", **ask, calls=[*calls, ["page", ["a"], 8, 30_000]])
    assert ["".join(each["items"]) for each in answers] == [
        "ab",
        "ab",
        "cd",
        "e",
        "ab",
        "a",
    ]
    assert answers[-1] == {"items": ["a"], "page": 0, "pages": 1}


def table(pages: Pages, *results: str) -> list[dict[str, Any]]:
    """Of games written as `Ann Bo 1-0`."""
    games = []
    for white, black, result in map(str.split, results):
        sides = {"white": {"name": white}, "black": {"name": black}}
        games.append(
            {**sides, "result": result, "plies": [] if white == "Ed" else [{}]}
        )
    found: list[dict[str, Any]] = pages.run(
        "overlay/layouts/tables.js", "tabulate", games
    )
    return found


def test_finished_games_count_and_running_ones_are_marked(pages: Pages) -> None:
    rows = table(
        pages, "Ann Bo 1-0", "Cy Di 1/2-1/2", "Bo Cy 0-1", "Di Ann *", "Ed Flo *"
    )
    standing = itemgetter("points", "games", "playing", "place", "tied")
    assert [(row["player"]["name"], *standing(row)) for row in rows] == [
        ("Cy", 1.5, 2, False, 1, False),
        ("Ann", 1, 1, True, 2, False),
        ("Di", 0.5, 1, True, 3, False),
        ("Bo", 0, 2, False, 4, True),
        ("Ed", 0, 0, False, 4, True),
        ("Flo", 0, 0, False, 4, True),
    ]
    for result, points in RESULT_POINTS.items():
        found = {row["id"]: row["points"] for row in table(pages, f"Ann Bo {result}")}
        assert found == dict(zip(("Ann", "Bo"), points, strict=True))


def test_standings_have_no_place_where_too_little_is_known(pages: Pages) -> None:
    players = [
        {
            **plain(point(1, counted, value)),
            "percentile": percentile,
            "id": name,
            "name": name,
        }
        for name, value, counted, percentile in (
            ("early", 2900, 9, None),
            ("far", 3200, 30, 70.0),
            ("b", 2300, 30, 50.0),
        )
    ]
    ranked = pages.run("overlay/layouts/tables.js", "rankPlayers", players)
    assert [
        (each["id"], each["rank"], (each["rating"] or {}).get("text"))
        for each in ranked
    ] == [("far", "1", "3200+"), ("b", "2", "2300"), ("early", "", None)]
    for player, difference in zip(players, (-900.0, None, -950.0), strict=True):
        player["difference"] = difference
    ranked = pages.run("overlay/layouts/tables.js", "rankPlayers", players, 3000)
    assert [
        (each["id"], each["rank"], (each["rating"] or {}).get("text"))
        for each in ranked
    ] == [("early", "1", "2100"), ("b", "2", "2050"), ("far", "", None)]
