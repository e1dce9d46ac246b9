"""The exported PGN, read back by python-chess.

Live results stand in a corpus as they stood in the event.

The picture of a board: what is drawn, and that resvg makes a PNG of it.

What a chat reads of a board's link.
"""

import io
import re
from html import unescape
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import chess
import chess.pgn
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from live.games.game import NewGame
from live.messages.figures import Curves, GameDetail, PlyView
from live.messages.from_sources import Player
from live.messages.moments import Moment
from live.server import png
from live.server.analysis import build_analysis, write_study_lines
from live.server.board_picture import _COLORS, draw_board
from live.server.drawing import HEIGHT, QUIET, WIDTH
from live.server.made_files import ExportFailed
from live.server.pgn_writer import format_clock, format_eval, write_game
from live.server.png import render_png
from live.server.share_page import render_share_page
from live.studies.add_games import add_file
from live.studies.corpus_database import CorpusDatabase
from live.studies.move_files import update_move_files
from live.studies.searched_games import SearchSetting
from tests.event.arithmetic import game as game_of
from tests.event.test_event import MOVES, Run, ledger
from tests.screens.terminal.stage import round_in_the_middle
from tests.screens.web.games import game as detail_of
from tests.watch.games import moment

BLACK_TO_MOVE = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 7"
CHESS960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"


def game(fen: str = chess.STARTING_FEN, variant: str = "standard") -> GameDetail:
    about = {
        "eco": "B31",
        "opening": "Sicilian Defense: Nyezhmetdinov-Rossolimo Attack",
    }
    return detail_of(
        start_fen=fen,
        variant=variant,
        round="3",
        board=4,
        white=Player("A", 2500, "GM", 12, "NOR", "Team"),
        black=Player("B"),
        result="1-0",
        start_score_cp=None,
        plies=(),
        curves=Curves(),
        **about,
    )


def read(text: str) -> chess.pgn.Game:
    stream = io.StringIO(text)
    found = chess.pgn.read_game(stream)
    assert found is not None
    assert not found.errors
    assert chess.pgn.read_game(stream) is None
    return found


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32),
    plies=st.integers(0, 120),
    start=st.sampled_from([chess.STARTING_FEN, BLACK_TO_MOVE, CHESS960]),
    name=st.text(max_size=30),
)
def test_moves_scores_clocks_and_names_come_back(
    seed: int, plies: int, start: str, name: str
) -> None:
    random = Random(seed)
    chess960 = start == CHESS960
    board = chess.Board(start, chess960=chess960)
    views: list[PlyView] = []
    for number in range(1, plies + 1):
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        if not moves:
            break
        move = random.choice(moves)
        san = board.san(move)
        board.push(move)
        scored = random.random() < 0.7
        mate = random.choice([None, None, 3, -2]) if scored else None
        cp = (
            random.randint(-3900, 3900)
            if mate is None
            else 3900 * (1 if mate > 0 else -1)
        )
        final = random.random() < 0.9
        clock_s = random.choice([None, 0.0, 5.3, 7199.0, 36000.0])
        views.append(
            PlyView(
                number,
                san,
                move.uci(),
                clock_s,
                None,
                cp if scored else None,
                mate,
                final=final,
            )
        )
    told = replace(
        game(start, "chess960" if chess960 else "standard"),
        plies=tuple(views),
        start_score_cp=(start_cp := random.choice([None, -7])),
        white=Player(name),
    )
    text = write_game(told)
    assert max(map(len, text.split("\n"))) <= 79 or '"' in text
    found = read(text)
    assert found.board().chess960 == chess960
    first = found.eval()
    assert (first and first.white().score()) == start_cp
    nodes = list(found.mainline())
    assert [node.move.uci() for node in nodes] == [view.uci for view in views]
    assert found.board().fen() == chess.Board(start, chess960=chess960).fen()
    for node, view in zip(nodes, views, strict=True):
        assert node.clock() == view.clock_s
        score = node.eval()
        if view.score_cp is None or not view.final:
            assert score is None
        else:
            assert score is not None
            assert score.white().mate() == view.mate
            if view.mate is None:
                assert score.white().score() == view.score_cp
    printable = "".join(char if char.isprintable() else " " for char in name)
    # python-chess leaves a tag's backslashes where they are (PGN standard, section 7).
    told_name = re.sub(r'\\(["\\])', r"\1", found.headers["White"])
    assert told_name == (printable or "?")
    assert found.headers["Result"] == "1-0"


