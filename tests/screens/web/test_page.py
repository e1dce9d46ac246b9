"""What the page at ``/`` says and in which order, by its modules:
live/screens/web/page.
"""

import json
import re
from itertools import chain
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.catalogue import BY_ID
from live.messages.alerts import Agreement, Alert, IncidentWord, Severity
from live.messages.figures import Curves, EngineInfo, GameDetail, PlayerView, PlyView
from live.messages.from_sources import Player
from live.messages.health import (
    EngineHealth,
    EngineState,
    FeedHealth,
    FeedState,
    MeasuringProgress,
)
from live.messages.moments import MomentKind
from live.server.static_files import OVERLAY
from live.watch.finding import SIGNS
from live.watch.words import WORDS
from tests.screens.web.conftest import Pages
from tests.screens.web.games import game, plain, ply, point


def call(pages: Pages, where: str, *args: Any) -> Any:
    """A function of the page, named as `module.name`."""
    module, name = where.split(".")
    return pages.run(f"page/{module}.js", name, *map(plain, args))


def call_for_text(pages: Pages, where: str, *args: Any) -> str:
    return str(call(pages, where, *args)).replace("\u00a0", " ")


# --- addresses ------------------------------------------------------------------------

#: Lone halves of a surrogate pair cannot be written into an address.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
PLACES = st.fixed_dictionaries(
    {
        "view": st.sampled_from(["boards", "players", "wall", "health", "arbiter"]),
        "layout": st.sampled_from(["auto", "cards", "table"]),
        "state": st.sampled_from(["all", "running", "over"]),
        **dict.fromkeys(("game", "player"), st.just("")),
        **dict.fromkeys(("event", "round", "q", "sort", "follow"), TEXT),
        "ply": st.none() | st.integers(0, 9999),
        **dict.fromkeys(("down", "flip"), st.booleans()),
    }
)


def place(pages: Pages, fragment: str) -> dict[str, Any]:
    found: dict[str, Any] = call(pages, "page_address.readPlace", fragment)
    return found


@settings(max_examples=150, deadline=None)
@given(where=PLACES)
def test_what_is_written_is_read_again(pages: Pages, where: dict[str, Any]) -> None:
    assert place(pages, call(pages, "page_address.writePlace", where)) == where
    # A board is named by its game alone.
    board = {**where, "view": "board", "game": "a b", "ply": None}
    fragment = call(pages, "page_address.writePlace", board)
    assert "view=" not in fragment and place(pages, fragment) == board


def test_what_is_odd_counts_as_not_said(pages: Pages) -> None:
    home = place(pages, "")
    assert call(pages, "page_address.writePlace", home) == ""
    assert (home["view"], home["ply"]) == ("boards", None)
    for fragment in (
        "#view=nothing&layout=<b>&state=&figure=1",
        # What version 0.2 offered.
        "#figure=level",
        "#figure=auto",
        "#ply=-1",
        "#ply=12345",
        "#ply=1e3",
        "#view=board",
        "#__proto__=x&constructor=y&down=yes&flip=true",
        "#%zz&&&=",
    ):
        assert place(pages, fragment) == home


def test_a_shared_address_keeps_what_is_seen_and_not_who_sees_it(pages: Pages) -> None:
    board = {**place(pages, ""), "view": "board", "game": "a b&c"}

    def shared(href: str, served: bool = True, **more: object) -> object:
        return call(pages, "page_address.shareAddress", href, {**board, **more}, served)

    address = "https://host/?event=Open+A&token=geheim#view=health"
    assert (
        shared(address, False, ply=3) == "https://host/?event=Open+A#game=a+b%26c&ply=3"
    )
    # A board as it is now is shared by the address that has a picture.
    live = "https://host/live/?token=x#view=health"
    assert shared(live) == "https://host/live/share?game=a+b%26c"
    assert shared("https://host/", ply=3) == "https://host/#game=a+b%26c&ply=3"
    assert (
        shared("https://host/", view="players")
        == "https://host/#game=a+b%26c&view=players"
    )
    assert shared("https://host/?event=A") == "https://host/?event=A#game=a+b%26c"


@pytest.mark.parametrize(
    ("query", "is_static", "is_part"),
    [
        ("", False, False),
        ("?event=Open&token=t&lang=de", False, False),
        ("?game=a", False, True),
        ("?board=3,4", False, True),
        ("?player=Anna", False, True),
        # A broker sends every game, whatever an address asks for.
        ("?game=a", True, False),
    ],
)
def test_an_address_that_selects_games_shows_a_part_of_their_rounds(
    pages: Pages, query: str, is_static: bool, is_part: bool
) -> None:
    page = f"https://host/{query}#game=a"
    told = call(pages, "page_address.isPartOfRounds", page, is_static)
    assert told is is_part
    named = call(pages, "page_address.namedIn", page, is_static)["named"]
    assert (named != []) is is_part


