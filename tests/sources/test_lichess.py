"""Broadcasts, games and channels of lichess."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import chess
import msgspec
import pytest

from live.errors import ConfigError, FeedNotFound, FeedUnreadable
from live.messages.from_sources import GameReport
from live.process.clock import LoopClock
from live.rehearse.rehearsal import ROUND_ID
from live.rehearse.web_server import serve_http
from live.settings import FeedsConfig, LichessConfig
from live.sources import feed, lichess
from live.sources.feed_session import FeedSession
from live.sources.game_timeline import choose_wrong_move
from live.sources.kept_moves import keep_unread
from live.sources.lichess import KEEP_ALIVE_S
from live.sources.lichess_game import (
    MAX_LINE_BYTES,
    LichessGameStream,
    LichessTvStream,
    NdjsonLines,
)
from live.sources.retry import FeedTrouble
from tests.rehearse.faults import GOOD, ConnectionFaults
from tests.sources.fakes import (
    CONFIG,
    GAMES,
    DrivenClock,
    Followed,
    answer_with,
    decode,
    follow_source,
    identify_game,
    substance,
    until,
    upto,
)
from tests.sources.lichess_server import GAME_ID, TOUR_ID, LichessRound, lichess_game


@pytest.fixture(autouse=True)
def compare_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make comparisons with the export rare, so that they do not affect other tests."""
    monkeypatch.setattr(lichess, "COMPARE_S", 300.0)


class Case:
    """A simulated round of lichess with the same clock as the source."""

    def __init__(
        self, *fates: ConnectionFaults, token: str = "", shown: int = 0
    ) -> None:
        """Create the round; ``shown`` is the number of games that are over from the
        start.
        """
        self.clock = DrivenClock()
        self.round = LichessRound(
            GAMES, clock=self.clock, fates=chain(fates, repeat(GOOD)), token=token
        )
        self.show_all(shown)

    def show_all(self, count: int = 4) -> None:
        for index, game in enumerate(GAMES[:count]):
            self.round.show_report(index, game)

    def show(self, index: int, plies: int) -> None:
        self.round.show_report(index, upto(GAMES[index], plies))

    @asynccontextmanager
    async def follow_source(
        self,
        config: FeedsConfig = CONFIG,
        *,
        tour: bool = False,
        begun: bool = False,
        **how: Any,
    ) -> AsyncIterator[Followed]:
        """Follow the round while the block is active. If ``begun`` is true, wait first
        until the stream is connected.
        """
        async with self.round.serve() as spec:
            if tour:
                spec = spec.replace(f"/round/{ROUND_ID}", f"/{TOUR_ID}")
            async with follow_source(spec, config, **how) as seen:
                if begun:
                    await self.round.connected.wait()
                yield seen

    @property
    def streams(self) -> int:
        """Number of requests for the stream."""
        return sum("/stream/" in request.path for request in self.round.requests)

    def heard(self, seen: Followed) -> bool:
        return seen.ledger.games == index_games(self.round.join_games())

    async def finish(self, seen: Followed) -> None:
        """Wait until all games have been received, then let the grace period pass."""
        await until(lambda: self.heard(seen) or seen.done)
        await seen.end()
        assert self.heard(seen)
        assert [substance(game) for game in seen.games] == [
            substance(game) for game in GAMES
        ]
        assert seen.states[-1] == "finished"


@cache
def index_games(text: bytes) -> dict[tuple[str, ...], GameReport]:
    return {identify_game(game): game for game in decode(text)}


def list_reports(seen: Followed, board: int) -> list[GameReport]:
    reported = chain.from_iterable(report.games for report in seen.ledger.reports)
    return [
        game for game in reported if game.headers.round == GAMES[board].headers.round
    ]


def lengths(seen: Followed, board: int) -> list[int]:
    return [len(game.moves) for game in list_reports(seen, board)]


async def measure_wait_s(seen: Followed, holds: Callable[[], bool]) -> float:
    """Let deadlines expire until the condition is true; return the seconds passed."""
    begun_s = seen.clock.now()
    while not holds():
        assert seen.clock.now() - begun_s < 86_400
        await until(lambda: holds() or seen.clock.next_deadline_s is not None)
        if not holds():
            await seen.clock.expire()
            await asyncio.sleep(0.01)  # gives the answer time to arrive
    return seen.clock.now() - begun_s


