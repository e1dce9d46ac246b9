"""Files into a corpus: each game once, what is damaged counted, named and gone past.

The same command goes on where a kill left it: texts whose transaction was committed are passed
over unread, and a game that is there already is not added again.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from live.studies.corpus_database import CorpusDatabase, SearchSetting
from live.studies.game_texts import BrokenFile, file_mark, game_texts
from live.studies.read_games import GameReader

#: Texts between two reports of progress.
_REPORT_EVERY = 200


class AddedGames(msgspec.Struct):
    """What became of one file's texts in this run."""

    source: str
    texts: int = 0
    """In the file, those of earlier runs included."""
    passed_over: int = 0
    """Read in an earlier run."""
    new: int = 0
    known: int = 0
    """Games that the corpus held already."""
    evaluated: int = 0
    """Games whose evaluations came along and were new."""
    damaged: int = 0
    broken: str = ""
    """Why the file could not be read to its end; empty when it was."""

    @property
    def only_damage(self) -> bool:
        """Not one game could be read."""
        return 0 < self.damaged == self.texts - self.passed_over


def add_file(
    database: CorpusDatabase,
    path: str,
    given: SearchSetting,
    progress: Callable[[AddedGames], None] = lambda added: None,
) -> AddedGames:
    """Add one file's games. Raises InputError when there is no such file or the disk is full."""
    added = AddedGames(path)
    source, known_texts, finished = database.source(path, file_mark(path))
    if finished:
        added.texts = added.passed_over = known_texts
        return added
    reader = GameReader(given)
    settings: dict[SearchSetting, int] = {}
    try:
        for text in game_texts(path):
            added.texts += 1
            if added.texts <= known_texts:
                added.passed_over += 1
                continue
            found = reader.read(text)
            if found.game is None:
                added.damaged += 1
                database.damage(source, added.texts, found.name, found.problem)
            else:
                number, new = database.add_game(found.game)
                added.new += new
                added.known += not new
                if found.searched is not None and found.setting is not None:
                    setting = settings.get(found.setting)
                    if setting is None:
                        setting = settings[found.setting] = database.setting(found.setting)
                    added.evaluated += database.add_results(setting, number, found.searched)
            database.read_so_far(source, added.texts)
            database.wrote()
            if added.texts % _REPORT_EVERY == 0:
                progress(added)
    except BrokenFile as error:
        added.broken = str(error)
        database.damage(source, added.texts + 1, "the rest of the file", str(error))
    database.read_so_far(source, added.texts, finished=not added.broken)
    database.commit()
    return added
