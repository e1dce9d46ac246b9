"""The house rules, read from the sources: who may import whom, and where things lie.

Each rule is a function from sources to complaints.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Data flows to the right; a room imports itself and rooms to its left. The last three
#: are ends of the flow and know nothing of each other.
RANKS = {
    "manual": -1,
    "human": -1,
    "sources": 0,
    "games": 1,
    "engine": 2,
    "ratings": 3,
    "event": 4,
    "watch": 5,
    "journal": 6,
    "server": 7,
    "outlets": 8,
    "screens": 9,
    "rehearse": 9,
}
#: Root modules and rooms that every room may import, each with those it may import
#: itself.
ROOTS: dict[str, set[str]] = {
    "messages": set(),
    "errors": set(),
    "process": {"messages", "errors"},
    "user_files": {"errors"},
    "catalogue": {"messages"},
    "settings": {"messages"},
    "setting_keys": {"errors", "settings"},
}
#: The command line: imports what it needs only when it knows what it has to do.
COMMANDS = {"cli", "commands"}
#: What wires rooms together: no room may import it. Each part may import those before
#: it.
WIRING = ("settings_reload", "event_parts", "app", "studies", "cli", "commands")

PURE_ROOMS = {"games", "ratings", "event", "watch"}
#: Of rooms with shells.
PURE = {"live.screens.reports.report_page", "live.screens.reports.report_files"}
#: Reads files all the same: lists of players are such.
READER = "live.games.player_lists"
#: Loop, clock, chance, network, processes and files: what the thinking core gets as
#: arguments.
OUTSIDE = {
    "aiomqtt",
    "asyncio",
    "concurrent",
    "httpx",
    "multiprocessing",
    "os",
    "pathlib",
    "random",
    "secrets",
    "selectors",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "threading",
    "time",
    "uvloop",
    "watchfiles",
    "websockets",
}
#: A module that imports one of these is a shell: it owns a loop, a connection or a
#: process.
SHELL = {
    "aiomqtt",
    "asyncio",
    "httpx",
    "subprocess",
    "uvloop",
    "watchfiles",
    "websockets",
}

#: Shells by that measure that rooms to the right may use all the same, each with its
#: reason.
SHARED = {
    "live.sources.mqtt_client": (
        "the MQTT library without its noise, for both ends of a broker"
    ),
}

GRAB_BAGS = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "manager",
    "managers",
    "misc",
}

#: Traces of one developer's machine. Written in pieces, so that this file holds none.
TRACES = ["/" + folder + "/" for folder in ("work", "root", "home", "Users")] + [
    "/".join(("", *pair)) for pair in (("tmp", "venv"), ("tmp", "npm"), ("opt", "pypi"))
]


class Source:
    """One module, parsed."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.tree = ast.parse(text)
        #: Every node: the rules ask for them again and again.
        self.nodes = tuple(ast.walk(self.tree))
        #: Full names of what is imported: ``live.errors.Refused``, not ``Refused``.
        self.imports = tuple(_name_imports(self.nodes))

    @property
    def pool(self) -> str:
        """``sources`` for ``live.sources.feed``, ``app`` for ``live.app``, empty for
        ``live``.
        """
        return [*self.name.split("."), ""][1]

    @property
    def imported_at_once(self) -> tuple[str, ...]:
        """What importing the module imports: not what stands in functions or under
        TYPE_CHECKING.
        """
        return tuple(_name_imports(_walk_executed(self.tree)))

    def outside(self, known: set[str]) -> set[str]:
        """Which of the named libraries it imports."""
        return {name.split(".")[0] for name in self.imports} & known


