"""The readable page: whole, well formed, harmless, and it leads nowhere that is not there."""

from __future__ import annotations

import re

from live.manual.pages import TOPICS
from live.publish.docs import EXAMPLES, asyncapi, page
from live.publish.routes import openapi
from tests.manual.html_reader import HtmlReader


def read() -> HtmlReader:
    return HtmlReader(page(openapi()))


def test_it_is_well_formed_and_runs_nothing() -> None:
    reader = read()
    assert reader.open == []
    assert not {*reader.tags} & {"script", "img", "iframe", "object"}


def test_every_link_leads_somewhere() -> None:
    reader = read()
    assert len(reader.ids) == len(set(reader.ids)) > 20
    site = {"./", "overlays", "manual/", "docs", "asyncapi.json", "openapi.json"}
    for link in reader.links:
        if link.startswith("manual/") and link != "manual/":
            assert link.removeprefix("manual/") in TOPICS
        else:
            assert link in site or link.removeprefix("#") in reader.ids, link


def test_its_contents_lead_to_every_section_and_type() -> None:
    reader = read()
    assert {f"#{id}" for id in reader.ids if id != "main"} <= {*reader.links}


def test_it_begins_with_clients_and_says_how_a_page_may_connect() -> None:
    reader = read()
    for example in EXAMPLES:
        assert example in reader.text
    assert "websockets.asyncio.client" in reader.text
    assert "new WebSocket" in reader.text
    assert 'origins = ["null"]' in reader.text


def test_every_message_topic_and_field_is_on_it() -> None:
    reader, document = read(), asyncapi()
    for name in document["channels"]["live"]["messages"]:
        assert re.search(rf"\b{name}\b", reader.text)
    for channel in document["channels"].values():
        assert channel["address"] in reader.text
    for schema in document["components"]["schemas"].values():
        for field in schema.get("properties", ()):
            assert field in reader.text
