"""What is told of finished rounds: ``python -m tests.benchmarks.told FILE…``

Each FILE is what ``live-rate analyze --json`` wrote of the games of one round. Every
moment is printed with the scores around its move, to be read by a person; what a
program can judge is counted:

- drama missed: a game won against 100 Elo or more, a move that swings the expected
  score by 40 points, the highest percentile over 15 counted moves, without a moment;
- late: how many moves after the one that makes it true a moment is told, and how long
  these took by the players' clocks, where each score comes before the next move.
  Moments of the round are true when its last game is over, and told then;
- open cards: how many turning points were told before the reply had its score, and how
  many of them it then neither confirmed nor completed.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from live.event.rate_game import COLORS
from live.messages.figures import GameDetail, view_of
from live.messages.moments import Moment, MomentKind
from live.messages.to_clients import Change, GameMessage
from live.messages.values import Color
from live.server.analysis import Analysis
from live.watch.expected_scores import list_equal_rating_scores
from live.watch.moment_draft import ONCE, MomentDraft
from live.watch.moment_rules import find_moments
from live.watch.round_moments import COMPARED_MOVES, read_side
from live.watch.story_desk import StoryDesk

UPSET_ELO = 100
SWING = 0.40


#: A moment that is told so much later is late, seconds of the game's own time.
LATE_S = 60.0


class OpenCards(NamedTuple):
    """Turning points that were told before the reply had its score."""

    told: int
    withdrawn: int
    """Neither confirmed nor completed by the reply."""


class Wait(NamedTuple):
    """How long a moment was true before it was told."""

    moment: MomentDraft
    plies: int
    time_s: float | None
    """What these took by the players' clocks; None where that is not known."""

    @property
    def is_late(self) -> bool:
        """Whether it is told too late; a wait of unknown length is."""
        return self.time_s is None or self.time_s > LATE_S


def tell(games: Sequence[GameDetail]) -> list[Moment]:
    """Return what a desk tells of these games once all are over."""
    desk, held = StoryDesk(), {game.id: game for game in games}
    changes: list[Change] = [GameMessage(view_of(game)) for game in games]
    desk.follow(changes, 0.0)
    while desk.has_work:
        desk.examine_next(held.get)
    return desk.moments()


def find_missed(games: Sequence[GameDetail], told: Sequence[Moment]) -> Iterator[str]:
    """Yield the drama that is not told, for people."""
    kinds = {(each.game, each.kind) for each in told}
    plies = {(each.game, each.ply) for each in told if each.kind in ("turn", "missed")}
    for game in games:
        if loses_to_weaker(game) and (game.id, "upset") not in kinds:
            yield f"{names(game)}: won against 100 Elo"
        for ply in swings(game):
            if not {(game.id, ply), (game.id, ply + 1)} & plies:
                yield f"{names(game)}: ply {ply} swings 40 points"
    sides = [read_side(game, color) for game, color in product(games, COLORS)]
    is_compared = any(side and side.counted >= COMPARED_MOVES for side in sides)
    if is_compared and "highest" not in {each.kind for each in told}:
        yield "the round's best"


def loses_to_weaker(game: GameDetail) -> bool:
    """Whether who won is rated 100 Elo lower or more."""
    white, black = game.white.elo, game.black.elo
    if (
        not white
        or not black
        or game.result not in ("1-0", "0-1")
        or game.plies_played < 2
    ):
        return False
    return (black - white if game.result == "1-0" else white - black) >= UPSET_ELO


def swings(game: GameDetail) -> Iterator[int]:
    """Yield the plies that lose 40 points by the score alone, but for first choices."""
    scores = list_equal_rating_scores(game)
    for ply in game.plies:
        before, after = scores[ply.ply - 1], scores[ply.ply]
        is_white = (ply.ply % 2 == 1) == (" w " in game.start_fen)
        if before is None or after is None or ply.best == ply.uci:
            continue
        if (before - after if is_white else after - before) >= SWING:
            yield ply.ply