# --- players and whom a browser follows -----------------------------------------------

ANNA, BEA = Player("Anna Ek", elo=2100, fide_id=77), Player("Béa Lund", elo=2000)
CARLSEN = {"name": "Carlsen, Magnus", "fide_id": 1503014}
MÜLLER = {"name": "Müller, Karsten", "fide_id": None}
UNRATED = {"name": "Bea", "fide_id": 0}


def test_a_player_is_the_same_in_a_game_and_in_the_standings(pages: Pages) -> None:
    def key(player: dict[str, Any]) -> Any:
        return call(pages, "page_address.playerKey", player)

    assert (
        key(CARLSEN)
        == key({"id": "fide-1503014", "name": "Magnus Carlsen"})
        == "fide-1503014"
    )
    assert key(MÜLLER) == key({"id": "karsten-muller", "name": "Karsten Muller"})
    assert key({"name": "", "fide_id": None}) == ""


def test_a_player_is_found_by_number_or_name_with_all_games_the_newest_first(
    pages: Pages,
) -> None:
    games = [
        game("old", round="1", white=ANNA, black=BEA),
        game("new", round="2", white=BEA, black=ANNA),
        game("other", round="2", board=2),
    ]
    players = [
        {"id": "fide-77", "name": "Ek, Anna"},
        {"id": "bea-lund", "name": "Lund, Bea"},
    ]
    for player in players:
        told = call(pages, "page_address.playerOf", players, games, player["id"])
        assert told["player"]["name"] == player["name"]
        assert [each["id"] for each in told["games"]] == ["new", "old"]
        # Who has no figures yet has games, and a stranger nothing.
        by_name = call(pages, "page_address.playerOf", players, games, player["name"])
        assert by_name["player"] == player
    told = call(pages, "page_address.playerOf", [], games, "fide-77")
    assert (told["player"], told["side"]["elo"]) == (None, 2100)
    nobody = call(pages, "page_address.playerOf", [], games, "nobody")
    assert nobody == {"player": None, "side": None, "games": []}


def test_followed_players_come_first_and_are_kept(pages: Pages) -> None:
    def follow(stored: str | None = None, toggled: Any = (), **more: Any) -> Any:
        asked = [UNRATED, MÜLLER, CARLSEN]
        return pages(
            "followed_players", stored=stored, toggled=toggled, asked=asked, **more
        )

    done = follow(toggled=[CARLSEN, MÜLLER, CARLSEN])
    assert (done["has"], done["changes"]) == ([False, True, False], 3)
    assert done["first"] == ["Müller, Karsten", "Bea", "Carlsen, Magnus"]
    assert json.loads(done["text"]) == ["karsten-muller"]
    assert follow(done["text"])["has"] == [False, True, False]
    # What was kept is not trusted, and a full store does no harm.
    for odd in ("{", "7", '[1, {"a": 2}, "fide-1503014"]'):
        assert follow(odd)["has"][2] == odd.startswith("[")
    assert follow(toggled=[UNRATED], throws=True)["has"][0]
    # A link to followed players adds them.
    assert follow(toggled=[CARLSEN, MÜLLER])["keys"] == [
        "fide-1503014",
        "karsten-muller",
    ]
    more = follow(
        '["karsten-muller", "bea"]', linked=["fide-1503014", "karsten-muller", ""]
    )
    assert (more["added"], more["has"]) == (1, [True] * 3)
    assert json.loads(more["text"]) == ["karsten-muller", "bea", "fide-1503014"]


# --- boards ---------------------------------------------------------------------------


def arranged(
    pages: Pages, games: list[GameDetail], alerting: Any = (), **where: Any
) -> str:
    asked = {"q": "", "state": "all", "sort": "", **where}
    return "".join(
        each["id"]
        for each in call(pages, "board_order.arrangeBoards", games, asked, alerting)
    )


BOARDS = [
    game(
        "a",
        board=3,
        plies=(ply(1, 10), ply(2, 400), ply(3, -150)),
        curves=Curves(white=(point(17, 9, 2500),)),
        white=Player("Zoë Müller"),
    ),
    game(
        "b",
        board=1,
        plies=(ply(1, 10), ply(2, 15), ply(3, 5)),
        curves=Curves(white=(point(19, 10, 2300),)),
        white=Player("adam", team="Nord"),
    ),
    game("c", board=2, plies=(), curves=Curves(), start_score_cp=None, result="1-0"),
]


