"""The JSON of DGT LiveChess Cloud → whole-game reports. Pure.

There is no public description. The fields are those that lila (``DgtJson``, ``RelayFetch``) and
pgn-mule (``source/lcc.ts``) read, and what the service was seen to send. Players and results come
from the pairing list, moves and clocks from one file a board; both may be missing at any time.
"""

from __future__ import annotations

import re
from typing import TypeVar

import chess
import msgspec

from live.events import GameReport, Headers, Move, Player, Result
from live.feeds.move_list import ListedMove, with_going_on
from live.feeds.pgn.pgn_headers import clean
from live.feeds.result_spelling import read_result
from live.feeds.san import MAX_PLIES, MoveReader, UnplayableMove

#: A file says "standard chess" by this Chess960 position number, and says it always.
STANDARD_POSITION = 518
NAME_CHARS = 100

_TIMES = re.compile(r"(\d{1,7})?(?:\+(\d{1,7}))?\Z")
#: LiveChess marks the result by putting the kings on the centre squares; boards send that as a
#: last move (lila RelayInputSanity).
_KING_TO_CENTRE = re.compile(r"K[a-h]?[1-8]?x?[de][45][+#]?\Z")
RESULTS: dict[str, Result] = {"WHITEWIN": "1-0", "BLACKWIN": "0-1", "DRAW": "1/2-1/2"}


class CloudRound(msgspec.Struct, frozen=True):
    """How many games a round has, and how many of them are being played."""

    count: int = 0
    live: int = 0


class CloudTournament(msgspec.Struct, frozen=True):
    """``tournament.json``."""

    name: str | None = None
    location: str | None = None
    timecontrol: str | None = None
    rounds: list[CloudRound] = []


class CloudPlayer(msgspec.Struct, frozen=True):
    """A player in the pairing list; there is no rating."""

    fname: str | None = None
    mname: str | None = None
    lname: str | None = None
    title: str | None = None
    federation: str | None = None
    fideid: int | str | None = None


class CloudPairing(msgspec.Struct, frozen=True):
    """One board of ``index.json``."""

    white: CloudPlayer | None = None
    black: CloudPlayer | None = None
    result: str | None = None
    live: bool | None = None


class CloudRoundIndex(msgspec.Struct, frozen=True):
    """``round-N/index.json``."""

    date: str | None = None
    pairings: list[CloudPairing] = []


class CloudClocks(msgspec.Struct, frozen=True):
    """The clocks right now, seconds; there while a game is live."""

    white: float | None = None
    black: float | None = None


class CloudBoard(msgspec.Struct, frozen=True):
    """``round-N/game-M.json``."""

    live: bool | None = None
    chess960: int | None = None
    result: str | None = None
    clock: CloudClocks | None = None
    moves: list[str] = []


T = TypeVar("T", CloudTournament, CloudRoundIndex, CloudBoard)


