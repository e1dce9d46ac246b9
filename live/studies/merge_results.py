"""Results of other people's runs: taken where engine, limit, lines and version agree."""

from __future__ import annotations

import msgspec

from live.studies.corpus_database import CorpusDatabase, SearchSetting
from live.studies.corpus_game import CorpusGame, CorpusPlayer
from live.studies.searched_game import decode_searched


class MergedResults(msgspec.Struct):
    """What a merge brought."""

    games: int = 0
    """New in the corpus."""
    results: int = 0
    """Games whose results were taken."""
    refused: list[str] = []
    """Settings that were left out, and why, for people."""


def merge(target: CorpusDatabase, source: CorpusDatabase) -> MergedResults:
    """Bring one corpus's games and results into another.

    A setting is taken when the corpus has it already, or has none: results of two engines, limits
    or versions are two studies, and are kept apart by refusing. Raises InputError as both
    databases do.
    """
    merged = MergedResults()
    known = set(target.settings().values())
    taken: dict[int, int] = {}
    for number, setting in source.settings().items():
        if known and setting not in known:
            near = next((each for each in known if each.bound == setting.bound), next(iter(known)))
            merged.refused.append(f"{setting}: {_difference(setting, near)}")
        else:
            taken[number] = target.setting(setting)
    names, words = source.players(), _words(source)
    for row in source.rows(
        "SELECT games.game, white, black, white_elo, black_elo, events.name, round, date, result,"
        " other_result, time_control FROM games LEFT JOIN events USING (event) ORDER BY game"
    ):
        number, white, black, white_elo, black_elo, event, round_, date, result, other, tc = row
        stored = source.stored(number)
        game = CorpusGame(
            white=_player(white, names, words),
            black=_player(black, names, words),
            white_elo=white_elo,
            black_elo=black_elo,
            event=event or "",
            round=round_,
            date=date,
            result=result,
            moves=stored.moves,
            start_fen=stored.start_fen,
            chess960=stored.chess960,
            time_control=tc,
        )
        here, new = target.add_game(game)
        if other is not None:
            target.add_game(msgspec.structs.replace(game, result=other))
        merged.games += new
        for setting_there, positions in source.rows(
            "SELECT setting, positions FROM results WHERE game = ?", (number,)
        ):
            if setting_there in taken:
                merged.results += target.add_results(
                    taken[setting_there], here, decode_searched(positions)
                )
        target.wrote()
    return merged


def _difference(one: SearchSetting, other: SearchSetting) -> str:
    """Where two settings part, for people."""
    pairs = zip(
        ("engine", "limit", "lines", "version"),
        msgspec.structs.astuple(one),
        msgspec.structs.astuple(other),
        strict=True,
    )
    return ", ".join(f"{what} {a!r} is not {b!r}" for what, a, b in pairs if a != b)


def _words(source: CorpusDatabase) -> dict[int, tuple[str, int | None]]:
    """Of each player the name as compared, and the FIDE id."""
    found: dict[int, tuple[str, int | None]] = {}
    for key, player in source.rows("SELECT key, player FROM player_keys ORDER BY key"):
        words, fide_id = found.get(player, ("", None))
        if key.startswith("fide-"):
            fide_id = int(key.removeprefix("fide-"))
        else:
            words = key
        found[player] = (words, fide_id)
    return found


def _player(
    number: int | None, names: dict[int, str], words: dict[int, tuple[str, int | None]]
) -> CorpusPlayer:
    if number is None:
        return CorpusPlayer("?", "")
    return CorpusPlayer(names[number], *words[number])
