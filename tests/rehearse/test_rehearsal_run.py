import asyncio
from pathlib import Path

import pytest

from live.errors import PortInUse
from live.rehearse.open_rehearsal import rehearse
from live.rehearse.rehearsal import pgn_text
from tests.feeds.fakes import DATA, decode, free_port, substance

GAMES = decode((DATA / "four-boards.pgn").read_bytes())


@pytest.mark.slow
async def test_the_line_to_follow_it_with_and_the_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await rehearse(GAMES[:2], "folder", speed=1e6, to=str(tmp_path), linger_s=0)
    assert capsys.readouterr().out == f"live-rate --feed folder+{tmp_path}\n"
    written = [
        decode((tmp_path / "round-1" / f"game-{number}.pgn").read_bytes()) for number in (1, 2)
    ]
    assert [substance(game) for (game,) in written] == [substance(game) for game in GAMES[:2]]
    assert pgn_text(written[0][0]) == pgn_text(GAMES[0])


async def test_what_a_shell_would_misread_is_quoted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "round 1"
    await rehearse(GAMES[:1], "folder", speed=1e6, to=str(folder), linger_s=0)
    assert capsys.readouterr().out == f"live-rate --feed 'folder+{folder}'\n"


async def test_a_port_that_is_taken() -> None:
    port = free_port()
    first = asyncio.create_task(rehearse(GAMES[:1], "lichess", port=port))
    async with asyncio.timeout(20):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.01)
            else:
                writer.close()
                await writer.wait_closed()
                break
    with pytest.raises(PortInUse, match="is taken"):
        await rehearse(GAMES[:1], "lichess", port=port)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
