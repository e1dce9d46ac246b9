"""Games over MQTT: the reading of payloads, and the source with a real broker."""

import asyncio
import gc
import json
import re
import select
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiomqtt
import pytest

from live.errors import ConfigError, FeedUnreadable
from live.manual.pages import read_page
from live.messages.from_sources import STANDS, GameReport, Player
from live.rehearse.rehearsal import write_pgn
from live.settings import FeedsConfig, MqttFeedConfig
from live.sources import mqtt_games
from live.sources.kept_moves import keep_unread
from live.sources.mqtt_client import MqttClient
from live.sources.mqtt_feed import create_client_id
from live.sources.mqtt_games import MqttGames
from live.sources.mqtt_topic import MAX_BYTES, MAX_JSON_BYTES
from live.sources.open_feed import open_feed
from live.sources.source_probe import probe_sources
from tests.server.mosquitto import ANYBODY, Mosquitto, run_broker, users
from tests.sources.fakes import (
    CONFIG,
    GAMES,
    Followed,
    follow_source,
    sans,
    until,
    upto,
)
from tests.sources.hall_sources import encode_mqtt_game

AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


class Subscription:
    def __init__(self) -> None:
        self.games = MqttGames()

    def read(self, payload: object, topic: str = "open/r1/7") -> None:
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        for _ in self.games.read_message(topic, raw):
            pass

    def hear(self, payload: object, topic: str = "open/r1/7") -> list[GameReport]:
        self.read(payload, topic)
        return self.games.take_reports()[0]

    def one(self, payload: object) -> GameReport:
        (game,) = self.hear(payload)
        return game


def test_the_least_that_is_a_game() -> None:
    game = Subscription().one({"moves": "e4 e7e5 Nf3"})
    assert sans(game) == "e4 e5 Nf3"
    assert (game.headers.event, game.headers.board, game.key) == (
        "open/r1",
        7,
        "open/r1/7/1",
    )
    assert (game.headers.white, game.result) == (Player("?"), "*")
    game = Subscription().one(b"1. e4 e5 2. Nf3 *")
    assert (sans(game), game.key) == ("e4 e5 Nf3", "open/r1/7")


def test_players_by_name_alone_and_moves_with_and_without_clocks() -> None:
    told = {
        "white": "Müller, Ä.",
        "black": {"name": "B\x1b[31m", "elo": 2500, "title": "GM", "other": 1},
        "round": 3,
        "board": 4,
        "moves": ["e4", {"move": "c7c5", "clock_s": 5390, "spent_s": 10.5}],
        "result": "1/2-1/2",
    }
    game = Subscription().one(told)
    headers = game.headers
    assert headers.black == Player("B", elo=2500, title="GM")
    assert (headers.white.name, headers.round, headers.board) == ("Müller, Ä.", "3", 4)
    assert (game.moves[1].clock_s, game.moves[1].spent_s) == (5390, 10.5)
    assert (game.key, game.result) == ("", "1/2-1/2")


def test_a_topic_used_again_for_players_without_names_is_another_game() -> None:
    board = Subscription()
    assert board.one({"moves": "e4 e5 Nf3 Nc6"}).key.endswith("/1")
    assert board.one({"moves": "e4 e5"}).key.endswith("/1")
    board.one({"moves": "e4 e5 Nf3 Nc6"})
    assert board.one({"moves": ""}).key.endswith("/2")
    assert board.one({"moves": "d4"}).key.endswith("/2")
    assert board.one({"moves": "d4", "id": "x"}).key == "x"


