"""Sources from their beginning to their end, failures included, and restarts after
changed settings.
"""

import asyncio
import contextlib
import http
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import pytest

from live.errors import FeedNotFound
from live.messages.health import FeedHealth
from live.messages.to_clients import Change, HealthMessage
from live.process.supervision import Supervisor
from live.rehearse.web_server import ServedReply, ServedRequest, serve_http
from live.settings import FeedsConfig
from live.sources.source_runner import SourceRunner, select_settings
from tests.event.answered_event import FollowedEvent, open_unscored
from tests.sources.fakes import until

QUICK = FeedsConfig(poll_s=0.002)


def pgn(*whites: str) -> str:
    return "\n".join(
        f'[White "{white}"]\n[Black "B {white}"]\n[Result "1-0"]\n\n1. e4 1-0\n'
        for white in whites
    )


class Page:
    """A web page of games whose status and text the test chooses."""

    def __init__(self) -> None:
        self.status = http.HTTPStatus.OK
        self.text = pgn("A")
        self.asked = 0

    @contextlib.asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        async with serve_http(self._answer) as origin:
            yield f"{origin}/games.pgn"

    async def _answer(self, request: ServedRequest, reply: ServedReply) -> None:
        self.asked += 1
        await reply.send_whole(self.status, self.text.encode())


class Followed:
    """Running sources, with the games and the health that they report."""

    def __init__(self, following: SourceRunner, service: FollowedEvent) -> None:
        self.following = following
        self.service = service
        self.healths: list[FeedHealth] = []
        service.bus.subscribe(self._hear)

    def _hear(self, changes: object) -> None:
        told: Sequence[Change] = list(changes)  # type: ignore[call-overload]
        for change in told:
            if isinstance(change, HealthMessage):
                self.healths += change.feeds

    @property
    def whites(self) -> set[str]:
        return {game.white.name for game in self.service.state.games()}

    def states(self) -> dict[str, str]:
        return {health.feed: health.state for health in self.service.state.feeds()}


@contextlib.asynccontextmanager
async def follow_specs(
    *specs: str, config: FeedsConfig = QUICK, lasting: bool = False
) -> AsyncIterator[Followed]:
    service = open_unscored()
    following = SourceRunner(specs, config, lasting=lasting)
    keep = asyncio.create_task(service.inbox.run())
    try:
        async with (
            following.running(
                service.inbox.follow,
                service.inbox.health,
                Supervisor(service.inbox.health),
            ),
            asyncio.timeout(60),
        ):
            yield Followed(following, service)
    finally:
        keep.cancel()


