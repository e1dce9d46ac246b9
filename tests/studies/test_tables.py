"""Tables and figures of the papers and of questions that they leave open, over small
corpora.
"""

import itertools
import json
import os
import shutil
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import polars
import pytest

from live.errors import InputError
from live.manual.pages import read_page
from live.ratings.choice_model import ChoiceSkill
from live.ratings.predictions import predict_both_colors
from live.studies import alliot_players, ferreira_tables
from live.studies.alliot_games import TIME_EDGES_MS
from live.studies.alliot_players import PREDICTORS, find_best_years
from live.studies.corpus_database import CorpusDatabase
from live.studies.move_files import COLUMNS, update_move_files
from live.studies.player_moves import PairedMoves, gather_by_year
from live.studies.study_data import Selection, StudyData
from live.studies.study_figures import FIGURES, render_figure
from live.studies.study_tables import (
    Cell,
    StudyTable,
    TableColumn,
    build_table,
    format_table,
)
from live.studies.table_commands import TABLES
from tests.journal.test_journal import alter_file
from tests.ratings.known_players import real_turns, simulate
from tests.studies.small_corpus import (
    DATA,
    LINES,
    SAMPLE,
    corpus_of,
    corpus_with,
    study_of,
)

TABLE = StudyTable(
    "t",
    "A table",
    "Somebody 2012, Table 1",
    "an engine",
    (TableColumn("player"), TableColumn("d", 1, "Elo")),
    (("Müller, A", -0.04), ("B", None)),
    ("A note.",),
)