@pytest.mark.parametrize(
    "name",
    [
        'Quote " and \\',
        'End"]\n[Evil "1',
        "} {",
        "\x1b[31mred",
        "<script>",
        "%",
        ";",
        "ü – 漢",
    ],
)
def test_a_hostile_name_stays_a_name(name: str) -> None:
    text = write_game(replace(game(), white=Player(name), event=name))
    found = read(text)
    assert "Evil" not in found.headers
    assert "\x1b" not in text
    assert found.headers["White"] == found.headers["Event"]
    assert list(found.mainline()) == []


def test_all_that_is_known_of_the_players_is_told() -> None:
    headers = read(write_game(game())).headers
    told = {
        "WhiteElo": "2500",
        "WhiteTitle": "GM",
        "WhiteFideId": "12",
        "WhiteTeam": "Team",
        "ECO": "B31",
        "Opening": game().opening,
        "Round": "3.4",
    }
    assert {name: headers[name] for name in told} == told
    assert headers.keys().isdisjoint({"BlackElo", "Termination"})
    address = "https://e.example/1"
    headers = read(
        write_game(replace(game(), site="", url=address, date="2026.11.27"))
    ).headers
    assert (headers["Site"], headers["Date"]) == (address, "2026.11.27")
    assert read(write_game(replace(game(), date=None))).headers["Date"] == "????.??.??"


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (format_clock(0), "[%clk 0:00:00]"),
        (format_clock(59.94), "[%clk 0:00:59.9]"),
        (format_clock(59.96), "[%clk 0:01:00]"),
        (format_clock(3600), "[%clk 1:00:00]"),
        (format_clock(-3), "[%clk 0:00:00]"),
        (format_clock(100_000), "[%clk 27:46:40]"),
        (format_eval(-5, None), "[%eval -0.05]"),
        (format_eval(3900, 2), "[%eval #2]"),
        (format_eval(-3900, 0), "[%eval #-0]"),
        (format_eval(3900, 0), "[%eval #0]"),
    ],
)
def test_clocks_and_scores(written: str, told: str) -> None:
    assert written == told


def test_results_the_standard_does_not_know_become_an_unfinished_game() -> None:
    unknown = replace(game(), result="0-0", termination="adjourned")
    headers = read(write_game(unknown)).headers
    assert (headers["Result"], headers["Termination"]) == ("*", "adjourned")


def test_the_number_is_repeated_after_a_comment() -> None:
    """PGN standard, section 8.2.2.2."""
    plies = (
        PlyView(1, "e4", "e2e4", clock_s=60.0),
        PlyView(2, "e5", "e7e5"),
        PlyView(3, "Nf3", "g1f3"),
        PlyView(4, "Nc6", "b8c6"),
    )
    text = write_game(replace(game(), plies=plies))
    assert text.rstrip().endswith("1. e4 { [%clk 0:01:00] } 1... e5 2. Nf3 Nc6 1-0")


def test_what_was_searched_live_is_the_same_in_a_study(tmp_path: Path) -> None:
    run = Run(ledger())
    # A board that was given no name yet: its game counts, for nobody.
    played = game_of(moves=MOVES, white=Player(name=""))
    run.step(NewGame(replace(played, result="1-0")))
    run.reply_all()
    run.step(NewGame(game_of("g2", MOVES[:4])))  # not searched: it stays out
    whole = build_analysis(run.ledger)
    (tmp_path / "event.ndjson").write_text(write_study_lines(whole), encoding="utf-8")
    with CorpusDatabase(tmp_path / "c.db", create=True) as database:
        added = add_file(
            database, str(tmp_path / "event.ndjson"), SearchSetting("?", "?")
        )
        assert (added.new, added.evaluated, added.damaged) == (1, 1, 0)
        assert database.read_settings() == {1: SearchSetting("Arithmetic", "1 look")}
        frame = polars.concat(map(polars.read_parquet, update_move_files(database, 1)))
    curves = (
        whole.games[0].curves if whole.games[0].id == "g1" else whole.games[1].curves
    )
    for color, points in (("white", curves.white), ("black", curves.black)):
        named = (
            frame.filter(polars.col("colour") == color)["player"].is_not_null().all()
        )
        assert named == (color == "black")
        told = frame.filter(polars.col("colour") == color)["gain_cp"].to_list()
        assert told == [point.gain_cp for point in points]


@pytest.fixture
def running() -> GameDetail:
    return round_in_the_middle().snapshot().games[0]


def texts(svg: str) -> list[str]:
    return [
        each.text or ""
        for each in ElementTree.fromstring(svg).iter()
        if "text" in each.tag
    ]


