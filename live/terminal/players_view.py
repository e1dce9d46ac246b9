"""The views of players: standings by a figure, and one player's every figure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from rich.text import Text

from live.catalogue import (
    BY_ID,
    EARLY_MOVES,
    FIGURES,
    Figure,
    Standing,
    ends_cell,
    plugin_text,
    read,
    standings,
    why_missing,
)
from live.events import PlayerView
from live.terminal.printed import COLUMNS
from live.terminal.text import (
    counted,
    figure_cell,
    filled,
    heads,
    left,
    matcher,
    plain,
    right,
    styled,
)
from live.terminal.view_context import KeyHint, ListView, PageView, ViewContext, worst_by_board

#: Players are listed afresh at most this often, seconds: it takes everybody's every figure.
LIST_S = 1.0
_RANK = 6
_LEAST_NAME, _MOST_NAME = 16, 32
#: What players are ranked by, in the order of key s.
SORTS = ("perceived", "points", "elo", "percentile", "algorithm4")


def sorting_value(figure: Figure, view: PlayerView, engine_rating: int) -> float | None:
    """What is ranked by, as far as it is shown, the best greatest; None comes last."""
    value = read(figure, view, engine_rating).value
    early = view.counted < EARLY_MOVES and figure.id in ("perceived", "percentile")
    if value is None or early:
        return None
    return round(value, 1 if figure.kind == "points" else figure.digits)


def listed(
    views: Sequence[PlayerView], query: str, sort: str, engine_rating: int = 0
) -> list[Standing]:
    """Those whom the filter takes, the best first; whose figure is unknown or early last. Places
    count in the whole field, whoever is listed.
    """
    figure, matches = BY_ID[sort], matcher(query)
    return [
        row
        for row in standings(views, lambda view: sorting_value(figure, view, engine_rating))
        if matches(f"{plain(row.view.name, 60)} {row.view.elo or ''}", None)
    ]


class PlayersView(ListView[Standing]):
    name = "Players"
    empty = "nobody is listed"

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.sort = SORTS[0]
        self._asked = ("", "")
        self._listed_s = -LIST_S

    def id_of(self, line: Standing) -> str:
        return line.view.id

    def draw(self, width: int, height: int) -> list[Text]:
        state = self._context.state
        self._list()
        if not self.listed:
            text = f"nobody matches {self.query!r}" if self.query else "nobody yet"
            return filled([Text(), styled(f"  {text}")], height)
        ends = itertools.accumulate(cells + 1 for _, _, cells in COLUMNS)
        room = width - _RANK - _LEAST_NAME - 2
        columns = COLUMNS[: sum(end <= room for end in ends)]
        used = _RANK + 2 + sum(cells + 1 for _, _, cells in columns)
        name = max(_LEAST_NAME, min(_MOST_NAME, width - used))
        every_head = (("Player", name, False), *((head, cells, True) for _, head, cells in columns))
        sorted_by = next((head for figure, head, _ in columns if figure == self.sort), "")
        worst = worst_by_board(state.alerts())
        alerting = {player for game in worst for player in state.player_ids(game)}
        rating = state.engine().rating
        lines = [heads(f"{right('#', _RANK - 1)}  ", every_head, sorted_by)]
        for row in self.seen(max(1, height - 1)):
            view = row.view
            line = Text.assemble(
                (right(row.text, _RANK - 2) + " ", "dim"),
                ("!" if view.id in alerting else " ", "bad"),
                (left(plain(view.name, 40), name), "text"),
            )
            early = view.counted < EARLY_MOVES
            for figure, _, cells in columns:
                style = "dim" if figure == "usual" else "text"
                style = ("dim" if early else "strong") if figure == "perceived" else style
                line.append(" " + right(figure_cell(figure, view, rating), cells), style)
            lines.append(self.pointed(row, line))
        return filled(lines, height)

    def _list(self) -> None:
        """Sort again when asked to, and once a second."""
        state, now_s = self._context.state, self._context.changes.now()
        asked = self.query, self.sort
        if asked != self._asked or now_s - self._listed_s >= LIST_S:
            self._asked, self._listed_s = asked, now_s
            views = tuple(state.players())
            self.listed = listed(views, self.query, self.sort, state.engine().rating)

    def caption(self) -> str:
        """How many players are listed, and by what."""
        by = BY_ID[self.sort].name
        return self.filtered(f"{counted(len(self.listed), 'player')} by {by[:1].lower()}{by[1:]}")

    # --- keys -------------------------------------------------------------------------------------

    def offers(self) -> list[KeyHint]:
        return [
            KeyHint("enter", "open", "every figure of this player", self._open, self.none()),
            *self.filter_keys("list only players with these words"),
            KeyHint("s", "sort", "by another of the columns", self._sort),
            self.move_key("from player to player"),
        ]

    def _open(self) -> None:
        self._context.show_player(self.cursor)

    def _sort(self) -> None:
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]


class PlayerPage(PageView):
    """Every figure of one player over the event, by every method."""

    name = "Player"

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.player = ""

    def _view(self) -> PlayerView | None:
        views = self._context.state.players()
        return next((view for view in views if view.id == self.player), None)

    def lines(self, width: int) -> list[Text]:
        state, view = self._context.state, self._view()
        if view is None:
            return [Text(), styled("  This player is gone: esc goes back")]
        name = plain(view.name, 60) or "?"
        lines = [styled(f" {name}, {counted(view.games, 'game')}", "head")]
        for figure in FIGURES:
            value = figure_cell(figure.id, view, state.engine().rating)
            ends = ends_cell(figure, view, state.engine().rating)
            unit = f" {figure.unit}" if figure.unit in ("cp", "Elo") and value[:1].isdigit() else ""
            said = f"{value}{unit}{f' ({ends})' if ends else ''}"
            if value in ("", "·"):
                said = plain(why_missing(figure, view), 120)
            lines.append(_figure_line(figure.name, said, figure.meaning))
        return lines + [_figure_line(each.name, plugin_text(each), "") for each in view.plugins]

    def offers(self) -> list[KeyHint]:
        return [
            KeyHint("enter", "boards", "this player's boards", self._boards),
            *super().offers(),
            KeyHint("", "back", "back to the list", shown="esc"),
        ]

    def _boards(self) -> None:
        if (view := self._view()) is not None:
            self._context.list_boards(plain(view.name, 60))


def _figure_line(name: str, said: str, meaning: str) -> Text:
    return Text.assemble(
        (f" {left(plain(name, 26), 26)} ", "strong"),
        (said if len(said) > 22 else f"{said:<22}", "text"),
        (f" {meaning}", "dim"),
        no_wrap=True,
    )
