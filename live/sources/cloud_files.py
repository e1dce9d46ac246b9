"""The JSON files of DGT LiveChess Cloud, and the game reports built from them. No I/O.

The service has no public description. The fields are those that lila (``DgtJson``,
``RelayFetch``) and pgn-mule (``source/lcc.ts``) read, and those that the service was
observed to send. Players and results come from the pairing list, moves and clocks from
one file per board. The pairing list and any board's file can be missing at any time.
"""

import re
from typing import Annotated

import chess
import msgspec
from msgspec.structs import replace

from live.messages.from_sources import (
    GameReport,
    GameReports,
    Headers,
    Player,
    Result,
    Unread,
)
from live.messages.values import Value
from live.process.loop_slices import run_without_pause
from live.sources.foreign_json import ForeignObject, add_unread
from live.sources.game_line import MAX_PLIES, GameLine, ListedMove
from live.sources.pgn_headers import NAME_CHARS, clean_text, create_player
from live.sources.position_tracker import read_continuation
from live.sources.typography import normalise_text

#: Chess960 position number of the standard starting position. Files of standard chess
#: always contain it.
STANDARD_POSITION = 518
_TIMES = re.compile(r"(\d{1,7})?(?:\+(\d{1,7}))?\Z")
#: A king's move to a centre square. LiveChess marks the result by the kings on centre
#: squares; boards send that as a last move (lila RelayInputSanity).
_KING_TO_CENTRE = re.compile(r"K[a-h]?[1-8]?x?[de][45][+#]?\Z")


class CloudRound(ForeignObject):
    """The number of games in a round, and how many of them are in progress."""

    count: int = 0
    live: int = 0


class CloudTournament(ForeignObject):
    """Contents of ``tournament.json``."""

    name: str | None = None
    location: str | None = None
    timecontrol: str | None = None
    rounds: tuple[CloudRound, ...] | None = None

    @property
    def is_listed(self) -> bool:
        """Whether all rounds of the tournament could be read."""
        return self.rounds is not None and not any(
            round_.unread for round_ in self.rounds
        )


class CloudPlayer(Value):
    """A player in the pairing list, which has no ratings."""

    fname: str | None = None
    mname: str | None = None
    lname: str | None = None
    title: str | None = None
    federation: str | None = None
    fideid: int | None = None


class CloudPairing(ForeignObject):
    """Pairing of one board in ``index.json``."""

    white: CloudPlayer | None = None
    black: CloudPlayer | None = None
    result: Result | None = None
    live: bool | None = None


class CloudRoundIndex(ForeignObject):
    """Contents of ``round-N/index.json``."""

    date: str | None = None
    pairings: tuple[CloudPairing, ...] | None = None


class CloudClocks(Value):
    """The present clock times in seconds, sent while a game is live."""

    white: Annotated[float, msgspec.Meta(ge=0)] | None = None
    black: Annotated[float, msgspec.Meta(ge=0)] | None = None


class CloudBoard(ForeignObject):
    """Contents of ``round-N/game-M.json``."""

    live: bool | None = None
    chess960: Annotated[int, msgspec.Meta(ge=0, le=959)] | None = None
    result: Result | None = None
    clock: CloudClocks | None = None
    moves: tuple[str, ...] | None = None


def find_current_round(tournament: CloudTournament) -> int:
    """Return the number of the round to follow if none was requested: the last one with
    live games; without one, the last one with any games; otherwise 1.
    """
    rounds = list(enumerate(tournament.rounds or (), start=1))
    live = [number for number, round_ in rounds if round_.live > 0]
    return max(
        live or [number for number, round_ in rounds if round_.count > 0], default=1
    )


