"""``live-rate feeds``: checks whether sources answer, and lists their games."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.screens.command_output import write_json
from live.screens.terminal.text import plain
from live.settings import Config
from live.sources.source_probe import ProbedSource, probe_sources

_HEADS = ("Round", "Bd", "White", "Black", "Plies", "Last", "Result")


async def probe_feeds(
    config: Config, specs: Sequence[str], *, json: bool, within_s: float
) -> int:
    """Run ``live-rate feeds``; return 0 if every source answers, else 1."""
    findings = await probe_sources(specs, config.feeds, within_s=within_s)
    if json:
        write_json("-", findings)
    else:
        console = Console()
        for finding in findings:
            _print_source(finding, console)
    return 0 if all(finding.answers for finding in findings) else 1


def _print_source(finding: ProbedSource, console: Console) -> None:
    mark, style = ("●", "green") if finding.answers else ("✗", "red")
    line = Text.assemble(
        (f"{mark} ", style),
        (plain(finding.feed, 200), "bold"),
        f"  {finding.kind or 'no source'}: ",
        plain(finding.detail, 300),
    )
    console.print(line, soft_wrap=True)
    if not finding.games:
        return
    table = Table(*_HEADS, box=box.SIMPLE_HEAD, pad_edge=False)
    for game in finding.games:
        facts = (
            game.round,
            game.board or "",
            game.white,
            game.black,
            game.plies,
            game.last_move,
        )
        cells = (*facts, game.problem or game.result)
        table.add_row(*(Text(plain(str(cell), 40)) for cell in cells))
    console.print(table)
