"""Tables of a corpus, made by a process that stands in for the real one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from live.publish import study_page as study_files
from live.publish.event_exports import ExportedFile, ExportFailed
from live.publish.study_page import (
    AskedTooMuch,
    StudyFiles,
    StudyQuestion,
    StudyRefused,
)
from live.studies.study_figures import FIGURES
from tests.studies.small_corpus import corpus_of

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


async def test_who_goes_away_frees_the_place(tmp_path: Path) -> None:
    corpus = tmp_path / "c.db"
    corpus.write_bytes(b"one")
    code = "import sys, time; 'slow' in sys.stdin.read() and time.sleep(600)"
    files = StudyFiles(corpus, None, ("-c", code))
    for _ in range(3):
        asked = [
            asyncio.create_task(files.file(question(corpus, name=f"slow{n}"), "192.0.2.7"))
            for n in range(2)
        ]
        await asyncio.sleep(0)
        for each in asked:
            each.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        # Its process has to end before the next one's turn.
        assert (await files.file(question(corpus, name="quick"))).body == b""
    assert (await files.file(question(corpus, name="new"), "192.0.2.7")).body == b""


async def test_one_address_leaves_room_for_others(tmp_path: Path) -> None:
    corpus = tmp_path / "c.db"
    corpus.write_bytes(b"one")
    files = StudyFiles(corpus, None, ("-c", "import sys; sys.stdin.read()"))

    def ask(name: str, asker: str) -> asyncio.Task[ExportedFile]:
        return asyncio.create_task(files.file(question(corpus, name=name), asker))

    mine = [ask(name, "192.0.2.7") for name in ("0", "1", "2", "0")]
    others = [ask("2", "192.0.2.8"), ask("3", "192.0.2.8")]
    with pytest.raises(AskedTooMuch):
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
    files = StudyFiles(corpus, None, ("-m", "live.studies.tabulate_corpus"))
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
    files = StudyFiles(corpus, 9, ("-m", "live.studies.tabulate_corpus"))
    asked = StudyQuestion(str(corpus), 9, "career", "csv", players=("nobody",))
    with pytest.raises(ExportFailed, match="the log of the service says why") as failed:
        await files.file(asked)
    assert str(tmp_path) not in str(failed.value)
    assert ("--setting" if content is None else str(corpus)) in caplog.text
