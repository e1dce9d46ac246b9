"""Rebuilds an event from its journal: its games change as they did, and every answer
comes from the file.

``live-rate report`` and ``explain`` say what it holds.
"""

import contextlib
import datetime as dt
import math
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.engine.engine_settings import build_limit
from live.engine.search import Search, SearchKey, SearchKeys, SearchResult
from live.errors import InputError
from live.event.event import split_into_steps
from live.event.game_change import EventChange, select_messages
from live.event.requests import RequestId, Urgency
from live.games.game import Game, apply_or_none, side_to_play
from live.human.question import HumanRequest
from live.jobs.analyze_games import (
    build_progress_bar,
    print_line,
    print_tables,
    write_json,
    write_output,
)
from live.journal.arbiter_notes import (
    ALERT,
    build_incident_log,
    decode_notes,
    reapply_rulings,
)
from live.journal.journal_reader import JournalReader, JournalRun, RecordedChange
from live.journal.rating_explanation import (
    Explanation,
    describe_explanation,
    explain_side,
    list_searches,
)
from live.messages.alerts import Alert, Incident
from live.messages.figures import GameDetail
from live.messages.to_clients import AlertMessage
from live.messages.values import GameId
from live.process.stderr_log import log_to_stderr
from live.screens.reports.report_export import WRITTEN, read_utc_now, write_texts
from live.screens.reports.report_files import (
    Format,
    build_files,
    build_incident_files,
    format_incident_change,
)
from live.screens.reports.report_files import format_moment as incident_moment
from live.screens.terminal.text import plain
from live.server.analysis import Analysis, build_analysis, to_json
from live.service.event_service import EventService
from live.setting_keys import SETTINGS, flatten, nest
from live.settings import Config
from live.watch.alert_kinds import find_doubted_games
from live.watch.finding import in_order
from live.watch.incident_log import board_words, incident_sign, kind_name, with_boards


class RecordedEvent(EventService):
    """An event whose search results come from the journal.

    Args:
        to_ms: what was found later is not known yet; None: everything is.
    """

    def __init__(
        self,
        reader: JournalReader,
        run: JournalRun,
        config: Config,
        to_ms: int | None = None,
    ) -> None:
        super().__init__(config)
        self.run = run
        self.to_ms = to_ms
        self._reader = reader
        self._search_keys = SearchKeys(build_limit(config.engine))
        self.waiting: deque[tuple[Search, RequestId]] = deque()
        self._asked: deque[HumanRequest] = deque()
        self._alerts: dict[str, Alert] = {}
        self.measured = run.measured
        # Where nobody was asked then, no figure may say that an answer is missing.
        human = config.human.enabled and reader.has_human_answers()
        self.open_ledger(run.engine_name, run.limit, human=human)

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        self.waiting.append((search, request_id))

    def ask(self, request: HumanRequest) -> None:
        self._asked.append(request)

    def publish(self, changes: Sequence[EventChange]) -> None:
        # Alerts are those of then: made anew, waits would be those of the playing.
        self.notify(select_messages(changes))

    def alerts(self) -> Sequence[Alert]:
        return in_order(self._alerts.values())

    def apply_alert(self, alert: Alert) -> None:
        """Apply an alert that was raised, changed or cleared."""
        self._alerts.pop(alert.id, None)
        if alert.cleared_s is None:
            self._alerts[alert.id] = alert
        self.notify((AlertMessage(alert),))

    def drop(self, request_id: RequestId) -> None:
        """Do nothing: an answer that nobody waits for changes nothing."""

    def find_recorded_result(
        self, search: Search
    ) -> tuple[SearchKey, SearchResult, int | None] | None:
        """Return the key of a search, its result, and when it was found; None if it was
        not.
        """
        search_key = self._search_keys.build_key(search)
        if not isinstance(search_key, SearchKey):
            return None
        scored = self._reader.read_result(self.run.identity, search_key)
        return None if scored is None else (search_key, *scored)

    def answer_human_requests(self) -> None:
        """Give the event the recorded answers about human moves."""
        while self._asked:
            request = self._asked.popleft()
            at_ms, answer = self._reader.read_answer(request.question) or (0, None)
            self.state.apply_answer(request, None if self._is_later(at_ms) else answer)

    def answer_requests(self) -> None:
        """Give the event all recorded answers."""
        while self.waiting or self._asked:
            self.answer_human_requests()
            if not self.waiting:
                return
            search, request_id = self.waiting.popleft()
            found = self.find_recorded_result(search)
            if found is not None and not self._is_later(found[2]):
                self.state.apply_result(request_id, found[1])

    def _is_later(self, at_ms: int | None) -> bool:
        return self.to_ms is not None and (at_ms or 0) > self.to_ms


