"""live.service.desks: moments of a service that was killed stand again with their times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import pytest

from live.engine.search import Search, SearchResult
from live.events import (
    Change,
    FeedReport,
    GameDetail,
    GameMessage,
    GameReport,
    Moment,
    MomentMessage,
    Player,
    Result,
    Score,
)
from live.publish.published_state import view_of
from live.service.desks import LOOKS, StoryService
from tests.alerts.games import four_boards
from tests.ledger.arithmetic import answer
from tests.service.answered_event import FEED, AnsweredEvent, left_behind
from tests.story.games import game

START_S = 1_750_000_000.0


def turned(search: Search) -> SearchResult:
    """Level until White's tenth move, a bad one, and won for Black from then on."""
    plies, found = len(search.position.moves), answer(search)
    score = Score(-600 if plies >= 19 or (plies == 18 and search.only) else 0)
    best = "none" if plies == 18 and not search.only else found.best
    return msgspec.structs.replace(found, score=score, best=best)


class StoryHall(AnsweredEvent):
    """A hall with a journal and a driven clock, and the moments that subscribers are sent."""

    def __init__(self, path: Path, now_s: float = START_S) -> None:
        super().__init__(path, turned)
        self.now_s = now_s
        self.story._clock = lambda: self.now_s
        assert self.journal.journal is not None
        self.journal.journal._now_ms = lambda: round(self.now_s * 1000)
        self.sent: list[Moment] = []
        self.listen(self._sent)

    def _sent(self, changes: Iterable[Change]) -> None:
        self.sent += (each.moment for each in changes if isinstance(each, MomentMessage))

    async def play(
        self, games: Sequence[GameReport], first: int, last: int, end: Result = "0-1"
    ) -> None:
        """The games ply by ply, half a minute a ply; the result with ply 40."""
        for plies in range(first, last):
            self.now_s = START_S + 30 * plies
            shown = [
                msgspec.structs.replace(
                    game, moves=game.moves[:plies], result=end if plies == 40 else "*"
                )
                for game in games
            ]
            await self.take(FeedReport(FEED, tuple(shown)))
            self.answer_all()
            # The comparison of a round's games shows a look later.
            for _ in range(2):
                self.story.tick()


async def test_a_result_that_an_alert_doubts_makes_no_moment_before_and_after_a_kill(
    tmp_path: Path,
) -> None:
    games = [
        msgspec.structs.replace(
            each,
            headers=msgspec.structs.replace(
                each.headers, white=Player("Ann", elo=2000), black=Player("Bo", elo=2400)
            ),
        )
        for each in four_boards()[:1]
    ]
    first = StoryHall(tmp_path / "journal.sqlite")
    with first.journal.opened(first.config):
        await first.restore()
        # Black stands won, and White is said to have won.
        await first.play(games, 0, 41, end="1-0")
        assert [alert.kind for alert in first.alerts()] == ["result"]
        assert not {each.kind for each in first.story.moments()} & {"upset", "comeback"}
        first.flush()
        copy = left_behind(tmp_path / "journal.sqlite", tmp_path, "killed")
    second = StoryHall(copy, START_S + 30 * 40)
    with second.journal.opened(second.config):
        await second.restore()
        assert [alert.kind for alert in second.alerts()] == ["result"]
        assert not {each.kind for each in second.story.moments()} & {"upset", "comeback"}


@pytest.mark.slow
def _to_the_second(moments: Iterable[Moment]) -> list[Moment]:
    """Changes of one instant stand a millisecond apart in the journal."""
    return [
        msgspec.structs.replace(each, at_s=None if each.at_s is None else round(each.at_s))
        for each in moments
    ]


@pytest.mark.parametrize("kill", [25, 40])
async def test_moments_keep_their_times_over_a_kill(kill: int, tmp_path: Path) -> None:
    games = four_boards()
    first = StoryHall(tmp_path / "journal.sqlite")
    with first.journal.opened(first.config):
        await first.restore()
        await first.play(games, 0, kill + 1)
        held = list(first.story.moments())
        first.flush()
        copy = left_behind(tmp_path / "journal.sqlite", tmp_path, "killed")
        await first.play(games, kill + 1, 41)
    assert any(each.ply == 19 for each in held)
    assert all(each.at_s == START_S + 30 * each.ply for each in held)

    second = StoryHall(copy, START_S + 30 * kill)
    with second.journal.opened(second.config):
        await second.restore()
        assert _to_the_second(second.story.moments()) == _to_the_second(held)
        second.answer_all()
        second.story.tick()
        assert not second.sent, "what was sent before the restart is no news"
        await second.play(games, kill + 1, 41)
        assert _to_the_second(second.story.moments()) == _to_the_second(first.story.moments())


def test_a_game_that_breaks_a_rule_costs_its_own_moments_alone() -> None:
    games = {id: game([0.5, 0.5, 0.1, 0.1], id=id) for id in ("a", "b", "c")}
    sent: list[Change] = []

    def detail_of(id: str) -> GameDetail:
        if id == "b":
            raise RuntimeError(id)
        return games[id]

    service = StoryService(sent.extend, detail_of)
    service.published([GameMessage(view_of(each)) for each in games.values()])
    service.tick()
    assert [each.game for each in sent if isinstance(each, MomentMessage)] == ["a", "c"]
    assert [each.game for each in service.moments()] == ["a", "c"]
    assert service.missed == 1


def test_only_some_games_are_looked_at_in_one_go() -> None:
    looked: list[str] = []
    service = StoryService(lambda changes: None, looked.append)
    service.published([GameMessage(view_of(game(id=f"g{n}"))) for n in range(2 * LOOKS)])
    service.tick()
    assert len(looked) == LOOKS
