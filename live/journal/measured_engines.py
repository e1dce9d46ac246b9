"""Measurements of engines on the reference positions, stored in the user's state
folder.

Each engine and limit has its own file, so that a restart need not measure the engine
again. If a file cannot be read or written, the engine is measured again, and a log
message says so.
"""

import hashlib
import logging
import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from live.engine.uci import EngineIdentity
from live.ratings.engine_scale import MeasuredEngine, load_reference

log = logging.getLogger(__name__)


class EngineInUse(NamedTuple):
    """The engine that measures the games."""

    identity: EngineIdentity
    """Its name and options."""
    limit: str
    """Limit of its searches, as text for people."""
    measured: MeasuredEngine | None
    """The measurement known at the start, if any."""


def _locate_file(engine: str, limit: str) -> Path:
    """Return the file of the measurement of an engine under a limit.

    The file name also depends on the reference positions, since other positions would
    give another scale.
    """
    # Imported only here because most commands do not need it.
    import platformdirs

    measured = msgspec.json.encode((engine, limit, load_reference()))
    name = hashlib.blake2b(measured, digest_size=12).hexdigest()
    folder = platformdirs.user_state_path("live-rate") / "measured-engines"
    return folder / f"{name}.json"


def read_measured_engine(engine: str, limit: str) -> MeasuredEngine | None:
    """Return the stored measurement of an engine (with its options) under a limit.

    Return None if there is none.
    """
    path = _locate_file(engine, limit)
    try:
        return msgspec.json.decode(path.read_bytes(), type=MeasuredEngine)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        log.warning("%s cannot be read (%s): the engine is measured again", path, error)
        return None


def keep_measured_engine(engine: str, limit: str, measured: MeasuredEngine) -> None:
    """Store the measurement of an engine for the next start."""
    path = _locate_file(engine, limit)
    # The file is replaced atomically, so that other processes never read a partial
    # file.
    new = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(msgspec.json.encode(measured))
        new.replace(path)
    except OSError as error:
        text = "%s cannot be written (%s): the engine is measured again"
        log.warning(text, path, error)