@pytest.mark.parametrize(
    ("fates", "slept"),
    [
        ([], []),  # a late connection receives the whole round at once
        ([ConnectionFaults(cuts=(7,))], []),
        ([ConnectionFaults(repeat=True)], []),
        (
            [
                ConnectionFaults(refuse=429),
                ConnectionFaults(refuse=429, retry_after_s=5),
            ],
            [60.0, 5.0],
        ),
        *(
            ([ConnectionFaults(drop_after=after, cuts=(97,))], [1.0])
            for after in (0, 1, 200, 700, 1500, 2500, 5000)
        ),
    ],
)
async def test_bytes_cut_repeated_refused_or_dropped_change_nothing(
    fates: list[ConnectionFaults], slept: list[float]
) -> None:
    case = Case(*fates, shown=4)
    async with case.follow_source() as seen:
        await case.finish(seen)
    assert seen.clock.slept == slept
    retried = [
        health.detail for health in seen.ledger.healths if health.state == "retrying"
    ]
    assert len(retried) == len(slept)
    for board, game in enumerate(GAMES):  # no half of a game was taken for a whole game
        assert set(lengths(seen, board)) == {len(game.moves)}


async def test_blank_lines_that_come_alone_end_a_game() -> None:
    cuts: list[int] = []
    for text in Case(shown=4).round.first_games().values():
        moves_end = len(text.rstrip())
        cuts += [moves_end, len(text) - moves_end]
    case = Case(ConnectionFaults(cuts=tuple(cuts)), shown=4)
    async with case.follow_source() as seen:
        await case.finish(seen)


async def test_a_round_not_yet_begun_is_awaited_and_keep_alives_spoil_no_game() -> None:
    case = Case()
    async with case.follow_source(begun=True) as seen:
        await until(lambda: seen.detail == "no games yet")
        await case.clock.expire()
        case.show(0, 10)
        await seen.wait_for_games(1)
        for _ in range(3):
            await case.clock.expire()  # after a minute of silence, one space is sent
        assert not seen.done
        await case.round.play_games(speed=60)
        await case.finish(seen)
    assert case.streams == 1


async def test_silence_beyond_the_keep_alive_is_a_lost_connection() -> None:
    case = Case(ConnectionFaults(stall_after=700), shown=4)
    async with case.follow_source() as seen:
        await until(lambda: seen.states == ["connecting", "live"])
        while "retrying" not in seen.states:
            # Bytes can arrive before a deadline and replace it, so several deadlines
            # may have to expire.
            await seen.clock.expire()
            await asyncio.sleep(0)
        assert seen.clock.now() >= 1000 + 2 * KEEP_ALIVE_S
        await case.finish(seen)
    assert "nothing received for 2 min, trying again in 1 s" in seen.details


