"""Rows of a CSV file as fields by column name. No I/O."""

import csv
import io
import re
from collections.abc import Iterator

from live.sources.charset import PlainLines, decode
from live.sources.charset_guess import guess_charset


def index_aliases(names: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return a mapping from each alias to its name."""
    index = {}
    for name, aliases in names.items():
        index.update(dict.fromkeys(aliases, name))
    return index


def read_number(text: str) -> int | None:
    """Return the positive whole number that the text spells; None for 0, for more than
    ten digits, and for other text.
    """
    if text.isascii() and text.isdigit() and len(text) < 11:
        return int(text) or None
    return None


#: First line that Excel writes to tell other copies of Excel the separator.
_SEPARATOR = re.compile(r"\s*\"?sep=(.)\"?\s*\n", re.IGNORECASE)


def read_csv_rows(data: bytes, columns: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield the fields of each row, by the names that ``columns`` gives to its
    headings.

    Raises:
        ValueError: a row cannot be read.
    """
    plain = PlainLines().decode_lines(data, final=True)
    text = decode(plain, guess_charset(plain) or "cp1252").lstrip()
    separator = _SEPARATOR.match(text)
    text = text[separator.end() :] if separator else text
    heading = text.partition("\n")[0]
    delimiter = separator[1] if separator else max(",;\t|", key=heading.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        headings = [re.sub(r"[^a-z]", "", title.lower()) for title in next(reader, [])]
        names = [columns.get(heading) for heading in headings]
        for row in reader:
            if not "".join(row).strip():
                continue
            yield {name: value for name, value in zip(names, row, strict=False) if name}
    except csv.Error as error:  # csv.Error is not a ValueError
        raise ValueError(
            f"cannot be read in line {reader.line_num} ({error})"
        ) from None