def find_run(reader: JournalReader, path: Path, to_ms: int | None) -> JournalRun:
    """Return the start of the service that a moment belongs to.

    Raises:
        InputError: there was none.
    """
    starts = reader.read_runs()
    if not starts:
        raise InputError(str(path), "holds no event yet", "Follow one with it first")
    runs = [run for _, at_ms, run in starts if to_ms is None or at_ms <= to_ms]
    if not runs:
        began = dt.datetime.fromtimestamp(math.ceil(starts[0][1] / 1000)).isoformat()
        raise InputError(
            str(path), f"begins later than that, at {began}", "Give a later --at"
        )
    return runs[-1]


def restore_config(run: JournalRun, path: Path, **changes: object) -> Config:
    """Return the settings of a run, as far as figures depend on them.

    Raises:
        InputError: it was another version's.
    """
    try:
        given = {key: value for key, value in flatten(run.settings) if key in SETTINGS}
        return msgspec.convert({**nest(given), **changes}, Config)
    except msgspec.ValidationError as error:
        raise InputError(
            str(path),
            f"was written with other settings ({error})",
            f"Use live-rate {run.version}",
        ) from None


def replay_games(changes: Iterator[RecordedChange]) -> list[Game]:
    """Return the games that these changes lead to, in the order they appeared."""
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
    reader: JournalReader, path: Path, to_ms: int | None = None
) -> RecordedEvent:
    """Return the event as it was at a moment, or at the end."""
    run = find_run(reader, path, to_ms)
    service = RecordedEvent(reader, run, restore_config(run, path), to_ms)
    games = replay_games(reader.read_changes(to_ms))
    with build_progress_bar(Console(stderr=True)) as bar:
        for game in bar.track(games, description="reading games"):
            for step in split_into_steps(game):
                service.state.apply(step)
                service.answer_requests()
    reapply_rulings(service.state, reader.read_notes(to_ms))
    for _, alert in read_alerts(reader, to_ms):
        service.apply_alert(alert)
    return service


def read_alerts(
    reader: JournalReader, to_ms: int | None = None
) -> Iterator[tuple[int, Alert]]:
    """Yield alerts as they were raised, changed and cleared, each with its time in
    milliseconds.
    """
    for at_s, alert in decode_notes(
        note for note in reader.read_notes(to_ms) if note.kind == ALERT
    ):
        if isinstance(alert, Alert):
            yield round(1000 * at_s), alert