def test_fen_and_move_as_json_and_as_text() -> None:
    for payload in (
        {"fen": AFTER_E4, "move": "e4", "white_clock_s": 5395, "black_clock_s": 5400},
        {"fen": AFTER_E4[:-13] + " b", "move": "e2e4", "white_clock_s": 5395},
    ):
        game = Subscription().one(payload)
        assert [(move.uci, move.clock_s) for move in game.moves] == [("e2e4", 5395)]
    short = AFTER_E4.split(" KQ")[0]
    for text in (f"{AFTER_E4} e2e4", AFTER_E4, f"{short} e4", short):
        assert sans(Subscription().one(text.encode())) == "e4"


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b"{", "damaged JSON"),
        (b'{"moves": 3}', "JSON with moves that are a number"),
        (b'{"moves": null}', "JSON with moves that are null"),
        (b'{"a": 1}', "JSON without moves or fen"),
        (
            b'{"moves": "", "start_fen": "x"}',
            "JSON with a start_fen that is not a position",
        ),
        (
            b'{"moves": "", "start_fen": []}',
            "JSON with a start_fen that cannot be read (a list)",
        ),
        (b'{"moves": "", "variant": 9e999}', "JSON with a variant that cannot be read"),
        (b'{"fen": "8/8/8/8/8/8/8/8 w"}', "a fen that is not a position"),
        (b'{"fen": 7}', "a fen that is not a position"),
        (b'{"fen": []}', "a fen that is a list"),
        (b"8/8/8/8/8/8/8/8 w", "a fen that is not a position"),
        (b'{"moves": ["e4"' + b" " * MAX_JSON_BYTES, "JSON of more than 262144 bytes"),
        (b"x" * (MAX_BYTES + 1), "more than 4194304 bytes"),
        (b" " * (MAX_BYTES + 1), "more than 4194304 bytes"),
        (b"\x89PNG\r\n", "a picture"),
        (b"online", "text that is not PGN"),
    ],
)
def test_what_cannot_be_used_is_named_at_the_board_and_leaves_it_as_it_was(
    payload: bytes, problem: str
) -> None:
    board = Subscription()
    before = board.one({"moves": "e4", "result": "1-0"})
    game = board.one(payload)
    assert (board.games.describe_problem("open/r1/7") or "").startswith(problem)
    assert (game.problem or "").startswith(
        f"its last message cannot be used: {problem}"
    )
    assert (game.moves, game.result, game.key) == (before.moves, "1-0", before.key)
    assert game.unread == ("moves", "result") and board.games.note == ""
    # A second unusable message replaces the text of the problem.
    assert (
        board.one(b"offline").problem
        == "its last message cannot be used: text that is not PGN"
    )
    game = board.one({"moves": "e4 e5"})
    assert (sans(game), game.problem, game.result) == ("e4 e5", None, "*")
    assert board.games.describe_problem("open/r1/7") is None


def test_an_unusable_first_message_names_the_board_it_was_meant_for() -> None:
    game = Subscription().one({"moves": 3, "white": "A", "black": "B", "result": "1-0"})
    assert (game.headers.white.name, game.moves, game.result) == ("A", (), "1-0")
    assert (
        game.problem
        == "its last message cannot be used: JSON with moves that are a number"
    )
    board = Subscription()
    for topic in "abcde":
        assert board.hear({"celsius": 21}, topic) == []
    assert board.games.note == (
        "topic 'a' holds JSON without moves or fen; "
        "topic 'b' holds JSON without moves or fen;"
        " topic 'c' holds JSON without moves or fen; 2 more hold no game"
    )
    board.hear(b"", "a")
    board.hear({"moves": "e4"}, "b")
    assert board.games.note.startswith("topic 'c' ")


@pytest.mark.parametrize(
    ("moves", "line", "result"),
    [
        ("1. e4 e5 2. Nf3 *", "e4 e5 Nf3", "*"),
        ("1.e4 e5 2.Nf3", "e4 e5 Nf3", "*"),
        (
            "1. e4 {[%clk 1:29:50]} e5 (1... c5 2. Nf3) 2. Nf3 $1 1-0",
            "e4 e5 Nf3",
            "1-0",
        ),
        ("e2e4 e7e5 1/2-1/2", "e4 e5", "1/2-1/2"),
        ("1.\u00a0e4\u00a0e5 2.\u2009Nf3 1\u20140", "e4 e5 Nf3", "1-0"),
        ("\n1. e4\n", "e4", "*"),
        ("", "", "*"),
    ],
)
def test_moves_as_a_text_are_read_as_those_of_a_pgn(
    moves: str, line: str, result: str
) -> None:
    """A text can contain move numbers and a result, as in PGN."""
    board = Subscription()
    board.one({"moves": ["e4"]})
    game = board.one({"moves": moves})
    assert (sans(game), game.result, game.problem) == (line, result, None)
    assert board.one({"moves": moves, "result": "0-1"}).result == "0-1"