async def test_a_deadline_that_passes_is_no_sign_of_life(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Connecting counts as a sign of life, although a round that has not begun sends
    nothing.
    """
    sessions: list[FeedSession] = []

    class Session(FeedSession):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            sessions.append(self)

    monkeypatch.setattr(feed, "FeedSession", Session)
    monkeypatch.setattr(lichess, "COMPARE_S", 20.0)
    case = Case(ConnectionFaults(stall_after=0))
    case.round.export = False
    async with case.follow_source(begun=True) as seen:
        await until(lambda: seen.detail == "no games yet")
        for _ in range(3):
            await seen.clock.expire()
            await seen.wait_for_pause()
        assert seen.clock.now() > 1000 and "retrying" not in seen.states
        assert [each.heard_s for each in sessions] == [1000]


async def test_now_and_then_the_export_of_each_round_heals_what_a_stream_does_not_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lichess, "COMPARE_S", 50.0)
    case = Case()
    case.round.tour_over = False
    async with case.follow_source(tour=True, begun=True) as seen:
        case.show(0, 20)
        await seen.wait_for_games(1)
        await case.round.wait_until_sent()
        case.round.store_unsent(
            0, upto(GAMES[0], 18)
        )  # a takeback that the stream does not report
        await seen.clock.expire()
        await seen.wait_for_moves(18)
        assert seen.clock.now() == 1050
        # A round whose games are over and compared is not requested again.
        case.round.show_report(0, GAMES[0])
        await until(lambda: [game.result for game in seen.games] == [GAMES[0].result])
        for _ in range(4):
            asked = len(case.round.requests)
            await case.clock.expire()  # the server sends a keep-alive
            await seen.clock.expire()
            await seen.wait_for_pause()
        assert case.streams == 1
    exports = [
        r for r in case.round.requests[asked:] if r.path.endswith(f"{ROUND_ID}.pgn")
    ]
    assert exports == []


async def test_boards_of_a_stalled_connection_are_not_forgotten_at_the_end() -> None:
    """All known games are over and the stream is silent, but the round has one more
    game.
    """
    case = Case(ConnectionFaults(stall_after=5500), shown=3)
    case.show(3, 20)
    async with case.follow_source() as seen:
        await seen.wait_for_games(2)
        while len(seen.games) == 2:  # a last chunk can postpone the end
            await seen.clock.expire()
            await seen.wait_for_pause()
        assert len(seen.games) == 4 and not seen.done
        case.show_all()
        await seen.clock.expire()  # the source closes the stalled connection
        await case.finish(seen)


@pytest.mark.parametrize("silent", [False, True])
async def test_without_an_export_a_sign_of_life_after_the_grace_period_ends_the_round(
    silent: bool,
) -> None:
    """Silence alone must not end the round."""
    case = Case(*[ConnectionFaults(stall_after=100_000_000)] * silent, shown=4)
    case.round.export = False
    if silent:
        case.clock.deadline = LoopClock().deadline  # type: ignore[method-assign]
    async with case.follow_source() as seen:
        await until(lambda: case.heard(seen))
        await until(lambda: seen.clock.next_deadline_s == 20.0)
        await seen.clock.expire()
        await until(lambda: seen.clock.next_deadline_s == 105.0)
        if silent:
            await seen.clock.expire()
            await until(lambda: "retrying" in seen.states)
            assert not seen.done
        else:
            await case.clock.expire()
            await until(lambda: seen.done)
            assert case.heard(seen)


async def test_a_tournament_is_followed_from_round_to_round() -> None:
    case = Case(shown=2)
    case.round.tour_over = False
    async with case.follow_source(tour=True) as seen:
        await seen.wait_for_games(2)
        await until(lambda: seen.clock.next_deadline_s == 20.0)
        await seen.clock.expire()  # all games have results, but more rounds follow
        await until(lambda: seen.clock.next_deadline_s == 105.0)
        assert not seen.done
        case.show_all()  # the next round
        case.round.tour_over = True
        await case.finish(seen)


@pytest.mark.parametrize("path", ["broadcast/-/-/Nowhere1", "abcd9999"])
async def test_no_such_round_or_game_and_html_instead_of_it(path: str) -> None:
    html = answer_with(
        200, b"<!DOCTYPE html>\n<title>x</title>\n", Content_Type="text/html"
    )
    for answer, error, why in (
        (answer_with(404), FeedNotFound, r"nothing there \(404\)"),
        (html, FeedUnreadable, "an HTML page"),
    ):
        async with serve_http(answer) as origin:
            seen = Followed(f"lichess+{origin}/{path}", CONFIG)
            with pytest.raises(error, match=why):
                await seen.run()
        assert seen.states[-1] == "failed"


def build_config(spec: str, token_file: Path) -> FeedsConfig:
    """Return settings in which the server of the round is the configured lichess."""
    origin = spec.removeprefix("lichess+").partition("/broadcast")[0]
    settings = LichessConfig(base_url=origin, token_file=str(token_file))
    return FeedsConfig(timeout_s=5.0, lichess=settings)


PAGE = f"https://lichess.org/broadcast/a/b/{ROUND_ID}"


async def test_a_token_is_sent_to_the_configured_lichess_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, file = Case(token="lip_secret", shown=4), tmp_path / "token"
    file.write_text("lip_secret\n")
    async with case.round.serve() as spec:
        async with follow_source(PAGE, build_config(spec, file)) as seen:
            await case.finish(seen)
        # Under this address the server is not the configured lichess, so no token is
        # sent and access is refused.
        monkeypatch.setenv("LICHESS_TOKEN", "lip_secret")
        with pytest.raises(FeedUnreadable, match=r"refuses access \(401\)"):
            await Followed(spec, CONFIG).run()
    assert "authorization" not in case.round.requests[-1].headers


async def test_without_a_token_it_is_said_where_to_put_one_and_a_new_one_is_used(
    tmp_path: Path,
) -> None:
    """A rejected token is no fatal error, and the message names the variable and the
    setting.
    """
    case, file = Case(token="lip_new", shown=4), tmp_path / "token"
    file.write_text("lip_old\n")
    async with (
        case.round.serve() as spec,
        follow_source(f"{PAGE}.pgn", build_config(spec, file), lasting=True) as seen,
    ):
        await until(lambda: "waiting" in seen.states)
        for word in ("401", "expired", "study:read", "LICHESS_TOKEN", "token_file"):
            assert word in seen.detail
        file.write_text("lip_new\n")
        await seen.wait_for_games(4)


@pytest.mark.parametrize("token", ["lip secret", "lip_§"])
def test_a_token_that_is_none_is_refused_without_showing_it(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LICHESS_TOKEN", token)
    with pytest.raises(ConfigError) as caught:
        Followed(PAGE, FeedsConfig())
    assert token not in str(caught.value)


async def test_a_result_corrected_and_a_game_added_hours_later_are_seen() -> None:
    """A lasting source keeps polling a round after its last result."""
    case = Case(shown=3)
    async with case.follow_source(lasting=True) as seen:
        await seen.wait_for_games(3)
        await measure_wait_s(seen, lambda: seen.states[-1] == "finished")
        seen.clock.time_s += 3600
        case.round.store_unsent(0, msgspec.structs.replace(GAMES[0], result="0-0"))
        case.round.store_unsent(3, upto(GAMES[3], 20))
        assert await measure_wait_s(seen, lambda: len(seen.games) == 4) <= 1900
        assert "0-0" in [game.result for game in seen.games]
        assert not seen.done


async def test_a_tournament_that_is_over_is_polled_seldom() -> None:
    """The source must pause between polls while it waits for the next round."""
    case = Case(shown=4)
    async with case.follow_source(tour=True, lasting=True) as seen:
        await measure_wait_s(seen, lambda: seen.states[-1:] == ["finished"])
        await until(lambda: seen.clock.next_deadline_s is not None)
        assert (seen.clock.next_deadline_s or 0.0) > 1.0


async def test_the_address_of_a_round_leads_on_to_the_next_one() -> None:
    case = Case()
    next_one = LichessRound(GAMES, clock=case.clock, round_id="Rehears2")
    next_one.started = False
    case.round = LichessRound(GAMES, clock=case.clock, following=next_one)
    case.show_all(1)
    async with case.follow_source(lasting=True) as seen:
        await seen.wait_for_games(1)
        await measure_wait_s(seen, lambda: seen.states[-1] == "finished")
        next_one.show_report(1, upto(GAMES[1], 10))
        next_one.start()
        assert await measure_wait_s(seen, lambda: len(seen.games) == 2) <= 120
        # The former round is still compared.
        case.round.store_unsent(0, msgspec.structs.replace(GAMES[0], result="0-0"))
        await measure_wait_s(
            seen, lambda: "0-0" in [game.result for game in seen.games]
        )
    assert not any(report.complete for report in seen.ledger.reports[2:])


async def test_takebacks_and_games_deleted_are_seen_within_20_seconds_by_a_short_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The stream does not report takebacks and deletions, so a short list is polled."""
    monkeypatch.undo()
    case = Case()
    async with case.follow_source(CONFIG, begun=True) as seen:
        case.show(0, 20)
        case.show(1, 20)
        await seen.wait_for_games(2)
        await measure_wait_s(seen, lambda: len(case.round.requests) >= 5)
        case.round.store_unsent(0, upto(GAMES[0], 18))
        case.round.forget(1)
        assert (
            await measure_wait_s(seen, lambda: list(seen.plies.values()) == [18]) <= 20
        )
    exports = [
        r
        for r in case.round.requests
        if r.path == f"/api/broadcast/round/{ROUND_ID}.pgn"
    ]
    assert len(exports) == 2  # one at the start and one now


@pytest.mark.parametrize("result", ["*", "1-0"])
async def test_a_stream_that_lags_behind_the_export_takes_no_move_or_result_back(
    result: str,
) -> None:
    case = Case()
    async with case.follow_source(begun=True) as seen:
        case.round.show_report(
            0, msgspec.structs.replace(upto(GAMES[0], 20), result=result)
        )
        await seen.wait_for_games(1)
        # These lines were sent earlier than the export but arrive later.
        case.show(0, 18 if result == "*" else 20)
        slip = choose_wrong_move(GAMES[0], 17)
        assert slip is not None
        slipped = (*GAMES[0].moves[:16], slip)
        case.round.show_report(
            0, msgspec.structs.replace(GAMES[0], moves=slipped, result="*")
        )
        case.show(1, 10)
        await seen.wait_for_games(2)
        assert lengths(seen, 0) == [20]
        assert sorted(game.result for game in seen.games) == ["*", result]
        if result != "*":  # the next comparison confirms it
            await measure_wait_s(
                seen, lambda: all(game.result == "*" for game in seen.games)
            )


GAME = GAMES[0]
MOVES = [(move.uci, move.clock_s) for move in GAME.moves]


@pytest.mark.parametrize(
    ("path", "cut", "drop_after"),
    [
        (f"/{GAME_ID}", 1 << 20, None),
        (f"/{GAME_ID}", 1, None),
        (f"/{GAME_ID}", 7, 12),
        (f"/{GAME_ID}", 50, 0),
        ("/tv", 33, None),
    ],
)
async def test_a_game_is_followed_to_its_end_and_tv_for_ever(
    path: str, cut: int, drop_after: int | None
) -> None:
    async with lichess_game(GAME, cut=cut, drop_after=drop_after) as origin:
        config = FeedsConfig(timeout_s=5.0, lichess=LichessConfig(base_url=origin))
        async with follow_source(f"https://lichess.org{path}", config) as seen:
            if path == "/tv":
                await until(lambda: bool(seen.games) and moves(seen) == MOVES)
                assert not seen.done
                return
            await until(lambda: seen.done)
    assert moves(seen) == MOVES
    (game,) = seen.games
    assert (game.key, game.result) == (GAME_ID, GAME.result)
    for told, player in (
        (game.headers.white, GAME.headers.white),
        (game.headers.black, GAME.headers.black),
    ):
        assert (told.name, told.elo, told.title) == (
            player.name,
            player.elo,
            player.title,
        )
    assert seen.states[-1] == "finished"


def moves(seen: Followed) -> list[tuple[str, float | None]]:
    (game,) = seen.games
    return [(move.uci, move.clock_s) for move in game.moves]


def test_lines_cut_anywhere_and_one_without_end() -> None:
    lines = NdjsonLines()
    found = [
        *lines.split_lines(b'{"a":'),
        *lines.split_lines(b'1}\n\n \n{"b"'),
        *lines.split_lines(b":2}\n"),
    ]
    assert found == [b'{"a":1}', b'{"b":2}']
    with pytest.raises(FeedTrouble, match="that never ends"):
        list(lines.split_lines(b"x" * (MAX_LINE_BYTES + 1)))


@pytest.mark.parametrize(
    ("status", "winner", "result", "over"),
    [
        (20, None, "*", False),
        (25, None, "*", True),
        (30, "white", "1-0", True),
        (35, "black", "0-1", True),
        (34, None, "1/2-1/2", True),
        (37, None, "*", True),
    ],
)
def test_results(status: int, winner: str | None, result: str, over: bool) -> None:
    stream = LichessGameStream("x")
    told = {"id": "abcd1234", "status": {"id": status}, "winner": winner}
    game = stream.read_line(json.dumps(told).encode())
    assert game is not None and game.result == result
    assert stream.over is over


@pytest.mark.parametrize(
    ("variant", "fen", "castled"),
    [
        ("chess960", "bnrknrqb/pppppppp/8/8/8/8/PPPPPPPP/2RK1R1B w KQkq - 0 1", "d1c1"),
        ("standard", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1"),
    ],
)
def test_a_game_begins_where_its_variant_says(
    variant: str, fen: str, castled: str
) -> None:
    stream, board = (
        LichessGameStream("x"),
        chess.Board(fen, chess960=variant == "chess960"),
    )
    described = {"id": "abcd1234", "variant": {"key": variant}, "initialFen": fen}
    stream.read_line(json.dumps(described).encode())
    board.push_uci(castled)
    told = {"fen": f"{board.board_fen()} b", "lm": castled, "wc": 9, "bc": 8}
    game = stream.read_line(json.dumps(told).encode())
    assert game is not None and game.problem is None
    assert [(move.uci, move.san) for move in game.moves] == [(castled, "O-O-O")]


def test_other_variants_are_named_and_left_alone() -> None:
    stream = LichessGameStream("x")
    stream.read_line(b'{"id": "abcd1234", "variant": {"key": "atomic"}}')
    game = stream.read_line(b'{"fen":"x","lm":"e2e4"}')
    assert game is not None and game.moves == ()
    assert game.headers.variant == "atomic" and game.problem is not None


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'"x"', b'{"id":[]}', b"\xff"])
def test_what_cannot_be_read_is_passed_over(raw: bytes) -> None:
    assert LichessGameStream("x").read_line(raw) is None
    assert LichessTvStream("x").read_line(raw) is None


