"""Where learned values lie: those that come with the package, and files of the user's own."""

from __future__ import annotations

from importlib import resources

import msgspec

from live.errors import InputError


class LearnedFiles(msgspec.Struct, frozen=True):
    """One folder of JSON files beside this module."""

    folder: str
    what: str
    """What a file holds, for people."""

    def names(self) -> tuple[str, ...]:
        """Of those that come with the package, without ``.json``."""
        names = (entry.name for entry in self._shipped().iterdir())
        return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))

    def read(self, name_or_path: str) -> bytes:
        """One that comes with the package, by its name, or a file.

        Raises InputError when there is none or it cannot be read.
        """
        if name_or_path in self.names():
            return (self._shipped() / f"{name_or_path}.json").read_bytes()
        try:
            with open(name_or_path, "rb") as file:
                return file.read()
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(
                name_or_path,
                f"no {self.what} of that name or path ({reason})",
                f"Shipped are: {', '.join(self.names())}",
            ) from error

    def _shipped(self) -> resources.abc.Traversable:
        return resources.files("live.ratings") / self.folder