def build_reports(
    tournament: CloudTournament,
    round_number: int,
    number: int,
    index: CloudRoundIndex,
    board: CloudBoard | None,
) -> GameReports:
    """Return the reports for board ``number`` (from 1) of a round; ``board`` is None
    while its file does not exist.

    An illegal move ends the game at that point and is described in ``problem``. If the
    moves after it form another game, that game is the second report. Kings placed in
    the centre at the end are not moves.
    """
    assert index.pairings is not None
    pairing, file = index.pairings[number - 1], board or CloudBoard(live=True)
    start = _read_start(file)
    # Without a known starting position no moves can be read.
    texts = () if _is_start_lost(file) else file.moves or ()
    listed_moves = [_read_move(text) for text in texts[:MAX_PLIES]]
    line = GameLine(start)
    run_without_pause(line.play_moves(listed_moves))
    moves, problem = line.moves, line.problem
    unplayed = listed_moves[len(moves) :]
    if (
        problem is not None
        and len(unplayed) <= 2
        and _KING_TO_CENTRE.fullmatch(unplayed[0].text)
    ):
        problem = None
    if file.live and file.clock is not None and problem is None and moves:
        # The clock of the side that is not thinking has stopped, and its time is
        # correct even where the file lags behind. lila RelayFetch replaces the times of
        # the last two moves, but the other clock is running.
        left_s = file.clock.white if len(moves) % 2 else file.clock.black
        if left_s is not None:
            moves[-1] = replace(moves[-1], clock_s=left_s)
    headers = Headers(
        white=read_cloud_player(pairing.white),
        black=read_cloud_player(pairing.black),
        event=clean_text(tournament.name or "", 200),
        site=clean_text(tournament.location or "", 200),
        round=f"{round_number}.{number}",
        board=number,
        date=clean_text(index.date or "", 10).replace("-", "."),
        time_control=clean_text(tournament.timecontrol or "", NAME_CHARS),
        variant="chess960" if start.chess960 else "standard",
    )
    # Prefer the result in the pairing list; use the board's own result if the list has
    # none and the game has ended.
    result = pairing.result or "*"
    sent_by: list[ForeignObject] = [pairing]
    if result == "*" and not file.live:
        result = file.result or "*"
        sent_by.append(file)
    unread: list[Unread] = []
    if result == "*" and any("result" in sender.unread for sender in sent_by):
        unread.append("result")
    if board is not None and problem is None:
        problem = _describe_unread_moves(board)
    # Without a file, nothing is known about the moves.
    if board is None or problem is not None:
        unread.append("moves")
    # No key: organisers reorder boards, so a board's number does not identify a game.
    game = GameReport(
        key="",
        headers=headers,
        start_fen=start.fen(),
        moves=tuple(moves),
        result=result,
        problem=problem,
        unread=tuple(unread),
    )
    names = (headers.white.name, headers.black.name)
    name = "/".join((headers.event, headers.round.partition(".")[0], *names))
    first, *rest = run_without_pause(
        read_continuation(game, line, listed_moves, name=name)
    )
    described = {"moves", "chess960"} if _is_start_lost(file) else {"moves"}
    other_unread = {
        path: description
        for path, description in file.unread.items()
        if path not in described
    }
    return add_unread(first, pairing.unread | other_unread), *rest


def _read_start(board: CloudBoard) -> chess.Board:
    """Return the starting position of the game."""
    if board.chess960 in (None, STANDARD_POSITION):
        return chess.Board()
    return chess.Board.from_chess960_pos(board.chess960)


def _is_start_lost(board: CloudBoard) -> bool:
    return board.chess960 is None and "chess960" in board.unread


def _describe_unread_moves(board: CloudBoard) -> str | None:
    """Return the reason why further moves can be missing, as text for display; None if
    all moves were read.
    """
    if _is_start_lost(board):
        return f"its starting position cannot be read ({board.unread['chess960']})"
    if board.moves is None:
        return f"its moves cannot be read ({board.unread.get('moves', 'null')})"
    if "moves" in board.unread:
        return f"its moves cannot be read further ({board.unread['moves']})"
    return None


def _read_move(text: str) -> ListedMove:
    """Read a move such as ``e4 4903+556``: SAN, seconds left and seconds spent. Either
    number can be missing.
    """
    san, _, times = normalise_text(text).strip().partition(" ")
    match = _TIMES.match(times.strip())
    remaining, spent = match.groups() if match else (None, None)
    return ListedMove(
        san, float(remaining) if remaining else None, float(spent) if spent else None
    )


def read_cloud_player(person: CloudPlayer | None) -> Player:
    if person is None:
        return Player("?")
    first = " ".join(
        clean_text(part or "", NAME_CHARS) for part in (person.fname, person.mname)
    ).strip()
    name = ", ".join(
        part for part in (clean_text(person.lname or "", NAME_CHARS), first) if part
    )
    return create_player(
        name, title=person.title, fide_id=person.fideid, federation=person.federation
    )


def poll_interval_s(
    board: CloudBoard | None, unchanged_s: float, *, is_over: bool = False
) -> float:
    """Return the seconds until a board's file should be requested again.

    The intervals are those of lila: eight minutes for a finished game; 20 s for a game
    without moves or file; 4 s for a game in progress, growing to 16 s while a player
    thinks for long. ``is_over`` means that the pairing list already has a result. Then
    the last moves should appear soon or never, and no file is expected for a board that
    has none.
    """
    if board is None:
        return 480.0 if is_over else 20.0
    if not board.live and board.result not in (None, "*"):
        return 480.0
    if is_over and not board.live:
        return min(480.0, max(4.0, unchanged_s / 2))
    return min(16.0, max(4.0, unchanged_s / 8)) if board.moves or is_over else 20.0
