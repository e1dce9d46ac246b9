"""Boards in a hall, on which pieces are set back, games are replayed and positions are
analysed all day.
"""

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.games.game_index import GameIndex
from live.games.report_changes import plan_report_steps
from live.messages.from_sources import FeedReport, Headers, Move, Player, Result
from live.process.loop_slices import run_without_pause
from live.sources import hall_games
from live.sources.hall import Hall
from live.sources.hall_board import HallBoard
from live.sources.hall_games import HallGames, Seat
from tests.sources.hall_sources import LINES

# A test of a hall is a course of steps. The games are recorded as the service does it.
# One step is a text:
#
#   `1 Ann-Bob *`  LiveChess has this pairing of round 1 with this result; the result
#                  `-` means that the game has not begun
#   `no pairings`  LiveChess has no pairings
#   `GAME 20`      LiveChess sends the first 20 plies of this line as the moves played
#   `20 s`         20 seconds pass
#   `killed`       the service is killed; the steps that follow happen without it
#   `restart`      the service starts again; if it was running, it is killed first
#   `deaf restart` the same, but LiveChess does not answer the request for the pairings
#   `pairings`     LiveChess answers this request

GRACE_S = 20.0


class HallCourse:
    """One board of a hall, and the games that the service has recorded of it."""

    def __init__(self) -> None:
        self.index = GameIndex()
        self.now_s = 1000.0
        self.seats: dict[str, tuple[Seat, ...]] = {}
        self.line: list[str] | None = None
        """Moves on the board as LiveChess last sent them; None before the first
        message.
        """
        self.is_up = False
        self.start()

    def start(self, *, is_deaf: bool = False) -> None:
        """Start a new run of the service: it requests the pairings, then the boards. If
        ``is_deaf`` is true, LiveChess does not answer the first request.
        """
        known = [game.to_report() for game in self.index]
        self.hall = Hall(known, GRACE_S)
        self.is_up = True
        if not is_deaf:
            self._look()
        board = self.hall.find_or_add_board("S1", self.now_s)
        assert board is not None
        self.board: HallBoard = board
        self._report()
        self._hear()

    def take(self, step: str) -> None:
        match step.split():
            case ["killed"]:
                self.is_up = False
            case ["restart"]:
                self.start()
            case ["deaf", "restart"]:
                self.start(is_deaf=True)
            case ["pairings"]:
                self._look()
            case ["no", "pairings"]:
                self.seats = {}
                self._look()
            case [seconds, "s"]:
                self.now_s += float(seconds)
            case [line, plies] if line in LINES:
                self.line = LINES[line].split()[: int(plies)]
                self._hear()
            case [round_, players, result]:
                self._pair(round_, players, result)
            case _:
                raise AssertionError(step)

    def _pair(self, round_: str, players: str, result: str) -> None:
        white, black = players.split("-")
        headers = Headers(
            Player(white), Player(black), event="Open", round=f"{round_}.3", board=3
        )
        read: Result = "*" if result == "-" else result  # type: ignore[assignment]
        seat = Seat(headers, read, result != "-")
        others = [
            each
            for each in self.seats.get("S1", ())
            if each.headers.round != headers.round
        ]
        rounds = sorted([*others, seat], key=lambda each: each.headers.round)
        self.seats = {"S1": tuple(rounds)}
        self._look()

    def _look(self) -> None:
        if self.is_up:
            run_without_pause(self.hall.apply_pairings(self.seats, self.now_s))
            self._report()

    def _hear(self) -> None:
        if self.is_up and self.line is not None:
            run_without_pause(
                self.hall.apply_moves(self.board, chess.Board(), self.line, self.now_s)
            )
            self._report()

    def _report(self) -> None:
        for step in plan_report_steps(
            self.index, FeedReport("hall", tuple(self.hall.take_changed_games()))
        ):
            self.index.apply(step)

    @property
    def games(self) -> list[str]:
        """Recorded games: players, result, and the name of the line with the number of
        plies.
        """
        found = []
        for game in self.index:
            players = f"{game.headers.white.name}-{game.headers.black.name}"
            found.append(f"{players} {game.result} {_named(game.moves)}")
        return found


