"""live/web/overlay: what is shown when, by its pure modules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.conftest import Pages
from tests.web.page.games import plain, point

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def ply(number: int, cp: int | None = None, *, final: bool = True, **more: Any) -> dict[str, Any]:
    return {
        "ply": number,
        "san": "e4",
        "uci": f"a{number}",
        "clock_s": None,
        "score_cp": cp,
        "mate": None,
        "final": final and cp is not None,
        **more,
    }


def game(id: str = "g", plies: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "event": "Open",
        "round": "1",
        "board": 1,
        "result": "*",
        "start_fen": START,
        "start_score_cp": 20,
        "plies": plies or [],
        "curves": {"white": [], "black": []},
        "white": {"name": "Anna"},
        "black": {"name": "Bea"},
        **more,
    }


def figure(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("overlay/shown_figures.js", name, *args)


# --- scores and ratings --------------------------------------------------------------------------


def test_a_missing_figure_says_why(pages: Pages) -> None:
    words = {"noMoves": "no move rated yet", "unread": "not readable", "withheld": "withheld"}
    assert figure(pages, "withoutFigure", None, words) == "no move rated yet"
    assert figure(pages, "withoutFigure", {"perceived": None}, words) == "not readable"
    assert figure(pages, "withoutFigure", None, words, True) == "withheld"


@pytest.mark.parametrize(
    ("plies", "provisional", "text", "state"),
    [
        ([], True, "+0.20", "final"),
        ([ply(1, 35)], True, "+0.35", "final"),
        ([ply(1, 35, final=False)], True, "~+0.35", "provisional"),
        # Provisional scores are not wanted: the one before stays, and is not that of this move.
        ([ply(1, 35), ply(2, -80, final=False)], False, "+0.35…", "pending"),
        ([ply(1, 35), ply(2)], True, "+0.35…", "pending"),
        ([ply(1, 35, final=False)], False, "+0.20…", "pending"),
        ([ply(1, -3900, mate=-3)], True, "−#3", "final"),
        ([ply(1, 3900, mate=0)], True, "#", "final"),
    ],
)
def test_scores_say_how_sure_they_are(
    pages: Pages, plies: list[dict[str, Any]], provisional: bool, text: str, state: str
) -> None:
    score = figure(pages, "scoreOf", game(plies=plies), provisional)
    assert (score["text"], score["state"]) == (text, state)


def test_a_score_nobody_knows_is_none(pages: Pages) -> None:
    assert figure(pages, "scoreOf", game(start_score_cp=None), True) is None


def read(pages: Pages, kind: str, counted: int = 30, **black: Any) -> Any:
    """White's figure in English."""
    words = pages("languages")["en"]
    curves = {"white": [plain(point(59, counted, 2340.0))], "black": []}
    players: dict[str, Any] = {
        "white": {"name": "Ek", "elo": 2000},
        "black": {"name": "Bo", "elo": 2050, **black},
    }
    basis = {"choice": kind, "engineRating": 2200}
    return figure(
        pages,
        "figureWords",
        game(curves=curves, **players),
        "white",
        curves["white"][-1],
        basis,
        words,
    )


def test_the_figure_is_named_with_its_band_and_its_place(pages: Pages) -> None:
    found = read(pages, "perceived")
    assert (found["text"], found["early"], found["moves"]) == ("2340", "", "30 moves")
    assert "2000" in found["usual"]
    assert "1900\u2060–\u20602300" in found["usual"]
    assert "50" in found["better"]
    assert "2500" in read(pages, "perceived", elo=2500)["usual"]
    published = read(pages, "algorithm4")
    assert (published["text"], published["better"], published["early"]) == ("2130", "", "")
    assert published["label"] != found["label"]
    assert "2030\u2060–\u20602230" in published["usual"]


def test_few_moves_are_called_early(pages: Pages) -> None:
    found = read(pages, "perceived", 9)
    assert found["better"] == ""
    assert "9 moves" in found["early"]


