"""The journal of a running service: which file, what goes into it, and what comes back after a
restart. Part of the composition root.

After a restart the games stand as they stood before any feed is asked, with everything that was
known of them, marked as restored until their source tells them again. A search whose result is in
the journal is not made again. Feeds tell whole games, so what was missed meanwhile comes with their
first report, as the same steps as ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from live import __version__
from live.config import Config, JournalConfig
from live.engine.cache import Cache
from live.engine.disk import DiskCache
from live.engine.search import Search, SearchResult
from live.events import FeedHealth, FeedName
from live.games.game import Game
from live.games.steps import GameConfirmed, NewGame, Step, applied
from live.ledger.evaluations import Ask
from live.ledger.keeper import Keeper
from live.store.journal import Journal
from live.store.records import Run, Standing
from live.store.results import Results

#: What the journal is called where parts of the service are listed.
PART = "journal"
#: Longest the loop is kept from other work while games are brought back, seconds.
SLICE_S = 0.01
#: Sources that begin anew with each start: nothing is kept of them unless a file is named.
PASSING = frozenset({"demo", "standard input"})

_UNSAFE = re.compile(r"[^A-Za-z0-9]+")

log = logging.getLogger(__name__)

Known = Callable[[Search], SearchResult | None]


def journal_path(
    config: JournalConfig, feeds: Sequence[FeedName], *, once: bool = False
) -> Path | None:
    """Which file; None for none.

    Without a name of its own it goes by the sources, whatever order they are given in, so that two
    events never mix and the same command goes on where it stopped.
    """
    if not config.enabled:
        return None
    if config.file:
        return Path(config.file)
    if once or PASSING.issuperset(feeds):
        return None
    import platformdirs  # only here: most commands need no journal

    named = sorted(feeds)
    digest = hashlib.blake2b("\x1f".join(named).encode(), digest_size=4).hexdigest()
    words = _UNSAFE.sub("-", "-".join(named)).strip("-")[:60].strip("-")
    return platformdirs.user_state_path("live-rate") / f"{words}-{digest}.sqlite"


def settings_of(config: Config) -> dict[str, object]:
    """What figures depend on, to be kept with them."""
    kept: dict[str, object] = {
        "engine": msgspec.to_builtins(config.engine),
        "rating": msgspec.to_builtins(config.rating),
    }
    return kept


class EventJournal:
    """What the hall asks and tells of its journal; does nothing where there is none.

    Loss policy: see :class:`live.store.journal.Journal`.
    """

    def __init__(self, path: Path | None = None, *, durable: bool = False) -> None:
        self.restored = 0
        """Games brought back at the start."""
        self.journal = Journal(path, durable=durable) if path is not None else None
        self._told = ""
        # Answers found in the journal while games are brought back; None when that is over.
        self._answers: deque[tuple[Ask, SearchResult]] | None = None
        self._known: Known | None = None

    @classmethod
    def of(
        cls, config: JournalConfig, feeds: Sequence[FeedName], *, once: bool = False
    ) -> EventJournal:
        """The journal of these sources, see :func:`journal_path`."""
        return cls(journal_path(config, feeds, once=once), durable=config.durable)

    @contextlib.contextmanager
    def opened(self, config: Config) -> Iterator[Cache | None]:
        """Gives where results are looked up and put."""
        with contextlib.ExitStack() as stack:
            cache_file = config.engine.cache_file
            shared = DiskCache(Path(cache_file)) if cache_file else None
            if shared is not None:
                stack.enter_context(shared)
            if self.journal is None:
                yield shared
            else:
                yield Results(stack.enter_context(self.journal), shared)

    # --- coming back ------------------------------------------------------------------------------

    async def restore(self, keeper: Keeper, known: Known, run: Run) -> None:
        """Hold the games of before again; returns when they stand with all that was known."""
        if self.journal is None:
            return
        self._answers, self._known = deque(), known
        began_s = slice_s = time.monotonic()
        try:
            for game in self._games(run.feeds):
                for _ in keeper.restore(game):
                    while True:
                        if time.monotonic() - slice_s > SLICE_S:
                            await asyncio.sleep(0)
                            slice_s = time.monotonic()
                        if not self._answers:
                            break
                        keeper.searched(*self._answers.popleft())
                self.restored += 1
        finally:
            self._answers = self._known = None
        self.journal.begin(run)
        if self.restored:
            log.info("%s in %.1f s", self.summary, time.monotonic() - began_s)

    @property
    def summary(self) -> str:
        """What came back, for people."""
        games = "1 game" if self.restored == 1 else f"{self.restored} games"
        return f"{games} restored from {self.journal.path if self.journal else 'nowhere'}"

    def _games(self, feeds: Sequence[FeedName]) -> Iterator[Game]:
        assert self.journal is not None
        for standing in self.journal.standing():
            game = game_of(standing)
            if game is not None and game.feed in feeds:
                yield game

    def answers(self, search: Search, ask: Ask) -> bool:
        """Whether the answer to ``ask`` is known and comes by itself."""
        if self._answers is None or self._known is None:
            return False
        known = self._known(search)
        if known is not None:
            self._answers.append((ask, known))
        return known is not None

    # --- going on ---------------------------------------------------------------------------------

    def applied(self, step: Step) -> None:
        """A step has been carried out."""
        if self.journal is not None and not isinstance(step, GameConfirmed):
            self.journal.change(step)

    def look_after(self, keeper: Keeper, tell: Callable[[FeedHealth], None]) -> None:
        """To be called about once a second: say what is wrong, write what had to be left out."""
        if self.journal is None:
            return
        if self.journal.wants_restating:
            log.warning("journal %s: all games are written anew", self.journal.path)
            self.journal.restate(keeper.held())
        if (problem := self.journal.problem) != self._told:
            self._told = problem
            if not problem:
                tell(FeedHealth(PART, "live", part=True))
            else:
                state = "failed" if self.journal.hopeless else "retrying"
                tell(FeedHealth(PART, state, problem, part=True))


def game_of(standing: Standing) -> Game | None:
    """The game as its changes leave it; None where they do not fit together."""
    game: Game | None = None
    try:
        for change in standing.since:
            match change.step:
                case NewGame(game=new):
                    game = new
                case _ if game is not None:
                    game = applied(game, change.step)  # type: ignore[arg-type]
    except (ValueError, IndexError) as error:
        log.error("game %s cannot be restored: %s", standing.game, error)
        return None
    return game


def run_of(
    config: Config, engine_name: str, identity: str, limit: str, feeds: Sequence[FeedName]
) -> Run:
    """The particulars of this start."""
    return Run(
        version=__version__,
        engine_name=engine_name,
        identity=identity,
        limit=limit,
        feeds=tuple(feeds),
        settings=settings_of(config),
    )
