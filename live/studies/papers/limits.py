"""Comparison of figures of one engine with several limits and gains: how far an order
depends on them. All functions are pure.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from live.studies.papers.comparison import Comparison, replace_printed_figures
from live.studies.papers.printed import PrintedTable
from live.studies.searched_games import SearchSetting

#: Smallest number of rows that a table needs for its order to be compared between
#: limits.
_LEAST_ROWS = 7


class SearchLimit(NamedTuple):
    """Limit of an engine's searches, split into kind and amount, so that limits of one
    kind can be sorted.
    """

    engine: str
    """Name of the engine without its options."""
    kind: str
    """Text of the limit without its number: ``nodes`` or ``depth``, with the lines."""
    amount: int
    name: str


def read_limit(setting: SearchSetting | None) -> SearchLimit:
    """Return the limit of a setting; None means that no engine was used."""
    if setting is None:
        return SearchLimit("no engine", "", 0, "")
    name = str(setting).removeprefix(f"{setting.engine}, ")
    number = re.search(r"\d+", name)
    engine = setting.engine.partition(";")[0]
    if number is None:
        return SearchLimit(engine, name, 0, name)
    kind = name[: number.start()] + name[number.end() :]
    return SearchLimit(engine, kind, int(number[0]), name)


def choose_highest_limits(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return one comparison for each table, engine, kind of limit, gain and number of
    games: the one with the most rows, and among equal ones the one with the highest
    limit.
    """
    highest: dict[tuple[str | int, ...], Comparison] = {}
    ranks: dict[tuple[str | int, ...], tuple[int, int]] = {}
    for comparison in comparisons:
        limit = read_limit(comparison.setting)
        key = (
            comparison.table.name,
            limit.engine,
            limit.kind,
            comparison.gain,
            comparison.games,
        )
        rank = comparison.rows_done, limit.amount
        if rank > ranks.get(key, (-1, 0)):
            highest[key] = comparison
            ranks[key] = rank
    return [*highest.values()]


class OrdersBeside(NamedTuple):
    """Orders of one table that are compared; None where a comparison is missing."""

    table: PrintedTable
    gain: str
    compared: Sequence[Comparison | None]


def list_limits(comparisons: Iterable[Comparison]) -> list[SearchLimit]:
    """Return the limits of which ordered figures are known, the lowest first. Only the
    engine and kind of limit with the most limits is considered; the list is empty if it
    has only one.
    """
    kinds: dict[tuple[str, str], set[SearchLimit]] = {}
    for comparison in comparisons:
        if _has_order(comparison):
            limit = read_limit(comparison.setting)
            kinds.setdefault((limit.engine, limit.kind), set()).add(limit)
    limits = max(kinds.values(), key=len, default=set[SearchLimit]())
    return sorted(limits) if len(limits) > 1 else []


def compare_with_next_limit(
    comparisons: Sequence[Comparison],
) -> Iterator[OrdersBeside]:
    """Compare the figures of each limit with those of the next higher limit, and then
    of each limit with the paper, by table and gain.
    """
    limits = list_limits(comparisons)
    for (_, gain), group in _group_by_limit(comparisons).items():
        beside = [
            _compare_if_same_games(group.get(lower), group.get(higher))
            for lower, higher in pairwise(limits)
        ]
        if any(beside):
            table = next(iter(group.values())).table
            yield OrdersBeside(table, gain, [*beside, *map(group.get, limits)])


def compare_gains(comparisons: Sequence[Comparison]) -> Iterator[OrdersBeside]:
    """Compare the figures of successive gains with those of same-search gains, by table
    and at each limit.
    """
    limits = list_limits(comparisons)
    groups = _group_by_limit(comparisons)
    for (name, gain), group in groups.items():
        same_search = groups.get((name, "same-search"), {})
        beside = [
            _compare_if_same_games(group.get(limit), same_search.get(limit))
            for limit in limits
        ]
        if gain == "successive" and any(beside):
            yield OrdersBeside(next(iter(group.values())).table, gain, beside)


def _group_by_limit(
    comparisons: Iterable[Comparison],
) -> dict[tuple[str, str], dict[SearchLimit, Comparison]]:
    """Return the comparisons with an order by table and gain, and then by limit."""
    groups: dict[tuple[str, str], dict[SearchLimit, Comparison]] = {}
    for comparison in filter(_has_order, comparisons):
        group = groups.setdefault((comparison.table.name, comparison.gain), {})
        group[read_limit(comparison.setting)] = comparison
    return groups


def _compare_if_same_games(
    target: Comparison | None, source: Comparison | None
) -> Comparison | None:
    # Figures from different draws of games are not compared, because they differ in
    # more than the limit.
    if target is None or source is None or target.games != source.games:
        return None
    return replace_printed_figures(source, target)


def _has_order(comparison: Comparison) -> bool:
    is_ordered = comparison.setting is not None and bool(comparison.table.agreement)
    return is_ordered and comparison.rows_done >= _LEAST_ROWS
