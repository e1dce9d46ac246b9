"""Two rounds on air, unattended: five overlays are looked at all the while, and every fault listed.

    python -m tests.benchmarks.publish.two_rounds [PGN] [--boards 56] [--nodes 100000] [--pace 1]
        [--look 3] [--minutes M] [--pictures FOLDER]

The rounds of a PGN are played back as lichess broadcasts to a service in a process of its own, with
the producer's defaults and the embedded engine. ``--pace 1`` keeps the players' own time; ``--pace
0`` plays as fast as this machine rates: a move comes as soon as no more than two positions a board
wait. Every ``--look`` seconds the tabs of five overlays are read by a program, which compares them
with what the service's HTTP API says, and looks for

- **cut**: text that does not fit its place, or leaves the picture;
- **overlap**: two texts over one another;
- **figure**, **mark**: a figure that is not the API's, or hides that it rests on fewer moves;
- **move**, **score**, **result**, **name**: anything else that contradicts the API;
- **notice**: a service that works, and an overlay that says otherwise;
- **script**: an error of the page.

What differs is read again: only what stands for three readings is a fault, since an overlay may be
a message behind. A picture of every fault is kept in the folder, and of each overlay every minute.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from live.catalogue import EARLY_MOVES, LEAST_SHOWN_ELO, MOST_SHOWN_ELO
from live.events import Color, GameDetail, GameReport
from live.feeds.game_timeline import GameMoment
from live.feeds.pgn.pgn_decoder import PgnReader
from live.games.move_numbers import mover
from live.rehearse.servers.lichess_broadcast_server import LichessRehearsal
from tests.service.running import running
from tests.web.chromium import Page, browsing, tab
from tests.web.shown import whole

BUNDLED: Final = Path(__file__).parents[2] / "data" / "lichess-open-2025.pgn"
CHROMIUM: Final = "/usr/bin/chromium"
OVERLAYS: Final = {
    "board": ("layout=board&board=1", 960, 540),
    "bar": ("layout=bar&board=2", 1280, 160),
    "grid": ("layout=grid&boards=8", 1280, 720),
    "ticker": ("layout=ticker", 1280, 70),
    "standings": ("layout=standings&rows=10", 960, 620),
}
#: Positions a board that may wait where nothing else sets the pace.
WAITING: Final = 2
#: What stands for so many readings is a fault; seconds between them.
READINGS: Final = 3
AGAIN_S: Final = 1.5
#: How often an answer that does not come is asked for again.
RETRIES: Final = 5
#: The longest that the service may take for what it was sent last, seconds.
LAST_S: Final = 900.0

#: What an overlay shows, and what of it cannot be read.
READ: Final = Path(__file__).with_name("overlay_reading.js").read_text(encoding="utf-8")


class Fault(NamedTuple):
    """What is wrong on which overlay."""

    overlay: str
    kind: str
    what: str


class Api:
    """What the service says over HTTP."""

    def __init__(self, origin: str) -> None:
        self._origin = origin

    async def get(self, path: str) -> bytes:
        def fetch() -> bytes:
            with urllib.request.urlopen(f"{self._origin}{path}", timeout=30) as answer:
                data: bytes = answer.read()
                return data

        for _ in range(RETRIES):
            with contextlib.suppress(urllib.error.URLError, TimeoutError):
                return await asyncio.to_thread(fetch)
            # A machine at its limits answers late.
            await asyncio.sleep(2)
        return await asyncio.to_thread(fetch)

    async def games(self) -> list[dict[str, Any]]:
        found = json.loads(await self.get("api/v1/games"))
        games: list[dict[str, Any]] = found["games"] if isinstance(found, dict) else found
        return games

    async def game(self, id: str) -> GameDetail:
        return msgspec.json.decode(await self.get(f"api/v1/games/{id}"), type=GameDetail)

    async def players(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await self.get("api/v1/players"))
        return found


class Said(NamedTuple):
    """What an overlay is to say of a side."""

    digits: str
    """Of the perceived rating; empty without one."""
    whole_game: bool
    """Whether it rests on all the side's moves."""
    early: bool = False
    """Whether it rests on too few: small overlays say that instead."""


def said_of(game: GameDetail, color: Color) -> Said:
    points = game.curves.white if color == "white" else game.curves.black
    last = max((ply.ply for ply in game.plies if mover(game, ply.ply) == color), default=0)
    if not points:
        return Said("", last == 0)
    newest = points[-1]
    if newest.perceived is None:
        return Said("", newest.ply >= last)
    digits = whole(min(max(newest.perceived, LEAST_SHOWN_ELO), MOST_SHOWN_ELO))
    return Said(digits, newest.ply >= last, newest.counted < EARLY_MOVES)