STEPS = ("e2e4", "e7e5", "g1f3")
DESCRIBED: dict[str, object] = {
    "id": "abcd1234",
    "variant": {"key": "standard"},
    "initialFen": chess.STARTING_FEN,
    "status": {"id": 20},
    "players": {"white": {"user": {"name": "A"}}, "black": {"user": {"name": "B"}}},
}


def positions(*ucis: str) -> list[dict[str, object]]:
    """Return the lines of a stream from the starting position on."""
    board = chess.Board()
    found: list[dict[str, object]] = [{"fen": f"{board.board_fen()} w"}]
    for uci in ucis:
        board.push_uci(uci)
        side = "w" if board.turn else "b"
        found.append({"fen": f"{board.board_fen()} {side}", "lm": uci, "wc": 9})
    return found


def heard(stream: LichessGameStream, *lines: dict[str, object]) -> GameReport:
    """Return the game after these lines."""
    for line in lines:
        game = stream.read_line(json.dumps(line).encode())
    assert game is not None
    return game


@pytest.mark.parametrize(
    ("field", "odd", "problem"),
    [
        ("initialFen", [], "its initialFen cannot be read (a list)"),
        ("variant", 7, "its variant cannot be read (a number)"),
        ("variant", {"key": []}, "its variant.key cannot be read (a list)"),
        ("status", "x", "not read: status (a text)"),
        ("status", {"id": "soon"}, "not read: status.id (a text)"),
        ("winner", [], "not read: winner (a list)"),
        ("players", 5, "not read: players (a number)"),
        ("speed", {}, "not read: speed (an object)"),
    ],
)
@pytest.mark.parametrize("restarted", [False, True])
def test_an_odd_field_of_a_description_takes_nothing_away(
    field: str, odd: object, problem: str, restarted: bool
) -> None:
    stream = LichessGameStream("x")
    over = {"status": {"id": 30}, "winner": "white"}
    before = heard(stream, DESCRIBED, *positions(*STEPS), DESCRIBED | over)
    assert (len(before.moves), before.result) == (3, "1-0")
    if restarted:
        stream = LichessGameStream("x")
    else:
        problem = problem if problem.startswith("not read") else f"not read: {field}"
    stream.reconnect([before])
    game = heard(stream, DESCRIBED | over | {field: odd}, *positions(*STEPS))
    assert (game.problem or "").startswith(problem)
    shown = keep_unread(game, before)
    assert (len(shown.moves), shown.result, shown.start_fen) == (
        3,
        "1-0",
        before.start_fen,
    )
    assert restarted or (shown.headers.white.name, len(game.moves)) == ("A", 3)
    game = heard(stream, DESCRIBED | over)
    assert game.problem is None