@pytest.mark.parametrize(
    ("where", "order"),
    [
        *(({"sort": sort}, "bca") for sort in ("", "board", "constructor", "rating")),
        ({"sort": "close"}, "bac"),
        # The filter finds words without case and accents.
        *(({"q": text}, "a") for text in ("muller", "MÜLLER zoe")),
        *(({"q": text}, found) for text, found in (("nord", "b"), ("board 2", "c"))),
        *(({"q": text}, "bca") for text in ("open", "  ")),
        *(({"q": text}, "") for text in ("nobody", "müller nord", "(.*")),
        ({"state": "running"}, "ba"),
        ({"state": "over"}, "c"),
        *(({"sort": sort, "alerting": ["c", "a"]}, "cab") for sort in ("", "rating")),
    ],
)
def test_boards_are_ordered_and_filtered(
    pages: Pages, where: dict[str, Any], order: str
) -> None:
    assert arranged(pages, BOARDS, **where) == order


def test_pairings_and_clocks_have_an_order(pages: Pages) -> None:
    pairings = [
        game(name, board=at, event=f"Round 1: {white} - Bea", white=Player(white))
        for name, at, white in (("a", 2, "Abel"), ("b", 1, "Cid"))
    ]
    assert arranged(pages, pairings) == "ba"
    # Time left is that of the side with less.
    clocks = [
        game(name, plies=(ply(1, 10, clock_s=white), ply(2, 15, clock_s=black)))
        for name, white, black in (("a", 600.0, 500.0), ("b", 30.0, 900.0))
    ]
    assert arranged(pages, clocks, sort="clock") == "ba"


def test_the_newest_moments_come_first_and_of_unknown_time_those_that_matter(
    pages: Pages,
) -> None:
    told = [
        ("old", 10, 0.9),
        ("unknown", None, 0.4),
        ("matters", None, 0.8),
        ("new", 20, 0.1),
    ]
    moments = [{"id": id, "at_s": at, "weight": weight} for id, at, weight in told]
    shown = call(pages, "moments_list.newestMoments", moments, 3)
    assert [each["id"] for each in shown] == ["new", "old", "matters"]
    # The name of a kind stands before its sentence, which does not say it again.
    for language, words in WORDS.items():
        for kind in get_args(MomentKind):
            name = pages("languages")[language][kind]
            assert name.lower() not in words.moments[kind].lower()


def test_the_headline_is_the_weightiest_of_what_is_new_else_who_plays_best(
    pages: Pages,
) -> None:
    settled = msgspec.structs.replace(point(31, 16, 2150), counted=16, percentile=85.0)
    early = msgspec.structs.replace(point(30, 14, 2900), counted=14, percentile=99.0)
    curves = Curves(white=(settled,), black=(early,))
    games = [game("a", curves=curves, date="2026.05.02"), game("b", board=2)]
    round_ = "Round 1 \u00b7 2 May 2026 \u00b7 live"

    def build_moment(game: str, weight: float, at_s: float) -> dict[str, Any]:
        id = f"{game}{at_s}"
        return {
            "id": id,
            "game": game,
            "weight": weight,
            "at_s": at_s,
            "text": {"en": id},
        }

    found = call(pages, "headline.writeHeadline", games, [])
    # Fourteen moves are too few to be the best.
    assert found == [round_, "Best so far: Anna, playing like 2150 (Elo 2100).", None]
    moments = [
        build_moment("a", 0.9, 1),
        *(build_moment("b", 0.1 * n, n) for n in range(2, 7)),
        build_moment("c", 1.0, 9),
    ]
    assert call(pages, "headline.writeHeadline", games, moments) == [
        round_,
        "b6",
        moments[5],
    ]
    begun = [game("a", plies=())]
    assert call(pages, "headline.writeHeadline", begun, []) == [
        "Round 1 \u00b7 not begun",
        "",
        None,
    ]


def test_nobody_is_the_best_below_80_percent_or_while_half_of_the_boards_are_early(
    pages: Pages,
) -> None:
    def write_headline(percentile: float, boards: int) -> str:
        settled = msgspec.structs.replace(
            point(31, 16, 2150), counted=16, percentile=percentile
        )
        games = [
            game("a", curves=Curves(white=(settled,)), plies=(ply(1, 10), ply(2, 15)))
        ]
        games += [game(f"early{n}", board=n + 2) for n in range(boards - 1)]
        found: str = call(pages, "headline.writeHeadline", games, [])[1]
        return found

    assert write_headline(80.0, 2).startswith("Best so far: Anna")
    assert write_headline(79.0, 1) == ""
    assert write_headline(99.0, 3) == ""


