"""What a table is made from, a corpus, one of its settings, and a selection of its
games; how it is made, and its forms for people, spreadsheets and programs.

Every move as a row: what is analysed, and what pandas, R and SQL read.

One Parquet file for every thousand games of a corpus and each setting, made from the
database by the methods' own code, so that no formula stands in a query. A file is
written under another name and put in place whole, and its name has a mark of what it
was made from, so that a kill leaves none half written and one that is up to date is not
made again. ``COLUMNS`` is the documented schema.

One player's moves, counted for the methods that a table is about, a row of the corpus
at a time.

The same corpus gives the same bytes every time: rows have an order of their own, and
numbers are written with as many digits as they deserve. Counters hold figures by
centipawn and by class, never by game, so that memory does not grow with the number of
games.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import chess
import msgspec
import polars
from polars import DataFrame, Int64, col

from live.errors import InputError
from live.messages.figures import GainKind
from live.messages.values import Color, Value
from live.ratings.alliot import (
    GUID_BRATKO,
    PONDERATED,
    RAW,
    TANH_CONFORMANCE,
    AccumulatedConformance,
    convert_to_gain,
    is_counted,
)
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.ferreira import GainHistogram, compute_expected_score_between
from live.ratings.intrinsic_rating import build_spread, explain_left_out
from live.ratings.markov import NINETEEN, EvaluationClasses, Transitions
from live.ratings.score_interval import ClusteredScores, GameScores
from live.server.analysis import to_json
from live.studies.corpus_database import (
    CorpusDatabase,
    MoveSearch,
    NumberedGame,
    PositionSearch,
    SearchedGame,
    SearchSetting,
    compute_gains,
    find_named,
)

#: Games in one file: as much as is ever held at once.
GAMES_A_FILE = 1000
#: Changes when the meaning of a column does.
SCHEMA = 1

#: Name, type and meaning of each column, in their order.
COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("game", "Int64", "number of the game in the corpus"),
    ("ply", "Int16", "from 1"),
    ("colour", "String", "of the mover: white, black"),
    ("player", "Int32", "number of the mover; null where nobody is named"),
    ("opponent", "Int32", "number of the other"),
    ("elo", "Int16", "the mover's own rating at the time"),
    ("opponent_elo", "Int16", "the opponent's"),
    ("event", "Int32", "number of the event"),
    ("year", "Int16", "of the game's date"),
    (
        "score",
        "Float32",
        "what the game gave the mover: 1, 0.5, 0; null without a result",
    ),
    ("move", "String", "played, UCI"),
    ("best", "String", "the engine's first choice, UCI"),
    (
        "best_cp",
        "Int16",
        "score of the position before the move, mover's side, mate 3900",
    ),
    ("gain_cp", "Int16", "same-search gain: move played less first choice, at most 0"),
    (
        "successive_cp",
        "Int16",
        "successive gain: score after the move less score before it",
    ),
    ("forced", "Boolean", "the only legal move"),
    ("counted", "Boolean", "counts for Alliot: from move 10 on, not forced"),
    ("depth", "Int16", "of the search of the position"),
    ("seldepth", "Int16", "selective depth"),
    ("time_ms", "Int32", "of the search of the position"),
    ("nodes", "Int64", "of the search of the position"),
    ("tbhits", "Int64", "of the search of the position"),
    ("stability_cp", "Float32", "mean change of the score between successive depths"),
    ("jump_cp", "Int16", "largest such change"),
    ("jump_depth", "Int16", "the depth of the largest"),
    (
        "deltas",
        "List(Float64)",
        "pawns behind the best move of each line, scaled; several lines",
    ),
    ("played_line", "Int16", "which of them was played, from 0"),
    (
        "turn_left_out",
        "String",
        "why the turn does not count for Regan and Haworth; empty: counts",
    ),
)


def update_move_files(database: CorpusDatabase, setting: int) -> list[Path]:
    """Bring the Parquet files of one setting up to date; return them in the order of
    their games.

    Raises InputError for results that cannot be read.
    """
    folder = Path(f"{database.path}-moves", f"setting-{setting}")
    folder.mkdir(parents=True, exist_ok=True)
    known = database.execute(
        "SELECT games.game, digest, result, other_result, white, black, white_elo,"
        " black_elo, event, length(positions) FROM results JOIN games USING (game)"
        " WHERE setting = ? ORDER BY games.game",
        (setting,),
    )
    files = []
    for block, games in itertools.groupby(known, lambda row: row[0] // GAMES_A_FILE):
        # Of all that its rows are made from.
        mark = hashlib.blake2b(str(SCHEMA).encode(), digest_size=16)
        for row in games:
            mark.update(repr(tuple(row)).encode())
        first = block * GAMES_A_FILE
        file = folder / f"games-{first:09}-{mark.hexdigest()}.parquet"
        files.append(file)
        if not file.is_file():
            searched = database.read_searched_games(
                setting, first, first + GAMES_A_FILE
            )
            rows: list[tuple[Any, ...]] = []
            for game in searched:
                rows += build_move_rows(*game)
            frame = DataFrame(rows, schema=build_schema(), orient="row")
            for stale in folder.glob(f"games-{first:09}*"):
                stale.unlink()
            partial = file.with_suffix(".partial")
            frame.write_parquet(partial, compression="zstd", statistics=False)
            os.replace(partial, file)
    return files


def build_schema() -> Mapping[str, Any]:
    """Return the columns with their polars types."""
    return {
        name: polars.List(polars.Float64)
        if kind.startswith("List")
        else getattr(polars, kind)
        for name, kind, _ in COLUMNS
    }


_SCORES = {"1-0": (1.0, 0.0), "0-1": (0.0, 1.0), "1/2-1/2": (0.5, 0.5)}


def build_move_rows(
    game: NumberedGame, searched: SearchedGame
) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each move of which anything is known, in the order of
    ``COLUMNS``.
    """
    scores = _SCORES.get(game.result, (None, None))
    players = (game.white, game.black)
    elos = (game.white_elo, game.black_elo)
    board = chess.Board(game.start_fen, chess960=game.chess960)
    seen: set[str] = set()
    multiple = any(position and position.lines for position in searched.positions)
    for index, uci in enumerate(game.moves):
        position = searched.positions[index]
        epd = board.epd() if multiple else ""
        if position is not None:
            # The mover's come first.
            step = 1 if board.turn else -1
            color: Color = "white" if board.turn else "black"
            # Two are enough to know that there is a choice.
            forced = len(list(itertools.islice(board.legal_moves, 2))) == 1
            yield (
                game.game,
                index + 1,
                color,
                *players[::step],
                *elos[::step],
                game.event,
                game.year,
                scores[::step][0],
                uci,
                position.best or None,
                step * position.whole.cp,
                *compute_gains(position, searched.positions[index + 1], uci, color),
                forced,
                is_counted(index + 1, forced=forced),
                *_build_search_cells(position.whole),
                *_build_turn_cells(
                    position, uci, step, index + 1, repeated=epd in seen
                ),
            )
        seen.add(epd)
        board.push(chess.Move.from_uci(uci))
        board.clear_stack()