def test_it_shows_the_position_and_both_figures(running: GameDetail) -> None:
    found = texts(draw_board(running))
    for player in (running.white, running.black):
        assert any(player.name[:20] in each for each in found)
    for points in (running.curves.white, running.curves.black):
        assert f"playing like {points[-1].perceived:.0f}" in found
    assert any(each.startswith("usual for 2448: ") for each in found)
    assert sum("of games by players of" in each for each in found) == 2
    svg = draw_board(running)
    # No line of words lies on another; each own Elo is a dashed line beside the curves.
    lines = [
        each.attrib for each in ElementTree.fromstring(svg).iter() if "text" in each.tag
    ]
    heights = sorted((int(each["y"]), int(each["font-size"])) for each in lines)
    assert all(y - size >= above for (above, _), (y, size) in pairwise(heights))
    drawn = [
        each for each in ElementTree.fromstring(svg).iter() if "polyline" in each.tag
    ]
    assert (len(drawn), svg.count("stroke-dasharray")) == (2, 2)
    for line, points in zip(
        drawn, (running.curves.white, running.curves.black), strict=True
    ):
        places = [
            tuple(map(float, each.split(","))) for each in line.attrib["points"].split()
        ]
        assert [x for x, _ in places] == sorted({x for x, _ in places})
        assert all(630 <= x <= 1170 and 270 < y < 380 for x, y in places)
        drawn_points = [each for each in points if each.perceived is not None]
        highest = max(drawn_points, key=lambda each: each.perceived or 0)
        assert min(places, key=itemgetter(1)) == places[drawn_points.index(highest)]
    assert svg.count("<use") == len(running.plies and svg.split("<use")) - 1 > 10


def test_a_figure_that_does_not_rest_on_all_moves_says_so(running: GameDetail) -> None:
    before = running.curves.white[:-2]
    found = texts(
        draw_board(replace(running, curves=replace(running.curves, white=before)))
    )
    assert f"playing like {before[-1].perceived:.0f}…" in found
    assert sum(each.endswith("…") for each in found) == 1


def test_only_the_whole_figure_of_a_finished_game_is_in_the_past(
    running: GameDetail,
) -> None:
    over = replace(running, result="1-0")
    half = replace(
        over, curves=replace(running.curves, white=running.curves.white[:-2])
    )
    bare = replace(over, curves=replace(running.curves, white=()))
    for shown, played, playing in ((over, 2, 0), (half, 1, 1), (bare, 1, 0)):
        found = texts(draw_board(shown))
        assert sum(each.startswith("played like ") for each in found) == played
        assert sum(each.startswith("playing like ") for each in found) == playing


def test_without_figures_nothing_is_made_up(running: GameDetail) -> None:
    found = texts(draw_board(replace(running, curves=Curves(), plies=())))
    assert found.count("too few moves yet") == 2
    # Notes about models are for those who run the service, not for chats.
    unread = replace(running.curves.white[-1], perceived=None, reason="no-model")
    both = replace(running, curves=Curves((unread,), (unread,)), note="transferred")
    found = texts(draw_board(both))
    assert found.count("no rating for this engine's scores") == 2
    assert "transferred" not in found


def test_an_early_figure_is_small_and_grey_and_has_no_percentile(
    running: GameDetail,
) -> None:
    (*_, last) = running.curves.white

    def figure(counted: int, percentile: float | None) -> tuple[str, list[str]]:
        curves = Curves(white=(replace(last, counted=counted, percentile=percentile),))
        svg = draw_board(replace(running, curves=curves))
        lines = svg.replace("><", ">\n<").split("\n")
        return next(line for line in lines if "playing like" in line), texts(svg)

    whole, said = figure(10, 60.0)
    assert _COLORS["white"] in whole and any("better than" in each for each in said)
    early, said = figure(9, None)
    assert QUIET in early and "early: 9 moves" in said
    assert not any("better than" in each for each in said)


def test_what_feeds_say_stays_text(running: GameDetail) -> None:
    odd = Player('<b>&"\x1b[31m\ud800' + "x" * 100)
    found = texts(draw_board(replace(running, white=odd, event="]]>" + "y" * 200)))
    assert any(each.startswith("<b>&") and each.endswith("…  ") for each in found)
    # lichess names each game of a broadcast as an event.
    pairing = f"Round 2: {running.white.name} - {running.black.name}"
    found = texts(draw_board(replace(running, event=pairing, round="2.4", board=4)))
    assert "Round 2 · board 4" in found


async def test_resvg_makes_a_png_of_it_and_writes_nothing_on_the_screen(
    running: GameDetail, capfd: pytest.CaptureFixture[str]
) -> None:
    body = await render_png(draw_board(running))
    assert body[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(body[at : at + 4], "big") for at in (16, 20)] == [
        WIDTH,
        HEIGHT,
    ]
    with pytest.raises(ExportFailed, match="could not be made"):
        await render_png("no svg")
    assert capfd.readouterr().err == ""


async def test_a_picture_that_takes_too_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(png, "PICTURE_S", 0.0)
    with pytest.raises(ExportFailed, match="not made in time"):
        await render_png("<svg/>")


