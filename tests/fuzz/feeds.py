"""Sources: PGN, LiveChess Cloud, LiveChess boards, MQTT, lichess ndjson, a chess
server's lines, addresses; and what follows from what they say.
"""

# ruff: noqa: E501 - what sources send has long lines
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import msgspec

from live.errors import ConfigError, FeedError
from live.games.report_changes import plan_report_steps
from live.messages.from_sources import FeedReport, GameReport
from live.process.loop_slices import run_without_pause
from live.settings import FeedsConfig
from live.sources.cloud_files import (
    CloudBoard,
    CloudRoundIndex,
    CloudTournament,
    build_reports,
    find_current_round,
    poll_interval_s,
)
from live.sources.foreign_json import read_json
from live.sources.lichess import Tour
from live.sources.lichess_game import LichessGameStream, LichessTvStream, NdjsonLines
from live.sources.livechess_messages import LiveChessMessages
from live.sources.mqtt_games import MqttGames
from live.sources.open_feed import open_feed
from live.sources.partial_reads import PartialReadFilter, TextReading
from live.sources.pgn_decoder import PgnDecoder, PgnReader
from live.sources.pgn_detection import describe_non_pgn
from live.sources.pgn_text import read_charset
from live.sources.retry import FeedTrouble, read_capped_retry_after_s
from live.sources.source_address import redact_address
from tests.event.arithmetic import Held
from tests.fuzz.mutation import HOSTILE, Target

DATA = Path(__file__).resolve().parent.parent / "data"

#: Between the messages of one input.
CUT = b"\n--cut--\n"

SHORT = b"""[Event "Open A"]
[Site "Reykjavik"]
[Round "3.1"]
[White "Lorica Nevar, Davin"]
[Black "Fiandro, Jocelin"]
[WhiteElo "2448"]
[BlackElo "2402"]
[WhiteFideId "2285223"]
[Result "*"]

1. e4 {[%clk 1:29:56][%eval 0.2]} e5 2. Nf3 (2. f4 exf4) Nc6 $1 3. Bb5 a6 4. Ba4 Nf6 5. O-O *

[Event "Open A"]
[Round "3.2"]
[White "?"]
[Black "Sanz"]
[SetUp "1"]
[FEN "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"]
[Variant "Chess960"]
[Result "1-0"]

1. a8=Q+ {(0:05:00)} Kd7 ; comment
2. Qd5+ 1-0

"""
PGN_TOKENS = (
    *HOSTILE,
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b";",
    b"%",
    b"$",
    b"*",
    b"1-0",
    b"0-1",
    b"1/2-1/2",
    b"e4",
    b"Nf3",
    b"O-O-O",
    b"e8=Q#",
    b"--",
    b"Z0",
    b"@@@@",
    b"1.",
    b"1...",
    b"[%clk ",
    b"[%eval #-",
    b"[%emt ",
    b'[Event "',
    b'[FEN "',
    b'[Variant "',
    b'[Result "',
    b'[Round "',
    b'[White "',
    b'"]\n',
    b"\n\n",
    b"\n\n\n",
    b"\xc2\xa0",
    b"\xe2\x80\x8b",
    b"\xe2\x80\x93",
    b"\xa0",
    b"\xc2\xad",
    b"\xe2\x80\x9c",
    b"Sf3",
    b"Cc6",
    b"Pf3",
    b"\xd0\x9af3",
    b"1.e4e5",
    b"{4:49}",
    b"[%clk 59:01]",
    b"[%eval 23,14]",
    b" 1 - 0",
    b" * 1. d4 ",
    b'[WhiteClock "0:59:52"]\n',
    b"(2300)",
)


def _bytewise(data: bytes) -> Iterator[bytes]:
    """Cut in places that follow from the bytes themselves."""
    at, step = 0, 1
    while at < len(data):
        yield data[at : at + step]
        step, at = 1 + (data[at] * 7 + at) % 997, at + step


def pgn_stream(data: bytes) -> None:
    decoder = PgnDecoder()
    whole = list(chain.from_iterable(map(decoder.decode, _bytewise(data))))
    whole += decoder.finish_input()
    for game in whole:
        msgspec.json.encode(game)
    decoder.reset()


