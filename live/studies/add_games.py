"""Addition of the games of files to a corpus. Each game is added once; damaged texts
are counted, recorded by name and skipped.

If the process is killed, the same command continues where it stopped. Texts whose
transaction was committed are skipped without being parsed. A game that the corpus
already contains is not added again.
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
    """Counts of one file's texts in this run: skipped, added, already in the corpus,
    damaged.
    """

    source: str
    texts: int = 0
    """All texts in the file, including those of earlier runs."""
    passed_over: int = 0
    """Texts that are skipped because an earlier run has read them."""
    new: int = 0
    known: int = 0
    """Games that the corpus already contained."""
    evaluated: int = 0
    """Games whose evaluations came with the file and were new to the corpus."""
    damaged: int = 0
    broken: str = ""
    """Reason why the file could not be read to its end; empty if it could."""

    @property
    def has_only_damage(self) -> bool:
        """True if the file had texts to read, and none of them could be read."""
        return 0 < self.damaged == self.texts - self.passed_over


def add_file(
    database: CorpusDatabase,
    path: str,
    setting: SearchSetting,
    progress: Callable[[AddedGames], None] = lambda added: None,
) -> AddedGames:
    """Add one file's games to the corpus; return the counts.

    Raises:
        InputError: there is no such file, or the disk is full.
    """
    added = AddedGames(path)
    source, known_texts, finished = database.register_file(path, read_file_mark(path))
    if finished:
        added.texts = added.passed_over = known_texts
        return added
    reader = GameReader(setting)
    try:
        for text in read_game_texts(path):
            added.texts += 1
            if added.texts <= known_texts:
                added.passed_over += 1
                continue
            try:
                read_game = reader.read(text)
            except DamagedGame as error:
                added.damaged += 1
                database.record_damage(source, added.texts, error.name, str(error))
            else:
                number, new = database.add_game(read_game.game)
                added.new += new
                added.known += not new
                if read_game.searched is not None:
                    setting_number = database.add_setting(read_game.setting)
                    added.evaluated += database.add_results(
                        setting_number, number, read_game.searched
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