def test_what_is_likely_adds_up_in_words(pages: Pages) -> None:
    words = {"odds": "White {} %, draw {} %, Black {} %"}
    unsure = game(plies=[ply(1, 20, win=0.335, draw=0.33, loss=0.335), ply(2)])
    odds = figure(pages, "oddsOf", unsure)
    said = "White 34\u00a0%, draw 33\u00a0%, Black 33\u00a0%"
    assert figure(pages, "oddsWords", odds, words) == said
    assert figure(pages, "oddsWords", None, words) == ""


def test_the_odds_are_known_while_the_result_is_open(pages: Pages) -> None:
    open_ = game(plies=[ply(1, 20, win=0.45, draw=0.4, loss=0.15), ply(2)])
    odds = figure(pages, "oddsOf", open_)
    assert (odds["win"], odds["draw"], odds["loss"]) == pytest.approx((0.45, 0.4, 0.15))
    assert figure(pages, "oddsOf", {**open_, "result": "1-0"}) is None
    assert figure(pages, "oddsOf", game(plies=[ply(1, 20)])) is None
    # Where provisional scores are not wanted, what follows from them is not either.
    searched = game(plies=[ply(1, 20, final=False, win=0.45, draw=0.4, loss=0.15)])
    assert figure(pages, "oddsOf", searched, searched["plies"], False) is None
    assert figure(pages, "oddsOf", searched) is not None


@pytest.mark.parametrize(
    ("round", "board", "place"),
    [
        ("4.12", 12, "Round 4 · Board 12 · Open"),
        ("4", 3, "Round 4 · Board 3 · Open"),
        ("4.12", None, "Round 4.12 · Open"),
        ("?", 2, "Board 2 · Open"),
        ("", None, "Open"),
    ],
)
def test_places(pages: Pages, round: str, board: int | None, place: str) -> None:
    words = {"round": "Round {}", "board": "Board {}"}
    assert figure(pages, "placeOf", game(round=round, board=board), words) == place


def test_an_event_that_is_only_the_pairing_is_not_told(pages: Pages) -> None:
    paired = game(event="Round 1: Anna - Bea")
    assert figure(pages, "eventOf", paired) == ""
    assert figure(pages, "eventOf", game()) == "Open"
    assert figure(pages, "eventOf", game(event="?")) == ""


@pytest.mark.parametrize(
    ("result", "points"),
    [("*", ("", "")), ("1-0", ("1", "0")), ("1/2-1/2", ("½", "½")), ("0-1/2", ("0", "½"))],
)
def test_points(pages: Pages, result: str, points: tuple[str, str]) -> None:
    got = [figure(pages, "pointsOf", result, color) for color in ("white", "black")]
    assert tuple(got) == points


def rated(color: str, last_ply: int, moves: int) -> dict[str, Any]:
    return {color: [{"ply": last_ply, "n": moves}]}


def test_a_figure_says_on_how_many_moves_it_rests_itself(pages: Pages) -> None:
    """Forced moves are in Algorithm 4 and not in the perceived rating."""
    words = {"movesOf": "{} of {} moves", "lastScores": "", "orMore": "", "orLess": ""}
    behind = game(plies=[ply(n) for n in range(1, 8)])
    behind["curves"] |= rated("white", 3, 2)
    for counted, said in ((1, "1 of 3 moves"), (2, "2 of 4 moves")):
        part = figure(pages, "unratedPart", behind, "white", words, {"counted": counted})
        assert part["text"] == said
        text = pages.run("page/score_words.js", "basisText", behind, "white", {"counted": counted})
        assert text == said


