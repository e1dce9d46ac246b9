"""Games in a corpus: reading, recognising, merging, and writing them in Alliot's
format.
"""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import chess
import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from live.errors import InputError
from live.studies import add_games
from live.studies.add_games import AddedGames, add_file
from live.studies.alliot_format import read_alliot, write_alliot
from live.studies.corpus_commands import collect_status, write_alliot_database
from live.studies.corpus_database import CorpusDatabase
from live.studies.corpus_games import pack_moves, unpack_moves
from live.studies.corpus_merge import MergedResults, merge_corpora
from live.studies.corpus_players import normalise_date
from live.studies.game_texts import (
    BrokenFile,
    DamagedGame,
    GameText,
    read_file_mark,
    read_game_texts,
)
from live.studies.move_files import build_move_rows
from tests.studies.small_corpus import DATA, GIVEN, LINES, SAMPLE, SEARCHED, corpus_of

SQUARES = st.sampled_from(chess.SQUARE_NAMES)
MOVES = st.builds(
    "{}{}{}".format, SQUARES, SQUARES, st.sampled_from(["", "n", "b", "r", "q"])
)


@given(st.lists(MOVES, max_size=40))
def test_packed_moves_come_back(moves: list[str]) -> None:
    assert list(unpack_moves(pack_moves(moves))) == moves
    assert len(pack_moves(moves)) == 2 * len(moves)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2013.08.??", "2013.08"),
        ("2013-08", "2013.08"),
        ("2013", "2013"),
        ("2013.08.01", "2013.08.01"),
        ("????.??.??", ""),
        ("0000.00.00", ""),
        (None, ""),
    ],
)
def test_dates(text: str | None, date: str) -> None:
    assert normalise_date(text) == date


def content(path: Path) -> list[object]:
    """Return everything in a corpus except the modification times of its files."""
    with CorpusDatabase(path) as database:
        tables = ("players", "player_keys", "events", "games", "settings", "results")
        return [
            *(
                list(database.execute(f"SELECT * FROM {table} ORDER BY 1, 2"))
                for table in tables
            ),
            list(database.execute("SELECT name, texts, finished FROM sources")),
        ]


def test_every_game_is_there_once(tmp_path: Path) -> None:
    with CorpusDatabase(tmp_path / "c.db", create=True) as database:
        first = add_file(database, str(SEARCHED), GIVEN)
        again = add_file(database, str(SEARCHED), GIVEN)
        copy = tmp_path / "copy.ndjson"
        copy.write_bytes(b"\n".join(LINES))
        third = add_file(database, str(copy), GIVEN)
    assert first == AddedGames(str(SEARCHED), texts=13, new=13, evaluated=13)
    assert again == AddedGames(str(SEARCHED), texts=13, passed_over=13)
    assert third == AddedGames(str(copy), texts=13, known=13)


def test_rated_games_with_short_keys_are_games_like_others(tmp_path: Path) -> None:
    file = tmp_path / "games.ndjson"
    lines = [
        b'{"w":2236,"b":2282,"r":"1-0","tc":null,"kind":"otb","date":"2007-09",'
        b'"wid":177986136248861,"bid":34800728268282,"m":"d2d4 d7d5 c2c4"}',
        b'{"w":1900,"b":1905,"r":"1/2-1/2","tc":"300+3","kind":"blitz","date":"2018",'
        b'"wid":null,"bid":null,"m":"e2e4 e7e5","clk":[300,300]}',
    ]
    file.write_bytes(b"\n".join(lines))
    with CorpusDatabase(tmp_path / "c.db", create=True) as database:
        assert add_file(database, str(file), GIVEN).new == 2
        first, second = database.read_game(1), database.read_game(2)
        assert database.read_events()[first.event] == "otb"
        assert database.read_players()[first.white or 0] == "177986136248861"
    assert (first.white_elo, first.black_elo, first.year, first.result) == (
        2236,
        2282,
        2007,
        "1-0",
    )
    assert (second.moves, second.white, second.result) == (
        ("e2e4", "e7e5"),
        None,
        "1/2-1/2",
    )


