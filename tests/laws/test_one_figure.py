"""One figure, whoever works it out: a game as it went on, after a kill, explained from
the journal, analysed from its final PGN, and by the second implementation.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import chess
import pytest
from msgspec.structs import replace

from live.commands.explain_rating import build_explanation
from live.engine.engine_settings import build_limit
from live.engine.search import Position, Search, SearchResult
from live.engine.search_key import SearchKey, SearchKeys
from live.event.rate_game import COLORS
from live.journal.journal_reader import JournalReader
from live.journal.recorded_event import rebuild_event
from live.messages.figures import GameDetail
from live.messages.from_sources import (
    FeedReport,
    GameReport,
    Headers,
    Move,
    Player,
    Result,
)
from live.ratings.perceived_rating import read_rating
from live.rehearse.rehearsal import write_pgn
from live.server.analysis import Analysis, build_analysis, to_json
from live.sources.pgn_file import read_pgn_file
from tests.event.answered_event import (
    ARITHMETIC,
    FEED,
    AnsweredEvent,
    FollowedEvent,
    confirm_games,
    left_behind,
)
from tests.event.arithmetic import answer, line
from tests.ratings import second_implementation as second
from tests.ratings.test_perceived_rating import as_move, close

START = chess.STARTING_FEN
RESULTS: tuple[Result, ...] = ("1-0", "1/2-1/2", "0-1", "*")
#: White's and Black's Elo as they are in the end; in the last game neither has one.
ELOS = (
    (2251, 1655),
    (2700, 2745),
    (None, 1800),
    (1400, 1420),
    (2100, None),
    (None, None),
)


def final(number: int, moves: tuple[Move, ...]) -> GameReport:
    white, black = ELOS[number % len(ELOS)]
    players = Player(f"White {number}", elo=white), Player(f"Black {number}", elo=black)
    headers = Headers(
        *players, event="Open", round=f"1.{number + 1}", time_control="90+30"
    )
    return GameReport("", headers, START, moves, RESULTS[number % 4])


def engine(search: Search) -> SearchResult:
    """The same in one position, however it came about."""
    board = chess.Board(search.position.start_fen)
    for uci in search.position.moves:
        board.push_uci(uci)
    return answer(replace(search, position=Position(board.fen(), ())))


def reply(service: AnsweredEvent) -> None:
    """The engine answers, and the journal has it, as in a service."""
    search, request_id = service.asked.popleft()
    found = service.engine(search)
    key = SearchKeys(build_limit(service.config.engine)).build_key(search)
    assert isinstance(key, SearchKey)
    service.journal.journal.store_result(str(ARITHMETIC), key, found)
    service.apply_result(request_id, found)


def history(chance: random.Random, end: GameReport) -> list[GameReport]:
    """How a source came to say so: move by move in leaps, with takebacks, corrections,
    ratings that are corrected, and a result that is withdrawn.
    """
    told = [replace(end, moves=(), result="*")]
    while len(told[-1].moves) < len(end.moves):
        at = len(told[-1].moves)
        news = replace(end, moves=end.moves[: at + chance.randint(1, 5)])
        match chance.randint(0, 6):
            case 0:
                back = chance.randint(max(0, at - 8), at)
                news = replace(news, moves=end.moves[:back])
            case 1:
                wrong = add_two_moves(chance, end.moves[:at])
                told.append(replace(end, moves=wrong, result="*"))
            case 2:
                white = replace(end.headers.white, elo=chance.randint(900, 2900))
                headers = replace(end.headers, white=white)
                news = replace(news, headers=headers)
        result: Result = "1-0" if chance.randint(0, 6) == 0 else "*"
        told.append(replace(news, result=result))
    return [*told, end]


def add_two_moves(chance: random.Random, moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """With two moves that were not played."""
    board = chess.Board()
    for move in moves:
        board.push_uci(move.uci)
    for _ in range(2):
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if legal:
            played = chance.choice(legal)
            moves += (Move(played.uci(), board.san(played)),)
            board.push(played)
    return moves


def figures(whole: Analysis) -> object:
    """All that is rated, by who plays; games without their ids."""
    games = {}
    for game in whole.games:
        games[game.white.name, game.black.name] = (
            game.curves,
            game.methods,
            game.head_to_head,
            game.model,
            game.note,
            [replace(ply, clock_s=None, spent_s=None) for ply in game.plies],
        )
    return games, sorted(whole.players, key=lambda view: view.name), whole.engine


def agrees_with_the_second(service: FollowedEvent, detail: GameDetail) -> None:
    """The sums within 1e-6 Elo, and what is shown of them."""
    rater = service.state.rate_again(detail.id)
    rated = [view.elo for view in service.state.players() if view.elo is not None]
    sides = [
        (color, side)
        for color in COLORS
        if (side := rater.trace_side(color, 999)) is not None
    ]
    moves = []
    for color, side in sides:
        moves += [as_move(color, each.turn) for each in side.moves]
    reader = sides[0][1].reader
    slow = second.figures(
        [json.loads(to_json(model)) for model in reader.models],
        sorted(moves, key=lambda move: move.ply),
        {"white": detail.white.elo, "black": detail.black.elo},
        field=20 * round(sum(rated) / len(rated) / 20),
        scale=reader.scale,
        over=False,
    )
    for color, curve in zip(
        COLORS, (detail.curves.white, detail.curves.black), strict=True
    ):
        points = {point.ply: point for point in curve}
        assert len(slow[color]) == max((point.counted for point in curve), default=0)
        for expected in slow[color]:
            side = rater.trace_side(color, expected.ply)
            found = (
                read_rating(side.evidence, reader.prior_sd)
                if side is not None
                else None
            )
            assert found is not None and close(found, expected[1:])
            point = points[expected.ply]
            if detail.result == "*" or point is not curve[-1]:
                shown = (
                    point.perceived,
                    point.low,
                    point.high,
                    point.usual_low,
                    point.usual_high,
                )
                known = [_round_shown_elo(each) for each in found[1:6]]
                if found.counted < 10:
                    known[3:] = [None, None]
                assert shown == (tuple(known) if found.counted >= 5 else (None,) * 5)


def _round_shown_elo(elo: float | None) -> int | None:
    return None if elo is None else round(min(max(elo, 800), 3200))


async def check(service: FollowedEvent, path: Path, ends: Sequence[GameReport]) -> None:
    """Everything that was worked out live is worked out alike by whoever reads journal
    or PGN.
    """
    live = build_analysis(service.state)
    for detail in live.games:
        assert all(view.final for view in detail.plies)
        agrees_with_the_second(service, detail)
    with JournalReader.open(path) as reader:
        again = rebuild_event(reader, path)
        explained = build_analysis(again.state)
        assert figures(explained) == figures(live)
        for detail in explained.games:
            for point in (*detail.curves.white, *detail.curves.black):
                made = build_explanation(again, detail, point.ply).perceived
                if made is not None and point.ply < len(detail.plies) - 1:
                    assert point.perceived in (None, _round_shown_elo(made.rating))
    path.with_name("final.pgn").write_text("\n".join(map(write_pgn, ends)))


@pytest.mark.parametrize("seed", range(3))
async def test_twelve_games_have_one_figure_each(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    ends = []
    for number in range(4):
        moves = line(*(chance.randrange(99) for _ in range(22)))
        ends.append(final(4 * seed + number, moves))
    path = tmp_path / "journal.sqlite"
    service = AnsweredEvent(path, engine)
    with service.journal.opened(service.config):
        await service.restore()
        histories = [history(chance, end) for end in ends]
        for at in range(max(map(len, histories))):
            now = tuple(each[min(at, len(each) - 1)] for each in histories)
            await service.take(FeedReport(FEED, now, complete=True))
            # Scores come late and in any order.
            for _ in range(chance.randint(0, 30)):
                if service.asked:
                    service.asked.rotate(chance.randrange(len(service.asked)))
                    reply(service)
        while service.asked:
            reply(service)
        service.flush()
        killed = left_behind(path, tmp_path, "killed")
        live = build_analysis(service.state)
        await check(service, path, ends)
    again = AnsweredEvent(killed, engine)
    with again.journal.opened(again.config):
        await again.restore()
        assert not again.asked
        assert figures(confirm_games(build_analysis(again.state))) == figures(live)
    fresh = AnsweredEvent(engine=engine)
    await fresh.take(read_pgn_file(tmp_path / "final.pgn"))
    fresh.answer_all()
    assert figures(build_analysis(fresh.state)) == figures(live)