@pytest.mark.parametrize("known", [False, True])
def test_positions_that_come_again_one_by_one_take_no_move_back(known: bool) -> None:
    stream = LichessGameStream("x")
    before = heard(stream, DESCRIBED, *positions(*STEPS))
    if known:
        stream = LichessGameStream("x")
    stream.reconnect([before])
    for line in (DESCRIBED, *positions(*STEPS)):
        game = heard(stream, line)
        assert len(keep_unread(game, before).moves) == 3
    assert (game.unread, game.problem) == ((), None)
    # The whole game has been read again, so fewer moves are a takeback.
    game = heard(stream, positions(*STEPS[:1])[-1])
    assert (len(game.moves), game.unread) == (1, ())


@pytest.mark.parametrize("odd", [None, 7, [], "x", "8/8/8/8/8/8/8/8 w"])
def test_an_odd_position_is_passed_over_and_said(odd: object) -> None:
    stream = LichessGameStream("x")
    lines = positions(*STEPS)
    game = heard(stream, DESCRIBED, *lines[:3], lines[3] | {"fen": odd})
    assert len(game.moves) == 2
    assert ("not read: fen" in (game.problem or "")) is (odd is not None)
    game = heard(stream, positions(*STEPS, "b8c6")[-1])
    assert (len(game.moves), game.problem) == (4, None)