def test_a_figure_says_when_it_does_not_rest_on_all_moves(pages: Pages) -> None:
    words = {"movesOf": "{} of {} moves", "lastScores": "last scores to come"}
    behind = game(plies=[ply(n) for n in range(1, 8)])
    behind["curves"] |= rated("white", 3, 2) | rated("black", 6, 3)
    rests = {"counted": 2}
    assert figure(pages, "unratedPart", behind, "white", words, rests) == {
        "missing": 2,
        "text": "2 of 4 moves",
    }
    assert figure(pages, "unratedPart", behind, "black", words, rests) is None
    over = {**behind, "result": "1-0"}
    assert (
        figure(pages, "unratedPart", over, "white", words, rests, True)["text"]
        == "last scores to come"
    )
    told = figure(pages, "unratedPart", over, "white", words, rests)
    assert told["text"] == "2 of 4 moves · last scores to come"
    # Where Black began, the odd plies are Black's.
    begun = {**behind, "start_fen": START.replace(" w ", " b ")}
    assert figure(pages, "unratedPart", begun, "black", words, rests)["missing"] == 1
    assert figure(pages, "unratedPart", game(), "white", words, rests) is None


def test_what_was_best_is_said_as_people_write_it(pages: Pages) -> None:
    played = [{**ply(1), "uci": "e2e4", "best": "g1f3"}, {**ply(2), "uci": "e7e5", "best": "e7e5"}]
    words = {"letters": ["K", "D", "T", "L", "S"]}

    def best(number: int) -> Any:
        return figure(pages, "bestInstead", game(plies=played), number, words)

    assert best(1) == "Sf3"
    assert best(2) is None


def swing_words(
    pages: Pages,
    name: str,
    plies: list[dict[str, Any]],
    swing: dict[str, Any],
    white: str = "Anna",
    others: tuple[str, ...] = (),
) -> str:
    words = {
        "letters": list("KQRBN"),
        "decimal": ",",
        "swing": "Swing",
        "costs": "costs {} pawns",
        "allowsMate": "allows mate in {}",
        "best": "best was {}",
        "bestShort": "best {}",
    }
    played = {**game(plies=plies), "white": {**game()["white"], "name": white}}
    said: str = pages.run("overlay/panels.js", name, played, swing, words, others)
    return said.replace("\u00a0", " ")


def test_a_swing_names_who_what_it_cost_and_what_was_best(pages: Pages) -> None:
    plies = [{**ply(1, -240), "uci": "e2e4", "san": "e4", "best": "g1f3"}]
    swing = {"ply": 1, "from": 30, "to": -240, "color": "black"}
    said = swing_words(pages, "swingSentence", plies, swing)
    assert said == "Anna: 1. e4 costs 2,7 pawns · best was Nf3"
    assert swing_words(pages, "swingText", plies, swing) == "1. e4 −2.7 · best Nf3"
    mated = [{**plies[0], "score_cp": -3900, "mate": -3}]
    said = swing_words(pages, "swingSentence", mated, {**swing, "to": -3900})
    assert said == "Anna: 1. e4 allows mate in 3 · best was Nf3"
    # Where the mover gains, nothing was lost: the scores are said as they are.
    gained = swing_words(pages, "swingSentence", plies, {**swing, "from": -240, "to": 30})
    assert gained == "Swing 1. e4 −2.40 → +0.30"


def test_a_swing_names_one_player_and_moves_no_figure(pages: Pages) -> None:
    plies = [ply(1, -240)]
    swing = {"ply": 1, "from": 30, "to": -240, "color": "black"}

    def named(white: str, *others: str) -> str:
        said = swing_words(pages, "swingSentence", plies, swing, white, others)
        return said.split(":")[0]

    assert named("Ivanov, Sergey", "Berg, Bo") == "Ivanov"
    assert named("Ivanov, Sergey", "Ivanov, Stanislav") == "Ivanov, Se."
    assert named("محمد السيد") == "\u2068السيد\u2069"


# --- swings --------------------------------------------------------------------------------------


def looks(pages: Pages, *looked: tuple[list[dict[str, Any]], int], pawns: float = 2) -> list[Any]:
    answer: list[Any] = pages(
        "object",
        module="overlay/panels.js",
        name="Swings",
        args=[pawns, 30_000],
        calls=[["look", game(plies=plies), now] for plies, now in looked],
    )
    return answer