def read(body: bytes, kind: type[T]) -> T | None:
    """One of the three files, or None when it is not what it should be."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def current_round(tournament: CloudTournament) -> int:
    """The round to follow when none was named: the last with live games, else the last with any."""
    live = [number for number, each in enumerate(tournament.rounds, start=1) if each.live > 0]
    held = [number for number, each in enumerate(tournament.rounds, start=1) if each.count > 0]
    return max(live or held, default=1)


def game_reports(
    tournament: CloudTournament,
    round_number: int,
    number: int,
    index: CloudRoundIndex,
    board: CloudBoard | None,
) -> tuple[GameReport, ...]:
    """Board ``number`` (from 1) of a round; ``board`` is None while it has no file.

    An illegal move ends the game there with ``problem``, and where the game went on from it, that
    is a second one; kings put in the centre at the end are no moves at all.
    """
    pairing = index.pairings[number - 1]
    position = STANDARD_POSITION if board is None else board.chess960
    chess960 = position is not None and position != STANDARD_POSITION and 0 <= position < 960
    start = chess.Board(chess960=chess960)
    if chess960 and position is not None:
        start.set_chess960_pos(position)
    start_fen = start.fen()
    moves, problem = _moves(start, board) if board is not None else ([], None)
    headers = Headers(
        white=player_of(pairing.white),
        black=player_of(pairing.black),
        event=clean(tournament.name or "", 200),
        site=clean(tournament.location or "", 200),
        round=f"{round_number}.{number}",
        board=number,
        date=clean(index.date or "", 10).replace("-", "."),
        time_control=clean(tournament.timecontrol or "", NAME_CHARS),
        variant="chess960" if chess960 else "standard",
    )
    # No key: organisers reorder boards, so a number is no name of a game.
    result = _result(pairing, board)
    game = GameReport("", headers, start_fen, tuple(moves), result, None, problem)
    if problem is None or board is None:
        return (game,)
    names = (headers.white.name, headers.black.name)
    who = "/".join((headers.event, headers.round.partition(".")[0], *names))
    return with_going_on(game, [_listed(text) for text in board.moves[:MAX_PLIES]], who=who)


def _listed(text: str) -> ListedMove:
    san, _, times = text.strip().partition(" ")
    return ListedMove(san, *_times(times))


def _result(pairing: CloudPairing, board: CloudBoard | None) -> Result:
    """The pairing's word; the board's own code where the pairing is silent and the game over."""
    result = read_result(pairing.result or "")
    if result == "*" and board is not None and not board.live:
        return RESULTS.get(board.result or "", "*")
    return result


def player_of(person: CloudPlayer | None) -> Player:
    if person is None:
        return Player("?")
    first = " ".join(clean(part or "", NAME_CHARS) for part in (person.fname, person.mname)).strip()
    name = ", ".join(part for part in (clean(person.lname or "", NAME_CHARS), first) if part)
    fide_id = str(person.fideid or "")
    return Player(
        name=name or "?",
        title=clean(person.title or "", NAME_CHARS) or None,
        fide_id=int(fide_id) or None
        if fide_id.isascii() and fide_id.isdigit() and len(fide_id) < 11
        else None,
        federation=clean(person.federation or "", NAME_CHARS) or None,
    )


def _moves(start: chess.Board, board: CloudBoard) -> tuple[list[Move], str | None]:
    mover = MoveReader(start)
    moves: list[Move] = []
    problem = None
    told = board.moves[:MAX_PLIES]
    for ply, text in enumerate(told, start=1):
        san, _, times = text.strip().partition(" ")
        try:
            uci, played = mover.play_san(san)
        except UnplayableMove as error:
            if not (len(told) - ply <= 1 and _KING_TO_CENTRE.fullmatch(san)):
                problem = f"{error} at ply {ply}"
            break
        clock_s, spent_s = _times(times)
        moves.append(Move(uci, played, clock_s, spent_s))
    if board.live and board.clock is not None and problem is None:
        # The board has played the moves: the side not to move there moved last.
        _mend_clocks(moves, board.clock, not start.turn)
    return moves, problem


def _times(text: str) -> tuple[float | None, float | None]:
    """``4903+556``: seconds left and spent; either may be missing."""
    found = _TIMES.match(text.strip())
    if found is None:
        return None, None
    left, spent = found.groups()
    return (float(left) if left else None, float(spent) if spent else None)


def _mend_clocks(moves: list[Move], clock: CloudClocks, mover: chess.Color) -> None:
    """The clock of the side that is not thinking stands still, and is right where the file lags
    behind (lila RelayFetch replaces the last two; the other one is running).
    """
    if moves:
        left_s = clock.white if mover == chess.WHITE else clock.black
        if left_s is not None and left_s >= 0:
            moves[-1] = msgspec.structs.replace(moves[-1], clock_s=float(left_s))


def due_s(board: CloudBoard | None, unchanged_s: float, *, over: bool = False) -> float:
    """Seconds after which a board's file is worth asking for again.

    As kind as lila is: eight minutes for a finished game, 20 s for one without moves or file,
    and 4 s for one being played, growing to 16 s while its player thinks long. ``over``: the
    pairing list has a result already. Then the last moves should be there soon or never, and where
    there is no file none is to come.
    """
    if board is None:
        return 480.0 if over else 20.0
    if not board.live and board.result not in (None, "", "*"):
        return 480.0
    if over and not board.live:
        return min(480.0, max(4.0, unchanged_s / 2))
    return min(16.0, max(4.0, unchanged_s / 8)) if board.moves or over else 20.0