def test_a_featured_game_without_an_id_is_not_the_one_of_before() -> None:
    tv, board = Tv(), chess.Board()
    board.push_uci("e2e4")
    before = tv.read_position(board, "e2e4")
    assert (
        tv.stream.read_line(b'{"t": "featured", "d": {"id": [], "fen": "8/8 w"}}')
        is None
    )
    board.push_uci("d7d5")
    assert (
        tv.stream.read_line(
            json.dumps({"t": "fen", "d": {"fen": board.fen()}}).encode()
        )
        is None
    )
    assert tv.stream.read_line(b"<html>") is None and tv.stream.damage == (
        "a line of it is an HTML page (perhaps a login page)"
    )
    again = tv.featured(chess.STARTING_FEN)
    assert again is not None and again.key == before.key and tv.stream.damage == ""


class Tv:
    """A channel that features a game from a given position on."""

    def __init__(self, fen: str = chess.STARTING_FEN, channel: str = "") -> None:
        self.stream = LichessTvStream("x", channel)
        self.featured(fen)

    def featured(self, fen: str, key: str = "abcd1234") -> GameReport | None:
        return self._line("featured", {"id": key, "fen": fen})

    def read_position(self, board: chess.Board, move: str) -> GameReport:
        side = "w" if board.turn else "b"
        told = {"fen": f"{board.board_fen()} {side}", "lm": move, "wc": 9, "bc": 8}
        game = self._line("fen", told)
        assert game is not None
        return game

    def _line(self, kind: str, told: dict[str, object]) -> GameReport | None:
        return self.stream.read_line(json.dumps({"t": kind, "d": told}).encode())