def pgn_text(data: bytes) -> None:
    reader, settling = PgnReader(), PartialReadFilter(1.0)
    for text in (data[: len(data) // 2], data, data):
        games = reader.read_text(text)
        settling.confirm_games([TextReading(tuple(games), whole=False)], 0.0)
    games = reader.read_text(data, closed=True)
    assert games == PgnReader().read_text(data, closed=True), (
        "a text means the same however it came"
    )
    settling.confirm_games([TextReading(tuple(games))], 2.0)
    describe_non_pgn(data[:2000], "")


def games(data: bytes) -> None:
    """Reports of hostile texts, one after the other, through plan and ledger."""
    state = Held()  # a fault of ours ends it, where a game would be given up
    reader = PgnReader()
    for text in data.split(CUT):
        found = tuple(reader.read_text(text, closed=True))[:20]
        report = FeedReport(
            "fuzz", tuple(map(_shorten, found)), complete=len(text) % 2 == 0
        )
        for _ in state.apply_report(report):
            pass
        again = plan_report_steps(state.index, report)
        assert not again, f"what was taken in changes nothing more: {again}"
    for view in list(state.games()):
        msgspec.json.encode(state.game(view.id))


def _shorten(game: GameReport) -> GameReport:
    return msgspec.structs.replace(game, moves=game.moves[:60])


TOURNAMENT = b"""{"id":"x","name":"Open","location":"Oslo","country":"no","timecontrol":"90+30",
"rounds":[{"count":3,"live":2},{"count":0,"live":0}],"eboards":["1","2"]}"""
INDEX = b"""{"date":"2025-04-07","pairings":[{"white":{"fname":"Magnus","mname":null,"lname":"Carlsen",
"title":"GM","federation":"NOR","gender":"M","fideid":1503014},"black":{"fname":"A","lname":"B",
"fideid":"123"},"result":"*","live":true},{"white":null,"black":null,"result":"1-0","live":false}]}"""
BOARD = b"""{"live":true,"serialNr":"1","firstMove":1,"chess960":518,"result":"WHITEWIN",
"comment":null,"clock":{"white":5400,"black":5300.5,"time":1},"moves":["e4 5400+3","e5 5399+1",
"Nf3","Nc6 +7","Ke4"]}"""


def cloud(data: bytes) -> None:
    pieces = [*data.split(CUT), b"", b"", b""]
    tournament, index, board = (
        read_json(pieces[0], CloudTournament),
        read_json(pieces[1], CloudRoundIndex),
        read_json(pieces[2], CloudBoard),
    )
    read_json(pieces[0], Tour)
    if tournament is not None:
        number = find_current_round(tournament)
        if index is not None:
            for at in range(1, len((index.pairings or ())[:5]) + 1):
                report = build_reports(tournament, number, at, index, board)
                msgspec.json.encode(report)
    assert poll_interval_s(board, 10.0) > 0


BOARDS = CUT.join(
    [
        b'{"response":"call","id":1,"param":[{"serialnr":"23946","state":"ACTIVE"}]}',
        b'{"response":"feed","id":1,"param":{"serialnr":"23946","board":'
        b'"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR","clock":{"white":5400,"black":5400}}}',
        b'{"response":"feed","id":1,"param":{"serialnr":"23946","san":["e4","e5"],'
        b'"start":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"}}',
        b'{"response":"feed","id":1,"param":{"san":[]}}',
        b'{"response":"error","id":1,"param":{"message":"x"}}',
    ]
)


def boards(data: bytes) -> None:
    held = LiveChessMessages()
    held.build_boards_request()
    for message in data.split(CUT):
        answers, games = run_without_pause(held.apply_message(message, 0.0))
        assert all(isinstance(answer, bytes) for answer in answers)
        for game in games:
            msgspec.json.encode(game)
        text = message.decode("utf-8", "replace")
        run_without_pause(held.apply_message(text, 0.0))
    held.hall.mark_disconnected()


MQTT = CUT.join(
    [
        (
            b'{"white": "Fischer", "black": {"name":"Spassky","elo":2660}, '
            b'"moves": "e4 e5 Nf3"}'
        ),
        b'{"event":"Club","round":1,"board":2,"result":"*","variant":"chess960","start_fen":'
        b'"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 '
        b'1","moves":[{"move":"d4",'
        b'"clock_s":5395},{"move":"g8f6","clock_s":5388,"spent_s":3}],"id":"x","url":"https://x.y/"}',
        b"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1 e2e4",
        b'{"fen":"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 '
        b'1","move":"e4",'
        b'"white_clock_s":12.5}',
        SHORT,
        b"",
    ]
)


def mqtt(data: bytes) -> None:
    held = MqttGames()
    for number, payload in enumerate(data.split(CUT)):
        topic = f"hall/{number % 3}"
        for _ in held.read_message(topic, payload):
            pass
        held.describe_problem(topic)
        msgspec.json.encode(held.note)
        for game in held.take_reports()[0]:
            msgspec.json.encode(game)


NDJSON = b"""{"id":"LuGQwhBb","variant":{"key":"standard"},"speed":"blitz","initialFen":"startpos",\
"status":{"id":20,"name":"started"},"players":{"white":{"user":{"name":"a","title":"GM"},\
"rating":2500},"black":{"ai":8}},"fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"}
{"fen":"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b","lm":"e2e4","wc":180,"bc":180}
{"fen":"rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w","lm":"e7e5","wc":180,"bc":179}
{"id":"LuGQwhBb","status":{"id":31},"winner":"white"}
"""
TV = b"""{"t":"featured","d":{"id":"qVSOPtMc","orientation":"black","players":[{"color":"white",\
"user":{"name":"x","id":"x"},"rating":2500,"seconds":60},{"color":"black","user":{"name":"y"}}],\
"fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w"}}
{"t":"fen","d":{"fen":"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b","lm":"e2e4","wc":59,"bc":60}}
{"t":"fen","d":{"fen":"8/8/8/8/8/8/8/8 b","lm":"e1h1"}}
"""


def ndjson(data: bytes) -> None:
    lines, game, tv = (
        NdjsonLines(),
        LichessGameStream("https://lichess.org"),
        LichessTvStream("https://lichess.org"),
    )
    for piece in _bytewise(data):
        for line in lines.split_lines(piece):
            for report in (game.read_line(line), tv.read_line(line)):
                if report is not None:
                    msgspec.json.encode(report)
    game.reconnect()


ADDRESSES = (
    b"demo",
    b"https://lichess.org/broadcast/a/b/AbCdEfGh",
    b"https://view.livechesscloud.com/#7b3b5b1c-1111-2222-3333-444455556666/3",
    b"ws://10.0.0.2:1982/api/v1.0",
    b"mqtts://user@broker.example:8883/hall/#",
    b"folder+/nowhere",
    b"http://user:pass@[::1]:80/games.pgn?x=1#y",
)


def address(data: bytes) -> None:
    """The text after --feed."""
    text = data.decode("utf-8", "surrogateescape")[:2000]
    redact_address(text)
    open_feed(text, FeedsConfig())


def answer_headers(data: bytes) -> None:
    """What a web server says in its headers, as HTTP libraries hand it over."""
    text = data.decode("latin-1")
    now = datetime(2026, 7, 1, tzinfo=UTC)
    wait_s = read_capped_retry_after_s(text, now)
    assert wait_s is None or wait_s >= 0
    read_charset(text)


JSON_TOKENS = (
    *HOSTILE,
    b'":',
    b",",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"id"',
    b'"moves"',
    b'"fen"',
    CUT,
)

TARGETS = (
    Target(
        "pgn stream",
        pgn_stream,
        (SHORT, (DATA / "figure-1.pgn").read_bytes()),
        PGN_TOKENS,
    ),
    Target(
        "pgn text", pgn_text, (SHORT, (DATA / "figure-1.pgn").read_bytes()), PGN_TOKENS
    ),
    Target(
        "games",
        games,
        (SHORT, CUT.join((SHORT, SHORT[:-40], SHORT))),
        (*PGN_TOKENS, CUT),
    ),
    Target("cloud", cloud, (CUT.join((TOURNAMENT, INDEX, BOARD)),), JSON_TOKENS),
    Target("boards", boards, (BOARDS,), JSON_TOKENS),
    Target("mqtt", mqtt, (MQTT,), (*JSON_TOKENS, *PGN_TOKENS)),
    Target("ndjson", ndjson, (NDJSON, TV), JSON_TOKENS, (FeedTrouble,)),
    Target(
        "address",
        address,
        ADDRESSES,
        (*HOSTILE, b"://", b"+", b"#", b"@", b":", b"[", b"//"),
        (FeedError, ConfigError),
    ),
    Target(
        "answer headers",
        answer_headers,
        (b"120", b"Wed, 21 Oct 2026 07:28:00 GMT", b'text/plain; charset="utf-8"'),
        HOSTILE,
    ),
)
