"""Whatever the protocol, and whatever goes wrong: the games that arrive are those
played.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path

import chess
import msgspec
import pytest

from live.errors import InputError, PortInUse
from live.messages.from_sources import GameReport, Headers, Move, Player, Score
from live.rehearse.rehearsal import (
    LichessRehearsal,
    open_rehearsal,
    rehearse,
    write_pgn,
)
from live.sources.game_timeline import Mistake, add_mistake
from tests.rehearse.following import FOLLOWED, follow_rehearsal
from tests.server.mosquitto import free_port
from tests.sources.fakes import DATA, decode, substance, until

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
#: More of them where there is time.
SEEDS = int(os.environ.get("LIVE_RATE_SEEDS", "12"))


@pytest.mark.parametrize("protocol", FOLLOWED)
async def test_every_game_arrives_as_it_was_played(
    protocol: str, require_program: Callable[[str], str]
) -> None:
    if protocol == "mqtt":
        require_program("mosquitto")
    ledger = await follow_rehearsal(protocol, GAMES[:2])
    assert "retrying" not in ledger.states


@pytest.mark.parametrize("protocol", FOLLOWED)
@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, SEEDS), marks=pytest.mark.whole)]
)
async def test_whatever_goes_wrong_the_end_is_the_same(
    protocol: str, seeds: range, require_program: Callable[[str], str]
) -> None:
    """All at once: most of it is waiting for connections that stall."""
    if protocol == "mqtt":
        require_program("mosquitto")
    async with asyncio.TaskGroup() as group:
        for seed in seeds:
            following = follow_rehearsal(protocol, GAMES[:2], seed, within_s=80)
            group.create_task(following, name=f"seed {seed}")


def test_a_target_that_means_nothing() -> None:
    with pytest.raises(InputError, match="means nothing for lichess"):
        open_rehearsal("lichess", GAMES, to="mqtt://x/y")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("ply", [0, 1, 2, 31, 200])
def test_a_game_written_and_read_is_the_same(game: GameReport, ply: int) -> None:
    cut = msgspec.structs.replace(
        game, moves=game.moves[:ply], result="*" if ply < 200 else game.result
    )
    (read,) = decode(write_pgn(cut).encode())
    assert substance(read) == substance(cut)
    assert read.headers.time_control == cut.headers.time_control


def test_a_game_without_moves_is_a_blank_and_a_star() -> None:
    game = GameReport("", Headers(Player("A"), Player("B")), chess.STARTING_FEN)
    assert write_pgn(game).endswith("\n\n *\n")


def test_movetext_is_one_line_as_lichess_writes_it() -> None:
    moves = (
        Move("e2e4", "e4", 5397.0, eval=Score(17)),
        Move("e7e5", "e5", 30.9),
        Move("g1f3", "Nf3"),
        Move("b8c6", "Nc6", eval=Score(3900, 3)),
        Move("f1b5", "Bb5"),
    )
    game = GameReport(
        "", Headers(Player("A"), Player("B")), chess.STARTING_FEN, moves, "1-0"
    )
    assert write_pgn(game).splitlines()[-1] == (
        "1. e4 { [%eval 0.17] [%clk 1:29:57] } 1... e5 { [%clk 0:00:30] } 2. Nf3 Nc6"
        " { [%eval #3] } 3. Bb5 1-0"
    )


@pytest.mark.parametrize("mistake", ["illegal-move", "unreadable"])
def test_what_cannot_be_read_is_written_so_and_costs_no_other_game(
    mistake: Mistake,
) -> None:
    (_, told) = add_mistake([(0.0, GAMES[0]), (1.0, GAMES[0])], mistake, 12)[-1]
    broken, whole = decode(f"{write_pgn(told)}\n{write_pgn(GAMES[1])}".encode())
    assert len(broken.moves) == 11 and whole.problem is None
    assert whole.moves == GAMES[1].moves
    said = (
        "illegal move 6...Qh9"
        if mistake == "illegal-move"
        else "a comment is never closed"
    )
    assert broken.problem is not None and broken.problem.startswith(said)


async def test_the_line_to_follow_it_with_and_the_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await rehearse(GAMES[:1], "folder", speed=1e6, to=str(tmp_path), linger_s=0)
    assert capsys.readouterr().out == f"live-rate --feed folder+{tmp_path}\n"
    # What a shell would misread is quoted.
    folder = tmp_path / "round 1"
    await rehearse(GAMES[:2], "folder", speed=1e6, to=str(folder), linger_s=0)
    assert capsys.readouterr().out == f"live-rate --feed 'folder+{folder}'\n"
    written = [
        decode((folder / "round-1" / f"game-{number}.pgn").read_bytes())
        for number in (1, 2)
    ]
    assert [substance(game) for (game,) in written] == [
        substance(game) for game in GAMES[:2]
    ]
    assert write_pgn(written[0][0]) == write_pgn(GAMES[0])


async def test_a_port_that_is_taken() -> None:
    port = free_port()
    first = asyncio.create_task(rehearse(GAMES[:1], "lichess", port=port))
    with socket.socket() as probe:
        await until(lambda: probe.connect_ex(("127.0.0.1", port)) == 0, 20)
    with pytest.raises(PortInUse, match="is taken"):
        await rehearse(GAMES[:1], "lichess", port=port)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


# What lichess documents of its own bytes.


def test_a_round_is_written_as_lichess_writes_it() -> None:
    """The rehearsal had no broadcast tags, and evaluations during play (audit,
    row 14).
    """
    rehearsal = LichessRehearsal(GAMES)
    scored = tuple(
        msgspec.structs.replace(move, eval=Score(20)) for move in GAMES[0].moves
    )
    rehearsal.show_report(
        0, msgspec.structs.replace(GAMES[0], moves=scored, result="*")
    )
    running = rehearsal.join_games()
    for tag in ("BroadcastName", "BroadcastURL", "UTCDate", "GameURL"):
        assert f'[{tag} "'.encode() in running
    assert b"%clk" in running and b"%eval" not in running
    rehearsal.show_report(
        0, msgspec.structs.replace(GAMES[0], moves=scored, result="1-0")
    )
    assert b"%eval" in rehearsal.join_games()
