"""Comparison of figures of one engine with several limits and gains: how far an order
depends on them. All functions are pure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from live.studies.papers.comparison import Comparison, put_in_place_of_paper
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


class LimitsBeside(NamedTuple):
    """Figures of one table, compared between limits; None where one of two comparisons
    is missing.
    """

    table: PrintedTable
    gain: str
    limits: Sequence[Comparison | None]
    """Comparisons of each limit with the next higher one."""
    paper: Sequence[Comparison | None]
    """Comparisons of each limit with the paper."""


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
    comparisons: Iterable[Comparison],
) -> Iterator[LimitsBeside]:
    """Compare the figures of each limit with those of the next higher limit and of the
    paper, by table and gain.
    """
    ordered = [comparison for comparison in comparisons if _has_order(comparison)]
    limits = list_limits(ordered)
    groups: dict[tuple[str, str], dict[SearchLimit, Comparison]] = {}
    for comparison in ordered:
        group = groups.setdefault((comparison.table.name, comparison.gain), {})
        group[read_limit(comparison.setting)] = comparison
    for (_, gain), group in groups.items():
        beside = [_put_beside(group, *pair) for pair in pairwise(limits)]
        if any(beside):
            table = next(iter(group.values())).table
            yield LimitsBeside(table, gain, beside, [*map(group.get, limits)])


def _put_beside(
    group: Mapping[SearchLimit, Comparison],
    lower_limit: SearchLimit,
    higher_limit: SearchLimit,
) -> Comparison | None:
    lower, higher = group.get(lower_limit), group.get(higher_limit)
    # Figures from different draws of games are not compared, because they differ in
    # more than the limit.
    if lower is None or higher is None or lower.games != higher.games:
        return None
    return put_in_place_of_paper(higher, lower)


class GainsBeside(NamedTuple):
    """Figures of one table, compared between the two kinds of gain, at each limit."""

    table: PrintedTable
    limits: Sequence[Comparison | None]


def compare_gains(comparisons: Iterable[Comparison]) -> Iterator[GainsBeside]:
    """Compare the figures of the two kinds of gain, by table and at each limit."""
    ordered = [comparison for comparison in comparisons if _has_order(comparison)]
    limits = list_limits(ordered)
    groups: dict[str, dict[SearchLimit, list[Comparison]]] = {}
    for comparison in ordered:
        group = groups.setdefault(comparison.table.name, {})
        group.setdefault(read_limit(comparison.setting), []).append(comparison)
    for group in groups.values():
        pairs = [group.get(limit, []) for limit in limits]
        beside = [
            put_in_place_of_paper(*pair) if len(pair) == 2 else None for pair in pairs
        ]
        if any(beside):
            yield GainsBeside(next(iter(group.values()))[0].table, beside)


def _has_order(comparison: Comparison) -> bool:
    is_ordered = comparison.setting is not None and bool(comparison.table.agreement)
    return is_ordered and comparison.rows_done >= _LEAST_ROWS
