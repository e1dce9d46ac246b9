"""Engines measured on the reference positions, kept in the user's state folder: a file for each
engine and limit, so that a second start knows at once. Part of the composition root.

Loss policy: a file that cannot be read or written costs another measurement, said in the log.
"""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path

import msgspec

from live.ratings.engine_scale import MeasuredEngine, ReferenceSet

log = logging.getLogger(__name__)


class KeptMeasurement(msgspec.Struct, frozen=True, kw_only=True):
    """One file."""

    engine: str
    """The engine with its options, as results are kept under."""
    limit: str
    reference: str
    """Digest of the positions and stored scores: others would give another scale."""
    measured: MeasuredEngine


class MeasuredEngines:
    """One folder of measurements."""

    def __init__(self, reference: ReferenceSet, folder: Path | None = None) -> None:
        """``folder`` None: the user's own."""
        self._reference = _digest(msgspec.json.encode(reference))
        self._folder = folder or _user_folder()

    def get(self, engine: str, limit: str) -> MeasuredEngine | None:
        """What is known of the engine (with its options) under this limit."""
        path = self._path(engine, limit)
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=KeptMeasurement)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("%s cannot be read (%s): the engine is measured again", path, error)
            return None
        if (kept.engine, kept.limit, kept.reference) != (engine, limit, self._reference):
            return None
        return kept.measured

    def put(self, engine: str, limit: str, measured: MeasuredEngine) -> None:
        """Keep it."""
        path = self._path(engine, limit)
        kept = KeptMeasurement(
            engine=engine, limit=limit, reference=self._reference, measured=measured
        )
        # Not in place: whoever reads meanwhile finds the whole file or none.
        new = path.with_suffix(f".{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
            new.replace(path)
        except OSError as error:
            log.warning("%s cannot be written (%s): the engine is measured again", path, error)

    def _path(self, engine: str, limit: str) -> Path:
        named = "\x1f".join((engine, limit, self._reference))
        return self._folder / f"{_digest(named.encode())}.json"


def _user_folder() -> Path:
    import platformdirs  # only here: most commands need none

    return platformdirs.user_state_path("live-rate") / "measured-engines"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()