def test_once_a_round_is_over_the_headline_says_what_it_came_to(pages: Pages) -> None:
    moves = (ply(1, 10), ply(2, 15))
    weak, strong = Player("Low", elo=2000), Player("High", elo=2100)
    games = [
        game("a", plies=moves, result="1-0", white=weak, black=strong),
        game("b", plies=moves, result="1/2-1/2", board=2, white=weak, black=strong),
        game("c", plies=(), result="0-1", board=3, white=strong, black=weak),
    ]
    told: list[dict[str, Any]] = [
        {
            "id": kind,
            "game": "a",
            "kind": kind,
            "weight": 0.9,
            "at_s": 1,
            "text": {"en": kind},
        }
        for kind in ("turn", "highest")
    ]
    told[1] |= {"color": "white", "figures": [{"name": "perceived", "value": 3200.0}]}
    results = "Games: 3, decided: 2. Upsets: 1."
    assert call(pages, "headline.writeHeadline", games, []) == [
        "Round 1 \u00b7 over",
        results,
        None,
    ]
    # Where all rounds are shown, what is counted is that of the round that is named.
    both = [*games, game("d", round="2", result="1/2-1/2")]
    drawn = ["Round 2 \u00b7 over", "Games: 1, decided: 0.", None]
    assert call(pages, "headline.writeHeadline", both, told) == drawn
    assert call(pages, "headline.writeHeadline", games, told)[1:] == [
        f"{results} Best of the round: Low, played like 3200+ (Elo 2000).",
        told[1],
    ]

    # A part of a round says nothing of the whole of it.
    part = call(pages, "headline.writeHeadline", games, [], [], True)
    assert part == ["Round 1", "", None]
    part = call(pages, "headline.writeHeadline", games, told[:1], [], True)
    assert part == ["Round 1", "turn", told[0]]

    def address(games: list[Any], sight: str = "public") -> Any:
        return call(
            pages,
            "service_addresses.roundAddress",
            "http://h/a/?token=s#q",
            sight,
            games,
        )

    assert address(games) == "http://h/a/round?event=Open&round=1&token=s"
    assert address(games, "arbiter") == "http://h/a/round?event=Open&round=1"
    assert address(games, "venue") is None
    assert address([*games, game("d", board=4)]) is None
    assert address([*games, game("d", round="2", result="1-0")]) is None


# --- players --------------------------------------------------------------------------

NOBODY = PlayerView("n", "Nobody", None, 1, 0, None)
ENGINE = {"rating": 2200}


def columns(pages: Pages, **about: Any) -> dict[str, Any]:
    view = plain(msgspec.structs.replace(NOBODY, **about))
    found = pages("columns", of=view, engine=ENGINE)
    return {each["id"]: each for each in found}


def test_each_figure_is_written_with_its_unit_and_interval(pages: Pages) -> None:
    curve = {
        "counted": 30,
        "perceived": 2340.4,
        "usual_low": 1900.0,
        "usual_high": 2300.0,
    }
    four = {"difference": -70.0, "difference_low": -170.0, "difference_high": 30.0}
    more = {"percentile": 99.8, "score": 0.4, "rating_change": -3.25}
    found = columns(pages, **curve, **four, **more)
    for name, text, interval in (
        ("perceived", "2340", "usual 1900–2300"),
        ("percentile", "99 %", ""),
        ("algorithm4", "2130", "95 %: 2030–2230"),
    ):
        shown = [
            found[name][part].replace("\u00a0", " ") for part in ("text", "interval")
        ]
        assert shown == [text, interval]
    assert found["rating_change"]["text"] in ("−3.2", "−3.3")
    # What is early has no percentile.
    early = columns(pages, counted=9, perceived=2340)
    assert (early["perceived"]["early"], early["percentile"]["text"]) == (True, "–")
    # Unknown is a dash with its reason.
    unknown = columns(pages)
    for name in ("elo", "perceived", "percentile", "algorithm4", "rating_change"):
        assert unknown[name]["text"] == "–", name
        assert unknown[name]["missing"], name


def test_players_are_ranked_best_first_by_any_column(pages: Pages) -> None:
    known = (
        ("a", 2000, 60.2, -30.0),
        ("b", None, 59.9, -10.0),
        ("c", 2200, 80.0, None),
        ("d", 2000, None, -20.0),
    )
    players = [plain(NOBODY) for _ in known]
    for player, (name, elo, percentile, change) in zip(players, known, strict=True):
        player |= {
            "id": name,
            "name": name,
            "elo": elo,
            "counted": 30,
            "perceived": 2300,
        }
        player["percentile"] = percentile
        player["rating_change"] = change

    def ranked(sort: str, down: bool = False) -> list[str]:
        found = call(pages, "players.rankPlayers", players, sort, down)
        return [each["player"]["id"] + each["place"] for each in found]

    assert ranked("") == ranked("perceived") == ["c1", "a2=", "b2=", "d"]
    # The other way round, nothing known still comes last.
    assert ranked("", down=True) == ["b2=", "a2=", "c1", "d"]
    assert ranked("elo") == ["c1", "a2=", "d2=", "b"]
    assert ranked("rating_change") == ["b1", "d2", "a3", "c"]
    assert ranked("name", down=True) == ["d4", "c3", "b2", "a1"]


# --- one board ------------------------------------------------------------------------


