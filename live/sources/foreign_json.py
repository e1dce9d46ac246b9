"""Reader of JSON written by other programs, field by field. No I/O.

Services and publishers change their JSON without notice. So an unreadable value affects
only its own field and is recorded in the object that contains the field: one player's
odd rating does not lose the board, and one odd board does not lose the round. A text
that is not JSON is treated as if nothing had been received.

The expected fields are declared as structs in which every field has a default:

* ``null`` is treated like a missing field: the field has its default.
* Numbers written as texts, and texts written as numbers, are read. A blank text is not
  a number. A text longer than :data:`MAX_TEXT` characters is not accepted, unless its
  field declares another limit. A ``Result`` is read in all its spellings.
* A list ends before the first unreadable entry. In a list of :class:`ForeignObject`, an
  unreadable entry becomes an empty object that describes what was found, so that later
  entries keep their positions.
* At most :data:`MAX_ENTRIES` entries of a list are read. The object that contains the
  list records that there are more; if the text itself is a list of
  :class:`ForeignObject`, one more entry records it.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeGuard,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

import msgspec
from msgspec.structs import replace

from live.messages.from_sources import NOT_READ, GameReport, Result
from live.messages.values import Value
from live.sources.charset import decode
from live.sources.pgn_detection import HEAD_BYTES, describe_non_pgn
from live.sources.results import read_result

T = TypeVar("T")

#: Greatest number of entries read from a list; boards and moves are far fewer.
MAX_ENTRIES = 4096
#: Greatest length of a text whose field does not declare a limit; no name is longer.
MAX_TEXT = 1000
#: Greatest number of unread fields shown to people per object.
MAX_UNREAD = 8

#: Greatest number of digits in a number that is read; 64-bit integers have up to 19.
_MAX_DIGITS = 18
_WHOLE = re.compile(rf"[+-]?[0-9]{{1,{_MAX_DIGITS}}}(?:\.0{{0,9}})?\Z")
_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{_MAX_DIGITS}}}(?:\.[0-9]{{0,{_MAX_DIGITS}}})?\Z")
_TRUTHS: dict[object, bool] = {0: False, 1: True, "false": False, "true": True}


class ForeignObject(Value):
    """An object sent by a source, with a record of what could not be read."""

    unread: dict[str, str] = msgspec.field(default_factory=dict)
    """What was found instead of each unread field (``a list``), by the field's path
    (``white.elo``). The empty path stands for the object itself.
    """


F = TypeVar("F", bound=ForeignObject)


class _Unreadable(Exception):
    """Raised for a value that its field cannot hold, with a description of the value;
    without one if the value was blank.
    """


def read_json(body: bytes | str, kind: type[T]) -> T | None:
    """Decode JSON and return it as ``kind``; None if it is not JSON or cannot be read
    as ``kind``.
    """
    try:
        value = _decode_json(body)
    except (ValueError, RecursionError):
        return None
    return read_value(value, kind)


def read_value(value: object, kind: type[T]) -> T | None:
    """Return an already decoded JSON value as ``kind``; None if it cannot be read as
    that.
    """
    try:
        return cast(T, _choose_reader(cast(Any, kind))(value, _Place("", {})))
    except _Unreadable:
        return None


#: Descriptions of texts that might have been intended as JSON.
_MEANT_AS_JSON = (None, "JSON, not PGN", "text that is not PGN")


def describe_non_json(body: bytes) -> str:
    """Describe, for people, a text that could not be read as JSON."""
    if not body.strip():
        return "nothing"
    description = describe_non_pgn(body[:HEAD_BYTES])
    return "damaged JSON" if description in _MEANT_AS_JSON else description


def fill_unread(now: F, before: F | None, *names: str) -> F:
    """Return ``now`` with the values of ``before`` in each field of ``names`` that
    could not be read completely. These fields stay recorded as unread.
    """
    if before is None or not now.unread:
        return now
    unread = {path.partition(".")[0] for path in now.unread}
    return replace(
        now, **{name: getattr(before, name) for name in names if name in unread}
    )


def describe_unread(unread: Mapping[str, str]) -> str:
    """Return a text for people about what could not be read: ``not read: white.elo (a
    list)``; empty if nothing.
    """
    parts = [
        f"{path} ({description})" if path else description
        for path, description in unread.items()
    ]
    parts = parts[:MAX_UNREAD]
    return f"{NOT_READ} {', '.join(parts)}" if parts else ""


def add_unread(report: GameReport, unread: Mapping[str, str]) -> GameReport:
    """Return the report with the unread fields of its game added to its ``problem``."""
    if not unread:
        return report
    problem = "; ".join(filter(None, [report.problem, describe_unread(unread)]))
    return replace(report, problem=problem)


# --- from bytes to plain values -------------------------------------------------------


def _decode_json(body: bytes | str) -> object:
    text = decode(body) if isinstance(body, bytes) else body
    return json.loads(
        text, parse_int=_read_integral, parse_float=float, parse_constant=float
    )


def _read_integral(digits: str) -> float:
    """Return the number exactly if it has few digits; otherwise infinity, which is then
    not accepted as a number.
    """
    return int(digits) if len(digits) <= _MAX_DIGITS + 1 else math.inf


# --- from plain values to structs -----------------------------------------------------


class _Place(NamedTuple):
    """Path of a value in its object, and the object's record of unread fields."""

    path: str
    unread: dict[str, str]

    def at_field(self, name: str) -> "_Place":
        """Return the place of the field ``name`` of the value at this place."""
        return _Place(f"{self.path}.{name}" if self.path else name, self.unread)

    def note_unread(self, description: str) -> None:
        """Record that the value found here could not be read."""
        if description:
            self.unread.setdefault(self.path, description)


