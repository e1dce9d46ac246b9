"""A printed table beside what was made here: differences, intervals, order and winners.
Pure.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import msgspec

from live.messages.values import Value
from live.studies.corpus_database import SearchSetting
from live.studies.papers.printed import PrintedRow, PrintedTable


class Measured(NamedTuple):
    """A figure made here, with its 95 % interval where there is one."""

    value: float
    low: float | None = None
    high: float | None = None


class ComparedRow(Value):
    """One printed number beside ours."""

    printed: PrintedRow
    ours: Measured | None
    """None where it cannot be made."""

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.ours is None else self.ours.value - self.printed.value

    @property
    def is_within(self) -> bool | None:
        """Whether the printed number lies in our interval; None without one."""
        if self.ours is None or self.ours.low is None or self.ours.high is None:
            return None
        return self.ours.low <= self.printed.value <= self.ours.high


class OrderKept(NamedTuple):
    """How far two orders agree."""

    pairs: int
    """Pairs of rows that both put in an order."""
    kept: int
    """Those in the same order."""
    rows: int
    moved: int
    """Rows that moved by more than one place: neighbours that changed places are one
    place.
    """


class Comparison(Value, kw_only=True):
    """One table of a paper, made from the games with one engine, limit and gain."""

    paper: str
    table: PrintedTable
    setting: SearchSetting | None
    """None where no engine had a say."""
    gain: str = ""
    rows: tuple[ComparedRow, ...]
    games: int = 0
    """Games that the figures rest on."""
    wanted: int = 0
    """Games of the corpus that the table is about."""
    missing: str = ""
    """Why there is nothing, for people."""

    @property
    def rows_done(self) -> int:
        """Rows that have a figure of ours."""
        return sum(row.ours is not None for row in self.rows)

    @property
    def rows_with_interval(self) -> int:
        """Rows whose figure has an interval that could hold the printed number."""
        if self.table.other_scale:
            return 0
        return sum(row.is_within is not None for row in self.rows)

    @property
    def rows_within(self) -> int:
        """Rows whose printed number lies in our interval."""
        if self.table.other_scale:
            return 0
        return sum(row.is_within is True for row in self.rows)

    @property
    def rows_exact(self) -> int:
        """Rows that are equal with the digits that the paper prints."""
        equal = [
            row
            for row in self.rows
            if row.difference is not None
            and abs(row.difference) <= 0.5 * 10 ** -self.count_digits(row) + 1e-9
        ]
        return len(equal)

    def count_digits(self, row: ComparedRow) -> int:
        """Count decimals of a row: of its table, or as many as its number needs."""
        _, _, decimals = f"{row.printed.value:g}".partition(".")
        return max(self.table.digits, len(decimals))

    @property
    def order(self) -> OrderKept | None:
        """Of all rows that have a figure, the mean of them left out."""
        if self.table.agreement != "order":
            return None
        return compare_orders(
            [row for row in self.rows if row.printed.one != "average"]
        )

    @property
    def winners(self) -> tuple[int, int] | None:
        """How often the same one is ahead, and of how many rows or matches."""
        if self.table.agreement == "winner":
            return count_same_winners(self.rows, find_even_figure(self.table))
        if self.table.agreement == "winner-by-match":
            return count_same_winners_by_match(self.rows)
        return None


def compare(
    paper: str,
    table: PrintedTable,
    measured: Mapping[tuple[str, str, str], Measured],
    *,
    setting: SearchSetting | None = None,
    gain: str = "",
    games: int = 0,
    wanted: int = 0,
    missing: str = "",
) -> Comparison:
    """Put every printed row beside ours."""
    rows = tuple(ComparedRow(row, measured.get(row.key)) for row in table.rows)
    return Comparison(
        paper=paper,
        table=table,
        setting=setting,
        gain=gain,
        rows=rows,
        games=games,
        wanted=wanted,
        missing=missing,
    )


def put_in_place_of_paper(other: Comparison, one: Comparison) -> Comparison:
    """Return ``one`` with another's figures of the same rows as if they were printed:
    two settings or gains are compared as one is with the paper.
    """
    rows = tuple(
        ComparedRow(
            msgspec.structs.replace(row.printed, value=known.ours.value), row.ours
        )
        for row, known in zip(one.rows, other.rows, strict=True)
        if known.ours is not None
    )
    return msgspec.structs.replace(one, rows=rows)


def find_even_figure(table: PrintedTable) -> float:
    """Return the figure at which nobody is ahead: 0 or, for scores, a half."""
    return 0.0 if table.measure.endswith("difference") else 0.5


def compare_orders(rows: Sequence[ComparedRow]) -> OrderKept | None:
    """Compare the orders of rows of one kind; None under two rows. Rows that the paper
    has equal make no pair.
    """
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row.ours is not None:
            groups[row.printed.other].append((row.printed.value, row.ours.value))
    pairs = 0
    kept = 0
    moved = 0
    for group in groups.values():
        for one, other in combinations(group, 2):
            ahead = (one[0] - other[0]) * (one[1] - other[1])
            pairs += one[0] != other[0]
            kept += ahead > 0
        moved += sum(_count_places(row, group) > 1 for row in group)
    count = sum(map(len, groups.values()))
    return OrderKept(pairs, kept, count, moved) if pairs else None


def _count_places(
    row: tuple[float, float], group: Sequence[tuple[float, float]]
) -> int:
    """Return by how many places a row moved. Those that the paper has level may stand
    in any order.
    """
    printed, ours = row
    above = sum(each[0] > printed for each in group)
    level = sum(each[0] == printed for each in group)
    place = sum(each[1] > ours for each in group)
    return max(0, above - place, place - (above + level - 1))


def count_same_winners(rows: Sequence[ComparedRow], even: float) -> tuple[int, int]:
    """Count the rows in which ours is on the same side of ``even``, of those that the
    paper decides.
    """
    decided = [
        row for row in rows if row.ours is not None and row.printed.value != even
    ]
    same = [
        row
        for row in decided
        if row.ours is not None
        and (row.ours.value - even) * (row.printed.value - even) > 0
    ]
    return len(same), len(decided)


def count_same_winners_by_match(rows: Sequence[ComparedRow]) -> tuple[int, int]:
    """Count the same of occasions with two rows, by who has the higher figure."""
    found: dict[str, list[ComparedRow]] = defaultdict(list)
    for row in rows:
        if row.ours is not None:
            found[row.printed.at].append(row)
    same = 0
    decided = 0
    for match in found.values():
        if len(match) == 2:
            one, other = match
            printed = one.printed.value - other.printed.value
            ours = (one.ours.value if one.ours else 0) - (
                other.ours.value if other.ours else 0
            )
            decided += printed != 0
            same += printed * ours > 0
    return same, decided
