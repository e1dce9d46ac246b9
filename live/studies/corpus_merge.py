"""Copies the games and results of one corpus into another.

Results are copied if engine, limit, lines and version agree.
"""

from collections import defaultdict

import msgspec

from live.studies.corpus_database import BATCH, CorpusDatabase
from live.studies.searched_games import SearchSetting


class MergedResults(msgspec.Struct):
    """What a merge brought."""

    games: int = 0
    """New in the corpus."""
    results: int = 0
    """Games whose results were taken."""
    refused: list[str] = []
    """Settings that were left out, and why, for people."""


def merge_corpora(target: CorpusDatabase, source: CorpusDatabase) -> MergedResults:
    """Copy the games and results of one corpus into another.

    A setting is taken when the corpus has it already, or has none: results of two
    engines, limits or versions are two studies, and are kept apart by refusing. Raises
    InputError as both databases do.
    """
    merged = MergedResults()
    known = set(target.read_settings().values())
    taken: dict[int, int] = {}
    for number, setting in source.read_settings().items():
        if known and setting not in known:
            near = max(known, key=lambda each: each.bound == setting.bound)
            merged.refused.append(f"{setting}: {_describe_difference(setting, near)}")
        else:
            taken[number] = target.add_setting(setting)
    keys: dict[int, list[str]] = defaultdict(list)
    ids_first = (
        "SELECT key, player FROM player_keys ORDER BY key NOT LIKE 'fide-%', key"
    )
    for key, player in source.execute(ids_first):
        keys[player].append(key)
    players = source.read_players()
    events = source.read_events()
    for stored in source.execute("SELECT * FROM games ORDER BY game"):
        row = dict(stored)
        number = row.pop("game")
        for side in ("white", "black"):
            row[side] = target.add_player(players.get(row[side], ""), keys[row[side]])
        row["event"] = target.add_event(events.get(row["event"], ""))
        here, new = target.add_game_row(row)
        if row["other_result"] is not None:
            target.add_game_row(row | {"result": row["other_result"]})
        merged.games += new
        for setting_there, positions in source.execute(
            "SELECT setting, positions FROM results WHERE game = ?", (number,)
        ):
            if setting_there in taken:
                merged.results += target.add_results(
                    taken[setting_there], here, positions
                )
        if number % BATCH == 0:
            target.commit()
    return merged


def _describe_difference(one: SearchSetting, other: SearchSetting) -> str:
    """Describe where two settings differ, for people."""
    names = "engine", "limit", "lines", "version"
    pairs = zip(names, *map(msgspec.structs.astuple, (one, other)), strict=True)
    return ", ".join(f"{what} {a!r} is not {b!r}" for what, a, b in pairs if a != b)
