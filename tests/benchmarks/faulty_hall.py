"""The playing hall of the round with faults: boards through DGT LiveChess, and what
goes on there around the games. Pieces are put back, analysed with, set back and
replayed; results are entered before the last moves, or long after; one is withdrawn,
one name is mended; connections break and pairings do not answer.
"""

import random
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from live.messages.from_sources import GameReport, Headers, Result
from live.sources.game_timeline import choose_wrong_move, plan_timeline
from tests.sources.hall_sources import FakeLiveChess

#: Half of the games are over by this share of the round, before the kill in its calm.
EARLY = 0.46
LATE = 0.85
Act = Callable[[], Awaitable[None] | None]
Told = Callable[[int, GameReport], None]
"""Takes the place of a board, and what is true of its game from now on."""


def upto(game: GameReport, plies: int) -> GameReport:
    return msgspec.structs.replace(game, moves=game.moves[:plies], result="*")


class FaultyHall:
    """Plans it from the seed: then :attr:`events` are to be done, each at its time."""

    def __init__(
        self,
        games: Sequence[GameReport],
        first_table: int,
        round_: int,
        length_s: float,
        chance: random.Random,
        told: Told,
    ) -> None:
        self.livechess = FakeLiveChess(
            [upto(game, 0) for game in games], first_table=first_table
        )
        self.livechess.event = games[0].headers.event
        self.events: list[tuple[float, Act]] = []
        self.log: list[str] = []
        self.changed: list[tuple[int, str, int]] = []
        """Places of boards, what alerts they give reason for, and at which ply."""
        self._games = games
        self._first_table = first_table
        self._round = round_
        self._length_s = length_s
        self._chance = chance
        self._told = told
        self._headers = [game.headers for game in games]
        self._results: list[Result] = ["*"] * len(games)
        self._lines = [upto(game, 0) for game in games]
        """What is true of each game, but for its result."""
        for place in range(len(games)):
            self._pair(place)
        self._plan()

    # --- what is planned --------------------------------------------------------------

    def _plan(self) -> None:
        chance = self._chance
        places = list(range(len(self._games)))
        chance.shuffle(places)
        half = len(places) // 2
        early, late = places[:half], places[half:]
        for place in early:
            self._play(
                place,
                chance.uniform(0.9, 1.0) * EARLY,
                chance.choice(["after", "late"]),
            )
        ends = ["before", "before", "after", "late"]
        for place, end in zip(late, ends, strict=True):
            self._play(place, chance.uniform(0.9, 1.0) * LATE, end)
        self._mend_name(early[0])
        self._withdraw(late[0])
        for _ in range(3):
            self._at(chance.uniform(0.1, 0.9) * self._length_s, self.livechess.drop)
        for _ in range(2):
            at_s = chance.uniform(0.1, 0.8) * self._length_s
            fails = partial(setattr, self.livechess, "answers_http")
            self._at(at_s, partial(fails, False))
            self._at(at_s + chance.uniform(3, 9), partial(fails, True))
            self.log.append(f"pairings do not answer: {at_s:.0f} s")
        self._replay(late[1], 0.25)
        self._replay(late[2], 0.30, corrected=True)
        self._take_back(late[3])
        self.events.sort(key=lambda each: each[0])

    def _play(self, place: int, share: float, end: str) -> None:
        """The game, so that it ends at this share of the round, and the board
        afterwards.
        """
        game = self._games[place]
        course = [each for each in plan_timeline([game]) if each.report.result == "*"]
        speed = course[-1].at_s / (share * self._length_s)
        for moment in course:
            plies = len(moment.report.moves)
            self._at(moment.at_s / speed, partial(self._move, place, plies))
        end_s = share * self._length_s
        back_s = end_s + self._chance.uniform(2, 5)
        if end == "before":
            # The last move comes after the result.
            result_s = end_s - 0.2
        elif end == "after":
            result_s = end_s + self._chance.uniform(0.2, 1.5)
        else:
            result_s = back_s + self._chance.uniform(3, 9)
        self.log.append(f"result {end}: {self._name(place)}, over at {end_s:.0f} s")
        self._at(result_s, partial(self._enter, place, game.result))
        self._at(back_s, partial(self._put, place, upto(game, 0)))
        if self._chance.random() < 0.7:
            self._analyse(place, back_s + 1)

    def _analyse(self, place: int, at_s: float) -> None:
        """They play other moves on the board, and put the pieces back once more."""
        other = self._games[(place + 1) % len(self._games)]
        for plies in range(1, 12):
            self._at(at_s + 0.4 * plies, partial(self._put, place, upto(other, plies)))
        self._at(at_s + 6, partial(self._put, place, upto(other, 0)))
        self.log.append(f"analysed: {self._name(place)}")

    def _plies_at(self, place: int, at_s: float) -> int:
        """How far its game has come by then."""
        found: int = max(act.args[1] for act in self._moves(place, 0.0, at_s))
        return found

    def _pause(self, place: int, at_s: float, lasts_s: float) -> None:
        """Nothing is moved there for so long; what would have been comes then."""
        held_up = self._moves(place, at_s, at_s + lasts_s)
        self.events = [
            (at_s + lasts_s if act in held_up else when_s, act)
            for when_s, act in self.events
        ]

    def _moves(self, place: int, after_s: float, upto_s: float) -> list[Any]:
        """The moves that are planned there within this time."""
        return [
            act
            for when_s, act in self.events
            if after_s <= when_s <= upto_s and isinstance(act, partial)
            if act.func == self._move and act.args[0] == place
        ]

    def _replay(self, place: int, share: float, *, corrected: bool = False) -> None:
        """The pieces are set back and the game is replayed. ``corrected``: the last
        move had been sensed wrongly.
        """
        game = self._games[place]
        at_s = share * self._length_s
        plies = self._plies_at(place, at_s)
        self._pause(place, at_s, 5)
        if corrected and (wrong := choose_wrong_move(game, plies)) is not None:
            moves = (*game.moves[: plies - 1], wrong)
            slipped = msgspec.structs.replace(game, moves=moves, result="*")
            self._at(at_s + 0.1, partial(self._show, place, slipped))
            self.changed.append((place, "correction", plies))
        self._at(at_s + 1.5, partial(self._put, place, upto(game, 0)))
        for step in range(1, 9):
            shown = plies * step // 8
            act = self._put if step < 8 else self._show
            self._at(at_s + 1.5 + 0.35 * step, partial(act, place, upto(game, shown)))
        what = "replayed with another last move" if corrected else "replayed"
        self.log.append(f"{what}: {self._name(place)} after {plies} plies")

    def _take_back(self, place: int) -> None:
        game = self._games[place]
        at_s = 0.2 * self._length_s
        plies = self._plies_at(place, at_s)
        self._pause(place, at_s, 3)
        self._at(at_s + 1, partial(self._show, place, upto(game, plies - 2)))
        self.changed.append((place, "takeback", plies - 1))
        self.log.append(f"taken back: {self._name(place)} after {plies} plies")

    def _withdraw(self, place: int) -> None:
        """A result is entered at the wrong board and withdrawn."""
        wrong: Result = "0-1" if self._games[place].result != "0-1" else "1-0"
        self._at(0.12 * self._length_s, partial(self._enter, place, wrong))
        self._at(0.22 * self._length_s, partial(self._enter, place, "*"))
        self.changed.append((place, "result-corrected", 0))
        self.log.append(f"result withdrawn: {self._name(place)}")

    def _mend_name(self, place: int) -> None:
        headers = self._games[place].headers
        white = headers.white
        wrong = msgspec.structs.replace(white, name=white.name.replace("a", "á", 1))
        self._headers[place] = msgspec.structs.replace(headers, white=wrong)
        self._pair(place)
        self._at(0.2 * self._length_s, partial(self._seat, place, headers))
        self.log.append(f"name mended: {self._name(place)}")

    def _at(self, at_s: float, act: Act) -> None:
        self.events.append((at_s, act))

    def _name(self, place: int) -> str:
        return str(self._first_table + place)

    # --- what is done -----------------------------------------------------------------

    async def _move(self, place: int, plies: int) -> None:
        """The game has come so far, and so has the board."""
        await self._show(place, upto(self._games[place], plies))

    async def _show(self, place: int, report: GameReport) -> None:
        """This is true, and stands on the board."""
        self._lines[place] = report
        self._tell(place)
        await self._put(place, report)

    def _tell(self, place: int) -> None:
        result = self._results[place]
        self._told(place, msgspec.structs.replace(self._lines[place], result=result))

    async def _put(self, place: int, report: GameReport) -> None:
        """This stands on the board, whatever is true."""
        await self.livechess.put(place, report)

    def _enter(self, place: int, result: Result) -> None:
        """The operator enters a result, or takes it back."""
        self._results[place] = result
        self._tell(place)
        self._pair(place)

    def _seat(self, place: int, headers: Headers) -> None:
        self._headers[place] = headers
        self._pair(place)

    def _pair(self, place: int) -> None:
        table = self._first_table + place
        self.livechess.pair(
            self._round, table, self._headers[place], self._results[place]
        )
