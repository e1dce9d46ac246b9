"""Games as pages read them: positions, moves, figures, rounds and clocks; and names at
curves.
"""

import itertools
from operator import itemgetter
from random import Random
from typing import Any

import chess
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.catalogue import (
    EARLY_MOVES,
    LEAST_SHOWN_ELO,
    MOST_SHOWN_ELO,
    find_event_name,
    write_points,
)
from live.games.rounds import normalise_round
from live.games.short_names import family_name, isolate_direction, short_name
from live.human.difficulty import format_share
from live.messages.figures import Curves, GameDetail
from live.messages.from_sources import RESULT_POINTS, Player
from live.screens.terminal.board_rows import keep_newest_rounds
from live.screens.terminal.text import find_unusual_sign
from live.server.event_reader import game_order
from tests.screens.web.conftest import Pages
from tests.screens.web.games import START, game, plain, ply, point

# --- positions and moves --------------------------------------------------------------


def test_positions_and_moves_of_random_games_are_as_people_write_them(
    pages: Pages,
) -> None:
    random, compared = Random(19), 0
    for number in range(12):
        chess960 = number % 2 == 1
        board = (
            chess.Board.from_chess960_pos(random.randrange(960))
            if chess960
            else chess.Board()
        )
        start_fen, played = board.fen(), list[str]()
        while len(played) < 60 and (moves := list(board.legal_moves)):
            # The rare kinds of move are what can go wrong.
            rare = [
                each
                for each in moves
                if board.is_castling(each)
                or board.is_en_passant(each)
                or each.promotion
            ]
            move = random.choice(rare or moves)
            if not chess960:
                args = [start_fen, played, board.uci(move)]
                expected = board.san(move).rstrip("+#")
                told = pages.run("client/board_position.js", "sanOf", *args)
                # A pinned rival is not looked at: then a letter stands that need not.
                assert told == expected or len(told) > len(expected)
                assert board.parse_san(told) == move
                compared += told == expected
            played.append(board.uci(move))
            board.push(move)
        placement = pages.run(
            "client/board_position.js", "placementAfter", start_fen, played
        )
        assert placement == board.board_fen()
    assert compared > 250


@pytest.mark.parametrize(
    ("side", "start", "end"),
    [("white", (4.5, 6.5), (4.5, 4.5)), ("black", (3.5, 1.5), (3.5, 3.5))],
)
def test_an_arrow_starts_and_ends_in_the_middle_of_its_squares(
    pages: Pages, side: str, start: tuple[float, float], end: tuple[float, float]
) -> None:
    told: str = pages.run("client/board_position.js", "arrowCorners", "e2e4", side)
    corners = [tuple(map(float, corner.split(","))) for corner in told.split()]
    assert len(corners) == 7
    tail = [
        (one + other) / 2 for one, other in zip(corners[0], corners[-1], strict=True)
    ]
    assert tail == pytest.approx(start)
    assert corners[3] == pytest.approx(end)


def test_shares_have_the_words_of_the_service(pages: Pages) -> None:
    english = pages("languages")["en"]
    for per_mille in range(0, 1000, 7):
        said = pages.run(
            "overlay/shown_figures.js", "shareWords", per_mille / 1000, english
        )
        assert said == format_share(per_mille / 1000)


# --- figures --------------------------------------------------------------------------


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("client/figures.js", name, *map(plain, args))


@pytest.mark.parametrize(
    ("turn", "plies", "rated", "unrated"),
    [
        ("w", 0, (0, 0), [0, 0]),
        ("w", 7, (0, 0), [4, 3]),
        ("w", 8, (7, 6), [0, 2]),
        ("b", 8, (0, 0), [4, 4]),
        ("b", 1, (0, 0), [0, 1]),
    ],
)
def test_moves_since_the_last_point_are_unrated(
    pages: Pages, turn: str, plies: int, rated: tuple[int, int], unrated: list[int]
) -> None:
    white, black = ([{"ply": ply}] if ply else [] for ply in rated)
    start = START.replace(" w ", f" {turn} ")
    made = [{"final": ply != 4} for ply in range(1, plies + 1)]
    held = {
        "start_fen": start,
        "plies": made,
        "curves": {"white": white, "black": black},
    }
    assert [
        call(pages, "unratedMoves", held, color) for color in ("white", "black")
    ] == unrated


