"""The view of players and standings: columns that can be switched, explained and sorted by."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from live.events import PlayerView
from live.ledger.roster import team_matches
from live.terminal.alerts.alert_list import asking
from live.terminal.gain_chart import gain_chart
from live.terminal.players.player_columns import COLUMNS, PlayerColumn
from live.terminal.players.player_list import (
    RANKED,
    PlayerListLine,
    PlayerListOptions,
    listed,
    offered,
    players,
)
from live.terminal.players.team_list import team_lines
from live.terminal.text_cells import counted, plain, styled
from live.terminal.view_context import ViewContext
from live.terminal.view_frame import KeyHint

#: Players are listed afresh at most this often, seconds: it takes everybody's every figure.
LIST_S = 1.0
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


class PlayersView:
    name = "Players"

    def __init__(self, context: ViewContext) -> None:
        self._context = context
        self.hidden = {column.name for column in COLUMNS if not column.shown}
        self.column = RANKED
        self.sort = RANKED
        self.reverse = False
        self.query = ""
        self.cursor: str | None = None
        self.choosing = False
        """The list of columns is shown."""
        self.teams = False
        """Matches and the table of teams are shown."""
        self.gains = False
        """The gains of the player under the cursor are shown."""
        self._listed: Sequence[PlayerListLine] = ()
        self._offered: Sequence[PlayerColumn] = offered(())
        self._known: tuple[object, ...] = ()
        self._standings = -1
        self._listed_s = -LIST_S
        self._first = 0

    def draw(self, width: int, height: int) -> list[Text]:
        if self.choosing:
            return self._columns(width, height)
        if self.teams:
            found = team_matches(self._context.state.games())
            return team_lines(found, self.query, width, height, self._context.palette)
        self._list()
        if not self._listed:
            text = f"nobody matches {self.query!r}" if self.query else "nobody yet"
            return [Text(), styled(f"  {text}"), *(Text() for _ in range(height - 2))]
        at = self._at()
        self.cursor = self._listed[at].view.id
        if self.gains:
            return self._gain_lines(self._listed[at].view, width, height)
        look = self._look()
        return players(self._listed, width, height, look)

    def _gain_lines(self, view: PlayerView, width: int, height: int) -> list[Text]:
        """All gains of one player over the event, drawn."""
        state, palette = self._context.state, self._context.palette
        counts = state.gains(view.id)
        name = plain(view.name, 60) or "?"
        games = counted(view.games, "game")
        lines = [
            styled(f" Gains of {name} over {games}, centipawns ({state.gain()})", palette.head)
        ]
        if view.moves and not counts:
            lines.append(styled(" the service at the other end does not send them", palette.dim))
        else:
            rows = max(1, min(12, height - 6))
            engine = state.engine_gains()
            lines += gain_chart(counts, engine, width, rows, palette.accent, palette)
        return [*lines[:height], *(Text() for _ in range(height - len(lines)))]

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
            self._listed = listed(
                views, self.query, self.sort, reverse=self.reverse, engine_rating=engine_rating
            )
            self._offered = offered(views)

    def _look(self) -> PlayerListOptions:
        context = self._context
        return PlayerListOptions(
            palette=context.palette,
            offered=self._offered,
            engine_rating=context.state.engine().rating,
            hidden=self.hidden,
            column=self.column,
            sort=self.sort,
            reverse=self.reverse,
            cursor=self.cursor,
            first=self._first,
            alerting={
                player
                for game in asking(context.state.alerts())
                for player in context.state.player_ids(game)
            },
        )

    def _at(self) -> int:
        for index, row in enumerate(self._listed):
            if row.view.id == self.cursor:
                return index
        return 0

    def _columns(self, width: int, height: int) -> list[Text]:
        palette = self._context.palette
        lines = [styled(" Columns: space switches, esc is done", palette.head)]
        for column in self._offered:
            here = column.name == self.column
            line = styled("▌" if here else " ", palette.accent)
            line.append("  " if column.name in self.hidden else "✓ ", palette.good)
            line.append(f"{column.name:<24}", palette.strong if here else palette.text)
            line.append(column.explained, palette.dim)
            line.truncate(width, overflow="ellipsis")
            if here:
                line.stylize_before(palette.cursor)
            lines.append(line)
        at = next(i for i, line in enumerate(lines) if i and line.plain.startswith("▌"))
        first = max(0, min(at - height // 2, len(lines) - height))
        shown = lines[first : first + height]
        return [*shown, *(Text() for _ in range(height - len(shown)))]

    def caption(self) -> str:
        """How many players are listed, and by what."""
        if self.choosing or self.teams:
            return "m shows the players" if self.teams else ""
        if self.gains:
            return "g shows the players"
        turned = " ▴" if self.reverse else ""
        text = f"{counted(len(self._listed), 'player')} by {self.sort.lower()}{turned}"
        return text + (f" · filter {self.query!r}" if self.query else "")

    def offers(self) -> list[KeyHint]:
        if self.choosing:
            return [
                KeyHint("space", "␣", "switch", "show the column or hide it"),
                KeyHint("escape", "esc", "done", "back to the players"),
            ]
        none = "" if self._listed else "nobody is listed"
        return [
            KeyHint("left", "←→", "column", "move the cursor from column to column", none),
            KeyHint("S", "S", "sort", "sort by the column under the cursor; again turns it round"),
            *(
                KeyHint(key, key, "", f"sort by {name}; again turns it round")
                for key, name in _SORTS.items()
            ),
            KeyHint("minus", "-", "hide", "hide the column under the cursor"),
            KeyHint("c", "c", "columns", "choose the columns"),
            KeyHint("m", "m", "", "matches and the table of teams, or players", self._no_teams()),
            KeyHint("g", "g", "gains", "this player's gains as a histogram, or the list", none),
            KeyHint("slash", "/", "filter", "list only players with these words"),
            KeyHint("enter", "⏎", "boards", "this player's boards", none),
            *self._context.board_keys(None)[2:],
        ]

    def _no_teams(self) -> str:
        named = any(view.white.team and view.black.team for view in self._context.state.games())
        return "" if named or self.teams else "no source names teams"

    def press(self, key: str) -> bool:
        names = [column.name for column in self._offered]
        if self.choosing:
            return self._choose(key, names)
        shown = [name for name in names if name not in self.hidden]
        at = shown.index(self.column) if self.column in shown else 0
        if key in ("down", "j", "up", "k", "pagedown", "pageup", "home", "end"):
            far = len(self._listed)
            steps = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": 10, "pageup": -10}
            self._move({**steps, "home": -far, "end": far}[key])
        elif key in ("right", "l"):
            self.column = shown[min(at + 1, len(shown) - 1)]
        elif key in ("left", "h"):
            self.column = shown[max(at - 1, 0)]
        elif key == "S":
            self._sort(self.column)
        elif key in _SORTS:
            self._sort(_SORTS[key])
        elif key == "minus":
            self._hide(shown, at)
        elif key == "c":
            self.choosing = True
        elif key == "m":
            self.teams = not self.teams
        elif key == "g" and self._listed:
            self.gains = not self.gains
        elif key == "escape" and self.gains:
            self.gains = False
        elif key == "slash":
            self._context.ask_filter(self.query, self._filter)
        elif key == "escape" and self.query:
            self.query = ""
        elif key == "enter" and self._listed:
            self._context.list_boards(plain(self._listed[self._at()].view.name, 60))
        elif key in ("e", "d"):
            return self._context.press_board(key, None)
        else:
            return False
        return True

    def _choose(self, key: str, names: list[str]) -> bool:
        at = names.index(self.column) if self.column in names else 0
        if key in ("down", "j"):
            self.column = names[min(at + 1, len(names) - 1)]
        elif key in ("up", "k"):
            self.column = names[max(at - 1, 0)]
        elif key in ("space", "enter"):
            self.hidden ^= {self.column}
            if len(self.hidden) == len(COLUMNS):
                self.hidden -= {self.column}
        elif key in ("escape", "c"):
            self.choosing = False
        else:
            return False
        return True

    def _hide(self, shown: list[str], at: int) -> None:
        if len(shown) == 1:
            self._context.notify("One column stays; c chooses others")
            return
        self.hidden.add(shown[at])
        self.column = shown[at + 1] if at + 1 < len(shown) else shown[at - 1]
        self._context.notify(f"{shown[at]} is hidden; c brings it back")

    def _move(self, by: int) -> None:
        if self._listed:
            at = max(0, min(len(self._listed) - 1, self._at() + by))
            self.cursor = self._listed[at].view.id

    def _sort(self, name: str) -> None:
        self.reverse = not self.reverse if name == self.sort else False
        self.sort = name

    def _filter(self, text: str) -> None:
        self.query = text
