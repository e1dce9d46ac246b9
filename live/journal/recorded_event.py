"""Rebuilds an event from its journal.

The recorded changes of its games are applied again, and all results of searches come
from the file.
"""

import contextlib
import datetime as dt
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from live.engine.engine_settings import build_limit
from live.engine.requests import RequestId, SearchRequest
from live.engine.search import Search, SearchResult
from live.engine.search_key import SearchKey, SearchKeys
from live.errors import InputError
from live.event.choose_measure import open_event
from live.event.game_change import EventChange
from live.games.game import Game, apply_or_none, split_into_steps
from live.human.question import HumanRequest
from live.journal.arbiter_notes import decode_notes, reapply_rulings
from live.journal.journal_reader import JournalReader, JournalRun, RecordedChange
from live.messages.alerts import Alert
from live.messages.values import GameId
from live.setting_keys import SETTINGS, flatten, nest
from live.settings import Config
from live.watch.arbiter_notes import build_incident_log
from live.watch.finding import sort_by_urgency
from live.watch.incident_log import IncidentLog


class RecordedEvent:
    """An event whose search results come from the journal.

    Args:
        to_ms: ignore results found after this time (milliseconds since 1970 UTC); None
            uses all results.
    """

    def __init__(
        self,
        reader: JournalReader,
        run: JournalRun,
        config: Config,
        to_ms: int | None = None,
    ) -> None:
        self.run = run
        self.to_ms = to_ms
        self._reader = reader
        self._search_keys = SearchKeys(build_limit(config.engine))
        self.waiting: deque[tuple[Search, RequestId]] = deque()
        self._human_requests: deque[HumanRequest] = deque()
        self.incident_log = IncidentLog()
        """The incidents up to that time."""
        # If the journal has no answers about human moves, figures must not say that an
        # answer is missing.
        human = config.human.enabled and reader.has_human_answers()
        self.state = open_event(
            config, run.engine_name, run.limit, run.measured, human=human
        )
        self.state.alerts = self.alerts

    def follow(self, changes: Iterable[EventChange]) -> None:
        """Queue the searches and questions among the changes for
        :meth:`answer_requests`.

        Other changes are ignored, since a replay has no subscribers.
        """
        for change in changes:
            match change:
                case SearchRequest(id=request_id, search=search):
                    self.waiting.append((search, request_id))
                case HumanRequest():
                    self._human_requests.append(change)

    def alerts(self) -> Sequence[Alert]:
        """Return the alerts that were open at that time, as they were recorded.

        The alert rules are not applied again, because they would measure the waiting
        times of the replay.
        """
        return sort_by_urgency(self.incident_log.open())

    def find_recorded_result(
        self, search: Search
    ) -> tuple[SearchKey, SearchResult, int | None] | None:
        """Return the key of a search, its result, and the time of the result.

        The time is in milliseconds since 1970 UTC. Return None if the journal has no
        result.
        """
        search_key = self._search_keys.build_key(search)
        if not isinstance(search_key, SearchKey):
            return None
        scored = self._reader.read_result(self.run.identity, search_key)
        return None if scored is None else (search_key, *scored)

    def answer_human_requests(self) -> None:
        """Apply the recorded answers about human moves to the event."""
        while self._human_requests:
            request = self._human_requests.popleft()
            at_ms, answer = self._reader.read_answer(request.question) or (0, None)
            known = None if self._is_after_replay_end(at_ms) else answer
            self.follow(self.state.apply_answer(request, known))

    def answer_requests(self) -> None:
        """Apply all recorded results and answers to the event."""
        while self.waiting or self._human_requests:
            self.answer_human_requests()
            if not self.waiting:
                return
            search, request_id = self.waiting.popleft()
            record = self.find_recorded_result(search)
            if record is not None and not self._is_after_replay_end(record[2]):
                self.follow(self.state.apply_result(request_id, record[1]))

    def _is_after_replay_end(self, at_ms: int | None) -> bool:
        return self.to_ms is not None and (at_ms or 0) > self.to_ms


def find_run(reader: JournalReader, path: Path, to_ms: int | None) -> JournalRun:
    """Return the last start of the service before ``to_ms``; if ``to_ms`` is None, the
    last start of all.

    Raises:
        InputError: there is none.
    """
    starts = reader.read_runs()
    if not starts:
        raise InputError(
            str(path), "contains no event yet", "Follow an event with it first"
        )
    runs = [run for _, at_ms, run in starts if to_ms is None or at_ms <= to_ms]
    if not runs:
        began = dt.datetime.fromtimestamp(math.ceil(starts[0][1] / 1000)).isoformat()
        raise InputError(
            str(path), f"begins later than that, at {began}", "Give a later --at"
        )
    return runs[-1]


def restore_config(run: JournalRun, path: Path) -> Config:
    """Return the settings of a run that figures depend on.

    Raises:
        InputError: another version wrote settings that this version cannot read.
    """
    try:
        settings = {
            key: value for key, value in flatten(run.settings) if key in SETTINGS
        }
        return msgspec.convert(nest(settings), Config)
    except msgspec.ValidationError as error:
        raise InputError(
            str(path),
            f"was written with other settings ({error})",
            f"Use live-rate {run.version}",
        ) from None


def replay_games(changes: Iterator[RecordedChange]) -> list[Game]:
    """Return the games that result from these changes, in the order they appeared."""
    games: dict[GameId, Game] = {}
    for change in changes:
        step = change.step
        with contextlib.suppress(ValueError, IndexError):
            game = apply_or_none(games.get(step.id), step)
            if game is None:
                games.pop(step.id, None)
            else:
                games[step.id] = game
    return list(games.values())


def rebuild_event(
    reader: JournalReader,
    path: Path,
    to_ms: int | None = None,
    *,
    track: Callable[[Sequence[Game]], Iterable[Game]] = iter,
) -> RecordedEvent:
    """Return the event as it was at the time ``to_ms``, or at the end.

    ``track`` yields the games it receives, and can show the progress.
    """
    run = find_run(reader, path, to_ms)
    event = RecordedEvent(reader, run, restore_config(run, path), to_ms)
    for game in track(replay_games(reader.read_changes(to_ms))):
        for step in split_into_steps(game):
            event.follow(event.state.apply_step(step))
            event.answer_requests()
    notes = reader.read_notes(to_ms)
    for changes in reapply_rulings(event.state, notes):
        event.follow(changes)
        event.answer_requests()
    event.incident_log = build_incident_log(decode_notes(notes))
    return event