def _build_search_cells(whole: MoveSearch) -> tuple[Any, ...]:
    """Return what the search cost, if that is known, and how its score changed from
    depth to depth.
    """
    spent = whole.nodes or whole.time_ms
    changes = whole.complexity
    return (
        whole.depth or None,
        whole.seldepth or None,
        whole.time_ms if spent else None,
        whole.nodes or None,
        whole.tbhits if spent else None,
        *(
            (changes.stability_cp, changes.jump_cp, changes.jump_depth)
            if changes
            else [None] * 3
        ),
    )


def _build_turn_cells(
    position: PositionSearch, uci: str, sign: int, ply: int, *, repeated: bool
) -> tuple[Any, ...]:
    """Return the columns of Regan and Haworth; None if one line was searched."""
    if not position.lines:
        return None, None, None
    spread = build_spread([(move, sign * cp) for move, cp in position.lines], uci)
    return (
        list(spread.deltas),
        spread.played,
        explain_left_out(spread, ply, repeated=repeated) or "",
    )


#: Players that a table is about, unless it is said how many.
TOP = 20
#: Games found by a part of a name are listed up to here when it fits several.
_LISTED = 6


class Selection(Value, kw_only=True):
    """Which games and players a table is about."""

    players: tuple[str, ...] = ()
    """Names or parts of them; empty: those with the most searched games."""
    top: int | None = None
    """How many of those; None: ``TOP``."""
    events: tuple[str, ...] = ()
    """Parts of names; a game of any of them counts. Empty: all games."""
    first_year: int | None = None
    last_year: int | None = None
    min_moves: int = 0
    """Players, or player-years, with fewer moves are left out."""
    gain: GainKind = "same-search"