def test_a_swing_is_told_once_with_whom_it_helps(pages: Pages) -> None:
    before = [ply(1, 30), ply(2, 40)]
    after = [*before, ply(3, -210)]
    told = looks(pages, (before, 0), (after, 1000), (after, 1100))
    assert told == [None, {"ply": 3, "from": 40, "to": -210, "size": 250}, None]


def test_what_was_there_before_is_no_news(pages: Pages) -> None:
    assert looks(pages, ([ply(1, 30), ply(2, 400)], 0)) == [None]


def test_a_swing_is_shown_until_its_move_is_taken_back(pages: Pages) -> None:
    before = [ply(1, 30), ply(2, 40)]
    after = game(plies=[*before, ply(3, -210)])
    other = game(plies=[*before, {**ply(3, -210), "uci": "a2a3"}])
    calls: list[Any] = [["look", game(plies=before), 0], ["look", after, 1000]]
    calls += [["shown", each, at] for each, at in ((after, 8_900), (other, 1_100), (after, 9_100))]
    module = "overlay/panels.js"
    told = pages("object", module=module, name="Swings", args=[2, 30_000], calls=calls)
    assert [bool(each) for each in told[2:]] == [True, False, False]


def test_it_waits_for_the_final_score(pages: Pages) -> None:
    before = [ply(1, 30)]
    told = looks(
        pages,
        (before, 0),
        ([*before, ply(2, 330, final=False)], 10),
        ([*before, ply(2, 300)], 20),
    )
    assert [bool(each) for each in told] == [False, False, True]


def test_after_a_swing_there_is_silence_for_a_while(pages: Pages) -> None:
    plies = [ply(1, 30), ply(2, 330), ply(3, 0), ply(4, 310)]
    told = looks(pages, (plies[:1], 0), (plies[:2], 10), (plies[:3], 29_000), (plies, 31_000))
    assert [bool(each) for each in told] == [False, True, False, True]


def test_a_decided_game_swings_no_more(pages: Pages) -> None:
    plies = [ply(1, 900), ply(2, 450), ply(3, 3900, mate=4), ply(4, -100)]
    told = looks(pages, *[(plies[:n], n) for n in range(1, 5)])
    assert [bool(each) for each in told] == [False, False, False, True]


def test_a_takeback_and_a_late_score_are_no_news(pages: Pages) -> None:
    plies = [ply(1, 30), ply(2, 40), ply(3, 50)]
    late = [ply(1, 30), ply(2, 340), ply(3)]
    told = looks(pages, (plies, 0), (plies[:1], 1), (late, 2))
    assert told == [None, None, None]


def test_a_threshold_of_zero_tells_nothing(pages: Pages) -> None:
    assert looks(pages, ([ply(1, 30)], 0), ([ply(1, 30), ply(2, 3000)], 1), pawns=0) == [None] * 2


# --- which game ----------------------------------------------------------------------------------


def choose(
    pages: Pages,
    looked: list[tuple[list[dict[str, Any]], int]],
    withheld: bool = False,
    **options: Any,
) -> list[list[str]]:
    options = {"game": [], "board": [], "player": [], "follow": None, **options}
    chosen = pages(
        "object",
        module="overlay/on_air.js",
        name="Chooser",
        args=[options],
        calls=[["choose", games, now, [], withheld] for games, now in looked],
    )
    return [[each["id"] for each in games] for games in chosen]


def at(board: int, cp: int = 0, plies: int = 1, **more: Any) -> dict[str, Any]:
    rated = {"curves": {"white": [{"ply": plies}], "black": [{"ply": plies}]}}
    moves = [ply(n + 1, cp) for n in range(plies)]
    return game(f"b{board}", moves, board=board, **rated, **more)


def test_the_top_board_still_playing(pages: Pages) -> None:
    over = at(1, result="1-0")
    assert choose(pages, [([over, at(3), at(2)], 0)])[0][0] == "b2"
    assert choose(pages, [([over, at(2, result="0-1")], 0)])[0][0] == "b1"


