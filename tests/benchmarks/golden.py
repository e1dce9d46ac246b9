"""Golden recordings: what the service says of eight real rounds, to be the same after a
rebuilding.

    python -m tests.benchmarks.golden record FOLDER --pgn PGN [--pgn PGN]
        [--boards 6] [--plies 40]
    python -m tests.benchmarks.golden compare A B

Records the first rounds of each PGN, eight in all, a few boards each and their games
cut, over all kinds of sources: file, folder, PGN page, lichess broadcast, LiveChess
Cloud, MQTT, standard input. Boards are shown in steps, each waited for until it is
taken in, scored and still; among them are slips, takebacks, results and ratings that
are put right, one kill (SIGKILL) while all is still and one while a step is worked on.
Six rounds are scored by an engine made for it (:mod:`tests.benchmarks.golden_engine`),
two by Stockfish.

Of each round one file is written, compressed lines of JSON (``what``, ``key``,
``value``), from the websocket (as an arbiter), the messages of ``--json``, the retained
messages of a broker, ``analyze --json`` of the final games, and all that ``report``
makes of the journal. Left out is what differs from run to run: times, numbers of
messages, epochs, ports, folders, provisional scores. Of messages are kept the state
they lead to and, for each game, the moves, takebacks, corrections, results and alerts
in their order.

``compare`` says how many records differ, by what they are, with some examples; exit
code 1 where any does. Two recordings of the same code are equal.
"""

# ruff: noqa: T201, ASYNC110, ASYNC240 - its output is what it is for; nobody else is on
# its loop
import argparse
import asyncio
import contextlib
import gzip
import json
import re
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import msgspec

from live.engine.engine_programs import find_engine
from live.games.rounds import read_round_number
from live.messages.alerts import Alert
from live.messages.figures import GameDetail
from live.messages.from_sources import GameReport
from live.messages.health import EngineHealth
from live.messages.to_clients import (
    AlertMessage,
    GoneMessage,
    HealthMessage,
    HeartbeatMessage,
    HelloMessage,
    Message,
    SnapshotMessage,
)
from live.rehearse.rehearsal import (
    FolderRehearsal,
    LichessRehearsal,
    PgnUrlRehearsal,
    Rehearsal,
    write_pgn,
)
from live.server.reference_client import OutOfStep, ReferenceClient
from live.server.tokens import create_token
from live.sources.game_timeline import choose_wrong_move
from live.sources.pgn_decoder import PgnReader
from tests.benchmarks.drills import (
    DrilledService,
    Follower,
    differences,
    free_port,
    run_tasks,
    toml,
)
from tests.games.short_reports import change_headers
from tests.server.mosquitto import Mosquitto
from tests.sources.hall_sources import MqttRehearsal
from tests.sources.livechess_cloud_server import LiveChessCloudRehearsal

Source = Literal["file", "folder", "page", "lichess", "cloud", "mqtt", "stdin"]
#: Of each round in turn: its source, and whether Stockfish scores it.
ROUNDS: tuple[tuple[Source, bool], ...] = (
    ("lichess", False),
    ("file", False),
    ("page", True),
    ("cloud", False),
    ("mqtt", False),
    ("folder", False),
    ("stdin", False),
    ("lichess", True),
)
NODES = 2000
#: Rounds recorded at a time: they wait for most of theirs.
AT_ONCE = 2
#: Nothing more comes of a step when so long nothing has come, seconds.
STILL_S = 0.4
#: The same where alerts and moments are of interest: the service looks for some once a
#: second.
LOOKED_S = 1.3
#: And at the end, when the last moments come one after the other, and after a takeback,
#: which is an alert when it has stood for two seconds.
LONG_S = 4.0
#: A step that is not taken in by then fails the recording, seconds.
PATIENCE_S = 90.0
#: Plies that a board goes on by in one step.
STRIDE = 5
#: The cloud is asked for a board every four seconds at most.
CLOUD_STRIDE = 10

