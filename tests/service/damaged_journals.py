"""Journals damaged at random: is a board emptied whose source is there?

Real games are kept whole in a journal, copies of it are damaged (bytes changed, stretches zeroed or
exchanged, the end cut off), and a service is started on each: its source gives every game again,
and every board must then be what it was, with all its moves, scores and points of its curves; so
also at a second start. What the service found damaged must be said where people look
(:attr:`live.service.event_journal.EventJournal.problem`).
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from live.events import FeedHealth, FeedReport, GameDetail
from live.feeds import demo_feed
from live.publish.exports import Analysis, analysis
from tests.service.answered_event import FEED, AnsweredEvent, confirmed

#: Bytes of a page of SQLite's.
PAGE = 4096


async def make(path: Path, games: int = 6) -> Analysis:
    """A journal in which so many games are kept whole; gives what was shown."""
    hall = AnsweredEvent(path)
    with hall.journal.opened(hall.config):
        await hall.restore()
        await hall.take(FeedReport(FEED, tuple(demo_feed.games()[:games]), complete=True))
        hall.answer_all()
        return confirmed(analysis(hall.state))


def damage(path: Path, seed: int) -> str:
    """Damage a file; gives how, for people."""
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    way = chance.choice(("changed",) * 3 + ("zeroed", "zeroed", "exchanged", "cut"))
    match way:
        case "changed":
            for _ in range(chance.randint(1, 40)):
                data[chance.randrange(100, len(data))] ^= chance.randint(1, 255)
        case "zeroed":
            length = chance.choice((16, 512, PAGE))
            start = chance.randrange(100, len(data) - length)
            data[start : start + length] = bytes(length)
        case "exchanged":
            one, other = (PAGE * chance.randrange(1, len(data) // PAGE) for _ in range(2))
            first, second = data[one : one + PAGE], data[other : other + PAGE]
            data[one : one + PAGE], data[other : other + PAGE] = second, first
        case _:
            del data[chance.randrange(len(data) // 4, len(data)) :]
    path.write_bytes(data)
    return way


class Start(msgspec.Struct, frozen=True):
    """What one start on a damaged journal came to."""

    emptied: tuple[str, ...]
    """Games that are not what they were, though their source gives them whole."""
    problem: str
    """What health says of the journal."""


def _content(game: GameDetail) -> tuple[object, ...]:
    """What must be there again. What the field of players says of a move goes by when it was
    scored.
    """
    curves = (game.curves.white, game.curves.black)
    return game.plies, [[(at.ply, at.n, at.gain_cp) for at in each] for each in curves]


async def start(path: Path, before: Analysis) -> Start:
    """Start a service on it, let the source report, and look at every board."""
    hall = AnsweredEvent(path)
    shown: list[FeedHealth] = []
    with hall.journal.opened(hall.config):
        await hall.restore()
        for _ in range(2):
            await hall.take(
                FeedReport(FEED, tuple(demo_feed.games()[: len(before.games)]), complete=True)
            )
            hall.answer_all()
            analysis(hall.state)  # everybody looks
            hall.journal.look_after(hall.state, shown.append)
            hall.answer_all()
        now = {game.id: game for game in confirmed(analysis(hall.state)).games}
    emptied = tuple(
        game.id
        for game in before.games
        if game.id not in now or _content(now[game.id]) != _content(game)
    )
    return Start(emptied, next((each.detail for each in shown if each.detail), ""))


async def drill(
    folder: Path, seeds: Iterable[int], games: int = 6
) -> list[tuple[int, str, Start, Start]]:
    """For each seed how the journal was damaged, and what two starts on it came to."""
    whole = folder / "whole.sqlite"
    before = await make(whole, games)
    found = []
    for seed in seeds:
        path = folder / f"{seed}.sqlite"
        shutil.copy(whole, path)
        way = damage(path, seed)
        found.append((seed, way, await start(path, before), await start(path, before)))
        path.unlink()
    return found