def as_list(moves: str) -> object:
    return moves.split()


@pytest.mark.parametrize("write", [as_list, str])
def test_an_illegal_move_ends_the_game_there_unless_play_went_on_from_it(
    write: Callable[[str], object],
) -> None:
    game = Subscription().one({"moves": write("e4 Ke5 d4")})
    assert sans(game) == "e4" and game.problem == "illegal move 1...Ke5"
    assert game.unread == ("moves",)
    one, other = Subscription().hear({"moves": write("e4 Ke5 d4+ Kd6")})
    assert one.problem == f"illegal move 1...Ke5 {STANDS}" and one.unread == ()
    assert sans(other) == "d4+ Kd6" and other.key == f"{one.key} from ply 2"


def test_a_game_as_text_goes_on_from_null_moves() -> None:
    text = "1. e4 e5 2. -- Nc6 3. Nf3 Nd4 4. -- d6 5. Nc3 a6 *"
    games = Subscription().hear({"moves": text})
    assert list(map(sans, games)) == ["e4 e5", "Nc6 Nf3 Nd4", "d6 Nc3 a6"]


PLAYED = {
    "white": {"name": "A", "elo": 2231},
    "black": {"name": "B"},
    "event": "Club",
    "round": 1,
    "board": 2,
    "date": "2026.11.28",
    "moves": ["d4", {"move": "d5", "clock_s": 5390}],
    "result": "1-0",
}


@pytest.mark.parametrize(
    ("odd", "problem"),
    [
        ({"white": {"name": "A", "elo": "x"}}, "not read: white.elo (a text)"),
        ({"white": {"name": "A", "elo": [2231]}}, "not read: white.elo (a list)"),
        ({"white": None}, None),
        ({"white": []}, "not read: white (a list)"),
        ({"white": 7, "black": 8}, "not read: white (a number), black (a number)"),
        ({"result": 7}, "not read: result (a number)"),
        ({"result": "won"}, "not read: result (a text)"),
        ({"date": {}}, "not read: date (an object)"),
        ({"event": []}, "not read: event (a list)"),
        ({"round": []}, "not read: round (a list)"),
        ({"board": 10**30}, "not read: board (a number out of range)"),
        ({"start_fen": []}, "not read: start_fen (a list)"),
        ({"variant": []}, "not read: variant (a list)"),
        ({"id": []}, "not read: id (a list)"),
        (
            {"moves": ["d4", {"move": "d5", "clock_s": "x"}]},
            "not read: moves.clock_s (a text)",
        ),
        ({"moves": ["d4", None]}, "its moves cannot be read further (null as entry 2)"),
        (
            {"moves": ["d4", ["d5"]]},
            "its moves cannot be read further (a list as entry 2)",
        ),
    ],
)
@pytest.mark.parametrize("restarted", [False, True])
def test_an_odd_field_costs_that_field(
    odd: dict[str, object], problem: str | None, restarted: bool
) -> None:
    """An unexpected value must not cost the whole message."""
    board = Subscription()
    before = board.one(PLAYED)
    if restarted:
        board = Subscription()
    game = board.one(PLAYED | odd)
    if restarted and odd.keys() & {"start_fen", "variant"}:
        assert "cannot be read" in (game.problem or "") and "moves" in game.unread
    else:
        assert game.problem == problem
    shown = keep_unread(game, before)
    assert (sans(shown), shown.result) == ("d4 d5", "1-0")
    if not restarted:
        assert shown.headers == before.headers
    assert board.one(PLAYED) == before


def test_work_is_handed_back_after_each_move_whatever_came() -> None:
    shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"] * 300
    for moves in (shuffle, " ".join(shuffle)):
        turns = sum(
            1
            for _ in MqttGames().read_message(
                "a", json.dumps({"moves": moves}).encode()
            )
        )
        assert turns >= 1200