def choose_gain_column(gain: GainKind) -> str:
    """Return the column that holds gains of this kind."""
    return "gain_cp" if gain == "same-search" else "successive_cp"


class ChosenGames(NamedTuple):
    """Games by their numbers, and the people in them whom a table is about."""

    games: Sequence[int]
    people: Mapping[str, Sequence[int]]
    """Numbers of each in the corpus: sources spell one person in several ways."""


class Encounter(NamedTuple):
    """Games of one player against another, from that player's side."""

    won: int = 0
    drawn: int = 0
    lost: int = 0
    elo: float = 0
    """By how much the player was rated higher, summed over games with a result."""
    rated: int = 0
    """Games with a result and both ratings."""

    @property
    def decided(self) -> int:
        """Games with one result."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """Of the player."""
        return self.won + 0.5 * self.drawn


class StudyData:
    """One selection. Files of moves are brought up to date when first asked for.

    ``number`` None: games count whether they are searched or not, and there are no
    moves.
    """

    def __init__(
        self,
        database: CorpusDatabase,
        number: int | None,
        setting: SearchSetting,
        selection: Selection,
        chosen: ChosenGames | None = None,
    ) -> None:
        """Take the games of a selection, or of these the ones ``chosen`` by number."""
        self.database = database
        self.setting = setting
        self.selection = selection
        self._number = number
        self._by_number = chosen
        self.events = database.read_events()
        """Names of all by number."""
        self._events = self._choose_events()
        self.players = self._choose_players()
        """Names by number, in the order of the table."""

    def read_moves(
        self, columns: Sequence[str], *, all_players: bool = False
    ) -> Iterator[DataFrame]:
        """Yield rows of the selected games, one file at a time, in the order of games
        and plies.
        """
        for file in self._files:
            yield (
                self._filter_moves(polars.scan_parquet(file), all_players)
                .select(columns)
                .collect()
            )

    def scan_moves(self, *, all_players: bool = False) -> polars.LazyFrame:
        """Return the same rows of all files as one lazy frame: nothing is read until it
        is collected.
        """
        files = self._files
        known = (
            polars.scan_parquet(files)
            if files
            else polars.LazyFrame(schema=build_schema())
        )
        return self._filter_moves(known, all_players)

    @cached_property
    def _files(self) -> list[Path]:
        return (
            []
            if self._number is None
            else update_move_files(self.database, self._number)
        )

    def _filter_moves(
        self, moves: polars.LazyFrame, all_players: bool
    ) -> polars.LazyFrame:
        chosen = moves.filter(polars.sql_expr(self.where))
        if self._by_number is not None:
            first: dict[int, int] = {}
            for numbers in self._by_number.people.values():
                if numbers:
                    first |= dict.fromkeys(numbers, numbers[0])
            chosen = chosen.filter(
                col("game").is_in([*self._by_number.games])
            ).with_columns(col("player").replace(first), col("opponent").replace(first))
        return (
            chosen
            if all_players
            else chosen.filter(col("player").is_in([*self.players]))
        )

    @property
    def where(self) -> str:
        """The choice of games as a condition of SQL, over ``games`` and over rows of
        moves.
        """
        first = self.selection.first_year
        last = self.selection.last_year
        parts = [
            None
            if self._events is None
            else f"event IN ({', '.join(map(str, self._events))})",
            None if first is None else f"year >= {first:d}",
            None if last is None else f"year <= {last:d}",
        ]
        return " AND ".join(part for part in parts if part) or "TRUE"

    def _write_condition(self, searched: bool) -> str:
        results = f"(SELECT game FROM results WHERE setting = {self._number})"
        return f"{self.where} AND game IN {results}" if searched else self.where

    def count_encounters(
        self, *, searched: bool
    ) -> dict[tuple[int, int | None, int | None], Encounter]:
        """Games of the selected players by player, opponent and event; ``searched``: of
        those that are searched in this setting.
        """
        where = self._write_condition(searched)
        rows = self.database.execute(
            "WITH told AS (SELECT white, black, event, CASE WHEN other_result IS NOT"
            " NULL THEN NULL WHEN result = '1-0' THEN 1.0 WHEN result = '0-1' THEN"
            " 0.0 WHEN result = '1/2-1/2' THEN 0.5 END AS points, white_elo -"
            f" black_elo AS ahead FROM games WHERE {where}), sides AS (SELECT white AS"
            " player, black AS opponent, event, points, ahead FROM told UNION ALL"
            " SELECT black, white, event, 1 - points, -ahead FROM told) SELECT"
            " player, opponent, event, count(CASE points WHEN 1 THEN 1 END),"
            " count(CASE points WHEN 0.5 THEN 1 END), count(CASE points WHEN 0 THEN 1"
            " END), total(ahead * (points IS NOT NULL)), count(ahead + points) FROM"
            " sides WHERE player IS NOT opponent GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )
        return {
            tuple(row[:3]): Encounter(*row[3:])
            for row in rows
            if row[0] in self.players
        }

    def _choose_events(self) -> list[int | None] | None:
        if not self.selection.events:
            return None
        # A name of nothing is part of every name.
        wanted = [part.casefold() for part in self.selection.events if part]
        found: list[int | None] = []
        for number, name in self.events.items():
            if any(part in name.casefold() for part in wanted):
                found.append(number)
        if not found:
            problem = f"no event is called {self.selection.events[0]!r}"
            raise InputError("--event", problem, "See study status")
        return found

    def _choose_players(self) -> dict[int, str]:
        if self._by_number is not None:
            people = self._by_number.people.items()
            return {numbers[0]: name for name, numbers in people if numbers}
        if self.selection.players:
            names = self.database.read_players()
            return dict(
                self._find_named(part, names) for part in self.selection.players
            )
        where = self._write_condition(self._number is not None)
        rows = self.database.execute(
            "SELECT player, name FROM (SELECT white AS player FROM games WHERE"
            f" {where} UNION ALL SELECT black FROM games WHERE {where}) JOIN players"
            " USING (player) GROUP BY player ORDER BY count(*) DESC, name, player"
            " LIMIT ?",
            (self.selection.top or TOP,),
        )
        return dict(map(tuple, rows))

    def _find_named(self, part: str, names: dict[int, str]) -> tuple[int, str]:
        found = find_named(part, names)
        if len(found) == 1:
            return found[0], names[found[0]]
        if not found:
            raise InputError(
                "--player", f"nobody is called {part!r}", "See study status"
            )
        listed = "; ".join(names[number] for number in found[:_LISTED])
        raise InputError(
            "--player", f"{part!r} may be {listed}", "Give more of the name"
        )


#: The engine's gains where they are all 0.
SPIKE = GainHistogram([0])
#: What counters' ``add`` takes.
COUNTED_COLUMNS = (
    "game",
    "player",
    "colour",
    "year",
    "event",
    "opponent",
    "elo",
    "score",
    "best_cp",
    "gain_cp",
    "successive_cp",
    "counted",
    "ply",
)

Moves = TypeVar("Moves", bound="PlayerMoves")


class PlayerMoves:
    """A player's gains (Ferreira 2012), games and ratings."""

    def __init__(self, gain: GainKind) -> None:
        self._gain: GainKind = gain
        self.gains = GainHistogram()
        """By the gain that is studied."""
        self.games = 0
        self._elo = 0
        self._rated = 0
        self._clusters = ClusteredScores()

    def add(self, moves: DataFrame) -> None:
        """All moves of some games, with the columns of ``COUNTED_COLUMNS``."""
        gain = col(choose_gain_column(self._gain)).cast(Int64)
        parts = gain.sign() + 1
        games = moves.group_by("game").agg(
            col("elo").first(),
            n=gain.count(),
            total=parts.sum(),
            squares=(parts**2).sum(),
        )
        self.games += len(games)
        self._elo += int(games["elo"].sum())
        self._rated += games["elo"].count()
        for scores in games.select("n", "total", "squares").iter_rows():
            self._clusters.add(GameScores(*scores))
        self.gains.merge(GainHistogram(moves.select(gain).to_series().drop_nulls()))

    @property
    def elo(self) -> float | None:
        """Mean of the own ratings over games that have one."""
        return self._elo / self._rated if self._rated else None

    @property
    def expected_score(self) -> float | None:
        """Against the engine, its gains all 0 (Ferreira 2012, Algorithm 3, step 1)."""
        return compute_expected_score_between(self.gains, SPIKE)

    def compute_score_interval(self) -> tuple[float, float] | tuple[None, None]:
        """Return the 95 % interval of the expected score, with games as clusters."""
        most = 1 if self._gain == "same-search" else 2
        return self._clusters.compute_interval(2, most) or (None, None)

    def compute_differences(self) -> tuple[float | None, float | None, float | None]:
        """Return the Elo difference to the engine and both ends of its 95 % interval,
        with games as clusters; None where unbounded.
        """
        score = self.expected_score
        low, high = self.compute_score_interval()
        if score is None or low is None or high is None:
            return None, None, None
        return (
            convert_score_to_difference(score),
            convert_score_to_difference(low),
            convert_score_to_difference(high),
        )