def costly_game(*moves: tuple[int, int, int]) -> GameDetail:
    """White's figure, and the scores after his move and the reply; every best move is
    Bc4.
    """
    curve = tuple(
        point(2 * at + 1, 10 + at, value) for at, (value, _, _) in enumerate(moves)
    )
    scores = chain.from_iterable(both for _, *both in moves)
    plies = tuple(
        ply(number, score, 0, best="f1c4") for number, score in enumerate(scores, 1)
    )
    return game(curves=Curves(white=curve), plies=plies, start_score_cp=0)


def costly(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("drawing/costly_moves.js", name, *args)


def test_moves_that_cost_much_are_named_at_the_curve_the_newest_first(
    pages: Pages,
) -> None:
    moves = [
        (2100, 0, 0),
        (2080, -150, -150),
        (2050, -150, -150),
        (1900, -900, -900),
        (1890, -900, -900),
        (1860, -960, -960),
    ]
    held = plain(costly_game(*moves))
    named = costly(pages, "namedMoves", held, "white", 3)
    assert [(each["ply"], each["to"] - each["from"]) for each in named] == [
        (7, -150),
        (3, -20),
    ]
    assert [round(costly(pages, "lostPoints", held, ply)) for ply in (3, 4, 7)] == [
        13,
        0,
        33,
    ]
    assert costly(pages, "namedMoves", held, "white", 1) == named[:1]
    curve = held["curves"]["white"]
    for number, n in ((0, None), (1, 10), (2, 10), (6, 12), (99, 15)):
        found = pages.run("client/figures.js", "pointAt", curve, number)
        assert (found or {}).get("counted") == n


@pytest.mark.parametrize("same", [{"best": "f1c4"}, {"gain_same_search_cp": 0}])
def test_a_move_without_a_better_one_cost_nothing_whatever_its_score(
    pages: Pages, same: dict[str, Any]
) -> None:
    held = plain(costly_game((2100, 0, 0), (2080, -150, -150)))
    assert costly(pages, "lostPoints", held, 3) > 10
    held["plies"][2] |= {"uci": "f1c4", "best": "b1c3", **same}
    assert costly(pages, "lostPoints", held, 3) == 0
    assert costly(pages, "namedMoves", held, "white", 3) == []


def test_a_move_that_moved_the_figure_is_news_for_some_moves(pages: Pages) -> None:
    def news(held: Any, withheld: bool = False, upto: int = 99) -> str:
        basis = {"withheld": withheld}
        return str(call(pages, "score_words.costlyNews", held, "white", basis, upto))

    fell = "fell 70 with 2.\u00a0Nf3"
    begun, blunder, after = (2100, 0, 0), (2030, -200, -200), (2040, -200, -200)
    for later, words in ((0, fell), (2, fell), (3, "")):
        held = plain(costly_game(begun, blunder, *[after] * later))
        assert news(held) == words
        assert news(held, withheld=True) == ""
        args = [held, "white", pages("languages")["de"], {"best": True}]
        german = pages.run("overlay/shown_figures.js", "costlyText", *args)
        assert german == (
            words and "fiel um 70 mit 2.\u00a0Sf3\u00a0\u00b7 am besten war Lc4"
        )
    # However far the figure goes, a move that cost less than 10 points is no news.
    assert news(plain(costly_game(begun, (1800, -100, -100)))) == ""
    # What the opponent gave away is news of the move after it.
    given = plain(costly_game(begun, (2100, 0, 200), (2160, 200, 200)))
    assert news(given) == "rose 60 with 2…\u00a0Nc6"
    # Beside a final figure stands no news, but while its last move is not looked at.
    held = plain(costly_game(begun, blunder, after))
    assert news({**held, "result": "1-0"}) == ""
    assert news({**held, "result": "1-0"}, upto=4) == news(held) == fell


# --- scores and sides -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (ply(2, 37), "+0.37"),
        (ply(2, 37, final=False), "~+0.37 still searching"),
        (ply(2, None), "+0.30…"),
    ],
)
def test_the_board_tells_how_good_its_score_is(
    pages: Pages, last: PlyView, words: str
) -> None:
    held = plain(game(plies=(ply(1, 30), last)))
    score = pages.run("overlay/shown_figures.js", "scoreOf", held)
    assert call(pages, "score_words.scoreWords", score) == words


def test_what_is_withheld_is_not_said_to_be_late(pages: Pages) -> None:
    late = game(plies=(ply(1, None), ply(2, None)))
    for withheld, *words in (
        (False, "2 moves still to be rated", "not scored yet"),
        (True, "", ""),
    ):
        basis = {"withheld": withheld}
        assert words == [
            call(pages, "score_words.problemText", late, basis),
            call(pages, "score_words.scoreWords", {"text": ""}, basis),
        ]


NO_RATING = {"usual_low": None, "usual_high": None, "percentile": None}