def contradictions(overlay: str, item: dict[str, Any], game: GameDetail) -> list[Fault]:
    """What one board of an overlay says otherwise than the API."""
    found: list[Fault] = []

    def fault(kind: str, what: str) -> None:
        found.append(Fault(overlay, kind, f"board {game.board}, {what}"))

    move = game.plies[-1].san if game.plies else "not started"
    # While a swing is shown it stands in the place of move and score, and names its own.
    swinging = bool(item["alert"])
    if not swinging and not item["move"].endswith(move):
        fault("move", f"{item['move']!r} where {move!r} was played last")
    result = game.result.replace("1/2", "½").replace("-", "–")
    shown = item["score"].replace("-", "–").replace("1/2", "½").replace(" ", "")
    over = game.result != "*"
    if not swinging and (shown != result if over else shown in ("1–0", "0–1", "½–½")):
        fault("result", f"{item['score']!r} where the result is {game.result}")
    for color, player in (("white", game.white), ("black", game.black)):
        side = item[color]
        if side is None:
            continue
        family = player.name.partition(",")[0].split()[-1]
        if family not in side["name"]:
            fault("name", f"{side['name']!r} for {player.name}")
        value, whole_game, early = said_of(game, "white" if color == "white" else "black")
        digits = re.sub(r"[^0-9]", "", side["value"])
        if early and not digits:
            continue
        if value and value.lstrip("-") not in side["value"]:
            fault("figure", f"{side['value']!r} where {value} is told for {color}")
        if not value and digits and not re.search("or more|or less|move", side["about"]):
            fault("figure", f"{side['value']!r} where no figure is told for {color}")
        if value and whole_game == ("…" in side["value"]):
            fault("mark", f"{side['value']!r} for {color}, all moves rated: {whole_game}")
    return found


async def faults_now(name: str, page: Page, api: Api) -> list[Fault]:
    """Everything wrong on one overlay at this moment."""
    read = await page.run(READ)
    found = [Fault(name, "cut", said) for said in read["cut"]]
    found += [Fault(name, "overlap", said) for said in read["overlap"]]
    if read["status"]:
        found.append(Fault(name, "notice", read["status"]))
    views = await api.games()
    for item in read["items"]:
        board = re.search(r"[Bb]oard (\d+)", item["place"])
        round_ = re.search(r"Round (\S+)", item["place"])
        number = int(board[1]) if board else None
        same = [
            view
            for view in views
            if view["board"] == number
            and (round_ is None or view["round"].partition(".")[0] == round_[1])
            and item["white"] is not None
            and view["white"]["name"].partition(",")[0].split()[-1] in item["white"]["name"]
        ]
        if not same:
            found.append(Fault(name, "name", f"no game of the API is {item['place']!r}"))
            continue
        # Two rounds may have the same board and name: the one shown is either.
        each = [contradictions(name, item, await api.game(view["id"])) for view in same[-2:]]
        fewest: list[Fault] = min(each, key=len)
        found += fewest
    if read["rows"]:
        players = (await api.players())["players"]
        for row in read["rows"]:
            digits = re.sub(r"[^0-9]", "", row["basis"].partition("·")[0].partition(",")[0])
            moves = {p["moves"] for p in players if _family(p["name"]) in row["name"]}
            if digits and int(digits) not in moves:
                found.append(Fault(name, "figure", f"{row['name']} has {sorted(moves)}: {row}"))
    return found


def _family(name: str) -> str:
    return name.partition(",")[0].split()[-1]


async def standing_faults(name: str, page: Page, api: Api) -> list[Fault]:
    """Those that stand for :data:`READINGS` readings."""
    kept: set[Fault] = set()
    for reading in range(READINGS):
        found = set(await faults_now(name, page, api))
        kept = found if reading == 0 else kept & found
        if not kept:
            break
        await asyncio.sleep(AGAIN_S)
    return sorted(kept)


class Pace:
    """The clock of a rehearsal: the players' own, or as fast as the service rates."""

    def __init__(self, api: Api, pace: float, waiting: int) -> None:
        self._api, self._pace, self._waiting = api, pace, waiting
        self._now_s = 0.0
        self.shown: dict[tuple[int, int], int] = {}
        """Plies shown of each game, by round and index."""
        self.round = 0

    def note(self, moment: GameMoment) -> None:
        self.shown[self.round, moment.game] = len(moment.report.moves)

    def now(self) -> float:
        return self._now_s

    def deadline(self, seconds: float | None) -> contextlib.AbstractAsyncContextManager[object]:
        return asyncio.timeout(seconds)

    async def sleep(self, seconds: float) -> None:
        if self._pace:
            await asyncio.sleep(seconds / self._pace)
        await self.caught_up(self._waiting)
        self._now_s += seconds

    async def caught_up(self, waiting: int) -> None:
        """Return once no more plies than these wait for their scores."""
        while await self.waiting() > waiting:  # noqa: ASYNC110 - nobody over HTTP tells of it
            await asyncio.sleep(0.5)

    async def waiting(self) -> int:
        """Plies shown that are not scored yet."""
        scored = sum(int(view["plies_scored"]) for view in await self._api.games())
        return sum(self.shown.values()) - scored