class ConformingMoves(PlayerMoves):
    """The same with the three kinds of conformance (Alliot 2017, section 3.2) and
    results.
    """

    def __init__(self, gain: GainKind) -> None:
        super().__init__(gain)
        self.kinds = [
            AccumulatedConformance(kind) for kind in (RAW, GUID_BRATKO, PONDERATED)
        ]
        self.ponderated = self.kinds[-1]
        self.points = 0.0
        self.results = 0

    def add(self, moves: DataFrame) -> None:
        """All moves of some games, with the columns of ``COUNTED_COLUMNS``."""
        super().add(moves)
        # A game's result is counted with its first move that counts, or a forfeit would
        # be a game of the player who made its one move.
        known = moves.filter("counted").drop_nulls("gain_cp")
        for best_cp, gain_cp, ply in known.select(
            "best_cp", "gain_cp", "ply"
        ).iter_rows():
            for conformance in self.kinds:
                conformance.add(best_cp, gain_cp, ply=ply)
        scores = known.drop_nulls("score").unique("game")["score"]
        self.points += float(scores.sum())
        self.results += len(scores)


class PairedMoves(PlayerMoves):
    """The same with what pairings are predicted by (Alliot 2017, sections 3.3 and
    3.4).
    """

    def __init__(self, gain: GainKind, classes: EvaluationClasses = NINETEEN) -> None:
        super().__init__(gain)
        self.shortfalls = GainHistogram()
        self.tanh = GainHistogram()
        self.transitions = Transitions(classes)

    @property
    def counted(self) -> int:
        """Moves that count for Alliot."""
        return self.shortfalls.n

    def add(self, moves: DataFrame) -> None:
        """All moves of some games, with the columns of ``COUNTED_COLUMNS``."""
        super().add(moves)
        known = moves.filter("counted").drop_nulls("gain_cp")
        self.shortfalls.merge(GainHistogram(known["gain_cp"]))
        columns = "colour", "best_cp", "gain_cp", "year"
        for color, best_cp, gain_cp, year in known.select(columns).iter_rows():
            weighed = convert_to_gain(TANH_CONFORMANCE, best_cp, gain_cp)
            if weighed is not None:
                self.tanh.add(weighed)
            self.transitions.add(color, best_cp, gain_cp, year or 0)

    def merge(self, other: PairedMoves) -> None:
        """Count what pairings are predicted by of ``other`` too."""
        self.shortfalls.merge(other.shortfalls)
        self.tanh.merge(other.tanh)
        self.transitions.merge(other.transitions)