def _named(moves: tuple[Move, ...]) -> str:
    text = " ".join(move.san for move in moves)
    named = [line for line, sans in LINES.items() if sans.startswith(text)]
    return f"{named[0] if named else text} {len(moves)}" if moves else "0"


#: For each course: its steps, and the games that the service must have at its end.
COURSES: dict[str, tuple[str, list[str]]] = {
    # The end of a game, with its steps in every order.
    "set back after the result": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "set back before the result": (
        "1 Ann-Bob *, GAME 20, GAME 0, 30 s, 1 Ann-Bob 1-0",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "analysed before the result": (
        "1 Ann-Bob *, GAME 20, GAME 0, NEXT 7, TRIED 18, GAME 0, 1 Ann-Bob 1-0",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "analysed after the result": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, TRIED 18, GAME 0, NEXT 20, ON 26",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "last moves after the result": (
        "1 Ann-Bob *, GAME 18, 1 Ann-Bob 1-0, 2 s, GAME 19, 1 s, GAME 20, 60 s, ON 22",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "analysed within the grace period": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 2 s, TRIED 12, 2 s, GAME 0, 2 s, ON 26",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "a short game set back": (
        "1 Ann-Bob *, GAME 5, GAME 0, 1 Ann-Bob 1/2-1/2",
        ["Ann-Bob 1/2-1/2 GAME 5"],
    ),
    "mated, set back, no result ever": (
        "1 Ann-Bob *, MATE 4, MATE 0, NEXT 2",
        ["Ann-Bob 0-1 MATE 4"],
    ),
    "a forfeit, and a game for fun": (
        "1 Ann-Bob 1-0, 60 s, NEXT 20, NEXT 0",
        ["Ann-Bob 1-0 0"],
    ),
    "the result is another one": (
        (
            "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0, NEXT 9, 1 "
            "Ann-Bob 0-1, NEXT 12"
        ),
        ["Ann-Bob 0-1 GAME 20"],
    ),
    # Results that are withdrawn.
    "taken back, and played on": (
        "1 Ann-Bob *, GAME 12, 1 Ann-Bob 1-0, 60 s, GAME 14, 1 Ann-Bob *, GAME 20",
        ["Ann-Bob * GAME 20"],
    ),
    "taken back, what was played meanwhile counts": (
        "1 Ann-Bob *, GAME 12, 1 Ann-Bob 1-0, 60 s, GAME 14, 1 Ann-Bob -",
        ["Ann-Bob * GAME 14"],
    ),
    "taken back while they analyse": (
        (
            "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, NEXT 6, 1 Ann-Bob *, NEXT 0, "
            "GAME 20, ON 22"
        ),
        ["Ann-Bob * ON 22"],
    ),
    "early, taken back, and there again": (
        "1 Ann-Bob *, GAME 9, 1 Ann-Bob 1-0, 60 s, GAME 12, 1 Ann-Bob *, GAME 20, "
        "1 Ann-Bob 0-1,"
        "60 s, GAME 0",
        ["Ann-Bob 0-1 GAME 20"],
    ),
    # Pieces that are set back and games that are replayed.
    "replayed": (
        "1 Ann-Bob *, GAME 18, GAME 0, GAME 3, GAME 12, GAME 18, GAME 20",
        ["Ann-Bob * GAME 20"],
    ),
    "replayed with other moves": (
        "1 Ann-Bob *, GAME 20, GAME 0, MENDED 12, MENDED 20",
        ["Ann-Bob * MENDED 20"],
    ),
    "begun again after some moves": (
        "1 Ann-Bob *, GAME 6, GAME 0, NEXT 1, NEXT 7",
        ["Ann-Bob * NEXT 7"],
    ),
    "taken back by some moves": (
        "1 Ann-Bob *, GAME 12, GAME 5, GAME 3, GAME 0",
        ["Ann-Bob * 0"],
    ),
    # Pairings that come late or change.
    "a pairing after the moves": (
        "GAME 12, 1 Ann-Bob *, GAME 20",
        ["Ann-Bob * GAME 20"],
    ),
    "a pairing with its result, after all is set back": (
        "GAME 20, GAME 0, 1 Ann-Bob 1-0",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "a board tried before the round": (
        "GAME 12, GAME 0, 1 Ann-Bob *, NEXT 3",
        ["?-? * GAME 12", "Ann-Bob * NEXT 3"],
    ),
    "a name mended": (
        "1 Ann-Bob *, GAME 2, 1 Anna-Bob *, GAME 12, 1 Anna-Bobby 1-0",
        ["Anna-Bobby 1-0 GAME 12"],
    ),
    "a player replaced before the first move": (
        "1 Ann-Bob *, 1 Ann-Cas *, GAME 3",
        ["Ann-Cas * GAME 3"],
    ),
    "both players replaced before the first move": (
        "1 Ann-Bob *, 1 Cas-Dan *, GAME 3",
        ["Cas-Dan * GAME 3"],
    ),
    "both players replaced after some moves": (
        "1 Ann-Bob *, GAME 2, 1 Cas-Dan *, GAME 9, 1 Eve-Fay *, GAME 12",
        ["Eve-Fay * GAME 12"],
    ),
    "colours swapped during the game": (
        "1 Ann-Bob *, GAME 9, 1 Bob-Ann *, GAME 12",
        ["Bob-Ann * GAME 12"],
    ),
    "colours put right after the game": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0, 1 Bob-Ann 0-1",
        ["Bob-Ann 0-1 GAME 20"],
    ),
    "a name mended after the game": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0, 1 Ann-Bobby 1-0",
        ["Ann-Bobby 1-0 GAME 20"],
    ),
    # The next game on the board.
    "the next round": (
        (
            "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0, 2 "
            "Cas-Dan *, NEXT 2, NEXT 9"
        ),
        ["Ann-Bob 1-0 GAME 20", "Cas-Dan * NEXT 9"],
    ),
    "the next round, with the same opening": (
        (
            "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0, 2 "
            "Cas-Dan *, GAME 1, GAME 9"
        ),
        ["Ann-Bob 1-0 GAME 20", "Cas-Dan * GAME 9"],
    ),
    "the next round has begun before its pairing": (
        (
            "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0, NEXT "
            "4, NEXT 9, 2 Cas-Dan *"
        ),
        ["Ann-Bob 1-0 GAME 20", "Cas-Dan * NEXT 9"],
    ),
    "the next round, with no result of the one before yet": (
        (
            "1 Ann-Bob *, GAME 20, GAME 0, NEXT 4, 2 Cas-Dan *, NEXT 6, "
            "1 Ann-Bob 1-0, NEXT 9"
        ),
        ["Ann-Bob 1-0 GAME 20", "Cas-Dan * NEXT 9"],
    ),
    "the next round, before the pieces are put back": (
        (
            "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, 2 Cas-Dan *, TRIED 18, ON 24, "
            "GAME 0, NEXT 2"
        ),
        ["Ann-Bob 1-0 GAME 20", "Cas-Dan * NEXT 2"],
    ),
    "a result mended in the next round": (
        (
            "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0, 2 Cas-Dan *, "
            "NEXT 4, 1 Ann-Bob 0-1"
        ),
        ["Ann-Bob 0-1 GAME 20", "Cas-Dan * NEXT 4"],
    ),
    "the transmission is stopped before the result": (
        (
            "1 Ann-Bob 1-0, 2 Cas-Dan *, NEXT 12, 2 Cas-Dan -, NEXT 13, 2 "
            "Cas-Dan 0-1, 60 s, NEXT 0"
        ),
        ["Ann-Bob 1-0 0", "Cas-Dan 0-1 NEXT 13"],
    ),
    "a round begun by mistake": (
        "1 Ann-Bob *, GAME 9, 2 Cas-Dan *, GAME 10, 2 Cas-Dan -, GAME 12",
        ["Ann-Bob * GAME 12", "Cas-Dan * 0"],
    ),
    "a rematch with the colours swapped, in the same round": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0, 1 Bob-Ann *, NEXT 9",
        ["Ann-Bob 1-0 GAME 20", "Bob-Ann * NEXT 9"],
    ),
    "the winner stays": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, GAME 0, 1 Ann-Cas *, NEXT 9, "
        "1 Ann-Cas 0-1,"
        "60 s, NEXT 0",
        ["Ann-Bob 1-0 GAME 20", "Ann-Cas 0-1 NEXT 9"],
    ),
    "other players, before the pieces are put back": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, 1 Cas-Dan *, GAME 0, NEXT 4",
        ["Ann-Bob 1-0 GAME 20", "Cas-Dan * NEXT 4"],
    ),
    # Events during a stop of the service.
    "played on and over": (
        "1 Ann-Bob *, GAME 14, killed, GAME 20, 1 Ann-Bob 1-0, restart",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "a move put right and over": (
        "1 Ann-Bob *, GAME 14, killed, MENDED 20, 1 Ann-Bob 1-0, restart",
        ["Ann-Bob 1-0 MENDED 20"],
    ),
    "over and set back": (
        "1 Ann-Bob *, GAME 14, killed, 1 Ann-Bob 1-0, GAME 0, restart, NEXT 16",
        ["Ann-Bob 1-0 GAME 14"],
    ),
    "over and analysed": (
        "1 Ann-Bob *, GAME 20, killed, 1 Ann-Bob 1-0, GAME 18, restart",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "over, and another game stands there": (
        "1 Ann-Bob *, GAME 14, killed, 1 Ann-Bob 1-0, NEXT 20, restart",
        ["Ann-Bob 1-0 GAME 14"],
    ),
    "the next round begun": (
        (
            "1 Ann-Bob *, GAME 14, killed, 1 Ann-Bob 1-0, 2 Cas-Dan *, NEXT "
            "16, restart, NEXT 17"
        ),
        ["Ann-Bob 1-0 GAME 14", "Cas-Dan * NEXT 17"],
    ),
    "the next round begun, with no result of the one before": (
        "1 Ann-Bob *, GAME 14, killed, 2 Cas-Dan *, NEXT 16, restart, 1 Ann-Bob 0-1",
        ["Ann-Bob 0-1 GAME 14", "Cas-Dan * NEXT 16"],
    ),
    "a name mended meanwhile": (
        "1 Ann-Bob *, GAME 14, killed, 1 Anna-Bob *, GAME 16, restart",
        ["Anna-Bob * GAME 16"],
    ),
    "set back and replayed meanwhile": (
        "1 Ann-Bob *, GAME 18, GAME 0, killed, GAME 12, restart, GAME 19",
        ["Ann-Bob * GAME 19"],
    ),
    "the first pairing of an evening, after the games of another": (
        "GAME 20, killed, GAME 0, 1 Ann-Bob *, restart, NEXT 3",
        ["?-? * GAME 20", "Ann-Bob * NEXT 3"],
    ),
    "a pairing came meanwhile": (
        "GAME 14, killed, GAME 16, 1 Ann-Bob *, restart",
        ["Ann-Bob * GAME 16"],
    ),
    # The service restarts, and LiveChess is slow to send the pairings.
    "analysed while the pairings were unknown": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, killed, TRIED 11, deaf restart,"
        " TRIED 12, pairings",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "set back while the pairings were unknown": (
        "1 Ann-Bob *, GAME 20, GAME 0, killed, deaf restart, NEXT 3, pairings,"
        " 1 Ann-Bob 0-1",
        ["Ann-Bob 0-1 GAME 20"],
    ),
    "played on while the pairings were unknown": (
        "1 Ann-Bob *, GAME 14, killed, GAME 16, deaf restart, GAME 18, pairings,"
        " GAME 20, 1 Ann-Bob 1-0",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "ended while the service was down and deaf": (
        "1 Ann-Bob *, GAME 11, killed, GAME 20, 1 Ann-Bob 1-0, deaf restart, 60 s,"
        " pairings",
        ["Ann-Bob 1-0 GAME 20"],
    ),
    "the next round while the pairings were unknown": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, killed, 2 Cid-Dan *, NEXT 3,"
        " deaf restart, NEXT 4, pairings, NEXT 9",
        ["Ann-Bob 1-0 GAME 20", "Cid-Dan * NEXT 9"],
    ),
    "the pairings vanished and came back": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, no pairings, GAME 0, NEXT 9,"
        " 1 Ann-Bob 1-0",
        ["Ann-Bob 1-0 GAME 20", "?-? * NEXT 9"],
    ),
    # LiveChess has no pairings.
    "no pairings, the next game": (
        "GAME 20, GAME 0, NEXT 1, NEXT 9",
        ["?-? * GAME 20", "?-? * NEXT 9"],
    ),
    "no pairings any more": (
        "1 Ann-Bob *, GAME 20, 1 Ann-Bob 1-0, 60 s, no pairings, ON 26, GAME 0, NEXT 9",
        ["Ann-Bob 1-0 GAME 20", "?-? * NEXT 9"],
    ),
}