def test_a_result_stays_before_the_next_board_comes(pages: Pages) -> None:
    playing, over = [at(1), at(2)], [at(1, result="1-0"), at(2)]
    looked = [(playing, 0), (over, 1_000), (over, 20_000), (over, 22_000)]
    assert [games[0] for games in choose(pages, looked)] == ["b1", "b1", "b1", "b2"]


def test_a_result_stays_until_its_last_scores_are_there(pages: Pages) -> None:
    playing, over = [at(1), at(2)], [at(1, result="1-0"), at(2)]
    over[0]["curves"] = {"white": [], "black": []}
    settled = [at(1, result="1-0"), at(2)]
    looked = [(playing, 0), (over, 1_000), (over, 60_000), (settled, 61_000), (settled, 82_000)]
    assert [each[0] for each in choose(pages, looked)] == ["b1", "b1", "b1", "b1", "b2"]
    # But not for ever.
    never = [(playing, 0), (over, 1_000), (over, 92_000), (over, 113_000)]
    assert [each[0] for each in choose(pages, never)] == ["b1", "b1", "b1", "b2"]
    # Nor at all where scores are withheld.
    hidden = [(playing, 0), (over, 1_000), (over, 20_000), (over, 22_000)]
    assert [each[0] for each in choose(pages, hidden, withheld=True)] == ["b1", "b1", "b1", "b2"]