def test_messages_that_nobody_took_become_one() -> None:
    board = Subscription()
    for plies in range(1, 20):
        board.read(encode_mqtt_game(upto(GAMES[0], plies)), "a/1")
    ((latest,), complete) = board.games.take_reports()
    assert (len(latest.moves), complete) == (19, False)
    assert board.games.take_reports() == ([], False)


def test_an_empty_payload_takes_an_unfinished_game_away_and_no_finished_one() -> None:
    board = Subscription()
    board.hear({"moves": "e4", "result": "1-0", "white": "A1", "black": "B1"}, "a/1")
    board.hear({"moves": "e4", "white": "A2", "black": "B2"}, "a/1")
    board.hear({"moves": "e4", "result": "0-1", "white": "A3", "black": "B3"}, "a/2")
    board.hear(b"", "a/2")
    assert board.games.take_reports() == ([], False)
    board.read(b"", "a/1")
    games, complete = board.games.take_reports()
    assert complete and [game.headers.white.name for game in games] == ["A1", "A3"]


def test_topics_and_finished_games_beyond_any_event_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mqtt_games, "MAX_TOPICS", 10)
    flooded, finished = Subscription(), Subscription()
    for number in range(15):
        flooded.read(b"1. e4 *", f"flood/{number}")
        finished.hear({"id": str(number), "moves": "e4", "result": "1-0"}, "a/1")
        finished.read(b"", "a/1")
    assert len(flooded.games.take_reports()[0]) == 10
    finished.hear({"moves": "e4"}, "a/2")
    finished.read(b"", "a/2")
    games, complete = finished.games.take_reports()
    assert complete and len(games) == 10


# --- against a broker -----------------------------------------------------------------


@pytest.fixture
def mosquitto(require_program: Callable[[str], str]) -> str:
    return require_program("mosquitto")


@pytest.fixture
async def broker(mosquitto: str, tmp_path: Path) -> AsyncIterator[Mosquitto]:
    async with run_broker(mosquitto, tmp_path) as broker:
        yield broker


def address(broker: Mosquitto) -> str:
    return f"mqtt://127.0.0.1:{broker.port}"


async def publish(
    broker: Mosquitto, *messages: tuple[str, bytes], retain: bool = True
) -> None:
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        for topic, payload in messages:
            await client.publish(topic, payload, qos=1, retain=retain)


def played(plies: int, board: int = 1) -> tuple[str, bytes]:
    """Return the topic and the payload of a board after this number of plies."""
    return f"a/{board}", encode_mqtt_game(upto(GAMES[board - 1], plies))


async def live(seen: Followed) -> None:
    await until(lambda: "live" in seen.states)


async def test_retained_games_are_there_at_once_and_followed_to_their_end(
    broker: Mosquitto,
) -> None:
    await publish(
        broker,
        ("open/1/1", encode_mqtt_game(upto(GAMES[0], 9))),
        ("open/1/2/deep", write_pgn(upto(GAMES[1], 8)).encode()),
        ("other/1", encode_mqtt_game(GAMES[3])),
    )
    async with follow_source(f"{address(broker)}/open/#") as seen:
        await until(lambda: sorted(seen.plies.values()) == [8, 9])
        await publish(broker, ("open/1/1", encode_mqtt_game(GAMES[0])))
        await publish(broker, ("open/1/2/deep", write_pgn(GAMES[1]).encode()))
        await until(lambda: "*" not in [game.result for game in seen.games])
        await seen.clock.expire()
        await until(lambda: seen.done)
    assert seen.states[-1] == "finished"


async def test_repeated_and_late_messages_change_nothing_and_a_broker_is_awaited(
    broker: Mosquitto,
) -> None:
    async with follow_source(f"{address(broker)}/+/1") as seen:
        await live(seen)
        for plies in (1, 1, 2, 3, 2, 3, 3, 4):
            await publish(broker, played(plies))
        await seen.wait_for_moves(4)
        broker.kill()
        await until(lambda: seen.states[-1] == "retrying")
        refused = "cannot reach the broker (Connection refused), trying again in "
        await until(lambda: seen.detail.startswith(refused))
        await broker.start()
        await publish(broker, played(9))
        await seen.wait_for_moves(9)
        assert seen.states[-1] == "live" and len(seen.games) == 1 and not seen.done


