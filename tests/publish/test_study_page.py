"""The page of a named corpus: what it lists, who may see it, and what it asks for.

Tables of a corpus, made by a process that stands in for the real one.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from html import unescape
from pathlib import Path

import httpx
import pytest

from live.config import ServerConfig
from live.publish import study_page as study_files
from live.publish.access import new_token
from live.publish.answers import ExportedFile, ExportFailed, HttpRequest, HttpResponse
from live.publish.server import Publisher
from live.publish.static_files import POLICY
from live.publish.study_page import (
    AskedTooMuch,
    StudyFiles,
    StudyQuestion,
    StudyRefused,
    listed,
    study_answer,
)
from live.publish.visibility import EVERYTHING, StreamFilter, Visibility
from live.studies.study_corpus import TABLES
from live.studies.study_figures import FIGURES
from tests.publish.world import World
from tests.studies.small_corpus import corpus_of


class Files(StudyFiles):
    """Remembers what it is asked for."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__(Path("/corpora/champions & co.db"), 2, ())
        self.asked: list[StudyQuestion] = []
        self.askers: list[str] = []
        self._error = error

    async def file(self, question: StudyQuestion, asker: str = "") -> ExportedFile:
        self.asked.append(question)
        self.askers.append(asker)
        if self._error is not None:
            raise self._error
        return ExportedFile("image/svg+xml", b"<svg/>")


async def get(
    files: StudyFiles | None,
    path: str,
    *query: tuple[str, str],
    sees: StreamFilter | None = EVERYTHING,
) -> HttpResponse:
    found = study_answer(files, HttpRequest("GET", path, query, {}), sees, POLICY)
    return found if found.later is None else await found.later()


def test_the_manual_lists_every_table_and_figure() -> None:
    assert {each.name for each in listed("Tables")} == set(TABLES)
    assert {each.name for each in listed("Figures")} == set(FIGURES)


async def test_the_page_leads_to_all_with_what_was_chosen() -> None:
    answer = await get(Files(), "/study", ("player", '"><b>'), ("event", "Zürich"))
    text = answer.body.decode()
    assert "champions &amp; co.db" in text and "<b>" not in text
    for name in FIGURES:
        assert f'href="study/{name}.svg?player=%22%3E%3Cb%3E&amp;event=Z%C3%BCrich"' in text
    for name in TABLES:
        assert f'href="study/{name}.csv?' in text
    assert "<img" not in text
    # Its form may be sent, but to us alone.
    assert "form-action 'self'" in dict(answer.headers)["Content-Security-Policy"]


async def test_one_figure_is_shown_at_a_time() -> None:
    text = (await get(Files(), "/study", ("figure", "career"), ("player", "A"))).body.decode()
    assert text.count("<img") == 1
    assert 'src="study/career.svg?player=A"' in text
    assert 'href="study?figure=alliot-4&amp;player=A"' in text
    assert "<img" not in (await get(Files(), "/study", ("figure", "x"))).body.decode()


async def test_a_page_opened_with_a_token_leads_on_with_it() -> None:
    query = (("token", "T&1"), ("figure", "career"))
    text = (await get(Files(), "/study", *query)).body.decode()
    assert 'src="study/career.svg?token=T%261"' in text
    assert '<input type="hidden" name="token" value="T&amp;1">' in text
    assert text.count("token=T%261") > len(TABLES)


@pytest.mark.parametrize(("form", "styled"), [("svg", True), ("csv", False)])
async def test_a_drawing_may_say_how_it_looks(form: str, styled: bool) -> None:
    answer = await get(Files(), f"/study/career.{form}")
    assert ("style-src" in dict(answer.headers)["Content-Security-Policy"]) == styled


async def test_two_players_stand_in_one_field() -> None:
    files = Files()
    await get(files, "/study/alliot-royale.csv", ("player", "Carlsen, M; Anand, V ;"))
    assert files.asked[0].players == ("Carlsen, M", "Anand, V")


