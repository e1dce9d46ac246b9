from pathlib import Path

import pytest

from live.config import FeedsConfig, MqttFeedConfig
from live.feeds.source_probe import probe
from live.rehearse.web_servers import PgnUrlRehearsal, ServedReply, ServedRequest, serving
from tests.feeds.fakes import DATA, decode

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
CONFIG = FeedsConfig()


@pytest.mark.slow
async def test_a_source_that_answers_and_its_games(tmp_path: Path) -> None:
    site = PgnUrlRehearsal(GAMES)
    for index, game in enumerate(GAMES):
        site.show(index, game)
    async with site.serving() as url:
        page, file = await probe([url, str(DATA / "four-boards.pgn")], CONFIG, within_s=20)
    assert (page.kind, page.answers, page.detail) == ("pgn-url", True, "4 games")
    assert [(game.white, game.plies, game.result) for game in page.games] == [
        (game.headers.white.name, len(game.moves), game.result) for game in GAMES
    ]
    assert (file.kind, file.games) == ("file", page.games)


@pytest.mark.slow
async def test_what_cannot_be_followed_or_does_not_answer(tmp_path: Path) -> None:
    async def login(request: ServedRequest, reply: ServedReply) -> None:
        await reply.whole(200, b"<html>")

    async def silent(request: ServedRequest, reply: ServedReply) -> None:
        await reply.gone()

    async with serving(login) as page, serving(silent) as hole:
        found = await probe(
            ["nonsense", str(tmp_path / "none.pgn"), f"{page}/games.pgn", f"{hole}/games.pgn"],
            CONFIG,
            within_s=0.5,
        )
    assert [finding.answers for finding in found] == [False] * 4
    assert [finding.kind for finding in found] == ["", "file", "pgn-url", "pgn-url"]
    assert found[0].detail.startswith("names no kind of source")
    assert found[1].detail.startswith("there is no such file")
    assert "HTML page" in found[2].detail
    assert found[3].detail == "no answer within 0.5 s"


async def test_a_setting_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "password")
    config = FeedsConfig(mqtt=MqttFeedConfig(password_file=missing))
    (found,) = await probe(["mqtt://127.0.0.1:1/a/#"], config, within_s=0.5)
    assert found.detail.startswith(f"feeds.mqtt.password_file {missing}: cannot be read")


@pytest.mark.slow
async def test_what_is_asked_once_promises_no_second_time() -> None:
    specs = ["http://127.0.0.1:1/x.pgn", "ws://127.0.0.1:1/api/v1.0"]
    found = await probe(specs, CONFIG, within_s=2)
    assert [finding.detail for finding in found] == [
        "cannot reach 127.0.0.1 (Connection refused)",
        "cannot reach LiveChess (Connection refused)",
    ]


@pytest.mark.slow
async def test_no_secret_is_shown() -> None:
    (found,) = await probe(["http://me:secret@127.0.0.1:1/x.pgn?token=abc"], CONFIG, within_s=0.5)
    assert "secret" not in str(found) and "abc" not in str(found)