def test_damaged_games_are_counted_named_and_gone_past(tmp_path: Path) -> None:
    file = tmp_path / "games.ndjson"
    bad = [
        b'{"white":1,"black":2,"result":"1-0","moves":["e2e5"]}',
        b'{"moves":["e2e4","x"]}',
        b'{"moves":["e2e4","0000"]}',
        b'{"start_fen":"8/8","moves":["e2e4"]}',
        b'{"white":1,"black":2,"result":"1-0","moves":[]}',
        b"{not json",
        b'{"white":1,"black":2,"result":"1-0","moves":["e2e4"],"cp":[1,2]}',
        b'{"white":1,"black":2,"result":"0-1","moves":["d2d4"]}',
    ]
    file.write_bytes(b"\n".join([LINES[0], *bad, LINES[1]]))
    with CorpusDatabase(tmp_path / "c.db", create=True) as database:
        for _ in range(2):
            add_file(database, str(file), GIVEN)
            status = collect_status(database)
            assert status["games"] == 2
            told = [
                (each["text"], each["problem"].split(":")[0])
                for each in status["damaged"]
            ]
            assert told == [
                (2, "illegal move e2e5 at ply 1"),
                (3, "illegal move x at ply 2"),
                (4, "illegal move 0000 at ply 2"),
                (5, "expected 8 rows in position part of fen"),
                (6, "no moves"),
                (7, "JSON is malformed"),
                (8, "3 evaluations for 1 moves"),
                (9, "only one move, treated as a walkover"),
            ]


def test_a_game_with_two_results_has_none(tmp_path: Path) -> None:
    line = LINES[0]
    row = msgspec.json.decode(line)
    other = msgspec.json.encode(
        {**row, "result": "0-1" if row["result"] != "0-1" else "1-0"}
    )
    for order in ([line, other], [other, line]):
        file = tmp_path / "games.ndjson"
        file.write_bytes(b"\n".join(order))
        corpus = corpus_of(tmp_path / f"{hash(order[0])}.db", file)
        with CorpusDatabase(corpus) as database:
            [disputed] = collect_status(database)["disputed"]
            assert set(disputed["results"]) == {
                row["result"],
                msgspec.json.decode(other)["result"],
            }
            assert database.read_game(1).result == "*"


def test_players_are_told_apart_by_number_and_name(tmp_path: Path) -> None:
    game = '[White "{}"]\n[Black "Other"]\n{}[Result "1-0"]\n\n{} 1-0\n\n'
    fide = '[WhiteFideId "1503014"]\n'
    namesake = '[WhiteFideId "7"]\n'
    file = tmp_path / "games.pgn"
    file.write_text(
        game.format("Carlsen, Magnus", "", "1. e4 g6")
        + game.format("Magnus Carlsen", fide, "1. d4 g6")
        + game.format("Carlsen,M", fide, "1. c4 g6")
        + game.format("Carlsen, Magnus", namesake, "1. f4 g6")
    )
    copy = corpus_of(tmp_path / "copy.db", file)
    with CorpusDatabase(corpus_of(tmp_path / "c.db", file)) as database:
        white = [database.read_game(number).white for number in (1, 2, 3, 4)]
        assert white[0] == white[1] == white[2] != white[3]
        # A merge recognises a game by any spelling of its players.
        with CorpusDatabase(copy) as other:
            assert merge_corpora(database, other) == MergedResults()