def test_a_side_is_read_with_its_band_and_its_place_in_words(pages: Pages) -> None:
    def side(counted: int, *, elo: int | None = 2000, other: int = 2050) -> Any:
        held = point(2 * counted - 1, counted, 2340, **({} if elo else NO_RATING))
        players: dict[str, Any] = {
            "white": Player("Ek", elo=elo),
            "black": Player("B", elo=other),
        }
        whole = game(curves=Curves(white=(held,)), plies=(ply(1, 20),), **players)
        read = call(pages, "score_words.sideFigure", whole, "white", held)
        return read, call(pages, "score_words.sideText", whole, "white")

    read, said = side(30)
    assert (read["label"], read["text"]) == ("playing like", "2340")
    assert read["usual"] == "usual for 2000: 1900\u2060–\u20602300"
    assert read["better"] == "better than 50\u00a0% of games by players of 2000"
    spoken = f"playing like 2340, {read['usual']}, {read['better']}"
    assert said == f"Ek: {spoken}"
    # Between players far apart the band is that of the pairing.
    far = side(30, other=2500)[0]["usual"]
    assert far == "usual for 2000 against 2500: 1900\u2060–\u20602300"
    # Few moves are called early and have no place.
    read, said = side(9)
    assert (read["early"], read["better"]) == ("early \u00b7 9 moves", "")
    assert said.endswith("early \u00b7 9 moves, known theory counts too")
    # Theory is a large part of a figure for some moves longer.
    assert [side(moves)[0]["theory"] for moves in (14, 15)] == [read["theory"], ""]
    # Without an own rating nothing is usual.
    read, said = side(30, elo=None)
    assert (read["usual"], read["better"]) == ("", "")
    assert said == "Ek: playing like 2340"


def test_the_figure_of_a_whole_game_is_told_from_a_running_one(pages: Pages) -> None:
    curves = Curves(white=(point(1, 30, 2340),))
    for plies, result, words in (
        (1, "1-0", "played"),
        (1, "*", "playing"),
        (3, "1-0", "playing"),
    ):
        held = game(
            curves=curves, plies=tuple(map(ply, range(1, plies + 1))), result=result
        )
        said = call(pages, "score_words.sideText", held, "white")
        assert f" {words} like 2340" in said
        # A finished game is compared with whole games, so its band is another one.
        assert ("usual in whole games for" in said) is (words == "played")


# --- health ---------------------------------------------------------------------------

BUSY = EngineHealth(
    engines=(
        EngineState(0, "searching", 450.4, depth=15),
        EngineState(1, "idle", 50.0, depth=9),
    ),
    cache_hits=50,
    asked=200,
    queued=3400,
    oldest_wait_s=7.0,
    problem="the cluster is lost",
    behind="figures are up to 6 moves behind on 9 boards",
)


def test_what_is_known_of_the_engines_is_in_the_view(pages: Pages) -> None:
    def engine_rows(health: EngineHealth, sight: str = "arbiter") -> dict[str, str]:
        engine = EngineInfo("Stockfish", "depth 9", 2200, "field", 40)
        held = {"engines": plain(health), "engine": plain(engine)}
        hello = {"sight": sight}
        return dict(call(pages, "health_view.engineRows", {**held, "hello": hello}))

    assert engine_rows(BUSY) == {
        "Problem": BUSY.problem,
        "Behind": BUSY.behind,
        "Engine": "Stockfish, depth 9",
        "Positions waiting": "3,400, the oldest for 7 secs",
        "Searches": "0, 25\xa0% of 200 known already",
        "Restarts": "0",
    }
    assert engine_rows(EngineHealth())["Positions waiting"] == "0"
    # What a reader may not see arrives empty, and is not said to be none.
    withheld = "not shown here"
    public = engine_rows(EngineHealth(), "public")
    assert public["Problem"] == public["Behind"] == withheld
    assert list(public.values()).count(withheld) == 2
    venue = engine_rows(EngineHealth(), "venue")
    assert venue.pop("Engine") == "Stockfish, depth 9"
    assert set(venue.values()) == {withheld}


MEASURING = EngineHealth(measuring=MeasuringProgress(147, 294))


def test_figures_that_can_move_say_so_above_every_view(pages: Pages) -> None:
    def read_lines(health: EngineHealth, sight: str) -> list[str]:
        held = {"feeds": [], "engines": plain(health), "hello": {"sight": sight}}
        lines = call(pages, "health_view.troubleLines", {**held, "games": []})
        return [line["detail"] for line in lines]

    (said,) = read_lines(MEASURING, "public")
    assert "in finished games too" in said
    assert said.endswith("50\u00a0% done")
    assert read_lines(MEASURING, "venue") == read_lines(EngineHealth(), "public") == []