def test_columns_hold_the_figure_with_its_band_at_its_move(pages: Pages) -> None:
    curves = Curves(white=(point(1, 0, None), point(5, 12, 2100)), black=())
    nothing = [None, None, None]
    band = [[None, None, high] for high in (2300, 1900, 2100)]
    columns = call(pages, "columns", curves)
    assert columns == [[1, 2, 3], *band, *[nothing] * 3]
    # The axis holds the band and the own Elo.
    low, high = call(pages, "span", columns, [2800, None])
    assert low < 1900 < 2800 < high


@pytest.mark.parametrize(
    ("value", "text"), [(28.5, "29"), (29.5, "30"), (0.2, "1"), (99.9, "99")]
)
def test_half_a_percentile_is_rounded_up(pages: Pages, value: float, text: str) -> None:
    assert pages.run("client/figures.js", "percentText", value) == text


def test_a_figure_is_read_with_its_band(pages: Pages) -> None:
    assert (
        pages("constant", module="client/figures.js", name="EARLY_MOVES") == EARLY_MOVES
    )
    found = call(pages, "figureOf", point(40, 20, 2340))
    assert (found["value"], found["low"], found["high"]) == (2340, 1900, 2300)
    assert (found["counted"], found["percentile"]) == (20, 50)
    for counted, percentile in ((EARLY_MOVES - 1, None), (EARLY_MOVES, 50)):
        early = call(pages, "figureOf", point(30, counted, 2500))
        assert early["percentile"] == percentile
        assert call(pages, "isEarly", early) is (percentile is None)
    assert call(pages, "bandText", found) == "1900–2300"
    assert call(pages, "figureOf", point(1, 0, None)) is None
    # Without an own rating there is no band, and that is all.
    alone = point(40, 20, 2340, usual_low=None, usual_high=None, percentile=None)
    assert call(pages, "bandText", call(pages, "figureOf", alone)) == ""


@pytest.mark.parametrize(
    ("perceived", "said"),
    [
        (2341, "2341"),
        (MOST_SHOWN_ELO - 1, f"{MOST_SHOWN_ELO - 1}"),
        (MOST_SHOWN_ELO, f"{MOST_SHOWN_ELO}+"),
        (LEAST_SHOWN_ELO, f"≤{LEAST_SHOWN_ELO}"),
    ],
)
def test_an_end_of_what_is_shown_means_or_beyond(
    pages: Pages, perceived: int, said: str
) -> None:
    found = call(pages, "figureOf", point(40, 20, perceived))
    assert call(pages, "eloText", found) == said
    # Algorithm 4 has a scale of its own.
    assert call(pages, "eloText", {"value": perceived, "index": True}) == str(perceived)


@pytest.mark.parametrize(
    ("perceived", "counted", "sign"),
    [(2301, 20, "▲"), (2300, 20, ""), (1900, 20, ""), (1899, 20, "▼"), (2900, 9, "")],
)
def test_a_figure_outside_what_is_usual_has_the_terminals_sign(
    pages: Pages, perceived: int, counted: int, sign: str
) -> None:
    last = point(40, counted, perceived)
    compared = call(pages, "compareWithUsual", call(pages, "figureOf", last), 2100)
    assert (compared or {"distance": ""})["distance"][:1] == sign
    assert find_unusual_sign(last).strip() == sign


# --- rounds and teams -----------------------------------------------------------------


