"""The manual as it lies in the package, and as HTML: whole, harmless, links lead
somewhere.
"""

import re
from pathlib import Path

import pytest

from live.manual.page_html import (
    build_heading_id,
    render_index,
    render_markdown,
    render_topic,
)
from live.manual.pages import PICTURES, TOPICS, read_page, read_picture
from tests.manual.html_reader import HtmlReader

#: What every page of the site links to, from a page of the manual.
SITE = {"../", "../overlays", "../manual/", "../docs", "./"}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_whole_and_harmless(topic: str) -> None:
    reader, page = HtmlReader(render_topic(topic)), read_page(topic)
    assert page.text.startswith(f"# {page.title}\n") and 20 < len(page.summary) < 110
    assert not {*"[]#|`*"} & {*page.summary} and reader.open == []
    assert not {"script", "iframe", "object", "form"} & {*reader.tags}
    assert len(reader.ids) == len(set(reader.ids))
    assert reader.tags.count("h1") == 1
    assert set(reader.pictures) <= {*PICTURES}
    assert {"header", "nav", "main"} <= {*reader.tags}


@pytest.mark.parametrize("topic", TOPICS)
def test_its_links_lead_somewhere_and_its_contents_to_every_heading(topic: str) -> None:
    reader = HtmlReader(render_topic(topic))
    for link in reader.links:
        page, _, part = link.partition("#")
        assert (
            link in SITE
            or link.startswith(("http://", "https://"))
            or (page in ("", *TOPICS) and (not part or page or part in reader.ids))
        ), link
    headings = re.findall(r"^##+ (.*)$", read_page(topic).text, re.M)
    blocks = re.findall(r"^```.*?^```", read_page(topic).text, re.M | re.S)
    code = "\n".join(blocks)
    wanted = [heading for heading in headings if f"# {heading}" not in code]
    inside = {link.removeprefix("#") for link in reader.links if link.startswith("#")}
    assert inside >= {*reader.ids} - {"main", build_heading_id(read_page(topic).title)}
    assert len(inside - {"main"}) == len(wanted)


def test_the_index_lists_every_page() -> None:
    reader = HtmlReader(render_index())
    assert reader.open == [] and {*TOPICS} <= {*reader.links}
    assert all(read_page(topic).title in reader.text for topic in TOPICS)


def test_equal_headings_have_different_ids_as_on_github() -> None:
    rendered = render_markdown(
        "# A\n\n## Sorted by\n\n## Sorted by\n\n### What's new: 95 %\n"
    )
    assert [each.id for each in rendered.headings] == [
        "sorted-by",
        "sorted-by-1",
        "whats-new-95-",
    ]


@pytest.mark.parametrize(
    ("text", "html", "times"),
    [
        ("[a](numbers.md) [b](numbers.md#gain)", 'href="numbers"', 1),
        ("[a](numbers.md) [b](numbers.md#gain)", 'href="numbers#gain"', 1),
        ("[d](https://e.org/x.md)", 'href="https://e.org/x.md"', 1),
        # What leaves the manual is text, and so is markup.
        ("a [c](../../config.toml) b", "a c b", 1),
        ("a <script>alert(1)</script> b", "<script>", 0),
        # Tables and code can be scrolled by the keyboard.
        ("| a | b |\n|---|---|\n| 1 | 2 |", '<th scope="col">', 2),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nx\n```\n", 'tabindex="0"', 2),
    ],
)
def test_markdown_of_ours_is_accessible_html(text: str, html: str, times: int) -> None:
    assert render_markdown(text).body.count(html) == times


FOLDER = Path(__file__).resolve().parent.parent.parent / "live" / "manual"


def test_every_file_is_a_page_or_a_picture() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {*TOPICS}
    assert {path.name for path in FOLDER.glob("*.png")} == {*PICTURES}


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError):
        read_page("../cli")
    with pytest.raises(KeyError):
        read_picture("pages.py")
    assert read_picture(PICTURES[0]).startswith(b"\x89PNG")
