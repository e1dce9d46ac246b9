"""What a page of the manual holds, for tests: sections, elements left open, ids, links,
text.
"""

from html.parser import HTMLParser

from live.manual.pages import read_page


def section(topic: str, heading: str) -> str:
    """What stands under a heading of the second level of a page of the manual."""
    found = read_page(topic).text.split(f"\n## {heading}\n")
    return found[1].partition("\n## ")[0]


VOID = {"meta", "link", "br", "hr", "img", "line", "path", "polyline", "polygon"}


class HtmlReader(HTMLParser):
    """Fails on an end tag that closes nothing."""

    def __init__(self, page: str | bytes) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page if isinstance(page, str) else page.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name == "href" and tag == "a":
                self.links.append(value or "")
            if name == "src":
                self.pictures.append(value or "")
            assert name != "style"
            assert not name.startswith("on")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
