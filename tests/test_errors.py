"""Every error of ours, raised by what raises it, and what people read of it."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import re
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import chess
import pytest
import typer
from typer.core import TyperGroup

from live import errors
from live.cli import app
from live.config import EngineConfig, FeedsConfig, ServerConfig, load_config
from live.engine.engine_process import EngineCommand, EngineProcess, find_engine
from live.engine.search import Limit, SearchKey
from live.engine.uci import UciSettings
from live.errors import LiveRateError
from live.feeds.open_feed import open_feed
from live.jobs.analyze_games import read_pgn
from live.publish.connection import listen

#: What must be read in any message: the thing, a colon, what is wrong with it.
LINE = re.compile(r"\S.*: \S.*", re.DOTALL)


def every(kind: type[LiveRateError] = LiveRateError) -> Iterator[type[LiveRateError]]:
    """The tree, from its root."""
    yield kind
    for each in kind.__subclasses__():
        yield from every(each)


# --- each is raised by what raises it -------------------------------------------------------------


async def _config(folder: Path) -> None:
    load_config(folder / "none.toml", {}, {})


async def _input(folder: Path) -> None:
    read_pgn(folder / "none.pgn")


async def _unknown_feed(folder: Path) -> None:
    open_feed("gopher://games", FeedsConfig(), env={})


async def _no_feed(folder: Path) -> None:
    open_feed(str(folder / "none.pgn"), FeedsConfig(), env={})


async def _unreadable_feed(folder: Path) -> None:
    open_feed(f"file+{folder}", FeedsConfig(), env={})


async def _no_engine(folder: Path) -> None:
    find_engine(str(folder / "none"))


def _program(folder: Path, *lines: str) -> EngineCommand:
    path = folder / "engine.py"
    path.write_text("\n".join(("import sys", *lines)) + "\n")
    return EngineCommand((sys.executable, str(path)), "made here", "configured")


async def _no_uci(folder: Path) -> None:
    await EngineProcess.start(_program(folder, "print('hello', flush=True)"), UciSettings())


async def _engine_died(folder: Path, how: str = "sys.exit(3)") -> None:
    command = _program(
        folder,
        "import os",
        "for line in sys.stdin:",
        "    if line == 'uci\\n': print('id name Mayfly\\nuciok', flush=True)",
        "    if line == 'isready\\n': print('readyok', flush=True)",
        f"    if line.startswith('go'): {how}",
    )
    process = await EngineProcess.start(command, UciSettings())
    try:
        await process.begin(SearchKey(chess.STARTING_FEN, (), Limit(nodes=10)))
    finally:
        await process.close()


async def _engine_killed(folder: Path) -> None:
    await _engine_died(folder, "os.kill(os.getpid(), 9)")


async def _engine_moved(folder: Path) -> None:
    command = _program(
        folder,
        "for line in sys.stdin:",
        "    if line == 'uci\\n': print('id name Patient\\nuciok', flush=True)",
        "    if line == 'isready\\n': print('readyok', flush=True)",
        "    if line == 'quit\\n': break",
    )
    process = await EngineProcess.start(command, UciSettings())
    try:
        outcome = process.begin(SearchKey(chess.STARTING_FEN, (), Limit(nodes=10)))
        process.give_up(errors.EngineMoved(process.name, "the cluster is there"))
        await outcome
    finally:
        await process.close()


async def _scheduler(folder: Path) -> None:
    from live.engine import cluster  # brings Dask

    command = _program(
        folder,
        "for line in sys.stdin:",
        "    if line == 'uci\\n': print('id name Patient\\nuciok', flush=True)",
        "    if line == 'isready\\n': print('readyok', flush=True)",
        "    if line == 'quit\\n': break",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "DEATH_S", 1)  # a minute of patience tests nothing more
        config = EngineConfig(cluster="tcp://127.0.0.1:9", engines=1)
        await cluster.work(command, UciSettings(), config)


async def _port(folder: Path) -> None:
    with contextlib.closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        listen(ServerConfig().host, other.getsockname()[1])


async def _refused(folder: Path) -> None:
    from live.clock import LoopClock
    from live.publish.published_state import ClientState
    from live.terminal.service_connection import ServiceConnection, service_url

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        url = service_url(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        watching = ServiceConnection(
            url, ClientState(), lambda text, message: None, clock=LoopClock(), random=lambda: 0.5
        )
        await watching.run()


RAISED: dict[type[LiveRateError], Callable[[Path], Awaitable[None]]] = {
    errors.ConfigError: _config,
    errors.InputError: _input,
    errors.UnknownFeed: _unknown_feed,
    errors.FeedNotFound: _no_feed,
    errors.FeedUnreadable: _unreadable_feed,
    errors.EngineError: _scheduler,
    errors.EngineNotFound: _no_engine,
    errors.NotAnEngine: _no_uci,
    errors.EngineFault: _engine_died,
    errors.EngineKilled: _engine_killed,
    errors.EngineMoved: _engine_moved,
    errors.PortInUse: _port,
    errors.Refused: _refused,
}
#: These name a family; no more is known of them.
FAMILIES = {errors.LiveRateError, errors.FeedError}
#: For people these are part of another sentence: the service mends them itself.
WITHOUT_REMEDY = {errors.EngineFault, errors.EngineKilled, errors.EngineMoved}


@pytest.mark.slow
@pytest.mark.parametrize("kind", RAISED, ids=lambda kind: kind.__name__)
async def test_each_error_names_the_thing_and_the_remedy(
    kind: type[LiveRateError], tmp_path: Path
) -> None:
    with pytest.raises(kind) as caught:
        async with asyncio.timeout(60):
            await RAISED[kind](tmp_path)
    error = caught.value
    assert type(error) is kind, "this one, and none of its kind"
    assert LINE.fullmatch(str(error)) and "\n" not in str(error)
    assert error.subject and error.problem
    if kind not in WITHOUT_REMEDY:
        assert error.remedy and str(error).endswith(error.remedy)
    assert error.exit_code in (1, 2)


# --- the list is complete -------------------------------------------------------------------------


def test_every_error_of_the_tree_is_raised_above() -> None:
    assert set(every()) == set(RAISED) | FAMILIES


def test_the_tree_is_drawn_as_it_is() -> None:
    assert errors.__doc__ is not None
    drawn = re.findall(r"^ +(?:[│├└ ]*── )?([A-Z]\w+) ", errors.__doc__, re.MULTILINE)
    assert sorted(drawn) == sorted(kind.__name__ for kind in every())


@pytest.mark.slow
def test_nobody_raises_a_bare_exception() -> None:
    """What is raised on purpose can be told apart by whoever catches it."""
    families = {"LiveRateError", "FeedError", "Exception", "BaseException"}
    complaints = [
        f"{path}:{node.lineno}"
        for path in sorted(Path(errors.__file__).parent.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id in families
    ]
    assert not complaints


def _without_remedy() -> Iterator[str]:
    """Where an error for people is made with two arguments: it says no remedy."""
    names = {kind.__name__ for kind in RAISED} - {kind.__name__ for kind in WITHOUT_REMEDY}
    root = Path(errors.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in names
                and len(node.args) + len(node.keywords) < 3
            ):
                yield f"{path.relative_to(root)}:{node.lineno} {node.func.id}"


@pytest.mark.slow
def test_every_error_for_people_says_what_to_do() -> None:
    complaints = list(_without_remedy())
    assert not complaints, "\n".join(complaints)


def test_what_a_file_or_feed_says_cannot_command_a_terminal() -> None:
    error = errors.InputError("a\x1b[2J.pgn", "holds\nno game", "Give\u202eone")
    assert str(error) == r"a\x1b[2J.pgn: holds\nno game. Give\u202eone"


# --- it names no flag that the command lacks ------------------------------------------------------

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
#: What is printed as a text of its own, for other programs.
TEXTS = {"service/supervision.py"}


def flags() -> dict[str, set[str]]:
    """The flags of every command."""
    service = typer.main.get_command(app)
    assert isinstance(service, TyperGroup)
    below = {
        f"{name} {part}": command
        for name, group in service.commands.items()
        if isinstance(group, TyperGroup)
        for part, command in group.commands.items()
    }
    return {
        name: {"--help"}
        | {flag for given in command.params for flag in given.opts if flag.startswith("--")}
        for name, command in {"": service, **service.commands, **below}.items()
    }


def spoken(tree: ast.Module) -> Iterator[str]:
    """Texts of a module that are not documentation."""
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in silent
        ):
            yield node.value


def named() -> Iterator[tuple[str, str, str | None]]:
    """Flags in texts, each with its module, and the command that stands before it."""
    known = flags()
    root = Path(errors.__file__).parent
    for path in sorted(root.rglob("*.py")):
        module = path.relative_to(root).as_posix()
        if module.startswith(("commands/", "npm/")) or module in TEXTS | {"cli.py"}:
            continue
        for text in spoken(ast.parse(path.read_text(encoding="utf-8"))):
            before, *calls = text.split("live-rate ")
            for flag in FLAG.findall(before):
                yield module, flag, None
            for call in calls:
                words = call.split()
                pair = " ".join(words[:2])
                command = next((each for each in (pair, *words[:1]) if each in known), "")
                for flag in FLAG.findall(call):
                    yield module, flag, command


@pytest.mark.slow
def test_every_flag_that_is_named_is_one_of_the_command_named_with_it() -> None:
    """Or of any command, where none is named."""
    known = flags()
    everywhere = set().union(*known.values())
    complaints = [
        f"{module}: {flag} is no flag of {command or 'any command'}"
        for module, flag, command in named()
        if flag not in (everywhere if command is None else known[command])
    ]
    assert not complaints, "\n".join(complaints)


def test_what_the_commands_themselves_refuse_names_their_own_flags() -> None:
    """In the modules of the command line each function is a command."""
    known = flags()
    root = Path(errors.__file__).parent
    seen = 0
    for path in (root / "cli.py", *sorted((root / "commands").glob("*.py"))):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            command = {"follow": "", "systemd_unit": "systemd-unit"}.get(
                function.name, function.name
            )
            for node in ast.walk(function):
                if isinstance(node, ast.Raise) and command in known:
                    for part in ast.walk(node):
                        if isinstance(part, ast.Constant) and isinstance(part.value, str):
                            for found in FLAG.finditer(part.value):
                                seen += 1
                                assert found[0] in known[command], (command, part.value)
    assert seen > 5
