"""An event out of its journal: the ledger runs as it did, and every answer comes from the file.

Part of the composition root.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from live.alerts.finding import in_order
from live.config import GONE, SETTINGS, Config
from live.engine.search import Search
from live.engine.search_key import SearchKey, SearchKeys
from live.errors import InputError
from live.events import Alert, AlertMessage, Change, GameId
from live.games.game import Game, game_after
from live.ledger.event_state import in_pieces
from live.ledger.game.game_evaluations import RequestId
from live.ledger.measure import HumanSearches
from live.ledger.outgoing_messages import HumanRequest, Urgency
from live.service.alert_service import alerts_of, rule_again
from live.service.event_service import EventService
from live.service.measure_settings import engine_limit, human_searches
from live.settings import flat, nested
from live.store.journal_reader import JournalReader
from live.store.journal_records import JournalRun, RecordedScore, Restated
from live.store.journal_records import RecordedChange as Kept


class RecordedEvent(EventService):
    """An event whose search results come from the journal.

    Args:
        to_ms: what was found later is not known yet; None: everything is.
    """

    def __init__(
        self, reader: JournalReader, run: JournalRun, config: Config, to_ms: int | None = None
    ) -> None:
        super().__init__(config)
        self.run = run
        self.to_ms = to_ms
        self._reader = reader
        self._search_keys = SearchKeys(engine_limit(config.engine))
        self.waiting: deque[tuple[Search, RequestId]] = deque()
        self._asked: deque[HumanRequest] = deque()
        self._alerts: dict[str, Alert] = {}
        self.measured = run.measured
        self.open_ledger(run.engine_name, run.limit, engine_scores=run.engine_scores)

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        self.waiting.append((search, request_id))

    def _human_searches(self) -> HumanSearches | None:
        # Where nobody was asked then, no figure may say that an answer is missing.
        asked = self.config.human.enabled and self._reader.has_human_answers()
        return human_searches(self.config.engine) if asked else None

    def ask(self, request: HumanRequest) -> None:
        self._asked.append(request)

    def publish(self, changes: Iterable[Change]) -> None:
        # Alerts are those of then: made anew, waits would be those of the playing.
        self.notify(changes)

    def alerts(self) -> Sequence[Alert]:
        return in_order(self._alerts.values())

    def alert(self, alert: Alert) -> None:
        """An alert was raised, changed or over then."""
        self._alerts.pop(alert.id, None)
        if alert.cleared_s is None:
            self._alerts[alert.id] = alert
        self.notify((AlertMessage(alert),))

    def drop(self, request_id: RequestId) -> None:
        """An answer that nobody waits for changes nothing."""

    def looked_up(self, search: Search) -> tuple[SearchKey, RecordedScore] | None:
        """The question a search was, and what was found; None where nothing was."""
        search_key = self._search_keys.key_of(search)
        if not isinstance(search_key, SearchKey):
            return None
        scored = self._reader.result(self.run.identity, search_key)
        return None if scored is None else (search_key, scored)

    def answer_about_people(self) -> None:
        """Give the ledger what was known of human moves."""
        while self._asked:
            request = self._asked.popleft()
            held = self._reader.answer(request.question)
            later = held is not None and self._is_later(held.at_ms)
            self.state.answered(request, held.answer if held and not later else None)

    def answer(self) -> None:
        """Give the ledger all that was known."""
        while self.waiting or self._asked:
            self.answer_about_people()
            if not self.waiting:
                return
            search, request_id = self.waiting.popleft()
            found = self.looked_up(search)
            if found is not None and not self._is_later(found[1].at_ms):
                self.state.searched(request_id, found[1].result)

    def _is_later(self, at_ms: int | None) -> bool:
        return self.to_ms is not None and (at_ms or 0) > self.to_ms


def run_at(reader: JournalReader, path: Path, to_ms: int | None) -> JournalRun:
    """The start of the service that a moment belongs to.

    Raises:
        InputError: there was none.
    """
    starts = reader.runs()
    if not starts:
        raise InputError(str(path), "holds no event yet", "Follow one with it first")
    runs = [run for _, at_ms, run in starts if to_ms is None or at_ms <= to_ms]
    if not runs:
        began = dt.datetime.fromtimestamp(math.ceil(starts[0][1] / 1000)).isoformat()
        raise InputError(str(path), f"begins later than that, at {began}", "Give a later --at")
    return runs[-1]


def config_of(run: JournalRun, path: Path, **changes: object) -> Config:
    """The settings a run had, as far as figures depend on them.

    Raises:
        InputError: it was another version's.
    """
    try:
        return msgspec.convert({**_known(run.settings), **changes}, Config)
    except msgspec.ValidationError as error:
        raise InputError(
            str(path), f"was written with other settings ({error})", f"Use live-rate {run.version}"
        ) from None


def _known(settings: dict[str, object]) -> dict[str, object]:
    """Without what has gone since an earlier version."""
    given = dict(flat(settings, SETTINGS))
    gone = {each.key for each in GONE if not each.values or given.get(each.key) in each.values}
    return nested({key: value for key, value in given.items() if key not in gone})


def games_at(changes: Iterator[Kept]) -> list[Game]:
    """The games as these changes leave them, in the order they appeared."""
    games: dict[GameId, Game] = {}
    for change in changes:
        step = change.step
        if isinstance(step, Restated):
            games.clear()
            continue
        with contextlib.suppress(ValueError, IndexError):
            game = game_after(games.get(step.id), step)
            if game is None:
                games.pop(step.id, None)
            else:
                games[step.id] = game
    return list(games.values())


def rebuilt(reader: JournalReader, path: Path, to_ms: int | None = None) -> RecordedEvent:
    """The event as it stood at a moment, or as it stands."""
    run = run_at(reader, path, to_ms)
    service = RecordedEvent(reader, run, config_of(run, path), to_ms)
    games = games_at(reader.changes(to_ms))
    with _progress(len(games)) as bar:
        for game in games:
            for step in in_pieces(game):
                service.state.apply(step)
                service.answer()
            bar.advance(bar.task_ids[0])
    rule_again(service.state, reader.notes(to_ms))
    for alert in alerts_of(reader.notes(to_ms)):
        service.alert(alert)
    return service


@contextlib.contextmanager
def _progress(games: int) -> Iterator[Progress]:
    console = Console(stderr=True)
    columns = (TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TextColumn("games"))
    quiet = not console.is_terminal
    with Progress(*columns, console=console, disable=quiet, transient=True) as bar:
        bar.add_task("games", total=games)
        yield bar
