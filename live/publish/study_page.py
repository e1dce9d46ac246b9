"""Tables and figures of a named corpus, made by a process beside ours. Shell.

They take seconds to minutes and a whole processor: so they are made one after the other, with low
priority, and kept until the corpus changes.

``/study``: tables and figures of a named corpus, as the manual lists them. Pure.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from live.manual.html import frame
from live.manual.pages import manual_page
from live.publish.access import is_loopback, is_this_machine
from live.publish.answers import (
    NO_CONTENT_POLICY,
    REVALIDATE,
    UNKNOWN,
    ExportedFile,
    ExportFailed,
    HttpRequest,
    HttpResponse,
    begun,
    child_answer,
    file_made,
    problem,
    respond,
)
from live.publish.docs import table
from live.publish.visibility import StreamFilter, Visibility

_log = logging.getLogger(__name__)

#: What takes longer is for the command; nobody else's table is made meanwhile.
LIMIT_S: Final = 300.0
#: So many are being made or wait for their turn.
_MOST_WAITING: Final = 8
#: And so many for one address.
_MOST_FOR_ONE: Final = 2
#: What the process ends with where the question is at fault, not the corpus or what is installed.
REFUSED: Final = 2
_KEPT_FILES: Final = 128

#: Forms of tables and of figures, by the ending of the address.
TABLE_FORMS: Final = {
    "txt": "text/plain; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}
FIGURE_FORMS: Final = {"svg": "image/svg+xml", "png": "image/png"}


class StudyQuestion(msgspec.Struct, frozen=True):
    """What is to be made: all that a table depends on but for the corpus's content."""

    corpus: str
    setting: int | None
    name: str
    form: str
    """One of ``TABLE_FORMS`` or ``FIGURE_FORMS``."""
    players: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    first_year: int | None = None
    last_year: int | None = None
    by: str | None = None


class StudyRefused(ExportFailed):
    """There is no such table, player or event, or it takes too long: one line that says so."""

    status = 400


class AskedTooMuch(ExportFailed):
    """Others are being made already for whoever asks."""

    status = 429


class StudyFiles:
    """Makes what is asked for of one corpus."""

    def __init__(self, corpus: Path, setting: int | None, maker: Sequence[str]) -> None:
        """``maker``: arguments of Python for a process that reads a question as JSON from standard
        input and writes the file; it ends with ``REFUSED``, and a line on standard error, where
        the question is at fault.
        """
        self.corpus = corpus
        self.setting = setting
        self._maker = tuple(maker)
        # Refusals too: the same question has the same answer until the corpus changes.
        self._made: dict[tuple[StudyQuestion, object], asyncio.Task[ExportedFile]] = {}
        self._turn = asyncio.Lock()
        self._making_for = Counter[str]()
        self._waiting = Counter[asyncio.Task[ExportedFile]]()

    async def file(self, question: StudyQuestion, asker: str = "") -> ExportedFile:
        """The file. ``asker``: the address of who wants it, empty for who is not counted.

        Raises:
            StudyRefused: there is no such thing.
            AskedTooMuch: two others are being made for this address.
            ExportFailed: not now.
        """
        key = question, self._state()
        self._forget(key[1])
        if key not in self._made:
            if sum(not each.done() for each in self._made.values()) >= _MOST_WAITING:
                raise ExportFailed("too many tables are being made")
            if asker and self._making_for[asker] >= _MOST_FOR_ONE:
                raise AskedTooMuch("others are being made for you; come back when they are there")
            self._making_for[asker] += 1
            self._made[key] = begun(self._in_turn(question, asker))
        task = self._made[key]
        self._waiting[task] += 1
        try:
            # Who goes away leaves the others waiting for it.
            return await asyncio.shield(task)
        finally:
            self._waiting -= Counter([task])
            if task not in self._waiting and not task.done():
                # Nobody waits for it any more: others have its place.
                task.cancel()
                self._made.pop(key, None)

    def _forget(self, state: object) -> None:
        """What was made of an older corpus, what failed, and what is too much."""
        for key, task in list(self._made.items()):
            fault = None if not task.done() or task.cancelled() else task.exception()
            failed = task.done() and (
                task.cancelled() or (fault and not isinstance(fault, StudyRefused))
            )
            if task.done() and (failed or key[1] != state):
                del self._made[key]
        for key in [each for each, task in self._made.items() if task.done()][:-_KEPT_FILES]:
            del self._made[key]

    async def _in_turn(self, question: StudyQuestion, asker: str) -> ExportedFile:
        try:
            async with self._turn:
                return await self._make(question)
        finally:
            self._making_for -= Counter([asker])

    def _state(self) -> object:
        """Changes with the corpus: SQLite writes to the log beside it first."""
        found = []
        for path in (self.corpus, self.corpus.with_name(f"{self.corpus.name}-wal")):
            with contextlib.suppress(OSError):
                at = path.stat()
                found.append((path.name, at.st_mtime_ns, at.st_size))
        if not found or found[0][0] != self.corpus.name:
            raise ExportFailed(f"the corpus {self.corpus.name} is not there any more")
        # An empty log is no change: every reader makes one, and the last takes it away.
        return tuple(each for each in found if each[2])

    async def _make(self, question: StudyQuestion) -> ExportedFile:
        try:
            made = await child_answer(self._maker, msgspec.json.encode(question), LIMIT_S)
        except TimeoutError:
            why = f"takes longer than {LIMIT_S:.0f} s here; `live-rate study` makes it"
            raise StudyRefused(f"{question.name}: {why}") from None
        if made.code == REFUSED:
            raise StudyRefused(made.said)
        if made.code != 0:
            _log.warning("/study: %s was not made: %s", question.name, made.said)
            raise ExportFailed("it could not be made; the log of the service says why")
        return ExportedFile((TABLE_FORMS | FIGURE_FORMS)[question.form], made.body)