def gather_moves(
    data: StudyData,
    make: Callable[[GainKind], Moves],
    *keys: str,
    places: DataFrame | None = None,
    only: Sequence[tuple[Any, ...]] | None = None,
) -> dict[tuple[Any, ...], Moves]:
    """The selected players' moves by columns. ``places``: more columns, by player,
    opponent and event. ``only``: of these values of the columns, where not of all.
    """
    found: dict[tuple[Any, ...], Moves] = {}
    for frame in data.read_moves(COUNTED_COLUMNS):
        if places is not None:
            where = ["player", "opponent", "event"]
            frame = frame.join(
                places, on=where, how="left", nulls_equal=True, maintain_order="left"
            )
        for key, moves in frame.partition_by(*keys, as_dict=True).items():
            if only is not None and key not in only:
                continue
            if key not in found:
                found[key] = make(data.selection.gain)
            found[key].add(moves)
    return found


def gather_by_player(
    data: StudyData, make: Callable[[GainKind], Moves]
) -> dict[int, Moves]:
    """Gather moves by the player's number, in the order of the selection; leave out
    players with too few moves.
    """
    found = gather_moves(data, make, "player")
    least = max(1, data.selection.min_moves)
    known = {player: found[player,] for player in data.players if (player,) in found}
    return {player: moves for player, moves in known.items() if moves.gains.n >= least}