class Watch:
    """Looks at all overlays again and again, and keeps what it found."""

    def __init__(self, api: Api, pages: dict[str, Page], folder: Path, look_s: float) -> None:
        self._api, self._pages, self._folder, self._look_s = api, pages, folder, look_s
        self.faults: Counter[Fault] = Counter()
        self.looks = 0
        self._pictured_s = float("-inf")

    async def run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(self._look_s)

    async def look(self) -> None:
        regular = time.monotonic() - self._pictured_s >= 60
        if regular:
            self._pictured_s = time.monotonic()
        for name, page in self._pages.items():
            self.looks += 1
            found = await standing_faults(name, page, self._api)
            found += [Fault(name, "script", said) for said in page.complaints]
            page.complaints.clear()
            news = [fault for fault in found if fault not in self.faults]
            self.faults.update(found)
            if news or regular:
                shot = self._folder / f"{self.looks:05}-{name}{'-fault' if news else ''}.png"
                shot.write_bytes(await page.picture())
            for fault in news:
                print(f"{self.looks:5} {fault.overlay:9} {fault.kind:8} {fault.what}", flush=True)


def rounds_of(path: Path, boards: int) -> list[list[GameReport]]:
    """The rounds of a file, each with its first boards, numbered where the file does not."""
    rounds: dict[str, list[GameReport]] = {}
    for game in PgnReader().read(path.read_bytes(), closed=True):
        if game.moves:
            rounds.setdefault(game.headers.round.partition(".")[0], []).append(game)
    return [
        [
            msgspec.structs.replace(
                game, headers=msgspec.structs.replace(game.headers, board=number)
            )
            for number, game in enumerate(games[:boards], 1)
        ]
        for games in rounds.values()
    ]


@contextlib.asynccontextmanager
async def tabs(origin: str, profiles: Path) -> AsyncIterator[dict[str, Page]]:
    """Each overlay in a window of its own, as OBS has them: all are in sight."""
    async with contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(browsing(CHROMIUM, profiles))
        pages: dict[str, Page] = {}
        for name, (query, width, height) in OVERLAYS.items():
            page = await stack.enter_async_context(tab(first.address)) if pages else first
            await page.open(f"{origin}overlay?{query}", width, height, window=True)
            pages[name] = page
        yield pages


async def broadcast(options: argparse.Namespace, folder: Path) -> Watch:
    """Both rounds, and what was found."""
    rounds = rounds_of(options.pgn, options.boards)[:2]
    rehearsals = [
        LichessRehearsal(games, round_id=f"Round{number:03}")
        for number, games in enumerate(rounds, 1)
    ]
    async with contextlib.AsyncExitStack() as stack:
        specs = [await stack.enter_async_context(each.serving()) for each in rehearsals]
        feeds = [part for spec in specs for part in ("--feed", spec)]
        service = await stack.enter_async_context(
            running(
                *feeds,
                *("--headless", "--port", "0", "--engine", "embedded", "--no-journal"),
                *("--nodes", str(options.nodes)),
                cwd=folder,
            )
        )
        origin = f"http://{await service.address()}/"
        api = Api(origin)
        pace = Pace(api, options.pace, WAITING * options.boards)
        pages = await stack.enter_async_context(tabs(origin, folder / "profiles"))
        watch = Watch(api, pages, options.pictures or folder, options.look)
        looking = asyncio.create_task(watch.run(), name="looks")
        try:
            async with asyncio.timeout(options.minutes * 60 if options.minutes else None):
                for number, rehearsal in enumerate(rehearsals):
                    pace.round = number
                    rehearsal._clock = pace
                    await rehearsal.connected.wait()
                    await rehearsal.play(shown=pace.note)
                    async with asyncio.timeout(LAST_S):
                        await pace.caught_up(0)
                    print(f"round {number + 1} is over, {watch.looks} looks", flush=True)
                    await asyncio.sleep(3 * options.look)
        except TimeoutError:
            print("time is up")
        looking.cancel()
        await asyncio.wait({looking})
        await watch.look()
        if not looking.cancelled() and looking.exception() is not None:
            raise looking.exception()  # type: ignore[misc]
        return watch


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="two_rounds", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pgn", nargs="?", type=Path, default=BUNDLED)
    parser.add_argument("--boards", type=int, default=56)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--pace", type=float, default=0.0)
    parser.add_argument("--look", type=float, default=3.0)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args(arguments)
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "profiles").mkdir()
        watch = asyncio.run(broadcast(options, Path(folder)))
    print(f"\n{watch.looks} looks in {(time.monotonic() - begun_s) / 60:.1f} minutes")
    kinds = Counter((fault.overlay, fault.kind) for fault in watch.faults)
    for (overlay, kind), count in sorted(kinds.items()):
        times = sum(n for fault, n in watch.faults.items() if fault[:2] == (overlay, kind))
        print(f"{overlay:9} {kind:8} {count} faults, seen {times} times")
    if not kinds:
        print("no fault")


if __name__ == "__main__":
    main(sys.argv[1:])
