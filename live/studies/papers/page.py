"""Comparisons as Markdown for people, and as CSV for spreadsheets. Pure."""

import csv
import io
from collections.abc import Iterator, Sequence

from live.studies.papers.comparison import ComparedRow, Comparison, Measured
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
#: What stands before and after the tables in a page that is written again.
BEGIN = "<!-- tables: written by live-rate study reproduce -->"
END = "<!-- end of tables -->"


def write_into(page: str, tables: str) -> str:
    """The page with these tables between its marks."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after or chr(10)}"


def to_markdown(comparisons: Sequence[Comparison]) -> str:
    """All comparisons: sums, a line for each, what is missing, and the tables that are
    short.
    """
    lines = [
        *_sum_settings(comparisons),
        "",
        *_list_comparisons(comparisons),
        "",
        *_list_missing(comparisons),
    ]
    for group in _group_by_table(comparisons):
        if not group[0].table.long and any(each.rows_done for each in group):
            lines += ["", *_write_table(group)]
    return "\n".join(lines) + "\n"


def to_csv(comparisons: Sequence[Comparison]) -> str:
    """One line for each printed number and each engine, limit and gain."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV_HEAD)
    for each in comparisons:
        about = each.paper, each.table.name, each.table.where, each.table.page or ""
        for row in each.rows:
            ours = row.ours or (None, None, None)
            numbers = [*ours, row.difference]
            cells = ["" if number is None else f"{number:.6g}" for number in numbers]
            writer.writerow(
                (
                    *about,
                    each.engine,
                    each.gain,
                    *row.printed.key,
                    row.printed.value,
                    *cells,
                )
            )
    return out.getvalue()


def _group_by_table(comparisons: Sequence[Comparison]) -> list[list[Comparison]]:
    found: dict[str, list[Comparison]] = {}
    for each in comparisons:
        found.setdefault(each.table.name, []).append(each)
    return [*found.values()]


def _sum_settings(comparisons: Sequence[Comparison]) -> Iterator[str]:
    groups = _group_by_table(comparisons)
    rows = 0
    done = 0
    for group in groups:
        rows += len(group[0].rows)
        done += max(each.rows_done for each in group)
    yield (
        f"{rows} printed numbers in {len(groups)} tables, columns and figures; {done}"
        " of them have a figure of ours, with one setting at least."
    )
    for label, members in _group_by_setting(comparisons).items():
        within = sum(each.rows_within for each in members)
        rows_with_interval = sum(each.rows_with_interval for each in members)
        winners = [each.winners for each in members if each.rows_done and each.winners]
        same = sum(pair[0] for pair in winners)
        decided = sum(pair[1] for pair in winners)
        orders = [each.order for each in members if each.order]
        kept = sum(order.kept == order.pairs for order in orders)
        parts = [f"{sum(each.rows_done for each in members)} rows"]
        if rows_with_interval:
            parts.append(
                f"{within} of {rows_with_interval} printed numbers within our interval"
            )
        if decided:
            parts.append(f"the same one ahead in {same} of {decided}")
        if orders:
            parts.append(f"the whole order kept in {kept} of {len(orders)}")
        yield f"- {label}: {', '.join(parts)}."


def _group_by_setting(comparisons: Sequence[Comparison]) -> dict[str, list[Comparison]]:
    found: dict[str, list[Comparison]] = {}
    for each in comparisons:
        if each.rows_done:
            found.setdefault(_name_setting(each), []).append(each)
    return found


def _name_setting(each: Comparison) -> str:
    return f"{each.engine}, {each.gain} gain" if each.engine else "no engine"


def _list_comparisons(comparisons: Sequence[Comparison]) -> Iterator[str]:
    yield "| table | where | rows | done with | games | result |"
    yield "|---|---|---|---|---|---|"
    for each in comparisons:
        if each.rows_done:
            table = each.table
            page = f", p. {table.page}" if table.page else ""
            where = f"{each.paper}, {table.where}{page}"
            done = f"{each.rows_done} of {len(each.rows)}"
            games = f"{each.games} of {each.wanted}" if each.wanted else ""
            cells = (
                table.title,
                where,
                done,
                _shorten_setting(each),
                games,
                _describe_agreement(each),
            )
            yield f"| {' | '.join(cells)} |"


def _list_missing(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Tables without a figure, by the reason."""
    reasons: dict[str, list[Comparison]] = {}
    for each in comparisons:
        if not each.rows_done:
            reasons.setdefault(each.missing, []).append(each)
    if reasons:
        yield "Not made:"
        yield ""
    for reason, members in reasons.items():
        rows = sum(len(each.rows) for each in members)
        names = ", ".join(
            f"{each.table.title} (`{each.table.name}`)" for each in members
        )
        yield f"- {reason}: {names} ({rows} rows)."


def _shorten_setting(each: Comparison) -> str:
    """The engine's name and limit without its options."""
    if not each.engine:
        return "no engine"
    name, _, rest = each.engine.partition(";")
    limit = rest.partition(", ")[2] or rest
    return f"{name}, {limit}, {each.gain}" if rest else f"{name}, {each.gain}"


def _describe_agreement(each: Comparison) -> str:
    """What can be said in a few words."""
    parts = []
    if each.rows_with_interval:
        parts.append(
            f"{each.rows_within} of {each.rows_with_interval} within our interval"
        )
    if not each.engine:
        parts.append(f"{each.rows_exact} of {each.rows_done} equal as printed")
    if (winners := each.winners) is not None and winners[1]:
        parts.append(f"same one ahead in {winners[0]} of {winners[1]}")
    if (order := each.order) is not None:
        moved = (
            "neighbours at most"
            if order.most_places == 1
            else f"{order.most_places} places"
        )
        same = "whole order" if order.kept == order.pairs else f"moved by {moved}"
        parts.append(f"{order.kept} of {order.pairs} pairs in order, {same}")
    return "; ".join(parts)


def _write_table(group: Sequence[Comparison]) -> Iterator[str]:
    table = group[0].table
    made = [each for each in group if each.rows_done]
    page = f", page {table.page}" if table.page else ""
    yield f"### {table.title}"
    yield ""
    yield f"{group[0].paper}, {table.where}{page}."
    if table.note:
        yield table.note
    yield ""
    names = [
        f"{_shorten_setting(each)} (95 %)" if each.engine else "ours" for each in made
    ]
    heads = ["paper", *names]
    yield f"| | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    for at, row in enumerate(made[0].rows):
        label = " ".join(part for part in _name_row(row, table) if part)
        digits = made[0].digits_of(row)
        printed = _write_number(row.printed.value, digits)
        cells = [_write_figure(each.rows[at].ours, digits) for each in made]
        yield f"| {' | '.join([label, printed, *cells])} |"


def _name_row(row: ComparedRow, table: PrintedTable) -> tuple[str, ...]:
    one, other, at = row.printed.key
    if table.agreement == "winner" and other:
        one = f"{one} - {other}"
        other = ""
    return one, other, at.removeprefix("match-")


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


def _write_number(value: float, digits: int) -> str:
    """Without a negative zero; whole numbers with the digits that they have."""
    if value == round(value) and abs(value) >= 2:
        return f"{value:.0f}"
    return f"{round(value, digits) + 0.0:.{digits}f}"