def test_a_full_disk_is_said_and_what_was_written_stays(tmp_path: Path) -> None:
    corpus = tmp_path / "c.db"
    with (
        pytest.raises(InputError, match="Make room"),
        CorpusDatabase(corpus, create=True) as database,
    ):
        add_file(database, str(DATA / "otb-2024-25.pgn"), GIVEN)
        pages = next(database.execute("PRAGMA page_count"))[0]
        list(database.execute(f"PRAGMA max_page_count = {pages + 1}"))
        add_file(database, str(SEARCHED), GIVEN)
    with CorpusDatabase(corpus) as database:
        assert database.count_rows("games") == 2


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"SQLite format 3\0" + bytes(4080))
    for path in (other, DATA / "cache-version-1.sqlite"):
        with pytest.raises(InputError, match=path.name):
            CorpusDatabase(path, create=True)
    with pytest.raises(InputError, match="no such corpus"):
        CorpusDatabase(tmp_path / "none.db")


def test_two_halves_make_the_whole(tmp_path: Path) -> None:
    halves = []
    for name, part in (("one", LINES[:7]), ("two", LINES[5:])):
        file = tmp_path / f"{name}.ndjson"
        file.write_bytes(b"\n".join(part))
        halves.append(corpus_of(tmp_path / f"{name}.db", file))
    whole = corpus_of(tmp_path / "whole.db")
    with CorpusDatabase(halves[0]) as one, CorpusDatabase(halves[1]) as two:
        assert merge_corpora(one, two) == MergedResults(games=6, results=6)
        assert merge_corpora(one, two) == MergedResults()
    with CorpusDatabase(halves[0]) as one, CorpusDatabase(whole) as all_:
        for table in ("players", "player_keys", "games", "settings", "results"):
            query = f"SELECT * FROM {table} ORDER BY 1, 2"
            assert list(one.execute(query)) == list(all_.execute(query))


PGN = (DATA / "four-boards.pgn").read_bytes()


@pytest.mark.parametrize(
    "compress",
    [
        bytes,
        gzip.compress,
        bz2.compress,
        lzma.compress,
        zstandard.ZstdCompressor().compress,
    ],
)
def test_a_file_is_the_same_however_it_is_compressed(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    plain, packed = tmp_path / "games.pgn", tmp_path / "games"
    plain.write_bytes(PGN)
    packed.write_bytes(compress(PGN))
    assert list(read_game_texts(str(packed))) == list(read_game_texts(str(plain)))
    assert len(list(read_game_texts(str(packed)))) == 4


def test_standard_input_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(SEARCHED.read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert list(read_game_texts("-")) == list(read_game_texts(str(SEARCHED)))
    assert read_file_mark("-") == ""


@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_a_damaged_file_gives_what_it_holds_and_says_so(
    damage: str, tmp_path: Path
) -> None:
    packed = SEARCHED.read_bytes()
    damaged = packed[:9000]
    if damage == "overwritten":
        damaged = packed[:9000] + bytes(100) + packed[9100:]
    file = tmp_path / "damaged.ndjson.gz"
    file.write_bytes(damaged)
    found: list[GameText] = []
    with pytest.raises(BrokenFile):
        found.extend(read_game_texts(str(file)))
    assert 0 < len(found) < 13


def test_the_sample_of_the_paper_reads_with_every_field() -> None:
    [text] = read_game_texts(str(SAMPLE))
    assert not isinstance(text, bytes)
    found = read_alliot(text)
    game, searched, setting = found.game, found.searched, found.setting
    assert searched is not None
    assert (setting.engine, setting.bound) == ("Stockfish 190915", "240000 ms")
    assert (game.white.name, game.black.name) == (
        "Smyslov, Vassily",
        "Nezhmetdinov, Rashid",
    )
    assert (game.date, game.result, game.event) == ("1961.11.19", "1-0", "URS-ch29")
    assert len(game.moves) == 20 and game.moves[-2:] == ("c1d2", "c6d5")
    assert searched.positions[:18] == (None,) * 18
    tenth, reply = searched.positions[18:20]
    assert tenth is not None and tenth.played is not None
    assert tenth.best == "b2b4"
    best, played = tenth.whole, tenth.played
    assert (best.cp, best.depth, best.seldepth, best.tbhits, best.time_ms) == (
        127,
        24,
        43,
        0,
        124176,
    )
    changes = played.complexity
    assert changes is not None
    assert (played.cp, changes.stability_cp, changes.jump_cp, changes.jump_depth) == (
        90,
        8,
        43,
        3,
    )
    # The file has Black's values from Black's side; the corpus has them from White's
    # side.
    assert reply is not None and reply.played is not None
    assert (reply.best, reply.whole.cp, reply.played.cp) == ("a8c8", 79, 91)


def test_of_a_move_the_search_counts_among_other_comments() -> None:
    [text] = read_game_texts(str(SAMPLE))
    assert not isinstance(text, bytes)
    marked = text.movetext.replace(b"c1d2 {", b"c1d2 {Well played} {")
    marked = marked.replace(b"} (", b"} {as all know} (", 1)
    assert marked != text.movetext
    assert (
        read_alliot(text._replace(movetext=marked)).searched
        == read_alliot(text).searched
    )


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        (b"c1d2 {", b"xyz c1d2 {"),
        (b"c1d2 {", b"c1d23 {"),
        (b"c1d2 {", b"a1a8 {"),
        (b"c1d2 {", b"-- {"),
        (b"(a8c8", b"a8c8"),
        (b"})", b"}"),
        (b"}", b""),
    ],
)
def test_a_damaged_game_is_not_read_in_part(whole: bytes, damaged: bytes) -> None:
    [text] = read_game_texts(str(SAMPLE))
    assert not isinstance(text, bytes)
    assert whole in text.movetext
    movetext = damaged.join(text.movetext.rsplit(whole, 1))
    with pytest.raises(DamagedGame):
        read_alliot(text._replace(movetext=movetext))


