"""Writer of a corpus's searched games as a file that ``live-rate study add`` reads, so
that the searches are not repeated.

``python -m tests.studies.write_pieces CORPUS.db SETTING FILE.ndjson.xz NAME…`` writes
the games of the named tables that have results of this setting. The file has scores,
first choices and the scores of the moves played. For tables that need them, it also has
changes over depths or several lines.
"""

import lzma
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from live.studies.corpus_database import CorpusDatabase, NumberedGame
from live.studies.papers.corpus_games import CorpusGames
from live.studies.papers.measures import MEASURES
from live.studies.reproduce import choose_tables, list_games_to_search
from live.studies.searched_games import SearchedGame, SearchSetting

#: Tables of these measures need the changes of scores from depth to depth.
OVER_DEPTHS = {"complexity", "perceived"}


def line_of(
    game: NumberedGame,
    searched: SearchedGame,
    setting: SearchSetting,
    names: dict[int, str],
    events: dict[int | None, str],
    *,
    has_depths: bool,
) -> dict[str, Any]:
    """Return one game as a line of NDJSON, with one list per figure."""
    found = [
        (
            None if each is None else each.whole,
            each and each.best,
            each and each.played,
            each,
        )
        for each in searched.positions
    ]
    wholes = [whole for whole, *_ in found]
    line: dict[str, Any] = {
        "white": name_of(names.get(game.white or 0)),
        "black": name_of(names.get(game.black or 0)),
        "white_elo": game.white_elo,
        "black_elo": game.black_elo,
        "event": events.get(game.event, ""),
        "date": game.date,
        "result": game.result,
        "moves": " ".join(game.moves),
        "engine": setting.engine,
        "limit": setting.bound,
        "multipv": setting.lines,
        "start_cp": wholes[0] and wholes[0].cp,
        "cp": [whole and whole.cp for whole in wholes[1:]],
        "best": [best or None for _, best, *_ in found],
        "played": [played and played.cp for _, _, played, _ in found],
    }
    if has_depths:
        seen = [whole and whole.complexity for whole in wholes]
        line |= {
            "depth": [whole and whole.depth for whole in wholes],
            "stability": [each and round(each.stability_cp, 3) for each in seen],
            "jump": [each and each.jump_cp for each in seen],
            "jump_depth": [each and each.jump_depth for each in seen],
        }
    if setting.lines > 1:
        line["lines"] = [(each and each.lines) or [] for *_, each in found]
    return line


def name_of(name: str | None) -> str | int | None:
    """Return a player's name, as a number if the original file had a number."""
    return int(name) if name and name.isdecimal() else name


def write_pieces(corpus: Path, number: int, target: Path, tables: Sequence[str]) -> int:
    """Write the searched games; return their number."""
    wanted = choose_tables(tables)
    has_depths = any(table.measure in OVER_DEPTHS for _, table in wanted)
    lines = max(MEASURES[table.measure].lines for _, table in wanted)
    written = 0
    with CorpusDatabase(corpus) as database, lzma.open(target, "wb", preset=9) as file:
        setting = database.read_settings()[number]
        names = database.read_players()
        events = database.read_events()
        for game in list_games_to_search(wanted, CorpusGames(database), lines=lines):
            for stored, searched in database.read_searched_games(
                number, game, game + 1
            ):
                line = line_of(
                    stored, searched, setting, names, events, has_depths=has_depths
                )
                file.write(msgspec.json.encode(line) + b"\n")
                written += 1
    return written


if __name__ == "__main__":
    count = write_pieces(
        Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]
    )
    sys.stdout.write(f"{count} games\n")
