"""Printed numbers of the papers, compared with figures from searched games."""

import asyncio
import csv
import itertools
import json
import os
import random
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import msgspec
import polars
import pytest

from live.commands.read_settings import read_settings
from live.errors import InputError
from live.ratings.perceived_rating import LEAST_ELO, MOST_ELO
from live.settings import Config
from live.studies.corpus_database import CorpusDatabase
from live.studies.papers import alliot_text_measures
from live.studies.papers.comparison import (
    ComparedRow,
    Comparison,
    Measured,
    compare,
    compare_orders,
    count_same_winners,
    count_same_winners_by_match,
)
from live.studies.papers.corpus_games import CorpusGames, ListedGame
from live.studies.papers.ferreira_measures import solve_with_intervals
from live.studies.papers.limits import (
    choose_highest_limits,
    compare_gains,
    compare_with_next_limit,
    list_limits,
)
from live.studies.papers.measures import MEASURES, Evidence, draw_in_turn
from live.studies.papers.page import (
    BEGIN,
    END,
    build_csv,
    build_markdown,
    insert_tables,
)
from live.studies.papers.picture import render_picture
from live.studies.papers.printed import (
    PrintedPaper,
    PrintedRow,
    PrintedTable,
    read_papers,
)
from live.studies.reproduce import add_games, choose_tables, compare_all, reproduce
from live.studies.searched_games import PositionSearch, SearchSetting
from tests.studies.recompute_papers import main as recompute
from tests.studies.small_corpus import LINES, corpus_of, corpus_with
from tests.studies.write_pieces import write_pieces

LONDON = (
    "Kramnik,V",
    "Carlsen,M",
    "Nakamura,Hi",
    "McShane,L",
    "Anand,V",
    "Aronian,L",
    "Short,N",
    "Howell,D",
    "Adams,Mi",
)
TAL = (
    "Anand, V",
    "Aronian, L",
    "Carlsen, M",
    "Kramnik, V",
    "Nakamura, H",
    "Gelfand, B",
)

RESULTS = ("1-0", "0-1", "1/2-1/2")


def all_play_all(
    players: tuple[str, ...], event: str, year: int
) -> list[dict[str, Any]]:
    """Return the players, event, date and ratings of the games of an all-play-all
    event.
    """
    return [
        {"white": one, "black": other, "event": event, "result": "1-0"}
        | {
            "date": f"{year}.12.{at % 28 + 1:02}",
            "white_elo": 2700 + at,
            "black_elo": 2800 - at,
        }
        for at, (one, other) in enumerate(itertools.combinations(players, 2))
    ]


