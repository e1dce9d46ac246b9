"""Conversion of Markdown to accessible HTML pages in the style of the site. The pages
have no scripts and load no files of other sites.

Headings have the same ids as on GitHub, so a link to a section works in both places.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape

from markdown_it.token import Token

from live.manual.pages import MARKDOWN, TOPICS, join_words, read_page
from live.messages.values import Value

_NOT_IN_IDS = re.compile(r"[^\w\- ]")

#: Links at the top of every page: address from the root, and name.
_SITE = (
    ("", "Boards"),
    ("overlays", "Overlays"),
    ("manual/", "Manual"),
    ("docs", "Interface"),
)


class Heading(Value):
    """An entry in a page's table of contents."""

    level: int
    id: str
    text: str


class RenderedPage(Value):
    """A Markdown text as HTML."""

    body: str
    headings: tuple[Heading, ...]
    """Headings of the second and third level, in order."""


def render_markdown(text: str) -> RenderedPage:
    """Return the Markdown text of a page as HTML.

    Links to other pages of the manual become their addresses. Links to files of the
    source tree become plain text.
    """
    tokens = MARKDOWN.parse(text)
    headings: list[Heading] = []
    id_counts: Counter[str] = Counter()
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            words = join_words(following)
            id = build_heading_id(words)
            number = id_counts[id]
            id_counts[id] += 1
            token.attrSet("id", f"{id}-{number}" if number else id)
            level = int(token.tag[1])
            if level in (2, 3):
                headings.append(Heading(level, str(token.attrGet("id")), words))
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "inline":
            token.children = list(_resolve_links(token.children or []))
    html = str(MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}))
    # A table that is wider than the page scrolls in a box of its own, which gets the
    # focus so that the keyboard can scroll it.
    scroll = '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
    html = html.replace("<table>", f"{scroll}<table>").replace(
        "</table>", "</table></div>"
    )
    return RenderedPage(html.replace("<pre>", '<pre tabindex="0">'), tuple(headings))


def build_heading_id(words: str) -> str:
    """Return the id of a heading as GitHub makes it: ``A client in Python`` is
    ``a-client-in-python``.
    """
    return _NOT_IN_IDS.sub("", words.lower()).replace(" ", "-")


def _resolve_links(children: Iterable[Token]) -> Iterable[Token]:
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


def render_contents(headings: Sequence[Heading]) -> str:
    """Return a page's table of contents as a nested HTML list."""
    parts: list[str] = []
    for heading, after in zip(headings, [*headings[1:], None], strict=True):
        link = f'<a href="#{heading.id}">{escape(heading.text)}</a>'
        deeper = after is not None and after.level > heading.level
        parts.append(f"<li>{link}" + ("<ul>" if deeper else "</li>"))
        if heading.level > 2 and (after is None or after.level == 2):
            parts.append("</ul></li>")
    return f"<ul>{''.join(parts)}</ul>"


def render_page(
    title: str, current_address: str, side: str, body: str, head: str = ""
) -> bytes:
    """Return a whole HTML page, encoded as UTF-8.

    Args:
        title: the title of the browser's window, as plain text.
        current_address: the page's address from the root, such as ``manual/numbers``.
        side: the table of contents beside the text, as HTML.
        body: the text, as HTML with a heading of the first level.
        head: further elements of the page's ``head``, as HTML.
    """
    root = "../" * current_address.count("/")
    links = "".join(
        f'<a href="{(root + address) or "./"}"'
        f"{_mark_current(address, current_address)}>{name}</a>"
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


def _mark_current(address: str, current_address: str) -> str:
    """Return the attribute for a link to the current page; empty for other links.

    On pages of the manual, the link to the manual is also marked.
    """
    current = address == current_address or (
        address == "manual/" and current_address.startswith(address)
    )
    return ' aria-current="page"' if current else ""


@cache
def render_topic(topic: str) -> bytes:
    """Return one page of the manual as HTML, encoded as UTF-8.

    Raises:
        KeyError: there is no such page.
    """
    page = read_page(topic)
    rendered = render_markdown(page.text)
    pages = "".join(
        f'<li><a href="{name}"{_mark_current(name, topic)}>'
        f"{escape(read_page(name).title)}</a>"
        + (render_contents(rendered.headings) if name == topic else "")
        + "</li>"
        for name in TOPICS
    )
    side = f'<a href="./">Manual</a><ul>{pages}</ul>'
    return render_page(page.title, f"manual/{topic}", side, rendered.body)


@cache
def render_index() -> bytes:
    """Return the manual's table of contents as an HTML page, encoded as UTF-8."""
    entries = "".join(
        f'<dt><a href="{topic}">{escape(read_page(topic).title)}</a></dt>'
        f"<dd>{escape(read_page(topic).summary)}</dd>"
        for topic in TOPICS
    )
    side = "".join(f'<li><a href="{topic}">{topic}</a></li>' for topic in TOPICS)
    body = (
        "<h1>Manual</h1>\n<p>The same pages are printed by"
        " <code>live-rate manual TOPIC</code>.</p>"
        f"\n<dl>{entries}</dl>\n"
    )
    return render_page("Manual", "manual/", f"<ul>{side}</ul>", body)