def ask(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("client/games.js", name, *map(plain, args))


def board(name: str, round: str, result: str = "*", date: str = "", **more: Any) -> Any:
    return plain(game(name, round=round, result=result, date=date, **more))


ROUNDS = [
    board("a", "2.1", "1-0", "2026.05.01"),
    board("b", "2.2", "0-1", "2026.04.30"),
    board("c", "10.1", "*", "2026.05.02"),
    board("d", "10.2", "1/2-1/2", "??"),
    board("e", "11.1", plies=()),
]


def test_rounds_are_listed_the_newest_first_with_date_and_state(pages: Pages) -> None:
    found = ask(pages, "roundsOf", ROUNDS)
    names = ("round", "date", "games", "running", "over")
    assert list(map(itemgetter(*names), found)) == [
        ("11", "", 1, 0, 0),
        ("10", "2026.05.02", 2, 1, 1),
        ("2", "2026.04.30", 2, 0, 2),
    ]
    assert [
        pages.run("page/round_picker.js", "roundWords", each) for each in found
    ] == [
        "Round 11 \u00b7 not begun",
        "Round 10 \u00b7 2 May 2026 \u00b7 live",
        "Round 2 \u00b7 30 Apr 2026 \u00b7 over",
    ]
    lost = ask(
        pages, "roundsOf", ROUNDS, [{"feed": ROUNDS[2]["feed"], "state": "retrying"}]
    )
    words = "Round 10 \u00b7 2 May 2026 \u00b7 not live"  # As its source.
    assert pages.run("page/round_picker.js", "roundWords", lost[1]) == words


def test_what_sources_write_as_one_round_is_one(pages: Pages) -> None:
    written = [
        f"7.{at}" if at < 20 else "7" if at % 2 else "Round 07" for at in range(1, 29)
    ]
    games = [board(f"g{at}", round) for at, round in enumerate(written, 1)]
    assert [each["round"] for each in ask(pages, "roundsOf", games)] == ["7"]
    assert len(ask(pages, "inRound", games, {"round": "7"})) == 28
    numbered = [{**each, "board": at} for at, each in enumerate(games, 1)]
    assert all(
        ask(pages, "gameOrder", *pair) < 0 for pair in itertools.pairwise(numbered)
    )
    views = [msgspec.convert(each, GameDetail) for each in numbered]
    turned = views[::-1]
    assert sorted(turned, key=game_order) == views


CLUB = [
    board("x", "1", "1-0", event="Club", date="2026"),
    board("y", "3", "1-0", event="Club", date="2026"),
]


@pytest.mark.parametrize(
    ("games", "place", "ids"),
    [
        (ROUNDS, {}, "cde"),  # those of round 11 have not begun
        (ROUNDS, {"round": "all"}, "abcde"),
        (ROUNDS, {"round": "2", "event": "Open"}, "ab"),
        (ROUNDS, {"round": "2", "event": "Other"}, ""),
        (ROUNDS, {"round": "7"}, ""),
        # Each event has its own newest round.
        ([*ROUNDS, *CLUB], {}, "cdey"),
    ],
)
def test_a_place_asks_for_a_round(
    pages: Pages, games: list[Any], place: dict[str, str], ids: str
) -> None:
    assert "".join(each["id"] for each in ask(pages, "inRound", games, place)) == ids
    if not place:  # As the terminal does, for which one that is over asks for notice.
        views = [msgspec.convert(each, GameDetail) for each in games]
        shown = [each["id"] for each in ask(pages, "inRound", games, place, ["b"])]
        assert (
            shown
            == [view.id for view in keep_newest_rounds(views, ["b"])]
            == ["b", *ids]
        )


TEAMS = st.sampled_from(["India", "Norway", "Peru", None])
#: The last is but the pairing.
EVENTS = st.sampled_from(["Open", "Women", "Round 1: A - B"])
RESULTS = st.sampled_from(["*", "1-0", "0-1", "1/2-1/2", "0-0", "1/2-0"])


@settings(max_examples=40, deadline=None)
@given(told=st.lists(st.tuples(EVENTS, TEAMS, TEAMS, RESULTS), max_size=12))
def test_every_game_of_two_teams_counts_in_their_match(
    pages: Pages, told: list[tuple[str, str | None, str | None, str]]
) -> None:
    games = [
        game(
            f"g{at}",
            event=event,
            round=f"{at % 2 + 1}.{at}",
            white=Player("A", team=white),
            black=Player("B", team=black),
            result=result,
        )
        for at, (event, white, black, result) in enumerate(told)
    ]
    found = ask(pages, "teamMatches", games)
    matches: dict[tuple[str, str, str, str], list[float]] = {}
    for each in games:
        white, black = each.white.team, each.black.team
        if white and black and white != black:
            teams = sorted((white, black))
            key = find_event_name(each), normalise_round(each.round), teams[0], teams[1]
            first, second, running = matches.setdefault(key, [0.0, 0.0, 0])
            won = RESULT_POINTS.get(each.result)
            ours, theirs = (won or (0.0, 0.0))[:: 1 if white == teams[0] else -1]
            matches[key] = [first + ours, second + theirs, running + (won is None)]
    assert sorted(
        (each["event"], each["round"], *each["teams"], *each["points"], each["running"])
        for each in found
    ) == sorted((*key, *counted) for key, counted in matches.items())
    for points in (0, 0.5, 1, 3.5, 11):
        assert ask(pages, "pointsText", points) == write_points(points)


# --- clocks ---------------------------------------------------------------------------

LIVE = [{"feed": "hall", "state": "live"}, {"feed": "other", "state": "failed"}]
SILENT = [{"feed": "hall", "state": "stale"}]
PLAYED = plain(game(plies=(ply(1), ply(2)), feed="hall"))


def elapsed(pages: Pages, *calls: list[Any]) -> float:
    """What the last of these calls answers."""
    made = {"module": "client/games.js", "name": "Ticking", "args": []}
    found: list[float] = pages("object", **made, calls=list(calls))
    return found[-1]


def test_a_clock_runs_from_when_the_last_move_was_seen(pages: Pages) -> None:
    seen = [["noteFeeds", LIVE, 0], ["note", PLAYED, 1_000]]
    assert elapsed(pages, *seen, ["elapsedS", PLAYED, 3_500]) == 2.5
    # A score, or a snapshot after the connection broke, is no move; a takeback is.
    another = msgspec.structs.replace(ply(2), uci="a2b3")
    for plies, seconds in (
        ((ply(1), ply(2, 35)), 5),
        ((ply(1), ply(2), ply(3)), 1),
        ((ply(1),), 1),
        ((ply(1), another), 1),
    ):
        changed = plain(game(plies=plies, feed="hall"))
        calls = [*seen, ["note", changed, 5_000], ["elapsedS", changed, 6_000]]
        assert elapsed(pages, *calls) == seconds
    # Nothing runs where nothing is known.
    stopped: list[dict[str, Any]] = [
        {"result": "1-0"},
        {"problem": "illegal move 2.Qh9"},
    ]
    stopped.append({"termination": "Adjourned"})
    for more in (*stopped, {"restored": True}, {"plies": []}, {"id": "never seen"}):
        assert elapsed(pages, *seen, ["elapsedS", {**PLAYED, **more}, 60_000]) == 0


def test_it_stands_while_the_source_or_the_service_is_silent(pages: Pages) -> None:
    seen = [["noteFeeds", LIVE, 0], ["note", PLAYED, 0], ["noteFeeds", SILENT, 4_000]]
    # It stays where it was, also when the source is told to be silent once more.
    again = [*seen, ["noteFeeds", SILENT, 7_000]]
    assert elapsed(pages, *again, ["elapsedS", PLAYED, 60_000]) == 4
    assert (
        elapsed(pages, *again, ["noteFeeds", LIVE, 9_000], ["elapsedS", PLAYED, 10_000])
        == 10
    )
    assert elapsed(pages, *seen[:2], ["elapsedS", PLAYED, 60_000, 3_000]) == 3


def test_only_the_clock_of_the_side_to_move_runs(pages: Pages) -> None:
    held = plain(game(plies=(ply(1, clock_s=65.0), ply(2, clock_s=300.0))))

    def read_clock(color: str, elapsed_s: float = 7.5, **more: Any) -> Any:
        args = [{**held, **more}, color, elapsed_s]
        return pages.run("overlay/shown_figures.js", "clockOf", *args)["text"]

    assert (read_clock("white"), read_clock("black"), read_clock("white", 66.0)) == (
        "0:57",
        "5:00",
        "0:00",
    )
    assert read_clock("white", result="1-0") == "1:05"


# --- names ----------------------------------------------------------------------------


def forms(pages: Pages, name: str, *others: str) -> list[str]:
    found: list[str] = pages.run(
        "drawing/player_names.js", "nameForms", name, list(others)
    )
    return found


def test_the_service_has_the_same_rule(pages: Pages) -> None:
    names = [
        "Ivanov, Sergey",
        "Ivanov, Stanislav",
        "Stanislav Ivanov",
        "侯逸凡 (Hou, Yifan)",
        "侯逸凡",
        "Magnus Carlsen (NOR)",
        "Carlsen, Magnus",
        "Карпов Анатолий Евгеньевич",
        "Карпов, Иван",
        "محمد عبد الرحمن السيد",
        "السيد, علي",
        # Thaana is written from right to left, too.
        "O'Neil, \u0790\u07a6\u078d\u07a7",
        "O'Neil, Ann",
        "Jorden van Foreest",
        "van Foreest, Lucas",
        "John Smith Jr.",
        "Smith Jr., Adam",
        "Gukesh D",
        "Gukesh E.",
        "(Hou, Yifan)",
        "()",
        "",
        # Two of one family, of one initial, and of one name.
        "Muzychuk, Anna",
        "Muzychuk, Mariya",
        "Anna Muzychuk",
        "Fiorito, Fabian",
        "Fiorito, Federico",
        "Li, Wei",
        "Li, Wei",
    ]
    for name in names:
        assert forms(pages, name, *names)[-1] == short_name(name, names)
        assert forms(pages, name)[-1] == family_name(name)
        assert pages.run(
            "drawing/player_names.js", "isolated", name
        ) == isolate_direction(name)


AREA = {"left": 0, "right": 400, "top": 0, "bottom": 300, "height": 12, "gap": 2}


def test_names_at_curves_lie_neither_on_another_nor_on_a_curve(pages: Pages) -> None:
    def places(
        names: list[dict[str, Any]], *lines: list[list[int]], boxes: Any = ()
    ) -> Any:
        args = [names, lines, AREA, boxes]
        return pages.run("drawing/curves.js", "namePlaces", *args)

    names = [{"x": x, "y": 150, "width": 60, "up": True} for x in (100, 110, 120)]
    found = places(names, [[0, 150], [400, 150]], [[0, 120], [400, 120]])
    assert None not in found
    ys = sorted(y for _, y in found)
    assert all(low + 12 <= high for low, high in itertools.pairwise(ys))
    assert all(abs(y - 120) >= 6 and abs(y - 150) >= 6 for y in ys)
    # A name stays within the chart or is left out.
    corner = {"x": 398, "y": 4, "width": 60, "up": True}
    [[x, y]] = places([corner])
    assert x + 30 <= 400
    assert y - 6 >= 0
    assert places([corner], *[[[0, y], [400, y]] for y in range(0, 300, 8)]) == [None]
    # The name of the largest change has the best place.
    slip = {"x": 100, "y": 150, "width": 60, "up": False, "change": 10}
    blunder = {**slip, "x": 110, "change": 90}
    found = places([slip, blunder])
    assert found[1:] == places([blunder])
    assert found[0] != places([slip])[0]
    # What is written already, such as the band's name, is not covered.
    [[_, free]] = places([slip])
    box = {"left": 0, "right": 400, "top": free - 6, "bottom": free + 6}
    [[_, y]] = places([slip], boxes=[box])
    assert abs(y - free) >= 12
    # Falling moves are named in their order.
    falling = [
        {"x": x, "y": y, "width": 60, "up": False} for x, y in ((300, 100), (330, 140))
    ]
    (_, upper), (_, lower) = places(falling, [[270, 60], [300, 100], [330, 140]])
    assert upper < lower
