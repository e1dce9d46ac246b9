"""A small state of its own that changes at random: what a ledger does, without
thinking.

Independent of the code under test: it holds whole games as frozen values, and says for
every step which messages tell it.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from random import Random
from typing import Any, TypeVar

import msgspec
import pytest

from live.messages.alerts import Alert, Severity
from live.messages.figures import (
    CurvePoint,
    Curves,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    GameView,
    HeadToHead,
    PlayerView,
    PlyView,
    view_of,
)
from live.messages.from_sources import Player
from live.messages.health import EngineHealth, EngineState, FeedHealth, FeedState
from live.messages.moments import Moment, MomentFigure, MomentText
from live.messages.to_clients import (
    AlertMessage,
    Change,
    ClockMessage,
    EngineMessage,
    GainsMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MomentMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import Color, GameId

Answered = TypeVar("Answered")

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
NAMES = ("Carlsen, Magnus", "Ding, Liren", "Muñoz <b>", "Zoë", "")
EVENTS = ("Open A", "Round 1: Carlsen, Magnus - Ding, Liren", "")
GAMES = ("g1", "g2", "g3.pgn", "g 4/ü")
SEVERITIES: tuple[Severity, ...] = ("look", "warning", "alarm")
COLORS: tuple[Color, Color] = ("white", "black")


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Wire(asyncio.Transport):
    """A connection without a network: keeps what is written, and says whether anything
    may come. ``lost`` refuses to end its side, as a reset socket does.
    """

    def __init__(self, *, lost: bool = False) -> None:
        super().__init__()
        self.written = b""
        self.writes = 0
        self.reading = True
        self.ended = self.aborted = self.closed = False
        self._lost = lost

    def set_write_buffer_limits(
        self, high: int | None = None, low: int | None = None
    ) -> None:
        pass

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.ended
        self.written += bytes(data)
        self.writes += 1

    def is_closing(self) -> bool:
        return self.closed

    def can_write_eof(self) -> bool:
        return True

    def close(self) -> None:
        self.ended = self.closed = True

    def write_eof(self) -> None:
        if self._lost:
            raise OSError(107, "Transport endpoint is not connected")
        self.ended = True

    def abort(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


def answer_without_waiting(answer: Coroutine[Any, Any, Answered]) -> Answered:
    """What is answered without waiting for anything."""
    with pytest.raises(StopIteration) as over:
        answer.send(None)
    found: Answered = over.value.value
    return found


class World:
    """A :class:`live.server.event_reader.EventReader` and the steps that change it."""

    def __init__(
        self, seed: int = 0, *games: GameId, plies: int = 0, steps: int = 0
    ) -> None:
        """With these games, each of so many plies, and after so many random steps."""
        self.random = Random(seed)
        self.info = EngineInfo("Stockfish", "100000 nodes", 2850, "field")
        self.held: dict[GameId, GameDetail] = {}
        self.standings: dict[str, PlayerView] = {}
        self.feed_health: tuple[FeedHealth, ...] = (FeedHealth("demo", "live"),)
        self.engine_health = EngineHealth((EngineState(0, "idle"),))
        self.raised: dict[str, Alert] = {}
        self.told: dict[str, Moment] = {}
        self.gain_counts: dict[str, dict[int, int]] = {}
        for game in games:
            self.appear(game)
            for _ in range(plies):
                self.move(game)
        for _ in range(steps):
            self.step()

    # --- the State --------------------------------------------------------------------

    def engine(self) -> EngineInfo:
        return self.info

    def gain(self) -> GainKind:
        return "same-search"

    def games(self) -> Iterable[GameView]:
        return [view_of(detail) for detail in self.held.values()]

    def game(self, game: GameId) -> GameDetail | None:
        return self.held.get(game)

    def players(self) -> Iterable[PlayerView]:
        return list(self.standings.values())

    def player_ids(self, game: GameId) -> Iterable[str]:
        detail = self.held.get(game)
        return () if detail is None else (key(detail.white), key(detail.black))

    def gains(self, player: str) -> GainCounts:
        return tuple(sorted(self.gain_counts.get(player, {}).items()))

    def engine_gains(self) -> GainCounts:
        return ((0, 1),)

    def feeds(self) -> tuple[FeedHealth, ...]:
        return self.feed_health

    def engines(self) -> EngineHealth:
        return self.engine_health

    def alerts(self) -> Iterable[Alert]:
        return list(self.raised.values())

    def moments(self) -> Iterable[Moment]:
        return list(self.told.values())

    # --- steps: each changes the state and answers what tells it ----------------------

    def step(self) -> list[Change]:
        """One random step."""
        often = {
            self.move: 8,
            self.score: 8,
            self.point: 6,
            self.standing: 3,
            self.gained: 3,
        }
        twice = (self.appear, self.take_back, self.headers, self.alert, self.moment)
        once = (
            self.clock,
            self.vanish,
            self.forget,
            self.rerate,
            self.health,
            self.clear,
        )
        steps = {
            **often,
            **dict.fromkeys(twice, 2),
            **dict.fromkeys((*once, self.withdraw), 1),
        }
        chosen = self.random.choices(list(steps), list(steps.values()))[0]
        if chosen == self.move and any(
            len(each.plies) > 40 for each in self.held.values()
        ):
            chosen = self.vanish
        return chosen()

    def appear(self, game: GameId | None = None) -> list[Change]:
        free = [each for each in GAMES if each not in self.held]
        game = game or (self.random.choice(free) if free else None)
        if game is None or game in self.held:
            return []
        self.held[game] = GameDetail(
            id=game,
            feed="demo",
            event=self.random.choice(EVENTS),
            round=self.random.choice(("1.2", "1.10", "", "x")),
            board=self.random.choice((None, 1, 12)),
            white=self.person(),
            black=self.person(),
            result="*",
            url="https://example.org/1",
            start_fen=START,
            start_score_cp=None,
            head_to_head=HeadToHead(),
            plies_played=0,
            plies_scored=0,
        )
        return [self.view(game)]

    def move(self, game: GameId | None = None) -> list[Change]:
        game = game or self.some_game()
        if game is None:
            return []
        plies = self.held[game].plies
        self.untell(game, len(plies) + 1)
        ply = PlyView(
            len(plies) + 1, self.random.choice(("e4", "Nf3", "O-O")), "e2e4", 60.0, 1.5
        )
        self.set(game, plies=(*plies, ply))
        return [MoveMessage(game, ply.ply, ply), self.view(game)]

    def take_back(self) -> list[Change]:
        """Some plies; another may be played there at once."""
        game, ply = self.some_ply()
        if not ply:
            return []
        self.cut(game, ply)
        other = self.random.choice((None, PlyView(ply, "d4", "d2d4", 59.0, None)))
        if other is not None:
            self.set(game, plies=(*self.held[game].plies, other))
        return [MoveMessage(game, ply, other), self.view(game)]

    def clock(self) -> list[Change]:
        game, ply = self.some_ply()
        if not ply:
            return []
        clock_s, spent_s = (
            self.random.choice((None, 12.3)),
            self.random.choice((None, 0.7)),
        )
        self.set_ply(game, ply, clock_s=clock_s, spent_s=spent_s)
        return [ClockMessage(game, ply, clock_s, spent_s)]

    def score(self) -> list[Change]:
        game, ply = self.some_ply()
        if game and (not ply or self.random.random() < 0.1):
            self.set(game, start_score_cp=self.random.randint(-50, 50))
            return [self.view(game)]
        if not ply:
            return []
        self.set_ply(
            game,
            ply,
            score_cp=self.random.randint(-3900, 3900),
            depth=self.random.randint(1, 30),
            final=self.random.random() < 0.5,
            gain_cp=self.random.randint(-99, 0),
        )
        self.set(game, plies_scored=sum(each.final for each in self.held[game].plies))
        return [ScoreMessage(game, self.held[game].plies[ply - 1]), self.view(game)]

    def figures(self) -> dict[str, Any]:
        """Of a point or a player, each known or not."""
        elo = ("perceived", "usual_low", "usual_high")
        difference = ("difference", "difference_low", "difference_high")
        found: dict[str, float] = {
            name: self.random.randint(1100, 2900) for name in elo
        }
        found["percentile"] = self.random.uniform(0, 100)
        found |= {name: self.random.uniform(-900, 900) for name in difference}
        known = {
            name: self.random.choice((None, value)) for name, value in found.items()
        }
        return {**known, "score": self.random.random()}

    def point(self) -> list[Change]:
        game, ply = self.some_ply()
        if not ply:
            return []
        color = self.random.choice(COLORS)
        new = CurvePoint(ply=ply, n=ply, counted=ply, gain_cp=-3, **self.figures())
        points = getattr(self.held[game].curves, color)
        kept = (*(each for each in points if each.ply < ply), new)
        curves = msgspec.structs.replace(self.held[game].curves, **{color: kept})
        self.set(game, curves=curves)
        return [PointMessage(game, color, new)]

    def headers(self) -> list[Change]:
        game = self.some_game()
        if game is None:
            return []
        self.set(
            game,
            event=self.random.choice(EVENTS),
            result=self.random.choice(("*", "1-0", "1/2-1/2")),
            **{self.random.choice(COLORS): self.person()},
        )
        return [self.view(game)]

    def vanish(self) -> list[Change]:
        game = self.some_game()
        if game is None:
            return []
        del self.held[game]
        self.untell(game, 0)
        self.raised = {
            id: alert for id, alert in self.raised.items() if alert.game != game
        }
        return [GoneMessage(game)]

    def standing(self) -> list[Change]:
        player, games, moves = (
            self.person(),
            self.random.randint(1, 4),
            self.random.randint(0, 99),
        )
        about = (key(player), player.name, player.elo, games, moves, -12.5)
        view = PlayerView(*about, **self.figures())
        self.standings[view.id] = view
        return [StandingMessage(view)]

    def gained(self) -> list[Change]:
        if not self.standings:
            return []
        player = self.random.choice(sorted(self.standings))
        gain_cp, moves = (
            self.random.choice((0, -1, -40, 12)),
            self.random.choice((0, 1, 2)),
        )
        counts = self.gain_counts.setdefault(player, {})
        counts.pop(gain_cp, None)
        if moves:
            counts[gain_cp] = moves
        return [GainsMessage(player, gain_cp, moves)]

    def forget(self) -> list[Change]:
        if not self.standings:
            return []
        view = self.standings.pop(self.random.choice(sorted(self.standings)))
        # As in the ledger: nobody is forgotten with moves.
        counts = self.gain_counts.pop(view.id, {})
        gone = [GainsMessage(view.id, gain_cp, 0) for gain_cp in counts]
        return [*gone, StandingMessage(msgspec.structs.replace(view, games=0, moves=0))]

    def rerate(self) -> list[Change]:
        rating = self.random.randint(2000, 3000)
        self.info = msgspec.structs.replace(self.info, rating=rating)
        return [EngineMessage(self.info)]

    def health(self) -> list[Change]:
        states: tuple[FeedState, ...] = ("live", "stale", "retrying")
        self.feed_health = (FeedHealth("demo", self.random.choice(states), "why"),)
        self.engine_health = EngineHealth(queued=self.random.randint(0, 9))
        return [HealthMessage(self.feed_health, self.engine_health)]

    def moment(self) -> list[Change]:
        game = self.some_game()
        if game is None:
            return []
        ply = self.random.randint(0, len(self.held[game].plies) + 1)
        told = Moment(
            id=f"{game}:turn:{ply}",
            game=game,
            ply=ply,
            kind="turn",
            color="white",
            at_s=None,
            weight=self.random.random(),
            figures=(MomentFigure("before", 50.0),),
            text=MomentText(*("Something <b>happened</b>.",) * 6),
        )
        self.told[told.id] = told
        return [MomentMessage(game, told)]

    def withdraw(self) -> list[Change]:
        if not self.told:
            return []
        told = self.told.pop(self.random.choice(sorted(self.told)))
        return [MomentMessage(told.game, told, holds=False)]

    def untell(self, game: GameId, ply: int) -> None:
        """What was told of these plies is told no more."""
        self.told = {
            id: each
            for id, each in self.told.items()
            if each.game != game or each.ply < ply
        }

    def alert(self) -> list[Change]:
        game = self.some_game() if self.random.random() < 0.8 else None
        severity = self.random.choice(SEVERITIES)
        alert = Alert(
            id=f"takeback {game}" if game else "feed demo",
            kind="takeback" if game else "feed",
            severity=severity,
            text="Something <b>happened</b>.",
            advice="Look at it.",
            game=game,
            feed=None if game else "demo",
            first_seen_s=1_700_000_000.0,
            times=self.random.randint(1, 3),
        )
        self.raised[alert.id] = alert
        return [AlertMessage(alert)]

    def clear(self) -> list[Change]:
        if not self.raised:
            return []
        alert = self.raised.pop(self.random.choice(sorted(self.raised)))
        return [AlertMessage(msgspec.structs.replace(alert, cleared_s=1_700_000_001.0))]

    # --- small ones -------------------------------------------------------------------

    def person(self) -> Player:
        name = self.random.choice(NAMES)
        return Player(
            name, elo=2500, fide_id=1503014 if name.startswith("Carlsen") else None
        )

    def some_ply(self) -> tuple[GameId, int]:
        """A ply of a game: none where it has none, and no game where there is none."""
        game = self.some_game() or ""
        plies = len(self.held[game].plies) if game else 0
        return game, self.random.randint(1, plies) if plies else 0

    def some_game(self) -> GameId | None:
        return self.random.choice(sorted(self.held)) if self.held else None

    def set(self, game: GameId, **fields: object) -> None:
        changed = msgspec.structs.replace(self.held[game], **fields)
        self.held[game] = msgspec.structs.replace(
            changed, plies_played=len(changed.plies)
        )

    def set_ply(self, game: GameId, ply: int, **fields: object) -> None:
        plies = list(self.held[game].plies)
        plies[ply - 1] = msgspec.structs.replace(plies[ply - 1], **fields)
        self.set(game, plies=tuple(plies))

    def cut(self, game: GameId, ply: int) -> None:
        self.untell(game, ply)
        detail = self.held[game]
        white = tuple(each for each in detail.curves.white if each.ply < ply)
        black = tuple(each for each in detail.curves.black if each.ply < ply)
        curves = Curves(white, black)
        plies = detail.plies[: ply - 1]
        self.set(
            game,
            plies=plies,
            curves=curves,
            plies_scored=sum(each.final for each in plies),
        )

    def view(self, game: GameId) -> GameMessage:
        (found,) = (each for each in self.games() if each.id == game)
        return GameMessage(found)


def key(player: Player) -> str:
    """The id of a player's standing."""
    return str(player.fide_id) if player.fide_id else player.name
