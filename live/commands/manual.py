"""The command ``live-rate manual``."""

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
        for name in TOPICS:
            typer.echo(f"{name:10} {read_page(name).summary}")
        return
    if topic not in TOPICS:
        raise InputError(
            topic, "is not a page of the manual", f"The pages are {', '.join(TOPICS)}"
        )
    text = read_page(topic).text
    if not sys.stdout.isatty():
        # A pipe receives the plain text, not the version drawn for a screen.
        typer.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    # The default style puts a black background behind code, which is hard to read on a
    # light terminal.
    console = Console(theme=Theme({"markdown.code": "bold cyan"}))
    console.print(Markdown(text, code_theme="ansi_dark"), width=min(console.width, 100))