@pytest.mark.parametrize("course", COURSES)
def test_a_course_ends_in_what_was_played(course: str) -> None:
    steps, wanted = COURSES[course]
    seen = HallCourse()
    for step in steps.split(","):
        seen.take(step.strip())
    assert seen.games == wanted


#: Courses without a deaf restart. An additional normal restart would answer the
#: pairings and so change such a course.
HEARING_COURSES = [name for name, (steps, _) in COURSES.items() if "deaf" not in steps]


@pytest.mark.parametrize("course", HEARING_COURSES)
def test_a_restart_anywhere_changes_nothing(course: str) -> None:
    """After a restart, LiveChess sends the moves and the pairings again."""
    steps, wanted = COURSES[course]
    taken = [step.strip() for step in steps.split(",")]
    for at in range(1, len(taken) + 1):
        seen = HallCourse()
        for step in taken[:at]:
            seen.take(step)
        before = seen.games
        if seen.is_up:
            seen.take("restart")
            assert seen.games == before, f"after {taken[at - 1]!r}"
        for step in taken[at:]:
            seen.take(step)
        # In this course the restart ends the grace period, because the time of the
        # result is forgotten.
        if course != "last moves after the result":
            assert seen.games == wanted, f"restarted after {taken[at - 1]!r}"


def seat_at(table: int, players: str) -> tuple[Seat, ...]:
    white, black = (Player(name) for name in players.split("-"))
    return (Seat(Headers(white, black, event="Open", round=f"1.{table}", board=table)),)