def test_what_we_write_reads_back_to_the_same_figures(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db", SEARCHED)
    there = tmp_path / "alliot.pgn"
    with CorpusDatabase(corpus) as database:
        games = list(database.read_searched_games(1, 0, 100))
        setting = database.read_settings()[1]
        names, events = database.read_players(), database.read_events()
        texts = (write_alliot(*each, setting, names, events) for each in games)
        there.write_text("".join(texts))
    with CorpusDatabase(tmp_path / "back.db", create=True) as database:
        added = add_file(database, str(there), GIVEN)
        assert (added.new, added.damaged, added.evaluated) == (13, 0, 13)
        back = list(database.read_searched_games(1, 0, 100))
        assert database.read_settings()[1] == setting
    for (game, searched), (again, searched_again) in zip(games, back, strict=True):
        assert game.moves == again.moves
        assert game.date == again.date is not None
        rows = build_move_rows(game, searched), build_move_rows(again, searched_again)
        for one, other in zip(*rows, strict=True):
            # The compared cells are move, first choice, score and same-search gain.
            assert one[10:14] == other[10:14]


def test_a_run_broken_off_anywhere_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [SEARCHED, DATA / "four-boards.pgn", DATA / "otb-2024-25.pgn"]
    whole, broken = corpus_of(tmp_path / "whole.db", *files), tmp_path / "broken.db"
    monkeypatch.setattr(add_games, "BATCH", 3)
    for last in (1, 2, 5, 5, 8, 9, 11, 13, 13, 13):

        def progress(added: AddedGames, last: int = last) -> None:
            if added.texts >= last:
                raise KeyboardInterrupt

        with (
            suppress(KeyboardInterrupt),
            CorpusDatabase(broken, create=True) as database,
        ):
            for file in files:
                add_file(database, str(file), GIVEN, progress)
    corpus_of(broken, *files)
    assert content(broken) == content(whole)


def test_a_target_that_cannot_be_written_is_known_before_anything_is_read(
    tmp_path: Path,
) -> None:
    target = str(tmp_path / "nowhere" / "alliot.txt")
    with pytest.raises(InputError) as refused:
        write_alliot_database(tmp_path / "none.db", None, target)
    assert target in str(refused.value) and "cannot be written" in str(refused.value)