async def test_what_is_asked_for_is_passed_on() -> None:
    files = Files()
    query = (("player", "A"), ("player", "B"), ("event", ""), ("from", "1972"), ("by", "tanh"))
    answer = await get(files, "/study/alliot-royale.csv", *query)
    assert (answer.status, answer.body) == (200, b"<svg/>")
    [asked] = files.asked
    assert (asked.name, asked.form, asked.setting, asked.by) == ("alliot-royale", "csv", 2, "tanh")
    assert (asked.players, asked.events, asked.first_year, asked.last_year) == (
        ("A", "B"),
        (),
        1972,
        None,
    )


@pytest.mark.parametrize(
    ("files", "path", "query", "sees", "status", "said"),
    [
        (None, "/study", (), EVERYTHING, 404, "set [study] corpus"),
        (Files(), "/study", (), None, 401, '<input name="token"'),
        (Files(), "/study/career.svg", (), None, 401, "a valid token is needed"),
        (Files(), "/study", (), StreamFilter(visibility=Visibility.VENUE), 404, "hidden"),
        (Files(), "/study/career.gif", (), EVERYTHING, 404, "ends in none of"),
        (Files(), "/study/career.svg", (("to", "now"),), EVERYTHING, 400, "are years"),
        (Files(), "/study/x.csv", (), EVERYTHING, 404, "x is none of: "),
        (Files(StudyRefused("nobody")), "/study/matches.csv", (), EVERYTHING, 400, "nobody"),
        (Files(ExportFailed("not now")), "/study/matches.csv", (), EVERYTHING, 503, ": not now"),
        (
            Files(AskedTooMuch("for you")),
            "/study/matches.csv",
            (),
            EVERYTHING,
            429,
            "matches: for you",
        ),
    ],
)
async def test_what_is_not_there_says_so(
    files: StudyFiles | None,
    path: str,
    query: tuple[tuple[str, str], ...],
    sees: StreamFilter | None,
    status: int,
    said: str,
) -> None:
    answer = await get(files, path, *query, sees=sees)
    assert answer.status == status
    assert said in answer.body.decode()


@pytest.mark.parametrize(
    ("address", "forwarded", "asker"),
    [
        ("192.0.2.7", None, "192.0.2.7"),
        # What a stranger says about itself counts for nothing.
        ("192.0.2.7", "10.0.0.1", "192.0.2.7"),
        ("127.0.0.1", None, ""),
        ("::1", "10.0.0.1, 192.0.2.7", "192.0.2.7"),
        # Whom it is for is not said: all that come this way are one.
        ("127.0.0.1", "", "a proxy"),
    ],
)
async def test_an_asker_is_known_behind_a_proxy_too(
    address: str, forwarded: str | None, asker: str
) -> None:
    files = Files()
    headers = {} if forwarded is None else {"x-forwarded-for": forwarded}
    headers["host"] = "127.0.0.1:8765"
    request = HttpRequest("GET", "/study/career.svg", (), headers, address)
    later = study_answer(files, request, EVERYTHING, POLICY).later
    assert later is not None
    await later()
    assert files.askers == [asker]


async def test_a_browser_with_a_token_reaches_all_of_the_page(tmp_path: Path) -> None:
    """No header can be sent by a link or a picture."""
    secret, entry = new_token("club", lambda size: b"x" * size)
    (tmp_path / "tokens.toml").write_text(entry)
    config = ServerConfig(port=0, tokens_file=str(tmp_path / "tokens.toml"))
    files = Files()
    async with (
        Publisher(config, World(), study=files) as publisher,
        httpx.AsyncClient(base_url=publisher.url, trust_env=False) as client,
    ):
        # Without one the page asks for it, and what its form sends opens the page.
        asking = await client.get("/study")
        assert asking.status_code == 401
        assert asking.headers["www-authenticate"].startswith("Bearer")
        [(action, field)] = re.findall(r'<form action="(\w+)".*?<input name="(\w+)"', asking.text)
        query = {"figure": "career", "player": "Ann & Bob"}
        page = await client.get(f"/{action}", params={field: secret, **query})
        assert page.status_code == 200
        links = {unescape(each) for each in re.findall(r'(?:href|src)="(study[^"]*)"', page.text)}
        assert len(links) == 3 * len(FIGURES) + 3 * len(TABLES)
        answers = await asyncio.gather(*(client.get(f"/{each}") for each in sorted(links)))
        assert {each.status_code for each in answers} == {200}
        assert {each.players for each in files.asked} == {("Ann & Bob",)}
        assert (await client.get("/study/career.svg")).status_code == 401


