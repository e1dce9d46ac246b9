"""Deletes games from a journal, with all records about them."""

import contextlib
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from live.games.player_identity import fold_name
from live.journal.journal_file import (
    RECORDS,
    compute_checksum,
    lock_journal,
    migrate,
    open_connection,
)

#: Kinds of notes that can name people. Other kinds, such as a change of the public
#: delay, are about the whole event.
_KINDS_ABOUT_PEOPLE = ("alert", "mute", "entry")


def delete_games(path: Path, *, player: str = "", older_than_ms: int = 0) -> int:
    """Delete games permanently; return the number of deleted games.

    The games are selected by ``player`` (a name or a FIDE id), or by a last change
    before ``older_than_ms`` (milliseconds since 1970 UTC). Notes about these games are
    deleted too. So are notes that mention the player, and alerts and remarks from
    before that time that are not about a remaining game.

    Both players' moves are deleted, since even without names they would show who
    played. Results of searches remain, since they contain no data about people. The
    file is rewritten, so that free pages contain no deleted data. A note records the
    number of deleted games.

    Raises:
        JournalLocked: a service is writing the file.
        ForeignDatabase: the file is not a journal.
        sqlite3.Error: the file cannot be read or written.
    """
    with contextlib.closing(open_connection(path)) as connection, lock_journal(path):
        migrate(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN EXCLUSIVE")
        rows = connection.execute(
            "SELECT game FROM changes WHERE game <> '' GROUP BY game HAVING max(at_ms)"
            " < ?",
            (older_than_ms,),
        )
        games = {game for (game,) in rows}
        notes = set[int]()
        if player:
            names, player_games = _find_player_games(connection, player)
            games |= player_games
            bodies = connection.execute("SELECT n, body FROM notes")
            notes = {n for n, body in bodies if _mentions_any(body, names)}
        for game in games:
            for table in ("changes", "notes", "games"):
                connection.execute(f"DELETE FROM {table} WHERE game = ?", (game,))
            connection.execute("DELETE FROM remembered WHERE about = ?", (game,))
        for n in notes:
            connection.execute("DELETE FROM notes WHERE n = ?", (n,))
        deleted = connection.execute(
            "DELETE FROM notes WHERE at_ms < ? AND kind IN (?, ?, ?)"
            " AND game NOT IN (SELECT game FROM changes WHERE game <> '')",
            (older_than_ms, *_KINDS_ABOUT_PEOPLE),
        )
        if games or notes or deleted.rowcount:
            _note_deletion(connection, len(games))
        connection.execute("COMMIT")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return len(games)


def _note_deletion(connection: sqlite3.Connection, games: int) -> None:
    number, run = connection.execute(
        "SELECT (SELECT ifnull(max(n), 0) + 1 FROM notes),"
        " (SELECT ifnull(max(run), 0) FROM runs)"
    ).fetchone()
    body = msgspec.json.encode({"games": games})
    fields = (number, time.time_ns() // 1_000_000, run, "", "forgotten", body)
    connection.execute(
        f"INSERT INTO notes ({RECORDS['notes']}, sum) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*fields, compute_checksum(*fields)),
    )


def _find_player_games(
    connection: sqlite3.Connection, player: str
) -> tuple[set[str], set[str]]:
    """Return the names of a player (case-folded), and the ids of the player's games."""
    folded = fold_name(player)
    names = set() if folded.isdecimal() else {folded}
    games = set()
    for game, step in connection.execute("SELECT game, step FROM changes"):
        with contextlib.suppress(
            msgspec.MsgspecError, UnicodeError, TypeError
        ):  # damaged record
            for name, fide_id in _walk_people(msgspec.msgpack.decode(step)):
                if folded in (fold_name(name), str(fide_id)):
                    names.add(fold_name(name))
                    games.add(game)
    return names - {""}, games


def _walk_people(value: object) -> Iterator[tuple[str, object]]:
    """Yield the name and FIDE id of every person in a decoded value."""
    if isinstance(value, dict):
        if isinstance(name := value.get("name"), str):
            yield name, value.get("fide_id")
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _walk_people(item)


def _mentions_any(body: bytes, names: set[str]) -> bool:
    """Return whether a note contains one of the names as whole words."""
    with contextlib.suppress(msgspec.MsgspecError, UnicodeError):
        # Encode the JSON again, since the original can contain letters as numeric
        # escapes.
        body = msgspec.json.encode(msgspec.json.decode(body))
    text = fold_name(body.decode("utf-8", "replace"))
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)
