"""README and CONTRIBUTING: short, and every link in them and in the manual leads
somewhere.
"""

import re
from pathlib import Path

import pytest

from live.manual.page_html import render_markdown
from live.manual.pages import TOPICS

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
CONTRIBUTING = ROOT / ".github" / "CONTRIBUTING.md"
TEXTS = [README, CONTRIBUTING, *sorted((ROOT / "live" / "manual").glob("*.md"))]

#: Longer than this nobody reads before trying; the rest belongs to the manual.
MOST_BYTES = 12_000


def prose(path: Path) -> str:
    """The text without its blocks of code."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def test_readme_is_short() -> None:
    assert len(README.read_bytes()) < MOST_BYTES


def test_readme_has_two_commands_of_one_line_to_run_and_to_test() -> None:
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    run, test = [each for each in blocks if each.count("\n") == 1]
    assert run.endswith("live-rate --feed demo\n")
    assert test.endswith("-m pytest -n 2\n")
    for each in (run, test):
        assert each.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    # Who wants to try it would take the tests for the next step.
    assert text.index(run) < text.index("## Follow an event") < text.index(test)


def test_readme_names_every_page_of_the_manual() -> None:
    for topic in TOPICS:
        assert f"(live/manual/{topic}.md)" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(((?![a-z]+:)[^)\s]+)\)", prose(path)):
        name, _, part = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists() and ROOT in (target, *target.parents), link
        if part:
            headings = render_markdown(target.read_text(encoding="utf-8")).headings
            assert part in {heading.id for heading in headings}, link


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name in re.findall(
        r"(?<![\w/.])((?:live|tests|\.ci|\.github)/[\w./-]*[\w/])", text
    ):
        assert (ROOT / name).exists(), f"{path.name} names {name}"
    for module in re.findall(r"python -m (tests(?:\.\w+)+)", text):
        file = ROOT.joinpath(*module.split("."))
        assert file.with_suffix(".py").exists() or file.is_dir(), (
            f"{path.name} names {module}"
        )