class CountingFiles(StudyFiles):
    """Real ones that count how often they were asked."""

    asked = 0

    async def file(self, question: StudyQuestion, asker: str = "") -> ExportedFile:
        self.asked += 1
        return await super().file(question, asker)


async def test_whoever_leaves_frees_the_place(tmp_path: Path) -> None:
    """Over sockets: one ends its side of the connection, as browsers do, one breaks it off."""
    corpus = tmp_path / "c.db"
    corpus.write_bytes(b"one")
    slow = "import sys, time; 'career' in sys.stdin.read() and time.sleep(600)"
    files = CountingFiles(corpus, None, ("-c", slow))
    config = ServerConfig(port=0)
    asker = {"x-forwarded-for": "192.0.2.7"}
    async with (
        asyncio.timeout(20),
        Publisher(config, World(), study=files) as publisher,
        httpx.AsyncClient(base_url=publisher.url, trust_env=False, headers=asker) as client,
    ):
        leaving = []
        for form in ("csv", "json"):
            reader, writer = await asyncio.open_connection(*publisher.address)
            request = f"GET /study/career.{form} HTTP/1.1\r\nHost: localhost\r\n"
            writer.write(f"{request}X-Forwarded-For: 192.0.2.7\r\n\r\n".encode())
            leaving.append((reader, writer))
        while files.asked < 2:  # noqa: ASYNC110 - the loop itself must turn
            await asyncio.sleep(0)
        assert (await client.get("/study/matches.csv")).status_code == 429
        (reader, ending), (_, breaking) = leaving
        ending.write_eof()
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        ending.close()
        at_once = struct.pack("ii", 1, 0)
        breaking.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        breaking.transport.abort()
        # The turn is free too, once the process that made the first of them is gone.
        for name in ("matches.csv", "alliot-1.csv"):
            while (await client.get(f"/study/{name}")).status_code == 429:
                continue
            assert (await client.get(f"/study/{name}")).status_code == 200


#: Writes its question, and counts how often it was asked.
ECHO = (
    "-c",
    "import pathlib, sys; asked = sys.stdin.buffer.read(); "
    "log = pathlib.Path({log!r}); log.write_text(log.read_text() + 'x' if log.exists() else 'x'); "
    "sys.stdout.buffer.write(asked)",
)


def question(corpus: Path, name: str = "matches", form: str = "csv") -> StudyQuestion:
    return StudyQuestion(str(corpus), None, name, form)


