"""What parts of an overlay decide: options, words, tables, the story, presets of the builder."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import RESULT_POINTS, Curves, DifficultyView
from tests.web.conftest import Pages
from tests.web.page.games import game, plain, ply, point

# --- overlay options -----------------------------------------------------------------------------


def read(pages: Pages, query: str) -> tuple[dict[str, Any], list[str]]:
    answer = pages.run("overlay/options.js", "readOptions", query)
    return answer["options"], answer["problems"]


def write(pages: Pages, options: dict[str, Any]) -> str:
    return str(pages.run("overlay/options.js", "writeOptions", options))


def test_an_empty_address_has_an_answer_for_everything(pages: Pages) -> None:
    options, problems = read(pages, "")
    assert problems == []
    assert options["layout"] == "board"
    assert options["lang"] == "en"
    assert options["follow"] is None
    assert options["game"] == options["board"] == options["hide"] == []
    assert options["delay"] == 0
    assert options["provisional"] is True
    assert write(pages, options) == ""


def test_options_are_read(pages: Pages) -> None:
    options, problems = read(
        pages,
        "?layout=grid&board=3,12&board=4&hide=clock,elo&ground=%23FFFFFF80&size=1.5"
        "&provisional=0&show=arrow,opening&player=Carlsen,+Magnus&player=1503014&token=secret&layer-width=800",
    )
    assert problems == []
    assert options["layout"] == "grid"
    assert options["board"] == [3, 12, 4]
    assert options["hide"] == ["clock", "elo"]
    assert options["ground"] == "ffffff80"
    assert options["size"] == 1.5
    assert options["show"] == ["arrow", "opening"]
    assert options["provisional"] is False
    assert options["player"] == ["Carlsen, Magnus", "1503014"]
    assert "token" not in options


@pytest.mark.parametrize(
    "nonsense",
    [
        "layout=pie",
        "board=-1",
        "board=one",
        "size=",
        "size=99",
        "delay=-5",
        "delay=Infinity",
        "text=red;}",
        'font=a"; background: url(x)',
        "hide=interval",
        "follow=worst",
        "provisional=maybe",
        "provisional=toString",
        "lang=constructor",
        "swing=NaN",
    ],
)
def test_nonsense_is_told_and_changes_nothing(pages: Pages, nonsense: str) -> None:
    name, _, value = nonsense.partition("=")
    options, problems = read(pages, urlencode({name: value}))
    assert options == read(pages, "")[0]
    assert problems == [f"{name}={value}"]


@pytest.mark.parametrize(
    ("gone", "name", "unless"),
    [
        ("rating=both", "rating", None),
        ("rating=level", "rating", None),
        ("hide=second", "hide", []),
        ("order=percentile", "order", "board"),
    ],
)
def test_addresses_of_before_go_on_working(
    pages: Pages, gone: str, name: str, unless: object
) -> None:
    answer = pages.run("overlay/options.js", "readOptions", gone)
    assert (answer["options"][name], answer["problems"], answer["gone"]) == (unless, [], [gone])


def test_what_is_left_of_an_option_of_before_holds(pages: Pages) -> None:
    options, problems = read(pages, "hide=clock,second&rating=algorithm4")
    assert (options["hide"], options["rating"], problems) == (["clock"], "algorithm4", [])


def test_an_interval_cannot_be_left_out_without_its_rating(pages: Pages) -> None:
    figures = pages("constant", module="overlay/options.js", name="FIGURES")
    assert "rating" in figures
    assert not [figure for figure in figures if "interval" in figure]


COLOURS = st.from_regex(r"\A([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    wanted=st.fixed_dictionaries(
        {},
        optional={
            "layout": st.sampled_from(["board", "bar", "curves", "grid", "ticker", "standings"]),
            "follow": st.sampled_from(["top", "closest", "latest"]),
            "player": st.lists(NAMES, max_size=3),
            "board": st.lists(st.integers(1, 999), max_size=5),
            "hide": st.lists(st.sampled_from(["clock", "elo", "curves"]), unique=True),
            "ground": COLOURS,
            "font": st.sampled_from(["Inter", "Noto Sans", "Ubuntu-Bold", "Ælgreya 2"]),
            "size": st.integers(1, 16).map(lambda quarters: quarters / 4),
            "provisional": st.booleans(),
            "delay": st.integers(0, 3600),
        },
    )
)
def test_what_is_written_is_read_again(pages: Pages, wanted: dict[str, Any]) -> None:
    options = {**read(pages, "")[0], **wanted}
    again, problems = read(pages, write(pages, options))
    assert problems == []
    assert again == options


# --- overlay words -------------------------------------------------------------------------------


@pytest.fixture
def languages(pages: Pages) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = pages("languages")
    return found


def call(pages: Pages, name: str, *args: Any, module: str = "overlay/language/words.js") -> Any:
    return pages.run(module, name, *args)


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
    ("federation", "text"),
    [
        ("nor", "🇳🇴"),
        ("GER", "🇩🇪"),
        ("ENG", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"),
        # FIDE's own flag is nobody's; the code says it.
        ("FID", "FID"),
        ("<b>", ""),
        ("Norway and much more", ""),
        (None, ""),
    ],
)
def test_federations(pages: Pages, federation: str | None, text: str) -> None:
    assert call(pages, "flagText", federation, module="overlay/panels.js") == text


# --- overlay human -------------------------------------------------------------------------------


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
    return pages.run("overlay/shown_figures.js", "humanLine", shown, words)


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


# --- board extras --------------------------------------------------------------------------------


def better(pages: Pages, gain: int, **more: Any) -> str:
    last = msgspec.structs.replace(ply(1, 20, gain), **{"best": "d2d4", **more})
    played = game(
        plies=(last,), curves=Curves(white=(point(1, 1, 2100.0, gain_cp=gain),), black=())
    )
    module = "overlay/shown_figures.js"
    return str(pages.run(module, "betterMove", plain(played)))


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
    assert better(pages, gain, **more) == arrow


def test_an_opening_has_its_code_and_name_as_far_as_they_are_known(pages: Pages) -> None:
    def said(**given: str) -> str:
        module = "overlay/shown_figures.js"
        return str(pages.run(module, "openingText", given))

    assert said(eco="C65", opening="Ruy Lopez: Berlin") == "C65 Ruy Lopez: Berlin"
    assert said(eco="", opening="") == ""


# --- board interest ------------------------------------------------------------------------------


def moment(id: str, game: str = "a", weight: float = 0.5, **more: Any) -> dict[str, Any]:
    return {"id": id, "game": game, "weight": weight, "at_s": 100.0, **more}


def played(id: str, board: int) -> dict[str, Any]:
    return {
        "id": id,
        "event": "Open",
        "round": "1",
        "board": board,
        "result": "*",
        "start_fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "plies": [{"ply": 1, "uci": "e2e4", "score_cp": 100 * board}],
        "curves": {"white": [{"ply": 1, "n": 1}], "black": []},
        "white": {"name": "A"},
        "black": {"name": "B"},
    }


def followed(pages: Pages, looked: list[tuple[list[dict[str, Any]], int]], stay: int = 20) -> Any:
    games = [played("a", 1), played("b", 2), played("c", 3)]
    options = {"game": [], "board": [], "player": [], "follow": "story", "stay": stay}
    shown = [[games, now, moments] for moments, now in looked]
    return pages("followed", options=options, looked=shown)


def test_without_a_moment_it_is_the_closest_board(pages: Pages) -> None:
    old = [moment("m", "c", 1.0)]
    # What was there when the page opened is no news.
    assert followed(pages, [(old, 0), (old, 60_000)]) == ["a", "a"]


def test_a_moment_is_cut_to_after_the_least_time_on_air(pages: Pages) -> None:
    told = [moment("m", "b")]
    looked = [([], 0), (told, 5_000), (told, 19_000), (told, 21_000), ([], 90_000)]
    assert followed(pages, looked) == ["a", "a", "a", "b", "b"]


def test_after_a_result_that_was_withdrawn_the_true_one_stays_as_long(pages: Pages) -> None:
    first, other = played("a", 1), played("b", 2)
    over = {**first, "result": "1-0"}
    looked = [(over, 1_000), (first, 5_000), (over, 99_000), (over, 110_000), (over, 120_000)]
    options = {"game": [], "board": [], "player": [], "follow": "top"}
    shown = [[[first, other], 0, []], *([[each, other], at, []] for each, at in looked)]
    assert pages("followed", options=options, looked=shown) == ["a", "a", "a", "a", "a", "b"]


def test_it_does_not_jump_between_equals(pages: Pages) -> None:
    first = [moment("m", "b", 0.6)]
    both = [*first, moment("n", "c", 0.6)]
    better = [*both, moment("o", "c", 0.95)]
    looked = [([], 0), (first, 30_000), (both, 60_000), (better, 90_000)]
    assert followed(pages, looked) == ["a", "b", "b", "c"]


def shown(pages: Pages, always: bool, *looked: tuple[list[dict[str, Any]], int]) -> list[Any]:
    return [
        each and each["id"]
        for each in pages(
            "moments", looked=[list(each) for each in looked], hold_ms=15_000, always=always
        )
    ]


def test_a_moment_is_shown_for_a_while_and_the_newest_first(pages: Pages) -> None:
    old, one, two = moment("old"), moment("one"), moment("two")
    looked = (([old], 0), ([old, one], 1_000), ([old, one, two], 5_000), ([old, one, two], 21_000))
    assert shown(pages, False, *looked) == [None, "one", "two", None]
    assert shown(pages, True, *looked)[0] == "old"
    assert shown(pages, True, ([moment("x", "elsewhere")], 0)) == [None]
    # Withdrawn and told again, it is no news.
    again: list[Any] = [([], 0), ([one], 1_000), ([], 2_000), ([one], 20_000)]
    assert shown(pages, False, *again) == [None, "one", None, None]


def test_what_nobody_saw_happen_is_old(pages: Pages) -> None:
    restored = [moment("m", "b", 1.0, at_s=None)]
    assert followed(pages, [([], 0), (restored, 60_000)]) == ["a", "a"]
    here = [moment("m", at_s=None)]
    assert shown(pages, False, ([], 0), (here, 1_000)) == [None, None]
    assert shown(pages, True, ([], 0), (here, 1_000)) == [None, "m"]
    # Sent again with a time, it is no newer.
    assert shown(pages, False, ([], 0), (here, 1_000), ([moment("m")], 2_000))[2] is None


# --- round table ---------------------------------------------------------------------------------


def table_game(white: str, black: str, result: str = "*", plies: int = 10) -> dict[str, Any]:
    return {
        "white": {"name": white, "fide_id": None},
        "black": {"name": black, "fide_id": None},
        "result": result,
        "plies": [{}] * plies,
    }


def table(pages: Pages, games: list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pages.run(
        "overlay/layouts/tables.js", "roundTable", games, options
    )
    return found


GAMES = [
    table_game("Ann", "Bo", "1-0"),
    table_game("Cy", "Di", "1/2-1/2"),
    table_game("Bo", "Cy", "0-1"),
    table_game("Di", "Ann", "*"),
    table_game("Ed", "Flo", "*", 0),
]


def test_finished_games_count_and_running_ones_are_marked(pages: Pages) -> None:
    rows = table(pages, GAMES)
    told = [
        (each["player"]["name"], each["points"], each["games"], each["playing"]) for each in rows
    ]
    assert told == [
        ("Cy", 1.5, 2, False),
        ("Ann", 1, 1, True),
        ("Di", 0.5, 1, True),
        ("Bo", 0, 2, False),
        ("Ed", 0, 0, False),
        ("Flo", 0, 0, False),
    ]
    places = [(each["place"], each["tied"]) for each in rows]
    assert places == [(1, False), (2, False), (3, False), (4, True), (4, True), (4, True)]


def test_another_scoring_ranks_otherwise(pages: Pages) -> None:
    rows = table(pages, [*GAMES, table_game("Cy", "Ann", "0-1")], scoring="3-1-0")
    assert [(each["player"]["name"], each["points"]) for each in rows][:2] == [
        ("Ann", 6),
        ("Cy", 4),
    ]


@pytest.mark.parametrize("result", RESULT_POINTS)
def test_every_result_counts_as_the_service_counts_it(pages: Pages, result: str) -> None:
    rows = table(pages, [table_game("Ann", "Bo", result)])
    points = {each["player"]["name"]: (each["points"], each["games"]) for each in rows}
    assert points == {
        name: (points, 1) for name, points in zip(("Ann", "Bo"), RESULT_POINTS[result], strict=True)
    }


def test_points_of_a_player_are_those_of_the_service(pages: Pages) -> None:
    players = [
        {"id": "7", "name": "Li, Wei", "points": 2.5, "finished": 4},
        {"id": "Bo", "name": "Bo", "points": None, "finished": 0},
    ]

    def points(side: dict[str, Any], scoring: str = "1-half-0") -> Any:
        args = [players, side, scoring]
        return pages.run("overlay/shown_figures.js", "eventPoints", *args)

    assert points({"name": "Li Wei", "fide_id": 7}) == "2½ / 4"
    assert points({"name": "Li, Wei", "fide_id": None}) == "2½ / 4"
    assert points({"name": "Bo", "fide_id": None}) is None
    assert points({"name": "Nobody", "fide_id": None}) is None
    # Wins and draws cannot be had back from the sum.
    assert points({"name": "Li Wei", "fide_id": 7}, "3-1-0") is None


TIED = [
    table_game("Ann", "Bo", "1-0"),
    table_game("Bo", "Cy", "1-0"),
    table_game("Cy", "Ann", "1/2-1/2"),
    table_game("Cy", "Di", "1-0"),
    table_game("Bo", "Di", "1/2-1/2"),
]


@pytest.mark.parametrize(
    ("tie", "values"),
    [
        # Ann 1½, Bo 1½, Cy 1½, Di ½.
        ("direct", {"Ann": 1.5, "Bo": 1, "Cy": 0.5, "Di": 0}),
        ("wins", {"Ann": 1, "Bo": 1, "Cy": 1, "Di": 0}),
        ("black", {"Ann": 1, "Bo": 1, "Cy": 1, "Di": 2}),
        ("buchholz", {"Ann": 3, "Bo": 3.5, "Cy": 3.5, "Di": 3}),
        ("sonneborn", {"Ann": 2.25, "Bo": 1.75, "Cy": 1.25, "Di": 0.75}),
    ],
)
def test_tie_breaks(pages: Pages, tie: str, values: dict[str, float]) -> None:
    rows = table(pages, TIED, ties=[tie])
    assert {each["player"]["name"]: each["ties"][0] for each in rows} == values
    assert {each["points"] for each in rows[:3]} == {1.5}
    ranked = [values[each["player"]["name"]] for each in rows[:3]]
    assert ranked == sorted(ranked, reverse=True)


def test_the_second_tie_break_decides_where_the_first_does_not(pages: Pages) -> None:
    rows = table(pages, TIED, ties=["wins", "direct"])
    assert [each["player"]["name"] for each in rows] == ["Ann", "Bo", "Cy", "Di"]
    assert [each["place"] for each in rows] == [1, 2, 3, 4]


def test_one_player_is_known_by_the_fide_id(pages: Pages) -> None:
    games = [
        table_game("Li, Wei", "Bo", "1-0"),
        table_game("Cy", "Li Wei", "0-1"),
    ]
    for each, side in zip(games, ("white", "black"), strict=True):
        each[side]["fide_id"] = 7
    assert next((each["id"], each["points"]) for each in table(pages, games)) == ("7", 2)


# --- presets -------------------------------------------------------------------------------------


def test_presets_are_kept_read_again_and_removed(pages: Pages) -> None:
    done = pages(
        "presets",
        stored=None,
        calls=[["keep", "Lower third", "layout=bar"], ["keep", "Grid", "layout=grid&boards=4"]],
    )
    assert done["answers"] == [True, True]
    again = pages("presets", stored=done["text"], calls=[["query", "Grid"], ["query", "None"]])
    assert again["names"] == ["Grid", "Lower third"]
    assert again["answers"] == ["layout=grid&boards=4", None]
    less = pages("presets", stored=done["text"], calls=[["drop", "Grid"]])
    assert less["names"] == ["Lower third"]


def test_what_is_not_kept_is_said_and_what_was_kept_is_not_trusted(pages: Pages) -> None:
    assert pages("presets", stored=None, calls=[["keep", "", "x=1"]])["answers"] == [False]
    full = pages("presets", stored=None, calls=[["keep", "A", "x=1"]], throws=True)
    assert full["answers"] == [False]
    for odd in ("{", '{"a": 1}', '[["a"], 3, ["b", 4]]'):
        assert pages("presets", stored=odd, calls=[])["names"] == []


@pytest.mark.parametrize(
    ("search", "name", "query"),
    [
        ("?layout=bar&preset=Lower++third&token=secret", "Lower third", "layout=bar"),
        ("?layout=bar", "", "layout=bar"),
        ("", "", ""),
    ],
)
def test_a_link_carries_choices_and_name_but_no_token(
    pages: Pages, search: str, name: str, query: str
) -> None:
    found = pages.run("builder/choices.js", "presetOf", search)
    assert found == {"name": name, "query": query}