PATH = "/study"

#: A row of the manual's lists: names, what they show, where it is from.
_ROW = re.compile(r"^\| ((?:`[^`|]+`(?:, )?)+) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
_YEAR = re.compile(r"\d{1,4}")
#: What may be asked for, in the order of the form.
_FIELDS = (
    ("player", "Player (two: A; B)"),
    ("event", "Event"),
    ("from", "From year"),
    ("to", "To year"),
)
#: matplotlib's drawings say how they look in themselves.
_SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
#: Between two players of one field: names may hold commas.
_NEXT = ";"


class Listed(NamedTuple):
    """A table or figure of the manual."""

    name: str
    shows: str
    source: str


@cache
def listed(heading: str) -> tuple[Listed, ...]:
    """All that stand under ``Tables`` or ``Figures`` of the manual's page on studies."""
    for part in manual_page("studies").section("study").split("\n### "):
        if part.partition("\n")[0] == heading:
            return tuple(
                Listed(name, _plain(shows), _plain(source))
                for names, shows, source in _ROW.findall(part)
                for name in re.findall("`([^`]+)`", names)
            )
    return ()


def _plain(cell: str) -> str:
    return cell.replace("`", "").strip()


def study_answer(
    files: StudyFiles | None, request: HttpRequest, sees: StreamFilter | None, policy: str
) -> HttpResponse:
    """The page, a table or a figure, for those who may see what engines said.

    ``policy`` is that of pages which load pictures of ours and send no form; this one has a form.
    """
    if files is None:
        return problem(404, "no corpus is named: set [study] corpus")
    if sees is None:
        return _entry(policy) if request.path == PATH else UNKNOWN
    if sees.visibility is Visibility.VENUE:
        return problem(404, "scores are hidden here, so studies are not shown")
    query = {name: value for name, value in request.query if value}
    if request.path == PATH:
        return _html(200, _page(files.corpus.name, query), policy)
    name, _, form = request.path.removeprefix(f"{PATH}/").rpartition(".")
    if form not in TABLE_FORMS and form not in FIGURE_FORMS:
        known = ", ".join([*TABLE_FORMS, *FIGURE_FORMS])
        return problem(404, f"{request.path} ends in none of {known}")
    kind = "Figures" if form in FIGURE_FORMS else "Tables"
    if name not in {each.name for each in listed(kind)}:
        # Before a process is started for it, and something worth keeping forgotten.
        return problem(404, f"{name} is none of: {', '.join(each.name for each in listed(kind))}")
    first, last = query.get("from"), query.get("to")
    if not all(year is None or _YEAR.fullmatch(year) for year in (first, last)):
        return problem(400, "from and to are years")
    question = StudyQuestion(
        str(files.corpus),
        files.setting,
        name,
        form,
        players=tuple(
            each.strip()
            for key, value in request.query
            if key == "player"
            for each in value.split(_NEXT)
            if each.strip()
        ),
        events=tuple(value for key, value in request.query if key == "event" and value),
        first_year=None if first is None else int(first),
        last_year=None if last is None else int(last),
        by=query.get("by"),
    )

    asker = _asker(request)
    policy = _SVG_POLICY if form == "svg" else NO_CONTENT_POLICY
    return file_made(lambda: files.file(question, asker), name, 30, policy)


def _asker(request: HttpRequest) -> str:
    """Whom a table is made for: an address, as a proxy on this machine names it too, else all
    that come through it; empty for who sits here.
    """
    if is_this_machine(request.headers, request.address):
        return ""
    if not is_loopback(request.address):
        return request.address
    return request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip() or "a proxy"


def _html(
    status: int, body: bytes, policy: str, headers: tuple[tuple[str, str], ...] = ()
) -> HttpResponse:
    policy = policy.replace("form-action 'none'", "form-action 'self'")
    return respond(status, "text/html; charset=utf-8", body, (*REVALIDATE, *headers), policy=policy)


def _entry(policy: str) -> HttpResponse:
    """Asks for a token, as the other pages do: a browser sends no header."""
    body = (
        "<h1>Study</h1><p>This service shows its games to those who have a token.</p>"
        '<form action="study" method="get"><p><label>Token <input name="token" type="password"'
        ' autocomplete="off" required></label> <button>Show</button></p></form>'
    )
    challenge = tuple(each for each in UNKNOWN.headers if each[0] == "WWW-Authenticate")
    return _html(401, frame("Study", "study", "", body), policy, challenge)


def _page(corpus: str, query: Mapping[str, str]) -> bytes:
    side = (
        '<ul><li><a href="#figures">Figures</a></li><li><a href="#tables">Tables</a></li>'
        '<li><a href="manual/studies#study">What they mean</a></li></ul>'
    )
    # A page that was opened with a token leads on with it.
    chosen = {name: query[name] for name in ("token", *dict(_FIELDS)) if name in query}
    shown = next((each for each in listed("Figures") if each.name == query.get("figure")), None)
    body = "\n".join(
        [
            f"<h1>{escape(corpus)}</h1>",
            "<p>Each is made when it is opened, which takes some seconds, with many games minutes,"
            " and kept until the corpus changes.</p>",
            _form(chosen, shown),
            "" if shown is None else _figure(shown, chosen),
            '<h2 id="figures">Figures</h2>',
            _listed("figure", "Figures", chosen, FIGURE_FORMS),
            '<h2 id="tables">Tables</h2>',
            _listed("table", "Tables", chosen, TABLE_FORMS),
        ]
    )
    return frame(f"Study of {corpus}", "study", side, body)


def _form(chosen: Mapping[str, str], shown: Listed | None) -> str:
    fields = " ".join(
        f'<label>{label} <input name="{name}" size="{5 if name in ("from", "to") else 20}"'
        f' value="{escape(chosen.get(name, ""))}"></label>'
        for name, label in _FIELDS
    )
    kept = {"token": chosen.get("token"), "figure": shown.name if shown else None}
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{escape(value)}">'
        for name, value in kept.items()
        if value
    )
    button = f"{hidden}<button>Show</button>"
    return f'<form action="study" method="get"><p>{fields} {button}</p></form>'


