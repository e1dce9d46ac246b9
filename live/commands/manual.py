"""``live-rate manual``."""

import sys

import typer

from live.errors import InputError


def manual(topic: str | None = None) -> None:
    """Print a page of the manual: for arbiters, producers, programs; a glossary;
    changes.

    Options:
        topic: Which page; without it all are listed.
    """
    from live.manual.pages import TOPICS, read_page

    if topic is None:
        for each in TOPICS:
            typer.echo(f"{each:10} {read_page(each).summary}")
        return
    if topic not in TOPICS:
        raise InputError(
            topic, "is not a page of the manual", f"The pages are {', '.join(TOPICS)}"
        )
    text = read_page(topic).text
    if not sys.stdout.isatty():
        # A pipe wants the text, not what a screen would make of it.
        typer.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    # No boxes of black: what suits a dark terminal is hard to read on a light one.
    console = Console(theme=Theme({"markdown.code": "bold cyan"}))
    console.print(Markdown(text, code_theme="ansi_dark"), width=min(console.width, 100))
