"""The pages of the manual, as they lie in this folder: names, titles and texts; and Markdown as
accessible HTML pages in the look of the site: no script, nothing from elsewhere.

Headings have ids as GitHub gives them, so a link to a section works in both places.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib import resources

from markdown_it import MarkdownIt
from markdown_it.token import Token

from live.catalogue import FIGURES
from live.messages.values import Value

#: In the order of the contents. A page is ``TOPIC.md`` in this folder.
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
#: Pictures that pages show; they lie beside them.
PICTURES: tuple[str, ...] = ("overlay-board.png", "papers.png")


class ManualPage(Value):
    """One page."""

    title: str
    """Its heading."""
    summary: str
    """One line: the first sentence below the heading, without its Markdown."""
    text: str
    """The whole page, Markdown."""


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
    (inline,) = _markdown.parseInline(" ".join(paragraph.split()))
    summary = _words(inline).partition(". ")[0].removesuffix(".")
    return ManualPage(heading.removeprefix("# "), f"{summary}.", text)


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


# --- as HTML --------------------------------------------------------------------------------------

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
_NOT_IN_IDS = re.compile(r"[^\w\- ]")

#: Views of the site that stand on every page, by their address from the root.
_SITE = (("", "Boards"), ("overlays", "Overlays"), ("manual/", "Manual"), ("docs", "Interface"))


class Heading(Value):
    """An entry of the contents."""

    level: int
    id: str
    text: str


class Rendered(Value):
    """Markdown as HTML."""

    body: str
    headings: tuple[Heading, ...]
    """Of the second and third level, in order."""


def render(text: str) -> Rendered:
    """Markdown of ours as HTML: links to other pages of the manual become their addresses; links
    that leave the manual for files of the source tree become plain text.
    """
    tokens = _markdown.parse(text)
    headings: list[Heading] = []
    seen: Counter[str] = Counter()
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            words = _words(following)
            id = heading_id(words)
            number = seen[id]
            seen[id] += 1
            token.attrSet("id", f"{id}-{number}" if number else id)
            level = int(token.tag[1])
            if level in (2, 3):
                headings.append(Heading(level, str(token.attrGet("id")), words))
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "inline":
            token.children = list(_links(token.children or []))
    html = str(_markdown.renderer.render(tokens, _markdown.options, {}))
    # What is wider than the page scrolls by itself, and must be reached by the keyboard to do so.
    scroll = '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
    html = html.replace("<table>", f"{scroll}<table>").replace("</table>", "</table></div>")
    return Rendered(html.replace("<pre>", '<pre tabindex="0">'), tuple(headings))


def heading_id(words: str) -> str:
    """The id of a heading, as GitHub makes it: ``A client in Python`` is ``a-client-in-python``."""
    return _NOT_IN_IDS.sub("", words.lower()).replace(" ", "-")


def _words(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])


def _links(children: Iterable[Token]) -> Iterable[Token]:
    dropped = False
    for child in children:
        if child.type == "link_open":
            target = str(child.attrGet("href"))
            dropped = target.startswith("../")
            if not re.match("[a-z]+:", target):
                child.attrSet("href", re.sub(r"\.md(?=#|$)", "", target))
        if child.type in ("link_open", "link_close") and dropped:
            continue
        yield child


def contents(headings: Sequence[Heading]) -> str:
    """The contents of a page as a nested list."""
    parts: list[str] = []
    for heading, after in zip(headings, [*headings[1:], None], strict=True):
        link = f'<a href="#{heading.id}">{escape(heading.text)}</a>'
        deeper = after is not None and after.level > heading.level
        parts.append(f"<li>{link}" + ("<ul>" if deeper else "</li>"))
        if heading.level > 2 and (after is None or after.level == 2):
            parts.append("</ul></li>")
    return f"<ul>{''.join(parts)}</ul>"


def frame(title: str, here: str, side: str, body: str, head: str = "") -> bytes:
    """A whole page, UTF-8.

    Args:
        title: For the window and the list of open pages.
        here: Its address from the root, such as ``manual/numbers``.
        side: What stands beside the text: contents, HTML.
        body: The text, HTML, with a heading of the first level.
        head: What else stands in the head of the page, HTML.
    """
    root = "../" * here.count("/")
    links = "".join(
        f'<a href="{(root + address) or "./"}"{_current(address, here)}>{name}</a>'
        for address, name in _SITE
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="dark light">\n'
        f"<title>{escape(title)} · live-rate</title>\n"
        f'<link rel="icon" href="{root}static/icon.svg" type="image/svg+xml">\n'
        f'<link rel="stylesheet" href="{root}static/font.css">\n'
        f'<link rel="stylesheet" href="{root}static/app.css">\n'
        f'<link rel="stylesheet" href="{root}static/page/manual.css">\n{head}'
        '</head>\n<body class="manual">\n<a class="skip" href="#main">To the text</a>\n'
        f'<header class="top"><nav aria-label="Site">{links}</nav></header>\n'
        f'<div class="columns">\n<nav class="side" aria-label="Contents">{side}</nav>\n'
        f'<main id="main" tabindex="-1">\n{body}</main>\n</div>\n</body>\n</html>\n'
    ).encode()


def _current(address: str, here: str) -> str:
    """Marks the link to the page that is shown, or to the manual around it."""
    current = address == here or (address == "manual/" and here.startswith(address))
    return ' aria-current="page"' if current else ""


@cache
def topic_html(topic: str) -> bytes:
    """One page of the manual.

    Raises:
        KeyError: there is no such page.
    """
    page = manual_page(topic)
    rendered = render(page.text)
    pages = "".join(
        f'<li><a href="{each}"{_current(each, topic)}>{escape(manual_page(each).title)}</a>'
        + (contents(rendered.headings) if each == topic else "")
        + "</li>"
        for each in TOPICS
    )
    side = f'<a href="./">Manual</a><ul>{pages}</ul>'
    return frame(page.title, f"manual/{topic}", side, rendered.body)


@cache
def index_html() -> bytes:
    """The contents of the manual."""
    entries = "".join(
        f'<dt><a href="{each}">{escape(manual_page(each).title)}</a></dt>'
        f"<dd>{escape(manual_page(each).summary)}</dd>"
        for each in TOPICS
    )
    side = "".join(f'<li><a href="{each}">{each}</a></li>' for each in TOPICS)
    body = (
        "<h1>Manual</h1>\n<p>The same pages are printed by <code>live-rate manual TOPIC</code>.</p>"
        f"\n<dl>{entries}</dl>\n"
    )
    return frame("Manual", "manual/", f"<ul>{side}</ul>", body)