async def test_a_file_is_made_once_until_the_corpus_changes(tmp_path: Path) -> None:
    corpus, log = tmp_path / "c.db", tmp_path / "log"
    corpus.write_bytes(b"one")
    files = StudyFiles(corpus, None, (ECHO[0], ECHO[1].format(log=str(log))))
    both = await asyncio.gather(*(files.file(question(corpus)) for _ in range(2)))
    assert both[0] == both[1]
    assert both[0].media_type.startswith("text/csv") and b'"name":"matches"' in both[0].body
    assert log.read_text() == "x"
    corpus.write_bytes(b"two and more")
    await files.file(question(corpus))
    assert log.read_text() == "xx"
    await files.file(question(corpus, form="txt"))
    assert log.read_text() == "xxx"


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (
            "import sys; sys.stderr.write('x: is no table'); sys.exit(2)",
            StudyRefused,
            "is no table",
        ),
        (
            "raise SystemExit('polars is not installed')",
            ExportFailed,
            "could not be made; the log",
        ),
    ],
)
async def test_what_is_not_made_says_why(
    code: str,
    kind: type[Exception],
    said: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    corpus = tmp_path / "c.db"
    corpus.write_bytes(b"one")
    with pytest.raises(kind, match=said):
        await StudyFiles(corpus, None, ("-c", code)).file(question(corpus))
    # What a question did not cause is for the operator.
    assert ("matches was not made: polars is not installed" in caplog.text) == (
        kind is ExportFailed
    )


async def test_a_corpus_that_is_gone_and_a_process_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "c.db"
    files = StudyFiles(corpus, None, ("-c", "import time; time.sleep(600)"))
    with pytest.raises(ExportFailed, match=r"c\.db is not there any more"):
        await files.file(question(corpus))
    corpus.write_bytes(b"one")
    monkeypatch.setattr(study_files, "LIMIT_S", 0.01)
    with pytest.raises(StudyRefused, match=r"matches: takes longer than .* `live-rate study`"):
        await files.file(question(corpus))


async def test_more_than_can_wait_are_turned_away(tmp_path: Path) -> None:
    corpus = tmp_path / "c.db"
    corpus.write_bytes(b"one")
    files = StudyFiles(corpus, None, ("-c", "import sys; sys.stdin.read()"))
    # Of one table there may be any number.
    names = ["0", "0", "1", "2", "2", "3", "4", "5", "6", "7", "8"]
    asked = [asyncio.create_task(files.file(question(corpus, name=name))) for name in names]
    await asyncio.sleep(0)
    with pytest.raises(ExportFailed, match="too many"):
        await asked[-1]
    # Who goes away leaves it to the others.
    asked[0].cancel()
    assert [each.body for each in await asyncio.gather(*asked[1:-1])] == [b""] * 9


async def test_one_address_leaves_room_for_others(tmp_path: Path) -> None:
    corpus = tmp_path / "c.db"
    corpus.write_bytes(b"one")
    files = StudyFiles(corpus, None, ("-c", "import sys; sys.stdin.read()"))

    def ask(name: str, asker: str) -> asyncio.Task[ExportedFile]:
        return asyncio.create_task(files.file(question(corpus, name=name), asker))

    mine = [ask(name, "192.0.2.7") for name in ("0", "1", "2", "0")]
    others = [ask("2", "192.0.2.8"), ask("3", "192.0.2.8")]
    with pytest.raises(AskedTooMuch, match="made for you"):
        await mine[2]
    # What is being made anyway may be waited for, and afterwards there is room again.
    made = await asyncio.gather(mine[0], mine[1], mine[3], *others)
    assert [each.body for each in made] == [b""] * 5
    assert (await ask("4", "192.0.2.7")).body == b""


@pytest.mark.parametrize(("code", "times"), [(2, 1), (1, 2)])
async def test_a_refusal_is_kept_and_a_failure_tried_again(
    code: int, times: int, tmp_path: Path
) -> None:
    corpus, log = tmp_path / "c.db", tmp_path / "log"
    corpus.write_bytes(b"one")
    count = f"open({str(log)!r}, 'a').write('x'); raise SystemExit({code})"
    files = StudyFiles(corpus, None, ("-c", count))
    for _ in range(2):
        with pytest.raises((StudyRefused, ExportFailed)):
            await files.file(question(corpus))
    assert log.read_text() == "x" * times


@pytest.mark.slow
async def test_the_real_process_makes_tables_and_figures_and_refuses(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db")
    files = StudyFiles(corpus, None, ("-m", "live.studies.study_corpus"))
    table = await files.file(question(corpus, "alliot-1"))
    assert table.body.startswith(b"player,white,black,total")
    figure = await files.file(question(corpus, next(iter(FIGURES)), "svg"))
    assert figure.body.startswith(b"<?xml")
    with pytest.raises(StudyRefused, match="nonsense: is no table"):
        await files.file(question(corpus, "nonsense"))


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"no corpus, but SQLite looks into it" * 40, None])
async def test_what_is_the_operators_is_told_to_nobody_else(
    content: bytes | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    corpus = tmp_path / "c.db"
    if content is None:
        corpus_of(corpus)
    else:
        corpus.write_bytes(content)
    # A setting that there is not: the file of settings names it.
    files = StudyFiles(corpus, 9, ("-m", "live.studies.study_corpus"))
    asked = StudyQuestion(str(corpus), 9, "career", "csv", players=("nobody",))
    with pytest.raises(ExportFailed, match="the log of the service says why") as failed:
        await files.file(asked)
    assert str(tmp_path) not in str(failed.value)
    assert ("--setting" if content is None else str(corpus)) in caplog.text
