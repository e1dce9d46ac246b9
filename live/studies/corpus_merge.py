"""Merge of two corpora: copies the games and results of one corpus into another.

Results are copied if engine, limit, lines and version agree.
"""

from collections import defaultdict

import msgspec

from live.studies.corpus_database import BATCH, CorpusDatabase
from live.studies.searched_games import SearchSetting


class MergedResults(msgspec.Struct):
    """Counts of a merge: new games, games whose results were copied, and refused
    settings.
    """

    games: int = 0
    """Games that are new in the target corpus."""
    results: int = 0
    """Games whose results were copied."""
    refused: list[str] = []
    """Settings that were not copied, each with the reason, for people."""


def merge_corpora(target: CorpusDatabase, source: CorpusDatabase) -> MergedResults:
    """Copy the games and results of one corpus into another.

    The results of a setting are copied if the target already has this setting, or has
    no setting at all. Other results are refused, because results of different engines,
    limits or versions must not be mixed.

    Raises:
        InputError: one of the two corpora cannot be read or written.
    """
    merged = MergedResults()
    known_settings = set(target.read_settings().values())
    target_numbers: dict[int, int] = {}
    for number, setting in source.read_settings().items():
        if known_settings and setting not in known_settings:
            nearest = max(
                known_settings, key=lambda other: other.bound == setting.bound
            )
            merged.refused.append(
                f"{setting}: {_describe_difference(setting, nearest)}"
            )
        else:
            target_numbers[number] = target.add_setting(setting)
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
        game, new = target.add_game_row(row)
        if row["other_result"] is not None:
            target.add_game_row(row | {"result": row["other_result"]})
        merged.games += new
        for setting_there, positions in source.execute(
            "SELECT setting, positions FROM results WHERE game = ?", (number,)
        ):
            if setting_there in target_numbers:
                merged.results += target.add_results(
                    target_numbers[setting_there], game, positions
                )
        if number % BATCH == 0:
            target.commit()
    return merged


def _describe_difference(setting: SearchSetting, nearest: SearchSetting) -> str:
    """Return a text that says how two settings differ."""
    names = "engine", "limit", "lines", "version"
    pairs = zip(names, *map(msgspec.structs.astuple, (setting, nearest)), strict=True)
    return ", ".join(f"{name} {a!r} is not {b!r}" for name, a, b in pairs if a != b)
