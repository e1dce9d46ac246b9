"""The readable page: whole, well formed, harmless, and it leads nowhere that is not there."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from live.publish.http.docs_page import POLICY, page
from live.publish.schema.asyncapi import asyncapi

VOID = {"meta", "link", "br", "!doctype"}
#: Elements that HTML lets stay open.
OPTIONAL = {"html"}


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read() -> Reader:
    reader = Reader()
    reader.feed(page().decode())
    return reader


def test_it_is_well_formed_and_runs_nothing() -> None:
    reader = read()
    assert reader.open == ["html"]
    assert not reader.tags & {"script", "img", "iframe", "link", "object"}
    assert "unsafe" not in POLICY
    assert " style=" not in page().decode()


def test_every_link_leads_somewhere() -> None:
    reader = read()
    assert len(reader.ids) == len(set(reader.ids)) > 20
    for link in reader.links:
        assert link in ("asyncapi.json", "openapi.json") or link.removeprefix("#") in reader.ids


def test_every_message_topic_and_field_is_on_it() -> None:
    reader, document = read(), asyncapi()
    for name in document["channels"]["live"]["messages"]:
        assert re.search(rf"\b{name}\b", reader.text)
    for channel in document["channels"].values():
        assert channel["address"] in reader.text
    for schema in document["components"]["schemas"].values():
        for field in schema.get("properties", ()):
            assert field in reader.text
