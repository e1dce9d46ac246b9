"""The pages of the manual in this folder: topics, titles and texts."""

from functools import cache
from importlib import resources

from markdown_it import MarkdownIt
from markdown_it.token import Token

from live.catalogue import FIGURES
from live.messages.values import Value

#: Topics in the order of the table of contents. Each page is ``TOPIC.md`` in this
#: folder.
TOPICS: tuple[str, ...] = (
    "arbiter",
    "producer",
    "numbers",
    "sources",
    "engines",
    "programs",
    "operation",
    "studies",
    "papers",
    "glossary",
    "changes",
)
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")

#: Line of a page that is replaced by the catalogue of figures.
_FIGURES_MARK = "<!-- figures: written from live/catalogue.py -->"

#: Pictures that pages show, files of this folder.
PICTURES: tuple[str, ...] = ("overlay-board.png", "papers.png")


class ManualPage(Value):
    """One page of the manual."""

    title: str
    """The page's heading of the first level."""
    summary: str
    """The first sentence below the heading, as plain text."""
    text: str
    """The whole page, Markdown."""


@cache
def read_page(topic: str) -> ManualPage:
    """Return the page of a topic of :data:`TOPICS`.

    Raises:
        KeyError: there is no such page.
    """
    if topic not in TOPICS:
        raise KeyError(topic)
    file = resources.files(__package__).joinpath(f"{topic}.md")
    text = file.read_text(encoding="utf-8")
    text = text.replace(_FIGURES_MARK, _build_figures_table())
    heading, paragraph = text.split("\n\n", 2)[:2]
    (inline,) = MARKDOWN.parseInline(" ".join(paragraph.split()))
    summary = join_words(inline).partition(". ")[0].removesuffix(".")
    return ManualPage(heading.removeprefix("# "), f"{summary}.", text)


def join_words(inline: Token) -> str:
    """Return the text of an inline token without its Markdown."""
    return "".join(child.content for child in inline.children or [])


def _build_figures_table() -> str:
    """Return the catalogue of figures as a Markdown table."""
    rows = (
        f"| `{figure.head}` {figure.name} | {figure.meaning} |" for figure in FIGURES
    )
    return "\n".join(("| figure | meaning |", "|---|---|", *rows))


@cache
def read_picture(name: str) -> bytes:
    """Return a PNG picture that a page shows.

    Raises:
        KeyError: no page shows such a picture.
    """
    if name not in PICTURES:
        raise KeyError(name)
    return resources.files(__package__).joinpath(name).read_bytes()