#: Fields that differ from run to run, and say nothing of games.
_PASSING = frozenset(
    {
        "seq",
        "epoch",
        "feed",
        "feeds",
        "url",
        "site",
        "restored",
        "id",
        "game",
        "at_s",
        "first_seen_s",
        "cleared_s",
        "acknowledged_s",
        "began_s",
        "over_s",
        "version",
        "engines",
        "also",
    }
)
_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?( ?UTC|Z|[+-]\d\d:?\d\d)?"
    r"|\b\d\d:\d\d:\d\d\b(?! left)"
    r"|127\.0\.0\.1:\d+"
    r"|/tmp/[^\s\"'<>]+"
    r"|\b\d+ (s|min)(?= (earlier|in which the service saw nothing))"
)

_message = msgspec.json.Decoder(Message)


# --- what is shown --------------------------------------------------------------------


class Step(msgspec.Struct, frozen=True):
    """What happens next: boards that are shown, and whether the service is
    killed then.
    """

    shown: tuple[tuple[int, GameReport], ...]
    kill: Literal["", "still", "working"] = ""
    still_s: float = STILL_S


def rounds_of(path: Path, boards: int, plies: int) -> list[list[GameReport]]:
    """The rounds of a file, the first boards of each, their games cut and without
    evaluations.
    """
    rounds: dict[int, list[GameReport]] = defaultdict(list)
    for game in PgnReader().read_text(path.read_bytes(), closed=True):
        number = read_round_number(game.headers.round)
        if number is not None and len(game.moves) > 10 and len(rounds[number]) < boards:
            moves = tuple(
                msgspec.structs.replace(move, eval=None) for move in game.moves[:plies]
            )
            rounds[number].append(
                msgspec.structs.replace(game, moves=moves, problem=None)
            )
    return [rounds[number] for number in sorted(rounds) if rounds[number]]


def steps_of(games: Sequence[GameReport], stride: int = STRIDE) -> list[Step]:
    """A round in steps: its games grow by turns, and what goes wrong goes wrong at
    fixed places.
    """

    def cut(index: int, plies: int, result: str = "*") -> GameReport:
        game = games[index]
        moves = game.moves[:plies]
        return msgspec.structs.replace(game, moves=moves, result=result)

    steps = [Step(tuple((index, cut(index, 2)) for index in range(len(games))))]
    longest = max(len(game.moves) for game in games)
    marks = range(stride, longest + stride, stride)
    for number, ply in enumerate(marks, 1):
        grown = [
            index for index, game in enumerate(games) if len(game.moves) > ply - stride
        ]
        kill: Literal["", "still", "working"] = ""
        kill = "still" if number == 3 else "working" if number == 5 else kill
        steps.append(Step(tuple((index, cut(index, ply)) for index in grown), kill))
        one = number % len(games)
        if len(games[one].moves) < ply:
            continue
        match number:
            case 1 | 4 if (slip := choose_wrong_move(games[one], ply)) is not None:
                # A wrong move first, and then the right one.
                shown = cut(one, ply)
                wrong = msgspec.structs.replace(shown, moves=(*shown.moves[:-1], slip))
                steps.append(Step(((one, wrong),), still_s=LOOKED_S))
                steps.append(Step(((one, shown),), still_s=LOOKED_S))
            case 2 | 6:
                steps.append(Step(((one, cut(one, ply - 2)),), still_s=LONG_S))
                steps.append(Step(((one, cut(one, ply)),), still_s=LOOKED_S))
            case 7:
                # A rating put right, which stays so.
                games = _rated_anew(games, one)
                steps.append(Step(((one, cut(one, ply)),), still_s=LOOKED_S))
    false = "0-1" if games[0].result == "1-0" else "1-0"
    steps.append(Step(((0, cut(0, longest, false)),), still_s=LOOKED_S))
    steps.append(Step(tuple(enumerate(games)), still_s=LONG_S))
    return steps


