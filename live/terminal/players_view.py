"""The view of players and standings: columns that are switched, explained and sorted by; teams."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
from rich.text import Text

from live.catalogue import (
    BY_ID,
    EARLY_MOVES,
    FIGURES,
    Figure,
    Standing,
    cell,
    ends_cell,
    plugin_text,
    points_text,
    read,
    standings,
    why_missing,
)
from live.events import PlayerView, PluginFigure
from live.ledger.roster import TeamMatch, team_matches, team_table
from live.terminal.charts import gain_chart
from live.terminal.text import (
    counted,
    filled,
    left,
    matcher,
    perceived_text,
    percentile_cell,
    plain,
    right,
    styled,
)
from live.terminal.view_context import KeyHint, ListView, ViewContext, asking

#: The column that players are ranked by until somebody chooses.
RANKED = BY_ID["perceived"].name
#: Players are listed afresh at most this often, seconds: it takes everybody's every figure.
LIST_S = 1.0
_RANK = 6
_LEAST_NAME, _MOST_NAME = 16, 32
#: Lines for the explanation under the table.
_EXPLAINED = 3
#: Columns that a shift+letter sorts by.
_SORTS = {
    "E": "Elo",
    "P": "Percentile",
    "R": RANKED,
    "A": "Algorithm 4",
    "M": "Moves counted",
    "G": "Mean gain",
    "N": "Player",
    "T": "Points",
}


class PlayerColumn(msgspec.Struct, frozen=True):
    """A figure of the catalogue or its interval, or the figure of a plugin."""

    name: str
    """For the list of columns."""
    head: str
    width: int
    explained: str
    shown: bool
    """Whether it is there at the start."""
    text: Callable[[PlayerView, int], str]
    """What its cell says; the number is what Algorithm 4 adds, the engine's rating."""
    value: Callable[[PlayerView, int], float | None]
    """What is sorted by, as far as it is shown, the best greatest; None comes last."""
    figure: Figure | None = None
    interval: bool = False


def _figure_column(figure: Figure) -> PlayerColumn:
    """A column for a figure of the catalogue."""

    def text(view: PlayerView, engine_rating: int) -> str:
        if figure.id == "perceived":
            return perceived_text(view.perceived)
        if figure.id == "percentile":
            return percentile_cell(view)
        return cell(figure, view, engine_rating)

    width = max(5 if figure.id == "percentile" else 4, len(figure.head))
    value = partial(_value, figure, "value")
    return PlayerColumn(
        figure.name, figure.head, width, figure.meaning, figure.usual, text, value, figure
    )


def _interval_column(figure: Figure) -> PlayerColumn:
    """A column for a figure's interval, sorted by its lower end."""
    return PlayerColumn(
        f"{figure.name}, {figure.interval}",
        figure.interval,
        9,
        figure.meaning,
        figure.id == "perceived",
        partial(ends_cell, figure),
        partial(_value, figure, "low"),
        figure,
        interval=True,
    )


def _value(figure: Figure, end: str, view: PlayerView, engine_rating: int) -> float | None:
    value: float | None = getattr(read(figure, view, engine_rating), end)
    early = view.counted < EARLY_MOVES and figure.id in ("perceived", "percentile")
    if value is None or early:
        return None
    digits = {"share": 2, "points": 1, "number": figure.digits}.get(figure.kind, 0)
    return round(-value if figure.least_is_best else value, digits)


def _plugin_column(plugin: str) -> PlayerColumn:
    """A column for what a plugin says of everybody."""

    def found(view: PlayerView) -> Iterator[PluginFigure]:
        return (each for each in view.plugins if each.name == plugin)

    return PlayerColumn(
        f"plugin {plugin}",
        plugin[:16],
        16,
        f"A figure of the plugin {plugin}, with its 95 % interval where it gives one.",
        True,
        lambda view, _: "".join(map(plugin_text, found(view))),
        lambda view, _: next((round(each.value, each.digits) for each in found(view)), None),
    )


COLUMNS = tuple(
    make(figure)
    for figure in FIGURES
    for make in (_figure_column, _interval_column)
    if figure.low or make is _figure_column
)