class Tables:
    """Several boards, and the games that the service has recorded of them."""

    def __init__(self, **seats: tuple[Seat, ...]) -> None:
        self.hall = Hall()
        self.index = GameIndex()
        self.seat(**seats)

    def seat(self, **seats: tuple[Seat, ...]) -> None:
        run_without_pause(self.hall.apply_pairings(seats, 0.0))

    def play(self, serial: str, line: str, plies: int) -> None:
        board = self.hall.find_or_add_board(serial, 0.0)
        assert board is not None
        san = LINES[line].split()[:plies]
        run_without_pause(self.hall.apply_moves(board, chess.Board(), san, 0.0))

    @property
    def games(self) -> list[str]:
        report = FeedReport("hall", tuple(self.hall.take_changed_games()))
        for step in plan_report_steps(self.index, report):
            self.index.apply(step)
        return sorted(
            f"{game.headers.board} {game.headers.white.name}-{game.headers.black.name}"
            f" {_named(game.moves)}"
            for game in self.index
        )


def test_boards_exchanged_before_the_first_moves_follow_their_players() -> None:
    hall = Tables(S1=seat_at(1, "Ann-Bob"), S2=seat_at(2, "Cas-Dan"))
    hall.play("S1", "GAME", 0)
    hall.play("S2", "NEXT", 2)
    assert hall.games == ["1 Ann-Bob 0", "2 Cas-Dan NEXT 2"]
    hall.seat(S1=seat_at(2, "Cas-Dan"), S2=seat_at(1, "Ann-Bob"))
    hall.play("S1", "GAME", 1)
    hall.play("S2", "NEXT", 3)
    assert hall.games == ["1 Ann-Bob NEXT 3", "2 Cas-Dan GAME 1"]