def _name_imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # One that is relative is named as what it is: of no room.
            base = "live." * bool(node.level) + (node.module or "")
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _walk_executed(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        yield from _walk_executed(node)


def package_sources() -> list[Source]:
    found = []
    for path in sorted((ROOT / "live").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "npm" in parts:  # a script of the build; the package does not import it
            continue
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        found.append(Source(name, path.read_text(encoding="utf-8")))
    return found


# --- the rules ------------------------------------------------------------------------


def wrong_direction(source: Source) -> list[str]:
    """Imports against the way of the data."""
    complaints = []
    for name in source.imports:
        if name.split(".")[0] != "live" or name.count(".") == 0:
            continue
        target = name.split(".")[1]
        if source.pool in RANKS:
            allowed = (
                target == source.pool
                or target in ROOTS
                or RANKS.get(target, 99) < RANKS[source.pool]
            )
        elif source.pool in WIRING:
            place = WIRING.index(source.pool)
            allowed = target in {*RANKS, *ROOTS, *WIRING[: place + 1]}
            # The commands import one another.
            allowed |= {source.pool, target} <= COMMANDS
        else:
            allowed = target == source.pool or target in ROOTS.get(source.pool, set())
        if not allowed and target != "__version__":
            complaints.append(f"{source.name} imports {name}")
    return complaints


def unknown_room(source: Source) -> list[str]:
    """Modules in a place the house does not have."""
    places = {"", *RANKS, *ROOTS, *WIRING}
    return [] if source.pool in places else [f"{source.name}: no such room"]


def foreign_shells(sources: list[Source]) -> list[str]:
    """Rooms that import the shell of another room: that is for ``live.app`` alone."""
    shells = {
        source.name
        for source in sources
        if source.outside(SHELL) and source.pool in RANKS
    }
    complaints = set()
    for source in sources:
        if source.pool not in RANKS:
            continue
        for name, shell in product(source.imports, shells - SHARED.keys()):
            is_shell = name == shell or name.startswith(shell + ".")
            if is_shell and shell.split(".")[1] != source.pool:
                complaints.add(f"{source.name} imports the shell {shell}")
    return sorted(complaints)


def eager_rooms(sources: list[Source]) -> list[str]:
    """Rooms that the command line imports before it knows what it has to do."""
    commands = {source.name: source for source in sources if source.pool in COMMANDS}
    waiting = ["live.cli"]
    seen = set[str]()
    complaints = []
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for each in commands[name].imported_at_once:
            module = each if each in commands else each.rpartition(".")[0]
            if module in commands:
                waiting.append(module)
            elif each.startswith("live.") and each.split(".")[1] in {*RANKS, *WIRING}:
                complaints.append(f"{name} imports {each} at once")
    return complaints


def impure(source: Source) -> list[str]:
    """The outside world in a room that only thinks."""
    if source.name == READER or (
        source.pool not in PURE_ROOMS and source.name not in PURE
    ):
        return []
    return [f"{source.name} imports {name}" for name in sorted(source.outside(OUTSIDE))]


def printing(source: Source) -> list[str]:
    """``print`` anywhere but where people read it."""
    if source.pool in {"cli", "screens"}:
        return []
    return [
        f"{source.name}:{node.lineno} prints"
        for node in source.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]


def grab_bags(paths: list[Path]) -> list[str]:
    """Files and folders named for nothing in particular."""

    def is_grab_bag(path: Path) -> bool:
        names = {part.removesuffix(".py") for part in path.parts}
        return not names.isdisjoint(GRAB_BAGS)

    return [f"{path} is named for nothing" for path in paths if is_grab_bag(path)]


def traces(name: str, text: str) -> list[str]:
    """Paths that exist on one machine only."""
    return [f"{name} names {trace}" for trace in TRACES if trace in text]


# --- and holds ------------------------------------------------------------------------


def test_the_package_keeps_the_rules_of_import() -> None:
    sources = package_sources()
    assert len(sources) > 10
    complaints = [*foreign_shells(sources), *eager_rooms(sources)]
    for source in sources:
        for rule in (wrong_direction, unknown_room, impure, printing):
            complaints += rule(source)
    assert not complaints, "\n".join(complaints)


def test_nothing_is_named_for_nothing() -> None:
    complaints = grab_bags([path.relative_to(ROOT) for path in own_files()])
    assert not complaints, "\n".join(complaints)


def test_no_file_names_a_machine() -> None:
    complaints = []
    for path in own_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        complaints += traces(str(path.relative_to(ROOT)), text)
    assert not complaints, "\n".join(complaints)


def own_files() -> Iterator[Path]:
    """What is written here: neither caches nor what the build fetched."""
    yield from (path for path in ROOT.glob("[!.]*.*") if path.is_file())
    for folder in ("live", "tests", ".ci"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not {"__pycache__", "vendor", "embedded"} & {
                *path.parts
            }:
                yield path
