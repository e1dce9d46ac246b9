"""Comparisons written as Markdown for people, and as CSV for spreadsheets. All
functions are pure.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import filterfalse, pairwise
from operator import attrgetter

from live.studies.papers.comparison import (
    ComparedRow,
    Comparison,
    Measured,
    group_comparisons,
)
from live.studies.papers.limits import (
    choose_highest_limits,
    compare_gains,
    compare_with_next_limit,
    list_limits,
    read_limit,
)
from live.studies.papers.printed import PrintedTable

_CSV_HEAD = (
    "paper",
    "table",
    "where",
    "page",
    "engine",
    "gain",
    "one",
    "other",
    "at",
    "printed",
    "ours",
    "low",
    "high",
    "difference",
)
#: Marks before and after the tables in a page, between which the tables are replaced.
BEGIN = "<!-- tables: written by live-rate study reproduce -->"
END = "<!-- end of tables -->"


def insert_tables(page: str, tables: str) -> str:
    """Return the page with these tables between its marks."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after or chr(10)}"


def build_markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons as Markdown. It has five parts: the sums of all
    comparisons, the dependence of orders on limit and gain, one line for each
    comparison with the highest limit, the missing tables, and the rows of all tables
    that are not too long.
    """
    highest = choose_highest_limits(comparisons)
    lines = [
        *_summarise_comparisons(comparisons),
        *_write_limits(comparisons),
        *_write_dependence_on_gain(comparisons),
        "",
        *_list_comparisons(highest),
        "",
        *_list_missing(comparisons),
    ]
    done = filter(_is_done, highest)
    for group in group_comparisons(done, attrgetter("table.name")).values():
        if not group[0].table.long:
            lines += ["", *_write_table(group)]
    return "\n".join(lines) + "\n"


def build_csv(comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons as CSV: one line for each printed number and each engine,
    limit and gain.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV_HEAD)
    for comparison in comparisons:
        table_cells = (
            comparison.paper,
            comparison.table.name,
            comparison.table.where,
            comparison.table.page or "",
        )
        for row in comparison.rows:
            ours = row.ours or (None, None, None)
            numbers = [*ours, row.difference]
            cells = ["" if number is None else f"{number:.6g}" for number in numbers]
            writer.writerow(
                (
                    *table_cells,
                    comparison.setting or "",
                    comparison.gain,
                    *row.printed.key,
                    row.printed.value,
                    *cells,
                )
            )
    return out.getvalue()


def _summarise_comparisons(comparisons: Sequence[Comparison]) -> Iterator[str]:
    groups = group_comparisons(comparisons, attrgetter("table.name"))
    rows = 0
    rows_done = 0
    for group in groups.values():
        rows += len(group[0].rows)
        rows_done += max(comparison.rows_done for comparison in group)
    yield (
        f"{rows} printed numbers in {len(groups)} tables, columns and figures;"
        f" {rows_done} of them have a figure of ours, with one setting at least."
    )
    done = filter(_is_done, comparisons)
    for label, members in group_comparisons(done, _name_setting).items():
        yield f"- {label}: {', '.join(_sum_agreement(members))}."


def _sum_agreement(comparisons: Sequence[Comparison]) -> list[str]:
    """Describe the sums over the comparisons of one setting."""
    rows = 0
    within = 0
    rows_with_interval = 0
    same_winners = 0
    decided = 0
    orders = []
    for comparison in comparisons:
        rows += comparison.rows_done
        within += comparison.rows_within
        rows_with_interval += comparison.rows_with_interval
        if comparison.winners:
            same_winners += comparison.winners[0]
            decided += comparison.winners[1]
        if comparison.order:
            orders.append(comparison.order)
    parts = [f"{rows} rows"]
    if rows_with_interval:
        parts.append(
            f"{within} of {rows_with_interval} printed numbers within our interval"
        )
    if decided:
        parts.append(f"the same one ahead in {same_winners} of {decided}")
    if orders:
        whole_orders = sum(order.kept == order.pairs for order in orders)
        nearly_whole_orders = sum(not order.moved for order in orders)
        parts.append(
            f"the whole order kept in {whole_orders} of {len(orders)}, and but for"
            f" neighbours in {nearly_whole_orders}"
        )
    return parts


def _is_done(comparison: Comparison) -> bool:
    return comparison.rows_done > 0


def _name_setting(comparison: Comparison) -> str:
    return (
        f"{comparison.setting}, {comparison.gain} gain"
        if comparison.setting
        else "no engine"
    )


def _list_comparisons(comparisons: Sequence[Comparison]) -> Iterator[str]:
    yield from _write_head("table", "where", "rows", "done with", "games", "result")
    for comparison in filter(_is_done, comparisons):
        table = comparison.table
        page = f", p. {table.page}" if table.page else ""
        games = ""
        if comparison.wanted:
            games = f"{comparison.games} of {comparison.wanted}"
        yield _write_row(
            table.title,
            f"{comparison.paper}, {table.where}{page}",
            f"{comparison.rows_done} of {len(comparison.rows)}",
            _shorten_setting(comparison),
            games,
            _describe_agreement(comparison),
        )


def _list_missing(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield a list of the tables for which we have no figure, grouped by reason."""
    left = filterfalse(_is_done, comparisons)
    reasons = group_comparisons(left, attrgetter("missing"))
    if reasons:
        yield "Not made:"
        yield ""
    for reason, members in reasons.items():
        rows = sum(len(comparison.rows) for comparison in members)
        names = ", ".join(
            f"{comparison.table.title} (`{comparison.table.name}`)"
            for comparison in members
        )
        yield f"- {reason}: {names} ({rows} rows)."