async def test_a_source_that_is_over_is_begun_anew_by_new_settings(
    tmp_path: Path,
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(pgn("A"))
    async with follow_specs(str(path)) as run:
        await run.following.wait_until_over()
        path.write_text(pgn("A", "C"))
        run.following.restart()
        others = msgspec.structs.replace(QUICK.lichess, token_file="x")
        run.following.reconfigure(msgspec.structs.replace(QUICK, lichess=others))
        await asyncio.wait_for(run.following.wait_until_over(), 1)
        assert run.whites == {"A"}, "a sleep, or what concerns others, is no reason"
        run.following.reconfigure(msgspec.structs.replace(QUICK, poll_s=0.02))
        await until(lambda: run.whites == {"A", "C"})
        await run.following.wait_until_over()
        assert run.states() == {str(path): "finished"}
    assert [health.state for health in run.healths].count("connecting") == 2


def test_new_settings_can_be_used_while_a_source_that_lasts_is_not_there(
    tmp_path: Path,
) -> None:
    following = SourceRunner([str(tmp_path / "games.pgn")], QUICK, lasting=True)
    following.check(msgspec.structs.replace(QUICK, poll_s=0.02))


async def test_the_next_round_is_followed_where_the_last_one_was(
    tmp_path: Path,
) -> None:
    path, folder = tmp_path / "games.pgn", tmp_path / "folder"
    (folder / "round-1").mkdir(parents=True)
    path.write_text(pgn("A"))
    (folder / "round-1" / "games.pgn").write_text(pgn("B"))
    async with follow_specs(str(path), str(folder), lasting=True) as run:
        await until(lambda: set(run.states().values()) == {"finished"})
        await until(lambda: run.whites == {"A", "B"})
        path.write_text(pgn("C"))
        (folder / "round-2").mkdir()
        (folder / "round-2" / "games.pgn").write_text(pgn("D"))
        await until(lambda: {"C", "D"} <= run.whites)
        await until(lambda: set(run.states().values()) == {"finished"})
        run.following.reconfigure(msgspec.structs.replace(QUICK, poll_s=0.02))
        await until(lambda: set(run.states().values()) == {"finished"})
        path.write_text(pgn("E"))
        await until(lambda: "E" in run.whites)


async def test_a_source_that_was_not_there_is_begun_anew_by_new_settings(
    tmp_path: Path,
) -> None:
    path, page = tmp_path / "games.pgn", Page()
    path.write_text(pgn("C"))
    page.status = http.HTTPStatus.NOT_FOUND
    async with page.served() as url, follow_specs(str(path), url) as run:
        await run.following.wait_until_over()
        assert run.states()[url] == "failed"
        assert [type(error) for error in run.following.lost] == [FeedNotFound]
        page.status = http.HTTPStatus.OK
        run.following.reconfigure(msgspec.structs.replace(QUICK, poll_s=0.02))
        await until(lambda: run.whites == {"A", "C"})
        await run.following.wait_until_over()
        assert not run.following.lost, "nothing is missing any more"


async def test_what_fails_after_new_settings_is_shown_and_ends_nothing() -> None:
    page = Page()
    page.status = http.HTTPStatus.BAD_GATEWAY
    async with page.served() as url, follow_specs(url) as run:
        await until(lambda: run.states().get(url) == "retrying")
        page.status = http.HTTPStatus.NOT_FOUND
        run.following.reconfigure(msgspec.structs.replace(QUICK, poll_s=0.02))
        await until(lambda: run.states()[url] == "failed")
        await run.following.wait_until_over()
        (failed,) = run.service.state.feeds()
        assert url not in failed.detail, "it stands beside its name"


async def test_where_nothing_can_be_followed_each_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    one, two = Page(), Page()
    one.status = two.status = http.HTTPStatus.NOT_FOUND
    async with (
        one.served() as first,
        two.served() as second,
        follow_specs(first, second) as run,
    ):
        with pytest.raises(FeedNotFound) as caught:
            await run.following.wait_until_over()
        errors = [
            record for record in caplog.records if record.levelno == logging.ERROR
        ]
        logged = [record.getMessage() for record in errors]
        told = sorted(line.split(": ")[0] for line in [*logged, str(caught.value)])
        assert told == sorted([first, second])


async def test_a_file_that_is_away_keeps_no_other_source_from_being_asked(
    tmp_path: Path,
) -> None:
    path, page = tmp_path / "games.pgn", Page()
    path.write_text('[White "C"]\n[Black "D"]\n[Result "*"]\n\n1. e4 *\n')
    page.text = page.text.replace("1-0", "*")
    # Without a restart, the page would be requested again only after an hour.
    slow = msgspec.structs.replace(QUICK, poll_s=3600.0)
    async with page.served() as url, follow_specs(str(path), url, config=slow) as run:
        await until(lambda: run.whites == {"A", "C"})
        path.unlink()
        asked = page.asked
        run.following.restart()
        await until(lambda: page.asked > asked)


@pytest.mark.parametrize(
    ("spec", "own"),
    [
        ("https://example.org/games.pgn", None),
        ("https://lichess.org/abcd1234", "lichess"),
        (
            "livechess-cloud+http://x/#00000000-0000-0000-0000-000000000000",
            "livechess_cloud",
        ),
        ("mqtt://broker/x", "mqtt"),
    ],
)
def test_a_source_reads_its_own_table_alone(spec: str, own: str | None) -> None:
    """A new table in ``[feeds]`` must be assigned to a kind of source."""
    plain = FeedsConfig()
    other = {
        "lichess": msgspec.structs.replace(plain.lichess, token_file="x"),
        "livechess_cloud": msgspec.structs.replace(
            plain.livechess_cloud, base_url="http://x"
        ),
        "mqtt": msgspec.structs.replace(plain.mqtt, client_id="me"),
    }
    assert sorted(other) == sorted(
        name
        for name, value in msgspec.structs.asdict(plain).items()
        if isinstance(value, msgspec.Struct)
    )
    for table, value in other.items():
        changed = msgspec.structs.replace(plain, **{table: value})
        assert (select_settings(spec, plain) != select_settings(spec, changed)) == (
            table == own
        )