def test_forms() -> None:
    assert format_table(TABLE, "csv") == 'player,d\n"Müller, A",0.0\nB,\n'
    assert format_table(TABLE, "text").splitlines() == [
        "A table",
        "Somebody 2012, Table 1",
        "an engine",
        "",
        "player       d",
        "Müller, A  0.0",
        "B",
        "",
        "A note.",
        "d: Elo",
    ]
    empty = msgspec.structs.replace(TABLE, rows=())
    assert "(nothing in this selection)" in format_table(empty, "text")
    found = json.loads(format_table(TABLE, "json"))
    assert found["rows"] == [["Müller, A", 0.0], ["B", None]]
    assert found["columns"][1] == {"name": "d", "meaning": "Elo"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus_of(tmp_path_factory.mktemp("corpus") / "c.db")


@pytest.fixture(scope="module")
def matches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a corpus with four copies of the games, labelled as matches of four
    players.
    """
    pairs = (("Ann", "Bob"), ("Cid", "Dora"), ("Ann", "Cid"), ("Bob", "Dora"))
    changes = []
    for copy, pair in enumerate(pairs):
        for at in range(len(LINES)):
            change = {
                "white": pair[at % 2],
                "black": pair[1 - at % 2],
                "event": pair[0],
                "date": f"20{10 + copy}.01.{at + 1:02}",
            }
            changes.append(change)
    return corpus_with(tmp_path_factory.mktemp("matches") / "m.db", changes)


@pytest.fixture(scope="module")
def tables(matches: Path) -> dict[str, StudyTable]:
    """Return every table of the matches, by name."""
    return {name: make_table(matches, name) for name in TABLES}


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a corpus of Alliot's sample, whose searches have their durations."""
    return corpus_of(tmp_path_factory.mktemp("timed") / "t.db", SAMPLE)


def make_table(
    corpus: Path, name: str, selection: Selection | None = None, by: str | None = None
) -> StudyTable:
    with study_of(corpus, selection or Selection(top=4)) as data:
        return build_table(TABLES[name], data, by)


def column(table: StudyTable, name: str) -> list[Cell]:
    at = [each.name for each in table.columns].index(name)
    return [row[at] for row in table.rows]


def read_figures(table: StudyTable, name: str) -> list[float]:
    return [float(each or 0) for each in column(table, name)]


def test_an_event_is_chosen_by_a_part_of_its_name(tmp_path: Path) -> None:
    corpus = corpus_with(tmp_path / "c.db", [{"event": "London"}, {"event": "Oslo"}])
    with study_of(corpus, Selection(events=("LON",))) as data:
        games = [
            frame["game"].unique().len()
            for frame in data.read_moves(["game"], all_players=True)
        ]
    assert games == [1]


def test_the_game_of_the_paper(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db", DATA / "figure-1.pgn")
    selection = Selection(players=("Fischer", "Byrne"), gain="successive")
    cross = make_table(corpus, "ferreira-1", selection)
    # Ferreira 2012, section 4: an expected score of 0.655 and 113 Elo for Fischer.
    assert column(cross, "player")[0] == "Fischer, Robert James"
    assert column(cross, "expected")[0] == pytest.approx(0.6550, abs=5e-5)
    assert column(cross, "difference") == pytest.approx([112.8, -112.8], abs=0.05)
    assert column(cross, "points") == [1.0, 0.0]
    # Ferreira 2012, section 7: Algorithm 4 after the last move.
    strengths = make_table(corpus, "ferreira-5", selection)
    assert column(strengths, "d") == pytest.approx([-43.4, -185.4], abs=0.05)
    # Ferreira 2012, Figure 6: the curve ends at the same value. It has no value while
    # all gains are below 0.
    curve = make_table(corpus, "ferreira-curve", selection)
    byrne = [row for row in curve.rows if row[0] == "Byrne, Donald"]
    assert byrne[-1][1] == 41 and byrne[-1][4] == pytest.approx(-185.4, abs=0.05)
    assert [row[4] for row in byrne[:6]] == [None] * 6
    spike = make_table(corpus, "ferreira-distribution", selection)
    zeros = [row for row in spike.rows if row[1] == 0]
    shown = [(row[0], row[2]) for row in zeros]
    assert shown == [("Fischer, Robert James", 14), ("Byrne, Donald", 13)]


def test_a_battle_royale_is_fair(corpus: Path) -> None:
    table = make_table(corpus, "alliot-royale", by="tanh")
    means = [float(each) for each in column(table, "mean") if each is not None]
    assert means == sorted(means, reverse=True)
    assert [row[7 + at] for at, row in enumerate(table.rows)] == [0.5] * len(table.rows)


def test_a_best_year_beats_the_most_years(
    matches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alliot_players, "ENOUGH_MOVES", 50)
    with study_of(matches) as data:
        best = find_best_years(data, "step")
        assert [player for player, _ in best] == [*data.players]
        every = gather_by_year(data, PairedMoves)
        table = build_table(TABLES["alliot-best-year"], data, "step")
    assert "Years with fewer than 50 counted moves are left out." in table.notes
    predict = PREDICTORS["step"]

    def count_beaten(moves: PairedMoves) -> int:
        means = [
            predict_both_colors(predict, moves, other).expected_score or 0.0
            for other in every.values()
            if other is not moves
        ]
        return sum(mean > 0.5 for mean in means)

    for player, year in best:
        own = {key: count_beaten(every[key]) for key in every if key[0] == player}
        assert own[player, year] == max(own.values())


def test_the_grid_of_convolutions_is_in_pawns(matches: Path) -> None:
    rows = make_table(matches, "alliot-convolution-grid").rows
    assert [row[1] for row in rows[:3]] == [0.0, 0.2, 0.4]


def test_matches_have_their_winner_first(matches: Path) -> None:
    table = make_table(matches, "alliot-matches")
    assert len(table.rows) == 4
    assert all(float(each or 0) >= 0.5 for each in column(table, "result"))
    assert all(0 < float(each or 0) < 1 for each in column(table, "by p(0.3)"))
    curves = make_table(matches, "alliot-match-conformance")
    names = ("p(x)", "opponent's p(x)", "difference")
    for one, other, ahead in zip(
        *(column(curves, name) for name in names), strict=True
    ):
        assert float(one or 0) - float(other or 0) == pytest.approx(float(ahead or 0))


def test_a_match_is_predicted_by_all_other_games(matches: Path) -> None:
    predicted = make_table(matches, "alliot-5").rows
    with study_of(matches) as data:
        numbers = {name: number for number, name in data.players.items()}
        names = ["player", "opponent", "event", "counted", "gain_cp"]
        rows = itertools.chain.from_iterable(
            frame.iter_rows() for frame in data.read_moves(names)
        )
        moves = [
            (row[0], row[1], data.events.get(row[2], ""))
            for row in rows
            if row[3] and row[4] is not None
        ]
    assert len(predicted) == 4
    for one, other, event, *_, counted, _, _, _, _ in predicted:
        pair = numbers[str(one)], numbers[str(other)]
        apart = [
            row for row in moves if not (set(row[:2]) == set(pair) and row[2] == event)
        ]
        counts = Counter(row[0] for row in apart)
        assert counted == min(counts[player] for player in pair)


def test_strengths_of_matches_differ_by_their_own_gains(matches: Path) -> None:
    """Ferreira 2012, Table 3: for players with one opponent each, the strengths differ
    by the difference of their match.
    """
    pair = Selection(players=("Ann", "Bob"))
    [row] = make_table(matches, "ferreira-3", pair).rows
    assert row[3] == 13
    most_moves = Selection(players=("Ann", "Bob"), min_moves=10_000)
    assert not make_table(matches, "ferreira-3", most_moves).rows
    assert float(row[10] or 0) - float(row[11] or 0) == pytest.approx(
        float(row[9] or 0)
    )


def test_points_are_those_of_the_games_that_count(
    matches: Path, tmp_path: Path
) -> None:
    fewer = tmp_path / "fewer.db"
    shutil.copy(matches, fewer)
    alter_file(fewer, "DELETE FROM results WHERE game > 1 AND game % 2 = 0")
    pair = Selection(players=("Ann", "Bob"))
    [before] = make_table(matches, "ferreira-3", pair).rows
    [after] = make_table(fewer, "ferreira-3", pair).rows
    assert float(after[3] or 0) < float(before[3] or 0)
    assert 0 <= float(after[4] or 0) <= float(after[3] or 0)
    assert after[4] != before[4]
    # Tables about all games do not depend on which games are searched.
    assert (
        make_table(fewer, "matches", pair).rows
        == make_table(matches, "matches", pair).rows
    )


def test_named_players_stand_beside_all(matches: Path) -> None:
    alone = make_table(matches, "alliot-evaluations")
    named = make_table(matches, "alliot-evaluations", Selection(players=("Ann",)))
    assert set(column(alone, "player")) == {"all players"}
    assert set(column(named, "player")) == {"all players", "Ann"}
    highest = make_table(matches, "alliot-highest", Selection(players=("Ann",)))
    games = [int(row[2] or 0) for row in highest.rows if row[0] == "Ann"]
    results = make_table(matches, "matches", Selection(players=("Ann",)))
    assert [sum(games)] == [row[2] for row in results.rows if row[1] == "everybody"]


def test_players_at_events_are_those_with_the_most_moves(
    matches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = make_table(matches, "ferreira-2")
    monkeypatch.setattr(ferreira_tables, "MOST_STAYS", 3)
    fewer = make_table(matches, "ferreira-2")
    assert set(fewer.rows) < set(whole.rows)
    stays = {(row[0], row[1], row[2]) for row in whole.rows} | {
        (row[3], row[4], row[5]) for row in whole.rows
    }
    most = sorted((int(each[2] or 0) for each in stays), reverse=True)[:3]
    for row in fewer.rows:
        assert {int(row[2] or 0), int(row[5] or 0)} <= set(most)
    assert not whole.notes and "Of 7 players at an event, the 3" in fewer.notes[0]


def test_shares_of_depths_make_one_at_each_time(timed: Path) -> None:
    rows = make_table(timed, "alliot-depths").rows
    starts = {row[0] for row in rows}
    for start in starts:
        assert sum(
            float(row[4] or 0) for row in rows if row[0] == start
        ) == pytest.approx(1)


def test_every_figure_is_drawn(tables: dict[str, StudyTable], timed: Path) -> None:
    with_depths = tables | {"alliot-depths": make_table(timed, "alliot-depths")}
    for name, (table, *_) in FIGURES.items():
        assert render_figure(name, with_depths[table], "svg").startswith(b"<?xml")
    for form, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        picture = render_figure("alliot-13", tables["alliot-highest"], form)
        assert picture.startswith(start)
        assert render_figure("alliot-13", tables["alliot-highest"], form) == picture


@pytest.mark.parametrize(
    ("games", "names"),
    [
        (1, tuple(FIGURES)),
        (2, ("alliot-7", "alliot-10", "alliot-11", "alliot-12")),
        (3, ("alliot-4", "alliot-8", "alliot-9", "alliot-11", "alliot-12")),
        (4, ("alliot-11", "alliot-12")),
    ],
)
def test_few_games_are_drawn_or_said_to_be_too_few(
    games: int, names: tuple[str, ...], tmp_path: Path
) -> None:
    results = ("1-0", "0-1", "1/2-1/2", "1-0")[:games]
    changes = (
        {"white": "Ann", "black": "Bob", "event": "M", "result": each}
        for each in results
    )
    corpus = corpus_with(tmp_path / "c.db", changes)
    refused = {}
    for name in names:
        table = make_table(corpus, FIGURES[name][0])
        try:
            assert render_figure(name, table, "svg").startswith(b"<?xml")
        except InputError as error:
            refused[name] = str(error)
    # Matches and correlations need four games, a spline needs more, and the table of
    # depths needs search times.
    need = {
        "alliot-1": "no search times",
        "alliot-2": "no class of 20 moves",
        "alliot-6-right": "no class of 20 moves",
        "alliot-7": "Matches of at least four games",
        "alliot-7-right": "Matches of at least four games",
        "alliot-8": "Matches of at least four games",
        "alliot-9": "need at least 41 games",
        "alliot-11": "needs four games",
        "alliot-12": "needs four games",
    }
    assert set(refused) == (need.keys() & set(names) if games < 4 else set())
    assert all(need[name] in said for name, said in refused.items())


def test_the_manual_has_every_table_figure_and_column() -> None:
    page = read_page("studies").text
    for name in (*TABLES, *FIGURES):
        assert f"`{name}`" in page
    for name, kind in COLUMNS.items():
        assert f"| `{name}` | {kind} |" in page


def holding(monkeypatch: pytest.MonkeyPatch, **columns: object) -> None:
    """Replace the moves of every study by these columns. A single value is used for all
    rows.
    """
    frame = polars.DataFrame(columns)
    monkeypatch.setattr(
        StudyData,
        "read_moves",
        lambda self, names, all_players: iter([frame.select(names)]),
    )
    monkeypatch.setattr(StudyData, "scan_moves", lambda self, all_players: frame.lazy())


def test_colours_that_move_alike_are_told_from_those_that_do_not(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def distance(black_gain_cp: int) -> tuple[Cell, Cell]:
        moves = list(itertools.product(range(30), range(12), ("white", "black")))
        gains = [
            0 if (game + ply) % 3 else black_gain_cp if color == "black" else -60
            for game, ply, color in moves
        ]
        columns = {
            "game": [each[0] for each in moves],
            "colour": [each[2] for each in moves],
        }
        holding(monkeypatch, **columns, best_cp=100, gain_cp=gains, counted=True)
        *_, apart, chance = make_table(corpus, "question-colours").rows[-1]
        return apart, chance

    assert distance(-60) == (0.0, 1.0)
    apart, chance = distance(-140)
    assert isinstance(chance, float) and chance < 0.01
    assert apart == pytest.approx(1 / 3, abs=0.01)


def find_time_class(time_ms: float) -> int:
    return sum(time_ms >= edge for edge in TIME_EDGES_MS)


def test_how_deep_a_search_got_is_compared_with_those_of_its_time(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    depths, times, gains = (
        rng.integers(*ends, 200).tolist() for ends in ((8, 14), (1, 90), (-99, 1))
    )
    shared = {
        "game": 1,
        "player": 1,
        "stability_cp": 1.0,
        "jump_cp": 2,
        "jump_depth": None,
    }
    holding(
        monkeypatch, **shared, depth=depths, time_ms=times, gain_cp=gains, counted=True
    )
    *_, everybody = make_table(corpus, "alliot-4").rows
    classes = list(map(find_time_class, times))
    against = []
    for depth, at in zip(depths, classes, strict=True):
        counts = Counter(d for d, c in zip(depths, classes, strict=True) if c == at)
        most = max(counts.values())
        usual = min(d for d, count in counts.items() if count == most)
        against.append((1 if depth > usual else -1) * (most - counts[depth]) / most)
    rho = np.corrcoef(against, [-gain for gain in gains])[0, 1]
    assert everybody[:2] == ("all", 200) and everybody[2] == pytest.approx(rho)
    # A constant column has no correlation.
    assert everybody[5] is None


def test_against_a_measured_engine_differences_agree_better(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gains of players and engine are normally distributed. Assuming engine gains of 0
    (the spike) overestimates differences.
    """
    rng = np.random.default_rng(3)
    every = itertools.product(range(60), range(40), ("white", "black"))
    moves = [(game, color) for game, _, color in every]
    gains = [
        int(rng.normal(-8 if color == "white" else -game % 9, 12))
        for game, color in moves
    ]
    # Gains of the engine itself, in a game that is too short to be compared.
    own = [int(rng.normal(0, 12)) for _ in range(2000)]
    games, colors = zip(*moves, *[(99, "white")] * len(own), strict=True)
    best = ["d2d4"] * len(gains) + ["e2e4"] * len(own)
    columns = {"game": games, "colour": colors, "move": "e2e4", "best": best}
    holding(monkeypatch, **columns, successive_cp=gains + own)
    spike, measured = make_table(corpus, "question-engine").rows
    assert isinstance(spike[2], float) and isinstance(measured[2], float)
    assert spike[1] == measured[1] == 60
    assert abs(measured[2] - 1) < 0.1 < spike[2] - 1


def test_groups_have_the_turns_that_count(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = []
    for turn in range(8):
        turns += [(turn, year) for year in range(2000, 2001 + turn % 4)]
    columns = {
        "year": [year for _, year in turns],
        "deltas": [[0.0, 0.1 * turn] for turn, _ in turns],
        "played_line": [turn % 2 for turn, _ in turns],
        "turn_left_out": ["opening" if turn == 7 else "" for turn, _ in turns],
    }
    holding(monkeypatch, **columns, game=1, player=1, event=None, elo=2000)
    whole = make_table(corpus, "regan", by="year")
    assert [row[:2] for row in whole.rows] == [
        (2000, 7),
        (2001, 5),
        (2002, 3),
        (2003, 1),
    ]
    assert whole.notes[0].startswith("4 turns left out")
    monkeypatch.setattr("live.studies.regan_table.MOST_TURNS", 5)
    fewer = make_table(corpus, "regan", by="year")
    assert [row[1] for row in fewer.rows] == [5, 5, 3, 1]
    assert "Rows use at most 5 turns: 2 turns are left out." in fewer.notes


def test_by_rating_c_lies_on_a_line_and_s_goes_with_it(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = []
    for elo, s in ((1800, 0.3), (2200, 0.12), (2600, 0.05)):
        rng = np.random.default_rng(elo)
        turns = simulate(real_turns(), ChoiceSkill(s, 0.5), 600, rng)
        each_turn = zip(turns.deltas, turns.is_move, turns.played, strict=True)
        for lost, is_move, line in each_turn:
            rows.append((elo, lost[is_move].tolist(), int(line)))
    elos, deltas, played = zip(*rows, strict=True)
    shared = {"game": 1, "player": 1, "event": None, "year": 2008, "turn_left_out": ""}
    holding(monkeypatch, **shared, elo=elos, deltas=deltas, played_line=played)
    table = make_table(corpus, "regan", by="rating")
    ratings, c, c_fit, s_fit = (
        read_figures(table, name) for name in ("rating", "c", "c_fit", "s_fit")
    )
    assert ratings == [1800, 2200, 2600]
    slope, start = np.polyfit(ratings, c, 1)
    assert c_fit == pytest.approx(start + slope * np.array(ratings))
    assert s_fit == sorted(s_fit, reverse=True)
    assert column(make_table(corpus, "regan", by="year"), "c_fit") == [None]


def test_every_table_is_the_same_bytes_again(
    matches: Path, tables: dict[str, StudyTable]
) -> None:
    for name, table in tables.items():
        again = format_table(make_table(matches, name), "json")
        assert again == format_table(table, "json")
        # These tables need search times, several lines per position, or more moves per
        # year.
        assert table.rows or name in {"alliot-depths", "regan", "alliot-best-year"}
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert len({each.name for each in table.columns}) == len(table.columns)


def test_columns_are_what_the_file_says(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db", DATA / "figure-1.pgn")
    with CorpusDatabase(corpus) as database:
        [file] = update_move_files(database, 1)
    frame = polars.read_parquet(file)
    # Ferreira 2012, Figure 1: the first gains of Byrne, and 11.Bg5.
    assert frame["successive_cp"].to_list()[:4] == [-1, 0, -5, -16]
    assert frame["successive_cp"].to_list()[20] == -137
    assert frame["gain_cp"].is_null().all()
    assert frame["score"].to_list()[:2] == [0.0, 1.0]


def test_a_file_is_made_again_only_when_something_changed(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        [file] = update_move_files(database, 1)
        os.utime(file, (1, 1))
        assert update_move_files(database, 1) == [file]
        assert file.stat().st_mtime == 1
        content = file.read_bytes()
        # A killed process leaves the file under this name.
        file.rename(file.with_suffix(".partial"))
        update_move_files(database, 1)
        assert file.read_bytes() == content
        list(database.execute("UPDATE games SET white_elo = 1"))
        [other] = update_move_files(database, 1)
        assert list(other.parent.iterdir()) == [other]
        assert other.read_bytes() != content