@pytest.fixture(scope="module")
def london(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a corpus of searched games that are labelled as played in London and
    Moscow.
    """
    games = all_play_all(LONDON, "3rd London Classic", 2011)
    games += 3 * all_play_all(TAL, "6th Tal Memorial", 2011)
    for at, game in enumerate(games):
        game["date"] = f"2011.{at // 28 + 1:02}.{at % 28 + 1:02}"
    return corpus_with(tmp_path_factory.mktemp("papers") / "c.db", games)


def compared(corpus: Path, *names: str) -> list[Comparison]:
    with CorpusDatabase(corpus) as database:
        return [*compare_all(choose_tables(names), database)]


def test_every_printed_table_can_be_made_and_names_what_there_is() -> None:
    tables = []
    for paper in read_papers():
        tables += [(paper, table) for table in paper.tables]
    names = [table.name for _, table in tables]
    assert len(names) == len(set(names)) > 50
    for paper, table in tables:
        assert table.measure in MEASURES
        occasions = {table.at, table.than, table.reference} - {""}
        assert occasions <= paper.occasions.keys()
        assert len({row.key for row in table.rows}) == len(table.rows) > 0


def test_the_papers_own_arithmetic() -> None:
    """The figures that follow from printed numbers alone agree with the paper, except
    two.
    """
    [papers] = [
        {each.table.name: each for each in compared_without_games()},
    ]
    assert papers["ferreira-figure-1"].rows_exact == 12
    for name, most in (
        ("ferreira-table-1-solved", 1),
        ("ferreira-table-3-solved", 2.5),
    ):
        assert all(abs(row.difference or 0) < most for row in papers[name].rows)
    # The matches of Table 3 form a tree, so every printed difference can be satisfied
    # exactly.
    ours = {
        row.printed.one: row.ours.value
        for row in papers["ferreira-table-3-solved"].rows
        if row.ours
    }
    assert round(ours["Gelfand"] - ours["Grischuk"], 6) == 12
    errors = papers["alliot-table-5-text"]
    [odd] = [row for row in errors.rows if abs(row.difference or 0) > 0.006]
    assert odd.printed.key == ("MS", "11 rated", "") and odd.ours is not None
    assert round(odd.ours.value, 3) == 0.028
    stationary = papers["alliot-tables-2-3-text"].rows[-1]
    assert stationary.ours is not None and round(stationary.ours.value, 2) == 0.56
    wiki = papers["match-statistics"]
    assert wiki.rows_done == len(wiki.rows) == 11
    elos = [row for row in wiki.rows if row.printed.other == "Elo difference"]
    assert [abs(row.difference or 0) < 5e-5 for row in elos] == [True] * 3
    assert papers["regan-line"].rows_exact == len(papers["regan-line"].rows) == 13


def compared_without_games() -> list[Comparison]:
    with CorpusDatabase(Path(":memory:"), create=True) as database:
        return [*compare_all(choose_tables([]), database)]


def test_two_tables_are_the_same_by_a_second_way(
    london: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script without imports from ``live`` recomputes both tables from the scores."""
    written = tmp_path / "papers.csv"
    text = build_csv(compared(london, "ferreira-table-1", "ferreira-table-4"))
    written.write_text(text)
    assert recompute(str(london), str(written)) == 0
    told = "200 figures of Tables 1 and 4 recomputed, {} differ\n"
    assert capsys.readouterr().out == told.format(0)
    # The script reports a figure that is wrong by one in ten thousand.
    rows = list(csv.DictReader(text.splitlines()))
    wrong = next(row for row in rows if row["table"] == "ferreira-table-4-score")
    wrong["ours"] = str(float(wrong["ours"]) * 1.0001)
    with written.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert recompute(str(london), str(written)) == 1
    assert capsys.readouterr().out == told.format(1)


def test_another_event_comes_as_a_file_of_the_same_form(london: Path) -> None:
    """The table needs all 45 games of the Tal Memorial: fewer would not represent the
    event.
    """
    [table] = compared(london, "ferreira-table-2")[:1]
    assert table.table.than == "tal-2011"
    assert {each.rows_done for each in compared(london, "ferreira-table-2")} == {25}
    with CorpusDatabase(london) as database:
        games = CorpusGames(database)
        paper = read_papers()[1]
        tal = games.list_games_of_occasion(paper.occasions["tal-2011"])
        assert len(tal) == 45
        assert len(games.list_games_of_occasion(paper.occasions["london-2011"])) == 36
        database.execute(
            "DELETE FROM games WHERE game IN (SELECT game FROM games JOIN events USING"
            " (event) WHERE name LIKE '%Tal%' LIMIT 20)"
        )
        found = [*compare_all(choose_tables(["ferreira-table-2"]), database)]
        assert {each.missing for each in found} == {
            "25 of 45 games of Tal Memorial 2011 are in the corpus"
        }
        database.execute("ROLLBACK")


CANDIDATES_1971 = (
    ("Fischer, Robert James", "Taimanov, Mark E", "Vancouver Candidates qf", 6),
    ("Larsen, Bent", "Uhlmann, Wolfgang", "Las Palmas Candidates qf", 9),
    ("Petrosian, Tigran V", "Huebner, Robert", "Sevilla Candidates qf", 7),
    ("Korchnoi, Viktor", "Geller, Efim P", "Moscow Candidates qf", 8),
    ("Portisch, Lajos", "Smyslov, Vassily", "Portoroz playoff", 6),
    ("Fischer, Robert James", "Larsen, Bent", "Denver Candidates sf", 6),
    ("Petrosian, Tigran V", "Korchnoi, Viktor", "Moscow Candidates sf", 10),
    (
        "Fischer, Robert James",
        "Petrosian, Tigran V",
        "Buenos Aires Candidates final",
        9,
    ),
)


def pgn_of_matches(matches: Iterable[tuple[str, str, str, int]], year: int) -> str:
    """Return a PGN text of these matches, labelled as in game collections. The moves
    are random.
    """
    lot = random.Random(year)
    written = []
    for white, black, event, games in matches:
        for number in range(1, games + 1):
            game = chess.pgn.Game()
            game.headers["Event"] = event
            game.headers["Date"] = f"{year}.05.{number:02}"
            game.headers["Round"] = str(number)
            game.headers["White"] = white if number % 2 else black
            game.headers["Black"] = black if number % 2 else white
            game.headers["Result"] = RESULTS[number % 3]
            board = chess.Board()
            for _ in range(8):
                board.push(lot.choice([*board.legal_moves]))
            game.add_line(board.move_stack)
            written.append(str(game))
    return "\n\n".join(written) + "\n"


def test_candidates_1971_come_as_a_file(
    tmp_path: Path,
    require_program: Callable[[str], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The file alone is enough for the figures. The error about a file of other games
    names the games that are missing.
    """
    settings = config(require_program("stockfish"))
    file = tmp_path / "candidates-1971.pgn"
    file.write_text(pgn_of_matches(CANDIDATES_1971, 1971))
    names = ["ferreira-table-5-difference", "ferreira-table-5-score"]

    def run(corpus: str, file: Path, names: list[str]) -> int:
        return asyncio.run(
            reproduce(
                settings,
                tmp_path / corpus,
                names,
                files=[str(file)],
                is_searching=True,
                most_games=None,
                setting=None,
                out=tmp_path / "out",
                page=None,
            )
        )

    assert run("a.db", file, names) == 0
    done = {each.table.name: each for each in compared(tmp_path / "a.db", *names)}
    scores = done["ferreira-table-5-score"]
    assert (scores.games, scores.wanted, scores.rows_done) == (61, 61, 10)
    assert (tmp_path / "out" / "papers.csv").exists()
    # Adding the same file again is no error.
    assert run("a.db", file, names) == 0
    capsys.readouterr()
    with pytest.raises(InputError) as caught:
        run("b.db", file, ["ferreira-table-2"])
    text = str(caught.value)
    assert text.startswith(
        f"{file}: has no game of London Chess Classic 2011, Tal Memorial 2011"
    )
    assert "Fischer, Robert James - Taimanov, Mark E" in text or "1971" in text
    # These games have the right event name but the wrong year.
    file.write_text(pgn_of_matches(CANDIDATES_1971, 1972))
    with pytest.raises(
        InputError,
        match=r"has no game of Candidates 1971; one of its games is .*, 1972",
    ):
        run("c.db", file, names)


@pytest.mark.parametrize("content", ["", "hello", '{"white": '])
def test_a_file_without_a_game_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(content)
    with pytest.raises(InputError, match=r"games\.pgn: has no game to read"):
        add_games(tmp_path / "c.db", str(file), choose_tables(["ferreira-table-2"]))


def test_strengths_keep_the_mean_and_have_intervals(london: Path) -> None:
    for each in compared(london, "ferreira-table-1"):
        if each.table.name != "ferreira-table-1":
            continue
        values = [row.ours for row in each.rows if row.ours is not None]
        assert len(values) == 9 and each.rows_with_interval == 9
        assert 2740 < sum(value.value for value in values) / 9 < 2760
        assert each.games == each.wanted == 36


def test_the_engine_has_the_interval_of_what_the_players_say(london: Path) -> None:
    for each in compared(london, "ferreira-table-4-by-elo"):
        *players, average = [row.ours.value for row in each.rows if row.ours]
        assert len(players) == 9 and average == pytest.approx(sum(players) / 9)
        [mean] = [row.ours for row in each.rows if row.printed.one == "average"]
        assert mean is not None and mean.low is not None and mean.high is not None
        assert min(players) < mean.low < average < mean.high < max(players)


def test_the_picture_is_the_same_every_time(london: Path) -> None:
    """The picture shows the tables that have figures. Without such a table there is no
    picture.
    """
    found = compared(
        london, "ferreira-table-1", "ferreira-table-4-score", "ferreira-table-3"
    )
    picture = render_picture(found)
    assert picture is not None and picture == render_picture(found)
    assert picture.startswith(b"\x89PNG") and picture != render_picture(found[:-3])
    assert render_picture(compared(london, "ferreira-table-3")) is None


def test_strengths_from_matches_have_the_intervals_of_the_matches() -> None:
    """In matches A-B and B-C, the middle player has the narrowest interval."""
    differences = {("A", "B"): Measured(30, 0, 60), ("B", "C"): Measured(0, -30, 30)}
    found = solve_with_intervals(differences, {"A": 2700, "B": 2700, "C": 2700})
    assert [round(found[name].rating or 0) for name in "ABC"] == [2720, 2690, 2690]
    margins = [(each.high or 0) - (each.rating or 0) for each in found.values()]
    # A difference of 30 Elo between two of three players moves the player with one
    # match by 20 and the others by 10.
    assert margins == pytest.approx([(20**2 + 10**2) ** 0.5, 200**0.5, 500**0.5])
    lower = [(each.rating or 0) - (each.low or 0) for each in found.values()]
    assert lower == pytest.approx(margins)
    unbounded = solve_with_intervals({("A", "B"): Measured(30, None, 60)}, {"A": 2700})
    assert unbounded["B"].low is None


def test_a_table_of_another_kind_says_what_it_lacks(london: Path) -> None:
    [table] = compared(london, "alliot-table-6")
    assert table.missing.endswith(
        "of 25802 games of Alliot's champions are in the corpus"
    )
    [regan] = compared(london, "regan-1991-1994")
    assert regan.missing == "no such game in the corpus"
    page = build_markdown([table, regan])
    assert "(25 rows)" in page and "Not made:" in page


def listed(game: int, year: int = 2000) -> ListedGame:
    return ListedGame(game, 1, 2, None, None, "", year, 1.0, bytes([game]))


def test_games_are_drawn_from_each_group_in_turn() -> None:
    games = [listed(at, year) for at, year in enumerate([2000, 2000, 2000, 2001, 2002])]

    def years(game: ListedGame) -> list[int]:
        return [game.year] if game.year < 2002 else []

    def draw(most: int) -> list[int]:
        return [game.game for game in draw_in_turn(games, years, most)]

    assert draw(2) == [0, 3, 1]
    assert draw(0) == [0, 3, 1, 2]


def test_a_draw_ends_at_the_first_game_that_is_not_searched(tmp_path: Path) -> None:
    """Later games of the draw may have been searched for another table, so they are not
    a random sample.
    """
    table = PrintedTable(
        name="t", title="", where="", page=0, measure="ms", rows=(), least=2
    )
    games = [listed(at) for at in (3, 1, 9, 2)]
    with CorpusDatabase(corpus_of(tmp_path / "c.db")) as database:
        known = CorpusGames(database)
        setting = 1, database.read_settings()[1]
        [paper, *_] = read_papers()
        evidence = Evidence(paper, known, database, setting, "same-search")
        database.execute("DELETE FROM results WHERE game = 9")
        assert [game.game for game in evidence.choose_searched(table, games)] == [3, 1]
        assert not evidence.choose_searched(
            msgspec.structs.replace(table, least=3), games
        )
        whole = msgspec.structs.replace(table, least=0)
        assert [game.game for game in evidence.choose_searched(whole, games)] == [
            3,
            1,
            2,
        ]
        database.execute("ROLLBACK")


def champions(path: Path) -> tuple[Path, PrintedPaper]:
    """Return a corpus and a paper. The corpus has champions' games of the years before
    two of their matches and of 1971. The paper requires fewer games than the real one.
    """
    pairs = [
        ("Euwe, Max", "Alekhine, Alexander", 1934),
        ("Fischer, Robert James", "Spassky,B", 1971),
    ]
    games = []
    for *pair, year in pairs:
        for at in range(2 * len(LINES)):
            game = {
                "white": pair[at % 2],
                "black": pair[1 - at % 2],
                "event": "Open",
                "result": RESULTS[at % 3],
                "date": f"{year}.{at // 28 + 1:02}.{at % 28 + 1:02}",
            }
            games.append(game)
    [alliot] = [paper for paper in read_papers() if paper.paper.startswith("Alliot")]
    occasions = {
        name: msgspec.structs.replace(each, games=1)
        for name, each in alliot.occasions.items()
    }
    tables = tuple(
        msgspec.structs.replace(table, least=min(table.least, 1))
        for table in alliot.tables
    )
    paper = msgspec.structs.replace(alliot, occasions=occasions, tables=tables)
    return corpus_with(path, games), paper


def test_the_tables_of_champions(tmp_path: Path) -> None:
    corpus, paper = champions(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        every = [(paper, table) for table in paper.tables]
        found = {each.table.name: each for each in compare_all(every, database)}
    counts = {row.printed.key[:2]: row.ours for row in found["alliot-table-1"].rows}
    assert counts["Euwe", "total"] == Measured(26) == counts["Spassky", "total"]
    assert counts["Tal", "total"] == Measured(0)
    for name in ("acs", "covs", "ms"):
        rows = [
            row for row in found[f"alliot-table-5-{name}"].rows if row.ours is not None
        ]
        assert {row.printed.at for row in rows} == {"1935", "1972"}
        for row in rows:
            assert row.ours is not None and 0 < row.ours.value < 1
            low, high = row.ours.low, row.ours.high
            assert low is None or high is None or low <= row.ours.value <= high
    assert found["alliot-table-2"].rows_done == len(found["alliot-table-2"].rows)
    vector = [row.ours.value for row in found["alliot-tables-2-3"].rows if row.ours]
    assert len(vector) == 10 and abs(sum(vector) - 1) < 1e-9
    assert found["alliot-table-6"].rows_done == 25
    assert {row.printed.one for row in found["alliot-table-4"].rows if row.ours} >= {
        "Champs",
        "All",
    }
    assert found["alliot-figure-3"].rows_done == 2
    classes = [row.ours.value for row in found["alliot-classes"].rows if row.ours]
    assert len(classes) == 19 and abs(sum(classes) - 1) < 1e-9
    apart, _ = (row.ours for row in found["alliot-figure-6"].rows)
    assert apart is not None and apart.low is not None and apart.low < apart.value
    for name in ("3-shares", "s-4-5", "11", "13"):
        table = found[f"alliot-figure{'' if name[0] == 's' else '-'}{name}"]
        assert table.rows_done == len(table.rows), name
    reached = [row.ours.value for row in found["alliot-figure-13"].rows if row.ours]
    assert reached == sorted(reached)
    # Only Euwe and Fischer have games of their best years by convolution in this
    # corpus.
    ranks = {
        row.printed.one: row.ours.value
        for row in found["alliot-table-8"].rows
        if row.ours
    }
    assert ranks.keys() == {"Euwe", "Fischer"} and sorted(ranks.values()) == [1, 2]
    pairs = found["alliot-table-8-cells"].rows
    cells = {row.printed.key[:2]: row.ours for row in pairs if row.ours}
    assert cells.keys() == {("Euwe", "Fischer"), ("Fischer", "Euwe")}
    ahead, behind = sorted(ranks, key=ranks.__getitem__)
    assert cells[ahead, behind].value > 1 - cells[behind, ahead].value - 1e-9
    for cell in cells.values():
        assert (
            cell.low is not None
            and cell.high is not None
            and cell.low < cell.value < cell.high
        )


@pytest.mark.parametrize(("games", "expected"), [(1, None), (100, Measured(0.3))])
def test_colours_are_compared_up_to_two_pawns(
    monkeypatch: pytest.MonkeyPatch, games: int, expected: Measured | None
) -> None:
    """Losses beyond two pawns are too rare to locate the largest difference between
    White and Black. A few games give no difference beyond chance.
    """
    losses = polars.DataFrame({"lost_cp": [0, 30, 300, 900]}).with_columns(
        white=polars.Series([60, 10, 30, 0]) * games,
        black=polars.Series([60, 5, 0, 35]) * games,
    )
    monkeypatch.setattr(alliot_text_measures, "count_shortfalls", lambda data: losses)
    monkeypatch.setattr(alliot_text_measures, "open_champions", lambda *given: None)
    [alliot] = [paper for paper in read_papers() if paper.paper.startswith("Alliot")]
    table = alliot.find_table("alliot-figure-6")
    measured = MEASURES["colours-apart"].make(table, None)  # type: ignore[arg-type]
    within, where = (each.ours for each in compare("A", table, measured).rows)
    assert where == expected
    assert within is not None and within.value == 0
    assert within.low is not None and within.high is not None
    assert within.low < 0 < within.high


def row(value: float, ours: float | None, at: str = "", one: str = "") -> ComparedRow:
    measured = None if ours is None else Measured(ours, ours - 1, ours + 1)
    return ComparedRow(PrintedRow(value, one, "", at), measured)


def test_orders_and_winners() -> None:
    neighbours = [row(3, 30), row(2, 10), row(1, 20), row(0, None)]
    # Two neighbours that exchange places do not count as moved.
    assert compare_orders(neighbours) == (3, 2, 3, 0)
    assert compare_orders([row(2, 5), row(2, 4), row(1, 6)]) == (2, 0, 3, 1)
    assert compare_orders([row(2, 5)]) is None
    assert count_same_winners([row(0.6, 0.7), row(0.6, 0.4), row(0.5, 0.9)], 0.5) == (
        1,
        2,
    )
    matches = [
        row(5, 9, "a"),
        row(4, 1, "a"),
        row(1, 2, "b"),
        row(1, 3, "b"),
        row(7, 7, "c"),
    ]
    assert count_same_winners_by_match(matches) == (1, 1)


def test_what_lies_within_the_interval_and_what_is_equal_as_printed() -> None:
    table = PrintedTable(
        name="t",
        title="T",
        where="Table 1",
        page=3,
        measure="score",
        digits=2,
        rows=(PrintedRow(0.5, "A"), PrintedRow(0.7, "B"), PrintedRow(1.25, "C")),
    )
    ours = {
        ("A", "", ""): Measured(0.504, 0.4, 0.6),
        ("B", "", ""): Measured(0.8, 0.75, None),
    }
    setting = SearchSetting("E; x", "5 nodes")
    found = compare(
        "P", table, ours, setting=setting, gain="successive", wanted=2, games=1
    )
    assert (
        found.rows_done,
        found.rows_with_interval,
        found.rows_within,
        found.rows_exact,
    ) == (
        2,
        1,
        1,
        1,
    )
    page = build_markdown([found])
    assert "| A | 0.50 | 0.50 (0.40 to 0.60) | 0.00 |" in page
    assert "| B | 0.70 | 0.80 (0.75 to unbounded) | +0.10 |" in page
    assert (
        "| T | P, Table 1, p. 3 | 2 of 3 | E, 5 nodes, successive | 1 of 2 | 1 of 1"
        in page
    )


def ordered(bound: str, gain: str, ours: str, lines: int = 1) -> Comparison:
    """Return a comparison of players whom the paper orders from A to G, and we in the
    order ``ours``.
    """
    names = "ABCDEFG"
    table = PrintedTable(
        name="t",
        title="T",
        where="Table 1",
        page=3,
        measure="strength",
        agreement="order",
        rows=tuple(PrintedRow(2700 - at, name) for at, name in enumerate(names)),
    )
    measured = {(name, "", ""): Measured(2600 - at) for at, name in enumerate(ours)}
    setting = SearchSetting("E; Hash=1", bound, lines)
    return compare("P", table, measured, setting=setting, gain=gain)


def test_how_far_an_order_depends_on_limit_and_gain() -> None:
    few = ordered("9 nodes", "same-search", "BACDEFG")
    many = ordered("10 nodes", "same-search", "CABDEFG")
    other = ordered("10 nodes", "successive", "CABDEGF")
    deep = ordered("depth 3", "same-search", "GFEDCBA")
    lines = ordered("9 nodes", "same-search", "GFEDCBA", lines=10)
    every = [few, other, deep, many, lines]
    assert [limit.name for limit in list_limits(every)] == ["9 nodes", "10 nodes"]
    [beside] = compare_with_next_limit(every)
    assert beside.gain == "same-search"
    assert [each and each.order for each in beside.compared] == [
        (21, 18, 7, 2),
        (21, 20, 7, 0),
        (21, 19, 7, 1),
    ]
    [gains] = compare_gains(every)
    assert [each and each.order for each in gains.compared] == [None, (21, 20, 7, 0)]
    for each, near in ((few, 1), (many, 0)):
        kept = (
            f"7 rows, the whole order kept in 0 of 1, and but for neighbours in {near}."
        )
        assert kept in build_markdown([each])
    # The page keeps a comparison for each kind of limit, because different kinds have
    # no order.
    assert choose_highest_limits(every) == [many, other, deep, lines]
    page = build_markdown(every)
    assert (
        "| figures | gain | 9 nodes and 10 nodes | 9 nodes and the paper | 10 nodes "
        "and the paper |"
    ) in page
    assert (
        "| T (Table 1) | same-search | 18 of 21 pairs in order, 2 of 7 moved |"
        " 20 of 21 pairs in order, 0 of 7 moved | 19 of 21 pairs in order, "
        "1 of 7 moved |"
    ) in page
    assert "| T (Table 1) |  | 20 of 21 pairs in order, 0 of 7 moved |" in page
    # Comparisons of different games say nothing about limits, so both are shown.
    drawn = msgspec.structs.replace(many, games=5)
    assert not [*compare_with_next_limit([few, drawn])]
    assert choose_highest_limits([few, drawn]) == [few, drawn]
    # A single limit has nothing to be compared with.
    assert "How far an order" not in build_markdown([few, deep])


def config(engine: str) -> Config:
    given = {
        "engine.path": engine,
        "engine.nodes": 50,
        "engine.engines": 1,
        "engine.hash_mb": 1,
    }
    return read_settings(None, {}, given)


def run_command(settings: Config, corpus: Path, out: Path) -> None:
    name = "ferreira-section-8-direct"
    done = reproduce(
        settings,
        corpus,
        [name],
        files=[],
        is_searching=True,
        most_games=None,
        setting=None,
        out=out,
        page=None,
    )
    assert asyncio.run(done) == 0


def kill_command(settings: Config, corpus: Path, out: Path, after: int) -> None:
    """Run the command in a process that is killed while it stores the game after the
    first ``after`` games.
    """
    child = os.fork()
    if not child:
        calls = itertools.count()
        keep = CorpusDatabase.add_results

        def keep_or_die(database: CorpusDatabase, *given: Any) -> bool:
            if next(calls) == after:
                os.kill(os.getpid(), signal.SIGKILL)
            kept = keep(database, *given)
            database.commit()
            return kept

        try:
            CorpusDatabase.add_results = keep_or_die  # type: ignore[assignment,method-assign]
            run_command(settings, corpus, out)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def test_a_command_that_was_killed_twice_writes_the_same_bytes(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    """Only the games that the table needs are searched, and each is searched once."""
    settings = config(require_program("stockfish"))
    games = 6 * all_play_all(
        ("Kasparov, Garry", "Deep Blue (Computer)"), "New York", 1997
    )
    for at, game in enumerate(games):
        game["date"] = f"1997.05.{at + 1:02}"
    games += all_play_all(("A", "B"), "New York", 1997)
    written = []
    for folder, kills in (("whole", ()), ("parts", (2, 1))):
        corpus = corpus_with(tmp_path / f"{folder}.db", games)
        out = tmp_path / folder
        known = 0
        for kept in kills:
            kill_command(settings, corpus, out, kept)
            known += kept
            assert not out.exists()
            with CorpusDatabase(corpus) as database:
                assert database.count_rows("results", "setting = 2") == known
        run_command(settings, corpus, out)
        written.append(
            [(out / file).read_bytes() for file in ("papers.md", "papers.csv")]
        )
        with CorpusDatabase(corpus) as database:
            assert database.count_rows("results", "setting = 2") == 6
    assert written[0] == written[1]
    assert b"50 nodes" in written[0][1]


async def test_a_page_is_written_again_between_its_marks(
    london: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Papers\n\nBefore.\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")

    async def again(page: Path) -> None:
        await reproduce(
            Config(),
            london,
            ["ferreira-table-4"],
            files=[],
            is_searching=False,
            most_games=None,
            setting=None,
            out=None,
            page=page,
        )

    await again(page)
    text = page.read_text()
    assert text.startswith("# Papers\n\nBefore.\n\n") and text.endswith("\n\nAfter.\n")
    assert (
        "old" not in text
        and "### London 2011: expected scores against the engine" in text
    )
    await again(page)
    assert page.read_text() == text
    assert insert_tables(text, "x") != text
    page.write_text("# Another page\n")
    with pytest.raises(InputError, match="has no place for tables"):
        await again(page)


def test_a_name_of_no_table_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"Name one, as ferreira-table-6, .* or all of alliot"
    ):
        choose_tables(["ferreira-table-9"])
    assert len(choose_tables(["alliot-table-5"])) == 6
    assert [table.name for _, table in choose_tables(["regan-1976-1979"])] == [
        "regan-1976-1979"
    ]


def test_who_is_who_in_games_of_every_spelling(tmp_path: Path) -> None:
    names = (
        "Lasker, Emanuel",
        "Lasker, Edward",
        "Anand, Viswanathan",
        "Anand,V",
        "Anand,Vignesh",
    )
    corpus = corpus_with(tmp_path / "c.db", all_play_all(names, "E", 2000))
    [alliot] = [paper for paper in read_papers() if paper.paper.startswith("Alliot")]
    with CorpusDatabase(corpus) as database:
        games = CorpusGames(database)
        people = games.find_people(alliot.occasions["champions"])
        spelt = database.read_players()

    def list_spellings(players: Iterable[int]) -> list[str]:
        return sorted(spelt[player] for player in players)

    assert {name: list_spellings(found) for name, found in people.items()} == {
        "Lasker": ["Lasker, Emanuel"],
        "Anand": ["Anand, Viswanathan", "Anand,V"],
    }


def test_a_game_of_two_spellings_counts_once(tmp_path: Path) -> None:
    pairs = [("Kramnik,V", "Topalov,V"), ("Kramnik, Vladimir", "Topalov, Veselin")]
    about = {"event": "WCh Candidates", "date": "2011.05.05", "result": "1-0"}
    games = [
        {"white": white, "black": black, "moves": "e2e4 e7e5"} | about
        for white, black in pairs
    ]
    file = tmp_path / "games.ndjson"
    file.write_text("\n".join(map(json.dumps, games)))
    corpus = corpus_of(tmp_path / "c.db", file)
    with CorpusDatabase(corpus) as database:
        found = CorpusGames(database)
        occasion = read_papers()[1].occasions["candidates-2011"]
        assert (len(found.games), len(found.list_games_of_occasion(occasion))) == (2, 1)


def test_pieces_of_searched_games_come_back(london: Path, tmp_path: Path) -> None:
    """The file contains all data of the figures, including changes over depths and
    several lines.
    """
    names = ["ferreira-table-1", "ferreira-table-4"]
    piece = tmp_path / "london.ndjson.xz"
    assert write_pieces(london, 1, piece, [*names, "perceived-london-2011"]) == 36
    again = corpus_of(tmp_path / "again.db", piece)
    assert build_csv(compared(again, *names)) == build_csv(compared(london, *names))
    with CorpusDatabase(london) as database, CorpusDatabase(again) as copy:
        digests = dict(database.execute("SELECT digest, game FROM games"))
        for digest, game in copy.execute("SELECT digest, game FROM games").fetchall():
            [(_, here)] = database.read_searched_games(
                1, digests[digest], digests[digest] + 1
            )
            [(_, there)] = copy.read_searched_games(1, game, game + 1)
            for one, other in zip(here.positions, there.positions, strict=True):
                assert (one is None) == (other is None)
                assert not one or not other or depths_of(one) == depths_of(other)


def depths_of(position: PositionSearch) -> tuple[float, int, int | None] | None:
    found = position.whole.complexity
    if found is None:
        return None
    return round(found.stability_cp, 3), found.jump_cp, found.jump_depth


def test_pieces_keep_several_lines(tmp_path: Path) -> None:
    game = json.loads(LINES[0]) | {
        "white_elo": 2700,
        "black_elo": 2705,
        "date": "2007.01.01",
    }
    count = len(game["cp"]) + 1
    game |= {"engine": "E", "limit": "5 nodes", "multipv": 2}
    game |= {"lines": [[["e2e4", at], ["d2d4", at - 9]] for at in range(count)]}
    file = tmp_path / "game.ndjson"
    file.write_text(json.dumps(game))
    piece = tmp_path / "piece.ndjson.xz"
    assert (
        write_pieces(corpus_of(tmp_path / "c.db", file), 1, piece, ["regan-2006-2009"])
        == 1
    )
    with CorpusDatabase(corpus_of(tmp_path / "again.db", piece)) as database:
        assert database.read_settings() == {1: SearchSetting("E", "5 nodes", 2)}
        [(_, searched)] = database.read_searched_games(1)
    assert [each and each.lines for each in searched.positions] == [
        (("e2e4", at), ("d2d4", at - 9)) for at in range(count)
    ]


def test_perceived_ratings_of_the_papers_players(tmp_path: Path) -> None:
    """Only scores of engines with a known scale give perceived ratings."""
    games = all_play_all(LONDON, "3rd London Classic", 2011)
    engine = {"engine": "Stockfish 19 Lite WASM Multithreaded; Threads=1"}
    games = [game | engine | {"limit": "100000 nodes"} for game in games]
    corpus = corpus_with(tmp_path / "c.db", games)
    [found] = compared(corpus, "perceived-london-2011")
    ratings = {row.printed.one: row.ours.value for row in found.rows if row.ours}
    assert ratings.keys() == {name.partition(",")[0] for name in LONDON}
    assert all(LEAST_ELO < rating < MOST_ELO for rating in ratings.values())
    assert len(set(ratings.values())) == 9
    ends = [
        row.ours for row in found.rows if row.ours and row.ours.low and row.ours.high
    ]
    assert ends and all((low or 0) < value < (high or 0) for value, low, high in ends)
    # The scale is not that of the paper's strengths, so intervals are not compared with
    # printed numbers.
    assert found.rows_with_interval == found.rows_within == 0
    [head] = [
        line for line in build_markdown([found]).splitlines() if line.startswith("|  |")
    ]
    assert "(95 %)" in head and "difference" not in head
    with CorpusDatabase(corpus) as database:
        database.execute("UPDATE settings SET bound = '1000 nodes'")
    [found] = compared(corpus, "perceived-london-2011")
    assert found.rows_done == 0