def _rated_anew(games: Sequence[GameReport], index: int) -> list[GameReport]:
    found, white = list(games), games[index].headers.white
    white = msgspec.structs.replace(white, elo=(white.elo or 2000) + 7)
    found[index] = change_headers(games[index], white=white)
    return found


# --- sources --------------------------------------------------------------------------


class SingleFile(Rehearsal):
    """All games in one file, which is replaced."""

    def __init__(self, games: Sequence[GameReport], path: Path) -> None:
        super().__init__(games)
        self._path = path
        self._shown: dict[int, GameReport] = {}

    @contextlib.asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        self._path.touch()
        yield str(self._path)

    def show_report(self, index: int, report: GameReport) -> None:
        self._shown[index] = report
        beside = self._path.with_suffix(".new")
        texts = [write_pgn(self._shown[each]) for each in sorted(self._shown)]
        beside.write_text("\n".join(texts), encoding="utf-8")
        beside.replace(self._path)


class Pipe(Rehearsal):
    """The standard input of the service; told all anew after each start."""

    def __init__(self, games: Sequence[GameReport]) -> None:
        super().__init__(games)
        self._shown: dict[int, GameReport] = {}
        self._input: asyncio.StreamWriter | None = None

    @contextlib.asynccontextmanager
    async def serve(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        yield "-"

    async def begin(self, to: asyncio.StreamWriter) -> None:
        """Write there from now on."""
        self._input = to
        for report in self._shown.values():
            await self._write(report)

    async def show_report(self, index: int, report: GameReport) -> None:
        self._shown[index] = report
        await self._write(report)

    async def _write(self, report: GameReport) -> None:
        assert self._input is not None
        with contextlib.suppress(ConnectionError):
            self._input.write((write_pgn(report) + "\n\n").encode())
            await self._input.drain()


def open_source(
    source: Source, games: Sequence[GameReport], folder: Path, broker: Mosquitto
) -> Rehearsal:
    """A source that shows these games."""
    match source:
        case "file":
            return SingleFile(games, folder / "games.pgn")
        case "folder":
            return FolderRehearsal(games, folder=folder / "games")
        case "page":
            return PgnUrlRehearsal(games)
        case "lichess":
            return LichessRehearsal(games, keep_alive_s=1.0)
        case "cloud":
            return LiveChessCloudRehearsal(games)
        case "mqtt":
            return MqttRehearsal(games, broker)
        case "stdin":
            return Pipe(games)


# --- what is kept of messages ---------------------------------------------------------


class Kept:
    """A stream of messages: the state it leads to, and what happened to each game, in
    order.
    """

    def __init__(self) -> None:
        self.state = ReferenceClient()
        self.events: dict[str, list[Any]] = defaultdict(list)
        self._names: dict[str, str] = {}
        self._moves: dict[str, list[str]] = {}
        self._result: dict[str, str] = {}
        self._elos: dict[str, list[int | None]] = {}
        self._alerts: dict[str, tuple[int, bool]] = {}
        # Games that may have lost at a kill what was not in the journal yet: their
        # source will give it again.
        self._behind: set[str] = set()
        self.health = EngineHealth()

    def name(self, game: str | None) -> str:
        """What a game is called here, for ever: its id may hold a port."""
        return self._names.get(game or "", game or "")

    def take(self, message: Message) -> None:
        """After the state has taken it."""
        match message:
            case SnapshotMessage():
                self._behind = set(self._moves)
                for detail in message.games:
                    self._look(detail)
                for alert in message.alerts:
                    self._alert(alert)
                self.health = message.engines
            case AlertMessage(alert=alert):
                self._alert(alert)
            case GoneMessage(game=game):
                self.events[self.name(game)].append("gone")
                self._moves.pop(self.name(game), None)
            case HealthMessage(engines=health):
                self.health = health
            case _:
                about = getattr(message, "game", None)
                id = about if isinstance(about, str) else getattr(about, "id", None)
                if id is not None and (held := self.state.game(id)) is not None:
                    self._look(held)

    def _look(self, game: GameDetail) -> None:
        name = self._names.setdefault(
            game.id, f"{game.round} {game.white.name} - {game.black.name}"
        )
        events, before = self.events[name], self._moves.get(name, [])
        now = [ply.san for ply in game.plies]
        alike = takewhile(
            lambda pair: pair[0] == pair[1], zip(before, now, strict=False)
        )
        same = len(list(alike))
        if name in self._behind and same == len(now) < len(before):
            return
        self._behind.discard(name)
        if same < len(before):
            events.append(f"back to {same}")
        events += [f"{ply} {san}" for ply, san in enumerate(now[same:], same + 1)]
        self._moves[name] = now
        if self._result.get(name) != game.result:
            events.append(game.result)
            self._result[name] = game.result
        if self._elos.get(name) != (elos := [game.white.elo, game.black.elo]):
            events.append(elos)
            self._elos[name] = elos

    def _alert(self, alert: Alert) -> None:
        over = alert.cleared_s is not None
        before = self._alerts.get(alert.id)
        self._alerts[alert.id] = now = (alert.times, over)
        if before == now or (before is None and over):
            return
        what = "over" if over else "raised"
        if alert.kind != "feed":  # of connections, which kills break
            self.events[f"alerts of {self.name(alert.game)}"].append(
                [what, alert.kind, alert.severity, alert.ply, plain(alert.text)]
            )

    def settled(self) -> bool:
        """Whether everything is scored."""
        views, human = self.state.games(), self.health.human
        return (
            all(view.plies_played == view.plies_scored for view in views)
            and not self.health.queued
            and not (human and human.waiting)
        )

    def records(self, of: str) -> Iterator[tuple[str, str, Any]]:
        """What it came to."""
        for name, events in self.events.items():
            yield f"{of} events", name, events
        whole = self.state.snapshot()
        yield f"{of} engine", "", drop_varying(whole.engine)
        for game in whole.games:
            name = self.name(game.id)
            fields = drop_varying(game)
            yield f"{of} plies", name, fields.pop("plies")
            yield f"{of} curves", name, fields.pop("curves")
            yield f"{of} game", name, fields
        for player in whole.players:
            yield f"{of} player", player.name, drop_varying(player)
        for moment in whole.moments:
            key = f"{self.name(moment.game)}, {moment.ply}, {moment.kind}"
            yield f"{of} moment", key, drop_varying(moment)


def plain(text: str) -> str:
    """Without times, ports and folders."""
    return _TIMES.sub("…", text)


def drop_varying(value: Any) -> Any:
    """A value without what differs from run to run."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.json.decode(msgspec.json.encode(value))
    match value:
        case dict():
            return {
                key: drop_varying(each)
                for key, each in value.items()
                if key not in _PASSING
            }
        case list() | tuple():
            return [drop_varying(each) for each in value]
        case str():
            return plain(value)
    return value


class Arbiter(Follower):
    """An arbiter's websocket, of which everything is kept."""

    def __init__(self, port: int, token: str, *, elos: bool) -> None:
        """``elos``: whether the source gives ratings."""
        super().__init__(port, token)
        self._elos = elos
        self.kept = Kept()
        self._last_s = time.monotonic()

    def take(self, message: Message) -> None:
        self.kept.state = self.state
        self.kept.take(message)
        if not isinstance(message, SnapshotMessage | HealthMessage | HeartbeatMessage):
            self._last_s = time.monotonic()

    def lost(self, error: OutOfStep) -> None:
        super().lost(error)
        print(f"out of step: {error}", file=sys.stderr)

    async def holds(self, shown: dict[int, GameReport], still_s: float) -> None:
        """Wait until it holds just that, all scored, and for so long nothing more
        comes.

        Raises:
            TimeoutError: it never does.
        """
        async with asyncio.timeout(PATIENCE_S):
            while not (
                self.here.is_set()
                and time.monotonic() - self._last_s > still_s
                and self.kept.settled()
                and all(self._shows(report) for report in shown.values())
            ):
                await asyncio.sleep(0.02)

    def _shows(self, report: GameReport) -> bool:
        wanted = self._identify_game(report)
        return any(
            self._identify_game(game) == wanted
            for game in self.kept.state.snapshot().games
        )

    def _identify_game(self, game: GameReport | GameDetail) -> tuple[object, ...]:
        if isinstance(game, GameDetail):
            moves: Sequence[Any] = game.plies
            white, black = game.white, game.black
        else:
            moves, white, black = game.moves, game.headers.white, game.headers.black
        elo = white.elo if self._elos else None
        return white.name, black.name, elo, [move.uci for move in moves], game.result


# --- a round --------------------------------------------------------------------------


class Service(DrilledService):
    """``live-rate`` in processes of its own, all in one folder, that print messages."""

    def __init__(
        self, folder: Path, state: Path, engine: str, source: Source, broker: int
    ) -> None:
        super().__init__(folder, env={"XDG_STATE_HOME": str(state)})
        self.port = free_port()
        secret, entry = create_token(
            "arbiter", lambda size: b"golden!!" * (size // 8), arbiter=True
        )
        self.token = secret
        (folder / "tokens.toml").write_text(entry)
        settings: dict[str, dict[str, Any]] = {
            "server": {"port": self.port, "public": True, "tokens_file": "tokens.toml"},
            "engine": {
                "path": engine,
                "nodes": NODES,
                "engines": 1,
                "speculate": False,
            },
            "journal": {"file": "journal.sqlite"},
            "log": {"level": "warning"},
            "feeds": {"poll_s": 0.1},
        }
        if broker:
            settings["mqtt"] = {
                "publish": f"mqtt://127.0.0.1:{broker}",
                "prefix": "out",
            }
        (folder / "config.toml").write_text(toml(settings))
        self._stdin = (
            asyncio.subprocess.PIPE if source == "stdin" else asyncio.subprocess.DEVNULL
        )
        self._lives = 0

    async def follow(self, spec: str) -> None:
        """A new life."""
        self._lives += 1
        self.words = ("--feed", spec, "--json", "--config", "config.toml")
        with (self.folder / f"messages-{self._lives}.json").open("wb") as out:
            await self.start(stdin=self._stdin, stdout=out)

    async def command(self, *words: str) -> bytes:
        """What another command prints."""
        pipe = asyncio.subprocess.PIPE
        process = await self.run(*words, stdout=pipe, stderr=pipe)
        out, errors = await process.communicate()
        if process.returncode:
            raise RuntimeError(f"{words}: {errors.decode(errors='replace')}")
        return out

    def printed(self) -> Kept:
        """All that its lives have printed with ``--json``."""
        kept = Kept()
        for life in range(1, self._lives + 1):
            kept.state = ReferenceClient()
            for line in (
                (self.folder / f"messages-{life}.json").read_bytes().splitlines()
            ):
                with contextlib.suppress(msgspec.DecodeError):  # cut off by a kill
                    message: Message = _message.decode(line)
                    if not isinstance(message, HelloMessage):
                        kept.state.apply(message)
                        kept.take(message)
        return kept

    async def exports(self, final: str) -> Iterator[tuple[str, str, Any]]:
        """What is made of the journal, and what ``analyze`` makes of the final
        games.
        """
        (self.folder / "final.pgn").write_text(final, encoding="utf-8")
        settings = ("--config", "config.toml")
        found = [
            (
                "analyze",
                await self.command("analyze", "final.pgn", "--json", "-", *settings),
            )
        ]
        report = ("report", "journal.sqlite")
        found.append(("report", await self.command(*report, "--alerts", "--json", "-")))
        await self.command(*report, "--alerts", "--out", "reports")
        return self._records(found)

    def _records(
        self, found: list[tuple[str, bytes]]
    ) -> Iterator[tuple[str, str, Any]]:
        for what, data in found:
            for key, value in json.loads(data).items():
                many = isinstance(value, list)
                for number, each in enumerate(value if many else [value]):
                    yield (
                        f"{what} {key}",
                        str(number) if many else "",
                        drop_varying(each),
                    )
        for path in sorted((self.folder / "reports").iterdir()):
            if path.suffix in (".html", ".csv", ".pgn", ".ndjson"):
                text = path.read_text(encoding="utf-8")
                yield (
                    f"report {path.suffix}",
                    path.name,
                    [plain(line) for line in text.split("\n")],
                )


def engine_file(folder: Path) -> str:
    """The engine made for it, as a program."""
    script = folder / "golden-engine"
    words = (sys.executable, str(Path(__file__).with_name("golden_engine.py")))
    script.write_text(f"#!/bin/sh\nexec {' '.join(map(shlex.quote, words))}\n")
    script.chmod(0o755)
    return str(script)


async def measure_engine_in(
    folder: Path, engine: str, games: Sequence[GameReport]
) -> Path:
    """A state folder in which the engine is measured, so that nothing is so in
    mid-round.
    """
    folder.mkdir()
    state = folder / "state"
    service = Service(folder, state, engine, "file", 0)
    (folder / "games.pgn").write_text(write_pgn(games[0]), encoding="utf-8")
    await service.follow("games.pgn")
    try:
        async with asyncio.timeout(300):
            while not list(state.glob("**/measured-engines/*")):
                await asyncio.sleep(0.2)
                assert (
                    service.process is not None and service.process.returncode is None
                ), (folder / "service.log").read_text()
        await asyncio.sleep(0.5)
    finally:
        await service.end(signal.SIGTERM)
    return state / "live-rate" / "measured-engines"


async def record_round(
    folder: Path, source: Source, engine: str, known: Path, games: Sequence[GameReport]
) -> list[tuple[str, str, Any]]:
    """Everything there is to keep of one round."""
    state = folder / "state"
    shutil.copytree(known, state / "live-rate" / "measured-engines")
    program = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    broker = Mosquitto(program or "mosquitto", folder)
    await broker.start()
    service = Service(folder, state, engine, source, broker.port)
    rehearsal = open_source(source, games, folder, broker)
    follower = Arbiter(service.port, service.token, elos=source != "cloud")
    shown: dict[int, GameReport] = {}

    async def start(spec: str) -> None:
        await service.follow(spec)
        async with asyncio.timeout(PATIENCE_S):
            await follower.here.wait()
        if isinstance(rehearsal, Pipe):
            assert service.process is not None and service.process.stdin is not None
            await rehearsal.begin(service.process.stdin)

    async def kill(spec: str) -> None:
        await service.end(signal.SIGKILL)
        while follower.here.is_set():
            await asyncio.sleep(0.02)
        await start(spec)

    try:
        async with rehearsal.serve() as spec, run_tasks(follower.run()):
            await start(spec)
            for step in steps_of(games, CLOUD_STRIDE if source == "cloud" else STRIDE):
                for index, report in step.shown:
                    shown[index] = report
                    result = rehearsal.show_report(index, report)
                    if result is not None:
                        await result
                if step.kill == "working":
                    await asyncio.sleep(0.1)
                    await kill(spec)
                try:
                    await follower.holds(shown, step.still_s)
                except TimeoutError:
                    log = (folder / "service.log").read_text(errors="replace")[-2000:]
                    raise RuntimeError(
                        f"not shown: {list(shown.values())}\n{log}"
                    ) from None
                if step.kill == "still":
                    await kill(spec)
                    await follower.holds(shown, LOOKED_S)
            records = list(follower.kept.records("websocket"))
            records += await _retained(broker)
            await service.end(signal.SIGTERM)
        records += service.printed().records("json")
        records += await service.exports("\n".join(map(write_pgn, shown.values())))
    finally:
        if service.process is not None and service.process.returncode is None:
            await service.end(signal.SIGKILL)
        broker.kill()
    return records


async def _retained(broker: Mosquitto) -> list[tuple[str, str, Any]]:
    """What a newcomer is given by the broker, when that is the same twice."""
    before: dict[str, bytes] | None = None
    while before != (now := await broker.read_retained()):
        before = now
        await asyncio.sleep(0.7)
    return [
        ("mqtt", topic, drop_varying(json.loads(payload)))
        for topic, payload in sorted(now.items())
        if topic.startswith("out/") and not topic.endswith(("/health", "/status"))
    ]


async def record(folder: Path, pgns: Sequence[Path], boards: int, plies: int) -> None:
    """Record all rounds, each into a file of its own."""
    each = -(-len(ROUNDS) // len(pgns))
    rounds: list[list[GameReport]] = []
    for pgn in pgns:
        rounds += rounds_of(pgn, boards, plies)[:each]
    if len(rounds) < len(ROUNDS):
        raise SystemExit(
            f"only {len(rounds)} of {len(ROUNDS)} rounds are in these files"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="golden-") as name:
        here = Path(name)
        engines = {False: engine_file(here), True: find_engine("").argv[0]}
        states: dict[bool, Path] = {}
        for stockfish in (False, True):
            first = here / f"measured-{stockfish}"
            states[stockfish] = await measure_engine_in(
                first, engines[stockfish], rounds[0]
            )
        room = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            source, stockfish = ROUNDS[number - 1]
            async with room:
                began_s = time.monotonic()
                own = here / f"round-{number}"
                own.mkdir()
                engine, state = engines[stockfish], states[stockfish]
                records = await record_round(
                    own, source, engine, state, rounds[number - 1]
                )
            path = folder / f"round-{number}-{source}.jsonl.gz"
            _write(path, records)
            took_s, size = time.monotonic() - began_s, path.stat().st_size
            print(
                f"{path.name}: {len(records)} records, {size} bytes, {took_s:.0f} s",
                flush=True,
            )

        async with asyncio.TaskGroup() as group:
            for number in range(1, len(ROUNDS) + 1):
                group.create_task(one(number), name=f"round {number}")


def _write(path: Path, records: Sequence[tuple[str, str, Any]]) -> None:
    lines = sorted(
        json.dumps(
            {"what": what, "key": key, "value": value},
            sort_keys=True,
            ensure_ascii=False,
        )
        for what, key, value in records
    )
    # No time in it: equal recordings are equal files.
    path.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


# --- comparing ------------------------------------------------------------------------


def _read(path: Path) -> dict[tuple[str, str], Any]:
    if not path.exists():
        return {}
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    return {
        (each["what"], each["key"]): each["value"] for each in map(json.loads, lines)
    }


def compare(one: Path, other: Path) -> int:
    """Say what differs; how many records do."""
    paths = [*one.glob("*.jsonl.gz"), *other.glob("*.jsonl.gz")]
    names = sorted({path.name for path in paths})
    count: Counter[str] = Counter()
    examples: dict[str, list[str]] = defaultdict(list)
    total = 0
    for name in names:
        left, right = _read(one / name), _read(other / name)
        total += len(left.keys() | right.keys())
        for what, key in sorted(left.keys() | right.keys()):
            found = list(differences(left.get((what, key)), right.get((what, key))))
            if found:
                count[what] += 1
                examples[what].append(f"{name} {key}: {len(found)} places, {found[0]}")
    for what, times in count.most_common():
        print(f"{what}: {times} differ")
        for example in examples[what][:3]:
            print(f"    {example}")
    print(f"{total} records of {len(names)} rounds: {sum(count.values())} differ")
    return sum(count.values())


def main() -> int:
    """Record, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--pgn", type=Path, action="append", required=True)
    recording.add_argument("--boards", type=int, default=6)
    recording.add_argument("--plies", type=int, default=40)
    comparing = commands.add_parser("compare")
    comparing.add_argument("a", type=Path)
    comparing.add_argument("b", type=Path)
    given = parser.parse_args()
    if given.command == "compare":
        return 1 if compare(given.a, given.b) else 0
    asyncio.run(record(given.folder, given.pgn, given.boards, given.plies))
    return 0


if __name__ == "__main__":
    sys.exit(main())
