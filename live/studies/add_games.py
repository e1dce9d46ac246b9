"""Adds the games of files to a corpus: each game once; damaged texts are counted, named
and skipped.

After a kill the same command continues: texts whose transaction was committed are
skipped without being read, and a game that is already there is not added again.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from live.studies.corpus_database import BATCH, CorpusDatabase
from live.studies.game_reader import GameReader
from live.studies.game_texts import (
    BrokenFile,
    DamagedGame,
    read_file_mark,
    read_game_texts,
)
from live.studies.searched_games import SearchSetting


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
    """Add one file's games. Raises InputError when there is no such file or the disk is
    full.
    """
    added = AddedGames(path)
    source, known_texts, finished = database.open_source(path, read_file_mark(path))
    if finished:
        added.texts = added.passed_over = known_texts
        return added
    reader = GameReader(given)
    try:
        for text in read_game_texts(path):
            added.texts += 1
            if added.texts <= known_texts:
                added.passed_over += 1
                continue
            try:
                found = reader.read(text)
            except DamagedGame as error:
                added.damaged += 1
                database.record_damage(source, added.texts, error.name, str(error))
            else:
                number, new = database.add_game(found.game)
                added.new += new
                added.known += not new
                if found.searched is not None:
                    setting = database.add_setting(found.setting)
                    added.evaluated += database.add_results(
                        setting, number, found.searched
                    )
            database.record_texts(source, added.texts)
            if added.texts % BATCH == 0:
                progress(added)
                database.commit()
    except BrokenFile as error:
        added.broken = str(error)
        database.record_damage(
            source, added.texts + 1, "the rest of the file", str(error)
        )
    database.record_texts(source, added.texts, finished=not added.broken)
    database.commit()
    return added
