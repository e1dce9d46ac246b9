import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import STANDS, GameReport, Player
from live.feeds.mqtt_feed import MAX_JSON_BYTES, MAX_TOPICS, MqttGames
from live.rehearse.mqtt_publisher import told_json
from live.rehearse.rehearsal import pgn_text
from tests.feeds.fakes import DATA, decode, substance

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


class Subscription:
    def __init__(self) -> None:
        self.games = MqttGames(max_bytes=2_000_000)

    def hear(self, payload: object, topic: str = "open/r1/7") -> list[GameReport]:
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        for _ in self.games.read(topic, raw):
            pass
        return self.games.take()[0]

    def one(self, payload: object, topic: str = "open/r1/7") -> GameReport:
        (game,) = self.hear(payload, topic)
        return game


def moves(game: GameReport) -> str:
    return " ".join(move.san for move in game.moves)


def test_our_own_schema_carries_everything() -> None:
    for game in GAMES:
        told = Subscription().one(told_json(game))
        assert substance(told) == substance(game)
        assert told.headers == game.headers and told.key == game.key


def test_the_least_that_is_a_game() -> None:
    game = Subscription().one({"moves": "e4 e7e5 Nf3"})
    assert moves(game) == "e4 e5 Nf3"
    assert (game.headers.event, game.headers.board, game.key) == ("open/r1", 7, "open/r1/7/1")
    assert (game.headers.white, game.result) == (Player("?"), "*")


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
    assert game.headers.black == Player("B", elo=2500, title="GM")
    assert (game.headers.white.name, game.headers.round, game.headers.board) == (
        "Müller, Ä.",
        "3",
        4,
    )
    assert (game.moves[1].clock_s, game.moves[1].spent_s) == (5390, 10.5)
    assert (game.key, game.result) == ("", "1/2-1/2")


def test_an_illegal_move_ends_the_game_there() -> None:
    game = Subscription().one({"moves": ["e4", "Ke5", "d4"]})
    assert moves(game) == "e4" and game.problem == "illegal move Ke5 at ply 2"


def test_an_illegal_move_that_the_game_went_on_from_stands() -> None:
    held = MqttGames(max_bytes=1 << 20)
    for _ in held.read("hall/1", b'{"moves": ["e4", "Ke5", "d4", "Kd6"], "result": "*"}'):
        pass
    one, other = held.take()[0]
    assert one.problem == f"illegal move Ke5 at ply 2 {STANDS}"
    assert moves(other) == "d4+ Kd6" and other.key == f"{one.key} from ply 2"


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
        assert moves(Subscription().one(text.encode())) == "e4"


def test_pgn_with_names_and_without() -> None:
    text = "".join(pgn_text(game) + "\n" for game in GAMES)
    assert [substance(game) for game in Subscription().hear(text.encode())] == [
        substance(game) for game in GAMES
    ]
    game = Subscription().one(b"1. e4 e5 2. Nf3 *")
    assert (moves(game), game.key) == ("e4 e5 Nf3", "open/r1/7")


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b"{", "broken JSON"),
        (
            b'{"moves": 3}',
            "JSON that is no game (Expected `str | array`, got `int` - at `$.moves`)",
        ),
        (b'{"a": 1}', "JSON without moves or fen"),
        (b'{"moves": "", "start_fen": "x"}', "JSON with a start_fen that is no position"),
        (b'{"fen": "8/8/8/8/8/8/8/8 w"}', "a fen that is no position"),
        (b'{"moves": "", "white": {"elo": -1}}', "JSON that is no game"),
        (b'{"moves": ["e4"' + b" " * MAX_JSON_BYTES, "JSON of more than 1048576 bytes"),
        (b"x" * 2_000_001, "more than 2000000 bytes"),
        (b"<html>", "an HTML page (perhaps a login page)"),
        (b"\x89PNG\r\n", "a picture"),
        (b"Temperature 21", "text that is not PGN"),
        (b'{"moves": ' + b"[" * 100_000, "broken JSON"),
    ],
)
def test_what_is_no_game_is_named_and_leaves_the_game_as_it_was(
    payload: bytes, problem: str
) -> None:
    board = Subscription()
    board.one({"moves": "e4"})
    assert board.hear(payload) == []
    assert (board.games.problem("open/r1/7") or "").startswith(problem)
    assert moves(board.one({"moves": "e4 e5"})) == "e4 e5"
    assert board.games.problem("open/r1/7") is None


def test_messages_that_nobody_took_become_one() -> None:
    board = Subscription()
    for plies in range(1, 20):
        game = msgspec.structs.replace(GAMES[0], moves=GAMES[0].moves[:plies])
        for _ in board.games.read("a/1", told_json(game)):
            pass
    ((latest,), complete) = board.games.take()
    assert (len(latest.moves), complete) == (19, False)
    assert board.games.take() == ([], False)


def test_an_empty_payload_takes_an_unfinished_game_away_and_no_finished_one() -> None:
    board = Subscription()
    board.hear({"moves": "e4", "result": "1-0", "white": "A1", "black": "B1"}, "a/1")
    board.hear({"moves": "e4", "white": "A2", "black": "B2"}, "a/1")
    board.hear({"moves": "e4", "result": "0-1", "white": "A3", "black": "B3"}, "a/2")
    board.hear(b"", "a/2")
    assert board.games.take() == ([], False)
    for _ in board.games.read("a/1", b""):
        pass
    games, complete = board.games.take()
    assert complete and [game.headers.white.name for game in games] == ["A1", "A3"]


@pytest.mark.slow
def test_topics_beyond_any_event_are_left_out() -> None:
    board = Subscription()
    for number in range(MAX_TOPICS + 10):
        for _ in board.games.read(f"flood/{number}", b"1. e4 *"):
            pass
    assert len(board.games.take()[0]) == MAX_TOPICS


@pytest.mark.slow
def test_finished_games_whose_topics_are_emptied_are_bounded_too() -> None:
    board = Subscription()
    for number in range(MAX_TOPICS + 10):
        board.hear({"id": str(number), "moves": "e4", "result": "1-0"}, "a/1")
        board.hear(b"", "a/1")
    board.hear({"moves": "e4"}, "a/2")
    for _ in board.games.read("a/2", b""):
        pass
    games, complete = board.games.take()
    assert complete and len(games) == MAX_TOPICS


@given(
    st.binary(max_size=200) | st.text(max_size=100).map(lambda text: ('{"moves":"' + text).encode())
)
def test_any_bytes_are_a_game_or_a_problem(payload: bytes) -> None:
    board = Subscription()
    games = board.hear(payload)
    assert games or board.games.problem("open/r1/7") or not payload.strip()