def test_tv_castling_is_king_to_rook_and_another_game_replaces_the_first() -> None:
    tv, board = Tv(), chess.Board()
    for uci in ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5"):
        board.push_uci(uci)
        tv.read_position(board, uci)
    board.push_uci("e1g1")
    last = tv.read_position(board, "e1h1").moves[-1]
    assert (last.san, last.uci, last.clock_s) == ("O-O", "e1g1", 9)
    game = tv.featured(chess.STARTING_FEN, "efgh5678")
    assert game is not None and (game.key, game.moves) == ("efgh5678", ())


def test_tv_goes_on_where_a_line_was_missed_and_starts_anew_where_many_were() -> None:
    tv, board = Tv(), chess.Board()
    for missed, sans in (
        (["e2e4", "e7e5"], ["e4", "e5"]),
        (["g1f3", "b8c6", "f1c4", "f8c5"], []),
    ):
        for uci in missed:
            board.push_uci(uci)
        game = tv.read_position(board, board.peek().uci())
        assert [move.san for move in game.moves] == sans and game.problem is None
    assert game.start_fen.startswith(board.board_fen())


@pytest.mark.parametrize("rights", ["", " kq - 0 20"])
def test_castling_of_a_standard_game_met_in_the_middle_is_one_that_engines_know(
    rights: str,
) -> None:
    """An engine rejects ``e8h8`` if the variant is "standard"."""
    fen = "rnbqk2r/pppp1ppp/5n2/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b"
    board = chess.Board(f"{fen} kq - 0 20")
    board.push_uci("e8g8")
    game = Tv(fen + rights).read_position(board, "e8h8")
    assert game.headers.variant == "standard"
    assert [(move.uci, move.san) for move in game.moves] == [("e8g8", "O-O")]
    chess.Board(game.start_fen).push_uci(game.moves[0].uci)


def test_castling_on_the_chess960_channel_is_king_to_rook() -> None:
    fen = "bnrknrqb/pppppppp/8/8/8/8/PPPPPPPP/2RK1R1B w"
    after = chess.Board(fen + " CF - 0 1", chess960=True)
    after.push_uci("d1c1")
    game = Tv(fen, "chess960").read_position(after, "d1c1")
    assert game.headers.variant == "chess960"
    assert [(move.uci, move.san) for move in game.moves] == [("d1c1", "O-O-O")]
