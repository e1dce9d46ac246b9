"""The pages of the manual: their names, titles and texts, as they lie in this folder."""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec

from live.catalogue import FIGURES

#: In the order of the contents. A page is ``TOPIC.md`` in this folder.
TOPICS: tuple[str, ...] = (
    "arbiter",
    "producer",
    "numbers",
    "sources",
    "engines",
    "programs",
    "operation",
    "plugins",
    "studies",
    "glossary",
    "changes",
)
#: Pictures that pages show; they lie beside them.
PICTURES: tuple[str, ...] = ("overlay-board.png",)


class ManualPage(msgspec.Struct, frozen=True):
    """One page."""

    topic: str
    title: str
    """Its heading."""
    summary: str
    """One line: the first sentence below the heading."""
    text: str
    """The whole page, Markdown."""

    def section(self, heading: str) -> str:
        """The Markdown under a heading of the second level, the heading included.

        Raises:
            KeyError: the page has no such heading.
        """
        for part in self.text.split("\n## ")[1:]:
            if part.partition("\n")[0] == heading:
                return f"## {part.strip()}\n"
        raise KeyError(heading)


@cache
def manual_page(topic: str) -> ManualPage:
    """The page of one of :data:`TOPICS`.

    Raises:
        KeyError: there is no such page.
    """
    if topic not in TOPICS:
        raise KeyError(topic)
    text = resources.files(__package__).joinpath(f"{topic}.md").read_text(encoding="utf-8")
    text = text.replace("<!-- figures -->", _figures())
    heading, paragraph = text.split("\n\n", 2)[:2]
    summary = " ".join(paragraph.split()).partition(". ")[0].removesuffix(".")
    return ManualPage(topic, heading.removeprefix("# "), f"{summary}.", text)


def _figures() -> str:
    """The catalogue of figures as a table."""
    rows = (f"| `{each.head}` {each.name} | {each.meaning} |" for each in FIGURES)
    return "\n".join(("| figure | meaning |", "|---|---|", *rows))


@cache
def picture(name: str) -> bytes:
    """A picture that a page shows, PNG.

    Raises:
        KeyError: no page shows such a picture.
    """
    if name not in PICTURES:
        raise KeyError(name)
    return resources.files(__package__).joinpath(name).read_bytes()