def test_boards_exchanged_during_the_games_take_their_moves_along() -> None:
    """The moves must stay with the players: a board must not show the game of the other
    table.
    """
    hall = Tables(S1=seat_at(1, "Ann-Bob"), S2=seat_at(2, "Cas-Dan"))
    hall.play("S1", "GAME", 12)
    hall.play("S2", "NEXT", 12)
    assert hall.games == ["1 Ann-Bob GAME 12", "2 Cas-Dan NEXT 12"]
    hall.seat(S1=seat_at(2, "Cas-Dan"), S2=seat_at(1, "Ann-Bob"))
    hall.play("S1", "GAME", 14)
    hall.play("S2", "NEXT", 13)
    assert hall.games == ["1 Ann-Bob NEXT 13", "2 Cas-Dan GAME 14"]


def test_a_board_that_takes_the_place_of_a_broken_one_has_its_game() -> None:
    hall = Tables(S1=seat_at(1, "Ann-Bob"))
    hall.play("S1", "GAME", 12)
    hall.seat(S9=seat_at(1, "Ann-Bob"))
    hall.play("S9", "GAME", 0)
    hall.play("S9", "GAME", 13)
    hall.play("S1", "NEXT", 0)
    hall.play("S1", "NEXT", 9)
    assert [game for game in hall.games if "Ann" in game] == ["1 Ann-Bob GAME 13"]


