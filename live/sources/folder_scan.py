"""The PGN files below a folder, and the signatures by which their changes are
detected.
"""

import os
import re
from pathlib import Path

from live.sources.retry import create_permanent_trouble

#: Limits on the files read, and on the depth of sub-folders: a whole disk given by
#: mistake must not be read.
MAX_FILES = 2000
MAX_DEPTH = 4
_NUMBER = re.compile(r"(\d+)")

#: Modification time (nanoseconds), size and inode of a file, to detect changes.
Signature = tuple[int, int, int]
Signatures = dict[Path, Signature]


def read_signature(path: Path) -> Signature:
    """Return the signature by which a change of the file is detected. Raises OSError as
    ``os.stat`` does.
    """
    stat = os.stat(path)
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)


def scan_folder(folder: Path) -> Signatures:
    """Return the PGN files below a folder, each with its signature.

    Raises OSError if the folder itself cannot be read, and FeedTrouble if it contains
    too many files; unreadable entries below it are skipped.
    """
    os.listdir(folder)
    paths: list[Path] = []
    for directory, folders, names in os.walk(folder):
        if len(Path(directory).relative_to(folder).parts) >= MAX_DEPTH:
            folders.clear()
        # A folder whose name ends in .pgn is listed like a file, so that it is reported
        # as unreadable instead of being searched.
        paths += [
            Path(directory, name) for name in (*names, *folders) if _is_named_pgn(name)
        ]
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not _is_named_pgn(name)
        ]
        if len(paths) > MAX_FILES:
            problem = f"holds more than {MAX_FILES} PGN files"
            raise create_permanent_trouble(
                str(folder), problem, "Give the folder of one tournament"
            )
    signatures: Signatures = {}
    for path in sorted(paths, key=_natural_sort_key):
        try:
            signatures[path] = read_signature(path)
        except OSError:  # deleted since it was listed
            continue
    return signatures


def _natural_sort_key(path: Path) -> list[list[tuple[bool, int, str]]]:
    """Return a sort key that puts ``game-2`` before ``game-10``."""
    return [list(map(_word_sort_key, _NUMBER.split(part[:255]))) for part in path.parts]


def _word_sort_key(word: str) -> tuple[bool, int, str]:
    return (word.isdecimal(), int(word) if word.isdecimal() else 0, word)


def _is_named_pgn(name: str) -> bool:
    return name.lower().endswith(".pgn") and not name.startswith(".")