def notice(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("overlay/on_air.js", name, *args)


def test_silence_is_no_loss_but_a_failing_source_is(pages: Pages) -> None:
    live = {"status": "live", "heardAt": 0}
    feeds = [{"feed": "hall", "state": "stale"}]
    of_hall = [game(feed="hall")]
    since = pages(
        "object",
        module="overlay/on_air.js",
        name="Failures",
        args=[],
        calls=[
            ["since", feeds, of_hall, 0],
            ["since", [{"feed": "hall", "state": "failed"}], of_hall, 10],
            ["since", [{"feed": "hall", "state": "retrying"}], of_hall, 20],
            ["since", [{"feed": "other", "state": "failed"}], of_hall, 30],
        ],
    )
    assert since == [None, 10, 10, None]
    lost = notice(pages, "lostSince", {"connection": live, "failingSince": 10, "now": 60_011})
    assert lost == 10
    soon = notice(pages, "lostSince", {"connection": live, "failingSince": 10, "now": 50_000})
    assert soon is None
    waiting = {"status": "waiting", "heardAt": 100}
    assert notice(pages, "lostSince", {"connection": waiting, "failingSince": None, "now": 9_000})


def test_viewers_see_of_a_loss_what_the_producer_chose(pages: Pages) -> None:
    words = {"asOf": "as of {} ago", "seconds": "{} s", "waiting": "waiting"}
    shown = {
        "connection": {"status": "waiting", "heardAt": 0},
        "held": {"players": {}},
        "games": [game()],
        "now": 19_000,
        "layout": "board",
        "since": 0,
    }
    said = [
        notice(pages, "statusText", {**shown, "lost": lost}, words)
        for lost in ("freeze", "notice", "hide")
    ]
    assert said == ["", "as of 19 s ago", ""]


@pytest.mark.parametrize(
    ("trouble", "status", "source", "said"),
    [
        ("missing", "connecting", "fixed", "token?"),
        # A service closes on those who send no token; that does not say what to do.
        ("missing", "refused", "fixed", "token?"),
        ("wrong", "waiting", "fixed", "wrong"),
        ("", "refused", "fixed", "refused: in time"),
        ("", "live", "withheld", "withheld"),
        ("", "live", "fixed", "waiting"),
    ],
)
def test_an_overlay_without_figures_says_why(
    pages: Pages, trouble: str, status: str, source: str, said: str
) -> None:
    words = {"tokenMissing": "token?", "tokenWrong": "wrong", "refused": "refused: {}"}
    words |= {"waiting": "waiting", "withheld": "withheld", "connecting": "connecting"}
    shown = {
        "trouble": trouble,
        "connection": {
            "status": status,
            "heardAt": 0 if status == "live" else None,
            "reason": "in time",
        },
        "held": {"players": {"size": 0}, "engine": {"rating_source": source}},
        "games": [game()],
        "now": 19_000,
        "layout": "standings",
        "lost": "freeze",
        "since": None,
    }
    assert notice(pages, "statusText", shown, words) == said


def test_the_closest_game_without_flicker(pages: Pages) -> None:
    looked = [
        ([at(1, 300), at(2, 20)], 0),
        # Closer, but too soon; then hardly closer; then clearly.
        ([at(1, 0), at(2, 400)], 5_000),
        ([at(1, 10), at(2, 30)], 30_000),
        ([at(1, 10), at(2, 300)], 31_000),
    ]
    games = choose(pages, looked, follow="closest")
    assert [each[0] for each in games] == ["b2", "b2", "b2", "b1"]


def test_the_latest_move(pages: Pages) -> None:
    looked = [
        ([at(1), at(2)], 0),
        ([at(1), at(2, plies=2)], 11_000),
        ([at(1, plies=2), at(2, plies=2)], 12_000),
        ([at(1, plies=2), at(2, plies=2)], 22_000),
    ]
    games = choose(pages, looked, follow="latest")
    assert [each[0] for each in games] == ["b1", "b2", "b2", "b1"]


def test_who_is_asked_for_is_shown_and_nobody_else(pages: Pages) -> None:
    """A broker sends every game, whatever an address asks for."""
    games = [at(board) for board in (1, 2)]
    games[0]["white"] = {"name": "Fiorito, Ana"}
    games[1]["black"] = {"name": "Korneev, Oleg", "fide_id": 4126025}
    looked = [(games, 0)]
    for asked in ("Korneev, Oleg", " korneev,  OLEG", "4126025"):
        assert choose(pages, looked, player=[asked]) == [["b2"]]
    assert choose(pages, looked, player=["Korneev, Igor"]) == [[]]
    assert choose(pages, looked, event=["Another open"]) == [[]]
    words = {"waiting": "waiting", "notThere": "not there: {}"}
    missing = {
        "connection": {"status": "live", "heardAt": 0},
        "held": {"players": {"size": 0}},
        "games": [],
        "now": 0,
        "layout": "player",
        "lost": "freeze",
        "since": None,
    }
    said = notice(pages, "statusText", missing | {"asked": ["Korneev, Igor", "7"]}, words)
    assert said == "not there: Korneev, Igor, 7"
    assert notice(pages, "statusText", missing, words) == "waiting"


def test_a_board_stays_from_round_to_round(pages: Pages) -> None:
    old = [at(board, round="9", result="1-0") | {"id": f"old{board}"} for board in (1, 2)]
    new = [at(board, round="10") for board in (1, 2)]
    assert choose(pages, [([*old, *new], 0)], board=[2]) == [["b2"]]
    # Before the first move of the next round, it is already that round's.
    waiting = [at(board, round="10", plies=0) for board in (1, 2)]
    assert choose(pages, [([*old, *waiting], 0)], board=[2]) == [["b2"]]


def test_boards_are_in_order_where_each_pairing_is_an_event(pages: Pages) -> None:
    games = [at(board, event=f"Round 1: {name} - B") for board, name in ((2, "A"), (1, "Z"))]
    for each, name in zip(games, "AZ", strict=True):
        each["white"] = {"name": name}
    assert choose(pages, [(games, 0)], board=[1, 2]) == [["b1", "b2"]]


def test_a_game_by_its_id_is_that_game(pages: Pages) -> None:
    games = [at(1, round="1", result="1-0"), at(2, round="2")]
    assert choose(pages, [(games, 0)], game=["b1"]) == [["b1"]]


def test_nothing_to_choose_from(pages: Pages) -> None:
    assert choose(pages, [([], 0)], follow="closest") == [[]]
    assert choose(pages, [([at(1)], 0)], board=[9]) == [[]]


# --- delay and pages -----------------------------------------------------------------------------


def test_a_delay_holds_back_all_but_who_plays(pages: Pages) -> None:
    snapshot = {
        "type": "snapshot",
        "seq": 5,
        "engine": {"rating": 2500},
        "games": [
            game(
                plies=[ply(1, 30)],
                result="1-0",
                curves={"white": [{}], "black": []},
                opening="Ruy Lopez",
            )
        ],
        "players": [{"id": "p"}],
        "feeds": [],
        "engines": None,
    }
    move = {"type": "move", "seq": 6, "game": "g", "ply": 2, "move": ply(2)}
    shown = pages(
        "delayed",
        delay_ms=60_000,
        steps=[
            {"at": 0, "message": {"type": "hello", "seq": 4, "figure": "algorithm4"}},
            {"at": 0, "message": snapshot},
            {"at": 30_000, "message": move},
            {"at": 59_999},
            {"at": 60_000},
            {"at": 89_999},
            {"at": 90_000},
        ],
    )
    told = [None if each is None else (each["plies"], each["result"]) for each in shown["shown"]]
    before, after = (0, "*"), (1, "1-0")
    assert told == [None, before, before, before, after, after, (2, "1-0")]
    assert [each and each["opening"] for each in shown["shown"][3:5]] == ["", "Ruy Lopez"]
    # Which figure leads is the service's choice, whatever is held back.
    assert shown["figure"] == "algorithm4"
    # A connection that comes back resumes from what was received, not from what is shown.
    assert shown["seq"] == [None, 5, 6, 6, 6, 6, 6]


def test_moments_are_held_back_too(pages: Pages) -> None:
    def moment(id: str) -> dict[str, Any]:
        return {"id": id, "game": "g", "ply": 1, "kind": "turn", "weight": 0.8, "at_s": 100.0}

    snapshot = {
        "type": "snapshot",
        "seq": 5,
        "engine": {"rating": 2500},
        "games": [game(plies=[ply(1, 30)])],
        "players": [],
        "feeds": [],
        "engines": None,
        "moments": [moment("old")],
    }
    new = {"type": "moment", "seq": 6, "game": "g", "moment": moment("new"), "holds": True}
    shown = pages(
        "delayed",
        delay_ms=60_000,
        steps=[
            {"at": 0, "message": snapshot},
            {"at": 10_000, "message": new},
            {"at": 60_000},
            {"at": 69_999},
            {"at": 70_000},
        ],
    )
    # When it is due at last, what was there before the page is no news.
    old = ["old", None]
    assert shown["moments"] == [[], [], [old], [old], [old, ["new", 100.0]]]


def test_a_long_list_turns_its_pages(pages: Pages) -> None:
    answers = pages(
        "object",
        module="drawing/elements.js",
        name="Pager",
        args=[10_000],
        calls=[["page", list("abcde"), 2, now] for now in (0, 9_999, 10_000, 20_000, 30_000)],
    )
    assert ["".join(each["items"]) for each in answers] == ["ab", "ab", "cd", "e", "ab"]
    (short,) = pages(
        "object",
        module="drawing/elements.js",
        name="Pager",
        args=[1],
        calls=[["page", ["a"], 8, 99]],
    )
    assert short == {"items": ["a"], "page": 0, "pages": 1}


def test_standings_have_no_place_where_too_little_is_known(pages: Pages) -> None:
    players = [
        {**plain(point(1, counted, value)), "id": name, "name": name}
        for name, value, counted in (("early", 2900.0, 9), ("far", 3300.0, 30), ("b", 2300.0, 30))
    ]
    module = "overlay/layouts/tables.js"
    words = {"orMore": "or more", "orLess": "or less"}
    args = [players, "perceived", 2200, words]
    ranked = pages.run(module, "ranking", *args)
    assert [(each["id"], each["rank"]) for each in ranked] == [
        ("far", "1"),
        ("b", "2"),
        ("early", ""),
    ]
    texts = [each["rating"] and each["rating"]["text"] for each in ranked]
    assert texts == ["3200 or more", "2300", None]