def parse_moment_ms(text: str, now: dt.datetime) -> int:
    """Return the moment of ``--at`` in milliseconds: a time of day, the latest not in
    the future, or date and time; in this machine's zone unless it says.

    Raises:
        InputError: it is no time.
    """
    try:
        if len(text) <= 8 and ":" in text:
            moment = dt.datetime.combine(now.date(), dt.time.fromisoformat(text))
            if moment > now.replace(tzinfo=None):
                moment -= dt.timedelta(days=1)
        else:
            moment = dt.datetime.fromisoformat(text)
        return round(moment.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        # The last two: beyond what this machine counts.
        raise InputError(
            f"--at {text}",
            "is no time",
            "Say 15:04, 2026-05-01T15:04 or 2026-05-01T15:04+02:00",
        ) from None


def report_event(
    path: Path,
    *,
    at: str | None,
    folder: Path | None,
    formats: Sequence[Format],
    alerts: bool = False,
    json: str | None,
) -> int:
    """Run ``live-rate report``; return the exit code. ``alerts``: show also the
    incident log up to then, in files of its own if files are written.
    """
    log_to_stderr(Config().log.level)
    now = read_utc_now()
    to_ms = parse_moment_ms(at, now.astimezone()) if at is not None else None
    with JournalReader.open(path) as reader:
        state = rebuild_event(reader, path, to_ms).state
        in_doubt = find_doubted_games(state.alerts())
        whole = build_analysis(state, state.rate_by_methods(), in_doubt=in_doubt)
        open_alerts = tuple(state.alerts()) if alerts else ()
        log = build_incident_log(reader.read_notes(to_ms)).incidents() if alerts else []
    boards = {game.id: board_words(game) for game in whole.games}
    incidents = tuple(with_boards(log, boards))
    if json is not None:
        more = JournalReport(
            **msgspec.structs.asdict(whole), alerts=open_alerts, incidents=incidents
        )
        write_output(json, to_json(more if alerts else whole), private=alerts)
    console = Console(stderr=json == "-")
    zone = now.astimezone().tzinfo or dt.UTC
    moment = now if to_ms is None else dt.datetime.fromtimestamp(to_ms / 1000, dt.UTC)
    if to_ms is not None:
        print_line(f"as of {moment.astimezone():%Y-%m-%d %H:%M:%S}", console)
    if folder is not None:
        written = moment.astimezone(zone).strftime(WRITTEN)
        found = build_files(whole, formats, stem=path.stem, written=written)
        paths = write_texts(found, folder)
        if alerts:
            as_of = f"as of {incident_moment(moment.timestamp(), zone)}"
            found = build_incident_files(
                incidents,
                formats,
                stem=path.stem,
                title=path.stem,
                written=as_of,
                zone=zone,
            )
            paths = [*paths, *write_texts(found, folder, private=True)]
        for each in paths:
            print_line(f"wrote {each}", console)
    elif json is None:
        print_tables(whole, console)
        if alerts:
            console.print(_build_incident_table(incidents, zone))
    return 0


class JournalReport(Analysis):
    """An event with its alerts, as ``report --alerts --json`` writes it."""

    alerts: tuple[Alert, ...] = ()
    """Those not over, in the order in which people should look at them."""
    incidents: tuple[Incident, ...] = ()
    """The incident log, in the order it began."""


def _build_incident_table(incidents: Sequence[Incident], zone: dt.tzinfo) -> Table:
    table = Table("No.", "", "Board", "What happened", title="Incident log")
    for each in incidents:
        began = incident_moment(each.began_s, zone)
        said = [f"{began} {kind_name(each.kind)}"]
        said += [
            format_incident_change(change, zone, began[:10]) for change in each.changes
        ]
        if each.over_s is None:
            said.append("open")
        # Text, not markup: names and notes may hold brackets.
        happened = Text("\n".join(plain(line, 400) for line in said))
        table.add_row(
            str(each.number), incident_sign(each), Text(plain(each.board, 80)), happened
        )
    return table


def explain_rating(path: Path, name: str, ply: int, *, json: str | None = None) -> int:
    """Run ``live-rate explain``; return the exit code."""
    log_to_stderr(Config().log.level)
    with JournalReader.open(path) as reader:
        service = rebuild_event(reader, path)
        detail = find_game(list(build_analysis(service.state).games), name)
        found = build_explanation(service, detail, ply)
    if json is not None:
        write_json(json, found)
    else:
        for line in describe_explanation(found):
            print_line(plain(line, 400), Console())
    return 0


def build_explanation(
    service: RecordedEvent, detail: GameDetail, ply: int
) -> Explanation:
    """Return how the rating after ``ply`` came about.

    Raises:
        InputError: there is no such ply, or it has no rating.
    """
    if not 1 <= ply <= len(detail.plies):
        raise InputError(
            f"ply {ply}",
            f"this game has plies 1 to {len(detail.plies)}",
            "Name one of them",
        )
    mover = side_to_play(detail.start_fen, ply)
    points = [each for each in getattr(detail.curves, mover) if each.ply <= ply]
    if not points or points[-1].ply != ply:
        raise InputError(
            f"ply {ply}", "has no rating: its scores are not all known", "Name another"
        )
    state = service.state
    game = state.get_shown_game(detail.id)
    assert game is not None, "it is shown, so it is held"
    options = state.measure.search_options
    # The others were searched as deep as the position before the move.
    (_, before), *_ = list_searches(game, ply, options, None)
    reached = service.find_recorded_result(before)
    best = reached[1] if reached is not None else None
    made: list[tuple[str, SearchKey, SearchResult]] = []
    for what, search in list_searches(
        game, ply, options, best.depth if best is not None else None
    ):
        found = service.find_recorded_result(search)
        if found is not None and (best is None or search.only != best.best):
            made.append((what, *found[:2]))
    before_cp = detail.plies[ply - 2].score_cp if ply > 1 else detail.start_score_cp
    side = state.rate_again(game.id).trace(mover, ply)
    return Explanation(
        game=detail.id,
        white=detail.white.name,
        black=detail.black.name,
        mover=mover,
        gain=state.gain(),
        engine=state.engine(),
        identity=service.run.identity,
        searches=tuple(made),
        before_cp=before_cp and before_cp * (1 if mover == "white" else -1),
        move=detail.plies[ply - 1],
        gains_cp=tuple(each.gain_cp for each in points),
        published=points[-1],
        model=detail.model,
        note=detail.note,
        perceived=explain_side(side) if detail.model is not None else None,
    )


def find_game(games: Sequence[GameDetail], name: str) -> GameDetail:
    """Return the game with this id, else the one with this part of a player's name.

    Raises:
        InputError: none, or several.
    """
    words = name.casefold().split()

    def has_players(game: GameDetail) -> bool:
        names = f"{game.white.name} {game.black.name}".casefold()
        return all(word in names for word in words)

    found = [game for game in games if game.id == name]
    found = found or list(filter(has_players, games))
    if len(found) == 1:
        return found[0]
    listed = found or games
    known = ", ".join(
        f"{each.id} ({each.white.name} - {each.black.name})" for each in listed[:8]
    )
    if len(listed) > 8:
        known += f", or one of {len(listed) - 8} more"
    problem = "fits several games" if found else "is no game of this journal"
    raise InputError(f"game {name!r}", problem, f"Give one of: {known}")
