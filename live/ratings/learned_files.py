"""Reads learned values from files of the package or of the user."""

from collections.abc import Mapping
from importlib import resources
from typing import Generic, TypeVar

import msgspec

from live.errors import InputError
from live.messages.values import Value
from live.user_files import read_regular

Learned = TypeVar("Learned")


class LearnedFiles(Value, Generic[Learned]):
    """One folder of JSON files next to this module."""

    folder: str
    kind: type[Learned]
    content: str
    """Kind of the values in a file, for messages to people."""
    remedy: str = "Install the package again"
    """Advice for people if a file contains values of another kind."""

    def list_names(self) -> tuple[str, ...]:
        """Return the names of the files in the package, without ``.json``."""
        names = (entry.name for entry in self._find_folder().iterdir())
        return tuple(
            sorted(
                name.removesuffix(".json") for name in names if name.endswith(".json")
            )
        )

    def load(self, name_or_path: str) -> Learned:
        """Return the values with a name in the package, or from a file given by its
        path.

        Raises InputError if the file does not exist or cannot be read.
        """
        if name_or_path in self.list_names():
            data = (self._find_folder() / f"{name_or_path}.json").read_bytes()
            return self.decode(data, name_or_path)
        try:
            return self.decode(read_regular(name_or_path), name_or_path)
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(
                name_or_path,
                f"no {self.content} of that name or path ({reason})",
                f"Shipped are: {', '.join(self.list_names())}",
            ) from error

    def decode(self, data: bytes, subject: str) -> Learned:
        """Return the values that the data of a file contains.

        Raises InputError about ``subject`` if the data is of another kind.
        """
        try:
            return msgspec.json.decode(data, type=self.kind)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise InputError(
                subject, f"is no {self.content}: {error}", self.remedy
            ) from error

    def _find_folder(self) -> resources.abc.Traversable:
        return resources.files("live.ratings") / self.folder


def explain_mismatch(
    subject: str, requested: Mapping[str, str], learned: object
) -> str | None:
    """Return the reason why learned values do not apply to what is requested.

    Return None if they apply.
    """
    for name, value in requested.items():
        own = getattr(learned, name)
        if " ".join(value.lower().split()) != " ".join(own.lower().split()):
            return f"{subject} holds for the {name} {own!r}, not {value!r}"
    return None