def _figure(each: Listed, chosen: Mapping[str, str]) -> str:
    """The one that is looked at: a page that loaded all would have all of them made."""
    words = f"{escape(each.shows)} ({escape(each.source)})"
    return (
        f'<figure><img src="{_address(each, "svg", chosen)}" alt="{words}" width="100%">'
        f"<figcaption>{words}</figcaption></figure>"
    )


def _address(each: Listed, form: str, chosen: Mapping[str, str]) -> str:
    ending = f"?{urlencode(chosen)}" if chosen else ""
    return escape(f"study/{each.name}.{form}{ending}")


def _listed(what: str, heading: str, chosen: Mapping[str, str], forms: Iterable[str]) -> str:
    rows = [_row(each, chosen, forms) for each in listed(heading)]
    return table((what, "shows", "paper", "open"), rows)


def _row(each: Listed, chosen: Mapping[str, str], forms: Iterable[str]) -> Sequence[str]:
    links = [f'<a href="{_address(each, form, chosen)}">{form}</a>' for form in forms]
    if forms is FIGURE_FORMS:
        address = escape(f"study?{urlencode({'figure': each.name, **chosen})}")
        links.insert(0, f'<a href="{address}">look</a>')
    words = escape(each.shows), escape(each.source)
    return f"<code>{escape(each.name)}</code>", *words, " ".join(links)
