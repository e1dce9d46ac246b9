"""Takes games and what was said of them out of a journal for good.

A whole game goes, its two players with it: its moves without its names would still say who played.
Results of searches stay, since they know positions and no people. What is left is chained anew, and
the file written anew, so that nothing of it stays in free pages; a note says how many games went.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import msgspec

from live.store.journal_file import CHAINED, START, JournalLock, connected, link, prepare, sum_of


def forget(path: Path, *, player: str = "", older_than_ms: int = 0) -> int:
    """Delete the games of a player (a name, or a FIDE id), or those that changed last before a time
    (milliseconds since 1970 UTC), and every note about them; how many games went.

    Raises:
        JournalLocked: a service writes it.
        ForeignDatabase: it is no journal.
        sqlite3.Error: it cannot be read or written.
    """
    with contextlib.closing(connected(path, durable=True)) as connection:
        lock = JournalLock(path)
        lock.take()
        try:
            prepare(connection)
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN EXCLUSIVE")
            games = {
                game
                for game, at_ms in connection.execute(
                    "SELECT game, max(at_ms) FROM changes GROUP BY game"
                )
                if game and older_than_ms and at_ms < older_than_ms
            }
            notes = set()
            if older_than_ms:
                rows = connection.execute("SELECT n FROM notes WHERE at_ms < ?", (older_than_ms,))
                notes = {n for (n,) in rows}
            if player:
                names, theirs = _of(connection, player)
                games |= theirs
                bodies = connection.execute("SELECT n, body FROM notes")
                notes |= {n for n, body in bodies if _speaks_of(body, names)}
            for game in games:
                for table in ("changes", "notes", "games"):
                    connection.execute(f"DELETE FROM {table} WHERE game = ?", (game,))
            connection.executemany("DELETE FROM notes WHERE n = ?", [(n,) for n in notes])
            if games or notes:
                _say(connection, len(games))
                for table, columns in CHAINED.items():
                    _chain_anew(connection, table, columns.split(",")[0])
            connection.execute("COMMIT")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            lock.release()
    return len(games)


def _say(connection: sqlite3.Connection, games: int) -> None:
    number, run = connection.execute(
        "SELECT (SELECT ifnull(max(n), 0) + 1 FROM notes), (SELECT ifnull(max(run), 0) FROM runs)"
    ).fetchone()
    body = msgspec.json.encode({"games": games})
    fields = (number, time.time_ns() // 1_000_000, run, "", "forgotten", body)
    connection.execute(
        f"INSERT INTO notes ({CHAINED['notes']}, sum, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*fields, sum_of(*fields), START),
    )


def _chain_anew(connection: sqlite3.Connection, table: str, number: str) -> None:
    before, last = START, None
    rows = connection.execute(f"SELECT {number}, sum FROM {table} ORDER BY 1").fetchall()
    for last, record in rows:
        if record is not None:  # else of a version without checksums
            before = link(before, record)
            connection.execute(f"UPDATE {table} SET chain = ? WHERE {number} = ?", (before, last))
    connection.execute("DELETE FROM heads WHERE name = ?", (table,))
    if last is not None and before != START:
        connection.execute("INSERT INTO heads VALUES (?, ?, ?)", (table, last, before))


def _of(connection: sqlite3.Connection, player: str) -> tuple[set[str], set[str]]:
    """What a player is called, and the ids of the games."""
    wanted = _folded(player)
    names, games = set() if wanted.isdecimal() else {wanted}, set()
    for game, step in connection.execute("SELECT game, step FROM changes"):
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, TypeError):  # damaged
            for name, fide_id in _people(msgspec.msgpack.decode(step)):
                if wanted in (_folded(name), str(fide_id)):
                    names.add(_folded(name))
                    games.add(game)
    return names - {""}, games


def _people(held: object) -> Iterator[tuple[str, object]]:
    """Name and FIDE id of everybody in it."""
    if isinstance(held, dict):
        if isinstance(name := held.get("name"), str):
            yield name, held.get("fide_id")
        held = list(held.values())
    if isinstance(held, list):
        for each in held:
            yield from _people(each)


def _speaks_of(body: bytes, names: set[str]) -> bool:
    with contextlib.suppress(msgspec.MsgspecError, UnicodeError):
        # By way of JSON's own spelling, which may write a letter as a number.
        body = msgspec.json.encode(msgspec.json.decode(body))
    text = _folded(body.decode("utf-8", "replace"))
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