async def test_what_came_while_we_were_away_is_not_lost(broker: Mosquitto) -> None:
    """The broker keeps the session, so messages of QoS 1 arrive later even if they are
    not retained.
    """
    spec = f"{address(broker)}/a/#"
    async with follow_source(spec) as seen:
        await live(seen)
    await publish(broker, played(7), retain=False)
    async with follow_source(spec) as seen:
        await seen.wait_for_moves(7)


async def test_a_look_at_the_source_does_not_disturb_who_follows_it(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("live.sources.source_probe.QUIET_S", 0.2)
    spec = f"{address(broker)}/a/#"
    async with follow_source(spec) as seen:
        await live(seen)
        await publish(broker, played(5))
        (finding,) = await probe_sources([spec], CONFIG, within_s=20)
        assert [game.plies for game in finding.games] == [5]
        await publish(broker, played(6))
        await seen.wait_for_moves(6)
    assert "retrying" not in seen.states


async def test_user_and_password_from_a_file_and_a_wrong_one_is_a_clear_health_line(
    mosquitto: str, tmp_path: Path, require_program: Callable[[str, str], str]
) -> None:
    more = users(require_program, tmp_path, "arbiter", "right")
    (mine := tmp_path / "mine").write_text("right\n")
    config = FeedsConfig(mqtt=MqttFeedConfig(password_file=str(mine)))
    async with run_broker(mosquitto, tmp_path, more=more) as broker:
        async with follow_source(
            f"mqtt://arbiter@127.0.0.1:{broker.port}/a/#", config
        ) as seen:
            await live(seen)
        assert "arbiter" not in str(seen.details)
        for user in ("arbiter:wrong@", ""):
            seen = Followed(f"mqtt://{user}127.0.0.1:{broker.port}/a/#", CONFIG)
            with pytest.raises(FeedUnreadable, match="password_file"):
                await seen.run()
            assert (seen.states[-1], seen.detail) == (
                "failed",
                "the broker refuses access",
            )
            assert "wrong" not in str(seen.details) + seen.feed.name


async def test_a_message_that_is_no_game_costs_no_other(
    broker: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    async with follow_source(f"{address(broker)}/#") as seen:
        await live(seen)
        await publish(broker, ("a/temperature", b'{"celsius": 21}'))
        await until(lambda: "holds JSON without moves or fen" in seen.detail)
        await publish(
            broker, ("a/camera", b"\x89PNG\r\n\x1a\n" + bytes(100)), played(5)
        )
        await seen.wait_for_games(1)
        await until(lambda: "'a/camera' holds a picture" in seen.detail)
        assert seen.detail.startswith(
            "1 game; topic 'a/temperature' holds JSON without"
        )
        await publish(broker, ("a/1", b"<html>"))
        said = "its last message cannot be used: an HTML page (perhaps a login page)"
        await until(lambda: f": {said}" in seen.detail)
        assert seen.detail.endswith(f"holds a picture; board 9: {said}")
        assert [(len(game.moves), game.problem) for game in seen.games] == [(5, said)]
        await publish(broker, played(6), ("a/temperature", b""), ("a/camera", b""))
        await until(lambda: seen.detail == "1 game")
    assert set(seen.states) == {"connecting", "live"}
    assert "'a/camera' holds a picture" in caplog.text


def test_our_name_at_the_broker_is_stable_and_differs_by_source() -> None:
    assert (
        create_client_id("mqtt://a/b")
        == create_client_id("mqtt://a/b")
        != create_client_id("mqtt://a/c")
    )
    assert (
        len(create_client_id("mqtt://a/b")) <= 23
    )  # the length that MQTT 3.1.1, section 3.1.3.1 guarantees


@pytest.mark.parametrize("key", ["password_file", "ca_file"])
def test_a_file_that_is_not_there_is_told_at_once(key: str) -> None:
    config = FeedsConfig(mqtt=MqttFeedConfig(**{key: "/nonexistent/x"}))
    with pytest.raises(
        ConfigError, match=f"feeds.mqtt.{key} /nonexistent/x: cannot be read"
    ):
        open_feed("mqtts://broker.example/a", config)


# The MQTT library leaves the socket of a failed handshake to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
async def test_tls_with_a_certificate_of_ones_own_or_one_that_nobody_vouches_for(
    mosquitto: str, tmp_path: Path, certificate: tuple[str, str]
) -> None:
    cert, key = certificate
    trusting = FeedsConfig(mqtt=MqttFeedConfig(ca_file=cert))
    more = f"{ANYBODY}certfile {cert}\nkeyfile {key}\n"
    async with run_broker(mosquitto, tmp_path, more=more) as broker:
        spec = address(broker).replace("mqtt:", "mqtts:") + "/a/#"
        async with follow_source(spec, trusting) as seen:
            await live(seen)
        async with follow_source(spec) as seen:
            await until(lambda: "retrying" in seen.states)
    assert "certificate is not accepted (self-signed" in seen.detail
    assert "feeds.mqtt.ca_file" in seen.detail
    await asyncio.to_thread(broker.kill)  # gives the loop time to drop the connection
    gc.collect()


async def test_both_publishers_of_the_manual_make_a_board_appear(
    broker: Mosquitto, require_program: Callable[[str, str], str]
) -> None:
    require_program("mosquitto_pub", "mosquitto-clients")
    text = read_page("sources").text
    (by_hand,) = re.findall(r"^mosquitto_pub .*$", text, re.MULTILINE)
    (program,) = re.findall(
        r"^```python\n(import asyncio, json\n.*?)^```", text, re.M | re.S
    )
    async with follow_source(f"{address(broker)}/hall/#") as seen:
        await live(seen)
        shell = by_hand.replace("-h localhost", f"-h 127.0.0.1 -p {broker.port}")
        code = program.replace('"localhost"', f'"127.0.0.1", {broker.port}')
        for command in (["sh", "-c", shell], [sys.executable, "-c", code]):
            await asyncio.to_thread(
                subprocess.run, command, check=True, capture_output=True
            )
        await seen.wait_for_games(2)
    boards = {game.headers.board: game for game in seen.games}
    assert [move.san for move in boards[1].moves] == ["e4", "e5", "Nf3"]
    assert boards[1].headers.event == "hall/round-1"
    assert [(move.san, move.clock_s) for move in boards[2].moves] == [
        ("d4", 5395),
        ("Nf6", 5388),
    ]
    assert boards[2].headers.white.title == "WGM"


# If a broker dies, its user gets an exception.


@pytest.fixture
async def told_to_the_loop() -> list[str]:
    told: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.append(str(context)))
    return told


async def test_a_broker_that_dies_is_an_error_and_leaves_the_loop_one_line_at_most(
    broker: Mosquitto, told_to_the_loop: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A message is written in the turn of the event loop in which the end of the
    connection is read. The library then uses a closed socket.
    """
    with pytest.raises(aiomqtt.MqttError):
        async with MqttClient("127.0.0.1", broker.port, timeout=0.1) as client:
            broker.kill()
            connection = client._client.socket()
            assert connection is not None and select.select([connection], [], [], 20)[0]
            await asyncio.sleep(0)
            await client.publish("a", b"1", qos=1)
    await asyncio.sleep(0)
    gc.collect()
    await asyncio.sleep(0)
    assert all("add_writer" in text for text in told_to_the_loop)
    assert len(told_to_the_loop) <= 1
    assert caplog.records == []


@pytest.mark.parametrize("refused", [False, True])
async def test_a_cancellation_at_the_moment_of_the_answer_is_heard(
    refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Python 3.11, the wait of the library loses such a cancellation, and a feed
    would never end.
    """
    answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def publish(client: aiomqtt.Client, topic: str) -> None:
        await asyncio.wait_for(answer, 5)

    monkeypatch.setattr(aiomqtt.Client, "publish", publish)
    waiting = asyncio.create_task(MqttClient("127.0.0.1", 1).publish("a"))
    await asyncio.sleep(0)
    if refused:
        answer.set_exception(aiomqtt.MqttError("not authorized"))
    else:
        answer.set_result(None)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