def gather_by_year(
    data: StudyData, make: Callable[[GainKind], Moves]
) -> dict[tuple[int, int], Moves]:
    """Gather moves by player and year; leave out games without a year."""
    found = gather_moves(data, make, "player", "year")
    return {
        (player, year): moves
        for (player, year), moves in found.items()
        if year is not None
    }


# --- tables ---------------------------------------------------------------------------

Cell = str | int | float | None
Row = tuple[Cell, ...]


class TableColumn(NamedTuple):
    """What stands in one column."""

    name: str
    digits: int | None = None
    """Decimals of a number; None for words and whole numbers."""
    meaning: str = ""
    """For people, where the name does not say it."""


#: A name, or with it digits and meaning as in ``TableColumn``.
Column = str | tuple[str, int | None] | tuple[str, int | None, str]


def build_interval_columns(
    name: str, digits: int, meaning: str = "", low: str = "low", high: str = "high"
) -> tuple[Column, Column, Column]:
    """Return the columns of a figure and of both ends of its interval."""
    return (
        (name, digits, meaning),
        (low, digits, f"95 % interval of {name}"),
        (high, digits),
    )


class StudyTable(Value):
    """One table."""

    name: str
    title: str
    source: str
    """Paper and number of the table or figure that it answers to."""
    engine: str
    """Engine and limit that its figures hold for; empty where none had a say."""
    columns: tuple[TableColumn, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What has to be known to read it; the paper's own figures where they are few."""


class TableHead(NamedTuple):
    """What of a table is known only when it is made; given among its rows."""

    title: str
    columns: tuple[Column, ...] = ()


Rows = Iterator[Row | str | TableHead]
"""What a table is made of: a word alone is a note, before those that the table always
has.
"""
Maker = TypeVar("Maker", bound=Callable[..., Rows])


class TableKind(NamedTuple):
    """How a table is made from a ``StudyData``, and what it always says."""

    make: Callable[..., Rows]
    title: str
    source: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    engine: str
    about: Literal["players", "everybody", "named"]
    by: tuple[str, ...]


#: Every table by its name; a module adds its own when it is imported.
TABLES: dict[str, TableKind] = {}
#: Gains of one kind, whatever is studied.
SUCCESSIVE = "{setting}, successive gain"


def register_table(
    name: str,
    title: str,
    source: str,
    *columns: Column,
    notes: tuple[str, ...] = (),
    engine: str = "{setting}, {gain} gain",
    about: Literal["players", "everybody", "named"] = "players",
    by: tuple[str, ...] = (),
) -> Callable[[Maker], Maker]:
    """Put a table among ``TABLES``. The function below gives its rows.

    ``engine``: what figures hold for; empty: games alone, and no engine has a say.
    ``about``: the players selected; everybody, so that ``--player`` and ``--top``
    choose nothing; or all together and beside them those named, so that ``--top`` does
    not. ``by``: what it can be paired or grouped by, the usual first: the function's
    second argument.
    """

    def add(make: Maker) -> Maker:
        TABLES[name] = TableKind(make, title, source, columns, notes, engine, about, by)
        return make

    return add


TableForm = Literal["text", "csv", "json"]


def format_table(table: StudyTable, form: TableForm) -> str:
    """Return the table as text, ending with a newline."""
    digits = [column.digits for column in table.columns]
    cells = [[*map(_round_cell, row, digits)] for row in table.rows]
    if form == "json":
        columns = [
            {"name": each.name, "meaning": each.meaning} for each in table.columns
        ]
        whole = msgspec.structs.asdict(table) | {"columns": columns, "rows": cells}
        return to_json(whole).decode()
    words = [[column.name for column in table.columns]]
    words += [[*map(_format_cell, row, digits)] for row in cells]
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(words)
        return out.getvalue()
    aligned = []
    for index, column in enumerate(zip(*words, strict=True)):
        width = max(map(len, column))
        if any(isinstance(row[index], str) for row in cells):
            aligned.append([word.ljust(width) for word in column])
        else:
            aligned.append([word.rjust(width) for word in column])
    lines = [table.title, table.source, table.engine, ""]
    lines += ["  ".join(row).rstrip() for row in zip(*aligned, strict=True)]
    if not cells:
        lines.append("(nothing in this selection)")
    lines += ["", *table.notes] if table.notes else []
    lines += [f"{each.name}: {each.meaning}" for each in table.columns if each.meaning]
    return "\n".join(lines) + "\n"


def _round_cell(value: Cell, digits: int | None) -> Cell:
    """Round a number to its digits, never to a negative zero; return anything else as
    it is.
    """
    if isinstance(value, float) and digits is not None:
        return round(value, digits) + 0.0
    return value


def _format_cell(value: Cell, digits: int | None) -> str:
    if isinstance(value, float) and digits is not None:
        return f"{value:.{digits}f}"
    return "" if value is None else str(value)


def build_table(name: str, data: StudyData, by: str | None = None) -> StudyTable:
    """Make one table. ``by``: one of the ways that it can be paired or grouped by.

    Raises InputError for a name or ``by`` that there is not.
    """
    if name not in TABLES:
        raise InputError(name, "is no table", f"Name one of {', '.join(TABLES)}")
    kind = TABLES[name]
    if by is not None and by not in kind.by:
        remedy = f"Give one of {', '.join(kind.by)}" if kind.by else "Leave it out"
        raise InputError("--by", f"{by!r} says nothing to {name}", remedy)
    title = kind.title
    columns = kind.columns
    notes = list[str]()
    rows = list[Row]()
    for found in kind.make(data, by or kind.by[0]) if kind.by else kind.make(data):
        if isinstance(found, TableHead):
            title = found.title
            columns = found.columns or columns
        elif isinstance(found, str):
            notes.append(found)
        else:
            rows.append(found)
    return StudyTable(
        name,
        title,
        kind.source,
        kind.engine.format(setting=data.setting, gain=data.selection.gain),
        tuple(
            TableColumn(*([each] if isinstance(each, str) else each))
            for each in columns
        ),
        tuple(rows),
        (*notes, *kind.notes),
    )
