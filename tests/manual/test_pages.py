"""The pages of the manual as they lie in the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from live.manual.pages import PICTURES, TOPICS, manual_page, picture

FOLDER = Path(__file__).resolve().parent.parent.parent / "live" / "manual"


def test_every_file_is_a_page_or_a_picture() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {*TOPICS}
    assert {path.name for path in FOLDER.glob("*.png")} == {*PICTURES}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_has_a_title_and_says_in_a_line_what_it_is_for(topic: str) -> None:
    page = manual_page(topic)
    assert page.text.startswith(f"# {page.title}\n")
    assert 20 < len(page.summary) < 110
    assert not page.summary.startswith(("#", "|", "`"))


def test_a_section_ends_where_the_next_begins() -> None:
    section = manual_page("programs").section("A client in Python")
    assert section.startswith("## A client in Python\n")
    assert "```python" in section
    assert "A client in JavaScript" not in section


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError):
        manual_page("../cli")
    with pytest.raises(KeyError):
        manual_page("numbers").section("Nothing")
    with pytest.raises(KeyError):
        picture("pages.py")
    assert picture(PICTURES[0]).startswith(b"\x89PNG")
