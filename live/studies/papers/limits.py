"""Figures of one engine with several limits and gains, beside each other: how far an
order depends on them. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from live.studies.corpus_database import SearchSetting
from live.studies.papers.comparison import Comparison, put_in_place_of_paper
from live.studies.papers.printed import PrintedTable

#: An order of fewer rows says nothing of a limit.
_LEAST_ROWS = 7


class SearchLimit(NamedTuple):
    """How much an engine searches, and of what: so limits of one kind have an order."""

    engine: str
    """Its name without options."""
    kind: str
    """``nodes`` or ``depth``, with the lines."""
    amount: int
    name: str


def read_limit(setting: SearchSetting | None) -> SearchLimit:
    """Read the limit of a setting; None is no engine."""
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
    """Choose of each table, engine, kind of limit and gain the comparison with the most
    rows, and of several such the one with the highest limit; one for each number of
    games that they rest on.
    """
    chosen: dict[tuple[str | int, ...], Comparison] = {}
    ranks: dict[tuple[str | int, ...], tuple[int, int]] = {}
    for each in comparisons:
        limit = read_limit(each.setting)
        key = each.table.name, limit.engine, limit.kind, each.gain, each.games
        rank = each.rows_done, limit.amount
        if rank > ranks.get(key, (-1, 0)):
            chosen[key] = each
            ranks[key] = rank
    return [*chosen.values()]


class LimitsBeside(NamedTuple):
    """Figures of one table beside each other; None where one of two is not there."""

    table: PrintedTable
    gain: str
    limits: Sequence[Comparison | None]
    """Each limit beside the next."""
    paper: Sequence[Comparison | None]
    """Each limit beside the paper."""


def list_limits(comparisons: Iterable[Comparison]) -> list[SearchLimit]:
    """List limits that orders are known with, the lowest first: of the engine and kind
    that has the most; nothing where none has two.
    """
    kinds: dict[tuple[str, str], set[SearchLimit]] = {}
    for each in comparisons:
        if _has_order(each):
            limit = read_limit(each.setting)
            kinds.setdefault((limit.engine, limit.kind), set()).add(limit)
    most = max(kinds.values(), key=len, default=set[SearchLimit]())
    return sorted(most) if len(most) > 1 else []


def compare_limits(comparisons: Iterable[Comparison]) -> Iterator[LimitsBeside]:
    """Put each limit beside the next and beside the paper, by table and gain."""
    known = [each for each in comparisons if _has_order(each)]
    limits = list_limits(known)
    groups: dict[tuple[str, str], dict[SearchLimit, Comparison]] = {}
    for each in known:
        group = groups.setdefault((each.table.name, each.gain), {})
        group[read_limit(each.setting)] = each
    for (_, gain), group in groups.items():
        beside = [_put_beside(group, *pair) for pair in pairwise(limits)]
        if any(beside):
            table = next(iter(group.values())).table
            yield LimitsBeside(table, gain, beside, [*map(group.get, limits)])


def _put_beside(
    group: Mapping[SearchLimit, Comparison], one: SearchLimit, other: SearchLimit
) -> Comparison | None:
    lower, higher = group.get(one), group.get(other)
    # Of two draws of games more than the limit differs.
    if lower is None or higher is None or lower.games != higher.games:
        return None
    return put_in_place_of_paper(higher, lower)


class GainsBeside(NamedTuple):
    """Figures by one gain beside those by the other, at each limit."""

    table: PrintedTable
    limits: Sequence[Comparison | None]


def compare_gains(comparisons: Iterable[Comparison]) -> Iterator[GainsBeside]:
    """Put both gains beside each other, by table, at each limit."""
    known = [each for each in comparisons if _has_order(each)]
    limits = list_limits(known)
    groups: dict[str, dict[SearchLimit, list[Comparison]]] = {}
    for each in known:
        group = groups.setdefault(each.table.name, {})
        group.setdefault(read_limit(each.setting), []).append(each)
    for group in groups.values():
        pairs = [group.get(limit, []) for limit in limits]
        beside = [
            put_in_place_of_paper(*pair) if len(pair) == 2 else None for pair in pairs
        ]
        if any(beside):
            yield GainsBeside(next(iter(group.values()))[0].table, beside)


def _has_order(each: Comparison) -> bool:
    is_ordered = each.setting is not None and bool(each.table.agreement)
    return is_ordered and each.rows_done >= _LEAST_ROWS
