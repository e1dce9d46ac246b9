import httpx
import msgspec
import pytest

from live.feeds.game_timeline import timeline
from live.rehearse.web_servers import PATH, PgnUrlRehearsal
from tests.feeds.fakes import DATA, DrivenClock, decode, substance

GAMES = decode((DATA / "four-boards.pgn").read_bytes())


async def test_the_page_has_an_etag_and_is_not_sent_twice() -> None:
    site = PgnUrlRehearsal(GAMES)
    site.show(0, GAMES[0])
    async with site.serving() as url, httpx.AsyncClient() as client:
        assert url.endswith(PATH)
        first = await client.get(url)
        tag = first.headers["etag"]
        again = await client.get(url, headers={"If-None-Match": tag})
        weak = await client.get(url, headers={"If-None-Match": f"W/{tag}"})
        assert (first.status_code, again.status_code, weak.status_code) == (200, 304, 304)
        assert again.content == b""
        site.show(0, msgspec.structs.replace(GAMES[0], result="1/2-1/2"))
        changed = await client.get(url, headers={"If-None-Match": tag})
        assert changed.status_code == 200 and changed.headers["etag"] != tag
        assert (await client.get(url + "x")).status_code == 404


async def test_playing_takes_the_games_own_time_over_speed() -> None:
    clock = DrivenClock()
    site = PgnUrlRehearsal(GAMES, clock=clock)
    await site.play(speed=10)
    last_s = timeline(GAMES, speed=10)[-1].at_s
    assert clock.now() - 1000 == pytest.approx(last_s)
    assert [substance(g) for g in decode(site.final_pgn())] == [substance(g) for g in GAMES]