def _write_limits(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield a table of how far orders and winners depend on the limit."""
    rows = [*compare_with_next_limit(comparisons)]
    if rows:
        names = [limit.name for limit in list_limits(comparisons)]
        heads = [f"{lower} and {higher}" for lower, higher in pairwise(names)]
        heads += [f"{name} and the paper" for name in names]
        yield from ("", "### How far an order depends on the limit", "")
        yield from _write_head("figures", "gain", *heads)
    for row in rows:
        orders = map(_describe_order, row.compared)
        yield _write_row(_name_table(row.table), row.gain, *orders)


def _write_dependence_on_gain(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield a table of how far orders and winners depend on the gain."""
    rows = [*compare_gains(comparisons)]
    if rows:
        names = [limit.name for limit in list_limits(comparisons)]
        yield from ("", "### How far an order depends on the gain", "")
        yield "Same-search beside successive gains, searched with the same limit."
        yield ""
        yield from _write_head("figures", *names)
    for row in rows:
        yield _write_row(_name_table(row.table), *map(_describe_order, row.compared))


def _write_head(*names: str) -> Iterator[str]:
    yield _write_row(*names)
    yield "|---" * len(names) + "|"


def _write_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _name_table(table: PrintedTable) -> str:
    return f"{table.title} ({table.where})"


def _shorten_setting(comparison: Comparison) -> str:
    """Return the engine's name and limit without options, and the gain."""
    limit = read_limit(comparison.setting)
    return (
        f"{limit.engine}, {limit.name}, {comparison.gain}"
        if comparison.setting
        else limit.engine
    )


def _describe_agreement(comparison: Comparison) -> str:
    """Describe in a few words how far our figures agree with the printed ones."""
    parts = []
    if comparison.rows_with_interval:
        parts.append(
            f"{comparison.rows_within} of {comparison.rows_with_interval} within our"
            " interval"
        )
    if comparison.setting is None:
        parts.append(
            f"{comparison.rows_exact} of {comparison.rows_done} equal as printed"
        )
    if order := _describe_order(comparison):
        parts.append(order)
    return "; ".join(parts)


def _describe_order(comparison: Comparison | None) -> str:
    """Describe in how many rows our figures put the same player ahead as the paper
    does, or how far our order agrees with the paper's; empty if the table has neither.
    """
    if comparison is None:
        return ""
    if (winners := comparison.winners) is not None and winners[1]:
        return f"same one ahead in {winners[0]} of {winners[1]}"
    if (order := comparison.order) is not None:
        return (
            f"{order.kept} of {order.pairs} pairs in order,"
            f" {order.moved} of {order.rows} moved"
        )
    return ""


def _write_table(group: Sequence[Comparison]) -> Iterator[str]:
    """Yield the rows of one table, with a column for each comparison of it."""
    table = group[0].table
    page = f", page {table.page}" if table.page else ""
    yield f"### {table.title}"
    yield ""
    yield f"{group[0].paper}, {table.where}{page}."
    if table.note:
        yield table.note
    yield ""
    heads = ["", "paper"]
    for comparison in group:
        name = (
            f"{_shorten_setting(comparison)} (95 %)" if comparison.setting else "ours"
        )
        heads += [name] if table.other_scale else [name, "difference"]
    yield from _write_head(*heads)
    for at, row in enumerate(group[0].rows):
        label = " ".join(part for part in _name_row(row, table) if part)
        digits = group[0].count_digits(row)
        cells = [label, _write_number(row.printed.value, digits)]
        for comparison in group:
            our_row = comparison.rows[at]
            cells += [_write_figure(our_row.ours, digits)]
            if not table.other_scale:
                cells += [_write_difference(our_row.difference, digits)]
        yield _write_row(*cells)


def _name_row(row: ComparedRow, table: PrintedTable) -> tuple[str, ...]:
    subject, compared, at = row.printed.key
    if subject in table.elos:
        subject = f"{subject} ({table.elos[subject]})"
    if table.agreement == "winner" and compared:
        subject = f"{subject} - {compared}"
        compared = ""
    return subject, compared, at.removeprefix("match-")


def _write_figure(ours: Measured | None, digits: int) -> str:
    if ours is None:
        return ""
    value = _write_number(ours.value, digits)
    if ours.low is None and ours.high is None:
        return value
    low, high = (
        "unbounded" if end is None else _write_number(end, digits) for end in ours[1:]
    )
    return f"{value} ({low} to {high})"


def _write_difference(difference: float | None, digits: int) -> str:
    if difference is None:
        return ""
    written = _write_number(difference, digits)
    return f"+{written}" if float(written) > 0 else written


def _write_number(value: float, digits: int) -> str:
    """Format a number without a negative zero. Whole numbers of at least 2 have no
    decimals.
    """
    if value == round(value) and abs(value) >= 2:
        return f"{value:.0f}"
    return f"{round(value, digits) + 0.0:.{digits}f}"
