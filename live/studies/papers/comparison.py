"""Comparison of a printed table with the figures computed here: differences, intervals,
order and winners. All functions are pure.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import msgspec

from live.messages.values import Value
from live.studies.papers.printed import PrintedRow, PrintedTable
from live.studies.searched_games import SearchSetting


class Measured(NamedTuple):
    """A figure computed by this project, with its 95 % interval if there is one."""

    value: float
    low: float | None = None
    high: float | None = None


class ComparedRow(Value):
    """One printed number beside the number computed here."""

    printed: PrintedRow
    ours: Measured | None
    """None if the figure cannot be computed."""

    @property
    def difference(self) -> float | None:
        """Our figure minus the paper's; None without a figure of ours."""
        return None if self.ours is None else self.ours.value - self.printed.value

    @property
    def is_within(self) -> bool | None:
        """True if the printed number lies in our interval; None without an interval."""
        if self.ours is None or self.ours.low is None or self.ours.high is None:
            return None
        return self.ours.low <= self.printed.value <= self.ours.high


class OrderKept(NamedTuple):
    """Agreement of two orders of the same rows."""

    pairs: int
    """Pairs of rows that are compared: pairs whose printed numbers differ."""
    kept: int
    """Pairs of rows that are in the same order."""
    rows: int
    moved: int
    """Rows that moved by more than one place. Two neighbours that exchanged places have
    moved by one place only.
    """


class Comparison(Value, kw_only=True):
    """One table of a paper, compared for one engine, limit and gain."""

    paper: str
    table: PrintedTable
    setting: SearchSetting | None
    """None if the figures need no engine."""
    gain: str = ""
    rows: tuple[ComparedRow, ...]
    games: int = 0
    """Number of games from which the figures are computed."""
    wanted: int = 0
    """Number of games in the corpus that the table is about."""
    missing: str = ""
    """Reason why there are no figures, for people."""

    @property
    def rows_done(self) -> int:
        """Number of rows for which we have a figure."""
        return sum(row.ours is not None for row in self.rows)

    @property
    def rows_with_interval(self) -> int:
        """Number of rows with an interval that could contain the printed number."""
        if self.table.other_scale:
            return 0
        return sum(row.is_within is not None for row in self.rows)

    @property
    def rows_within(self) -> int:
        """Number of rows whose printed number lies in our interval."""
        if self.table.other_scale:
            return 0
        return sum(row.is_within is True for row in self.rows)

    @property
    def rows_exact(self) -> int:
        """Number of rows that are equal to the precision that the paper prints."""
        equal = 0
        for row in self.rows:
            if row.difference is not None:
                precision = 0.5 * 10 ** -self.count_digits(row) + 1e-9
                equal += abs(row.difference) <= precision
        return equal

    def count_digits(self, row: ComparedRow) -> int:
        """Return the decimals of a row: those of its table, or more if its printed
        number needs more.
        """
        _, _, decimals = f"{row.printed.value:g}".partition(".")
        return max(self.table.digits, len(decimals))

    @property
    def order(self) -> OrderKept | None:
        """Agreement of the order of all rows that have a figure, without the row of the
        average; None if the table has no order.
        """
        if self.table.agreement != "order":
            return None
        return compare_orders(
            [row for row in self.rows if row.printed.one != "average"]
        )

    @property
    def winners(self) -> tuple[int, int] | None:
        """Number of rows or matches in which the printed and our figures put the same
        player ahead, and number of rows or matches compared; None if the table has no
        winners.
        """
        if self.table.agreement == "winner":
            # Neither player is ahead at a difference of 0 or a score of a half.
            is_difference = self.table.measure.endswith("difference")
            return count_same_winners(self.rows, 0.0 if is_difference else 0.5)
        if self.table.agreement == "winner-by-match":
            return count_same_winners_by_match(self.rows)
        return None


def compare(
    paper: str,
    table: PrintedTable,
    measured: Mapping[tuple[str, str, str], Measured | None],
    *,
    setting: SearchSetting | None = None,
    gain: str = "",
    games: int = 0,
    wanted: int = 0,
    missing: str = "",
) -> Comparison:
    """Return the comparison of every printed row with our figure for it."""
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


def group_comparisons(
    comparisons: Iterable[Comparison], name: Callable[[Comparison], str]
) -> dict[str, list[Comparison]]:
    """Return comparisons by what ``name`` returns for them, in their order."""
    groups: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        groups.setdefault(name(comparison), []).append(comparison)
    return groups


def replace_printed_figures(source: Comparison, target: Comparison) -> Comparison:
    """Return ``target`` with our figures of ``source`` in place of the printed ones. In
    this way two settings or gains are compared in the same form as a setting and the
    paper.
    """
    rows = []
    for row, source_row in zip(target.rows, source.rows, strict=True):
        if source_row.ours is not None:
            printed = msgspec.structs.replace(row.printed, value=source_row.ours.value)
            rows.append(ComparedRow(printed, row.ours))
    return msgspec.structs.replace(target, rows=tuple(rows))


def compare_orders(rows: Sequence[ComparedRow]) -> OrderKept | None:
    """Compare the printed order of the rows of each kind with ours; None if there is no
    pair to compare. Two rows with equal printed numbers form no pair.
    """
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row.ours is not None:
            groups[row.printed.other].append((row.printed.value, row.ours.value))
    pairs = 0
    in_order = 0
    moved = 0
    for group in groups.values():
        for first, second in combinations(group, 2):
            ahead = (first[0] - second[0]) * (first[1] - second[1])
            pairs += first[0] != second[0]
            in_order += ahead > 0
        moved += sum(_count_places(row, group) > 1 for row in group)
    count = sum(map(len, groups.values()))
    return OrderKept(pairs, in_order, count, moved) if pairs else None


def _count_places(
    row: tuple[float, float], group: Sequence[tuple[float, float]]
) -> int:
    """Return the number of places by which a row moved. Rows with equal printed numbers
    are allowed in any order.
    """
    printed, ours = row
    above = sum(figures[0] > printed for figures in group)
    level = sum(figures[0] == printed for figures in group)
    place = sum(figures[1] > ours for figures in group)
    return max(0, above - place, place - (above + level - 1))


def count_same_winners(rows: Sequence[ComparedRow], even: float) -> tuple[int, int]:
    """Count the rows in which our figure is on the same side of ``even`` as the printed
    one. Return this number and the number of rows whose printed figure is not ``even``.
    """
    same = 0
    decided = 0
    for row in rows:
        if row.ours is not None and row.printed.value != even:
            decided += 1
            same += (row.ours.value - even) * (row.printed.value - even) > 0
    return same, decided


def count_same_winners_by_match(rows: Sequence[ComparedRow]) -> tuple[int, int]:
    """Count the matches in which the printed and our figures put the same player ahead.
    A match is an occasion with two rows, one for each player. Return this number and
    the number of matches whose printed figures differ.
    """
    matches: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row.ours is not None:
            matches[row.printed.at].append((row.printed.value, row.ours.value))
    same_winners = 0
    decided = 0
    for figures in matches.values():
        if len(figures) == 2:
            (printed, ours), (other_printed, other_ours) = figures
            decided += printed != other_printed
            same_winners += (printed - other_printed) * (ours - other_ours) > 0
    return same_winners, decided