_ANY_STEP = st.one_of(
    st.builds("{} {}".format, st.sampled_from(sorted(LINES)), st.integers(0, 26)),
    st.sampled_from(
        ["1 Ann-Bob *", "1 Ann-Bob 1-0", "1 Ann-Bob 0-1", "30 s", "5 s", "restart"]
    ),
)


@given(st.lists(_ANY_STEP, max_size=30))
def test_law_a_pairing_is_one_game_and_what_is_over_stays(steps: list[str]) -> None:
    seen = HallCourse()
    seen.take("1 Ann-Bob *")
    result, over_s, stood = "*", 0.0, ""
    for step in steps:
        seen.take(step)
        (game,) = seen.games
        if step.startswith("1 "):
            if result == "*":
                over_s = seen.now_s
            result = step.split()[2]
            stood = game.split(" ", 2)[2]
        if result != "*" and seen.now_s - over_s > GRACE_S:
            assert game == f"Ann-Bob {result} {stood}"
        stood = game.split(" ", 2)[2]


def test_a_hall_says_that_it_waits_for_the_pairings() -> None:
    course = HallCourse()
    for step in ("1 Ann-Bob *", "GAME 20", "1 Ann-Bob 1-0", "killed", "deaf restart"):
        course.take(step)
    assert "has not sent its pairings" in course.hall.note
    course.take("pairings")
    assert course.hall.note == ""


def test_boards_that_were_not_reached_are_done_with_the_next_pairings() -> None:
    """The connection can be lost while pairings are applied."""
    hall = Hall()
    seats = {"S1": seat_at(1, "Ann-Bob"), "S2": seat_at(2, "Cid-Dan")}
    boards = [hall.find_or_add_board(serial, 0.0) for serial in seats]
    interrupted = hall.apply_pairings(seats, 0.0)
    next(interrupted)
    interrupted.close()
    run_without_pause(hall.apply_pairings(seats, 1.0))
    assert [board.is_paired for board in boards if board] == [True, True]


def test_the_oldest_games_that_are_on_no_board_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hall_games, "MAX_GAMES", 2)
    games, board = HallGames(), HallBoard("S1", 1)
    played = []
    for round_ in (1, 2, 3):
        headers = Headers(Player("Ann"), Player("Bob"), "Open", round=f"{round_}.1")
        played.append(games.create_game(board, headers))
        games.update_game(played[-1])
    games.forget_oldest({played[0].key})
    assert games.games_begun_on(board) == [played[0], played[2]]
    assert games.take_changed_games() == [played[0], played[2]]
    assert games.find_paired_game(Seat(played[1].headers)) is None


def test_a_part_of_the_pairings_is_not_all_of_them() -> None:
    """A board whose pairing was not read yet waits, even if others were read."""
    course = HallCourse()
    for step in ("1 Ann-Bob *", "GAME 20", "1 Ann-Bob 1-0", "60 s", "deaf restart"):
        course.take(step)
    others = {"S9": seat_at(9, "Eve-Fay")}
    run_without_pause(
        course.hall.apply_pairings(others, course.now_s, is_complete=False)
    )
    course.take("NEXT 9")
    assert course.games == ["Ann-Bob 1-0 GAME 20"]
    run_without_pause(course.hall.apply_pairings(others, course.now_s))
    course.take("NEXT 10")
    assert course.games == ["Ann-Bob 1-0 GAME 20", "?-? * NEXT 10"]
