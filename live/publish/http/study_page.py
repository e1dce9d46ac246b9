"""``/study``: tables and figures of a named corpus, as the manual lists them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

from live.manual.html import frame
from live.manual.pages import manual_page
from live.publish.access.origin_policy import is_loopback, is_this_machine
from live.publish.export.event_exports import ExportFailed
from live.publish.export.study_files import (
    FIGURE_FORMS,
    TABLE_FORMS,
    AskedTooMuch,
    StudyFiles,
    StudyQuestion,
    StudyRefused,
)
from live.publish.http.http_messages import (
    NO_CONTENT_POLICY,
    UNKNOWN,
    HttpRequest,
    HttpResponse,
    problem,
    respond,
)
from live.publish.stream.stream_filter import StreamFilter
from live.publish.visibility import Visibility

PATH = "/study"

_NO_CACHE = (("Cache-Control", "no-cache"),)
_LATER = (("Retry-After", "30"),)
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
_WIDTH = {"from": 5, "to": 5}
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

    async def file() -> HttpResponse:
        try:
            made = await files.file(question, _asker(request))
        except StudyRefused as error:
            return problem(400, str(error))
        except AskedTooMuch:
            said = f"{name}: others are being made for you; come back when they are there"
            return problem(429, said, _LATER)
        except ExportFailed as error:
            return problem(503, f"{name}: {error}", _LATER)
        policy = _SVG_POLICY if form == "svg" else NO_CONTENT_POLICY
        return respond(200, made.media_type, made.body, _NO_CACHE, policy=policy)

    return HttpResponse(200, (), later=file)


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
    return respond(status, "text/html; charset=utf-8", body, (*_NO_CACHE, *headers), policy=policy)


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
            _table("figure", (_figure_row(each, chosen) for each in listed("Figures"))),
            '<h2 id="tables">Tables</h2>',
            _table("table", (_row(each, chosen, TABLE_FORMS) for each in listed("Tables"))),
        ]
    )
    return frame(f"Study of {corpus}", "study", side, body)


def _form(chosen: Mapping[str, str], shown: Listed | None) -> str:
    fields = " ".join(
        f'<label>{label} <input name="{name}" size="{_WIDTH.get(name, 20)}"'
        f' value="{escape(chosen.get(name, ""))}"></label>'
        for name, label in _FIELDS
    )
    hidden = {"token": chosen.get("token"), "figure": shown.name if shown else None}
    kept = "".join(
        f'<input type="hidden" name="{name}" value="{escape(value)}">'
        for name, value in hidden.items()
        if value
    )
    return f'<form action="study" method="get"><p>{fields} {kept}<button>Show</button></p></form>'


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


def _figure_row(each: Listed, chosen: Mapping[str, str]) -> str:
    address = escape(f"study?{urlencode({'figure': each.name, **chosen})}")
    return _row(each, chosen, FIGURE_FORMS, f'<a href="{address}">look</a> ')


def _row(each: Listed, chosen: Mapping[str, str], forms: Iterable[str], look: str = "") -> str:
    links = " ".join(f'<a href="{_address(each, form, chosen)}">{form}</a>' for form in forms)
    return (
        f"<tr><td><code>{escape(each.name)}</code></td><td>{escape(each.shows)}</td>"
        f"<td>{escape(each.source)}</td><td>{look}{links}</td></tr>"
    )


def _table(what: str, rows: Iterable[str]) -> str:
    heads = "".join(f'<th scope="col">{each}</th>' for each in (what, "shows", "paper", "open"))
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