WELL = (FeedHealth("a", "live"), FeedHealth("b", "finished"))
SILENT = FeedHealth("hall", "stale", "nothing new for 13 min")
GONE = FeedHealth("http://10.0.0.7:8790/g.pgn", "retrying", "cannot reach 10.0.0.7")
ARBITER, VENUE = {"sight": "arbiter"}, {"sight": "venue"}
IDLE = EngineHealth(engines=(EngineState(0, "idle"),))
OVER = {"plies_played": 5, "plies_scored": 5, "result": "1-0"}
LATE = [{"plies_played": 90, "plies_scored": 13, "result": "*", "plies": [{}]}, OVER]
LATE_BY = "77 moves still to be rated"
SLOW = [("scores", f"slower than usual at the moment, {LATE_BY}")]
DELAYED = {"public_delay": {"delay_s": 900}}
FAILING = EngineHealth(engines=(EngineState(0, "idle"), EngineState(1, "restarting")))


@pytest.mark.parametrize(
    ("feeds", "held", "lines"),
    [
        (WELL, {"engines": IDLE}, []),
        ((*WELL, SILENT), {"engines": IDLE}, []),
        (
            (*WELL, SILENT),
            {"hello": ARBITER},
            [("hall", "stale: nothing new for 13 min")],
        ),
        (WELL, {"hello": DELAYED}, [("The public sees boards 15:00 late", "")]),
        # Who watches reads no address and no error of a source; who looks after it
        # reads both.
        ((GONE,), {}, [("Source", "lost, trying again")]),
        ((FeedHealth("a", "failed", "404"),), {}, [("Source", "lost")]),
        ((*WELL, GONE), {}, [("Sources", "1 of 3 lost, trying again")]),
        (
            (FeedHealth("a", "waiting", "none"),),
            {},
            [("Source", "not there yet, waiting")],
        ),
        ((GONE,), {"hello": ARBITER}, [(GONE.feed, "retrying: cannot reach 10.0.0.7")]),
        # Of engines it is said how many moves wait for them.
        (WELL, {"engines": FAILING, "games": LATE}, SLOW),
        (WELL, {"engines": FAILING, "games": [OVER]}, []),
        # What else is the matter slows no engine down.
        ((*WELL, SILENT), {"engines": BUSY, "games": LATE}, []),
        (WELL, {"engines": FAILING, "games": LATE, "hello": VENUE}, []),
    ],
)
def test_above_the_figures_stands_only_what_is_not_as_it_should_be(
    pages: Pages,
    feeds: tuple[FeedHealth, ...],
    held: dict[str, Any],
    lines: list[tuple[str, str]],
) -> None:
    known = {"feeds": feeds, "games": [], "engines": None, **held}
    found = call(pages, "health_view.troubleLines", known)
    assert [(each["name"], each["detail"]) for each in found] == lines


def test_it_is_live_only_while_a_source_is(pages: Pages) -> None:
    def words(status: str, *feeds: FeedHealth) -> Any:
        connection = {"heardAt": 0, "status": status}
        return call(pages, "health_view.connectionWords", connection, feeds, 8000.0)[
            "said"
        ]

    over, waiting = FeedHealth("b", "finished"), FeedHealth("a", "waiting")
    part = FeedHealth("director", "live", part=True)
    assert words("live") == words("live", GONE, SILENT) == "live"
    assert {words("live", GONE, *more) for more in ((), (over,), (part,))} == {
        "not live"
    }
    assert (words("live", waiting), words("live", over)) == ("not live yet", "over")
    assert words("waiting") == "no connection, trying again; as of 8 secs ago"


# --- languages ------------------------------------------------------------------------

#: A call that says a text of the page: the text, or an expression that gives one.
SAID = re.compile(r'(?<![\w.])say\((?:"((?:[^"\\]|\\.)+)"|([^\s,)]+))')
#: Why the page of a broker refuses, said where it is shown.
REFUSED = re.compile(r'_refuse\("([^"]+)"\)')
SAID_IN_HTML = re.compile(r"data-say>([^<]+)<")


def read_page(name: str) -> str:
    return (OVERLAY / name).read_text(encoding="utf-8")


def list_texts_of_expressions(pages: Pages) -> dict[str, set[str]]:
    """What each expression can be that the page says."""
    columns = pages("constant", module="page/players.js", name="PLAYER_COLUMNS")
    figures = [BY_ID[column["id"]] for column in columns]
    return {
        "node.textContent": set(SAID_IN_HTML.findall(read_page("index.html"))),
        "reason": set(REFUSED.findall(read_page("client/broker_connection.js"))),
        "name": {figure.name for figure in figures if figure.id != "percentile"},
        "missing": {figure.missing for figure in figures},
        "state": set(get_args(FeedState)),
        "engine.state": set(get_args(get_type_hints(EngineState)["state"])),
        "alert.severity": set(get_args(Severity)),
        "what": set(get_args(IncidentWord)),
    }


