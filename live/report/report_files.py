"""All files of a report as texts, by their names. Pure: whoever asks writes them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from live.events import GameId
from live.publish.export.analysis_json import Analysis, study_lines, to_json
from live.publish.export.pgn_export import export
from live.publish.visibility import Visibility, shown
from live.report import csv_text
from live.report.report_page import page

Format = Literal["pgn", "csv", "json", "html", "ndjson"]


def texts(
    whole: Analysis,
    formats: Collection[Format],
    *,
    stem: str = "event",
    written: str,
    arbiter: bool = False,
) -> dict[str, str]:
    """File names and what belongs into them: one file a format, four for CSV.

    Args:
        whole: the event, or part of it (:func:`only`).
        formats: which to make.
        stem: what the names begin with.
        written: when, for people.
        arbiter: whether what only arbiters may see is written, screening figures above all.
    """
    whole = shown(whole, Visibility.ARBITER if arbiter else Visibility.PUBLIC)
    found: dict[str, str] = {}
    if "pgn" in formats:
        found[f"{stem}.pgn"] = "\n".join(export(game) for game in whole.games)
    if "csv" in formats:
        found[f"{stem}-plies.csv"] = csv_text.plies(whole.games)
        found[f"{stem}-points.csv"] = csv_text.points(whole.games)
        found[f"{stem}-players.csv"] = csv_text.players(whole.players)
        found[f"{stem}-gains.csv"] = csv_text.gains(whole)
    if "json" in formats:
        found[f"{stem}.json"] = to_json(whole).decode()
    if "ndjson" in formats:
        found[f"{stem}.ndjson"] = study_lines(whole)
    if "html" in formats:
        found[f"{stem}.html"] = page(whole, written=written, arbiter=arbiter)
    return found


def only(whole: Analysis, games: Collection[GameId], players: Collection[str]) -> Analysis:
    """The same event as far as these games, and players by the id of their standing."""
    return msgspec.structs.replace(
        whole,
        games=tuple(game for game in whole.games if game.id in games),
        players=tuple(view for view in whole.players if view.id in players),
        gains=tuple(each for each in whole.gains if each.player in players),
    )
