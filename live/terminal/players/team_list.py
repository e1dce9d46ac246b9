"""Matches and the table of teams as lines. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from rich.text import Text

from live.ledger.roster import TeamMatch, team_table
from live.terminal.figure_text import points_text
from live.terminal.line_filter import matcher
from live.terminal.palette import Palette
from live.terminal.text_cells import left, plain, right, styled


def team_lines(
    matches: Sequence[TeamMatch], query: str, width: int, height: int, palette: Palette
) -> list[Text]:
    """Exactly ``height`` lines: the matches, those that run first, and below them the table."""
    name = max(12, min(32, (width - 34) // 2))
    found = matcher(query)
    lines = [
        styled(
            f" {left('Rd', 4)}{left('Team', name)} {right('Pts', 4)}   {left('Pts', 4)} "
            f"{left('Team', name)} Running",
            palette.dim,
        )
    ]
    for match in sorted(matches, key=lambda each: each.running == 0):
        ours, theirs = map(plain, match.teams)
        if not found(f"{match.round} {ours} {theirs}", None):
            continue
        line = styled(f" {left(plain(match.round), 4)}", palette.dim)
        line.append(left(ours, name) + " ", palette.text)
        first, second = map(points_text, match.points)
        score = f"{right(first, 4)} – {left(second, 4)}"
        line.append(score + " ", palette.strong)
        line.append(left(theirs, name), palette.text)
        line.append(f" {match.running or ''}", palette.dim)
        lines.append(line)
    lines += [Text(), styled(f" {right('#', 3)} {left('Team', name)} Matches  Pts  Board points")]
    lines[-1].stylize(palette.dim)
    table = team_table(matches)
    several = len({each.event for each in table}) > 1
    for event, standings in itertools.groupby(table, key=lambda each: each.event):
        if several:
            lines.append(styled(f" {plain(event)}", palette.dim))
        for place, each in enumerate(standings, 1):
            line = styled(f" {right(str(place), 3)} ", palette.dim)
            line.append(left(plain(each.team), name), palette.text)
            line.append(f" {right(str(each.matches), 7)}  ")
            line.append(right(str(each.match_points), 3), palette.strong)
            line.append(f"  {points_text(each.board_points)}")
            lines.append(line)
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return [*lines[:height], *(Text() for _ in range(height - len(lines)))]