def play_through(game: GameDetail) -> Iterator[GameDetail]:
    """Yield a game after each of its moves, as it stood when that was scored."""
    for plies in range(1, len(game.plies)):
        yield replace(game, plies=game.plies[:plies], result="*", plies_played=plies)
    yield game


def count_open_cards(game: GameDetail) -> OpenCards:
    """Play a game through, each score coming before the next move."""
    told = withdrawn = 0
    last = {(each.kind, each.ply) for each in find_moments(game)}
    for shown in play_through(game):
        for each in find_moments(shown):
            if "open" in each.figures:
                told += 1
                withdrawn += not {("turn", each.ply), ("missed", each.ply + 1)} & last
    return OpenCards(told, withdrawn)


def measure_waits(game: GameDetail) -> list[Wait]:
    """Play a game through; return how long each of its moments waited to be told."""
    told_since: dict[tuple[MomentKind, Color | int | None], int] = {}
    for shown in play_through(game):
        found = [identify(each) for each in find_moments(shown)]
        plies = len(shown.plies)
        told_since = {each: told_since.get(each, plies) for each in found}
    waits = []
    for each in find_moments(game):
        waited = game.plies[each.ply : told_since[identify(each)]]
        spent_s = [ply.spent_s for ply in waited if ply.spent_s is not None]
        is_known = len(spent_s) == len(waited)
        waits.append(Wait(each, len(waited), sum(spent_s) if is_known else None))
    return waits


def identify(moment: MomentDraft) -> tuple[MomentKind, Color | int | None]:
    """Return what a moment of a game stays the same by."""
    return moment.kind, moment.color if moment.kind in ONCE else moment.ply


def names(game: GameDetail) -> str:
    """Return a game as a reader finds it again."""
    players = (game.white, game.black)
    return (
        " - ".join(f"{each.name} ({each.elo})" for each in players) + f" {game.result}"
    )


def scores_around(game: GameDetail, ply: int) -> str:
    """Return the scores before and after a ply, and after the reply, pawns."""
    cp = [game.start_score_cp, *(each.score_cp for each in game.plies)]
    around = [each for each in cp[max(0, ply - 2) : ply + 2] if each is not None]
    return " ".join(f"{each / 100:+.2f}" for each in around)


def write(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def main() -> None:
    """Print what is told of each file's games."""
    for path in sys.argv[1:]:
        whole = msgspec.json.decode(Path(path).read_bytes(), type=Analysis)
        told = tell(whole.games)
        write(f"== {path}: {len(whole.games)} games, {len(told)} moments")
        for game in whole.games:
            write(f"-- {names(game)}, {len(game.plies)} plies")
            for color in COLORS:
                side = read_side(game, color)
                if side is not None and side.counted >= COMPARED_MOVES:
                    write(
                        f"   {color} {side.elo}: {side.perceived}, "
                        f"{side.percentile:.0f} %"
                    )
            for each in (each for each in told if each.game == game.id):
                around = scores_around(game, each.ply)
                write(f"   {each.weight:.2f} {each.kind}: {each.text.en} [{around}]")
        waits = list(chain.from_iterable(map(measure_waits, whole.games)))
        for wait in waits:
            if wait.plies:
                kind, ply = wait.moment.kind, wait.moment.ply
                write(
                    f"WAITED {kind} of ply {ply}: {wait.plies} plies, {wait.time_s} s"
                )
        late = sum(wait.is_late for wait in waits)
        write(f"told of single games: {len(waits)}, late: {late}")
        cards = [count_open_cards(game) for game in whole.games]
        for line in find_missed(whole.games, told):
            write(f"MISSED {line}")
        told_early = sum(each.told for each in cards)
        withdrawn = sum(each.withdrawn for each in cards)
        write(f"open cards: {told_early}, withdrawn: {withdrawn}")


if __name__ == "__main__":
    main()