GAME: GameDetail = round_in_the_middle().snapshot().games[0]


def tags(
    game: str, of: GameDetail | None, *moments: Moment, picture: bool
) -> dict[str, str]:
    """What a chat reads of the page of this link."""
    page = render_share_page(
        game, of, "https://host/", moments, picture=picture
    ).decode()
    found = re.findall(
        r'<meta (?:property|http-equiv)="([^"]*)" content="([^"]*)">', page
    )
    return {name: unescape(text) for name, text in found}


def test_it_names_the_players_the_picture_and_the_way() -> None:
    game = replace(GAME, id="a/b c", white=Player('A "<x>'), black=Player("B"))
    found = tags(game.id, game, picture=True)
    assert found["og:title"] == 'A "<x> – B'
    assert found["og:image"] == "https://host/api/v3/games/a%2Fb%20c.png"
    assert found["twitter:card"] == "summary_large_image"
    assert found["refresh"] == "0; url=./#game=a%2Fb+c"


def test_a_link_tells_result_figures_what_happened_and_where() -> None:
    white, black = (
        points[-1].perceived for points in (GAME.curves.white, GAME.curves.black)
    )
    over = replace(GAME, event="Open", round="9.3", board=3, result="1/2-1/2")
    small, great = moment(weight=0.3), moment(weight=0.9, kind="comeback")
    told = replace(great, text=replace(great.text, en="Pap came back."))
    found = tags(over.id, over, small, told, picture=True)["og:description"]
    assert (
        found == f"½–½ · {white} : {black} · Pap came back. · Open · Round 9 · board 3"
    )
    # While it runs there is no result, and where scores are hidden there are no
    # figures.
    bare = replace(over, result="*", curves=Curves())
    assert (
        tags(over.id, bare, picture=False)["og:description"]
        == "Open · Round 9 · board 3"
    )
    # An event that is only the pairing says nothing twice.
    pairing = f"Round 9: {over.white.name} - {over.black.name}"
    named = replace(bare, event=pairing)
    assert tags(over.id, named, picture=False)["og:description"] == "Round 9 · board 3"


def test_a_win_with_the_lower_figure_is_explained_by_link_and_picture() -> None:
    over = replace(
        GAME, result="1-0", white=Player("Adams, Ann"), black=Player("Berg, Bo")
    )
    last = [
        replace(points[-1], counted=20)
        for points in (GAME.curves.white, GAME.curves.black)
    ]
    ends = zip(last, over.plies[-2:], (1900, 2100), strict=True)
    # Whole games alone are told of: both figures rest on their last moves.
    white, black = (
        replace(each, ply=ply.ply, perceived=elo) for each, ply, elo in ends
    )
    plies = tuple(replace(each, final=True, score_cp=0) for each in over.plies)
    if len(plies) % 2:
        white, black = replace(black, perceived=1900), replace(white, perceived=2100)
    over = replace(over, plies=plies, curves=Curves(white=(white,), black=(black,)))
    said = " ".join(texts(draw_board(over)))
    assert "Adams wins, playing like 1900; Berg played like 2100." in said
    assert "playing like 1900" not in " ".join(
        texts(draw_board(replace(over, result="0-1")))
    )
    small, great = moment(weight=0.5, kind="despite"), moment(weight=0.9, kind="turn")
    small = replace(small, text=replace(small.text, en="Adams wins all the same."))
    found = tags(over.id, over, small, great, picture=False)["og:description"]
    assert found.startswith("1–0 · 1900 : 2100 · Adams wins all the same.")


def test_the_picture_has_the_result_or_the_score(running: GameDetail) -> None:
    def state(game: GameDetail) -> str:
        return next(
            each for each in texts(draw_board(game)) if running.plies[-1].san in each
        )

    *before, last = running.plies
    scored = replace(last, score_cp=-120, mate=None, final=True)
    assert state(replace(running, plies=(*before, scored))).startswith("−1.20 · ")
    mated = replace(scored, mate=-3)
    assert state(replace(running, plies=(*before, mated))).startswith("#-3 · ")
    assert state(replace(running, result="0-1")).startswith("0–1 · ")


def test_without_a_picture_there_is_no_image_and_without_a_game_no_name() -> None:
    assert "og:image" not in tags(GAME.id, GAME, picture=False)
    found = tags("", None, picture=True)
    assert (found["og:title"], found["refresh"]) == ("live-rate", "0; url=./")
    assert "og:image" not in found
    # It leads to a board that it may not name.
    found = tags('"><script>', None, picture=True)
    assert found["refresh"] == "0; url=./#game=%22%3E%3Cscript%3E"
    assert found["og:title"] == "live-rate"