def test_every_text_of_the_page_is_there_in_every_language(pages: Pages) -> None:
    texts = pages("texts")
    for text, others in texts.items():
        assert len(others) == 5, text
        for other in others:
            assert other.count("{}") == text.count("{}") and other.strip() == other, (
                other
            )
    literals: set[str] = set()
    expressions: set[str] = set()
    for path in [OVERLAY / "app.js", *(OVERLAY / "page").glob("*.js")]:
        if path.name != "language.js":
            for literal, expression in SAID.findall(path.read_text(encoding="utf-8")):
                literals.add(json.loads(f'"{literal}"'))
                expressions.add(expression)
    said = list_texts_of_expressions(pages)
    assert expressions - {""} == said.keys()
    assert (literals - {""}).union(*said.values()) - texts.keys() == set()


@pytest.mark.parametrize(
    ("wanted", "language"),
    [
        (["de"], "de"),
        (["de-AT", "en"], "de"),
        (["pt-BR", "es-419"], "es"),
        (["RU"], "ru"),
        (["constructor", "xx"], "en"),
        ([], "en"),
    ],
)
def test_the_page_speaks_the_first_language_that_it_knows(
    pages: Pages, wanted: list[str], language: str
) -> None:
    assert call(pages, "language.chosenLanguage", wanted) == language


def test_a_text_without_a_translation_stays_english(pages: Pages) -> None:
    assert call_for_text(pages, "language.sayIn", "ru", "Board {}", 4) == "Доска 4"
    assert call_for_text(pages, "language.sayIn", "en", "Round {}", 4) == "Round 4"
    assert (
        call_for_text(pages, "language.sayIn", "de", "nothing of {}", "this")
        == "nothing of this"
    )


# --- for those who do not look --------------------------------------------------------


def test_a_screen_reader_says_move_score_and_result_of_the_open_board(
    pages: Pages,
) -> None:
    quiet = (ply(1, 20), ply(2, 25))
    for more, words in (
        ({"plies": (*quiet, ply(3, 30))}, "2. Nf3, Score +0.30."),
        ({"plies": (*quiet, ply(3, None))}, "2. Nf3."),
        ({"plies": quiet, "result": "1-0"}, "1–0."),
    ):
        assert call_for_text(pages, "score_words.boardNews", game(**more)) == words


# --- alerts ---------------------------------------------------------------------------

LOOK = Alert(
    id="a", kind="stale", severity="look", text="t", advice="d", first_seen_s=5.0
)
ALARM = msgspec.structs.replace(LOOK, id="b", kind="flag", severity="alarm", game="g1")


def test_it_sounds_once_for_each_new_alert_that_is_wanted(pages: Pages) -> None:
    def heard(before: dict[str, int] | None, choice: str, *alerts: Alert) -> Any:
        return call(pages, "alerts_panel.hearAlerts", before, alerts, choice)

    assert heard(None, "all", ALARM) == {"heard": {"b": 1}, "rings": False}
    for choice, rings in (("off", False), ("alarms", False), ("all", True)):
        assert heard({}, choice, LOOK)["rings"] is rings
    assert heard({}, "alarms", ALARM)["rings"]
    assert not heard({"b": 1}, "all", ALARM)["rings"]
    assert heard({"b": 1}, "alarms", msgspec.structs.replace(ALARM, times=2))["rings"]
    # What is muted or acknowledged is neither heard nor marked.
    muted = msgspec.structs.replace(ALARM, muted=True)
    known = msgspec.structs.replace(ALARM, id="c", acknowledged_s=9.0)
    assert heard({}, "all", muted, known) == {"heard": {}, "rings": False}


def test_the_most_urgent_alert_comes_first_then_the_newest_and_the_muted_last(
    pages: Pages,
) -> None:
    known = (
        ("a", "look"),
        ("b", "alarm"),
        ("c", "warning"),
        ("d", "alarm"),
        ("e", "alarm"),
    )
    alerts = [
        {"id": name, "severity": severity, "first_seen_s": at, "muted": name == "e"}
        for at, (name, severity) in enumerate(known)
    ]
    found = call(pages, "alerts_panel.rankAlerts", alerts)
    assert "".join(each["id"] for each in found) == "dbcae"
    for severity, sign in SIGNS.items():  # The terminal's.
        alert = {"severity": severity, "text": "Board 1: Bea rose", "player": "Bea"}
        assert (
            call_for_text(pages, "alerts_panel.alertText", alert, game())
            == f"{sign} Black rose"
        )
    counts = [call(pages, "alerts_panel.alertCount", each) for each in (alerts, [])]
    assert counts == ["!!\xa04", ""]


def test_a_screening_figure_never_stands_alone(pages: Pages) -> None:
    agreement = Agreement(40, 0.8, 0.55, 3.21, 56, 0.034, "402 honest player-games.")
    text = call(pages, "alerts_panel.agreementText", agreement)
    for part in (
        "80 %",
        "40 moves",
        "55 %",
        "3.2",
        "56 boards",
        "3 %",
        "402",
        "accuses nobody",
    ):
        assert part in text.replace("\xa0", " ")
    assert call(pages, "alerts_panel.agreementText", None) == ""