def offered(views: Sequence[PlayerView]) -> list[PlayerColumn]:
    """Columns that there can be; plugins' come last."""
    names = {figure.name for view in views for figure in view.plugins}
    return [*COLUMNS, *map(_plugin_column, sorted(names))]


def listed(
    views: Sequence[PlayerView], query: str, sort: str, *, reverse: bool, engine_rating: int = 0
) -> list[Standing]:
    """Those whom the filter takes, the best first; whose figure is unknown or early last. Places
    count in the whole field, whoever is listed.
    """
    by_name = sorted(views, key=lambda view: (view.name, view.id))
    rows = [Standing(view, place) for place, view in enumerate(by_name, 1)]
    for column in offered(views):
        if column.name == sort:
            rows = standings(views, lambda view: column.value(view, engine_rating))  # noqa: B023
    if reverse:
        known = [row for row in rows if row.place is not None]
        rows = known[::-1] + [row for row in rows if row.place is None]
    matches = matcher(query)
    return [
        row for row in rows if matches(f"{plain(row.view.name, 60)} {row.view.elo or ''}", None)
    ]


class PlayersView(ListView[Standing]):
    name = "Players"
    empty = "nobody is listed"

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.hidden = {column.name for column in COLUMNS if not column.shown}
        self.column = RANKED
        self.sort = RANKED
        self.reverse = False
        self.choosing = False
        """The list of columns is shown."""
        self.teams = False
        """Matches and the table of teams are shown."""
        self.gains = False
        """The gains of the player under the cursor are shown."""
        self._offered: Sequence[PlayerColumn] = COLUMNS
        self._known: tuple[object, ...] = ()
        self._standings = -1
        self._listed_s = -LIST_S

    def id_of(self, line: Standing) -> str:
        return line.view.id

    def draw(self, width: int, height: int) -> list[Text]:
        if self.choosing:
            return self._columns(height)
        if self.teams:
            found = team_matches(self._context.state.games())
            return team_lines(found, self.query, width, height)
        self._list()
        here = self.selected()
        if here is None:
            text = f"nobody matches {self.query!r}" if self.query else "nobody yet"
            return filled([Text(), styled(f"  {text}")], height)
        seen = self.seen(max(1, height - 2 - _EXPLAINED))
        if self.gains:
            return self._gain_lines(here.view, width, height)
        columns, more = self.fitting(width)
        used = _RANK + 1 + sum(each.width + 1 for each in columns)
        name = max(_LEAST_NAME, min(_MOST_NAME, width - used))
        state = self._context.state
        alerting = {player for game in asking(state.alerts()) for player in state.player_ids(game)}
        rows = [
            self.pointed(row, self._line(row, columns, name, row.view.id in alerting))
            for row in seen
        ]
        detail = self._explanation(here.view, width, more)
        head = self._heads(columns, name)
        return self.with_detail(head, rows, detail, (min(width, used + name), height), _EXPLAINED)

    def _list(self) -> None:
        """Sort again when asked to, and once a second when somebody's figures changed."""
        changes = self._context.changes
        engine_rating = self._context.state.engine().rating
        known = (self.query, self.sort, self.reverse, engine_rating)
        changed = changes.standings != self._standings
        if known != self._known or (changed and changes.now() - self._listed_s >= LIST_S):
            self._known, self._standings = known, changes.standings
            self._listed_s = changes.now()
            views = tuple(self._context.state.players())
            self.listed = listed(
                views, self.query, self.sort, reverse=self.reverse, engine_rating=engine_rating
            )
            self._offered = offered(views)

    def fitting(self, width: int) -> tuple[list[PlayerColumn], int]:
        """Columns that fit, the one under the cursor among them, and how many more there are."""
        shown = [each for each in self._offered if each.name not in self.hidden]
        room = width - _RANK - _LEAST_NAME - 1
        at = next((index for index, each in enumerate(shown) if each.name == self.column), 0)
        start = 0
        while start < at and sum(each.width + 1 for each in shown[start : at + 1]) > room:
            start += 1
        ends = itertools.accumulate(each.width + 1 for each in shown[start:])
        taken = shown[start : start + sum(end <= room for end in ends)]
        return taken, len(shown) - len(taken)

    def _heads(self, columns: Sequence[PlayerColumn], name: int) -> Text:
        line = styled(right("#", _RANK - 1) + "  ", "dim")
        line.append(left("Player", name), "dim")
        for column in columns:
            here = column.name == self.column
            arrow = ("▴" if self.reverse else "▾") if column.name == self.sort else ""
            line.append(arrow or ("▸" if here else " "), "accent")
            style = "chosen" if here else "dim"
            line.append(right(column.head, column.width), style)
        return line

    def _line(
        self, row: Standing, columns: Sequence[PlayerColumn], name: int, alerting: bool
    ) -> Text:
        view = row.view
        line = Text.assemble(
            (right(row.text, _RANK - 2) + " ", "dim"),
            ("!" if alerting else " ", "bad"),
            (left(plain(view.name, 40), name), "strong" if view.id == self.cursor else "text"),
        )
        engine_rating = self._context.state.engine().rating
        for column in columns:
            style = "dim" if column.interval else "text"
            if column.name == RANKED:
                style = "dim" if view.counted < EARLY_MOVES else "strong"
            line.append(" " + right(column.text(view, engine_rating), column.width), style)
        return line

    def _explanation(self, view: PlayerView, width: int, more: int) -> list[Text]:
        """What the column under the cursor means, and why the player's figure is missing if so."""
        column = next((each for each in self._offered if each.name == self.column), COLUMNS[0])
        text = f"{column.name}: {column.explained}"
        rating = self._context.state.engine().rating
        if column.figure is not None and column.text(view, rating) in ("", "·", "early"):
            text += f" {plain(view.name, 30)}: {plain(why_missing(column.figure, view), 120)}."
        if more:
            text += f" ({more} more columns to the right or left.)"
        lines = textwrap.wrap(text, max(20, width - 2), max_lines=_EXPLAINED, placeholder=" …")
        accent = "accent"
        return [styled(f" {line}", "" if at else accent) for at, line in enumerate(lines)]

    def _gain_lines(self, view: PlayerView, width: int, height: int) -> list[Text]:
        """All gains of one player over the event, drawn."""
        state = self._context.state
        counts = state.gains(view.id)
        title = f" Gains of {plain(view.name, 60) or '?'} over {counted(view.games, 'game')}"
        lines = [styled(f"{title}, centipawns ({state.gain()})", "head")]
        if view.moves and not counts:
            lines.append(styled(" the service at the other end does not send them", "dim"))
        else:
            rows = max(1, min(12, height - 6))
            lines += gain_chart(counts, state.engine_gains(), width, rows, "accent")
        return filled(lines, height)

    def _columns(self, height: int) -> list[Text]:
        lines: list[Text] = [styled(" Columns: space switches, esc is done", "head")]
        at = 0
        for column in self._offered:
            here = column.name == self.column
            line = Text.assemble(
                ("▌" if here else " ", "accent"),
                ("  " if column.name in self.hidden else "✓ ", "good"),
                (f"{column.name:<24}", "strong" if here else "text"),
                (column.explained, "dim"),
                no_wrap=True,
            )
            if here:
                line.stylize_before("cursor")
                at = len(lines)
            lines.append(line)
        first = max(0, min(at - height // 2, len(lines) - height))
        return filled(lines[first:], height)

    def caption(self) -> str:
        """How many players are listed, and by what."""
        if self.choosing or self.teams:
            return "m shows the players" if self.teams else ""
        if self.gains:
            return "g shows the players"
        turned = " ▴" if self.reverse else ""
        players = counted(len(self.listed), "player")
        return self.filtered(f"{players} by {self.sort.lower()}{turned}")

    # --- keys -------------------------------------------------------------------------------------

    def offers(self) -> list[KeyHint]:
        if self.choosing:
            return [
                KeyHint("space enter", "switch", "show the column or hide it", self._switch),
                KeyHint("escape c", "done", "back to the players", self.turn("choosing")),
                KeyHint("down j up k", "", "", self._along, shown=""),
            ]
        none, teams, gains = self.none(), self.turn("teams"), self.turn("gains")
        along = "move the cursor from column to column"
        sort = "sort by the column under the cursor; again turns it round"
        leave = [KeyHint("escape", "", "", gains, shown="")] if self.gains else []
        named = any(view.white.team and view.black.team for view in self._context.state.games())
        why = "" if named or self.teams else "no source names teams"
        return [
            KeyHint("left right h l", "column", along, self._along, none, shown="←→"),
            KeyHint("S", "sort", sort, partial(self._sort, self.column)),
            *(
                KeyHint(key, "", f"sort by {name}; again turns it round", partial(self._sort, name))
                for key, name in _SORTS.items()
            ),
            KeyHint("minus", "hide", "hide the column under the cursor", self._hide),
            KeyHint("c", "columns", "choose the columns", self.turn("choosing")),
            KeyHint("m", "", "matches and the table of teams, or players", teams, why),
            KeyHint("g", "gains", "this player's gains as a histogram, or the list", gains, none),
            *leave,
            *self.filter_keys("list only players with these words"),
            KeyHint("enter", "boards", "this player's boards", self._boards, none),
            self.move_key("from player to player"),
            *self._context.board_keys(None)[2:],
        ]

    def _shown(self) -> list[str]:
        every = [column.name for column in self._offered]
        return every if self.choosing else [name for name in every if name not in self.hidden]

    def _along(self, key: str) -> None:
        shown = self._shown()
        at = shown.index(self.column) if self.column in shown else 0
        by = 1 if key in ("down", "j", "right", "l") else -1
        self.column = shown[max(0, min(len(shown) - 1, at + by))]

    def _switch(self, *_: str) -> None:
        self.hidden ^= {self.column}
        if len(self.hidden) == len(COLUMNS):
            self.hidden -= {self.column}

    def _hide(self) -> None:
        shown = self._shown()
        if len(shown) == 1:
            self._context.notify("One column stays; c chooses others")
            return
        before = self.column if self.column in shown else shown[0]
        self._along("left" if before == shown[-1] else "right")
        self.hidden.add(before)
        self._context.notify(f"{before} is hidden; c brings it back")

    def _sort(self, name: str) -> None:
        self.reverse = not self.reverse if name == self.sort else False
        self.sort = name

    def _boards(self) -> None:
        here = self.selected()
        if here is not None:
            self._context.list_boards(plain(here.view.name, 60))


def team_lines(matches: Sequence[TeamMatch], query: str, width: int, height: int) -> list[Text]:
    """Exactly ``height`` lines: the matches, those that run first, and below them the table."""
    name = max(12, min(32, (width - 34) // 2))
    found = matcher(query)
    heads = f" {left('Rd', 4)}{left('Team', name)} {right('Pts', 4)}   {left('Pts', 4)} "
    lines = [styled(f"{heads}{left('Team', name)} Running", "dim")]
    for match in sorted(matches, key=lambda each: each.running == 0):
        ours, theirs = map(plain, match.teams)
        if found(f"{match.round} {ours} {theirs}", None):
            first, second = map(points_text, match.points)
            line = Text.assemble(
                (f" {left(plain(match.round), 4)}", "dim"),
                (left(ours, name) + " ", "text"),
                (f"{right(first, 4)} – {left(second, 4)} ", "strong"),
                (left(theirs, name), "text"),
                (f" {match.running or ''}", "dim"),
            )
            lines.append(line)
    head = f" {right('#', 3)} {left('Team', name)} Matches  Pts  Board points"
    lines += [Text(), styled(head, "dim")]
    table = team_table(matches)
    several = len({each.event for each in table}) > 1
    for event, teams in itertools.groupby(table, key=lambda each: each.event):
        if several:
            lines.append(styled(f" {plain(event)}", "dim"))
        lines += [
            Text.assemble(
                (f" {right(str(place), 3)} ", "dim"),
                (left(plain(each.team), name), "text"),
                f" {right(str(each.matches), 7)}  ",
                (right(str(each.match_points), 3), "strong"),
                f"  {points_text(each.board_points)}",
            )
            for place, each in enumerate(teams, 1)
        ]
    return filled(lines, height)