Reader = Callable[[object, _Place], object]
"""Function that converts a decoded value to the type of its field; it raises
:class:`_Unreadable`.
"""


@cache
def _choose_reader(kind: Any) -> Reader:
    """Return the reader for values of this type.

    Raises:
        TypeError: there is no reader for this type.
    """
    if kind in _SCALARS:
        return _SCALARS[kind]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _make_object_reader(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated and inner[1].max_length is not None:
        return _make_text_reader(inner[1].max_length)
    if origin is Annotated:
        return _make_bounded_reader(_choose_reader(inner[0]), inner[1])
    if origin in (list, tuple):
        return _make_list_reader(origin, inner[0])
    if origin in (Union, UnionType):
        kinds = [alternative for alternative in inner if alternative is not NoneType]
        return _make_union_reader(kinds, optional=NoneType in inner)
    raise TypeError(f"{kind!r} is not read from JSON")


def _describe_value(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number" if math.isfinite(value) else "a number out of range"
        case str():
            return "a text"
        case list():
            return "a list"
    return "an object"


def _is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a finite number."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def _make_text_reader(limit: int) -> Reader:
    """Return a reader of texts with at most this many characters."""

    def read_text(value: object, place: _Place) -> str:
        if _is_number(value):
            return str(int(value) if value == int(value) else value)
        if not isinstance(value, str):
            raise _Unreadable(_describe_value(value))
        if len(value) > limit:
            raise _Unreadable(f"a text of more than {limit} characters")
        # JSON can contain half a surrogate pair, which cannot be encoded.
        return value if value.isascii() else value.encode("utf-8", "replace").decode()

    return read_text


def _read_whole(value: object, place: _Place) -> int:
    if isinstance(value, str) and _WHOLE.match(value.strip()):
        return int(value.strip().partition(".")[0])
    number = _read_number(value, place)
    if number != int(number):
        raise _Unreadable("a fraction")
    return int(number)


def _read_number(value: object, place: _Place) -> float:
    if _is_number(value):
        return value
    text = value.strip() if isinstance(value, str) else ""
    if _NUMBER.match(text):
        return float(text)
    # A blank text means that the value is unknown.
    raise _Unreadable(
        "" if value == "" or str(value).isspace() else _describe_value(value)
    )


def _read_truth(value: object, place: _Place) -> bool:
    if isinstance(value, int | float | str) and value in _TRUTHS:
        return _TRUTHS[value]
    raise _Unreadable(_describe_value(value))


#: Texts that mean that there is no result.
_NO_RESULT = frozenset({"", "*", "-", "?", "NOTPLAYED"})


def _read_result(value: object, place: _Place) -> Result:
    if not isinstance(value, str):
        raise _Unreadable(_describe_value(value))
    text = value.strip()
    result = read_result(text)
    if result == "*" and text not in _NO_RESULT:
        raise _Unreadable("a text")
    return result


def _read_anything(value: object, place: _Place) -> object:
    return value


_SCALARS: dict[Any, Reader] = {
    str: _make_text_reader(MAX_TEXT),
    int: _read_whole,
    float: _read_number,
    bool: _read_truth,
    object: _read_anything,
    Result: _read_result,
}


def _make_bounded_reader(read: Reader, bounds: msgspec.Meta) -> Reader:
    lowest = -math.inf if bounds.ge is None else bounds.ge
    highest = math.inf if bounds.le is None else bounds.le

    def read_in_range(value: object, place: _Place) -> object:
        number = read(value, place)
        if isinstance(number, int | float) and not lowest <= number <= highest:
            raise _Unreadable("a number out of range")
        return number

    return read_in_range


def _make_union_reader(kinds: list[Any], *, optional: bool) -> Reader:
    """Return a reader that tries several types and uses the first that fits. If lists
    or objects are among them, a text is never read as a number.
    """
    scalars = [
        kind for kind in kinds if kind in _SCALARS or get_origin(kind) is Annotated
    ]
    has_more = len(scalars) < len(kinds)

    def read_union(value: object, place: _Place) -> object:
        if value is None and optional:
            return None
        refused: _Unreadable | None = None
        for kind in kinds:
            if has_more and kind in scalars and not isinstance(value, str):
                continue
            try:
                return _choose_reader(kind)(value, place)
            except _Unreadable as error:
                refused = refused or error
        raise refused or _Unreadable(_describe_value(value))

    return read_union


def _make_list_reader(
    container: type[list[Any]] | type[tuple[Any, ...]], kind: Any
) -> Reader:
    read_entry = _choose_reader(kind)
    is_object = isinstance(kind, type) and issubclass(kind, ForeignObject)

    def read_list(value: object, place: _Place) -> Sequence[object]:
        if not isinstance(value, list):
            raise _Unreadable(_describe_value(value))
        entries: list[object] = []
        for number, entry in enumerate(islice(value, MAX_ENTRIES), start=1):
            try:
                entries.append(read_entry(entry, place))
            except _Unreadable:
                if not is_object:
                    place.note_unread(f"{_describe_value(entry)} as entry {number}")
                    break
                entries.append(kind(unread={"": _describe_value(entry)}))
        if len(value) > MAX_ENTRIES:
            left_out = f"more than {MAX_ENTRIES} entries"
            if is_object and not place.path:
                # No object contains this list, so a last entry records it.
                entries.append(kind(unread={"": left_out}))
            else:
                place.note_unread(left_out)
        return container(entries)

    return read_list


class _Field(NamedTuple):
    name: str
    sent_as: str
    read: Reader


def _make_object_reader(kind: type[msgspec.Struct]) -> Reader:
    names_unread = issubclass(kind, ForeignObject)
    fields = [
        _Field(field.name, field.encode_name, _choose_reader(field.type))
        for field in msgspec.structs.fields(kind)
        if not (names_unread and field.name == "unread")
    ]

    def read_object(value: object, place: _Place) -> msgspec.Struct:
        if not isinstance(value, dict):
            raise _Unreadable(_describe_value(value))
        unread: dict[str, str] = {}
        inner_place = _Place("", unread) if names_unread else place
        values: dict[str, Any] = {}
        for field in fields:
            sent = value.get(field.sent_as)
            if sent is None:
                continue
            field_place = inner_place.at_field(field.name)
            try:
                values[field.name] = field.read(sent, field_place)
            except _Unreadable as error:
                field_place.note_unread(str(error))
        if names_unread:
            values["unread"] = unread
        return kind(**values)

    return read_object
